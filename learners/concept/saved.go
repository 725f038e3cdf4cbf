package concept

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "concept"
	bodyPart = "space"
	format   = 1
)

// Parts returns the settings and the rows of each source. The space is found
// again from them: that is what a version space is.
func (m *Model) Parts() ([]learn.Part, error) {
	lesson := &kept.Lesson[settings]{Format: format, Settings: m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	parts, err := lesson.Parts(headPart, m.rows, bodyPart, struct{}{})
	if err != nil {
		return nil, err
	}
	return parts[:len(parts)-1], nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var lesson kept.Lesson[settings]
	rows, _, err := lesson.Load(parts, headPart, format, (*settings).keeps, bodyPart, &struct{}{})
	if err != nil {
		return nil, err
	}
	return learnRows(context.Background(), rows, lesson.Target, lesson.Seed, lesson.Settings)
}
