package prior

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Sources lists the sources in the order in which they came.
func (m *Model) Sources() []learn.Source {
	sources := make([]learn.Source, len(m.blocks))
	for i, b := range m.blocks {
		sources[i] = b.source
	}
	return sources
}

// Merge returns the model of both models' rows. A source that both learnt
// counts as often as they learnt it.
func (m *Model) Merge(ctx context.Context, other learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o, ok := other.(*Model)
	if !ok {
		return nil, fmt.Errorf("a prior model cannot be merged with a model of learner %s", other.Learner())
	}
	if a, b := m.total.attribute(), o.total.attribute(); a.Name != b.Name || a.Kind != b.Kind {
		return nil, fmt.Errorf("models of different targets cannot be merged: %q (%v) and %q (%v)", a.Name, a.Kind, b.Name, b.Kind)
	}
	blocks := slices.Clone(m.blocks)
	for _, b := range o.blocks {
		i := slices.IndexFunc(blocks, func(a *block) bool { return a.source.ID == b.source.ID })
		if i < 0 {
			blocks = append(blocks, b)
			continue
		}
		schema, err := learn.Union(blocks[i].schema, b.schema)
		if err != nil {
			return nil, err
		}
		both := newBlock(b.source, schema, schema.Index(b.attribute().Name))
		both.absorb(blocks[i])
		both.absorb(b)
		blocks[i] = both
	}
	return newModel(blocks)
}

// Forget returns the model of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	blocks, err := learn.Without(m.blocks, func(b *block) learn.Source { return b.source }, ids...)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.rows() > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(blocks)
}

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
	Date    bool
	Values  []string
}

const (
	format     = 2
	sourcePart = "source/"
)

// Parts returns a part for each source.
func (m *Model) Parts() ([]learn.Part, error) {
	var parts []learn.Part
	for _, b := range m.blocks {
		columns := make([]savedColumn, len(b.schema.Attributes))
		for j, a := range b.schema.Attributes {
			columns[j] = savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: a.Date, Values: a.Values}
		}
		data, err := learn.Marshal(saved{
			Format: format, ID: b.source.ID, Name: b.source.Name,
			Columns: columns, Target: b.target, Classes: b.classes,
			Level: int8(b.level), Moments: [3]float64{b.moments.N, b.moments.Mean, b.moments.M2},
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: sourcePart + b.source.ID, Data: data})
	}
	return parts, nil
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	var blocks []*block
	for _, p := range parts {
		id, isSource := strings.CutPrefix(p.Name, sourcePart)
		if !isSource {
			return nil, fmt.Errorf("part %q is not one that prior knows", p.Name)
		}
		var s saved
		if err := learn.Unmarshal(p.Data, &s); err != nil {
			return nil, fmt.Errorf("part %s: %v", p.Name, err)
		}
		b, err := s.block()
		if err != nil {
			return nil, fmt.Errorf("part %s: %v", p.Name, err)
		}
		if b.source.ID != id || slices.ContainsFunc(blocks, func(a *block) bool { return a.source.ID == id }) {
			return nil, fmt.Errorf("part %s: its source %q is not the one it is named after, or comes twice", p.Name, b.source.ID)
		}
		if len(blocks) > 0 && b.attribute().Name != blocks[0].attribute().Name {
			return nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.attribute().Name, blocks[0].attribute().Name)
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("the sources are missing")
	}
	return newModel(blocks)
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
		schema.Attributes[j] = table.Attribute{Name: c.Name, Values: c.Values, Date: c.Date}
		if c.Numeric {
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric, but has names for values", c.Name)
			}
			schema.Attributes[j].Kind = table.Numeric
		}
	}
	if err := learn.Distinct(schema); err != nil {
		return nil, err
	}
	b := newBlock(learn.Source{ID: s.ID, Name: s.Name}, schema, s.Target)
	b.level = moment.Level(s.Level)
	b.moments = moment.Moment{N: s.Moments[0], Mean: s.Moments[1], M2: s.Moments[2]}
	isWeight := func(w float64) bool { return w >= 0 && w <= moment.MaxWeight && !math.Signbit(w) }
	switch {
	case b.level < moment.Tiny || b.level > moment.Huge || !b.moments.Valid():
		return nil, fmt.Errorf("%v at level %d are not moments", s.Moments, s.Level)
	case len(s.Classes) != len(b.classes) || slices.ContainsFunc(s.Classes, func(w float64) bool { return !isWeight(w) }):
		return nil, fmt.Errorf("%d weights of %d classes, or not weights", len(s.Classes), len(b.classes))
	case b.classes != nil && b.moments.N > 0:
		return nil, fmt.Errorf("moments of a nominal target")
	}
	copy(b.classes, s.Classes)
	return b, nil
}
