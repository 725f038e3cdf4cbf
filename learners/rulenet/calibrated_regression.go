package rulenet

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
)

// regression is a multinomial logistic regression over rule units: the score
// of a class is its bias and the weights of the units that fire, the
// probabilities are the softmax of the scores. It minimises
//
//	Σ rows −ln P(class of the row) + λ Σ |weight| + ½ ridge Σ weight²
//
// The first penalty makes weights that do not pay exactly zero, so that the
// rules that are left can be read; the second keeps the minimum unique.
// Biases are free, so that the probabilities of each class add up to its rows.
//
// It goes through the classes in turn. For each it minimises the quadratic
// approximation of the loss by coordinate descent (Friedman, Hastie and
// Tibshirani, Regularization paths for generalized linear models via
// coordinate descent, 2010), and goes as far in that direction as the loss
// falls. With two classes one has no weights, and this is Newton's method.
type regression struct {
	*design
	counts []float64 // of each group and class
	lambda float64
	ridge  float64

	present        []int       // classes that have rows
	weights        [][]float64 // of each present class: units, then the bias
	scores         []float64   // of each group and present class
	powers         []float64   // of each group and present class: e^(score − the group's level)
	level          []float64   // of each group: about its greatest score
	norm           []float64   // of each group: the sum of its powers
	sizes          []float64   // of each group: its rows
	total          float64
	approximations []*quadratic // of each present class, as last computed
}

const (
	sweeps  = 200  // of the quadratic problem at most
	cycles  = 2000 // through the classes at most
	halving = 30   // of a step at most

	partGroups  = 8192 // of a part at most
	curveGroups = 4096 // groups that the shape of the loss is taken from at most
)

// newRegression starts with all weights zero and the biases that fit best
// then.
func newRegression(d *design, counts []float64) *regression {
	r := &regression{design: d, counts: counts, ridge: ridge}
	sums := make([]float64, d.classes)
	for i, n := range counts {
		sums[i%d.classes] += n
		r.total += n
	}
	for c, n := range sums {
		if n > 0 {
			r.present = append(r.present, c)
		}
	}
	k := len(r.present)
	r.weights = make([][]float64, k)
	r.scores, r.powers = make([]float64, d.groups()*k), make([]float64, d.groups()*k)
	r.norm, r.level, r.sizes = make([]float64, d.groups()), make([]float64, d.groups()), make([]float64, d.groups())
	for a, c := range r.present {
		r.weights[a] = make([]float64, d.units+1)
		b := math.Log(sums[c] / r.total)
		if k == 2 {
			b = 0
			if a == 1 {
				b = math.Log(sums[c] / sums[r.present[0]])
			}
		}
		r.weights[a][d.units] = b
		for g := range d.groups() {
			r.scores[g*k+a] = b
		}
	}
	for g := range r.sizes {
		r.sizes[g] = sum(counts[g*d.classes : (g+1)*d.classes])
	}
	r.exponentiate()
	return r
}

// warmStart takes over the weights of another regression for the units that both
// have, which come first.
func (r *regression) warmStart(o *regression) {
	if len(o.present) != len(r.present) {
		return
	}
	for a := range r.weights {
		copy(r.weights[a][:min(o.units, r.units)], o.weights[a][:min(o.units, r.units)])
		r.weights[a][r.units] = o.weights[a][o.units]
	}
	r.score()
}

// each runs work on parts of the groups, on all cores. Parts are the same for
// any number of cores, so that sums over parts are too.
func (r *regression) each(work func(part, lo, hi int)) {
	n := r.parts()
	do := func(i int) { work(i, i*partGroups, min((i+1)*partGroups, r.groups())) }
	if n == 1 {
		do(0)
		return
	}
	_ = learn.Each(context.Background(), n, do) // fit looks at its context between rounds
}

func (r *regression) parts() int { return max(1, (r.groups()+partGroups-1)/partGroups) }

