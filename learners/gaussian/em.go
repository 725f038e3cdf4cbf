package gaussian

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
)

// statistics is what EM needs to know of rows once their units are guessed:
// for unit i the weight of its rows, and of each column the sums of x and x²
// and the weights of values, all weighted by how much of a row is the unit's.
// Statistics of different rows add up.
type statistics struct {
	units, columns int
	all            []float64 // everything below, one after the other
	n              []float64 // K
	absent         []float64 // K×D: the part of n whose cell is missing
	s1, s2         []float64 // K×D
	cross          []float64 // K triangles of the sums of xᵢxⱼ, in place of s2, with full covariance
	counts         []float64 // value·K + unit
	likelihood     []float64 // one number: the log likelihood of the rows
}

func newStatistics(s *shape, units int) *statistics {
	d := len(s.numeric)
	squares, products := units*d, 0
	if s.full {
		squares, products = 0, units*triangle(d)
	}
	sizes := []int{units, units * d, units * d, squares, products, s.total * units, 1}
	total := 0
	for _, size := range sizes {
		total += size
	}
	t := &statistics{units: units, columns: d, all: make([]float64, total)}
	rest := t.all
	for i, to := range []*[]float64{&t.n, &t.absent, &t.s1, &t.s2, &t.cross, &t.counts, &t.likelihood} {
		*to, rest = rest[:sizes[i]:sizes[i]], rest[sizes[i]:]
	}
	return t
}

// cleared returns statistics of no rows, old ones if they are of that size.
func (s *shape) cleared(old *statistics, units int) *statistics {
	if old == nil || old.units != units {
		return newStatistics(s, units)
	}
	clear(old.all)
	return old
}

// squares returns the sum of a unit's x² in a column.
func (s *statistics) squares(unit, column int) float64 {
	if len(s.cross) > 0 {
		return s.cross[unit*triangle(s.columns)+tri(column, column)]
	}
	return s.s2[unit*s.columns+column]
}

func (s *statistics) add(o *statistics) {
	for i, x := range o.all {
		s.all[i] += x
	}
}

// stripe is the number of rows whose units are guessed at a time: their
// probabilities stay in the nearest cache until they are summed up. chunk is
// the number of rows whose sums are kept apart, so that they can be added in
// one order on any number of cores; it is what learn.Split hands out. batch is
// the number of chunks at a time: with many columns their sums are large.
const (
	stripe = 128
	chunk  = 4096
	batch  = 256
)

// em is the learning of a mixture from rows.
type em struct {
	*sample
	// floor is the least width. Without it a unit can close in on a single
	// row, and the likelihood has no bound.
	floor float64
	// pseudo are cases that are not in the rows, by unit: what an expert's
	// rules are worth, and a little of every nominal value.
	pseudo *statistics
	// overall shares of nominal values, for NORMAL.
	overall []float64
	packs   *packs // of the sample, nil where they are not worth it

	room
}

// room is what the E-step needs each time again.
type room struct {
	partial     []*statistics // of each chunk
	sums, whole *statistics   // of all rows, and those in columns where sums are in packs
	logs        []float64     // of the packs' values
}

// expect is the E-step: the statistics of the rows when each unit i gets its
// share r = P(s = i | x) of every row, by Bayes' rule. They are good until the
// next call.
func (e *em) expect(ctx context.Context, kernel *kernel) (*statistics, error) {
	if e.packs == nil {
		return e.expectOf(ctx, e.sample, kernel)
	}
	packed := *kernel
	e.logs = e.packs.logs(kernel, e.logs)
	packed.logShare = e.logs
	s, err := e.expectOf(ctx, e.packs.sample, &packed)
	if err != nil {
		return nil, err
	}
	e.whole = e.shape.cleared(e.whole, kernel.units)
	e.packs.open(s, e.whole)
	return e.whole, nil
}

