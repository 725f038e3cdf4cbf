package bayes

import (
	"cmp"
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
	s := m.settings
	for _, other := range others {
		o, ok := other.(*Model)
		if !ok {
			return nil, fmt.Errorf("a bayes model cannot be merged with a model of learner %s", other.Learner())
		}
		if of := o.settings; of.words == (words{}) && of.M == s.M && of.PriorM == s.PriorM || s.words == (words{}) && of.M == s.M && of.PriorM == s.PriorM {
			s.words = cmp.Or(s.words, of.words) // one has no texts
		} else if s != of {
			return nil, fmt.Errorf("models learnt with different settings cannot be merged: %v and %v", s, of)
		}
		if m.class().Name != o.class().Name {
			return nil, fmt.Errorf("models of different targets cannot be merged: %q and %q", m.class().Name, o.class().Name)
		}
		more = append(more, o.blocks...)
	}
	blocks, err := kept.With(m.blocks, sourceOf, join, more...)
	if err != nil {
		return nil, err
	}
	return newModel(s, blocks, nil, m.written)
}

// String names the settings.
func (s settings) String() string {
	text := fmt.Sprintf("m=%v prior-m=%v", s.M, s.PriorM)
	if w := s.words; w != (words{}) {
		alpha := fmt.Sprint(w.Alpha)
		switch w.Alpha {
		case chosen:
			alpha = "chosen"
		case discounted:
			alpha = "discount"
		case evident:
			alpha = "evidence"
		case usual:
			alpha = "1 (by evidence, where texts are many)"
		}
		text += fmt.Sprintf(" text=%s count=%s alpha=%s length=%v min=%v stop=%s stem=%s", w.Event, w.Count, alpha, w.Length, w.Min, cmp.Or(w.Stop, "none"), cmp.Or(w.Stem, "none"))
	}
	return text
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
	both := newBlock(a.source, schema, schema.Index(a.schema.Attributes[a.target].Name))
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
	if !slices.ContainsFunc(blocks, func(b *block) bool { return sum(b.classes) > 0 }) {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	return newModel(m.settings, blocks, nil, m.written)
}