// score computes all scores from the weights.
func (r *regression) score() {
	k := len(r.present)
	r.each(func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			for a, w := range r.weights {
				s := w[r.units]
				for _, u := range r.fires(g) {
					s += w[u]
				}
				r.scores[g*k+a] = s
			}
		}
	})
}

// loss is what the fit minimises.
func (r *regression) loss() float64 {
	k := len(r.present)
	losses := make([]float64, r.parts())
	r.each(func(part, lo, hi int) {
		for g := lo; g < hi; g++ {
			if r.sizes[g] == 0 {
				continue
			}
			scores := r.scores[g*k : g*k+k]
			losses[part] += r.sizes[g] * logsum.Of(scores)
			for a, c := range r.present {
				losses[part] -= r.counts[g*r.classes+c] * scores[a]
			}
		}
	})
	loss := sum(losses)
	for _, w := range r.weights {
		for _, x := range w[:r.units] {
			loss += r.lambda*math.Abs(x) + r.ridge/2*x*x
		}
	}
	return loss
}

// fit minimises the loss until no derivative is further from what the minimum
// asks for than a share of the rows.
func (r *regression) fit(ctx context.Context, lambda, precision float64) error {
	return r.fitCycles(ctx, lambda, precision, cycles)
}

// fitCycles does so, but goes through the classes so many times at most.
func (r *regression) fitCycles(ctx context.Context, lambda, precision float64, most int) error {
	r.lambda = lambda
	if len(r.present) < 2 {
		return ctx.Err()
	}
	blocks := make([]int, 0, len(r.present))
	for a := range r.present {
		if a > 0 || len(r.present) > 2 {
			blocks = append(blocks, a)
		}
	}
	var ahead anderson
	for range most {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.exponentiate()
		worst := 0.0
		for _, a := range blocks {
			worst = max(worst, r.newtonStep(ctx, a, precision*r.total))
		}
		if worst <= precision*r.total {
			break
		}
		ahead.accelerate(r)
	}
	return nil
}

// exponentiate computes the powers of all scores.
func (r *regression) exponentiate() {
	k := len(r.present)
	r.each(func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			scores := r.scores[g*k : g*k+k]
			r.level[g] = slices.Max(scores)
			for a, s := range scores {
				r.powers[g*k+a] = math.Exp(s - r.level[g])
			}
			r.norm[g] = sum(r.powers[g*k : g*k+k])
		}
	})
}

// probability returns the probability of a present class in a group.
func (r *regression) probability(g, a int) float64 {
	return r.powers[g*len(r.present)+a] / r.norm[g]
}

// newtonStep takes one step for a class, unless it is within precision of its
// minimum, and returns how far off the derivatives were.
func (r *regression) newtonStep(ctx context.Context, a int, precision float64) float64 {
	class, w := r.present[a], r.weights[a]
	gradients := make([]float64, r.parts()*(r.units+1))
	curvature := make([]float64, r.groups())
	r.each(func(part, lo, hi int) {
		gradient := gradients[part*(r.units+1):][:r.units+1]
		for g := lo; g < hi; g++ {
			n := r.sizes[g]
			if n == 0 {
				continue
			}
			p := r.probability(g, a)
			slope := n*p - r.counts[g*r.classes+class]
			curvature[g] = n * p * (1 - p)
			gradient[r.units] += slope
			for _, u := range r.fires(g) {
				gradient[u] += slope
			}
		}
	})
	gradient := gradients[:r.units+1]
	for part := 1; part < r.parts(); part++ {
		for u, x := range gradients[part*(r.units+1):][:r.units+1] {
			gradient[u] += x
		}
	}
	off := math.Abs(gradient[r.units])
	chosen := []int32{}
	for u := range r.units {
		g := gradient[u] + r.ridge*w[u]
		switch {
		case w[u] > 0:
			g = math.Abs(g + r.lambda)
		case w[u] < 0:
			g = math.Abs(g - r.lambda)
		default:
			g = max(math.Abs(g)-r.lambda, 0)
		}
		off = max(off, g)
		if w[u] != 0 || g > 0 {
			chosen = append(chosen, int32(u))
		}
	}
	if off <= precision || ctx.Err() != nil {
		return off
	}
	chosen = append(chosen, int32(r.units))
	q := r.approximation(a, chosen, curvature)
	// The approximation is as good as the step is small: solving it to a
	// fiftieth is enough.
	r.lineSearch(a, q.chosen, r.coordinateDescent(ctx, q, gradient, w, max(off/50, precision/5)))
	return off
}

