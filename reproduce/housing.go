package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/gaussian"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// housing is the Boston data, divided.
type housing struct {
	*table.Table
	seed  uint64
	folds [10]fold
}

// fold is a tenth of the rows to test on, half of the others to learn from, and
// the other half, for validation.
type fold struct {
	number                     int
	training, validation, test *table.Table
}

func loadHousing(ctx context.Context, seed uint64) (*housing, error) {
	all, _, err := datasets.Load(ctx, "boston")
	if err != nil {
		return nil, err
	}
	h := &housing{Table: all, seed: seed}
	order := rand.New(rand.NewPCG(seed, 506)).Perm(all.Rows())
	for n := range h.folds {
		var rest, held []int
		for i, r := range order {
			if i%10 == n {
				held = append(held, r)
			} else {
				rest = append(rest, r)
			}
		}
		h.folds[n] = fold{n, all.Select(rest[:len(rest)/2]), all.Select(rest[len(rest)/2:]), all.Select(held)}
	}
	return h, nil
}

func (f fold) task(h *housing) learn.Task {
	return learn.Task{Table: f.training, NoTarget: true, Seed: h.seed*10 + uint64(f.number)}
}

// overFolds computes something for each fold, once for all experiments of a
// Run.
func overFolds[T any](ctx context.Context, h *housing, what string, compute func(fold) (T, error)) ([]T, error) {
	return once(ctx, "housing: "+what, h.seed, func() ([]T, error) {
		all := make([]T, len(h.folds))
		for n, f := range h.folds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var err error
			if all[n], err = compute(f); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// average is the mean of a figure of curves.
func average(curves [][]gaussian.Point, figure func([]gaussian.Point) float64) float64 {
	mean := 0.0
	for _, points := range curves {
		mean += figure(points) / float64(len(curves))
	}
	return mean
}

// unitsCurve averages a figure of the curve from 30 units to 1.
func (h *housing) unitsCurve(ctx context.Context, figure func([]gaussian.Point) float64) (float64, error) {
	curves, err := overFolds(ctx, h, "units", func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 30, Reference: h.Table}).Curve(ctx, f.task(h), f.test)
	})
	return average(curves, figure), err
}

// centresCurve is unitsCurve with units pruned by procedure 2.
func (h *housing) centresCurve(ctx context.Context, figure func([]gaussian.Point) float64) (float64, error) {
	curves, err := overFolds(ctx, h, "centres", func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 30, Pruning: "centres", Reference: h.Table}).Curve(ctx, f.task(h), f.test)
	})
	return average(curves, figure), err
}

// oneUnit returns the test nats a row of a single unit.
func (h *housing) oneUnit(ctx context.Context) (float64, error) {
	curves, err := overFolds(ctx, h, "one unit", func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 1, Starts: 1, Reference: h.Table}).Curve(ctx, f.task(h), f.test)
	})
	return average(curves, func(points []gaussian.Point) float64 { return points[0].Held[0] }), err
}

// asGood returns, of curves over the folds, what is left where a model has been made as
// simple as it can be made while its mean stays within the error bars of the best one, as
// figures 6 to 8 are read: the 95 % interval of its mean over the folds, of the first
// rows that were held out.
func asGood(curves [][]gaussian.Point) float64 {
	means := make([]stat.Estimate, len(curves[0]))
	best := 0
	for i := range means {
		held := make([]float64, len(curves))
		for n, points := range curves {
			held[n] = points[i].Held[0]
		}
		if means[i] = stat.Mean(held); means[i].Value < means[best].Value {
			best = i
		}
	}
	bar := means[best].Interval(0.95, stat.TwoSided).High
	simplest := best
	for simplest+1 < len(means) && means[simplest+1].Value <= bar {
		simplest++
	}
	return float64(curves[0][simplest].Left)
}

// unitsNeeded is how many units a good model needs, by the rows for validation.
func (h *housing) unitsNeeded(ctx context.Context) (float64, error) {
	curves, err := overFolds(ctx, h, "picture of centres", func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 30, Pruning: "centres", Reference: h.Table}).Curve(ctx, f.task(h), f.validation, f.test)
	})
	if err != nil {
		return 0, err
	}
	return asGood(curves), nil
}

