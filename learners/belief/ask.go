package belief

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// ErrImpossible says that what is given cannot be, by the network's tables.
type ErrImpossible struct{}

func (ErrImpossible) Error() string {
	return "what is given has the probability 0 in this network, so nothing follows from it; leave something out, or learn with m above 0"
}

// Ask returns the distribution of a column given the known cells of a row.
func (m *Model) Ask(t *table.Table, row, column int) (*learn.Answer, error) {
	return m.AskWith(t, row, column, nil)
}

// AskWith is Ask with soft evidence: for some nominal columns, how probable what
// was seen is under each value (Pearl's virtual evidence).
func (m *Model) AskWith(t *table.Table, row, column int, likelihoods map[int][]float64) (*learn.Answer, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() || column < 0 || column >= len(m.schema.Attributes) {
		return nil, fmt.Errorf("row %d and column %d are none of the table's", row+1, column+1)
	}
	m.compiled()
	d := m.desk()
	defer m.desks.Put(d)
	d.read(t, row, column)
	d.likelihood, d.drawn = likelihoods, 0
	n := &m.net.nodes[column]
	a := &learn.Answer{Experience: 1}
	var log float64
	switch {
	case n.states > 0:
		a.P = make([]float64, n.states)
		log = m.posterior(d, column, a.P)
	case n.numeric:
		var x mixture
		if x, log = m.normal(d, column); !math.IsInf(log, -1) {
			x.describe(a)
		}
	default:
		return nil, fmt.Errorf("no row has a value of %q, so nothing is known of it", m.schema.Attributes[column].Name)
	}
	if math.IsInf(log, -1) {
		return nil, ErrImpossible{}
	}
	a.Samples = d.drawn
	if len(likelihoods) == 0 {
		a.Experience = m.experience(d.findings, log)
	}
	for v := range m.net.nodes {
		if o := &m.net.nodes[v]; o.numeric && d.floats[v] == d.floats[v] {
			log += math.Log(o.unit)
		}
	}
	a.LogDensity = log
	return a, nil
}

// draws is how many rows are drawn to tell how usual a question is, and mostDraws
// how many numbers of tables that may take.
const (
	draws     = 60
	mostDraws = 1 << 20
)

// experience returns the share of rows drawn from the network that are no more
// probable than what is known, in the same columns; 1 where nothing is known, or
// where it would take long to tell.
func (m *Model) experience(known *findings, log float64) float64 {
	some := false
	for v := range known.codes {
		some = some || known.codes[v] >= 0 || known.floats[v] == known.floats[v]
	}
	if !some || m.tree == nil || m.tree.size*draws > mostDraws {
		return 1
	}
	random := rand.New(rand.NewPCG(m.lesson.Seed, 0xe4be))
	d := m.desk()
	defer m.desks.Put(d)
	drawn := newFindings(len(m.net.nodes))
	below := 0
	for range draws {
		m.net.draw(drawn, random)
		for v := range m.net.nodes {
			d.codes[v], d.floats[v] = -1, math.NaN()
			if known.codes[v] >= 0 {
				d.codes[v] = drawn.codes[v]
			}
			if known.floats[v] == known.floats[v] {
				d.floats[v] = drawn.floats[v]
			}
		}
		if own, ok := m.collect(d, -1); ok && own <= log+1e-9 {
			below++
		}
	}
	return float64(below) / draws
}

// normal returns what is known of a number that is not, as a mixture of normals
// over the combinations of the names that it hangs on, and the log of the
// probability of what is known.
func (m *Model) normal(d *desk, column int) (mixture, float64) {
	log, ok := m.collect(d, column)
	if !ok {
		return m.sampledNormal(d.findings, column)
	}
	if math.IsInf(log, -1) {
		return mixture{}, log
	}
	i := slices.IndexFunc(d.tree.numbers, func(r reading) bool { return slices.Contains(r.members, column) })
	r := &d.tree.numbers[i]
	x := mixture{p: make([]float64, r.size), mean: make([]float64, r.size), deviation: make([]float64, r.size)}
	d.tree.shares(d, r, x.p)
	n := &m.net.nodes[column]
	for k, p := range x.p {
		switch {
		case p == 0:
		case r.open == 0:
			x.mean[k], x.deviation[k] = n.mean[k], n.deviation[k]
		default:
			d.filter.run(m.net, &r.group, k, d.floats)
			x.mean[k], x.deviation[k] = d.filter.of(column)
		}
	}
	return x, log
}

// mixture is a number whose parents are not certain.
type mixture struct{ p, mean, deviation []float64 }

