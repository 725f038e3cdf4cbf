package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/table"
)

// Overall is what a column is like over all rows, which is what NORMAL and
// sd in rules refer to: the mean and deviation of a numeric column, the
// frequencies of a nominal one's values.
type Overall struct {
	Mean, Deviation float64
	Shares          []float64 // by code
}

// OverallOf returns the statistics of a table's columns. Missing, infinite
// and unseen cells are left out; the deviation is that of the population. A
// column without known cells has a NaN mean.
func OverallOf(t *table.Table) []Overall {
	overall := make([]Overall, len(t.Columns))
	for i, column := range t.Columns {
		o := &overall[i]
		total := 0.0
		if t.Schema.Attributes[i].Kind == table.Nominal {
			o.Shares = make([]float64, len(t.Schema.Attributes[i].Values))
			for row, code := range column.Codes {
				if code >= 0 {
					o.Shares[code] += t.Weight(row)
					total += t.Weight(row)
				}
			}
			for code := range o.Shares {
				o.Shares[code] /= total
			}
			continue
		}
		for row, x := range column.Floats {
			if finite(x) {
				o.Mean += t.Weight(row) * x
				total += t.Weight(row)
			}
		}
		o.Mean /= total
		for row, x := range column.Floats {
			if finite(x) {
				o.Deviation += t.Weight(row) * (x - o.Mean) * (x - o.Mean)
			}
		}
		o.Deviation = math.Sqrt(o.Deviation / total)
	}
	return overall
}

// InUnits returns the base with every expectation in its column's own units
// instead of deviations from the column's mean. NORMAL stays.
func (b *Base) InUnits(schema *table.Schema, overall []Overall) (*Base, error) {
	return b.convert(schema, overall, func(e *Expectation, o *Overall) (err error) {
		e.Mean, e.Deviation, err = e.units(o)
		e.MeanSD, e.DeviationSD = false, false
		return err
	})
}

// InDeviations returns the base with every expectation in deviations from its
// column's mean.
func (b *Base) InDeviations(schema *table.Schema, overall []Overall) (*Base, error) {
	return b.convert(schema, overall, func(e *Expectation, o *Overall) error {
		if e.MeanSD && e.DeviationSD {
			return nil
		}
		if !(o.Deviation > 0) || !finite(o.Mean) || !finite(o.Deviation) {
			return fmt.Errorf("the deviation of %s is %v; what does not vary has no deviations to count in", quote(e.Column), o.Deviation)
		}
		if !e.MeanSD {
			e.Mean = (e.Mean - o.Mean) / o.Deviation
		}
		if !e.DeviationSD {
			e.Deviation /= o.Deviation
		}
		e.MeanSD, e.DeviationSD = true, true
		return nil
	})
}

// convert returns a copy of the base with its normal densities changed.
func (b *Base) convert(schema *table.Schema, overall []Overall, change func(*Expectation, *Overall) error) (*Base, error) {
	if err := b.Check(schema); err != nil {
		return nil, err
	}
	if len(overall) != len(schema.Attributes) {
		return nil, fmt.Errorf("statistics of %d columns for %d attributes", len(overall), len(schema.Attributes))
	}
	known := newNames(schema)
	converted := *b
	converted.Units = slices.Clone(b.Units)
	for u := range converted.Units {
		expect := slices.Clone(converted.Units[u].Expect)
		converted.Units[u].Expect = expect
		for i := range expect {
			if e := &expect[i]; !e.Normal && len(e.Shares) == 0 {
				if err := change(e, &overall[known.columns[e.Column]]); err != nil {
					return nil, fmt.Errorf("unit %s: %w", quote(b.Units[u].Name), err)
				}
			}
		}
	}
	return &converted, nil
}

// mixture is a compiled set of units (Tresp, Hollatz and Ahmad 1997). The
// probability of unit u given the known cells is proportional to its prior
// times the product over the columns of the density that u expects there;
// the answer is the average of what the units expect of the target. Missing
// and unseen cells are left out of the product, and so are infinite ones,
// which no normal density explains. A unit that says nothing of a column of
// which another unit speaks takes it for NORMAL. If no unit can explain the
// row, the priors answer.
type mixture struct {
	priors  []float64 // log, a unit each
	columns []density
	// answers are what units expect of the target: a row of class
	// probabilities a unit, or a mean a unit, and then widths are the
	// deviations.
	answers, widths []float64
}

