package gaussian

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
)

// Network is the model as a network of normalised Gaussian basis functions
// that predicts one numeric column from the other numeric ones (equation 1):
//
//	y = Σ w_i b_i(x) / Σ b_k(x), b_i(x) = κ_i exp(−½ Σ (x_j − c_ij)²/σ_ij²)
type Network struct {
	Inputs        []int     // columns of the schema
	LogKappa      []float64 // ln κ_i = ln P(i) − Σ ln σ_ij√2π
	Centre, Width [][]float64
	Weight        []float64 // w_i: what unit i expects of the column
}

// Network returns the network that predicts a numeric column from all other
// numeric columns, nominal ones being unknown.
func (m *Model) Network(column int) (*Network, error) {
	if column < 0 || column >= len(m.columns) || m.columns[column].share != nil {
		return nil, fmt.Errorf("column %d is not a numeric one of the model's %d columns", column+1, len(m.columns))
	}
	if m.joint != nil {
		return nil, fmt.Errorf("with covariance=full units are not axis-parallel basis functions")
	}
	n := &Network{LogKappa: append([]float64(nil), m.logPrior...)}
	for j := range m.columns {
		if j != column && m.columns[j].precision != nil {
			n.Inputs = append(n.Inputs, j)
		}
	}
	for i := range m.logPrior {
		var centre, width []float64
		for _, j := range n.Inputs {
			c := &m.columns[j]
			centre = append(centre, c.mean[i]/c.scale)
			width = append(width, c.deviation[i]/c.scale)
			n.LogKappa[i] -= math.Log(c.deviation[i]/c.scale) + halfLog2Pi
		}
		n.Centre, n.Width = append(n.Centre, centre), append(n.Width, width)
		n.Weight = append(n.Weight, m.columns[column].number64(m.columns[column].mean[i]))
	}
	return n, nil
}

// Output returns the network's output for inputs in the order of Inputs. What
// is not finite is left out of the sums.
func (n *Network) Output(x []float64) float64 {
	logs := make([]float64, len(n.Weight))
	for i := range logs {
		logs[i] = n.LogKappa[i]
		for j, xj := range x {
			if !finite(xj) {
				logs[i] += math.Log(n.Width[i][j]) + halfLog2Pi
				continue
			}
			z := (xj - n.Centre[i][j]) / n.Width[i][j]
			logs[i] -= 0.5 * z * z
		}
	}
	normalise(logs)
	y := 0.0
	for i, b := range logs {
		y += b * n.Weight[i]
	}
	return y
}

// AsNetwork writes the model out as a network of normalised Gaussian basis
// functions (equation 1) that predicts the target, names and all: unit i is
//
//	b_i(x) = exp(ln κ_i + Σ ln P(x_j | i) over names − ½ Σ ((x_j − c_ij)/σ_ij)²)
//
// and an output Σ w_i b_i / Σ b_k, w_i being what unit i expects of a number,
// or its probability of a class. A density has basis functions alone.
func (m *Model) AsNetwork() (*draw.Units, error) {
	if m.joint != nil {
		return nil, fmt.Errorf("with covariance=full units are not axis-parallel basis functions; learn with covariance=diagonal to see them")
	}
	target, attributes := m.total.target, m.total.schema.Attributes
	view := &draw.Units{Title: "density", Notes: []string{"unit = exp(its first number, which is ln κ, + the logs of names that a row has - ½ Σ ((x - centre)/width)²)"}}
	for j := range m.columns {
		switch c := &m.columns[j]; {
		case j == target:
		case c.share != nil:
			for _, value := range attributes[j].Values {
				view.Inputs = append(view.Inputs, attributes[j].Name+" = "+value)
			}
		case c.precision != nil:
			view.Inputs = append(view.Inputs, attributes[j].Name)
		}
	}
	for i := range m.logPrior {
		view.Units = append(view.Units, m.basisFunction(i))
	}
	if target == learn.NoTarget {
		view.Notes = append(view.Notes, "of any column that is left out, the expected value is Σ centre·unit / Σ unit")
		return view, nil
	}
	view.Title = attributes[target].Name
	view.Notes = append(view.Notes, "normalised divides by the sum of the units")
	output := func(name string, weight func(unit int) float64) {
		o := draw.Unit{Name: name, Function: "normalised", Output: true}
		for i := range m.logPrior {
			w := weight(i)
			o.From = append(o.From, draw.UnitLink{From: m.total.units[i].name, Weight: &w})
		}
		view.Units = append(view.Units, o)
	}
	c := &m.columns[target]
	if c.share == nil {
		output(attributes[target].Name, func(i int) float64 { return c.number64(c.mean[i]) })
		return view, nil
	}
	for v, value := range attributes[target].Values {
		output(attributes[target].Name+" = "+value, func(i int) float64 { return c.share[v*len(m.logPrior)+i] })
	}
	return view, nil
}

