package neural

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

// Pruning goes in so many rounds, each of which drops as many weights; more
// rows than mostJudged hardly change what weights matter.
const (
	pruneRounds = 4
	mostJudged  = 2000
)

// trainAndPrune trains a network, drops the weights that matter least, and
// trains what is left again, in rounds until the share that is asked for is
// gone. Weights that are 0 from the start, as those of a network that was
// pruned before, stay 0 and count as dropped.
func trainAndPrune(ctx context.Context, net *dense, s *sample, rows division, o *settings, seed uint64,
	method func(context.Context, *dense, *sample, division, *settings, uint64, [][]float32) (outcome, error)) (outcome, error) {
	mask := net.mask()
	progress := newProgress(ctx, pruneRounds+1)
	result, err := method(progress.of(0), net, s, rows, o, seed, mask)
	for round := 1; round <= pruneRounds && err == nil; round++ {
		matter := result.net.sizes
		if o.PruneBy != "size" {
			matter = func() [][]float64 { return result.net.saliences(s, rows.trained) }
		}
		result.net.drop(mask, matter(), o.Prune*float64(round)/pruneRounds)
		result, err = method(progress.of(round), result.net, s, rows, o, seed+uint64(round), mask)
	}
	return result, err
}

// mask returns 1 for each weight that is not 0, as the weights of each layer
// stand.
func (d *dense) mask() [][]float32 {
	var all [][]float32
	for _, l := range d.layers {
		mask := make([]float32, len(l.w))
		for i, w := range l.w {
			if w != 0 {
				mask[i] = 1
			}
		}
		all = append(all, mask)
	}
	return all
}

// drop sets the least salient weights to 0, until this share of all is.
func (d *dense) drop(mask [][]float32, saliences [][]float64, share float64) {
	var left []float64 // saliences of what is left
	total := 0
	for i, l := range d.layers {
		total += l.in * l.out
		for k, kept := range mask[i] {
			if kept > 0 {
				left = append(left, saliences[i][k])
			}
		}
	}
	more := int(math.Round(share*float64(total))) - (total - len(left))
	if more <= 0 {
		return
	}
	slices.Sort(left)
	limit := left[min(more, len(left))-1]
	for i := range d.layers {
		for k, kept := range mask[i] {
			if kept > 0 && more > 0 && saliences[i][k] <= limit {
				mask[i][k], d.layers[i].w[k] = 0, 0
				more--
			}
		}
	}
}

// sizes is how large each weight is, as the weights of each layer stand.
func (d *dense) sizes() [][]float64 {
	all := make([][]float64, len(d.layers))
	for i, l := range d.layers {
		all[i] = make([]float64, len(l.w))
		for k, w := range l.w {
			all[i][k] = math.Abs(float64(w))
		}
	}
	return all
}

// saliences says of each weight how much the error would grow without it, as
// the weights of each layer stand.
func (d *dense) saliences(s *sample, weights []float64) [][]float64 {
	function, loss := units.Linear, units.SquaredError
	if s.class != nil {
		function, loss = units.Softmax, units.CrossEntropy
	}
	net := d.network(function)
	var examples []units.Example
	var counted []float64
	for row, weight := range weights {
		if !(weight > 0) || len(examples) == mostJudged {
			continue
		}
		e := units.Example{Input: make([]float64, d.inputs), Target: make([]float64, d.last().out)} // what the targets are does not matter
		for i := range e.Input {
			e.Input[i] = float64(s.x[row*s.stride+i])
		}
		examples, counted = append(examples, e), append(counted, weight)
	}
	all := net.WeightedSaliences(examples, counted, loss)
	saliences := make([][]float64, len(d.layers))
	for i, l := range d.layers {
		saliences[i] = make([]float64, len(l.w))
		for j := range l.out {
			for from, salience := range all[1 : l.in+1] {
				saliences[i][from*l.stride+j] = salience
			}
			all = all[l.in+1:]
		}
	}
	return saliences
}
