package prior

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// saved is the part of one source.
type saved struct {
	Format  int           `cbor:"format"`
	ID      string        `cbor:"id"`
	Name    string        `cbor:"name"`
	Columns []savedColumn `cbor:"columns"`
	Target  int           `cbor:"target"`
	Classes []float64     `cbor:"classes,omitempty"`
	Level   int8          `cbor:"level,omitempty"`
	Moments [3]float64    `cbor:"moments,omitzero"`
}

// savedColumn is a list: the names of its fields, again for each column, would
// take more room than anything else in the model.
type savedColumn struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Numeric bool
	Date    table.SavedDate
	Values  []string
}

const (
	format      = 2
	sourcePart  = "source/"
	bundlePart  = "sources/" // of several; the identifier of the first follows
	sourceParts = "source"   // what the names of both begin with
	sumPart     = "sum"      // derived: see savedSum
	sumFrom     = 32         // sources from which on there is one
)

// Parts returns a part for each source or, where there are many, for each
// bundle of them.
func (m *Model) Parts() ([]learn.Part, error) {
	runs, err := m.written.Save(m.blocks, save)
	if err != nil {
		return nil, err
	}
	parts, list := kept.PartsOf(runs, partName, sourceOf)
	if len(m.blocks) < sumFrom {
		return parts, nil
	}
	data, err := m.sum.saved(list)
	return append(parts, learn.Part{Name: sumPart, Derived: true, Data: data}), err
}

// partName is what the name of a part begins with.
func partName(run *bundle.Run[*block]) string {
	if len(run.Blocks) > 1 {
		return bundlePart
	}
	return sourcePart
}

// save returns the saved form of one block or of several.
func save(blocks []*block) ([]byte, error) {
	if err := load(blocks...); err != nil {
		return nil, err
	}
	if len(blocks) == 1 {
		return learn.Marshal(blocks[0].saved())
	}
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		numbers := b.classes
		if numbers == nil {
			numbers = []float64{float64(b.level - moment.Tiny), b.moments.N, b.moments.Mean, b.moments.M2}
		}
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: b.target, Numbers: numbers}
	}
	return learn.Marshal(bundle.Pack(members))
}

// saved returns a block as the part of one source.
func (b *block) saved() saved {
	columns := make([]savedColumn, len(b.schema.Attributes))
	for j, a := range b.schema.Attributes {
		columns[j] = savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: table.SaveDate(&a), Values: a.Values}
	}
	return saved{
		Format: format, ID: b.source.ID, Name: b.source.Name,
		Columns: columns, Target: b.target, Classes: b.classes,
		Level: int8(b.level), Moments: [3]float64{b.moments.N, b.moments.Mean, b.moments.M2},
	}
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	var blocks []*block
	all, listed := decodeAll(parts)
	written, known := &bundle.Shelf[*block]{}, map[string]bool{}
	var first *block // of those that were read
	for _, p := range parts {
		if p.Name == sumPart {
			continue
		}
		read, err := decodeBlocks(p, listed)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.Name, err)
		}
		for _, b := range read {
			if known[b.source.ID] {
				return nil, fmt.Errorf("part %s: its source %q comes twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
			if blocks = append(blocks, b); b.later != nil {
				continue
			}
			if first == nil {
				first = b
			}
			if b.attribute().Name != first.attribute().Name {
				return nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.attribute().Name, first.attribute().Name)
			}
		}
		written.Put(bundle.Run[*block]{Blocks: read, Data: p.Data, Held: p.Held})
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("the sources are missing")
	}
	if all != nil {
		total := all.block()
		if first == nil || first.attribute().Name == total.attribute().Name {
			return newModelOf(all, total, blocks, written)
		}
	}
	return newModel(blocks, nil, written)
}

// decodeAll returns what the sources add up to, and which part they are in, if
// that was saved and is of these parts. It can be done without.
func decodeAll(parts []learn.Part) (*tally, map[string]*bundle.Listed) {
	data := learn.FindPart(parts, sumPart)
	if data == nil {
		return nil, nil
	}
	t, list, err := decodeSum(data)
	if err != nil {
		return nil, nil
	}
	if listed := kept.Listed(list, parts, func(name string) bool { return name == sumPart }); listed != nil {
		return t, listed
	}
	return nil, nil
}

