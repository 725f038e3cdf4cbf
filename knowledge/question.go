package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

// Ways to say what the answer for a row would be worth.
const (
	// Disagreement is how evenly the hypotheses or members of a model are
	// divided, in bits (query by committee: Seung, Opper, Sompolinsky 1992).
	Disagreement = "disagreement"
	// Margin is how near the two likeliest classes are to each other: 1 less
	// the difference of their probabilities.
	Margin = "margin"
	// ExpectedError is the probability that the model's answer is wrong; of
	// numbers, the width of its interval.
	ExpectedError = "error"
	// Reduction is by how much the answer is expected to lower the share of
	// wrong answers on the other rows.
	Reduction = "reduction"
)

// Uses lists them.
var Uses = []string{Disagreement, Margin, ExpectedError, Reduction}

// QuestionOptions say which questions are wanted.
type QuestionOptions struct {
	N   int    // how many
	Use string // one of Uses; "" takes what the model is best for
}

// Question is a row whose answer a model would like to know.
type Question struct {
	Row  int     // of the table
	Gain float64 // what the answer is worth, by the use that was asked for
	// Cost is that of not asking: the probability that the model's own answer
	// is wrong, or the standard deviation that its interval stands for.
	Cost float64
	// Splits are the votes for the likeliest class and against it or, of a
	// model that does not vote, the probabilities of the two likeliest
	// classes; of numbers, the ends of the interval.
	Splits [2]float64
}

// Questions ranks rows of a table, which has the model's columns, by what their
// answers would be worth to the model, and returns the best in the order in
// which to ask. Rows that are alike teach the same, so that after the best one
// each next is chosen among the best by its worth times its distance from those
// chosen before (farthest first). A row whose answer is worth nothing is not
// asked for.
func Questions(ctx context.Context, m learn.Model, t *table.Table, rows []int, o QuestionOptions) ([]Question, error) {
	if m.Target() == learn.NoTarget {
		return nil, fmt.Errorf("a density of all columns has no target to ask for")
	}
	use := o.Use
	if use == "" {
		use = BestUse(m)
	}
	if !slices.Contains(Uses, use) {
		return nil, fmt.Errorf("there is no use %q of an answer; expected one of %s", use, strings.Join(Uses, ", "))
	}
	some := t.Select(rows)
	all, err := worths(ctx, m, some, use)
	if err != nil {
		return nil, err
	}
	worthwhile := func(all []Question) []Question {
		all = slices.DeleteFunc(all, func(q Question) bool { return !(q.Gain > 0) })
		slices.SortStableFunc(all, func(a, b Question) int { return cmp.Compare(b.Gain, a.Gain) })
		return all
	}
	if all = worthwhile(all); use == Reduction {
		if all, err = reductions(ctx, m, some, all); err != nil {
			return nil, err
		}
		all = worthwhile(all)
	}
	for i := range all {
		all[i].Row = rows[all[i].Row]
	}
	const pool = 8 // times as many are looked at as are wanted
	return spread(ctx, newGauge(t, m.Target()), all[:min(len(all), max(pool*o.N, 50))], o.N)
}

// Unstable is a model that a few other rows may change much (Breiman 1996), and
// that is quick to learn again: what members learnt from rows drawn again say
// tells more of its doubts than its own probabilities do.
type Unstable interface {
	learn.Model
	Unstable()
}

// BestUse is disagreement of models that vote and of unstable ones, error of
// numbers, else margin.
//
// Measured by evaluate.Query over ten divisions of ten sets (votes, iris, wine,
// glass, heart-c, tic-tac-toe, soybean, ionosphere, balance-scale, wdbc), trees
// with half of the answers lack on average 2.3 points of all answers by margin,
// about 1 by disagreement of 20 members, 1.3 of 10, and 2.0 where the rows asked
// for are not spread.
func BestUse(m learn.Model) string {
	_, voter := expert.Settled(m).(learn.Voter)
	_, committee := learn.Ability[learn.Committee](m)
	_, unstable := learn.Ability[Unstable](m)
	unstable = unstable && relearns(m)
	switch {
	case m.Schema().Attributes[m.Target()].Kind == table.Numeric:
		return ExpectedError
	case voter || committee || unstable:
		return Disagreement
	}
	return Margin
}

