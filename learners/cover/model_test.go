package cover

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// randomTable returns rows of two names, a number and a class.
func randomTable(r *rapid.T, rows int) *table.Table {
	n := rapid.IntRange(1, rows).Draw(r, "rows")
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Values: []string{"1", "2", "3"}}, {Name: "x", Kind: table.Numeric}, {Name: "b", Values: []string{"no", "yes"}}, {Name: "y", Values: []string{"k", "l", "m"}},
	}}
	columns := make([]table.Column, 4)
	weights := make([]float64, n)
	for row := range n {
		for j, a := range schema.Attributes {
			if a.Kind == table.Numeric {
				x := float64(rapid.IntRange(-1, 5).Draw(r, "number"))
				if x < 0 {
					x = table.NA
				}
				columns[j].Floats = append(columns[j].Floats, x)
				continue
			}
			least := -1
			if j == 3 {
				least = 0
			}
			columns[j].Codes = append(columns[j].Codes, int32(rapid.IntRange(least, len(a.Values)-1).Draw(r, "code")))
		}
		weights[row] = rapid.SampledFrom([]float64{1, 1, 2, .5}).Draw(r, "weight")
	}
	t, err := table.New(schema, columns, weights)
	if err != nil {
		r.Fatal(err)
	}
	return t
}

func randomLearner(r *rapid.T) *Learner {
	return &Learner{
		Algorithm: rapid.SampledFrom([]string{"ripper", "cn2", "aq", "prism", "itrule"}).Draw(r, "algorithm"),
		Measure:   rapid.SampledFrom([]string{"auto", "entropy", "laplace", "m", "frequency"}).Draw(r, "measure"),
		Ordered:   ptr(rapid.Bool().Draw(r, "ordered")), Sets: rapid.Bool().Draw(r, "sets"), Sort: rapid.Bool().Draw(r, "sort"),
		Prune: rapid.SampledFrom([]string{"auto", "none", "held-out"}).Draw(r, "prune"), Beam: rapid.IntRange(1, 4).Draw(r, "beam"),
		Significance: rapid.SampledFrom([]float64{.05, 1}).Draw(r, "significance"), Rounds: ptr(rapid.IntRange(0, 2).Draw(r, "rounds")),
	}
}

// Whatever the settings: the printed rules answer as the model does, for
// missing and unseen cells too; certificates and evidence account for each row
// once; the saved model is the same.
func TestLists(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := randomTable(r, 40)
		model, err := randomLearner(r).Learn(context.Background(), learn.Task{Table: tab, Target: "y", Seed: 3})
		if err != nil {
			r.Fatal(err)
		}
		m := model.(*Model)
		base, err := m.Rules()
		if err != nil {
			r.Fatal(err)
		}
		predictor, err := rule.NewPredictor(base, m.schema, m.target)
		if err != nil {
			r.Fatal(err)
		}
		probe, _, err := table.Conform(randomTable(r, 40), m.schema, false)
		if err != nil {
			r.Fatal(err)
		}
		got, want := learn.NewPredictions(m, probe.Rows()), learn.NewPredictions(m, probe.Rows())
		if err := m.Predict(context.Background(), probe, got); err != nil {
			r.Fatal(err)
		}
		if err := predictor.Predict(probe, want.P, nil); err != nil {
			r.Fatal(err)
		}
		for i := range want.P {
			if math.Abs(got.P[i]-want.P[i]) > 1e-12 {
				r.Fatalf("P = %v, by the rules %v", got.P[i], want.P[i])
			}
		}
		covered := sum(m.rest)
		for i := range m.list {
			covered += sum(m.list[i].first)
		}
		if math.Abs(covered-sum(m.all)) > 1e-9 || math.Abs(covered-m.rows.Weight()) > 1e-9 {
			r.Fatalf("rules cover %v of %v rows", covered, sum(m.all))
		}
		parts, err := m.Parts()
		if err != nil {
			r.Fatal(err)
		}
		again, err := decode(parts)
		if err != nil {
			r.Fatal(err)
		}
		if !slices.Equal(again.(*Model).answer, m.answer) {
			r.Fatal("the saved model answers otherwise")
		}
	})
}

