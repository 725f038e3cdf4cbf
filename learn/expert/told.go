// Package expert lets any model listen to rules that an expert tells it, each
// with a strength: a rule is worth a number of cases, data can outvote it, and
// its standing says when it has. The blend is the conjugate update of a prior
// that is worth n cases (Told says how).
//
// It wraps models of the contract in learn (learn.Wrapper) and knows no
// learner.
package expert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Told is a model of any learner that also listens to experts' rules about
// its classes. A rule
//
//	IF c THEN x WITH p WORTH n
//
// counts as n cases of which a share p has the class x. It acts on the rows
// that satisfy c, and on no others:
//
//	P(x) = (N · P_model(x) + n · p) / (N + n)
//
// where N is the weight of the rows learnt from that satisfy c; the other
// classes keep their proportions. Several rules that fire add their n·p and n,
// and N is then of the rows that satisfy all of them. So a rule worth nothing
// changes nothing, one worth very much decides, and data outvotes an expert as
// it comes in: the conjugate update of a prior that is worth n cases. A
// Listener takes rules in as units of its own instead.
//
// For each source Told keeps how much weight of each class fired which rules
// together (a tally), and so knows every N after updates, merges and
// forgetting too. The costs of a row are those of the model and of trying each
// rule on it.
//
// Told is a learn.Wrapper: it has the methods of the abilities that rules
// change, and the model within does the rest. learn.Ability tells what a model
// that was told rules can do.
type Told struct {
	inner   learn.Model
	rules   []toldRule // those of one expert stand together
	tallies []*tally   // in the order in which the sources came

	schema  *table.Schema // the model's, with what only the rules name; every rule against it
	fires   []*rule.Matcher
	classes []int              // that each rule concludes
	seen    []pattern          // over all sources
	support map[string]float64 // weight of the rows that fired these rules, and maybe others
	weights []float64          // of the rules as units of the model; nil where they are blended

	believed []bool // rules that the model within has made its own (Believer)
}

var (
	_ learn.Wrapper   = (*Told)(nil)
	_ learn.Updater   = (*Told)(nil)
	_ learn.Ruler     = (*Told)(nil)
	_ learn.Explainer = (*Told)(nil)
	_ learn.Merger    = (*Told)(nil)
	_ learn.Forgetter = (*Told)(nil)
	_ learn.Asker     = (*Told)(nil)
	_ learn.Imputer   = (*Told)(nil)
	_ Stander         = (*Told)(nil)
)

// What was struck stands within what was told.
func init() {
	learn.RegisterWrapper(struckPart, decodeStruck)
	learn.RegisterWrapper(toldPart, decodeTold)
}

// toldRule is an expert's rule; With and Worth are set.
type toldRule struct {
	rule.Rule
	expert learn.Source
}

// CheckTold returns what is wrong with an expert's rules for a model of these
// columns, or nil. Rules may name values and classes that no row has had.
func CheckTold(rules *rule.Base, schema *table.Schema, target int) error {
	if target == learn.NoTarget {
		return errors.New("rules about classes need a model with a target; this one is a density of all columns")
	}
	a := &schema.Attributes[target]
	if a.Kind != table.Nominal {
		return fmt.Errorf("an expert's rules conclude a class; the target %q is a number", a.Name)
	}
	if len(rules.Units) > 0 {
		return fmt.Errorf("unit %q: WHEN units can be told to a learner that takes them while it learns; say IF … THEN %s = …", rules.Units[0].Name, a.Name)
	}
	if rules.Else != nil {
		return errors.New("ELSE says nothing about a row by itself; say IF … THEN …")
	}
	if len(rules.Rules) == 0 {
		return errors.New("there are no rules; expected IF … THEN … WITH probability WORTH cases")
	}
	if err := rules.Check(Admit(schema, target, rules)); err != nil {
		return err
	}
	for i := range rules.Rules {
		r := &rules.Rules[i]
		switch {
		case r.Then.Column != a.Name:
			return fmt.Errorf("rule %d concludes %q; expected the target %q", i+1, r.Then.Column, a.Name)
		case len(r.Then.Classes)+len(r.Then.By) > 0:
			return fmt.Errorf("rule %d concludes a distribution; expected one class with its probability", i+1)
		case r.Worth == nil:
			return fmt.Errorf("rule %d does not say how many cases it is worth; add WORTH and a number", i+1)
		case *r.Worth > mostWorth:
			return fmt.Errorf("rule %d is worth %g cases; expected at most %g", i+1, *r.Worth, mostWorth)
		case testsColumn(r.If, a.Name):
			return fmt.Errorf("rule %d tests the column %q that it concludes", i+1, a.Name)
		}
	}
	return nil
}

