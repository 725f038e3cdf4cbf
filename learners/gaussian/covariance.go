package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Symmetric matrices are kept as their lower triangles, row after row: what
// stands in row i and column j ≤ i is at i(i+1)/2 + j.

func triangle(d int) int { return d * (d + 1) / 2 }

func tri(i, j int) int { return triangle(max(i, j)) + min(i, j) }

// cholesky replaces a matrix A by the L of A = LLᵀ. It returns false if A is
// not positive definite.
func cholesky(a []float64, d int) bool {
	for i := range d {
		ri := a[triangle(i):][:i+1]
		for j := range i {
			rj := a[triangle(j):][:j+1]
			sum := ri[j]
			for k, l := range rj[:j] {
				sum -= ri[k] * l
			}
			ri[j] = sum / rj[j]
		}
		sum := ri[i]
		for _, l := range ri[:i] {
			sum -= l * l
		}
		if !(sum > 0) {
			return false
		}
		ri[i] = math.Sqrt(sum)
	}
	return true
}

// invertLower replaces a lower triangular matrix by its inverse.
func invertLower(l []float64, d int) {
	for i := range d {
		ri := l[triangle(i):][:i+1]
		for j := range i {
			sum := 0.0
			for k := j; k < i; k++ {
				sum += ri[k] * l[triangle(k)+j]
			}
			ri[j] = -sum / ri[i]
		}
		ri[i] = 1 / ri[i]
	}
}

// square returns WᵀW of a lower triangular matrix.
func square(w []float64, d int) []float64 {
	s := make([]float64, triangle(d))
	for k := range d {
		rk := w[triangle(k):][:k+1]
		for i, x := range rk {
			si := s[triangle(i):][:i+1]
			for j, y := range rk[:i+1] {
				si[j] += x * y
			}
		}
	}
	return s
}

