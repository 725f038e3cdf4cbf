package linear

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
		switch {
		case !ok && other.Learner() == Name:
			return nil, fmt.Errorf("a linear model of a number cannot be merged with one of classes")
		case !ok:
			return nil, fmt.Errorf("a linear model cannot be merged with a model of learner %s", other.Learner())
		case m.settings != o.settings:
			return nil, fmt.Errorf("models learnt with different settings cannot be merged: %v and %v", m.settings, o.settings)
		}
		if a, b := m.total.attribute(), o.total.attribute(); a.Name != b.Name {
			return nil, fmt.Errorf("models of different targets cannot be merged: %q and %q", a.Name, b.Name)
		}
		more = append(more, o.blocks...)
	}
	blocks, err := kept.With(m.blocks, sourceOf, join, more...)
	if err != nil {
		return nil, err
	}
	return orNone(newModel(ctx, m.settings, blocks, m.written))
}

// orNone returns no model beside an error.
func orNone(m *Model, err error) (learn.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// String names the settings.
func (s settings) String() string {
	if s.Auto {
		return fmt.Sprintf("degree=%d ridge=auto", s.Degree)
	}
	return fmt.Sprintf("degree=%d ridge=%v", s.Degree, s.Ridge)
}

func sourceOf(b *block) learn.Source { return b.source }

// join returns the block of the rows of two.
func join(a, b *block) (*block, error) {
	schema, err := table.Union(a.schema, b.schema)
	if err != nil {
		return nil, err
	}
	target := schema.Index(a.attribute().Name)
	if err := checkTerms(schema, target, a.degree); err != nil {
		return nil, err
	}
	both := newBlock(a.source, newLayout(schema, target, a.degree))
	both.absorb(a)
	both.absorb(b)
	return both, checkWeight(both.weight)
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
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.weight > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return orNone(newModel(ctx, m.settings, blocks, m.written))
}