// expectOf is expect of rows in the kernel's columns.
func (e *em) expectOf(ctx context.Context, s *sample, kernel *kernel) (*statistics, error) {
	chunks := min(batch, (s.rows+chunk-1)/chunk)
	if len(e.partial) != chunks || chunks > 0 && e.partial[0].units != kernel.units {
		e.partial = make([]*statistics, chunks)
		for c := range e.partial {
			e.partial[c] = newStatistics(s.shape, kernel.units)
		}
	}
	e.sums = s.cleared(e.sums, kernel.units)
	for first := 0; first < s.rows; first += batch * chunk {
		rows := min(batch*chunk, s.rows-first)
		if err := e.expectSome(ctx, s, kernel, first, rows); err != nil {
			return nil, err
		}
		for _, sums := range e.partial[:(rows+chunk-1)/chunk] {
			e.sums.add(sums)
		}
	}
	return e.sums, nil
}

// expectSome fills in the statistics of the chunks of some rows.
func (e *em) expectSome(ctx context.Context, s *sample, kernel *kernel, first, rows int) error {
	return learn.Split(ctx, rows, func(lo, hi int) {
		sums := e.partial[lo/chunk]
		clear(sums.all)
		logs := make([]float64, stripe*kernel.units)
		for at := first + lo; at < first+hi; at += stripe {
			end := min(at+stripe, first+hi)
			kernel.logs(s, at, end, logs)
			sums.likelihood[0] += s.guess(at, end, logs, kernel.units)
			if kernel.full != nil {
				kernel.full.accumulate(sums, s, at, end, logs)
			} else {
				sums.accumulate(s, at, end, logs)
			}
			sums.count(s, at, end, logs)
		}
	})
}

// guess turns the logs of rows into the units' shares of them, times the
// weight of the row, and returns the rows' log likelihood.
func (s *sample) guess(lo, hi int, logs []float64, k int) float64 {
	likelihood, product := 0.0, 1.0
	for row := lo; row < hi; row++ {
		r := logs[(row-lo)*k:][:k]
		most, total := normalise(r)
		switch {
		case total == 0: // no unit can explain it: an expert's impossible value
		case s.weights != nil:
			w := s.weights[row]
			for i := range r {
				r[i] *= w
			}
			likelihood += w * (most + math.Log(total))
		default: // one log for many rows
			likelihood += most
			if product *= total; product > 1e200 {
				likelihood += math.Log(product)
				product = 1
			}
		}
	}
	return likelihood + math.Log(product)
}

// accumulate adds the numbers of rows, given how much of each is whose.
func (s *statistics) accumulate(x *sample, lo, hi int, shares []float64) {
	k, d := s.units, s.columns
	row := lo
	for ; row+4 <= hi; row += 4 {
		x0, x1 := x.x[row*d:][:d], x.x[(row+1)*d:][:d]
		x2, x3 := x.x[(row+2)*d:][:d], x.x[(row+3)*d:][:d]
		r := shares[(row-lo)*k:][:4*k]
		for i := range k {
			r0, r1, r2, r3 := r[i], r[k+i], r[2*k+i], r[3*k+i]
			n := r0 + r1 + r2 + r3
			if n == 0 {
				continue
			}
			s.n[i] += n
			s1, s2 := s.s1[i*d:][:d], s.s2[i*d:][:d]
			for j := range s1 {
				y0, y1, y2, y3 := r0*x0[j], r1*x1[j], r2*x2[j], r3*x3[j]
				s1[j] += (y0 + y1) + (y2 + y3)
				s2[j] += (y0*x0[j] + y1*x1[j]) + (y2*x2[j] + y3*x3[j])
			}
		}
	}
	for ; row < hi; row++ {
		at := x.x[row*d:][:d]
		for i, r := range shares[(row-lo)*k:][:k] {
			s.n[i] += r
			s1, s2 := s.s1[i*d:][:d], s.s2[i*d:][:d]
			for j, xj := range at {
				s1[j] += r * xj
				s2[j] += r * xj * xj
			}
		}
	}
	if x.start != nil {
		for row := lo; row < hi; row++ {
			for _, j := range x.missing[x.start[row]:x.start[row+1]] {
				for i, r := range shares[(row-lo)*k:][:k] {
					s.absent[i*d+int(j)] += r
				}
			}
		}
	}
}

