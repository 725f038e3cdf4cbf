// Package rulebase is the model that a text of rules is: a base in the rule
// language with its SCHEMA line, printed from another model, edited or written
// by hand, that answers for itself (see rule.Predictor for how each kind of
// base is read).
//
// Rules with a WORTH and no weight are an expert's, told on top of the others:
// on rows that satisfy one
//
//	P(x) = (N · P_base(x) + n · p) / (N + n)
//
// as learn/expert has it, N being what the text says is [covered], 0 if it
// says nothing. Where several fire, N is that of the rows that satisfy all of
// them: the least that one of them covers, for which a printed base lists what
// rules cover together as rules worth 0.
//
// A mixture of WHEN units can be asked for any column, as the model can that it
// was printed from.
//
// Trees that other programs learnt are read as such bases too (package foreign).
//
// A base has no rows. It is not learnt but imported, and cannot be updated; it
// can be read, asked, explained, compared and saved. Its neighbours are rule,
// whose language it speaks, and learn/expert.
package rulebase

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Name is what models of this kind are registered as.
const Name = "rules"

func init() {
	learn.Register(learn.Info{
		Name:    Name,
		Summary: "a base of rules that was printed or written, and answers for itself",
		Takes:   learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:     learn.Can{Rules: true, Explain: true, Draw: true, Strike: true}, // of IF rules; a mixture can be asked
		Keeps:   "the rules",
		Decode:  decode,
	})
}

// Model is a base of rules that answers. It is immutable.
type Model struct {
	base    *rule.Base // as it was given
	schema  *table.Schema
	target  int
	overall []rule.Overall
	answers *rule.Predictor // what the rules say that were learnt; nil without a target
	widths  *widths         // of a numeric target
	told    []voice
}

// voice is a rule that an expert told.
type voice struct {
	*rule.Rule
	fires *rule.Matcher
	class int
	with  float64
}

var _ learn.Ruler = (*Model)(nil)

// New returns the model of a base, which says with its SCHEMA line what its
// columns are.
func New(base *rule.Base) (learn.Model, error) {
	schema, target, overall, err := base.Model()
	if err != nil {
		return nil, err
	}
	m := &Model{base: base, schema: schema, target: target, overall: overall}
	if target < 0 {
		m.target = learn.NoTarget
		if base.Kind != rule.Mixture {
			return nil, fmt.Errorf("the SCHEMA line names no TARGET, which %v rules conclude", base.Kind)
		}
		return newUnits(m, base)
	}
	learnt, err := m.part()
	if err != nil {
		return nil, err
	}
	if m.answers, err = rule.NewPredictor(learnt, schema, target, overall...); err != nil {
		return nil, err
	}
	if schema.Attributes[target].Kind == table.Numeric && base.Kind != rule.Mixture {
		if m.widths, err = newWidths(learnt, schema, overall[target]); err != nil {
			return nil, err
		}
	}
	if base.Kind == rule.Mixture {
		return newUnits(m, learnt)
	}
	return newReasoned(m, learnt)
}

// part sets what experts told apart and returns the rest of the base.
func (m *Model) part() (*rule.Base, error) {
	learnt := *m.base
	learnt.Rules = nil
	for i := range m.base.Rules {
		r := &m.base.Rules[i]
		if r.Worth == nil || r.Evidence.Weight != nil {
			learnt.Rules = append(learnt.Rules, *r)
			continue
		}
		rules := &rule.Base{Rules: []rule.Rule{*r}}
		if err := expert.CheckTold(rules, m.schema, m.target); err != nil {
			return nil, err
		}
		fires, err := rule.NewMatcher(r.If, m.schema)
		if err != nil {
			return nil, err
		}
		v := voice{Rule: r, fires: fires, class: int(m.schema.Attributes[m.target].Code(r.Then.Value)), with: 1 - 1/(*r.Worth+2)}
		if r.With != nil {
			v.with = *r.With
		}
		m.told = append(m.told, v)
	}
	return &learnt, nil
}

// Learner is the name under which such models are registered.
func (m *Model) Learner() string { return Name }

// Schema is what the SCHEMA line says.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target is the column that the rules conclude.
func (m *Model) Target() int { return m.target }

// Size counts the rules. A base has learnt no rows.
func (m *Model) Size() learn.Size {
	n := len(m.base.Rules) + len(m.base.Units)
	if m.base.Else != nil {
		n++
	}
	return learn.Size{Rules: n, Units: len(m.base.Units)}
}

// Rules returns the base.
func (m *Model) Rules() (*rule.Base, error) { return m.base, nil }

// Overall returns what the SCHEMA line says of the columns.
func (m *Model) Overall() []rule.Overall { return m.overall }

// Predict answers as the base says, and takes into account what experts told.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.answers.Predict(t, out.P, out.Mean); err != nil {
		return err
	}
	if m.widths != nil {
		m.widths.fill(t, out)
		return ctx.Err()
	}
	if len(m.told) == 0 || out.Classes == 0 {
		return ctx.Err()
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		room := make([]float64, out.Classes)
		for row := lo; row < hi; row++ {
			m.blend(t, row, out.Row(row), room)
		}
	})
}

// blend mixes the answer for a row with what the rules say that fire there,
// and returns the one that is worth most; nil if nothing changed.
func (m *Model) blend(t *table.Table, row int, p, room []float64) *voice {
	n, worth := math.Inf(1), 0.0
	var most *voice
	for i := range m.told {
		v := &m.told[i]
		if !v.fires.MatchRow(t, row) {
			continue
		}
		covered := 0.0
		if v.Evidence.Covered != nil {
			covered = *v.Evidence.Covered
		}
		n = min(n, covered)
		if worth += *v.Worth; most == nil || *v.Worth > *most.Worth {
			most = v
		}
	}
	if worth == 0 {
		return nil
	}
	clear(room)
	for i := range m.told {
		if v := &m.told[i]; v.fires.MatchRow(t, row) {
			expert.Say(room, p, v.class, v.with, *v.Worth/(n+worth))
		}
	}
	for c := range p {
		p[c] = n/(n+worth)*p[c] + room[c]
	}
	return most
}
