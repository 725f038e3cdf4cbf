package gaussian

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
)

var negativeInfinity = math.Inf(-1)

// prune returns the mixture without the unit that is needed least. EM should
// follow.
func (e *em) prune(ctx context.Context, m *mixture, procedure string) (*mixture, error) {
	least, err := e.least(ctx, m, procedure)
	if err != nil {
		return nil, err
	}
	e.resize(len(m.prior) - 1)
	return m.without(least), nil
}

// least returns the unit that is needed least.
func (e *em) least(ctx context.Context, m *mixture, procedure string) (int, error) {
	var loss []float64
	var err error
	if procedure == "centres" {
		loss = m.centreLoss()
	} else if loss, err = e.removalLoss(ctx, m); err != nil {
		return 0, err
	}
	least := 0
	for i, l := range loss {
		if l < loss[least] {
			least = i
		}
	}
	return least, nil
}

// removalLoss returns, for each unit, minus the log likelihood of the rows
// without it, the other priors scaled up (procedure 1): all units in one pass,
// as a row's density without unit i is what is left of the sum.
func (e *em) removalLoss(ctx context.Context, m *mixture) ([]float64, error) {
	k := len(m.prior)
	kernel := m.kernel()
	partial := make([][]float64, (e.rows+chunk-1)/chunk)
	err := learn.Split(ctx, e.rows, func(lo, hi int) {
		sums := make([]float64, k)
		logs, shares := make([]float64, stripe*k), make([]float64, k)
		for at := lo; at < hi; at += stripe {
			end := min(at+stripe, hi)
			kernel.logs(e.sample, at, end, logs)
			for row := at; row < end; row++ {
				l := logs[(row-at)*k:][:k]
				copy(shares, l)
				most, sum := normalise(shares)
				total := most + math.Log(sum)
				for i, r := range shares {
					rest := total
					if r > 0.99 { // 1 − r would keep few digits
						own := l[i]
						l[i] = negativeInfinity
						rest = logsum.Of(l)
						l[i] = own
					} else if r > 0 {
						rest += math.Log1p(-r)
					}
					sums[i] -= e.weightOf(row) * max(rest, -1e300)
				}
			}
		}
		partial[lo/chunk] = sums
	})
	if err != nil {
		return nil, err
	}
	loss := make([]float64, k)
	for _, sums := range partial {
		for i, s := range sums {
			loss[i] += s
		}
	}
	for i := range loss {
		loss[i] += e.weight * math.Log1p(-min(m.prior[i], 1-1e-16))
	}
	return loss, nil
}

// centreLoss returns, for each unit, minus what its rows would contribute to
// the log likelihood if the other units had to explain its centre (procedure
// 2, equation 19): P(j) ln Σ P(i) G(c_j; c_i, σ_i). The unit with the largest
// contribution is the one to go; the paper's "smallest" is a misprint.
func (m *mixture) centreLoss() []float64 {
	k := len(m.prior)
	kernel := m.kernel()
	centres := &sample{shape: m.shape, rows: k, x: m.centre, codes: make([]int32, k*len(m.nominal))}
	for i := range centres.codes {
		centres.codes[i] = -1
	}
	logs := make([]float64, k*k)
	kernel.logs(centres, 0, k, logs)
	loss := make([]float64, k)
	for j := range k {
		l := logs[j*k:][:k]
		// The nominal columns count by what is expected of them.
		for i := range k {
			for v := range m.total {
				if p := m.share[v*k+j]; p > 0 {
					l[i] += p * kernel.logShare[v*k+i]
				}
			}
		}
		l[j] = negativeInfinity
		loss[j] = -m.prior[j] * max(logsum.Of(l), -1e300)
	}
	return loss
}

// Divergence is how far a conclusion is from NORMAL.
type Divergence uint8

