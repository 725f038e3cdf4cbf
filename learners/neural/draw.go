package neural

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// Pictures are for looking at: unless somebody asks for more, so many units of
// a hidden layer are drawn, each with the inputs that it listens to most.
const (
	unitsDrawn = 12
	mostHeard  = 3
	leastHeard = 0.15 // of the greatest weight in its layer
)

// Graph returns the first network in layers: the units that say most, what each
// listens to most and, as wide as its weight, what it says to whom.
func (m *Model) Graph() (*draw.Graph, error) { return m.GraphTop(unitsDrawn) }

// GraphTop is Graph with so many units of each hidden layer at most.
func (m *Model) GraphTop(most int) (*draw.Graph, error) {
	net := m.members[0].net
	names := m.matrix.Names(m.schema)
	for i, name := range names {
		names[i] = strings.Replace(name, " IS MISSING", " not known", 1)
	}
	last := len(net.layers)
	shown := make([][]bool, last+1)
	for level := last; level >= 0; level-- {
		shown[level] = make([]bool, net.inputs)
		if level > 0 {
			shown[level] = make([]bool, net.layers[level-1].out)
		}
		switch level {
		case last:
			for unit := range shown[level] {
				shown[level][unit] = true
			}
		case 0: // those that units drawn listen to, which edges say
		default:
			shown[level] = net.prominent(level, len(shown[level]), most)
		}
	}
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	id := func(level, unit int) string { return fmt.Sprintf("%d.%d", level, unit) }
	hidden, drawn := 0, 0
	for level := 1; level < last; level++ {
		hidden += len(shown[level])
		for _, is := range shown[level] {
			if is {
				drawn++
			}
		}
	}
	if drawn < hidden {
		g.Title = fmt.Sprintf("the %d of %d units that say most, each with what it listens to most", drawn, hidden)
	}
	lines := map[string][]string{}
	for i := range net.layers {
		greatest := net.layers[i].greatest()
		for to := range net.layers[i].out {
			if !shown[i+1][to] {
				continue
			}
			for _, from := range net.layers[i].heard(to, shown[i], i == 0, greatest) {
				w := float64(net.layers[i].w[from*net.layers[i].stride+to])
				shown[i][from] = true
				g.Edges = append(g.Edges, draw.Edge{From: id(i, from), To: id(i+1, to), Weight: w / greatest})
				if i == 0 {
					sign := "+ "
					if w < 0 {
						sign = "− "
					}
					lines[id(1, to)] = append(lines[id(1, to)], sign+names[from])
				}
			}
		}
	}
	for level := range shown {
		for unit, is := range shown[level] {
			if is {
				g.Nodes = append(g.Nodes, m.node(level, unit, id(level, unit), names, lines[id(level, unit)]))
			}
		}
	}
	return g, nil
}

// node is a unit as it is drawn: an input by its name, a hidden unit by what it
// listens to and the class that it speaks for most, an output by its class.
func (m *Model) node(level, unit int, id string, names, lines []string) draw.Node {
	net := m.members[0].net
	n := draw.Node{ID: id, Layer: level}
	classes := m.schema.Attributes[m.target].Values
	switch {
	case level == 0:
		n.Lines = []string{names[unit]}
	case level == len(net.layers) && m.regression():
		n.Lines, n.Leaf = []string{m.schema.Attributes[m.target].Name}, true
	case level == len(net.layers):
		n.Lines, n.Class, n.Leaf = []string{classes[unit]}, classes[unit], true
	default:
		n.Lines = append([]string{fmt.Sprintf("unit %d", unit+1)}, lines...)
		if l := &net.layers[level]; level == len(net.layers)-1 && !m.regression() && l.out == len(classes) {
			best := 0
			for c := range classes {
				if l.w[unit*l.stride+c] > l.w[unit*l.stride+best] {
					best = c
				}
			}
			n.Class = classes[best]
		}
	}
	return n
}

// greatest returns the greatest size of a layer's weights.
func (l *layer) greatest() float64 {
	most := math.SmallestNonzeroFloat64
	for _, w := range l.w {
		most = max(most, math.Abs(float64(w)))
	}
	return most
}

// heard returns the units that one listens to and that are drawn, of inputs the
// few whose weights are largest.
func (l *layer) heard(to int, drawn []bool, inputs bool, greatest float64) []int {
	var from []int
	for f := range l.in {
		if size := math.Abs(float64(l.w[f*l.stride+to])); (inputs || drawn[f]) && size > 0 && (inputs || size >= leastHeard*greatest) {
			from = append(from, f)
		}
	}
	if inputs && len(from) > mostHeard {
		slices.SortStableFunc(from, func(a, b int) int {
			return cmp.Compare(math.Abs(float64(l.w[b*l.stride+to])), math.Abs(float64(l.w[a*l.stride+to])))
		})
		from = from[:mostHeard]
	}
	return from
}

// prominent chooses so many units of a level: those that say most to the next.
func (d *dense) prominent(level, size, most int) []bool {
	says := make([]float64, size)
	if level < len(d.layers) {
		l := &d.layers[level]
		for unit := range says {
			for _, w := range l.w[unit*l.stride:][:l.out] {
				says[unit] += math.Abs(float64(w))
			}
		}
	}
	order := make([]int, size)
	for unit := range order {
		order[unit] = unit
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(says[b], says[a]) })
	chosen := make([]bool, size)
	for _, unit := range order[:min(size, most)] {
		chosen[unit] = true
	}
	return chosen
}

// So many units of a layer, and rows of a table, are shown at most.
const (
	mostUnitsShown = 64
	mostDrawn      = 40
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
		shown := net.prominent(level, l.in, mostDrawn)
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
