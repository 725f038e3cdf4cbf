package mixture

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Ask returns the distribution of a column given the known cells of a row: what each
// component answers, by how probable it is given these cells. Of a number each
// component is taken to be normal on either side of its median, as its interval says.
func (m *Model) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	if err := table.Fits(m.Schema(), t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() || column < 0 || column >= len(t.Columns) {
		return nil, fmt.Errorf("row %d and column %d are none of the table's", row+1, column+1)
	}
	if _, ok := m.components[0].(learn.Asker); !ok {
		return nil, fmt.Errorf("components of learner %s cannot be asked for any column", m.settings.Of)
	}
	one := t.Select([]int{row})
	one.Columns = slices.Clone(one.Columns)
	if one.Columns[column].Codes != nil {
		one.Columns[column].Codes = []int32{table.Missing}
	} else {
		one.Columns[column].Floats = []float64{table.NA}
	}
	p := make([]float64, len(m.components))
	logs, err := m.share(context.Background(), one, p)
	if err != nil {
		return nil, err
	}
	all := &learn.Answer{LogDensity: logs[0]}
	densities, halves := make([]float64, len(p)), make([]halves, len(p))
	for c, of := range m.components {
		asker, ok := of.(learn.Asker)
		if !ok {
			return nil, fmt.Errorf("components of learner %s cannot be asked for any column", m.settings.Of)
		}
		cells, _, err := table.Conform(one, of.Schema(), false)
		if err != nil {
			return nil, err
		}
		a, err := asker.Ask(cells, 0, column)
		if err != nil {
			return nil, fmt.Errorf("component %d: %w", c+1, err)
		}
		if all.P == nil {
			all.P = make([]float64, len(a.P))
		}
		if len(a.P) != len(all.P) {
			return nil, fmt.Errorf("components know different values of %q", t.Schema.Attributes[column].Name)
		}
		for v, q := range a.P {
			all.P[v] += p[c] * q
		}
		all.Mean += p[c] * a.Mean
		all.Experience += p[c] * a.Experience
		densities[c] = m.logs[c] + a.LogDensity
		halves[c] = halvesOf(a)
	}
	all.LogDensity = logsum.Of(densities)
	if all.Experience = min(all.Experience, 1); len(all.P) > 0 {
		return all, nil
	}
	all.P = nil
	describe(all, p, halves)
	return all, nil
}

// halves is a density that is normal on either side of its median.
type halves struct{ middle, below, above float64 }

func halvesOf(a *learn.Answer) halves {
	const z = 1.959963984540054
	return halves{a.Median, max((a.Median-a.Low)/z, 1e-300), max((a.High-a.Median)/z, 1e-300)}
}

func (h halves) spread(x float64) float64 {
	if x < h.middle {
		return h.below
	}
	return h.above
}

// describe fills in the quantiles and peaks of a mixture.
func describe(a *learn.Answer, p []float64, all []halves) {
	below := func(x float64) (sum float64) {
		for c, h := range all {
			sum += p[c] * 0.5 * math.Erfc(-(x-h.middle)/h.spread(x)/math.Sqrt2)
		}
		return sum
	}
	density := func(x float64) (sum float64) {
		for c, h := range all {
			z := (x - h.middle) / h.spread(x)
			sum += p[c] * math.Exp(-0.5*z*z) / h.spread(x)
		}
		return sum
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, h := range all {
		low, high = min(low, h.middle-9*h.below), max(high, h.middle+9*h.above)
	}
	quantile := func(q float64) float64 {
		from, to := low, high
		for range 100 {
			if middle := from + (to-from)/2; below(middle) < q {
				from = middle
			} else {
				to = middle
			}
		}
		return from + (to-from)/2
	}
	a.Low, a.Median, a.High = quantile(0.025), quantile(0.5), quantile(0.975)
	const grid = 400
	from, step := quantile(0.001), (quantile(0.999)-quantile(0.001))/grid
	for i := 1; i < grid; i++ {
		if x := from + float64(i)*step; density(x) >= density(x-step) && density(x) > density(x+step) {
			a.Modes = append(a.Modes, x)
		}
	}
	slices.SortStableFunc(a.Modes, func(x, y float64) int {
		if density(x) >= density(y) {
			return -1
		}
		return 1
	})
}