// What a test covers is counted rightly, however it is counted.
func TestSpecialisations(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := randomTable(r, 30)
		x, err := newExamples(context.Background(), tab, 3)
		if err != nil {
			r.Fatal(err)
		}
		rows := slices.DeleteFunc(x.all(), func(int32) bool { return rapid.Bool().Draw(r, "left out") })
		sets := rapid.Bool().Draw(r, "sets")
		for j := range 3 {
			tallies := [2]tally{}
			tallies[0].take(&x.columns[j], rows, x.class, 3, x.weight)
			tallies[1].sorted(&x.columns[j], rows, x.class, 3, x.weight)
			if !slices.Equal(tallies[0].codes, tallies[1].codes) || !slices.Equal(tallies[0].counts, tallies[1].counts) {
				r.Fatalf("counted %v, by sorting %v", tallies[0].counts, tallies[1].counts)
			}
			x.specialise(&tallies[0], j, 3, sets, -1, func(c condition, counts []float64) {
				want := make([]float64, 3)
				for _, row := range rows {
					if c.holds(tab.Columns, int(row)) {
						want[x.class[row]] += x.weight[row]
					}
				}
				for l := range want {
					if math.Abs(counts[l]-want[l]) > 1e-9 {
						r.Fatalf("%+v covers %v, want %v", c, counts, want)
					}
				}
				c = x.settled(c)
				set := x.cover([]condition{c})
				for row := range x.rows {
					if set.Get(row) != c.holds(tab.Columns, row) {
						r.Fatalf("%+v: row %d is covered: %v", c, row, set.Get(row))
					}
				}
			})
		}
	})
}

// A beam wide enough finds the best conjunction that there is.
func TestBeamFindsTheBest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := randomTable(r, 25)
		for row, cell := range tab.Columns[1].Floats {
			if table.IsMissing(cell) { // that a number is known is no conjunction
				tab.Columns[1].Floats[row] = 0
			}
		}
		x, err := newExamples(context.Background(), tab, 3)
		if err != nil {
			r.Fatal(err)
		}
		c := newCovering(x, settings{Algorithm: cn2Name, Measure: rapid.SampledFrom([]string{entropyName, laplaceName, mName, frequencyName}).Draw(r, "measure"), M: 2, Beam: 1000, Significance: 1, MinRows: 1e-9}, 1)
		s := c.search(c.class, 3, -1)
		h, err := s.rule(context.Background(), c.all())
		if err != nil {
			r.Fatal(err)
		}
		best := s.performance.of(c.counts(nil))
		for a := range 4 {
			for b := range 3 {
				for low := range 7 {
					for high := low + 1; high < 8; high++ {
						counts := make([]float64, 3)
						for row := range x.rows {
							cell := tab.Columns[1].Floats[row]
							free := low == 0 && high == 7
							if (a == 3 || tab.Columns[0].Codes[row] == int32(a)) && (b == 2 || tab.Columns[2].Codes[row] == int32(b)) && (free || cell > float64(low)-1.5 && cell <= float64(high)-1.5) {
								counts[x.class[row]] += x.weight[row]
							}
						}
						if sum(counts) > 0 {
							best = max(best, s.performance.of(counts))
						}
					}
				}
			}
		}
		if math.Abs(h.performance-best) > 1e-9 {
			r.Fatalf("found %v, the best is %v", h.performance, best)
		}
	})
}

// Rows are dealt two to one for each class, and none is lost.
func TestSplit(t *testing.T) {
	tab, target := load(t, "credit-a")
	x, err := newExamples(context.Background(), tab, target)
	if err != nil {
		t.Fatal(err)
	}
	c := newCovering(x, settings{}, 1)
	grow, prune := make([]float64, x.rows), make([]float64, x.rows)
	split(rand.New(rand.NewPCG(1, 1)), x.all(), x.class, x.classes, x.weight, grow, prune)
	all, held := count(c.all(), x.class, 2, x.weight), count(c.all(), x.class, 2, prune)
	for l := range all {
		if math.Abs(held[l]-all[l]/3) > 1 {
			t.Errorf("%v of %v rows are held out", held[l], all[l])
		}
	}
	for r := range grow {
		if grow[r]+prune[r] != x.weight[r] {
			t.Fatalf("row %d: %v and %v", r, grow[r], prune[r])
		}
	}
}

// The bits of a description: by hand for three rows of which one is wrong, and
// never shorter for rules that cover nothing.
func TestDescription(t *testing.T) {
	d := description{expected: .5, rows: 4, rest: 4, wrong: 1, overlooked: 0}
	// log2 9 + 4 bits·H(1/4) + 4·log2 1/(1 − .5/4)
	want := math.Log2(9) + 4*(.25*2+.75*math.Log2(4.0/3)) + 4*-math.Log2(1-.5/4)
	if got := d.bits(); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v bits, want %v", got, want)
	}
	r := &ripper{tests: 20}
	// ½ (log2 2 + 2 log2 log2 2 + 2 log2 10 + 18 log2 10/9)
	if got, want := r.theory(2), .5*(1+2*math.Log2(10)+18*math.Log2(10.0/9)); math.Abs(got-want) > 1e-9 {
		t.Errorf("two of twenty tests take %v bits, want %v", got, want)
	}
}

