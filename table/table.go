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
	"slices"
)

// Kind says what the cells of a column are.
type Kind uint8

// The kinds of columns.
const (
	Nominal Kind = iota // one of a set of names
	Numeric             // a number
	Text                // words, with how often each occurs
)

// String returns "nominal", "numeric" or "text".
func (k Kind) String() string {
	switch k {
	case Numeric:
		return "numeric"
	case Text:
		return "text"
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
	Date   bool     // numeric: days since 1970-01-01, written as ISO dates
	Time   bool     // numeric: seconds since 1970-01-01T00:00:00, written as ISO dates with the time of day
	Values []string // nominal: the dictionary; a cell's code is an index into it. Text: the words
	Style  Style    // how cells are written in the files that they come from
}

// Shown returns the kind as people name it: nominal, numeric, date, time or
// text. A date and a time are numbers to learners.
func (a *Attribute) Shown() string {
	switch {
	case a.Kind == Numeric && a.Date:
		return "date"
	case a.Kind == Numeric && a.Time:
		return "time"
	}
	return a.Kind.String()
}

// Shown lists what Attribute.Shown returns.
var Shown = []string{"nominal", "numeric", "date", "time", "text"}

// Show makes the attribute of the kind that Shown names, and reports whether
// there is such a kind.
func (a *Attribute) Show(kind string) bool {
	a.Kind, a.Date, a.Time = Numeric, false, false
	switch kind {
	case "nominal":
		a.Kind = Nominal
	case "text":
		a.Kind = Text
	case "date":
		a.Date = true
	case "time":
		a.Time = true
	case "numeric":
	default:
		return false
	}
	return true
}

// Column is the cells of one attribute: Codes if it is nominal, Floats if it
// is numeric, Words if it is text. The others are nil.
type Column struct {
	Codes  []int32
	Floats []float64
	Words  *Bag
}

// fits reports whether there are no cells of another kind.
func (c *Column) fits(k Kind) bool {
	return (c.Codes == nil || k == Nominal) && (c.Floats == nil || k == Numeric) && (c.Words != nil) == (k == Text)
}

// rows returns the number of cells.
func (c *Column) rows() int {
	if c.Words != nil {
		return c.Words.Rows()
	}
	return max(len(c.Codes), len(c.Floats))
}

// Table is a schema with its columns. Weights is nil when every row counts
// once; otherwise it has one finite number ≥ 0 a row.
type Table struct {
	Schema  *Schema
	Columns []Column
	Weights []float64
	// Sequence says which sequence each row belongs to, an index into
	// SequenceNames; rows of one sequence stand together, in order. Nil if
	// rows stand alone.
	Sequence      []int32
	SequenceNames []string
	// Linked is what the rows point at; nil if they stand alone.
	Linked *Linked

	rows int
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
		if !c.fits(a.Kind) {
			return nil, fmt.Errorf("table: cells of column %q are not %v", a.Name, a.Kind)
		}
		if c.Words != nil {
			if err := c.Words.check(len(a.Values)); err != nil {
				return nil, fmt.Errorf("table: column %q: %w", a.Name, err)
			}
		}
		n := c.rows()
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

// Grown is New for columns and weights that begin with the cells of a table: only
// what is behind those is checked.
func (t *Table) Grown(columns []Column, weights []float64) (*Table, error) {
	all := &Table{Schema: t.Schema, Columns: columns, Weights: weights, rows: len(weights)}
	if len(columns) != len(t.Columns) || t.Weights == nil || all.rows < t.rows || t.Sequence != nil {
		return nil, fmt.Errorf("table: %d columns of %d rows are no more than %d of %d", len(columns), all.rows, len(t.Columns), t.rows)
	}
	for i := range columns {
		if n := columns[i].rows(); n != all.rows || columns[i].Words != nil {
			return nil, fmt.Errorf("table: column %q has %d cells, expected %d", t.Schema.Attributes[i].Name, n, all.rows)
		}
	}
	tail := all.Slice(t.rows, all.rows)
	if _, err := New(t.Schema, tail.Columns, tail.Weights); err != nil {
		return nil, err
	}
	return all, nil
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
	if a.Kind == Text {
		return t.Columns[col].Words.text(row, a.Values)
	}
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
	s := &Table{Schema: t.Schema, Columns: make([]Column, len(t.Columns)), rows: hi - lo, Linked: t.Linked}
	for i := range t.Columns {
		from, to := &t.Columns[i], &s.Columns[i]
		switch {
		case from.Codes != nil:
			to.Codes = from.Codes[lo:hi]
		case from.Words != nil:
			to.Words = from.Words.slice(lo, hi)
		default:
			to.Floats = from.Floats[lo:hi]
		}
	}
	if t.Weights != nil {
		s.Weights = t.Weights[lo:hi]
	}
	if t.Sequence != nil {
		s.Sequence, s.SequenceNames = t.Sequence[lo:hi], t.SequenceNames
	}
	return s
}

// Together returns the rows of tables of one schema, one after the other.
func Together(parts []*Table) *Table {
	if len(parts) == 1 {
		return parts[0]
	}
	s := &Table{Schema: parts[0].Schema, Columns: make([]Column, len(parts[0].Columns)), Linked: parts[0].Linked}
	weighed := slices.ContainsFunc(parts, func(t *Table) bool { return t.Weights != nil })
	for i := range s.Columns {
		to := &s.Columns[i]
		for _, t := range parts {
			from := &t.Columns[i]
			to.Codes, to.Floats = append(to.Codes, from.Codes...), append(to.Floats, from.Floats...)
			if from.Words != nil {
				if to.Words == nil {
					to.Words = &Bag{Starts: make([]int, 1)}
				}
				to.Words.Append(from.Words)
			}
		}
	}
	for _, t := range parts {
		if s.rows += t.rows; !weighed {
			continue
		}
		for r := range t.rows {
			s.Weights = append(s.Weights, t.Weight(r))
		}
	}
	return s
}

// Select returns a copy of the given rows, in the given order.
func (t *Table) Select(rows []int) *Table {
	s := &Table{Schema: t.Schema, Columns: make([]Column, len(t.Columns)), rows: len(rows), Linked: t.Linked}
	for i, c := range t.Columns {
		switch t.Schema.Attributes[i].Kind {
		case Text:
			s.Columns[i].Words = c.Words.pick(rows)
		case Nominal:
			s.Columns[i].Codes = pick(c.Codes, rows)
		default:
			s.Columns[i].Floats = pick(c.Floats, rows)
		}
	}
	if t.Weights != nil {
		s.Weights = pick(t.Weights, rows)
	}
	if t.Sequence != nil {
		s.Sequence, s.SequenceNames = pick(t.Sequence, rows), t.SequenceNames
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

// Concat returns the rows of tables behind one another. They have the same
// columns, and the dictionaries of each begin with those of the ones before,
// as the batches of one source do.
func Concat(tables ...*Table) (*Table, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("table: nothing to put together")
	}
	last := tables[len(tables)-1].Schema
	rows, weighted := 0, false
	for _, t := range tables {
		if len(t.Columns) != len(last.Attributes) {
			return nil, fmt.Errorf("table: %d columns behind %d", len(last.Attributes), len(t.Columns))
		}
		for i := range last.Attributes {
			a, have := &last.Attributes[i], &t.Schema.Attributes[i]
			if a.Name != have.Name || a.Shown() != have.Shown() || len(have.Values) > len(a.Values) || !slices.Equal(have.Values, a.Values[:len(have.Values)]) {
				return nil, fmt.Errorf("table: column %q (%s) does not go on column %q (%s) of the rows before", a.Name, a.Shown(), have.Name, have.Shown())
			}
		}
		rows += t.Rows()
		weighted = weighted || t.Weights != nil
	}
	columns := make([]Column, len(last.Attributes))
	for i := range columns {
		switch c := &columns[i]; last.Attributes[i].Kind {
		case Nominal:
			c.Codes = make([]int32, 0, rows)
			for _, t := range tables {
				c.Codes = append(c.Codes, t.Columns[i].Codes...)
			}
		case Numeric:
			c.Floats = make([]float64, 0, rows)
			for _, t := range tables {
				c.Floats = append(c.Floats, t.Columns[i].Floats...)
			}
		case Text:
			c.Words = newBag()
			for _, t := range tables {
				c.Words.Append(t.Columns[i].Words)
			}
		}
	}
	var weights []float64
	if weighted {
		weights = make([]float64, 0, rows)
		for _, t := range tables {
			for r := range t.Rows() {
				weights = append(weights, t.Weight(r))
			}
		}
	}
	whole := &Table{Schema: last, Columns: columns, Weights: weights, rows: rows, Linked: tables[0].Linked}
	if end := tables[len(tables)-1]; end.Sequence != nil {
		for _, t := range tables {
			whole.Sequence = append(whole.Sequence, t.Sequence...)
		}
		return whole.InSequence(last.Sequence, whole.Sequence, end.SequenceNames)
	}
	return whole, nil
}

// Project returns the table with some of its columns, in the given order. It
// shares the cells.
func (t *Table) Project(columns []int) *Table {
	p := *t
	p.Schema = &Schema{Attributes: make([]Attribute, len(columns)), Sequence: t.Schema.Sequence, Linked: t.Schema.Linked}
	p.Columns = make([]Column, len(columns))
	for i, col := range columns {
		p.Schema.Attributes[i], p.Columns[i] = t.Schema.Attributes[col], t.Columns[col]
	}
	return &p
}

// WithoutText returns the table without its text columns, but for the target,
// and where the target is then; -1 is none.
func (t *Table) WithoutText(target int) (*Table, int) {
	var others []int
	at := -1
	for i := range t.Schema.Attributes {
		if i == target {
			at = len(others)
		}
		if i == target || t.Schema.Attributes[i].Kind != Text {
			others = append(others, i)
		}
	}
	if len(others) == len(t.Columns) {
		return t, target
	}
	return t.Project(others), at
}