const (
	// UnitFromNormal is the Kullback-Leibler distance of the unit's density
	// from the column's, ln(std/σ) − ½ + (σ² + (c − mean)²)/(2 std²): the
	// nats that a row of the unit loses if it is taken for NORMAL.
	UnitFromNormal Divergence = iota
	// NormalFromUnit is the distance the other way round, which is what the
	// right side of equation 20 says: ln(σ/std) − ½ + (std² + (c − mean)²)/(2σ²).
	NormalFromUnit
)

// divergences by their setting.
var divergences = map[string]Divergence{"": UnitFromNormal, "unit": UnitFromNormal, "normal": NormalFromUnit}

// divergence of a centre and width in z-scores.
func (d Divergence) normal(c, w float64) float64 {
	if d == NormalFromUnit {
		return math.Log(w) - 0.5 + (1+c*c)/(2*w*w)
	}
	return -math.Log(w) - 0.5 + (w*w+c*c)/2
}

// discrete is the same for distributions.
func (d Divergence) discrete(unit, overall float64) float64 {
	if d == NormalFromUnit {
		unit, overall = overall, unit
	}
	if unit <= 0 {
		return 0
	}
	return unit * math.Log(unit/overall)
}

// simplify sets the conclusion that is nearest to NORMAL to it, and returns
// false if there is none left. EM may follow.
func (m *mixture) simplify(overall []float64, divergence Divergence) bool {
	k, d, q := len(m.prior), len(m.numeric), len(m.nominal)
	unit, column, least := -1, 0, math.Inf(1)
	for i := range k {
		for j := range d + q {
			if m.normal[i*(d+q)+j] || j < d && m.flat[j] {
				continue
			}
			distance := 0.0
			if j < d {
				distance = divergence.normal(m.centre[i*d+j], m.width[i*d+j])
			} else {
				for v := m.offset[j-d]; v < m.offset[j-d]+m.values[j-d]; v++ {
					distance += divergence.discrete(m.share[v*k+i], overall[v])
				}
			}
			if distance < least {
				unit, column, least = i, j, distance
			}
		}
	}
	if unit < 0 {
		return false
	}
	m.setNormal(unit, column, overall)
	return true
}

// setNormal makes a conclusion NORMAL, for good.
func (m *mixture) setNormal(unit, column int, overall []float64) {
	k, d, q := len(m.prior), len(m.numeric), len(m.nominal)
	m.normal[unit*(d+q)+column] = true
	if column < d {
		m.centre[unit*d+column], m.width[unit*d+column] = 0, 1
		return
	}
	for v := m.offset[column-d]; v < m.offset[column-d]+m.values[column-d]; v++ {
		m.share[v*k+unit] = overall[v]
	}
}

// chooseSize returns the number of units, from so many downwards, that gives
// held-out rows, about a third, the highest likelihood. Which rows are held
// out is a matter of what is in them, so that equal rows stay together.
func (f *fit) chooseSize(ctx context.Context, s *sample, from int) (int, error) {
	var rest, held []int
	seed := f.random.Uint64()
	for r := range s.rows {
		if s.hash(r, seed)%3 == 0 {
			held = append(held, r)
		} else {
			rest = append(rest, r)
		}
	}
	if len(held) == 0 || len(rest) == 0 {
		return from, nil
	}
	validation, training := s.pick(held), s.pick(rest)
	best, most := 1, negativeInfinity
	err := f.sizes(ctx, training, from, func(m *mixture) error {
		l, err := validation.likelihood(ctx, m)
		if l > most {
			best, most = len(m.prior), l
		}
		return err
	})
	return best, err
}

