package relation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func TestSimplest(t *testing.T) {
	for _, x := range []struct{ from, below, want float64 }{
		{3.583333333333334, 3.6, 3.59}, {3.599999999, 3.7, 3.6}, {0.1, 0.1000000001, 0.1}, {-2.71828, -2.5, -2.7}, {1e17, 2e17, 1e17},
	} {
		if got := simplest(x.from, x.below); got != x.want {
			t.Errorf("simplest(%v, %v) = %v, expected %v", x.from, x.below, got, x.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		from, below := rapid.Float64().Draw(t, "from"), rapid.Float64().Draw(t, "below")
		if from < below && !math.IsInf(from, 0) {
			if x := simplest(from, below); x < from || x >= below {
				t.Errorf("simplest(%v, %v) = %v, which divides them otherwise", from, below, x)
			}
		}
	})
}

// TestSignificant adds the same numbers up in two orders.
func TestSignificant(t *testing.T) {
	if a, b := significant((0.1+0.2+0.3)/3, 0.3), significant((0.3+0.2+0.1)/3, 0.3); a != b || a != 0.2 {
		t.Errorf("the means are %v and %v", a, b)
	}
	if x := significant((0.1+0.2-0.3)/3, 0.3); x != 0 {
		t.Errorf("what is left of rounding is %v", x)
	}
	for _, x := range []float64{0, math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64, -1e-300} {
		if y := significant(x, math.Abs(x)); math.Abs(y-x) > 1e-11*math.Abs(x) {
			t.Errorf("%v became %v", x, y)
		}
	}
}

// TestPlantedRules plants rules about visits in noisy rows: "a visit of more than 9 hours to a
// far place", of which each cut is chosen before the other, and moved when both are there; and
// for golem, which follows what is the only one, "the longest visit is of more than 14 hours".
func TestPlantedRules(t *testing.T) {
	for _, x := range []struct {
		learner learn.Learner
		ill     func(hours int, far string) bool
		want    []string
	}{
		{&Learner{}, func(hours int, far string) bool { return hours > 9 && far == "yes" }, []string{"hours more than 9", "far = yes"}},
		{&Golem{}, func(hours int, _ string) bool { return hours > 14 }, []string{"whose greatest hours of visits is more than 14"}},
	} {
		m, err := x.learner.Learn(context.Background(), learn.Task{Table: visited(t, x.ill), Target: "ill"})
		must(t, err)
		var text []string
		for _, c := range m.(*Model).Clauses() {
			text = append(text, c.Words)
		}
		for _, want := range x.want {
			if len(text) == 0 || !strings.Contains(text[0], want) {
				t.Errorf("expected %q, learnt\n%s", want, strings.Join(text, "\n"))
			}
		}
	}
}

// visited is people and their visits, one of which makes ill; 4 % of the answers are wrong.
func visited(t *testing.T, makes func(hours int, far string) bool) *table.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11))
	people, visits := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "person"}, {Name: "ill"}}}), table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "person"}, {Name: "hours", Kind: table.Numeric}, {Name: "far"}}})
	known := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "person"}}})
	for i := range 1200 {
		name, ill := fmt.Sprint("p", i), false
		for range 1 + r.IntN(2) {
			hours, far := r.IntN(20), []string{"no", "yes"}[r.IntN(2)]
			ill = ill || makes(hours, far)
			must(t, visits.String(0, name), visits.Float(1, float64(hours)), visits.String(2, far))
			visits.End()
		}
		must(t, people.String(0, name), people.String(1, []string{"no", "yes"}[btoi(ill != (r.Float64() < 0.04))]), known.String(0, name))
		people.End()
		known.End()
	}
	rows, err := people.Table()
	must(t, err)
	around, err := visits.Table()
	must(t, err)
	names, err := known.Table()
	must(t, err)
	return rows.WithLinked(&table.Linked{Of: "people", Target: "ill",
		Tables: []table.NamedTable{{Name: "people", Primary: []string{"person"}, Table: names}, {Name: "visits", Table: around}},
		Links:  []table.Link{{Table: "visits", Columns: []string{"person"}, To: "people", ToColumns: []string{"person"}}}})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
