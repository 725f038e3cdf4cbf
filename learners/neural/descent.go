package neural

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/crew"
)

// shown is a row with the weight that it has at one showing.
type shown struct {
	row    int32
	weight float32
}

// mostShown is how often equal rows are shown in an epoch at most, unless
// there are more distinct ones: then they are shown in heavier portions.
const mostShown = 1 << 14

// show returns the rows with positive weight, a row of weight n n times: so
// many equal rows are worth as many showings as they would be one by one.
func show(weights []float64) []shown {
	total, distinct := 0.0, 0
	for _, w := range weights {
		if w > 0 {
			total += w
			distinct++
		}
	}
	unit := max(1, total/float64(max(mostShown, 2*distinct)))
	var list []shown
	for r, w := range weights {
		for ; w > 0; w -= unit {
			list = append(list, shown{int32(r), float32(min(w, unit) / unit)})
		}
	}
	return list
}

// descent trains a dense network on a sample by mini-batches: forward and
// backward on the rows of a batch, then each weight's step. The first half is
// spread over cores by rows, the second by weights, so that no sum depends on
// how many cores there are.
type descent struct {
	net    *dense
	sample *sample
	rate   float32
	moment float32 // of gradient descent with momentum
	decay  float32 // shrinks weights by this part of the rate
	adam   bool
	// squared is for the squared error of class probabilities instead of
	// their cross entropy.
	squared bool
	// still leaves the weights where they are: first then adds up less the
	// gradients of batches, each row's weighing share.
	still bool
	share float32
	mask  [][]float32 // 0 for a layer's weights that were dropped, else 1; nil if none

	batch  []shown
	state  *signals
	deltas [][]float32 // of each layer's outputs, as state's values
	back   [][]float32 // the transpose of each layer's weights but the first's
	first  [][]float32 // Adam's mean gradient, or the last step
	second [][]float32 // Adam's mean squared gradient
	steps  int
	step   stepper
	cores  int

	slopes []*slopePass // along each way, where slopes count
	bend   [][]float32  // of each layer's outputs: what slopes add to deltas
	noBias []float32
}

const (
	rowGrain = 32      // rows of a batch that a core takes at a time
	worth    = 1 << 17 // products in a batch that are worth several cores
)

func newDescent(net *dense, s *sample, o *settings, batch int) *descent {
	d := &descent{net: net, sample: s, rate: float32(o.Rate), moment: float32(o.Momentum), decay: float32(o.Decay), adam: o.Optimiser == "adam", squared: o.Loss == "squared", state: net.newSignals(batch), cores: 1}
	work := 0
	for i, l := range net.layers {
		d.deltas = append(d.deltas, make([]float32, d.state.rows*l.stride))
		for range 2 {
			d.first = append(d.first, nil)
			d.second = append(d.second, nil)
		}
		d.first[2*i], d.first[2*i+1] = make([]float32, len(l.w)), make([]float32, len(l.b))
		if d.adam {
			d.second[2*i], d.second[2*i+1] = make([]float32, len(l.w)), make([]float32, len(l.b))
		}
		d.back = append(d.back, nil)
		if i > 0 {
			d.back[i] = make([]float32, l.out*strideOf(l.in))
		}
		work += batch * l.in * l.stride
	}
	d.newSlopePasses(batch)
	if len(d.slopes) > 0 {
		widest := 0
		for i := range net.layers {
			d.bend = append(d.bend, make([]float32, len(d.deltas[i])))
			widest = max(widest, net.layers[i].stride)
		}
		d.noBias = make([]float32, widest)
	}
	d.transpose()
	if work >= worth {
		d.cores = runtime.GOMAXPROCS(0)
	}
	return d
}

// transpose copies the weights for the way back.
func (d *descent) transpose() {
	for i := 1; i < len(d.net.layers); i++ {
		l := &d.net.layers[i]
		ld := strideOf(l.in)
		for r := range l.in {
			for c := range l.out {
				d.back[i][c*ld+r] = l.w[r*l.stride+c]
			}
		}
	}
}

// spread calls work for ranges that cover 0 ≤ i < n, on the given number of
// cores.
func spread(cores, n, grain int, work func(lo, hi int)) {
	tasks := (n + grain - 1) / grain
	if cores = min(cores, tasks); cores <= 1 {
		if n > 0 {
			work(0, n)
		}
		return
	}
	var next atomic.Int64
	run := func() {
		for {
			lo := int(next.Add(1)-1) * grain
			if lo >= n {
				return
			}
			work(lo, min(lo+grain, n))
		}
	}
	var group crew.Group
	for range cores - 1 {
		group.Go(run)
	}
	run()
	group.Wait()
}

