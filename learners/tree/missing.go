package tree

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// That a cell is missing (missing=count). Beside each column in which cells are
// missing stands another one that says where: a test of it asks whether the cell is
// missing, and has the rows in which it is for a branch of its own. Where such a test
// is not the best, rows are parted in fractions. Below a test of a column's value
// nothing is asked any more about its being missing: rows would be on the way there
// in fractions that no rule can state.

// Codes of a column of missing cells.
const isAbsent, isPresent = 0, 1

// inFractions reports whether rows go down several branches where a cell is missing.
func (s *settings) inFractions() bool {
	return s.Missing == missingFractions || s.Missing == missingCount
}

// countMissing adds a column of missing cells for each column that has some.
func (x *examples) countMissing(ctx context.Context) error {
	attributes := x.view.Schema.Attributes
	found := make([]codes, len(attributes))
	err := learn.Each(ctx, len(attributes), func(col int) {
		if col == x.target {
			return
		}
		c, some := codes{values: 2, narrow: make([]uint8, x.rows)}, false
		for r := range c.narrow {
			c.narrow[r] = isPresent
			if x.lacks(col, int32(r)) {
				c.narrow[r], some = isAbsent, true
			}
		}
		if some {
			found[col] = c
		}
	})
	for col := range found {
		if found[col].values > 0 {
			x.columns, x.gaps = append(x.columns, found[col]), append(x.gaps, int32(col))
		}
	}
	return err
}

// lacks reports whether a cell is missing.
func (x *examples) lacks(col int, row int32) bool {
	if c := &x.columns[col]; c.narrow != nil || c.wide != nil {
		return int(c.code(row)) == c.values
	}
	return table.IsMissing(x.view.Float(col, int(row)))
}

// asksMissing reports whether a column is one of missing cells.
func (x *examples) asksMissing(col int32) bool { return int(col) >= len(x.view.Schema.Attributes) }

// source returns the column whose missing cells a column says; others are their own.
func (x *examples) source(col int32) int32 {
	if x.asksMissing(col) {
		return x.gaps[int(col)-len(x.view.Schema.Attributes)]
	}
	return col
}

// answered reports whether a column of missing cells has nothing more to say below
// a test of these cells.
func (x *examples) answered(nd *node, col int32) bool {
	if !x.asksMissing(col) {
		return false
	}
	of := x.source(col)
	if nd.plane != nil {
		return slices.ContainsFunc(nd.plane.terms, func(t term) bool { return t.col == of })
	}
	return nd.col == of
}

// absentBranch returns which branch of a test of missing cells a row takes.
func absentBranch(column table.Column, row int) int {
	if isMissing(column, row) {
		return isAbsent
	}
	return isPresent
}

// missingTest writes a condition of missing cells. That a cell is known goes without
// saying where its value is tested.
func (m *Model) missingTest(tests []rule.Test, c condition, all []condition) []rule.Test {
	valued := slices.ContainsFunc(all, func(d condition) bool { return !d.absent && slices.Contains(d.columns(), c.col) })
	if c.above && valued {
		return tests
	}
	return append(tests, absentTest(m.schema.Attributes[c.col].Name, c.above))
}

func absentTest(column string, known bool) rule.Test {
	if known {
		return rule.Test{Op: rule.IsKnown, Column: column}
	}
	return rule.Test{Op: rule.IsMissing, Column: column}
}
