package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Theory is a domain theory (Mitchell 1997, chapter 12): IF … THEN rules that
// conclude the value of any column, or of a concept that no table has as a
// column, and that build on each other. It is sound: every name that it tests is
// a column or concluded by a rule, and no conclusion needs itself. Whether it is
// true is for the learners that reason with it to find out.
type Theory struct {
	Rules []Rule // each behind those that it builds on
	// Schema is the table's columns, with the values that only the rules
	// name, and behind them the concepts, which are nominal.
	Schema *table.Schema
	// Concepts are the names that are concluded and are no columns, each
	// behind those that it builds on.
	Concepts []string
	// News are the values that the rules name and no row has had, in words:
	// knowledge, or a slip.
	News []string
	// Contradictions are the pairs of rules of which one holds wherever the
	// other does, with another conclusion.
	Contradictions []Contradiction
}

// Contradiction is two rules that cannot both be right, wherever B holds.
type Contradiction struct{ A, B *Rule }

// String says it in one line.
func (c Contradiction) String() string {
	return fmt.Sprintf("%s contradicts %s wherever that holds", c.A, c.B)
}

// NewTheory checks rules against the columns of a table and puts them in order.
func NewTheory(base *Base, columns *table.Schema) (*Theory, error) {
	switch {
	case len(base.Units) > 0:
		return nil, fmt.Errorf("unit %s: a theory is made of IF … THEN rules", quote(base.Units[0].Name))
	case base.Else != nil:
		return nil, errors.New("a theory has no ELSE; what no rule concludes is not known")
	case len(base.Rules) == 0:
		return nil, errors.New("the theory is empty; expected IF … THEN … rules")
	}
	t := &Theory{Schema: table.CopySchema(columns)}
	for i := range base.Rules {
		then := &base.Rules[i].Then
		if then.weighs() {
			return nil, fmt.Errorf("rule %d adds to a score; a theory's rules conclude a value", i+1)
		}
		if then.Numeric && columns.Index(then.Column) < 0 {
			return nil, fmt.Errorf("rule %d concludes the number %s, which is no column; concepts have names for values", i+1, quote(then.Column))
		}
		t.admit(then.Column, then.values())
	}
	if err := t.order(base.Rules, len(columns.Attributes)); err != nil {
		return nil, err
	}
	for i := range base.Rules {
		var unknown string
		eachTest(base.Rules[i].If, func(column string, values []string) {
			switch j := t.Schema.Index(column); {
			case j < 0 && unknown == "":
				unknown = column
			case j >= 0 && j < len(columns.Attributes):
				t.admit(column, values)
			}
		})
		if unknown != "" {
			return nil, fmt.Errorf("rule %d tests %s, which is neither a column nor concluded by a rule%s", i+1, quote(unknown), spell.Hint(unknown, t.Schema.Names()))
		}
	}
	if err := (&Base{Rules: base.Rules}).Check(t.Schema); err != nil {
		return nil, err
	}
	for j := range columns.Attributes {
		a := &columns.Attributes[j]
		for _, value := range t.Schema.Attributes[j].Values[len(a.Values):] {
			t.News = append(t.News, fmt.Sprintf("no row has had %q in column %q%s", value, a.Name, spell.Hint(value, a.Values)))
		}
	}
	for j := range t.Rules {
		for i := range j {
			a, b := &t.Rules[i], &t.Rules[j]
			switch {
			case !disagree(a, b):
			case Subsumes(a.If, b.If, t.Schema):
				t.Contradictions = append(t.Contradictions, Contradiction{a, b})
			case Subsumes(b.If, a.If, t.Schema):
				t.Contradictions = append(t.Contradictions, Contradiction{b, a})
			}
		}
	}
	return t, nil
}

// values returns the values that a conclusion names.
func (c *Conclusion) values() []string {
	var values []string
	if c.Value != "" {
		values = append(values, c.Value)
	}
	for _, s := range c.Classes {
		values = append(values, s.Value)
	}
	return values
}

// admit adds what the schema lacks: a concept, or values of a nominal column.
func (t *Theory) admit(column string, values []string) {
	j := t.Schema.Index(column)
	if j < 0 {
		j = len(t.Schema.Attributes)
		t.Schema.Attributes = append(t.Schema.Attributes, table.Attribute{Name: column, Kind: table.Nominal})
	}
	a := &t.Schema.Attributes[j]
	for _, value := range values {
		if a.Kind == table.Nominal && !slices.Contains(a.Values, value) {
			a.Values = append(a.Values, value)
		}
	}
}

// eachTest calls a function for each column that tests name, with the values.
func eachTest(tests []Test, call func(column string, values []string)) {
	for i := range tests {
		t := &tests[i]
		switch t.Op {
		case HalfSpace:
			for _, term := range t.Terms {
				call(term.Column, nil)
			}
		case AtLeast:
			eachTest(t.Of, call)
		case Eq, Ne:
			call(t.Column, []string{t.Value})
		default:
			call(t.Column, t.Values)
		}
	}
}

// order puts the rules behind those that they build on, the rest as they came,
// or says in which circle they go. The first columns of the schema are the
// table's.
func (t *Theory) order(rules []Rule, columns int) error {
	of := map[string][]int{} // the rules that conclude a name
	var names []string
	for i := range rules {
		name := rules[i].Then.Column
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], i)
	}
	const walking, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(name string) error
	visit = func(name string) (err error) {
		switch {
		case of[name] == nil || state[name] == done:
			return nil
		case state[name] == walking:
			circle := append(path[slices.Index(path, name):], name)
			return fmt.Errorf("the theory goes in a circle: %s", strings.Join(circle, " needs "))
		}
		state[name] = walking
		path = append(path, name)
		for _, i := range of[name] {
			eachTest(rules[i].If, func(column string, _ []string) {
				if err == nil {
					err = visit(column)
				}
			})
		}
		if err != nil {
			return err
		}
		path = path[:len(path)-1]
		state[name] = done
		for _, i := range of[name] {
			t.Rules = append(t.Rules, rules[i])
		}
		if t.Schema.Index(name) >= columns {
			t.Concepts = append(t.Concepts, name)
		}
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}
