package evaluate

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A model whose answers are sums over columns need not be asked for every value
// in every row. What the other columns add to a row's scores stays the same, so
// that a row is rightly answered by the values that add more to its class, beside
// each other class, than the others add against it: along the column that is
// between the places where a curve crosses a level, which are searched for, and
// the weight between them is known from running sums. The mean squared error of a
// number follows from the mean and the mean square of what the column adds.

// additive is a model whose scores are sums over columns: of classes the logarithm
// of their probability but for a constant, or a number. Adds fills in what the
// cell of each row in a column adds to each score, row by row; of column −1, where
// the sums start.
type additive interface {
	Adds(t *table.Table, col int, out []float64)
}

// logPoints is by how many values of a column the log loss is told at most; right
// and wrong are counted by all of them.
const logPoints = 200

// adding is a column of an additive model whose cells are handed to other rows.
type adding struct {
	model   additive
	t       *table.Table
	col     int
	classes []string // nil of a number
	outputs int

	adds    []float64 // what value v adds to score k, at v·outputs + k
	weights []float64 // of the values, which sum to 1
	before  []float64 // the weight of the values before v
	points  []point   // of the log loss
	level   []float64 // where the sums start
}

type point struct {
	value  int
	weight float64
}

// summed returns the losses of rows whose cells of one column are those of other
// rows, on average over all permutations; nil if the model is not additive.
func summed(ctx context.Context, m learn.Model, t *table.Table, col int, values []frequent, total float64) (losses, logs []float64, err error) {
	a, err := newAdding(ctx, m, t, col, values, total)
	if a == nil || err != nil {
		return nil, nil, err
	}
	losses, logs = make([]float64, t.Rows()), make([]float64, t.Rows())
	if a.classes == nil {
		return losses, logs, a.squares(ctx, losses)
	}
	curves := make([]*curves, len(a.classes))
	for _, y := range t.Columns[m.Target()].Codes {
		if y >= 0 && curves[y] == nil {
			curves[y] = a.curves(int(y))
		}
	}
	err = learn.Split(ctx, t.Rows(), func(lo, hi int) {
		rest := a.rest(lo, hi)
		scratch := make([]float64, a.outputs)
		var open, next []stretch
		for r := lo; r < hi; r++ {
			score, y := rest[(r-lo)*a.outputs:][:a.outputs], t.Columns[m.Target()].Codes[r]
			losses[r], logs[r] = 1, -math.Log(leastProbability)
			if y < 0 || math.IsInf(score[y], -1) {
				continue
			}
			open, next = curves[y].above(score, open[:0], next[:0])
			for _, s := range open {
				losses[r] -= a.before[s.to] - a.before[s.from]
			}
			losses[r], logs[r] = max(losses[r], 0), a.logLoss(score, int(y), scratch)
		}
	})
	return losses, logs, err
}

// newAdding prepares a column; nil if the model is not the sum that it says.
func newAdding(ctx context.Context, m learn.Model, t *table.Table, col int, values []frequent, total float64) (*adding, error) {
	model, ok := m.(additive)
	if !ok {
		return nil, nil
	}
	a := &adding{model: model, t: t, col: col, outputs: 1}
	if target := &m.Schema().Attributes[m.Target()]; target.Kind == table.Nominal {
		a.classes, a.outputs = target.Values, len(target.Values)
	}
	a.level = make([]float64, a.outputs)
	model.Adds(t.Slice(0, 1), -1, a.level)
	if same, err := a.answers(ctx, m); err != nil || !same {
		return nil, err
	}
	values = slices.Clone(values)
	if floats := t.Columns[col].Floats; floats != nil {
		slices.SortStableFunc(values, func(x, y frequent) int {
			p, q := floats[x.row], floats[y.row]
			switch { // missing ones last
			case p < q || math.IsNaN(q) && !math.IsNaN(p):
				return -1
			case p > q || math.IsNaN(p) && !math.IsNaN(q):
				return 1
			}
			return 0
		})
	}
	rows := make([]int, len(values))
	a.before = []float64{0}
	for i, v := range values {
		rows[i] = v.row
		a.weights = append(a.weights, v.weight/total)
		a.before = append(a.before, a.before[i]+v.weight/total)
	}
	a.adds = make([]float64, len(values)*a.outputs)
	model.Adds(t.Select(rows), col, a.adds)
	a.points = a.spaced(min(len(values), logPoints))
	return a, nil
}

// answers tries on some rows whether the model answers as its parts add up.
func (a *adding) answers(ctx context.Context, m learn.Model) (bool, error) {
	some := a.t.Slice(0, min(a.t.Rows(), fewTried))
	out := learn.NewPredictions(m, some.Rows())
	if err := m.Predict(ctx, some, out); err != nil {
		return false, err
	}
	whole := *a
	whole.col = -1
	scores := whole.rest(0, some.Rows())
	for r := range some.Rows() {
		score := scores[r*a.outputs:][:a.outputs]
		if a.classes == nil {
			if d := score[0] - out.Mean[r]; !(math.Abs(d) <= 1e-9*max(1, math.Abs(score[0]))) {
				return false, nil
			}
			continue
		}
		logsum.Normalise(score)
		for k, p := range out.Row(r) {
			if !(math.Abs(p-score[k]) <= 1e-9) {
				return false, nil
			}
		}
	}
	return true, nil
}

