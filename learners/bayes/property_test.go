package bayes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// row is a row of the random tables below: two nominal cells, a number, a
// class, and a weight. An empty word is a missing cell.
type row struct {
	a, b, class string
	x, weight   float64
}

var rowGen = rapid.Custom(func(t *rapid.T) row {
	r := row{
		a:      rapid.SampledFrom([]string{"", "p", "q", "r"}).Draw(t, "a"),
		b:      rapid.SampledFrom([]string{"", "10", "9"}).Draw(t, "b"),
		class:  rapid.SampledFrom([]string{"", "yes", "no", "may be"}).Draw(t, "class"),
		x:      rapid.Float64Range(-10, 10).Draw(t, "x"),
		weight: rapid.SampledFrom([]float64{1, 1, 0.5, 3}).Draw(t, "weight"),
	}
	if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
		r.x = math.NaN()
	}
	return r
})

// tabulate codes rows as a reader would: dictionaries begin with a schema's
// values, if there is one, and grow by the values as they come.
func tabulate(rows []row, known *table.Schema) *table.Table {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "a"}, {Name: "x", Kind: table.Numeric}, {Name: "class"}, {Name: "b"}}}
	if known != nil {
		schema = table.CopySchema(known)
	}
	columns := make([]table.Column, 4)
	weights := []float64{}
	add := func(j int, word string) {
		a := &schema.Attributes[j]
		code := table.Missing
		if word != "" {
			if code = a.Code(word); code < 0 {
				code = int32(len(a.Values))
				a.Values = append(a.Values, word)
			}
		}
		columns[j].Codes = append(columns[j].Codes, code)
	}
	columns[0].Codes, columns[2].Codes, columns[3].Codes, columns[1].Floats = []int32{}, []int32{}, []int32{}, []float64{}
	for _, r := range rows {
		add(0, r.a)
		add(2, r.class)
		add(3, r.b)
		columns[1].Floats = append(columns[1].Floats, r.x)
		weights = append(weights, r.weight)
	}
	t, err := table.New(schema, columns, weights)
	if err != nil {
		panic(err)
	}
	return t
}

