package prior

import (
	"context"
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
	if !u.vocabulary.Same(t.Schema) {
		if err := u.vocabulary.Check(t.Schema); err != nil {
			return err
		}
	}
	rows := newBlock(u.block.source, t.Schema, u.block.target)
	if err := rows.learn(ctx, t); err != nil {
		return err
	}
	if err := checkWeight(u.block.rows() + rows.rows()); err != nil {
		return err
	}
	if !u.vocabulary.Same(t.Schema) {
		u.vocabulary.Admit(t.Schema)
		wider := newBlock(u.block.source, u.vocabulary.Schema(), u.block.target)
		wider.absorb(u.block)
		u.block = wider
	}
	u.block.absorb(rows)
	u.vocabulary.See(t, func(int) bool { return true })
	u.changed = true
	return nil
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !u.changed {
		return u.model, nil
	}
	blocks := slices.Clone(u.model.blocks)
	if u.at == len(blocks) {
		blocks = append(blocks, nil)
	}
	own := newBlock(u.block.source, u.vocabulary.Own(func(int, int) bool { return false }), u.block.target)
	own.absorb(u.block)
	blocks[u.at] = own
	return newModel(blocks, u.model.written)
}