// density is what all units expect of one column, the units side by side.
type density struct {
	column int
	// numeric: log density = peak − ½((x − mean)/deviation)²
	mean, deviation, peak []float64
	low, high             float64 // cells beyond are taken for these, or squares could overflow
	// nominal: log probability by code, a row of units each
	logs []float64
}

func newMixture(units []Unit, known *names, target int, overall []Overall) (*mixture, error) {
	if len(units) == 0 {
		return nil, fmt.Errorf("the mixture has no units; add WHEN … EXPECT …")
	}
	attributes := known.schema.Attributes
	if len(overall) != 0 && len(overall) != len(attributes) {
		return nil, fmt.Errorf("statistics of %d columns for %d attributes", len(overall), len(attributes))
	}
	m := &mixture{priors: make([]float64, len(units))}
	some := false
	expected := make([][]*Expectation, len(attributes)) // by column and unit; nil where a unit says nothing
	expected[target] = make([]*Expectation, len(units))
	for u := range units {
		m.priors[u] = math.Log(units[u].Prior)
		some = some || units[u].Prior > 0
		for i := range units[u].Expect {
			e := &units[u].Expect[i]
			column := known.columns[e.Column]
			if expected[column] == nil {
				expected[column] = make([]*Expectation, len(units))
			}
			expected[column][u] = e
		}
	}
	if !some {
		return nil, fmt.Errorf("every unit has the prior 0; one must be possible")
	}
	for column := range attributes {
		if expected[column] == nil {
			continue
		}
		a := &attributes[column]
		d := density{column: column}
		for u := range units {
			e := expected[column][u]
			if e == nil {
				e = &Expectation{Column: a.Name, Normal: true}
			}
			var o *Overall
			if len(overall) > 0 {
				o = &overall[column]
			}
			var err error
			if a.Kind == table.Nominal {
				err = m.nominal(&d, u, len(units), e, o, known, target)
			} else {
				err = m.numeric(&d, e, o, target)
			}
			if err != nil {
				return nil, fmt.Errorf("unit %s: %w", quote(units[u].Name), err)
			}
		}
		never := a.Kind == table.Numeric && len(overall) > 0 && overall[column].Deviation == 0 // varies, and so says nothing
		if column != target && !never {
			m.columns = append(m.columns, d)
		}
	}
	return m, nil
}

// farthest is the number of deviations from which cells lie equally far.
const farthest = 1e140

func (m *mixture) numeric(d *density, e *Expectation, o *Overall, target int) error {
	if e.Normal {
		e = &Expectation{Column: e.Column, MeanSD: true, Deviation: 1, DeviationSD: true}
	}
	mean, deviation, err := e.units(o)
	if err != nil {
		return err
	}
	if d.column == target {
		m.answers, m.widths = append(m.answers, mean), append(m.widths, deviation)
		return nil
	}
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		return fmt.Errorf("the deviation of %s is %v, expected a number > 0", quote(e.Column), deviation)
	}
	if len(d.mean) == 0 {
		d.low, d.high = mean, mean
	}
	d.low = min(d.low, mean-farthest*deviation)
	d.high = max(d.high, mean+farthest*deviation)
	d.mean = append(d.mean, mean)
	d.deviation = append(d.deviation, deviation)
	d.peak = append(d.peak, -math.Log(deviation)-0.5*math.Log(2*math.Pi))
	return nil
}

// units returns an expectation's mean and deviation in the column's units.
func (e *Expectation) units(o *Overall) (mean, deviation float64, err error) {
	mean, deviation = e.Mean, e.Deviation
	if !e.MeanSD && !e.DeviationSD {
		return mean, deviation, nil
	}
	if o == nil || !finite(o.Mean) || !(o.Deviation >= 0) {
		return 0, 0, fmt.Errorf("%s is expected in terms of its overall mean and deviation (NORMAL or sd), which are not known here; state it in units", quote(e.Column))
	}
	if e.MeanSD {
		mean = o.Mean + mean*o.Deviation
	}
	if e.DeviationSD {
		deviation *= o.Deviation
	}
	return mean, deviation, nil
}

