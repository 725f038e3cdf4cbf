package neural

import (
	"context"
	"math"
	"slices"
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
		result.net.drop(mask, result.net.saliences(s, rows.trained), o.Prune*float64(round)/pruneRounds)
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

// saliences says of each weight how much the error would grow without it, as
// Network.Saliences does, for the outputs as they are before a softmax: of the
// cross entropy their second derivatives are p(1−p).
func (d *dense) saliences(s *sample, weights []float64) [][]float64 {
	curvature := make([][]float64, len(d.layers))
	for i, l := range d.layers {
		curvature[i] = make([]float64, len(l.w))
	}
	signals := d.newSignals(1)
	p := make([]float32, d.last().out)
	seen := 0
	for row, weight := range weights {
		if !(weight > 0) || seen == mostJudged {
			continue
		}
		seen++
		copy(signals.values[0], s.x[row*s.stride:(row+1)*s.stride])
		d.forward(signals, 0, 1)
		outward := slices.Repeat([]float64{weight}, d.last().out)
		if s.class != nil {
			softmax32(signals.row(d, 0), p)
			for c, q := range p {
				outward[c] *= float64(q * (1 - q))
			}
		}
		for i := len(d.layers) - 1; i >= 0; i-- {
			l := &d.layers[i]
			inward := make([]float64, l.in)
			for from := range l.in {
				x := float64(signals.values[i][from])
				for to, h := range outward {
					k := from*l.stride + to
					w := float64(l.w[k])
					curvature[i][k] += h * x * x
					inward[from] += h * w * w
				}
				if i > 0 {
					slope := d.activation.Slope(x)
					inward[from] *= slope * slope
				}
			}
			outward = inward
		}
	}
	for i, l := range d.layers {
		for k, w := range l.w {
			curvature[i][k] *= float64(w) * float64(w) / 2
		}
	}
	return curvature
}