// count adds the names of rows.
func (s *statistics) count(x *sample, lo, hi int, shares []float64) {
	k := s.units
	if q := len(x.nominal); q > 0 {
		for row := lo; row < hi; row++ {
			r := shares[(row-lo)*k:][:k]
			for c, code := range x.codes[row*q:][:q] {
				if code >= 0 {
					counts := s.counts[(x.offset[c]+int(code))*k:][:k]
					for i, ri := range r {
						counts[i] += ri
					}
				}
			}
		}
	}
}

// maximise is the M-step: priors, centres, widths and shares that make the
// statistics most likely. A missing cell is left out of its column's sums:
// its expected value and variance under the unit are the unit's own, and
// change neither once the unit has found its place.
func (e *em) maximise(s *statistics, m *mixture) {
	k, d, q := len(m.prior), len(m.numeric), len(m.nominal)
	total := 0.0
	for i := range k {
		total += s.n[i]
	}
	for i := range k {
		m.prior[i] = s.n[i] / total
		if m.covariance != nil {
			e.maximiseFull(s, m, i)
		}
		for j := range d {
			if m.covariance != nil {
				break
			}
			at := i*d + j
			n := s.n[i] - s.absent[at]
			switch {
			case m.normal[i*(d+q)+j]:
				m.centre[at], m.width[at] = 0, 1
			case n > leastWeight && n > 1e-9*s.absent[at]:
				c := s.s1[at] / n
				m.centre[at] = c
				m.width[at] = math.Sqrt(max(s.s2[at]/n-c*c, e.floor*e.floor))
			}
		}
		for c := range q {
			lo, hi := m.offset[c], m.offset[c]+m.values[c]
			n := 0.0
			for v := lo; v < hi; v++ {
				n += s.counts[v*k+i]
			}
			for v := lo; v < hi; v++ {
				switch {
				case m.normal[i*(d+q)+d+c]:
					m.share[v*k+i] = e.overall[v]
				case n > leastWeight:
					m.share[v*k+i] = s.counts[v*k+i] / n
				}
			}
		}
	}
}

// leastWeight is the weight of rows below which a unit is dead: it stays
// where it was.
const leastWeight = 1e-10

// objective returns what EM makes rise: the log likelihood of the rows, and
// that of the pseudo cases.
func (e *em) objective(m *mixture, kernel *kernel, likelihood float64) float64 {
	d, k := len(m.numeric), len(m.prior)
	total := likelihood
	p := e.pseudo
	for i := range k {
		if p.n[i] > 0 {
			total += p.n[i] * math.Log(m.prior[i])
		}
		if kernel.full != nil {
			total += kernel.full.expected(p, i) - p.n[i]*math.Log(m.prior[i])
		}
		for j := range d {
			if kernel.full != nil {
				break
			}
			at := i*d + j
			total += (p.n[i]-p.absent[at])*kernel.peak[j*k+i] + kernel.b[at]*p.s1[at] + kernel.a[at]*p.s2[at]
		}
		for v := range m.total {
			if p.counts[v*k+i] > 0 {
				total += p.counts[v*k+i] * kernel.logShare[v*k+i]
			}
		}
	}
	return total
}

// run repeats the two steps until the objective rises by less than tolerance
// a row, and returns the last objective. It changes m.
func (e *em) run(ctx context.Context, m *mixture, iterations int, tolerance float64) (float64, error) {
	last := math.Inf(-1)
	for range iterations {
		kernel := m.kernel()
		s, err := e.expect(ctx, kernel)
		if err != nil {
			return 0, err
		}
		now := e.objective(m, kernel, s.likelihood[0])
		if now-last < tolerance*e.weight {
			return now, nil
		}
		last = now
		s.add(e.pseudo)
		e.maximise(s, m)
	}
	return last, nil
}

