package neural

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

// mostMet is how many rows evolved networks are judged by.
const mostMet = 2000

// evolve lets the weights of a network, and which hidden units and links it has,
// evolve (Mitchell 1997, exercise 9.4 and section 9.8). No slopes are needed,
// unless networks learn in their lives. Told to be done, it keeps the best so far.
func (l *lesson) evolve(ctx context.Context) error {
	task := l.netTask()
	species := task.Species()
	evolving, release := enough.Heed(ctx, 0)
	defer release()
	seed := l.random.Uint64()
	var found *genetic.Result[genetic.Net]
	var err error
	switch tries := l.Population * l.Epochs; l.Evolution {
	case "strategy":
		found, err = l.strategy(evolving, task, seed)
	case "program":
		found, err = genetic.Program(evolving, &species, l.Population, l.Epochs, 0, seed)
	case "climb":
		found, err = genetic.Climb(evolving, &species, tries, tries/5+1, 0, seed)
	case "anneal":
		found, err = genetic.Anneal(evolving, &species, tries, 0.05, 1e-3, 0, seed)
	default:
		found, err = l.genetic(ctx, task, species).Evolve(evolving, seed)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case found == nil:
		return fmt.Errorf("evolution was told to be done before it had judged a network: %w", err)
	case err != nil && evolving.Err() == nil:
		return err
	case err != nil:
		found.Stopped = "it was told to be done"
	}
	l.net = l.layered(found.Best)
	l.loss = task.Error(found.Best) * float64(len(l.inputs))
	l.note(Epoch{Epoch: found.Generations, Wrong: l.wrong(), Rows: len(l.inputs), Error: l.loss})
	l.stopped = fmt.Sprintf("%s; of up to %d hidden units %d are left, with %d links", found.Stopped, l.Hidden, len(found.Best.Units), found.Best.Links())
	return nil
}

// netTask is the rows as a task for networks: cross entropy for classes, squared
// error for a number. Where there are many, some rows judge.
func (l *lesson) netTask() *genetic.NetTask {
	every := max(1, len(l.inputs)/mostMet)
	var inputs, targets [][]float64
	for row, e := range l.examples(0) {
		if row%every == 0 && !math.IsNaN(e.Target[0]) {
			inputs, targets = append(inputs, e.Input), append(targets, e.Target)
		}
	}
	return &genetic.NetTask{
		Inputs: inputs, Outputs: l.outputUnits(), Most: l.Hidden, Cost: 1 / float64(20*len(inputs)),
		Loss: func(row int, sums []float64) float64 {
			loss := 0.0
			for k, sum := range sums {
				if l.class == nil {
					loss += (sum - targets[row][k]) * (sum - targets[row][k]) / 2
					continue
				}
				// −t·log σ(s) − (1−t)·log(1−σ(s))
				loss += max(sum, 0) - sum*targets[row][k] + math.Log1p(math.Exp(-math.Abs(sum)))
			}
			return loss
		},
	}
}

// genetic is the algorithm of table 9.1 over networks; those that learn do so by a
// few steps down the error.
func (l *lesson) genetic(ctx context.Context, task *genetic.NetTask, species genetic.Species[genetic.Net]) *genetic.GA[genetic.Net] {
	best := math.Inf(1)
	ga := &genetic.GA[genetic.Net]{
		Species: species, Size: l.Population, Replaced: 0.4, Mutation: 0.7, Elite: min(3, l.Population), Generations: l.Epochs,
		Selection: genetic.Selection{Method: genetic.Tournament}, Lamarckian: l.Learning == "lamarck",
		Watch: func(generation int, p *genetic.Population[genetic.Net]) {
			fittest := p.Grown(p.Fittest())
			if loss := task.Error(fittest); loss < best {
				best = loss
				l.net = l.layered(fittest)
				l.note(Epoch{Epoch: generation, Wrong: l.wrong(), Rows: len(l.inputs), Error: loss * float64(len(l.inputs))})
			}
			learn.Report(ctx, float64(generation)/float64(l.Epochs))
		},
	}
	if l.Learning == "lamarck" || l.Learning == "baldwin" {
		ga.Learn = l.life()
	}
	return ga
}

