package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

const (
	format   = 1
	headPart = "policy"
	bodyPart = "values"
)

// body is what was learnt: computed again from a log, the model itself of acting.
type body struct {
	Columns   []table.SavedColumn `cbor:"columns"` // of acting
	Acted     *acted              `cbor:"acted"`
	Lookup    *savedLookup        `cbor:"lookup"`
	Looks     []int               `cbor:"looks,omitempty"` // of a log, the columns of states in the table, if not all
	Weights   *savedWeights       `cbor:"weights"`
	Judge     *savedJudge         `cbor:"judge,omitempty"`
	Models    [][]byte            `cbor:"models"` // of each action; empty where there is none
	Joint     []byte              `cbor:"joint,omitempty"`
	Net       *outputs            `cbor:"net,omitempty"`
	Behaviour []byte              `cbor:"behaviour"`
	Summary   []byte              `cbor:"summary"`
	Steps     []byte              `cbor:"steps,omitempty"`
	Agrees    float64             `cbor:"agrees"`
	Heard     []float64           `cbor:"heard,omitempty"`
}

// Parts returns the lesson, the steps of each source, and the values.
func (m *Model) Parts() ([]learn.Part, error) {
	b := body{Acted: m.acted, Agrees: m.agrees}
	if m.acted != nil {
		b.Columns = table.SaveColumns(m.schema)
	}
	var err error
	switch v := m.values.(type) {
	case *lookup:
		b.Lookup = v.saved()
		if m.acted == nil && len(m.state) < len(stateColumns(m.schema, m.target, m.reward)) {
			b.Looks = m.state
		}
	case *weighted:
		b.Weights = v.saved()
	case *judge:
		b.Judge = v.saved()
	case *fitted:
		b.Heard = v.heard
		if b.Behaviour, err = learn.Encode(v.behaviour); err != nil {
			return nil, err
		}
		for _, model := range v.models {
			var data []byte
			if model != nil {
				if data, err = learn.Encode(model); err != nil {
					return nil, err
				}
			}
			b.Models = append(b.Models, data)
		}
		if b.Net = v.net; v.joint != nil {
			if b.Joint, err = learn.Encode(v.joint); err != nil {
				return nil, err
			}
		}
	}
	if m.steps != nil {
		if b.Steps, err = learn.Encode(m.steps); err != nil {
			return nil, err
		}
	}
	if m.summary != nil {
		if b.Summary, err = learn.Encode(m.summary); err != nil {
			return nil, err
		}
	}
	return m.lesson.Parts(headPart, m.rows, bodyPart, b)
}

// decode checks what it reads: any bytes give a sound model or an error.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var b body
	byActing := false
	if data := learn.FindPart(parts, bodyPart); data != nil {
		if err := learn.Unmarshal(data, &b); err != nil {
			return nil, fmt.Errorf("part %q: %v", bodyPart, err)
		}
		byActing = b.Acted != nil
	}
	keeps := func(s *settings) (bool, error) { return !byActing, s.check() }
	rows, found, err := l.Load(parts, headPart, format, keeps, bodyPart, &b)
	if err != nil {
		return nil, err
	}
	if byActing {
		return decodeActed(l, &b)
	}
	if !found {
		return learnSteps(context.Background(), rows, l)
	}
	return decodeLog(rows, l, &b)
}

// limitsOf are the numbers of values of the columns of states, 0 of numbers.
func (m *Model) limitsOf() []int {
	limits := make([]int, len(m.state))
	for i, j := range m.state {
		if a := &m.schema.Attributes[j]; a.Kind == table.Nominal {
			limits[i] = max(1, len(a.Values))
		}
	}
	return limits
}

