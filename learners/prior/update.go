package prior

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// update is a model to which one source adds rows.
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
		u.block = newBlock(source, u.vocabulary.Schema(), m.total.target)
		return u, nil
	}
	known := m.blocks[u.at]
	if err := load(known); err != nil {
		return nil, err
	}
	u.vocabulary = table.NewVocabulary(m.total.schema, known.schema)
	u.block = newBlock(known.source, u.vocabulary.Schema(), m.total.target)
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
		vocabulary = vocabulary.Clone()
		vocabulary.Admit(t.Schema)
	}
	grown := newBlock(block.source, vocabulary.Schema(), block.target)
	grown.absorb(block)
	if err := grown.learnAs(ctx, t, vocabulary); err != nil {
		return err
	}
	vocabulary.See(t, func(int) bool { return true })
	u.block, u.vocabulary, u.rows, u.changed = grown, vocabulary, u.rows+t.Rows(), true
	return nil
}

// learnAs takes in the rows of a table of any codes that a vocabulary, the
// block's, has admitted.
func (b *block) learnAs(ctx context.Context, t *table.Table, vocabulary *table.Vocabulary) error {
	if vocabulary.Same(t.Schema) {
		return b.learn(ctx, t)
	}
	rows := newBlock(b.source, t.Schema, b.target)
	if err := rows.learn(ctx, t); err != nil {
		return err
	}
	b.absorb(rows)
	return checkWeight(b.rows())
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(u.model.blocks) == 0 && u.block.rows() == 0 {
		return nil, fmt.Errorf("no row has a target: column %q is missing, or the weight 0, in all %d rows", u.block.attribute().Name, u.rows)
	}
	if !u.changed {
		return u.model, nil
	}
	m := u.model
	own := newBlock(u.block.source, u.vocabulary.Own(func(int, int) bool { return false }), u.block.target)
	own.absorb(u.block)
	// The union of the schemas is what it was if the source's has not
	// changed, or if it is a new one, of known values in their order.
	var union *table.Schema
	if len(m.blocks) > 0 && u.vocabulary.Schema() == m.total.schema && (u.at == len(m.blocks) || table.SameCodes(m.blocks[u.at].schema, own.schema)) {
		union = m.total.schema
	}
	return m.with(u.at, own, union)
}
