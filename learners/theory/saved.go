package theory

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// lesson is the settings with the theory, the seed and the target.
type lesson = kept.Lesson[settings]

// Names of a model's parts, besides those of its rows.
const (
	headPart = "kbann"
	bodyPart = "network"
)

const format = 1

// savedBody is what was learnt; it can be learnt again.
type savedBody struct {
	Columns   []table.SavedColumn `cbor:"columns"`
	Found     []savedInput        `cbor:"found"`
	Counts    []float64           `cbor:"counts"`
	W         float64             `cbor:"w"`
	Weights   []float64           `cbor:"weights"`
	Agreement float64             `cbor:"agreement"`
	Right     float64             `cbor:"right"`
	Open      float64             `cbor:"open,omitempty"`
	Rules     []savedRule         `cbor:"rules"`
	Fit       float64             `cbor:"fit"`
	Chosen    []Balance           `cbor:"chosen,omitempty"`
	Fared     Explanation         `cbor:"fared,omitzero"`
}

// savedRule is a rule that was read, as text, and the rule of the theory that it
// was.
type savedRule struct {
	Text string `cbor:"text"`
	From int    `cbor:"from"`
}

// Parts returns the settings with the theory, the rows of each source, and the
// weights, which can be learnt again from the others.
func (m *Model) Parts() ([]learn.Part, error) {
	body := savedBody{
		Columns: table.SaveColumns(m.schema), Found: m.found, Counts: m.counts, W: m.w,
		Weights: m.net.weights, Agreement: m.agreement, Right: m.right, Open: m.open, Fit: m.base.Fit, Chosen: m.chosen, Fared: m.fared,
	}
	for i := range m.base.Rules {
		body.Rules = append(body.Rules, savedRule{m.base.Rules[i].String(), m.base.From[i]})
	}
	return m.lesson.Parts(headPart, m.rows, bodyPart, body)
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var body savedBody
	keeps := func(s *settings) (bool, error) { return true, s.check() }
	rows, found, err := l.Load(parts, headPart, format, keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRows(context.Background(), rows, l)
	}
	m := &Model{lesson: l, rows: rows}
	if err := m.restore(&body); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Model) restore(body *savedBody) (err error) {
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(m.lesson.Target)
	if m.target < 0 || m.schema.Attributes[m.target].Kind != table.Nominal || len(m.schema.Attributes[m.target].Values) == 0 {
		return fmt.Errorf("the target %q is no column with classes", m.lesson.Target)
	}
	if err := checkInputs(m.schema, m.target, body.Found); err != nil {
		return err
	}
	m.found, m.counts, m.w = body.Found, body.Counts, body.W
	m.agreement, m.right, m.open, m.chosen, m.fared = body.Agreement, body.Right, body.Open, body.Chosen, body.Fared
	if err := m.build(); err != nil {
		return err
	}
	if len(body.Counts) != len(m.classes) || len(body.Weights) != len(m.net.weights) {
		return fmt.Errorf("%d classes and %d weights, expected %d and %d", len(body.Counts), len(body.Weights), len(m.classes), len(m.net.weights))
	}
	for _, list := range [][]float64{body.Weights, body.Counts, {body.W, body.Agreement, body.Right, body.Open, body.Fit}} {
		for _, x := range list {
			if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e15 {
				return fmt.Errorf("%v among the numbers", x)
			}
		}
	}
	if !(sum(m.counts) > 0) || !(m.w > 0) {
		return fmt.Errorf("rows of weight %v, W = %v", sum(m.counts), m.w)
	}
	m.net.weights = body.Weights
	m.base.Fit = body.Fit
	for i, saved := range body.Rules {
		base, err := rule.Parse("rules", []byte(saved.Text))
		if err != nil || len(base.Rules) != 1 || saved.From < none || saved.From >= len(m.theory.Rules) {
			return fmt.Errorf("rule %d cannot be read (%v)", i+1, err)
		}
		m.base.Rules, m.base.From = append(m.base.Rules, base.Rules[0]), append(m.base.From, saved.From)
	}
	return nil
}
