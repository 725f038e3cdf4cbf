package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// joint is a model's units with full covariance, over the numeric columns that
// vary, in z-scores of all rows.
type joint struct {
	*mixture
	kernel *full
}

// newJoint computes the units' covariances from their statistics, no narrower
// than the floor in any direction, and sets the columns' own deviations to
// what follows for each. An expert's units, and what is NORMAL, are as wide as
// was said, and correlated with nothing.
func (m *Model) newJoint() *joint {
	s := &shape{full: true}
	for j := range m.columns {
		if m.columns[j].precision != nil {
			s.numeric, s.flat = append(s.numeric, j), append(s.flat, false)
		}
	}
	k, d := len(m.logPrior), len(s.numeric)
	x := newMixture(s, k)
	floor := m.settings.Floor * m.settings.Floor
	for i := range k {
		u := &m.total.units[i]
		x.prior[i] = math.Exp(m.logPrior[i])
		a := x.covariance[i*triangle(d):][:triangle(d)]
		free := func(j int) bool { return !u.normal[j] && u.moments[j].N > 0 }
		for n, j := range s.numeric {
			c, o := &m.columns[j], &m.overall[j]
			x.centre[i*d+n] = (c.mean[i] - o.moment.Mean) / o.deviation()
			width := c.deviation[i] / o.deviation()
			a[tri(n, n)] = width * width
			if u.cross == nil || !free(j) {
				continue
			}
			width = math.Sqrt(u.moments[j].Variance()) / o.deviation()
			a[tri(n, n)] = width * width
			for other, l := range s.numeric[:n] {
				if free(l) {
					weight := min(u.moments[j].N, u.moments[l].N)
					a[tri(n, other)] = u.cross[tri(j, l)] / weight / o.deviation() / m.overall[l].deviation()
				}
			}
		}
		if u.cross != nil {
			widen(a, d, floor)
		}
		for n, j := range s.numeric {
			c, o := &m.columns[j], &m.overall[j]
			x.width[i*d+n] = math.Sqrt(a[tri(n, n)])
			c.deviation[i] = x.width[i*d+n] * o.deviation()
			c.precision[i] = 1 / c.deviation[i]
			c.peak[i] = -math.Log(x.width[i*d+n]) - halfLog2Pi
		}
	}
	return &joint{x, x.fullKernel()}
}

// farthestScore is where z-scores end, lest their squares overflow.
const farthestScore = 1e120

// gather reads rows as z-scores.
func (x *joint) gather(m *Model, t *table.Table, lo, hi int, to *sample) {
	d := len(x.numeric)
	to.shape, to.rows = x.shape, hi-lo
	if cap(to.x) < to.rows*d {
		to.x = make([]float64, to.rows*d)
	}
	to.x, to.missing = to.x[:to.rows*d], to.missing[:0]
	for n, j := range x.numeric {
		o := &m.overall[j]
		precision := 1 / o.deviation()
		for r, cell := range t.Columns[j].Floats[lo:hi] {
			z := table.NA
			if finite(cell) {
				z = min(max(o.score(m.columns[j].unit(cell)/m.columns[j].scale, precision), -farthestScore), farthestScore)
			}
			to.x[r*d+n] = z
		}
	}
	to.start = append(to.start[:0], 0)
	for r := range to.rows {
		for n, z := range to.x[r*d:][:d] {
			if math.IsNaN(z) {
				to.missing, to.x[r*d+n] = append(to.missing, int32(n)), 0
			}
		}
		to.start = append(to.start, len(to.missing))
	}
}

// given is the units of a joint ready to tell one column from the others: what
// a unit expects of it is constant + slope·x, give or take a deviation.
type given struct {
	*joint                     // of the other columns
	constant, slope, deviation []float64
}

// given returns the units without a column; if that is none of theirs, as they
// are.
func (x *joint) given(column int) *given {
	at := slices.Index(x.numeric, column)
	if at < 0 {
		return &given{joint: x}
	}
	k, d := len(x.prior), len(x.numeric)
	others := &shape{full: true, numeric: slices.Delete(slices.Clone(x.numeric), at, at+1), flat: x.flat[1:]}
	rest := newMixture(others, k)
	copy(rest.prior, x.prior)
	g := &given{constant: make([]float64, k), slope: make([]float64, k*(d-1)), deviation: make([]float64, k)}
	for i := range k {
		p := x.kernel.precision[i*triangle(d):]
		g.deviation[i] = 1 / math.Sqrt(p[tri(at, at)])
		g.constant[i] = x.centre[i*d+at]
		for n := range d - 1 {
			from := n
			if n >= at {
				from = n + 1
			}
			rest.centre[i*(d-1)+n], rest.width[i*(d-1)+n] = x.centre[i*d+from], x.width[i*d+from]
			for o := range n + 1 {
				other := o
				if o >= at {
					other = o + 1
				}
				rest.covariance[i*triangle(d-1)+tri(n, o)] = x.covariance[i*triangle(d)+tri(from, other)]
			}
			slope := -p[tri(at, from)] / p[tri(at, at)]
			g.slope[i*(d-1)+n] = slope
			g.constant[i] -= slope * x.centre[i*d+from]
		}
	}
	g.joint = &joint{rest, rest.fullKernel()}
	return g
}

