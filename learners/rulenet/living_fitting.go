package rulenet

import (
	"context"
	"math"
	"slices"
)

// fitting minimises over the weights w of rules, the first of which is the bias
// and always fires,
//
//	scale · Σ weight·loss(row, w)  +  slope·w  +  Σ lambda·|w − anchor|  +  ridge/2 · Σ (w − anchor)²
//
// The rows are a reservoir of all rows that ever came, and the linear term makes
// the slope of the whole that of all of them: the surrogate likelihood of
// Jordan, Lee and Yang (2018), over time instead of over machines. For two
// classes there is one score, that of the second class, else one for each.
type fitting struct {
	k, classes int
	class      []int32
	weight     []float64
	cover      [][]int32 // of each rule but the bias: its rows
	scale      float64
	offset     []float64 // scores to begin with, by row and score; nil: none

	w, slope, anchor []float64 // by rule and score
	lambda           []float64 // by rule
	ridge            float64
	ghost            float64 // weight of rows of each class that fire nothing

	scores, p, residual, curve []float64 // by row and score
	loss                       float64

	summed           bool      // at the present weights:
	ofSlope, ofCurve []float64 // sums of the rows' residuals and curvatures by rule
	summedAt         float64   // scale
}

// scoresOf returns the number of scores of classes.
func scoresOf(classes int) int {
	if classes <= 2 {
		return 1
	}
	return classes
}

// begin adds up the scores at the present weights.
func (f *fitting) begin() {
	n := len(f.class) * f.k
	f.scores, f.p = make([]float64, n), make([]float64, n)
	f.residual, f.curve = make([]float64, n), make([]float64, n)
	copy(f.scores, f.offset)
	f.addScores(f.w, f.scores)
	f.loss = f.measure(f.scores)
	f.summed = false
}

// rescale has the rows stand for others.
func (f *fitting) rescale(scale float64) {
	f.loss *= scale / f.scale
	f.scale = scale
}

// addScores adds what weights say of the rows to scores.
func (f *fitting) addScores(w, scores []float64) {
	k := f.k
	if k == 1 {
		for i := range scores {
			scores[i] += w[0]
		}
		for r, rows := range f.cover {
			if x := w[r+1]; x != 0 {
				for _, i := range rows {
					scores[i] += x
				}
			}
		}
		return
	}
	for i := range scores {
		scores[i] += w[i%k]
	}
	for r, rows := range f.cover {
		own := w[(r+1)*k : (r+2)*k]
		if !slices.ContainsFunc(own, func(x float64) bool { return x != 0 }) {
			continue
		}
		for _, i := range rows {
			to := scores[int(i)*k : int(i)*k+k]
			for c, x := range own {
				to[c] += x
			}
		}
	}
}

// measure fills in the probabilities of scores and returns the loss of the rows.
func (f *fitting) measure(scores []float64) float64 {
	loss := 0.0
	if f.k == 1 {
		for i, s := range scores {
			e := math.Exp(-math.Abs(s))
			f.p[i] = 1 / (1 + e)
			if s < 0 {
				f.p[i] = e / (1 + e)
			}
			if f.class[i] == 1 {
				loss += f.weight[i] * (max(-s, 0) + math.Log1p(e))
			} else {
				loss += f.weight[i] * (max(s, 0) + math.Log1p(e))
			}
		}
		return f.scale * loss
	}
	k := f.k
	for i, w := range f.weight {
		loss += w * softmaxLoss(scores[i*k:i*k+k], f.p[i*k:i*k+k], int(f.class[i]))
	}
	return f.scale * loss
}

// softmaxLoss fills in probabilities and returns minus the logarithm of one.
func softmaxLoss(scores, p []float64, class int) float64 {
	top := slices.Max(scores)
	norm := 0.0
	for c, s := range scores {
		p[c] = math.Exp(s - top)
		norm += p[c]
	}
	for c := range p {
		p[c] /= norm
	}
	return top + math.Log(norm) - scores[class]
}

