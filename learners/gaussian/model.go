package gaussian

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	told "github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

// Model is a mixture of Gaussians over all columns.
type Model struct {
	settings settings
	blocks   []*block // in the order in which the sources came
	before   *block   // the sum of all of them but the last; nil if there is one, or nobody asked for it
	sum      *block   // the sum of all of them, in the union of their schemas
	total    *block   // the sum with the units that answer
	overall  []overall
	rows     float64
	written  *bundle.Shelf[*block] // the saved form of blocks, for the models that come from this one too

	logPrior []float64 // of each unit
	columns  []column
	joint    *joint // how columns hang together within units; nil if they do not
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Density   = (*Model)(nil)
	_ learn.Asker     = (*Model)(nil)
	_ learn.Imputer   = (*Model)(nil)
	_ told.Stander    = (*Model)(nil)
)

// column is what the units expect of one attribute, side by side. A numeric
// column that never varies has no precision.
type column struct {
	// numeric: the log density of unit u, in deviations of the column, is
	// peak − ½((x − mean)·precision)², where x, mean and deviation are in
	// the unit of the column's level.
	scale                            float64
	mean, deviation, precision, peak []float64
	low, high                        float64 // cells beyond are taken for these, or squares could overflow

	// nominal: the probability of value v in unit u at v·K + u. The logs
	// begin with two rows of 0 for table.Unseen and table.Missing.
	share, logs []float64
}

// farthest is the number of deviations from which cells lie equally far.
const farthest = 1e140

// newModel adds up the blocks and computes the units' parameters from the sum.
func newModel(s settings, hasTarget bool, blocks []*block) (*Model, error) {
	if len(blocks) == 1 {
		return newModelAfter(nil, s, hasTarget, blocks)
	}
	before, err := sum(blocks[:len(blocks)-1])
	if err != nil {
		return nil, err
	}
	return newModelAfter(before, s, hasTarget, blocks)
}

// with returns the model with a source's block replaced, or added if its place
// is after the others. If it is the last one, the others' sum is known, and
// the cost does not grow with the number of sources.
func (m *Model) with(at int, own *block) (*Model, error) {
	blocks := append(m.blocks[:len(m.blocks):len(m.blocks)], own)
	before := m.sum
	if at < len(m.blocks) {
		blocks = slices.Clone(m.blocks)
		blocks[at] = own
		if before = m.before; at < len(m.blocks)-1 || before == nil {
			return newModel(m.settings, m.total.target != learn.NoTarget, blocks)
		}
	}
	next, err := newModelAfter(before, m.settings, m.total.target != learn.NoTarget, blocks)
	if err != nil {
		return nil, err
	}
	next.written = m.written
	return next, nil
}

// newModelAfter is newModel where the sum of all blocks before the last one is
// known; nil if there are none.
func newModelAfter(before *block, s settings, hasTarget bool, blocks []*block) (*Model, error) {
	var all *block
	var err error
	if before == nil {
		all, err = sum(blocks)
	} else {
		all, err = before.plus(blocks[len(blocks)-1])
	}
	if err != nil {
		return nil, err
	}
	return newModelOf(all, before, s, hasTarget, blocks)
}

