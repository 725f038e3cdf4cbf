package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mixed returns a table of ten numeric and ten nominal columns with a target
// of two classes that depends on some of each, with noise.
func mixed(rows int) *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{}
	columns := make([]table.Column, 21)
	for i := range 10 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", i), Kind: table.Numeric})
		columns[i].Floats = make([]float64, rows)
	}
	for i := range 10 {
		a := table.Attribute{Name: fmt.Sprintf("c%d", i)}
		for v := range 3 + i {
			a.Values = append(a.Values, fmt.Sprintf("v%02d", v))
		}
		schema.Attributes = append(schema.Attributes, a)
		columns[10+i].Codes = make([]int32, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "y", Values: []string{"no", "yes"}})
	columns[20].Codes = make([]int32, rows)
	for r := range rows {
		for i := range 10 {
			columns[i].Floats[r] = random.NormFloat64()
			columns[10+i].Codes[r] = int32(random.IntN(3 + i))
		}
		score := columns[0].Floats[r] + columns[1].Floats[r]*columns[2].Floats[r] + random.NormFloat64()
		if columns[10].Codes[r] == 1 {
			score++
		}
		if columns[15].Codes[r] > 4 {
			score--
		}
		if score > 0 {
			columns[20].Codes[r] = 1
		}
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func benchmarkLearn(b *testing.B, rows int, l Learner) {
	t := mixed(rows)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Learn(context.Background(), learn.Task{Table: t, Seed: 1}.At(20)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d/depth=10", rows), func(b *testing.B) {
			benchmarkLearn(b, rows, Learner{MaxDepth: 10, MinRows: ptr(1.0), Prune: "none"})
		})
	}
	b.Run("rows=100000/default", func(b *testing.B) { benchmarkLearn(b, 100_000, Learner{}) })
}

func BenchmarkPredict(b *testing.B) {
	t := mixed(100_000)
	m := learnTable(b, t, Learner{MaxDepth: 10, Prune: "none"})
	t = conform(b, t, m)
	out := learn.NewPredictions(m, t.Rows())
	ctx := context.Background()
	b.Run("batch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Predict(ctx, t, out); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*t.Rows()), "ns/row")
	})
	b.Run("row", func(b *testing.B) {
		rows := make([]*table.Table, 1000)
		for r := range rows {
			rows[r] = t.Slice(r, r+1)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := m.Predict(ctx, rows[i%len(rows)], out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
