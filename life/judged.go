package life

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// mostEstimated is how many rows a kept model is judged on in folds.
const mostEstimated = 20_000

// Estimate judges a kept model on rows that it has not seen: its learner learns
// its rows again in folds. Nil where there are none, too many, or no target.
func (h *Home) Estimate(ctx context.Context, p *Part, folds int) (*evaluate.Result, error) {
	if p.Target() == learn.NoTarget {
		return nil, nil
	}
	rows, err := h.again(ctx, p, nil, mostEstimated)
	if err != nil || rows == nil || rows.table.Rows() < 2*folds {
		return nil, nil // there is nothing to judge it by
	}
	return evaluate.CrossValidate(ctx, evaluate.Spec{
		Data: p.Name, Table: rows.table, Target: p.Target(), Learner: p.Version.Learner, Seed: p.Version.Seed, Clock: h.now, Groups: rows.groups, Times: rows.times,
		New: func() (learn.Learner, error) { return h.learnerAgain(ctx, p, nil) },
	}, folds)
}

// RuleRows are rows that a model learnt from and that a rule covers.
type RuleRows struct {
	Rule    string    `json:"rule"`
	Rows    []RuleRow `json:"rows"`
	Covered int       `json:"covered"`
	Right   int       `json:"right"`
	Of      int       `json:"of"` // rows that are kept
}

// RuleRow is one of them. Rows count from 1 in their source, as it is kept.
type RuleRow struct {
	Source string         `json:"source"`
	Row    int            `json:"row"`
	Cells  map[string]any `json:"cells"`
	Right  *bool          `json:"right,omitempty"` // whether the rule is right about it
}

// ErrNoRows says that a model keeps no rows.
var ErrNoRows = errors.New("the model keeps no rows")

// RowsOfRule lists rows that a rule covers, by its id or the beginning of it, only
// those that it is wrong about if so asked.
func (h *Home) RowsOfRule(ctx context.Context, p *Part, id string, wrong bool, offset, limit int) (*RuleRows, error) {
	e, err := findRule(p.Model, id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, remedy.New(Remedy{Kind: remedy.SeeRules, What: p.Name}, "%s has no rule with the id %q", p.Name, id)
	}
	base, err := rule.Parse("the rule", []byte(e.Text))
	if err != nil || len(base.Rules) != 1 {
		return nil, errors.Join(err, errors.New("only the rows of an IF rule can be listed"))
	}
	rows, err := h.LearntRows(ctx, p, nil)
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoRows, p.Name)
	}
	list := &RuleRows{Rule: e.ID, Rows: []RuleRow{}}
	listed := 0
	for _, source := range rows {
		matcher, err := rule.NewMatcher(base.Rules[0].If, source.Table.Schema)
		if err != nil {
			return nil, err
		}
		list.Of += source.Table.Rows()
		for row := range source.Table.Rows() {
			if !matcher.MatchRow(source.Table, row) {
				continue
			}
			list.Covered++
			right, known := rightAbout(e, source.Table, row)
			if right {
				list.Right++
			}
			if wrong && (right || !known) {
				continue
			}
			if listed++; listed <= offset || len(list.Rows) >= limit {
				continue
			}
			r := RuleRow{Source: source.Source.Name, Row: row + 1, Cells: cells(source.Table, row)}
			if known {
				r.Right = &right
			}
			list.Rows = append(list.Rows, r)
		}
	}
	return list, ctx.Err()
}

// rightAbout reports whether a rule is right about a row, if that is known.
func rightAbout(e *RuleEntry, t *table.Table, row int) (right, known bool) {
	if e.Then == nil {
		return false, false
	}
	at := t.Schema.Index(e.Then.Column)
	if at < 0 || t.Columns[at].Codes == nil || t.Columns[at].Codes[row] < 0 {
		return false, false
	}
	return t.Schema.Attributes[at].Values[t.Columns[at].Codes[row]] == e.Then.Value, true
}

// cells are those of a row that are known.
func cells(t *table.Table, row int) map[string]any {
	all := map[string]any{}
	for i := range t.Schema.Attributes {
		a, c := &t.Schema.Attributes[i], &t.Columns[i]
		switch {
		case c.Floats != nil && !table.IsMissing(c.Floats[row]):
			if all[a.Name] = c.Floats[row]; a.Date || a.Time || c.Floats[row]-c.Floats[row] != 0 {
				all[a.Name] = a.Format(c.Floats[row])
			}
		case c.Codes != nil && c.Codes[row] >= 0:
			all[a.Name] = a.Values[c.Codes[row]]
		}
	}
	return all
}
