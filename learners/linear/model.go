package linear

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
)

// Model predicts a number. It is immutable.
type Model struct {
	settings settings
	blocks   []*block // in the order in which the sources came
	total    *block   // their sum, in the union of their schemas

	written *bundle.Shelf[*block] // the saved form of blocks, for the models that come from this one too

	choice *choice
	fit    *fit
	plane  *plane
	sigma  float64 // deviation of a row from the sum, in the unit of the target
	reach  float64 // Student's t: how many of them hold 95 %
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Remarker  = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
)

// newModel adds up the blocks, in the order of their identifiers, so that the
// sum does not depend on the order in which the sources came, and fits it.
func newModel(ctx context.Context, s settings, blocks []*block, written *bundle.Shelf[*block]) (*Model, error) {
	var schemas []*table.Schema
	for _, b := range blocks {
		if !slices.Contains(schemas, b.schema) {
			schemas = append(schemas, b.schema)
		}
	}
	union, err := table.Union(schemas...)
	if err != nil {
		return nil, err
	}
	target := union.Index(blocks[0].attribute().Name)
	if err := checkTerms(union, target, s.Degree); err != nil {
		return nil, err
	}
	m := &Model{settings: s, blocks: blocks, written: written}
	m.total = newBlock(learn.Source{}, newLayout(union, target, s.Degree))
	ordered := slices.SortedFunc(slices.Values(blocks), func(a, b *block) int { return cmp.Compare(a.source.ID, b.source.ID) })
	m.total.centre(ordered)
	for _, b := range ordered {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.total.absorb(b)
	}
	if err := checkWeight(m.total.weight); err != nil {
		return nil, err
	}
	if !(m.total.weight > 0) {
		return nil, fmt.Errorf("no row with a target is left to learn from")
	}
	return m, m.solve(ctx)
}

// centre gives each column the frame of some blocks' numbers together: the
// largest of their units, and their mean: a ridge weighs powers around it, so
// that it must not depend on who brought which rows.
func (b *block) centre(blocks []*block) {
	for j := range b.frames {
		f, weight, sum := frame{}, 0.0, 0.0
		for _, o := range blocks {
			if k := o.column(b.schema, j); k >= 0 && o.frames[k].Set && o.weight > 0 {
				if !f.Set {
					f = o.frames[k]
				}
				f = f.raised(o.frames[k].Exp)
			}
		}
		for _, o := range blocks {
			k := o.column(b.schema, j)
			if k < 0 || !o.frames[k].Set || o.weight == 0 {
				continue
			}
			share, mean := 1.0, o.mean[o.size()-1]
			if k != o.target {
				share, mean = 1-o.mean[o.missing(k)], o.mean[o.first[k]]
			}
			unit := math.Ldexp(1, o.frames[k].Exp-f.Exp)
			weight += o.weight * share
			sum += o.weight * unit * (share*o.frames[k].Shift + mean)
		}
		if weight > 0 {
			f.Shift = sum / weight
		}
		b.frames[j] = f
	}
}

// solve fits the sum of the sources.
func (m *Model) solve(ctx context.Context) (err error) {
	b := m.total
	if m.choice, err = b.choose(ctx); err != nil {
		return err
	}
	if m.fit, err = b.least(ctx, m.choice, m.settings); err != nil {
		return err
	}
	y := math.Sqrt(b.moment(b.terms, b.terms) / b.weight)
	weights := make([]float64, b.terms)
	for k, i := range m.fit.terms {
		weights[i] = m.fit.weights[k] * (y / m.choice.deviation[i])
	}
	m.plane = newPlane(b.layout, b.frames, b.mean, 1)
	m.plane.weigh(weights)
	f := b.frames[b.target]
	unit := math.Ldexp(1, f.Exp)
	m.plane.unit = unit
	m.plane.prior[0] = bounded((b.mean[b.terms] + f.Shift) * unit)
	// What the rows leave of the target's variance is divided by the rows
	// that the fit did not use up; where none is left, the target's own
	// variance stands in for what nobody can know.
	left := b.weight - 1 - m.fit.freedom
	variance := m.fit.rest * b.weight / max(left, 1)
	if left < 1 {
		variance = m.fit.rest*b.weight + min(1-left, 1)
	}
	m.sigma = y * math.Sqrt(variance)
	m.reach = stat.T(0.95, max(left, 1))
	if !finite(m.sigma) || slices.ContainsFunc(m.plane.weights, func(w float64) bool { return !finite(w) }) {
		return fmt.Errorf("the statistics do not give a finite fit")
	}
	return nil
}

// Learner returns "linear".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes that the model knows.
func (m *Model) Schema() *table.Schema { return m.total.schema }

// Target returns the index of the predicted column.
func (m *Model) Target() int { return m.total.target }

// Size counts the rows and the rules.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: m.total.weight, Rules: m.plane.ruleCount() + 1}
}

// Kept returns nothing: the model keeps statistics, and no rows.
func (m *Model) Kept(context.Context) ([]learn.Learnt, error) { return nil, nil }

// Predict answers with the sum of the terms, and the interval that holds 95 %
// of new rows: what the fit leaves, wider the further out a row lies (its
// leverage).
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.total.schema, t); err != nil {
		return err
	}
	rows := t.Rows()
	if room := min(len(out.Mean), len(out.Low), len(out.High)); room < rows {
		return fmt.Errorf("room for %d predictions, expected %d", room, rows)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		score, terms, own := make([]float64, 1), make([]float64, m.total.terms), make([]float64, len(m.fit.terms))
		for r := lo; r < hi; r++ {
			m.plane.scores(t.Columns, r, score)
			wide := m.wide(t.Columns, r, terms, own)
			out.Mean[r] = score[0]
			out.Low[r], out.High[r] = bounded(score[0]-wide), bounded(score[0]+wide)
		}
	})
}

// wide returns how far a new row may lie from the answer: t·σ·√(1 + leverage).
func (m *Model) wide(columns []table.Column, row int, terms, own []float64) float64 {
	if m.sigma == 0 {
		return 0
	}
	m.plane.centred(columns, row, terms)
	for k, i := range m.fit.terms {
		own[k] = terms[i] / m.choice.deviation[i]
	}
	n, leverage := len(own), 0.0
	for i := range n {
		x := floats.Dot(m.fit.inverse[i*n:i*n+i+1], own[:i+1])
		leverage += x * x
	}
	wide := m.reach * m.sigma * math.Sqrt(1+(1+leverage)/m.total.weight) * m.plane.unit
	if !(wide < math.MaxFloat64/4) {
		return math.MaxFloat64 / 4
	}
	return wide
}

// bounded returns a number that can be written.
func bounded(x float64) float64 { return min(max(x, -math.MaxFloat64/2), math.MaxFloat64/2) }