// Each rule of ripper answers for what it covers, so that a table without
// noise is learnt without an error.
func TestRipperLearnsConcepts(t *testing.T) {
	for name, most := range map[string]int{"mushroom": 0, "tic-tac-toe": 30} {
		tab, target := load(t, name)
		m := learnTable(t, &Learner{}, tab, target)
		if wrong := mistakes(t, m, tab); wrong > most {
			t.Errorf("%s: %d rows are wrong, want at most %d", name, wrong, most)
		}
		if _, stopped := m.Grown(); stopped == "" {
			t.Errorf("%s: it is not said why covering stopped", name)
		}
	}
}

// Errors that certificates say are removed add up to what the list gets right.
func TestCertificates(t *testing.T) {
	tab, target := load(t, "votes")
	for _, algorithm := range []string{"ripper", "cn2", "aq", "prism", "itrule"} {
		m := learnTable(t, &Learner{Algorithm: algorithm}, tab, target)
		left := sum(m.all) - slices.Max(m.all)
		for i, c := range m.Growth() {
			if c.Rule != i+1 || c.Class == "" || len(c.Tests) == 0 || c.Covered > c.Rows || c.String() == "" {
				t.Fatalf("%s: %+v", algorithm, c)
			}
			left -= c.Removed
		}
		if wrong := float64(mistakes(t, m, tab)); math.Abs(left-wrong) > 1e-6 {
			t.Errorf("%s: certificates leave %v errors, the list makes %v", algorithm, left, wrong)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	tab, target := load(t, "iris")
	for _, l := range []*Learner{
		{Search: "wide"}, {Beam: -1}, {Significance: 2}, {Rounds: ptr(-1)}, {Bits: ptr(-1.0)}, {MinRows: ptr(0.0)}, {MaxTests: -1}, {M: ptr(-1.0)},
		{Algorithm: "cn3"}, {Measure: "gini"}, {Prune: "some"}, {Keep: "some"}, {Class: "setsoa"}, {Threshold: ptr(math.NaN())},
	} {
		if m, err := l.Learn(context.Background(), learn.Task{Table: tab}.At(target)); err == nil || m != nil {
			t.Errorf("%+v is accepted", l)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"iris", "credit-a", "playtennis"} {
		tab, target := load(f, name)
		for _, l := range []*Learner{{Keep: "nothing"}, {Keep: "nothing", Algorithm: "cn2", Sets: true}} {
			parts, err := learnTable(f, l, tab, target).Parts()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(parts[0].Data, parts[1].Data)
		}
	}
	f.Fuzz(func(t *testing.T, head, body []byte) {
		defer bounded.Start(t, len(head)+len(body))()
		model, err := decode([]learn.Part{{Name: headPart, Data: head}, {Name: bodyPart, Data: body}})
		if err != nil {
			return
		}
		m := model.(*Model)
		columns := make([]table.Column, len(m.schema.Attributes))
		for j := range columns {
			if m.schema.Attributes[j].Kind == table.Numeric {
				columns[j].Floats = []float64{1, table.NA, math.Inf(1)}
			} else {
				columns[j].Codes = []int32{0, table.Missing, table.Unseen}
				if len(m.schema.Attributes[j].Values) == 0 {
					columns[j].Codes[0] = table.Missing
				}
			}
		}
		tab, err := table.New(m.schema, columns, nil)
		if err != nil {
			return
		}
		out := learn.NewPredictions(m, 3)
		if err := m.Predict(context.Background(), tab, out); err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			if p := sum(out.Row(r)); !(math.Abs(p-1) < 1e-6) {
				t.Fatalf("probabilities add up to %v", p)
			}
			if _, err := m.Explain(tab, r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Graph(); err != nil {
			t.Fatal(err)
		}
		if base, err := m.Rules(); err != nil || len(base.Rules)+1 != m.Size().Rules {
			t.Fatal("rules do not fit their number", err)
		}
		m.Grown()
		if _, err := m.Parts(); err != nil {
			t.Fatal(err)
		}
	})
}
