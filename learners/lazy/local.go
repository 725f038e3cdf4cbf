package lazy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// near is a row and the square of its distance from the one asked for.
type near struct {
	square float64
	row    int32
}

// nearest returns the k nearest distinct rows, the nearest first, and how far
// the next one is. Of equally near rows the first count.
func (m *Model) nearest(room *room, cells []table.Column, row int) (found []near, next float64) {
	n := m.table.Rows()
	if cap(room.distances) < n {
		room.distances = make([]near, n)
	}
	all := room.distances[:n]
	for r := range all {
		all[r] = near{0, int32(r)}
	}
	for j := range m.columns {
		if c := &m.columns[j]; c.values != nil {
			m.farNumber(all, c, m.table.Columns[j].Floats, cells[j].Floats[row])
		} else if c.codes != nil {
			own := cells[j].Codes[row]
			for r, code := range c.codes {
				if code != own || own < 0 {
					all[r].square++
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.square, b.square), cmp.Compare(a.row, b.row)) })
	k := min(m.lesson.Settings.K, n)
	next = all[k-1].square
	if k < n {
		next = all[k].square
	}
	return all[:k], next
}

// farNumber adds what a number's column contributes.
func (m *Model) farNumber(all []near, c *column, floats []float64, own float64) {
	for r, v := range floats {
		d := 1.0
		switch {
		case table.IsMissing(v) || table.IsMissing(own):
		case v == own:
			d = 0
		case c.scale > 0:
			d = min(math.Abs(v/c.scale-own/c.scale), 1)
		}
		all[r].square += d * d
	}
}

// neighbourhood returns the table that the base is learnt from for a row.
func (m *Model) neighbourhood(room *room, cells []table.Column, row int) (*table.Table, error) {
	found, next := m.nearest(room, cells, row)
	rows := make([]int, len(found))
	for i, f := range found {
		rows[i] = int(f.row)
	}
	t := m.table.Select(rows)
	weights := make([]float64, len(found))
	reach := math.Sqrt(next) * (1 + 1e-9)
	total, kernels := 0.0, 0.0
	for i, f := range found {
		w := m.table.Weight(rows[i])
		total += w
		if m.lesson.Settings.Kernel == "tricube" && reach > 0 {
			d := math.Sqrt(f.square) / reach
			k := 1 - d*d*d
			w *= max(k*k*k, 1e-6)
		}
		weights[i] = w
		kernels += w
	}
	for i := range weights { // together they weigh what the rows do
		weights[i] *= total / kernels
	}
	return table.New(t.Schema, t.Columns, weights)
}

// local learns the base from the neighbourhood of a row, and lets it answer.
func (m *Model) local(ctx context.Context, room *room, t *table.Table, row int, out *learn.Predictions) error {
	around, err := m.neighbourhood(room, t.Columns, row)
	if err != nil {
		return err
	}
	if m.classes > 0 && m.unanimous(around) {
		clear(room.now)
		for r := range around.Rows() {
			room.now[around.Columns[m.target].Codes[r]] += around.Weight(r)
		}
		m.smooth(room.now, out.Row(row))
		return nil
	}
	model, one, err := m.learnt(ctx, around, t, row)
	if err != nil {
		return err
	}
	said := learn.NewPredictions(model, 1)
	if err := model.Predict(ctx, one, said); err != nil {
		return err
	}
	if m.classes == 0 {
		out.Mean[row], out.Low[row], out.High[row] = said.Mean[0], said.Low[0], said.High[0]
		return nil
	}
	p := out.Row(row)
	clear(p)
	for c, name := range model.Schema().Attributes[model.Target()].Values {
		if at := m.schema.Attributes[m.target].Code(name); at >= 0 {
			p[at] = said.P[c]
		}
	}
	return nil
}

// unanimous reports whether rows are all of one class.
func (m *Model) unanimous(t *table.Table) bool {
	codes := t.Columns[m.target].Codes
	return !slices.ContainsFunc(codes, func(c int32) bool { return c != codes[0] })
}

// learnt returns the base's model of some rows, and the row asked for as it
// wants it.
func (m *Model) learnt(ctx context.Context, around, t *table.Table, row int) (learn.Model, *table.Table, error) {
	l, err := m.lesson.Settings.learner(m.classes > 0, m.classes == 0)
	if err != nil {
		return nil, nil, err
	}
	model, err := l.Learn(quiet{ctx}, learn.Task{Table: around, Target: m.lesson.Target, Seed: m.lesson.Seed})
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, fmt.Errorf("base=%s could not be learnt from the %d nearest rows: %w", m.lesson.Settings.Base, around.Rows(), err)
	}
	one, _, err := table.Conform(t.Slice(row, row+1), model.Schema(), false)
	return model, one, err
}

// quiet is a context whose progress nobody hears: what one row takes is no part
// of a larger work.
type quiet struct{ context.Context }

// Value hides what the context carries.
func (quiet) Value(any) any { return nil }
