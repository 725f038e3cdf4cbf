package reproduce

import (
	"context"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// neuralTrees are both experiments of Golea and Marchand 1990: random Boolean
// functions of six bits, and parity.
func neuralTrees() []Experiment {
	const paper = "Golea & Marchand 1990, A Growth Algorithm for Neural Network Decision Trees, section 3"
	tags := []string{"golea"}
	const functions, paritySeeds = 100, 20
	experiments := []Experiment{{
		Name: "neural-tree-random-units", Tags: tags, Source: paper,
		Measure: "units for a random Boolean function of 6 bits, mean over functions (the paper's deviation is 3.9)",
		Figure:  printed(20.5).digits(1).lower(), Seeds: functions,
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			units, _, err := neuralTree(ctx, fmt.Sprintf("random-boolean:bits=6,seed=%d", seed), seed, map[string]string{"presentations": "10000"})
			return units, err
		}),
	}, {
		Name: "neural-tree-random-perfect", Tags: tags, Source: paper,
		Measure: "share of random Boolean functions of 6 bits that are learnt without an error",
		Figure:  printed(1).fraction(), Seeds: functions,
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			_, wrong, err := neuralTree(ctx, fmt.Sprintf("random-boolean:bits=6,seed=%d", seed), seed, nil)
			if wrong > 0 {
				return 0, err
			}
			return 1, err
		}),
	}}
	for bits := 2; bits <= 9; bits++ {
		experiments = append(experiments, Experiment{
			Name: "neural-tree-parity-" + strconv.Itoa(bits), Tags: tags, Source: paper,
			Measure: fmt.Sprintf("units for the parity of %d bits", bits),
			Figure:  printed(float64(bits)), Seeds: paritySeeds,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				units, wrong, err := neuralTree(ctx, fmt.Sprintf("parity:bits=%d", bits), seed, nil)
				if err == nil && wrong > 0 {
					err = fmt.Errorf("%d patterns are answered wrongly", wrong)
				}
				return units, err
			}),
		})
	}
	return experiments
}

// neuralTree learns a truth table, and returns the units that it took and how
// many patterns are wrong.
func neuralTree(ctx context.Context, data string, seed uint64, settings map[string]string) (units float64, wrong int, err error) {
	t, set, err := datasets.Load(ctx, data)
	if err != nil {
		return 0, 0, err
	}
	l, err := learn.New("neuraltree", settings)
	if err != nil {
		return 0, 0, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Seed: seed, Target: set.Target})
	if err != nil {
		return 0, 0, err
	}
	if t, _, err = table.Conform(t, m.Schema(), false); err != nil {
		return 0, 0, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return 0, 0, err
	}
	for r, class := range t.Columns[m.Target()].Codes {
		if learn.Best(out.Row(r), m.Schema().Attributes[m.Target()].Values) != int(class) {
			wrong++
		}
	}
	return float64(m.Size().Units), wrong, nil
}