// learn takes one step down the batch's mean error.
func (d *descent) learn(batch []shown) {
	d.batch = batch
	d.steps++
	d.step = d.stepper()
	if d.cores > 1 {
		spread(d.cores, len(batch), rowGrain, d.propagate)
	} else {
		d.propagate(0, len(batch))
	}
	for i := range d.net.layers {
		tiles := (d.net.layers[i].in + side - 1) / side
		if d.cores > 1 {
			spread(d.cores, tiles, max(1, tiles/(4*d.cores)), func(lo, hi int) { d.descend(i, lo, hi) })
		} else {
			d.descend(i, 0, tiles)
		}
		d.descendBias(i)
	}
}

// propagate runs rows of the batch forward, and their errors back.
func (d *descent) propagate(lo, hi int) {
	s, net := d.state, d.net
	for r := lo; r < hi; r++ {
		x := s.values[0][r*s.stride : (r+1)*s.stride]
		copy(x, d.sample.x[int(d.batch[r].row)*d.sample.stride:])
		if t := d.sample.tangents; t != nil && t.augment > 0 {
			t.moved(x, d.steps, d.batch[r].row, make([]float32, len(x)))
		}
	}
	net.forward(s, lo, hi)
	top := len(net.layers) - 1
	share := 1 / float32(len(d.batch))
	if d.still {
		share = d.share
	}
	for r := lo; r < hi; r++ {
		d.blame(s.row(net, r), d.deltas[top][r*net.last().stride:], d.batch[r], share)
	}
	if len(d.slopes) > 0 {
		for i := range d.bend {
			clear(d.bend[i][lo*net.layers[i].stride : hi*net.layers[i].stride])
		}
		for _, p := range d.slopes {
			d.propagateSlopes(p, lo, hi, share)
		}
	}
	for i := top; i > 0; i-- {
		below := &net.layers[i-1]
		d.pullBack(i, d.deltas[i], d.deltas[i-1], lo, hi)
		net.slopes(below, s.values[i][lo*below.stride:], d.deltas[i-1][lo*below.stride:], hi-lo)
		if len(d.slopes) > 0 {
			bend := d.bend[i-1][lo*below.stride : hi*below.stride]
			for k, x := range d.deltas[i-1][lo*below.stride : hi*below.stride] {
				d.deltas[i-1][lo*below.stride+k] = x + bend[k]
			}
		}
	}
}

// pullBack takes blame of a layer's outputs to its inputs, for rows from lo to hi.
func (d *descent) pullBack(i int, from, to []float32, lo, hi int) {
	l, below := &d.net.layers[i], &d.net.layers[i-1]
	ld := strideOf(l.in)
	var c tile
	for r := lo; r < hi; r += side {
		for j := 0; j < l.in; j += side {
			multiply(l.out, from[r*l.stride:], l.stride, 1, d.back[i][j:], ld, &c)
			for k := range side {
				*(*[side]float32)(to[(r+k)*below.stride+j:]) = *(*[side]float32)(c[k*side:])
			}
		}
	}
}

// blame writes the derivative of a row's error by the outputs' sums: output
// less target, for cross entropy behind a softmax and for half the squared
// error of a number alike.
func (d *descent) blame(out, delta []float32, s shown, share float32) {
	weight := s.weight * share
	n := d.sample.outputs
	d.sample.blame(out[:n], delta[:n], s.row, weight, d.squared)
	for i := range d.sample.others {
		a := &d.sample.others[i]
		out, delta = out[n:], delta[n:]
		n = a.outputs
		a.blame(out[:n], delta[:n], s.row, weight, d.squared)
	}
}

// blame is that of one target; of a cell that is missing there is none.
func (a *aim) blame(out, delta []float32, row int32, weight float32, squared bool) {
	switch {
	case a.missing(row):
		clear(delta)
		return
	case a.class == nil:
		delta[0] = (out[0] - a.number[row]) * weight
		return
	}
	softmax32(out, delta)
	if squared {
		squaredBlame(delta, a.class[row])
	} else {
		delta[a.class[row]]--
	}
	for i := range delta {
		delta[i] *= weight
	}
}

// squaredBlame turns probabilities p, 1 being that of the class, into the
// derivatives of ½Σ(t−p)² by the softmax's sums: with e = p − t, p·(e − Σpe).
func squaredBlame(p []float32, class int32) {
	mean := -p[class] // Σpe = Σp² − p of the class
	for _, v := range p {
		mean += float32(v * v)
	}
	for i, v := range p {
		e := v
		if i == int(class) {
			e--
		}
		p[i] = v * (e - mean)
	}
}

