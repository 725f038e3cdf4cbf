package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Updated is a model that has learnt more rows.
type Updated struct {
	Learnt
	New   float64 `json:"-"` // rows that are new
	Score *Score  `json:"-"` // how the version before answered them
}

// Update folds the rows of data into a model of the store. Reading and learning
// them holds up nobody who changes the same model. What can be read only once
// is copied first, so that it can be learnt again if somebody was quicker.
func (h *Home) Update(ctx context.Context, name string, d *Data, keep bool) (*Updated, error) {
	return h.UpdateAs(ctx, name, d, Updating{Keep: keep})
}

// Updating says what is done besides learning the rows.
type Updating struct {
	Keep        bool // a copy of the data
	Consolidate bool // what models that live have gathered, once the rows are learnt
	Version     int  // that it is a change of, as in an Edit

	settings map[string]string // of the version, that are no learner's
}

// UpdateAs is Update with options.
func (h *Home) UpdateAs(ctx context.Context, name string, d *Data, o Updating) (*Updated, error) {
	defer d.Release()
	if err := d.Stage(ctx); err != nil {
		return nil, err
	}
	u := &Updated{}
	load := func(name string) (*Part, error) { return newPart(h.Store.LoadToUpdate(name)) }
	l, err := h.changeOf(ctx, name, load, func(h *Home, p *Part) (*step, error) {
		if err := Unchanged(p.Versions, o.Version); err != nil {
			return nil, err
		}
		done, record, err := h.update(ctx, p, d, o)
		if err != nil {
			return nil, err
		}
		u.New, u.Score, u.Drifts = record.Source.Rows, done.score, done.watch.Drifts()
		s := &step{model: done.model, record: record}
		if o.Keep {
			s.save = func(tx *store.Tx, m learn.Model, v store.Version) (store.Version, error) {
				if err := h.keep(tx, d, v.Source.Hash); err != nil {
					return v, err
				}
				return tx.Save(m, v)
			}
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	l.Drifts = u.Drifts
	u.Learnt = *l
	return u, nil
}

// UpdateInMemory folds the rows of data into a model that no store keeps.
func (h *Home) UpdateInMemory(ctx context.Context, p *Part, d *Data) (*Part, error) {
	done, record, err := h.update(ctx, p, d, Updating{})
	if err != nil {
		return nil, err
	}
	return h.unkept(done.model, p.Name, record, p.Versions), nil
}

// updated is what an update made, and what was noticed on the way.
type updated struct {
	model learn.Model
	score *Score
	watch *evaluate.Watch
}

// consolidator is an update of a model that can decide anew what it has learnt, by
// what it keeps.
type consolidator interface {
	Consolidate(ctx context.Context) error
}

func (h *Home) update(ctx context.Context, p *Part, d *Data, as Updating) (*updated, store.Version, error) {
	var none store.Version
	updater, ok := learn.Ability[learn.Updater](p.Model)
	if !ok {
		return nil, none, cannot(p.Version.Learner, "learn more rows", func(c learn.Can) bool { return c.Update })
	}
	at := h.now()
	d.amid(p.Schema())
	source := h.newSource(d, "", 0)
	u, err := updater.Begin(learn.Source{ID: source.ID, Name: source.Name})
	if err != nil {
		return nil, none, err
	}
	o := d.options()
	o.Schema, o.Extend = p.Schema(), true
	if o.Schema.HasOpen() {
		if o.Schema, err = d.openSchema(ctx, p.Model); err != nil {
			return nil, none, err
		}
	}
	bar, done := h.progress("learning")
	defer done()
	o.Progress = bar
	stream, err := d.source(ctx, o)
	if err != nil {
		return nil, none, err
	}
	defer stream.Close()
	all := &updated{score: &Score{model: p.Model}}
	if all.watch, err = newWatch(p.Model); err != nil {
		return nil, none, err
	}
	next, stop := ahead(stream.Next)
	defer stop()
	for {
		batch, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = all.score.add(ctx, batch)
		}
		if err != nil {
			return nil, none, err
		}
		all.watch.Add(batch)
		if err := u.Add(ctx, batch); err != nil {
			return nil, none, err
		}
		source.Rows += float64(batch.Rows())
	}
	if as.Consolidate {
		c, ok := u.(consolidator)
		if !ok {
			return nil, none, fmt.Errorf("there is nothing to consolidate in a model of %s as it was learnt; models that live have that, such as those of rulenet with update=living", p.Version.Learner)
		}
		if err := c.Consolidate(ctx); err != nil {
			return nil, none, err
		}
	}
	if all.model, err = u.Freeze(ctx); err != nil {
		return nil, none, err
	}
	report := stream.Report()
	h.note(report.Notes...)
	h.warnLearntBefore(p.Versions, report.Hash, d.called())
	source.Hash = report.Hash
	return all, store.Version{Kind: store.Update, Source: source, At: at, Seed: p.Version.Seed, Settings: as.with(withSnapshot(withReading(p.Version.Settings, d.Reading), report)), By: h.Who}, nil
}

// with adds what the version is to remember.
func (as Updating) with(settings map[string]string) map[string]string {
	maps.Copy(settings, as.settings)
	return settings
}

// newWatch follows what a model has learnt as rules while new rows come in.
func newWatch(m learn.Model) (*evaluate.Watch, error) {
	w := evaluate.NewWatch(0)
	if m.Target() == learn.NoTarget {
		return w, nil
	}
	learnt, told, err := knowledge.Of(m)
	if err != nil {
		return nil, err
	}
	for _, base := range []*rule.Base{told, learnt} {
		if base != nil {
			w.Follow(base, m.Schema().Attributes[m.Target()].Name, true)
		}
	}
	return w, nil
}

// Score counts how well a model answers rows whose answer is known.
type Score struct {
	model  learn.Model
	decide decision
	Known  float64 // weight of rows with a known target
	right  float64 // nominal target
	square float64 // numeric target: sum of squared errors
	Learnt bool    // the rows are those of a source that the model has learnt
}

// Accuracy is the share of known rows that were answered right, of a nominal
// target.
func (s *Score) Accuracy() float64 { return s.right / s.Known }

// RMSE is the error of a numeric target.
func (s *Score) RMSE() float64 { return math.Sqrt(s.square / s.Known) }

// Numeric reports whether the target is a number.
func (s *Score) Numeric() bool {
	return s.model.Target() != learn.NoTarget && s.model.Schema().Attributes[s.model.Target()].Kind == table.Numeric
}

// add predicts a batch, whose schema may have grown beyond the model's.
func (s *Score) add(ctx context.Context, batch *table.Table) error {
	if s.model.Target() == learn.NoTarget || batch.Rows() == 0 {
		return nil
	}
	t, err := evaluate.Fit(s.model, batch)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(s.model, t.Rows())
	if err := s.model.Predict(ctx, t, out); err != nil {
		return err
	}
	s.count(t, out)
	return nil
}

func (s *Score) count(t *table.Table, out *learn.Predictions) {
	if m, ok := s.model.(policy); ok && m.Advisable() {
		return // what was done is not what is right
	}
	target := s.model.Target()
	column := t.Columns[target]
	classes := s.model.Schema().Attributes[target].Values
	for r := range t.Rows() {
		w := t.Weight(r)
		if column.Codes != nil {
			if column.Codes[r] == table.Missing {
				continue
			}
			s.Known += w
			if int(column.Codes[r]) == s.decide.says(out.Row(r), classes) {
				s.right += w
			}
			continue
		}
		if y := column.Floats[r]; !table.IsMissing(y) {
			s.Known += w
			s.square += w * (y - out.Mean[r]) * (y - out.Mean[r])
		}
	}
}
