package evaluate

import (
	"context"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// A model that is rules or a tree does not tell values apart of which the same
// tests hold: numbers between two of its cuts, names that no rule has. Handing one
// of them to a row is handing them all, so that the mean over all permutations of a
// column of many values takes no more answers than the model tells apart.

// testsOf returns a model's tests of a column; false if they are not all that its
// answers depend on.
func testsOf(m learn.Model, column string) ([]rule.Test, bool) {
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
	var found []rule.Test
	known := map[string]bool{}
	var collect func(tests []rule.Test) bool
	collect = func(tests []rule.Test) bool {
		for i := range tests {
			t := &tests[i]
			if t.Op == rule.HalfSpace && slices.ContainsFunc(t.Terms, func(x rule.Term) bool { return x.Column == column }) || !collect(t.Of) {
				return false
			}
			if text := t.String(); t.Column == column && !known[text] {
				known[text] = true
				found = append(found, *t)
			}
		}
		return true
	}
	for i := range base.Rules {
		line := base.Rules[i].Then.Line
		if line != nil && line.Column == column || !collect(base.Rules[i].If) {
			return nil, false
		}
	}
	return found, true
}

// alike puts values of a column together that the model does not tell apart, and
// reports whether it is rules that say so; as they are where it may.
func alike(ctx context.Context, m learn.Model, t *table.Table, col int, values []frequent) ([]frequent, bool, error) {
	tests, ok := testsOf(m, t.Schema.Attributes[col].Name)
	if !ok {
		return values, false, nil
	}
	marks, err := marksOf(tests, t, col, values)
	if err != nil {
		return nil, false, err
	}
	at, last := map[string]int{}, []int(nil)
	var together []frequent
	for k, v := range values {
		i, ok := at[string(marks[k])]
		if !ok {
			i = len(together)
			at[string(marks[k])] = i
			together, last = append(together, frequent{row: v.row}), append(last, v.row)
		}
		together[i].weight += v.weight
		last[i] = v.row
	}
	same, err := saysTheSame(ctx, m, t, col, together, last)
	if err != nil || !same {
		return values, false, err
	}
	return together, true, nil
}

// marksOf says of each value which tests hold, and whether it is known.
func marksOf(tests []rule.Test, t *table.Table, col int, values []frequent) ([][]byte, error) {
	rows := make([]int, len(values))
	marks := make([][]byte, len(values))
	for k, v := range values {
		rows[k] = v.row
		marks[k] = make([]byte, 1, 1+(len(tests)+7)/8)
		if c := &t.Columns[col]; c.Codes != nil && c.Codes[v.row] < 0 || c.Floats != nil && table.IsMissing(c.Floats[v.row]) {
			marks[k][0] = 1
		}
	}
	some := t.Select(rows)
	holds := bits.New(len(values))
	for i := range tests {
		matcher, err := rule.NewMatcher(tests[i:i+1], t.Schema)
		if err != nil {
			return nil, err
		}
		matcher.Match(some, holds)
		for k := range marks {
			if i%8 == 0 {
				marks[k] = append(marks[k], 0)
			}
			if holds.Get(k) {
				marks[k][len(marks[k])-1] |= 1 << (i % 8)
			}
		}
	}
	return marks, nil
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
			if err := m.Predict(ctx, given(some, t, col, row), out); err != nil {
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

// given is some rows whose cells of a column are all that of one row of a table.
func given(some, t *table.Table, col, row int) *table.Table {
	c := *some
	c.Columns = slices.Clone(some.Columns)
	c.Columns[col] = t.Project([]int{col}).Select(slices.Repeat([]int{row}, some.Rows())).Columns[0]
	return &c
}
