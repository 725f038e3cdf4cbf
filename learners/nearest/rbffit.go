package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// What is tried, and on how many cases: more of them change little, and cost.
var (
	triedWidths = []float64{0.7, 1.5, 3, 6} // in distances to the next centres
	triedGrown  = []float64{0.2, 0.4, 0.8}  // in distances between rows
	triedRidges = []float64{1e-9, 1e-6, 1e-3}
	triedSharp  = []float64{1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24}
)

const (
	mostCandidates = 250
	mostGrownOn    = 1200
	mostTriedOn    = 3000
	mostGrown      = 100
	mostEach       = 1500
)

// lot is cases as points, with their weights and targets.
type lot struct {
	m      *RadialModel
	at     []int     // cases
	x      []float64 // dims a case
	weight []float64
	total  float64
	y      []float64 // outputs a case
}

func (m *RadialModel) lot(at []int) *lot {
	l := &lot{m: m, at: at, x: make([]float64, len(at)*m.dims), weight: make([]float64, len(at)), y: make([]float64, len(at)*m.outputs())}
	c, outputs := m.cases, m.outputs()
	for r, i := range at {
		m.point(i, l.x[r*m.dims:(r+1)*m.dims])
		l.weight[r] = c.worth[i]
		l.total += c.worth[i]
		if c.classes == nil {
			l.y[r] = c.means[i]
			continue
		}
		for row := c.starts[i]; row < c.starts[i+1]; row++ {
			l.y[r*outputs+int(c.classes[row])] += c.table.Weights[row] / c.worth[i]
		}
	}
	return l
}

// some returns at most so many cases, by their content alone.
func (m *RadialModel) some(ctx context.Context, most int) ([]int, error) {
	return sampled(ctx, m.cases, most)
}

// train chooses units, and weighs them.
func (m *RadialModel) train(ctx context.Context) error {
	s := &m.lesson.Settings
	some, err := m.some(ctx, mostTriedOn)
	if err != nil {
		return err
	}
	lot := m.lot(some)
	ridges := triedRidges
	if s.Ridge >= 0 {
		ridges = []float64{s.Ridge}
	}
	placings, err := m.placings(ctx)
	if err != nil {
		return err
	}
	best := math.Inf(1)
	var ridge float64
	var chosen network
	for i, n := range placings {
		h, err := lot.design(ctx, &n)
		if err != nil {
			return err
		}
		for _, r := range ridges {
			out, _, err := lot.leftOut(ctx, h, 1+len(n.Sigma), r)
			if err != nil {
				return err
			}
			if press := lot.press(out); press < best*(1-1e-9) {
				best, ridge, chosen = press, r, n
			}
		}
		learn.Report(ctx, 0.8*float64(i+1)/float64(len(placings)))
	}
	if chosen.Sigma == nil && len(placings) > 0 {
		chosen, ridge = placings[0], ridges[len(ridges)-1]
	}
	m.network = chosen
	return m.weigh(ctx, lot, ridge)
}

// weigh solves for the weights over all cases, and measures the answers to rows
// that are left out.
func (m *RadialModel) weigh(ctx context.Context, tried *lot, ridge float64) error {
	h, err := tried.design(ctx, &m.network)
	if err != nil {
		return err
	}
	p := 1 + len(m.Sigma)
	out, w, err := tried.leftOut(ctx, h, p, ridge)
	if err != nil {
		return err
	}
	m.Sharp = 1
	if m.cases.classes != nil {
		m.Sharp = tried.sharp(out)
	} else {
		m.Spread = min(math.Sqrt(tried.rowErrors(out)/tried.total), 8)
		if !(m.Spread >= 0) || m.cases.count() < 2 {
			m.Spread = 0
		}
	}
	if len(tried.at) < m.cases.count() {
		all := make([]int, m.cases.count())
		for i := range all {
			all[i] = i
		}
		whole := m.lot(all)
		if h, err = whole.design(ctx, &m.network); err != nil {
			return err
		}
		if w, _, err = whole.solve(ctx, h, p, ridge); err != nil {
			return err
		}
	}
	for i, x := range w {
		if w[i] = min(max(x, -1e12), 1e12); x != x {
			w[i] = 0
		}
	}
	m.Weights = w
	return nil
}

