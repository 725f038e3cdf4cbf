package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) logCommand() *cobra.Command {
	var (
		id     string
		rows   bool
		edits  bool
		formal bool
		on     string
		flags  sourceFlags
	)
	c := &cobra.Command{
		Use:   "log MODEL [--edits [--formal]] [--on DATA] [--rule ID [--rows]]",
		Short: "Show what each version of a model learnt, from where and when",
		Long: `Log lists the versions of a model: what was done, with what source, and when;
--on DATA says how often each is right there. --edits is the record of what
people did: who, what, when and why, with the rules that were told and struck
(--formal: in the rule language), and what accrete undo would take back.
With --rule it follows one rule, by its id (rules --json) or the beginning of
it, through the versions: when it first appeared, how its support grew, and
which sources stand behind it. --rows also lists the rows of the sources that it
covers, as long as the sources are there.`,
		Example: `  accrete log votes
  accrete log votes --rule 3f5a`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if id != "" {
				at, err := flags.elsewhere()
				if err != nil {
					return err
				}
				l, err := h.LogRule(c.Context(), args[0], id, rows, at)
				if err != nil || a.json {
					return a.orJSON(l, err)
				}
				l.Write(a.out)
				return nil
			}
			if edits {
				list, err := h.Edits(args[0])
				if err != nil {
					return err
				}
				if err := h.EditRules(c.Context(), list); err != nil {
					return err
				}
				return a.printEdits(list, formal)
			}
			l, err := h.Log(c.Context(), args[0], on)
			if l == nil {
				return err
			}
			return errors.Join(a.printLog(l), err) // damage hides no version that is left
		}),
	}
	c.Flags().BoolVar(&edits, "edits", false, "what people did: who, what, when and why")
	c.Flags().BoolVar(&formal, "formal", false, "with --edits: rules in the rule language, not as sentences")
	c.Flags().StringVar(&on, "on", "", "data on which each version is judged")
	c.Flags().StringVar(&id, "rule", "", "follow the rule with this id")
	c.Flags().BoolVar(&rows, "rows", false, "with --rule: list the rows that it covers")
	flags.register(c)
	return c
}

func (a *app) printLog(l *life.Log) error {
	if a.json {
		return a.printJSON(l)
	}
	var rows [][]string
	head := []string{"version", "kind", "source", "hash", "new rows", "rows", "rules", "when"}
	for i, v := range l.Versions {
		row := []string{
			strconv.Itoa(v.Number), v.Kind, shown(v.Source.Name, console.LongestCell), short(v.Source.Hash),
			count(v.Source.Rows), count(v.Rows), strconv.Itoa(v.Rules), life.Stamp(v.At),
		}
		if l.Judged != nil {
			row = append(row, l.Judged[i].Words())
		}
		rows = append(rows, row)
	}
	if l.Judged != nil {
		head = append(head, "right")
	}
	printTable(a.out, head, rows)
	if n := slices.IndexFunc(l.Versions, func(v store.Version) bool { return !v.LetGo }); n > 0 {
		fmt.Fprintf(a.out, "\nVersions up to %d were let go, as old versions took too much room: only what they learnt is recorded.\n", l.Versions[n-1].Number)
	}
	return nil
}

// printEdits prints what people did to a model, newest first, the rules under it.
func (a *app) printEdits(l *life.Edits, formal bool) error {
	if a.json {
		return a.printJSON(l)
	}
	if len(l.Edits) == 0 {
		fmt.Fprintf(a.out, "nobody has corrected %s\n", l.Model)
		return nil
	}
	var rows [][]string
	for i := range l.Edits {
		e := &l.Edits[i]
		what, state := e.Words()
		rows = append(rows, []string{strconv.Itoa(e.Version), e.At, e.By, shown(what, console.LongestLast), e.Note, state})
	}
	var table strings.Builder
	printTable(&table, []string{"version", "when", "who", "what", "why", ""}, rows)
	for i, line := range strings.SplitAfter(table.String(), "\n") {
		fmt.Fprint(a.out, line)
		if i > 0 && i <= len(l.Edits) {
			for _, r := range l.Edits[i-1].Rules {
				fmt.Fprintf(a.out, "         %s\n", shown(r.Line(formal), console.LongestLast))
			}
		}
	}
	return nil
}

// short is the beginning of a hash, enough to name it.
func short(hash string) string { return hash[:min(len(hash), 12)] }
