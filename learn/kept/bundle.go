package kept

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// bundlePart is what the names of parts begin with that hold the rows of
// several sources; the ID of the first follows.
const bundlePart = "bundle of rows "

// savedBundle is the saved form of what several sources brought (see package
// bundle): each column's cells, one source after the other, of those that have
// the column. A source's number in the bundle is that of its rows.
type savedBundle struct {
	Format  int            `cbor:"format"`
	Of      *bundle.Packed `cbor:"of"`
	Cells   []packed       `cbor:"cells"` // of each of its columns
	Weights *packed        `cbor:"weights,omitempty"`
	Counts  *packed        `cbor:"counts,omitempty"`
	Sources [][]byte       `cbor:"sources,omitempty"` // of a textBundle
}

const bundleFormat = 1

// saveBundle returns the saved form of blocks.
func saveBundle(blocks []*block) ([]byte, error) {
	if len(blocks) == 1 {
		return blocks[0].save()
	}
	if slices.ContainsFunc(blocks, func(b *block) bool { return hasText(b.schema) }) {
		return saveTextBundle(blocks)
	}
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Numbers: []float64{float64(b.rows)}}
	}
	s := savedBundle{Format: bundleFormat, Of: bundle.Pack(members)}
	s.Cells = make([]packed, len(s.Of.Columns))
	places := s.places(blocks)
	_ = learn.Each(context.Background(), len(s.Cells), func(at int) { // which does not end
		s.Cells[at] = packColumn(&s.Of.Columns[at], blocks, places[at])
	})
	s.Weights = packNumbers(blocks, func(b *block) []float64 { return b.weights })
	s.Counts = packNumbers(blocks, func(b *block) []float64 { return b.counts })
	size := 1024
	for i := range s.Cells {
		size += s.Cells[i].size()
	}
	return coding.MarshalSized(s, size)
}

// place is where a source has a column.
type place struct{ source, column int }

// places returns the sources that have cells of each column.
func (s *savedBundle) places(blocks []*block) [][]place {
	all := make([][]place, len(s.Of.Columns))
	for source := range s.Of.Sources {
		if blocks[source].rows == 0 {
			continue
		}
		list := s.Of.Schemas[s.Of.Sources[source].Schema]
		for column := 0; len(list) >= 2; column++ {
			all[list[0]] = append(all[list[0]], place{source, column})
			list = list[2+list[1]:]
		}
	}
	return all
}

// packColumn packs a column's cells of the blocks that have it.
func packColumn(column *bundle.Column, blocks []*block, places []place) packed {
	if column.Numeric {
		var floats []float64
		for _, p := range places {
			floats = append(floats, blocks[p.source].columns[p.column].floats...)
		}
		return packFloats(floats)
	}
	all := table.Attribute{Name: column.Name, Values: column.Values}
	var joint cells
	for _, p := range places {
		b := blocks[p.source]
		own := &b.schema.Attributes[p.column]
		var code []int32 // nil: the same
		if !slices.Equal(own.Values, column.Values) {
			code = table.Recoding(own, &all)
		}
		for row := range b.rows {
			c := b.code(p.column, int32(row))
			if c >= 0 && code != nil {
				c = code[c]
			}
			joint.codes = append(joint.codes, c)
		}
	}
	return packCodes(&joint, len(column.Values))
}

// packNumbers packs weights or counts, nil if all are 1.
func packNumbers(blocks []*block, of func(b *block) []float64) *packed {
	if !slices.ContainsFunc(blocks, func(b *block) bool { return of(b) != nil }) {
		return nil
	}
	var all []float64
	for _, b := range blocks {
		if numbers := of(b); numbers != nil {
			all = append(all, numbers...)
		} else {
			all = append(all, slices.Repeat([]float64{1}, b.rows)...)
		}
	}
	p := packFloats(all)
	return &p
}

