package lazy

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// Other ways keep the contract too, as far as it depends on them: what is learnt
// for a row takes memory of its own, so allocations are not counted.
func TestContractWithSettings(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"query": {"choose": "query"},
		"tree":  {"base": "tree", "k": "10"},
	} {
		t.Run(name, func(t *testing.T) {
			laws := []string{"missing cells", "unseen values", "one class only", "constant and duplicate columns", "huge and tiny numbers", "cancellation", "save and load", "updates bring new values and classes", "explanations add up"}
			learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

// Answers do not depend on the number of cores.
func TestCores(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	tab, target := load(t, "credit-a")
	for _, l := range []*Learner{{}, {Choose: "query"}, {Base: "tree", K: 20}} {
		var first []float64
		for _, n := range []int{1, 3} {
			runtime.GOMAXPROCS(n)
			m := learnTable(t, l, tab, target)
			probe, _, err := table.Conform(tab.Slice(0, 60), m.schema, false)
			if err != nil {
				t.Fatal(err)
			}
			out := learn.NewPredictions(m, probe.Rows())
			if err := m.Predict(context.Background(), probe, out); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = out.P
			} else if !slices.Equal(first, out.P) {
				t.Errorf("%+v: the answers differ", l)
			}
		}
	}
}

func load(t testing.TB, name string) (*table.Table, int) {
	t.Helper()
	tab, set, err := datasets.Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return tab, tab.Schema.Index(set.Target)
}

func learnTable(t testing.TB, l *Learner, tab *table.Table, target int) *Model {
	t.Helper()
	m, err := l.Learn(context.Background(), learn.Task{Table: tab, Seed: 1}.At(target))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// day is one row of PlayTennis's columns.
func day(t testing.TB, m *Model, values ...string) *table.Table {
	t.Helper()
	b := table.NewBuilder(m.schema)
	for i, v := range values {
		if err := b.String(m.schema.Index([]string{"outlook", "temperature", "humidity", "wind"}[i]), v); err != nil {
			t.Fatal(err)
		}
	}
	b.End()
	row, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// steps returns the tests of a row's path with what each gained, the entropy
// of its branch, and the answer.
func steps(t testing.TB, m *Model, row *table.Table) (texts []string, gains, entropies []float64, left float64, answer string) {
	room := m.newRoom()
	m.path(room, row.Columns, 0, func(s step, _, _ []float64) {
		test := m.test(&s)
		texts, gains, entropies, left = append(texts, test.String()), append(gains, s.gain), append(entropies, s.disorder), s.left
	})
	p := make([]float64, m.classes)
	m.smooth(room.now, p)
	return texts, gains, entropies, left, m.names()[learn.Best(p, m.names())]
}

// Exercise 8.3 on a sunny, cool, humid and windy day: the path of ID3's tree
// says no, the one chosen for this day yes; of all 36 kinds of days the two
// differ on five.
func TestPlayTennis(t *testing.T) {
	tab, target := load(t, "playtennis")
	whole, own := learnTable(t, &Learner{}, tab, target), learnTable(t, &Learner{Choose: "query"}, tab, target)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 5e-5 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	texts, gains, _, left, answer := steps(t, whole, day(t, whole, "Sunny", "Cool", "High", "Strong"))
	if !slices.Equal(texts, []string{"outlook = Sunny", "humidity = High"}) || left != 3 || answer != "No" {
		t.Fatalf("%q with %v rows: %s", texts, left, answer)
	}
	near("gain of outlook", gains[0], .2467)
	near("gain of humidity", gains[1], .9710)

	texts, _, entropies, left, answer := steps(t, own, day(t, own, "Sunny", "Cool", "High", "Strong"))
	if !slices.Equal(texts, []string{"temperature = Cool", "outlook = Sunny"}) || left != 1 || answer != "Yes" {
		t.Fatalf("%q with %v rows: %s", texts, left, answer)
	}
	near("entropy of cool days", entropies[0], .8113)
	near("entropy of cool and sunny days", entropies[1], 0)

	differ := 0
	for i := range 36 {
		row := day(t, whole, []string{"Sunny", "Overcast", "Rain"}[i%3], []string{"Hot", "Mild", "Cool"}[i/3%3], []string{"High", "Normal"}[i/9%2], []string{"Weak", "Strong"}[i/18])
		_, _, _, _, a := steps(t, whole, row)
		if _, _, _, _, b := steps(t, own, row); a != b {
			differ++
		}
	}
	if differ != 5 {
		t.Errorf("the two differ on %d of 36 kinds of days, want 5", differ)
	}
}

// A cell that the row does not know is never asked for.
func TestUnknownCells(t *testing.T) {
	tab, target := load(t, "playtennis")
	m := learnTable(t, &Learner{Choose: "query"}, tab, target)
	texts, _, _, _, _ := steps(t, m, day(t, m, "Sunny"))
	if !slices.Equal(texts, []string{"outlook = Sunny"}) {
		t.Errorf("tests %q", texts)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, l := range []*Learner{
		{Base: "lazy"}, {Base: "idd"}, {K: -1}, {Choose: "best"}, {Kernel: "box"}, {M: new(float64)}, {OfBase: map[string]string{"base.hidden": "3"}},
	} {
		if err := l.Check(); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
}