func learnRows(t *rapid.T, rows []row, source string, m float64) *Model {
	l := &Learner{M: &m}
	model, err := l.Learn(context.Background(), learn.Task{Table: tabulate(rows, nil), Source: learn.Source{ID: source}}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	return model.(*Model)
}

// probabilities asks about rows; classes by name.
func probabilities(t *rapid.T, m *Model, rows []row) []map[string]float64 {
	tab := tabulate(nil, m.Schema())
	for _, r := range rows { // values that the model does not know are unseen
		code := func(j int, word string) int32 {
			if word == "" {
				return table.Missing
			}
			return m.Schema().Attributes[j].Code(word)
		}
		tab.Columns[0].Codes = append(tab.Columns[0].Codes, code(0, r.a))
		tab.Columns[1].Floats = append(tab.Columns[1].Floats, r.x)
		tab.Columns[2].Codes = append(tab.Columns[2].Codes, table.Missing)
		tab.Columns[3].Codes = append(tab.Columns[3].Codes, code(3, r.b))
	}
	tab, err := table.New(m.Schema(), tab.Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, len(rows))
	if err := m.Predict(context.Background(), tab, out); err != nil {
		t.Fatal(err)
	}
	all := make([]map[string]float64, len(rows))
	for r := range all {
		all[r] = map[string]float64{}
		for c, p := range out.Row(r) {
			if p > 0 {
				all[r][m.class().Values[c]] = p
			}
		}
	}
	return all
}

func sameAnswers(t *rapid.T, what string, got, want *Model, rows []row, tolerance float64) {
	p, q := probabilities(t, got, rows), probabilities(t, want, rows)
	for r := range rows {
		for _, class := range []string{"yes", "no", "may be"} {
			if !(math.Abs(p[r][class]-q[r][class]) <= tolerance) {
				t.Fatalf("%s: row %+v: P(%s) = %v, want %v", what, rows[r], class, p[r][class], q[r][class])
			}
		}
	}
}

// addTo adds rows in tables of random sizes whose dictionaries grow on the
// way.
func addTo(t *rapid.T, m *Model, source string, rows []row) *Model {
	u, err := m.Begin(learn.Source{ID: source})
	if err != nil {
		t.Fatal(err)
	}
	schema := m.Schema()
	for len(rows) > 0 {
		n := rapid.SampledFrom([]int{1, 1, 2, 7, 50}).Draw(t, "batch")
		n = min(n, len(rows))
		tab := tabulate(rows[:n], schema)
		if err := u.Add(context.Background(), tab); err != nil {
			t.Fatal(err)
		}
		schema, rows = tab.Schema, rows[n:]
		if rapid.IntRange(0, 5).Draw(t, "freeze") == 0 {
			if _, err := u.Freeze(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	frozen, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return frozen.(*Model)
}

// However rows are spread over sources and whatever way these come together,
// the model is the one of all rows; taking sources out leaves the model of
// the rest.
func TestSourcesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "m")
		parts := rapid.SliceOfN(rapid.SliceOfN(rowGen, 1, 60), 2, 4).Draw(t, "parts")
		probe := rapid.SliceOfN(rowGen, 1, 10).Draw(t, "probe")
		for i := range parts {
			parts[i] = append(parts[i], row{a: "p", b: "9", class: "yes", x: float64(i), weight: 1})
		}
		batch := learnRows(t, slices.Concat(parts...), "all", m)

		// Update by update.
		updated := learnRows(t, parts[0], "0", m)
		for i, rows := range parts[1:] {
			updated = addTo(t, updated, fmt.Sprint(i+1), rows)
		}
		sameAnswers(t, "updates", updated, batch, probe, 1e-9)

		// The same source again and again.
		one := learnRows(t, parts[0], "0", m)
		for _, rows := range parts[1:] {
			one = addTo(t, one, "0", rows)
		}
		sameAnswers(t, "one source", one, batch, probe, 1e-9)
		if len(one.Sources()) != 1 {
			t.Fatalf("one source became %v", one.Sources())
		}

		// Merged in two orders.
		merge := func(order []int) *Model {
			all := learnRows(t, parts[order[0]], fmt.Sprint(order[0]), m)
			for _, i := range order[1:] {
				joined, err := all.Merge(context.Background(), learnRows(t, parts[i], fmt.Sprint(i), m))
				if err != nil {
					t.Fatal(err)
				}
				all = joined.(*Model)
			}
			return all
		}
		order := make([]int, len(parts))
		for i := range order {
			order[i] = i
		}
		merged := merge(order)
		sameAnswers(t, "merging", merged, batch, probe, 1e-9)
		slices.Reverse(order)
		sameAnswers(t, "order of merging", merge(order), merged, probe, 1e-12)

		// Without one of them, from updates and from merging.
		out := rapid.IntRange(0, len(parts)-1).Draw(t, "out")
		rest := learnRows(t, slices.Concat(slices.Delete(slices.Clone(parts), out, out+1)...), "rest", m)
		for what, from := range map[string]*Model{"updates": updated, "merging": merged} {
			left, err := from.Forget(context.Background(), fmt.Sprint(out))
			if err != nil {
				t.Fatal(err)
			}
			sameAnswers(t, "forgetting after "+what, left.(*Model), rest, probe, 1e-9)
			for j := range rest.Schema().Attributes {
				sorted := func(m learn.Model) []string {
					return slices.Sorted(slices.Values(m.Schema().Attributes[j].Values))
				}
				if !slices.Equal(sorted(left), sorted(rest)) {
					t.Fatalf("after forgetting, the values are %q, want %q", sorted(left), sorted(rest))
				}
			}
		}

		// Saved and loaded.
		saved, err := merged.Parts()
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := decode(saved)
		if err != nil {
			t.Fatal(err)
		}
		sameAnswers(t, "loading", loaded.(*Model), merged, probe, 0)
	})
}
