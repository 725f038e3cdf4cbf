package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) logCommand() *cobra.Command {
	var (
		id    string
		rows  bool
		flags sourceFlags
	)
	c := &cobra.Command{
		Use:   "log MODEL [--rule ID [--rows]]",
		Short: "Show what each version of a model learnt, from where and when",
		Long: `Log lists the versions of a model: what was done, with what source, and when.
With --rule it follows one rule, by its id (rules --json) or the beginning of
it, through the versions: when it first appeared, how its support grew, and
which sources stand behind it. --rows also lists the rows of the sources that it
covers, as long as the sources are there.`,
		Example: `  accrete log votes
  accrete log votes --rule 3f5a`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			if id != "" {
				return a.logRule(c.Context(), s, args[0], id, rows, &flags)
			}
			versions, err := s.Log(args[0])
			if len(versions) == 0 {
				return err
			}
			return errors.Join(a.printLog(versions), err) // damage hides no version that is left
		},
	}
	c.Flags().StringVar(&id, "rule", "", "follow the rule with this id")
	c.Flags().BoolVar(&rows, "rows", false, "with --rule: list the rows that it covers")
	c.Flags().StringArrayVar(&flags.at, "source", nil, sourceUsage)
	return c
}

// ruleVersion is a rule as it was in one version.
type ruleVersion struct {
	Version     int       `json:"version"`
	Kind        string    `json:"kind"`
	Source      string    `json:"source,omitempty"`
	At          time.Time `json:"at"`
	Present     bool      `json:"present"`
	Probability *float64  `json:"probability,omitempty"`
	Covered     *float64  `json:"covered,omitempty"`
	Correct     *float64  `json:"correct,omitempty"`
	State       string    `json:"state,omitempty"`
}

// logRule follows a rule through the versions of a model.
func (a *app) logRule(ctx context.Context, s *store.Store, ref, id string, listRows bool, flags *sourceFlags) error {
	versions, err := s.Log(ref)
	if err != nil {
		return err
	}
	var history []ruleVersion
	var last ruleEntry
	var holder learn.Model // the last model that has the rule
	for _, v := range versions {
		m, _, err := s.Load(v.String())
		if err != nil {
			return err
		}
		h := ruleVersion{Version: v.Number, Kind: v.Kind, Source: v.Source.Name, At: v.At}
		e, err := findRule(m, id)
		if err != nil {
			return err
		}
		if e != nil {
			last, id, holder = *e, e.ID, m
			h.Present, h.Probability, h.Covered, h.Correct, h.State = true, e.Probability, e.Covered, e.Correct, e.State
		}
		history = append(history, h)
	}
	if last.ID == "" {
		return fmt.Errorf("no version of %s has a rule with the id %q; accrete rules %s --json shows ids", ref, id, ref)
	}
	if last.State == "" { // an expert's rule has its sources already
		behind, err := knowledge.Provenance(ctx, holder)
		if err != nil {
			return err
		}
		last.Sources = sourceEntries(behind[last.ID])
	}
	var lists []sourceRows
	if listRows {
		if lists, err = a.coveredRows(ctx, s, holder, versions, last.Text, flags); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(struct {
			Model    string        `json:"model"`
			Rule     string        `json:"rule"`
			Text     string        `json:"text"`
			Versions []ruleVersion `json:"versions"`
			Sources  []sourceEntry `json:"sources"`
			Rows     []sourceRows  `json:"rows,omitempty"`
		}{versions[0].Model, last.ID, last.Text, history, append([]sourceEntry{}, last.Sources...), lists})
	}
	fmt.Fprintf(a.out, "%s  %s\n\n", last.ID, last.Text)
	var rows [][]string
	for _, h := range history {
		row := []string{strconv.Itoa(h.Version), h.Kind, h.Source, "", "", "", "not there", stamp(h.At)}
		if h.Present {
			row[3], row[4], row[5], row[6] = figure(h.Probability, number), figure(h.Covered, count), figure(h.Correct, count), h.State
		}
		rows = append(rows, row)
	}
	printTable(a.out, []string{"version", "kind", "source", "probability", "covered", "correct", "", "when"}, rows)
	if len(last.Sources) > 0 {
		fmt.Fprintln(a.out)
		rows = nil
		for _, s := range last.Sources {
			rows = append(rows, []string{s.Source, figure(s.Covered, count), figure(s.Correct, count)})
		}
		printTable(a.out, []string{"source", "covered", "correct"}, rows)
	}
	for _, l := range lists {
		fmt.Fprintf(a.out, "\n%s, rows %s\n", l.Source, strings.Trim(fmt.Sprint(l.Rows), "[]"))
	}
	return nil
}

