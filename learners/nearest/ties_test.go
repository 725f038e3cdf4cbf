package nearest

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Of equally far rows those count that came first: source after source, each in
// the order of its rows, however models came to know them.
func TestTies(t *testing.T) {
	ctx := context.Background()
	tbl := func(points [][2]float64, classes ...string) *table.Table { return plane(t, points, classes...) }
	late := tbl([][2]float64{{3, 0}, {-3, 0}}, "late", "later")
	early := tbl([][2]float64{{0, 3}, {0, -3}}, "early", "earlier")
	asked := plane(t, [][2]float64{{0, 0}})
	first := func(m learn.Model) string {
		p := answer(t, m, asked)
		values := m.Schema().Attributes[m.Target()].Values
		return values[learn.Best(p.Row(0), values)]
	}
	learnAs := func(id string, tbl *table.Table) learn.Model {
		l, err := learn.New(Name, map[string]string{"k": "1", "scale": "none"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(ctx, learn.Task{Table: tbl, Target: "class", Source: learn.Source{ID: id, Name: id}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct{ id, want string }{{"a", "late"}, {"b", "late"}} {
		m, err := learnAs("a", late).(learn.Merger).Merge(ctx, learnAs(c.id, early))
		if err != nil {
			t.Fatal(err)
		}
		if got := first(m); got != c.want {
			t.Errorf("merged behind %s: %q, want %q", c.id, got, c.want)
		}
		m, err = learnAs("a", early).(learn.Merger).Merge(ctx, learnAs(c.id, late))
		if err != nil {
			t.Fatal(err)
		}
		if got := first(m); got != "early" {
			t.Errorf("merged before %s: %q, want early", c.id, got)
		}
		if c.id == "b" {
			if m, err = m.(learn.Forgetter).Forget(ctx, "a"); err != nil || first(m) != "late" {
				t.Errorf("forgotten: %q, %v", first(m), err)
			}
		}
	}
}
