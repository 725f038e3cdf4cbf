package belief

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules told are virtual cases. A rule
//
//	IF a = x AND b = y THEN c = z WITH p WORTH n
//
// is n cases of which a and b are known to be x and y, and c is z in n·p of them;
// the others share the rest as the network has them. What else is to be known of a
// case, c's parents that the rule does not test, is as the network of the rows
// expects it given a and b, as in a step of EM. The cases are added to what was
// counted for c, and to no other table: they do not say how frequent a and b are.
// A rule that tests all parents of c so counts exactly as such rows would.
//
// Rules stand among the settings, so that whatever is learnt anew hears them.

// voice is what one expert said.
type voice struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Rules string `json:"rules"` // in the rule language
}

// mostVoices bounds the experts of a network.
const mostVoices = 10_000

// voices reads what was told, in the order of telling.
func (s *settings) voices() ([]voice, error) {
	if s.Told == "" {
		return nil, nil
	}
	var all []voice
	if err := json.Unmarshal([]byte(s.Told), &all); err != nil {
		return nil, fmt.Errorf("rules that were told cannot be read: %v", err)
	}
	if len(all) == 0 || len(all) > mostVoices {
		return nil, fmt.Errorf("%d experts told rules; expected 1 to %d", len(all), mostVoices)
	}
	return all, nil
}

// checkTold returns an error unless what was told can be read.
func (s *settings) checkTold() error {
	all, err := s.voices()
	for _, v := range all {
		if err == nil {
			_, err = rule.Parse(v.Name, []byte(v.Rules))
		}
	}
	return err
}

// speak sets what was told.
func (s *settings) speak(all []voice) {
	s.Told = ""
	if len(all) > 0 {
		text, _ := json.Marshal(all) // strings, which can be written
		s.Told = string(text)
	}
}

// supposed is a rule against the columns of a network.
type supposed struct {
	codes  map[int]int32 // that the rule tests
	column int           // that it concludes
	value  int
	with   float64
	worth  float64
}

// suppose reads a rule; an error says what of it a network does not take.
func suppose(schema *table.Schema, r *rule.Rule) (*supposed, error) {
	s := &supposed{codes: map[int]int32{}}
	named := func(column, value string) (int, int32, error) {
		j := schema.Index(column)
		if j < 0 {
			return 0, 0, fmt.Errorf("the network has no column %q%s", column, spell.Hint(column, schema.Names()))
		}
		a := &schema.Attributes[j]
		if a.Kind != table.Nominal {
			return 0, 0, fmt.Errorf("column %q holds numbers; rules are told to a network about names", column)
		}
		code := a.Code(value)
		if code < 0 {
			return 0, 0, fmt.Errorf("column %q has no value %q%s", column, value, spell.Hint(value, a.Values))
		}
		return j, code, nil
	}
	for i := range r.If {
		t := &r.If[i]
		if t.Op != rule.Eq {
			return nil, fmt.Errorf("%s: a network is told what follows from cells that are known; expected column = value", t)
		}
		j, code, err := named(t.Column, t.Value)
		if err != nil {
			return nil, err
		}
		if was, twice := s.codes[j]; twice && was != code {
			return nil, fmt.Errorf("column %q cannot have two values", t.Column)
		}
		s.codes[j] = code
	}
	if r.Then.Numeric || r.Then.Value == "" {
		return nil, fmt.Errorf("column %q: a network is told one value with its probability", r.Then.Column)
	}
	j, code, err := named(r.Then.Column, r.Then.Value)
	if err != nil {
		return nil, err
	}
	if _, tests := s.codes[j]; tests {
		return nil, fmt.Errorf("it tests the column %q that it concludes", r.Then.Column)
	}
	if r.Worth == nil || !(*r.Worth >= 0 && *r.Worth <= 1e12) {
		return nil, errors.New("it does not say how many cases it is worth, from 0 to 1e12; add WORTH and a number")
	}
	s.column, s.value, s.worth = j, int(code), *r.Worth
	if s.with = 1 - 1/(s.worth+2); r.With != nil {
		s.with = *r.With
	}
	return s, nil
}

// Suppose returns the network with an expert's rules as virtual cases.
func (m *Model) Suppose(ctx context.Context, rules *rule.Base, by learn.Source) (learn.Model, error) {
	switch {
	case len(rules.Units) > 0:
		return nil, fmt.Errorf("unit %q: a network is told IF … THEN rules", rules.Units[0].Name)
	case rules.Else != nil:
		return nil, errors.New("ELSE says nothing about a row by itself; say IF … THEN …")
	case len(rules.Rules) == 0:
		return nil, errors.New("there are no rules; expected IF … THEN … WITH probability WORTH cases")
	}
	text := &rule.Base{Kind: rule.Ordered}
	for i, r := range rules.Rules {
		if _, err := suppose(m.schema, &r); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		r.Evidence = rule.Evidence{}
		text.Rules = append(text.Rules, r)
	}
	all, err := m.lesson.Settings.voices()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v voice) bool { return v.ID == by.ID }) // told again
	return m.saying(ctx, append(all, voice{by.ID, by.Name, text.String()}))
}

