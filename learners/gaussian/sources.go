package gaussian

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
)

// Sources lists the sources, experts included, in the order in which they
// came.
func (m *Model) Sources() []learn.Source {
	sources := make([]learn.Source, len(m.blocks))
	for i, b := range m.blocks {
		sources[i] = b.source
	}
	return sources
}

// Merge returns the incremental mixture of both models: all units of both,
// each with the weight of the rows behind it. So its density is the mean of
// the models' densities, weighted by their rows, exactly, up to what follows
// from the columns' overall deviations: the floor of widths, and NORMAL. Units
// that both models have, because one grew out of the other, add up.
func (m *Model) Merge(ctx context.Context, other learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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
	blocks := slices.Clone(m.blocks)
	for _, b := range o.blocks {
		i := slices.IndexFunc(blocks, func(a *block) bool { return a.source.ID == b.source.ID })
		if i < 0 {
			blocks = append(blocks, b)
			continue
		}
		joined, err := joinBlocks(blocks[i], b)
		if err != nil {
			return nil, err
		}
		blocks[i] = joined
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, blocks)
}

// Forget returns the model without what some sources brought. Units that only
// they had rows in are gone; others keep the rows of the remaining sources.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	blocks, err := learn.Without(m.blocks, func(b *block) learn.Source { return b.source }, ids...)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(blocks, func(b *block) bool { return b.rows > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, blocks)
}
