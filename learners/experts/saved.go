package experts

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "experts"
	bodyPart = "learnt"
)

const format = 1

// body is what was learnt; experts are whole models, encoded.
type body struct {
	Scale   scale     `cbor:"scale"`
	Gates   []gate    `cbor:"gates"`
	Widths  []float64 `cbor:"widths"`
	Experts [][]byte  `cbor:"experts"`
}

// Parts returns the settings, the rows of each source, and what was learnt of them.
func (m *Model) Parts() ([]learn.Part, error) {
	b := body{Scale: m.scale, Gates: m.gates, Widths: m.widths}
	for _, of := range m.experts {
		data, err := learn.Encode(of)
		if err != nil {
			return nil, err
		}
		b.Experts = append(b.Experts, data)
	}
	return m.lesson.Parts(headPart, m.rows, bodyPart, b)
}

// decode makes a model of its parts: any bytes give a sound model or an error.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var b body
	keeps := func(s *settings) (bool, error) { return true, s.check() }
	rows, found, err := l.Load(parts, headPart, format, keeps, bodyPart, &b)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if !found {
		return learnRows(ctx, rows, l)
	}
	return restore(ctx, rows, l, &b)
}

// restore checks what was learnt against the rows.
func restore(ctx context.Context, rows *kept.Rows, l lesson, b *body) (*Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m, err := blank(t.Schema, l)
	if err != nil {
		return nil, err
	}
	m.rows, m.scale, m.gates, m.widths = rows, b.Scale, b.Gates, b.Widths
	for r := range t.Rows() {
		m.weight += t.Weight(r)
	}
	if n := l.Settings.Experts; len(b.Gates) != n || len(b.Widths) != n || len(b.Experts) != n || len(b.Scale) != len(t.Columns) {
		return nil, fmt.Errorf("part %q: %d gates, %d experts and %d columns, expected %d, %d and %d", bodyPart, len(b.Gates), len(b.Experts), len(b.Scale), n, n, len(t.Columns))
	}
	for c := range b.Gates {
		if err := m.checkGate(c); err != nil {
			return nil, fmt.Errorf("part %q: gate %d: %w", bodyPart, c+1, err)
		}
		of, err := learn.Decode(b.Experts[c])
		if err != nil {
			return nil, fmt.Errorf("part %q: expert %d: %w", bodyPart, c+1, err)
		}
		if of.Learner() != l.Settings.Base || of.Target() != m.target || !table.SameCodes(of.Schema(), m.schema) {
			return nil, fmt.Errorf("part %q: expert %d is of %s and knows other columns, or predicts another; expected %s", bodyPart, c+1, of.Learner(), l.Settings.Base)
		}
		m.experts = append(m.experts, of)
	}
	return m, nil
}

// checkGate refuses a gate that does not fit the columns.
func (m *Model) checkGate(c int) error {
	g := &m.gates[c]
	if len(g.Columns) != len(m.schema.Attributes) || !(g.Log <= 1e-9) || !known(g.Log) || !(m.widths[c] >= 0 && m.widths[c] <= math.MaxFloat64) {
		return fmt.Errorf("%d columns, share %v, width %v", len(g.Columns), math.Exp(g.Log), m.widths[c])
	}
	for j := range g.Columns {
		d, a := &g.Columns[j], &m.schema.Attributes[j]
		number := a.Kind == table.Numeric && j != m.target
		switch {
		case d.Width != 0 && !(number && d.Width > 0 && d.Width <= math.MaxFloat64 && known(d.Centre) && m.scale[j] > 0 && m.scale[j] <= math.MaxFloat64):
			return fmt.Errorf("column %q: centre %v, width %v", a.Name, d.Centre, d.Width)
		case d.Logs != nil && (a.Kind != table.Nominal || j == m.target || len(d.Logs) != len(a.Values)+1):
			return fmt.Errorf("column %q has %d frequencies", a.Name, len(d.Logs))
		}
		for _, log := range d.Logs {
			if !(log <= 1e-9) || !known(log) {
				return fmt.Errorf("column %q: a frequency of %v", a.Name, math.Exp(log))
			}
		}
	}
	return nil
}