// taught is how many rows a network learns from in its life.
const taught = 100

// life is a little back-propagation, on rows drawn by lot.
func (l *lesson) life() func(r *rand.Rand, n genetic.Net) genetic.Net {
	all := l.examples(0)
	return func(r *rand.Rand, n genetic.Net) genetic.Net {
		net := l.layered(n)
		before := append([]float64(nil), net.Weights...)
		some := make([]units.Example, taught)
		for i := range some {
			some[i] = all[r.IntN(len(all))]
		}
		d := &units.Descent{Rate: units.Constant(l.Rate), Loss: l.netLoss(), Batch: 1}
		d.Epoch(net, some)
		for i, w := range before {
			if w == 0 || math.IsNaN(net.Weights[i]) { // a link that is not there stays away
				net.Weights[i] = w
			}
		}
		return l.genomeOf(net, n.Step)
	}
}

func (l *lesson) netLoss() units.Loss {
	if l.class == nil {
		return units.SquaredError
	}
	return units.CrossEntropy
}

// strategy moves the weights of all hidden units by a (μ, λ) evolution strategy,
// whose steps adapt themselves.
func (l *lesson) strategy(ctx context.Context, task *genetic.NetTask, seed uint64) (*genetic.Result[genetic.Net], error) {
	inputs := len(task.Inputs[0])
	species := task.Species()
	best, generations, err := genetic.Strategy{
		Parents: max(2, l.Population/7), Offspring: l.Population, Step: 0.5, Generations: l.Epochs,
		Start: func(r *rand.Rand) []float64 {
			n := species.Random(r)
			for len(n.Units) < l.Hidden {
				n.Units = append(n.Units, species.Random(r).Units...)
			}
			n.Units = n.Units[:l.Hidden]
			return n.Reals()
		},
		Error: func(x []float64) float64 { return task.Error(genetic.FromReals(x, inputs, task.Outputs)) },
	}.Minimise(ctx, seed)
	if best.X == nil {
		return nil, err
	}
	return &genetic.Result[genetic.Net]{
		Best: genetic.FromReals(best.X, inputs, task.Outputs), Generations: generations, Stopped: fmt.Sprintf("%d generations are over", generations),
	}, err
}

// layered is a genome as a network of units.
func (l *lesson) layered(n genetic.Net) *units.Network {
	output := units.Sigmoid
	if l.class == nil {
		output = units.Linear
	}
	width := len(l.inputs[0])
	net := units.Layered(units.Sigmoid, output, width, len(n.Units), len(n.Bias))
	at := 0
	put := func(w ...float64) { at += copy(net.Weights[at:], w) }
	for _, u := range n.Units {
		put(u[width])
		put(u[:width]...)
	}
	for k, bias := range n.Bias {
		put(bias)
		for _, u := range n.Units {
			put(u[width+1+k])
		}
	}
	return net
}

// genomeOf is a network of units as a genome.
func (l *lesson) genomeOf(net *units.Network, step float64) genetic.Net {
	width, outputs := len(l.inputs[0]), len(net.Outputs)
	n := genetic.Net{Step: step, Bias: make([]float64, outputs)}
	hidden := len(net.Units) - outputs
	second := net.Weights[hidden*(width+1):]
	for h := range hidden {
		first := net.Weights[h*(width+1):]
		u := append(append(make([]float64, 0, width+1+outputs), first[1:width+1]...), first[0])
		for k := range outputs {
			u = append(u, second[k*(hidden+1)+1+h])
		}
		n.Units = append(n.Units, u)
	}
	for k := range n.Bias {
		n.Bias[k] = second[k*(hidden+1)]
	}
	return n
}
