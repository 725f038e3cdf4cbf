package policy

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Advise gives a learner rules of somebody who knows, such as IF row = 0 THEN
// action = right WORTH 20: in such states the action begins as one that is worth 20
// more than others, and experience outvotes it (after Maclin and Shavlik 1996).
func (l *Learner) Advise(rules *rule.Base) error {
	var text strings.Builder
	if err := (&rule.Base{Rules: rules.Rules}).Write(&text); err != nil {
		return err
	}
	l.advice = text.String()
	return nil
}

// adviser says what actions begin with.
type adviser struct {
	matchers []*rule.Matcher
	action   []int
	worth    []float64
	states   *table.Table // of one row
}

// newAdviser reads advice for the states and actions of a policy.
func newAdviser(advice string, schema *table.Schema) (*adviser, error) {
	if advice == "" {
		return nil, nil
	}
	base, err := rule.ParseFor("advice", []byte(advice), schema)
	if err != nil {
		return nil, err
	}
	target := len(schema.Attributes) - 1
	columns := make([]table.Column, len(schema.Attributes))
	for i := range columns {
		if schema.Attributes[i].Kind == table.Numeric {
			columns[i].Floats = make([]float64, 1)
		} else {
			columns[i].Codes = []int32{table.Missing}
		}
	}
	a := &adviser{}
	if a.states, err = table.New(schema, columns, nil); err != nil {
		return nil, err
	}
	for i := range base.Rules {
		r := &base.Rules[i]
		code := schema.Attributes[target].Code(r.Then.Value)
		if r.Then.Column != schema.Attributes[target].Name || code < 0 || r.Worth == nil {
			return nil, fmt.Errorf("advice %d: expected IF … THEN %s = one of %s WORTH a number", i+1, schema.Attributes[target].Name, strings.Join(schema.Attributes[target].Values, ", "))
		}
		m, err := rule.NewMatcher(r.If, schema)
		if err != nil {
			return nil, err
		}
		a.matchers, a.action, a.worth = append(a.matchers, m), append(a.action, int(code)), append(a.worth, *r.Worth)
	}
	return a, nil
}

// begin adds what is advised to the values of a state that is new.
func (a *adviser) begin(cells, q []float64) {
	if a == nil {
		return
	}
	for i, x := range cells {
		if c := &a.states.Columns[i]; c.Floats != nil {
			c.Floats[0] = x
		} else if c.Codes[0] = table.Missing; x == x {
			c.Codes[0] = int32(x)
		}
	}
	for i, m := range a.matchers {
		if m.MatchRow(a.states, 0) && a.action[i] < len(q) { // NaN, of what is not legal, stays
			q[a.action[i]] += a.worth[i]
		}
	}
}
