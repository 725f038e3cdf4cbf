package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Advise gives a learner rules of somebody who knows, such as IF row = 0 THEN
// action = right WORTH 20: in such states the action begins as one that is worth 20
// more than others, and experience outvotes it (after Maclin and Shavlik 1996).
func (l *Learner) Advise(rules *rule.Base, by learn.Source) error {
	var text strings.Builder
	if err := (&rule.Base{Rules: rules.Rules}).Write(&text); err != nil {
		return err
	}
	l.advice, l.adviser = text.String(), by
	return nil
}

// adviser says what actions begin with.
type adviser struct {
	matchers []*rule.Matcher
	action   []int
	worth    []float64
	states   *table.Table // of one row
	rows     sync.Pool    // of such tables, for those who ask at once
}

// newAdviser reads advice for the states and actions of a policy.
func newAdviser(advice string, schema *table.Schema) (*adviser, error) {
	if advice == "" {
		return nil, nil
	}
	base, err := rule.ParseFor("advice", []byte(advice), schema)
	if err != nil {
		return nil, err
	}
	target := len(schema.Attributes) - 1
	columns := make([]table.Column, len(schema.Attributes))
	for i := range columns {
		if schema.Attributes[i].Kind == table.Numeric {
			columns[i].Floats = make([]float64, 1)
		} else {
			columns[i].Codes = []int32{table.Missing}
		}
	}
	a := &adviser{}
	if a.states, err = table.New(schema, columns, nil); err != nil {
		return nil, err
	}
	for i := range base.Rules {
		r := &base.Rules[i]
		code := schema.Attributes[target].Code(r.Then.Value)
		if r.Then.Column != schema.Attributes[target].Name || code < 0 || r.Worth == nil {
			return nil, fmt.Errorf("advice %d: expected IF … THEN %s = one of %s WORTH a number", i+1, schema.Attributes[target].Name, strings.Join(schema.Attributes[target].Values, ", "))
		}
		m, err := rule.NewMatcher(r.If, schema)
		if err != nil {
			return nil, err
		}
		a.matchers, a.action, a.worth = append(a.matchers, m), append(a.action, int(code)), append(a.worth, *r.Worth)
	}
	return a, nil
}

// begin adds what is advised to the values of a state that is new.
func (a *adviser) begin(cells, q []float64) {
	if a == nil {
		return
	}
	for i, matches := range a.matching(cells) {
		if matches && a.action[i] < len(q) { // NaN, of what is not legal, stays
			q[a.action[i]] += a.worth[i]
		}
	}
}

// Advised returns the policy as if it had been told rules before it acted: values
// begin higher by what an action is said to be worth, and what is left of that after
// so many visits is what the rates of learning leave of any beginning. States that
// are still to come begin with it. For each rule it says of how many states it
// speaks, in how many of them its action is now the best, and in how many of these it
// was not before.
func (m *Model) Advised(rules *rule.Base, by learn.Source) (advised learn.Model, heard [][3]int, err error) {
	l, ok := m.values.(*lookup)
	f, sums := m.values.(*weighted)
	s := m.lesson.Settings
	known, learnt := m.values.(*fitted)
	if !m.Advisable() || !ok && !sums && !learnt || s.planned() {
		return nil, nil, errors.New("advice is for values of actions that are learnt by acting or from rewards")
	}
	var text strings.Builder
	if err := (&rule.Base{Rules: rules.Rules}).Write(&text); err != nil {
		return nil, nil, err
	}
	if m.acted == nil {
		return m.advisedLog(past{ID: by.ID, Name: by.Name, Rules: text.String()})
	}
	told, err := newAdviser(text.String(), m.schema)
	if err != nil {
		return nil, nil, err
	}
	rate, err := s.rate(s.sure(m.acted.Certain))
	if err != nil {
		return nil, nil, err
	}
	next := *m
	next.lesson.Settings.Advice += text.String()
	history := *m.acted
	if history.Past == nil {
		history.Past = []past{{Episodes: m.acted.Episodes}}
	}
	history.Past = history.since(past{ID: by.ID, Name: by.Name, Rules: text.String()})
	next.acted = &history
	if !ok {
		all, err := newAdviser(next.lesson.Settings.Advice, m.schema)
		if err != nil {
			return nil, nil, err
		}
		if sums {
			more := f.clone()
			more.heed(all, f.advised.units())
			next.values = more
		} else {
			more := *known
			more.advised, more.heard = all, append(slices.Clone(known.heard), make([]float64, told.units())...)
			next.values = &more
		}
		return &next, m.heardIn(context.Background(), &next, told), nil
	}
	values := l.clone()
	next.values = values
	heard = make([][3]int, len(told.matchers))
	before, after := make([]float64, l.actions), make([]float64, l.actions)
	for i := range l.states() {
		q, cells := values.of(int32(i)), l.cells[i*l.width:][:l.width]
		decide(l.of(int32(i)), before)
		for k, matches := range told.matching(cells) {
			if a := told.action[k]; matches && a < len(q) {
				q[a] += told.worth[k] * rate.left(l.visits[i*l.actions+a])
			}
		}
		decide(q, after)
		for k, matches := range told.matching(cells) {
			a := told.action[k]
			if !matches || a >= len(q) || q[a] != q[a] {
				continue
			}
			heard[k][0]++
			if after[a] > 0 {
				heard[k][1]++
				if before[a] < after[a] {
					heard[k][2]++
				}
			}
		}
	}
	return &next, heard, nil
}