func (m *mixture) nominal(d *density, u, units int, e *Expectation, o *Overall, known *names, target int) error {
	values := len(known.schema.Attributes[d.column].Values)
	p := make([]float64, values)
	switch {
	case !e.Normal:
		known.distribution(d.column, e.Shares, p)
	case o == nil || len(o.Shares) != values:
		return fmt.Errorf("%s is NORMAL, but its overall distribution is not known here; state the probabilities of its values", quote(e.Column))
	default:
		copy(p, o.Shares)
	}
	if d.column == target {
		m.answers = append(m.answers, p...)
		return nil
	}
	if d.logs == nil {
		d.logs = make([]float64, values*units)
	}
	for code := range p {
		d.logs[code*units+u] = math.Log(p[code])
	}
	return nil
}

// predict answers for the rows lo ≤ row < hi.
func (m *mixture) predict(t *table.Table, classes, lo, hi int, scores, probs, means []float64) {
	for row := lo; row < hi; row++ {
		m.explain(t, row, scores)
		if classes == 0 {
			mean := 0.0
			for u, share := range scores {
				mean += share * m.answers[u]
			}
			means[row] = mean
			continue
		}
		answer := probs[row*classes:][:classes]
		clear(answer)
		for u, share := range scores {
			for c, p := range m.answers[u*classes:][:classes] {
				answer[c] += share * p
			}
		}
	}
}

// least is how far the log of a unit's share may lie below that of the most
// probable one. What lies below is no share: sums do not show it.
const least = -40

// explain sets shares to the posterior probabilities of the units, and returns
// the log density of what is known, in the columns' own units.
func (m *mixture) explain(t *table.Table, row int, shares []float64) float64 {
	units := len(shares)
	copy(shares, m.priors)
	for i := range m.columns {
		d := &m.columns[i]
		if d.logs == nil {
			x := t.Columns[d.column].Floats[row]
			if !finite(x) {
				continue
			}
			x = min(max(x, d.low), d.high)
			mean, deviation, peak := d.mean[:units], d.deviation[:units], d.peak[:units]
			for u := range shares {
				z := (x - mean[u]) / deviation[u]
				shares[u] += peak[u] - float64(0.5*z*z)
			}
			continue
		}
		code := int(t.Columns[d.column].Codes[row])
		if code < 0 || (code+1)*units > len(d.logs) {
			continue
		}
		for u, log := range d.logs[code*units:][:units] {
			shares[u] += log
		}
	}
	most := logsum.Most(shares)
	if math.IsInf(most, -1) {
		copy(shares, m.priors)
		logsum.Normalise(shares)
		return most
	}
	for u, s := range shares {
		if !(s-most > least) {
			shares[u] = math.Inf(-1)
		}
	}
	most, total := logsum.Normalise(shares)
	return most + math.Log(total)
}

// Expected is what the units of a mixture expect of the column that is asked
// for, side by side.
type Expected struct {
	Priors          []float64
	Mean, Deviation []float64 // of a number
	Shares          []float64 // of a name: of value v in unit u of K at v·K + u
}

// Expected returns what the units expect of the target; the base is a mixture.
func (p *Predictor) Expected() Expected {
	m := p.mixture
	k := len(m.priors)
	e := Expected{Priors: make([]float64, k)}
	for u, log := range m.priors {
		e.Priors[u] = math.Exp(log)
	}
	if p.classes == 0 {
		e.Mean, e.Deviation = m.answers, m.widths
		return e
	}
	e.Shares = make([]float64, len(m.answers))
	for at, share := range m.answers {
		e.Shares[at%p.classes*k+at/p.classes] = share
	}
	return e
}

// Units sets shares to how probable the units of a mixture are given the known
// cells of a row but the target's, and returns the log of the density of these
// cells: −Inf if no unit can explain them, and then the priors answer. The table
// has the schema's columns.
func (p *Predictor) Units(t *table.Table, row int, shares []float64) float64 {
	return p.mixture.explain(t, row, shares)
}

// Speaks reports whether the units of a mixture have something to say of rows
// by a column.
func (p *Predictor) Speaks(column int) bool {
	return slices.ContainsFunc(p.mixture.columns, func(d density) bool { return d.column == column })
}