// expect sets what each unit expects of the column that was left out, given
// the other cells of a row that was gathered.
func (g *given) expect(o *overall, s *sample, row int, room *gap, to *column) {
	d := len(g.numeric)
	missing := s.missingOf(row)
	for i := range to.mean {
		x, slope, variance := s.x[row*d:][:d], g.slope[i*d:][:d], g.deviation[i]*g.deviation[i]
		if len(missing) > 0 {
			g.kernel.fill(i, x, missing, room)
			x = room.x
			variance += room.variance(missing, slope)
		}
		z := g.constant[i]
		for n, b := range slope {
			z += b * x[n]
		}
		to.mean[i], to.deviation[i] = o.moment.Mean+z*o.deviation(), math.Sqrt(variance)*o.deviation()
	}
}

// variance returns that of a weighted sum of cells that were filled in, given
// the known ones: with their covariance (LLᵀ)⁻¹, it is the squared length of
// L⁻¹ times the weights.
func (g *gap) variance(missing []int32, weights []float64) float64 {
	sum := 0.0
	for a, c := range missing {
		y := weights[c]
		for b, l := range g.factor[triangle(a):][:a] {
			y -= l * g.step[b]
		}
		g.step[a] = y / g.factor[tri(a, a)]
		sum += g.step[a] * g.step[a]
	}
	return sum
}

// draw makes up the numbers of rows of units, by column; nil if x is.
func (x *joint) draw(m *Model, units []int, random *rand.Rand) [][]float64 {
	if x == nil {
		return nil
	}
	d := len(x.numeric)
	factors := append([]float64(nil), x.covariance...)
	for i := range x.prior {
		if f := factors[i*triangle(d):][:triangle(d)]; !cholesky(f, d) {
			clear(f)
			for n := range d {
				f[tri(n, n)] = x.width[i*d+n]
			}
		}
	}
	made := make([][]float64, len(m.columns))
	for _, j := range x.numeric {
		made[j] = make([]float64, len(units))
	}
	normal := make([]float64, d)
	for r, unit := range units {
		for n := range normal {
			normal[n] = random.NormFloat64()
		}
		for n, j := range x.numeric {
			z := x.centre[unit*d+n]
			for c, l := range factors[unit*triangle(d)+triangle(n):][:n+1] {
				z += l * normal[c]
			}
			made[j][r] = m.columns[j].number64(m.overall[j].moment.Mean + z*m.overall[j].deviation())
		}
	}
	return made
}

// addRow adds a row that a view just explained to a unit's share in a block,
// missing cells as what the unit expects of them, and as uncertain.
func (x *joint) addRow(m *Model, t *table.Table, row int, v *view, unit int, weight float64, b *block, to *share) {
	d := len(x.numeric)
	if v.gap == nil {
		v.gap = newGap(d)
	}
	if to.cross == nil {
		to.cross = make([]float64, triangle(len(b.columns)))
	}
	missing := v.rows.missingOf(0)
	x.kernel.fill(unit, v.rows.x[:d], missing, v.gap)
	uncertain := make([]float64, triangle(d))
	v.gap.addUncertainty(uncertain, missing, weight)
	numbers, scales := make([]float64, d), make([]float64, d)
	for n, j := range x.numeric {
		o := &m.overall[j]
		b.raise(j, o.level)
		scale := b.columns[j].level.Scale() / o.level.Scale()
		scales[n] = o.deviation() * scale
		if numbers[n] = t.Columns[j].Floats[row] * b.columns[j].level.Scale(); !finite(t.Columns[j].Floats[row]) {
			numbers[n] = (o.moment.Mean + v.gap.x[n]*o.deviation()) * scale
		}
	}
	for n, j := range x.numeric {
		p := to.moments[j]
		for c, l := range x.numeric[:n] {
			q := to.moments[l]
			if w := min(p.N, q.N); w > 0 {
				to.cross[tri(j, l)] += (numbers[n] - p.Mean) * (numbers[c] - q.Mean) * (w * (weight / (w + weight)))
			}
			to.cross[tri(j, l)] += uncertain[tri(n, c)] * scales[n] * scales[c]
		}
	}
	for n, j := range x.numeric {
		to.moments[j].Add(numbers[n], weight)
		to.moments[j].M2 += uncertain[tri(n, n)] * scales[n] * scales[n]
	}
}