// normalFree is how many conclusions of three units can be NORMAL at no cost beyond the
// error bars, by the rows that are tested on.
func (h *housing) normalFree(ctx context.Context) (float64, error) {
	curves, err := overFolds(ctx, h, fmt.Sprintf("normal %d", gaussian.UnitFromNormal), func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 3, Reference: h.Table}).NormalCurve(ctx, f.task(h), gaussian.UnitFromNormal, f.test)
	})
	if err != nil {
		return 0, err
	}
	return float64(curves[0][0].Left) - asGood(curves), nil
}

// agreement is the share of steps in which both procedures remove the same
// unit.
func (h *housing) agreement(ctx context.Context) (float64, error) {
	return h.unitsCurve(ctx, func(points []gaussian.Point) float64 {
		agree := 0.0
		for _, p := range points[:len(points)-1] {
			if p.Agree {
				agree++
			}
		}
		return agree / float64(len(points)-1)
	})
}

// normalCost is what ten conclusions of three units set to NORMAL cost.
func (h *housing) normalCost(ctx context.Context) (float64, error) {
	return h.normalCostBy(ctx, gaussian.UnitFromNormal)
}

// normalCostAsPrinted is the same by the divergence that equation 20 prints.
func (h *housing) normalCostAsPrinted(ctx context.Context) (float64, error) {
	return h.normalCostBy(ctx, gaussian.NormalFromUnit)
}

func (h *housing) normalCostBy(ctx context.Context, divergence gaussian.Divergence) (float64, error) {
	curves, err := overFolds(ctx, h, fmt.Sprintf("normal %d", divergence), func(f fold) ([]gaussian.Point, error) {
		return (&gaussian.Learner{Units: 3, Reference: h.Table}).NormalCurve(ctx, f.task(h), divergence, f.test)
	})
	return average(curves, func(points []gaussian.Point) float64 { return points[10].Held[0] - points[0].Held[0] }), err
}

// inputCurves is what becomes of medv when its inputs go, one at a time, with
// EM after each or with units that stay as they were.
func (h *housing) inputCurves(ctx context.Context, removal string) ([][]gaussian.Point, error) {
	return overFolds(ctx, h, "inputs, "+removal, func(f fold) ([]gaussian.Point, error) {
		task := f.task(h)
		task.Target, task.NoTarget = "medv", false
		return (&gaussian.Learner{Units: 3, Removal: removal, Reference: h.Table}).InputCurve(ctx, task, f.test)
	})
}

// lastInput is the share of folds in which lstat goes last.
func (h *housing) lastInput(ctx context.Context) (float64, error) {
	curves, err := h.inputCurves(ctx, "retrain")
	return average(curves, func(points []gaussian.Point) float64 {
		if h.Schema.Attributes[points[len(points)-1].Removed].Name == "lstat" {
			return 1
		}
		return 0
	}), err
}

// bestInputs returns the number of inputs with the best mean curve, over the
// folds of all divisions.
func bestInputs(removal string) Runner {
	return func(ctx context.Context, first uint64, seeds int) (Result, error) {
		var sums [14]float64
		for seed := first; seed < first+uint64(seeds); seed++ {
			h, err := loadHousing(ctx, seed)
			if err != nil {
				return Result{}, err
			}
			curves, err := h.inputCurves(ctx, removal)
			if err != nil {
				return Result{}, err
			}
			for _, points := range curves {
				for _, p := range points {
					sums[p.Left] += p.Held[0]
				}
			}
		}
		best := float64(slices.Index(sums[:], slices.Min(sums[:])))
		return Result{best, best, best}, nil
	}
}

// printedOrder is that of table 7.
var printedOrder = strings.Fields("chas rad dis crim indus nox age tax ptratio zn b rm lstat")