// Advisable reports whether rules are advice on what actions are worth: where there are
// rewards. To one who imitates a log they say what is done.
func (m *Model) Advisable() bool { return m.acted != nil || m.reward >= 0 }

// past is a stretch of a policy's life: episodes, or advice and whose it was.
type past struct {
	Episodes int    `cbor:"episodes,omitempty"`
	ID       string `cbor:"id,omitempty"`
	Name     string `cbor:"name,omitempty"`
	Rules    string `cbor:"rules,omitempty"`
}

// since is the past with one more stretch, where advice has a part in it. Episodes
// that follow others are one stretch with them.
func (a *acted) since(next past) []past {
	n := len(a.Past)
	if n == 0 {
		return nil
	}
	all := slices.Clone(a.Past)
	if all[n-1].Rules == "" && next.Rules == "" {
		all[n-1].Episodes += next.Episodes
		return all
	}
	return append(all, next)
}

// advisers are those whose advice a policy has.
func (a *acted) advisers() []learn.Source {
	var by []learn.Source
	for _, p := range a.Past {
		if p.ID != "" && !slices.ContainsFunc(by, func(s learn.Source) bool { return s.ID == p.ID }) {
			by = append(by, learn.Source{ID: p.ID, Name: p.Name})
		}
	}
	return by
}

// unadvised is the policy as if some had not given their advice: it acts again, and
// is told again what others said, when they said it. That is exact, as an episode's
// chance is a function of the seed and of its number.
func (m *Model) unadvised(ctx context.Context, ids []string) (learn.Model, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(m.acted.advisers(), func(s learn.Source) bool { return s.ID == id }) {
			return nil, fmt.Errorf("a policy that was learnt by acting forgets advice, and nothing else; %q gave none", id)
		}
	}
	e, err := act.Lookup(m.acted.World)
	if err != nil {
		return nil, fmt.Errorf("to forget advice one acts again without it, in a world that is built in: %w", err)
	}
	s := m.lesson.Settings
	s.Advice = ""
	var again *Model
	left := slices.DeleteFunc(slices.Clone(m.acted.Past), func(p past) bool { return p.ID != "" && slices.Contains(ids, p.ID) })
	for _, p := range left {
		switch {
		case again == nil && p.Rules != "": // before it acted
			s.Advice, s.adviser = s.Advice+p.Rules, learn.Source{ID: p.ID, Name: p.Name}
			continue
		case again == nil:
			s.Episodes = p.Episodes
			again, err = s.learnIn(ctx, m.acted.World, e, m.lesson.Seed)
		case p.Rules != "":
			var base *rule.Base
			if base, err = rule.ParseFor("advice", []byte(p.Rules), m.schema); err == nil {
				var told learn.Model
				if told, _, err = again.Advised(base, learn.Source{ID: p.ID, Name: p.Name}); err == nil {
					again = told.(*Model)
				}
			}
		default:
			again.lesson.Settings.Episodes = p.Episodes
			again, err = again.practise(ctx, e)
		}
		if err != nil {
			return nil, err
		}
	}
	if again == nil {
		return nil, errors.New("the policy has not acted; learn it without the advice")
	}
	again.lesson.Settings.Episodes = m.lesson.Settings.Episodes
	return again, nil
}

// left is what so many visits leave of the value that an action began with.
func (r *rate) left(visits float64) float64 {
	if r.constant > 0 {
		return math.Pow(1-r.constant, visits)
	}
	left := 1.0
	for n := 1.0; n <= visits && left > 1e-9; n++ {
		left *= 1 - r.step(n)
	}
	return left
}

