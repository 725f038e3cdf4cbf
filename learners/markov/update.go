package markov

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
	tail       *tail
	hidden     []*table.Table // rows whose states are to be found
	rows       int            // that were added
	changed    bool
}

// begin returns an update of a model that adds to a block.
func (m *Model) begin(b *block, v *table.Vocabulary) *update {
	return &update{model: m, at: len(m.blocks), block: b, vocabulary: v}
}

// Begin returns a private copy to add the source's rows to. If the model knows
// the source already, its block grows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	at := slices.IndexFunc(m.blocks, func(b *block) bool { return b.source.ID == source.ID })
	if at < 0 {
		return m.begin(newBlock(source, m.schema, m.target, &m.settings), table.NewVocabulary(m.schema, nil)), nil
	}
	known := m.blocks[at]
	u := m.begin(known, table.NewVocabulary(m.schema, known.schema))
	if u.at, u.shared = at, true; known.schema != m.schema {
		u.block, u.shared = known.empty(m.schema), false
		u.block.absorb(known)
	}
	return u, nil
}

// Add learns the table's rows: all of them or, on an error, none.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.Schema.Sequence != u.vocabulary.Schema().Sequence {
		return fmt.Errorf("rows are in sequences by %q, expected %q; read them the same way", t.Schema.Sequence, u.vocabulary.Schema().Sequence)
	}
	if err := u.block.checkWeights(t); err != nil {
		return err
	}
	grown, vocabulary := u.block, u.vocabulary
	if !vocabulary.Same(t.Schema) {
		if err := vocabulary.Check(t.Schema); err != nil {
			return err
		}
		if err := u.model.settings.checkColumns(t.Schema, u.block.target); err != nil {
			return err
		}
		vocabulary = vocabulary.Clone()
		vocabulary.Admit(t.Schema)
		grown = u.block.empty(vocabulary.Schema())
		grown.absorb(u.block)
	} else if u.shared {
		grown = grown.clone()
	}
	if u.model.settings.Whole {
		var err error
		if t, err = ofWholes(t, grown.target); err != nil {
			return err
		}
	}
	switch {
	case u.model.settings.States > 1:
		if err := u.hide(t, vocabulary.Schema()); err != nil {
			return err
		}
	case vocabulary.Same(t.Schema):
		grown.count(t, u.tail)
	default: // it lacks values, or has them in another order
		rows := grown.empty(t.Schema)
		rows.count(t, u.tail)
		grown.absorb(rows)
	}
	u.tail = grown.follow(u.tail, t)
	u.block, u.shared, u.vocabulary = grown, false, vocabulary
	u.seeIdle(t)
	return nil
}

// seeIdle marks the values of rows that do not count: they tell nothing of
// states, but the source brought their values all the same. Of hidden states
// every row does.
func (u *update) seeIdle(t *table.Table) {
	u.vocabulary.See(t, func(row int) bool { return len(u.hidden) > 0 || u.block.label(t, row) < 0 })
	u.rows += t.Rows()
	u.changed = true
}

// ofWholes returns a table in which each row has the class of its sequence: that
// of all its rows that have one.
func ofWholes(t *table.Table, target int) (*table.Table, error) {
	codes := slices.Clone(t.Columns[target].Codes)
	var wrong error
	t.Groups(func(from, to int) {
		first := -1
		for row := from; row < to; row++ {
			switch {
			case codes[row] < 0:
			case first < 0:
				first = row
			case codes[row] != codes[first] && wrong == nil:
				wrong = fmt.Errorf("setting whole=true: row %d says %q and row %d, of the same sequence, %q; a sequence has one class, or leave whole out to have one for each row", first+1, t.Text(first, target), row+1, t.Text(row, target))
			}
		}
		for row := from; first >= 0 && row < to; row++ {
			codes[row] = codes[first]
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	known := *t
	known.Columns = slices.Clone(t.Columns)
	known.Columns[target].Codes = codes
	return &known, nil
}

// Freeze returns the model of all rows so far.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !u.changed && len(u.model.blocks) > 0 {
		return u.model, nil
	}
	m := u.model
	grown := u.block
	if len(u.hidden) > 0 {
		found, err := m.baumWelch(ctx, u)
		if err != nil {
			return nil, err
		}
		grown = found
	}
	blocks := make([]*block, max(len(m.blocks), u.at+1))
	copy(blocks, m.blocks)
	if !(grown.rows() > 0) && len(m.blocks) == 0 {
		return nil, u.nothing()
	}
	own := u.vocabulary.Own(grown.occurs)
	var union *table.Schema // what it was, if the source's has not changed or is a new one of known values in their order
	if u.vocabulary.Schema() == m.schema && (blocks[u.at] == nil || table.SameCodes(blocks[u.at].schema, own)) {
		union = m.schema
	}
	blocks[u.at] = grown
	switch {
	case own != grown.schema:
		blocks[u.at] = grown.empty(own)
		blocks[u.at].absorb(grown)
	case grown == u.block:
		u.shared = true
	}
	return newModel(m.settings, m.seed, blocks, union, m.written)
}

// nothing says that no row counts.
func (u *update) nothing() error {
	if u.block.target == learn.NoTarget {
		return fmt.Errorf("there is nothing to learn from: %d rows, none of them of any weight", u.rows)
	}
	return fmt.Errorf("no row has a state: column %q is missing, or the weight 0, in all %d rows", u.block.className(), u.rows)
}
