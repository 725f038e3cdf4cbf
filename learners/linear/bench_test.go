package linear

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// twenty returns rows of twenty numbers and a target that follows with noise; of
// classes, between which of its cuts it lies.
func twenty(rows int, cuts ...float64) *table.Table {
	random := rand.New(rand.NewPCG(1, 1))
	schema, columns := &table.Schema{}, make([]table.Column, 21)
	y := make([]float64, rows)
	for j := range 20 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a' + j)), Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
		for r := range rows {
			x := random.NormFloat64()
			columns[j].Floats[r] = x
			y[r] += x * float64(j-10) / 10
		}
	}
	target := table.Attribute{Name: "target", Kind: table.Numeric}
	for r := range y {
		y[r] += random.NormFloat64()
	}
	if columns[20].Floats = y; len(cuts) > 0 {
		target = table.Attribute{Name: "target", Values: []string{"low", "middle", "high"}[:len(cuts)+1]}
		columns[20] = table.Column{Codes: make([]int32, rows)}
		for r := range y {
			for _, cut := range cuts {
				if y[r] > cut {
					columns[20].Codes[r]++
				}
			}
		}
	}
	schema.Attributes = append(schema.Attributes, target)
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

var targets = map[string][]float64{"numbers": nil, "classes": {0}, "three": {-1, 1}}

func BenchmarkLearn(b *testing.B) {
	for name, cuts := range targets {
		b.Run(name, func(b *testing.B) {
			t := twenty(100_000, cuts...)
			b.ReportAllocs()
			for b.Loop() {
				learnt(b, &Learner{}, t, "target", "a")
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	for name, cuts := range targets {
		b.Run(name, func(b *testing.B) {
			t := twenty(20_000, cuts...)
			m := learnt(b, &Learner{}, t, "target", "a")
			out := learn.NewPredictions(m, t.Rows())
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Predict(context.Background(), t, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
