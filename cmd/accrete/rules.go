package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

func (a *app) rulesCommand() *cobra.Command {
	var top int
	c := &cobra.Command{
		Use:   "rules MODEL [--top N]",
		Short: "Print what a model knows, as rules",
		Long: `Rules prints a model in the rule language, each rule with its evidence: the
rows it covers, those it is right on, and its information in bits. What is
printed can be read back, and predicts as the model does.`,
		Example: `  accrete rules votes
  accrete rules votes@2 --top 7
  accrete rules votes --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			m, v, err := s.Load(args[0])
			if err != nil {
				return err
			}
			r, ok := m.(learn.Ruler)
			if !ok {
				return cannot(v.Learner, "be read as rules", func(c learn.Can) bool { return c.Rules })
			}
			base, err := r.Rules()
			if err != nil {
				return err
			}
			if top > 0 {
				base, _ = topRules(base, top)
			}
			if a.json {
				return a.printJSON(struct {
					Model   string      `json:"model"`
					Version int         `json:"version"`
					Kind    string      `json:"kind"`
					Rules   []ruleEntry `json:"rules"`
				}{v.Model, v.Number, base.Kind.String(), ruleEntries(base)})
			}
			return rounded(base, false).Write(a.out)
		},
	}
	c.Flags().IntVar(&top, "top", 0, "only the N most informative rules")
	return c
}

// topRules returns the n most informative rules of a base, in the base's own
// order, and how many were left out.
func topRules(base *rule.Base, n int) (*rule.Base, int) {
	if len(base.Rules) <= n {
		return base, 0
	}
	order := make([]int, len(base.Rules))
	for i := range order {
		order[i] = i
	}
	bits := func(i int) float64 {
		if b := base.Rules[i].Evidence.Bits; b != nil {
			return *b
		}
		return 0
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(bits(j), bits(i)) })
	order = order[:n]
	slices.Sort(order)
	best := *base
	best.Rules = make([]rule.Rule, n)
	for k, i := range order {
		best.Rules[k] = base.Rules[i]
	}
	best.Else = nil
	return &best, len(base.Rules) - n
}

// ruleEntry is a rule as programs read it.
type ruleEntry struct {
	ID          string      `json:"id"`
	Text        string      `json:"text"`
	If          []testEntry `json:"if"`
	Then        *thenEntry  `json:"then,omitempty"`
	Probability *float64    `json:"probability,omitempty"`
	Covered     *float64    `json:"covered,omitempty"`
	Correct     *float64    `json:"correct,omitempty"`
	Bits        *float64    `json:"bits,omitempty"`
	Weight      *float64    `json:"weight,omitempty"`
	Worth       *float64    `json:"worth,omitempty"`
}

type testEntry struct {
	Column string `json:"column,omitempty"`
	Op     string `json:"op"`
	Value  any    `json:"value,omitempty"`
}

type thenEntry struct {
	Column string `json:"column"`
	Value  any    `json:"value"`
}

func ruleEntries(base *rule.Base) []ruleEntry {
	entries := make([]ruleEntry, 0, len(base.Rules)+len(base.Units)+1)
	add := func(r *rule.Rule, text string) {
		e := ruleEntry{
			ID: r.ID(), Text: text, If: testEntries(r.If), Then: &thenEntry{r.Then.Column, r.Then.Value},
			Probability: r.With, Worth: r.Worth,
			Covered: r.Evidence.Covered, Correct: r.Evidence.Correct, Bits: r.Evidence.Bits, Weight: r.Evidence.Weight,
		}
		switch {
		case r.Then.Numeric:
			e.Then.Value = r.Then.Mean
		case len(r.Then.Classes) > 0:
			likely := likeliest(r.Then.Classes)
			e.Then.Value, e.Probability = likely.Value, &likely.P
		}
		entries = append(entries, e)
	}
	for i := range base.Rules {
		add(&base.Rules[i], base.Rules[i].String())
	}
	if base.Else != nil {
		add(base.Else, rule.Statement{Rule: base.Else, Else: true}.String())
	}
	for i := range base.Units {
		u := &base.Units[i]
		entries = append(entries, ruleEntry{ID: u.ID(), Text: u.String(), If: []testEntry{}, Probability: &u.Prior, Worth: u.Worth})
	}
	return entries
}

func testEntries(tests []rule.Test) []testEntry {
	entries := make([]testEntry, 0, len(tests))
	for _, t := range tests {
		e := testEntry{Column: t.Column, Op: t.Op.String()}
		switch t.Op {
		case rule.Eq, rule.Ne:
			e.Value = t.Value
		case rule.In, rule.NotIn:
			e.Value = t.Values
		case rule.Lt, rule.Le, rule.Gt, rule.Ge:
			e.Value = t.Number
		case rule.Between:
			e.Value = []float64{t.Low, t.High}
		case rule.HalfSpace, rule.AtLeast:
			e.Value = t.String()
		}
		entries = append(entries, e)
	}
	return entries
}
