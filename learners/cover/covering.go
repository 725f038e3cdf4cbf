package cover

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
)

// stop is why covering stopped.
type stop uint8

const (
	_             stop = iota
	stopCovered        // no row of the class is left
	stopLength         // the description became too long
	stopNone           // the next rule covered no row of the class
	stopWrong          // the next rule was wrong more often than not
	stopGeneral        // no conjunction was better than none
	stopThreshold      // the next rule measured too little
	stopDefault        // the class is what is left
	stopBest           // the rules that tell most were found
	stops
)

// String returns the reason in a few words.
func (s stop) String() string {
	if s >= stops {
		return "unknown"
	}
	return [...]string{
		"", "all its rows are covered", "the description became too long", "the next rule covered none of its rows",
		"the next rule was wrong more often than not", "no conjunction was better and significant",
		"the next rule measured too little", "the default", "those that tell most were kept",
	}[s]
}

// learnt is a rule as covering found it.
type learnt struct {
	tests   []condition
	class   int
	measure float64
}

// covering is SEQUENTIAL-COVERING (Mitchell 1997, table 10.1).
type covering struct {
	*examples
	settings settings
	seed     uint64
	tallies  sync.Pool
	progress func(fraction float64)
}

func newCovering(x *examples, s settings, seed uint64) *covering {
	return &covering{
		examples: x, settings: s, seed: seed, progress: func(float64) {},
		tallies: sync.Pool{New: func() any { return &tally{} }},
	}
}

// rules returns the list, and for each class, or once for all, why covering
// stopped.
func (c *covering) rules(ctx context.Context) ([]learnt, []stop, error) {
	switch {
	case c.settings.Algorithm == ripperName:
		return c.ripper(ctx)
	case c.settings.Algorithm == itruleName:
		return c.itrule(ctx)
	case c.settings.Algorithm == cn2Name && c.settings.Ordered && c.settings.Class == "":
		list, why, err := c.list(ctx)
		return list, []stop{why}, err
	}
	return c.sets(ctx)
}

// wanted returns the classes that get rules, in the order in which they do:
// one that was asked for, else all that occur; for ripper, but the last, from
// the rarest to the most frequent.
func (c *covering) wanted() []int {
	total := make([]float64, c.classes)
	for r, class := range c.class {
		total[class] += c.weight[r]
	}
	var order []int
	for class, w := range total {
		if w > 0 && (c.settings.Class == "" || c.schema.Attributes[c.target].Values[class] == c.settings.Class) {
			order = append(order, class)
		}
	}
	if c.settings.Algorithm == ripperName && c.settings.Class == "" {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(total[a], total[b]) })
		order = order[:len(order)-1]
	}
	return order
}

// against returns the label 1 for the rows of a class, 0 for others.
func (c *covering) against(class int) []int32 {
	label := make([]int32, c.rowCount())
	for r, of := range c.class {
		if int(of) == class {
			label[r] = 1
		}
	}
	return label
}

func (c *covering) rowCount() int { return c.examples.rows }

// ripper learns the classes from the rarest on, each from the rows that the
// rules of those before it leave.
func (c *covering) ripper(ctx context.Context) (list []learnt, why []stop, err error) {
	n := c.rowCount()
	data := bits.Fill(n)
	why = make([]stop, c.classes)
	tests := 0.0
	for j := range c.columns {
		if tests += float64(c.columns[j].size); c.columns[j].values != nil {
			tests += float64(c.columns[j].size)
		}
	}
	grow, prune := make([]float64, n), make([]float64, n)
	order := c.wanted()
	for i, class := range order {
		r := &ripper{
			examples: c.examples, settings: c.settings, label: c.against(class), positive: bits.New(n), data: data, tests: tests,
			random: rand.New(rand.NewPCG(c.seed, uint64(i))), tallies: &c.tallies, grow: grow, prune: prune,
		}
		for row, l := range r.label {
			if l == 1 {
				r.positive.Put(row)
			}
		}
		left := bits.New(n)
		bits.And(left, data, r.positive)
		r.expected = c.weigh(left) / max(c.weigh(data), 1e-300)
		rules, reason, err := r.learn(ctx)
		if err != nil {
			return nil, nil, err
		}
		why[class] = reason
		rest := slices.Clone(data)
		for _, o := range rules {
			list = append(list, learnt{tests: o.tests, class: class})
			bits.AndNot(rest, rest, o.rows)
		}
		data = rest
		c.progress(float64(i+1) / float64(len(order)))
	}
	for class := range why {
		if why[class] == 0 {
			why[class] = stopDefault
		}
	}
	return list, why, nil
}

