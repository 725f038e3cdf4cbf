package reproduce

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/table"
)

// biases are what learners assume, taken apart: attributes that evolve around a
// learner (section 3.6.2), rows that stand for several (exercise 8.2), and
// slopes that are known beside values (exercise 12.4).
func biases() []Experiment {
	all := []Experiment{
		{
			Name: "occam-attributes", Tags: chapter(3), Source: mitchell("section 3.6.2"), Seeds: 3,
			Measure: "of the three columns that decide monks1, how many more than of the three that do not are in the set that evolves around ID3; a thought experiment in the text",
			Figure:  reference(3), Run: OverSeeds(evolvedAttributes),
		},
		{
			Name: "copies-weighted", Tags: chapter(8), Source: mitchell("exercise 8.2"), Seeds: 1,
			Measure: "the largest difference between answers of a line fitted to weighted rows and of one fitted to each row as often as it weighs",
			Figure:  reference(0).within(1e-9), Run: Fixed(fractionalCopies),
		},
	}
	for _, w := range []struct {
		name    string
		slopes  bool
		first   float64 // what the first step adds to the weight of x²
		settled float64 // where it comes to rest on two points of x²
	}{{"values", false, .17, .5}, {"slopes", true, .37, 1}} {
		all = append(all,
			Experiment{Name: "quadratic-first-step-" + w.name, Tags: chapter(12), Source: mitchell("exercise 12.4"), Seeds: 1, Measure: "what the first step on three points of x² adds to the weight of x², by " + w.name,
				Figure: reference(w.first).digits(9), Run: Fixed(func(context.Context) (float64, error) {
					return quadraticStep([3]float64{}, []sloped{{-1, 1, -2}, {0, 0, 0}, {2, 4, 4}}, .01, w.slopes)[2], nil
				})},
			Experiment{Name: "quadratic-settles-" + w.name, Tags: chapter(12), Source: mitchell("exercise 12.4"), Seeds: 1, Measure: "the weight of x² when the steps on two points of x² have come to rest, by " + w.name,
				Figure: reference(w.settled).digits(6), Run: Fixed(func(context.Context) (float64, error) {
					h := [3]float64{}
					for range 20000 {
						step := quadraticStep(h, []sloped{{0, 0, 0}, {1, 1, 2}}, .05, w.slopes)
						for i := range h {
							h[i] += step[i]
						}
					}
					return h[2], nil
				})},
		)
	}
	return all
}

// evolvedAttributes lets sets of columns evolve; the fitness of a set is how
// often ID3, which sees these columns alone, is right on rows it has not seen
// (three folds), less half a point for each column that must be looked at.
func evolvedAttributes(ctx context.Context, seed uint64) (float64, error) {
	t, set, err := datasets.Load(ctx, "monks1")
	if err != nil {
		return 0, err
	}
	target := t.Schema.Index(set.Target)
	rows := rand.New(rand.NewPCG(seed, 1)).Perm(t.Rows())
	var columns []int
	for j := range t.Columns {
		if j != target {
			columns = append(columns, j)
		}
	}
	var known sync.Map // sets that were tried, by several goroutines at once
	right := func(b genetic.Bits) float64 {
		if share, ok := known.Load(b.String()); ok {
			return share.(float64)
		}
		chosen := []int{target}
		for i, j := range columns {
			if b[i] == 1 {
				chosen = append(chosen, j)
			}
		}
		slices.Sort(chosen)
		share := -.005 * float64(len(chosen)-1)
		for fold := range 3 {
			from, to := fold*len(rows)/3, (fold+1)*len(rows)/3
			seen, unseen := t.Select(slices.Concat(rows[:from], rows[to:])).Project(chosen), t.Select(rows[from:to]).Project(chosen)
			if m, err := modelOf(ctx, seen, set.Target, "tree", map[string]string{"preset": "id3"}); err == nil {
				right, _ := shareRight(ctx, m, unseen, set.Target)
				share += right / 3
			}
		}
		known.Store(b.String(), share)
		return share
	}
	ga := &genetic.GA[genetic.Bits]{
		Species: genetic.Species[genetic.Bits]{
			Random: func(r *rand.Rand) genetic.Bits { return genetic.RandomBits(r, len(columns)) }, Cross: genetic.TwoPoint, Mutate: genetic.FlipOne,
			Fitness: func(b genetic.Bits) float64 { return math.Pow(right(b), 4) },
		},
		Size: 20, Replaced: .6, Mutation: .2, Generations: 15, Threshold: 2,
	}
	found, err := ga.Evolve(ctx, seed)
	if err != nil {
		return 0, err
	}
	more := 0.0
	for i, j := range columns {
		decides := slices.Contains([]string{"a1", "a2", "a5"}, t.Schema.Attributes[j].Name)
		switch {
		case found.Best[i] == 1 && decides:
			more++
		case found.Best[i] == 1:
			more--
		}
	}
	return more, ctx.Err()
}

// shareRight is how often a model answers what a table says.
func shareRight(ctx context.Context, m learn.Model, t *table.Table, target string) (float64, error) {
	said, err := saidTo(ctx, m, t)
	if err != nil {
		return 0, err
	}
	right, j := 0.0, t.Schema.Index(target)
	for r, s := range said {
		if s == t.Text(r, j) {
			right++
		}
	}
	return right / float64(len(said)), nil
}

// fractionalCopies fits a line to rows with whole weights, and to each row as
// many times over.
func fractionalCopies(ctx context.Context) (float64, error) {
	t, set, err := datasets.Load(ctx, "machine-cpu")
	if err != nil {
		return 0, err
	}
	weights := make([]float64, t.Rows())
	var copies []int
	for r := range weights {
		weights[r] = float64(1 + r%4)
		for range 1 + r%4 {
			copies = append(copies, r)
		}
	}
	weighted, err := table.New(t.Schema, t.Columns, weights)
	if err != nil {
		return 0, err
	}
	answers := func(rows *table.Table) ([]float64, error) {
		m, err := modelOf(ctx, rows, set.Target, "linear", nil)
		if err != nil {
			return nil, err
		}
		out := learn.NewPredictions(m, t.Rows())
		err = m.Predict(ctx, t, out)
		return out.Mean, err
	}
	a, err := answers(weighted)
	if err != nil {
		return 0, err
	}
	b, err := answers(t.Select(copies))
	if err != nil {
		return 0, err
	}
	most := 0.0
	for r := range a {
		most = max(most, math.Abs(a[r]-b[r])/max(1, math.Abs(a[r])))
	}
	return most, nil
}

// sloped is a point of a function, with its slope there.
type sloped struct{ x, value, slope float64 }

// quadraticStep is one step of gradient descent for w0 + w1·x + w2·x², on the
// values alone or on the slopes too, each worth as much (TangentProp).
func quadraticStep(w [3]float64, points []sloped, rate float64, slopes bool) (step [3]float64) {
	for _, p := range points {
		off := p.value - (w[0] + w[1]*p.x + w[2]*p.x*p.x)
		step[0] += rate * off
		step[1] += rate * off * p.x
		step[2] += rate * off * p.x * p.x
		if slopes {
			off := p.slope - (w[1] + 2*w[2]*p.x)
			step[1] += rate * off
			step[2] += rate * off * 2 * p.x
		}
	}
	return step
}
