package nearest

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "nearest"
	bodyPart = "chosen"
)

const format = 1

// Parts returns the settings, the rows of each source, and what was chosen by
// them, which can be chosen again.
func (m *Model) Parts() ([]learn.Part, error) {
	rows, err := m.rows.all(context.Background(), m.cases)
	if err != nil {
		return nil, err
	}
	return m.lesson.Parts(headPart, rows, bodyPart, m.chosen)
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var body chosen
	rows, found, err := l.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
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