// mostWorth keeps sums of worths finite.
const mostWorth = 1e300

func testsColumn(tests []rule.Test, column string) bool {
	return slices.ContainsFunc(tests, func(t rule.Test) bool {
		return t.Column == column || testsColumn(t.Of, column) ||
			slices.ContainsFunc(t.Terms, func(term rule.Term) bool { return term.Column == column })
	})
}

// blend returns the model with an expert's rules about its classes, next to
// those it was told before. It needs the rows that the model learnt from, of
// each source, to know how much speaks against each rule. A rule without WITH is
// as certain as its worth allows: 1 − 1/(n+2).
func blend(ctx context.Context, m learn.Model, rules *rule.Base, expert learn.Source, learnt []learn.Learnt) (*Told, error) {
	if err := CheckTold(rules, m.Schema(), m.Target()); err != nil {
		return nil, err
	}
	t := &Told{inner: m}
	if told, ok := m.(*Told); ok {
		t.inner, t.rules = told.inner, slices.Clone(told.rules)
	}
	at := len(t.rules)
	if last := slices.IndexFunc(t.rules, func(r toldRule) bool { return r.expert.ID == expert.ID }); last >= 0 {
		for at = last; at < len(t.rules) && t.rules[at].expert.ID == expert.ID; at++ {
		}
	}
	for i, r := range rules.Rules {
		r.Evidence = rule.Evidence{}
		if r.With == nil {
			p := 1 - 1/(*r.Worth+2)
			r.With = &p
		}
		t.rules = slices.Insert(t.rules, at+i, toldRule{r, expert})
	}
	if f, ok := learn.Ability[learn.Forgetter](t.inner); ok {
		for _, s := range f.Sources() {
			if !isUnitExpert(t.inner, s) && !slices.ContainsFunc(learnt, func(l learn.Learnt) bool { return l.Source.ID == s.ID }) {
				return nil, fmt.Errorf("the rows of %s are needed to weigh the rules against them", cmp.Or(s.Name, s.ID, "the anonymous source"))
			}
		}
	}
	for _, l := range learnt {
		if err := table.Fits(t.inner.Schema(), l.Table); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(t.tallies, func(have *tally) bool { return have.source.ID == l.Source.ID })
		if i < 0 {
			i = len(t.tallies)
			t.tallies = append(t.tallies, newTally(l.Source))
		}
		if err := t.tallies[i].add(ctx, t.watch(l.Table.Schema), l.Table, t.inner.Target()); err != nil {
			return nil, err
		}
	}
	return t.ready(), nil
}

// isUnitExpert reports whether a source is one who told WHEN … EXPECT rules,
// and so brought no rows.
func isUnitExpert(m learn.Model, s learn.Source) bool {
	if e, ok := m.(interface{ Experts() []learn.Source }); ok && slices.ContainsFunc(e.Experts(), func(e learn.Source) bool { return e.ID == s.ID }) {
		return true // who told virtual cases
	}
	t, ok := m.(Stander)
	return ok && slices.ContainsFunc(t.UnitStandings(), func(u UnitStanding) bool { return u.Expert.ID == s.ID })
}

// watch compiles the rules for tables of one schema. A rule about a column
// that is gone has no matcher; one about a value that is gone never meets it.
func (m *Told) watch(s *table.Schema) []*rule.Matcher {
	fires := make([]*rule.Matcher, len(m.rules))
	for i := range m.rules {
		matcher, err := rule.NewMatcher(m.rules[i].If, s)
		if err != nil {
			matcher, _ = rule.NewMatcher(m.rules[i].If, withValues(s, m.rules[i].If)) // nil on error
		}
		fires[i] = matcher
	}
	return fires
}

