package cover

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "cover"
	bodyPart = "rules"
)

const format = 1

// savedBody is what was learnt. Where rows are kept it can be learnt again.
type savedBody struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Rules   []savedRule         `cbor:"rules"`
	Rest    []float64           `cbor:"rest"`
	All     []float64           `cbor:"all"`
	Why     []stop              `cbor:"why"`
}

type savedRule struct {
	Tests []savedTest `cbor:"tests"`
	Class int         `cbor:"class"`
	First []float64   `cbor:"first"`
	Alone []float64   `cbor:"alone,omitempty"`
}

type savedTest struct {
	Column    int32   `cbor:"column"`
	Form      form    `cbor:"form"`
	Code      int32   `cbor:"code,omitempty"`
	In        []int32 `cbor:"in,omitempty"`
	Threshold float64 `cbor:"threshold,omitempty"`
}

// Parts returns the settings, the rows of each source, and the rules, which
// can be learnt again from the others if rows are kept.
func (m *Model) Parts() ([]learn.Part, error) {
	lesson := &kept.Lesson[settings]{Format: format, Settings: m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	body := savedBody{Columns: table.SaveColumns(m.schema), Rest: m.rest, All: m.all, Why: m.why}
	for i := range m.list {
		l := &m.list[i]
		r := savedRule{Class: l.class, First: l.first, Alone: l.alone}
		for _, c := range l.tests {
			s := savedTest{Column: c.col, Form: c.form, Threshold: c.threshold}
			if c.form == is {
				s.Code = c.code
			}
			for v, is := range c.in {
				if is {
					s.In = append(s.In, int32(v))
				}
			}
			r.Tests = append(r.Tests, s)
		}
		body.Rules = append(body.Rules, r)
	}
	return lesson.Parts(headPart, m.rows, bodyPart, body)
}

// Shed returns the rules without the rows that they were learnt from.
func (m *Model) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows, bare.settings.Keep = nil, "nothing"
	return &bare, m.rows != nil, nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var lesson kept.Lesson[settings]
	var body savedBody
	rows, found, err := lesson.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRows(context.Background(), rows, lesson.Target, lesson.Seed, lesson.Settings)
	}
	m := &Model{settings: lesson.Settings, seed: lesson.Seed, rows: rows}
	if err := m.restore(&body, lesson.Target); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Model) restore(body *savedBody, target string) error {
	var err error
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(target)
	if m.target < 0 || len(m.classes()) == 0 {
		return fmt.Errorf("the target %q is no column with classes", target)
	}
	m.rest, m.all, m.why = body.Rest, body.All, body.Why
	if err := m.weights(m.rest); err != nil {
		return err
	}
	if err := m.weights(m.all); err != nil {
		return err
	}
	if !(sum(m.all) > 0) {
		return fmt.Errorf("there are no rows")
	}
	if n := len(m.why); n != 1 && n != len(m.classes()) || slices.ContainsFunc(m.why, func(s stop) bool { return s == 0 || s >= stops }) {
		return fmt.Errorf("%d reasons for stopping do not fit %d classes", n, len(m.classes()))
	}
	for i := range body.Rules {
		l, err := m.restoreRule(&body.Rules[i])
		if err != nil {
			return fmt.Errorf("rule %d: %v", i+1, err)
		}
		m.list = append(m.list, l)
	}
	m.derive()
	return nil
}

// weights returns an error unless there is a weight for each class.
func (m *Model) weights(counts []float64) error {
	if len(counts) != len(m.classes()) || !finite(sum(counts)) || slices.ContainsFunc(counts, func(w float64) bool { return !(w >= 0) }) {
		return fmt.Errorf("the weights %v do not fit %d classes", counts, len(m.classes()))
	}
	return nil
}

func (m *Model) restoreRule(s *savedRule) (l listed, err error) {
	l = listed{class: s.Class, first: s.First, alone: s.Alone}
	if s.Class < 0 || s.Class >= len(m.classes()) || len(s.Tests) == 0 {
		return l, fmt.Errorf("%d tests for class %d", len(s.Tests), s.Class)
	}
	if err := m.weights(l.first); err != nil {
		return l, err
	}
	if l.alone != nil {
		err = m.weights(l.alone)
	}
	if err != nil || !(sum(l.first)+sum(l.alone) > 0) || sum(l.first) > 0 && l.alone != nil {
		return l, fmt.Errorf("it covers no rows that it could answer from")
	}
	for _, t := range s.Tests {
		c, err := m.restoreTest(&t)
		if err != nil {
			return l, err
		}
		if slices.ContainsFunc(l.tests, func(d condition) bool { return d.col == c.col && (d.form == c.form || d.form < atMost) }) {
			return l, fmt.Errorf("two tests ask the same of column %d", t.Column+1)
		}
		l.tests = append(l.tests, c)
	}
	return l, nil
}

func (m *Model) restoreTest(t *savedTest) (condition, error) {
	c := condition{col: t.Column, form: t.Form, code: t.Code, threshold: t.Threshold}
	if t.Column < 0 || int(t.Column) >= len(m.schema.Attributes) || int(t.Column) == m.target || t.Form >= forms {
		return c, fmt.Errorf("it has no use for column %d", t.Column+1)
	}
	a := &m.schema.Attributes[t.Column]
	wrong := fmt.Errorf("a test does not fit column %q", a.Name)
	if numeric := a.Kind == table.Numeric; numeric != (t.Form >= atMost) || !numeric && a.Kind != table.Nominal {
		return c, wrong
	}
	values := int32(len(a.Values))
	switch t.Form {
	case is:
		if t.Code < 0 || t.Code >= values || len(t.In) > 0 {
			return c, wrong
		}
	case in:
		c.in = make([]bool, values)
		for i, v := range t.In {
			if v < 0 || v >= values || i > 0 && v <= t.In[i-1] {
				return c, wrong
			}
			c.in[v] = true
		}
		if len(t.In) < 2 {
			return c, wrong
		}
	default:
		if !finite(t.Threshold) || t.Code != 0 || len(t.In) > 0 || math.Signbit(t.Threshold) && t.Threshold == 0 {
			return c, wrong
		}
	}
	return c, nil
}