// newModelOf is newModelAfter where the sum of all blocks is known, too.
func newModelOf(all, before *block, s settings, hasTarget bool, blocks []*block) (*Model, error) {
	if hasTarget && all.target < 0 {
		return nil, fmt.Errorf("no source has the target's column")
	}
	sums := *all
	total := &sums
	total.units = slices.Clone(all.units)
	// A unit that no row or rule stands behind any more has died.
	weight := 0.0
	total.units = slices.DeleteFunc(total.units, func(u share) bool { return !(u.n > leastWeight) })
	for i := range total.units {
		weight += total.units[i].n
	}
	if !(weight > 0) || !(total.rows > 0) {
		return nil, fmt.Errorf("no rows are left to learn from")
	}
	if !(weight <= 2*moment.MaxWeight) {
		return nil, fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", weight, float64(moment.MaxWeight))
	}
	if s.Default > 0 {
		total.units = append(total.units, defaultExpert(total, s.Default))
		weight += s.Default
	}
	unique(total.units)
	m := &Model{written: &bundle.Shelf[*block]{}, settings: s, blocks: blocks, before: before, sum: all, total: total, overall: total.columns, rows: total.rows, logPrior: make([]float64, len(total.units)), columns: make([]column, len(total.columns))}
	for i := range total.units {
		m.logPrior[i] = math.Log(total.units[i].n) - math.Log(weight)
	}
	for j := range m.columns {
		if total.columns[j].counts != nil {
			m.columns[j] = m.nominal(j)
		} else {
			m.columns[j] = m.numeric(j)
		}
	}
	if s.Covariance == "full" {
		m.joint = m.newJoint()
	}
	return m, nil
}

// unique gives units of the same name numbers.
func unique(units []share) {
	taken := make(map[string]bool, len(units))
	for i := range units {
		name := units[i].name
		for n := 2; taken[units[i].name]; n++ {
			units[i].name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[units[i].name] = true
	}
}

// numeric computes the units' normal densities of a column: the mean and
// deviation of their rows, no narrower than the floor. A unit that knows no
// cell of the column takes it for NORMAL.
func (m *Model) numeric(j int) column {
	o := &m.overall[j]
	overall := o.deviation()
	c := column{scale: o.level.Scale()}
	for i := range m.total.units {
		u := &m.total.units[i]
		of, floor := u.moments[j], m.settings.Floor*overall
		switch {
		case u.normal[j] || of.N == 0:
			of, floor = o.moment, 0
		case u.expert:
			floor = 0
		}
		d := max(math.Sqrt(of.Variance()), floor)
		c.mean = append(c.mean, of.Mean)
		c.deviation = append(c.deviation, d)
		if overall == 0 || !(d > 0) {
			continue
		}
		c.precision = append(c.precision, 1/d)
		c.peak = append(c.peak, -math.Log(d/overall)-halfLog2Pi)
		if low, high := of.Mean-farthest*d, of.Mean+farthest*d; i == 0 {
			c.low, c.high = low, high
		} else {
			c.low, c.high = min(c.low, low), max(c.high, high)
		}
	}
	if len(c.precision) < len(c.mean) {
		c.precision, c.peak = nil, nil
	}
	return c
}

// nominal computes the units' shares of a column's values, m pseudo cases
// spread evenly over them.
func (m *Model) nominal(j int) column {
	k, values := len(m.total.units), len(m.overall[j].counts)
	c := column{share: make([]float64, values*k), logs: make([]float64, (values+2)*k)}
	for i := range m.total.units {
		u := &m.total.units[i]
		counts, pseudo := u.counts[j], m.settings.M
		if u.normal[j] || u.expert && weight(counts) == 0 {
			counts = m.overall[j].counts
		} else if u.expert || j == m.total.target && u.class >= 0 {
			pseudo = 0
		}
		n := weight(counts) + pseudo
		for v := range values {
			p := (counts[v] + pseudo/float64(values)) / n
			c.share[v*k+i] = p
			c.logs[(v+2)*k+i] = math.Log(p)
		}
	}
	return c
}

func weight(ws []float64) float64 {
	total := 0.0
	for _, w := range ws {
		total += w
	}
	return total
}

// Learner returns "gaussian".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes that the model knows.
func (m *Model) Schema() *table.Schema { return m.total.schema }

// Target returns the index of the target, or learn.NoTarget.
func (m *Model) Target() int { return m.total.target }

// Size counts the rows and the units, each of which is a rule.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: m.rows, Rules: len(m.logPrior), Units: len(m.logPrior)}
}

// addNominal adds the logs of the probabilities of nominal cells. Codes
// beyond the dictionary, of values that an update just brought, say nothing.
func (c *column) addNominal(logs []float64, codes []int32, k int) {
	for r, code := range codes {
		at := (int(code) + 2) * k
		if at+k > len(c.logs) {
			continue
		}
		l := logs[r*k:][:k]
		for i, p := range c.logs[at:][:k] {
			l[i] += p
		}
	}
}

