package relation

import (
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// Columns of one table that have the same values can be compared: squares of a chess
// board by their files and ranks, marks before and after. How far apart two of them are,
// and by how much the one is greater, are relations of the row. Letters are as far apart
// as in the alphabet, other names are equal or not.

const (
	apart   = "_to_"    // between the names of two columns: how far apart they are
	greater = "_minus_" // by how much the first is greater
)

// fewestAlike and mostAlike bound the values of columns that are compared, and
// mostCompared the columns.
const fewestAlike, mostAlike, mostCompared = 3, 64, 12

// scale returns the numbers of a column, and whether they are in an order.
func scale(t *table.Table, i int) (numbers []float64, ordered bool) {
	a, c := &t.Schema.Attributes[i], &t.Columns[i]
	switch a.Kind {
	case table.Numeric:
		return c.Floats, true
	case table.Nominal:
		ordered = !slices.ContainsFunc(a.Values, func(v string) bool { return len(v) != 1 || v[0] < 'A' || v[0] > 'z' || v[0] > 'Z' && v[0] < 'a' })
		numbers = make([]float64, len(c.Codes))
		for r, code := range c.Codes {
			switch {
			case code < 0:
				numbers[r] = table.NA
			case ordered:
				numbers[r] = float64(a.Values[code][0])
			default:
				numbers[r] = float64(code)
			}
		}
		return numbers, ordered
	}
	return nil, false
}

// values returns the values that a column has, nil if they are too few or too many to be
// those of others by design.
func valuesOf(t *table.Table, i int) []string {
	a := &t.Schema.Attributes[i]
	var all []string
	switch a.Kind {
	case table.Nominal:
		all = slices.Clone(a.Values)
	case table.Numeric:
		seen := map[float64]bool{}
		for _, x := range t.Columns[i].Floats {
			if table.IsMissing(x) || seen[x] {
				continue
			}
			if seen[x] = true; x != math.Trunc(x) || len(seen) > mostAlike || a.Date || a.Time {
				return nil
			}
			all = append(all, a.Format(x))
		}
	}
	if len(all) < fewestAlike || len(all) > mostAlike {
		return nil
	}
	slices.Sort(all)
	return append(all, a.Kind.String())
}

// compare adds the relations between columns that have the same values.
func (db *database) compare(t *table.Table, target int, prefix string, rows place, codes []int32) {
	var columns []int
	var values [][]string
	for i := range t.Schema.Attributes {
		if v := valuesOf(t, i); i != target && v != nil && !slices.Contains(db.key, t.Schema.Attributes[i].Name) {
			columns, values = append(columns, i), append(values, v)
		}
	}
	if len(columns) > mostCompared {
		return
	}
	for k, j := range columns {
		for n, i := range columns[:k] {
			if slices.Equal(values[n], values[k]) {
				db.comparison(t, i, j, prefix, rows, codes)
			}
		}
	}
}

// comparison adds the relations between two columns.
func (db *database) comparison(t *table.Table, i, j int, prefix string, rows place, codes []int32) {
	x, ordered := scale(t, i)
	y, both := scale(t, j)
	far, more := make([]float64, len(x)), make([]float64, len(x))
	one, other := &t.Schema.Attributes[i], &t.Schema.Attributes[j]
	for r := range x {
		switch {
		case table.IsMissing(x[r]) || table.IsMissing(y[r]):
			far[r], more[r] = table.NA, table.NA
		case ordered && both:
			far[r], more[r] = math.Abs(x[r]-y[r]), x[r]-y[r]
		case one.Values[t.Columns[i].Codes[r]] != other.Values[t.Columns[j].Codes[r]]:
			far[r] = 1
		}
	}
	db.derive(prefix+one.Name+apart+other.Name, rows, codes, far, "how far "+words(one.Name)+" is from "+words(other.Name), table.Attribute{})
	if ordered && both {
		db.derive(prefix+one.Name+greater+other.Name, rows, codes, more, words(one.Name)+" less "+words(other.Name), table.Attribute{})
	}
}

// compared adds the comparisons that clauses name, whatever values the rows have.
func (db *database) compared(t *table.Table, prefix string, x *examples, lists []listed) {
	var names []string
	for _, l := range lists {
		for _, c := range l.Body {
			if rest, ok := strings.CutPrefix(c.Relation, prefix); ok && db.byName[c.Relation] == nil && (strings.Contains(rest, apart) || strings.Contains(rest, greater)) {
				names = append(names, rest)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	for j := range t.Schema.Attributes {
		for i := range j {
			one, other := t.Schema.Attributes[i], t.Schema.Attributes[j]
			if slices.Contains(names, one.Name+apart+other.Name) || slices.Contains(names, one.Name+greater+other.Name) {
				if one.Kind == other.Kind && one.Kind != table.Text {
					db.comparison(t, i, j, prefix, x.places[0], x.columns[0])
				}
			}
		}
	}
	db.finish()
}
