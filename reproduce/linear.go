package reproduce

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/linear"
	"github.com/accrete-ml/accrete/table"
)

// leastSquares are the line of figure 6.2 of Mitchell 1997 and a parabola
// (section 6.4). The figure has five points without numbers: x = 1 to 5 and
// d = 2.1, 3.9, 6.2, 7.8, 10.1 stand for them, and what is worked out from these
// by hand (normal equations) is the reference.
func leastSquares() []Experiment {
	answer := func(degree int, x float64) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			return fivePoints(ctx, degree, x)
		}
	}
	slope := func(ctx context.Context) (float64, error) {
		near, err := fivePoints(ctx, 1, 0)
		if err != nil {
			return 0, err
		}
		far, err := fivePoints(ctx, 1, 1)
		return far - near, err
	}
	var experiments []Experiment
	for _, e := range []struct {
		name, measure string
		known         float64
		run           func(context.Context) (float64, error)
	}{
		{"intercept", "intercept of the line of least squares through five points", .05, answer(1, 0)},
		{"slope", "slope of the line of least squares through five points", 1.99, slope},
		{"error", "squared errors of the line, summed", .107, lineError},
		{"likelihood", "log likelihood of the points under the line and noise of variance 1", -4.648192666, func(ctx context.Context) (float64, error) {
			sum, err := lineError(ctx)
			return -2.5*math.Log(2*math.Pi) - sum/2, err
		}},
		{"parabola", "value at 6 of the parabola of least squares through five points", 12.14, answer(2, 6)},
	} {
		experiments = append(experiments, Experiment{
			Name: "least-squares-" + e.name, Tags: chapter(6), Source: mitchell("figure 6.2"), Measure: e.measure,
			Figure: reference(e.known).digits(6), Seeds: 1, Run: Fixed(e.run),
		})
	}
	return experiments
}

// lineError is the sum of the squared errors of the line through the points.
func lineError(ctx context.Context) (float64, error) {
	sum := 0.0
	for i, d := range fiveValues {
		y, err := fivePoints(ctx, 1, float64(i+1))
		if err != nil {
			return 0, err
		}
		sum += (d - y) * (d - y)
	}
	return sum, nil
}

var fiveValues = []float64{2.1, 3.9, 6.2, 7.8, 10.1}

// fivePoints returns the answer at x of the polynomial through the points.
func fivePoints(ctx context.Context, degree int, x float64) (float64, error) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "d", Kind: table.Numeric}}}
	points, err := table.New(schema, []table.Column{{Floats: []float64{1, 2, 3, 4, 5}}, {Floats: fiveValues}}, nil)
	if err != nil {
		return 0, err
	}
	m, err := (&linear.Learner{Degree: &degree, Ridge: "0"}).Learn(ctx, learn.Task{Table: points, Target: "d"})
	if err != nil {
		return 0, err
	}
	asked, err := table.New(schema, []table.Column{{Floats: []float64{x}}, {Floats: []float64{table.NA}}}, nil)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, 1)
	err = m.Predict(ctx, asked, out)
	return out.Mean[0], err
}
