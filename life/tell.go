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
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Rules are what an expert says: a file of rules ("-" is standard input) or
// its text, and what a rule counts for that does not say so itself.
type Rules struct {
	File  string
	Text  []byte // instead of the file's
	Worth float64
	// Replaces is the id of a rule that was told, or its beginning, which the
	// new ones stand for.
	Replaces string
}

// Given returns the rules if there is a file of them, else nil.
func (f *Rules) Given() *Rules {
	if f.File == "" {
		return nil
	}
	return f
}

func (f *Rules) settings() map[string]string {
	if f.Worth == 0 {
		return nil
	}
	return map[string]string{worthSetting: strconv.FormatFloat(f.Worth, 'g', -1, 64)}
}

// load reads the file, once.
func (f *Rules) load(ctx context.Context, in io.Reader, most int64) (err error) {
	switch {
	case f.Text != nil:
		return nil
	case f.File != "-":
		f.Text, err = patient.File(ctx, f.File, most)
	case in != nil:
		f.Text, err = patient.All(patient.Ending(ctx, in), "standard input", most)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return remedy.Misusef("no such file of rules: %s", f.File)
	}
	if err != nil {
		return fmt.Errorf("the rules cannot be read: %w", err)
	}
	return nil
}

// read reads the rules about columns of a schema, and records where they are
// from. The same rules are the same source, wherever and whenever they are
// told: models that were told them apart and are merged were told them once.
func (f *Rules) read(ctx context.Context, h *Home, schema *table.Schema) (*rule.Base, store.Source, error) {
	if err := f.load(ctx, h.In, h.mostText()); err != nil {
		return nil, store.Source{}, err
	}
	base, err := parseTold(f.File, f.Text, schema)
	if err != nil {
		return nil, store.Source{}, err
	}
	if f.Worth < 0 || math.IsInf(f.Worth, 0) || math.IsNaN(f.Worth) {
		return nil, store.Source{}, remedy.Misusef("rules worth %v: expected a number of cases", f.Worth)
	}
	unworthy := func(which string) error {
		return &remedy.Error{Err: fmt.Errorf("%s: rule %s does not say how many cases it is worth", f.File, which), Remedy: Remedy{Kind: remedy.GiveWorth}, Misuse: true}
	}
	for i := range base.Rules {
		if base.Rules[i].Worth == nil && f.Worth > 0 {
			base.Rules[i].Worth = &f.Worth
		}
		if base.Rules[i].Worth == nil {
			return nil, store.Source{}, unworthy(strconv.Itoa(i + 1))
		}
	}
	for i := range base.Units {
		if base.Units[i].Worth == nil && f.Worth > 0 {
			base.Units[i].Worth = &f.Worth
		}
		if base.Units[i].Worth == nil {
			return nil, store.Source{}, unworthy(strconv.Quote(base.Units[i].Name))
		}
	}
	return base, f.source(), nil
}

// source is where the rules are from, once they were read.
func (f *Rules) source() store.Source {
	path := f.File
	if abs, err := filepath.Abs(f.File); err == nil && f.File != "-" {
		path = abs
	}
	hash := sha256.Sum256(f.Text)
	text := hex.EncodeToString(hash[:])
	return store.Source{ID: store.SourceID("rules", text, time.Time{}), Name: f.File, Path: path, Hash: text}
}

// parseTold reads rules about a schema's columns. They may name values and
// classes that no row has had.
func parseTold(name string, text []byte, schema *table.Schema) (*rule.Base, error) {
	if free, err := rule.Parse(name, text); err == nil {
		for i := range free.Rules {
			schema = expert.Admit(schema, schema.Index(free.Rules[i].Then.Column), &rule.Base{Rules: free.Rules[i : i+1]})
		}
	}
	return rule.ParseFor(name, text, schema)
}

// Told is a model that was told rules: how each fares, and where they disagree
// with what was known.
type Told struct {
	Learnt
	Conflicts []Conflict  `json:"conflicts"`
	Overlaps  []Conflict  `json:"overlaps"`
	Entries   []RuleEntry `json:"told"`
	Standings []Standing  `json:"standings,omitempty"` // of WHEN … EXPECT rules

	// The first table of the effect once more.
	AccuracyBefore *float64      `json:"accuracy_before,omitempty"`
	AccuracyAfter  *float64      `json:"accuracy_after,omitempty"`
	Low            *float64      `json:"low,omitempty"`
	High           *float64      `json:"high,omitempty"`
	Fixed          *float64      `json:"fixed,omitempty"`
	Broken         *float64      `json:"broken,omitempty"`
	Groups         []EffectGroup `json:"groups,omitempty"`

	Base *rule.Base `json:"-"` // what was told
}

