package gaussian

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/mixed"
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
	e.packs = s.pack()
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
		next := mixed.Draw(left, random)
		if left[next] == 0 {
			break
		}
		rows = append(rows, next)
		err := learn.Split(ctx, e.rows, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				if left[r] > 0 && e.same(r, next) {
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

// spreadRows draws rows far from each other (k-means++, Arthur &
// Vassilvitskii 2007): each by its squared distance from those already drawn.
// There are fewer than k if there are fewer different rows.
func (e *em) spreadRows(ctx context.Context, k int, random *rand.Rand) ([]int, error) {
	weights := make([]float64, e.rows)
	for r := range weights {
		weights[r] = e.weightOf(r)
	}
	rows := []int{mixed.Draw(weights, random)}
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
		next := mixed.Draw(weights, random)
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

// same reports whether nothing tells two rows apart.
func (e *em) same(r, s int) bool {
	d, q := len(e.numeric), len(e.nominal)
	b := e.x[s*d:][:d]
	for j, x := range e.x[r*d:][:d] {
		if x != b[j] {
			return false
		}
	}
	for c, code := range e.codes[r*q:][:q] {
		if code >= 0 && e.codes[s*q+c] >= 0 && code != e.codes[s*q+c] {
			return false
		}
	}
	return true
}

const (
	manyStarts = 6
	// trial is the number of iterations after which starts are compared.
	trial = 6
	// few is the number of rows for each unit that they are compared on, or
	// one row of a portion if that is more.
	few     = 200
	portion = 16
)

// best runs EM from several starts and returns the mixture of the highest
// objective (small EM, Biernacki, Celeux & Govaert 2003). Starts are compared
// after a few iterations on some of the rows. Only the best one goes on, first
// with these rows, so that few iterations are left for all of them.
func (e *em) best(ctx context.Context, units int, s *settings, random *rand.Rand, report func(float64)) (*mixture, error) {
	on := e.some(max(few*units, e.rows/portion), random)
	best, err := on.bestStart(ctx, units, s, random)
	if err == nil && on != e && len(best.prior) < units { // there may be more different rows among all
		on = e
		best, err = e.bestStart(ctx, units, s, random)
	}
	if err != nil {
		return nil, err
	}
	report(0.3)
	if len(best.prior) != e.pseudo.units {
		e.resize(len(best.prior))
	}
	if on != e {
		on.pseudo = e.pseudo
		if _, err := on.run(ctx, best, s.Iterations, s.Tolerance); err != nil {
			return nil, err
		}
		report(0.5)
	}
	_, err = e.run(ctx, best, s.Iterations, s.Tolerance)
	report(1)
	return best, err
}

// some returns the learning from so many rows, drawn at random, or e if there
// are not many more.
func (e *em) some(size int, random *rand.Rand) *em {
	if 2*size > e.rows {
		return e
	}
	rows := make([]int, 0, size)
	for r := 0; len(rows) < size; r++ { // selection sampling, Knuth's algorithm S
		if random.IntN(e.rows-r) < size-len(rows) {
			rows = append(rows, r)
		}
	}
	picked := e.pick(rows)
	return &em{sample: picked, floor: e.floor, pseudo: e.pseudo, overall: e.overall, packs: picked.pack()}
}

// bestStart returns what the best of several starts has become after a few
// iterations: after each round the better half goes on.
func (e *em) bestStart(ctx context.Context, units int, s *settings, random *rand.Rand) (*mixture, error) {
	type start struct {
		*mixture
		objective float64
	}
	starts := make([]start, cmp.Or(s.Starts, manyStarts))
	if units == 1 {
		starts = starts[:1] // all end at one place
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
		starts[n].mixture = e.start(rows)
	}
	for len(starts) > 1 {
		err := learn.Each(ctx, len(starts), func(n int) {
			own := *e
			own.room = room{}
			if k := len(starts[n].prior); k != e.pseudo.units {
				own.resize(k)
			}
			starts[n].objective, _ = own.run(ctx, starts[n].mixture, min(trial, s.Iterations), s.Tolerance)
		})
		if err != nil { // run's is that of the context too
			return nil, err
		}
		slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(b.objective, a.objective) })
		starts = starts[:len(starts)/2]
	}
	return starts[0].mixture, nil
}
