// Package gaussian learns probabilistic rules with networks of Gaussian basis
// functions (Tresp, Hollatz & Ahmad 1997). One model has three readings:
//
//   - a mixture: a hidden state s takes one of K values with probability
//     P(s = i), and then every column is drawn on its own, a number from a
//     normal density around c_ij of width σ_ij, a name from a distribution;
//   - rules: WHEN state i (P) EXPECT column j ~ c_ij ± σ_ij AND …;
//   - a network of normalised Gaussian basis functions, whose output
//     Σ w_i b_i(x) / Σ b_k(x) is the expected value of any one column, w_i
//     being what unit i expects of it.
//
// As the mixture is of all columns jointly, any column can be asked from any
// others (Ask), missing cells are simply left out of the product (and filled
// in by Impute), and without a target the model is a density. With a nominal
// target every class has units of its own (sections 3.1 and 3.2); with a
// numeric one the target is a column like the others, and is predicted by
// equation 12.
//
// Units are found by EM (equations 15 to 17) from several starts, in z-scores
// of the training rows. Widths have a floor, without which a unit could close
// in on one row and the likelihood would have no bound; shares of nominal
// values get a pseudo case spread over the values for the same reason. A
// column that never varies says nothing.
//
// With covariance=full the numeric columns of a unit are correlated, and the
// floor holds in every direction. What is missing is then expected given the
// other cells of its row, c_M + Σ_MO Σ_OO⁻¹ (x − c)_O, in learning, with its
// variance, as in answers: a few units predict as several lines would. Rules
// state the units' centres and widths, and say that they are a summary.
//
// A model is the sum of its sources. Each keeps, for every unit, the weight,
// moments and counts of its rows, split among the units as they were when the
// source came; an expert's rules are a source like any other, worth so many
// cases, and UnitStandings says how the rows bear each of them out. Merging
// puts units and sources side by side, which is the incremental
// mixture of section 5.1, P(a) = K_a/(K_a + K_b); forgetting drops a source's
// terms. Both are exact: nothing is subtracted.
//
// An update is one pass of online EM (Neal & Hinton 1993): new rows are split
// among the units that there are, whose parameters follow as the rows come.
// Old rows are not looked at again, so that the result is not the one that
// all rows together would give. What that may cost is bounded: 0.3 nats of log
// loss a row for each column that is predicted, which is the target or, without
// one, every column. Of iris, wine, glass, pima, boston, votes and vehicle in
// 2, 5 and 10 random parts, four times each, the most that was lost, less two
// standard errors, is 0.23 nats, in the smallest parts (18 rows of wine, 85 of
// vehicle); in two parts it is 0.05. With update=add the new rows instead get units of their own, which
// is exactly the merge of the old model with one of the new rows. So it is with
// rows that bring the first known cells of a column, which the units that there
// are were found without and cannot tell apart.
//
// The paper's steps by file: em (sections 4.1 and 4.2, appendix A), start,
// knowledge (section 5: rules in), standing (what rows make of them), prune and
// curve (section 6: rules out), tune (section 7), network (equation 1),
// posterior and conditional (equations 10 to 12), covariance (full). Beside it
// stand package rule, whose WHEN … EXPECT these units are, and internal/moment,
// which sums up their rows.
//
// The cost of learning is rows × columns × units for each iteration, that of
// an answer columns × units; with full covariance columns count squared.
package gaussian

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "gaussian"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "mixture of Gaussians: probabilistic rules, any column from any others, a density without target",
		Source:   "Tresp, Hollatz & Ahmad 1997",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true, Density: true, Rules: true, Stream: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Curve: true, Density: true, Ask: true, Impute: true, Hear: true},
		Contract: learn.Bounded,
		Keeps:    "statistics per source: weight, moments and counts of each unit, and what experts said",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
		Waits:    sourceParts,
	})
}

