package gaussian

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Ask returns the distribution of one column given the known cells of a row
// (equation 11): the units' densities of the column, weighted by how well the
// units explain what is known.
func (m *Model) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() || column < 0 || column >= len(m.columns) {
		return nil, fmt.Errorf("row %d and column %d are not among the table's %d rows and the model's %d columns", row+1, column+1, t.Rows(), len(m.columns))
	}
	units := make([]float64, len(m.logPrior))
	v := m.view(column)
	v.explain(t, row, row+1, units)
	most, total := m.posterior(units)
	a := &learn.Answer{LogDensity: most + math.Log(total)}
	a.Experience = m.experience(t, row, column, a.LogDensity)
	c := &m.columns[column]
	if c.share != nil {
		a.P = make([]float64, len(c.share)/len(units))
		c.classes(units, a.P)
		return a, nil
	}
	c = v.expect(0)
	a.Mean, _, _ = c.number(units)
	a.Median, a.Low, a.High = c.number64(c.quantile(units, 0.5)), c.number64(c.quantile(units, 0.025)), c.number64(c.quantile(units, 0.975))
	for _, mode := range c.modes(units) {
		a.Modes = append(a.Modes, c.number64(mode))
	}
	return a, nil
}

// below returns the probability of a number below x, in the level's unit.
func (c *column) below(units []float64, x float64) float64 {
	p := 0.0
	for i, r := range units {
		switch {
		case r == 0:
		case c.deviation[i] > 0:
			p += r * 0.5 * math.Erfc((c.mean[i]-x)/c.deviation[i]/math.Sqrt2)
		case c.mean[i] <= x:
			p += r
		}
	}
	return p
}

