package kept

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// rowsPart is what the names of parts that hold rows begin with; the
// source's ID follows.
const rowsPart = "rows "

// savedBlock is the saved form of what one source brought: column after
// column, as short as is quick.
type savedBlock struct {
	Format  int              `cbor:"format"`
	ID      string           `cbor:"id"`
	Name    string           `cbor:"name"`
	Rows    int              `cbor:"rows"`
	Columns []savedAttribute `cbor:"columns"`
	Cells   []packed         `cbor:"cells"`
	Weights *packed          `cbor:"weights,omitempty"`
	Counts  *packed          `cbor:"counts,omitempty"`
	Texts   []packedTexts    `cbor:"texts,omitempty"` // of the text columns, which have no cells
}

type savedAttribute struct {
	Name    string   `cbor:"name"`
	Numeric bool     `cbor:"numeric,omitempty"`
	Date    bool     `cbor:"date,omitempty"`
	Time    bool     `cbor:"time,omitempty"`
	Values  []string `cbor:"values,omitempty"`
	Text    bool     `cbor:"text,omitempty"`

	Style table.Style `cbor:"style,omitempty"`
}

const rowsFormat = 2

// Parts returns the saved form: a part for each of the latest sources and for
// each bundle of earlier ones, the same to the byte as long as these sources
// bring nothing new.
func (r *Rows) Parts() ([]learn.Part, error) {
	shelf := r.shelf
	if shelf == nil {
		shelf = &bundle.Shelf[*block]{}
	}
	runs, err := shelf.Save(r.blocks, saveBundle)
	if err != nil {
		return nil, err
	}
	parts := make([]learn.Part, len(runs))
	for i, run := range runs {
		name := rowsPart
		if len(run.Blocks) > 1 {
			name = bundlePart
		}
		parts[i] = learn.Part{Name: name + run.Blocks[0].source.ID, Data: run.Data}
	}
	return parts, nil
}

func (b *block) save() ([]byte, error) {
	s := savedBlock{Format: rowsFormat, ID: b.source.ID, Name: b.source.Name, Rows: b.rows, Cells: make([]packed, len(b.columns))}
	for _, a := range b.schema.Attributes {
		s.Columns = append(s.Columns, savedAttribute{a.Name, a.Kind == table.Numeric, a.Date, a.Time, a.Values, a.Kind == table.Text, a.Style})
	}
	for i := range b.columns {
		if b.schema.Attributes[i].Kind == table.Text {
			s.Texts = append(s.Texts, packTexts(b.columns[i].words))
		}
	}
	_ = learn.Each(context.Background(), len(b.columns), func(i int) { // which does not end
		if a := &b.schema.Attributes[i]; a.Kind == table.Numeric {
			s.Cells[i] = packFloats(b.columns[i].floats)
		} else if a.Kind == table.Nominal {
			s.Cells[i] = packCodes(&b.columns[i], len(a.Values))
		}
	})
	if b.weights != nil {
		p := packFloats(b.weights)
		s.Weights = &p
	}
	if b.counts != nil {
		p := packFloats(b.counts)
		s.Counts = &p
	}
	return coding.MarshalSized(s, s.size())
}

// size returns about as many bytes as the saved form takes, and not less.
func (s *savedBlock) size() int {
	size := len(s.ID) + len(s.Name) + 128
	for i := range s.Columns {
		size += len(s.Columns[i].Name) + 64
		for _, v := range s.Columns[i].Values {
			size += len(v) + 9
		}
	}
	for i := range s.Cells {
		size += s.Cells[i].size()
	}
	for i := range s.Texts {
		t := &s.Texts[i]
		size += t.Sizes.size() + t.Words.size() + t.Counts.size()
	}
	for _, p := range []*packed{s.Weights, s.Counts} {
		if p != nil {
			size += p.size()
		}
	}
	return size
}

