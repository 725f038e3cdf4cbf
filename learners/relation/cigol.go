package relation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// CigolName is what learning by inverse resolution is registered as.
const CigolName = "cigol"

func init() {
	learn.Register(learn.Info{
		Name:     CigolName,
		Summary:  "clauses by inverse resolution from one example at a time, which asks what it would like to know",
		Source:   "Muggleton & Buntine 1988; Mitchell 1997, §10.7",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the rows and the tables or facts around them, by source",
		New:      func() learn.Learner { return &Cigol{} },
		Decode:   decode,
	})
}

// Cigol is Muggleton & Buntine's (1988) way as Mitchell (1997, section 10.7) tells it. A
// positive example that no clause covers is resolved backwards with a fact of the
// background, which becomes a condition, and the terms that they share become variables:
// each step is an inverse resolution (logic.Inverse), so that every clause on the way
// proves the example. Of the clauses that a beam of steps reaches, the one is taken that
// is right most often on the other examples.
//
// It learns from few examples and asks for more: of the clauses that are as good as those
// taken, and of the tuples that nobody has spoken of, it names those about which the
// clauses disagree most (Questions). The answers are learnt by update.
//
// Of linked tables a fact comes with those that lead to it, a clause is taken if it saves
// more bits than it takes, and its cuts are moved to where it is right most often.
//
// A clause costs one query of the examples for each step that the beam tries: as many
// as there are facts that share a term with what it has so far; of tables up to 6000.
type Cigol struct {
	Depth    int `set:"depth" default:"2; 4 of linked tables" doc:"links between an example and the facts that it is resolved with"`
	Literals int `set:"literals" default:"4; 6 of linked tables" doc:"literals of one clause"`
	Beam     int `set:"beam" default:"20" doc:"clauses that are followed at once"`
}

// Check refuses settings that make no sense.
func (l *Cigol) Check() error {
	for key, n := range map[string]int{"depth": l.Depth, "literals": l.Literals, "beam": l.Beam} {
		if n < 0 || n > 100 {
			return fmt.Errorf("%s=%d: expected a number from 1 to 100", key, n)
		}
	}
	return nil
}

// Learn learns clauses of the task's rows.
func (l *Cigol) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return learnTask(ctx, task, l.settings())
}

func (l *Cigol) settings() settings {
	return settings{Algorithm: CigolName, Lookahead: l.Depth, Literals: l.Literals, Beam: cmp.Or(l.Beam, 20), M: 1}
}

// bounds sets the limits that were left open. Links between tables are links, too.
func (f *search) bounds(s *settings) {
	depth, literals := 2, 4
	if f.db.linked {
		depth, literals = 4, 6
	}
	s.Lookahead, s.Literals = cmp.Or(s.Lookahead, depth), cmp.Or(s.Literals, literals)
}

// inverted is a clause that inverse resolution reached.
type inverted struct {
	chosen []int    // literals of the most specific clause, in the order of the steps
	of     *between // what it covers
	right  float64
	bits   float64 // of the facts that were chosen
}

// mostInverted bounds the inverse resolutions of an example of tables.
const mostInverted = 6000

// invert returns the clauses that inverse resolutions of an example reach, the best first.
func (f *search) invert(e int32, active []int32, s settings) []inverted {
	b := f.saturate(e, s.Lookahead)
	heads := len(f.examples.places)
	whole := bits.New(len(active))
	for k := range active {
		whole.Put(k)
	}
	beam := []inverted{{of: &between{covered: whole}}}
	var all []inverted
	seen := map[string]bool{}
	each := math.Log2(float64(len(b.body) + 1))
	for range s.Literals {
		var next []inverted
		for _, from := range beam {
			for i := range b.body {
				if slices.Contains(from.chosen, i) {
					continue
				}
				if f.err = f.ctx.Err(); f.err != nil {
					return nil
				}
				chosen := append(slices.Clone(from.chosen), i)
				if f.db.linked { // a link alone tells nothing
					chosen = b.reach(from.chosen, i)
				}
				body, ok := b.ordered(chosen, heads)
				key := fmt.Sprint(slices.Sorted(slices.Values(chosen)))
				if ok && f.db.linked {
					key = fmt.Sprint(f.db.named(body))
				}
				if !ok || len(chosen) > s.Literals || seen[key] || f.db.linked && len(seen) >= mostInverted {
					continue
				}
				seen[key] = true
				x := inverted{chosen: chosen, of: f.among(active, from.of.covered, body), bits: each * float64(len(chosen))}
				x.right = x.of.p - f.against*x.of.n
				next = append(next, x)
			}
		}
		better := func(x, y inverted) int {
			return cmp.Or(cmp.Compare(y.right, x.right), cmp.Compare(len(x.chosen), len(y.chosen)))
		}
		slices.SortStableFunc(next, better)
		beam = next[:min(len(next), s.Beam)]
		all = append(all, beam...)
		slices.SortStableFunc(all, better)
	}
	return all
}

// cigol covers the positive examples one after another.
func (f *search) cigol(active []int32, s settings) []*found {
	var set []*found
	f.bounds(&s)
	f.options = options{literals: s.Literals}
	f.against = f.weighs(active)
	left := slices.Clone(active)
	skipped := map[int32]bool{}
	for len(set) < mostClauses && len(skipped) < mostSkipped {
		seed := slices.IndexFunc(left, func(e int32) bool { return f.positive[e] && !skipped[e] })
		if seed < 0 || f.err != nil {
			break
		}
		e := left[seed]
		all := f.invert(e, left, s)
		if len(all) == 0 || all[0].right <= 0 || !f.tells(all[0].of.counts(), all[0].bits, left) {
			skipped[e] = true
			continue
		}
		c := &found{body: all[0].of.body, bits: float64(len(all[0].chosen)) * math.Log2(float64(len(all)+1))}
		if f.db.linked {
			c.body = f.recut(c.body, left, func(n counts) float64 { return n.ep - f.against*n.en })
		}
		set = append(set, c)
		left = slices.DeleteFunc(left, func(e int32) bool { return f.positive[e] && f.covers(c.body, e) })
	}
	return set
}

