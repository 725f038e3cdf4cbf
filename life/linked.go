package life

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Data whose rows point at others: a folder of tables, a task folder of background
// knowledge and examples, a logic program, or a database of which no table is named.
const folderScheme, taskScheme, programScheme, tablesScheme = "folder", "task", "program", "tables"

// The files of a task.
const (
	backgroundFile = "bk.pl"
	examplesFile   = "exs.pl"
	biasFile       = "bias.pl"
)

// linkedScheme says what a folder is, "" if none of them.
func linkedScheme(dir string) string {
	for _, name := range []string{examplesFile, backgroundFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return taskScheme
		}
	}
	if table.IsFolderOfTables(dir) {
		return folderScheme
	}
	return ""
}

func (d *Data) isLinked() bool {
	return d.scheme == folderScheme || d.scheme == taskScheme || d.scheme == programScheme || d.scheme == tablesScheme
}

// amid reads a folder of one file, or a file called after a table that a model knows around
// its rows, as tables of that model.
func (d *Data) amid(s *table.Schema) {
	if s.Keys == nil || d.scheme != fileScheme && d.scheme != filesScheme || d.Arg == "-" {
		return
	}
	if name := table.TableName(d.Arg); d.scheme == fileScheme && (name == s.Linked || !slices.Contains(s.Keys.Tables, name)) {
		return
	}
	d.scheme, d.at = folderScheme, ""
}

// ownTables reads a folder of one file as a table that may point at itself, if the target is
// called after it (staff.next), or if a model of such a table reads it.
func (d *Data) ownTables(o table.Options) {
	if d.scheme != filesScheme {
		return
	}
	of, _, dotted := strings.Cut(o.Target, ".")
	if o.Schema != nil && o.Schema.Keys != nil && len(o.Schema.Keys.Tables) == 1 {
		of, dotted = o.Schema.Linked, true
	}
	if dotted && table.IsTable(d.Arg, of) {
		d.scheme, d.at = folderScheme, ""
	}
}

// linked reads rows with what they point at.
func (d *Data) linked(ctx context.Context, o table.Options) (*table.Table, *table.Report, error) {
	if d.scheme == tablesScheme {
		t, report, err := table.Database(ctx, d.at, o)
		return t, report, misread(err)
	}
	if d.scheme == folderScheme {
		t, report, err := table.Folder(ctx, d.Arg, o)
		return t, report, misread(err)
	}
	task, hash, err := d.task(o)
	if none := (*logic.NoExamplesError)(nil); errors.As(err, &none) && o.Extend && o.Schema != nil && o.Schema.Linked != "" {
		err = task.About(o.Schema.Linked)
	}
	if err != nil {
		return nil, nil, misread(err)
	}
	report := &table.Report{Format: "logic program", Hash: hash, Address: d.Arg}
	if !slices.ContainsFunc(task.Examples, func(e logic.Example) bool { return !e.Positive }) && o.Schema == nil {
		n := len(task.Examples)
		if err := task.Close(); err != nil {
			return nil, nil, misread(err)
		}
		report.Notes = append(report.Notes, fmt.Sprintf("no example is negative: the world is closed, with %d tuples that do not belong to %v", len(task.Examples)-n, task.Of))
	}
	t, err := task.Table()
	if err == nil && o.Schema != nil {
		linked := t.Linked
		if o.Schema.Linked != linked.Of {
			return nil, nil, remedy.Misusef("the examples of %s are of %s, and the model is of %s", d.Arg, linked.Of, o.Schema.Linked)
		}
		t, _, err = table.Conform(t, o.Schema, o.Extend)
	}
	if err != nil {
		return nil, nil, err
	}
	report.Rows = t.Rows()
	return t, report, nil
}

// task reads a task folder or a program.
func (d *Data) task(o table.Options) (*logic.Task, string, error) {
	sum := sha256.New()
	read := func(path string, optional bool) (string, error) {
		text, err := readSmall(path, MostText)
		if optional && errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(path), len(text), text)
		return string(text), err
	}
	hash := func() string { return hex.EncodeToString(sum.Sum(nil)) }
	if d.scheme == programScheme {
		text, err := read(d.Arg, false)
		if err != nil {
			return nil, "", err
		}
		target := o.Target
		if o.Schema != nil {
			target = o.Schema.Linked
		}
		t, err := logic.Split(text, target)
		if err != nil {
			err = fmt.Errorf("%s: %w", d.Arg, err)
		}
		return t, hash(), err
	}
	var texts [3]string
	for i, name := range []string{backgroundFile, examplesFile, biasFile} {
		var err error
		if texts[i], err = read(filepath.Join(d.Arg, name), name != examplesFile || o.Extend); err != nil {
			return nil, "", err
		}
	}
	t, err := logic.ReadTask(texts[0], texts[1], texts[2])
	if err != nil {
		err = fmt.Errorf("%s: %w", d.Arg, err)
	}
	return t, hash(), err
}

// misread marks what was asked for wrongly.
func misread(err error) error {
	if err == nil {
		return nil
	}
	return remedy.Misuse(err)
}

// standingAlone returns rows without the columns by which they are found from others.
func standingAlone(t *table.Table, target int) (*table.Table, int, error) {
	var keys []string
	if own := t.Linked.Table(t.Linked.Of); own != nil {
		keys = append(keys, own.Primary...)
	}
	for _, l := range t.Linked.Links {
		if l.Table == t.Linked.Of {
			keys = append(keys, l.Columns...)
		}
	}
	at := -1
	var columns []int
	for i := range t.Schema.Attributes {
		if i != target && slices.Contains(keys, t.Schema.Attributes[i].Name) {
			continue
		}
		if i == target {
			at = len(columns)
		}
		columns = append(columns, i)
	}
	if len(columns) < 2 && len(t.Linked.Tables) > 0 {
		return nil, 0, fmt.Errorf("the rows of %s have no columns but keys; use a learner of relations: %s", t.Linked.Of, relational())
	}
	alone := t.Project(columns)
	alone.Linked = nil
	return alone, at, nil
}

