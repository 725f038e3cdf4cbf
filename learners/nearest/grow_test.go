package nearest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mixedRows is rows of numbers and names with holes; further rows have names and
// sizes that the first lack.
func mixedRows(t testing.TB, rows int, numeric bool) *table.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(3, uint64(rows)))
	kind := table.Nominal
	if numeric {
		kind = table.Numeric
	}
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "late", Kind: table.Numeric}, {Name: "colour"}, {Name: "y", Kind: kind},
	}})
	for r := range rows {
		x := random.NormFloat64()
		if random.IntN(20) > 0 {
			b.Float(0, x)
		}
		if r > rows/2 {
			b.Float(1, float64(r%3))
		} else {
			b.Float(1, 1)
		}
		if random.IntN(20) > 0 {
			b.String(2, fmt.Sprint("c", random.IntN(3+r/150)))
		}
		switch {
		case random.IntN(30) == 0:
		case numeric:
			b.Float(3, x*x*float64(1+r/100))
		default:
			b.String(3, fmt.Sprint(x > 0, x*x > 2+0.1*random.NormFloat64()))
		}
		b.End()
	}
	return built(t, b)
}

// Rows that come one by one, or a few at a time, make the model of all at once, to
// the bit; and so do those of two models that go on from one.
func TestGrowth(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		numeric  bool
		settings []string
	}{
		{"chosen", false, []string{"stretch=none"}},
		{"numbers", true, []string{"k=4", "distance=hvdm", "weight=distance"}},
		{"graph", false, []string{"k=3", "scale=sd", "index=graph"}},
		{"ball", true, []string{"k=3", "scale=range", "index=ball"}},
		{"all", false, []string{"k=all", "distance=hvdm", "weight=distance", "m=1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := mixedRows(t, 700, c.numeric)
			m := learnt(t, Name, rows.Slice(0, 590), c.settings...).(*Model)
			was, before := *m.cases, m.cases.table.Rows()
			random := rand.New(rand.NewPCG(1, 2))
			again, stayed := 0, 0
			for at, source := 590, 0; at < 700; {
				to := min(at+1+random.IntN(3), 700)
				if random.IntN(4) == 0 {
					source++
				}
				next := grow(t, m, fmt.Sprint("s", source), rows.Slice(at, to))
				if next.index.index == m.index.index {
					stayed++
				} else {
					again++
				}
				if random.IntN(8) == 0 { // another way on, which must not show
					grow(t, m, "other", rows.Slice(0, 2))
				}
				m, at = next, to
				if random.IntN(20) == 0 {
					same(t, m, rows)
				}
			}
			same(t, m, rows)
			if stayed < 2*again {
				t.Errorf("%d updates of %d settled all anew", again, again+stayed)
			}
			if was.table.Rows() != before {
				t.Error("the first model has changed")
			}
			back, err := m.Forget(ctx, "s1")
			if err != nil {
				t.Fatal(err)
			}
			same(t, back.(*Model), rows)
		})
	}
}

func grow(t testing.TB, m *Model, source string, rows *table.Table) *Model {
	t.Helper()
	u, err := m.Begin(learn.Source{ID: source, Name: source})
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err = table.Conform(rows, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	next, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return next.(*Model)
}

// same checks a model against one that learns its rows at once, and against itself
// as it is saved.
func same(t testing.TB, m *Model, rows *table.Table) {
	t.Helper()
	packed, err := m.rows.all(context.Background(), m.cases)
	if err != nil {
		t.Fatal(err)
	}
	once, err := learnRows(context.Background(), packed, m.lesson, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	asked, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	want := answer(t, m, asked)
	for what, other := range map[string]learn.Model{"at once": once, "read": read} {
		o := other.(*Model)
		if !reflect.DeepEqual(o.chosen, m.chosen) || !slices.Equal(o.Sources(), m.Sources()) || o.cases.weight != m.cases.weight {
			t.Fatalf("%s: %+v of %v, not %+v of %v", what, o.chosen, o.cases.weight, m.chosen, m.cases.weight)
		}
		if got := answer(t, o, asked); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: other answers", what)
		}
	}
}

// A row more costs about as much among 100,000 as among 1,000.
func BenchmarkOneRowMore(b *testing.B) {
	for _, rows := range []int{1000, 10_000, 100_000} {
		for _, settings := range [][]string{nil, {"k=5", "distance=hvdm"}} {
			m := learnt(b, Name, clusters(rows, 10, 1), settings...).(*Model)
			more := clusters(1000, 10, 2)
			b.Run(fmt.Sprint(rows, settings), func(b *testing.B) {
				b.ReportAllocs()
				m, at := m, 0
				for b.Loop() {
					m = grow(b, m, "b", more.Slice(at%1000, at%1000+1))
					at++
				}
			})
		}
	}
}
