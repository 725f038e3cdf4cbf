package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) rulesCommand() *cobra.Command {
	var (
		budget  learn.Budget
		without string
		growth  bool
		asTable bool
		sd      bool
		network bool
		on      string
		flags   dataFlags
	)
	c := &cobra.Command{
		Use:   "rules MODEL [--top N | --bits SHARE | --growth | --network [--on DATA]] [--table] [--sd] [--without SOURCE]",
		Short: "Print what a model knows, as rules",
		Long: `Rules prints a model in the rule language, each rule with its evidence: the
rows it covers, those it is right on, and its information in bits. What is
printed can be read back, and predicts as the model does.

With --top or --bits it is cut to a budget. Where the model can (rulenet), the
rules that are left are fitted again and it is said what they are worth.

With --table they stand in a table, WHEN … EXPECT rules side by side. --sd gives
their numbers in deviations from the columns' means instead of the columns' own
units.

With --growth it prints what each unit of a model that grew removed, or how each
epoch of training went. With --network it prints a model that is a network unit
by unit; with --on, what the units say to the rows of DATA.`,
		Example: `  accrete rules votes
  accrete rules votes@2 --top 7
  accrete rules votes --bits 0.8
  accrete rules boston --table --sd
  accrete rules votes --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			m, v, err := a.loadWithout(c.Context(), s, args[0], without)
			if err != nil {
				return err
			}
			told, isTold := m.(*expert.Told)
			switch {
			case growth:
				return a.printGrowth(m, v)
			case network || on != "":
				return a.printNetwork(c.Context(), m, v, on, &flags)
			}
			read := m
			if a.json {
				read = plain(m) // what was told is listed with its state
			}
			r, ok := learn.Ability[learn.Ruler](read)
			if !ok && !isTold {
				return cannot(v.Learner, "be read as rules", func(c learn.Can) bool { return c.Rules })
			}
			base := &rule.Base{} // of a model that only has the rules it was told
			if ok {
				if base, err = r.Rules(); err != nil {
					return err
				}
			} else if !a.json {
				printStandings(a.out, told)
				return nil
			}
			if budget != (learn.Budget{}) {
				if base, err = excerpt(c.Context(), m, base, budget); err != nil {
					return err
				}
			}
			if sd {
				if base, err = inDeviations(m, base); err != nil {
					return err
				}
			}
			var standings []learn.UnitStanding
			if t, ok := learn.Ability[learn.Teller](m); ok {
				standings = t.UnitStandings()
			}
			if a.json {
				entries := ruleEntries(base)
				behind, err := knowledge.Provenance(c.Context(), m)
				if err != nil {
					return err
				}
				for i := range entries {
					entries[i].Sources = sourceEntries(behind[entries[i].ID])
				}
				setStates(entries, base.Units, standings)
				if isTold {
					entries = append(entries, toldEntries(told)...)
				}
				return a.printJSON(struct {
					Model   string      `json:"model"`
					Version int         `json:"version"`
					Kind    string      `json:"kind"`
					Rules   []ruleEntry `json:"rules"`
					// Standings are how experts' WHEN … EXPECT rules fare.
					Standings []standingEntry `json:"standings,omitempty"`
				}{v.Model, v.Number, base.Kind.String(), entries, standingEntries(standings)})
			}
			if asTable {
				writeRuleTable(a.out, m, base, sd)
				return nil
			}
			return rounded(base, false).Write(a.out)
		},
	}
	c.Flags().IntVar(&budget.Top, "top", 0, "only the N most informative rules")
	c.Flags().Float64Var(&budget.Bits, "bits", 0, "only rules that carry this share of the information, from 0 to 1")
	c.Flags().BoolVar(&growth, "growth", false, "what each unit of a model that grew removed, and why growth stopped")
	c.Flags().BoolVar(&asTable, "table", false, "as a table")
	c.Flags().BoolVar(&sd, "sd", false, "what units expect in deviations from the columns' means")
	c.Flags().BoolVar(&network, "network", false, "the units of a model that is a network, with their weights (mlp, neuraltree, gaussian)")
	c.Flags().StringVar(&on, "on", "", "data whose rows to print the states of the network's units for")
	flags.register(c)
	c.MarkFlagsMutuallyExclusive("top", "bits", "growth", "network")
	c.Flags().StringVar(&without, "without", "", withoutUsage)
	return c
}

// printGrowth prints the certificates of a model that grew.
func (a *app) printGrowth(m learn.Model, v store.Version) error {
	g, ok := learn.Ability[learn.Grower](m)
	if !ok {
		return fmt.Errorf("a %s model did not grow unit by unit", v.Learner)
	}
	certificates, stopped := g.Grown()
	if a.json {
		return a.printJSON(struct {
			Model        string         `json:"model"`
			Version      int            `json:"version"`
			Certificates []fmt.Stringer `json:"certificates"`
			Stopped      string         `json:"stopped,omitempty"`
		}{v.Model, v.Number, certificates, stopped})
	}
	for _, c := range certificates {
		fmt.Fprintln(a.out, c)
	}
	if stopped != "" {
		fmt.Fprintln(a.out, "growth stopped: "+stopped)
	}
	return nil
}

// excerpt cuts the rules of a model to a budget. A model that cannot fit the
// rest again just shows its most informative rules.
func excerpt(ctx context.Context, m learn.Model, base *rule.Base, budget learn.Budget) (*rule.Base, error) {
	if e, ok := learn.Ability[learn.Excerpter](m); ok {
		x, err := e.Excerpt(ctx, budget)
		if err != nil {
			return nil, usageError{err}
		}
		return x.Base, nil
	}
	if budget.Bits != 0 || budget.Top < 0 {
		return nil, usagef("a %s model can only be cut to a number of rules above 0: --top N", m.Learner())
	}
	top, left := topRules(base, budget.Top)
	if left > 0 {
		cut := *top
		cut.Notes = append([]string{fmt.Sprintf("the %d most informative of %d rules", len(top.Rules), len(base.Rules))}, top.Notes...)
		top = &cut
	}
	return top, nil
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
	Templates   *float64    `json:"templates,omitempty"`
	Words       string      `json:"words,omitempty"`
	Worth       *float64    `json:"worth,omitempty"`
	// Sources say who stands behind the rule, and State how an expert's
	// rule fares.
	Sources []sourceEntry `json:"sources,omitempty"`
	State   string        `json:"state,omitempty"`
	// Expect is what a unit expects of the columns.
	Expect []expectEntry `json:"expect,omitempty"`
}

// expectEntry is an expectation as programs read it; neither a number nor
// values is NORMAL.
type expectEntry struct {
	Column    string             `json:"column"`
	Mean      *float64           `json:"mean,omitempty"`
	Deviation *float64           `json:"deviation,omitempty"`
	Values    map[string]float64 `json:"values,omitempty"`
	Normal    bool               `json:"normal,omitempty"`
}

// sourceEntry is what one source says of a rule.
type sourceEntry struct {
	Source  string   `json:"source"`
	Covered *float64 `json:"covered,omitempty"`
	Correct *float64 `json:"correct,omitempty"`
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

func sourceEntries(behind []expert.Behind) []sourceEntry {
	var entries []sourceEntry
	for _, b := range behind {
		entries = append(entries, sourceEntry{b.Source.Name, &b.Covered, &b.Correct})
	}
	return entries
}

func ruleEntries(base *rule.Base) []ruleEntry {
	entries := make([]ruleEntry, 0, len(base.Rules)+len(base.Units)+1)
	words := base.Words()
	for i := range base.Rules {
		e := newRuleEntry(&base.Rules[i], base.Rules[i].String())
		e.Words = words[i]
		entries = append(entries, e)
	}
	if base.Else != nil {
		entries = append(entries, newRuleEntry(base.Else, rule.Statement{Rule: base.Else, Else: true}.String()))
	}
	for i := range base.Units {
		entries = append(entries, unitEntry(&base.Units[i]))
	}
	return entries
}

func newRuleEntry(r *rule.Rule, text string) ruleEntry {
	e := ruleEntry{
		ID: r.ID(), Text: text, If: testEntries(r.If), Then: &thenEntry{r.Then.Column, r.Then.Value},
		Probability: r.With, Worth: r.Worth,
		Covered: r.Evidence.Covered, Correct: r.Evidence.Correct, Bits: r.Evidence.Bits, Weight: r.Evidence.Weight, Templates: r.Evidence.Templates,
	}
	switch {
	case r.Then.Numeric:
		e.Then.Value = r.Then.Mean
	case len(r.Then.Classes) > 0:
		likely := likeliest(r.Then.Classes)
		e.Then.Value, e.Probability = likely.Value, &likely.P
	}
	return e
}

func unitEntry(u *rule.Unit) ruleEntry {
	entry := ruleEntry{ID: u.ID(), Text: u.String(), If: []testEntry{}, Probability: &u.Prior, Worth: u.Worth}
	for i := range u.Expect {
		e := &u.Expect[i]
		x := expectEntry{Column: e.Column, Normal: e.Normal}
		switch {
		case len(e.Shares) > 0:
			x.Values = make(map[string]float64, len(e.Shares))
			for _, s := range e.Shares {
				x.Values[s.Value] = s.P
			}
		case !e.Normal:
			x.Mean, x.Deviation = &e.Mean, &e.Deviation
		}
		entry.Expect = append(entry.Expect, x)
	}
	return entry
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
