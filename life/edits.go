package life

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
)

// Edits is what people did to a model, newest first.
type Edits struct {
	Model string      `json:"model"`
	Edits []EditEntry `json:"edits"`
}

// EditEntry is one thing that somebody did.
type EditEntry struct {
	Version  int    `json:"version"`
	By       string `json:"by,omitempty"`
	At       string `json:"at"`
	What     string `json:"what"`
	Note     string `json:"note,omitempty"`
	Undoable bool   `json:"undoable"` // it is what undoing now would take back
	UndoneBy int    `json:"undone_by,omitempty"`

	// Rules are those that were told or struck; EditRules looks them up.
	Rules []EditRule `json:"rules,omitempty"`
}

// EditRule is a rule that was told or struck.
type EditRule struct {
	ID   string       `json:"id,omitempty"`
	Text string       `json:"text"` // in the rule language
	Say  say.Sentence `json:"say"`

	Worth float64 `json:"worth,omitempty"` // cases
}

// Words say what was done, and whether it can be or was taken back.
func (e *EditEntry) Words() (what, state string) {
	what = e.What
	if verb, text, _ := strings.Cut(what, " "); len(e.Rules) == 1 && text == e.Rules[0].Text {
		what = verb + " a rule" // which stands by itself
	}
	switch {
	case e.Undoable:
		state = "accrete undo takes it back"
	case e.UndoneBy > 0:
		state = fmt.Sprintf("taken back by version %d", e.UndoneBy)
	}
	return what, state
}

// Line is the rule as a sentence, with its id and what it is worth, or in the rule
// language.
func (r *EditRule) Line(formal bool) string {
	line := r.Say.String()
	if formal {
		return r.Text
	}
	if r.ID != "" {
		line += "  [" + short(r.ID) + "]"
	}
	if r.Worth > 0 {
		line += " worth " + say.Rounded(r.Worth, 4) + " cases"
	}
	return line
}

// Edits returns what people did to a model.
func (h *Home) Edits(ref string) (*Edits, error) {
	versions, err := h.Store.Log(ref)
	if len(versions) == 0 {
		return nil, err
	}
	list := &Edits{Model: versions[0].Model, Edits: []EditEntry{}}
	undid, back, _ := undoes(versions, versions[len(versions)-1])
	for _, v := range slices.Backward(WithUndone(versions)) {
		what := EditText(v)
		if what == "" {
			continue
		}
		list.Edits = append(list.Edits, EditEntry{
			Version: v.Number, By: v.By, At: Stamp(v.At), What: what, Note: v.Note,
			Undoable: back != nil && v.Number == undid.Number && v.Kind != store.Erase, UndoneBy: v.UndoneBy,
		})
	}
	return list, nil
}

// EditRules looks up which rules were told and struck, as far as the versions are
// there that know them.
func (h *Home) EditRules(ctx context.Context, list *Edits) error {
	versions, err := h.Store.Log(list.Model)
	if len(versions) == 0 {
		return err
	}
	newest, err := h.Load(list.Model)
	if err != nil {
		return err
	}
	speaker, err := Speaker(ctx, newest)
	if err != nil {
		return err
	}
	for i := range list.Edits {
		e := &list.Edits[i]
		v := versions[slices.IndexFunc(versions, func(v store.Version) bool { return v.Number == e.Version })]
		switch v.Kind {
		case store.Tell:
			e.Rules = h.toldIn(v, speaker)
		case store.Strike:
			e.Rules = h.struckIn(v, speaker)
		}
	}
	return nil
}

// toldIn are the rules that a version was told.
func (h *Home) toldIn(v store.Version, speaker *say.Speaker) (rules []EditRule) {
	p, err := h.Load(v.String())
	if err != nil {
		return nil // it was let go, or is damaged: its record is left
	}
	told, ok := p.Model.(*expert.Told)
	if !ok {
		return nil
	}
	for _, s := range told.Standings() {
		if s.Expert.ID == v.Source.ID {
			r := s.Rule
			r.Evidence = rule.Evidence{}
			rules = append(rules, EditRule{ID: s.Rule.ID(), Text: briefly(r.String()), Say: speaker.Rule(&r), Worth: *r.Worth})
		}
	}
	return rules
}

// struckIn is the rule that a version left out, none if its record does not say.
func (h *Home) struckIn(v store.Version, speaker *say.Speaker) []EditRule {
	base, err := rule.Parse("the rule", []byte(v.Source.Name))
	if err != nil || len(base.Rules) != 1 {
		return nil
	}
	struck := EditRule{Text: v.Source.Name, Say: speaker.Rule(&base.Rules[0])}
	before, err := h.Load(store.Version{Model: v.Model, Number: v.Parent}.String())
	if err != nil {
		return []EditRule{struck} // without the version that had it, its id is not known
	}
	entries, _ := namedRules(before.Model) // as much as it has
	for i := range entries {
		if briefly(entries[i].Text) == struck.Text {
			struck.ID = entries[i].ID
		}
	}
	return []EditRule{struck}
}

// EditText says in words what somebody did; "" if rows were learnt.
func EditText(v store.Version) string {
	switch v.Kind {
	case store.Tell:
		return "told " + v.Source.Name
	case store.Forget:
		return "forgot " + v.Source.Name
	case store.Erase:
		return "erased " + v.Source.Name
	case store.Strike:
		return "struck " + v.Source.Name
	case store.Cut:
		return "cut to the " + strings.Replace(v.Source.Name, "top", "best", 1) + " rules"
	case store.Restore:
		return "restored " + v.Source.Name
	case store.Undo:
		return "took back what followed " + v.Source.Name
	}
	return ""
}