// wait returns the blocks of a part that is held and in the list of a sum; nil
// if it is not.
func wait(p learn.Part, listed *bundle.Listed) []*block {
	stand := func(s learn.Source, later *bundle.Later[block]) *block { return &block{source: s, later: later} }
	decode := func(p learn.Part) ([]*block, error) { return decodeBlocks(p, nil) }
	return kept.Wait(p, listed, stand, decode, func(to, from *block) error {
		if from.source != to.source {
			return fmt.Errorf("the source %q, expected %q", from.source.ID, to.source.ID)
		}
		to.schema, to.target, to.classes, to.level, to.moments = from.schema, from.target, from.classes, from.level, from.moments
		return nil
	})
}

// decodeBlocks reads the blocks of one part, at least one, unless they can wait.
func decodeBlocks(p learn.Part, listed map[string]*bundle.Listed) (blocks []*block, err error) {
	if blocks := wait(p, listed[p.Name]); blocks != nil {
		return blocks, nil
	}
	if p.Data, err = p.Load(); err != nil {
		return nil, err
	}
	id, isSource := strings.CutPrefix(p.Name, sourcePart)
	switch first, isBundle := strings.CutPrefix(p.Name, bundlePart); {
	case isSource:
		var s saved
		if err := learn.Unmarshal(p.Data, &s); err != nil {
			return nil, err
		}
		b, err := s.block()
		if err != nil {
			return nil, err
		}
		blocks = []*block{b}
	case isBundle:
		id = first
		var from bundle.Packed
		if err := learn.Unmarshal(p.Data, &from); err != nil {
			return nil, err
		}
		members, err := from.Unpack()
		if err != nil {
			return nil, err
		}
		for i := range members {
			b, err := blockOf(&members[i])
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, b)
		}
	default:
		return nil, fmt.Errorf("it is not one that prior knows")
	}
	if len(blocks) == 0 || blocks[0].source.ID != id {
		return nil, fmt.Errorf("its source is not the one it is named after")
	}
	return blocks, nil
}

// blockOf returns the block of a bundle's member.
func blockOf(m *bundle.Member) (*block, error) {
	b := newBlock(learn.Source{ID: m.ID, Name: m.Name}, m.Schema, m.Target)
	x := m.Numbers
	if b.classes != nil {
		return b, b.fill(x, moment.Tiny, moment.Moment{})
	}
	if len(x) != 4 || !(x[0] >= 0 && x[0] <= float64(moment.Huge-moment.Tiny)) {
		return nil, fmt.Errorf("source %q: %v are not moments", m.ID, x)
	}
	return b, b.fill(nil, moment.Tiny+moment.Level(x[0]), moment.Moment{N: x[1], Mean: x[2], M2: x[3]})
}

// block checks what was read and returns it as a block.
func (s *saved) block() (*block, error) {
	if s.Format != format {
		return nil, fmt.Errorf("format %d, this program reads format %d", s.Format, format)
	}
	if s.Target < 0 || s.Target >= len(s.Columns) {
		return nil, fmt.Errorf("target %d is not one of %d columns", s.Target, len(s.Columns))
	}
	schema := &table.Schema{Attributes: make([]table.Attribute, len(s.Columns))}
	for j, c := range s.Columns {
		schema.Attributes[j] = table.Attribute{Name: c.Name, Values: c.Values}
		c.Date.Load(&schema.Attributes[j])
		if c.Numeric {
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric, but has names for values", c.Name)
			}
			schema.Attributes[j].Kind = table.Numeric
		}
	}
	if err := table.Distinct(schema); err != nil {
		return nil, err
	}
	b := newBlock(learn.Source{ID: s.ID, Name: s.Name}, schema, s.Target)
	return b, b.fill(s.Classes, moment.Level(s.Level), moment.Moment{N: s.Moments[0], Mean: s.Moments[1], M2: s.Moments[2]})
}

// fill checks the numbers of a block and takes them in.
func (b *block) fill(classes []float64, level moment.Level, moments moment.Moment) error {
	isWeight := func(w float64) bool { return w >= 0 && w <= moment.MaxWeight && !math.Signbit(w) }
	switch {
	case level < moment.Tiny || level > moment.Huge || !moments.Valid():
		return fmt.Errorf("%v at level %d are not moments", moments, level)
	case len(classes) != len(b.classes) || slices.ContainsFunc(classes, func(w float64) bool { return !isWeight(w) }):
		return fmt.Errorf("%d weights of %d classes, or not weights", len(classes), len(b.classes))
	case b.classes != nil && moments.N > 0:
		return fmt.Errorf("moments of a nominal target")
	}
	copy(b.classes, classes)
	b.level, b.moments = level, moments
	return nil
}