// Tell tells a model of the store what an expert knows. The rules are read
// once; weighing them against the rows holds up nobody who changes the model.
func (h *Home) Tell(ctx context.Context, name string, rules Rules, e Edit) (*Told, error) {
	if err := rules.load(ctx, h.In, h.mostText()); err != nil {
		return nil, err
	}
	var told *Told
	l, err := h.edit(ctx, name, e, func(h *Home, p *Part) (_ *step, err error) {
		s := &step{}
		s.model, s.record, told, err = h.tell(ctx, p, rules, e.At)
		return s, err
	})
	if err != nil {
		return nil, err
	}
	told.Learnt = *l
	if l.Effect != nil && len(l.Effect.Tables) > 0 {
		t := &l.Effect.Tables[0]
		told.AccuracyBefore, told.AccuracyAfter, told.Low, told.High = t.AccuracyBefore, t.AccuracyAfter, t.Low, t.High
		told.Fixed, told.Broken, told.Groups = &t.Fixed, &t.Broken, l.Effect.Groups
	}
	return told, nil
}

// TellInMemory tells rules to a model that no store keeps.
func (h *Home) TellInMemory(ctx context.Context, p *Part, rules Rules) (*Part, error) {
	after, record, _, err := h.tell(ctx, p, rules, nil)
	if err != nil {
		return nil, err
	}
	return h.unkept(after, p.Name, record, p.Versions), nil
}

func (h *Home) tell(ctx context.Context, p *Part, rules Rules, at Elsewhere) (learn.Model, store.Version, *Told, error) {
	record := store.Version{Kind: store.Tell, At: h.now(), Seed: p.Version.Seed, Settings: p.Version.Settings}
	if err := rules.load(ctx, h.In, h.mostText()); err != nil {
		return nil, record, nil, err
	}
	if m, ok := p.Model.(interface {
		TellClauses(ctx context.Context, source learn.Source, text string, worth float64) (learn.Model, error)
	}); ok && p.Schema().Linked != "" && isProgram(string(rules.Text)) {
		return h.tellClauses(ctx, m.TellClauses, rules, record)
	}
	base, source, err := rules.read(ctx, h, p.Schema())
	if err != nil {
		return nil, record, nil, err
	}
	record.Source = source
	if len(base.Units) > 0 {
		h.warnLearntBefore(p.Versions, source.Hash, rules.File)
		record.Settings = maps.Clone(p.Version.Settings)
		delete(record.Settings, worthSetting)
		for key, value := range rules.settings() {
			record.Settings[key] = value
		}
		m, told, err := tellUnits(ctx, p, base, source)
		return m, record, told, err
	}
	if m, ok := p.Model.(policy); ok && m.Advisable() {
		h.warnLearntBefore(p.Versions, source.Hash, rules.File)
		m, told, err := h.tellActor(p, base, source)
		return m, record, told, err
	}
	if expert.Supposes(p.Model, base) {
		h.warnLearntBefore(p.Versions, source.Hash, rules.File)
		m, err := expert.Suppose(ctx, p.Model, base, learn.Source{ID: source.ID, Name: source.Name})
		if err != nil {
			return nil, record, nil, remedy.Misuse(fmt.Errorf("%s: %w", rules.File, err))
		}
		return m, record, &Told{Conflicts: []Conflict{}, Overlaps: []Conflict{}, Entries: ruleEntries(base), Base: base}, nil
	}
	if err := expert.CheckTold(base, p.Schema(), p.Target()); err != nil {
		return nil, record, nil, fmt.Errorf("%s: %w", rules.File, err)
	}
	h.note(expert.News(p.Schema(), p.Target(), base)...)
	h.warnLearntBefore(p.Versions, source.Hash, rules.File)
	bar, done := h.progress("weighing rules")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	rows, err := h.LearntRows(ctx, p, at)
	if err != nil {
		return nil, record, nil, fmt.Errorf("the rules cannot be weighed against the rows: %w", err)
	}
	model := p.Model
	if rules.Replaces != "" {
		if model, err = withoutTold(p, rules.Replaces); err != nil {
			return nil, record, nil, err
		}
	}
	m, err := expert.Tell(ctx, model, adviceOf(base, source), rows...)
	if err != nil {
		return nil, record, nil, err
	}
	conflicts, overlaps, err := toldConflicts(m.(*expert.Told), base)
	if err != nil {
		return nil, record, nil, err
	}
	knowledge.Decide(conflicts, rows, p.Schema(), p.Target())
	knowledge.Decide(overlaps, rows, p.Schema(), p.Target())
	s := newSpeaker(&Part{Model: m, Words: p.Words}, rows)
	return m, record, &Told{Conflicts: newConflicts(conflicts, s), Overlaps: newConflicts(overlaps, s), Entries: toldEntries(m.(*expert.Told)), Base: base}, nil
}

