package linear

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// update is a model of a number to which one source adds rows.
type update struct {
	model      *Model
	at         int    // of the source's block among the model's
	block      *block // the source's rows so far, in the vocabulary's schema
	vocabulary *table.Vocabulary
	rows       int // that were added
	changed    bool
}

// Begin returns a private copy to add the source's rows to. If the model
// knows the source already, its block grows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	u := &update{model: m, at: slices.IndexFunc(m.blocks, func(b *block) bool { return b.source.ID == source.ID })}
	if u.at < 0 {
		u.at = len(m.blocks)
		u.vocabulary = table.NewVocabulary(m.total.schema, nil)
		u.block = newBlock(source, m.total.layout)
		return u, nil
	}
	known := m.blocks[u.at]
	u.vocabulary = table.NewVocabulary(m.total.schema, known.schema)
	u.block = newBlock(known.source, m.total.layout)
	u.block.absorb(known)
	return u, nil
}

// Add learns the table's rows: all of them or, on an error, none.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	block, vocabulary := u.block, u.vocabulary
	if !vocabulary.Same(t.Schema) {
		if err := vocabulary.Check(t.Schema); err != nil {
			return err
		}
		if a := &t.Schema.Attributes[block.target]; a.Kind != table.Numeric {
			return fmt.Errorf("target %q has classes, expected numbers", a.Name)
		}
		vocabulary = vocabulary.Clone()
		vocabulary.Admit(t.Schema)
		if err := checkTerms(vocabulary.Schema(), block.target, block.degree); err != nil {
			return err
		}
	}
	l := block.layout
	if l.schema != vocabulary.Schema() {
		l = newLayout(vocabulary.Schema(), block.target, block.degree)
	}
	grown := newBlock(block.source, l)
	grown.absorb(block)
	if vocabulary.Same(t.Schema) {
		if err := grown.learn(ctx, t); err != nil {
			return err
		}
	} else { // it lacks values, or has them in another order
		rows := newBlock(block.source, newLayout(t.Schema, block.target, block.degree))
		if err := rows.learn(ctx, t); err != nil {
			return err
		}
		grown.absorb(rows)
		if err := checkWeight(grown.weight); err != nil {
			return err
		}
	}
	vocabulary.See(t, func(int) bool { return true })
	u.block, u.vocabulary, u.rows, u.changed = grown, vocabulary, u.rows+t.Rows(), true
	return nil
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(u.model.blocks) == 0 && u.block.weight == 0 {
		return nil, fmt.Errorf("no row has a target: column %q is missing, or the weight 0, in all %d rows", u.block.attribute().Name, u.rows)
	}
	if !u.changed {
		return u.model, nil
	}
	blocks := slices.Clone(u.model.blocks)
	if u.at == len(blocks) {
		blocks = append(blocks, nil)
	}
	own := newBlock(u.block.source, newLayout(u.vocabulary.Own(func(int, int) bool { return false }), u.block.target, u.block.degree))
	own.absorb(u.block)
	blocks[u.at] = own
	m, err := newModel(ctx, u.model.settings, blocks, u.model.written)
	if err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}
