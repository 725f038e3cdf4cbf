package neural

import (
	"bufio"
	"compress/gzip"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// directions are the classes of the face network, an output each.
var directions = []string{"left", "straight", "right", "up"}

// faces reads the pictures, 32 by 30 pixels from 0 to 1, with targets of .9
// for the direction of the head and .1 for the others: sigmoid units reach 0
// and 1 with infinite weights only.
func faces(tb testing.TB) []Example {
	f, err := os.Open("../bench/data/faces.csv.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the header: userid, pose, expression, eyes, p0 …
	var examples []Example
	for lines.Scan() {
		cells := strings.Split(lines.Text(), ",")
		e := Example{Target: []float64{.1, .1, .1, .1}}
		e.Target[slices.Index(directions, cells[1])] = .9
		for _, cell := range cells[4:] {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				tb.Fatal(err)
			}
			e.Input = append(e.Input, x/255)
		}
		examples = append(examples, e)
	}
	if len(examples) != 624 || len(examples[0].Input) != 960 {
		tb.Fatalf("%d pictures of %d pixels", len(examples), len(examples[0].Input))
	}
	return examples
}

// wrongShare is the share of examples whose greatest output is another than
// the greatest target.
func wrongShare(n *Network, examples []Example) float64 {
	wrong := 0
	p := n.NewPass()
	out := make([]float64, len(n.Outputs))
	for _, e := range examples {
		p.Forward(e.Input)
		for k := range out {
			out[k] = p.Output(k)
		}
		if argMax(out) != argMax(e.Target) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(examples))
}

// Section 4.7: 960×3×4 on 260 pictures gives 90 % on others; input weights
// start at 0, momentum is .3, and the weights that were best on validation
// pictures are kept. Descent is stochastic here, at a rate of .1: that of the
// book, .3 on the full gradient, leaves units saturated. The test pictures
// have no part in any choice. Eight splits gave 90.9 % on average, from 86 to
// 94; the two of the short test are among the easier ones.
func TestFaces(t *testing.T) {
	seeds := 2
	if os.Getenv("ACCRETE_LONG") != "" {
		seeds = 8
	}
	all := faces(t)
	mean := 0.0
	for seed := range seeds {
		examples := slices.Clone(all)
		random := rand.New(rand.NewPCG(uint64(seed)+1, 412))
		random.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		training, validation, test := examples[:260], examples[260:360], examples[360:]
		n := Layered(Sigmoid, Sigmoid, 960, 3, 4)
		n.Randomise(.1, random)
		clear(n.Weights[:3*961])
		d := &Descent{Rate: Constant(.1), Momentum: .3, Batch: 1, Shuffle: random}
		if _, _, err := d.Fit(context.Background(), n, training, validation, Stop{Epochs: 200, Every: 10}); err != nil {
			t.Fatal(err)
		}
		right := 1 - wrongShare(n, test)
		mean += right / float64(seeds)
		t.Logf("seed %d: %.1f %% of %d pictures", seed+1, 100*right, len(test))
		if p := n.Picture(0, 32); p == nil || p.Bounds().Dx() != 32 || p.Bounds().Dy() != 30 {
			t.Error("no picture of a hidden unit's weights")
		}
	}
	if mean < .9 {
		t.Errorf("%.1f %% of the held-out pictures are right, want 90", 100*mean)
	}
}
