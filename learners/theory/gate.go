package theory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// literal is something that holds or not: one of some inputs, of which at most
// one is on, or a unit, or none at all, which never holds; or that they do not.
type literal struct {
	test    rule.Test // as it is said
	inputs  []int32
	unit    int32 // -1 for none
	negated bool
}

// gate is what a unit stands for at first: it holds if at least count of its
// literals do. All of them make it an AND, one an OR.
type gate struct {
	name     string // what is concluded, or that it is a part of it
	column   string // concluded; "" for a part of a rule
	value    string
	rule     int // of the theory's rules, that it is the body of; -1 for none
	literals []literal
	count    int
	closed   bool // added, so that classes which no rule concludes are what is left
}

// plan is the gates of a theory, each behind those that it reads, and the gate of
// each class, -1 for none.
type plan struct {
	gates   []gate
	classes []int
}

// planner makes gates of the rules of a theory.
type planner struct {
	theory *rule.Theory
	in     *inputs
	target int
	apart  bool // after Fu: a body has a unit of its own where it is the only one too
	plan   plan
	of     map[string]int32 // the gate of a column's value
}

// planFor returns the gates of a theory about the columns of some inputs; apart from
// those of concepts all those of bodies, if asked for.
func planFor(theory *rule.Theory, in *inputs, target int, apart bool) (*plan, error) {
	p := &planner{theory: theory, in: in, target: target, apart: apart, of: map[string]int32{}}
	var heads []rule.Conclusion // in the order in which the rules stand
	bodies := map[string][]int{}
	for i := range theory.Rules {
		then := &theory.Rules[i].Then
		if then.Numeric || len(then.Classes) > 0 {
			return nil, fmt.Errorf("%s: a network's units are true or false; conclude a value", &theory.Rules[i])
		}
		key := keyOf(then.Column, then.Value)
		if bodies[key] == nil {
			heads = append(heads, *then)
		}
		bodies[key] = append(bodies[key], i)
	}
	for _, head := range heads {
		if err := p.conclude(head, bodies[keyOf(head.Column, head.Value)]); err != nil {
			return nil, err
		}
	}
	return &p.plan, p.finish()
}

func keyOf(column, value string) string { return column + "\x00" + value }

// conclude adds the gates of the rules that conclude a value: each an AND, and an
// OR of them if there are several, or if they are to be apart. A rule of one test needs no gate of its own.
func (p *planner) conclude(head rule.Conclusion, rules []int) error {
	key := keyOf(head.Column, head.Value)
	observed := p.in.schema.Index(head.Column)
	var parts []literal
	for _, i := range rules {
		body, count, err := p.body(p.theory.Rules[i].If)
		if err != nil {
			return fmt.Errorf("%s: %w", &p.theory.Rules[i], err)
		}
		if !p.apart && len(rules) == 1 && (observed < 0 || observed == p.target) {
			p.of[key] = p.add(gate{name: head.String(), column: head.Column, value: head.Value, rule: i, literals: body, count: count})
			return nil
		}
		if len(body) == 1 && count == 1 {
			parts = append(parts, body[0])
			continue
		}
		name := fmt.Sprintf("%s by %s", head, &p.theory.Rules[i])
		parts = append(parts, literal{unit: p.add(gate{name: name, rule: i, literals: body, count: count})})
	}
	if observed >= 0 && observed != p.target { // it also holds if a row says so
		l, err := p.cell(&rule.Test{Op: rule.Eq, Column: head.Column, Value: head.Value}, observed)
		if err != nil {
			return err
		}
		parts = append(parts, l)
	}
	p.of[key] = p.add(gate{name: head.String(), column: head.Column, value: head.Value, rule: -1, literals: parts, count: 1})
	return nil
}

func (p *planner) add(g gate) int32 {
	p.plan.gates = append(p.plan.gates, g)
	return int32(len(p.plan.gates) - 1)
}

// body returns tests as literals, and how many have to hold.
func (p *planner) body(tests []rule.Test) ([]literal, int, error) {
	if len(tests) == 1 && tests[0].Op == rule.AtLeast {
		all, err := p.literals(tests[0].Of)
		return all, tests[0].Count, err
	}
	all, err := p.literals(tests)
	return all, len(all), err
}

