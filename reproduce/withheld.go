package reproduce

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// known is a rule that people know of a data set, and where they say so. The sets
// and rules were chosen before anything was measured, and each has one rule, the
// one that its source says first or, of a definition, the first that is a
// conjunction.
type known struct{ data, rule, source string }

// withheldRules are eight of them.
var withheldRules = []known{
	{"monks1", `IF a5 = 1 THEN class = 1`, "Thrun et al. 1991, The MONK's Problems: a1 = a2 or a5 = 1"},
	{"monks3", `IF a5 = 4 THEN class = 0`, "Thrun et al. 1991, The MONK's Problems: (a5 = 3 and a4 = 1) or (a5 ≠ 4 and a2 ≠ 3)"},
	{"car", `IF safety = low THEN class = unacc`, "Bohanec & Rajkovič 1990, DEX: a car that is not safe is not acceptable"},
	{"tic-tac-toe", `IF top-left-square = x AND middle-middle-square = x AND bottom-right-square = x THEN Class = positive`, "Aha 1991, Incremental Constructive Induction: x has won"},
	{"mushroom", `IF odor = f THEN class = p`, "Schlimmer 1987, Concept Acquisition: a foul odour is poisonous"},
	{"votes", `IF physician-fee-freeze = y THEN class = republican`, "Congressional Quarterly Almanac 1984; the test that every tree of these votes begins with (Quinlan 1993)"},
	{"multiplexer11", `IF a0 = 0 AND a1 = 0 AND a2 = 0 AND d0 = 1 THEN y = 1`, "Wilson 1987, Classifier Systems: the address selects the bit"},
	{"zoo", `IF milk = TRUE THEN type = mammal`, "Forsyth 1990, PC/BEAGLE: mammals give milk"},
}

// withheld asks what telling is worth. All rows that a known rule covers are kept
// from the learner, as if no such case had come yet; the model is told the rule,
// WITH 0.95 WORTH 20 for all sets, and judged by a third of all rows that it has
// not learnt, among them those of the group. As a control the same rule is told
// to a model that learnt such rows: there it should do no harm.
func withheld() []Experiment {
	const seeds = 5
	const how = "two thirds of the rows are learnt by default settings but those that the rule covers; a third is held out"
	var all []Experiment
	for _, k := range withheldRules {
		all = append(all, Experiment{
			Name: "withheld-" + k.data, Tags: []string{"telling"}, Source: k.source,
			Measure: "points of accuracy on rows held out that telling " + k.rule + " gains; " + how + "; at least one is expected",
			Figure:  reference(1).percent().higher(), Seeds: seeds, Why: withheldWhy[k.data],
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				g, err := k.gain(ctx, seed)
				return 100 * g.withheld, err
			}),
		})
	}
	return append(all, Experiment{
		Name: "withheld-sets", Tags: []string{"telling"}, Source: "the sources of the eight rules",
		Measure: "sets of eight on which telling the rule that was withheld raises the accuracy on rows held out, by more than the 95 % interval of its mean; at least five are expected",
		Figure:  reference(5).higher(), Seeds: seeds,
		Run: withheldSets,
	}, Experiment{
		Name: "withheld-control", Tags: []string{"telling"}, Source: "the sources of the eight rules",
		Measure: "points of accuracy on rows held out that telling the same rules gains where the rows were learnt, mean of the eight sets; no harm is expected",
		Figure:  reference(0).percent().higher(), Seeds: seeds,
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			sum := 0.0
			for _, k := range withheldRules {
				g, err := k.gain(ctx, seed)
				if err != nil {
					return 0, err
				}
				sum += g.learnt
			}
			return 100 * sum / float64(len(withheldRules)), nil
		}),
	})
}

// withheldWhy says why a set gains less than a point.
var withheldWhy = map[string]string{}

// withheldSets counts the sets that gain for sure.
func withheldSets(ctx context.Context, first uint64, seeds int) (Result, error) {
	sets := 0.0
	for _, k := range withheldRules {
		var gains []float64
		for i := range seeds {
			g, err := k.gain(ctx, first+uint64(i))
			if err != nil {
				return Result{}, err
			}
			gains = append(gains, g.withheld)
		}
		mean := stat.Mean(gains)
		if mean.Value > 0 && (seeds == 1 || mean.Interval(0.95, stat.TwoSided).Low > 0) {
			sets++
		}
	}
	return Result{sets, sets, sets}, nil
}

// gains are what telling a rule adds to the accuracy on rows held out, where its
// rows were kept from the learner, and where they were learnt.
type gains struct{ withheld, learnt float64 }

// gain measures it for one division of the rows.
func (k known) gain(ctx context.Context, seed uint64) (gains, error) {
	return once(ctx, "withheld "+k.data, seed, func() (gains, error) {
		t, set, err := datasets.Load(ctx, k.data)
		if err != nil {
			return gains{}, err
		}
		target := t.Schema.Index(set.Target)
		fold, err := evaluate.Folds(t, target, 3, seed)
		if err != nil {
			return gains{}, err
		}
		base, err := rule.Parse(k.data, []byte(k.rule+" WITH 0.95 WORTH 20"))
		if err != nil {
			return gains{}, err
		}
		covers, err := rule.NewMatcher(base.Rules[0].If, t.Schema)
		if err != nil {
			return gains{}, err
		}
		var learnt, rest, test []int
		for r, f := range fold {
			switch {
			case f == 0:
				test = append(test, r)
			case f > 0:
				if learnt = append(learnt, r); !covers.MatchRow(t, r) {
					rest = append(rest, r)
				}
			}
		}
		if len(rest) == len(learnt) {
			return gains{}, fmt.Errorf("%s: no row meets %s", k.data, k.rule)
		}
		var g gains
		if g.withheld, err = told(ctx, base, t.Select(rest), t.Select(test), set.Target, seed); err != nil {
			return g, err
		}
		g.learnt, err = told(ctx, base, t.Select(learnt), t.Select(test), set.Target, seed)
		return g, err
	})
}

// told learns rows, tells the result rules, and returns by how much it is right
// more often on others.
func told(ctx context.Context, rules *rule.Base, train, test *table.Table, target string, seed uint64) (float64, error) {
	l, err := learn.New("rulenet", nil)
	if err != nil {
		return 0, err
	}
	source := learn.Source{ID: "train"}
	before, err := l.Learn(ctx, learn.Task{Table: train, Target: target, Source: source, Seed: seed})
	if err != nil {
		return 0, err
	}
	fitted, _, err := table.Conform(train, before.Schema(), false)
	if err != nil {
		return 0, err
	}
	after, err := expert.Tell(ctx, before, learn.Advice{Rules: rules, Expert: learn.Source{ID: "expert"}}, learn.Learnt{Source: source, Table: fitted})
	if err != nil {
		return 0, err
	}
	was, err := rightShare(ctx, before, test)
	if err != nil {
		return 0, err
	}
	is, err := rightShare(ctx, after, test)
	return is - was, err
}

// rightShare is the share of rows that a model answers rightly.
func rightShare(ctx context.Context, m learn.Model, t *table.Table) (float64, error) {
	_, out, err := answered(ctx, m, t)
	if err != nil {
		return 0, err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	truth, names := t.Columns[m.Target()].Codes, t.Schema.Attributes[m.Target()].Values
	right := 0.0
	for r, code := range truth {
		if code >= 0 && classes[learn.Best(out.Row(r), classes)] == names[code] {
			right++
		}
	}
	return right / float64(t.Rows()), nil
}
