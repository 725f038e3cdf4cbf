package learn

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// rowsPart is what the names of parts that hold rows begin with; the
// source's ID follows.
const rowsPart = "rows "

// savedBlock is the saved form of what one source brought: column after
// column, codes as wide as they need be (0 is missing), numbers as they are
// in memory.
type savedBlock struct {
	Format  int              `cbor:"format"`
	ID      string           `cbor:"id"`
	Name    string           `cbor:"name"`
	Rows    int              `cbor:"rows"`
	Columns []savedAttribute `cbor:"columns"`
	Cells   [][]byte         `cbor:"cells"`
	Weights []byte           `cbor:"weights,omitempty"`
	Counts  []byte           `cbor:"counts,omitempty"`
}

type savedAttribute struct {
	Name    string   `cbor:"name"`
	Numeric bool     `cbor:"numeric,omitempty"`
	Date    bool     `cbor:"date,omitempty"`
	Values  []string `cbor:"values,omitempty"`
}

const rowsFormat = 1

// Parts returns the saved form: one part a source, the same to the byte as
// long as the source brings nothing new.
func (r *Rows) Parts() ([]Part, error) {
	parts := make([]Part, len(r.blocks))
	for i, b := range r.blocks {
		s := savedBlock{Format: rowsFormat, ID: b.source.ID, Name: b.source.Name, Rows: b.rows}
		for j, a := range b.schema.Attributes {
			s.Columns = append(s.Columns, savedAttribute{a.Name, a.Kind == table.Numeric, a.Date, a.Values})
			if a.Kind == table.Numeric {
				s.Cells = append(s.Cells, packFloats(b.columns[j].Floats))
			} else {
				s.Cells = append(s.Cells, packCodes(b.columns[j].Codes, len(a.Values)))
			}
		}
		if b.weights != nil {
			s.Weights = packFloats(b.weights)
		}
		if b.counts != nil {
			s.Counts = packFloats(b.counts)
		}
		data, err := Marshal(s)
		if err != nil {
			return nil, err
		}
		parts[i] = Part{Name: rowsPart + b.source.ID, Data: data}
	}
	return parts, nil
}

// DecodeRows reads the parts that Parts wrote, in their order. It leaves
// other parts alone.
func DecodeRows(parts []Part) (*Rows, error) {
	r := &Rows{}
	for _, p := range parts {
		if !strings.HasPrefix(p.Name, rowsPart) {
			continue
		}
		b, err := decodeBlock(p.Data)
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", p.Name, err)
		}
		if slices.ContainsFunc(r.blocks, func(have *block) bool { return have.source.ID == b.source.ID }) {
			return nil, fmt.Errorf("part %q: source %q is there twice", p.Name, b.source.ID)
		}
		r.blocks = append(r.blocks, b)
	}
	if _, err := unionSchema(r.blocks); err != nil {
		return nil, err
	}
	return r, nil
}

func decodeBlock(data []byte) (*block, error) {
	var s savedBlock
	if err := Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Format != rowsFormat {
		return nil, fmt.Errorf("rows are saved in format %d, this program reads %d", s.Format, rowsFormat)
	}
	if s.Rows < 0 || s.Rows > math.MaxInt32 || len(s.Cells) != len(s.Columns) {
		return nil, fmt.Errorf("%d rows with cells for %d of %d columns", s.Rows, len(s.Cells), len(s.Columns))
	}
	b := &block{source: Source{s.ID, s.Name}, schema: &table.Schema{}, rows: s.Rows}
	names := make(map[string]bool, len(s.Columns))
	for i, c := range s.Columns {
		if names[c.Name] {
			return nil, fmt.Errorf("column %q is there twice", c.Name)
		}
		names[c.Name] = true
		a := table.Attribute{Name: c.Name, Values: c.Values, Date: c.Date}
		var cells table.Column
		var err error
		if c.Numeric {
			a.Kind = table.Numeric
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric and lists values", c.Name)
			}
			cells.Floats, err = unpackFloats(s.Cells[i], s.Rows)
			for r, x := range cells.Floats {
				cells.Floats[r] = canonical(x)
			}
		} else {
			inOrder := slices.Clone(c.Values)
			SortValues(inOrder)
			if !slices.Equal(slices.Compact(inOrder), c.Values) {
				return nil, fmt.Errorf("values of column %q are not in order", c.Name)
			}
			cells.Codes, err = unpackCodes(s.Cells[i], s.Rows, len(c.Values))
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %v", c.Name, err)
		}
		b.schema.Attributes = append(b.schema.Attributes, a)
		b.columns = append(b.columns, cells)
	}
	var err error
	if s.Weights != nil {
		if b.weights, err = unpackFloats(s.Weights, s.Rows); err != nil {
			return nil, fmt.Errorf("weights: %v", err)
		}
		for r, w := range b.weights {
			if !(w > 0) || math.IsInf(w, 1) {
				return nil, fmt.Errorf("weight of row %d is %v", r+1, w)
			}
		}
	}
	if s.Counts != nil {
		if b.counts, err = unpackFloats(s.Counts, s.Rows); err != nil {
			return nil, fmt.Errorf("counts: %v", err)
		}
		for r, n := range b.counts {
			if !(n >= 1) || n != math.Trunc(n) || n > 1<<53 {
				return nil, fmt.Errorf("row %d is counted %v times", r+1, n)
			}
		}
	}
	return b, nil
}

// width returns the bytes that a code needs, missing included.
func width(values int) int {
	switch {
	case values < 1<<8:
		return 1
	case values < 1<<16:
		return 2
	}
	return 4
}

func packCodes(codes []int32, values int) []byte {
	w := width(values)
	data := make([]byte, len(codes)*w)
	for i, c := range codes {
		switch v := uint32(c + 1); w {
		case 1:
			data[i] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(data[2*i:], uint16(v))
		default:
			binary.LittleEndian.PutUint32(data[4*i:], v)
		}
	}
	return data
}

func unpackCodes(data []byte, rows, values int) ([]int32, error) {
	w := width(values)
	if len(data) != rows*w {
		return nil, fmt.Errorf("%d bytes for %d cells", len(data), rows)
	}
	codes := make([]int32, rows)
	for i := range codes {
		var v uint32
		switch w {
		case 1:
			v = uint32(data[i])
		case 2:
			v = uint32(binary.LittleEndian.Uint16(data[2*i:]))
		default:
			v = binary.LittleEndian.Uint32(data[4*i:])
		}
		if int64(v) > int64(values) {
			return nil, fmt.Errorf("row %d has value %d of %d", i+1, v, values)
		}
		codes[i] = int32(v) - 1
	}
	return codes, nil
}

func packFloats(floats []float64) []byte {
	data := make([]byte, 8*len(floats))
	for i, x := range floats {
		binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(x))
	}
	return data
}

func unpackFloats(data []byte, rows int) ([]float64, error) {
	if len(data) != 8*rows {
		return nil, fmt.Errorf("%d bytes for %d numbers", len(data), rows)
	}
	floats := make([]float64, rows)
	for i := range floats {
		floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return floats, nil
}