// quadratic is the shape of the loss over some weights of a class, the bias
// last: its second derivatives.
type quadratic struct {
	chosen []int32
	h      []float64
	uses   int
}

// mostUses is how often a shape is used with more than two classes, where one
// class's step is small against what the others' do to it.
const mostUses = 5

// approximation returns the shape of the loss over at least the chosen
// weights of a class: that of the last time if it will do.
func (r *regression) approximation(a int, chosen []int32, curvature []float64) *quadratic {
	if r.approximations == nil {
		r.approximations = make([]*quadratic, len(r.present))
	}
	if q := r.approximations[a]; q != nil && len(r.present) > 2 && q.uses < mostUses && within(chosen, q.chosen) {
		q.uses++
		return q
	}
	r.approximations[a] = &quadratic{chosen: chosen, h: r.hessian(chosen, curvature), uses: 1}
	return r.approximations[a]
}

// within reports whether all of an ascending list are in another.
func within(some, all []int32) bool {
	for _, u := range some {
		for len(all) > 0 && all[0] < u {
			all = all[1:]
		}
		if len(all) == 0 || all[0] != u {
			return false
		}
	}
	return true
}

// hessian returns the second derivatives of the loss over some weights.
func (r *regression) hessian(chosen []int32, curvature []float64) []float64 {
	m := len(chosen)
	place := make([]int32, r.units+1)
	for i := range place {
		place[i] = -1
	}
	for i, u := range chosen {
		place[u] = int32(i)
	}
	h := make([]float64, m*m)
	fires := make([]int32, 0, m)
	// Of many groups a part gives the shape of the loss, and all of them its
	// curvature along each weight.
	stride := (r.groups() + curveGroups - 1) / curveGroups
	whole, part := 0.0, 0.0
	for g, c := range curvature {
		whole += c
		if g%stride == 0 {
			part += c
		}
	}
	scale := 1.0
	if part > 0 {
		scale = whole / part
	}
	for g := 0; g < len(curvature); g += stride {
		c := curvature[g] * scale
		if c == 0 {
			continue
		}
		fires = fires[:0]
		for _, u := range r.fires(g) {
			if i := place[u]; i >= 0 {
				fires = append(fires, i)
			}
		}
		fires = append(fires, int32(m-1))
		for x, i := range fires {
			row := h[int(i)*m:]
			for _, j := range fires[x:] {
				row[j] += c
			}
		}
	}
	diagonal := make([]float64, r.units+1)
	if stride > 1 {
		for g, c := range curvature {
			for _, u := range r.fires(g) {
				diagonal[u] += c
			}
		}
		diagonal[r.units] = whole
	}
	for i := range m {
		for j := range i {
			h[i*m+j] = h[j*m+i]
		}
		h[i*m+i] = max(h[i*m+i], diagonal[chosen[i]])
		h[i*m+i] += 1e-12 // of units that fire where nothing is in doubt
		if i < m-1 {
			h[i*m+i] += r.ridge
		}
	}
	return h
}

// coordinateDescent minimises the approximation by coordinate descent, until no derivative
// moves by more than precision in a sweep, and returns how far to move each
// weight.
func (r *regression) coordinateDescent(ctx context.Context, q *quadratic, gradient, w []float64, precision float64) []float64 {
	m, h, chosen := len(q.chosen), q.h, q.chosen
	step := make([]float64, m)
	slope := make([]float64, m) // of the approximation at the step
	for i, u := range chosen {
		slope[i] = gradient[u]
		if i < m-1 {
			slope[i] += r.ridge * w[u]
		}
	}
	for sweep := 0; sweep < sweeps && ctx.Err() == nil; sweep++ {
		moved := 0.0
		for i, u := range chosen {
			now := w[u] + step[i]
			to := now - slope[i]/h[i*m+i]
			if i < m-1 {
				to = softThreshold(to, r.lambda/h[i*m+i])
			}
			delta := to - now
			if delta == 0 {
				continue
			}
			step[i] += delta
			moved = max(moved, math.Abs(delta)*h[i*m+i])
			row := h[i*m : i*m+m]
			for j, x := range row {
				slope[j] += delta * x
			}
		}
		if moved <= precision {
			break
		}
	}
	return step
}