// derive fills in slopes and curvatures of the rows.
func (f *fitting) derive() {
	k := f.k
	if k == 1 {
		for i, p := range f.p {
			w := f.scale * f.weight[i]
			f.residual[i] = w * (p - float64(f.class[i]))
			f.curve[i] = w * p * (1 - p)
		}
		return
	}
	for i, weight := range f.weight {
		w := f.scale * weight
		for c, p := range f.p[i*k : i*k+k] {
			f.residual[i*k+c] = w * p
			f.curve[i*k+c] = 2 * w * p * (1 - p)
		}
		f.residual[i*k+int(f.class[i])] -= w
	}
}

// sums adds values of the rows up by rule, the bias first.
func (f *fitting) sums(of, into []float64) {
	k := f.k
	clear(into)
	if k == 1 {
		for _, x := range of {
			into[0] += x
		}
		for r, rows := range f.cover {
			sum := 0.0
			for _, i := range rows {
				sum += of[i]
			}
			into[r+1] = sum
		}
		return
	}
	for i, x := range of {
		into[i%k] += x
	}
	for r, rows := range f.cover {
		to := into[(r+1)*k : (r+2)*k]
		for _, i := range rows {
			for c, x := range of[int(i)*k : int(i)*k+k] {
				to[c] += x
			}
		}
	}
}

// rowSums returns the slopes and curvatures of the rows' loss alone, by rule, at
// the present weights.
func (f *fitting) rowSums() (slope, curve []float64) {
	if f.derive(); !f.summed {
		f.ofSlope, f.ofCurve = make([]float64, len(f.w)), make([]float64, len(f.w))
		f.sums(f.residual, f.ofSlope)
		f.sums(f.curve, f.ofCurve)
		f.summed, f.summedAt = true, f.scale
	}
	slope, curve = slices.Clone(f.ofSlope), slices.Clone(f.ofCurve)
	if times := f.scale / f.summedAt; times != 1 {
		for i := range slope {
			slope[i] *= times
			curve[i] *= times
		}
	}
	return slope, curve
}

// rowSlopes returns the slopes alone.
func (f *fitting) rowSlopes() []float64 {
	slope, _ := f.rowSums()
	return slope
}

// penalty is what weights cost beside the loss.
func (f *fitting) penalty(w []float64) float64 {
	sum := 0.0
	for i, x := range w {
		d := x - f.anchor[i]
		sum += f.slope[i]*x + f.ridge/2*d*d
		if i >= f.k {
			sum += f.lambda[i/f.k-1] * math.Abs(d)
		}
	}
	if f.ghost > 0 {
		sum += f.ghosts(w[:f.k], nil, nil)
	}
	return sum
}

// ghosts returns the loss of the rows that fire nothing, and adds its slopes and
// curvatures to the bias's.
func (f *fitting) ghosts(bias, slope, curve []float64) float64 {
	if f.k == 1 {
		b := bias[0]
		p := 1 / (1 + math.Exp(-b))
		if slope != nil {
			slope[0] += f.ghost * (2*p - 1)
			curve[0] += f.ghost * 2 * p * (1 - p)
		}
		return f.ghost * (softplus(b) + softplus(-b))
	}
	p := make([]float64, f.k)
	loss := softmaxLoss(bias, p, 0) + bias[0] // the logarithm of the sum
	total := 0.0
	for c, b := range bias {
		total += f.ghost * (loss - b)
		if slope != nil {
			slope[c] += f.ghost * (float64(f.k)*p[c] - 1)
			curve[c] += f.ghost * float64(f.k) * 2 * p[c] * (1 - p[c])
		}
	}
	return total
}

const (
	leastCurvature = 1e-6
	leastWeight    = 1e-9 // that a rule under a penalty moves; less is nothing
	mostScoreStep  = 30.0 // that a weight moves at most in one of Newton's steps
)

