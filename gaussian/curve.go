package gaussian

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Point is a step of a model that is made simpler and simpler: what is left,
// and the mean negative log likelihood, in nats a row and z-scores, of the
// training rows and of rows that were held out.
type Point struct {
	Left     int // units, conclusions that are not NORMAL, or inputs
	Removed  int // the unit or column that went last; -1 at the beginning
	Training float64
	Held     []float64 // for each table that was held out
	// Agree is whether both pruning procedures would have removed the same
	// unit.
	Agree bool
}

// Curve trains a learner's units on a task and removes them one by one, EM
// after each, down to one.
func (l *Learner) Curve(ctx context.Context, task learn.Task, held ...*table.Table) ([]Point, error) {
	return l.steps(ctx, task, held, func(s *simplifying) error {
		last := -1
		for {
			if err := s.note(ctx, len(s.m.prior), last); err != nil || len(s.m.prior) == 1 {
				return err
			}
			other := "centres"
			if s.Pruning == "centres" {
				other = "likelihood"
			}
			a, err := s.em.least(ctx, s.m, s.Pruning)
			if err != nil {
				return err
			}
			b, err := s.em.least(ctx, s.m, other)
			if err != nil {
				return err
			}
			s.points[len(s.points)-1].Agree = a == b
			s.em.resize(len(s.m.prior) - 1)
			s.m, last = s.m.without(a), a
			if err := s.retrain(ctx); err != nil {
				return err
			}
		}
	})
}

// NormalCurve sets the conclusions of a learner's units to NORMAL one by one,
// the nearest ones first, EM after each.
func (l *Learner) NormalCurve(ctx context.Context, task learn.Task, divergence Divergence, held ...*table.Table) ([]Point, error) {
	return l.steps(ctx, task, held, func(s *simplifying) error {
		left := 0
		for i := range s.m.normal {
			if c := i % (len(s.m.numeric) + len(s.m.nominal)); c >= len(s.m.numeric) || !s.m.flat[c] {
				left++
			}
		}
		for {
			if err := s.note(ctx, left, -1); err != nil || !s.m.simplify(s.em.overall, divergence) {
				return err
			}
			left--
			if err := s.retrain(ctx); err != nil {
				return err
			}
		}
	})
}

// InputCurve removes the inputs of a learner's target one by one, EM after
// each, until none is left. Likelihoods are those of the target given the
// inputs.
func (l *Learner) InputCurve(ctx context.Context, task learn.Task, held ...*table.Table) ([]Point, error) {
	if task.Target == learn.NoTarget {
		return nil, fmt.Errorf("inputs are removed for a target; name the column to predict")
	}
	return l.steps(ctx, task, held, func(s *simplifying) error {
		target := s.targetColumn(s.m)
		s.measure = func(rows *sample, m *mixture) (float64, error) { return rows.conditional(ctx, m, target) }
		left := len(s.m.nominal) - 1
		for _, flat := range s.m.flat {
			if !flat {
				left++
			}
		}
		if err := s.note(ctx, left, -1); err != nil {
			return err
		}
		return s.em.removeInputs(ctx, s.m, 0, target, s.settings, func(column int) error {
			left--
			if column < len(s.m.numeric) {
				column = s.m.numeric[column]
			} else {
				column = s.m.nominal[column-len(s.m.numeric)]
			}
			return s.note(ctx, left, column)
		})
	})
}

// simplifying is a mixture that is made simpler step by step.
type simplifying struct {
	*fit
	em      *em
	m       *mixture
	held    []*sample
	points  []Point
	measure func(rows *sample, m *mixture) (float64, error)
}

// steps trains a mixture of all columns and has it simplified.
func (l *Learner) steps(ctx context.Context, task learn.Task, held []*table.Table, simplify func(*simplifying) error) ([]Point, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	f, err := newFit(ctx, &s, task, l.Reference)
	if err != nil {
		return nil, err
	}
	shape := newShape(task.Table.Schema, f.columns, -1)
	rows, err := newSample(ctx, shape, f.columns, task.Table, f.rows)
	if err != nil {
		return nil, err
	}
	y := &simplifying{fit: f}
	y.measure = func(rows *sample, m *mixture) (float64, error) { return rows.likelihood(ctx, m) }
	for _, t := range held {
		if err := learn.Fits(task.Table.Schema, t); err != nil {
			return nil, err
		}
		other, err := newSample(ctx, shape, f.columns, t, (&examples{t}).all())
		if err != nil {
			return nil, err
		}
		y.held = append(y.held, other)
	}
	units := min(s.Units, rows.rows)
	y.em = newEM(rows, units, s.Floor, s.M)
	if y.m, err = y.em.best(ctx, units, f.settings, f.random, func(done float64) { learn.Report(ctx, done) }); err != nil {
		return nil, err
	}
	err = simplify(y)
	return y.points, err
}

func (s *simplifying) retrain(ctx context.Context) error {
	_, err := s.em.run(ctx, s.m, s.Iterations, s.Tolerance)
	return err
}

// note adds a point to the curve.
func (s *simplifying) note(ctx context.Context, left, removed int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := s.measure(s.em.sample, s.m)
	if err != nil {
		return err
	}
	p := Point{Left: left, Removed: removed, Training: -l}
	for _, rows := range s.held {
		l, err := s.measure(rows, s.m)
		if err != nil {
			return err
		}
		p.Held = append(p.Held, -l)
	}
	s.points = append(s.points, p)
	return nil
}

// CurveChart draws a curve: likelihood against what is left.
func CurveChart(points []Point, title, left string, held ...string) *draw.Chart {
	c := &draw.Chart{Title: title, XLabel: left, YLabel: "negative log likelihood, nats a row"}
	training := draw.Series{Name: "training"}
	for _, p := range points {
		training.X, training.Y = append(training.X, float64(p.Left)), append(training.Y, p.Training)
	}
	c.Series = append(c.Series, training)
	for i, name := range held {
		s := draw.Series{Name: name, Kind: draw.Dashed, X: training.X}
		for _, p := range points {
			s.Y = append(s.Y, p.Held[i])
		}
		c.Series = append(c.Series, s)
	}
	return c
}