// relational names the learners that take what rows point at.
func relational() string {
	var names []string
	for _, info := range learn.All() {
		if info.Takes.Relations {
			names = append(names, info.Name)
		}
	}
	return strings.Join(names, ", ")
}

// clausal is a model that is a list of clauses.
type clausal interface{ Clauses() []logic.Rule }

// Lemmas is what the theory of a model says of a goal without any example, as clauses.
type Lemmas struct {
	Model   string   `json:"model"`
	Version int      `json:"version"`
	Goal    string   `json:"goal"`
	Lemmas  []string `json:"lemmas"`
	Limited bool     `json:"limited,omitempty"` // there are more
}

// mostLemmas is how many lemmas are enumerated unless it is said.
const mostLemmas = 100

// LemmasOf enumerates the lemmas of a model's theory, up to a number of them.
func LemmasOf(p *Part, goal string, top *int) (*Lemmas, error) {
	m, ok := p.Model.(interface {
		Lemmas(goal string, most int) ([]*logic.Clause, error)
	})
	if !ok {
		return nil, remedy.Misusef("a model of %s has no theory in clauses; lemmas are of programs and of what was learnt beside a theory (ebg, focl)", p.Version.Learner)
	}
	most := mostLemmas
	if top != nil {
		most = *top
	}
	clauses, err := m.Lemmas(goal, most+1)
	if err != nil {
		return nil, err
	}
	l := &Lemmas{Model: p.Version.Model, Version: p.Version.Number, Goal: goal, Lemmas: []string{}, Limited: len(clauses) > most}
	for _, c := range clauses[:min(most, len(clauses))] {
		l.Lemmas = append(l.Lemmas, c.String())
	}
	return l, nil
}

// Write writes the clauses for people; of none it writes nothing.
func (l *Lemmas) Write(w io.Writer) {
	if l == nil {
		return
	}
	for _, c := range l.Lemmas {
		fmt.Fprintln(w, c)
	}
	if len(l.Lemmas) == 0 {
		fmt.Fprintln(w, "the theory says nothing that could hold")
	}
	if l.Limited {
		fmt.Fprintln(w, "and more, beyond the number that was asked for")
	}
}

// learntClauses returns the clauses that a model learnt, or the first of them.
func learntClauses(p *Part, m clausal, top *int) *RuleBase {
	list := &RuleBase{Model: p.Version.Model, Version: p.Version.Number, Kind: "clauses", Rules: []RuleEntry{}}
	target := p.Schema().Attributes[p.Target()].Name
	for i, c := range m.Clauses() {
		if top != nil && i >= *top {
			break
		}
		e := RuleEntry{ID: c.ID, Text: c.Text, Words: c.Words, If: []TestEntry{}, Then: &ThenEntry{Column: target, Value: c.Class}, Note: c.Note}
		if c.Told > 0 {
			e.Worth = &c.Told
		}
		if c.Note == "" {
			e.Probability, e.Covered, e.Correct = &c.Probability, &c.Covered, &c.Correct
		}
		list.Rules = append(list.Rules, e)
	}
	return list
}

// said is a clause over tables as a sentence; "" where the clause says it best.
func (e *RuleEntry) said() string {
	if e.Then == nil || !strings.HasPrefix(e.Words, "a ") && !strings.HasPrefix(e.Words, "an ") {
		return ""
	}
	return fmt.Sprintf("%s: %s = %v", e.Words, e.Then.Column, e.Then.Value)
}

// WriteClauses writes clauses for people: what a clause is worth behind it, as a
// comment, so that all of it can be read by a prover, too.
func (b *RuleBase) WriteClauses(w io.Writer) {
	for _, c := range b.Rules {
		if says := c.said(); says != "" {
			fmt.Fprintln(w, "% "+says)
		}
		fmt.Fprint(w, c.Text)
		if c.Covered != nil {
			fmt.Fprintf(w, " %% %.1f %% of %.6g", 100**c.Probability, *c.Covered)
		}
		if c.Worth != nil {
			fmt.Fprintf(w, ", told, worth %.6g", *c.Worth)
		}
		if c.Note != "" {
			fmt.Fprint(w, " % "+c.Note)
		}
		fmt.Fprintln(w)
	}
}

// withTheory hands a theory in Prolog to a learner that takes one as a setting. One
// that also hears rules is given a theory that is written as rules as such.
func (h *Home) withTheory(ctx context.Context, c Choice) Choice {
	info, err := learn.Lookup(c.Learner)
	if c.Rules == nil || err != nil || info.New == nil || !slices.ContainsFunc(learn.Options(info.New()), func(s learn.Option) bool { return s.File && s.Key == "theory" }) {
		return c
	}
	if info.Takes.Theory && c.Rules.load(ctx, h.In, h.mostText()) == nil && isRules(string(c.Rules.Text)) { // what cannot be read is told by who needs it
		return c
	}
	c.Settings = maps.Clone(c.Settings)
	if c.Settings == nil {
		c.Settings = map[string]string{}
	}
	c.Settings["theory"], c.Rules = c.Rules.File, nil
	return c
}