// unit returns a finite cell in the unit of the column's level.
func (c *column) unit(x float64) float64 {
	return min(max(x*c.scale, c.low), c.high)
}

// posterior turns what explain filled in into the probabilities of the units
// of one row, and returns what normalise does, of which the log density is
// most + ln total. If no unit can explain the row, the priors answer.
func (m *Model) posterior(logs []float64) (most, total float64) {
	most, total = normalise(logs)
	if total == 0 {
		for i, p := range m.logPrior {
			logs[i] = math.Exp(p)
		}
	}
	return most, total
}

// Predict fills in what the units together expect of the target: the
// probabilities of classes or, for a number, its mean and an interval of 1.96
// deviations of the mixture to both sides. A density has nothing to fill in.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.total.schema, t); err != nil {
		return err
	}
	if m.total.target == learn.NoTarget {
		return ctx.Err()
	}
	c := &m.columns[m.total.target]
	if c.share != nil && len(out.P) < t.Rows()*out.Classes || c.share == nil && min(len(out.Mean), len(out.Low), len(out.High)) < t.Rows() {
		return fmt.Errorf("the predictions have no room for %d rows", t.Rows())
	}
	return m.predict(ctx, t, m.total.target, out)
}

// predict answers for any one column.
func (m *Model) predict(ctx context.Context, t *table.Table, target int, out *learn.Predictions) error {
	k := len(m.logPrior)
	c := &m.columns[target]
	shared, classes := m.view(target), c.answers()
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		v := shared.share()
		logs := make([]float64, min(stripe, hi-lo)*k)
		for at := lo; at < hi; at += stripe {
			end := min(at+stripe, hi)
			v.explain(t, at, end, logs)
			for row := at; row < end; row++ {
				r := logs[(row-at)*k:][:k]
				m.posterior(r)
				if c.share != nil {
					classes.Classes(r, out.Row(row))
				} else {
					out.Mean[row], out.Low[row], out.High[row] = v.expect(row - at).answers().Number(r)
				}
			}
		}
	})
}

// answers returns the column as what it is to answer from.
func (c *column) answers() *mixed.Column {
	return &mixed.Column{Scale: c.scale, Mean: c.mean, Deviation: c.deviation, Share: c.share, Silent: c.precision == nil}
}

// number64 returns a number in the column's own unit, the largest there is
// if it is too large.
func (c *column) number64(x float64) float64 {
	return min(max(x/c.scale, -math.MaxFloat64), math.MaxFloat64)
}

// Units returns the deviation of each numeric column, which densities are in.
func (m *Model) Units() []float64 {
	units := make([]float64, len(m.overall))
	for j := range units {
		if m.columns[j].precision != nil {
			units[j] = m.overall[j].deviation() / m.columns[j].scale
		}
	}
	return units
}

// LogDensity fills in the natural log of the density at the rows. Numbers are
// taken in z-scores of the rows that the model learnt from, so that the figure
// does not depend on their units: the density per unit of column j is less by
// the log of the column's deviation. Nominal cells count with their
// probabilities. Missing cells, columns that never vary, and values that were
// never seen are integrated out.
func (m *Model) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	if err := table.Fits(m.total.schema, t); err != nil {
		return err
	}
	if len(out) < t.Rows() {
		return fmt.Errorf("room for %d densities, expected %d", len(out), t.Rows())
	}
	k := len(m.logPrior)
	shared := m.view(-1)
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		v := shared.share()
		logs := make([]float64, min(stripe, hi-lo)*k)
		for at := lo; at < hi; at += stripe {
			end := min(at+stripe, hi)
			v.explain(t, at, end, logs)
			for row := at; row < end; row++ {
				out[row] = logsum.Of(logs[(row-at)*k:][:k])
			}
		}
	})
}