// placings returns the units that there are to choose from.
func (m *RadialModel) placings(ctx context.Context) ([]network, error) {
	s := &m.lesson.Settings
	units := s.Units
	if units == 0 {
		units = min(mostGrown, max(2, m.cases.count()/10))
	}
	if s.Centres == grown {
		return m.growths(ctx, units)
	}
	var base network
	var err error
	switch s.Centres {
	case each:
		if m.cases.count() > mostEach {
			return nil, fmt.Errorf("setting centres=each: %d different rows would be as many units, and %d are the most; choose centres=grow, sample or cluster", m.cases.count(), mostEach)
		}
		base, err = m.at(ctx, m.cases.count())
	case sample:
		base, err = m.at(ctx, units)
	case grid:
		base, err = m.gridded(units)
	case cluster:
		base, err = m.clustered(ctx, units)
	case soft:
		base, err = m.mixed(ctx, units)
	}
	if err != nil {
		return nil, err
	}
	base.Why = fmt.Sprintf("%d units were to stand so (centres=%s)", len(base.Row), s.Centres)
	if base.normalised = s.Basis == normalised; s.Centres == soft {
		return []network{base}, nil // the mixture says how wide
	}
	var placings []network
	near := m.gaps(base.Centres)
	factors := triedWidths
	if s.Width > 0 {
		factors = triedWidths[:1]
	}
	for _, f := range factors {
		n := base
		n.Sigma = make([]float64, len(near))
		for u, d := range near {
			if n.Sigma[u] = f * d; s.Width > 0 {
				n.Sigma[u] = s.Width
			}
		}
		placings = append(placings, n)
	}
	return placings, nil
}

// at puts units at so many cases.
func (m *RadialModel) at(ctx context.Context, units int) (network, error) {
	cases, err := m.some(ctx, units)
	n := network{Row: cases, Centres: make([]float64, len(cases)*m.dims)}
	for u, i := range cases {
		m.point(i, n.Centres[u*m.dims:(u+1)*m.dims])
	}
	return n, err
}

// gridded puts units on a grid over the box of all cases, as many a side as the
// number of units allows.
func (m *RadialModel) gridded(units int) (network, error) {
	low, high := slices.Repeat([]float64{math.Inf(1)}, m.dims), slices.Repeat([]float64{math.Inf(-1)}, m.dims)
	x := make([]float64, m.dims)
	for i := range m.cases.count() {
		m.point(i, x)
		for d := range x {
			low[d], high[d] = min(low[d], x[d]), max(high[d], x[d])
		}
	}
	side, all := 1, 1.0
	for m.dims > 0 && math.Pow(float64(side+1), float64(m.dims)) <= float64(units)*(1+1e-9) {
		side++
		all = math.Pow(float64(side), float64(m.dims))
	}
	if side < 2 && m.dims > 0 {
		return network{}, fmt.Errorf("setting centres=grid: over %d dimensions a grid has at least %.3g units, and units=%d are allowed; choose centres=cluster or sample", m.dims, math.Pow(2, float64(m.dims)), units)
	}
	n := network{Row: slices.Repeat([]int{-1}, int(all))}
	for u := range int(all) {
		for d, at := 0, u; d < m.dims; d, at = d+1, at/side {
			n.Centres = append(n.Centres, low[d]+(high[d]-low[d])*float64(at%side)/float64(side-1))
		}
	}
	return n, nil
}

