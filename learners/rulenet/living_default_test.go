package rulenet

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func learnTo(t *testing.T, rows *table.Table, source string, settings map[string]string) learn.Model {
	t.Helper()
	if settings == nil {
		settings = map[string]string{"update": "auto"}
	}
	l, err := learn.New(Name, settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(t.Context(), learn.Task{Table: rows, Source: learn.Source{ID: source}, Seed: 3}.At(3))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func furthest(a, b []float64) float64 {
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(a[i]-b[i]))
	}
	return far
}

// A network of few rows is learnt again with more of them until it is taught, and
// then lives. It answers as one that does not, however many rows there are besides
// its reservoir. What is forgotten until few rows are left, and few rows merged with
// many, are learnt as all at once.
func TestNetworksLiveFromSomeRowsOn(t *testing.T) {
	all := concept(1400, 0, 5)
	few := learnTo(t, all.Slice(0, 300), "few", nil)
	if _, lives := few.(*Living); lives {
		t.Fatal("300 rows live")
	}
	u, err := few.(learn.Updater).Begin(learn.Source{ID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), all.Slice(300, 1400)); err != nil {
		t.Fatal(err)
	}
	grown, err := u.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, lives := grown.(*Living)
	if !lives {
		t.Fatalf("1,400 rows are %T", grown)
	}
	exact := learnTo(t, all, "all", map[string]string{"update": "exact"})
	if far := furthest(answersOf(t, m, all), answersOf(t, exact, all)); far > 1e-9 {
		t.Errorf("answers differ by %v from those of all rows learnt at once", far)
	}
	left, err := m.Forget(t.Context(), "more")
	if err != nil {
		t.Fatal(err)
	}
	if _, lives := left.(*Living); lives || furthest(answersOf(t, left, all), answersOf(t, few, all)) > 1e-9 {
		t.Errorf("what is left is %T, and answers otherwise than before", left)
	}
	many := learnTo(t, all.Slice(300, 1400), "more", nil)
	for _, pair := range [][2]learn.Model{{few, many}, {many, few}} {
		both, err := pair[0].(learn.Merger).Merge(t.Context(), pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if far := furthest(answersOf(t, both, all), answersOf(t, exact, all)); far > 1e-9 {
			t.Errorf("merged, answers differ by %v", far)
		}
	}
	beyond := learnTo(t, all, "all", map[string]string{"update": "living", "reservoir": "200"}).(*Living)
	if far := furthest(answersOf(t, beyond, all), answersOf(t, exact, all)); far > 1e-9 || beyond.state().whole || len(beyond.state().drawn) != 200 {
		t.Errorf("with %d rows in the reservoir answers differ by %v", len(beyond.state().drawn), far)
	}
}

// A network whose values and classes came in an order of their own is cut to a
// budget as any other.
func TestLateValuesAreCutToABudget(t *testing.T) {
	first := concept(800, 0, 5)
	m := startLiving(t, first, map[string]string{"forget": "never"})
	late := concept(400, 0, 6)
	late.Schema = table.CopySchema(late.Schema)
	late.Schema.Attributes[2].Values = []string{"amber", "green", "red"}
	late.Schema.Attributes[3].Values = []string{"maybe", "yes"}
	fitted, _, err := table.Conform(late, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	m = updateLiving(t, m, "late", true, fitted)
	with, err := m.withRows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked := answersOf(t, with, first)
	class := table.Recoding(&m.s.schema.Attributes[3], &with.coding.schema.Attributes[3])
	for i, p := range answersOf(t, m, first) {
		if at := i - i%3 + int(class[i%3]); math.Abs(asked[at]-p) > 1e-9 {
			t.Fatalf("answer %d is %v, and %v with other codes", i, p, asked[at])
		}
	}
	if _, err := m.Excerpt(t.Context(), rule.Budget{Top: 2}); err != nil {
		t.Error(err)
	}
}

// A class that comes late begins with next to no probability, where its rows are not
// among those of a rule, and has what is its own when rules were decided anew.
func TestLateClass(t *testing.T) {
	all := concept(1200, 0, 31)
	m := learnTo(t, all.Slice(0, 1000), "first", nil).(*Living)
	late := concept(30, 0, 32)
	late.Schema = table.CopySchema(late.Schema)
	late.Schema.Attributes[3].Values = []string{"no", "yes", "maybe"}
	for r := range late.Rows() {
		late.Columns[0].Floats[r], late.Columns[1].Floats[r], late.Columns[3].Codes[r] = 200, 200, 2
	}
	mean := func(m *Living, rows *table.Table) float64 {
		p := answersOf(t, m, rows)
		at, sum := m.Schema().Attributes[3].Code("maybe"), 0.0
		for i := int(at); i < len(p); i += 3 {
			sum += p[i] / float64(rows.Rows())
		}
		return sum
	}
	one := updateLiving(t, m, "one", false, late.Slice(0, 1))
	if got := mean(one, all.Slice(1000, 1200)); got > 0.01 {
		t.Errorf("one row of 1,001 is of it, and other rows are with a probability of %.4f", got)
	}
	many := updateLiving(t, one, "many", false, late.Slice(1, 30))
	if other, own := mean(many, all.Slice(1000, 1200)), mean(many, late); other > 0.02 || own < 0.7 {
		t.Errorf("30 rows of 1,030 are of it; other rows are with %.4f, its own with %.4f", other, own)
	}
}

// How far a network is behind learning at once is told by rows of classes that both know:
// who has not seen a class cannot answer its rows, which says nothing of updates.
func TestDistanceIsToldByKnownClasses(t *testing.T) {
	all := concept(1200, 0, 33)
	m := learnTo(t, all.Slice(0, 700), "first", nil).(*Living)
	m = updateLiving(t, m, "same", false, all.Slice(700, 900))
	late := concept(150, 0, 34)
	late.Schema = table.CopySchema(late.Schema)
	late.Schema.Attributes[3].Values = []string{"no", "yes", "maybe"}
	for r := range late.Rows() {
		late.Columns[0].Floats[r], late.Columns[3].Codes[r] = 200, 2
	}
	m = updateLiving(t, m, "late", false, late)
	nats, deviation, told, err := m.Distance(t.Context())
	if err != nil || told != 200 || math.Abs(nats) > 0.1+3*deviation {
		t.Errorf("%.3f ± %.3f nats by %d rows, expected about none by the 200 of known classes (%v)", nats, deviation, told, err)
	}
}

// What is frozen between rows stays as it is while rules come and go, and whoever goes on
// from it comes to the same.
func TestFrozenBetweenRows(t *testing.T) {
	for _, forget := range []string{"never", "auto"} {
		all := twenty(1500, 8)
		m := startLiving(t, all.Slice(0, 500), map[string]string{"reservoir": "300", "forget": forget})
		goOn := func(m *Living, from, to int, each bool) (early, late *Living) {
			u, err := m.Begin(learn.Source{ID: "rows"})
			if err != nil {
				t.Fatal(err)
			}
			for r := from; r < to; r++ {
				if err := u.Add(t.Context(), all.Slice(r, r+1)); err != nil {
					t.Fatal(err)
				}
				if !each && r < to-1 {
					continue
				}
				frozen, err := u.Freeze(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if late = frozen.(*Living); r == from+100 {
					early = late
				}
			}
			return early, late
		}
		early, _ := goOn(m, 500, 601, true)
		before, w, slope := answersOf(t, early, all), slices.Clone(early.s.w), slices.Clone(early.state().slope)
		_, one := goOn(early, 601, 1500, true)
		_, other := goOn(early, 601, 1500, false)
		if one.s.rounds == early.s.rounds {
			t.Fatal("no rules were decided")
		}
		if furthest(answersOf(t, early, all), before) > 0 || !slices.Equal(early.s.w, w) || !slices.Equal(early.state().slope, slope) {
			t.Errorf("forget=%s: a frozen network has changed", forget)
		}
		a, b := one.state(), other.state()
		same := slices.Equal(a.slope, b.slope) && slices.Equal(a.covers, b.covers) && slices.Equal(a.probation.slope, b.probation.slope) && slices.Equal(a.drawnKeys(), b.drawnKeys())
		if furthest(answersOf(t, one, all), answersOf(t, other, all)) > 0 || !same {
			t.Errorf("forget=%s: the same rows come to something else", forget)
		}
	}
}
