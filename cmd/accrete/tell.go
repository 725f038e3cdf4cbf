package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// rulesFlags say what an expert says, and what it counts for.
type rulesFlags struct {
	file  string
	worth float64
}

const worthUsage = "cases that a rule is worth which does not say so itself"

// worthSetting is where a version keeps its --worth.
const worthSetting = "--worth"

func (f *rulesFlags) settings() map[string]string {
	if f.worth == 0 {
		return nil
	}
	return map[string]string{worthSetting: strconv.FormatFloat(f.worth, 'g', -1, 64)}
}

func (a *app) tellCommand() *cobra.Command {
	var (
		rules rulesFlags
		flags sourceFlags
	)
	c := &cobra.Command{
		Use:   "tell MODEL RULES [--worth N] [--source NAME=PATH]…",
		Short: "Tell a model what an expert knows, as rules with a strength",
		Long: `Tell adds the rules in the file RULES (- for standard input) to a model of any
learner that predicts classes, and keeps the result as a new version. A rule

  IF fever = high THEN illness = flu WITH 0.9 WORTH 50

counts as 50 cases of which 90 % have the flu, next to the rows learnt from that
satisfy it. Rows that come in later can confirm, dispute or outvote it: accrete
rules says which. The rules are weighed against the rows that the model learnt
from, which must still be there (see accrete verify).`,
		Example: `  accrete tell votes expert.rules
  accrete tell votes expert.rules --worth 20`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			s, err := a.openStore()
			if err != nil {
				return err
			}
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			rules.file = args[1]
			return s.Write(ctx, name, func(tx *store.Tx) error { return a.tell(ctx, s, tx, name, &rules, &flags) })
		},
	}
	c.Flags().Float64Var(&rules.worth, "worth", 0, worthUsage)
	c.Flags().StringArrayVar(&flags.at, "source", nil, sourceUsage)
	return c
}

// read reads the rules about columns of a schema, and records where they are
// from. The same rules are the same source, wherever and whenever they are
// told: models that were told them apart and are merged were told them once.
func (f *rulesFlags) read(in io.Reader, schema *table.Schema) (*rule.Base, store.Source, error) {
	var src []byte
	var err error
	path := f.file
	if f.file == "-" {
		src, err = io.ReadAll(in)
	} else {
		src, err = os.ReadFile(f.file)
		if abs, absErr := filepath.Abs(f.file); absErr == nil {
			path = abs
		}
	}
	if err != nil {
		return nil, store.Source{}, fmt.Errorf("the rules cannot be read: %w", err)
	}
	base, err := rule.ParseFor(f.file, src, schema)
	if err != nil {
		return nil, store.Source{}, err
	}
	if f.worth < 0 || math.IsInf(f.worth, 0) || math.IsNaN(f.worth) {
		return nil, store.Source{}, usagef("--worth %v: expected a number of cases", f.worth)
	}
	for i := range base.Rules {
		if base.Rules[i].Worth == nil && f.worth > 0 {
			base.Rules[i].Worth = &f.worth
		}
		if base.Rules[i].Worth == nil {
			return nil, store.Source{}, usagef("%s: rule %d does not say how many cases it is worth; add WORTH and a number, or --worth N for all", f.file, i+1)
		}
	}
	for i := range base.Units {
		if base.Units[i].Worth == nil && f.worth > 0 {
			base.Units[i].Worth = &f.worth
		}
	}
	hash := sha256.Sum256(src)
	text := hex.EncodeToString(hash[:])
	return base, store.Source{ID: store.SourceID("rules", text, time.Time{}), Name: f.file, Path: path, Hash: text}, nil
}

func (a *app) tell(ctx context.Context, s *store.Store, tx *store.Tx, name string, rules *rulesFlags, flags *sourceFlags) error {
	start := time.Now()
	m, before, err := tx.Load()
	if err != nil {
		return err
	}
	base, source, err := rules.read(a.in, m.Schema())
	if err != nil {
		return err
	}
	if err := learn.CheckTold(base, m.Schema(), m.Target()); err != nil {
		return fmt.Errorf("%s: %w", rules.file, err)
	}
	versions, err := s.Log(name)
	if err != nil {
		return err
	}
	a.warnLearntBefore(s, name, source.Hash, rules.file)
	rows, err := a.learntRows(ctx, s, m, name, versions, flags)
	if err != nil {
		return fmt.Errorf("the rules cannot be weighed against the rows: %w", err)
	}
	told, err := learn.Tell(ctx, m, base, learn.Source{ID: source.ID, Name: source.Name}, rows)
	if err != nil {
		return err
	}
	conflicts, overlaps, err := toldConflicts(told, base)
	if err != nil {
		return err
	}
	knowledge.Decide(conflicts, rows, m.Schema(), m.Target())
	knowledge.Decide(overlaps, rows, m.Schema(), m.Target())
	v, err := tx.Save(told, store.Version{Kind: store.Tell, Source: source, At: start, Seed: before.Seed, Settings: before.Settings})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			learnt
			Conflicts []conflictEntry `json:"conflicts"`
			Overlaps  []conflictEntry `json:"overlaps"`
			Told      []ruleEntry     `json:"told"`
		}{newLearnt(told, v, time.Since(start).Seconds()), conflictEntries(conflicts), conflictEntries(overlaps), toldEntries(told)})
	}
	fmt.Fprintf(a.out, "model %s, version %d: %s told by %s\n\n", v.Model, v.Number, plural(len(base.Rules), "rule"), filepath.Base(rules.file))
	printStandings(a.out, told)
	a.printConflicts(conflicts, saysOne, saysOne, bothDecide)
	for _, o := range overlaps[:min(len(overlaps), mostConflicts)] {
		fmt.Fprintf(a.out, "\nwhere %s two rules count together:\n    %s\n    %s\n    the rows there  %s\n", regionText(o.Region), o.A.String(), o.B.String(), rowsText(o.Rows))
	}
	fmt.Fprintf(a.out, "\nnext: accrete rules %s    accrete diff %s@%d %s@%d    accrete forget %s %s\n", v.Model, v.Model, before.Number, v.Model, v.Number, v.Model, filepath.Base(rules.file))
	return nil
}

