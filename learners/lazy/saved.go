package lazy

import (
	"context"
	"errors"

	"github.com/accrete-ml/accrete/learn"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "lazy"
	bodyPart = "learnt"
)

const format = 1

// Parts returns the settings and the rows of each source: nothing was learnt
// besides.
func (m *Model) Parts() ([]learn.Part, error) { return m.lesson.Parts(headPart, m.rows, bodyPart, nil) }

// Shed says that without its rows the model has nothing to answer by.
func (m *Model) Shed() (learn.Model, bool, error) { return nil, true, errors.ErrUnsupported }

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	keeps := func(s *settings) (bool, error) { return true, s.check() }
	rows, _, err := l.Load(parts, headPart, format, keeps, bodyPart, new(any))
	if err != nil {
		return nil, err
	}
	return learnRows(context.Background(), rows, l)
}