// saying returns the network that was told just so much.
func (m *Model) saying(ctx context.Context, all []voice) (learn.Model, error) {
	l := m.lesson
	l.Settings.speak(all)
	var told *Model
	var err error
	switch {
	case m.kept != nil:
		told, err = learnCounts(ctx, m.kept, l)
	case m.rows != nil:
		told, err = learnRows(ctx, m.rows, l)
	default:
		err = m.Relearning().Need("be told rules")
	}
	if err != nil {
		return nil, err
	}
	return told, nil
}

// Experts are the sources of the rules that the network was told.
func (m *Model) Experts() []learn.Source {
	all, _ := m.lesson.Settings.voices() // they were checked
	experts := make([]learn.Source, len(all))
	for i, v := range all {
		experts[i] = learn.Source{ID: v.ID, Name: v.Name}
	}
	return experts
}

// IsTold reports whether the network was told rules.
func (m *Model) IsTold() bool { return m.lesson.Settings.Told != "" }

// ToldAs returns the network with what another one was told.
func (m *Model) ToldAs(ctx context.Context, other learn.Model) (learn.Model, error) {
	o, ok := other.(*Model)
	if !ok {
		return nil, fmt.Errorf("a model of %s was not told what a network can be", other.Learner())
	}
	all, err := o.lesson.Settings.voices()
	if err != nil {
		return nil, err
	}
	return m.saying(ctx, all)
}

// unspoken returns which of some sources brought rows, and the voices without the
// others.
func (m *Model) unspoken(ids []string) (rows []string, left []voice, err error) {
	left, err = m.lesson.Settings.voices()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if i := slices.IndexFunc(left, func(v voice) bool { return v.ID == id }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			rows = append(rows, id)
		}
	}
	return rows, left, nil
}

// alike returns networks that were told what any of them was, so that only their
// rows are to be merged.
func alike(m *Model, others []learn.Model) (*Model, []learn.Model, error) {
	all, err := m.lesson.Settings.voices()
	if err != nil {
		return nil, nil, err
	}
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			continue // which is said when they are merged
		}
		theirs, err := o.lesson.Settings.voices()
		if err != nil {
			return nil, nil, err
		}
		for _, v := range theirs {
			if !slices.ContainsFunc(all, func(have voice) bool { return have.ID == v.ID }) {
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b voice) int { return strings.Compare(a.ID, b.ID) })
	same := func(m *Model) *Model {
		to := &Model{lesson: m.lesson, rows: m.rows, kept: m.kept, schema: m.schema, target: m.target, weight: m.weight, net: m.net, counts: m.counts, grown: m.grown}
		to.lesson.Settings.speak(all)
		return to
	}
	told := make([]learn.Model, len(others))
	for i, other := range others {
		told[i] = other
		if o, ok := other.(*Model); ok {
			told[i] = same(o)
		}
	}
	return same(m), told, nil
}

// hear adds what was told to the tables that rows filled in. A rule about a column
// or value that has left with its rows waits for them.
func (d *data) hear(ctx context.Context, m *Model, priors []prior) error {
	all, err := d.settings.voices()
	if err != nil || len(all) == 0 {
		return err
	}
	nodes := m.net.nodes
	e, desk, told := newExpecting(m.net), newDesk(len(nodes)), make([][]float64, len(nodes))
	for _, v := range all {
		base, err := rule.Parse(v.Name, []byte(v.Rules))
		if err != nil {
			return err
		}
		for i := range base.Rules {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := suppose(d.schema, &base.Rules[i])
			if err != nil || nodes[s.column].states == 0 {
				continue
			}
			if told[s.column] == nil {
				told[s.column] = make([]float64, len(nodes[s.column].table))
			}
			if err := e.imagine(desk, s, told[s.column]); err != nil {
				return err
			}
		}
	}
	for v, cases := range told {
		if cases == nil {
			continue
		}
		n := &nodes[v]
		heard := make([]float64, len(n.table))
		for from := 0; from < len(heard); from += n.states {
			rows, more := priors[v].worth, 0.0
			for k := from; k < from+n.states; k++ {
				rows += m.counts[v][k]
				more += cases[k]
			}
			for k := from; k < from+n.states; k++ {
				if heard[k] = n.table[k]; more > 0 {
					heard[k] = (rows*n.table[k] + cases[k]) / (rows + more)
				}
			}
		}
		n.table = heard
	}
	return nil
}

// imagine adds the cases of a rule to those of the table that it speaks of.
func (e *expecting) imagine(desk *desk, s *supposed, cases []float64) error {
	for v := range desk.codes {
		desk.codes[v], desk.floats[v] = -1, math.NaN()
		if code, known := s.codes[v]; known {
			desk.codes[v] = code
		}
	}
	plan, err := e.plan(desk)
	if err != nil {
		return fmt.Errorf("what rules say of other columns cannot be worked out: %w", err)
	}
	desk.use(plan.tree)
	if math.IsInf(plan.tree.collect(desk), -1) {
		return nil // what cannot be has no cases
	}
	n, f := &e.net.nodes[s.column], &plan.families[s.column]
	plan.tree.distribute(desk, f.clique)
	parents, sum := make([]float64, len(cases)/n.states), 0.0
	for entry, p := range desk.table(&plan.tree.cliques[f.clique]) {
		parents[int(f.places[entry])/n.states] += p
		sum += p
	}
	for row, p := range parents {
		if p > 0 {
			expert.Say(cases[row*n.states:][:n.states], n.table[row*n.states:][:n.states], s.value, s.with, s.worth*p/sum)
		}
	}
	return nil
}
