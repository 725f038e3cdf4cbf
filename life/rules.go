package life

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
)

// RulesOptions say which rules of a model to read, and how.
type RulesOptions struct {
	Fidelity   *float64 // of a model that stands for another (see AsTree)
	Top        *int     // only the most informative; nil is all
	Bits       float64  // only rules that carry this share of the information
	Formal     bool     // with the schema, and all that answers depend on
	Deviations bool     // what units expect in deviations from the columns' means
}

// RuleBase is what a model knows, as rules.
type RuleBase struct {
	Model   string      `json:"model"`
	Version int         `json:"version"`
	Kind    string      `json:"kind"`
	Rules   []RuleEntry `json:"rules"`
	// Standings are how experts' WHEN … EXPECT rules fare.
	Standings []Standing `json:"standings,omitempty"`
	// Policy is the states of a policy.
	Policy []PolicyEntry `json:"policy,omitempty"`
	// Fidelity is how far a tree agrees with the model that it was read out of.
	Fidelity *float64 `json:"fidelity,omitempty"`
	// Notes say where the rules hold, and what stands beside them.
	Notes []string `json:"notes,omitempty"`

	readout *readout
}

// ReadRules returns a model as a base of rules for people; nil if it has none but
// those that it was told.
func ReadRules(ctx context.Context, p *Part, o RulesOptions) (*rule.Base, error) {
	return readRules(ctx, p, p.Model, o)
}

func readRules(ctx context.Context, p *Part, m learn.Model, o RulesOptions) (*rule.Base, error) {
	_, isTold := p.Model.(*expert.Told)
	r, ok := learn.Ability[learn.Ruler](m)
	if !ok && isTold {
		return nil, nil
	}
	if !ok {
		return nil, cannot(p.Version.Learner, "be read as rules", func(c learn.Can) bool { return c.Rules })
	}
	if top, ok := learn.Ability[topRuler](m); ok && !isTold && o.Top != nil && *o.Top > 0 && o.Bits == 0 && !o.Formal && !o.Deviations {
		base, left, err := top.TopRules(*o.Top)
		if err == nil && left > 0 {
			base = withLeftOut(base, left)
		}
		return base, err
	}
	base, err := r.Rules()
	if told, ok := m.(*expert.Told); ok && o.Formal && err == nil {
		base, err = told.Whole()
	}
	if err == nil {
		base, err = excerpt(ctx, p.Model, base, o)
	}
	if err == nil && o.Deviations {
		base, err = inDeviations(p.Model, base)
	}
	if err != nil || base == nil {
		return base, err
	}
	formal := *base
	formal.Clocks = p.Schema()
	if !o.Formal || len(base.Units) == 0 && beyondColumns(p, base) {
		return &formal, nil
	}
	formal.Header = rule.NewHeader(p.Schema(), Overall(p.Model), p.Target())
	return &formal, nil
}

// beyondColumns reports whether rules are about more than a model's columns: steps
// of a theory, or hidden states.
func beyondColumns(p *Part, base *rule.Base) bool {
	if p.Target() < 0 {
		return base.Check(p.Schema()) != nil
	}
	return !concludes(base, say.New(p.Schema(), p.Target(), p.Words))
}

