package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// faces is the face network of Mitchell 1997, section 4.7: which way a head is
// turned, from 32 by 30 pixels, by 960×3×4 sigmoid units.
//
// As there, 260 pictures are learnt from, targets are .9 and .1, the weights
// from the pixels start at 0, and the weights that were best on validation
// pictures are kept. Unlike there, the mean of the pixels is taken off them,
// and steps are by 20 pictures with a rate of .02 and a momentum of .9: the
// full gradient at a rate of .3 leaves units saturated. The recipe was chosen
// on the splits of other seeds than those of the experiment, where it gave
// 92.2 with a deviation of 2.1 over splits, and test pictures have no part in
// any choice.
func faces() []Experiment {
	face := func(name, column string, hidden, seeds int, measure string, figure Figure) Experiment {
		return Experiment{
			Name: name, Tags: chapter(4), Source: mitchell("section 4.7"),
			Measure: measure + ", accuracy in percent on pictures that were held out, mean over random splits", Figure: figure.percent().higher(), Seeds: seeds,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				pictures, err := readFaces(ctx, column)
				if err != nil {
					return 0, err
				}
				return facesAccuracy(ctx, pictures, hidden, seed)
			}),
		}
	}
	experiments := []Experiment{
		face("networks-faces", "pose", 3, 12, "direction of the head by 3 hidden units, in the book on one split", printed(90)),
		face("faces-wide", "pose", 30, 3, "direction of the head by 30 hidden units, in the book one or two points above 3", printed(91)),
		// The book proposes these and has no figures: what guessing gives.
		face("faces-people", "userid", 20, 2, "which of 20 people it is", reference(5)),
		face("faces-sunglasses", "eyes", 3, 2, "sunglasses or open eyes", reference(50)),
		face("faces-expression", "expression", 6, 2, "which of four expressions", reference(25)),
	}
	experiments[4].Why = "32 by 30 pixels hardly show an expression: the network does no better than guessing"
	return experiments
}

// readFaces reads the pictures, pixels from 0 to 1, with targets of .9 for the
// value of a column (the direction of the head, who it is) and .1 for the
// others: sigmoid units reach 0 and 1 with infinite weights only.
func readFaces(ctx context.Context, target string) ([]units.Example, error) {
	const file, pixels = "faces.csv.gz", 32 * 30
	others := slices.DeleteFunc([]string{"userid", "pose", "expression", "eyes"}, func(name string) bool { return name == target })
	t, err := read(ctx, file, table.Options{Target: target, Nominal: []string{target}, Ignore: others})
	if err != nil {
		return nil, err
	}
	at := t.Schema.Index(target)
	if at < 0 || len(t.Columns) != pixels+1 {
		return nil, fmt.Errorf("%s: expected the column %q and %d pixels", file, target, pixels)
	}
	pictures := make([]units.Example, t.Rows())
	for r := range pictures {
		e := units.Example{Target: slices.Repeat([]float64{.1}, len(t.Schema.Attributes[at].Values))}
		value := t.Columns[at].Codes[r]
		if value < 0 {
			return nil, fmt.Errorf("%s: row %d has no %s", file, r+1, target)
		}
		e.Target[value] = .9
		for j := range t.Columns {
			if j != at {
				e.Input = append(e.Input, t.Columns[j].Floats[r]/255)
			}
		}
		pictures[r] = e
	}
	return pictures, nil
}

// facesAccuracy trains a network with so many hidden units on a random split,
// and returns the percentage of test pictures that it gets right.
func facesAccuracy(ctx context.Context, pictures []units.Example, hidden int, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 412))
	pictures = slices.Clone(pictures)
	random.Shuffle(len(pictures), func(i, j int) { pictures[i], pictures[j] = pictures[j], pictures[i] })
	training, validation, test := pictures[:260], pictures[260:360], pictures[360:]
	pixels := len(training[0].Input)
	mean := 0.0
	for _, e := range training {
		for _, x := range e.Input {
			mean += x / float64(len(training)*pixels)
		}
	}
	for i := range pictures {
		centred := make([]float64, pixels)
		for j, x := range pictures[i].Input {
			centred[j] = x - mean
		}
		pictures[i].Input = centred
	}
	n := units.Layered(units.Sigmoid, units.Sigmoid, pixels, hidden, len(training[0].Target))
	n.Randomise(.1, random)
	clear(n.Weights[:hidden*(pixels+1)])
	d := &units.Descent{Rate: units.Constant(.02), Momentum: .9, Batch: 20, Shuffle: random}
	if _, _, err := d.Fit(ctx, n, training, validation, units.Stop{Epochs: 200, Every: 2}); err != nil {
		return 0, err
	}
	right := 0
	for _, e := range test {
		if greatest(n.Answer(e.Input)) == greatest(e.Target) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(test)), nil
}

// greatest returns the place of the greatest number.
func greatest(x []float64) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}