// search returns a search for rules: for any class, or for label 1 of two.
func (c *covering) search(label []int32, labels, target int) *search {
	all := count(c.all(), label, labels, c.weight)
	prior := slices.Clone(all)
	for l := range prior {
		prior[l] /= sum(all)
	}
	s := &search{
		examples: c.examples, label: label, labels: labels, weight: c.weight,
		performance: performance{c.settings.Measure, c.settings.M, c.classes, prior, target},
		beam:        c.settings.Beam, sets: c.settings.Sets, seed: -1, significance: 1,
		minRows: c.settings.MinRows, maxTests: c.settings.MaxTests, published: c.settings.Published, tallies: &c.tallies,
	}
	switch c.settings.Algorithm {
	case cn2Name:
		s.significance = c.settings.Significance
	case aqName:
		s.wide = true
	case prismName:
		s.wide, s.beam = true, 1
	}
	return s
}

// learnOne finds the next rule for rows. If rules are pruned, it is found on
// two thirds of them, and its tests are dropped by the others.
func (c *covering) learnOne(ctx context.Context, s *search, rows []int32, random *rand.Rand) (*hypothesis, error) {
	if !c.settings.Prune {
		return s.rule(ctx, rows)
	}
	grow, prune := make([]float64, c.rowCount()), make([]float64, c.rowCount())
	split(random, rows, s.label, s.labels, c.weight, grow, prune)
	if s.seed >= 0 && grow[s.seed] == 0 {
		grow[s.seed], prune[s.seed] = prune[s.seed], 0
	}
	growing := *s
	growing.weight = grow
	h, err := growing.rule(ctx, weighing(rows, grow))
	if err != nil {
		return nil, err
	}
	label := s.performance.conclusion(h.counts)
	h.tests = c.postPrune(h.tests, weighing(rows, prune), s, prune, label)
	h.rows = rows
	for i := range h.tests {
		h.rows = c.filter(h.rows, &h.tests[i])
	}
	h.counts = count(h.rows, s.label, s.labels, c.weight)
	h.performance, h.covered = s.performance.of(h.counts), sum(h.counts)
	return h, nil
}

// postPrune drops the tests of a rule one by one, as long as it is not less
// often right on held-out rows without them (Mitchell 1997, section 10.3).
func (c *covering) postPrune(tests []condition, rows []int32, s *search, weight []float64, label int) []condition {
	worth := func(tests []condition) float64 {
		left := rows
		for i := range tests {
			left = c.filter(left, &tests[i])
		}
		counts := count(left, s.label, s.labels, weight)
		return (counts[label] + 1) / (sum(counts) + 2)
	}
	now := worth(tests)
	for len(tests) > 1 {
		best, most := -1, now
		for i := range tests {
			if w := worth(slices.Delete(slices.Clone(tests), i, i+1)); best < 0 && w >= most-tie || better(w, most) {
				best, most = i, w
			}
		}
		if best < 0 {
			break
		}
		tests, now = slices.Delete(slices.Clone(tests), best, best+1), most
	}
	return tests
}

// passes reports whether a rule measures as much as was asked for.
func (c *covering) passes(h *hypothesis) bool {
	return !c.settings.Limited || h.performance > c.settings.Threshold
}

// list is ordered CN2: rules of any class, each for the rows that those before
// it leave. A rule takes all rows that it covers, since none of them will come
// to a later one.
func (c *covering) list(ctx context.Context) (list []learnt, why stop, err error) {
	s := c.search(c.class, c.classes, -1)
	random := rand.New(rand.NewPCG(c.seed, 0))
	rows := c.all()
	if !c.settings.Prune {
		if s.census, err = c.newCensus(ctx, rows, s.label, s.labels, c.weight); err != nil {
			return nil, 0, err
		}
	}
	for len(rows) > 0 {
		h, err := c.learnOne(ctx, s, rows, random)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case len(h.tests) == 0:
			return c.sorted(list, s), stopGeneral, nil
		case !c.passes(h):
			return c.sorted(list, s), stopThreshold, nil
		}
		list = append(list, learnt{h.tests, s.performance.conclusion(h.counts), h.performance})
		before := len(rows)
		rows = c.remove(rows, h.tests, s, nil)
		if len(rows) == before {
			return c.sorted(list, s), stopNone, nil
		}
		c.progress(1 - float64(len(rows))/float64(c.rowCount()))
	}
	return c.sorted(list, s), stopCovered, nil
}

