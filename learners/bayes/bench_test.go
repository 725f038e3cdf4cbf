package bayes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mixed returns a table of 10 numeric and 10 nominal columns and a class of
// two values that all of them know something of.
func mixed(rows int) *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{}
	columns := make([]table.Column, 21)
	class := make([]int32, rows)
	for i := range class {
		class[i] = random.Int32N(2)
	}
	for j := range 20 {
		a := table.Attribute{Name: fmt.Sprintf("c%d", j), Kind: table.Numeric}
		if j < 10 {
			columns[j].Floats = make([]float64, rows)
			for i := range columns[j].Floats {
				columns[j].Floats[i] = random.NormFloat64() + 0.2*float64(class[i])
			}
		} else {
			a.Kind = table.Nominal
			for v := range j - 7 {
				a.Values = append(a.Values, fmt.Sprintf("v%d", v))
			}
			columns[j].Codes = make([]int32, rows)
			for i := range columns[j].Codes {
				columns[j].Codes[i] = min(random.Int32N(int32(len(a.Values)))+class[i]*random.Int32N(2), int32(len(a.Values)-1))
			}
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"no", "yes"}})
	columns[20].Codes = class
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func BenchmarkLearn1M(b *testing.B) {
	t := mixed(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		fit(b, t, 1)
	}
}

func BenchmarkPredict1M(b *testing.B) {
	t := mixed(1_000_000)
	m := fit(b, t, 1)
	out := learn.NewPredictions(m, t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), t, out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPredictRow(b *testing.B) {
	t := mixed(1000)
	m := fit(b, t, 1)
	row := t.Slice(0, 1)
	out := learn.NewPredictions(m, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), row, out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddRow(b *testing.B) {
	t := mixed(1000)
	u, err := fit(b, t, 1).Begin(learn.Source{ID: "b"})
	if err != nil {
		b.Fatal(err)
	}
	row := t.Slice(0, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := u.Add(context.Background(), row); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdateRow learns one row more, from a model to the next one: of a
// new source, of the source that the model knows, and with a prediction from
// each model, which then needs its tables.
func BenchmarkUpdateRow(b *testing.B) {
	for _, rows := range []int{1000, 100_000} {
		t := mixed(rows)
		model := fit(b, t, 1)
		one, _, err := table.Conform(t.Slice(0, 1), model.Schema(), false)
		if err != nil {
			b.Fatal(err)
		}
		known := model.Sources()[0].ID
		for _, c := range []struct {
			name, source string
			predict      bool
		}{{"new", "2", false}, {"known", known, false}, {"predict", known, true}} {
			b.Run(fmt.Sprintf("%d/%s", rows, c.name), func(b *testing.B) {
				out := learn.NewPredictions(model, 1)
				b.ReportAllocs()
				for b.Loop() {
					next, err := updated(model, c.source, one)
					if err != nil {
						b.Fatal(err)
					}
					if !c.predict {
						continue
					}
					if err := next.Predict(context.Background(), one, out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// updated returns the model that has learnt a table's rows too.
func updated(m learn.Updater, source string, t *table.Table) (learn.Model, error) {
	u, err := m.Begin(learn.Source{ID: source})
	if err != nil {
		return nil, err
	}
	if err := u.Add(context.Background(), t); err != nil {
		return nil, err
	}
	return u.Freeze(context.Background())
}

// BenchmarkUpdateAmongSources is what an update by 100 rows costs a program
// that reads the model, learns and writes it: it must not grow with the number
// of sources that came before.
func BenchmarkUpdateAmongSources(b *testing.B) {
	for _, sources := range []int{10, 2000} {
		t := mixed(100)
		parts := manySources(b, t, sources)
		b.Run(fmt.Sprint(sources), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readLearnWrite(b, parts, t)
			}
		})
	}
}

// manySources returns the saved form of a model that learnt a table from many
// sources.
func manySources(t testing.TB, rows *table.Table, sources int) []learn.Part {
	var m learn.Model = fit(t, rows, 1)
	var err error
	for i := 1; i < sources; i++ {
		if m, err = updated(m.(learn.Updater), fmt.Sprintf("source %d", i), rows); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func readLearnWrite(t testing.TB, parts []learn.Part, rows *table.Table) {
	m, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = updated(m.(learn.Updater), "one more", rows); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Parts(); err != nil {
		t.Fatal(err)
	}
	m.Size()
}
