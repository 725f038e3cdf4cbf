package nearest

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart  = "nearest"
	bodyPart  = "chosen"
	graphPart = "graph"
)

const format = 1

// Parts returns the settings, the rows of each source, what was chosen by them and
// the graph that was built, which can be chosen and built again.
func (m *Model) Parts() ([]learn.Part, error) {
	rows, err := m.rows.all(context.Background(), m.cases)
	if err != nil {
		return nil, err
	}
	parts, err := m.lesson.Parts(headPart, rows, bodyPart, m.chosen)
	if err != nil {
		return nil, err
	}
	if g, ok := m.index.index.(*graph); ok {
		data, err := g.saved()
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: graphPart, Derived: true, Data: data})
	}
	return parts, nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var body chosen
	rows, found, err := l.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	body.graph = learn.FindPart(parts, graphPart)
	was := &body
	if !found {
		was = nil
	}
	m, err := learnRows(context.Background(), rows, l, was)
	if err != nil {
		return nil, err
	}
	return m, nil
}
