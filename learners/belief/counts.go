package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Where the graph is known before any row is (given, naive), the tables need no
// rows but, for each column, how often its cells occur together with those of its
// parents. keep=counts keeps these, per source, and no rows: each family is a table
// of its own distinct cells with a weight per source (of a number, its values), which
// learn/kept adds, merges and forgets exactly.

// counts are the families of a network.
type counts struct {
	total    *kept.Rows   // of the rows themselves: one cell, as often as there are rows
	columns  []string     // the columns, as they stand
	families []*kept.Rows // of each column: its parents, and the column last
}

// countable returns an error unless the settings need counts alone.
func (s *settings) countable() error {
	switch {
	case s.Keep != "counts":
		return nil
	case s.Structure != "given" && s.Structure != "naive":
		return fmt.Errorf("settings keep=counts and structure=%s: which counts are needed is known only of a graph that is, given or naive; have keep=rows", s.Structure)
	case s.Missing != "skip":
		return fmt.Errorf("settings keep=counts and missing=%s: cells that are shared out need their rows; have keep=rows", s.Missing)
	}
	return nil
}

// parentsOf returns the names of the parents of each column of a schema, without
// a look at any row.
func parentsOf(l *lesson, schema *table.Schema) ([][]int, error) {
	d := &data{settings: &l.Settings, schema: schema, target: learn.NoTarget}
	if l.Target != "" {
		d.target = schema.Index(l.Target)
	}
	n := len(schema.Attributes)
	g := &graph{data: d, parents: make([][]int, n), gains: make([]map[int]float64, n), required: map[[2]int]bool{}, forbidden: map[[2]int]bool{}}
	if err := g.wishes(); err != nil {
		return nil, err
	}
	arc := func(from, to int) {
		if from != to && !g.forbidden[[2]int{from, to}] && !slices.Contains(g.parents[to], from) && (schema.Attributes[from].Kind == table.Nominal || schema.Attributes[to].Kind == table.Numeric) {
			g.parents[to] = append(g.parents[to], from)
		}
	}
	if l.Settings.Structure == "naive" && d.target >= 0 {
		for v := range g.parents {
			arc(d.target, v)
		}
	}
	if l.Settings.Network == "" {
		return g.parents, nil
	}
	file, err := netfile.Parse("the network", []byte(l.Settings.Network))
	if err != nil {
		return nil, err
	}
	at := make([]int, len(file.Variables))
	for i := range file.Variables {
		if at[i] = schema.Index(file.Variables[i].Name); at[i] < 0 {
			return nil, fmt.Errorf("no row has the column %q of the network, which is learnt from rows as wholes; have keep=rows", file.Variables[i].Name)
		}
	}
	for i := range file.Variables {
		for _, p := range file.Variables[i].Parents {
			arc(at[p], at[i])
		}
	}
	return g.parents, nil
}

