// Package table holds examples: typed columns of cells, some of them missing.
//
// A table is a schema and, for each of its attributes, one dense column. A
// nominal column is dictionary-coded: each cell is the index of its value in
// the attribute's Values. A numeric column is a slice of float64. Columns,
// not rows, because counting and sorting run along columns.
//
// Read, ReadFile and Stream make tables of delimited text (RFC 4180 and what
// is usual around it), ARFF (Weka's format), Parquet and JSON lines. A cell
// that is empty or reads ?, NA, NaN or null is missing. A column whose known
// cells are all numbers is numeric; one whose known cells are all ISO dates is
// numeric, too, in days since 1970; any other is nominal. Numbers are plain
// decimals; inf is a number, and one beyond the range of a float64 becomes
// infinite, with a remark. Options overrule all of that, or have the input
// read as the columns of a model's schema (see also Conform).
//
// Text is read in blocks that are parsed side by side, each column taken for
// numbers until a cell says otherwise; what is read does not depend on the
// size of blocks or the number of cores. The dictionary of a table that is
// read without a schema is sorted, so that it does not depend on the order of
// rows either.
//
// Tables are values to read from: no function of this module changes the
// cells of a table it was given.
package table

import (
	"fmt"
	"math"
)

// Kind says what the cells of a column are.
type Kind uint8

// The kinds of columns.
const (
	Nominal Kind = iota // one of a set of names
	Numeric             // a number
)

// String returns "nominal" or "numeric".
func (k Kind) String() string {
	if k == Numeric {
		return "numeric"
	}
	return "nominal"
}

// Codes of nominal cells that stand for no value of the dictionary.
const (
	Missing int32 = -1 // nothing is known of the cell
	Unseen  int32 = -2 // the cell is known, but the model's dictionary has no such value
)

// IsMissing reports whether a numeric cell is missing. NaN is how a numeric
// column writes a missing cell; there is no other NaN in a table.
func IsMissing(x float64) bool { return x != x }

// NA is the missing numeric cell.
var NA = math.NaN()

// Attribute is what is known of a column apart from its cells.
type Attribute struct {
	Name   string
	Kind   Kind
	Values []string // nominal: the dictionary; a cell's code is an index into it
	Date   bool     // numeric: days since 1970-01-01, written as ISO dates
}

// Column is the cells of one attribute: Codes if it is nominal, Floats if it
// is numeric. The other slice is nil.
type Column struct {
	Codes  []int32
	Floats []float64
}

// Table is a schema with its columns. Weights is nil when every row counts
// once; otherwise it has one finite number ≥ 0 a row.
type Table struct {
	Schema  *Schema
	Columns []Column
	Weights []float64
	rows    int
}

// New returns a table over the given columns, which it does not copy. It
// checks that columns agree with the schema in number, kind and length, that
// codes lie in the dictionaries, and that weights are finite and not negative.
func New(schema *Schema, columns []Column, weights []float64) (*Table, error) {
	if len(columns) != len(schema.Attributes) {
		return nil, fmt.Errorf("table: %d columns for %d attributes", len(columns), len(schema.Attributes))
	}
	rows := len(weights)
	for i, c := range columns {
		a := &schema.Attributes[i]
		n := len(c.Codes)
		switch {
		case a.Kind == Numeric && c.Codes != nil, a.Kind == Nominal && c.Floats != nil:
			return nil, fmt.Errorf("table: cells of column %q are not %v", a.Name, a.Kind)
		case a.Kind == Numeric:
			n = len(c.Floats)
		}
		if i == 0 && weights == nil {
			rows = n
		}
		if n != rows {
			return nil, fmt.Errorf("table: column %q has %d cells, expected %d", a.Name, n, rows)
		}
		// Codes below the least one wrap around to large ones.
		codes := uint32(len(a.Values) - int(Unseen))
		for r, code := range c.Codes {
			if uint32(code-Unseen) >= codes {
				return nil, fmt.Errorf("table: column %q, row %d: code %d is not in its dictionary of %d values", a.Name, r+1, code, len(a.Values))
			}
		}
	}
	for r, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("table: weight of row %d is %v, expected a finite number ≥ 0", r+1, w)
		}
	}
	return &Table{Schema: schema, Columns: columns, Weights: weights, rows: rows}, nil
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.rows }

// Weight returns the weight of a row, 1 if the table has no weights.
func (t *Table) Weight(row int) float64 {
	if t.Weights == nil {
		return 1
	}
	return t.Weights[row]
}

// Text returns a cell as it is written in files; "" if it is missing.
func (t *Table) Text(row, col int) string {
	a := &t.Schema.Attributes[col]
	if a.Kind == Nominal {
		switch code := t.Columns[col].Codes[row]; code {
		case Missing:
			return ""
		case Unseen:
			return "(unseen)"
		default:
			return a.Values[code]
		}
	}
	return a.Format(t.Columns[col].Floats[row])
}

// Slice returns the rows lo ≤ row < hi. It shares the cells.
func (t *Table) Slice(lo, hi int) *Table {
	s := &Table{Schema: t.Schema, Columns: make([]Column, len(t.Columns)), rows: hi - lo}
	for i, c := range t.Columns {
		if c.Codes != nil {
			s.Columns[i].Codes = c.Codes[lo:hi]
		} else {
			s.Columns[i].Floats = c.Floats[lo:hi]
		}
	}
	if t.Weights != nil {
		s.Weights = t.Weights[lo:hi]
	}
	return s
}

// Select returns a copy of the given rows, in the given order.
func (t *Table) Select(rows []int) *Table {
	s := &Table{Schema: t.Schema, Columns: make([]Column, len(t.Columns)), rows: len(rows)}
	for i, c := range t.Columns {
		if t.Schema.Attributes[i].Kind == Nominal {
			s.Columns[i].Codes = pick(c.Codes, rows)
		} else {
			s.Columns[i].Floats = pick(c.Floats, rows)
		}
	}
	if t.Weights != nil {
		s.Weights = pick(t.Weights, rows)
	}
	return s
}

func pick[T any](from []T, rows []int) []T {
	to := make([]T, len(rows))
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}
