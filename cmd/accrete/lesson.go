package main

import (
	"context"
	"io"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
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

	rules  *rule.Base      // what an expert says of it, or nil
	expert store.Source    // who
	told   []store.Version // and the record of it
}

// hear takes in an expert's rules, if there are any.
func (l *lesson) hear(in io.Reader, rules *rulesFlags, at time.Time) (err error) {
	if rules.file == "" {
		return nil
	}
	if l.rules, l.expert, err = rules.read(in, l.table.Schema); err != nil {
		return err
	}
	l.told = []store.Version{{Kind: store.Tell, Source: l.expert, At: at, Settings: rules.settings()}}
	l.learner, err = l.fresh()
	return err
}

// fresh returns a new learner of the same kind, which has heard the same.
func (l *lesson) fresh() (learn.Learner, error) {
	learner, err := learn.New(l.info.Name, l.settings)
	if err != nil {
		return nil, err
	}
	return taught(l.info, learner, l.rules, l.expert, l.table, l.target)
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
