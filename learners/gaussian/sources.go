package gaussian

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Sources lists the sources, experts included, in the order in which they
// came.
func (m *Model) Sources() []learn.Source { return kept.SourcesOf(m.blocks, sourceOf) }

// Merge returns the incremental mixture of all models: all units of each, with
// the weight of the rows behind them. So its density is the mean of the models'
// densities, weighted by their rows, exactly, up to what follows from the
// columns' overall deviations: the floor of widths, and NORMAL. Units that
// several models have, because one grew out of the other, add up.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var more []*block
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			return nil, fmt.Errorf("a gaussian model cannot be merged with a model of learner %s", other.Learner())
		}
		if a, b := m.settings.reading(), o.settings.reading(); a != b {
			return nil, fmt.Errorf("models learnt with different settings cannot be merged: %s and %s", a, b)
		}
		if m.total.targetName() != o.total.targetName() {
			return nil, fmt.Errorf("models of different targets cannot be merged: %q and %q", m.total.targetName(), o.total.targetName())
		}
		more = append(more, o.blocks...)
	}
	blocks, err := kept.With(m.blocks, sourceOf, joinBlocks, more...)
	if err != nil {
		return nil, err
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, blocks)
}

func sourceOf(b *block) learn.Source { return b.source }

// Forget returns the model without what some sources brought. Units that only
// they had rows in are gone; others keep the rows of the remaining sources.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	blocks, err := kept.Without(m.blocks, sourceOf, ids...)
	if err != nil {
		return nil, err
	}
	if err := load(blocks); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.rows > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, blocks)
}
