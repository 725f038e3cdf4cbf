package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

func (a *app) tellCommand() *cobra.Command {
	var (
		rules life.Rules
		flags editFlags
	)
	c := &cobra.Command{
		Use:   "tell MODEL RULES [--worth N] [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Tell a model what an expert knows, as rules with a strength",
		Long: `Tell adds the rules in the file RULES (- for standard input) to a model of any
learner that predicts classes, and keeps the result as a new version. A rule

  IF fever = high THEN illness = flu WITH 0.9 WORTH 50

counts as 50 cases of which 90 % have the flu, next to the rows learnt from that
satisfy it. Rows that come in later can confirm, dispute or outvote it: accrete
rules says which. The rules are weighed against the rows that the model learnt
from, which must still be there (see accrete verify).

A model of all columns together (gaussian) takes rules such as

  WHEN wealthy (0.3) WORTH 50 EXPECT rm ~ 7 ± 0.7 AND crim ~ -0.4 sd ± 0.2 sd

which count as 50 cases, of which three in ten are like that. They become units
of the mixture, next to those of the rows.

Tell says whose answers change, and whether that is better on rows that the
model has not learnt: those of --on DATA, or else its own rows, held out. --by
COL says it for each value of a column too. --preview changes nothing; of more
than 2,000 rows it does not hold any out, so as not to keep anybody waiting.`,
		Example: `  accrete tell votes expert.rules --preview
  accrete tell votes expert.rules --worth 20 --note "as in the manual"`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			edit, err := flags.at(h)
			if err != nil {
				return err
			}
			rules.File = args[1]
			t, err := h.Tell(c.Context(), name, rules, edit)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(t)
			}
			return a.printTold(c.Context(), t, filepath.Base(rules.File))
		}),
	}
	c.Flags().StringVar(&rules.Replaces, "replaces", "", "id of a rule that was told, which the new ones stand for")
	console.WeightVar(c.Flags(), &rules.Worth, "worth", 0, worthUsage)
	flags.register(c)
	return c
}

func (a *app) printTold(ctx context.Context, t *life.Told, file string) error {
	fmt.Fprintf(a.out, "%s: %s told by %s\n", versionOf(&t.Learnt), plural(max(len(t.Base.Rules)+len(t.Base.Units), len(t.Entries)), "rule"), file)
	if told, ok := t.Part.Model.(*expert.Told); ok && len(t.Base.Units) == 0 {
		fmt.Fprintln(a.out)
		if err := life.WriteStandings(ctx, a.out, t.Part); err != nil {
			return err
		}
		if told.Listened() {
			fmt.Fprintf(a.out, "\nthe %s took them in as units: their weights add to those of the rules that were learnt\n", told.Learner())
		}
	} else if len(t.Standings) > 0 {
		fmt.Fprintln(a.out)
		printUnitStandings(a.out, t.Standings)
	}
	a.printConflicts(t.Conflicts, "", "", bothDecide)
	life.WriteOverlaps(a.out, t.Overlaps, mostConflicts)
	a.printEffect(&t.Learnt)
	if t.Preview {
		return nil
	}
	next := append([]string{"rules"}, nextDiff(&t.Learnt)...)
	a.next(t.Part, append(next, fmt.Sprintf("forget %s %s", t.Model, life.NameOfSource(t.Part)))...)
	return nil
}

// printStandings prints what the rows say of each rule that was told.
func printStandings(w io.Writer, told *expert.Told) {
	var rows [][]string
	for _, s := range told.Standings() {
		r := s.Rule
		r.Evidence = rule.Evidence{}
		says := "no row satisfies it"
		if s.State != expert.Unmet {
			says = fmt.Sprintf("%s of %s rows: %s (%s to %s)", count(*s.Rule.Evidence.Correct), count(*s.Rule.Evidence.Covered), percent(s.Frequency), percent(s.Low), percent(s.High))
		}
		rows = append(rows, []string{string(s.State), says, r.String()})
	}
	printTable(w, []string{"state", "the rows say", "rule"}, rows)
}

// printUnitStandings prints what the rows say of each WHEN … EXPECT rule.
func printUnitStandings(w io.Writer, standings []life.Standing) {
	var rows [][]string
	for _, s := range standings {
		like, away, most := fmt.Sprintf("none of %s", count(s.Of)), "", ""
		if s.Rows > 0 {
			like = fmt.Sprintf("%s of %s", number(s.Rows), count(s.Of))
		}
		if s.Column != "" {
			away = fmt.Sprintf("%.2f", s.Moved)
			most = fmt.Sprintf("%s: %s, not %s", s.Column, number(*s.Found), number(*s.Expected))
		}
		rows = append(rows, []string{s.State, s.Unit, s.Source, number(s.Worth), like, away, most})
	}
	printTable(w, []string{"state", "rule", "told by", "worth", "rows like it", "widths away", "most in"}, rows)
}