// Learner makes mixtures of Gaussians. Its zero value is ready to use.
type Learner struct {
	// Units is how many Gaussians there are at most; with a nominal target
	// they are shared out among the classes, at least one for each.
	Units int `set:"units" default:"10" doc:"number of Gaussian units (with a nominal target shared out among the classes)"`
	// From, if above Units, is the number to begin with: units are pruned
	// one by one, with EM after each.
	From int `set:"from" default:"0" doc:"begin with this many units and prune down to units; 0 does not prune"`
	// Pruning is the procedure: by the likelihood of the rows without the
	// unit (procedure 1), or without rows, by how well the other units
	// explain its centre (procedure 2).
	Pruning string `set:"pruning" default:"likelihood" oneof:"likelihood|centres" doc:"which unit goes: by the likelihood of the rows, or by how the others explain its centre"`
	// Size is whether Units are taken as said or chosen on held-out rows,
	// from the largest of Units and From downwards.
	Size string `set:"size" default:"fixed" oneof:"fixed|validation" doc:"number of units: as said, or the best one on a held-out third"`
	// Normal is the number of conclusions, unit by column, that are set to
	// the column's overall mean and deviation, the nearest ones first.
	Normal int `set:"normal" default:"0" doc:"conclusions to set to NORMAL, those that are nearest to it first"`
	// Divergence is which of the two Kullback-Leibler distances says how
	// near a conclusion is to NORMAL: of the unit from the column, which is
	// what a row of the unit loses, or the other way round, as the paper's
	// equation 20 is printed.
	Divergence string `set:"divergence" default:"unit" oneof:"unit|normal" doc:"distance by which normal finds the nearest conclusions: of the unit from NORMAL, or of NORMAL from the unit"`
	// Inputs is the number of columns to predict the target from; 0 is all.
	Inputs int `set:"inputs" default:"0" doc:"columns to predict the target from, the others removed one by one; 0 keeps all"`
	// Removal is whether EM follows each input that goes, which keeps more of
	// what the others say, or the units stay as they were learnt with all, as
	// the paper's procedure reads.
	Removal string `set:"removal" default:"retrain" oneof:"retrain|still" doc:"inputs: EM after each one that goes, or the units as they were with all"`
	// StartAt is how the rows that units begin at are drawn. Over twelve
	// public sets and three seeds, rows drawn at random gave unseen rows 0.3
	// nats more on average than rows far from each other, which outliers are.
	StartAt string `set:"start" default:"random" oneof:"random|kmeans" doc:"rows to begin at: any, or far from each other (k-means++)"`
	// Starts are compared after a few iterations, on some of the rows if
	// there are many, and the better half goes on until one is left.
	Starts int `set:"starts" default:"6" doc:"number of starts, compared on a sample of many rows, of which the best goes on"`
	// Iterations of EM at most.
	Iterations int `set:"iterations" most:"1000000000" default:"300" doc:"iterations of EM at most; few of them stop early"`
	// Tolerance is the rise of the log likelihood, in nats a row, below
	// which EM ends. Nil is 1e-4: over 27 sets and four seeds, a tenth did not
	// make unseen rows more likely.
	Tolerance *float64 `set:"tolerance" default:"0.0001" doc:"rise of the log likelihood a row below which EM ends"`
	// Floor is the least width of a unit, in deviations of the column. Nil
	// is 0.2.
	Floor *float64 `set:"floor" default:"0.2" doc:"least width of a unit, in deviations of the column"`
	// Covariance is whether the numeric columns are independent within a
	// unit, as the paper has them, or correlated. Rules cannot say how: of
	// correlated columns they state the centres and widths, and are a
	// summary.
	Covariance string `set:"covariance" default:"diagonal" oneof:"diagonal|full|auto" doc:"numeric columns within a unit: independent, correlated (full; rules then only summarise), or, with a target and 300 rows, what is better on rows held out, as is whether there are 10 units or 30"`
	// M is the number of pseudo cases that each unit spreads evenly over
	// the values of a nominal column. Nil is 1.
	M *float64 `set:"m" default:"1" doc:"pseudo cases of each unit, spread evenly over the values of a nominal column"`
	// Knowledge is what becomes of an expert's rules. See Tell.
	Knowledge string `set:"knowledge" default:"mixture" oneof:"mixture|map|teacher|start" doc:"rules: units of their own, conjugate priors (MAP), sampled rows, or only the start of EM"`
	// Copies of each rule in knowledge=map and start, a little apart.
	Copies int `set:"copies" default:"3" doc:"units begun at each rule, with knowledge=map or start"`
	// Default is the number of cases that a broad unit around the mean of
	// everything is worth: it answers where nobody else knows.
	Default float64 `set:"default" default:"0" doc:"cases that a broad default expert is worth"`
	// Update is what updates do: move the units, or add some.
	Update string `set:"update" default:"online" oneof:"online|add" doc:"updates: online EM on the units there are, or a mixture of their own"`
	// Tune follows EM by gradient descent on the squared error of a numeric
	// target. The rules then no longer describe the rows; they say so.
	Tune int `set:"tune" default:"0" doc:"steps of supervised fine-tuning of a numeric target after EM; rules then only weigh, not describe"`
	// Reference, unless nil, are the rows that say what the columns are like
	// overall, which z-scores, the floor, NORMAL and sd refer to, in place
	// of those that are learnt from: a few rows do not know.
	Reference *table.Table
}

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	Units, From    int
	Pruning, Size  string
	Normal, Inputs int
	Divergence     string
	Start          string
	Starts         int
	Iterations     int
	Tolerance      float64
	Floor, M       float64
	Covariance     string
	Knowledge      string
	Copies         int
	Default        float64
	Update         string
	Tune           int
	Still          bool `cbor:",omitempty"` // no EM after an input goes
}

