package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) strikeCommand() *cobra.Command {
	var flags editFlags
	c := &cobra.Command{
		Use:   "strike MODEL RULE [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Leave a rule out",
		Long: `Strike makes a version without the rule whose id is RULE, or begins with it
(accrete rules MODEL shows ids). Of rules that were told it takes back that
one alone. A rule that rows brought is left out where the model can (rulenet,
cover, imported rules), and stays out when more rows are learnt; the others stay
as they are. Whose answers change is said, and with --preview nothing is done.`,
		Example: `  accrete strike votes 3f5a --preview
  accrete strike votes 3f5a --note "an accident of the sample"`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, edit, err := flags.of(h, args[0])
			if err != nil {
				return err
			}
			s, err := h.Strike(c.Context(), name, args[1], edit)
			if err != nil || a.json {
				return a.orJSON(s, err)
			}
			fmt.Fprintf(a.out, "%s: struck\n  %s\n", versionOf(&s.Learnt), shown(cmp.Or(s.Rule.Say.String(), s.Text), console.LongestLast))
			a.printEffect(&s.Learnt)
			a.nextEdit(&s.Learnt)
			return nil
		}),
	}
	flags.register(c)
	return c
}

func (a *app) cutCommand() *cobra.Command {
	var flags editFlags
	var top int
	c := &cobra.Command{
		Use:   "cut MODEL --top N [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Keep the few rules that say most",
		Long: `Cut makes a version of the N rules that together say most, fitted again where the
model can (rulenet), or that decide most (cover). Rules that were told stay. When
more rows are learnt, the model is learnt from all of them and cut again. Whose
answers change is said, and with --preview nothing is done.`,
		Example: `  accrete cut votes --top 5 --preview
  accrete cut votes --top 5`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, edit, err := flags.of(h, args[0])
			if err != nil {
				return err
			}
			if top == 0 {
				return usagef("say how many rules to keep, as in accrete cut %s --top 5", name)
			}
			l, err := h.Cut(c.Context(), name, top, edit)
			if err != nil || a.json {
				return a.orJSON(l, err)
			}
			was, is := l.Before.Units, l.Units
			if was == 0 {
				was, is = l.Before.Rules, l.Rules
			}
			fmt.Fprintf(a.out, "%s: cut to %s of %d\n", versionOf(l), plural(is, "rule"), was)
			a.printEffect(l)
			a.nextEdit(l)
			return nil
		}),
	}
	console.CountVar(c.Flags(), &top, "top", 0, 0, console.MostCount, "rules that are left")
	flags.register(c)
	return c
}

func (a *app) undoCommand() *cobra.Command {
	var flags editFlags
	c := &cobra.Command{
		Use:   "undo MODEL [--preview] [--note WHY] [--on DATA] [--by COL]",
		Short: "Take the newest change of a model back",
		Long: `Undo makes the version before the newest change the newest again: nothing is lost,
and undoing is a version too. Undoing again takes back the change before that
(accrete log MODEL --edits shows which it would be).`,
		Example:           `  accrete undo votes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, edit, err := flags.of(h, args[0])
			if err != nil {
				return err
			}
			u, err := h.Undo(c.Context(), name, edit)
			if err != nil || a.json {
				return a.orJSON(u, err)
			}
			fmt.Fprintf(a.out, "%s: version %d is taken back, and all is as in version %d\n", versionOf(&u.Learnt), u.Undid, u.Restored)
			a.printEffect(&u.Learnt)
			a.nextEdit(&u.Learnt)
			return nil
		}),
	}
	flags.register(c)
	return c
}
