package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learners/gaussian"
)

// The figures 6 to 9 of Tresp, Hollatz & Ahmad as the paper draws them: averages
// over the ten folds of one division, and how the test set's vary.

// housingPicture is a picture of what is measured on a division of the data.
func housingPicture(of func(*housing, context.Context) (*draw.Chart, error)) func(context.Context, uint64, int) (*draw.Chart, error) {
	return func(ctx context.Context, first uint64, _ int) (*draw.Chart, error) {
		h, err := loadHousing(ctx, first)
		if err != nil {
			return nil, err
		}
		return of(h, ctx)
	}
}

// withPicture gives the first experiment whose name begins with the picture's a picture.
func withPicture(experiments []Experiment, name string, of func(*housing, context.Context) (*draw.Chart, error)) {
	for i := range experiments {
		if e := &experiments[i]; e.Picture == nil && len(e.Name) >= len(name) && e.Name[:len(name)] == name {
			e.Picture, e.PictureName = housingPicture(of), name
			return
		}
	}
}

// simplified draws how likely rows are as a model is made simpler: of the rows learnt
// from, of those for validation and of those tested on, against what is left.
func simplified(title, left string, trainingToo bool, curves [][]gaussian.Point) *draw.Chart {
	c := &draw.Chart{Title: title, XLabel: left, YLabel: "negative log likelihood, nats a row"}
	for _, rows := range []struct {
		name string
		kind draw.Kind
		of   func(*gaussian.Point) float64
	}{
		{"training rows", draw.Dashed, func(p *gaussian.Point) float64 { return p.Training }},
		{"validation rows", draw.Line, func(p *gaussian.Point) float64 { return p.Held[0] }},
		{"test rows", draw.Line, func(p *gaussian.Point) float64 { return p.Held[1] }},
	} {
		if rows.kind == draw.Dashed && !trainingToo {
			continue
		}
		s := draw.Series{Name: rows.name, Kind: rows.kind}
		for i := range curves[0] {
			var of []float64
			for _, points := range curves {
				of = append(of, rows.of(&points[i]))
			}
			e := stat.Mean(of)
			s.X, s.Y = append(s.X, float64(curves[0][i].Left)), append(s.Y, e.Value)
			if rows.name == "test rows" {
				ends := e.Interval(0.95, stat.TwoSided)
				s.Low, s.High = append(s.Low, ends.Low), append(s.High, ends.High)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// unitsPicture is figure 6, by one of the pruning procedures.
func unitsPicture(pruning string) func(*housing, context.Context) (*draw.Chart, error) {
	procedure := map[string]string{"likelihood": "1", "centres": "2, as the paper's figure 6"}[pruning]
	return func(h *housing, ctx context.Context) (*draw.Chart, error) {
		curves, err := overFolds(ctx, h, "picture of "+pruning, func(f fold) ([]gaussian.Point, error) {
			return (&gaussian.Learner{Units: 30, Pruning: pruning, Reference: h.Table}).Curve(ctx, f.task(h), f.validation, f.test)
		})
		if err != nil {
			return nil, err
		}
		return simplified("Units pruned from 30 by procedure "+procedure+" (published: 8 to 10 are needed)", "units", true, curves), nil
	}
}

// normalPicture is figure 7.
func (h *housing) normalPicture(ctx context.Context) (*draw.Chart, error) {
	curves, err := overFolds(ctx, h, "picture of NORMAL", func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 3, Reference: h.Table}).NormalCurve(ctx, f.task(h), gaussian.UnitFromNormal, f.validation, f.test)
	})
	if err != nil {
		return nil, err
	}
	return simplified("Conclusions of three units set to NORMAL one by one, figure 7 (published: 32 of 42 are as good as all)", "conclusions that are not NORMAL", true, curves), nil
}

// inputsPicture is figure 8.
func (h *housing) inputsPicture(ctx context.Context) (*draw.Chart, error) {
	curves, err := overFolds(ctx, h, "picture of inputs", func(f fold) ([]gaussian.Point, error) {
		task := f.task(h)
		task.Target, task.NoTarget = "medv", false
		return (&gaussian.Learner{Units: 3, Removal: "still", Reference: h.Table}).InputCurve(ctx, task, f.validation, f.test)
	})
	if err != nil {
		return nil, err
	}
	return simplified("Conditional likelihood of medv as its inputs go, figure 8 (published: best at about three)", "inputs", false, curves), nil
}

// ways are those to use the rules of table 8, of which "" leaves them out, and rowsOfWays
// how many rows they are compared after.
var (
	ways = []struct {
		name, knowledge string
		worth           float64
		kind            draw.Kind
	}{{"rows only", "", 0, draw.Dashed}, {"incremental mixture", "mixture", 50, draw.Line}, {"MAP", "map", 9, draw.Line}, {"teacher", "teacher", 100, draw.Line}}
	rowsOfWays = []int{5, 10, 19, 25, 35, 50, 70, 100, 150, 200}
)

// rulesPicture is the upper half of figure 9.
func (h *housing) rulesPicture(ctx context.Context) (*draw.Chart, error) {
	c := &draw.Chart{Title: "Three rules and rows, figure 9", XLabel: "rows learnt from", YLabel: "negative log likelihood of test rows, nats a row", LogX: true}
	for _, way := range ways {
		s := draw.Series{Name: way.name, Kind: way.kind}
		for _, rows := range rowsOfWays {
			nll, err := h.meanInformed(ctx, rows, way.knowledge, way.worth)
			if err != nil {
				return nil, err
			}
			if nll <= mostNats { // a few rows alone say anything
				s.X, s.Y = append(s.X, float64(rows)), append(s.Y, nll)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c, nil
}

// mostNats is where the picture of the rules ends, above which nothing is to be told apart.
const mostNats = 40

// helpsPicture is the lower half of figure 9: the statistic of the paired t test against
// rows alone, and the line above which rules help significantly.
func (h *housing) helpsPicture(ctx context.Context) (*draw.Chart, error) {
	c := &draw.Chart{Title: "Do three rules help? Figure 9 (published: up to 70, 70 and 19 rows)", XLabel: "rows learnt from", YLabel: "t over ten folds", LogX: true}
	for _, way := range ways[1:] {
		s := draw.Series{Name: way.name}
		for _, rows := range rowsOfWays {
			without, err := h.informed(ctx, rows, "", 0)
			if err != nil {
				return nil, err
			}
			with, err := h.informed(ctx, rows, way.knowledge, way.worth)
			if err != nil {
				return nil, err
			}
			differences := make([]float64, len(with))
			for i := range with {
				differences[i] = without[i] - with[i]
			}
			e := stat.PairedT(differences)
			s.X, s.Y = append(s.X, float64(rows)), append(s.Y, e.Statistic())
		}
		c.Series = append(c.Series, s)
	}
	from, to := float64(rowsOfWays[0]), float64(rowsOfWays[len(rowsOfWays)-1])
	line, gap := stat.TQuantile(0.975, float64(len(h.folds)-1)), math.NaN()
	c.Series = append(c.Series, draw.Series{
		Name: fmt.Sprintf("95 %%: ± %.2f", line), Kind: draw.Dashed,
		X: []float64{from, to, gap, from, to}, Y: []float64{line, line, gap, -line, -line},
	})
	return c, nil
}