// hash returns a number that depends on the cells of a row, rounded to a
// millionth of a deviation.
func (s *sample) hash(row int, seed uint64) uint64 {
	d, q := len(s.numeric), len(s.nominal)
	h := seed
	mix := func(x uint64) { h = (h ^ x) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for _, x := range s.x[row*d : (row+1)*d] {
		mix(uint64(int64(math.Round(x * 1e6))))
	}
	for _, c := range s.codes[row*q : (row+1)*q] {
		mix(uint64(c))
	}
	return h >> 8
}

// sizes trains units on a sample and prunes them one by one, and calls visit
// with the mixture of each size.
func (f *fit) sizes(ctx context.Context, s *sample, from int, visit func(m *mixture) error) error {
	from = min(from, s.rows)
	e := newEM(s, from, f.Floor, f.M)
	m, err := e.best(ctx, from, f.settings, f.random, func(float64) {})
	if err != nil {
		return err
	}
	for {
		if err := visit(m); err != nil {
			return err
		}
		if len(m.prior) == 1 {
			return nil
		}
		if m, err = e.prune(ctx, m, f.Pruning); err != nil {
			return err
		}
		if _, err := e.run(ctx, m, f.Iterations, f.Tolerance); err != nil {
			return err
		}
	}
}

// removeInputs removes inputs, one by one, until so many are left: each time
// the one without which the target is most likely given the others. A removed
// input is NORMAL in every unit, so that it says nothing of them; EM follows
// each removal, unless the units are to stay as they are. visit, unless nil, hears which input went.
func (e *em) removeInputs(ctx context.Context, m *mixture, keep, target int, s *settings, visit func(column int) error) error {
	d, q := len(m.numeric), len(m.nominal)
	var inputs []int
	for c := range d + q {
		if c != target && !(c < d && m.flat[c]) {
			inputs = append(inputs, c)
		}
	}
	for len(inputs) > keep {
		likelihood := make([]float64, len(inputs))
		errs := make([]error, len(inputs))
		err := learn.Each(ctx, len(inputs), func(i int) {
			likelihood[i], errs[i] = e.sample.conditional(ctx, m.remove(e.overall, inputs[i]), target)
		})
		for _, one := range errs {
			if err == nil {
				err = one
			}
		}
		if err != nil {
			return err
		}
		gone := 0
		for i, l := range likelihood {
			if l > likelihood[gone] {
				gone = i
			}
		}
		*m = *m.remove(e.overall, inputs[gone])
		if !s.Still {
			if _, err := e.run(ctx, m, s.Iterations, s.Tolerance); err != nil {
				return err
			}
		}
		if visit != nil {
			if err := visit(inputs[gone]); err != nil {
				return err
			}
		}
		inputs = slices.Delete(inputs, gone, gone+1)
	}
	return nil
}

// remove returns the mixture with a column NORMAL in every unit.
func (m *mixture) remove(overall []float64, column int) *mixture {
	without := m.clone()
	for i := range m.prior {
		without.setNormal(i, column, overall)
	}
	return without
}

// conditional returns the mean log density of the target given the other
// columns (equation 21): that of the whole row less that of the rest.
func (s *sample) conditional(ctx context.Context, m *mixture, target int) (float64, error) {
	all, err := s.likelihood(ctx, m)
	if err != nil {
		return 0, err
	}
	rest, err := s.hide(target).likelihood(ctx, m)
	return all - rest, err
}

// hide returns the sample with all cells of a column missing.
func (s *sample) hide(column int) *sample {
	d, q := len(s.numeric), len(s.nominal)
	to := *s
	if column >= d {
		to.codes = slices.Clone(s.codes)
		for r := range s.rows {
			to.codes[r*q+column-d] = -1
		}
		return &to
	}
	to.x, to.missing, to.start = slices.Clone(s.x), nil, make([]int, 1, s.rows+1)
	for r := range s.rows {
		to.x[r*d+column] = 0
		if s.start != nil {
			for _, c := range s.missing[s.start[r]:s.start[r+1]] {
				if int(c) != column {
					to.missing = append(to.missing, c)
				}
			}
		}
		to.missing = append(to.missing, int32(column))
		to.start = append(to.start, len(to.missing))
	}
	return &to
}
