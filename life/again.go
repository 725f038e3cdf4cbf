package life

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// divisionSetting is by which column an estimate was asked to keep rows together
// ("group:") or in time ("time:"); "id:" is of a column that was left out.
const divisionSetting = reserved + "division"

// onceMore are the rows that a model learnt, to be learnt again without some of
// them. They are in the order of their files where those are still what they
// were, so that what learn estimated and what is said of the model later come
// from the same folds; else as the model keeps them, equal ones apart.
type onceMore struct {
	table  *table.Table
	groups []int
	times  []float64
	by     Division
}

// again returns the rows that a model learnt; nil if they are not there, or are
// more than the most.
func (h *Home) again(ctx context.Context, p *Part, at Elsewhere, most int) (*onceMore, error) {
	quiet := *h
	quiet.Note = nil
	rows, err := quiet.LearntRows(ctx, p, at)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	all, err := knowledge.Join(rows[0].Table.Schema, rows)
	if err != nil || all.Linked != nil || all.Rows() > most {
		return nil, err
	}
	kept, err := keptRows(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	if by, _ := dividedBy(p); kept != nil || by.Group != "" { // else these are the files' rows
		if o := quiet.fromFiles(ctx, p, at, all); o != nil {
			return o, nil
		}
	}
	o := &onceMore{table: apiece(all, most)}
	o.divide(p, o.table)
	return o, nil
}

// fromFiles reads the rows that a model learnt from their files again; nil unless
// they are as many as these and weigh as much.
func (h *Home) fromFiles(ctx context.Context, p *Part, at Elsewhere, kept *table.Table) *onceMore {
	schema := p.Schema()
	by, _ := dividedBy(p)
	extra := by.Group != "" && by.Group != NoDivision && schema.Index(by.Group) < 0
	if extra {
		schema = table.CopySchema(schema)
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: by.Group, Kind: table.Nominal})
	}
	var parts []learn.Learnt
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind == store.Tell {
			continue
		}
		if !isFile(v.Source) && at.find(v.Source) == "" {
			return nil
		}
		t, _, err := h.readAgain(ctx, p, v, at, table.Options{Schema: schema, Extend: extra})
		if err != nil || t.Linked != nil {
			return nil
		}
		parts = append(parts, learn.Learnt{Table: t})
	}
	if len(parts) == 0 {
		return nil
	}
	all, err := knowledge.Join(parts[0].Table.Schema, parts)
	if err != nil {
		return nil
	}
	known := answered(all, p.Target())
	if weight := weightIn(kept, answered(kept, p.Target())); math.Abs(weightIn(all, known)-weight) > 1e-9*weight {
		return nil // of some there are two, or not all
	}
	o := &onceMore{table: all.Select(known)}
	o.divide(p, o.table)
	if extra {
		o.table = evaluate.Without(o.table, o.table.Schema.Index(by.Group))
	}
	o.table, _, err = table.Conform(o.table, kept.Schema, false)
	if err != nil {
		return nil
	}
	return o
}

// divide finds by which column rows are kept together or in time, as learn does.
func (o *onceMore) divide(p *Part, t *table.Table) {
	by, sure := dividedBy(p)
	if col := t.Schema.Index(by.Group); by.Group != "" && !sure && (col < 0 || !groupsRows(t, col)) {
		by = Division{}
	}
	if by == (Division{}) {
		by = FindDivision(t, p.Target())
	}
	col := t.Schema.Index(by.Group + by.Time)
	if col < 0 || col == p.Target() || t.Sequence != nil {
		return
	}
	if groups, times, err := by.of(t, col); err == nil {
		o.groups, o.times, o.by = groups, times, by
	}
}

// splits are the folds, each with what is learnt and what is asked.
func (o *onceMore) splits(p *Part, folds int) ([]evaluate.Split, error) {
	spec := evaluate.Spec{Table: o.table, Target: p.Target(), Seed: p.Version.Seed, Groups: o.groups, Times: o.times}
	splits, err := spec.Splits(folds)
	if err != nil && o.by != (Division{}) { // as learn does
		spec.Groups, spec.Times, o.by = nil, nil, Division{}
		splits, err = spec.Splits(folds)
	}
	return splits, err
}

// dividedBy is by which column a model's own estimate divided the rows, as far as
// that was asked for, or is told by a column that was left out as an id: then it is
// not sure that rows come together by it.
func dividedBy(p *Part) (by Division, sure bool) {
	for _, v := range slices.Backward(p.Versions) {
		switch kind, name, _ := strings.Cut(v.Settings[divisionSetting], ":"); kind {
		case "group":
			return Division{Group: name}, true
		case "time":
			return Division{Time: name}, true
		case "id":
			return Division{Group: name}, false
		}
	}
	return Division{}, false
}

// withDivision returns settings that say by which column an estimate divides rows.
func withDivision(settings map[string]string, by Division, leftOut []string) map[string]string {
	id := somebodyIn(leftOut)
	switch {
	case by.Group != "":
		settings[divisionSetting] = "group:" + by.Group
	case by.Time != "":
		settings[divisionSetting] = "time:" + by.Time
	case id != "":
		settings[divisionSetting] = "id:" + id
	}
	return settings
}

// answered are the rows whose target is known.
func answered(t *table.Table, target int) []int {
	var rows []int
	c := &t.Columns[target]
	for row := range t.Rows() {
		if c.Codes != nil && c.Codes[row] >= 0 || c.Floats != nil && !table.IsMissing(c.Floats[row]) {
			rows = append(rows, row)
		}
	}
	return rows
}

func weightIn(t *table.Table, rows []int) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += t.Weight(row)
	}
	return sum
}

// apiece takes apart rows that stand for several equal ones, as long as there are
// at most so many then; else into as many pieces as there are folds.
func apiece(t *table.Table, most int) *table.Table {
	if !slices.ContainsFunc(t.Weights, func(w float64) bool { return w > 1 }) {
		return t
	}
	pieces := math.Inf(1)
	sum := 0.0
	for _, w := range t.Weights {
		sum += w
	}
	if sum > float64(most) {
		pieces = calibrationFolds
	}
	var rows []int
	var weights []float64
	for row := range t.Rows() {
		w, n := t.Weight(row), 1.0
		if w == math.Trunc(w) {
			n = max(1, min(w, pieces))
		}
		for k := range int(n) {
			rows = append(rows, row)
			weights = append(weights, w)
			if n > 1 {
				weights[len(weights)-1] = math.Floor((w + float64(k)) / n)
			}
		}
	}
	parts := t.Select(rows)
	parts.Weights = weights
	return parts
}
