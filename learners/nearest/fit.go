package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// encode writes the cases as fits see them: numbers in the metric's units,
// names as the mean of the target among their rows, missing cells as means.
func (m *LocalModel) encode() {
	c := m.cases
	m.low, m.high = slices.Min(c.numbers), slices.Max(c.numbers)
	half := (m.high - m.low) / 2
	m.low, m.high = m.low-half, m.high+half
	numbers, names := len(m.metric.numbers), len(m.metric.names)
	m.width = numbers + names
	m.fill = make([]float64, numbers)
	for d := range numbers {
		sum, weight := 0.0, 0.0
		for i := range c.count() {
			if x := m.metric.points[i*numbers+d]; x == x && math.Abs(x) < farthest {
				sum += c.worth[i] * x
				weight += c.worth[i]
			}
		}
		if weight > 0 {
			m.fill[d] = sum / weight
		}
	}
	m.shares = make([][]float64, names)
	for d := range m.metric.names {
		n := m.metric.names[d]
		if n.shares == nil {
			n.share(c, c.table.Columns[n.column].Codes)
		}
		m.shares[d] = n.shares
	}
	m.inputs = make([]float64, c.count()*m.width)
	for i := range c.count() {
		m.input(m.metric.points[i*numbers:(i+1)*numbers], m.inputs[i*m.width:])
		for d, code := range m.metric.codes[i*names : (i+1)*names] {
			m.inputs[i*m.width+numbers+d] = m.shares[d][code]
		}
	}
}

// input writes numbers as fits see them.
func (m *LocalModel) input(point, out []float64) {
	for d, x := range point {
		if out[d] = x; x != x {
			out[d] = m.fill[d]
		}
	}
}

// localRoom is what a worker needs for a question.
type localRoom struct {
	search *search
	asked  []float64   // as fits see it
	terms  []float64   // of each neighbour, in the form of the fit
	weight []float64   // of each neighbour
	matrix []float64   // XᵀWX
	first  []float64   // the solution for the first unit vector
	share  []float64   // of each neighbour in the answer
	mean   []float64   // likewise, of several fits
	left   []neighbour // of one fit, or when a row is left out
}

// local is what a fit is made by.
type local struct {
	degree int // and 1
	kernel func(d float64) float64
	part   float64
	k      float64
	ridge  float64
}

func (f *localFit) local() local {
	return local{degrees[f.Form], kernels[f.Kernel], f.Part, f.K, f.Ridge}
}

// wanted returns the weight of the cases that count.
func (m *LocalModel) wanted(k float64) float64 {
	if m.lesson.Settings.Criterion == "e2" {
		return m.cases.weight
	}
	return k
}

// mostProducts is the number of columns up to which a parabola has products.
const mostProducts = 8

// weigh gives each neighbour its weight: what it counts, times the kernel of
// its distance.
func (m *LocalModel) weigh(r *localRoom, near []neighbour, f local) {
	width := m.lesson.Settings.Width
	if width == 0 {
		// The distance of the k-th nearest; of all, if fewer are there.
		left := f.k
		for i := range near {
			width = f.part * m.metric.distance(near[i].sum)
			if left -= near[i].used; left <= 0 {
				break
			}
		}
	}
	alone := near[0].sum == 0 && (width == 0 || math.IsInf(f.kernel(0), 0)) // then cases at distance 0 are
	r.weight = r.weight[:0]
	total := 0.0
	for i := range near {
		w := near[i].used
		switch {
		case alone && near[i].sum > 0:
			w = 0
		case !alone:
			w *= min(f.kernel(m.metric.distance(near[i].sum)/width), farthest)
		}
		r.weight = append(r.weight, w)
		total += w
	}
	if !(total > 0) { // all are beyond the kernel
		for i := range near {
			r.weight[i] = near[i].used
		}
	}
}

