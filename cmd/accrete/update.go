package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) updateCommand() *cobra.Command {
	var (
		flags dataFlags
		keep  bool
	)
	c := &cobra.Command{
		Use:   "update MODEL DATA",
		Short: "Learn more rows, without the old ones",
		Long: `Update folds the rows of DATA into a model and keeps the result as a new
version. DATA is read in batches, so it may be larger than memory. What the
result is worth compared with learning everything at once is the learner's
contract: see accrete learners. Rules whose truth moved with the new rows are
named, with from, to and since when.`,
		Example:           `  accrete update people more.csv`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			d, err := a.find(args[1], &flags)
			if err != nil {
				return err
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			return s.Write(ctx, name, func(tx *store.Tx) error {
				return a.update(ctx, s, tx, name, d, keep)
			})
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&keep, "keep", false, "keep a copy of the data in the store, so that it can be read again")
	return c
}

func (a *app) update(ctx context.Context, s *store.Store, tx *store.Tx, name string, d *data, keep bool) error {
	old, before, err := tx.Load()
	if err != nil {
		return err
	}
	updater, ok := learn.Ability[learn.Updater](old)
	if !ok {
		return cannot(before.Learner, "learn more rows", func(c learn.Can) bool { return c.Update })
	}
	now := time.Now()
	source := newSource(d, "", 0, now)
	u, err := updater.Begin(learn.Source{ID: source.ID, Name: source.Name})
	if err != nil {
		return err
	}

	if keep {
		if err := d.hold(); err != nil {
			return err
		}
	}
	o := d.options()
	o.Schema, o.Extend = old.Schema(), true
	bar, done := a.progress("learning")
	defer done()
	o.Progress = bar
	stream, err := d.stream(ctx, o)
	if err != nil {
		return err
	}
	defer stream.Close()
	score := newScore(old)
	watch, err := newWatch(old)
	if err != nil {
		return err
	}
	for {
		batch, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := score.add(ctx, batch); err != nil {
			return err
		}
		watch.Add(batch)
		if err := u.Add(ctx, batch); err != nil {
			return err
		}
		source.Rows += float64(batch.Rows())
	}
	m, err := u.Freeze(ctx)
	if err != nil {
		return err
	}
	done()

	report := stream.Report()
	a.notes(report.Notes)
	a.warnLearntBefore(s, name, report.Hash, d.arg)
	source.Hash = report.Hash
	v, err := tx.Save(m, store.Version{Kind: store.Update, Source: source, At: now, Seed: before.Seed, Settings: withWeight(before.Settings, d.flags.weight)})
	if err != nil {
		return err
	}
	if keep {
		if err := a.keep(s, name, d, report.Hash); err != nil {
			return err
		}
	}
	if a.json {
		l := newLearnt(m, v, time.Since(now).Seconds())
		l.Drifts = watch.Drifts()
		return a.printJSON(l)
	}
	fmt.Fprintf(a.out, "model %s, version %d: learnt %s more from %s, %s in all%s\n",
		v.Model, v.Number, plural(int(source.Rows), "row"), d.arg, count(v.Rows), sizeNote(m.Size()))
	if line := score.line(); line != "" {
		fmt.Fprintf(a.out, "before learning them, version %d %s\n", before.Number, line)
	}
	printDrifts(a.out, watch.Drifts(), " of "+d.arg, evaluate.DriftRate)
	if err := a.printRemarks(m); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nnext: accrete rules %s    accrete log %s\n", v.Model, v.Model)
	return nil
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

// score counts how well a model answers rows whose answer is known.
type score struct {
	model  learn.Model
	known  float64 // weight of rows with a known target
	right  float64 // nominal target
	square float64 // numeric target: sum of squared errors
}

func newScore(m learn.Model) *score { return &score{model: m} }

// add predicts a batch, whose schema may have grown beyond the model's.
func (s *score) add(ctx context.Context, batch *table.Table) error {
	target := s.model.Target()
	if target == learn.NoTarget || batch.Rows() == 0 {
		return nil
	}
	t, _, err := table.Conform(batch, s.model.Schema(), false)
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

func (s *score) count(t *table.Table, out *learn.Predictions) {
	target := s.model.Target()
	column := t.Columns[target]
	classes := s.model.Schema().Attributes[target].Values
	for r := range t.Rows() {
		w := t.Weight(r)
		if column.Codes != nil {
			if column.Codes[r] == table.Missing {
				continue
			}
			s.known += w
			if int(column.Codes[r]) == learn.Best(out.Row(r), classes) {
				s.right += w
			}
			continue
		}
		if y := column.Floats[r]; !table.IsMissing(y) {
			s.known += w
			s.square += w * (y - out.Mean[r]) * (y - out.Mean[r])
		}
	}
}

// line says how it went, or nothing if no answer was known.
func (s *score) line() string {
	if s.known == 0 {
		return ""
	}
	if s.model.Schema().Attributes[s.model.Target()].Kind == table.Numeric {
		return fmt.Sprintf("had an RMSE of %s on them", number(math.Sqrt(s.square/s.known)))
	}
	return fmt.Sprintf("was right on %s of them", percent(s.right/s.known))
}
