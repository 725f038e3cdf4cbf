package nearest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// placeColumn is a column that kept rows have besides their own: the row's
// place in its source, counted from 1, so that a case can be found again.
const placeColumn = "\x00row"

// placed returns a table with the places of its rows behind the columns.
func placed(t *table.Table, before int) (*table.Table, error) {
	places := make([]float64, t.Rows())
	for r := range places {
		places[r] = float64(before + r + 1)
	}
	return withPlaces(t, places)
}

func withPlaces(t *table.Table, places []float64) (*table.Table, error) {
	schema := &table.Schema{Attributes: append(slices.Clone(t.Schema.Attributes), table.Attribute{Name: placeColumn, Kind: table.Numeric})}
	return table.New(schema, append(slices.Clone(t.Columns), table.Column{Floats: places}), t.Weights)
}

// gather takes in a task's rows.
func gather(ctx context.Context, task learn.Task, name string) (*kept.Rows, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target == learn.NoTarget {
		return nil, fmt.Errorf("%s needs a column to predict; name one of %s", name, strings.Join(task.Table.Schema.Names(), ", "))
	}
	if task.Table.Schema.Attributes[target].Kind == table.Text {
		return nil, fmt.Errorf("target %q is text; expected classes or numbers", task.Target)
	}
	t, err := placed(task.Table, 0)
	if err != nil {
		return nil, err
	}
	gathering := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := gathering.Add(ctx, t); err != nil {
		return nil, err
	}
	return gathering.Rows(ctx)
}

// cases are the rows that a model keeps, in row order: source after source, in
// the order in which they came, each row a case. With ties=cells they stand by
// their inputs, column by column in the order of names, then by target and
// weight, and last by who brought them; rows with equal inputs stand together,
// as one case.
type cases struct {
	schema *table.Schema
	target int
	table  *table.Table // all rows, in row order
	weight float64      // of all rows
	source []int32      // of each row
	place  []int32      // of each row in its source
	named  []learn.Source
	starts []int32   // rows starts[i] to starts[i+1] have the inputs of case i
	worth  []float64 // weight of each case

	classes []int32   // of each row, for a nominal target
	numbers []float64 // of each row in units of scale, for a numeric target
	means   []float64 // of each case, likewise
	scale   float64   // a power of two, so that nothing is rounded

	estate *estate
}

// count returns the number of cases.
func (c *cases) count() int { return len(c.worth) }

// casesOf puts kept rows into order.
func casesOf(ctx context.Context, rows *kept.Rows, target, ties string) (*cases, error) {
	view, err := rows.View(ctx)
	if err != nil {
		return nil, err
	}
	wide := view.Schema
	schema := &table.Schema{}
	var own []int // columns of the wide schema
	for i := range wide.Attributes {
		if wide.Attributes[i].Name != placeColumn {
			schema.Attributes = append(schema.Attributes, wide.Attributes[i])
			own = append(own, i)
		}
	}
	c := &cases{schema: schema, target: schema.Index(target)}
	if c.target < 0 || schema.Attributes[c.target].Kind == table.Text {
		return nil, fmt.Errorf("no source has the target %q", target)
	}
	learnt, err := rows.Learnt(ctx, wide)
	if err != nil {
		return nil, err
	}
	columns := make([]table.Column, len(own))
	var weights []float64
	for s, l := range learnt {
		c.named = append(c.named, l.Source)
		for i, from := range own {
			columns[i].Codes = append(columns[i].Codes, l.Table.Columns[from].Codes...)
			columns[i].Floats = append(columns[i].Floats, l.Table.Columns[from].Floats...)
		}
		places := wide.Index(placeColumn)
		for r := range l.Table.Rows() {
			c.source = append(c.source, int32(s))
			place := int32(0)
			if places >= 0 && l.Table.Columns[places].Floats != nil {
				if p := l.Table.Columns[places].Floats[r]; p >= 1 && p <= math.MaxInt32 {
					place = int32(p)
				}
			}
			c.place = append(c.place, place)
			weights = append(weights, l.Table.Weight(r))
		}
	}
	if len(weights) == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	if c.table, err = table.New(schema, columns, weights); err != nil {
		return nil, err
	}
	c.order(ties)
	c.group(ties)
	c.own()
	return c, c.targets()
}

