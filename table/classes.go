package table

import (
	"fmt"
	"math"
	"slices"
)

// mostClasses is how many distinct integers of a target are taken for classes.
const mostClasses = 20

// fewIntegers returns how many distinct values a numeric column has if they
// are a few integers and no dates.
func fewIntegers(t *Table, col int) (distinct int, ok bool) {
	a := &t.Schema.Attributes[col]
	if a.Kind != Numeric || a.what() != "number" {
		return 0, false
	}
	var seen []float64
	for _, x := range t.Columns[col].Floats {
		if IsMissing(x) || slices.Contains(seen, x) {
			continue
		}
		if !isInteger(x) || len(seen) == mostClasses {
			return 0, false
		}
		seen = append(seen, x)
	}
	return len(seen), len(seen) > 0
}

func isInteger(x float64) bool { return x == math.Trunc(x) && !math.IsInf(x, 0) }

// classText is the name of the class that a number stands for.
func classText(x float64) string {
	// Adding 0 makes -0 into 0, which is the same number.
	return numberText(x + 0)
}

// AsClasses returns the table with a numeric column made nominal: its values
// are the distinct numbers, in their order, each written as the shortest text
// that reads back to it (a date as a date). A nominal column is left as it is.
// The other columns are shared.
func AsClasses(t *Table, col int) (*Table, error) {
	if col < 0 || col >= len(t.Columns) {
		return nil, fmt.Errorf("table: no column %d among %d", col, len(t.Columns))
	}
	a := t.Schema.Attributes[col]
	if a.Kind == Nominal {
		return t, nil
	}
	if a.Kind == Text {
		return nil, fmt.Errorf("table: column %q is text and has no classes", a.Name)
	}
	cells := t.Columns[col].Floats
	codes := make([]int32, len(cells))
	index := map[float64]int32{}
	var distinct []float64
	for _, x := range cells {
		if _, ok := index[x]; !ok && !IsMissing(x) {
			index[x] = 0
			distinct = append(distinct, x)
		}
	}
	slices.Sort(distinct)
	values := make([]string, len(distinct))
	for i, x := range distinct {
		index[x] = int32(i)
		if values[i] = classText(x); a.what() != "number" {
			values[i] = a.Format(x)
		}
	}
	for r, x := range cells {
		codes[r] = Missing
		if !IsMissing(x) {
			codes[r] = index[x]
		}
	}
	schema := &Schema{Attributes: slices.Clone(t.Schema.Attributes), Sequence: t.Schema.Sequence}
	schema.Attributes[col] = Attribute{Name: a.Name, Kind: Nominal, Values: values, Style: a.Style}
	columns := slices.Clone(t.Columns)
	columns[col] = Column{Codes: codes}
	made, err := New(schema, columns, t.Weights)
	if err == nil {
		made.Sequence, made.SequenceNames = t.Sequence, t.SequenceNames
	}
	return made, err
}
