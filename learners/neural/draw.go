package neural

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// Weights below this part of a layer's greatest are not drawn, nor are more
// than mostDrawn units of a layer: pictures are for looking at.
const (
	leastDrawn = 0.15
	mostDrawn  = 40
)

// Graph returns the first network in layers, edges as wide as weights are
// large, with the sign of their weights. Of many units those with the
// greatest weights to the next layer are shown.
func (m *Model) Graph() (*draw.Graph, error) {
	net := m.members[0].net
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	names := m.matrix.Names(m.schema)
	var outputs []string
	if m.regression() {
		outputs = []string{m.schema.Attributes[m.target].Name}
	} else {
		outputs = m.schema.Attributes[m.target].Values
	}
	id := func(level, unit int) string { return fmt.Sprintf("%d.%d", level, unit) }
	shown := make([][]bool, len(net.layers)+1)
	for level := range shown {
		size := net.inputs
		if level > 0 {
			size = net.layers[level-1].out
		}
		shown[level] = net.prominent(level, size)
		for unit := range size {
			if !shown[level][unit] {
				continue
			}
			n := draw.Node{ID: id(level, unit), Layer: level}
			switch level {
			case 0:
				n.Lines = []string{names[unit]}
			case len(net.layers):
				n.Lines, n.Class, n.Leaf = []string{outputs[unit]}, outputs[unit], true
			default:
				n.Lines = []string{fmt.Sprintf("unit %d", unit+1)}
			}
			g.Nodes = append(g.Nodes, n)
		}
	}
	for i := range net.layers {
		l := &net.layers[i]
		most := 0.0
		for _, w := range l.w {
			most = max(most, math.Abs(float64(w)))
		}
		for from := range l.in {
			for to := range l.out {
				w := float64(l.w[from*l.stride+to])
				if size := math.Abs(w); shown[i][from] && shown[i+1][to] && size >= leastDrawn*most && size > 0 {
					g.Edges = append(g.Edges, draw.Edge{From: id(i, from), To: id(i+1, to), Label: fmt.Sprintf("%+.2g", w), Weight: size / most})
				}
			}
		}
	}
	return g, nil
}

// prominent chooses the units of a level to draw.
func (d *dense) prominent(level, size int) []bool {
	chosen := make([]bool, size)
	for range min(size, mostDrawn) {
		best, most := -1, -1.0
		for unit := range size {
			if chosen[unit] {
				continue
			}
			sum := 0.0
			if level < len(d.layers) {
				l := &d.layers[level]
				for _, w := range l.w[unit*l.stride:][:l.out] {
					sum += math.Abs(float64(w))
				}
			}
			if sum > most {
				best, most = unit, sum
			}
		}
		chosen[best] = true
	}
	return chosen
}

// So many units of a layer, and rows of a table, are shown at most.
const (
	mostUnitsShown = 64
	mostRowsShown  = 200
)

// Weights returns the weights of the first network as pictures. With a width,
// each unit that reads the inputs is a picture of its own: what it looks for,
// in rows of so many inputs (Mitchell 1997, figure 4.10). Without, each layer is
// a table: a row for each input or unit, a column for each unit that reads it.
func (m *Model) Weights(width int) (*draw.Shades, error) {
	net := m.members[0].net
	s := &draw.Shades{Title: m.schema.Attributes[m.target].Name + ": weights"}
	if width > 0 {
		if width > net.inputs || net.inputs%width != 0 {
			return nil, fmt.Errorf("%d inputs do not fill rows of %d; expected a divisor", net.inputs, width)
		}
		l := &net.layers[0]
		for unit := range min(l.out, mostUnitsShown) {
			panel := draw.Panel{Name: m.nameOf(1, unit)}
			for top := 0; top < net.inputs; top += width {
				row := make([]float64, width)
				for i := range row {
					row[i] = float64(l.w[(top+i)*l.stride+unit])
				}
				panel.Cells = append(panel.Cells, row)
			}
			s.Panels = append(s.Panels, panel)
		}
		return s, nil
	}
	for level := range net.layers {
		l := &net.layers[level]
		panel := draw.Panel{}
		shown := net.prominent(level, l.in)
		columns := min(l.out, mostUnitsShown)
		for unit := range columns {
			panel.Columns = append(panel.Columns, m.nameOf(level+1, unit))
		}
		row := func(name string, w []float32) {
			cells := make([]float64, columns)
			for i := range cells {
				cells[i] = float64(w[i])
			}
			panel.Rows, panel.Cells = append(panel.Rows, name), append(panel.Cells, cells)
		}
		for from := range l.in {
			if shown[from] {
				row(m.nameOf(level, from), l.w[from*l.stride:])
			}
		}
		row("bias", l.b)
		s.Panels = append(s.Panels, panel)
	}
	return s, nil
}