// expand writes the terms of a neighbour, relative to the question, so that the
// first coefficient is the answer: 1, then differences, then their products.
func (m *LocalModel) expand(r *localRoom, at int32, degree int) int {
	from := len(r.terms)
	r.terms = append(r.terms, 1)
	if degree < 2 {
		return 1
	}
	x := m.inputs[int(at)*m.width : (int(at)+1)*m.width]
	for d, q := range r.asked {
		r.terms = append(r.terms, min(max(x[d]-q, -1e6), 1e6))
	}
	if degree < 3 {
		return 1 + m.width
	}
	for d := range m.width {
		a := r.terms[from+1+d]
		r.terms = append(r.terms, a*a)
		if m.width <= mostProducts {
			for e := d + 1; e < m.width; e++ {
				r.terms = append(r.terms, a*r.terms[from+1+e])
			}
		}
	}
	return len(r.terms) - from
}

// fit finds the share of each neighbour in the answer: the first row of
// (XᵀWX + ridge)⁻¹ XᵀW.
func (m *LocalModel) fit(r *localRoom, near []neighbour, f local) {
	m.weigh(r, near, f)
	r.terms, r.share = r.terms[:0], r.share[:0]
	p := 1
	for i := range near {
		p = m.expand(r, near[i].at, f.degree)
	}
	r.matrix = r.matrix[:0]
	for range p * p {
		r.matrix = append(r.matrix, 0)
	}
	total := 0.0
	for i, w := range r.weight {
		total += w
		x := r.terms[i*p : (i+1)*p]
		for a, xa := range x {
			row := r.matrix[a*p : a*p+a+1]
			for b := range row {
				row[b] += w * xa * x[b]
			}
		}
	}
	for a := 1; a < p; a++ {
		r.matrix[a*p+a] += f.ridge * total
	}
	r.first = r.first[:0]
	for range p {
		r.first = append(r.first, 0)
	}
	r.first[0] = 1
	solve(r.matrix, r.first)
	for i, w := range r.weight {
		sum := 0.0
		for a, xa := range r.terms[i*p : (i+1)*p] {
			sum += xa * r.first[a]
		}
		r.share = append(r.share, w*sum)
	}
}

// fitAll finds the share of each neighbour in the mean of all fits.
func (m *LocalModel) fitAll(r *localRoom, near []neighbour) {
	fits := m.fits
	if len(fits) == 1 {
		m.fit(r, near, fits[0].local())
		return
	}
	r.mean = append(r.mean[:0], make([]float64, len(near))...)
	for i := range fits {
		r.left = nearest(r.left[:0], near, m.wanted(fits[i].K))
		m.fit(r, r.left, fits[i].local())
		for at, share := range r.share {
			r.mean[at] += share / float64(len(fits))
		}
	}
	r.share = append(r.share[:0], r.mean...)
}

// nearest appends the first of neighbours, of so much weight.
func nearest(to, near []neighbour, left float64) []neighbour {
	for _, n := range near {
		if n.used = min(n.used, left); n.used <= 0 {
			break
		}
		left -= n.used
		to = append(to, n)
	}
	return to
}

// solve solves a symmetric system, given by its lower triangle, in place.
func solve(a, b []float64) {
	factorise(a, len(b))
	substitute(a, b)
}

// factorise makes a symmetric matrix of p rows, given by its lower triangle, the
// product of that triangle with its transpose (Cholesky). Directions that add
// nothing to those before are left out: their rows and columns are 0.
func factorise(a []float64, p int) {
	for j := range p {
		was := a[j*p+j]
		for k := range j {
			a[j*p+j] -= a[j*p+k] * a[j*p+k]
		}
		if !(a[j*p+j] > 1e-11*was) || math.IsInf(was, 0) {
			for i := j; i < p; i++ {
				a[i*p+j] = 0
			}
			for k := range j {
				a[j*p+k] = 0
			}
			continue
		}
		root := math.Sqrt(a[j*p+j])
		a[j*p+j] = root
		for i := j + 1; i < p; i++ {
			sum := a[i*p+j]
			x, y := a[i*p:i*p+j], a[j*p:j*p+j]
			for k := range x {
				sum -= x[k] * y[k]
			}
			a[i*p+j] = sum / root
		}
	}
}

