package life

import (
	"context"
	"fmt"
	"os"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
)

// Difference is what changed from one model to another.
type Difference struct {
	*rule.Diff
	From, To string
	On       string // the data whose answers were compared, "" for none
	Rows     int
	Flips    []knowledge.Flip
	Effect   *Effect       // on the data, whose rows it judges
	States   []StateChange // of two policies: where they act otherwise
	met      int           // of so many states that the second one met; 0: of all that it knows
	clauses  clauseDiff    // of two lists of clauses
	Formal   bool          // rules are written in the rule language, not as sentences
	before   *say.Speaker  // says the rules that were; nil where one side is a file of rules
	after    *say.Speaker  // and those that are
}

// Diff compares what two models know. Both are models of the store, exported
// models or rule files. With data it lists the rows whose answer flips, and judges
// them, also by the values of a column, if one is named.
func (h *Home) Diff(ctx context.Context, before, after string, on *Data, by string) (*Difference, error) {
	x, err := h.knower(ctx, before)
	if err != nil {
		return nil, err
	}
	y, err := h.knower(ctx, after)
	if err != nil {
		return nil, err
	}
	if x.model == nil && y.model != nil && x.clauses != nil {
		if x.learnt, err = parseTheory(before, x.clauses, y.model.Schema(), y.model.Target()); err != nil {
			return nil, err
		}
	}
	d := &Difference{From: before, To: after, Diff: knowledge.CompareRules(x.learnt, x.told, y.learnt, y.told)}
	if y.model != nil {
		if c, ok := learn.Ability[corrected](y.model); ok {
			putTogether(d.Diff, c.Corrected())
		}
	}
	if x.model != nil && y.model != nil {
		if d.before, err = Speaker(ctx, x.part()); err != nil {
			return nil, err
		}
		if d.after, err = Speaker(ctx, y.part()); err != nil {
			return nil, err
		}
	}
	if d.States = stateChanges(x.model, y.model); d.States == nil {
		if d.States, d.met, err = metChanges(ctx, x.model, y.model); err != nil {
			return nil, err
		}
	}
	d.clauses = compareClauses(clausesOf(x.model), clausesOf(y.model))
	d.Reordered = d.Reordered || d.clauses.reordered
	if on == nil {
		return d, nil
	}
	return d, h.flips(ctx, d, x, y, on, by)
}

// knower is one side of a comparison.
type knower struct {
	model        learn.Model // nil: a rule file
	clauses      []byte      // of a theory that is a logic program: what it says depends on the columns
	learnt, told *rule.Base
	versions     []store.Version // of a model of the store
	words        say.Words
}

// part is a side that is a model.
func (k *knower) part() *Part { return &Part{Model: k.model, Versions: k.versions, Words: k.words} }

