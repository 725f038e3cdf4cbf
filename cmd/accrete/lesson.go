package main

import (
	"context"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// lesson is what is to be learnt: a table, the column to predict, and the
// learner that was asked for or that fits the target.
type lesson struct {
	table    *table.Table
	report   *table.Report
	target   int
	info     learn.Info
	learner  learn.Learner
	settings map[string]string
}

// lesson reads the data and chooses the learner. What was asked for wrongly
// is told before anything is read, where that can be known.
func (a *app) lesson(ctx context.Context, d *data, target string, flags *learnerFlags) (*lesson, error) {
	settings, err := flags.settings()
	if err != nil {
		return nil, err
	}
	l := &lesson{settings: settings}
	if flags.learner != "" {
		if l.info, l.learner, err = configured(flags.learner, settings); err != nil {
			return nil, err
		}
	}
	if l.table, l.report, l.target, err = a.readFor(ctx, d, target, l.info); err != nil {
		return nil, err
	}
	if flags.learner == "" {
		name := defaultForClasses
		if l.table.Schema.Attributes[l.target].Kind == table.Numeric {
			name = defaultForNumbers
		}
		if l.info, l.learner, err = configured(name, settings); err != nil {
			return nil, err
		}
	}
	return l, nil
}
