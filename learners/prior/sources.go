package prior

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Sources lists the sources in the order in which they came.
func (m *Model) Sources() []learn.Source { return kept.SourcesOf(m.blocks, sourceOf) }

// Merge returns the model of all models' rows. A source that several learnt
// counts as often as they learnt it.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var more []*block
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			return nil, fmt.Errorf("a prior model cannot be merged with a model of learner %s", other.Learner())
		}
		if a, b := m.total.attribute(), o.total.attribute(); a.Name != b.Name || a.Kind != b.Kind {
			return nil, fmt.Errorf("models of different targets cannot be merged: %q (%v) and %q (%v)", a.Name, a.Kind, b.Name, b.Kind)
		}
		more = append(more, o.blocks...)
	}
	blocks, err := kept.With(m.blocks, sourceOf, join, more...)
	if err != nil {
		return nil, err
	}
	return newModel(blocks, nil, m.written)
}

func sourceOf(b *block) learn.Source { return b.source }

// join returns the block of the rows of two.
func join(a, b *block) (*block, error) {
	if err := load(a, b); err != nil {
		return nil, err
	}
	schema, err := table.Union(a.schema, b.schema)
	if err != nil {
		return nil, err
	}
	both := newBlock(b.source, schema, schema.Index(b.attribute().Name))
	both.absorb(a)
	both.absorb(b)
	return both, nil
}

// Forget returns the model of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	blocks, err := kept.Without(m.blocks, sourceOf, ids...)
	if err != nil {
		return nil, err
	}
	if err := load(blocks...); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.rows() > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(blocks, nil, m.written)
}