// RuleEntries returns the rules of a model: those that it learnt, in the order of
// what they decide, with the sources behind them and as sentences, then those
// that it was told, with their state.
func RuleEntries(ctx context.Context, p *Part, o RulesOptions) (*RuleBase, error) {
	_, fits := learn.Ability[learn.Excerpter](plain(p.Model))
	few := plain(p.Model).Size().Rules <= mostRead
	later := o.Top != nil && *o.Top > 0 && o.Bits == 0 && !fits && few
	reading := o
	if later { // what rules decide is known once all are read
		reading.Top = nil
	}
	base, err := readRules(ctx, p, plain(p.Model), reading)
	if err != nil {
		return nil, err
	}
	if base == nil {
		base = &rule.Base{} // of a model that only has the rules it was told
	}
	r, err := newReadout(ctx, p, base, later || fits || o.Top == nil && o.Bits == 0)
	if err != nil {
		return nil, err
	}
	if later {
		r.cut(*o.Top)
	}
	list := &RuleBase{Model: p.Version.Model, Version: p.Version.Number, Kind: base.Kind.String(), Rules: r.entries(), Fidelity: o.Fidelity, Notes: r.base.Notes, readout: r}
	var behind map[string][]expert.Behind
	if len(base.Units) > 0 || concludes(base, r.speaker) {
		if behind, err = knowledge.Provenance(ctx, p.Model); err != nil {
			return nil, err
		}
	}
	for i := range list.Rules {
		list.Rules[i].Sources = sourceEntries(behind[list.Rules[i].ID])
	}
	if t, ok := learn.Ability[expert.Stander](p.Model); ok {
		standings := t.UnitStandings()
		list.Standings = newStandings(standings)
		setStates(list.Rules, base.Units, standings)
	}
	if told, ok := p.Model.(*expert.Told); ok && (o.Top == nil || *o.Top > 0) {
		entries, err := r.told(ctx, told)
		if err != nil {
			return nil, err
		}
		list.Rules = append(list.Rules, entries...)
	}
	return list, nil
}

// mostRead is how many rules are read to find those that decide most; of more,
// the most informative are.
const mostRead = 2000

// Clauses returns the clauses of a logic program, in their order, or the first of
// them; nil if the model is none.
func Clauses(p *Part, top *int) *RuleBase {
	if m, ok := learn.Ability[clausal](p.Model); ok {
		return learntClauses(p, m, top)
	}
	m, ok := p.Model.(programmed)
	if !ok {
		return nil
	}
	list := &RuleBase{Model: p.Version.Model, Version: p.Version.Number, Kind: "clauses", Rules: []RuleEntry{}}
	for i, c := range m.Program().Clauses {
		if top != nil && i >= *top {
			break
		}
		list.Rules = append(list.Rules, RuleEntry{ID: c.ID(), Text: c.String(), If: []TestEntry{}})
	}
	return list
}

// Members returns every hypothesis of a model that is a space of them.
func Members(p *Part) (*RuleBase, error) {
	l, ok := learn.Ability[learn.Lister](p.Model)
	if !ok {
		return nil, cannot(p.Version.Learner, "list its hypotheses", func(c learn.Can) bool { return c.List })
	}
	members := l.Members()
	if members == nil {
		return nil, fmt.Errorf("%s has no hypotheses, or too many to list; its rules are their boundaries", p.Name)
	}
	list := &RuleBase{Model: p.Version.Model, Version: p.Version.Number, Kind: rule.Ordered.String(), Rules: []RuleEntry{}}
	for i, rules := range members {
		for j := range rules {
			e := newRuleEntry(&rules[j], rules[j].String())
			e.Member = i + 1
			list.Rules = append(list.Rules, e)
		}
	}
	return list, nil
}

// excerpt cuts the rules of a model to a budget. A model that cannot fit the
// rest again just shows its most informative rules.
func excerpt(ctx context.Context, m learn.Model, base *rule.Base, o RulesOptions) (*rule.Base, error) {
	switch {
	case o.Top == nil && o.Bits == 0:
		return base, nil
	case o.Top != nil && *o.Top < 0:
		return nil, remedy.Misusef("%d rules: expected a number from 0", *o.Top)
	case o.Top != nil && *o.Top == 0:
		none := &rule.Base{Kind: base.Kind, Notes: base.Notes}
		if all := len(base.Rules) + len(base.Units); all > 0 {
			none.Notes = append([]string{fmt.Sprintf("none of %d rules", all)}, base.Notes...)
		}
		return none, nil
	}
	if e, ok := learn.Ability[learn.Excerpter](m); ok {
		budget := rule.Budget{Bits: o.Bits}
		if o.Top != nil {
			budget.Top = *o.Top
		}
		x, err := e.Excerpt(ctx, budget)
		if err != nil {
			return nil, remedy.Misuse(err)
		}
		return x.Base, nil
	}
	if o.Bits != 0 {
		return nil, remedy.Misusef("%s can only be cut to a number of rules", modelOf(m.Learner()))
	}
	top, left := topRules(base, *o.Top)
	if left > 0 {
		top = withLeftOut(top, left)
	}
	return top, nil
}

