package markov

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
// counts as often as they learnt it. Hidden states that were found apart are first
// numbered alike (align.go).
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var more []*block
	for _, other := range others {
		o, ok := other.(*Model)
		switch {
		case !ok:
			return nil, fmt.Errorf("a markov model cannot be merged with a model of learner %s", other.Learner())
		case m.settings != o.settings:
			return nil, fmt.Errorf("models learnt with different settings cannot be merged: %+v and %+v", m.settings, o.settings)
		case m.blocks[0].className() != o.blocks[0].className():
			return nil, fmt.Errorf("models of different targets cannot be merged: %q and %q", m.blocks[0].className(), o.blocks[0].className())
		}
		theirs := o.blocks
		if m.settings.States > 1 && m != o {
			var err error
			if theirs, err = m.aligned(o); err != nil {
				return nil, err
			}
		}
		more = append(more, theirs...)
	}
	blocks, err := kept.With(m.blocks, sourceOf, join, more...)
	if err != nil {
		return nil, err
	}
	return newModel(m.settings, m.seed, blocks, nil, m.written)
}

func sourceOf(b *block) learn.Source { return b.source }

// join returns the block of the rows of two.
func join(a, b *block) (*block, error) {
	schema, err := table.Union(a.schema, b.schema)
	if err != nil {
		return nil, err
	}
	both := a.empty(schema)
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
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.rows() > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(m.settings, m.seed, blocks, nil, m.written)
}

// Promise says what updates are worth.
func (m *Model) Promise() learn.Promise {
	if m.settings.States > 1 {
		return learn.Promise{}
	}
	return learn.Promise{Contract: learn.Exact}
}
