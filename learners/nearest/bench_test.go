package nearest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// clusters is rows of Gaussian clusters in many columns.
func clusters(rows, columns int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 1))
	const classes = 10
	means := rand.New(rand.NewPCG(7, 7))
	centre := make([]float64, classes*columns)
	for i := range centre {
		centre[i] = 3 * means.NormFloat64()
	}
	schema := &table.Schema{}
	cells := make([]table.Column, columns+1)
	for j := range columns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a'+j/26)) + string(rune('a'+j%26)), Kind: table.Numeric})
		cells[j].Floats = make([]float64, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
	cells[columns].Codes = make([]int32, rows)
	for r := range rows {
		class := random.IntN(classes)
		cells[columns].Codes[r] = int32(class)
		for j := range columns {
			cells[j].Floats[r] = centre[class*columns+j] + random.NormFloat64()
		}
	}
	t, err := table.New(schema, cells, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func BenchmarkPredict(b *testing.B) {
	rows := clusters(20_000, 20, 1)
	asked := clusters(2000, 20, 2)
	for _, index := range []string{"brute", "kd", "ball"} {
		m, err := learning(Name, rows, "k=5", "index="+index)
		if err != nil {
			b.Fatal(err)
		}
		out := learn.NewPredictions(m, asked.Rows())
		b.Run(index, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Predict(context.Background(), asked, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLearn(b *testing.B) {
	rows := clusters(20_000, 20, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := learning(Name, rows, "k=5"); err != nil {
			b.Fatal(err)
		}
	}
}