// withValues returns the schema with the values that tests name behind those
// it has; itself if it has them all.
func withValues(s *table.Schema, tests []rule.Test) *table.Schema {
	wider := s
	var admit func(tests []rule.Test)
	admit = func(tests []rule.Test) {
		for i := range tests {
			t := &tests[i]
			admit(t.Of)
			col := wider.Index(t.Column)
			if col < 0 || wider.Attributes[col].Kind != table.Nominal {
				continue
			}
			named := t.Values
			if t.Op == rule.Eq || t.Op == rule.Ne {
				named = []string{t.Value}
			}
			for _, v := range named {
				if slices.Contains(wider.Attributes[col].Values, v) {
					continue
				}
				if wider == s {
					wider = table.CopySchema(s)
				}
				wider.Attributes[col].Values = append(wider.Attributes[col].Values, v)
			}
		}
	}
	admit(tests)
	return wider
}

// ready compiles the rules and adds up the tallies, in the order of the
// sources' identifiers, so that sums do not depend on the order of arrival.
func (m *Told) ready() *Told {
	m.believe()
	m.schema = m.inner.Schema()
	for i := range m.rules {
		m.schema = admit(m.schema, m.inner.Target(), &m.rules[i].Rule)
	}
	m.fires = m.watch(m.schema)
	for i, believed := range m.believed {
		if believed {
			m.fires[i] = nil
		}
	}
	target := &m.schema.Attributes[m.inner.Target()]
	m.classes = make([]int, len(m.rules))
	for i := range m.rules {
		m.classes[i] = int(target.Code(m.rules[i].Then.Value))
	}
	sum := newTally(learn.Source{})
	for _, t := range slices.SortedFunc(slices.Values(m.tallies), func(a, b *tally) int { return cmp.Compare(a.source.ID, b.source.ID) }) {
		sum.absorb(t, func(fired string) string { return fired })
	}
	m.seen = sum.patterns(target.Values)
	m.support = make(map[string]float64, len(m.seen))
	for i := range m.seen {
		m.support[m.seen[i].fired] = m.weigh([]byte(m.seen[i].fired))
	}
	m.listen()
	return m
}

// weigh returns the weight of the rows that fired all of these rules.
func (m *Told) weigh(fired []byte) float64 {
	n := 0.0
	for i := range m.seen {
		if contains(m.seen[i].fired, fired) {
			n += m.seen[i].weight
		}
	}
	return n
}

func contains(all string, some []byte) bool {
	for i, b := range some {
		if b&^all[i] != 0 {
			return false
		}
	}
	return true
}

// fire marks the rules that a row satisfies, and reports whether there are
// any.
func fire(fires []*rule.Matcher, t *table.Table, row int, fired []byte) bool {
	clear(fired)
	some := false
	for i, f := range fires {
		if f != nil && f.MatchRow(t, row) {
			fired[i/8] |= 1 << (i % 8)
			some = true
		}
	}
	return some
}

func has(fired []byte, i int) bool { return fired[i/8]>>(i%8)&1 != 0 }

// width is the bytes that mark the rules that fired.
func (m *Told) width() int { return (len(m.rules) + 7) / 8 }

// blend takes the rules that fired into account. Its room is a number a class.
func (m *Told) blend(p []float64, fired []byte, room []float64) {
	if m.weights != nil {
		m.shift(p, fired, room)
		return
	}
	n, known := m.support[string(fired)]
	if !known {
		n = m.weigh(fired)
	}
	worth := 0.0
	for i := range m.rules {
		if has(fired, i) && m.classes[i] >= 0 {
			worth += *m.rules[i].Worth
		}
	}
	if worth == 0 {
		return
	}
	clear(room)
	for i := range m.rules {
		if has(fired, i) && m.classes[i] >= 0 {
			Say(room, p, m.classes[i], *m.rules[i].With, *m.rules[i].Worth/(n+worth))
		}
	}
	for c := range p {
		p[c] = n/(n+worth)*p[c] + room[c]
	}
}

