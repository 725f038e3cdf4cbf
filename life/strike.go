package life

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
)

// Struck is a model without a rule.
type Struck struct {
	Learnt
	Rule RuleEntry `json:"rule"`
	Told bool      `json:"told"` // somebody had told it; else rows brought it

	Text string `json:"-"` // the rule, to be read
}

// Strike leaves a rule out of a model of the store, by its id or the beginning of
// it: of a rule that was told that one alone is taken back, one that rows brought
// is left out where the model can.
func (h *Home) Strike(ctx context.Context, name, id string, e Edit) (*Struck, error) {
	s := &Struck{}
	l, err := h.edit(ctx, name, e, func(h *Home, p *Part) (*step, error) {
		m, entry, err := strike(ctx, p, id)
		if err != nil {
			return nil, err
		}
		s.Rule, s.Told, s.Text = *entry, entry.State != "", briefly(entry.Text)
		if base, err := rule.Parse("the rule", []byte(entry.Text)); err == nil && len(base.Rules) == 1 {
			speaker, err := Speaker(ctx, p)
			if err != nil {
				return nil, err
			}
			s.Rule.Say = speaker.Rule(&base.Rules[0])
		}
		record := store.Version{Kind: store.Strike, At: h.now(), Seed: p.Version.Seed, Settings: p.Version.Settings, Source: store.Source{Name: s.Text}}
		return &step{model: m, record: record}, nil
	})
	if err != nil {
		return nil, err
	}
	s.Learnt = *l
	return s, nil
}

// briefly is a rule without its evidence, rounded.
func briefly(text string) string {
	base, err := rule.Parse("the rule", []byte(text))
	if err != nil || len(base.Rules) != 1 {
		return text
	}
	r := base.Rules[0]
	r.Evidence = rule.Evidence{}
	RoundRule(&r)
	return r.String()
}

// strike returns a model without a rule.
func strike(ctx context.Context, p *Part, id string) (learn.Model, *RuleEntry, error) {
	entry, err := findRule(p.Model, id)
	if err != nil {
		return nil, nil, err
	}
	if entry == nil {
		return nil, nil, &remedy.Error{Err: fmt.Errorf("%s has no rule with the id %q", p.Name, id), Remedy: Remedy{Kind: remedy.SeeRules, What: p.Name}, Misuse: true}
	}
	if told, ok := p.Model.(*expert.Told); ok && entry.State != "" {
		if left, found := told.Drop(entry.ID); found {
			return left, entry, nil
		}
	}
	r, err := learntRule(p.Model, entry.ID)
	if err != nil {
		return nil, nil, err
	}
	if r == nil || len(r.If) == 0 {
		return nil, nil, remedy.Misusef("%s says how frequent answers are, which is no rule to strike", entry.Text)
	}
	left, err := expert.Strike(ctx, p.Model, r)
	if errors.Is(err, expert.ErrNoStrike) {
		err = cannot(p.Version.Learner, "leave out a rule that rows brought (say how often you would say it is true, and tell that)", func(c learn.Can) bool { return c.Strike })
	}
	return left, entry, err
}

// withoutTold returns a model without a rule that it was told.
func withoutTold(p *Part, id string) (learn.Model, error) {
	if told, ok := p.Model.(*expert.Told); ok {
		for _, s := range told.Standings() {
			if own := s.Rule.ID(); strings.HasPrefix(own, id) {
				left, _ := told.Drop(own)
				return left, nil
			}
		}
	}
	return nil, &remedy.Error{Err: fmt.Errorf("%s was told no rule with the id %q", p.Name, id), Remedy: Remedy{Kind: remedy.SeeRules, What: p.Name}, Misuse: true}
}

// learntRule returns the rule of a model with an id that rows brought, or nil.
func learntRule(m learn.Model, id string) (*rule.Rule, error) {
	base, _, err := knowledge.Of(m)
	if err != nil || base == nil {
		return nil, err
	}
	for i := range base.Rules {
		if base.Rules[i].ID() == id {
			return &base.Rules[i], nil
		}
	}
	return nil, nil
}

