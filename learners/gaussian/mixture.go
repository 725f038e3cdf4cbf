package gaussian

import "math"

// shape is which columns a mixture speaks of, and how many values the nominal
// ones have.
type shape struct {
	numeric []int // attributes of the table
	nominal []int
	values  []int  // of each nominal column
	offset  []int  // of each nominal column's values among all of them
	total   int    // values of all nominal columns
	flat    []bool // numeric columns that never vary, and say nothing
	full    bool   // numeric columns are correlated within units
}

// mixture is the units side by side, numbers in z-scores of the training
// rows: unit i expects column j near centre[i·D+j], give or take
// width[i·D+j], and value v of all nominal values with probability
// share[v·K+i]. With full covariance, width is the root of its diagonal.
type mixture struct {
	*shape
	prior         []float64
	centre, width []float64
	covariance    []float64 // K triangles; nil if columns are independent within units
	share         []float64
	// normal conclusions stay what the column is like over all rows: 0 ± 1,
	// or its overall frequencies. The numeric columns of unit i are at
	// i·(D+Q)+j, the nominal ones follow them.
	normal []bool
}

func newMixture(s *shape, units int) *mixture {
	d, q := len(s.numeric), len(s.nominal)
	m := &mixture{
		shape: s,
		prior: make([]float64, units), centre: make([]float64, units*d), width: make([]float64, units*d),
		share: make([]float64, units*s.total), normal: make([]bool, units*(d+q)),
	}
	if s.full {
		m.covariance = make([]float64, units*triangle(d))
	}
	return m
}

// uncorrelated makes the covariances those of the widths alone.
func (m *mixture) uncorrelated() {
	if m.covariance == nil {
		return
	}
	d := len(m.numeric)
	clear(m.covariance)
	for at, w := range m.width {
		if m.flat[at%d] {
			w = 1
		}
		m.covariance[at/d*triangle(d)+tri(at%d, at%d)] = w * w
	}
}

func (m *mixture) clone() *mixture {
	c := newMixture(m.shape, len(m.prior))
	copy(c.prior, m.prior)
	copy(c.centre, m.centre)
	copy(c.width, m.width)
	copy(c.covariance, m.covariance)
	copy(c.share, m.share)
	copy(c.normal, m.normal)
	return c
}

// without returns the mixture of the other units.
func (m *mixture) without(unit int) *mixture {
	k := len(m.prior)
	left := newMixture(m.shape, k-1)
	rest := 1 - m.prior[unit]
	for i, to := 0, 0; i < k; i++ {
		if i == unit {
			continue
		}
		left.prior[to] = 1 / float64(k-1)
		if rest > 0 {
			left.prior[to] = m.prior[i] / rest
		}
		left.copyUnit(to, m, i)
		to++
	}
	return left
}

// copyUnit makes unit to what unit i of another mixture of the shape is.
func (m *mixture) copyUnit(to int, from *mixture, i int) {
	d, c := len(m.numeric), len(m.numeric)+len(m.nominal)
	copy(m.centre[to*d:(to+1)*d], from.centre[i*d:(i+1)*d])
	copy(m.width[to*d:(to+1)*d], from.width[i*d:(i+1)*d])
	if t := triangle(d); m.covariance != nil {
		copy(m.covariance[to*t:(to+1)*t], from.covariance[i*t:(i+1)*t])
	}
	copy(m.normal[to*c:(to+1)*c], from.normal[i*c:(i+1)*c])
	for v := range m.total {
		m.share[v*len(m.prior)+to] = from.share[v*len(from.prior)+i]
	}
}

// kernel is a mixture made ready for many rows: the log of what unit i gives
// a row is base[i] + Σ (a·x + b)·x over the numeric columns, where a missing
// cell is a 0 whose peak is taken back, plus a look-up for each nominal cell.
type kernel struct {
	units, columns int
	base           []float64 // ln P(i) + the peaks of all columns
	a, b           []float64 // K×D
	peak           []float64 // D×K
	logShare       []float64 // value·K + unit
	full           *full     // instead of a, b and peak, unless nil
}

const halfLog2Pi = 0.91893853320467274178032973640562

