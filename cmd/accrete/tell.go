package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
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
from, which must still be there (see accrete verify).

A model of all columns together (gaussian) takes rules such as

  WHEN wealthy (0.3) WORTH 50 EXPECT rm ~ 7 ± 0.7 AND crim ~ -0.4 sd ± 0.2 sd

which count as 50 cases, of which three in ten are like that. They become units
of the mixture, next to those of the rows.`,
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
		if base.Units[i].Worth == nil {
			return nil, store.Source{}, usagef("%s: rule %q does not say how many cases it is worth; add WORTH and a number, or --worth N for all", f.file, base.Units[i].Name)
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
	if len(base.Units) > 0 {
		a.warnLearntBefore(s, name, source.Hash, rules.file)
		return a.tellUnits(ctx, tx, m, before, base, source, rules)
	}
	if err := expert.CheckTold(base, m.Schema(), m.Target()); err != nil {
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
	told, err := expert.Tell(ctx, m, base, learn.Source{ID: source.ID, Name: source.Name}, rows)
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
	if told.Listened() {
		fmt.Fprintf(a.out, "\nthe %s took them in as units: their weights add to those of the rules that were learnt\n", told.Learner())
	}
	a.printConflicts(conflicts, saysOne, saysOne, bothDecide)
	for _, o := range overlaps[:min(len(overlaps), mostConflicts)] {
		fmt.Fprintf(a.out, "\nwhere %s two rules count together:\n    %s\n    %s\n    the rows there  %s\n", regionText(o.Region), o.A.String(), o.B.String(), rowsText(o.Rows))
	}
	fmt.Fprintf(a.out, "\nnext: accrete rules %s    accrete diff %s@%d %s@%d    accrete forget %s %s\n", v.Model, v.Model, before.Number, v.Model, v.Number, v.Model, filepath.Base(rules.file))
	return nil
}

// tellUnits adds WHEN … EXPECT rules to a model that takes them in itself.
func (a *app) tellUnits(ctx context.Context, tx *store.Tx, m learn.Model, before store.Version, base *rule.Base, source store.Source, rules *rulesFlags) error {
	start := time.Now()
	teller, ok := learn.Ability[learn.Teller](m)
	if !ok {
		return fmt.Errorf("%s: unit %q: %w", rules.file, base.Units[0].Name, notJoint(m.Learner(), "be told WHEN … EXPECT rules"))
	}
	told, err := teller.Tell(ctx, base, learn.Source{ID: source.ID, Name: source.Name})
	if err != nil {
		return fmt.Errorf("%s: %w", rules.file, err)
	}
	fresh, clashes, err := unitConflicts(m, told)
	if err != nil {
		return err
	}
	var standings []learn.UnitStanding
	for _, s := range told.(learn.Teller).UnitStandings() {
		if s.Expert.ID == source.ID {
			standings = append(standings, s)
		}
	}
	settings := maps.Clone(before.Settings)
	delete(settings, worthSetting)
	for key, value := range rules.settings() {
		settings[key] = value
	}
	v, err := tx.Save(told, store.Version{Kind: store.Tell, Source: source, At: start, Seed: before.Seed, Settings: settings})
	if err != nil {
		return err
	}
	if a.json {
		entries := ruleEntries(&rule.Base{Units: fresh})
		setStates(entries, fresh, standings)
		return a.printJSON(struct {
			learnt
			Conflicts []conflictEntry `json:"conflicts"`
			Told      []ruleEntry     `json:"told"`
			Standings []standingEntry `json:"standings"`
		}{newLearnt(told, v, time.Since(start).Seconds()), clashEntries(clashes), entries, standingEntries(standings)})
	}
	fmt.Fprintf(a.out, "model %s, version %d: %s told by %s\n\n", v.Model, v.Number, plural(len(base.Units), "rule"), filepath.Base(rules.file))
	printUnitStandings(a.out, standings)
	a.printClashes(clashes)
	fmt.Fprintf(a.out, "\nnext: accrete rules %s    accrete diff %s@%d %s@%d    accrete forget %s %s\n", v.Model, v.Model, before.Number, v.Model, v.Number, v.Model, filepath.Base(rules.file))
	return nil
}

// unitConflicts returns the units that a model has since it was told rules,
// and where they disagree with each other and with those it had.
func unitConflicts(before, after learn.Model) (fresh []rule.Unit, clashes []knowledge.Clash, err error) {
	was, _, err := knowledge.Of(before)
	if err != nil {
		return nil, nil, err
	}
	is, _, err := knowledge.Of(after)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for i := range was.Units {
		known[was.Units[i].ID()] = true
	}
	for i := range is.Units {
		if u := is.Units[i]; u.Worth != nil && !known[u.ID()] {
			clashes = append(clashes, knowledge.Clashes([]rule.Unit{u}, fresh)...)
			fresh = append(fresh, u)
		}
	}
	return fresh, append(clashes, knowledge.Clashes(fresh, was.Units)...), nil
}

func (a *app) printClashes(clashes []knowledge.Clash) {
	if len(clashes) == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%s; both count, by the cases behind them:\n", plural(len(clashes), "conflict"))
	for _, c := range clashes[:min(len(clashes), mostConflicts)] {
		one, other := rule.Unit{Expect: []rule.Expectation{c.Says}}, rule.Unit{Expect: []rule.Expectation{c.Other}}
		roundUnit(&one)
		roundUnit(&other)
		fmt.Fprintf(a.out, "  where %s\n    %s says %s\n    %s says %s\n", expectationText(c.Where), c.A.Name, one.Expect[0], c.B.Name, other.Expect[0])
	}
	if more := len(clashes) - mostConflicts; more > 0 {
		fmt.Fprintf(a.out, "  and %d more: --json lists them\n", more)
	}
}

// expectationText writes some expectations of a unit.
func expectationText(expect []rule.Expectation) string {
	u := rule.Unit{Expect: expect}
	roundUnit(&u)
	texts := make([]string, len(u.Expect))
	for i, e := range u.Expect {
		texts[i] = e.String()
	}
	return strings.Join(texts, " AND ")
}

func clashEntries(clashes []knowledge.Clash) []conflictEntry {
	entries := make([]conflictEntry, len(clashes))
	for i, c := range clashes {
		entries[i] = conflictEntry{A: c.A.Name + ": " + c.Says.String(), B: c.B.Name + ": " + c.Other.String(), Region: expectationText(c.Where)}
	}
	return entries
}

// printUnitStandings prints what the rows say of each WHEN … EXPECT rule.
func printUnitStandings(w io.Writer, standings []learn.UnitStanding) {
	var rows [][]string
	for _, s := range standings {
		like, away, most := fmt.Sprintf("none of %s", count(s.Of)), "", ""
		if s.Rows > 0 {
			like = fmt.Sprintf("%s of %s", number(s.Rows), count(s.Of))
		}
		if s.Column != "" {
			away = fmt.Sprintf("%.2f", s.Moved)
			most = fmt.Sprintf("%s: %s, not %s", s.Column, number(s.Found), number(s.Expected))
		}
		rows = append(rows, []string{string(s.State), s.Unit, s.Expert.Name, number(s.Worth), like, away, most})
	}
	printTable(w, []string{"state", "rule", "told by", "worth", "rows like it", "widths away", "most in"}, rows)
}

// standingEntry is how a WHEN … EXPECT rule fares, as programs read it.
type standingEntry struct {
	Unit     string   `json:"unit"`
	Source   string   `json:"source"`
	State    string   `json:"state"`
	Worth    float64  `json:"worth"`
	Rows     float64  `json:"rows"`
	Of       float64  `json:"of"`
	Moved    float64  `json:"moved"`
	Column   string   `json:"column,omitempty"`
	Expected *float64 `json:"expected,omitempty"`
	Found    *float64 `json:"found,omitempty"`
}

func standingEntries(standings []learn.UnitStanding) []standingEntry {
	entries := make([]standingEntry, len(standings))
	for i, s := range standings {
		entries[i] = standingEntry{Unit: s.Unit, Source: s.Expert.Name, State: string(s.State), Worth: s.Worth, Rows: s.Rows, Of: s.Of, Moved: s.Moved}
		if s.Column != "" {
			entries[i].Column, entries[i].Expected, entries[i].Found = s.Column, &s.Expected, &s.Found
		}
	}
	return entries
}

// setStates says of an expert's own units how they fare and who told them.
func setStates(entries []ruleEntry, units []rule.Unit, standings []learn.UnitStanding) {
	first := len(entries) - len(units)
	for i := range units {
		for _, s := range standings {
			if units[i].Worth != nil && s.Unit == units[i].Name {
				entries[first+i].State, entries[first+i].Sources = string(s.State), []sourceEntry{{Source: s.Expert.Name}}
			}
		}
	}
}

// printTold prints how an expert's rules fare on the table that a model has
// learnt from, and where they disagree.
func (a *app) printTold(t *table.Table, told *expert.Told) error {
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
func toldConflicts(told *expert.Told, base *rule.Base) (conflicts, overlaps []knowledge.Conflict, err error) {
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
func printStandings(w io.Writer, told *expert.Told) {
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
func toldEntries(told *expert.Told) []ruleEntry {
	var entries []ruleEntry
	for _, s := range told.Standings() {
		e := newRuleEntry(&s.Rule, s.Rule.String())
		e.State = string(s.State)
		e.Sources = append([]sourceEntry{{Source: s.Expert.Name}}, sourceEntries(s.Behind)...)
		entries = append(entries, e)
	}
	return entries
}

// withRules is a learner whose tasks carry an expert's rules, and whose models
// are told others afterwards.
type withRules struct {
	learn.Learner
	rules  *rule.Base
	expert learn.Source
	later  []learntRules
}

// learntRules are rules that a model took in itself.
type learntRules struct {
	rules  *rule.Base
	expert learn.Source
}

func (l *withRules) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	task.Rules, task.Expert = l.rules, l.expert
	m, err := l.Learner.Learn(ctx, task)
	for _, more := range l.later {
		if err != nil {
			return nil, err
		}
		teller, ok := learn.Ability[learn.Teller](m)
		if !ok {
			return nil, notJoint(m.Learner(), "be told WHEN … EXPECT rules")
		}
		m, err = teller.Tell(ctx, more.rules, more.expert)
	}
	return m, err
}

// taught returns a learner that takes an expert's rules into account: by
// itself if it takes such rules, or with their answers put next to its own.
func taught(info learn.Info, l learn.Learner, base *rule.Base, source store.Source, t *table.Table, target int) (learn.Learner, error) {
	if base == nil {
		return l, nil
	}
	who := learn.Source{ID: source.ID, Name: source.Name}
	if len(base.Units) > 0 {
		if err := info.CheckRules(base); err != nil {
			return nil, err
		}
		return &withRules{Learner: l, rules: base, expert: who}, nil
	}
	if err := expert.CheckTold(base, t.Schema, target); err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	return expert.Telling(l, base, who), nil
}