// Cut keeps so many of the rules that rows brought, those that together say most.
func (h *Home) Cut(ctx context.Context, name string, top int, e Edit) (*Learnt, error) {
	return h.edit(ctx, name, e, func(h *Home, p *Part) (*step, error) {
		if top < 1 {
			return nil, remedy.Misusef("%d rules: expected a number from 1", top)
		}
		if _, ok := learn.Ability[expert.Cutter](p.Model); !ok {
			return nil, cannot(p.Version.Learner, "be cut to fewer rules", func(c learn.Can) bool { return c.Excerpt })
		}
		bar, done := h.progress("choosing rules")
		defer done()
		m, err := expert.Cut(learn.WithProgress(ctx, bar), p.Model, top)
		if err != nil {
			return nil, err
		}
		record := store.Version{Kind: store.Cut, At: h.now(), Seed: p.Version.Seed, Settings: p.Version.Settings, Source: store.Source{Name: fmt.Sprintf("top %d", top)}}
		return &step{model: m, record: record}, nil
	})
}

// Undone is a model as it was before its newest change.
type Undone struct {
	Learnt
	Undid    int `json:"undid"`    // the version whose change was taken back
	Restored int `json:"restored"` // the version that is back
}

// Undo takes the newest change of a model back that was not taken back yet. The
// result is a version too; undoing again takes back the change before. Rows that
// came live are nobody's change: those that came since stay.
func (h *Home) Undo(ctx context.Context, name string, e Edit) (*Undone, error) {
	u := &Undone{}
	l, err := h.edit(ctx, name, e, func(h *Home, p *Part) (*step, error) {
		undid, back, stay := undoes(p.Versions, p.Version)
		if undid.Kind == store.Erase {
			return nil, remedy.New(Remedy{Kind: remedy.SeeVersions, What: name}, "%v erased %s, which cannot be taken back", undid, undid.Source.Name)
		}
		if back == nil {
			return nil, remedy.New(Remedy{Kind: remedy.SeeVersions, What: name}, "there is nothing to take back: the version before %v is not there", undid)
		}
		u.Undid, u.Restored = undid.Number, back.Number
		s, err := h.restore(back.String(), store.Undo)
		if err != nil {
			return nil, err
		}
		settings := maps.Clone(s.record.Settings)
		delete(settings, staySetting) // of what is back
		if len(stay) > 0 {
			if settings == nil {
				settings = map[string]string{}
			}
			settings[staySetting] = strings.Trim(fmt.Sprint(stay), "[]")
		}
		s.record.Settings = settings
		for _, number := range stay {
			v := p.Versions[slices.IndexFunc(p.Versions, func(v store.Version) bool { return v.Number == number })]
			if s.model, err = h.learnLiveAgain(ctx, s.model, v); err != nil {
				return nil, err
			}
			s.record.Source.Rows += v.Source.Rows
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	u.Learnt = *l
	return u, nil
}

// staySetting says in a version that took a change back which versions of live
// rows it has nonetheless: their numbers, apart by spaces.
const staySetting = reserved + "stay"

// staying are the numbers of live versions that a version which took a change
// back has nonetheless.
func staying(v store.Version) (numbers []int) {
	for _, text := range strings.Fields(v.Settings[staySetting]) {
		if n, err := strconv.Atoi(text); err == nil && n < v.Number && v.Kind == store.Undo {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// undoes returns the change that undoing a version would take back, the version
// that would be back, nil if there is none, and the versions of live rows since,
// which stay.
func undoes(versions []store.Version, last store.Version) (undid store.Version, back *store.Version, stay []int) {
	find := func(number int) *store.Version {
		if i := slices.IndexFunc(versions, func(v store.Version) bool { return v.Number == number }); i >= 0 {
			return &versions[i]
		}
		return nil
	}
	for {
		var before *store.Version
		switch {
		case cameLive(last):
			stay = append([]int{last.Number}, stay...)
			before = find(last.Parent)
		case last.Kind == store.Undo:
			for _, n := range slices.Backward(staying(last)) {
				if find(n) != nil {
					stay = append([]int{n}, stay...)
				}
			}
			if _, number, err := store.ParseRef(last.Source.Name); err == nil {
				before = find(number)
			}
		default:
			return last, find(last.Parent), stay
		}
		if before == nil || before.Number >= last.Number {
			return last, nil, nil
		}
		last = *before
	}
}

// WithUndone returns the versions of a model with who took each of them back.
func WithUndone(versions []store.Version) []store.Version {
	all := slices.Clone(versions)
	for _, v := range versions {
		parent := slices.IndexFunc(versions, func(w store.Version) bool { return w.Number == v.Parent })
		if v.Kind != store.Undo || parent < 0 {
			continue
		}
		undid, _, _ := undoes(versions, versions[parent])
		for i := range all {
			if all[i].Number == undid.Number {
				all[i].UndoneBy = v.Number
			}
		}
	}
	return all
}
