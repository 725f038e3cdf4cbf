package life

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

const (
	regionSteps = 80  // answers a direction
	regionSpots = 500 // rows that are drawn
	regionEdge  = .05 // of the range beyond the rows on each side
)

// regions draws what a model answers over two columns, the others at the middle
// or the most frequent value of the rows, which are drawn too.
func (h *Home) regions(ctx context.Context, p *Part, what *Drawing) (func(io.Writer) error, error) {
	m, err := Answerer(p)
	if err != nil {
		return nil, err
	}
	schema := m.Schema()
	x, y, err := twoColumns(what.Regions, schema)
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	if x == y || x == m.Target() || y == m.Target() {
		return nil, remedy.Misuse(fmt.Errorf("columns %s: expected two different columns, neither the target", what.Regions))
	}
	rows, err := h.drawnRows(ctx, p, what)
	if err != nil {
		return nil, remedy.New(Remedy{Kind: remedy.NameData}, "regions are drawn where there are rows: %v", err)
	}
	words := say.New(schema, m.Target(), p.Words)
	name := func(column int) string { return words.Label(schema.Attributes[column].Name) }
	r := &draw.Regions{Title: fmt.Sprintf("%s: %s by %s and %s", p.Version.Model, name(m.Target()), name(x), name(y))}
	if r.X, err = axisOf(rows, x); err != nil {
		return nil, err
	}
	if r.Y, err = axisOf(rows, y); err != nil {
		return nil, err
	}
	if err := answers(ctx, m, rows, x, y, r); err != nil {
		return nil, err
	}
	spots(rows, x, y, m.Target(), r)
	wordsOfRegions(words, r)
	if len(schema.Attributes) > 3 {
		h.remark(Note{Text: "the other columns stand at the middle or the most frequent value of the rows"})
	}
	return r.SVG, nil
}

// wordsOfRegions puts the names that people gave to columns and values in the
// place of those that the data have.
func wordsOfRegions(s *say.Speaker, r *draw.Regions) {
	named := func(column string, values []string) []string {
		if values == nil {
			return nil
		}
		said := make([]string, len(values))
		for i, v := range values {
			said[i] = s.Value(column, v)
		}
		return said
	}
	for _, axis := range []*draw.Axis{&r.X, &r.Y} {
		axis.Values = named(axis.Name, axis.Values)
		axis.Name = s.Label(axis.Name)
	}
	r.Classes = named(s.Schema.Attributes[s.Target].Name, r.Classes)
}

// drawnRows are those that were named, or else those that the model learnt.
func (h *Home) drawnRows(ctx context.Context, p *Part, what *Drawing) (*table.Table, error) {
	if what.On != "" {
		return h.rowsFor(ctx, what.On, p, what)
	}
	return h.allRows(ctx, p, what)
}

// axisOf is the range of a column, or its values.
func axisOf(rows *table.Table, column int) (draw.Axis, error) {
	a := &rows.Schema.Attributes[column]
	axis := draw.Axis{Name: a.Name, Low: math.Inf(1), High: math.Inf(-1), Steps: regionSteps}
	switch a.Kind {
	case table.Nominal:
		axis.Values, axis.Steps = a.Values, len(a.Values)
		if axis.Steps > regionSteps {
			return axis, fmt.Errorf("column %q has %d values, too many to draw side by side", a.Name, axis.Steps)
		}
	case table.Numeric:
		for _, v := range rows.Columns[column].Floats {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				axis.Low, axis.High = min(axis.Low, v), max(axis.High, v)
			}
		}
	}
	if axis.Steps == 0 || axis.Values == nil && axis.Low > axis.High {
		return axis, fmt.Errorf("no row has a value in column %q", a.Name)
	}
	if a.Time && axis.High-axis.Low < 3*86400 {
		axis.Unit = 3600
	} else if a.Time {
		axis.Unit = 86400
	}
	if a.Date || a.Time {
		axis.Text = func(x float64) string { return dayOf(a, x) }
	}
	if axis.Values == nil {
		edge := regionEdge * (axis.High - axis.Low)
		if edge == 0 {
			edge = .5
		}
		axis.Low, axis.High = axis.Low-edge, axis.High+edge
	}
	return axis, nil
}