// sorted puts rules into the order of their performance over all rows, if that
// was asked for.
func (c *covering) sorted(list []learnt, s *search) []learnt {
	if !c.settings.Sort {
		return list
	}
	for i := range list {
		list[i].measure = s.performance.of(c.counts(list[i].tests))
	}
	slices.SortStableFunc(list, func(a, b learnt) int { return -cmp.Compare(a.measure, b.measure) })
	return list
}

// counts returns the weight of each class among all rows that satisfy tests.
func (c *covering) counts(tests []condition) []float64 {
	counts := make([]float64, c.classes)
	for r := range c.cover(tests).All {
		counts[c.class[r]] += c.weight[r]
	}
	return counts
}

// remove takes away the rows that satisfy all tests and, where labels are
// given, have the label 1.
func (c *covering) remove(rows []int32, tests []condition, s *search, label []int32) []int32 {
	return slices.DeleteFunc(rows, func(r int32) bool {
		if label != nil && label[r] != 1 {
			return false
		}
		for i := range tests {
			if !tests[i].covers(c.columns[tests[i].col].codes[r]) {
				return false
			}
		}
		if s.census != nil {
			s.census.remove(c.examples, r, s.label[r], c.weight[r])
		}
		return true
	})
}

// sets learns rules for each class apart (aq, prism, unordered cn2), and orders
// them all by their accuracy over all rows.
func (c *covering) sets(ctx context.Context) ([]learnt, []stop, error) {
	if err := c.index(ctx); err != nil {
		return nil, nil, err
	}
	order := c.wanted()
	found := make([][]learnt, len(order))
	why := make([]stop, c.classes)
	failed := make([]error, len(order))
	var done sync.Mutex
	part := make([]float64, len(order))
	err := learn.Each(ctx, len(order), func(i int) {
		report := func(f float64) {
			done.Lock()
			defer done.Unlock()
			part[i] = f
			c.progress(sum(part) / float64(len(order)))
		}
		found[i], why[order[i]], failed[i] = c.oneClass(ctx, order[i], report)
	})
	if i := slices.IndexFunc(failed, func(e error) bool { return e != nil }); err == nil && i >= 0 {
		err = failed[i]
	}
	if err != nil {
		return nil, nil, err
	}
	list := slices.Concat(found...)
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		counts := c.counts(list[i].tests)
		list[i].measure = Laplace(counts[list[i].class], sum(counts), c.classes)
	}
	slices.SortStableFunc(list, func(a, b learnt) int { return -cmp.Compare(a.measure, b.measure) })
	for class := range why {
		if why[class] == 0 {
			why[class] = stopDefault
		}
	}
	return list, why, nil
}

// oneClass learns the rules of one class. Rows of the class that a rule covers
// are taken away, those of others never are, except by PRISM.
func (c *covering) oneClass(ctx context.Context, class int, report func(float64)) (list []learnt, why stop, err error) {
	label := c.against(class)
	s := c.search(label, 2, 1)
	random := rand.New(rand.NewPCG(c.seed, uint64(class)+1))
	rows := c.all()
	total := count(rows, label, 2, c.weight)[1]
	taken := label
	if c.settings.Algorithm == prismName {
		taken = nil
	}
	if !c.settings.Prune {
		if s.census, err = c.newCensus(ctx, rows, label, 2, c.weight); err != nil {
			return nil, 0, err
		}
	}
	if c.settings.Algorithm == aqName && !c.settings.Prune {
		s.positive = bits.New(c.rowCount())
		for r, l := range label {
			if l == 1 {
				s.positive.Put(r)
			}
		}
	}
	hopeless := bits.New(c.rowCount()) // seeds that no rule was found for
	for left := total; left > 0; left = count(rows, label, 2, c.weight)[1] {
		report(1 - left/total)
		if c.settings.Algorithm == aqName {
			i := slices.IndexFunc(rows, func(r int32) bool { return label[r] == 1 && !hopeless.Get(int(r)) })
			if i < 0 {
				return list, stopGeneral, nil
			}
			s.seed = rows[i]
		}
		h, err := c.learnOne(ctx, s, rows, random)
		if err != nil {
			return nil, 0, err
		}
		if found := len(h.tests) > 0 && h.counts[1] > 0; !found || !c.passes(h) {
			if s.seed >= 0 {
				hopeless.Put(int(s.seed))
				continue
			}
			if !found {
				return list, stopGeneral, nil
			}
			return list, stopThreshold, nil
		}
		list = append(list, learnt{h.tests, class, h.performance})
		rows = c.remove(rows, h.tests, s, taken)
	}
	return list, stopCovered, nil
}