// knower resolves a model of the store, an exported model or a rule file.
func (h *Home) knower(ctx context.Context, arg string) (*knower, error) {
	m, versions, err := h.Store.LoadWithLog(arg)
	if text, ok := datasets.Theory(arg); ok && err != nil {
		return &knower{clauses: text}, nil
	}
	if info, statErr := os.Stat(arg); err != nil && statErr == nil && !info.IsDir() {
		var exportErr error
		if m, _, exportErr = store.ReadFile(arg); exportErr != nil {
			src, err := patient.File(ctx, arg, h.mostText())
			if err != nil {
				return nil, err
			}
			if isProgram(string(src)) {
				return &knower{clauses: src}, nil
			}
			base, err := rule.Parse(arg, src)
			if err != nil {
				return nil, fmt.Errorf("%s is no exported model (%w), nor a rule file: %w", arg, exportErr, err)
			}
			return &knower{learnt: base}, nil
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	k := &knower{model: m, versions: versions}
	if versions != nil {
		if k.words, err = h.Words(arg); err != nil {
			return nil, err
		}
	}
	k.learnt, k.told, err = knowledge.Of(m)
	return k, err
}

func (h *Home) flips(ctx context.Context, d *Difference, before, after *knower, data *Data, by string) error {
	if before.model == nil || after.model == nil {
		return remedy.Misusef("comparing answers needs two models; a rule file alone does not answer")
	}
	was := before.part()
	t, learnt, err := h.readJudged(ctx, data, was, after.model, by)
	if err != nil {
		return err
	}
	d.On, d.Rows = data.called(), t.Rows()
	if d.Flips, err = knowledge.Flips(ctx, before.model, after.model, t); err != nil {
		return err
	}
	on := []onTable{{EffectTable: EffectTable{Data: data.called(), Learnt: learnt}, table: t}}
	d.Effect, err = judge(ctx, was, after.model, on, by)
	return err
}

// DiffEntry is a difference as programs read it.
type DiffEntry struct {
	Before   string        `json:"before"`
	After    string        `json:"after"`
	Added    []RuleEntry   `json:"added"`
	Dropped  []RuleEntry   `json:"dropped"`
	Stronger []ChangeEntry `json:"stronger"`
	Weaker   []ChangeEntry `json:"weaker"`
	Moved    []ChangeEntry `json:"moved"`
	Flips    []FlipEntry   `json:"flips"`
	States   []StateChange `json:"states,omitempty"` // of two policies

	*DiffEffect // with data
}

// DiffEffect is what a change is worth on data, as Effect has it.
type DiffEffect struct {
	Rows    float64       `json:"rows"`
	Changed float64       `json:"changed"`
	Fixed   float64       `json:"fixed"`
	Broken  float64       `json:"broken"`
	Unknown float64       `json:"unknown"`
	Tables  []EffectTable `json:"tables"`
	Groups  []EffectGroup `json:"groups"`
}

// ChangeEntry is a rule before and after.
type ChangeEntry struct {
	Before RuleEntry `json:"before"`
	After  RuleEntry `json:"after"`
}

// FlipEntry is a row whose answer changed, whether it became right, and the rules
// that did it.
type FlipEntry struct {
	EffectFlip
	Rules []ReasonEntry `json:"rules"`
}

// ReasonEntry is a rule of one of the two models.
type ReasonEntry struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	In   string `json:"in"`
}

// Entry is the difference as programs read it.
func (d *Difference) Entry() DiffEntry {
	entry := func(s rule.Statement) RuleEntry {
		switch {
		case s.Unit != nil:
			return unitEntry(s.Unit)
		}
		return newRuleEntry(s.Rule, s.String())
	}
	statements := func(list []rule.Statement) []RuleEntry {
		entries := make([]RuleEntry, len(list))
		for i, s := range list {
			entries[i] = entry(s)
		}
		return entries
	}
	changes := func(list []rule.Change) []ChangeEntry {
		entries := make([]ChangeEntry, len(list))
		for i, c := range list {
			entries[i] = ChangeEntry{entry(c.Before), entry(c.After)}
		}
		return entries
	}
	e := DiffEntry{
		Before: d.From, After: d.To, Added: statements(d.Added), Dropped: statements(d.Dropped),
		Stronger: changes(d.Stronger), Weaker: changes(d.Weaker), Moved: changes(d.Moved), Flips: []FlipEntry{}, States: d.States,
	}
	c := &d.clauses
	e.Added, e.Dropped = append(e.Added, c.added...), append(e.Dropped, c.dropped...)
	e.Stronger, e.Weaker, e.Moved = append(e.Stronger, c.stronger...), append(e.Weaker, c.weaker...), append(e.Moved, c.moved...)
	if x := d.Effect; x != nil {
		e.DiffEffect = &DiffEffect{x.Rows, x.Changed, x.Fixed, x.Broken, x.Unknown, x.Tables, x.Groups}
	}
	for i := range d.Flips {
		flip := FlipEntry{EffectFlip: d.Effect.Flips[i], Rules: []ReasonEntry{}}
		for _, r := range d.Flips[i].Because {
			in := "after"
			if r.Was {
				in = "before"
			}
			flip.Rules = append(flip.Rules, ReasonEntry{r.Rule.ID(), r.Rule.String(), in})
		}
		e.Flips = append(e.Flips, flip)
	}
	return e
}
