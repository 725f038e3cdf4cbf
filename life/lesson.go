package life

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Learners that are used when none is named, by the kind of target.
const (
	DefaultForClasses   = "rulenet"
	DefaultForNumbers   = "rulenet"
	DefaultForRelations = "foil"
)

// Choice is a learner by name, "" for the one that fits the target, and its
// parameters.
type Choice struct {
	Learner  string
	Settings map[string]string
	Rules    *Rules // what an expert knows, or nil, for evaluate and compare
}

// Choices reads learners with their settings, as in bayes or tree:prune=none,
// and what each is called. They were cut at all commas: those between a
// learner's settings are told from those between learners by a name before the
// equals sign.
func Choices(pieces []string) (choices []Choice, names []string, err error) {
	for _, piece := range pieces {
		name, setting, settings := strings.Cut(piece, ":")
		if !settings && strings.Contains(piece, "=") && len(choices) > 0 { // one setting more
			names[len(names)-1] += "," + piece
			setting, settings = piece, true
		} else {
			choices = append(choices, Choice{Learner: strings.TrimSpace(name), Settings: map[string]string{}})
			names = append(names, strings.TrimSpace(piece))
		}
		if !settings {
			continue
		}
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			return nil, nil, remedy.Misusef("learners %s: expected name:key=value", piece)
		}
		choices[len(choices)-1].Settings[strings.TrimSpace(key)] = value
	}
	return choices, names, nil
}

// Lesson is what is to be learnt: a table, the column to predict, and the
// learner that was asked for or that fits the target.
type Lesson struct {
	Table    *table.Table
	Report   *table.Report
	Target   int
	Info     learn.Info
	Settings map[string]string

	learner learn.Learner
	rules   *rule.Base      // what an expert says of it, or nil
	theory  *rule.Base      // a domain theory, for learners that reason with one, or nil
	expert  store.Source    // who
	told    []store.Version // and the record of it
}

// Lesson reads the data and chooses the learner. What was asked for wrongly is
// told before anything is read, where that can be known.
func (h *Home) Lesson(ctx context.Context, d *Data, target string, c Choice) (l *Lesson, err error) {
	c = h.withTheory(ctx, c)
	if c.Settings, err = h.withModels(c.Learner, c.Settings); err != nil {
		return nil, err
	}
	l = &Lesson{Settings: c.Settings}
	if c.Learner != "" {
		if l.Info, l.learner, err = configured(c.Learner, c.Settings); err != nil {
			return nil, err
		}
	}
	open := c.Learner == "" || l.opens()
	if l.Table, l.Report, l.Target, err = h.ReadFor(ctx, d, target, l.Info.Takes.Density, open); err != nil {
		return nil, err
	}
	if c.Learner == "" {
		name := DefaultForClasses
		if l.Table.Schema.Attributes[l.Target].Kind == table.Numeric {
			name = DefaultForNumbers
		}
		if l.Table.Linked != nil {
			name = DefaultForRelations
		}
		if l.Info, l.learner, err = configured(name, c.Settings); err != nil {
			return nil, err
		}
	}
	if err := h.suit(l); err != nil {
		return nil, err
	}
	return l, h.hear(ctx, l, c.Rules)
}

// opens reports whether columns without a known cell may stay, to come to life
// when their first cells come: the learner can learn more rows, and settings do
// not have it promise less than it registers.
func (l *Lesson) opens() bool {
	p, ok := l.learner.(learn.Promiser)
	return l.Info.Can.Update && (!ok || p.Promise().Contract == l.Info.Contract)
}

// suit leaves out what the learner does not take, and says so.
func (h *Home) suit(l *Lesson) error {
	t, target, notes, err := suit(l.Info, l.Table, l.Target)
	if err != nil {
		return remedy.Misuse(err)
	}
	l.Table, l.Target = t, target
	h.note(notes...)
	return nil
}

// configured returns the learner with this name and these settings.
func configured(name string, settings map[string]string) (learn.Info, learn.Learner, error) {
	l, err := newLearner(name, settings)
	if err != nil {
		return learn.Info{}, nil, remedy.Misuse(err)
	}
	info, err := learn.Lookup(name)
	return info, l, err
}

// newLearner is learn.New with the files that settings name: learners read none.
func newLearner(name string, settings map[string]string) (learn.Learner, error) {
	info, err := learn.Lookup(name)
	if err != nil || info.New == nil {
		return learn.New(name, settings)
	}
	for _, o := range learn.Options(info.New()) {
		file := settings[o.Key]
		if !o.File || file == "" || strings.Contains(file, "\n") { // a name with its text: see earlier
			continue
		}
		text, err := readSmall(file, MostText)
		if known, ok := datasets.Theory(file); ok && errors.Is(err, fs.ErrNotExist) {
			text, err = known, nil
		}
		if err != nil {
			return nil, fmt.Errorf("setting %s: %w", o.Key, err)
		}
		settings = maps.Clone(settings)
		settings[o.Key] = file + "\n" + string(text)
	}
	return learn.New(name, settings)
}

// Spec is the lesson as estimates of error take it.
func (h *Home) Spec(data string, l *Lesson) evaluate.Spec {
	return evaluate.Spec{
		Data: data, Table: l.Table, Target: l.Target, Learner: l.Info.Name, Seed: h.Seed, Clock: h.now,
		New: l.fresh,
	}
}

// Specs are several learners on one table, for comparison. One learner that
// needs a target decides for all.
func (h *Home) Specs(ctx context.Context, d *Data, target string, choices []Choice) ([]evaluate.Spec, error) {
	density := true
	lessons := make([]Lesson, len(choices))
	for i, c := range choices {
		c = h.withTheory(ctx, c)
		settings, err := h.withModels(c.Learner, c.Settings)
		if err != nil {
			return nil, err
		}
		c.Settings = settings
		info, _, err := configured(c.Learner, c.Settings)
		if err != nil {
			return nil, err
		}
		density = density && info.Takes.Density
		lessons[i] = Lesson{Info: info, Settings: c.Settings}
	}
	t, report, col, err := h.ReadFor(ctx, d, target, density, false)
	if err != nil {
		return nil, err
	}
	specs := make([]evaluate.Spec, len(lessons))
	for i := range lessons {
		lessons[i].Table, lessons[i].Report, lessons[i].Target = t, report, col
		if err := h.suit(&lessons[i]); err != nil {
			return nil, err
		}
		if lessons[i].Info.Takes.Theory {
			if err := h.hear(ctx, &lessons[i], choices[i].Rules); err != nil {
				return nil, err
			}
		}
		specs[i] = h.Spec(d.called(), &lessons[i])
	}
	return specs, nil
}

// hear takes in an expert's rules, if there are any.
func (h *Home) hear(ctx context.Context, l *Lesson, rules *Rules) (err error) {
	if rules == nil {
		return nil
	}
	if l.Info.Takes.Theory {
		l.theory, l.expert, err = rules.readTheory(ctx, h, l.Table.Schema, l.Target)
	} else {
		l.rules, l.expert, err = rules.read(ctx, h, l.Table.Schema)
	}
	if err != nil {
		return err
	}
	l.told = []store.Version{{Kind: store.Tell, Source: l.expert, At: h.now(), Settings: rules.settings()}}
	l.learner, err = l.fresh()
	return err
}

// fresh returns a new learner of the same kind, which has heard the same.
func (l *Lesson) fresh() (learn.Learner, error) {
	learner, err := newLearner(l.Info.Name, l.Settings)
	if err != nil {
		return nil, err
	}
	return taught(l, learner)
}