// matching says which rules speak of a state.
func (a *adviser) matching(cells []float64) []bool {
	matches := make([]bool, len(a.matchers))
	a.each(cells, func(k int) { matches[k] = true })
	return matches
}

// each calls visit for the rules that speak of a state. It may be called by several at
// once.
func (a *adviser) each(cells []float64, visit func(k int)) {
	states, _ := a.rows.Get().(*table.Table)
	if states == nil {
		states = a.states.Select([]int{0})
	}
	for i, x := range cells {
		if c := &states.Columns[i]; c.Floats != nil {
			c.Floats[0] = x
		} else if c.Codes[0] = table.Missing; x == x {
			c.Codes[0] = int32(x)
		}
	}
	for k, m := range a.matchers {
		if m.MatchRow(states, 0) {
			visit(k)
		}
	}
	a.rows.Put(states)
}

// units are how many rules stand in a sum of weights as features of their own.
func (a *adviser) units() int {
	if a == nil {
		return 0
	}
	return len(a.matchers)
}

// heed adds advice to a sum of weights: a feature that states have of which a rule
// speaks, and whose weight for the action advised begins as what it is said to be
// worth. Steps move it as they do the others, so that experience outvotes it (Maclin
// and Shavlik 1996, whose rules become units of a network).
func (f *weighted) heed(told *adviser, first int) {
	before := f.features
	f.advised = told
	f.features = f.plain + told.units()
	f.w, f.visits, f.base = f.wider(f.w, before), f.wider(f.visits, before), f.wider(f.base, before)
	for k := first; k < told.units(); k++ {
		if a := told.action[k]; a < f.actions {
			f.w[a*f.features+f.plain+k] = told.worth[k]
		}
	}
}

// wider is weights of so many features each, with room for those that there are now.
func (f *weighted) wider(w []float64, before int) []float64 {
	if w == nil {
		return nil
	}
	more := make([]float64, len(w)/before*f.features)
	for i := range len(w) / before {
		copy(more[i*f.features:], w[i*before:][:before])
	}
	return more
}

// hear adds advice to values that are fitted again and again: what an action is said
// to be worth, less the more often it was followed, as α = 1/(1+visits) leaves it.
// Values are fitted to what steps came to alone.
func (f *fitted) hear(cells, q []float64) {
	if f.advised == nil {
		return
	}
	f.advised.each(cells, func(k int) {
		a := f.advised.action[k]
		if a >= len(q) {
			return
		}
		worth := f.advised.worth[k] / (1 + f.heard[k])
		if q[a] != q[a] { // nothing is known of it yet
			q[a] = 0
		}
		q[a] += worth
	})
}

// follow counts the steps of a log in which advice was followed.
func (f *fitted) follow(log *table.Table) {
	if f.advised == nil {
		return
	}
	acts := log.Columns[log.Schema.Index(Action)].Codes
	cells := make([]float64, len(f.schema.Attributes))
	own := &Model{state: make([]int, len(cells))}
	for i := range cells {
		own.state[i] = i
	}
	for row := range acts {
		own.cellsOf(log, row, cells)
		f.advised.each(cells, func(k int) {
			if f.advised.action[k] == int(acts[row]) {
				f.heard[k]++
			}
		})
	}
}

// heardIn counts how often advice is heard in the states that a policy meets in its
// own world, where that is built in: those that a rule speaks of, those in which its
// action is now the best, and those in which it was not before.
func (m *Model) heardIn(ctx context.Context, next *Model, told *adviser) [][3]int {
	e, err := act.Lookup(m.acted.World)
	if err != nil {
		return nil
	}
	heard := make([][3]int, told.units())
	before, after := make([]float64, len(m.actions())), make([]float64, len(m.actions()))
	_, err = act.Log(ctx, e, shown, 500, m.lesson.Seed, func(cells []float64, legal []int) (int, error) {
		m.values.worth(cells, before)
		next.values.worth(cells, after)
		was, is := bestOf(before, legal), bestOf(after, legal)
		told.each(cells, func(k int) {
			heard[k][0]++
			if told.action[k] == is {
				if heard[k][1]++; was != is {
					heard[k][2]++
				}
			}
		})
		return is, nil
	})
	if err != nil {
		return nil
	}
	return heard
}

// bestOf is the legal action that is worth most.
func bestOf(q []float64, legal []int) int {
	best := legal[0]
	for _, a := range legal {
		if q[a] > q[best] || q[best] != q[best] && q[a] == q[a] {
			best = a
		}
	}
	return best
}