// Hidden returns what the hidden units of the first network say to rows of a
// table, a row each, the first layer first.
func (m *Model) Hidden(ctx context.Context, t *table.Table) (*draw.Shades, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	net := m.members[0].net
	if len(net.layers) == 1 {
		return nil, fmt.Errorf("the network has no hidden units; learn it with hidden=3, for example")
	}
	rows := min(t.Rows(), mostRowsShown)
	title := m.schema.Attributes[m.target].Name + ": values of the hidden units"
	if rows < t.Rows() {
		title = fmt.Sprintf("%s, the first %d of %d rows", title, rows, t.Rows())
	}
	x, err := m.sample(ctx, t.Slice(0, rows))
	if err != nil {
		return nil, err
	}
	signals := net.newSignals(1)
	panel := draw.Panel{}
	for r := range rows {
		copy(signals.values[0], x.x[r*x.stride:(r+1)*x.stride])
		net.forward(signals, 0, 1)
		var cells []float64
		for level, l := range net.layers[:len(net.layers)-1] {
			for unit, v := range signals.values[level+1][:l.out] {
				if len(cells) == mostUnitsShown {
					break
				}
				if cells = append(cells, float64(v)); r == 0 {
					panel.Columns = append(panel.Columns, m.nameOf(level+1, unit))
				}
			}
		}
		name := fmt.Sprintf("row %d", r+1)
		if target := t.Text(r, m.target); target != "" {
			name += ": " + target
		}
		panel.Rows, panel.Cells = append(panel.Rows, name), append(panel.Cells, cells)
	}
	return &draw.Shades{Title: title, Panels: []draw.Panel{panel}}, nil
}

// nameOf returns what a unit, an input or an output is called.
func (m *Model) nameOf(level, unit int) string {
	layers := len(m.members[0].net.layers)
	switch {
	case level == 0:
		return m.matrix.Names(m.schema)[unit]
	case level == layers && m.regression():
		return m.schema.Attributes[m.target].Name
	case level == layers:
		return m.schema.Attributes[m.target].Values[unit]
	case layers > 2:
		return fmt.Sprintf("unit %d.%d", level, unit+1)
	}
	return fmt.Sprintf("unit %d", unit+1)
}

// AsNetwork writes the first network out unit by unit.
func (m *Model) AsNetwork() (*draw.Units, error) {
	net := m.members[0].net
	view := &draw.Units{Title: m.schema.Attributes[m.target].Name, Inputs: m.matrix.Names(m.schema)}
	for level := range net.layers {
		l := &net.layers[level]
		function, output := net.activation.String(), level == len(net.layers)-1
		switch {
		case output && m.regression():
			function = units.Linear.String()
		case output:
			function = units.Softmax.String()
		}
		for j := range l.out {
			bias := float64(l.b[j])
			u := draw.Unit{Name: m.nameOf(level+1, j), Function: function, Bias: &bias, Output: output}
			if output && !m.regression() {
				u.Name = m.schema.Attributes[m.target].Name + " = " + u.Name
			}
			for i := range l.in {
				if w := float64(l.w[i*l.stride+j]); w != 0 {
					u.From = append(u.From, draw.UnitLink{From: m.nameOf(level, i), Weight: &w})
				}
			}
			view.Units = append(view.Units, u)
		}
	}
	view.Notes = append(view.Notes, "numbers are read in deviations from their means")
	if m.regression() {
		view.Notes = append(view.Notes, "and so is the output")
	}
	if len(m.members) > 1 {
		view.Notes = append(view.Notes, fmt.Sprintf("the first of a committee of %d networks", len(m.members)))
	}
	return view, nil
}

// InternalRepresentation returns what the hidden units of the first network
// say to rows of a table.
func (m *Model) InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	net := m.members[0].net
	x, err := m.sample(ctx, t)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	s := &draw.States{}
	signals := net.newSignals(1)
	for r := range t.Rows() {
		copy(signals.values[0], x.x[r*x.stride:(r+1)*x.stride])
		net.forward(signals, 0, 1)
		row := draw.StateRow{Row: r + 1}
		for level, l := range net.layers[:len(net.layers)-1] {
			for unit, v := range signals.values[level+1][:l.out] {
				if row.States = append(row.States, float64(v)); r == 0 {
					s.Units = append(s.Units, m.nameOf(level+1, unit))
				}
			}
		}
		if m.regression() {
			row.Answer = fmt.Sprintf("%.6g", out.Mean[r])
		} else {
			classes := m.schema.Attributes[m.target].Values
			row.Answer = classes[learn.Best(out.Row(r), classes)]
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}