func (p *planner) literals(tests []rule.Test) ([]literal, error) {
	var all []literal
	for i := range tests {
		l, err := p.literal(&tests[i])
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// literal returns a test as a literal.
func (p *planner) literal(t *rule.Test) (literal, error) {
	switch t.Op {
	case rule.HalfSpace:
		for _, term := range t.Terms {
			if p.concluded(term.Column) {
				return literal{}, fmt.Errorf("%s adds up %q, which rules conclude; test it by itself", t, term.Column)
			}
		}
		return literal{test: *t, inputs: []int32{p.in.test(t)}, unit: none}, nil
	case rule.AtLeast:
		all, err := p.literals(t.Of)
		if err != nil {
			return literal{}, err
		}
		return literal{test: *t, unit: p.add(gate{name: t.String(), rule: -1, literals: all, count: t.Count})}, nil
	}
	if p.concluded(t.Column) {
		return p.concept(t)
	}
	return p.cell(t, p.in.schema.Index(t.Column))
}

const none = -1

func (p *planner) concluded(column string) bool {
	return slices.ContainsFunc(p.theory.Rules, func(r rule.Rule) bool { return r.Then.Column == column })
}

// concept is a test of what rules conclude.
func (p *planner) concept(t *rule.Test) (literal, error) {
	l := literal{test: *t, unit: none}
	var values []string
	switch t.Op {
	case rule.Eq, rule.Ne:
		values = []string{t.Value}
	case rule.In, rule.NotIn:
		values = t.Values
	default:
		return l, fmt.Errorf("%s: what rules conclude holds or does not; test it by =, !=, IN or NOT IN", t)
	}
	l.negated = t.Op == rule.Ne || t.Op == rule.NotIn
	var any []literal
	for _, v := range values {
		if u, ok := p.of[keyOf(t.Column, v)]; ok {
			any = append(any, literal{test: rule.Test{Op: rule.Eq, Column: t.Column, Value: v}, unit: u})
		}
	}
	switch len(any) {
	case 0: // no rule concludes it
	case 1:
		l.unit = any[0].unit
	default:
		l.unit = p.add(gate{name: t.String(), rule: -1, literals: any, count: 1})
	}
	return l, nil
}

// cell is a test of a cell of a row.
func (p *planner) cell(t *rule.Test, column int) (literal, error) {
	l := literal{test: *t, unit: none}
	if column < 0 {
		return l, fmt.Errorf("%s: there is no column %q", t, t.Column)
	}
	in := &p.in.columns[column]
	gap := func() { l.inputs = append(l.inputs, p.in.gap(column)) }
	switch a := &p.in.schema.Attributes[column]; {
	case t.Op == rule.IsMissing || t.Op == rule.IsKnown:
		l.negated = t.Op == rule.IsKnown
		gap()
	case a.Kind == table.Nominal:
		values := t.Values
		if t.Op == rule.Eq || t.Op == rule.Ne {
			values = []string{t.Value}
		}
		for _, v := range values {
			if c := a.Code(v); c >= 0 {
				l.inputs = append(l.inputs, in.first+c)
			}
		}
		if l.negated = t.Op == rule.Ne || t.Op == rule.NotIn; l.negated {
			gap()
		}
	case in.binary && (isNumber(t, 1) || isNumber(t, 0)):
		l.inputs = append(l.inputs, in.first)
		if l.negated = isNumber(t, 0); l.negated {
			gap()
		}
	default:
		l.inputs = append(l.inputs, p.in.test(t))
	}
	return l, nil
}

// isNumber reports whether a test of a column of zeros and ones asks for one of
// them.
func isNumber(t *rule.Test, want float64) bool {
	x, err := strconv.ParseFloat(t.Value, 64)
	if err != nil {
		return false
	}
	return t.Op == rule.Eq && x == want || t.Op == rule.Ne && x == 1-want
}

// finish finds the gates of the classes. A class that no rule concludes is what
// is left where no other is; of two classes one gate says it all. Without a
// theory gates hold nothing, and are what training makes of them.
func (p *planner) finish() error {
	a := &p.in.schema.Attributes[p.target]
	var others []literal
	classes := make([]int, len(a.Values))
	p.plan.classes = classes
	for c, value := range a.Values {
		classes[c] = none
		if u, ok := p.of[keyOf(a.Name, value)]; ok {
			classes[c] = int(u)
			others = append(others, literal{test: rule.Test{Op: rule.Ne, Column: a.Name, Value: value}, unit: u, negated: true})
		}
	}
	if len(others) == 0 && p.concluded(a.Name) {
		return fmt.Errorf("no rule of the theory concludes a class of %q that a row has: %s", a.Name, strings.Join(a.Values, ", "))
	}
	if len(p.theory.Rules) > 0 && !p.concluded(a.Name) {
		var said []string
		for i := range p.theory.Rules {
			if name := p.theory.Rules[i].Then.Column; !slices.Contains(said, name) {
				said = append(said, name)
			}
		}
		return fmt.Errorf("no rule of the theory concludes the target %q; they conclude %s", a.Name, strings.Join(said, ", "))
	}
	for c, value := range a.Values {
		if classes[c] != none || len(a.Values) == 2 && (len(others) > 0 || c == 0) || len(a.Values) == 1 {
			continue
		}
		name := rule.Conclusion{Column: a.Name, Value: value}.String()
		classes[c] = int(p.add(gate{name: name, column: a.Name, value: value, rule: none, literals: others, count: len(others), closed: true}))
	}
	return nil
}
