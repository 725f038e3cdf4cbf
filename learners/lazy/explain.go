package lazy

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Explain shows what was learnt for a row: the tests of its path, each with how
// far it moved the answer; or what the base says of its own model, where that
// has something to say.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	room := m.rooms.Get().(*room)
	defer m.rooms.Put(room)
	if m.lesson.Settings.Base != pathBase {
		return m.explainLocal(room, t, row)
	}
	e := &learn.Explanation{Additive: true}
	said := func(of []float64) []float64 {
		if m.classes == 0 {
			mean, _, _ := m.interval(of)
			return []float64{mean}
		}
		p := make([]float64, m.classes)
		m.smooth(of, p)
		for c := range p {
			p[c] = math.Log(p[c])
		}
		return p
	}
	m.path(room, t.Columns, row, func(s step, before, after []float64) {
		was, is, test := said(before), said(after), m.test(&s)
		if e.Prior == nil {
			e.Prior = was
		}
		for c := range is {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: test.String(), Class: c, Weight: is[c] - was[c]})
		}
	})
	if e.Prior == nil {
		e.Prior = said(room.now)
	}
	return e, nil
}

// explainLocal passes on what the base's model says.
func (m *Model) explainLocal(room *room, t *table.Table, row int) (*learn.Explanation, error) {
	ctx := context.Background()
	around, err := m.neighbourhood(room, t.Columns, row)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, 1)
	if err := m.answer(ctx, room, t.Slice(row, row+1), 0, out); err != nil {
		return nil, err
	}
	prior := slices.Clone(out.Mean)
	if m.classes > 0 {
		prior = make([]float64, m.classes)
		for c, p := range out.Row(0) {
			prior[c] = math.Log(max(p, 1e-300))
		}
	}
	plain := &learn.Explanation{Prior: prior}
	if m.classes > 0 && m.unanimous(around) {
		return plain, nil
	}
	model, one, err := m.learnt(ctx, around, t, row)
	if err != nil {
		return nil, err
	}
	explainer, ok := learn.Ability[learn.Explainer](model)
	if !ok || m.classes > 0 && !slices.Equal(model.Schema().Attributes[model.Target()].Values, m.names()) {
		return plain, nil
	}
	e, err := explainer.Explain(one, 0)
	if err != nil {
		return nil, err
	}
	e.Missing = slices.DeleteFunc(e.Missing, func(c learn.MissingCell) bool { return m.schema.Index(c.Column) < 0 })
	return e, nil
}