// decodeBundle reads what saveBundle wrote of several blocks.
func decodeBundle(data []byte) ([]*block, error) {
	var s savedBundle
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Format == textBundleFormat {
		return decodeTextBundle(s.Sources)
	}
	if s.Format != bundleFormat || s.Of == nil {
		return nil, fmt.Errorf("rows of many sources are saved in format %d, this program reads %d", s.Format, bundleFormat)
	}
	members, err := s.Of.Unpack()
	if err != nil {
		return nil, err
	}
	if len(members) < 2 || len(s.Cells) != len(s.Of.Columns) {
		return nil, fmt.Errorf("%d sources with cells for %d of %d columns", len(members), len(s.Cells), len(s.Of.Columns))
	}
	blocks := make([]*block, len(members))
	total, columns := 0, 0
	empty := map[*table.Schema][]cells{} // of sources without rows
	for i := range members {
		m := &members[i]
		if len(m.Numbers) != 1 || !(m.Numbers[0] >= 0 && m.Numbers[0] <= math.MaxInt32) || m.Numbers[0] != math.Trunc(m.Numbers[0]) || total > math.MaxInt32 {
			return nil, fmt.Errorf("source %q has a number of rows that is none: %v", m.ID, m.Numbers)
		}
		if empty[m.Schema] == nil {
			empty[m.Schema] = make([]cells, len(m.Schema.Attributes))
			if err := checkValues(m.Schema); err != nil {
				return nil, err
			}
		}
		b := &block{source: learn.Source{ID: m.ID, Name: m.Name}, schema: m.Schema, columns: empty[m.Schema], rows: int(m.Numbers[0])}
		if b.rows > 0 {
			// A cell takes a bit at least, so that damaged data cannot ask for
			// much more memory than they have themselves.
			if columns += len(b.columns); columns > 8*len(data) {
				return nil, fmt.Errorf("%d bytes for more cells", len(data))
			}
			b.columns = make([]cells, len(b.columns))
		}
		blocks[i] = b
		total += b.rows
	}
	w := &whole{&block{schema: members[0].Schema, columns: make([]cells, len(s.Cells)), rows: total}, blocks}
	if err := s.unpack(blocks, w); err != nil {
		return nil, err
	}
	if err := s.weigh(blocks, w); err != nil {
		return nil, err
	}
	if s.alike(blocks) {
		for _, b := range blocks {
			b.whole = w
		}
	}
	return blocks, nil
}

// alike reports whether all blocks have the bundle's columns as they are.
func (s *savedBundle) alike(blocks []*block) bool {
	first := blocks[0].schema
	return len(first.Attributes) == len(s.Of.Columns) &&
		!slices.ContainsFunc(blocks, func(b *block) bool { return b.schema != first }) &&
		slices.EqualFunc(first.Attributes, s.Of.Columns, func(a table.Attribute, c bundle.Column) bool {
			return a.Name == c.Name && (a.Kind == table.Numeric) == c.Numeric && slices.Equal(a.Values, c.Values)
		})
}

// checkValues refuses values that are not in canonical order.
func checkValues(s *table.Schema) error {
	for i := range s.Attributes {
		inOrder := slices.Clone(s.Attributes[i].Values)
		table.SortValues(inOrder)
		if !slices.Equal(slices.Compact(inOrder), s.Attributes[i].Values) {
			return fmt.Errorf("values of column %q are not in order", s.Attributes[i].Name)
		}
	}
	return nil
}