// rest returns what all other columns add to the scores of some rows.
func (a *adding) rest(lo, hi int) []float64 {
	part := a.t.Slice(lo, hi)
	sum, own := make([]float64, (hi-lo)*a.outputs), make([]float64, (hi-lo)*a.outputs)
	for r := range hi - lo {
		copy(sum[r*a.outputs:], a.level)
	}
	for col := range a.t.Columns {
		if col == a.col {
			continue
		}
		clear(own)
		a.model.Adds(part, col, own)
		for i, x := range own {
			sum[i] += x
		}
	}
	return sum
}

// squares fills in the mean squared errors of a number.
func (a *adding) squares(ctx context.Context, losses []float64) error {
	mean, square := 0.0, 0.0
	for v, w := range a.weights {
		mean += w * a.adds[v]
	}
	for v, w := range a.weights {
		square += w * (a.adds[v] - mean) * (a.adds[v] - mean)
	}
	truth := a.t.Columns[a.t.Schema.Index(a.target())].Floats
	return learn.Split(ctx, len(losses), func(lo, hi int) {
		for r, x := range a.rest(lo, hi) {
			e := truth[lo+r] - x - mean
			losses[lo+r] = e*e + square
		}
	})
}

func (a *adding) target() string {
	m := a.model.(learn.Model)
	return m.Schema().Attributes[m.Target()].Name
}

// spaced are values that stand for so many parts of about equal weight.
func (a *adding) spaced(parts int) []point {
	if parts == len(a.weights) {
		all := make([]point, parts)
		for v, w := range a.weights {
			all[v] = point{v, w}
		}
		return all
	}
	var list []point
	from := 0
	for k := range parts {
		to := from
		for to < len(a.weights) && (a.before[to+1] <= float64(k+1)/float64(parts) || k == parts-1) {
			to++
		}
		if to > from {
			list = append(list, point{(from + to) / 2, a.before[to] - a.before[from]})
			from = to
		}
	}
	return list
}

// logLoss is that of a row, on average.
func (a *adding) logLoss(rest []float64, y int, scores []float64) float64 {
	sum := 0.0
	for _, p := range a.points {
		top := math.Inf(-1)
		for k := range scores {
			scores[k] = rest[k] + a.adds[p.value*a.outputs+k]
			top = max(top, scores[k])
		}
		all := 0.0
		for _, s := range scores {
			all += math.Exp(s - top)
		}
		sum += p.weight * min(max(top+math.Log(all)-scores[y], 0), -math.Log(leastProbability))
	}
	return sum
}

// curves are, of a class y and each other one, how much more the values add to y,
// and where that goes up or down.
type curves struct {
	y        int
	gains    [][]float64
	slopes   [][]slope
	firstIf0 []bool // y is said where both are as probable
}

// slope is a run of values along which a curve does not turn.
type slope struct {
	from, to int
	down     bool
}

// stretch is a run of values.
type stretch struct{ from, to int }

func (a *adding) curves(y int) *curves {
	c := &curves{y: y, gains: make([][]float64, a.outputs), slopes: make([][]slope, a.outputs), firstIf0: make([]bool, a.outputs)}
	n := len(a.weights)
	for k := range a.outputs {
		if k == y {
			continue
		}
		gain := make([]float64, n)
		for v := range gain {
			gain[v] = a.adds[v*a.outputs+y] - a.adds[v*a.outputs+k]
		}
		var slopes []slope
		for from := 0; from < n; {
			to, way := from+1, 0
			for to < n {
				turn := 0
				if gain[to] > gain[to-1] {
					turn = 1
				} else if gain[to] < gain[to-1] {
					turn = -1
				}
				if way*turn < 0 {
					break
				}
				way += turn * (1 - way*way)
				to++
			}
			slopes = append(slopes, slope{from, to, way < 0})
			from = to
		}
		c.gains[k], c.slopes[k], c.firstIf0[k] = gain, slopes, a.classes[y] < a.classes[k]
	}
	return c
}

// above returns the values by which the class wins, given what the other columns
// add.
func (c *curves) above(rest []float64, open, spare []stretch) (wins, other []stretch) {
	open = append(open, stretch{0, math.MaxInt32})
	for k, gain := range c.gains {
		if k == c.y || math.IsInf(rest[k], -1) {
			continue
		}
		level, tie := rest[k]-rest[c.y], c.firstIf0[k]
		spare = spare[:0]
		at := 0
		for _, s := range c.slopes[k] {
			from, to := s.from, s.to
			cross := crossing(gain[s.from:s.to], level, tie, s.down) + s.from
			if s.down {
				to = cross
			} else {
				from = cross
			}
			for ; from < to && at < len(open) && open[at].from < to; at++ {
				if x := (stretch{max(open[at].from, from), min(open[at].to, to)}); x.from < x.to {
					spare = append(spare, x)
				}
				if open[at].to > to {
					break
				}
			}
		}
		if open, spare = spare, open; len(open) == 0 {
			break
		}
	}
	return open, spare
}

// crossing returns the first place of a curve that goes up which is above a level,
// or of one that goes down which is not.
func crossing(gain []float64, level float64, tie, down bool) int {
	lo, hi := 0, len(gain)
	for lo < hi {
		mid := (lo + hi) / 2
		above := gain[mid] > level || tie && gain[mid] == level
		if above == down {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
