package reproduce

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The experiments of Higgins and Goodman on rule networks: three data sets
// against other classifiers (figure 2), and a network grown one example at a
// time (figures 3 and 4). Accuracies are percentages, as printed there; the
// published means are of ten runs, ours of twenty seeds.
const higgins = "Higgins & Goodman, Incremental Learning with Rule-Based Neural Networks, "

// ruleNetworkSet is a row of figure 2.
type ruleNetworkSet struct {
	name                          string
	rows                          func(seed uint64) string // of package datasets
	train                         int
	prior, backprop, bayes, rules float64 // published
	impossible                    string  // why the published prior cannot be right
	whyRules                      string
}

var ruleNetworkSets = []ruleNetworkSet{
	{
		name: "led", rows: func(seed uint64) string { return fmt.Sprintf("led:rows=1000,seed=%d", seed) }, train: 154,
		prior: 17.0, backprop: 68.4, bayes: 68.2, rules: 68.1,
		impossible: "of ten digits as likely as each other the most frequent has about 10 %",
	},
	{
		name: "votes", rows: func(uint64) string { return "votes" }, train: 200,
		prior: 53.3, backprop: 93.6, bayes: 91.1, rules: 94.7,
		impossible: "267 of the 435 are democrats, which is 61.4 %",
	},
	{
		name: "boolean", rows: func(seed uint64) string { return fmt.Sprintf("boolean:each=20,seed=%d", seed) }, train: 640,
		prior: 67.3, backprop: 90.0, bayes: 67.5, rules: 90.0,
		whyRules: "an independent program's seeds reach 88.2 on average",
	},
}

// ruleNetworks is figure 2: a classifier a column, a data set a row. How often
// the most frequent class occurs is a fact of the data, which cannot be bettered.
// The network as published draws lots between equal children, as step 3b of its
// search says.
func ruleNetworks() []Experiment {
	var experiments []Experiment
	for _, c := range ruleNetworkSets {
		for _, e := range []struct {
			name, learner string
			settings      map[string]string
			what          string
			figure        Figure
			why           string
		}{
			{"prior", "prior", nil, "the most frequent class", printed(c.prior), c.impossible},
			{"backprop", "mlp", nil, "back-propagation (mlp)", printed(c.backprop).higher(), ""},
			{"bayes", "bayes", map[string]string{"m": "0"}, "first-order Bayes, plain frequencies", printed(c.bayes).higher(), ""},
			{"rulenet-published", "rulenet", map[string]string{"weights": "published", "ties": "random"}, "rule network as published", printed(c.rules).higher(), c.whyRules},
			{"rulenet-all", "rulenet", map[string]string{"weights": "all", "grow": "none"}, "rule network with weights for all classes, against the published rules", printed(c.rules).higher(), ""},
			{"rulenet", "rulenet", map[string]string{"teacher": "none"}, "rule network, calibrated and grown, against the published rules", printed(c.rules).higher(), ""},
		} {
			beyond := Beyond("")
			if e.name == "prior" && e.why != "" {
				beyond = Impossible
			}
			experiments = append(experiments, Experiment{
				Name: "rule-networks-" + c.name + "-" + e.name, Tags: []string{"higgins"}, Source: higgins + "figure 2",
				Measure: fmt.Sprintf("test accuracy, %d rows to learn from: %s", c.train, e.what),
				Figure:  e.figure.percent().digits(1), Seeds: 20, Why: e.why, Beyond: beyond,
				Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
					return c.accuracy(ctx, seed, e.learner, e.settings)
				}),
			})
		}
	}
	return experiments
}

// itrule is the ancestor of rule networks, which looks at all rules: its error on
// Australian credit in ten folds, the second best of 21 methods there.
func itrule() []Experiment {
	return []Experiment{{
		Name: "rule-networks-itrule-credit", Tags: []string{"higgins"}, Source: "Michie, Spiegelhalter & Taylor 1994, Machine Learning, Neural and Statistical Classification (ITRULE)",
		Measure: "error in percent on credit applications, ten folds", Figure: printed(13.7).percent().lower(), Seeds: 3,
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			rows, set, err := datasets.Load(ctx, "credit-a")
			if err != nil {
				return 0, err
			}
			r, err := evaluate.CrossValidate(ctx, evaluate.Spec{
				Data: set.Name, Table: rows, Target: rows.Schema.Index(set.Target), Learner: "cover", New: evaluate.Registered("cover", map[string]string{"algorithm": "itrule"}), Seed: seed,
			}, 10)
			if err != nil {
				return 0, err
			}
			return 100 * (1 - *r.Accuracy), nil
		}),
	}}
}

