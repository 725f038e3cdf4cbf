package evaluate

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// bent adds a curve of x and a weight of z to the scores of three classes, or to a
// number.
type bent struct {
	learn.Model
	schema *table.Schema
}

func (m *bent) Learner() string       { return "bent" }
func (m *bent) Schema() *table.Schema { return m.schema }
func (m *bent) Target() int           { return 2 }
func (m *bent) outputs() int          { return max(1, len(m.schema.Attributes[2].Values)) }
func (m *bent) Adds(t *table.Table, col int, out []float64) {
	k := m.outputs()
	for i := range t.Rows() * k {
		r, c := i/k, float64(i%k)
		switch {
		case col < 0:
			out[i] = 0.3 * c
		case col == 0 && !table.IsMissing(t.Columns[0].Floats[r]):
			x := t.Columns[0].Floats[r] - 0.4*c
			out[i] = (c-1)*3*x*x + x
		case col == 1:
			out[i] = 0.5 * math.Cos(float64(t.Columns[1].Codes[r])+2*c)
		}
	}
}
func (m *bent) Predict(_ context.Context, t *table.Table, out *learn.Predictions) error {
	k := m.outputs()
	sum, own := make([]float64, t.Rows()*k), make([]float64, t.Rows()*k)
	for col := -1; col < 2; col++ {
		clear(own)
		m.Adds(t, col, own)
		for i := range sum {
			sum[i] += own[i]
		}
	}
	if k == 1 {
		copy(out.Mean, sum)
		return nil
	}
	copy(out.P, sum)
	for r := range t.Rows() {
		logsum.Normalise(out.Row(r))
	}
	return nil
}

// What is computed from what columns add is what handing each value to each row
// gives: of three classes and of a number, with curves that turn, ties and missing
// cells.
func TestImportanceOfSums(t *testing.T) {
	const n = 150
	for _, target := range []table.Attribute{{Name: "y", Values: []string{"b", "a", "c"}}, {Name: "y", Kind: table.Numeric}} {
		schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "z", Values: []string{"p", "q", "r", "s"}}, target}}
		rng := random(5, 5)
		x, z, y, number, weights := make([]float64, n), make([]int32, n), make([]int32, n), make([]float64, n), make([]float64, n)
		for r := range x {
			x[r], z[r], y[r], weights[r] = math.Round(40*rng.NormFloat64())/40, int32(rng.IntN(4)), int32(rng.IntN(3)), float64(1+rng.IntN(3))
			number[r] = x[r] + rng.NormFloat64()
			if r%17 == 0 {
				x[r] = table.NA
			}
		}
		last := table.Column{Codes: y}
		if target.Kind == table.Numeric {
			last = table.Column{Floats: number}
		}
		tab, err := table.New(schema, []table.Column{{Floats: x}, {Codes: z}, last}, weights)
		if err != nil {
			t.Fatal(err)
		}
		m := &bent{schema: schema}
		for col := range 2 {
			values, total := valuesOf(tab, col)
			losses, logs, err := summed(context.Background(), m, tab, col, values, total)
			if err != nil || losses == nil {
				t.Fatal(err)
			}
			want, wantLogs, exact, err := permuted(context.Background(), m, tab, col, 1) // asks n × values < mostAnswers
			if err != nil || !exact {
				t.Fatal(err)
			}
			for r := range want {
				if math.Abs(losses[r]-want[r]) > 1e-9 || target.Kind == table.Nominal && math.Abs(logs[r]-wantLogs[r]) > 1e-9 {
					t.Fatalf("column %d, row %d: %v and %v, expected %v and %v", col, r, losses[r], logs[r], want[r], wantLogs[r])
				}
			}
		}
	}
}