// inputOrder returns the inputs by the mean place at which each goes.
func (h *housing) inputOrder(ctx context.Context) ([]string, error) {
	places := make([]float64, len(h.Columns))
	curves, err := h.inputCurves(ctx, "still")
	for _, points := range curves {
		for i, p := range points[1:] {
			places[p.Removed] += float64(i)
		}
	}
	order := slices.Clone(printedOrder)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(places[h.Schema.Index(a)], places[h.Schema.Index(b)]) })
	return order, err
}

// lessLikely compares how a division's order is like that of another division
// with how it is like the printed one.
func lessLikely(ctx context.Context, seed uint64) (float64, error) {
	var orders [2][]string
	for i, seed := range []uint64{seed, seed + 1000} {
		h, err := loadHousing(ctx, seed)
		if err != nil {
			return 0, err
		}
		if orders[i], err = h.inputOrder(ctx); err != nil {
			return 0, err
		}
	}
	return rankCorrelation(orders[0], orders[1]) - (rankCorrelation(orders[0], printedOrder)+rankCorrelation(orders[1], printedOrder))/2, nil
}

// rankCorrelation is Spearman's, of two orders of the same names.
func rankCorrelation(a, b []string) float64 {
	squares, n := 0.0, float64(len(a))
	for i, name := range a {
		d := float64(i - slices.Index(b, name))
		squares += d * d
	}
	return 1 - 6*squares/(n*(n*n-1))
}

// printedCentres are those of table 4, a row a column of the data; NaN is
// "normal". Below it are the priors of table 5.
var (
	normal         = math.NaN()
	printedCentres = [14][3]float64{
		{-.40, 1.20, -.28}, {normal, -.49, -.41}, {-.84, 1.02, .61}, {-.25, -.27, .62}, {-.69, 1.02, normal}, {normal, normal, normal}, {-.65, .75, .63},
		{.66, -.83, -.58}, {-.59, 1.66, -.42}, {-.68, 1.53, -.10}, {normal, .81, normal}, {.37, -.83, normal}, {-.62, .94, normal}, {.47, -.82, normal},
	}
	printedPriors = [3]float64{.48, .25, .27}
	printedWidths = [14][3]float64{
		{.20, 1.76, .20}, {normal, .20, .33}, {.41, .20, .94}, {.31, .20, 1.65}, {.52, .50, normal}, {normal, normal, normal}, {.90, .46, .61},
		{.96, .28, .49}, {.20, .20, .57}, {.33, .20, .70}, {normal, .20, normal}, {.20, 1.63, normal}, {.54, .90, normal}, {.92, .71, normal},
	}
)

// widthApart is how far a width may be off to be the printed one.
const widthApart = .05

// likeness is how far three units' centres are from the printed ones, and
// their priors.
type likeness struct {
	difference float64
	priors     [3]float64
	widths     float64 // of the printed ones, those that ours are
}

// threeUnits learns all rows from 100 starts and returns the nearest likeness.
func (h *housing) threeUnits(ctx context.Context) (likeness, error) {
	return once(ctx, "housing: three units", h.seed, func() (likeness, error) {
		nearest := likeness{difference: math.Inf(1)}
		for start := range uint64(100) {
			m, err := (&gaussian.Learner{Units: 3, Starts: 1, Reference: h.Table}).Learn(ctx, learn.Task{Table: h.Table, NoTarget: true, Seed: h.seed*1000 + start})
			if err != nil {
				return nearest, err
			}
			base, err := m.(*gaussian.Model).Rules()
			if err != nil {
				return nearest, err
			}
			units, err := base.InDeviations(m.Schema(), m.(*gaussian.Model).Overall())
			if err != nil {
				return nearest, err
			}
			for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				if l := alike(units.Units, p); l.difference < nearest.difference {
					nearest = l
				}
			}
		}
		return nearest, nil
	})
}

// alike compares units, in some order, with the printed ones.
func alike(units []rule.Unit, order [3]int) likeness {
	if len(units) != 3 {
		return likeness{difference: math.Inf(1)}
	}
	var l likeness
	n := 0.0
	for i, u := range order {
		l.priors[i] = units[u].Prior
		for j := range printedCentres {
			if c := printedCentres[j][i]; !math.IsNaN(c) {
				l.difference += math.Abs(units[u].Expect[j].Mean - c)
				n++
			}
			if math.Abs(units[u].Expect[j].Deviation-printedWidths[j][i]) <= widthApart {
				l.widths++
			}
		}
	}
	l.difference /= n
	return l
}

