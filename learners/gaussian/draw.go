package gaussian

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Graph returns the network: an arrow from each column to each unit, as wide
// as the column tells the unit from the others (the Kullback-Leibler distance
// of the unit's density from the column's), and from each unit to the target,
// as wide as its prior.
func (m *Model) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: "Gaussian units"}
	input := func(j int) string { return "column " + m.total.schema.Attributes[j].Name }
	for j := range m.columns {
		if j != m.total.target {
			g.Nodes = append(g.Nodes, draw.Node{ID: input(j), Lines: []string{m.total.schema.Attributes[j].Name}})
		}
	}
	for i := range m.total.units {
		u := &m.total.units[i]
		prior := math.Exp(m.logPrior[i])
		lines := []string{u.name, fmt.Sprintf("%.3g %% of the rows", 100*prior)}
		id := "unit " + u.name
		for j := range m.columns {
			if j == m.total.target {
				continue
			}
			if d := m.divergence(i, j); d > 0 {
				g.Edges = append(g.Edges, draw.Edge{From: input(j), To: id, Weight: d})
			}
		}
		if m.total.target >= 0 {
			g.Edges = append(g.Edges, draw.Edge{From: id, To: "target", Weight: prior})
		}
		expected := m.foremost(i)
		for k := range expected {
			lines = append(lines, expected[k].String())
		}
		node := draw.Node{ID: id, Lines: lines, Layer: 1, Leaf: true, Of: expected}
		if u.class >= 0 {
			node.Class = m.total.schema.Attributes[m.total.target].Values[u.class]
		}
		g.Nodes = append(g.Nodes, node)
	}
	if m.total.target >= 0 {
		g.Nodes = append(g.Nodes, draw.Node{ID: "target", Lines: []string{m.total.targetName()}, Layer: 2})
	}
	return g, nil
}

// mostDrawn is how many columns a unit's box says what it expects of.
const mostDrawn = 3

// foremost is what a unit expects of the target, unless the unit is of one class,
// and of the columns that tell it most from the others.
func (m *Model) foremost(i int) []rule.Expectation {
	var columns []int
	for j := range m.columns {
		if j != m.total.target && m.speaks(j) && m.divergence(i, j) > 0 {
			columns = append(columns, j)
		}
	}
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(m.divergence(i, b), m.divergence(i, a)) })
	columns = columns[:min(len(columns), mostDrawn)]
	if t := m.total.target; t >= 0 && m.total.units[i].class < 0 && m.speaks(t) {
		columns = append([]int{t}, columns...)
	}
	expected := []rule.Expectation{}
	for _, j := range columns {
		if e := m.expectation(i, j); !e.Normal {
			expected = append(expected, e)
		}
	}
	return expected
}

// divergence returns how far unit i's conclusion on a column is from NORMAL,
// in nats.
func (m *Model) divergence(i, j int) float64 {
	c, o := &m.columns[j], &m.overall[j]
	sum := 0.0
	switch {
	case c.share != nil:
		k, total := len(m.logPrior), weight(o.counts)
		for v, n := range o.counts {
			if n > 0 {
				sum += UnitFromNormal.discrete(c.share[v*k+i], n/total)
			}
		}
	case c.precision != nil:
		d := o.deviation()
		sum = UnitFromNormal.normal((c.mean[i]-o.moment.Mean)/d, c.deviation[i]/d)
	}
	return min(max(0, sum), 1e6)
}

// Ovals returns the picture of the units over two numeric columns: for each
// the line at two deviations, which has 86 % of its rows inside, dashed if an
// expert told it, and the rows of a table in the model's schema, unless nil.
func (m *Model) Ovals(x, y int, rows *table.Table) (*draw.Chart, error) {
	for _, j := range []int{x, y} {
		if j < 0 || j >= len(m.columns) || m.columns[j].share != nil {
			return nil, fmt.Errorf("column %d is not a numeric one of the model's %d columns", j+1, len(m.columns))
		}
	}
	names := m.total.schema.Attributes
	chart := &draw.Chart{Title: "Gaussian units: 86 % of the rows of each lie inside its line", XLabel: names[x].Name, YLabel: names[y].Name}
	if rows != nil {
		if err := table.Fits(m.total.schema, rows); err != nil {
			return nil, err
		}
		dots := draw.Series{Name: "rows", Kind: draw.Dots}
		step := max(1, float64(rows.Rows())/mostDots)
		for r := 0.0; int(r) < rows.Rows(); r += step {
			dots.X, dots.Y = append(dots.X, rows.Columns[x].Floats[int(r)]), append(dots.Y, rows.Columns[y].Floats[int(r)])
		}
		if step > 1 {
			dots.Name = fmt.Sprintf("%d of %d rows", len(dots.X), rows.Rows())
		}
		chart.Series = append(chart.Series, dots)
	}
	for i := range m.total.units {
		u := &m.total.units[i]
		s := draw.Series{Name: fmt.Sprintf("%s (%.2f)", u.name, math.Exp(m.logPrior[i]))}
		if u.expert {
			s.Kind = draw.Dashed
		}
		a, b := &m.columns[x], &m.columns[y]
		for step := range 65 {
			sin, cos := math.Sincos(2 * math.Pi * float64(step) / 64)
			r := m.correlation(i, x, y)
			s.X = append(s.X, a.number64(a.mean[i]+2*a.deviation[i]*cos))
			s.Y = append(s.Y, b.number64(b.mean[i]+2*b.deviation[i]*(r*cos+math.Sqrt(1-r*r)*sin)))
		}
		chart.Series = append(chart.Series, s)
	}
	chart.XRange = roomAround(chart.Series, func(s *draw.Series) []float64 { return s.X })
	return chart, nil
}

// correlation returns how two numeric columns are correlated within a unit.
func (m *Model) correlation(i, x, y int) float64 {
	if m.joint == nil {
		return 0
	}
	a, b := slices.Index(m.joint.numeric, x), slices.Index(m.joint.numeric, y)
	if a < 0 || b < 0 {
		return 0
	}
	d := len(m.joint.numeric)
	r := m.joint.covariance[i*triangle(d)+tri(a, b)] / m.joint.width[i*d+a] / m.joint.width[i*d+b]
	return min(max(r, -1), 1)
}

// roomAround returns the range of all finite numbers and a little more, so
// that no mark touches the frame.
func roomAround(series []draw.Series, numbers func(*draw.Series) []float64) [2]float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range series {
		for _, x := range numbers(&series[i]) {
			if finite(x) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	room := (high/2 - low/2) / 15
	if !finite(room) {
		return [2]float64{}
	}
	return [2]float64{low - room, high + room}
}
