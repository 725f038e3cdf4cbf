package markov

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// estimates are the probabilities that counts make. States that no row was in
// are left out; the others stand by the name of their class.
type estimates struct {
	settings *settings
	total    *block
	states   []int32 // of the block
	class    []int32 // of each state, in the dictionary of the target
	chain
	prior   []float64 // ln of the share of rows in a state
	columns []emission
}

// emission is what states show in one column; nothing, if all are nil.
type emission struct {
	letters *alphabet
	grams   *contexts
	normals []normal
	scale   float64 // of cells, into the unit of the normals
	// Cells beyond are taken for these, or squares could overflow.
	low, high float64
}

const (
	// zero is the logarithm of an estimate that is 0: its exponential is 0,
	// but sums of it can still be compared.
	zero = -1000
	// leastVariance bounds the variance of a state from below, relative to
	// that of the column: a state of equal numbers is not infinitely sure.
	leastVariance = 1e-9
	// farthest is the number of deviations from which cells lie equally far.
	farthest = 1e140
)

// estimate turns counts into probabilities.
func estimate(s *settings, total *block) *estimates {
	e := &estimates{settings: s, total: total}
	for state, w := range total.visits {
		if w > 0 {
			e.states = append(e.states, int32(state))
		}
	}
	if total.target != learn.NoTarget {
		names := total.schema.Attributes[total.target].Values
		slices.SortStableFunc(e.states, func(a, b int32) int {
			return cmp.Compare(names[int(a)/total.sub], names[int(b)/total.sub])
		})
	}
	for _, state := range e.states {
		e.class = append(e.class, state/int32(total.sub))
	}
	e.estimateChain()
	e.columns = make([]emission, len(total.columns))
	for j := range total.columns {
		switch c := &total.columns[j]; {
		case c.counts != nil:
			e.columns[j] = e.nominal(&total.schema.Attributes[j], c)
		case c.moments != nil:
			e.columns[j] = e.numeric(c)
		}
	}
	return e
}

// ratio is an m-estimate, (n + m·p)/(N + m), or p where nothing is known.
func ratio(n, all, m, p float64) float64 {
	if all+m == 0 {
		return p
	}
	return (n + m*p) / (all + m)
}

// logarithm of an estimate.
func logarithm(p float64) float64 {
	if p == 0 {
		return zero
	}
	return math.Log(p)
}

// estimateChain turns starts and moves into probabilities. Where sequences have
// a class as a whole, a state is followed by one of its class alone.
func (e *estimates) estimateChain() {
	n, m, from := len(e.states), e.settings.M, e.total.states()
	e.chain = newChain(n)
	e.prior = make([]float64, n)
	starts, rows := 0.0, sum(e.total.visits)
	for _, s := range e.states {
		starts += e.total.start[s]
	}
	for i, s := range e.states {
		e.start[i] = ratio(e.total.start[s], starts, m, 1/float64(n))
		e.logStart[i] = logarithm(e.start[i])
		e.prior[i] = math.Log(e.total.visits[s] / rows)
		all, reach := 0.0, 0
		for k, next := range e.states {
			if e.reaches(i, k) {
				all += e.total.moves[int(s)*from+int(next)]
				reach++
			}
		}
		for k, next := range e.states {
			if e.logMove[i*n+k] = math.Inf(-1); e.reaches(i, k) {
				e.move[i*n+k] = ratio(e.total.moves[int(s)*from+int(next)], all, m, 1/float64(reach))
				e.logMove[i*n+k] = logarithm(e.move[i*n+k])
			}
		}
	}
	e.blocked = slices.Contains(e.logMove, math.Inf(-1))
}

// reaches reports whether a state may be followed by another.
func (e *estimates) reaches(i, k int) bool { return !e.settings.Whole || e.class[i] == e.class[k] }

// known returns the weight of the known cells of each state.
func (e *estimates) known(counts []float64) []float64 {
	n := e.total.states()
	known := make([]float64, len(e.states))
	for v := 0; v < len(counts); v += n {
		for i, s := range e.states {
			known[i] += counts[v+int(s)]
		}
	}
	return known
}

// nominal returns the estimates of a nominal column.
func (e *estimates) nominal(a *table.Attribute, c *column) emission {
	if len(a.Values) == 0 {
		return emission{}
	}
	to := emission{letters: e.spell(a, c)}
	if e.settings.Order > 0 {
		to.grams = e.contexts(to.letters, c)
	}
	return to
}

// numeric returns a normal density for each state. The variance is an m-estimate:
// m rows' worth of the variance of the whole column go into that of each state. A
// state of which no cell of the column is known gets the density of the column.
func (e *estimates) numeric(c *column) emission {
	var all moment.Moment
	for _, s := range e.states {
		all = moment.Join(all, c.moments[s])
	}
	variance := all.Variance()
	if variance == 0 {
		return emission{}
	}
	deviation := math.Sqrt(variance)
	to := emission{normals: make([]normal, len(e.states)), scale: c.level.Scale(), low: all.Mean - farthest*deviation, high: all.Mean + farthest*deviation}
	for i, s := range e.states {
		of, m := c.moments[s], e.settings.M
		if of.N == 0 {
			of = all
		}
		d := math.Sqrt(max((of.M2+m*variance)/(of.N+m), leastVariance*variance))
		to.normals[i] = normal{mean: of.Mean, deviation: d, precision: 1 / d, peak: -math.Log(d) - 0.5*math.Log(2*math.Pi)}
	}
	return to
}

// normal is a normal density, ln = peak − ½((x − mean)·precision)².
type normal struct {
	mean, precision, peak float64
	deviation             float64
}

func (n *normal) log(x float64) float64 {
	z := (x - n.mean) * n.precision
	return n.peak - float64(0.5*z*z)
}

// show adds the logarithms of what each state shows in the rows of a sequence to
// logs, a row of states for each.
func (e *estimates) show(t *reading, from, to int, logs []float64) {
	clear(logs)
	for j := range e.columns {
		e.columns[j].show(t, j, from, to, len(e.states), logs)
	}
}

// show adds the logarithms of one column.
func (m *emission) show(t *reading, j, from, to, n int, logs []float64) {
	cells := &t.Columns[j]
	switch {
	case m.grams != nil:
		m.grams.show(cells.Codes[from:to], t.extra[j], logs)
	case m.letters != nil:
		for i, code := range cells.Codes[from:to] {
			row := m.letters.of(m.letters.symbolOf(code, t.extra[j]))
			to := logs[i*n:][:len(row)]
			for s, l := range row {
				to[s] += l
			}
		}
	case m.normals != nil:
		for i, x := range cells.Floats[from:to] {
			if x-x != 0 { // missing or infinite
				continue
			}
			x = min(max(x*m.scale, m.low), m.high)
			to := logs[i*n:][:n]
			for s := range m.normals {
				to[s] += m.normals[s].log(x)
			}
		}
	}
}
