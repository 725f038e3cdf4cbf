package evaluate

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// A model that is rules or a tree does not tell numbers apart that lie between two
// of its cuts. Handing one of them to a row is handing them all, so that the mean
// over all permutations of a column of many numbers takes no more answers than it
// has ranges.

// cutsOf returns the numbers at which a model's rules divide a column, ascending;
// false if they are not all that its answers depend on.
func cutsOf(m learn.Model, column string) ([]float64, bool) {
	if _, told := m.(learn.Wrapper); told {
		return nil, false
	}
	r, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return nil, false
	}
	base, err := r.Rules()
	if err != nil || len(base.Units) > 0 || len(base.Rules) == 0 || slices.ContainsFunc(base.Notes, func(n string) bool { return strings.HasPrefix(n, "summary:") }) {
		return nil, false
	}
	var cuts []float64
	var plain func(tests []rule.Test) bool
	plain = func(tests []rule.Test) bool {
		for i := range tests {
			t := &tests[i]
			if t.Op == rule.HalfSpace && slices.ContainsFunc(t.Terms, func(x rule.Term) bool { return x.Column == column }) || !plain(t.Of) {
				return false
			}
			if t.Column != column {
				continue
			}
			switch t.Op {
			case rule.Lt, rule.Le, rule.Gt, rule.Ge:
				cuts = append(cuts, t.Number)
			case rule.Between:
				cuts = append(cuts, t.Low, t.High)
			case rule.IsMissing, rule.IsKnown:
			default:
				return false
			}
		}
		return true
	}
	for i := range base.Rules {
		line := base.Rules[i].Then.Line
		if line != nil && line.Column == column || !plain(base.Rules[i].If) {
			return nil, false
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts), true
}

// alike puts values of a column together that the model does not tell apart; as
// they are where it may.
func alike(ctx context.Context, m learn.Model, t *table.Table, col int, values []frequent) ([]frequent, error) {
	numbers := t.Columns[col].Floats
	if numbers == nil {
		return values, nil
	}
	cuts, ok := cutsOf(m, t.Schema.Attributes[col].Name)
	if !ok {
		return values, nil
	}
	at, last := map[int]int{}, []int(nil)
	var together []frequent
	for _, v := range values {
		key := -1
		if x := numbers[v.row]; !math.IsNaN(x) {
			i, cut := slices.BinarySearch(cuts, x)
			if key = 2 * i; cut {
				key++
			}
		}
		i, ok := at[key]
		if !ok {
			i = len(together)
			at[key] = i
			together, last = append(together, frequent{row: v.row}), append(last, v.row)
		}
		together[i].weight += v.weight
		last[i] = v.row
	}
	same, err := saysTheSame(ctx, m, t, col, together, last)
	if err != nil || !same {
		return values, err
	}
	return together, nil
}

// fewTried is on how many rows values that count as one are compared.
const fewTried = 16

// saysTheSame tries two values of each range on some rows: rules that do not say
// all of a model would show.
func saysTheSame(ctx context.Context, m learn.Model, t *table.Table, col int, firsts []frequent, lasts []int) (bool, error) {
	some := t.Slice(0, min(t.Rows(), fewTried))
	out := learn.NewPredictions(m, some.Rows())
	for i, first := range firsts {
		if first.row == lasts[i] {
			continue
		}
		var said [2][]float64
		for k, row := range []int{first.row, lasts[i]} {
			c := *some
			c.Columns = slices.Clone(some.Columns)
			floats := make([]float64, some.Rows())
			for r := range floats {
				floats[r] = t.Columns[col].Floats[row]
			}
			c.Columns[col].Floats = floats
			if err := m.Predict(ctx, &c, out); err != nil {
				return false, err
			}
			said[k] = slices.Concat(out.P, out.Mean)
		}
		if !slices.Equal(said[0], said[1]) {
			return false, nil
		}
	}
	return true, nil
}