// DecodeRows reads the parts that Parts wrote, in their order. It leaves
// other parts alone.
func DecodeRows(parts []learn.Part) (*Rows, error) {
	r := (&Rows{}).with(nil)
	known := map[string]bool{}
	for i := range parts {
		p := &parts[i]
		blocks, err := decodePart(p)
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", p.Name, err)
		}
		for _, b := range blocks {
			if known[b.source.ID] {
				return nil, fmt.Errorf("part %q: source %q is there twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
		}
		if len(blocks) > 0 {
			r.shelf.Put(bundle.Run[*block]{Blocks: blocks, Data: p.Data})
			r.blocks = append(r.blocks, blocks...)
		}
	}
	if _, err := unionSchema(inWholes(r.blocks)); err != nil {
		return nil, err
	}
	return r, nil
}

func decodeBlock(data []byte) (*block, error) {
	var s savedBlock
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Format != rowsFormat {
		return nil, fmt.Errorf("rows are saved in format %d, this program reads %d", s.Format, rowsFormat)
	}
	if s.Rows < 0 || s.Rows > math.MaxInt32 || len(s.Cells) != len(s.Columns) || s.Rows > 0 && len(s.Cells) == 0 {
		return nil, fmt.Errorf("%d rows with cells for %d of %d columns", s.Rows, len(s.Cells), len(s.Columns))
	}
	b := &block{source: learn.Source{ID: s.ID, Name: s.Name}, schema: &table.Schema{}, rows: s.Rows}
	var texts []int // columns
	for _, c := range s.Columns {
		a := table.Attribute{Name: c.Name, Values: c.Values, Date: c.Date, Time: c.Time, Style: c.Style}
		if c.Text {
			a.Kind = table.Text
			texts = append(texts, len(b.schema.Attributes))
		}
		if c.Numeric {
			a.Kind = table.Numeric
			if c.Text {
				return nil, fmt.Errorf("column %q is numeric and text", c.Name)
			}
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric and lists values", c.Name)
			}
		} else {
			inOrder := slices.Clone(c.Values)
			table.SortValues(inOrder)
			if !slices.Equal(slices.Compact(inOrder), c.Values) {
				return nil, fmt.Errorf("values of column %q are not in order", c.Name)
			}
		}
		b.schema.Attributes = append(b.schema.Attributes, a)
	}
	if err := table.Distinct(b.schema); err != nil {
		return nil, err
	}
	if len(texts) != len(s.Texts) {
		return nil, fmt.Errorf("%d text columns with words for %d", len(texts), len(s.Texts))
	}
	b.columns = make([]cells, len(s.Cells))
	wrong := make([]error, len(s.Cells))
	_ = learn.Each(context.Background(), len(s.Cells), func(i int) { // which does not end
		if a := &b.schema.Attributes[i]; a.Kind == table.Numeric {
			b.columns[i].floats, wrong[i] = s.Cells[i].unpackFloats(s.Rows)
		} else if a.Kind == table.Text {
			b.columns[i].words, wrong[i] = s.Texts[slices.Index(texts, i)].unpack(s.Rows, len(a.Values))
		} else {
			b.columns[i], wrong[i] = s.Cells[i].unpackCodes(s.Rows, len(a.Values))
		}
	})
	for i, err := range wrong {
		if err != nil {
			return nil, fmt.Errorf("column %q: %v", s.Columns[i].Name, err)
		}
	}
	var err error
	if b.weights, b.counts, err = unpackWeights(s.Weights, s.Counts, s.Rows); err != nil {
		return nil, err
	}
	return b, nil
}

// unpackWeights reads and checks weights and counts; nil where all are 1.
func unpackWeights(packedWeights, packedCounts *packed, rows int) (weights, counts []float64, err error) {
	if packedWeights != nil {
		if weights, err = packedWeights.unpackFloats(rows); err != nil {
			return nil, nil, fmt.Errorf("weights: %v", err)
		}
		for r, w := range weights {
			if !(w > 0) || math.IsInf(w, 1) {
				return nil, nil, fmt.Errorf("weight of row %d is %v", r+1, w)
			}
		}
	}
	if packedCounts != nil {
		if counts, err = packedCounts.unpackFloats(rows); err != nil {
			return nil, nil, fmt.Errorf("counts: %v", err)
		}
		for r, n := range counts {
			if !(n >= 1) || n != math.Trunc(n) || n > 1<<53 {
				return nil, nil, fmt.Errorf("row %d is counted %v times", r+1, n)
			}
		}
	}
	return weights, counts, nil
}