// substitute solves a factorised system in place.
func substitute(a, b []float64) {
	p := len(b)
	descend(a, b)
	for j := p - 1; j >= 0; j-- {
		for k := j + 1; k < p; k++ {
			b[j] -= a[k*p+j] * b[k]
		}
		if b[j] /= a[j*p+j]; a[j*p+j] == 0 {
			b[j] = 0
		}
	}
}

// descend solves the lower triangle alone, in place, and returns the square of
// the length of what it finds.
func descend(a, b []float64) float64 {
	p, square := len(b), 0.0
	for j := range p {
		for k := range j {
			b[j] -= a[j*p+k] * b[k]
		}
		if b[j] /= a[j*p+j]; a[j*p+j] == 0 {
			b[j] = 0
		}
		square += b[j] * b[j]
	}
	return square
}

// ask puts a question.
func (m *LocalModel) ask(r *localRoom, columns []table.Column, row int) []neighbour {
	s := r.search
	s.ask(columns, row, m.wanted(m.farthest))
	m.input(s.point, r.asked)
	for d := range m.metric.names {
		n := &m.metric.names[d]
		code := n.code(&columns[n.column], row)
		r.asked[len(s.point)+d] = m.shares[d][code]
	}
	m.index.find(s)
	return s.found()
}

// value is the answer by the shares of neighbours.
func (m *LocalModel) value(r *localRoom, near []neighbour) float64 {
	sum := 0.0
	for i := range near {
		sum += r.share[i] * m.cases.means[near[i].at]
	}
	return m.bounded(sum)
}

func (m *LocalModel) bounded(y float64) float64 {
	if y != y {
		return (m.low + m.high) / 2
	}
	return min(max(y, m.low), m.high)
}

// Predict fits the cases around each row.
func (m *LocalModel) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return err
	}
	rows := t.Rows()
	if out.Classes != 0 || min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("there is no room for the answers to %d rows", rows)
	}
	work := func(chunk int) {
		r := m.rooms.Get().(*localRoom)
		defer m.rooms.Put(r)
		for row := chunk * few; row < min((chunk+1)*few, rows) && ctx.Err() == nil; row++ {
			near := m.ask(r, t.Columns, row)
			m.fitAll(r, near)
			y := m.value(r, near)
			c, width := m.cases, 1.96*m.chosen.Spread
			out.Mean[row], out.Low[row], out.High[row] = c.number(y), c.number(y-width), c.number(y+width)
		}
	}
	if rows <= few {
		if rows > 0 && ctx.Err() == nil {
			work(0)
		}
		return ctx.Err()
	}
	return learn.Each(ctx, (rows+few-1)/few, work)
}

// What is tried for a fit, and on how many rows that are left out.
var (
	triedNear  = []float64{8, 16, 32, 64, 128}
	triedPart  = []float64{0.4, 1}
	triedForm  = []string{"constant", "linear", "quadratic"}
	triedShape = []string{"gaussian", "tricube"}
)

const mostFitted = 200

// trials returns what there is to choose from.
func (m *LocalModel) trials() []localFit {
	s := &m.lesson.Settings
	ks, parts, forms, shapes := triedNear, triedPart, triedForm, triedShape
	if k, err := strconv.Atoi(s.K); err == nil {
		ks = []float64{float64(k)}
	} else if s.K == all {
		ks = []float64{m.cases.weight}
	}
	if s.Form != auto {
		forms = []string{s.Form}
	}
	if s.Kernel != auto {
		shapes = []string{s.Kernel}
	}
	if s.Width > 0 || s.Kernel == "uniform" || s.Kernel == "inverse" {
		parts = []float64{1}
	}
	ridges := triedRidge
	if s.Ridge >= 0 {
		ridges = []float64{s.Ridge}
	}
	var trials []localFit
	for _, k := range ks {
		if k > ks[0] && k >= m.cases.weight {
			break
		}
		for _, form := range forms {
			for _, shape := range shapes {
				for _, part := range parts {
					f := localFit{K: min(k, m.cases.weight), Form: form, Kernel: shape, Part: part, Ridge: ridges[0]}
					for _, f.Ridge = range ridges {
						if trials = append(trials, f); form == "constant" {
							break // it has no slope
						}
					}
				}
			}
		}
	}
	return trials
}