// basisFunction writes out one unit, over all columns but the target.
func (m *Model) basisFunction(i int) draw.Unit {
	k := len(m.logPrior)
	bias := m.logPrior[i]
	u := draw.Unit{Name: m.total.units[i].name, Function: "gauss", Bias: &bias}
	for j := range m.columns {
		c, a := &m.columns[j], &m.total.schema.Attributes[j]
		switch {
		case j == m.total.target:
		case c.share != nil:
			for v, value := range a.Values {
				log := math.Log(c.share[v*k+i])
				u.From = append(u.From, draw.UnitLink{From: a.Name + " = " + value, Weight: &log})
			}
		case c.precision != nil:
			centre, width := c.number64(c.mean[i]), c.number64(c.deviation[i])
			bias -= math.Log(width) + halfLog2Pi
			u.From = append(u.From, draw.UnitLink{From: a.Name, Centre: &centre, Width: &width})
		}
	}
	return u
}

// InternalRepresentation returns the gates of rows of a table: how much each unit has
// of a row by its known cells but the target (equation 9), n_i(x) of the network, and
// g_i of the mixture of constant experts that the model is (equation 13). The answer is
// what the units expect of the target, mixed by them; of a model without a target, whose
// units are clusters, the one that has most of the row.
func (m *Model) InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error) {
	if err := table.Fits(m.total.schema, t); err != nil {
		return nil, err
	}
	s, target := &draw.States{}, m.total.target
	for i := range m.logPrior {
		name := m.total.units[i].name
		if target != learn.NoTarget && m.columns[target].share == nil {
			name += fmt.Sprintf(" (%.6g)", m.columns[target].number64(m.columns[target].mean[i]))
		}
		s.Units = append(s.Units, name)
	}
	s.Notes = []string{"the gates of " + strings.Join(s.Units, ", ")}
	answer, err := m.answers(ctx, t)
	if err != nil {
		return nil, err
	}
	v := m.view(target).share()
	gates := make([]float64, len(m.logPrior))
	for row := range t.Rows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.explain(t, row, row+1, gates)
		m.posterior(gates)
		s.Rows = append(s.Rows, draw.StateRow{Row: row + 1, States: slices.Clone(gates), Answer: answer(row, gates)})
	}
	return s, nil
}

// answers returns how what the units answer to a row of a table is said, given its gates.
func (m *Model) answers(ctx context.Context, t *table.Table) (func(row int, gates []float64) string, error) {
	target := m.total.target
	if target == learn.NoTarget {
		return func(_ int, gates []float64) string { return m.total.units[floats.MaxIdx(gates)].name }, nil
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	if m.columns[target].share == nil {
		return func(row int, _ []float64) string { return fmt.Sprintf("%.6g", out.Mean[row]) }, nil
	}
	classes := m.total.schema.Attributes[target].Values
	return func(row int, _ []float64) string { return classes[learn.Best(out.Row(row), classes)] }, nil
}
