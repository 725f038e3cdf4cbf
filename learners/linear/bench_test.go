package linear

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// twenty returns rows of twenty numbers and a target that follows with noise; of
// two classes, whether it is above 0.
func twenty(rows int, classes bool) *table.Table {
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
	if columns[20].Floats = y; classes {
		target = table.Attribute{Name: "target", Values: []string{"no", "yes"}}
		columns[20] = table.Column{Codes: make([]int32, rows)}
		for r := range y {
			if y[r] > 0 {
				columns[20].Codes[r] = 1
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

func BenchmarkLearn(b *testing.B) {
	for name, classes := range map[string]bool{"numbers": false, "classes": true} {
		b.Run(name, func(b *testing.B) {
			t := twenty(100_000, classes)
			b.ReportAllocs()
			for b.Loop() {
				learnt(b, &Learner{}, t, "target", "a")
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	for name, classes := range map[string]bool{"numbers": false, "classes": true} {
		b.Run(name, func(b *testing.B) {
			t := twenty(20_000, classes)
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