// mostAsked bounds the tuples that questions are chosen from.
const mostAsked = 20_000

// Questions returns up to n tuples about which the clauses that explain the examples
// equally well disagree, those first that divide them best.
func (m *Model) Questions(ctx context.Context, n int) ([]learn.Question, error) {
	if m.linked == nil || len(m.linked.Tables) > 0 {
		return nil, remedy.Misusef("a %s model makes up tuples of a program, not rows of tables; give it data with rows to choose from", m.Learner())
	}
	s := m.lesson.Settings
	if s.Algorithm != CigolName {
		s = (&Cigol{}).settings()
	}
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	db, x := m.base(m.linked).over(t, m.target)
	f := &search{ctx: ctx, db: db, examples: x, options: options{literals: s.Literals}, against: 1}
	class := slices.Index(m.classes(), logic.Belongs)
	for r, c := range t.Columns[m.target].Codes {
		f.positive, f.weight = append(f.positive, int(c) == class), append(f.weight, t.Weight(r))
	}
	rivals := f.rivals(everything(t.Rows()), s)
	if f.err != nil || len(rivals) < 2 || n <= 0 {
		return nil, f.err
	}
	asked := f.unspoken(mostAsked)
	other := &search{ctx: ctx, db: db, examples: asked, options: f.options}
	type doubt struct {
		row int32
		yes float64
	}
	var doubts []doubt
	for r := range int32(len(asked.columns[0])) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := doubt{row: r}
		for _, body := range rivals {
			if other.covers(body, r) {
				d.yes++
			}
		}
		if d.yes > 0 && d.yes < float64(len(rivals)) {
			doubts = append(doubts, d)
		}
	}
	half := float64(len(rivals)) / 2
	slices.SortStableFunc(doubts, func(a, b doubt) int { return cmp.Compare(math.Abs(a.yes-half), math.Abs(b.yes-half)) })
	var questions []learn.Question
	for _, d := range doubts[:min(n, len(doubts))] {
		row, err := m.tupleRow(db, asked, d.row)
		if err != nil {
			return nil, err
		}
		questions = append(questions, learn.Question{Row: row, Yes: d.yes, No: float64(len(rivals)) - d.yes})
	}
	return questions, nil
}

// rivals are the clauses that explain an example and are as good as the best that do.
func (f *search) rivals(active []int32, s settings) [][]literal {
	var rivals [][]literal
	f.bounds(&s)
	left := slices.Clone(active)
	for range mostSkipped {
		seed := slices.IndexFunc(left, func(e int32) bool { return f.positive[e] })
		if seed < 0 || f.err != nil {
			break
		}
		all := f.invert(left[seed], left, s)
		if len(all) == 0 || all[0].right <= 0 {
			left = slices.Delete(left, seed, seed+1)
			continue
		}
		best := all[0]
		for _, c := range all {
			if c.right == best.right && len(rivals) < mostClauses {
				rivals = append(rivals, c.of.body)
			}
		}
		left = slices.DeleteFunc(left, func(e int32) bool { return f.positive[e] && f.covers(best.of.body, e) })
	}
	return rivals
}

// unspoken are tuples of the constants that stand in the examples' places, or with one of
// them in a place of the background, which are no examples.
func (f *search) unspoken(most int) *examples {
	x := &examples{places: f.examples.places, columns: make([][]int32, len(f.examples.places))}
	known := map[string]bool{}
	for e := range f.positive {
		known[f.tupleKey(int32(e))] = true
	}
	domains := make([][]int32, len(x.places))
	for k, column := range f.examples.columns {
		in := map[int32]bool{}
		for _, c := range column {
			in[c] = true
		}
		first := len(in)
		for _, r := range f.db.relations {
			for j, cells := range r.columns {
				if first > 0 && r.places[j].joins(x.places[k]) && slices.ContainsFunc(cells, func(c int32) bool { return in[c] }) {
					for _, c := range cells {
						in[c] = true
					}
				}
			}
		}
		for c := range in {
			domains[k] = append(domains[k], c)
		}
		slices.Sort(domains[k])
	}
	tuple := make([]int32, len(domains))
	var fill func(k int)
	fill = func(k int) {
		if len(x.columns[0]) >= most {
			return
		}
		if k < len(domains) {
			for _, c := range domains[k] {
				tuple[k] = c
				fill(k + 1)
			}
			return
		}
		if !known[fmt.Sprint(tuple)] {
			for i, c := range tuple {
				x.columns[i] = append(x.columns[i], c)
			}
		}
	}
	fill(0)
	return x
}

func (f *search) tupleKey(e int32) string {
	var tuple []int32
	for _, c := range f.examples.columns {
		tuple = append(tuple, c[e])
	}
	return fmt.Sprint(tuple)
}

// tupleRow is a tuple as a row whose class is missing.
func (m *Model) tupleRow(db *database, x *examples, r int32) (*table.Table, error) {
	schema := &table.Schema{Attributes: slices.Clone(m.schema.Attributes), Linked: m.schema.Linked}
	b := table.NewBuilder(schema)
	k := 0
	for i := range schema.Attributes {
		if i == m.target {
			continue
		}
		if err := b.String(i, db.nameOf(x.places[k].domain, x.columns[k][r])); err != nil {
			return nil, err
		}
		k++
	}
	b.End()
	return b.Table()
}