// The most fits of which the answer is the mean, and by how much one more must
// take the error down.
const (
	mostFits = 4
	fitGain  = 0.98
)

// choose finds the fit that errs least when rows are left out, and further ones
// whose mean with it errs less: what errs otherwise makes up for each other
// (Caruana et al. 2004).
func (m *LocalModel) choose(ctx context.Context, mostFits int) error {
	trials := m.trials()
	out, err := m.leaveOut(ctx, trials, mostFitted)
	if err != nil {
		return err
	}
	sum := make([]float64, len(out.cases)) // of the answers of the fits that are taken
	var taken []localFit
	least := math.Inf(1)
	for len(taken) < mostFits {
		best, gain := -1, least*fitGain
		for t := range trials {
			if e := out.squares(m.cases, func(at int) float64 { return (sum[at] + out.of[at][t]) / float64(len(taken)+1) }); e < gain*(1-1e-9) || best >= 0 && e == gain { // of equals, that of most rows
				best, gain = t, e
			}
		}
		if best < 0 {
			break
		}
		for at := range sum {
			sum[at] += out.of[at][best]
		}
		taken, least = append(taken, trials[best]), gain
	}
	if len(taken) == 0 {
		taken, least = trials[:1], 0
	}
	c := localChosen{K: taken[0].K, Form: taken[0].Form, Kernel: taken[0].Kernel, Part: taken[0].Part, Ridge: taken[0].Ridge, Also: taken[1:], Distance: m.chosen.Distance}
	c.Spread = min(math.Sqrt(least/out.weight), 8)
	if !(c.Spread >= 0) || m.cases.count() < 2 {
		c.Spread = 0
	}
	m.chosen, m.least = c, least
	return nil
}

// settled chooses fits and factors of axes, and how far rows are from each other
// where that is not given: names by what they tell, or each as far from any other.
func (m *LocalModel) settled(ctx context.Context) (*LocalModel, error) {
	distances := []string{""}
	if m.lesson.Settings.Distance == auto {
		distances = []string{"hvdm"}
		for j, a := range m.cases.schema.Attributes {
			if j != m.cases.target && a.Kind == table.Nominal && len(a.Values) > 2 {
				distances = []string{"hvdm", "euclid"}
			}
		}
	}
	var best *LocalModel
	for _, d := range distances {
		t, err := (&LocalModel{lesson: m.lesson, rows: m.rows, cases: m.cases, half: m.half, chosen: localChosen{Distance: d}}).chosenBy(ctx)
		if err != nil {
			return nil, err
		}
		if best == nil || t.least < best.least*localGain {
			best = t
		}
	}
	return best, nil
}

// chosenBy chooses fits and factors of axes with one distance.
func (m *LocalModel) chosenBy(ctx context.Context) (*LocalModel, error) {
	if err := m.measure(ctx, nil); err != nil {
		return nil, err
	}
	most := mostFits
	if m.stretches() {
		most = 1 // the others are chosen when axes are
	}
	if err := m.choose(ctx, most); err != nil || !m.stretches() {
		return m, err
	}
	return m.stretched(ctx)
}