// ruleNetworkDivisions is the same over given divisions of the votes, because
// which 200 rows are learnt from moves a mean of twenty by 0.3. That the
// reproduction used these is inferred: what it prints for the most frequent
// class and for Bayes, with their deviations, comes out on these divisions alone
// of fourteen that were tried. They are kind to every method: over 400 random
// divisions the rules are right on 94.2 %.
func ruleNetworkDivisions() []Experiment {
	var experiments []Experiment
	for _, e := range []struct {
		learner  string
		settings map[string]string
		known    float64
	}{
		{"prior", nil, 61.7},
		{"bayes", map[string]string{"m": "0"}, 91.4},
		{"rulenet", map[string]string{"weights": "published"}, 95.0},
	} {
		experiments = append(experiments, Experiment{
			Name: "rule-networks-votes-divisions-" + e.learner, Tags: []string{"higgins"}, Source: "an independent reproduction of " + higgins + "figure 2",
			Measure: "test accuracy on the votes, mean over twenty given divisions (NumPy's default_rng(0) to (19), permutation(435), the first 200 to learn from)",
			Figure:  reference(e.known).percent().digits(1).higher(), Seeds: 1,
			Run: Fixed(func(ctx context.Context) (float64, error) { return overDivisions(ctx, e.learner, e.settings) }),
		})
	}
	return experiments
}

// overDivisions returns the mean accuracy over the given divisions.
func overDivisions(ctx context.Context, learner string, settings map[string]string) (float64, error) {
	votes := &ruleNetworkSets[1]
	mean := 0.0
	divisions := strings.Fields(votesDivisions)
	for _, d := range divisions {
		train, test, err := divide(d, 435)
		if err != nil {
			return 0, err
		}
		right, err := votes.tried(ctx, 1, train, test, learner, settings)
		if err != nil {
			return 0, err
		}
		mean += right / float64(len(divisions))
	}
	return mean, nil
}

// ruleNetworkGrowth is figures 3 and 4, curves of one run that can be read to
// two units and two points.
func ruleNetworkGrowth() []Experiment {
	var experiments []Experiment
	for _, e := range []struct {
		rows                  int
		accuracy, units       float64
		whyAccuracy, whyUnits string
	}{
		{200, 90, 30, "90 is the best possible; an independent program's seeds reach 84.7 on average", "an independent program's seeds have 33.6 rules on average"},
		{640, 90, 35, "an independent program's seeds reach 90.0 on average", "an independent program's seeds end with 38.2 rules on average"},
	} {
		experiments = append(experiments, Experiment{
			Name: fmt.Sprintf("rule-networks-growth-%d-accuracy", e.rows), Tags: []string{"higgins"}, Source: higgins + "figure 3",
			Measure: fmt.Sprintf("test accuracy after %d examples, one at a time; the figure's curve is one run", e.rows),
			Figure:  printed(e.accuracy).percent().within(2).higher(), Seeds: 20, Why: e.whyAccuracy,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				g, err := growth(ctx, seed, e.rows)
				return g.accuracy, err
			}),
		}, Experiment{
			Name: fmt.Sprintf("rule-networks-growth-%d-units", e.rows), Tags: []string{"higgins"}, Source: higgins + "figure 4",
			Measure: fmt.Sprintf("rules after %d examples, one at a time; the figure's curve is one run", e.rows),
			Figure:  printed(e.units).within(2), Seeds: 20, Why: e.whyUnits,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				g, err := growth(ctx, seed, e.rows)
				return g.units, err
			}),
		})
	}
	for i := range 2 { // accuracy and units
		e := &experiments[i]
		e.PictureName = strings.Replace(e.Name, "-200", "", 1)
		e.Picture = growthPicture(i == 1)
	}
	return experiments
}