// with returns the counts with those of a table, which has all columns.
func (c *counts) with(ctx context.Context, t *table.Table, source learn.Source, known *table.Schema, l *lesson) (*counts, error) {
	t, _ = t.WithoutText(learn.NoTarget)
	if target := t.Schema.Index(l.Target); l.Target != "" && target >= 0 {
		weights := make([]float64, t.Rows())
		for r, class := range t.Columns[target].Codes {
			if class >= 0 {
				weights[r] = t.Weight(r)
			}
		}
		of := *t
		of.Weights = weights
		t = &of
	}
	parents, err := parentsOf(l, t.Schema)
	if err != nil {
		return nil, err
	}
	next := &counts{columns: t.Schema.Names(), families: make([]*kept.Rows, len(parents))}
	one, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "rows", Values: []string{"row"}}}}, []table.Column{{Codes: make([]int32, t.Rows())}}, t.Weights)
	if err != nil {
		return nil, err
	}
	add := func(to *kept.Rows, known *table.Schema, t *table.Table) (*kept.Rows, error) {
		if to == nil {
			to = &kept.Rows{}
		}
		few, err := distinct(t)
		if err != nil {
			return nil, err
		}
		g := to.Gather(source, learn.NoTarget, known)
		if err := g.Add(ctx, few); err != nil {
			return nil, err
		}
		return g.Rows(ctx)
	}
	if next.total, err = add(c.total, nil, one); err != nil {
		return nil, err
	}
	for v, name := range next.columns {
		if next.families[v], err = add(c.family(name), known, t.Project(append(slices.Clone(parents[v]), v))); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// mostDistinct bounds the combinations of names that distinct counts in a table.
const mostDistinct = 1 << 16

// distinct returns the rows of a table that differ, in the order in which they
// come first, each with the weight of all that are like it; a table of numbers, of
// too many combinations, or of weights whose sums are not exact as it is.
func distinct(t *table.Table) (*table.Table, error) {
	size := 1
	for j := range t.Columns {
		a := &t.Schema.Attributes[j]
		if size *= len(a.Values) + 1; a.Kind != table.Nominal || size > mostDistinct {
			return t, nil
		}
	}
	which := make([]int32, t.Rows())
	for j := range t.Columns {
		states := int32(len(t.Schema.Attributes[j].Values) + 1)
		for r, code := range t.Columns[j].Codes {
			if code < 0 && code != table.Missing {
				return t, nil
			}
			which[r] = which[r]*states + (max(code, -1) + 1)
		}
	}
	places := make([]int32, size) // one more than the place among those that differ
	var first []int32
	var weights []float64
	for r, at := range which {
		if places[at] == 0 {
			first, weights = append(first, int32(r)), append(weights, 0)
			places[at] = int32(len(first))
		}
		w := t.Weight(r)
		if w != math.Trunc(w) {
			return t, nil
		}
		weights[places[at]-1] += w
	}
	columns := make([]table.Column, len(t.Columns))
	for j := range columns {
		columns[j].Codes = make([]int32, len(first))
		for i, r := range first {
			columns[j].Codes[i] = t.Columns[j].Codes[r]
		}
	}
	return table.New(t.Schema, columns, weights)
}

// family returns the counts of a column, nil if there are none.
func (c *counts) family(name string) *kept.Rows {
	if i := slices.Index(c.columns, name); i >= 0 {
		return c.families[i]
	}
	return nil
}

// each returns the counts after something was done to all of them.
func (c *counts) each(do func(column string, of *kept.Rows) (*kept.Rows, error)) (*counts, error) {
	next := &counts{columns: c.columns, families: make([]*kept.Rows, len(c.families))}
	var err error
	if next.total, err = do("", c.total); err != nil {
		return nil, err
	}
	for v, of := range c.families {
		if next.families[v], err = do(c.columns[v], of); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// learnCounts fills in the tables of the known graph.
func learnCounts(ctx context.Context, c *counts, l lesson) (*Model, error) {
	views := make([]*kept.View, len(c.families))
	rows := &table.Schema{}
	for v, of := range c.families {
		var err error
		if views[v], err = of.View(ctx); err != nil {
			return nil, err
		}
		s := views[v].Schema
		rows.Attributes = append(rows.Attributes, s.Attributes[s.Index(c.columns[v])])
	}
	empty, err := table.New(rows, columnsOf(rows), nil)
	if err != nil {
		return nil, err
	}
	total, err := c.total.View(ctx)
	if err != nil {
		return nil, err
	}
	d, err := layOut(&l, rows)
	if err != nil {
		return nil, err
	}
	for r := range total.Rows() {
		d.weight += total.Weight(r)
	}
	if !(d.weight > 0 && d.weight <= 1e15) {
		return nil, fmt.Errorf("there are no rows to learn from, or they weigh too much (%v)", d.weight)
	}
	if err := d.columns(ctx, kept.ViewOf(empty)); err != nil {
		return nil, err
	}
	d.families = make([]*data, len(d.schema.Attributes))
	for v, view := range views {
		of := &data{settings: d.settings, file: d.file, schema: d.schema, target: d.target, rows: view.Rows(), weights: view.Weights}
		of.makeRoom()
		if err := of.columns(ctx, view); err != nil {
			return nil, err
		}
		d.families[v], d.numbers[v] = of, of.numbers[v]
	}
	parents, grown, err := d.structure(ctx, &l)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, kept: c, schema: d.schema, target: d.target, weight: d.weight, net: newNetwork(d.schema, parents), grown: grown}
	if err := d.fit(ctx, m); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// columnsOf returns columns without rows.
func columnsOf(s *table.Schema) []table.Column {
	columns := make([]table.Column, len(s.Attributes))
	for j := range columns {
		if s.Attributes[j].Kind == table.Numeric {
			columns[j].Floats = []float64{}
		} else {
			columns[j].Codes = []int32{}
		}
	}
	return columns
}

// counting is an update of counts.
type counting struct {
	model  *Model
	source learn.Source
	counts *counts
}

// Add counts the rows of a table.
func (u *counting) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := table.Extends(u.model.schema, t.Schema); err != nil {
		return err
	}
	next, err := u.counts.with(ctx, t, u.source, u.model.schema, &u.model.lesson)
	if err != nil {
		return err
	}
	u.counts = next
	return nil
}

// Freeze returns the network of all rows so far.
func (u *counting) Freeze(ctx context.Context) (learn.Model, error) {
	m, err := learnCounts(ctx, u.counts, u.model.lesson)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// mergeCounts returns the network of all models' counts.
func (m *Model) mergeCounts(ctx context.Context, others []learn.Model) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := m.kept
	for _, other := range others {
		o, ok := other.(*Model)
		switch {
		case !ok:
			return nil, fmt.Errorf("a network cannot be merged with a model of %s; merge models of one learner", other.Learner())
		case o.kept == nil || o.lesson.Settings != m.lesson.Settings || o.lesson.Target != m.lesson.Target:
			return nil, fmt.Errorf("the networks were learnt with different settings or targets; learn one of them again with the other's")
		case len(o.kept.columns) != len(all.columns):
			return nil, fmt.Errorf("one network has %d columns and the other %d, and what occurs together was not counted; have keep=rows", len(all.columns), len(o.kept.columns))
		}
		var err error
		if all, err = all.each(func(column string, of *kept.Rows) (*kept.Rows, error) {
			theirs := o.kept.total
			if column != "" {
				theirs = o.kept.family(column)
			}
			if theirs == nil {
				return nil, fmt.Errorf("one network has the column %q and the other has not, and what occurs together was not counted; have keep=rows", column)
			}
			return kept.MergeRows(ctx, of, theirs)
		}); err != nil {
			return nil, err
		}
	}
	merged, err := learnCounts(ctx, all, m.lesson)
	if err != nil {
		return nil, err
	}
	return merged, nil
}

// forgetCounts returns the network without the counts of some sources.
func (m *Model) forgetCounts(ctx context.Context, ids []string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	left, err := m.kept.each(func(_ string, of *kept.Rows) (*kept.Rows, error) { return of.Forget(ids...) })
	if err != nil {
		return nil, err
	}
	if len(left.total.Sources()) == 0 {
		return nil, fmt.Errorf("no source would be left to learn from; delete the model instead")
	}
	without, err := learnCounts(ctx, left, m.lesson)
	if err != nil {
		return nil, err
	}
	return without, nil
}

// Names of the parts of counts: which columns there are, and before the names of
// each family's parts its place, the rows' own being 0.
const (
	columnsPart = "columns"
	familyPart  = "family "
)

// parts returns the saved form of the counts.
func (c *counts) parts() ([]learn.Part, error) {
	data, err := learn.Marshal(c.columns)
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: columnsPart, Data: data}}
	for v, of := range append([]*kept.Rows{c.total}, c.families...) {
		own, err := of.Parts()
		if err != nil {
			return nil, err
		}
		for _, p := range own {
			p.Name = fmt.Sprintf("%s%d/%s", familyPart, v, p.Name)
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// decodeCounts reads what parts wrote.
func decodeCounts(parts []learn.Part) (*counts, error) {
	c := &counts{}
	if err := learn.Unmarshal(learn.FindPart(parts, columnsPart), &c.columns); err != nil {
		return nil, fmt.Errorf("part %q: %v", columnsPart, err)
	}
	if len(c.columns) > len(parts) {
		return nil, fmt.Errorf("%d columns of %d parts", len(c.columns), len(parts))
	}
	own := make([][]learn.Part, len(c.columns)+1)
	for _, p := range parts {
		place, name, ok := strings.Cut(strings.TrimPrefix(p.Name, familyPart), "/")
		if !ok || !strings.HasPrefix(p.Name, familyPart) {
			continue
		}
		at, err := strconv.Atoi(place)
		if err != nil || at < 0 || at >= len(own) {
			return nil, fmt.Errorf("part %q is of no column", p.Name)
		}
		p.Name = name
		own[at] = append(own[at], p)
	}
	for v, parts := range own {
		rows, err := kept.DecodeRows(parts)
		if err != nil {
			return nil, err
		}
		if len(rows.Sources()) == 0 {
			return nil, fmt.Errorf("column %d has no counts", v)
		}
		if v == 0 {
			c.total = rows
			continue
		}
		c.families = append(c.families, rows)
	}
	return c, c.check()
}

// check refuses counts whose columns are not what they say.
func (c *counts) check() error {
	for v, of := range c.families {
		view, err := of.View(context.Background())
		if err != nil {
			return err
		}
		if view.Schema.Index(c.columns[v]) < 0 || slices.Contains(c.columns[:v], c.columns[v]) {
			return fmt.Errorf("the counts of column %q are not there, or twice", c.columns[v])
		}
		if !slices.EqualFunc(of.Sources(), c.total.Sources(), func(a, b learn.Source) bool { return a.ID == b.ID }) {
			return fmt.Errorf("the counts of column %q have other sources than the rows", c.columns[v])
		}
	}
	return nil
}

// family returns the rows that a column's table is counted from.
func (d *data) family(v int) *data {
	if d.families != nil && d.families[v] != nil {
		return d.families[v]
	}
	return d
}
