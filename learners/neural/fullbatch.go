package neural

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

// rowsAtATime is how many rows are gone through at a time by methods that sum
// the gradient over all rows: it bounds the memory for the units' values.
const rowsAtATime = 512

// errEnough ends a minimisation that has gone far enough.
var errEnough = errors.New("enough")

// trainOnAllAtOnce descends the error over all rows, with a penalty of half the
// decay times the squared weights, by L-BFGS or by conjugate gradients. An
// epoch is an iteration of the method, which may look at the rows a few times.
func trainOnAllAtOnce(ctx context.Context, net *dense, s *sample, rows division, o *settings, _ uint64, mask [][]float32) (outcome, error) {
	var all []shown
	total := 0.0
	for r, w := range rows.trained {
		if w > 0 {
			all = append(all, shown{int32(r), float32(w)})
			total += w
		}
	}
	d := newDescent(net, s, o, min(rowsAtATime, len(all)))
	d.adam, d.still, d.share = false, true, float32(1/total)
	epochs, patience := o.endurance((len(all) + o.Batch - 1) / o.Batch)
	training := newJudge(net, s, rows.trained, o.Loss == "squared", d.cores)
	f := func(w, gradient []float64) float64 {
		net.take(w)
		if gradient != nil {
			d.gradient(all, o.Decay, mask, gradient)
		}
		loss := training.loss(net)
		if s.class == nil {
			loss /= 2 // what blame descends is half the squared error
		}
		return loss + o.Decay*net.squares()/2
	}
	r := newEarlyStopping(net, s, rows, o, patience, d.cores)
	epoch := 0
	after := func(w []float64) error {
		epoch++
		net.take(w)
		learn.Report(ctx, float64(epoch)/float64(epochs))
		if r.enough(net, epoch, false) {
			return errEnough
		}
		return nil
	}
	var method optimize.Method = &optimize.LBFGS{}
	if o.Optimiser == "cg" {
		method = &optimize.CG{}
	}
	w, _, err := units.MinimiseFunc(ctx, f, net.weights(), method, epochs, after)
	if err != nil {
		return outcome{}, err
	}
	if !r.stopping {
		net.take(w)
		r.enough(net, epoch, true)
	}
	return r.best, nil
}

// gradient writes the derivatives of the error over all rows, and of the
// penalty.
func (d *descent) gradient(all []shown, decay float64, mask [][]float32, out []float64) {
	for _, sums := range d.first {
		clear(sums)
	}
	d.transpose()
	for batch := range slices.Chunk(all, rowsAtATime) {
		d.learn(batch)
	}
	at := 0
	for i := range d.net.layers {
		l := &d.net.layers[i]
		for r := range l.in {
			for c := range l.out {
				k := r*l.stride + c
				out[at] = decay*float64(l.w[k]) - float64(d.first[2*i][k])
				if mask != nil {
					out[at] *= float64(mask[i][k])
				}
				at++
			}
		}
		for c := range l.out {
			out[at] = -float64(d.first[2*i+1][c])
			at++
		}
	}
}