// priorRules are the rules of table 8: a usual, a wealthy and a poor
// neighbourhood, worth so many cases together.
func (h *housing) priorRules(worth float64) *rule.Base {
	const signs = "-+-+-+-+-+---+"
	base := &rule.Base{}
	for i, name := range []string{"usual", "wealthy", "poor"} {
		u := rule.Unit{Name: name, Prior: 1. / 3, Worth: &worth}
		for j, a := range h.Schema.Attributes {
			mean := [...]float64{0, 1, -1}[i]
			if signs[j] == '-' {
				mean = -mean
			}
			u.Expect = append(u.Expect, rule.Expectation{Column: a.Name, Mean: mean + 0, MeanSD: true, Deviation: 1, DeviationSD: true})
		}
		base.Units = append(base.Units, u)
	}
	return base
}

// informed returns each fold's test nats a row after some rows and the rules;
// no knowledge leaves the rules out.
func (h *housing) informed(ctx context.Context, rows int, knowledge string, worth float64) ([]float64, error) {
	return overFolds(ctx, h, fmt.Sprintf("%d rows and %s", rows, knowledge), func(f fold) (float64, error) {
		task := f.task(h)
		task.Table = f.training.Slice(0, rows)
		if knowledge != "" {
			task.Advice.Rules = h.priorRules(worth)
		}
		m, err := (&gaussian.Learner{Knowledge: knowledge, Reference: h.Table}).Learn(ctx, task)
		if err != nil {
			return 0, err
		}
		logs := make([]float64, f.test.Rows())
		if err := m.(*gaussian.Model).LogDensity(ctx, f.test, logs); err != nil {
			return 0, err
		}
		return -stat.Mean(logs).Value, nil
	})
}

func (h *housing) meanInformed(ctx context.Context, rows int, knowledge string, worth float64) (float64, error) {
	nll, err := h.informed(ctx, rows, knowledge, worth)
	return stat.Mean(nll).Value, err
}

// orderOfMeans counts the numbers of rows at which the ways to use the rules,
// on average over seeds, come in the published order.
func orderOfMeans(rows ...int) Runner {
	ways := []struct {
		knowledge string
		worth     float64
	}{{"map", 9}, {"mixture", 50}, {"teacher", 100}, {"", 0}}
	return func(ctx context.Context, first uint64, seeds int) (Result, error) {
		holds := 0.0
		for _, n := range rows {
			var nll []float64
			for _, way := range ways {
				r, err := OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
					h, err := loadHousing(ctx, seed)
					if err != nil {
						return 0, err
					}
					return h.meanInformed(ctx, n, way.knowledge, way.worth)
				})(ctx, first, seeds)
				if err != nil {
					return Result{}, err
				}
				nll = append(nll, r.Ours)
			}
			if slices.IsSorted(nll) {
				holds++
			}
		}
		return Result{holds, holds, holds}, nil
	}
}

// helpsUpTo returns the number of rows at which the curve of the paired t
// falls to what is significant, read between two numbers as one reads a curve.
func (h *housing) helpsUpTo(ctx context.Context, knowledge string, worth float64) (float64, error) {
	last, above := 0.0, 0.0
	for _, rows := range []int{10, 19, 25, 35, 50, 70, 100, 150, 200} {
		without, err := h.informed(ctx, rows, "", 0)
		if err != nil {
			return 0, err
		}
		with, err := h.informed(ctx, rows, knowledge, worth)
		if err != nil {
			return 0, err
		}
		differences := make([]float64, len(with))
		for i := range with {
			differences[i] = without[i] - with[i]
		}
		// How far t is above its line, as a share of what the line is at.
		e := stat.PairedT(differences)
		t := e.Value/(e.Value-e.Interval(0.95, stat.TwoSided).Low) - 1
		if t <= 0 {
			return last + (float64(rows)-last)*above/(above-t), nil
		}
		last, above = float64(rows), t
	}
	return last, nil
}