// softThreshold moves a number towards zero.
func softThreshold(x, by float64) float64 {
	switch {
	case x > by:
		return x - by
	case x < -by:
		return x + by
	}
	return 0
}

// lineSearch moves the weights of a class by the step, or half of it, and so on,
// until the loss does not rise.
func (r *regression) lineSearch(a int, chosen []int32, step []float64) {
	k, class, w := len(r.present), r.present[a], r.weights[a]
	moves := make([]float64, r.units+1)
	for i, u := range chosen {
		moves[u] = step[i]
	}
	along := make([]float64, r.groups())
	r.each(func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			s := moves[r.units]
			for _, u := range r.fires(g) {
				s += moves[u]
			}
			along[g] = s
		}
	})
	changes := make([]float64, r.parts()) // of the loss
	for t, tries := 1.0, 0; tries < halving; t, tries = t/2, tries+1 {
		clear(changes)
		r.each(func(part, lo, hi int) {
			for g := lo; g < hi; g++ {
				if s := along[g]; s != 0 && r.sizes[g] > 0 {
					grown := r.powers[g*k+a] * math.Expm1(t*s) / r.norm[g]
					changes[part] += r.sizes[g]*math.Log1p(grown) - r.counts[g*r.classes+class]*t*s
				}
			}
		})
		change := sum(changes)
		for _, u := range chosen[:len(chosen)-1] {
			from, to := w[u], w[u]+t*moves[u]
			change += r.lambda*(math.Abs(to)-math.Abs(from)) + r.ridge/2*(to*to-from*from)
		}
		if change <= 1e-12*r.total {
			for _, u := range chosen {
				w[u] += t * moves[u]
			}
			far := make([]bool, r.parts())
			r.each(func(part, lo, hi int) {
				for g := lo; g < hi; g++ {
					if s := along[g]; s != 0 {
						r.scores[g*k+a] += t * s
						above := r.scores[g*k+a] - r.level[g]
						far[part] = far[part] || above > 100
						r.powers[g*k+a] = math.Exp(above)
						r.norm[g] = sum(r.powers[g*k : g*k+k])
					}
				}
			})
			if slices.Contains(far, true) { // from the level: powers could overflow
				r.exponentiate()
			}
			return
		}
	}
}

// evaluate returns the mean loss and the share of errors on other counts of
// the same design.
func (r *regression) evaluate(counts []float64) (loss, errors float64) {
	k := len(r.present)
	total := 0.0
	for g := range r.groups() {
		row := r.scores[g*k : g*k+k]
		top := 0
		for a := range row {
			if row[a] > row[top] {
				top = a
			}
		}
		log := logsum.Of(row)
		place := 0
		for c, n := range counts[g*r.classes : (g+1)*r.classes] {
			for place < k && r.present[place] < c {
				place++
			}
			if n == 0 {
				continue
			}
			total += n
			if place < k && r.present[place] == c {
				loss += n * (log - row[place])
				if place != top {
					errors += n
				}
			} else {
				loss += n * unseenLoss // a class that was not there to learn
				errors += n
			}
		}
	}
	if total == 0 {
		return 0, 0
	}
	return loss / total, errors / total
}

const (
	// ridge is what the second penalty weighs.
	ridge = 0.01
	// unseenLoss is the loss of a row whose class the rows to learn from do
	// not have: the same for all candidates, so that it decides nothing.
	unseenLoss = 10.0
)