// newton takes one of Newton's steps, and returns by how much what is minimised
// has fallen.
func (f *fitting) newton(ctx context.Context, sweeps int) (float64, error) {
	k := f.k
	slope, curve := f.rowSums()
	if f.ghost > 0 {
		f.ghosts(f.w[:k], slope[:k], curve[:k])
	}
	for i := range slope {
		slope[i] += f.slope[i]
		curve[i] += leastCurvature
	}
	d := make([]float64, len(f.w))
	moved := make([]float64, len(f.scores)) // of the scores, by d
	step := make([]float64, k)
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for r := 0; r <= len(f.cover); r++ {
			if sweep > 0 && r > 0 && f.idle(r, d) {
				continue // what has not moved is looked at once
			}
			f.visit(r, sweep > 0, slope, curve, d, moved, step)
		}
	}
	return f.search(ctx, d, moved)
}

// idle reports whether a rule's weights are at their anchor.
func (f *fitting) idle(r int, d []float64) bool {
	for at := r * f.k; at < (r+1)*f.k; at++ {
		if f.w[at]+d[at] != f.anchor[at] {
			return false
		}
	}
	return f.lambda[r-1] > 0
}

// visit moves the weights of one rule to where the approximation is least.
func (f *fitting) visit(r int, again bool, slope, curve, d, moved, step []float64) {
	k := f.k
	var rows []int32
	if r > 0 {
		rows = f.cover[r-1]
	}
	for c := range k {
		at := r*k + c
		g := slope[at]
		if again || r > 0 { // what others have moved since
			g += f.crossed(rows, r == 0, c, moved)
		}
		w := f.w[at] + d[at]
		from := w - f.anchor[at]
		g += f.ridge * from
		h := curve[at] + f.ridge
		to := w - g/h
		if r > 0 && f.lambda[r-1] > 0 {
			to = f.anchor[at] + softThreshold(h*from-g, f.lambda[r-1])/h
		}
		to = min(max(to, f.w[at]-mostScoreStep), f.w[at]+mostScoreStep)
		step[c] = to - w
		d[at] += step[c]
	}
	if k == 1 {
		if x := step[0]; x != 0 {
			if r == 0 {
				for i := range moved {
					moved[i] += x
				}
			}
			for _, i := range rows {
				moved[i] += x
			}
		}
		return
	}
	if r == 0 {
		for i := range moved {
			moved[i] += step[i%k]
		}
	}
	for _, i := range rows {
		to := moved[int(i)*k : int(i)*k+k]
		for c, x := range step {
			to[c] += x
		}
	}
}

// crossed is what the moves of all weights so far add to the slope of one.
func (f *fitting) crossed(rows []int32, all bool, c int, moved []float64) float64 {
	k, g := f.k, 0.0
	switch {
	case all:
		for at := c; at < len(moved); at += k {
			g += f.curve[at] * moved[at]
		}
	case k == 1:
		for _, i := range rows {
			g += f.curve[i] * moved[i]
		}
	default:
		for _, i := range rows {
			g += f.curve[int(i)*k+c] * moved[int(i)*k+c]
		}
	}
	return g
}

// search goes as far along a direction as what is minimised falls.
func (f *fitting) search(ctx context.Context, d, moved []float64) (float64, error) {
	was := f.loss + f.penalty(f.w)
	w, scores := make([]float64, len(f.w)), make([]float64, len(f.scores))
	for share, tries := 1.0, 0; tries < mostHalvings; share, tries = share/2, tries+1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for i := range w {
			if w[i] = f.w[i] + share*d[i]; i >= f.k && f.lambda[i/f.k-1] > 0 && math.Abs(w[i]-f.anchor[i]) < leastWeight {
				w[i] = f.anchor[i]
			}
		}
		for i := range scores {
			scores[i] = f.scores[i] + share*moved[i]
		}
		loss := f.measure(scores)
		if now := loss + f.penalty(w); now <= was {
			f.w, f.scores, f.loss, f.summed = w, scores, loss, false
			return was - now, nil
		}
	}
	f.loss = f.measure(f.scores)
	return 0, nil
}

// fit takes Newton's steps until they bring little.
func (f *fitting) fit(ctx context.Context, steps, sweeps int, enough float64) error {
	for range steps {
		fell, err := f.newton(ctx, sweeps)
		if err != nil {
			return err
		}
		if fell < enough {
			break
		}
	}
	return nil
}
