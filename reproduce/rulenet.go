package reproduce

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The experiments of Higgins and Goodman on rule networks: three data sets
// against other classifiers (figure 2), and a network grown one example at a
// time (figures 3 and 4). Accuracies are percentages, as printed there.
//
// The published means are of ten runs, ours of twenty seeds. With the standard
// deviation s over seeds that we see (LED 2.0, votes 1.5, Boolean 2.2), two
// means of the same experiment differ by less than 2·s·√(1/10 + 1/20) in
// 95 % of cases: 1.6, 1.2 and 1.7.
func init() {
	const paper = "Higgins & Goodman, Incremental Learning with Rule-Based Neural Networks, "
	for _, c := range ruleNetworkSets {
		for _, e := range []struct {
			learner   string
			settings  map[string]string
			what      string
			published float64
			bound     Bound
		}{
			{"prior", nil, "the most frequent class" + c.priorNote, c.prior, c.priorBound},
			{"bayes", map[string]string{"m": "0"}, "first-order Bayes, plain frequencies", c.bayes, Bound{AtLeast, c.within}},
			{"rulenet", map[string]string{"weights": "published"}, "rule network as published" + c.rulesNote, c.rules, Bound{AtLeast, max(c.within, c.rulesWithin)}},
			{"rulenet", map[string]string{"weights": "all", "grow": "none"}, "rule network with weights for all classes, against the published rules", c.rules, Bound{AtLeast, max(c.within, c.rulesWithin)}},
			{"rulenet", nil, "rule network, calibrated and grown, against the published rules", c.rules, Bound{AtLeast, c.within}},
		} {
			variant := map[string]string{"": "", "published": "-published", "all": "-all"}[e.settings["weights"]]
			Register(Experiment{
				Name: "rule-networks-" + c.name + "-" + e.learner + variant, Source: paper + "figure 2",
				Measure:   fmt.Sprintf("test accuracy, %d rows to learn from: %s", c.train, e.what),
				Published: e.published, Bound: e.bound, Seeds: 20,
				Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
					return c.accuracy(ctx, seed, e.learner, e.settings)
				}),
			})
		}
	}
	// The same over given divisions of the votes, because which 200 rows are
	// learnt from moves a mean of twenty by 0.3. That the reproduction used
	// these is inferred: what it prints for the most frequent class and for
	// Bayes, with their deviations, comes out on these divisions alone of
	// fourteen that were tried. They are kind to every method: over 400
	// random divisions the rules are right on 94.2 %.
	votes := &ruleNetworkSets[1]
	for _, e := range []struct {
		learner   string
		settings  map[string]string
		published float64
		bound     Bound
	}{
		{"prior", nil, 61.7, Digits(1)},
		{"bayes", map[string]string{"m": "0"}, 91.4, Within(0.1)},
		{"rulenet", map[string]string{"weights": "published"}, 95.0, Bound{AtLeast, 0.7}},
	} {
		Register(Experiment{
			Name: "rule-networks-votes-divisions-" + e.learner, Source: "an independent reproduction of " + paper + "figure 2",
			Measure:   "test accuracy on the votes, mean over twenty given divisions (NumPy's default_rng(0) to (19), permutation(435), the first 200 to learn from)",
			Published: e.published, Bound: e.bound, Seeds: 1,
			Run: Fixed(func(ctx context.Context) (float64, error) {
				mean := 0.0
				divisions := strings.Fields(votesDivisions)
				for _, d := range divisions {
					train, test, err := divide(d, 435)
					if err != nil {
						return 0, err
					}
					right, err := votes.tried(ctx, 1, train, test, e.learner, e.settings)
					if err != nil {
						return 0, err
					}
					mean += right / float64(len(divisions))
				}
				return mean, nil
			}),
		})
	}
	for _, g := range []struct {
		rows            int
		accuracy, units float64
	}{{200, 90, 30}, {640, 90, 35}} {
		// The curves are read off the figures: to two units and two points,
		// and the published 90 % after 200 examples is above what any seed
		// gives on average.
		Register(Experiment{
			Name: fmt.Sprintf("rule-networks-growth-%d-accuracy", g.rows), Source: paper + "figure 3",
			Measure:   fmt.Sprintf("test accuracy after %d examples, one at a time; the figure's curve is one run", g.rows),
			Published: g.accuracy, Bound: Bound{AtLeast, map[int]float64{200: 8, 640: 1.5}[g.rows]}, Seeds: 20,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				accuracy, _, err := growth(ctx, seed, g.rows)
				return accuracy, err
			}),
		})
		Register(Experiment{
			Name: fmt.Sprintf("rule-networks-growth-%d-units", g.rows), Source: paper + "figure 4",
			Measure:   fmt.Sprintf("rules after %d examples, one at a time; the figure's curve is one run", g.rows),
			Published: g.units, Bound: Within(6), Seeds: 20,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				_, units, err := growth(ctx, seed, g.rows)
				return units, err
			}),
		})
	}
}

