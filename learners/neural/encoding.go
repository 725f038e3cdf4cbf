package neural

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// sample is the distinct rows to learn from, as numbers.
type sample struct {
	stride int
	x      []float32 // a row of inputs each
	aim
	// others are the further targets of the same rows, whose outputs stand
	// behind the first one's.
	others []aim
	// tangents are what is known of slopes; nil for nothing.
	tangents *tangents
}

// aim is what outputs should say of each row.
type aim struct {
	outputs int
	class   []int32   // of each row; nil for a numeric target
	number  []float32 // the scaled target of each row otherwise
}

// farthest is the greatest scaled input: an outlier may shout, but not so
// loud that nothing else is heard.
const farthest = 20

// fitEncoding decides how cells become numbers.
func (m *Model) fitEncoding(ctx context.Context, t *table.Table) error {
	matrix, err := encode.FitMatrix(ctx, t, m.target, encode.Options{Indicators: true})
	if err != nil {
		return err
	}
	for i := range matrix.Inputs {
		if s := matrix.Inputs[i].Scale; s != nil {
			s.Most = farthest
		}
	}
	m.matrix = matrix
	m.fitTarget(t)
	return nil
}

// fitTarget scales a numeric target.
func (m *Model) fitTarget(t *table.Table) {
	if m.regression() {
		m.scale = encode.FitScale(t.Columns[m.target].Floats, t.Weights, encode.ZScore, false)
	}
}

// scaleTogether gives the pixels of a picture one scale: of few pictures, one
// pixel's own deviations tell little, and a pixel that is rarely dark would count
// most of all.
func (m *Model) scaleTogether(t *table.Table) {
	var all, weights []float64
	for i := range m.matrix.Inputs {
		if in := &m.matrix.Inputs[i]; in.Scale != nil {
			all = append(all, t.Columns[in.Column].Floats...)
			weights = append(weights, t.Weights...)
		}
	}
	together := encode.FitScale(all, weights, encode.ZScore, false)
	for i := range m.matrix.Inputs {
		if s := m.matrix.Inputs[i].Scale; s != nil {
			s.Offset, s.Factor = together.Offset, together.Factor
		}
	}
}

// sample returns a table of the model's columns as numbers.
func (m *Model) sample(ctx context.Context, t *table.Table) (*sample, error) {
	width := m.matrix.Width()
	s := &sample{stride: strideOf(width), x: make([]float32, t.Rows()*strideOf(width))}
	if err := m.matrix.Apply32(t, 0, 0, nil); err != nil {
		return nil, err // and so would any rows be refused
	}
	err := learn.Split(ctx, t.Rows(), func(lo, hi int) {
		buffer := make([]float32, answered*width)
		for ; lo < hi; lo += answered {
			end := min(lo+answered, hi)
			if m.matrix.Apply32(t, lo, end, buffer) != nil {
				return
			}
			for r := lo; r < end; r++ {
				copy(s.x[r*s.stride:], buffer[(r-lo)*width:(r-lo+1)*width])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.aim = m.aim(t)
	for _, other := range m.also {
		s.others = append(s.others, other.aim(t))
	}
	return s, nil
}

// aim returns what the target's outputs should say of a table's rows.
func (m *Model) aim(t *table.Table) aim {
	a := aim{outputs: m.outputs()}
	if !m.regression() {
		a.class = t.Columns[m.target].Codes
		return a
	}
	scaled := make([]float64, t.Rows())
	m.scale.Apply(t.Columns[m.target].Floats, scaled)
	a.number = make([]float32, t.Rows())
	for r, y := range scaled {
		a.number[r] = float32(y)
	}
	return a
}

// count adds up the rows' weights by class, on top of those counted before.
func (m *encoded) count(t *table.Table, before []float64) []float64 {
	if m.regression() {
		return nil
	}
	counts := make([]float64, m.outputs())
	copy(counts, before)
	for r, c := range t.Columns[m.target].Codes {
		if c >= 0 {
			counts[c] += t.Weight(r)
		}
	}
	return counts
}

// prior returns what is known before any input is seen, as outputs: the log
// of each class's share, one row of each class added; for a number 0, which
// is its mean.
func (m *encoded) prior() []float64 {
	outputs := make([]float64, m.outputs())
	for c, n := range m.counts {
		outputs[c] = math.Log((n + 1) / (m.rows + float64(len(m.counts))))
	}
	return outputs
}