// softmax32 writes e^x/Σe^x.
func softmax32(x, p []float32) {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	var sum float32
	for i, v := range x {
		p[i] = exp32(v - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}

// descend moves the weights of the inputs of a layer's tiles from lo to hi.
func (d *descent) descend(i, lo, hi int) {
	l := &d.net.layers[i]
	x, ld := d.state.values[i], d.state.stride
	if i > 0 {
		ld = d.net.layers[i-1].stride
	}
	step := d.step
	var c tile
	for t := lo; t < hi; t++ {
		from := t * side
		rows := min(side, l.in-from)
		for j := 0; j < l.out; j += side {
			multiply(len(d.batch), x[from:], 1, ld, d.deltas[i][j:], l.stride, &c)
			if d.slopes != nil {
				d.addSlopes(i, from, j, ld, &c)
			}
			for r := range rows {
				at := (from+r)*l.stride + j
				step.move(l.w, (*[side]float32)(c[r*side:]), d.first[2*i], d.second[2*i], at)
				if d.mask != nil {
					row, mask := (*[side]float32)(l.w[at:]), (*[side]float32)(d.mask[i][at:])
					for k := range row {
						row[k] *= mask[k]
					}
				}
			}
			if i > 0 {
				back := strideOf(l.in)
				for k := range min(side, l.out-j) {
					for r := range rows {
						d.back[i][(j+k)*back+from+r] = l.w[(from+r)*l.stride+j+k]
					}
				}
			}
		}
	}
}

// descendBias moves the biases of a layer, which do not decay.
func (d *descent) descendBias(i int) {
	l := &d.net.layers[i]
	step := d.step
	step.decay = 0
	for j := 0; j < l.out; j += side {
		var sum [side]float32
		for r := range d.batch {
			delta := (*[side]float32)(d.deltas[i][r*l.stride+j:])
			for k := range sum {
				sum[k] += delta[k]
			}
		}
		step.move(l.b, &sum, d.first[2*i+1], d.second[2*i+1], j)
	}
}

// stepper turns gradients into steps: by momentum, or by Adam (Kingma & Ba
// 2015), whose steps are of a size that does not depend on the gradient's.
// Weights decay apart from the gradient (Loshchilov & Hutter 2019).
type stepper struct {
	adam, still  bool
	rate, moment float32
	adamSizes
}

// adamSizes are Adam's numbers at one step, in the order in which
// moveVector reads them.
type adamSizes struct {
	size, small      float32 // the rate, and what keeps from dividing by 0, with corrections for the start
	decay            float32
	follow1, follow2 float32 // how fast the mean gradient and its square follow
}

func (d *descent) stepper() stepper {
	const beta1, beta2, tiny = 0.9, 0.999, 1e-8
	if d.still {
		return stepper{still: true}
	}
	s := stepper{adam: d.adam, rate: d.rate, moment: d.moment}
	correction := math.Sqrt(1 - math.Pow(beta2, float64(d.steps)))
	s.size = d.rate * float32(correction/(1-math.Pow(beta1, float64(d.steps))))
	s.small = float32(tiny * correction)
	s.decay = d.rate * d.decay
	s.follow1, s.follow2 = 1-beta1, 1-beta2
	return s
}

// move takes a step for the weights of a tile's row, which stand at the same
// place in w, first and second.
func (s *stepper) move(w []float32, gradient *[side]float32, first, second []float32, at int) {
	row, m := (*[side]float32)(w[at:]), (*[side]float32)(first[at:])
	switch {
	case s.still:
		for i, g := range gradient {
			m[i] -= g
		}
		return
	case !s.adam:
		for i, g := range gradient {
			m[i] = float32(s.moment*m[i]) - float32(s.rate*g)
			row[i] += m[i] - float32(s.decay*row[i])
		}
		return
	}
	v := (*[side]float32)(second[at:])
	if vectors {
		moveVector(row, gradient, m, v, &s.adamSizes)
		return
	}
	s.adamSizes.move(row, gradient, m, v)
}

// move is Adam's step in plain Go.
func (s *adamSizes) move(w, gradient, first, second *[side]float32) {
	for i, g := range gradient {
		m := first[i] + float32(s.follow1*(g-first[i]))
		v := second[i] + float32(s.follow2*(float32(g*g)-second[i]))
		first[i], second[i] = m, v
		w[i] -= float32(s.size*m)/(float32(math.Sqrt(float64(v)))+s.small) + float32(s.decay*w[i])
	}
}

// addSlopes adds what slopes say of a tile of a layer's weights.
func (d *descent) addSlopes(i, from, j, ld int, c *tile) {
	l := &d.net.layers[i]
	var more tile
	for _, p := range d.slopes {
		multiply(len(d.batch), p.values[i][from:], 1, ld, p.deltas[i][j:], l.stride, &more)
		for k, x := range more {
			c[k] += x
		}
	}
}