// Say adds what a rule says of the classes: its probability for its own, and
// the rest for the others in the proportions that they have, equal ones if
// they have none.
func Say(to, p []float64, class int, with, share float64) {
	rest := 0.0
	for c, q := range p {
		if c != class {
			rest += q
		}
	}
	switch {
	case len(p) == 1:
		to[0] += share
		return
	case rest > 0:
		for c, q := range p {
			if c != class {
				to[c] += share * (1 - with) * (q / rest)
			}
		}
	default:
		for c := range p {
			if c != class {
				to[c] += share * (1 - with) / float64(len(p)-1)
			}
		}
	}
	to[class] += share * with
}

// Unwrap returns what was learnt from rows alone.
func (m *Told) Unwrap() learn.Model { return m.inner }

// Adds reports that rules can be taken back from every model.
func (m *Told) Adds(ability any) bool {
	_, forgets := ability.(*learn.Forgetter)
	return forgets
}

// Shed returns the model within without the rows that it holds, told the same.
func (m *Told) Shed() (learn.Model, bool, error) {
	within, held, err := kept.Shed(m.inner)
	if err != nil {
		return nil, held, err
	}
	bare := *m
	bare.inner = within
	return &bare, held, nil
}

// Learner returns the name of the model's learner.
func (m *Told) Learner() string { return m.inner.Learner() }

// Schema returns the attributes that the model knows.
func (m *Told) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Told) Target() int { return m.inner.Target() }

// Size counts the experts' rules too.
func (m *Told) Size() learn.Size {
	s := m.inner.Size()
	s.Rules += len(m.rules)
	return s
}

// Predict answers as the model does, and takes the rules into account.
func (m *Told) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := m.predictWithin(ctx, t, out); err != nil {
		return err
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		fired, room := make([]byte, m.width()), make([]float64, out.Classes)
		for row := lo; row < hi; row++ {
			if fire(m.fires, t, row, fired) {
				m.blend(out.Row(row), fired, room)
			}
		}
	})
}

// Reviser returns what revises the class probabilities of a row, which the model
// within gave, as the rules say that fire on it; some of them may be left out, by
// their places. It is for one goroutine.
func (m *Told) Reviser(without ...int) func(t *table.Table, row int, p []float64) {
	fired, room := make([]byte, m.width()), make([]float64, len(m.schema.Attributes[m.Target()].Values))
	fires := slices.Clone(m.fires)
	for _, i := range without {
		fires[i] = nil
	}
	return func(t *table.Table, row int, p []float64) {
		if fire(fires, t, row, fired) {
			m.blend(p, fired, room[:len(p)])
		}
	}
}

// Admit returns a schema with every value that rules name, and every class that
// they conclude, behind those that it has; itself if there are no others.
func Admit(s *table.Schema, target int, rules *rule.Base) *table.Schema {
	for i := range rules.Rules {
		s = admit(s, target, &rules.Rules[i])
	}
	return s
}

func admit(s *table.Schema, target int, r *rule.Rule) *table.Schema {
	s = withValues(s, r.If)
	if target == learn.NoTarget || r.Then.Numeric || r.Then.Value == "" {
		return s
	}
	if a := &s.Attributes[target]; r.Then.Column == a.Name && a.Kind == table.Nominal && !slices.Contains(a.Values, r.Then.Value) {
		s = table.CopySchema(s)
		s.Attributes[target].Values = append(s.Attributes[target].Values, r.Then.Value)
	}
	return s
}

// News lists the values and classes that rules name and a schema does not
// have, in words.
func News(s *table.Schema, target int, rules *rule.Base) []string {
	var news []string
	wider := Admit(s, target, rules)
	for j := range wider.Attributes {
		known := len(s.Attributes[j].Values)
		for _, v := range wider.Attributes[j].Values[known:] {
			news = append(news, fmt.Sprintf("no row has had %q in column %q%s", v, s.Attributes[j].Name, spell.Hint(v, s.Attributes[j].Values)))
		}
	}
	return news
}
