package gaussian

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
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
	if l.Covariance == "full" {
		return nil, fmt.Errorf("with covariance=full no conclusion of a unit stands by itself; leave it out")
	}
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
	if task.NoTarget {
		return nil, fmt.Errorf("inputs are removed for a target; name the column to predict")
	}
	if l.Covariance == "full" {
		return nil, fmt.Errorf("with covariance=full no column of a unit stands by itself; leave it out")
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
	shape.full = f.Covariance == "full"
	rows, err := newSample(ctx, shape, f.columns, task.Table, f.rows)
	if err != nil {
		return nil, err
	}
	y := &simplifying{fit: f}
	y.measure = func(rows *sample, m *mixture) (float64, error) { return rows.likelihood(ctx, m) }
	for _, t := range held {
		if err := table.Fits(task.Table.Schema, t); err != nil {
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

// sizesFrom is the number of units that the picture of sizes begins with, and
// mostCurveRows how many rows it learns from at most.
const (
	sizesFrom     = 30
	mostCurveRows = 5000
)

// Curves are the ways to make a model simpler step by step that CurveInFolds
// knows: fewer units, more conclusions that are NORMAL, fewer inputs.
var Curves = []string{"units", "normal", "inputs"}

// CurveInFolds draws the negative log likelihood of a model that is made
// simpler step by step, by one of Curves, of rows learnt from and of unseen
// ones, in so many folds: their means, and the 95 % interval of the mean over
// folds.
func (l *Learner) CurveInFolds(ctx context.Context, what string, task learn.Task, folds int) (*draw.Chart, error) {
	rows := task.Table
	order := rand.New(rand.NewPCG(task.Seed, 0x666f6c6473)).Perm(rows.Rows())
	order = order[:min(len(order), mostCurveRows)]
	if folds < 2 || len(order) < 2*folds {
		return nil, fmt.Errorf("%d rows in %d folds; expected at least two folds of two rows", len(order), folds)
	}
	curve := *l
	curve.Reference, curve.Size = rows, ""
	var steps func(ctx context.Context, task learn.Task, held ...*table.Table) ([]Point, error)
	title, left := "", ""
	switch what {
	case "units":
		curve.Units = min(max(sizesFrom, l.Units, l.From), max(1, len(order)/10))
		steps, title, left = curve.Curve, "Likelihood by number of units", "units"
	case "normal":
		steps = func(ctx context.Context, task learn.Task, held ...*table.Table) ([]Point, error) {
			return curve.NormalCurve(ctx, task, divergences[l.Divergence], held...)
		}
		title, left = "Likelihood by number of conclusions that are not NORMAL", "conclusions"
	case "inputs":
		steps, title, left = curve.InputCurve, "Likelihood of the target by number of inputs", "inputs"
	default:
		return nil, fmt.Errorf("no curve is called %q%s", what, spell.Hint(what, Curves))
	}
	curves := make([][]Point, folds)
	for n := range curves {
		var training, held []int
		for i, r := range order {
			if i%folds == n {
				held = append(held, r)
			} else {
				training = append(training, r)
			}
		}
		part := task
		part.Table, part.Advice = rows.Select(training), learn.Advice{}
		var err error
		if curves[n], err = steps(learn.WithProgress(ctx, func(float64) {}), part, rows.Select(held)); err != nil {
			return nil, err
		}
		learn.Report(ctx, float64(n+1)/float64(folds))
	}
	if what == "inputs" {
		title += ", removed in the order " + strings.Join(removalOrder(rows.Schema, curves), ", ")
	}
	return CurveChart(title, left, curves...), nil
}

// removalOrder returns the names of the columns that curves removed, those
// that went first on average first.
func removalOrder(schema *table.Schema, curves [][]Point) []string {
	steps := map[int]float64{}
	for _, points := range curves {
		for step, p := range points {
			if p.Removed >= 0 {
				steps[p.Removed] += float64(step)
			}
		}
	}
	columns := slices.Sorted(maps.Keys(steps))
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(steps[a], steps[b]) })
	names := make([]string, len(columns))
	for i, j := range columns {
		names[i] = schema.Attributes[j].Name
	}
	return names
}

// CurveChart draws the mean of curves: likelihood against what is left, of the
// training rows and of the first table that was held out. Several curves have
// the 95 % interval of their mean around it.
func CurveChart(title, left string, curves ...[]Point) *draw.Chart {
	c := &draw.Chart{Title: title, XLabel: left, YLabel: "negative log likelihood, nats a row"}
	add := func(name string, kind draw.Kind, value func(p *Point) float64) {
		at := map[int][]float64{} // by what is left
		for _, points := range curves {
			for i := range points {
				at[points[i].Left] = append(at[points[i].Left], value(&points[i]))
			}
		}
		s := draw.Series{Name: name, Kind: kind}
		for _, n := range slices.Sorted(maps.Keys(at)) {
			e := stat.Mean(at[n])
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, e.Value)
			if len(curves) > 1 {
				i := e.Interval(0.95, stat.TwoSided)
				s.Low, s.High = append(s.Low, i.Low), append(s.High, i.High)
			}
		}
		c.Series = append(c.Series, s)
	}
	add("training rows", draw.Dashed, func(p *Point) float64 { return p.Training })
	if len(curves) > 0 && len(curves[0]) > 0 && len(curves[0][0].Held) > 0 {
		add("unseen rows", draw.Line, func(p *Point) float64 { return p.Held[0] })
	}
	return c
}
