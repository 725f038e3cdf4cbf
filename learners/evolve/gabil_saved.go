package evolve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Relearning says how the rules are learnt again from the rows that are kept.
func (m *RuleSet) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "rule set", Settings: m.lesson.Settings,
		Without: "this rule set kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRules(ctx, rows, m.lesson)
		},
	}
}

// Begin starts to learn more rows.
func (m *RuleSet) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the rule set of all models' rows.
func (m *RuleSet) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the rules were learnt from, nil if none are kept.
func (m *RuleSet) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *RuleSet) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the rule set of the other sources' rows.
func (m *RuleSet) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the rows are kept and no clock ends evolution.
func (m *RuleSet) Promise() learn.Promise {
	if m.lesson.Settings.Seconds > 0 {
		return learn.Promise{}
	}
	return kept.Promise(m)
}

// Shed returns the rules without the rows that they were learnt from.
func (m *RuleSet) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows, bare.lesson.Settings.Keep = nil, "nothing"
	return &bare, m.rows != nil, nil
}

// Names of a model's parts, besides those of its rows.
const (
	gabilPart   = "gabil"
	rulesPart   = "rules"
	gabilFormat = 1
)

// savedRules is what was learnt. Where rows are kept it can be learnt again.
type savedRules struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Rules   string              `cbor:"rules"`
	All     []float64           `cbor:"all"`
	History []progress          `cbor:"history"`
	Stopped string              `cbor:"stopped"`
}

// Parts returns the settings, the rows of each source, and the rules.
func (m *RuleSet) Parts() ([]learn.Part, error) {
	body := savedRules{table.SaveColumns(m.schema), m.base.String(), m.all, m.history, m.stopped}
	return m.lesson.Parts(gabilPart, m.rows, rulesPart, body)
}

// decodeRules makes a model of its parts.
func decodeRules(parts []learn.Part) (learn.Model, error) {
	m := &RuleSet{}
	var body savedRules
	rows, found, err := m.lesson.Load(parts, gabilPart, gabilFormat, (*gabilSettings).keeps, rulesPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRules(context.Background(), rows, m.lesson)
	}
	m.rows, m.all, m.history, m.stopped = rows, body.All, body.History, body.Stopped
	if err := m.restore(&body); err != nil {
		return nil, fmt.Errorf("part %q: %v", rulesPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *RuleSet) restore(body *savedRules) (err error) {
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(m.lesson.Target)
	if m.target < 0 || m.schema.Attributes[m.target].Kind != table.Nominal || len(m.schema.Attributes[m.target].Values) == 0 {
		return fmt.Errorf("the target %q is no column with classes", m.lesson.Target)
	}
	if len(m.all) != len(m.schema.Attributes[m.target].Values) || slices.ContainsFunc(m.all, func(w float64) bool { return !(w >= 0) }) || !(sum(m.all) > 0) || math.IsInf(sum(m.all), 0) {
		return fmt.Errorf("the weights %v do not fit the classes", m.all)
	}
	if m.base, err = rule.Parse("rules", []byte(body.Rules)); err != nil {
		return err
	}
	if m.base.Kind != rule.Ordered || m.base.Else == nil {
		return fmt.Errorf("the rules are no list with an ELSE")
	}
	for _, r := range append(slices.Clone(m.base.Rules), *m.base.Else) {
		e := &r.Evidence
		if e.Covered == nil || e.Correct == nil || r.Then.Numeric || len(r.Then.By) > 0 || r.Then.Value != "" && r.With == nil {
			return fmt.Errorf("the rule %q lacks its evidence", &r)
		}
	}
	return m.ready()
}