// order puts the rows into row order.
func (c *cases) order(ties string) {
	byName := c.inputs()
	compare := func(a, b int) int {
		if d := cmp.Or(cmp.Compare(c.source[a], c.source[b]), cmp.Compare(c.place[a], c.place[b])); ties == byRow && d != 0 {
			return d
		}
		for _, j := range byName {
			if d := compareCells(&c.table.Columns[j], a, b); d != 0 {
				return d
			}
		}
		return cmp.Or(compareCells(&c.table.Columns[c.target], a, b), cmp.Compare(c.table.Weight(a), c.table.Weight(b)),
			cmp.Compare(c.source[a], c.source[b]), cmp.Compare(c.place[a], c.place[b]))
	}
	rows := make([]int, c.table.Rows())
	for r := range rows {
		rows[r] = r
	}
	slices.SortFunc(rows, compare)
	c.table = c.table.Select(rows)
	source, place := c.source, c.place
	c.source, c.place = make([]int32, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		c.source[i], c.place[i] = source[r], place[r]
	}
}

// inputs returns the columns besides the target, in the order of their names.
func (c *cases) inputs() []int {
	var inputs []int
	for j := range c.schema.Attributes {
		if j != c.target {
			inputs = append(inputs, j)
		}
	}
	slices.SortFunc(inputs, func(a, b int) int {
		return cmp.Compare(c.schema.Attributes[a].Name, c.schema.Attributes[b].Name)
	})
	return inputs
}

func compareCells(c *table.Column, a, b int) int {
	if c.Floats != nil {
		return cmp.Compare(c.Floats[a], c.Floats[b]) // missing first
	}
	return cmp.Compare(c.Codes[a], c.Codes[b])
}

// group finds the rows with equal inputs, where those are one case.
func (c *cases) group(ties string) {
	inputs := c.inputs()
	for r := range c.table.Rows() {
		same := ties != byRow && r > 0 && !slices.ContainsFunc(inputs, func(j int) bool { return compareCells(&c.table.Columns[j], r-1, r) != 0 })
		if !same {
			c.starts = append(c.starts, int32(r))
			c.worth = append(c.worth, 0)
		}
		c.worth[len(c.worth)-1] += c.table.Weight(r)
		c.weight += c.table.Weight(r)
	}
	c.starts = append(c.starts, int32(c.table.Rows()))
}

// targets reads what is to be predicted.
func (c *cases) targets() error {
	column := &c.table.Columns[c.target]
	if c.schema.Attributes[c.target].Kind == table.Nominal {
		c.classes = column.Codes
		for _, class := range c.classes {
			if class < 0 {
				return fmt.Errorf("a row without a class was kept")
			}
		}
		return nil
	}
	most := 0.0
	for _, y := range column.Floats {
		if table.IsMissing(y) {
			return fmt.Errorf("a row without a target was kept")
		}
		if math.IsInf(y, 0) {
			return fmt.Errorf("target %q is infinite in a row, and has no mean; leave such rows out", c.schema.Attributes[c.target].Name)
		}
		most = max(most, math.Abs(y))
	}
	c.scale = scaleOf(most)
	c.numbers = make([]float64, len(column.Floats))
	for r, y := range column.Floats {
		c.numbers[r] = y / c.scale
	}
	c.means = make([]float64, c.count())
	for i := range c.means {
		sum := 0.0
		for r := c.starts[i]; r < c.starts[i+1]; r++ {
			sum += c.table.Weight(int(r)) * c.numbers[r]
		}
		c.means[i] = sum / c.worth[i]
	}
	return nil
}

// scaleOf returns the unit of numbers of which this is the largest.
func scaleOf(most float64) float64 {
	_, exponent := math.Frexp(most)
	return math.Ldexp(1, min(exponent, 1023))
}

// classCount returns the number of classes, 0 for a numeric target.
func (c *cases) classCount() int {
	if c.classes == nil {
		return 0
	}
	return len(c.schema.Attributes[c.target].Values)
}

// number returns a number in units of scale as it is, kept finite.
func (c *cases) number(y float64) float64 {
	return min(max(y*c.scale, -math.MaxFloat64), math.MaxFloat64)
}

// last returns the place of a source's last row, 0 if it is not there.
func (c *cases) last(id string) int {
	last := int32(0)
	for r, s := range c.source {
		if c.named[s].ID == id {
			last = max(last, c.place[r])
		}
	}
	return int(last)
}