// likelihood returns the mean log density of a sample's rows.
func (s *sample) likelihood(ctx context.Context, m *mixture) (float64, error) {
	kernel := m.kernel()
	sums := make([]float64, (s.rows+chunk-1)/chunk)
	err := learn.Split(ctx, s.rows, func(lo, hi int) {
		logs := make([]float64, stripe*kernel.units)
		for at := lo; at < hi; at += stripe {
			end := min(at+stripe, hi)
			kernel.logs(s, at, end, logs)
			for row := at; row < end; row++ {
				sums[lo/chunk] += s.weightOf(row) * logsum.Of(logs[(row-at)*kernel.units:][:kernel.units])
			}
		}
	})
	total := 0.0
	for _, sum := range sums {
		total += sum
	}
	return total / s.weight, err
}

// packs are nominal columns taken together by the few, each combination of
// their values being a value of the pack: a row looks up, and counts, a pack
// where it would have looked up several columns. That columns are independent
// within a unit makes a table of the packs' logs from those of the columns, and
// counts of the columns from those of the packs.
type packs struct {
	*sample // the rows, with packs for nominal columns
	// stands is what each value of the packs stands for: its columns' values
	// among all of the rows' own shape, those that are missing left out.
	stands [][]int
}

// mostPacked bounds the values of a pack, so that the tables stay in the
// nearest cache.
const mostPacked = 256

// pack returns the packs of a sample, nil if its rows are too few to make up
// for the tables.
func (s *sample) pack() *packs {
	q := len(s.nominal)
	gap := make([]int, q) // 1 for columns with missing cells: one value more
	for at, code := range s.codes {
		if code < 0 {
			gap[at%q] = 1
		}
	}
	order := make([]int, q)
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.values[b]+gap[b], s.values[a]+gap[a]) })
	var columns [][]int
	shape := *s.shape
	shape.nominal, shape.values, shape.offset, shape.total = nil, nil, nil, 0
	limit := min(mostPacked, s.rows/8)
	for _, c := range order { // each to the first pack that has room
		size := s.values[c] + gap[c]
		to := slices.IndexFunc(shape.values, func(values int) bool { return values*size <= limit })
		if to < 0 {
			to = len(columns)
			columns, shape.nominal, shape.values = append(columns, nil), append(shape.nominal, s.nominal[c]), append(shape.values, 1)
		}
		columns[to] = append(columns[to], c)
		shape.values[to] *= size
	}
	if len(columns) == q {
		return nil
	}
	p := &packs{sample: &sample{}}
	*p.sample = *s
	p.shape, p.codes = &shape, make([]int32, s.rows*len(columns))
	for to, of := range columns {
		shape.offset = append(shape.offset, shape.total)
		shape.total += shape.values[to]
		for r := range s.rows {
			code := 0
			for _, c := range of {
				digit := int(s.codes[r*q+c])
				if digit < 0 {
					digit = s.values[c]
				}
				code = code*(s.values[c]+gap[c]) + digit
			}
			p.codes[r*len(columns)+to] = int32(code)
		}
		for code := range shape.values[to] {
			var values []int
			for _, c := range slices.Backward(of) {
				size := s.values[c] + gap[c]
				if digit := code % size; digit < s.values[c] {
					values = append(values, s.offset[c]+digit)
				}
				code /= size
			}
			p.stands = append(p.stands, values)
		}
	}
	return p
}

// logs returns the logs of the packs' values, as kernel.logShare has those of
// the columns', in an old slice if it has room.
func (p *packs) logs(kernel *kernel, logs []float64) []float64 {
	k := kernel.units
	logs = slices.Grow(logs[:0], len(p.stands)*k)[:len(p.stands)*k]
	clear(logs)
	for to, values := range p.stands {
		sum := logs[to*k:][:k]
		for _, v := range values {
			for i, l := range kernel.logShare[v*k:][:k] {
				sum[i] += l
			}
		}
	}
	return logs
}

// open turns the statistics of packs into those of the columns.
func (p *packs) open(s, to *statistics) {
	k := s.units
	copy(to.all, s.all[:len(s.all)-len(s.counts)-1])
	to.likelihood[0] = s.likelihood[0]
	for from, values := range p.stands {
		counts := s.counts[from*k:][:k]
		for _, v := range values {
			sum := to.counts[v*k:][:k]
			for i, n := range counts {
				sum[i] += n
			}
		}
	}
}
