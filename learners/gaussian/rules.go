package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns a unit as a rule each, in the columns' own units. Columns that
// never vary, and those of which nothing is known, are left out.
func (m *Model) Rules() (*rule.Base, error) {
	base := &rule.Base{Kind: rule.Mixture}
	if m.settings.Tune > 0 {
		base.Notes = append(base.Notes, fmt.Sprintf("fine-tuned to predict %s: centres and widths weigh the conclusions and no longer describe the rows", m.total.targetName()))
	}
	for _, s := range m.UnitStandings() {
		base.Notes = append(base.Notes, s.String())
	}
	for i := range m.total.units {
		u := &m.total.units[i]
		unit := rule.Unit{Name: u.name, Prior: min(1, math.Exp(m.logPrior[i]))}
		if u.expert {
			worth := u.n
			unit.Worth = &worth
		}
		for j := range m.columns {
			if e := m.expectation(i, j); m.speaks(j) {
				unit.Expect = append(unit.Expect, e)
			}
		}
		base.Units = append(base.Units, unit)
	}
	if !slices.ContainsFunc(base.Units, func(u rule.Unit) bool { return len(u.Expect) > 0 }) {
		base.Units = nil
		base.Notes = append(base.Notes, "no column says anything: none varies")
	}
	if m.joint != nil {
		base.Notes = append([]string{m.summary(base)}, base.Notes...)
	}
	return base, nil
}

// summary says how far rules answer as the model does whose columns are
// correlated within units, for rows as the model expects them.
func (m *Model) summary(base *rule.Base) string {
	const why = "columns are correlated within units (covariance=full), of which rules only state centres and widths"
	target := m.total.target
	predictor, err := rule.NewPredictor(base, m.total.schema, max(target, 0), m.Overall()...)
	if target < 0 || err != nil {
		return "summary: " + why
	}
	made := m.make(probes, rand.New(rand.NewPCG(1, 4)), func(j int) bool { return j != target })
	rows, err := table.New(m.total.schema, made.Columns, nil)
	if err != nil {
		return "summary: " + why
	}
	ours, theirs := learn.NewPredictions(m, probes), learn.NewPredictions(m, probes)
	if m.Predict(context.Background(), rows, ours) != nil || predictor.Predict(rows, theirs.P, theirs.Mean) != nil {
		return "summary: " + why
	}
	if names := m.total.schema.Attributes[target].Values; m.columns[target].share != nil {
		agree := 0
		for r := range probes {
			if learn.Best(ours.Row(r), names) == learn.Best(theirs.Row(r), names) {
				agree++
			}
		}
		return fmt.Sprintf("summary: agrees with the model on %.1f %% of rows; %s", 100*float64(agree)/probes, why)
	}
	sum := 0.0
	for r := range probes {
		d := ours.Mean[r] - theirs.Mean[r]
		sum += d * d
	}
	return fmt.Sprintf("summary: off by %.3g from the model's answers (root mean square); %s", math.Sqrt(sum/probes), why)
}

// speaks reports whether rules have something to say of a column: it is the
// target, or differs between rows.
func (m *Model) speaks(j int) bool {
	return !m.unknown(j) && (j == m.total.target || m.columns[j].share != nil || m.columns[j].precision != nil)
}

// expectation returns what a unit expects of a column.
func (m *Model) expectation(i, j int) rule.Expectation {
	c := &m.columns[j]
	e := rule.Expectation{Column: m.total.schema.Attributes[j].Name}
	switch {
	case c.share != nil:
		k := len(m.logPrior)
		for v, value := range m.total.schema.Attributes[j].Values {
			if p := c.share[v*k+i]; p > 0 {
				e.Shares = append(e.Shares, rule.Share{Value: value, P: min(p, 1)})
			}
		}
		return e
	case m.total.units[i].normal[j] && c.precision != nil:
		e.Normal = true
		return e
	}
	e.Mean = c.number64(c.mean[i])
	e.Deviation = min(max(c.deviation[i]/c.scale, math.SmallestNonzeroFloat64), math.MaxFloat64)
	return e
}

// Overall returns what the columns are like over all rows that the model
// learnt, which is what NORMAL in its rules refers to.
func (m *Model) Overall() []rule.Overall {
	all := make([]rule.Overall, len(m.overall))
	for j := range m.overall {
		o := &m.overall[j]
		if o.counts != nil {
			total := weight(o.counts)
			for _, n := range o.counts {
				all[j].Shares = append(all[j].Shares, n/total)
			}
			continue
		}
		all[j] = rule.Overall{Mean: o.moment.Mean / o.level.Scale(), Deviation: o.deviation() / o.level.Scale()}
		if o.moment.N == 0 {
			all[j].Mean = math.NaN()
		}
	}
	return all
}

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
		lines := []string{u.name, fmt.Sprintf("P = %.3f", prior)}
		id := "unit " + u.name
		for j := range m.columns {
			if j == m.total.target {
				continue
			}
			if d := m.divergence(i, j); d > 0 {
				g.Edges = append(g.Edges, draw.Edge{From: input(j), To: id, Weight: d})
			}
		}
		if t := m.total.target; t >= 0 {
			lines = append(lines, m.expectation(i, t).String())
			g.Edges = append(g.Edges, draw.Edge{From: id, To: "target", Weight: prior})
		}
		node := draw.Node{ID: id, Lines: lines, Layer: 1, Leaf: true}
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

// mostDots is how many rows a picture shows; of more, some.
const mostDots = 2000

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