// centre is the mean.
func (x mixture) centre() float64 {
	mean := 0.0
	for k, p := range x.p {
		mean += p * x.mean[k]
	}
	return mean
}

func (x mixture) below(at float64) float64 {
	sum := 0.0
	for k, p := range x.p {
		if p > 0 {
			sum += p * 0.5 * math.Erfc(-(at-x.mean[k])/x.deviation[k]/math.Sqrt2)
		}
	}
	return sum
}

func (x mixture) density(at float64) float64 {
	sum := 0.0
	for k, p := range x.p {
		if p > 0 {
			z := (at - x.mean[k]) / x.deviation[k]
			sum += p * math.Exp(-0.5*z*z) / x.deviation[k]
		}
	}
	return sum
}

// quantile halves until it is found.
func (x mixture) quantile(q float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for k, p := range x.p {
		if p > 0 {
			low, high = min(low, x.mean[k]-9*x.deviation[k]), max(high, x.mean[k]+9*x.deviation[k])
		}
	}
	for range 100 {
		middle := low + (high-low)/2
		if x.below(middle) < q {
			low = middle
		} else {
			high = middle
		}
	}
	return low + (high-low)/2
}

// describe fills in an answer: peaks are looked for on a grid.
func (x mixture) describe(a *learn.Answer) {
	a.Mean = x.centre()
	a.Low, a.Median, a.High = x.quantile(0.025), x.quantile(0.5), x.quantile(0.975)
	const grid = 400
	from, step := x.quantile(0.001), (x.quantile(0.999)-x.quantile(0.001))/grid
	for i := 1; i < grid; i++ {
		at := from + float64(i)*step
		if f := x.density(at); f >= x.density(at-step) && f > x.density(at+step) {
			a.Modes = append(a.Modes, at)
		}
	}
	slices.SortStableFunc(a.Modes, func(a, b float64) int {
		if x.density(a) >= x.density(b) {
			return -1
		}
		return 1
	})
}

// MostProbable returns the values of some nominal columns that are together the
// most probable given the known cells of a row, and their probability (the most
// probable explanation, if they are all that is not known); no values where that
// takes wider tables than width= allows.
func (m *Model) MostProbable(t *table.Table, row int, columns []int) (codes []int32, p float64, err error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, 0, err
	}
	m.compiled()
	f := newFindings(len(m.net.nodes))
	f.read(t, row, learn.NoTarget)
	for _, c := range columns {
		if m.net.nodes[c].states == 0 {
			return nil, 0, fmt.Errorf("column %q is not nominal; the most probable values are of nominal columns", m.schema.Attributes[c].Name)
		}
		f.codes[c] = -1
	}
	e := &elimination{net: m.net, findings: f}
	logAll, err := e.sum(nil)
	if err == nil && math.IsInf(logAll, -1) {
		return nil, 0, ErrImpossible{}
	}
	log := 0.0
	if err == nil {
		codes, log, err = e.most(columns)
	}
	if errors.As(err, &errWide{}) {
		return nil, 0, nil
	}
	return codes, math.Exp(log - logAll), err
}

// Separated reports whether two columns are independent given others, whatever
// the tables (d-separation).
func (m *Model) Separated(a, b int, given []int) bool {
	return m.net.separated([]int{a}, []int{b}, given)
}

// Shared returns what two nominal columns tell of each other given others, by the
// tables: their mutual information in bits, 0 where they are independent. False if
// one is a number, or the table of all would be too wide.
func (m *Model) Shared(a, b int, given []int) (bits float64, ok bool) {
	columns := append([]int{a, b}, given...)
	for i, c := range columns {
		if m.net.nodes[c].states == 0 || slices.Contains(columns[:i], c) {
			return 0, false
		}
	}
	e := &elimination{net: m.net, findings: newFindings(len(m.net.nodes))}
	joint, err := e.reduce(e.factors(columns), columns)
	if err != nil {
		return 0, false
	}
	ofA, ofB := e.sumOut(joint, b), e.sumOut(joint, a)
	rest, all := e.sumOut(ofA, a), 0.0
	c := clique{columns: joint.columns, base: joint.cells}
	atA, _ := c.places(m.net, ofA.columns)
	atB, _ := c.places(m.net, ofB.columns)
	at, _ := c.places(m.net, rest.columns)
	for i, p := range joint.cells {
		if all += p; p > 0 {
			bits += p * math.Log2(p*rest.cells[at[i]]/(ofA.cells[atA[i]]*ofB.cells[atB[i]]))
		}
	}
	return max(0, bits/all), true
}
