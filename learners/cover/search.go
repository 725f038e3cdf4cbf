package cover

import (
	"context"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
)

// search is LEARN-ONE-RULE (Mitchell 1997, table 10.2): from the most general
// conjunction to more specific ones, a beam of the best at a time.
type search struct {
	*examples
	label        []int32
	labels       int
	weight       []float64 // of each row, instead of the examples' own
	performance  performance
	beam         int
	sets         bool
	seed         int32 // a row that all conjunctions cover, -1: none (AQ)
	wide         bool  // of equally good conjunctions, take the one that covers most
	significance float64
	minRows      float64
	maxTests     int
	published    bool // the beam keeps what cannot become the best
	tallies      *sync.Pool
	positive     bits.Set // the rows of label 1 of two, where weights are the examples' own (AQ)
	census       *census  // of the rows that rules are looked for in; nil: not known
}

// hypothesis is a conjunction with what it covers.
type hypothesis struct {
	tests       []condition
	rows        []int32  // nil until it is made more specific
	from        []int32  // the rows of the conjunction that it was made of
	set         bits.Set // the rows as a bitmap; nil: there are too few for it
	counts      []float64
	performance float64
	covered     float64
}

// ahead reports whether a comes before b in the beam.
func (s *search) ahead(a, b *hypothesis) bool {
	if better(a.performance, b.performance) {
		return true
	}
	return s.wide && !better(b.performance, a.performance) && a.covered > b.covered
}

// bunch is the best hypotheses of a part of the search.
type bunch struct {
	beam []hypothesis // the best first
	best *hypothesis  // the best that is significant and better than what was known
}

// rule returns the best conjunction for rows: the empty one if none is better.
func (s *search) rule(ctx context.Context, rows []int32) (*hypothesis, error) {
	all := count(rows, s.label, s.labels, s.weight)
	best := &hypothesis{rows: rows, counts: all, performance: s.performance.of(all), covered: sum(all)}
	candidates := []hypothesis{*best}
	for depth := 0; len(candidates) > 0 && (s.maxTests == 0 || depth < s.maxTests); depth++ {
		hopeless := func(h hypothesis) bool { return !better(s.performance.bound(h.counts), best.performance) }
		if s.published && !slices.ContainsFunc(candidates, func(h hypothesis) bool { return !hopeless(h) }) {
			break
		}
		if !s.published {
			candidates = slices.DeleteFunc(candidates, hopeless)
		}
		next, err := s.specialisations(ctx, candidates, best, all)
		if err != nil {
			return nil, err
		}
		if next.best != nil {
			best = next.best
		}
		candidates = next.beam
	}
	return best, nil
}

// dense is which part of all rows a conjunction must cover for bitmaps to be
// counted faster than its rows.
const dense = 48

// enough is how many cells are worth a goroutine.
const enough = 1 << 15

// specialisations returns the best of all conjunctions that have one test more.
func (s *search) specialisations(ctx context.Context, parents []hypothesis, best *hypothesis, all []float64) (*bunch, error) {
	type job struct{ parent, col int }
	var jobs []job
	cells := 0
	for i := range parents {
		p := &parents[i]
		if p.rows == nil {
			p.rows = s.filter(p.from, &p.tests[len(p.tests)-1])
		}
		if s.seed >= 0 && s.positive != nil && len(p.tests) > 0 && len(p.rows) > s.examples.rows/dense {
			p.set = bits.New(s.examples.rows)
			for _, r := range p.rows {
				p.set.Put(int(r))
			}
		}
		for j := range s.columns {
			if c := &s.columns[j]; c.codes != nil && s.open(p.tests, j) && (s.seed < 0 || c.codes[s.seed] >= 0) {
				jobs = append(jobs, job{i, j})
				cells += len(p.rows)
			}
		}
	}
	found := make([]bunch, len(jobs))
	work := func(i int) {
		t := s.tallies.Get().(*tally)
		defer s.tallies.Put(t)
		found[i] = s.column(t, &parents[jobs[i].parent], jobs[i].col, best, all)
	}
	if cells >= enough {
		if err := learn.Each(ctx, len(jobs), work); err != nil {
			return nil, err
		}
	} else {
		for i := range jobs {
			work(i)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	total := &bunch{}
	for i := range found {
		for _, h := range found[i].beam {
			s.insert(total, h)
		}
		if b := found[i].best; b != nil && (total.best == nil || s.ahead(b, total.best)) {
			total.best = b
		}
	}
	return total, nil
}

// open reports whether a conjunction can be made more specific in a column. A
// name can be asked for only once.
func (s *search) open(tests []condition, col int) bool {
	return !slices.ContainsFunc(tests, func(c condition) bool { return c.col == int32(col) && c.form == is })
}

// column returns the best conjunctions of a parent and a test of one column.
func (s *search) column(t *tally, parent *hypothesis, col int, best *hypothesis, all []float64) (b bunch) {
	c := &s.columns[col]
	switch {
	case s.census != nil && len(parent.tests) == 0:
		t.census(s.census, col)
	case s.seed >= 0 && c.sets != nil && !s.sets && parent.set != nil:
		t.meet(s.examples, c.codes[s.seed], c.sets[c.codes[s.seed]], parent.set, s.positive)
	case s.seed >= 0 && c.values == nil && !s.sets:
		t.only(c, c.codes[s.seed], parent.rows, s.label, s.labels, s.weight)
	default:
		t.take(c, parent.rows, s.label, s.labels, s.weight)
	}
	var try hypothesis
	t.goal = s.performance.goal(s.labels, s.minRows)
	s.specialise(t, col, s.labels, s.sets, s.seed, func(c condition, counts []float64) {
		try.performance, try.covered = s.performance.of(counts), sum(counts)
		if !s.published && try.covered >= parent.covered-tie*parent.covered || counts[s.performance.conclusion(counts)] < s.minRows {
			return
		}
		enters := len(b.beam) < s.beam || s.ahead(&try, &b.beam[len(b.beam)-1])
		isBest := better(try.performance, best.performance) && (b.best == nil || s.ahead(&try, b.best)) && significant(counts, all, s.significance)
		if !enters && !isBest {
			return
		}
		h := try
		h.tests, h.counts, h.from = and(parent.tests, s.settled(c)), slices.Clone(counts), parent.rows
		if isBest {
			kept := h
			b.best = &kept
		}
		if enters {
			s.insert(&b, h)
		}
		t.goal.bar = s.bar(&b, best)
	})
	t.goal = goal{}
	return b
}

// bar is the least performance that can still change a bunch: it would enter
// the beam, or be the best.
func (s *search) bar(b *bunch, best *hypothesis) float64 {
	if len(b.beam) < s.beam {
		return 0
	}
	last := b.beam[len(b.beam)-1].performance
	if s.significance >= 1 {
		return last // the best is in the beam too
	}
	most := best.performance
	if b.best != nil {
		most = max(most, b.best.performance)
	}
	return min(last, most)
}

// insert puts a hypothesis behind those that are as good, unless it is there
// already or is not among the best.
func (s *search) insert(b *bunch, h hypothesis) {
	at := len(b.beam)
	for at > 0 && s.ahead(&h, &b.beam[at-1]) {
		at--
	}
	if at >= s.beam || slices.ContainsFunc(b.beam[:at], func(o hypothesis) bool { return sameTests(o.tests, h.tests) }) {
		return
	}
	b.beam = slices.Insert(b.beam, at, h)
	if len(b.beam) > s.beam {
		b.beam = b.beam[:s.beam]
	}
}