// withLeftOut notes how many rules of a base are not shown.
func withLeftOut(top *rule.Base, left int) *rule.Base {
	count, what := len(top.Rules)+len(top.Units), "most informative"
	if len(top.Units) > 0 {
		what = "most frequent"
	}
	cut := *top
	cut.Notes = append([]string{fmt.Sprintf("the %d %s of %d rules", count, what, count+left)}, top.Notes...)
	return &cut
}

// topRuler is a model that need not make all its rules to give the best.
type topRuler interface {
	TopRules(n int) (base *rule.Base, left int, err error)
}

// BestRules returns the n most informative rules of a model, or all units of a
// mixture, and how many were left out; nil if it has no rules.
func BestRules(m learn.Model, n int) (*rule.Base, int, error) {
	if top, ok := learn.Ability[topRuler](m); ok {
		return top.TopRules(n)
	}
	r, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return nil, 0, nil
	}
	base, err := r.Rules()
	if err != nil {
		return nil, 0, err
	}
	best, left := topRules(base, max(n, len(base.Units)))
	return best, left, nil
}

// topRules returns the n most informative rules of a base, or the units of a
// mixture that most cases belong to, in the base's own order, and how many
// were left out.
func topRules(base *rule.Base, n int) (*rule.Base, int) {
	left := max(len(base.Rules)-n, 0) + max(len(base.Units)-n, 0)
	if left == 0 {
		return base, 0
	}
	best := *base
	best.Rules = foremost(base.Rules, n, func(r *rule.Rule) float64 {
		if r.Evidence.Bits != nil {
			return *r.Evidence.Bits
		}
		return 0
	})
	best.Units = foremost(base.Units, n, func(u *rule.Unit) float64 { return u.Prior })
	if len(best.Rules) < len(base.Rules) {
		best.Else = nil
	}
	return &best, left
}

// foremost returns the n items that count most, in their order.
func foremost[T any](items []T, n int, counts func(*T) float64) []T {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(counts(&items[j]), counts(&items[i])) })
	order = order[:min(n, len(order))]
	slices.Sort(order)
	best := make([]T, len(order))
	for k, i := range order {
		best[k] = items[i]
	}
	return best
}

// overaller is a model that knows what its columns are like over all rows.
type overaller interface{ Overall() []rule.Overall }

// Overall returns what a model's columns are like over all rows, nil if it
// does not know.
func Overall(m learn.Model) []rule.Overall {
	if o, ok := plain(m).(overaller); ok {
		return o.Overall()
	}
	return nil
}

// inDeviations returns a base of units in deviations from the columns' means.
func inDeviations(m learn.Model, base *rule.Base) (*rule.Base, error) {
	overall := Overall(m)
	if overall == nil || len(base.Units) == 0 && base.Kind != rule.Mixture {
		return nil, remedy.Misusef("only WHEN … EXPECT rules have deviations; %s has none", modelOf(m.Learner()))
	}
	return base.InDeviations(m.Schema(), overall)
}

// Growth is why each unit of a model that grew is there.
type Growth struct {
	Model        string         `json:"model"`
	Version      int            `json:"version"`
	Certificates []fmt.Stringer `json:"certificates"`
	Stopped      string         `json:"stopped,omitempty"`
}

// Certificate is why a rule of a model that grew is there.
type Certificate interface {
	// Certifies returns the id of the rule.
	Certifies() string
}

// certificates are those of a model's rules, by id; none if it did not grow by rules.
func certificates(m learn.Model) map[string]Certificate {
	g, ok := learn.Ability[learn.Grower](m)
	if !ok {
		return nil
	}
	by := map[string]Certificate{}
	grown, _ := g.Grown()
	for _, c := range grown {
		if c, ok := c.(Certificate); ok {
			by[c.Certifies()] = c
		}
	}
	return by
}

// Grown returns the certificates of a model that grew.
func Grown(p *Part) (*Growth, error) {
	g, ok := learn.Ability[learn.Grower](p.Model)
	if !ok {
		return nil, fmt.Errorf("%s did not grow unit by unit", modelOf(p.Version.Learner))
	}
	certificates, stopped := g.Grown()
	return &Growth{p.Version.Model, p.Version.Number, certificates, stopped}, nil
}
