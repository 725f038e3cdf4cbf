package cover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// noisy returns rows of ten numbers and five names whose class follows a few
// rules, with noise.
func noisy(rows int) *table.Table {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{}
	columns := make([]table.Column, 16)
	for j := range 10 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", j), Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
	}
	for j := 10; j < 15; j++ {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("n%d", j), Values: []string{"a", "b", "c", "d", "e", "f"}})
		columns[j].Codes = make([]int32, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "y", Values: []string{"no", "yes"}})
	columns[15].Codes = make([]int32, rows)
	for r := range rows {
		for j := range 10 {
			columns[j].Floats[r] = random.NormFloat64()
		}
		for j := 10; j < 15; j++ {
			columns[j].Codes[r] = random.Int32N(6)
		}
		yes := columns[0].Floats[r] > .5 && columns[10].Codes[r] < 3 || columns[1].Floats[r] < -1 && columns[2].Floats[r] > 0
		if yes != (random.Float64() < .1) {
			columns[15].Codes[r] = 1
		}
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func BenchmarkLearn(b *testing.B) {
	for _, algorithm := range []string{"ripper", "cn2", "aq", "prism", "itrule"} {
		for _, rows := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", algorithm, rows), func(b *testing.B) {
				t := noisy(rows)
				b.ReportAllocs()
				for b.Loop() {
					learnTable(b, &Learner{Algorithm: algorithm}, t, 15)
				}
			})
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	m := learnTable(b, &Learner{}, noisy(5000), 15)
	t := noisy(100_000)
	out := learn.NewPredictions(m, t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), t, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*t.Rows()), "ns/row")
}
