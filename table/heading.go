package table

import (
	"bytes"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// leastBelow is how many rows below a second line of a header show that it is none
// of them.
const leastBelow = 3

// heading is what a line below the header is.
type heading uint8

const (
	ordinary heading = iota // a row
	units                   // of the columns: (°C), mm Hg
	parts                   // of the header, whose own cells stand over several columns
)

// below says what the first row below a header is. Nothing in it is a number, though
// it stands above columns of numbers. Above columns of names, where no number tells,
// it has names only if the header's own cells are wider than a column.
func (p *plan) below(header [][]byte, rows [][][]byte) heading {
	if len(rows) == 0 {
		return ordinary
	}
	first, over, bracketed, named, wide := rows[0], 0, 0, 0, 0
	for i, cell := range first {
		switch {
		case len(cell) == 0 || isStrong(cell):
		case isQuantity(cell):
			return ordinary
		case p.numbersBelow(header, rows, i):
			over++
			if n := len(cell) - 1; cell[0] == '(' && cell[n] == ')' || cell[0] == '[' && cell[n] == ']' {
				bracketed++
			}
		case comesAgain(cell, rows[1:], i):
			return ordinary
		default:
			named++
		}
		if i > 0 && len(header[i]) == 0 && len(cell) > 0 {
			wide++
		}
	}
	switch {
	case over+bracketed < 2:
		return ordinary
	case wide > 0:
		return parts
	case named > 0:
		return ordinary
	}
	return units
}

// numbersBelow reports whether a column has numbers below the first row: the rows
// show it, or the model knows.
func (p *plan) numbersBelow(header [][]byte, rows [][][]byte, column int) bool {
	for _, name := range [][]byte{header[column], joined(header, rows[0])[column]} {
		if i, ok := p.attrs[string(name)]; ok {
			return p.options.Schema.Attributes[i].Kind == Numeric
		}
	}
	return len(rows) > leastBelow && quantities(rows[1:], column) == len(rows)-1
}

// joined are the names of columns from two lines: what stands over several of them,
// and what stands over each.
func joined(header, second [][]byte) [][]byte {
	names := make([][]byte, len(header))
	var over []byte
	for i, cell := range header {
		if len(cell) > 0 {
			over = cell
		}
		switch {
		case len(second[i]) == 0:
			names[i] = cell
		case len(over) == 0:
			names[i] = second[i]
		default:
			names[i] = bytes.Join([][]byte{over, second[i]}, []byte(" "))
		}
	}
	return names
}

// readHeading takes the second line of a header from the rows below it, and returns
// the names of the columns and the rows. Whoever says that the first line names the
// columns says that no other does.
func (s *reading) readHeading(d dialect, header [][]byte, rows [][][]byte) ([][]byte, [][][]byte) {
	if s.plan.options.NoHeader != nil {
		return header, rows
	}
	what := s.plan.below(header, rows)
	if what == ordinary {
		return header, rows
	}
	c := s.content
	for d.blankLine(c.ahead, 0) > 0 {
		c.drop(d.blankLine(c.ahead, 0))
		s.assembly.lines++
	}
	n := d.record(c.ahead)
	if cells, p := d.split(append(bytes.Clone(c.ahead[:n]), d.newline)); p != nil || !slices.EqualFunc(cells, rows[0], bytes.Equal) {
		return header, rows // a record that is no row comes first
	}
	line := bytes.TrimSpace(c.ahead[:n])
	s.assembly.lines += bytes.Count(c.ahead[:n], []byte{d.newline})
	if what == parts {
		header = joined(header, rows[0])
		s.notes.add("the header has two lines, which are joined: %s; %v", quote(bytes.Join(header, []byte(", "))), remedy.Remedy{Kind: remedy.SayHeader})
	} else {
		s.notes.add("the line below the header has units, and is passed over: %s; %v", quote(line), remedy.Remedy{Kind: remedy.SayHeader})
	}
	c.drop(n)
	return header, rows[1:]
}
