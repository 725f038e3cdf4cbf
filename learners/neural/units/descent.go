package units

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Schedule is the learning rate of the i-th epoch, from 1.
type Schedule func(i int) float64

// Constant is the same rate throughout.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// Falling is rate/i, which lets stochastic steps settle.
func Falling(rate float64) Schedule { return func(i int) float64 { return rate / float64(i) } }

// Descent is back-propagation with gradient descent (Rumelhart, Hinton &
// Williams 1986; Mitchell 1997, table 4.2). Of a linear unit it is the delta
// rule (Widrow & Hoff 1960); of a sigmoid unit with cross entropy, logistic
// regression. Steps go down the sum over a batch's examples, not their mean.
type Descent struct {
	Rate     Schedule // nil means a constant 0.05
	Loss     Loss
	Momentum float64 // part of the last step that is added to the next
	Decay    float64 // γ of a penalty γΣw², which shrinks weights by 1−2γη
	Batch    int     // examples a step; 0 means all, 1 is stochastic descent
	// Average divides the step of a weight by the number of connections
	// that share it: the same as changing each copy by itself and taking
	// their mean. Else they add up.
	Average bool
	Fixed   []bool     // weights that stay as they are; nil for none
	Shuffle *rand.Rand // the order of examples in each epoch; nil: as they come

	epoch    int
	steps    []float64 // the last ones
	gradient []float64
	pass     *Pass
}

// Epoch goes through the examples once, and returns the sum of their errors
// as they were met.
func (d *Descent) Epoch(n *Network, examples []Example) float64 {
	if d.pass == nil || d.pass.net != n {
		d.pass = n.NewPass()
		d.steps, d.gradient = make([]float64, len(n.Weights)), make([]float64, len(n.Weights))
	}
	d.epoch++
	rate := 0.05
	if d.Rate != nil {
		rate = d.Rate(d.epoch)
	}
	if d.Shuffle != nil {
		examples = slices.Clone(examples)
		d.Shuffle.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
	}
	var copies []float64
	if d.Average {
		copies = n.copies()
	}
	size := d.Batch
	if size <= 0 {
		size = max(len(examples), 1)
	}
	sum := 0.0
	for batch := range slices.Chunk(examples, size) {
		clear(d.gradient)
		for _, e := range batch {
			sum += d.pass.Gradient(e, d.Loss, d.gradient)
		}
		for i, g := range d.gradient {
			if d.Fixed != nil && d.Fixed[i] {
				continue
			}
			if d.Average && copies[i] > 0 {
				g /= copies[i]
			}
			d.steps[i] = -rate*(g+2*d.Decay*n.Weights[i]) + d.Momentum*d.steps[i]
			n.Weights[i] += d.steps[i]
		}
	}
	return sum
}

// Stop says when training ends.
type Stop struct {
	Epochs int // at most
	// Every is how many epochs pass between looks at the validation
	// examples; 0 means 1.
	Every int
	// Patience is how many looks without an improvement end training; 0
	// means never. The first rise of the validation error is often not the
	// last word (Mitchell 1997, figure 4.9).
	Patience int
	// Score is what validation is by, less being better; nil means Error.
	Score func(n *Network, validation []Example) float64
}

// Fit trains for some epochs and leaves the network with the weights that had
// the lowest validation error. It returns the epoch of those weights, 0 being
// the start, and their validation error. Without validation examples it stops
// at the last epoch.
func (d *Descent) Fit(ctx context.Context, n *Network, training, validation []Example, s Stop) (epoch int, lowest float64, err error) {
	score := s.Score
	if score == nil {
		score = func(n *Network, v []Example) float64 { return n.Error(v, d.Loss) }
	}
	best := slices.Clone(n.Weights)
	lowest = math.Inf(1)
	if len(validation) > 0 {
		lowest = score(n, validation)
	}
	worse := 0
	for i := 1; i <= s.Epochs; i++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		d.Epoch(n, training)
		if len(validation) == 0 || i%max(s.Every, 1) != 0 {
			continue
		}
		if e := score(n, validation); e < lowest {
			lowest, epoch, worse = e, i, 0
			copy(best, n.Weights)
		} else if worse++; worse == s.Patience {
			break
		}
	}
	if len(validation) == 0 {
		return s.Epochs, n.Error(training, d.Loss), nil
	}
	copy(n.Weights, best)
	return epoch, lowest, nil
}

// ChooseEpochs finds for how many epochs to train on all examples: the mean
// over k folds of the epoch with the lowest error on the fold that was left
// out (Mitchell 1997, section 4.6.5). Each fold starts with a network and a
// descent of its own.
func ChooseEpochs(ctx context.Context, examples []Example, k int, s Stop, start func(fold int) (*Network, *Descent)) (int, error) {
	if k < 2 || k > len(examples) {
		return 0, fmt.Errorf("%d folds of %d examples; expected 2 to as many as there are examples", k, len(examples))
	}
	sum := 0
	for fold := range k {
		var training, validation []Example
		for i, e := range examples {
			if i%k == fold {
				validation = append(validation, e)
			} else {
				training = append(training, e)
			}
		}
		n, d := start(fold)
		epoch, _, err := d.Fit(ctx, n, training, validation, s)
		if err != nil {
			return 0, err
		}
		sum += epoch
	}
	return int(math.Round(float64(sum) / float64(k))), nil
}

// Restart trains networks from several starts and returns the one with the
// lowest validation error: a way out of poor local minima.
func Restart(ctx context.Context, training, validation []Example, times int, s Stop, start func(i int) (*Network, *Descent)) (*Network, error) {
	var best *Network
	lowest := math.Inf(1)
	for i := range times {
		n, d := start(i)
		_, e, err := d.Fit(ctx, n, training, validation, s)
		if err != nil {
			return nil, err
		}
		if best == nil || e < lowest {
			best, lowest = n, e
		}
	}
	return best, nil
}

// Committee is networks that answer with the mean of their outputs.
type Committee []*Network

// Answer returns the mean of the members' outputs.
func (c Committee) Answer(input []float64) []float64 {
	var mean []float64
	for _, n := range c {
		for k, o := range n.Answer(input) {
			if len(mean) <= k {
				mean = append(mean, 0)
			}
			mean[k] += o / float64(len(c))
		}
	}
	return mean
}