// growthPicture is figure 3, or figure 4: the whole curve, and what the text says of it.
func growthPicture(units bool) func(context.Context, uint64, int) (*draw.Chart, error) {
	return func(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
		c := &draw.Chart{Title: "A rule network grown example by example, figure 3", XLabel: "examples", YLabel: "test accuracy, %"}
		published := draw.Series{Name: "published", Kind: draw.Points, X: []float64{200, 640}, Y: []float64{90, 90}}
		if units {
			c.Title, c.YLabel = "A rule network grown example by example, figure 4", "units of the conjunctive layer"
			published.Y = []float64{30, 35}
		}
		ours := draw.Series{Name: "ours"}
		for _, rows := range grownAt {
			if err := measured(ctx, &ours, first, seeds, float64(rows), func(ctx context.Context, seed uint64) (float64, error) {
				g, err := growth(ctx, seed, rows)
				if units {
					return g.units, err
				}
				return g.accuracy, err
			}); err != nil {
				return nil, err
			}
		}
		c.Series = []draw.Series{ours, published}
		c.XRange = [2]float64{0, 660}
		return c, nil
	}
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
	m, err := l.Learn(ctx, learn.Task{Table: t.Select(train), Target: set.Target, Seed: seed})
	if err != nil {
		return 0, err
	}
	return percentRight(ctx, m, t.Select(test))
}

// answered returns rows as a model reads them, and what it answers.
func answered(ctx context.Context, m learn.Model, t *table.Table) (*table.Table, *learn.Predictions, error) {
	t, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	return t, out, m.Predict(ctx, t, out)
}

// percentRight returns the accuracy of a model on rows that have its columns.
func percentRight(ctx context.Context, m learn.Model, test *table.Table) (float64, error) {
	test, out, err := answered(ctx, m, test)
	if err != nil {
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

// grown is a network that was grown.
type grown struct{ accuracy, units float64 }

// grownAt are the numbers of examples after which a network that grows is looked at.
var grownAt = []int{1, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 640}

// growth grows a network on the Boolean function one example at a time, and returns
// what it is after so many, one of grownAt. Of every pattern twenty times, in random
// order, one half is learnt from and the other tested on.
func growth(ctx context.Context, seed uint64, rows int) (grown, error) {
	all, err := once(ctx, "growth", seed, func() (map[int]grown, error) {
		t, set, err := datasets.Load(ctx, fmt.Sprintf("boolean:each=20,seed=%d", seed))
		if err != nil {
			return nil, err
		}
		train, test := t.Slice(0, 640), t.Slice(640, 1280)
		l, err := learn.New("rulenet", map[string]string{"weights": "published", "update": "published", "ties": "random"})
		if err != nil {
			return nil, err
		}
		m, err := l.Learn(ctx, learn.Task{Table: train.Slice(0, 1), Target: set.Target, Seed: seed})
		if err != nil {
			return nil, err
		}
		all := map[int]grown{}
		for i, n := range grownAt {
			if i > 0 {
				if m, err = oneByOne(ctx, m, fmt.Sprintf("examples to %d", n), train.Slice(grownAt[i-1], n)); err != nil {
					return nil, err
				}
			}
			accuracy, err := percentRight(ctx, m, test)
			if err != nil {
				return nil, err
			}
			all[n] = grown{accuracy, float64(m.Size().Units)}
		}
		return all, nil
	})
	return all[rows], err
}

// oneByOne updates a model with the rows of a source, one at a time.
func oneByOne(ctx context.Context, m learn.Model, source string, rows *table.Table) (learn.Model, error) {
	rows, _, err := table.Conform(rows, m.Schema(), true)
	if err != nil {
		return nil, err
	}
	update, err := m.(learn.Updater).Begin(learn.Source{ID: source})
	if err != nil {
		return nil, err
	}
	for r := range rows.Rows() {
		if err := update.Add(ctx, rows.Slice(r, r+1)); err != nil {
			return nil, err
		}
	}
	return update.Freeze(ctx)
}
