package bayes

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
	shared     bool   // a model has the block too: adding is to a copy of it
	vocabulary *table.Vocabulary
	rows       int // that were added
	changed    bool
}

// small is the number of rows up to which rows are added one by one.
const small = 32

// Begin returns a private copy to add the source's rows to. If the model
// knows the source already, its block grows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	u := &update{model: m, at: slices.IndexFunc(m.blocks, func(b *block) bool { return b.source.ID == source.ID })}
	if u.at < 0 {
		u.at = len(m.blocks)
		u.vocabulary = table.NewVocabulary(m.schema, nil)
		u.block = newBlock(source, m.schema, m.target)
		return u, nil
	}
	if err := load(m.blocks[u.at]); err != nil {
		return nil, err
	}
	known := m.blocks[u.at].open()
	u.vocabulary = table.NewVocabulary(m.schema, known.schema)
	if known.schema == m.schema {
		u.block, u.shared = known, true
		return u, nil
	}
	u.block = newBlock(known.source, m.schema, m.target)
	u.block.absorb(known)
	return u, nil
}

// Add learns the table's rows: all of them or, on an error, none.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.block.checkWeights(t); err != nil {
		return err
	}
	if !u.fresh() && t.Rows() <= small && u.vocabulary.Same(t.Schema) {
		u.unshare()
		for r := range t.Rows() {
			u.block.addRow(t, r, u.model.settings.words)
		}
		u.seeIdle(t)
		return nil
	}
	return u.addMany(ctx, t)
}

// fresh reports whether there is nothing yet: what comes first is learnt as
// Learn does, to the bit.
func (u *update) fresh() bool { return len(u.model.blocks) == 0 && sum(u.block.classes) == 0 }

// unshare makes the block the update's own.
func (u *update) unshare() {
	if u.shared {
		u.block, u.shared = u.block.clone(), false
	}
}

// addMany learns the rows column by column, into a copy of the block.
func (u *update) addMany(ctx context.Context, t *table.Table) error {
	grown, vocabulary := u.block, u.vocabulary
	switch {
	case vocabulary.Same(t.Schema) && u.fresh() && !u.shared:
		// There is nothing to lose if learning fails: no copy is needed.
	case vocabulary.Same(t.Schema):
		grown = grown.clone()
	default:
		if err := vocabulary.Check(t.Schema); err != nil {
			return err
		}
		if err := checkTarget(t.Schema, u.block.target); err != nil {
			return err
		}
		vocabulary = vocabulary.Clone()
		vocabulary.Admit(t.Schema)
		if err := checkRoom(vocabulary.Schema(), u.block.target); err != nil {
			return err
		}
		grown = newBlock(u.block.source, vocabulary.Schema(), u.block.target)
		grown.absorb(u.block)
	}
	if vocabulary.Same(t.Schema) {
		if err := grown.learn(ctx, t, u.model.settings.words); err != nil {
			if grown == u.block {
				u.block = newBlock(grown.source, grown.schema, grown.target)
			}
			return err
		}
	} else { // it lacks values, or has them in another order
		rows := newBlock(u.block.source, t.Schema, u.block.target)
		if err := rows.learn(ctx, t, u.model.settings.words); err != nil {
			return err
		}
		grown.absorb(rows)
	}
	u.block, u.shared, u.vocabulary = grown, false, vocabulary
	u.seeIdle(t)
	return nil
}

// seeIdle marks the values of rows that do not count: they tell nothing of
// classes, but the source brought their values all the same.
func (u *update) seeIdle(t *table.Table) {
	classes := t.Columns[u.block.target].Codes
	u.vocabulary.See(t, func(row int) bool { return classes[row] < 0 || t.Weight(row) == 0 })
	u.rows += t.Rows()
	u.changed = true
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if u.fresh() {
		return nil, fmt.Errorf("no row has a class: column %q is missing, or the weight 0, in all %d rows", u.block.className(), u.rows)
	}
	if !u.changed {
		return u.model, nil
	}
	m := u.model
	own := u.vocabulary.Own(u.block.occurs)
	// The union of the schemas is what it was if the source's has not
	// changed, or if it is a new one, of known values in their order.
	var union *table.Schema
	if u.vocabulary.Schema() == m.schema && (u.at == len(m.blocks) || table.SameCodes(m.blocks[u.at].schema, own)) {
		union = m.schema
	}
	if own == u.block.schema {
		u.shared = true
		return m.with(u.at, u.block, union)
	}
	block := newBlock(u.block.source, own, m.target)
	block.absorb(u.block)
	return m.with(u.at, block, union)
}

// occurs reports whether a row of the block has a value.
func (b *block) occurs(column, value int) bool {
	if column == b.target {
		return b.classes[value] > 0
	}
	classes := len(b.classes)
	for _, w := range b.columns[column].counts[value*classes:][:classes] {
		if w > 0 {
			return true
		}
	}
	return false
}
