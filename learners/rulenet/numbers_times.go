package rulenet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Times that had not ended when they were last looked at (censored=COLUMN, which says
// of each row whether its time goes on). Such a row is taken for the mean of the times
// that went on for longer, as Kaplan and Meier (1958) estimate them: at first of all
// rows, then of what times are off the network's answers, and the network is learnt
// again (Buckley and James 1979). The column itself is no condition of a rule: who asks
// does not know it.

// timeRounds is how often times that go on are estimated.
const timeRounds = 3

// times are the rows of a table whose target is a time.
type times struct {
	t      *table.Table
	target int
	column int
	open   []bool // the time goes on
}

// newTimes finds out which times go on.
func newTimes(t *table.Table, target int, name string) (*times, error) {
	of := &times{t: t, target: target, column: t.Schema.Index(name), open: make([]bool, t.Rows())}
	if of.column < 0 || of.column == target {
		return nil, fmt.Errorf("setting censored=%s: there is no such column beside the target; expected one that is yes, true or 1 where a time had not ended", name)
	}
	ended := false
	for r := range of.open {
		is, ok := truth(t, r, of.column)
		if !ok {
			return nil, fmt.Errorf("setting censored=%s: it is %q in some row; expected yes, true or 1 where a time had not ended, and no, false or 0 where it had", name, t.Text(r, of.column))
		}
		of.open[r] = is
		ended = ended || !is
	}
	if !ended {
		return nil, fmt.Errorf("setting censored=%s: no time of %q has ended, so that nothing is known of how long they are", name, t.Schema.Attributes[target].Name)
	}
	return of, nil
}

// truth reads a cell as yes or no.
func truth(t *table.Table, row, col int) (is, ok bool) {
	c := &t.Columns[col]
	if c.Floats != nil {
		return c.Floats[row] == 1, c.Floats[row] == 0 || c.Floats[row] == 1
	}
	if c.Codes == nil || c.Codes[row] < 0 {
		return false, false
	}
	switch strings.ToLower(t.Schema.Attributes[col].Values[c.Codes[row]]) {
	case "yes", "y", "true", "t", "1", "+":
		return true, true
	case "no", "n", "false", "f", "0", "-":
		return false, true
	}
	return false, false
}

// learn makes the network of the times.
func (of *times) learn(ctx context.Context, rows *kept.Rows, seed uint64, s settings) (m *Numbers, err error) {
	answers := make([]float64, len(of.open))
	for range timeRounds {
		t, err := of.estimated(answers)
		if err != nil {
			return nil, err
		}
		if m, err = learnSums(ctx, rows, t, of.target, seed, s); err != nil {
			return nil, err
		}
		out := learn.NewPredictions(m, t.Rows())
		if err := m.Predict(ctx, t, out); err != nil {
			return nil, err
		}
		answers = out.Mean
	}
	return m, nil
}

// estimated returns the table with a time for each that goes on, given what the rows
// are answered, and without what says that it does.
func (of *times) estimated(answers []float64) (*table.Table, error) {
	off := make([]float64, len(of.open))
	weights := make([]float64, len(of.open))
	for r, y := range of.t.Columns[of.target].Floats {
		off[r], weights[r] = y-answers[r], of.t.Weight(r)
	}
	beyond := newSurvival(off, weights, of.open)
	y := slices.Clone(of.t.Columns[of.target].Floats)
	for r := range y {
		if of.open[r] {
			y[r] = max(y[r], answers[r]+beyond.mean(off[r]))
		}
	}
	columns := slices.Clone(of.t.Columns)
	columns[of.target] = table.Column{Floats: y}
	if c := &columns[of.column]; c.Floats != nil {
		*c = table.Column{Floats: slices.Repeat([]float64{table.NA}, len(y))}
	} else {
		*c = table.Column{Codes: slices.Repeat([]int32{table.Missing}, len(y))}
	}
	return table.New(of.t.Schema, columns, of.t.Weights)
}

// survival is how many of some numbers are how large, where of some only a lower bound
// is known (Kaplan and Meier). The largest counts as known.
type survival struct {
	at         []float64 // numbers that are known, rising
	mass, sums []float64 // of those from each on: their share, and their share times what they are
}

func newSurvival(x, weights []float64, open []bool) *survival {
	order := make([]int, len(x))
	left := 0.0
	for i := range order {
		order[i] = i
		left += weights[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { // of equal ones those that are known come first
		switch {
		case x[a] == x[b] && open[a] != open[b] && open[b]:
			return -1
		case x[a] == x[b] && open[a] != open[b]:
			return 1
		}
		return cmp.Compare(x[a], x[b])
	})
	s, lives := &survival{}, 1.0
	for n, i := range order {
		if !open[i] || n == len(order)-1 {
			ends := lives * weights[i] / max(left, weights[i])
			if n == len(order)-1 {
				ends = lives
			}
			s.at, s.mass, s.sums = append(s.at, x[i]), append(s.mass, ends), append(s.sums, ends*x[i])
			lives -= ends
		}
		left -= weights[i]
	}
	for i := len(s.at) - 2; i >= 0; i-- {
		s.mass[i] += s.mass[i+1]
		s.sums[i] += s.sums[i+1]
	}
	return s
}

// mean is that of the numbers beyond one.
func (s *survival) mean(x float64) float64 {
	i, _ := slices.BinarySearchFunc(s.at, x, func(at, x float64) int {
		if at > x {
			return 1
		}
		return -1
	})
	if i == len(s.at) || s.mass[i] <= 0 {
		return x
	}
	return s.sums[i] / s.mass[i]
}
