package kept

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// View is the table that rows stand for (see Rows.Table), read where the rows
// are: learners that lay out cells in their own way need no copy besides.
type View struct {
	Schema  *table.Schema
	Weights []float64 // nil: all 1
	joined  *joined
}

// View returns what Table does, without a copy.
func (r *Rows) View(ctx context.Context) (*View, error) {
	switch len(r.blocks) {
	case 0:
		return nil, fmt.Errorf("no rows are left to learn from")
	case 1:
		b := r.blocks[0]
		return (&joined{schema: b.schema, blocks: r.blocks, rows: b.rows, weights: b.weights, counts: b.counts}).view(), nil
	}
	j, err := join(ctx, inWholes(r.blocks), nil)
	if err != nil {
		return nil, err
	}
	return j.view(), nil
}

// Survey returns a view of a table's rows as if they had been gathered from
// one source, and what gathers them. The view reads the table's cells, so it is
// for the time of learning only; rows that are kept are a copy. A learner that
// keeps them when it is done never holds them beside all that it learns with.
// Text columns are left out.
func Survey(ctx context.Context, t *table.Table, source learn.Source, target int) (v *View, keep func(ctx context.Context) (*Rows, error), err error) {
	t, target = t.WithoutText(target)
	return SurveyTexts(ctx, t, source, target)
}

// SurveyTexts is Survey with the text columns.
func SurveyTexts(ctx context.Context, t *table.Table, source learn.Source, target int) (v *View, keep func(ctx context.Context) (*Rows, error), err error) {
	j, err := join(ctx, []*block{blockOf(source, t)}, withoutTarget(t, target))
	if err != nil {
		return nil, nil, err
	}
	return j.view(), func(ctx context.Context) (*Rows, error) {
		b, err := j.block(ctx, source)
		if err != nil {
			return nil, err
		}
		return (&Rows{}).with([]*block{b}), nil
	}, nil
}

// ViewOf returns a view of a table as it is.
func ViewOf(t *table.Table) *View {
	return &View{t.Schema, t.Weights, &joined{schema: t.Schema, blocks: []*block{blockOf(learn.Source{}, t)}, rows: t.Rows()}}
}

// view puts rows together that differ in weight only.
func (j *joined) view() *View {
	if j.weights == nil {
		return &View{j.schema, j.counts, j}
	}
	one := &joined{schema: j.schema, blocks: j.blocks}
	v := &View{Schema: j.schema, joined: one}
	// They stand side by side, lighter first.
	for row := range j.rows {
		b, r := j.at(row)
		if row > 0 {
			if before, q := j.at(row - 1); compareRows(before, int(q), b, int(r)) == 0 {
				v.Weights[one.rows-1] += j.weight(row)
				continue
			}
		}
		place := ref{row: r}
		if j.refs != nil {
			place = j.refs[row]
		}
		one.refs = append(one.refs, place)
		one.rows++
		v.Weights = append(v.Weights, j.weight(row))
	}
	return v
}

// weight returns the weight of a row as often as it is counted.
func (j *joined) weight(row int) float64 {
	w := j.weights[row]
	if j.counts != nil {
		w *= j.counts[row]
	}
	return w
}

// Rows returns the number of rows.
func (v *View) Rows() int { return v.joined.rows }

// Weight returns the weight of a row.
func (v *View) Weight(row int) float64 {
	if v.Weights == nil {
		return 1
	}
	return v.Weights[row]
}

// Code returns a nominal cell, table.Missing if it is unknown or unseen.
func (v *View) Code(col, row int) int32 { return v.joined.code(col, row) }

// Float returns a numeric cell.
func (v *View) Float(col, row int) float64 { return v.joined.float(col, row) }

// Codes returns a copy of a nominal column.
func (v *View) Codes(col int) []int32 { return v.joined.codes(col) }

// Narrow returns a copy of a nominal column of up to 255 values, or 256 if
// none is missing, with a code for missing cells.
func (v *View) Narrow(col int, missing uint8) []uint8 { return v.joined.narrow(col, missing) }

// Words returns a copy of a text column.
func (v *View) Words(col int) *table.Bag { return v.joined.bag(col) }

// Hashes returns what HashRows does.
func (v *View) Hashes(ctx context.Context) ([]uint64, error) {
	of := make([][]uint64, len(v.joined.blocks))
	var salt *salts
	for i, b := range v.joined.blocks {
		if i == 0 || len(b.recode) == 0 || &b.recode[0] != &v.joined.blocks[i-1].recode[0] {
			salt = saltsOf(b)
		}
		var err error
		if of[i], err = b.hashes(ctx, salt); err != nil {
			return nil, err
		}
	}
	if v.joined.refs == nil {
		return of[0], nil
	}
	hashes := make([]uint64, len(v.joined.refs))
	for row, r := range v.joined.refs {
		hashes[row] = of[r.block][r.row]
	}
	return hashes, nil
}

// Table returns a copy, which shares cells where it can.
func (v *View) Table(ctx context.Context) (*table.Table, error) {
	j := v.joined
	columns := make([]table.Column, len(v.Schema.Attributes))
	err := columnwise(ctx, len(columns), j.rows, func(i int) {
		switch {
		case v.Schema.Attributes[i].Kind == table.Nominal:
			columns[i].Codes = j.codes(i)
		case v.Schema.Attributes[i].Kind == table.Text:
			columns[i].Words = j.bag(i)
		case j.refs == nil:
			columns[i].Floats = j.blocks[0].columns[i].floats
		default:
			columns[i].Floats = j.floats(i)
		}
	})
	if err != nil {
		return nil, err
	}
	return table.New(v.Schema, columns, v.Weights)
}