// spread returns how far answers are off for rows that had no say in any choice:
// all is chosen by one half of the rows that are left out and tried on the other,
// and the other way round. What was chosen by rows answers those too well.
func (m *LocalModel) spread(ctx context.Context) (float64, error) {
	sum, weight := 0.0, 0.0
	var off []float64
	for half := 1; half <= 2; half++ {
		h, err := (&LocalModel{lesson: m.lesson, rows: m.rows, cases: m.cases, half: half}).settled(ctx)
		if err != nil {
			return 0, err
		}
		h.half = 3 - half
		out, err := h.leaveOut(ctx, h.chosen.fits(), mostFitted)
		if err != nil {
			return 0, err
		}
		sum, weight = sum+out.squares(m.cases, out.mean), weight+out.weight
		for at, i := range out.cases {
			if out.of[at] != nil {
				off = append(off, math.Abs(out.mean(at)-m.cases.means[i]))
			}
		}
	}
	if !(weight > 0) || len(off) == 0 {
		return m.chosen.Spread, nil
	}
	// Where few are far off, the interval that holds 95 % of them is wider than
	// that of a normal distribution.
	slices.Sort(off)
	held := off[min(int(math.Ceil(0.95*float64(len(off)+1))), len(off))-1]
	return min(max(math.Sqrt(sum/weight), held/1.96), 8), nil
}

// localOut is what fits answer when rows are left out.
type localOut struct {
	cases  []int
	of     [][]float64 // for each case, by each trial
	weight float64
}

// mean returns the mean of all fits for a case.
func (o *localOut) mean(at int) float64 {
	sum := 0.0
	for _, y := range o.of[at] {
		sum += y
	}
	return sum / float64(len(o.of[at]))
}

// squares returns the squared error of some answers; what is rounding counts alike.
func (o *localOut) squares(c *cases, answer func(at int) float64) float64 {
	sum := 0.0
	for at, i := range o.cases {
		if o.of[at] == nil {
			continue
		}
		y := answer(at)
		for row := c.starts[i]; row < c.starts[i+1]; row++ {
			e := y - c.numbers[row]
			sum += c.table.Weights[row] * e * e
		}
	}
	return max(sum, 1e-20*o.weight)
}

// leaveOut has some rows, so many at most, answered by all others.
func (m *LocalModel) leaveOut(ctx context.Context, trials []localFit, most int) (*localOut, error) {
	asked, err := sampled(ctx, m.cases, most)
	if err != nil {
		return nil, err
	}
	if m.half > 0 {
		n := 0
		for at, i := range asked {
			if at%2 == m.half-1 {
				asked[n] = i
				n++
			}
		}
		asked = asked[:n]
	}
	o := &localOut{cases: asked, of: make([][]float64, len(asked))}
	err = learn.Each(ctx, len(asked), func(at int) {
		r := m.rooms.Get().(*localRoom)
		defer m.rooms.Put(r)
		o.of[at] = m.without(ctx, r, asked[at], trials)
	})
	for _, i := range asked {
		o.weight += m.cases.worth[i]
	}
	return o, err
}

// What is tried for an axis, times what it is; how many cases are left out for
// it, and how many there may be unless it is asked for.
var triedStretch = []float64{0, 0.5, 2}

const (
	mostLocal   = 150
	localModest = 2000
	localGain   = 0.99 // of the error: less is chance
)

func (m *LocalModel) stretches() bool {
	s := m.lesson.Settings.Stretch
	return s == "global" || s == modest && m.cases.count() <= localModest && m.cases.count() > 10
}

