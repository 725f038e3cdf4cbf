package neural

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

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
	if err := learn.Fits(m.schema, t); err != nil {
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