// unpack gives each block its cells: a stretch of the column's, where its
// values are coded alike.
func (s *savedBundle) unpack(blocks []*block, w *whole) error {
	places := s.places(blocks)
	wrong := make([]error, len(s.Cells))
	_ = learn.Each(context.Background(), len(s.Cells), func(at int) { // which does not end
		if err := s.unpackColumn(at, blocks, places[at], &w.columns[at]); err != nil {
			wrong[at] = fmt.Errorf("column %q: %v", s.Of.Columns[at].Name, err)
		}
	})
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *savedBundle) unpackColumn(at int, blocks []*block, places []place, joint *cells) (err error) {
	column := &s.Of.Columns[at]
	rows := 0
	for _, p := range places {
		rows += blocks[p.source].rows
	}
	if column.Numeric {
		floats, err := s.Cells[at].unpackFloats(rows)
		if err != nil {
			return err
		}
		joint.floats = floats
		for _, p := range places {
			n := blocks[p.source].rows
			blocks[p.source].columns[p.column].floats, floats = floats[:n:n], floats[n:]
		}
		return nil
	}
	if *joint, err = s.Cells[at].unpackCodes(rows, len(column.Values)); err != nil {
		return err
	}
	codeOf := make(map[string]int32, len(column.Values))
	for code, value := range column.Values {
		codeOf[value] = int32(code)
	}
	if len(codeOf) < len(column.Values) {
		return fmt.Errorf("a value is there twice")
	}
	from := 0
	for _, p := range places {
		b := blocks[p.source]
		part := joint.stretch(from, from+b.rows)
		from += b.rows
		if values := b.schema.Attributes[p.column].Values; !slices.Equal(values, column.Values) {
			if part, err = part.recoded(values, codeOf, len(column.Values)); err != nil {
				return fmt.Errorf("source %q: %v", b.source.ID, err)
			}
		}
		b.columns[p.column] = part
	}
	return nil
}

// stretch returns some rows' cells of a nominal column.
func (c *cells) stretch(from, to int) cells {
	switch {
	case c.narrow != nil:
		return cells{narrow: c.narrow[from:to:to]}
	default:
		return cells{codes: c.codes[from:to:to]}
	}
}

// recoded returns cells coded by a source's own values.
func (c *cells) recoded(values []string, codeOf map[string]int32, all int) (cells, error) {
	own := slices.Repeat([]int32{table.Missing}, all)
	for code, value := range values {
		own[codeOf[value]] = int32(code)
	}
	joint := &block{columns: []cells{*c}}
	codes := make([]int32, max(len(c.narrow), len(c.codes)))
	for row := range codes {
		code := joint.code(0, int32(row))
		if codes[row] = code; code >= 0 {
			if codes[row] = own[code]; codes[row] < 0 {
				return cells{}, fmt.Errorf("row %d has a value that the source does not have", row+1)
			}
		}
	}
	if len(values) > narrowMissing {
		return cells{codes: codes}, nil
	}
	narrow := make([]uint8, len(codes))
	for row, code := range codes {
		if narrow[row] = uint8(code); code < 0 {
			narrow[row] = narrowMissing
		}
	}
	return cells{narrow: narrow}, nil
}

// weigh gives each block its weights and counts.
func (s *savedBundle) weigh(blocks []*block, w *whole) (err error) {
	if w.weights, w.counts, err = unpackWeights(s.Weights, s.Counts, w.rows); err != nil {
		return err
	}
	share := func(all []float64, from, to int) []float64 {
		if all == nil || !slices.ContainsFunc(all[from:to], func(x float64) bool { return x != 1 }) {
			return nil
		}
		return all[from:to:to]
	}
	from := 0
	for _, b := range blocks {
		b.weights, b.counts = share(w.weights, from, from+b.rows), share(w.counts, from, from+b.rows)
		from += b.rows
	}
	return nil
}

// whole is the rows of blocks that stand one after the other, as one block
// whose rows need not be distinct: what is found out of them together costs
// less than of each by itself.
type whole struct {
	*block
	of []*block
}

// inWholes returns blocks, those that are a whole bundle as one.
func inWholes(blocks []*block) []*block {
	var few []*block
	for len(blocks) > 0 {
		if w := blocks[0].whole; w != nil && len(w.of) <= len(blocks) && slices.Equal(w.of, blocks[:len(w.of)]) {
			few = append(few, w.block)
			blocks = blocks[len(w.of):]
			continue
		}
		few = append(few, blocks[0])
		blocks = blocks[1:]
	}
	return few
}

// decodePart reads the rows of a part; none if it is another's.
func decodePart(p *learn.Part) ([]*block, error) {
	switch {
	case strings.HasPrefix(p.Name, bundlePart):
		return decodeBundle(p.Data)
	case strings.HasPrefix(p.Name, rowsPart):
		b, err := decodeBlock(p.Data)
		return []*block{b}, err
	}
	return nil, nil
}