// quantile returns the number below which a share of the probability lies, by
// halving an interval that has it inside.
func (c *column) quantile(units []float64, p float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i, r := range units {
		if r > 0 {
			low, high = min(low, c.mean[i]-40*c.deviation[i]), max(high, c.mean[i]+40*c.deviation[i])
		}
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if c.below(units, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// leastMode is the height, relative to the highest, from which a peak counts.
const leastMode = 0.05

// modes returns the peaks of the density of a column, the highest first. Each
// is found uphill from a unit's centre by the fixed point of the derivative's
// zero, x = Σ g_i c_i/σ_i² / Σ g_i/σ_i² (Carreira-Perpiñán 2000), which every
// peak of a mixture can be reached by.
func (c *column) modes(units []float64) []float64 {
	type peak struct{ x, height float64 }
	var peaks []peak
	for i, r := range units {
		if r < 1e-6 {
			continue
		}
		x := c.mean[i]
		if !(c.deviation[i] > 0) {
			return []float64{x}
		}
		height := 0.0
		for range 1000 {
			up, down := 0.0, 0.0
			height = 0
			for k, s := range units {
				z := (x - c.mean[k]) / c.deviation[k]
				g := s * math.Exp(-0.5*z*z) / c.deviation[k]
				height += g
				up += g / c.deviation[k] * (c.mean[k] / c.deviation[k])
				down += g / c.deviation[k] / c.deviation[k]
			}
			next := up / down
			if !finite(next) || math.Abs(next-x) <= 1e-9*c.deviation[i] {
				break
			}
			x = next
		}
		if !slices.ContainsFunc(peaks, func(p peak) bool { return math.Abs(p.x-x) < 1e-3*c.deviation[i] }) {
			peaks = append(peaks, peak{x, height})
		}
	}
	slices.SortStableFunc(peaks, func(a, b peak) int { return cmp.Compare(b.height, a.height) })
	var modes []float64
	for _, p := range peaks {
		if p.height >= leastMode*peaks[0].height {
			modes = append(modes, p.x)
		}
	}
	return modes
}

// probes is the number of made-up rows that a question is compared with.
const probes = 2000

// experience returns the share of rows, made up as the model expects them,
// that are no denser than a row in the cells that are known of it; 1 if
// nothing is known. Rows of the same names are equally dense, up to the order
// in which logs were added, and count: a value that a third of the rows have
// is not outside experience because the other values are no rarer.
func (m *Model) experience(t *table.Table, row, column int, density float64) float64 {
	known := false
	made := m.make(probes, rand.New(rand.NewPCG(1, 2)), func(j int) bool {
		c := &m.columns[j]
		is := j != column && (c.share != nil && t.Columns[j].Codes[row] >= 0 || c.precision != nil && finite(t.Columns[j].Floats[row]))
		known = known || is
		return is
	})
	if !known {
		return 1
	}
	k := len(m.logPrior)
	logs := make([]float64, probes*k)
	m.view(column).explain(made, 0, probes, logs)
	const rounding = 1e-9
	asRare := 0
	for r := range probes {
		if logsum.Of(logs[r*k:][:k]) <= density+rounding {
			asRare++
		}
	}
	return float64(asRare) / probes
}

// make makes up rows as the model expects them, in some columns; the cells of
// the others are missing.
func (m *Model) make(rows int, random *rand.Rand, wanted func(column int) bool) *table.Table {
	k := len(m.logPrior)
	priors := make([]float64, k)
	for i, l := range m.logPrior {
		priors[i] = math.Exp(l)
	}
	units := make([]int, rows)
	for r := range units {
		units[r] = drawn(priors, random)
	}
	columns := make([]table.Column, len(m.columns))
	correlated := m.joint.draw(m, units, random)
	for j := range columns {
		c := &m.columns[j]
		want := wanted(j)
		if c.share != nil {
			columns[j].Codes = make([]int32, rows)
			p := make([]float64, len(c.share)/k)
			for r, u := range units {
				columns[j].Codes[r] = table.Missing
				if want && len(p) > 0 {
					for v := range p {
						p[v] = c.share[v*k+u]
					}
					columns[j].Codes[r] = int32(drawn(p, random))
				}
			}
			continue
		}
		columns[j].Floats = make([]float64, rows)
		for r, u := range units {
			columns[j].Floats[r] = table.NA
			switch {
			case !want || c.precision == nil:
			case correlated != nil:
				columns[j].Floats[r] = correlated[j][r]
			default:
				columns[j].Floats[r] = c.number64(c.mean[u] + c.deviation[u]*random.NormFloat64())
			}
		}
	}
	return &table.Table{Schema: m.total.schema, Columns: columns}
}

// Impute returns the table with its missing cells filled in.
func (m *Model) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	columns := slices.Clone(t.Columns)
	for j := range columns {
		var rows []int
		for r := range t.Rows() {
			if columns[j].Codes != nil && columns[j].Codes[r] == table.Missing || columns[j].Codes == nil && table.IsMissing(columns[j].Floats[r]) {
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 || m.unknown(j) {
			continue
		}
		some := t.Select(rows)
		values := m.total.schema.Attributes[j].Values
		out := &learn.Predictions{Classes: len(values), P: make([]float64, len(rows)*len(values))}
		if columns[j].Codes == nil {
			out = &learn.Predictions{Mean: make([]float64, len(rows)), Low: make([]float64, len(rows)), High: make([]float64, len(rows))}
		}
		if err := m.predict(ctx, some, j, out); err != nil {
			return nil, err
		}
		columns[j] = table.Column{Codes: slices.Clone(columns[j].Codes), Floats: slices.Clone(columns[j].Floats)}
		for i, r := range rows {
			if columns[j].Codes != nil {
				columns[j].Codes[r] = int32(learn.Best(out.Row(i), values))
			} else {
				columns[j].Floats[r] = out.Mean[i]
			}
		}
	}
	return table.New(t.Schema, columns, t.Weights)
}

// unknown reports whether nothing was ever known of a column.
func (m *Model) unknown(j int) bool {
	if c := m.overall[j].counts; c != nil {
		return weight(c) == 0
	}
	return m.overall[j].moment.N == 0
}