// clustered puts units amid clusters (k-means; Lloyd 1957), which begin with
// cases that are far from each other.
func (m *RadialModel) clustered(ctx context.Context, units int) (network, error) {
	some, err := m.some(ctx, mostTriedOn)
	if err != nil {
		return network{}, err
	}
	l := m.lot(some)
	units = min(units, len(some))
	n := network{Row: slices.Repeat([]int{-1}, units)}
	far := slices.Repeat([]float64{math.Inf(1)}, len(some))
	of := make([]int, len(some))
	square := func(r int, centre []float64) float64 {
		sum := 0.0
		for d, c := range centre {
			sum += (l.x[r*m.dims+d] - c) * (l.x[r*m.dims+d] - c)
		}
		return sum
	}
	next := 0
	for u := range units {
		centre := l.x[next*m.dims : (next+1)*m.dims]
		n.Centres = append(n.Centres, centre...)
		next = 0
		for r := range some {
			if d := square(r, centre); d < far[r] {
				far[r], of[r] = d, u
			}
			if far[r] > far[next] {
				next = r
			}
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
	}
	for range 20 {
		sums, weights := make([]float64, len(n.Centres)), make([]float64, units)
		for r, u := range of {
			weights[u] += l.weight[r]
			for d := range m.dims {
				sums[u*m.dims+d] += l.weight[r] * l.x[r*m.dims+d]
			}
		}
		for u, w := range weights {
			for d := range m.dims {
				if w > 0 {
					n.Centres[u*m.dims+d] = sums[u*m.dims+d] / w
				}
			}
		}
		changed := false
		for r := range some {
			best, least := of[r], math.Inf(1)
			for u := range units {
				if d := square(r, n.Centres[u*m.dims:(u+1)*m.dims]); d < least {
					best, least = u, d
				}
			}
			changed = changed || best != of[r]
			of[r] = best
		}
		if err := ctx.Err(); err != nil || !changed {
			return n, err
		}
	}
	return n, nil
}

// How a mixture is found: the steps of EM at most, the gain of log likelihood a row
// that is worth another, and the least width, as a share of that of all rows.
const (
	mostSteps   = 100
	worthStep   = 1e-6
	leastSpread = 0.05
)

// mixed puts units where a mixture of round Gaussians has its own, as wide as they
// are (soft clustering; Nowlan 1991), by EM that begins with hard clusters.
func (m *RadialModel) mixed(ctx context.Context, units int) (network, error) {
	n, err := m.clustered(ctx, units)
	if err != nil || m.dims == 0 {
		n.Sigma = slices.Repeat([]float64{1}, len(n.Row))
		return n, err
	}
	some, err := m.some(ctx, mostTriedOn)
	if err != nil {
		return n, err
	}
	l, dims := m.lot(some), float64(m.dims)
	spread := l.spread()
	n.Sigma = slices.Repeat([]float64{spread}, len(n.Row))
	for u, gap := range m.gaps(n.Centres) {
		n.Sigma[u] = min(gap/math.Sqrt(dims), spread)
	}
	share := slices.Repeat([]float64{1 / float64(len(n.Row))}, len(n.Row))
	p := make([]float64, len(n.Row))
	last := math.Inf(-1)
	for range mostSteps {
		weights, squares, sums := make([]float64, len(p)), make([]float64, len(p)), make([]float64, len(n.Centres))
		likelihood := 0.0
		for r, weight := range l.weight { // E: who has how much of each row
			x := l.x[r*m.dims : (r+1)*m.dims]
			for u := range p {
				p[u] = math.Log(share[u]) - dims*math.Log(n.Sigma[u]) + logGaussian(x, n.Centres[u*m.dims:(u+1)*m.dims], n.Sigma[u])
			}
			likelihood += weight / l.total * softmax(p, 1)
			for u, of := range p {
				weights[u] += weight * of
				for d, v := range x {
					e := v - n.Centres[u*m.dims+d]
					sums[u*m.dims+d] += weight * of * e
					squares[u] += weight * of * e * e
				}
			}
		}
		for u, w := range weights { // M
			if !(w > 1e-12*l.total) { // nobody's: it stays where it is
				continue
			}
			share[u] = w / l.total
			square := squares[u] / w
			for d := range m.dims {
				moved := sums[u*m.dims+d] / w
				n.Centres[u*m.dims+d] += moved
				square -= moved * moved // widths are around the new centre
			}
			n.Sigma[u] = max(math.Sqrt(max(square, 0)/dims), leastSpread*spread)
		}
		if err := ctx.Err(); err != nil || likelihood-last < worthStep {
			return n, err
		}
		last = likelihood
	}
	return n, nil
}

// spread is the standard deviation of the points, over all their numbers; 1 where
// they are all the same.
func (l *lot) spread() float64 {
	sum := 0.0
	for d := range l.m.dims {
		mean, square := 0.0, 0.0
		for r, w := range l.weight {
			mean += w / l.total * l.x[r*l.m.dims+d]
		}
		for r, w := range l.weight {
			e := l.x[r*l.m.dims+d] - mean
			square += w / l.total * e * e
		}
		sum += square
	}
	if s := math.Sqrt(sum / float64(max(l.m.dims, 1))); s > 0 && s < farthest {
		return s
	}
	return 1
}

// gaps returns the mean distance of each centre to the two next; 1 where there
// is none apart from it.
func (m *RadialModel) gaps(centres []float64) []float64 {
	units := 1
	if m.dims > 0 {
		units = len(centres) / m.dims
	}
	gaps := make([]float64, units)
	for u := range gaps {
		first, second := math.Inf(1), math.Inf(1)
		for v := range gaps {
			sum := 0.0
			for d := range m.dims {
				e := centres[u*m.dims+d] - centres[v*m.dims+d]
				sum += e * e
			}
			if sum = math.Sqrt(sum); sum > 0 && sum < first {
				first, second = sum, first
			} else if sum > 0 && sum < second {
				second = sum
			}
		}
		if gaps[u] = 1; !math.IsInf(second, 0) {
			gaps[u] = first/2 + second/2
		} else if !math.IsInf(first, 0) {
			gaps[u] = first
		}
		gaps[u] = min(gaps[u], farthest)
	}
	return gaps
}

// design writes the basis of each case.
func (l *lot) design(ctx context.Context, n *network) ([]float64, error) {
	p := 1 + len(n.Sigma)
	h := make([]float64, len(l.at)*p)
	err := learn.Split(ctx, len(l.at), func(lo, hi int) {
		for r := lo; r < hi && ctx.Err() == nil; r++ {
			n.basis(l.x[r*l.m.dims:(r+1)*l.m.dims], h[r*p:(r+1)*p])
			if !l.m.lesson.Settings.Bias {
				h[r*p] = 0
			}
		}
	})
	return h, err
}

// solve finds the weights of all outputs, and the factor of what was solved.
func (l *lot) solve(ctx context.Context, h []float64, p int, ridge float64) (w, factor []float64, err error) {
	outputs := l.m.outputs()
	a := make([]float64, p*p)
	w = make([]float64, outputs*p)
	// Each row of the matrix is one worker's, so that sums have one order.
	err = learn.Each(ctx, p, func(i int) {
		row := a[i*p : i*p+i+1]
		for r, weight := range l.weight {
			if r%256 == 0 && ctx.Err() != nil {
				return
			}
			x := h[r*p : r*p+i+1]
			v := weight * x[i]
			if v == 0 {
				continue
			}
			for j := range row {
				row[j] += float64(v * x[j])
			}
			for o := range outputs {
				w[o*p+i] += float64(v * l.y[r*outputs+o])
			}
		}
		if i > 0 {
			row[i] += ridge * l.total
		}
	})
	if err != nil {
		return nil, nil, err
	}
	factorise(a, p)
	for o := range outputs {
		substitute(a, w[o*p:(o+1)*p])
	}
	return w, a, nil
}

// leftOut returns what is said of each case when one row of it is left out, and
// the weights: y − e/(1 − h), where h is the row's part in its own answer.
func (l *lot) leftOut(ctx context.Context, h []float64, p int, ridge float64) (out, w []float64, err error) {
	w, factor, err := l.solve(ctx, h, p, ridge)
	if err != nil {
		return nil, nil, err
	}
	outputs := l.m.outputs()
	out = make([]float64, len(l.y))
	err = learn.Split(ctx, len(l.at), func(lo, hi int) {
		z := make([]float64, p)
		for r := lo; r < hi && ctx.Err() == nil; r++ {
			x := h[r*p : (r+1)*p]
			copy(z, x)
			own := min(1, l.weight[r]) * descend(factor, z)
			for o := range outputs {
				said := 0.0
				for i, v := range x {
					said += v * w[o*p+i]
				}
				y := l.y[r*outputs+o]
				out[r*outputs+o] = y - (y-said)/max(1-own, 1e-6)
			}
		}
	})
	return out, w, err
}

// press is the squared error of answers to rows that are left out.
func (l *lot) press(out []float64) float64 {
	sum, outputs := 0.0, l.m.outputs()
	for r, w := range l.weight {
		for o := range outputs {
			e := out[r*outputs+o] - l.y[r*outputs+o]
			sum += w * e * e
		}
	}
	if sum != sum {
		return math.Inf(1)
	}
	return sum
}

// rowErrors is press with the rows of each case apart.
func (l *lot) rowErrors(out []float64) float64 {
	c, sum := l.m.cases, 0.0
	for r, i := range l.at {
		for row := c.starts[i]; row < c.starts[i+1]; row++ {
			e := out[r] - c.numbers[row]
			sum += c.table.Weights[row] * e * e
		}
	}
	return sum
}

// sharp returns the sharpness of the softmax with the least loss.
func (l *lot) sharp(out []float64) float64 {
	outputs := l.m.outputs()
	best, least := 1.0, math.Inf(1)
	p := make([]float64, outputs)
	for _, sharp := range triedSharp {
		loss := 0.0
		for r, w := range l.weight {
			copy(p, out[r*outputs:(r+1)*outputs])
			softmax(p, sharp)
			for o, share := range l.y[r*outputs : (r+1)*outputs] {
				if share > 0 {
					loss -= w * share * math.Log(max(p[o], 1e-12))
				}
			}
		}
		if loss < least {
			best, least = sharp, loss
		}
	}
	return best
}

// softmax makes probabilities of outputs, and returns the log of their sum.
func softmax(p []float64, sharp float64) float64 {
	most := math.Inf(-1)
	for o := range p {
		p[o] *= sharp
		most = max(most, p[o])
	}
	sum := 0.0
	for o := range p {
		p[o] = math.Exp(p[o] - most)
		sum += p[o]
	}
	for o := range p {
		p[o] /= sum
	}
	return most + math.Log(sum)
}

// growths grows a network for each width.
func (m *RadialModel) growths(ctx context.Context, most int) ([]network, error) {
	on, err := m.some(ctx, mostGrownOn)
	if err != nil {
		return nil, err
	}
	candidates, err := m.at(ctx, mostCandidates)
	if err != nil {
		return nil, err
	}
	widths := []float64{m.lesson.Settings.Width}
	if widths[0] == 0 {
		// The root of the mean squared distance between two candidates.
		sum, pairs := 0.0, 0.0
		for u := range candidates.Row {
			for v := range u {
				for d := range m.dims {
					e := min(math.Abs(candidates.Centres[u*m.dims+d]-candidates.Centres[v*m.dims+d]), 1e100)
					sum += e * e
				}
				pairs++
			}
		}
		apart := math.Sqrt(sum / max(pairs, 1))
		if !(apart > 0) {
			apart = 1
		}
		widths = nil
		for _, f := range triedGrown {
			widths = append(widths, f*apart)
		}
	}
	l := m.lot(on)
	grown := make([]network, len(widths))
	failed := make([]error, len(widths))
	err = learn.Each(ctx, len(widths), func(i int) {
		grown[i], failed[i] = l.grow(ctx, &candidates, widths[i], min(most, max(1, len(on)/3)))
	})
	for _, f := range failed {
		if err == nil {
			err = f
		}
	}
	return grown, err
}

// grow adds the candidate that takes away most error, again and again
// (orthogonal least squares): what is left of the other candidates, and of the
// targets, is what the units so far cannot say.
func (l *lot) grow(ctx context.Context, candidates *network, width float64, most int) (network, error) {
	m, rows, outputs := l.m, len(l.at), l.m.outputs()
	count := len(candidates.Row)
	columns := make([][]float64, count)
	norms := make([]float64, count)
	for c := range columns {
		columns[c] = make([]float64, rows)
		for r := range columns[c] {
			columns[c][r] = math.Exp(logGaussian(l.x[r*m.dims:(r+1)*m.dims], candidates.Centres[c*m.dims:(c+1)*m.dims], width))
		}
		if m.lesson.Settings.Bias {
			l.centre(columns[c], 1)
		}
		norms[c] = l.dot(columns[c], columns[c], 1, 0)
		if err := ctx.Err(); err != nil {
			return network{}, err
		}
	}
	y := slices.Clone(l.y)
	if m.lesson.Settings.Bias {
		l.centre(y, outputs)
	}
	all := 0.0
	for o := range outputs {
		all += l.dot2(y, o)
	}
	var picked []int
	var added []Added
	left, best, kept, why := all, math.Inf(1), 0, ""
	for len(picked) < most {
		unit, gain := -1, 1e-12*all
		for c := range columns {
			norm := l.dot(columns[c], columns[c], 1, 0)
			if slices.Contains(picked, c) || !(norm > 1e-7*norms[c]) || !(norm > 0) {
				continue
			}
			g := 0.0
			for o := range outputs {
				v := l.dot(columns[c], y, outputs, o)
				g += v * v / norm
			}
			if g > gain {
				unit, gain = c, g
			}
		}
		if why = "no candidate takes away any more of the error"; unit < 0 || ctx.Err() != nil {
			break
		}
		l.take(columns, columns[unit], y, outputs, unit)
		left -= gain
		picked = append(picked, unit)
		free := max(l.total-1-2*float64(len(picked)), 1e-9)
		out := max(left, 0) / all * (l.total / free) * (l.total / free)
		added = append(added, Added{len(picked), gain / all, max(left, 0) / all, out})
		if out < best*(1-1e-9) {
			best, kept = out, len(picked)
		}
		if why = fmt.Sprintf("%d units are the most", most); len(picked)-kept >= 10 {
			why = "ten units more did not serve rows that are left out"
			break
		}
	}
	kept = max(kept, min(1, len(picked)))
	n := network{Added: added[:kept], Why: why, Sigma: slices.Repeat([]float64{width}, kept)}
	for _, c := range picked[:kept] {
		n.Row = append(n.Row, candidates.Row[c])
		n.Centres = append(n.Centres, candidates.Centres[c*m.dims:(c+1)*m.dims]...)
	}
	return n, ctx.Err()
}

// take takes what a unit says out of the other candidates and the targets.
func (l *lot) take(columns [][]float64, unit, y []float64, outputs, which int) {
	norm := l.dot(unit, unit, 1, 0)
	for c := range columns {
		if c == which {
			continue
		}
		f := l.dot(unit, columns[c], 1, 0) / norm
		for r := range unit {
			columns[c][r] -= f * unit[r]
		}
	}
	for o := range outputs {
		f := l.dot(unit, y, outputs, o) / norm
		for r := range unit {
			y[r*outputs+o] -= f * unit[r]
		}
	}
}

// dot is the weighted product of a column with one of several outputs.
func (l *lot) dot(a, b []float64, outputs, o int) float64 {
	sum := 0.0
	for r, w := range l.weight {
		sum += w * a[r] * b[r*outputs+o]
	}
	return sum
}

func (l *lot) dot2(y []float64, o int) float64 {
	sum, outputs := 0.0, l.m.outputs()
	for r, w := range l.weight {
		sum += w * y[r*outputs+o] * y[r*outputs+o]
	}
	return sum
}

// centre takes the weighted mean out of columns.
func (l *lot) centre(y []float64, outputs int) {
	for o := range outputs {
		mean := 0.0
		for r, w := range l.weight {
			mean += w / l.total * y[r*outputs+o]
		}
		for r := range l.weight {
			y[r*outputs+o] -= mean
		}
	}
}