func decodeActed(l lesson, b *body) (learn.Model, error) {
	schema, err := table.LoadColumns(b.Columns)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, schema: schema, target: len(schema.Attributes) - 1, reward: -1, acted: b.Acted, agrees: b.Agrees}
	if m.target < 0 || schema.Attributes[m.target].Kind != table.Nominal || schema.Attributes[m.target].Name != l.Target || len(m.actions()) == 0 {
		return nil, errors.New("the policy has no actions")
	}
	for _, a := range schema.Attributes {
		if a.Kind != table.Nominal && a.Kind != table.Numeric {
			return nil, fmt.Errorf("column %q of states is neither a name nor a number", a.Name)
		}
	}
	c := &b.Acted.Curve
	if b.Acted.Episodes < 0 || b.Acted.Steps < 0 || c.Size < 1 || len(c.Count) > mostBlocks || len(c.Sum) != len(c.Count) || len(c.Square) != len(c.Count) {
		return nil, errors.New("the history of acting is not whole")
	}
	for _, p := range b.Acted.Past {
		if p.Episodes < 0 || p.Episodes > 0 && p.Rules != "" {
			return nil, errors.New("the past of the policy is not whole")
		}
	}
	for _, r := range b.Acted.Matches {
		if min(r.Won, r.Drawn, r.Lost) < 0 || r.Won+r.Drawn+r.Lost <= 0 {
			return nil, errors.New("the history of games is not whole")
		}
	}
	m.state = stateColumns(schema, m.target, -1)
	switch {
	case b.Lookup != nil:
		m.values, err = b.Lookup.load(m.limitsOf(), len(m.actions()))
	case b.Weights != nil:
		var told *adviser
		if told, err = newAdviser(l.Settings.Advice, schema); err == nil {
			m.values, err = b.Weights.load(m.limitsOf(), len(m.actions()), told)
		}
	case b.Judge != nil:
		m.values, err = b.Judge.load(b.Acted.World, max(1, l.Settings.Lookahead), len(m.state), len(m.actions()))
	case len(b.Behaviour) > 0:
		one := *m
		one.reward = m.target // there are values of each action
		j := &journal{Model: &one, states: &table.Table{Schema: &table.Schema{Attributes: schema.Attributes[:m.target]}}}
		m.values, err = j.advised(b)
	default:
		err = errors.New("there are no values")
	}
	if err != nil {
		return nil, err
	}
	if len(b.Steps) > 0 {
		steps, err := learn.Decode(b.Steps)
		if err != nil {
			return nil, err
		}
		if m.steps, _ = steps.(*Model); m.steps == nil || m.steps.acted != nil {
			return nil, errors.New("the steps that were acted are no log")
		}
	}
	if len(b.Summary) == 0 {
		return m, nil
	}
	if j, ok := m.values.(*judge); ok {
		m.summary, err = learn.Decode(b.Summary)
		if err == nil && len(m.summary.Schema().Attributes) != len(j.game.Measures())+1 {
			err = errors.New("rules are of other boards")
		}
		return m, err
	}
	states := &table.Schema{Attributes: schema.Attributes[:m.target]}
	j := &journal{Model: m, states: &table.Table{Schema: states}}
	if m.summary, err = j.decoded(b.Summary, table.Nominal, j.states.Schema.Attributes...); err != nil {
		return nil, err
	}
	if !(m.agrees >= 0 && m.agrees <= 1) {
		return nil, fmt.Errorf("rules agree with the policy on a share of %v", m.agrees)
	}
	return m, nil
}