func (m *mixture) kernel() *kernel {
	k, d := len(m.prior), len(m.numeric)
	e := &kernel{
		units: k, columns: d,
		base: make([]float64, k), a: make([]float64, k*d), b: make([]float64, k*d),
		peak: make([]float64, d*k), logShare: make([]float64, len(m.share)),
	}
	if m.covariance != nil {
		e.full = m.fullKernel()
	}
	for i := range k {
		e.base[i] = math.Log(m.prior[i])
		for j := range d {
			if m.flat[j] || e.full != nil {
				continue
			}
			c, precision := m.centre[i*d+j], 1/(m.width[i*d+j]*m.width[i*d+j])
			e.a[i*d+j] = -0.5 * precision
			e.b[i*d+j] = c * precision
			p := -math.Log(m.width[i*d+j]) - halfLog2Pi - 0.5*c*c*precision
			e.peak[j*k+i] = p
			e.base[i] += p
		}
	}
	for v, p := range m.share {
		e.logShare[v] = math.Log(p)
	}
	return e
}

// logs fills in, for the rows lo ≤ row < hi, the log of what each unit gives
// the row, K numbers a row.
func (e *kernel) logs(s *sample, lo, hi int, logs []float64) {
	if e.full != nil {
		e.full.logs(s, lo, hi, logs)
	} else {
		e.numbers(s, lo, hi, logs)
	}
	k := e.units
	if q := len(s.nominal); q > 0 {
		for row := lo; row < hi; row++ {
			out := logs[(row-lo)*k:][:k]
			for c, code := range s.codes[row*q:][:q] {
				if code < 0 {
					continue
				}
				for i, l := range e.logShare[(s.offset[c]+int(code))*k:][:k] {
					out[i] += l
				}
			}
		}
	}
}

// numbers is logs of the numeric columns, which are independent.
func (e *kernel) numbers(s *sample, lo, hi int, logs []float64) {
	k, d := e.units, e.columns
	row := lo
	for ; row+4 <= hi; row += 4 {
		x0, x1 := s.x[row*d:][:d], s.x[(row+1)*d:][:d]
		x2, x3 := s.x[(row+2)*d:][:d], s.x[(row+3)*d:][:d]
		out := logs[(row-lo)*k:][:4*k]
		for i, base := range e.base {
			a, b := e.a[i*d:][:d], e.b[i*d:][:d]
			l0, l1, l2, l3 := base, base, base, base
			for j, aj := range a {
				bj := b[j]
				l0 += (aj*x0[j] + bj) * x0[j]
				l1 += (aj*x1[j] + bj) * x1[j]
				l2 += (aj*x2[j] + bj) * x2[j]
				l3 += (aj*x3[j] + bj) * x3[j]
			}
			out[i], out[k+i], out[2*k+i], out[3*k+i] = l0, l1, l2, l3
		}
	}
	for ; row < hi; row++ {
		x := s.x[row*d:][:d]
		out := logs[(row-lo)*k:][:k]
		for i, l := range e.base {
			a, b := e.a[i*d:][:d], e.b[i*d:][:d]
			for j, aj := range a {
				l += (aj*x[j] + b[j]) * x[j]
			}
			out[i] = l
		}
	}
	if s.start != nil {
		for row := lo; row < hi; row++ {
			out := logs[(row-lo)*k:][:k]
			for _, j := range s.missing[s.start[row]:s.start[row+1]] {
				for i, p := range e.peak[int(j)*k:][:k] {
					out[i] -= p
				}
			}
		}
	}
}

// normalise turns logarithms of anything proportional into probabilities, and
// returns the largest and what they add up to in units of it, 0 if none is
// possible. What is smaller than the largest by more than rounding can show is
// 0.
func normalise(logs []float64) (most, total float64) {
	most = math.Inf(-1)
	for _, l := range logs {
		if l > most {
			most = l
		}
	}
	if math.IsInf(most, -1) {
		clear(logs)
		return most, 0
	}
	for i, l := range logs {
		e := 0.0
		if l -= most; l > -40 {
			e = exp(l)
		}
		logs[i] = e
		total += e
	}
	scale := 1 / total
	for i := range logs {
		logs[i] *= scale
	}
	return most, total
}

// exp returns eˣ of -40 < x ≤ 0 but for the last bits, in less time than
// math.Exp: 2^(n/64), which is a table's, times a polynomial in what is left,
// |r| ≤ ln 2/128, whose sixth power is below rounding.
func exp(x float64) float64 {
	n := int(x*(64/math.Ln2) - 0.5) // the nearest, as x is not above 0
	r := x - float64(n)*(math.Ln2/64)
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120)))))
	return p * math.Float64frombits(powers[n&63]+uint64(n>>6)<<52)
}

// powers are the bits of 2^(i/64).
var powers = func() (bits [64]uint64) {
	for i := range bits {
		bits[i] = math.Float64bits(math.Exp2(float64(i) / 64))
	}
	return bits
}()