// most bounds settings that would otherwise ask for all the memory there is.
const most = 1 << 16

func (l *Learner) settings() (settings, error) {
	or := func(value, otherwise string) string {
		if value == "" {
			return otherwise
		}
		return value
	}
	covariance := l.Covariance
	if covariance == "auto" {
		covariance = ""
	}
	s := settings{
		Units: l.Units, From: l.From, Pruning: or(l.Pruning, "likelihood"), Size: or(l.Size, "fixed"),
		Normal: l.Normal, Divergence: or(l.Divergence, "unit"), Inputs: l.Inputs, Start: or(l.StartAt, "random"), Starts: l.Starts,
		Iterations: l.Iterations, Tolerance: 1e-4, Floor: 0.2, M: 1, Covariance: or(covariance, "diagonal"),
		Knowledge: or(l.Knowledge, "mixture"), Copies: l.Copies, Default: l.Default, Update: or(l.Update, "online"), Tune: l.Tune, Still: l.Removal == "still",
	}
	for _, d := range []struct {
		to    *int
		value int
	}{{&s.Units, 10}, {&s.Iterations, 300}, {&s.Copies, 3}} {
		if *d.to == 0 {
			*d.to = d.value
		}
	}
	for _, d := range []struct{ to, value *float64 }{{&s.Tolerance, l.Tolerance}, {&s.Floor, l.Floor}, {&s.M, l.M}} {
		if d.value != nil {
			*d.to = *d.value
		}
	}
	return s, s.check()
}

func (s *settings) check() error {
	for _, n := range []struct {
		key          string
		value, least int
	}{
		{"units", s.Units, 1}, {"from", s.From, 0}, {"normal", s.Normal, 0}, {"inputs", s.Inputs, 0}, {"starts", s.Starts, 0},
		{"iterations", s.Iterations, 1}, {"copies", s.Copies, 1}, {"tune", s.Tune, 0},
	} {
		if n.value < n.least || n.value > most {
			return fmt.Errorf("setting %s=%d: expected a number from %d to %d", n.key, n.value, n.least, most)
		}
	}
	for _, x := range []struct {
		key          string
		value, least float64
		highest      float64
	}{
		{"tolerance", s.Tolerance, 0, 1e6}, {"floor", s.Floor, 1e-6, 1e6}, {"m", s.M, 1e-9, moment.MaxWeight}, {"default", s.Default, 0, moment.MaxWeight},
	} {
		if !(x.value >= x.least && x.value <= x.highest) {
			return fmt.Errorf("setting %s=%v: expected a number from %g to %g", x.key, x.value, x.least, x.highest)
		}
	}
	for _, w := range []struct {
		key, value string
		words      []string
	}{
		{"pruning", s.Pruning, []string{"likelihood", "centres"}}, {"size", s.Size, []string{"fixed", "validation"}}, {"start", s.Start, []string{"random", "kmeans"}},
		{"knowledge", s.Knowledge, []string{"mixture", "map", "teacher", "start"}}, {"update", s.Update, []string{"online", "add"}},
		{"covariance", s.Covariance, []string{"diagonal", "full"}}, {"divergence", s.Divergence, []string{"unit", "normal", ""}}, // models saved before have none
	} {
		if !slices.Contains(w.words, w.value) {
			return fmt.Errorf("setting %s=%s: expected one of %v", w.key, w.value, w.words)
		}
	}
	if s.Covariance == "full" {
		for _, alone := range []struct {
			key   string
			value int
		}{{"normal", s.Normal}, {"inputs", s.Inputs}, {"tune", s.Tune}} {
			if alone.value > 0 {
				return fmt.Errorf("setting %s=%d: with covariance=full no column of a unit stands by itself; leave out one of the two", alone.key, alone.value)
			}
		}
	}
	return nil
}

// reading is the settings by which a model's statistics become parameters:
// models that differ in them are not parts of one.
func (s *settings) reading() string {
	return fmt.Sprintf("covariance=%s floor=%v m=%v default=%v", s.Covariance, s.Floor, s.M, s.Default)
}

// Learn returns the model of the task's rows, and of its rules.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	before, err := l.choose(ctx, task, &s)
	if err != nil {
		return nil, err
	}
	m, err := s.learn(ctx, task, l.Reference, func(done float64) { learn.Report(ctx, before+done*(1-before)) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// learn returns the model of a task's rows by settings that are all made.
func (s settings) learn(ctx context.Context, task learn.Task, reference *table.Table, report func(float64)) (*Model, error) {
	f, err := newFit(ctx, &s, task, reference)
	if err != nil {
		return nil, err
	}
	blocks, err := f.learn(ctx, report)
	if err != nil {
		return nil, err
	}
	return newModel(s, !task.NoTarget, blocks)
}