func decodeLog(rows *kept.Rows, l lesson, b *body) (learn.Model, error) {
	t, err := rows.Table(context.Background())
	if err != nil {
		return nil, err
	}
	j, err := newJournal(t, rows, l)
	if err != nil {
		return nil, err
	}
	m := j.Model
	if b.Lookup != nil {
		if b.Looks != nil {
			for i, c := range b.Looks {
				if !slices.Contains(m.state, c) || slices.Contains(b.Looks[:i], c) {
					return nil, fmt.Errorf("the policy looks at column %d, which is none of states", c)
				}
			}
			m.state = b.Looks
		}
		m.values, err = b.Lookup.load(m.limitsOf(), len(m.actions()))
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	f, err := j.fitted(b, l.Settings.Support)
	if err != nil {
		return nil, err
	}
	told, err := m.toldAdviser()
	if err != nil {
		return nil, err
	}
	if m.reward < 0 {
		told = nil
	}
	if err := f.hears(told, b.Heard); err != nil {
		return nil, err
	}
	if len(b.Summary) > 0 {
		if m.summary, err = j.decoded(b.Summary, table.Nominal, j.states.Schema.Attributes...); err != nil {
			return nil, err
		}
	}
	if m.agrees = b.Agrees; !(m.agrees >= 0 && m.agrees <= 1) || math.IsNaN(m.agrees) {
		return nil, fmt.Errorf("rules agree with the policy on a share of %v", m.agrees)
	}
	m.values = f
	return m, nil
}

// decoded reads a model of columns and one more.
func (j *journal) decoded(data []byte, kind table.Kind, columns ...table.Attribute) (learn.Model, error) {
	m, err := learn.Decode(data)
	if err != nil {
		return nil, err
	}
	schema := m.Schema()
	if m.Target() < 0 || schema.Attributes[m.Target()].Kind != kind || len(schema.Attributes) != len(columns)+1 {
		return nil, errors.New("a model of values is of other columns")
	}
	for i := range columns {
		if a := &columns[i]; schema.Attributes[i].Name != a.Name || schema.Attributes[i].Kind != a.Kind {
			return nil, errors.New("a model of values is of other columns")
		}
	}
	if kind == table.Nominal && len(schema.Attributes[m.Target()].Values) > len(j.actions()) {
		return nil, errors.New("a model of acts has other actions")
	}
	return m, nil
}

// advised reads the models of values of one who acts, and the advice that it has.
func (j *journal) advised(b *body) (*fitted, error) {
	f, err := j.fitted(b, 0)
	if err != nil {
		return nil, err
	}
	told, err := newAdviser(j.lesson.Settings.Advice, j.schema)
	if err != nil {
		return nil, err
	}
	return f, f.hears(told, b.Heard)
}

// hears reads how often advice was followed.
func (f *fitted) hears(told *adviser, heard []float64) error {
	if f.advised, f.heard = told, heard; len(heard) != told.units() {
		return fmt.Errorf("%d counts of advice for %d rules", len(heard), told.units())
	}
	for _, n := range heard {
		if !(n >= 0) || math.IsInf(n, 0) {
			return fmt.Errorf("advice was followed %v times", n)
		}
	}
	return nil
}

// fitted reads the models of values.
func (j *journal) fitted(b *body, support float64) (f *fitted, err error) {
	f = &fitted{state: j.state, schema: j.states.Schema, actions: j.actions(), support: support}
	if f.behaviour, err = j.decoded(b.Behaviour, table.Nominal, j.states.Schema.Attributes...); err != nil {
		return nil, err
	}
	acts := j.schema.Attributes[j.target]
	f.acts = acts.Name
	switch {
	case j.reward >= 0 && b.Net != nil:
		f.net = b.Net
		return f, f.net.check(f.schema)
	case j.reward >= 0 && b.Joint != nil:
		f.joint, err = j.decoded(b.Joint, table.Numeric, append(slices.Clone(f.schema.Attributes), acts)...)
		return f, err
	}
	if j.reward >= 0 && len(b.Models) != len(j.actions()) || j.reward < 0 && len(b.Models) != 0 {
		return nil, fmt.Errorf("%d models of values for %d actions", len(b.Models), len(j.actions()))
	}
	for _, data := range b.Models {
		var model learn.Model
		if len(data) > 0 {
			if model, err = j.decoded(data, table.Numeric, j.states.Schema.Attributes...); err != nil {
				return nil, err
			}
		}
		f.models = append(f.models, model)
	}
	return f, nil
}