// sourceRows are the rows of a source, counted from 1, that a rule covers.
type sourceRows struct {
	Source string `json:"source"`
	Rows   []int  `json:"rows"`
}

// coveredRows reads a model's sources again and lists the rows that a rule
// covers. Lists of rows are never kept.
func (a *app) coveredRows(ctx context.Context, s *store.Store, m learn.Model, versions []store.Version, text string, flags *sourceFlags) ([]sourceRows, error) {
	base, err := rule.Parse("the rule", []byte(text))
	if err != nil {
		return nil, err
	}
	if len(base.Rules) != 1 {
		return nil, errors.New("only the rows of an IF rule can be listed")
	}
	matcher, err := rule.NewMatcher(base.Rules[0].If, m.Schema())
	if err != nil {
		return nil, err
	}
	var lists []sourceRows
	for _, v := range live(m, versions) {
		if v.Kind == store.Tell {
			continue
		}
		t, err := a.readAgain(ctx, s, versions[0].Model, v, m.Schema(), flags)
		if err != nil {
			return nil, err
		}
		list := sourceRows{Source: v.Source.Name, Rows: []int{}}
		for row := range t.Rows() {
			if matcher.MatchRow(t, row) {
				list.Rows = append(list.Rows, row+1)
			}
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// figure writes a figure that may be missing.
func figure(x *float64, write func(float64) string) string {
	if x == nil {
		return ""
	}
	return write(*x)
}

// findRule returns the rule with this id, or the only one whose id begins with
// it; nil if there is none.
func findRule(m learn.Model, id string) (*ruleEntry, error) {
	base, _, err := knowledge.Of(m)
	if err != nil {
		return nil, err
	}
	var entries []ruleEntry
	if told, ok := m.(*expert.Told); ok {
		entries = toldEntries(told)
	}
	if base != nil {
		entries = append(entries, ruleEntries(base)...)
	}
	var found *ruleEntry
	for i := range entries {
		if !strings.HasPrefix(entries[i].ID, id) {
			continue
		}
		if found != nil && found.ID != entries[i].ID {
			return nil, fmt.Errorf("the ids of several rules begin with %q: %s and %s", id, found.ID, entries[i].ID)
		}
		if found == nil {
			found = &entries[i]
		}
	}
	return found, nil
}

func (a *app) printLog(versions []store.Version) error {
	if a.json {
		return a.printJSON(struct {
			Model    string          `json:"model"`
			Versions []store.Version `json:"versions"`
		}{versions[0].Model, versions})
	}
	var rows [][]string
	for _, v := range versions {
		rows = append(rows, []string{
			strconv.Itoa(v.Number), v.Kind, v.Source.Name, short(v.Source.Hash),
			count(v.Source.Rows), count(v.Rows), strconv.Itoa(v.Rules), stamp(v.At),
		})
	}
	printTable(a.out, []string{"version", "kind", "source", "hash", "new rows", "rows", "rules", "when"}, rows)
	return nil
}

// stamp writes a time for people and programs alike.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// short is the beginning of a hash, enough to name it.
func short(hash string) string { return hash[:min(len(hash), 12)] }