// ruleNetworkSet is a row of figure 2.
type ruleNetworkSet struct {
	name                string
	rows                func(seed uint64) string // of package datasets
	train               int
	prior, bayes, rules float64 // published
	within              float64
	priorBound          Bound
	priorNote           string
	rulesWithin         float64
	rulesNote           string
}

var ruleNetworkSets = []ruleNetworkSet{
	{
		name: "led", rows: func(seed uint64) string { return fmt.Sprintf("led:rows=1000,seed=%d", seed) }, train: 154,
		prior: 17.0, bayes: 68.2, rules: 68.1, within: 1.6,
		priorBound: Bound{AtMost, 0}, priorNote: " (ten digits as likely as each other cannot give the published value)",
	},
	{
		name: "votes", rows: func(uint64) string { return "votes" }, train: 200,
		prior: 53.3, bayes: 91.1, rules: 94.7, within: 1.2,
		priorBound: Bound{AtLeast, 0}, priorNote: " (267 of the 435 are democrats, more than the published value says)",
	},
	{
		name: "boolean", rows: func(seed uint64) string { return fmt.Sprintf("boolean:rows=1280,seed=%d", seed) }, train: 640,
		prior: 67.3, bayes: 67.5, rules: 90.0, within: 1.7, priorBound: Within(1.7),
		rulesWithin: 2.5, rulesNote: " (the published value is the best possible)",
	},
}

// votesDivisions are divisions of the 435 votes, one a line: the rows to learn
// from as bits, the lowest of the first byte being the first row.
//
//go:embed votes-divisions.txt
var votesDivisions string

// divide reads a division of so many rows.
func divide(division string, rows int) (train, test []int, err error) {
	bits, err := hex.DecodeString(division)
	if err != nil || len(bits) != (rows+7)/8 {
		return nil, nil, fmt.Errorf("a division of %d rows is written as %d bytes in hexadecimal, got %q", rows, (rows+7)/8, division)
	}
	for r := range rows {
		if bits[r/8]>>(r%8)&1 == 1 {
			train = append(train, r)
		} else {
			test = append(test, r)
		}
	}
	return train, test, nil
}

// accuracy splits the set at random, learns and tests.
func (c *ruleNetworkSet) accuracy(ctx context.Context, seed uint64, learner string, settings map[string]string) (float64, error) {
	t, _, err := datasets.Load(ctx, c.rows(seed))
	if err != nil {
		return 0, err
	}
	order := rand.New(rand.NewPCG(seed, 1992)).Perm(t.Rows())
	return c.tried(ctx, seed, order[:c.train], order[c.train:], learner, settings)
}

// tried learns from some rows of the set and tests on others.
func (c *ruleNetworkSet) tried(ctx context.Context, seed uint64, train, test []int, learner string, settings map[string]string) (float64, error) {
	t, set, err := datasets.Load(ctx, c.rows(seed))
	if err != nil {
		return 0, err
	}
	l, err := learn.New(learner, settings)
	if err != nil {
		return 0, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t.Select(train), Target: t.Schema.Index(set.Target), Seed: seed})
	if err != nil {
		return 0, err
	}
	return percentRight(ctx, m, t.Select(test))
}

// percentRight returns the accuracy of a model on rows that have its columns.
func percentRight(ctx context.Context, m learn.Model, test *table.Table) (float64, error) {
	test, _, err := table.Conform(test, m.Schema(), false)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, test.Rows())
	if err := m.Predict(ctx, test, out); err != nil {
		return 0, err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	right := 0
	for r, c := range test.Columns[m.Target()].Codes {
		if int32(learn.Best(out.Row(r), classes)) == c {
			right++
		}
	}
	return 100 * float64(right) / float64(test.Rows()), nil
}

// growth grows a network on the Boolean function one example at a time, every
// pattern ten times in random order, and tests it on as many others.
func growth(ctx context.Context, seed uint64, rows int) (accuracy, units float64, err error) {
	train, set, err := datasets.Load(ctx, fmt.Sprintf("boolean:each=10,seed=%d", seed))
	if err != nil {
		return 0, 0, err
	}
	test, _, err := datasets.Load(ctx, fmt.Sprintf("boolean:each=10,seed=%d", seed+1000))
	if err != nil {
		return 0, 0, err
	}
	l, err := learn.New("rulenet", map[string]string{"weights": "published", "update": "published"})
	if err != nil {
		return 0, 0, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: train.Slice(0, 1), Target: train.Schema.Index(set.Target), Seed: seed})
	if err != nil {
		return 0, 0, err
	}
	if train, _, err = table.Conform(train, m.Schema(), true); err != nil {
		return 0, 0, err
	}
	update, err := m.(learn.Updater).Begin(learn.Source{ID: "stream"})
	if err != nil {
		return 0, 0, err
	}
	for r := 1; r < rows; r++ {
		if err := update.Add(ctx, train.Slice(r, r+1)); err != nil {
			return 0, 0, err
		}
	}
	if m, err = update.Freeze(ctx); err != nil {
		return 0, 0, err
	}
	accuracy, err = percentRight(ctx, m, test)
	return accuracy, float64(m.Size().Units), err
}