// answers fills in what the model says at each place.
func answers(ctx context.Context, m learn.Model, rows *table.Table, x, y int, r *draw.Regions) error {
	schema := m.Schema()
	places := r.X.Steps * r.Y.Steps
	asked := *schema // hidden states, if they are the target, are no column of tables
	asked.Attributes = schema.Attributes[:min(len(rows.Columns), len(schema.Attributes))]
	grid, err := typical(&asked, rows, places)
	if err != nil {
		return err
	}
	place := func(column int, axis *draw.Axis, step func(i int) int) {
		c := &grid.Columns[column]
		for i := range places {
			if axis.Values != nil {
				c.Codes[i] = int32(step(i))
			} else {
				c.Floats[i] = axis.Middle(step(i))
			}
		}
	}
	place(x, &r.X, func(i int) int { return i % r.X.Steps })
	place(y, &r.Y, func(i int) int { return i / r.X.Steps })
	out := learn.NewPredictions(m, places)
	if err := m.Predict(ctx, grid, out); err != nil {
		return err
	}
	target := &schema.Attributes[m.Target()]
	r.Cells = make([]draw.Answer, places)
	for i := range r.Cells {
		if out.Classes == 0 {
			r.Cells[i].Number = out.Mean[i]
			continue
		}
		best := learn.Best(out.Row(i), target.Values)
		r.Cells[i] = draw.Answer{Class: best, P: out.Row(i)[best]}
	}
	if out.Classes > 0 {
		r.Classes = target.Values
	}
	return nil
}

// typical returns so many copies of a row that has the middle number or the
// most frequent value of each column, and of texts nothing.
func typical(schema *table.Schema, rows *table.Table, copies int) (*table.Table, error) {
	b := table.NewBuilder(schema)
	for range copies {
		b.End()
	}
	t, err := b.Table()
	if err != nil {
		return nil, err
	}
	for j := range min(len(rows.Columns), len(t.Columns)) {
		from, to := &rows.Columns[j], &t.Columns[j]
		switch {
		case from.Floats != nil:
			known := slices.DeleteFunc(slices.Clone(from.Floats), math.IsNaN)
			if len(known) == 0 {
				continue
			}
			slices.Sort(known)
			fill(to.Floats, known[len(known)/2])
		case from.Codes != nil:
			counts := make([]int, len(schema.Attributes[j].Values))
			for _, c := range from.Codes {
				if c >= 0 && int(c) < len(counts) {
					counts[c]++
				}
			}
			if len(counts) > 0 && slices.Max(counts) > 0 {
				fill(to.Codes, int32(slices.Index(counts, slices.Max(counts))))
			}
		}
	}
	return t, nil
}

func fill[T any](cells []T, v T) {
	for i := range cells {
		cells[i] = v
	}
}

// spots are rows, evenly drawn from all, to show over the answers.
func spots(rows *table.Table, x, y, target int, r *draw.Regions) {
	n := min(rows.Rows(), regionSpots)
	random := rand.New(rand.NewPCG(1, 0)) // each picture the same
	at := func(axis *draw.Axis, column, row int) float64 {
		if axis.Values == nil {
			return rows.Columns[column].Floats[row]
		}
		if code := rows.Columns[column].Codes[row]; code >= 0 {
			// Rows with the same value lie beside each other, not upon.
			return float64(code) + .7*(random.Float64()-.5)
		}
		return math.NaN()
	}
	for i := range n {
		row := i * rows.Rows() / n
		s := draw.Spot{X: at(&r.X, x, row), Y: at(&r.Y, y, row), Class: -1, Number: math.NaN()}
		if target < len(rows.Columns) { // of hidden states nobody knows
			switch c := &rows.Columns[target]; {
			case r.Classes != nil:
				s.Class = int(max(c.Codes[row], -1))
			case c.Floats != nil:
				s.Number = c.Floats[row]
			}
		}
		r.Spots = append(r.Spots, s)
	}
}