// widen raises the eigenvalues of a covariance matrix to a least variance:
// the most likely covariance of those that are at least so wide in every
// direction.
func widen(a []float64, d int, least float64) {
	room := append([]float64(nil), a...)
	for i := range d {
		room[tri(i, i)] -= least
	}
	if cholesky(room, d) {
		return // all are above it
	}
	dense := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			dense.SetSym(i, j, a[tri(i, j)])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(dense, true) { // it always converges; if not, columns are taken apart
		for i := range d {
			for j := range i {
				a[tri(i, j)] = 0
			}
			a[tri(i, i)] = max(a[tri(i, i)], least)
		}
		return
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	clear(a)
	for k, value := range e.Values(nil) {
		value = max(value, least)
		for i := range d {
			x := value * vectors.At(i, k)
			for j := range i + 1 {
				a[tri(i, j)] += x * vectors.At(j, k)
			}
		}
	}
}

// full is a mixture of units whose columns are correlated, made ready for many
// rows.
type full struct {
	units, columns int
	flat           []bool
	constant       []float64 // ln P(i) − ½ ln|Σ| less ½ ln 2π for each column that varies
	centre         []float64 // K×D
	// whiten W turns a row into numbers that are independent and of
	// deviation 1: Σ⁻¹ = WᵀW. shift is W times the centre.
	whiten, shift []float64
	precision     []float64 // Σ⁻¹
}

func (m *mixture) fullKernel() *full {
	k, d := len(m.prior), len(m.numeric)
	t := triangle(d)
	f := &full{units: k, columns: d, flat: m.flat, constant: make([]float64, k), centre: m.centre, whiten: append([]float64(nil), m.covariance...), shift: make([]float64, k*d)}
	for i := range k {
		w := f.whiten[i*t:][:t]
		if !cholesky(w, d) { // rounding: take the columns apart
			clear(w)
			for j := range d {
				w[tri(j, j)] = m.width[i*d+j]
			}
		}
		f.constant[i] = math.Log(m.prior[i])
		for j := range d {
			f.constant[i] -= math.Log(w[tri(j, j)])
			if !m.flat[j] {
				f.constant[i] -= halfLog2Pi
			}
		}
		invertLower(w, d)
		f.precision = append(f.precision, square(w, d)...)
		for j := range d {
			for c, x := range w[triangle(j):][:j+1] {
				f.shift[i*d+j] += x * m.centre[i*d+c]
			}
		}
	}
	return f
}

// distance returns the squared distance of a row from a unit's centre, in
// deviations.
func (f *full) distance(unit int, x []float64) float64 {
	d := f.columns
	w, shift := f.whiten[unit*triangle(d):], f.shift[unit*d:][:d]
	sum := 0.0
	for i, s := range shift {
		y := -s
		for j, wj := range w[triangle(i):][:i+1] {
			y += float64(wj * x[j])
		}
		sum += float64(y * y)
	}
	return sum
}

// gap is room for the missing cells of a row.
type gap struct {
	x []float64 // the row with its missing cells filled in
	// factor is L of Σ⁻¹ of the missing columns M alone, whose inverse is
	// their covariance given the others.
	factor, step []float64
}

func newGap(columns int) *gap {
	return &gap{x: make([]float64, columns), factor: make([]float64, triangle(columns)), step: make([]float64, columns)}
}

// fill sets the missing cells of a row to what a unit expects of them given
// the others, c + Σ_MO Σ_OO⁻¹ (x − c), and returns what the log density of the
// others is above that of the filled row: the density of the missing cells at
// their expected values. With P = Σ⁻¹, what is expected is c − P_MM⁻¹ P_MO (x − c),
// which needs a matrix of the missing columns only.
func (f *full) fill(unit int, row []float64, missing []int32, to *gap) float64 {
	d, m := f.columns, len(missing)
	copy(to.x, row)
	centre, p := f.centre[unit*d:][:d], f.precision[unit*triangle(d):]
	for _, c := range missing {
		to.x[c] = centre[c]
	}
	for a, c := range missing {
		sum := 0.0
		for j, pj := range p[triangle(int(c)):][:c+1] {
			sum -= pj * (to.x[j] - centre[j])
		}
		for j := int(c) + 1; j < d; j++ {
			sum -= p[triangle(j)+int(c)] * (to.x[j] - centre[j])
		}
		to.step[a] = sum
		for b := range a + 1 {
			to.factor[tri(a, b)] = p[tri(int(c), int(missing[b]))]
		}
	}
	if !cholesky(to.factor, m) {
		clear(to.factor[:triangle(m)])
		for a, c := range missing {
			to.factor[tri(a, a)] = math.Sqrt(p[tri(int(c), int(c))])
		}
	}
	above := 0.0
	for a := range m { // L y = step
		for b, l := range to.factor[triangle(a):][:a] {
			to.step[a] -= l * to.step[b]
		}
		to.step[a] /= to.factor[tri(a, a)]
		above -= math.Log(to.factor[tri(a, a)])
		if !f.flat[missing[a]] {
			above += halfLog2Pi
		}
	}
	for a := m - 1; a >= 0; a-- { // Lᵀ step = y
		for b := a + 1; b < m; b++ {
			to.step[a] -= to.factor[tri(b, a)] * to.step[b]
		}
		to.step[a] /= to.factor[tri(a, a)]
		to.x[missing[a]] = centre[missing[a]] + to.step[a]
	}
	return above
}

// logs fills in, for the rows lo ≤ row < hi, the log of what each unit gives
// the row's numbers.
func (f *full) logs(s *sample, lo, hi int, logs []float64) {
	k, d := f.units, f.columns
	var g *gap
	for row := lo; row < hi; row++ {
		if row+4 <= hi && (s.start == nil || s.start[row] == s.start[row+4]) {
			f.four(s.x[row*d:][:4*d], logs[(row-lo)*k:][:4*k])
			row += 3
			continue
		}
		x, out := s.x[row*d:][:d], logs[(row-lo)*k:][:k]
		if missing := s.missingOf(row); len(missing) > 0 {
			if g == nil {
				g = newGap(d)
			}
			for i := range out {
				above := f.fill(i, x, missing, g)
				out[i] = f.constant[i] + above - 0.5*f.distance(i, g.x)
			}
			continue
		}
		for i := range out {
			out[i] = f.constant[i] - 0.5*f.distance(i, x)
		}
	}
}

// four is logs of four complete rows, so that a unit's numbers are read once
// for all of them. Each row's are added as distance adds them.
func (f *full) four(x, logs []float64) {
	k, d := f.units, f.columns
	x0, x1, x2, x3 := x[:d], x[d:][:d], x[2*d:][:d], x[3*d:][:d]
	for u := range k {
		w, shift := f.whiten[u*triangle(d):], f.shift[u*d:][:d]
		l0, l1, l2, l3 := 0.0, 0.0, 0.0, 0.0
		for i, s := range shift {
			y0, y1, y2, y3 := -s, -s, -s, -s
			for j, wj := range w[triangle(i):][:i+1] {
				y0 += float64(wj * x0[j])
				y1 += float64(wj * x1[j])
				y2 += float64(wj * x2[j])
				y3 += float64(wj * x3[j])
			}
			l0 += float64(y0 * y0)
			l1 += float64(y1 * y1)
			l2 += float64(y2 * y2)
			l3 += float64(y3 * y3)
		}
		c := f.constant[u]
		logs[u], logs[k+u], logs[2*k+u], logs[3*k+u] = c-0.5*l0, c-0.5*l1, c-0.5*l2, c-0.5*l3
	}
}

// accumulate adds the numbers of rows, given how much of each is whose: what
// is missing counts as what the unit expects, and as uncertain as that is
// (Ghahramani & Jordan 1994).
func (f *full) accumulate(to *statistics, s *sample, lo, hi int, shares []float64) {
	k, d := f.units, f.columns
	t := triangle(d)
	var g *gap
	for row := lo; row < hi; row++ {
		missing := s.missingOf(row)
		for i, r := range shares[(row-lo)*k:][:k] {
			if r == 0 {
				continue
			}
			x := s.x[row*d:][:d]
			cross := to.cross[i*t:][:t]
			if len(missing) > 0 {
				if g == nil {
					g = newGap(d)
				}
				f.fill(i, x, missing, g)
				x = g.x
				g.addUncertainty(cross, missing, r)
			}
			to.n[i] += r
			s1 := to.s1[i*d:][:d]
			for a, xa := range x {
				s1[a] += r * xa
				ra := cross[triangle(a):][:a+1]
				y := r * xa
				for b, xb := range x[:a+1] {
					ra[b] += y * xb
				}
			}
		}
	}
}

// addUncertainty adds the covariance of missing cells given the others, so
// many times, to a matrix of all columns.
func (g *gap) addUncertainty(to []float64, missing []int32, weight float64) {
	m := len(missing)
	invertLower(g.factor, m)
	for a := range m {
		for b := range a + 1 {
			sum := 0.0
			for c := a; c < m; c++ {
				sum += g.factor[tri(c, a)] * g.factor[tri(c, b)]
			}
			to[tri(int(missing[a]), int(missing[b]))] += weight * sum
		}
	}
}

// maximiseFull sets a unit's centre and covariance to those of its rows.
func (e *em) maximiseFull(s *statistics, m *mixture, i int) {
	d := len(m.numeric)
	if !(s.n[i] > leastWeight) {
		return
	}
	centre, a := m.centre[i*d:][:d], m.covariance[i*triangle(d):][:triangle(d)]
	for j := range d {
		centre[j] = s.s1[i*d+j] / s.n[i]
		for c := range j + 1 {
			a[tri(j, c)] = s.cross[i*triangle(d)+tri(j, c)]/s.n[i] - centre[j]*centre[c]
		}
	}
	apart(a, m.flat, centre)
	widen(a, d, e.floor*e.floor)
	for j := range d {
		m.width[i*d+j] = math.Sqrt(a[tri(j, j)])
	}
}

// apart makes columns that never vary 0 ± 1, whatever the others are.
func apart(a []float64, flat []bool, centre []float64) {
	for j, is := range flat {
		if !is {
			continue
		}
		centre[j] = 0
		for c := range flat {
			a[tri(j, c)] = 0
		}
		a[tri(j, j)] = 1
	}
}

// expected returns the expected log density of cases under a unit, given their
// statistics.
func (f *full) expected(s *statistics, i int) float64 {
	d, t := f.columns, triangle(f.columns)
	centre, p := f.centre[i*d:][:d], f.precision[i*t:][:t]
	sum := 0.0
	for a := range d {
		for b := range d {
			sum += p[tri(a, b)] * (s.cross[i*t+tri(a, b)] - centre[a]*s.s1[i*d+b] - s.s1[i*d+a]*centre[b] + s.n[i]*centre[a]*centre[b])
		}
	}
	return s.n[i]*f.constant[i] - 0.5*sum
}
