package encode

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/table"
)

// Options are the choices of a Matrix. The zero value scales to mean 0 and
// deviation 1, gives every value of a nominal column a float, and puts the
// mean, or zeros, where cells are missing.
type Options struct {
	Scaling    Scaling
	Single     bool // one float for a nominal column of two values
	Indicators bool // one more float for columns in which cells are missing
	Words      int  // floats for the most frequent words of a text; 0 means 256
	Counts     bool // how often a word occurs instead of whether it does
}

// usualWords is how many words of a text have a float if nobody says.
const usualWords = 256

// Matrix turns rows of a table into rows of floats, all columns but the
// target. It is safe for concurrent use.
type Matrix struct {
	Inputs []Input `cbor:"inputs"`
}

// Input is one column of the table and how its cells become floats: exactly
// one of OneHot, Scale and Words is set.
type Input struct {
	Column int     `cbor:"column"`
	OneHot *OneHot `cbor:"onehot,omitempty"` // nominal
	Scale  *Scale  `cbor:"scale,omitempty"`  // numeric
	Words  *Words  `cbor:"words,omitempty"`  // text
}

// kind returns the kind of column that the input encodes, and whether it does
// so in exactly one way.
func (in *Input) kind() (kind table.Kind, one bool) {
	ways := 0
	if in.OneHot != nil {
		kind, ways = table.Nominal, ways+1
	}
	if in.Scale != nil {
		kind, ways = table.Numeric, ways+1
	}
	if in.Words != nil {
		kind, ways = table.Text, ways+1
	}
	return kind, ways == 1
}

func (in *Input) width() int {
	if in.OneHot != nil {
		return in.OneHot.Width()
	}
	if in.Words != nil {
		return in.Words.Width()
	}
	return in.Scale.Width()
}

// FitMatrix fits every column but the target, which may be -1 for none.
func FitMatrix(ctx context.Context, t *table.Table, target int, o Options) (*Matrix, error) {
	attributes := t.Schema.Attributes
	if target < -1 || target >= len(attributes) {
		return nil, fmt.Errorf("encode: target %d is no column; expected -1 to %d", target, len(attributes)-1)
	}
	if o.Scaling > Raw {
		return nil, fmt.Errorf("encode: unknown scaling %d", o.Scaling)
	}
	m := &Matrix{}
	for c := range attributes {
		if c != target {
			m.Inputs = append(m.Inputs, Input{Column: c})
		}
	}
	err := eachColumn(ctx, len(m.Inputs), func(i int) {
		in := &m.Inputs[i]
		a, cells := &attributes[in.Column], t.Columns[in.Column]
		switch a.Kind {
		case table.Text:
			most := o.Words
			if most == 0 {
				most = usualWords
			}
			f := FitWords(a, cells.Words, most, o.Counts, o.Indicators)
			in.Words = &f
		case table.Nominal:
			f := FitOneHot(a, cells.Codes, o.Single, o.Indicators)
			in.OneHot = &f
		default:
			f := FitScale(cells.Floats, t.Weights, o.Scaling, o.Indicators)
			in.Scale = &f
		}
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Width returns the number of floats in a row.
func (m *Matrix) Width() int {
	width := 0
	for i := range m.Inputs {
		width += m.Inputs[i].width()
	}
	return width
}

// Names returns what each float of a row says: a column's name, "column =
// value", or "column IS MISSING".
func (m *Matrix) Names(s *table.Schema) []string {
	names := make([]string, 0, m.Width())
	for i := range m.Inputs {
		in := &m.Inputs[i]
		column := s.Attributes[in.Column].Name
		switch {
		case in.OneHot != nil:
			names = append(names, in.OneHot.Names(column)...)
		case in.Words != nil:
			names = append(names, in.Words.Names(column)...)
		default:
			names = append(names, in.Scale.Names(column)...)
		}
	}
	return names
}

// Apply writes the rows lo ≤ row < hi of a table, one after the other, into
// out, which has room for hi−lo times Width floats. The table has the columns
// of the one that the matrix was fitted to, in the same order; its
// dictionaries may be longer. Apply allocates nothing.
func (m *Matrix) Apply(t *table.Table, lo, hi int, out []float64) error {
	return apply(m, t, lo, hi, out)
}

// Apply32 is Apply in single precision.
func (m *Matrix) Apply32(t *table.Table, lo, hi int, out []float32) error {
	return apply(m, t, lo, hi, out)
}

// block is how many rows are written column by column before the next ones:
// they stay in the cache meanwhile.
const block = 64

func apply[F float32 | float64](m *Matrix, t *table.Table, lo, hi int, out []F) error {
	for i := range m.Inputs {
		if err := m.Inputs[i].fits(t.Schema); err != nil {
			return err
		}
	}
	width := m.Width()
	if lo < 0 || lo > hi || hi > t.Rows() {
		return fmt.Errorf("encode: rows %d to %d of a table of %d", lo, hi, t.Rows())
	}
	if len(out) < (hi-lo)*width {
		return fmt.Errorf("encode: room for %d floats, expected %d rows of %d", len(out), hi-lo, width)
	}
	for ; lo < hi; lo += block {
		end := min(lo+block, hi)
		rows := out[:(end-lo)*width]
		out = out[(end-lo)*width:]
		clear(rows)
		at := 0
		for i := range m.Inputs {
			in := &m.Inputs[i]
			cells := &t.Columns[in.Column]
			switch {
			case in.Words != nil:
				wordFloats(in.Words, cells.Words, lo, end, rows[at:], width)
			case in.OneHot != nil:
				oneHot(in.OneHot, cells.Codes[lo:end], rows[at:], width)
			default:
				scale(in.Scale, cells.Floats[lo:end], rows[at:], width)
			}
			at += in.width()
		}
	}
	return nil
}

// fits reports whether the input's column is there and of its kind.
func (in *Input) fits(s *table.Schema) error {
	if in.Column < 0 || in.Column >= len(s.Attributes) {
		return fmt.Errorf("encode: column %d of a table of %d", in.Column+1, len(s.Attributes))
	}
	a := &s.Attributes[in.Column]
	switch kind, one := in.kind(); {
	case !one:
		return fmt.Errorf("encode: column %q is to be encoded in two ways or none, expected one", a.Name)
	case a.Kind != kind:
		return fmt.Errorf("encode: column %q is %v, which it was not at fitting", a.Name, a.Kind)
	}
	return nil
}

// Check reports what is wrong with a matrix that was read from somewhere:
// afterwards it can be applied to any table of the schema.
func (m *Matrix) Check(s *table.Schema) error {
	last := -1
	for i := range m.Inputs {
		in := &m.Inputs[i]
		if err := in.fits(s); err != nil {
			return err
		}
		if in.Column <= last {
			return fmt.Errorf("encode: column %d after column %d, expected ascending columns", in.Column+1, last+1)
		}
		last = in.Column
		var err error
		switch {
		case in.OneHot != nil:
			err = in.OneHot.Check()
		case in.Words != nil:
			err = in.Words.Check()
		default:
			err = in.Scale.Check()
		}
		if err != nil {
			return fmt.Errorf("%w (column %q)", err, s.Attributes[in.Column].Name)
		}
	}
	return nil
}