// printTold prints how an expert's rules fare on the table that a model has
// learnt from, and where they disagree.
func (a *app) printTold(t *table.Table, told *learn.Told) error {
	fmt.Fprintln(a.out)
	printStandings(a.out, told)
	base := &rule.Base{}
	for _, s := range told.Standings() {
		base.Rules = append(base.Rules, s.Rule)
	}
	conflicts, _, err := toldConflicts(told, base)
	if err != nil {
		return err
	}
	fitted, _, err := table.Conform(t, told.Schema(), false)
	if err != nil {
		return err
	}
	knowledge.Decide(conflicts, []learn.Learnt{{Table: fitted}}, told.Schema(), told.Target())
	a.printConflicts(conflicts, saysOne, saysOne, bothDecide)
	return nil
}

// How conflicts of an expert's rules are told.
const (
	saysOne    = "one says       "
	bothDecide = "where both hold, worths and rows decide together"
)

// toldConflicts lists where an expert's new rules disagree with what was told
// and learnt, and where they say the same as other rules.
func toldConflicts(told *learn.Told, base *rule.Base) (conflicts, overlaps []knowledge.Conflict, err error) {
	learnt, all, err := knowledge.Of(told)
	if err != nil {
		return nil, nil, err
	}
	var fresh rule.Base
	isNew := map[string]bool{}
	for i := range base.Rules {
		isNew[base.Rules[i].ID()] = true
	}
	for _, r := range all.Rules {
		if isNew[r.ID()] {
			fresh.Rules = append(fresh.Rules, r)
		}
	}
	schema := told.KnownToExperts()
	return append(knowledge.Among(all.Rules, schema), knowledge.Conflicts(&fresh, learnt, schema)...), knowledge.Overlaps(all.Rules, schema), nil
}

// printStandings prints what the rows say of each rule that was told.
func printStandings(w io.Writer, told *learn.Told) {
	var rows [][]string
	for _, s := range told.Standings() {
		r := s.Rule
		r.Evidence = rule.Evidence{}
		says := "no row satisfies it"
		if s.State != learn.Unmet {
			says = fmt.Sprintf("%s of %s rows: %s (%s to %s)", count(*s.Rule.Evidence.Correct), count(*s.Rule.Evidence.Covered), percent(s.Frequency), percent(s.Low), percent(s.High))
		}
		rows = append(rows, []string{string(s.State), says, r.String()})
	}
	printTable(w, []string{"state", "the rows say", "rule"}, rows)
}

// toldEntries are the experts' rules as programs read them.
func toldEntries(told *learn.Told) []ruleEntry {
	var entries []ruleEntry
	for _, s := range told.Standings() {
		e := newRuleEntry(&s.Rule, s.Rule.String())
		e.State = string(s.State)
		e.Sources = append([]sourceEntry{{Source: s.Expert.Name}}, sourceEntries(s.Behind)...)
		entries = append(entries, e)
	}
	return entries
}

// withRules is a learner whose tasks carry an expert's rules.
type withRules struct {
	learn.Learner
	rules  *rule.Base
	expert learn.Source
}

func (l *withRules) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	task.Rules, task.Expert = l.rules, l.expert
	return l.Learner.Learn(ctx, task)
}

// taught returns a learner that takes an expert's rules into account: by
// itself if it takes such rules, or with their answers put next to its own.
func taught(info learn.Info, l learn.Learner, base *rule.Base, source store.Source, t *table.Table, target int) (learn.Learner, error) {
	if base == nil {
		return l, nil
	}
	expert := learn.Source{ID: source.ID, Name: source.Name}
	if len(base.Units) > 0 {
		if err := info.CheckRules(base); err != nil {
			return nil, err
		}
		return &withRules{l, base, expert}, nil
	}
	if err := learn.CheckTold(base, t.Schema, target); err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	return learn.Telling(l, base, expert), nil
}