// tellClauses tells clauses to a model that is a list of them.
func (h *Home) tellClauses(ctx context.Context, tell func(ctx context.Context, source learn.Source, text string, worth float64) (learn.Model, error), rules Rules, record store.Version) (learn.Model, store.Version, *Told, error) {
	if rules.Worth < 0 || math.IsInf(rules.Worth, 0) || math.IsNaN(rules.Worth) {
		return nil, record, nil, remedy.Misusef("clauses worth %v: expected a number of cases", rules.Worth)
	}
	if rules.Worth == 0 {
		return nil, record, nil, &remedy.Error{Err: fmt.Errorf("%s: clauses do not say how many cases they are worth", rules.File), Remedy: Remedy{Kind: remedy.GiveWorth}, Misuse: true}
	}
	source := rules.source()
	record.Source = source
	m, err := tell(ctx, learn.Source{ID: source.ID, Name: source.Name}, string(rules.Text), rules.Worth)
	if err != nil {
		return nil, record, nil, remedy.Misuse(fmt.Errorf("%s: %w", rules.File, err))
	}
	told := &Told{Conflicts: []Conflict{}, Overlaps: []Conflict{}, Entries: []RuleEntry{}, Base: &rule.Base{}}
	if c, ok := m.(clausal); ok {
		for _, e := range learntClauses(&Part{Model: m}, c, nil).Rules {
			if e.Worth != nil {
				told.Entries = append(told.Entries, e)
			}
		}
	}
	return m, record, told, nil
}

// tellActor gives advice to a policy, and notes how each rule fares.
func (h *Home) tellActor(p *Part, base *rule.Base, source store.Source) (learn.Model, *Told, error) {
	a, ok := learn.Ability[interface {
		Advised(rules *rule.Base, by learn.Source) (m learn.Model, heard [][3]int, err error)
	}](p.Model)
	if !ok {
		return nil, nil, fmt.Errorf("%s takes no advice", p.Name)
	}
	m, heard, err := a.Advised(base, learn.Source{ID: source.ID, Name: source.Name})
	if err != nil {
		return nil, nil, err
	}
	for i, r := range heard {
		h.note(fmt.Sprintf("rule %d speaks of %s that it knows; it does so now in %d, %d of them because of it", i+1, plural(r[0], "state"), r[1], r[2]))
	}
	return m, &Told{Conflicts: []Conflict{}, Overlaps: []Conflict{}, Entries: ruleEntries(base), Base: base}, nil
}

// tellUnits adds WHEN … EXPECT rules to a model that takes them in itself.
func tellUnits(ctx context.Context, p *Part, base *rule.Base, source store.Source) (learn.Model, *Told, error) {
	m, err := expert.Tell(ctx, p.Model, adviceOf(base, source))
	if errors.Is(err, expert.ErrNoUnits) {
		err = fmt.Errorf("unit %q: %w", base.Units[0].Name, notJoint(p.Learner(), "be told WHEN … EXPECT rules"))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	fresh, clashes, err := unitConflicts(p.Model, m)
	if err != nil {
		return nil, nil, err
	}
	var standings []expert.UnitStanding
	for _, s := range m.(expert.Stander).UnitStandings() {
		if s.Expert.ID == source.ID {
			standings = append(standings, s)
		}
	}
	told := &Told{Conflicts: newClashes(clashes), Overlaps: []Conflict{}, Entries: ruleEntries(&rule.Base{Units: fresh}), Standings: newStandings(standings), Base: base}
	setStates(told.Entries, fresh, standings)
	return m, told, nil
}

// LearntConflicts lists where the rules that a model was told while it learnt
// disagree with each other and with what it learnt from a table.
func LearntConflicts(told *expert.Told, t *table.Table) ([]Conflict, error) {
	base := &rule.Base{}
	for _, s := range told.Standings() {
		base.Rules = append(base.Rules, s.Rule)
	}
	conflicts, _, err := toldConflicts(told, base)
	if err != nil {
		return nil, err
	}
	fitted, _, err := table.Conform(t, told.Schema(), false)
	if err != nil {
		return nil, err
	}
	knowledge.Decide(conflicts, []learn.Learnt{{Table: fitted}}, told.Schema(), told.Target())
	s := say.New(told.Schema(), told.Target(), say.Words{})
	s.Learn(fitted)
	return newConflicts(conflicts, s), nil
}

// adviceOf is the advice of a file of rules.
func adviceOf(base *rule.Base, source store.Source) learn.Advice {
	return learn.Advice{Rules: base, Expert: learn.Source{ID: source.ID, Name: source.Name}}
}

// advisedLater is a learner whose models are told rules once they have learnt.
type advisedLater struct {
	learn.Learner
	later []learn.Advice
}

func (l *advisedLater) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	m, err := l.Learner.Learn(ctx, task)
	for _, advice := range l.later {
		if err == nil {
			m, err = expert.Tell(ctx, m, advice)
		}
	}
	return m, err
}

// taught returns a learner that takes a lesson's rules into account.
func taught(l *Lesson, learner learn.Learner) (learn.Learner, error) {
	switch {
	case l.theory != nil:
		return expert.Advised(l.Info, learner, learn.Advice{Theory: l.theory, Expert: learn.Source{ID: l.expert.ID, Name: l.expert.Name}})
	case l.rules == nil:
		return learner, nil
	case len(l.rules.Units) == 0:
		if err := expert.CheckTold(l.rules, l.Table.Schema, l.Target); err != nil {
			return nil, fmt.Errorf("%s: %w", l.expert.Name, err)
		}
	}
	return expert.Advised(l.Info, learner, adviceOf(l.rules, l.expert))
}