// worths says of each row of a table what its answer would be worth.
func worths(ctx context.Context, m learn.Model, t *table.Table, use string) ([]Question, error) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	all := make([]Question, t.Rows())
	if out.Classes == 0 {
		if use != ExpectedError {
			return nil, fmt.Errorf("%s is of classes, and the target is a number; expected %s", use, ExpectedError)
		}
		const deviations = 3.92 // that a 95 % interval is wide
		for r := range all {
			width := out.High[r] - out.Low[r]
			all[r] = Question{Row: r, Gain: width, Cost: width / deviations, Splits: [2]float64{out.Low[r], out.High[r]}}
		}
		return all, nil
	}
	votes, err := ballots(ctx, m, t, use)
	if err != nil {
		return nil, err
	}
	for r := range all {
		first, second := foremost(out.Row(r))
		all[r] = Question{Row: r, Cost: 1 - first, Splits: [2]float64{first, second}}
		switch use {
		case Margin, Reduction:
			all[r].Gain = 1 - (first - second)
		case ExpectedError:
			all[r].Gain = 1 - first
		case Disagreement:
			row := votes[r*out.Classes : (r+1)*out.Classes]
			sum, most := 0.0, 0.0
			for _, v := range row {
				sum, most = sum+v, max(most, v)
			}
			all[r].Gain, all[r].Splits = entropy(row, sum), [2]float64{most, sum - most}
		}
		if out.Classes == 1 {
			all[r].Gain = 0
		}
	}
	return all, nil
}

// ballots returns the votes of a model's hypotheses or members, a number for
// each row and class; nil unless they are asked for.
func ballots(ctx context.Context, m learn.Model, t *table.Table, use string) ([]float64, error) {
	if use != Disagreement {
		return nil, nil
	}
	classes := len(m.Schema().Attributes[m.Target()].Values)
	votes := make([]float64, t.Rows()*classes)
	if v, ok := expert.Settled(m).(learn.Voter); ok {
		for r := range t.Rows() {
			if r%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			row := v.Votes(t, r)
			if row == nil && !v.Decides(t, r) { // how many say what is not known
				row = slices.Repeat([]float64{0.5}, classes)
			}
			copy(votes[r*classes:], row)
		}
		return votes, nil
	}
	c, ok := learn.Ability[learn.Committee](m)
	if !ok {
		if again, err := bootstrap(ctx, m, t, votes); again || err != nil {
			return votes, err
		}
		return nil, fmt.Errorf("a %s model has no members that could disagree; expected %s, %s or %s", m.Learner(), Margin, ExpectedError, Reduction)
	}
	return votes, c.Ballots(ctx, t, votes)
}

// foremost returns the two largest of some probabilities.
func foremost(p []float64) (first, second float64) {
	for _, x := range p {
		switch {
		case x > first:
			first, second = x, first
		case x > second:
			second = x
		}
	}
	return first, second
}

// entropy is that of votes, in bits.
func entropy(votes []float64, sum float64) float64 {
	h := 0.0
	for _, v := range votes {
		if v > 0 && v < sum {
			h -= v / sum * math.Log2(v/sum)
		}
	}
	return h
}

// spread chooses n questions, the first one first, each other by its gain times
// its distance from those chosen.
func spread(ctx context.Context, g *gauge, all []Question, n int) ([]Question, error) {
	if n <= 0 || len(all) == 0 {
		return nil, nil
	}
	chosen := []Question{all[0]}
	taken := make([]bool, len(all))
	taken[0] = true
	nearest := make([]float64, len(all)) // distance to those chosen
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for len(chosen) < min(n, len(all)) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		best, worth := -1, -1.0
		for i, q := range all {
			if taken[i] {
				continue
			}
			nearest[i] = min(nearest[i], g.distance(q.Row, chosen[len(chosen)-1].Row))
			if w := q.Gain * nearest[i]; w > worth {
				best, worth = i, w
			}
		}
		taken[best] = true
		chosen = append(chosen, all[best])
	}
	return chosen, nil
}

// gauge measures how unlike two rows of a table are: the share of the columns
// in which they differ, numbers by their difference over the column's range.
type gauge struct {
	table  *table.Table
	target int
	ranges []float64
}

func newGauge(t *table.Table, target int) *gauge {
	g := &gauge{t, target, make([]float64, len(t.Columns))}
	for i := range t.Columns {
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range t.Columns[i].Floats {
			if !table.IsMissing(x) {
				low, high = min(low, x), max(high, x)
			}
		}
		g.ranges[i] = high - low
	}
	return g
}

func (g *gauge) distance(a, b int) float64 {
	sum, n := 0.0, 0
	for i := range g.table.Columns {
		c := &g.table.Columns[i]
		if i == g.target {
			continue
		}
		n++
		switch {
		case c.Codes != nil && c.Codes[a] != c.Codes[b]:
			sum++
		case c.Floats != nil:
			sum += numberDistance(c.Floats[a], c.Floats[b], g.ranges[i])
		}
	}
	return sum / float64(max(n, 1))
}

func numberDistance(a, b, span float64) float64 {
	switch am, bm := table.IsMissing(a), table.IsMissing(b); {
	case am && bm:
		return 0
	case am || bm:
		return 1
	case !(span > 0) || math.IsInf(span, 0):
		return 0
	}
	return math.Abs(a-b) / span
}
