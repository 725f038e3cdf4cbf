package gaussian

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
)

// startWidth is the width of units at the start, in deviations of the
// columns.
const startWidth = 0.7

// newEM prepares the learning of a number of units.
func newEM(s *sample, units int, floor, shareWeight float64) *em {
	e := &em{sample: s, floor: floor, pseudo: newStatistics(s.shape, units), overall: make([]float64, s.total)}
	for c, values := range s.values {
		n := 0.0
		for r := range s.rows {
			if code := s.codes[r*len(s.nominal)+c]; code >= 0 {
				e.overall[s.offset[c]+int(code)] += s.weightOf(r)
				n += s.weightOf(r)
			}
		}
		for v := s.offset[c]; v < s.offset[c]+values; v++ {
			e.overall[v] = (e.overall[v] + shareWeight/float64(values)) / (n + shareWeight)
			for i := range units {
				e.pseudo.counts[v*units+i] = shareWeight / float64(values)
			}
		}
	}
	return e
}

// resize prepares for a smaller number of units that has no expert's cases.
func (e *em) resize(units int) {
	old := e.pseudo
	e.pseudo = newStatistics(e.shape, units)
	for v := range e.total {
		for i := range units {
			e.pseudo.counts[v*units+i] = old.counts[v*old.units]
		}
	}
}

// start returns units around rows.
func (e *em) start(rows []int) *mixture {
	m := newMixture(e.shape, len(rows))
	k, d, q := len(rows), len(e.numeric), len(e.nominal)
	for i, r := range rows {
		m.prior[i] = 1 / float64(k)
		copy(m.centre[i*d:(i+1)*d], e.x[r*d:(r+1)*d])
		for j := range d {
			m.width[i*d+j] = max(startWidth, e.floor)
		}
		for c, code := range e.codes[r*q : (r+1)*q] {
			for v := range e.values[c] {
				p := e.overall[e.offset[c]+v]
				if int(code) == v {
					p = (1 + p) / 2
				} else if code >= 0 {
					p /= 2
				}
				m.share[(e.offset[c]+v)*k+i] = p
			}
		}
	}
	m.uncorrelated()
	return m
}

// randomRows draws different rows by their weight. There are fewer than k if
// there are fewer different rows.
func (e *em) randomRows(ctx context.Context, k int, random *rand.Rand) ([]int, error) {
	left := make([]float64, e.rows)
	for r := range left {
		left[r] = e.weightOf(r)
	}
	var rows []int
	for len(rows) < k {
		next := drawn(left, random)
		if left[next] == 0 {
			break
		}
		rows = append(rows, next)
		err := learn.Split(ctx, e.rows, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				if left[r] > 0 && e.distance(r, next) == 0 {
					left[r] = 0
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// drawn returns an index in proportion to its weight.
func drawn(weights []float64, random *rand.Rand) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	x, last := random.Float64()*total, 0
	for r, w := range weights {
		if w <= 0 {
			continue
		}
		last = r
		if x -= w; x < 0 {
			return r
		}
	}
	return last
}

// spreadRows draws rows far from each other (k-means++, Arthur &
// Vassilvitskii 2007): each by its squared distance from those already drawn.
// There are fewer than k if there are fewer different rows.
func (e *em) spreadRows(ctx context.Context, k int, random *rand.Rand) ([]int, error) {
	weights := make([]float64, e.rows)
	for r := range weights {
		weights[r] = e.weightOf(r)
	}
	rows := []int{drawn(weights, random)}
	near := make([]float64, e.rows)
	for r := range near {
		near[r] = math.Inf(1)
	}
	for len(rows) < k {
		from := rows[len(rows)-1]
		err := learn.Split(ctx, e.rows, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				near[r] = min(near[r], e.distance(r, from))
				weights[r] = e.weightOf(r) * near[r]
			}
		})
		if err != nil {
			return nil, err
		}
		next := drawn(weights, random)
		if weights[next] == 0 {
			break // all others repeat rows that were drawn
		}
		rows = append(rows, next)
	}
	return rows, nil
}

// distance returns the squared distance of two rows. A missing number stands
// at the mean; values that differ are as far apart as their one-hot codes.
func (e *em) distance(r, s int) float64 {
	d, q := len(e.numeric), len(e.nominal)
	sum := 0.0
	b := e.x[s*d:][:d]
	for j, x := range e.x[r*d:][:d] {
		sum += (x - b[j]) * (x - b[j])
	}
	for c, code := range e.codes[r*q:][:q] {
		if code >= 0 && e.codes[s*q+c] >= 0 && code != e.codes[s*q+c] {
			sum += 2
		}
	}
	return sum
}

// trial is the number of iterations after which starts are compared.
const trial = 12

// best runs EM from several starts and returns the mixture of the highest
// objective. Starts are compared after a few iterations; only the best one
// goes on.
func (e *em) best(ctx context.Context, units int, s *settings, random *rand.Rand, report func(float64)) (*mixture, error) {
	var best *mixture
	most := math.Inf(-1)
	starts := s.Starts
	if starts == 0 {
		starts = 6
		if e.rows > manyRows {
			starts = 1
		}
	}
	for n := range starts {
		var rows []int
		var err error
		if s.Start == "kmeans" {
			rows, err = e.spreadRows(ctx, units, random)
		} else {
			rows, err = e.randomRows(ctx, units, random)
		}
		if err != nil {
			return nil, err
		}
		if len(rows) != e.pseudo.units {
			e.resize(len(rows))
		}
		m := e.start(rows)
		objective := 0.0
		if starts > 1 {
			if objective, err = e.run(ctx, m, min(trial, s.Iterations), s.Tolerance); err != nil {
				return nil, err
			}
		}
		if best == nil || objective > most {
			best, most = m, objective
		}
		report(0.5 * float64(n+1) / float64(starts))
	}
	if len(best.prior) != e.pseudo.units { // a later start found fewer distinct rows
		e.resize(len(best.prior))
	}
	_, err := e.run(ctx, best, s.Iterations, s.Tolerance)
	report(1)
	return best, err
}

// manyRows is where several starts would take too long.
const manyRows = 10000
