package belief

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// rowsGen draws rows of three nominal columns, some cells missing, and a number.
var rowsGen = rapid.Custom(func(t *rapid.T) *table.Table {
	s := &table.Schema{}
	n := rapid.IntRange(1, 12).Draw(t, "rows")
	columns := make([]table.Column, 5)
	for j, name := range []string{"class", "a", "b"} {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Values: []string{"x", "y", "z"}[:2+j%2]})
		for range n {
			least := int32(table.Missing)
			if j == 0 {
				least = 0
			}
			columns[j].Codes = append(columns[j].Codes, rapid.Int32Range(least, int32(1+j%2)).Draw(t, name))
		}
	}
	s.Attributes = append(s.Attributes, table.Attribute{Name: "n", Kind: table.Numeric})
	for range n {
		columns[3].Floats = append(columns[3].Floats, float64(rapid.IntRange(-4, 4).Draw(t, "n")))
	}
	s.Attributes = append(s.Attributes, table.Attribute{Name: "k", Kind: table.Numeric})
	for r := range n {
		k := columns[3].Floats[r] + rapid.Float64Range(-1, 1).Draw(t, "k")
		if rapid.IntRange(0, 5).Draw(t, "gap") == 0 {
			k = table.NA
		}
		columns[4].Floats = append(columns[4].Floats, k)
	}
	for j := range 3 { // Unseen stands where nothing is known
		for r, c := range columns[j].Codes {
			if c < 0 {
				columns[j].Codes[r] = table.Missing
			}
		}
	}
	tab, err := table.New(s, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
})

// Learning in pieces, from several sources, merged, or with one more that is
// forgotten, is learning everything at once: graph, tables and counts.
func TestNetworksAreExact(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		set := map[string]string{"structure": rapid.SampledFrom([]string{"given", "naive", "tan", "k2", "climb", "pc"}).Draw(rt, "structure")}
		if set["structure"] == "given" {
			set["require"] = "class->a,a->b,class->n,n->k,b->k"
		}
		if set["structure"] == "given" || set["structure"] == "naive" {
			set["keep"] = rapid.SampledFrom([]string{"rows", "counts"}).Draw(rt, "keep")
		}
		fresh := func(id string, tab *table.Table) learn.Model {
			l, err := learn.New(Name, set)
			if err != nil {
				rt.Fatal(err)
			}
			m, err := l.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: id}, Seed: 1}.At(0))
			if err != nil {
				rt.Fatal(err)
			}
			return m
		}
		more := func(m learn.Model, id string, tab *table.Table) learn.Model {
			u, err := m.(*Model).Begin(learn.Source{ID: id})
			if err == nil {
				err = u.Add(ctx, tab)
			}
			if err != nil {
				rt.Fatal(err)
			}
			m, err = u.Freeze(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			return m
		}
		one, two, three := rowsGen.Draw(rt, "one"), rowsGen.Draw(rt, "two"), rowsGen.Draw(rt, "three")
		both, err := table.Concat(one, two)
		if err != nil {
			rt.Fatal(err)
		}
		kept := set["keep"]
		delete(set, "keep")
		want := fresh("all", both).(*Model) // of the rows
		if kept != "" {
			set["keep"] = kept
		}
		updated := more(fresh("1", one), "2", two)
		merged, err := fresh("2", two).(*Model).Merge(ctx, fresh("1", one))
		if err != nil {
			rt.Fatal(err)
		}
		forgotten, err := more(updated, "3", three).(*Model).Forget(ctx, "3")
		if err != nil {
			rt.Fatal(err)
		}
		for what, got := range map[string]learn.Model{"updated": updated, "merged": merged, "forgotten": forgotten} {
			compareNetworks(rt, what, want, got.(*Model))
		}
	})
}

func compareNetworks(t *rapid.T, what string, want, got *Model) {
	for v := range want.net.nodes {
		w, g := &want.net.nodes[v], &got.net.nodes[v]
		if !slices.Equal(w.parents, g.parents) || !slices.Equal(w.lines, g.lines) {
			t.Fatalf("%s: parents of column %d are %v, want %v", what, v, g.parents, w.parents)
		}
		for _, pair := range [][2][]float64{{w.table, g.table}, {want.counts[v], got.counts[v]}, {w.mean, g.mean}, {w.deviation, g.deviation}, {w.slope, g.slope}} {
			if len(pair[0]) != len(pair[1]) {
				t.Fatalf("%s: column %d has %d numbers, want %d", what, v, len(pair[1]), len(pair[0]))
			}
			for i, x := range pair[0] {
				if math.Abs(x-pair[1][i]) > 1e-9*max(1, math.Abs(x)) {
					t.Fatalf("%s: column %d: %v, want %v", what, v, pair[1], pair[0])
				}
			}
		}
	}
}