// stretched returns the model with axes stretched, by coordinate search: column
// after column gets the factor with which rows that are left out are answered
// best, until a round changes nothing. What else there is to choose is then
// chosen again.
func (m *LocalModel) stretched(ctx context.Context) (*LocalModel, error) {
	z := make([]float64, len(m.cases.schema.Attributes))
	for j := range z {
		z[j] = 1
	}
	fits := m.chosen.fits()
	fares := func() (*LocalModel, float64, error) {
		t := &LocalModel{lesson: m.lesson, rows: m.rows, cases: m.cases, chosen: m.chosen, half: m.half}
		t.lesson.Settings.Index = "brute" // for few questions
		if err := t.measure(ctx, z); err != nil {
			return nil, 0, err
		}
		out, err := t.leaveOut(ctx, fits, mostLocal)
		if err != nil {
			return nil, 0, err
		}
		return t, out.squares(m.cases, out.mean), nil
	}
	now, least, err := fares()
	if err != nil {
		return nil, err
	}
	plain := now
	for range 2 {
		changed := false
		for _, j := range m.cases.inputs() {
			best := z[j]
			for _, f := range triedStretch {
				if z[j] = best * f; best == 0 {
					z[j] = f
				}
				if z[j] == best || z[j] > 16 || z[j] != 0 && z[j] < 1.0/16 {
					continue
				}
				then, sum, err := fares()
				if err != nil {
					return nil, err
				}
				if sum < localGain*least {
					now, least, best, changed = then, sum, z[j], true
					break
				}
			}
			z[j] = best
		}
		if !changed {
			break
		}
	}
	if now == plain {
		return m, m.choose(ctx, mostFits)
	}
	now.lesson = m.lesson
	if err := now.measure(ctx, z); err != nil {
		return nil, err
	}
	if err := now.choose(ctx, mostFits); err != nil {
		return nil, err
	}
	now.chosen.Stretch = z
	return now, nil
}

// without returns what each trial answers when a row is left out, or one of as many
// as it counts for; with ties=cells, all of a case. nil if nothing is left.
func (m *LocalModel) without(ctx context.Context, r *localRoom, i int, trials []localFit) []float64 {
	c, s := m.cases, r.search
	answers := make([]float64, len(trials))
	out := c.worth[i]
	if m.Ordered() {
		out = min(out, 1)
	}
	if c.weight <= out {
		return nil
	}
	most := 0.0
	for _, t := range trials {
		most = max(most, t.K)
	}
	s.askCase(i, min(c.weight, m.wanted(most)+out))
	copy(r.asked, m.inputs[i*m.width:(i+1)*m.width])
	m.index.find(s)
	near := s.found()
	for t := range trials {
		if ctx.Err() != nil {
			return answers
		}
		left := min(m.wanted(trials[t].K), c.weight-out)
		r.left = r.left[:0]
		for _, n := range near {
			worth := c.worth[n.at]
			if int(n.at) == i {
				worth -= out
			}
			if n.used = min(worth, left); n.used > 0 {
				r.left = append(r.left, n)
				left -= n.used
			}
		}
		m.fit(r, r.left, trials[t].local())
		answers[t] = m.value(r, r.left)
	}
	return answers
}

// Explain names the cases around the row. Each is evidence: its share in the
// answer times its difference from the mean of all rows.
func (m *LocalModel) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	t = t.Slice(row, row+1)
	c := m.cases
	r := m.rooms.New().(*localRoom)
	near := slices.Clone(m.ask(r, t.Columns, 0))
	m.fitAll(r, near)
	mean := 0.0
	for row, y := range c.numbers {
		mean += c.table.Weights[row] / c.weight * y
	}
	e := &learn.Explanation{Prior: []float64{c.number(mean)}, Additive: true}
	answer := c.number(m.value(r, near))
	said := e.Prior[0]
	for i := range near[:min(len(near), mostShown)] {
		weight := c.number(r.share[i] * (c.means[near[i].at] - mean))
		said += weight
		e.Evidence = append(e.Evidence, learn.Evidence{Text: caseText(c, int(c.starts[near[i].at])), Weight: weight})
	}
	e.Evidence = append(e.Evidence, learn.Evidence{Text: "ALWAYS", Weight: answer - said})
	for i := 0; i < len(near) && len(e.Cases) < mostShown; i++ {
		showCases(r.search, &near[i], e)
	}
	for j := range c.schema.Attributes {
		if j != c.target && t.Text(0, j) == "" {
			columns := slices.Clone(t.Columns)
			moves := 0.0
			tryCells(c, columns, j, func() {
				near := m.ask(r, columns, 0)
				m.fitAll(r, near)
				moves = max(moves, min(math.Abs(c.number(m.value(r, near))-answer), math.MaxFloat64))
			})
			e.Missing = append(e.Missing, learn.MissingCell{Column: c.schema.Attributes[j].Name, CouldMove: moves})
		}
	}
	return e, nil
}
