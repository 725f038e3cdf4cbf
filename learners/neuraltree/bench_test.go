package neuraltree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// curved returns rows of twenty numbers whose class depends on a sum and a
// product, with noise.
func curved(rows int, noise float64) *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{}
	columns := make([]table.Column, 21)
	for j := range 20 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", j), Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "y", Values: []string{"no", "yes"}})
	columns[20].Codes = make([]int32, rows)
	for r := range rows {
		for j := range 20 {
			columns[j].Floats[r] = random.NormFloat64()
		}
		score := columns[0].Floats[r] + columns[1].Floats[r]*columns[2].Floats[r] + columns[3].Floats[r]/2
		if (score > 0) != (random.Float64() < noise) {
			columns[20].Codes[r] = 1
		}
	}
	return must(table.New(schema, columns, nil))
}

func BenchmarkLearn(b *testing.B) {
	for _, rows := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			t := curved(rows, 0.1)
			b.ReportAllocs()
			for b.Loop() {
				learnTable(b, &Learner{}, t, 20, 1)
			}
		})
	}
	b.Run("parity-8", func(b *testing.B) {
		t, target := load(b, "parity:bits=8")
		b.ReportAllocs()
		for b.Loop() {
			learnTable(b, &Learner{}, t, target, 1)
		}
	})
}

func BenchmarkPredict(b *testing.B) {
	m := learnTable(b, &Learner{}, curved(5000, 0.1), 20, 1)
	t := conform(b, curved(100_000, 0.1), m)
	out := learn.NewPredictions(m, t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), t, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*t.Rows()), "ns/row")
}
