package rule

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Check reports the first thing in the base that is not sound: a number that
// no rule file holds, a column or value that the schema does not know, or a
// test that the column's kind does not have. With a nil schema it checks only
// that the base can be written and read back. ParseFor reports the same with
// lines and columns.
func (b *Base) Check(schema *table.Schema) error {
	if b.Header != nil {
		if wrong := b.Header.check(); wrong != nil {
			return fmt.Errorf("SCHEMA: %s", wrong.msg)
		}
	}
	known := newNames(schema)
	if schema == nil && b.Header != nil {
		known = b.Header.known()
	}
	for i := range b.Rules {
		if msg := known.rule(&b.Rules[i]); msg != "" {
			return fmt.Errorf("rule %d: %s", i+1, msg)
		}
	}
	if b.Else != nil {
		if len(b.Else.If) > 0 || b.Else.Worth != nil {
			return fmt.Errorf("the ELSE rule: it has no IF part and no WORTH")
		}
		if msg := known.rule(b.Else); msg != "" {
			return fmt.Errorf("the ELSE rule: %s", msg)
		}
	}
	titles := map[string]bool{}
	for i := range b.Units {
		u := &b.Units[i]
		msg := known.unit(u)
		if titles[u.Name] {
			msg = "another unit has this name"
		}
		if msg != "" {
			return fmt.Errorf("unit %s: %s", quote(u.Name), msg)
		}
		titles[u.Name] = true
	}
	return nil
}

// names finds columns and values of a schema; without a schema it knows none
// and asks for none.
type names struct {
	schema  *table.Schema
	columns map[string]int
	values  []map[string]int32 // of each nominal column, made when first asked for
	open    bool               // a nominal column without values may have any
}

func newNames(schema *table.Schema) *names {
	if schema == nil {
		return &names{}
	}
	n := &names{schema: schema, columns: make(map[string]int, len(schema.Attributes)), values: make([]map[string]int32, len(schema.Attributes))}
	for i := range schema.Attributes {
		n.columns[schema.Attributes[i].Name] = i
	}
	return n
}

// code returns the code of a value of a nominal column, or table.Unseen.
func (n *names) code(column int, value string) int32 {
	if n.values[column] == nil {
		values := n.schema.Attributes[column].Values
		n.values[column] = make(map[string]int32, len(values))
		for code, v := range values {
			n.values[column][v] = int32(code)
		}
	}
	if code, ok := n.values[column][value]; ok {
		return code
	}
	return table.Unseen
}

// problem is what is wrong with a part of a rule. It says at which of the
// names and values of the part, in the order in which they stand in the
// text; -1 means the part as a whole.
type problem struct {
	at  int
	msg string
}

func whole(format string, args ...any) *problem {
	return &problem{-1, fmt.Sprintf(format, args...)}
}

// column returns the attribute with this name, nil if there is no schema.
func (n *names) column(at int, name string) (int, *table.Attribute, *problem) {
	if !utf8.ValidString(name) {
		return 0, nil, &problem{at, fmt.Sprintf("the name %q is not UTF-8", name)}
	}
	if n.schema == nil {
		return 0, nil, nil
	}
	i, ok := n.columns[name]
	if !ok {
		return 0, nil, &problem{at, fmt.Sprintf("unknown column %s%s", quote(name), spell.Hint(name, n.schema.Names()))}
	}
	return i, &n.schema.Attributes[i], nil
}

// value checks a value of a column: its name if the column is nominal, a
// number if it is numeric.
func (n *names) value(at, column int, a *table.Attribute, value string) *problem {
	if !utf8.ValidString(value) {
		return &problem{at, fmt.Sprintf("the value %q is not UTF-8", value)}
	}
	if a == nil {
		return nil
	}
	switch a.Kind {
	case table.Numeric:
		if _, ok := parseNumber(value); !ok {
			return &problem{at, fmt.Sprintf("%s is numeric; expected a number, found %s", quote(a.Name), quote(value))}
		}
		return nil
	case table.Text:
		return &problem{0, fmt.Sprintf("%s is text; use CONTAINS or NOT CONTAINS and a word", quote(a.Name))}
	}
	if n.open && len(a.Values) == 0 {
		return nil
	}
	if n.code(column, value) == table.Unseen {
		return &problem{at, fmt.Sprintf("unknown value %s of %s%s", quote(value), quote(a.Name), spell.Hint(value, a.Values))}
	}
	return nil
}

func (n *names) test(t *Test) *problem {
	switch t.Op {
	case HalfSpace:
		return n.halfSpace(t)
	case AtLeast:
		return n.atLeast(t, 1)
	}
	column, a, wrong := n.column(0, t.Column)
	if wrong != nil {
		return wrong
	}
	switch t.Op {
	case Eq, Ne:
		return n.value(1, column, a, t.Value)
	case In, NotIn:
		if len(t.Values) == 0 {
			return whole("%s %v an empty set", quote(t.Column), t.Op)
		}
		for i, v := range t.Values {
			if wrong := n.value(1+i, column, a, v); wrong != nil {
				return wrong
			}
		}
	case Lt, Le, Gt, Ge:
		if !finite(t.Number) {
			return whole("%s %v %v, expected a finite number", quote(t.Column), t.Op, t.Number)
		}
		return ordered(0, a)
	case Between:
		if !finite(t.Low) || !finite(t.High) || t.Low > t.High || t.Low == t.High && (!t.LowClosed || t.HighOpen) {
			return whole("nothing lies between %v and %v; the lower bound stands first", t.Low, t.High)
		}
		return ordered(0, a)
	case IsMissing, IsKnown:
	case Contains, NotContains:
		if !utf8.ValidString(t.Value) {
			return &problem{1, fmt.Sprintf("the word %q is not UTF-8", t.Value)}
		}
		if a != nil && a.Kind != table.Text {
			return &problem{0, fmt.Sprintf("%s is %v and has no words; use = or !=", quote(a.Name), a.Kind)}
		}
	default:
		return whole("unknown operator %v", t.Op)
	}
	return nil
}

// ordered checks that a column has an order.
func ordered(at int, a *table.Attribute) *problem {
	if a != nil && a.Kind == table.Text {
		return &problem{at, fmt.Sprintf("%s is text and has no order; use CONTAINS or NOT CONTAINS", quote(a.Name))}
	}
	if a != nil && a.Kind != table.Numeric {
		return &problem{at, fmt.Sprintf("%s is nominal and has no order; use =, !=, IN or NOT IN", quote(a.Name))}
	}
	return nil
}

func (n *names) halfSpace(t *Test) *problem {
	if len(t.Terms) == 0 || !finite(t.Number) {
		return whole("a half-space needs finite numbers and at least one term")
	}
	for i, term := range t.Terms {
		_, a, wrong := n.column(i, term.Column)
		if wrong == nil {
			wrong = ordered(i, a)
		}
		if wrong == nil && !finite(term.Factor) {
			wrong = whole("the factor of %s is %v, expected a finite number", quote(term.Column), term.Factor)
		}
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

// atLeast checks an m-of-n test. The parser has already checked its parts
// where they stand.
func (n *names) atLeast(t *Test, depth int) *problem {
	if depth > maxDepth {
		return whole("AT LEAST nests deeper than %d", maxDepth)
	}
	if t.Count < 1 || t.Count > len(t.Of) {
		return whole("AT LEAST %d of %d tests, expected a number from 1 to %d", t.Count, len(t.Of), len(t.Of))
	}
	for i := range t.Of {
		var wrong *problem
		if t.Of[i].Op == AtLeast {
			wrong = n.atLeast(&t.Of[i], depth+1)
		} else {
			wrong = n.test(&t.Of[i])
		}
		if wrong != nil {
			return whole("%s", wrong.msg)
		}
	}
	return nil
}

func (n *names) conclusion(c *Conclusion) *problem {
	column, a, wrong := n.column(0, c.Column)
	if wrong != nil {
		return wrong
	}
	if a != nil && a.Kind == table.Text {
		return &problem{0, fmt.Sprintf("%s is text, which no rule concludes", quote(a.Name))}
	}
	if c.Numeric {
		if !finite(c.Mean) || !finite(c.Deviation) || c.Deviation < 0 {
			return whole("%v ± %v, expected a finite number and a deviation ≥ 0", c.Mean, c.Deviation)
		}
		if a != nil && a.Kind != table.Numeric {
			return &problem{0, fmt.Sprintf("%s is nominal; conclude %s = value", quote(a.Name), a.Name)}
		}
		return n.line(c)
	}
	if a != nil && a.Kind == table.Numeric {
		return &problem{0, fmt.Sprintf("%s is numeric; conclude %s ~ mean ± deviation", quote(a.Name), a.Name)}
	}
	if len(c.By) > 0 {
		return n.weights(column, a, c.By)
	}
	if len(c.Classes) > 0 {
		return n.shares(column, a, c.Classes)
	}
	return n.value(1, column, a, c.Value)
}

// line checks the column that a number is added for each unit of.
func (n *names) line(c *Conclusion) *problem {
	l := c.Line
	if l == nil {
		return nil
	}
	_, a, wrong := n.column(1, l.Column)
	switch {
	case wrong != nil:
		return wrong
	case !c.Adds:
		return whole("a number for each unit of %s is added, with +=", quote(l.Column))
	case l.Column == c.Column:
		return &problem{1, fmt.Sprintf("%s adds to itself", quote(l.Column))}
	case a != nil && a.Kind != table.Numeric:
		return &problem{1, fmt.Sprintf("%s is no column of numbers, so it has no units to add for", quote(l.Column))}
	case !finite(l.Centre) || !finite(l.Low) || !finite(l.High):
		return whole("a line is between finite numbers, got (%s - %v) FROM %v TO %v", l.Column, l.Centre, l.Low, l.High)
	case l.Limited && l.Low > l.High:
		return whole("FROM %v TO %v: the first is greater", l.Low, l.High)
	case !l.Limited && (l.Low != 0 || l.High != 0):
		return whole("a line without limits has some")
	}
	return nil
}

// weights checks what a rule adds to several classes.
func (n *names) weights(column int, a *table.Attribute, by []Share) *problem {
	seen := make(map[string]bool, len(by))
	for i, s := range by {
		if wrong := n.value(1+i, column, a, s.Value); wrong != nil {
			return wrong
		}
		if !finite(s.P) {
			return &problem{1 + i, fmt.Sprintf("the weight of %s is %v, expected a finite number", quote(s.Value), s.P)}
		}
		if seen[s.Value] {
			return &problem{1 + i, fmt.Sprintf("%s stands twice", quote(s.Value))}
		}
		seen[s.Value] = true
	}
	return nil
}

// without says why no WITH can follow a conclusion; "" if one can.
func (c *Conclusion) without() string {
	switch {
	case len(c.Classes) > 0:
		return "WITH after a distribution; the probabilities stand in its braces"
	case len(c.By) > 0:
		return "WITH after BY; the weights stand in its braces"
	case c.Adds:
		return "WITH after +=; what is added has no probability"
	}
	return ""
}

// shares checks a distribution. Its probabilities sum to one as far as
// probabilities that were rounded to two decimals do.
func (n *names) shares(column int, a *table.Attribute, shares []Share) *problem {
	sum := 0.0
	seen := make(map[string]bool, len(shares))
	for i, s := range shares {
		if wrong := n.value(1+i, column, a, s.Value); wrong != nil {
			return wrong
		}
		if msg := wrongProbability("the probability of "+quote(s.Value), s.P); msg != "" {
			return &problem{1 + i, msg}
		}
		if seen[s.Value] {
			return &problem{1 + i, fmt.Sprintf("%s stands twice", quote(s.Value))}
		}
		seen[s.Value] = true
		sum += s.P
	}
	if !(math.Abs(sum-1) <= 0.005*float64(len(shares))+1e-9) {
		return whole("the probabilities sum to %.4g, expected 1", sum)
	}
	return nil
}

func (n *names) expectation(e *Expectation) *problem {
	column, a, wrong := n.column(0, e.Column)
	if wrong != nil {
		return wrong
	}
	switch {
	case e.Normal:
		return nil
	case len(e.Shares) > 0:
		if a != nil && a.Kind == table.Text {
			return &problem{0, fmt.Sprintf("%s is text, of which no unit expects anything", quote(a.Name))}
		}
		if a != nil && a.Kind == table.Numeric {
			return &problem{0, fmt.Sprintf("%s is numeric; expect %s ~ mean ± deviation", quote(a.Name), a.Name)}
		}
		return n.shares(column, a, e.Shares)
	}
	if !finite(e.Mean) || !finite(e.Deviation) || e.Deviation < 0 {
		return whole("%v ± %v, expected a finite number and a deviation ≥ 0", e.Mean, e.Deviation)
	}
	if a != nil && a.Kind == table.Text {
		return &problem{0, fmt.Sprintf("%s is text, of which no unit expects anything", quote(a.Name))}
	}
	if a != nil && a.Kind != table.Numeric {
		return &problem{0, fmt.Sprintf("%s is nominal; expect %s = {value probability, …}", quote(a.Name), a.Name)}
	}
	return nil
}

// rule returns what is wrong with a rule, or "".
func (n *names) rule(r *Rule) string {
	for i := range r.If {
		if wrong := n.test(&r.If[i]); wrong != nil {
			return wrong.msg
		}
	}
	if wrong := n.conclusion(&r.Then); wrong != nil {
		return wrong.msg
	}
	if r.With != nil {
		if msg := r.Then.without(); msg != "" {
			return msg
		}
		if msg := wrongProbability("WITH", *r.With); msg != "" {
			return msg
		}
	}
	if r.Worth != nil {
		if msg := wrongAmount("WORTH", *r.Worth); msg != "" {
			return msg
		}
	}
	for i, x := range r.Evidence.fields() {
		if *x == nil {
			continue
		}
		if isAmount(evidenceKeys[i]) {
			if msg := wrongAmount(evidenceKeys[i], **x); msg != "" {
				return msg
			}
		} else if !finite(**x) {
			return fmt.Sprintf("%s is %v, expected a finite number", evidenceKeys[i], **x)
		}
	}
	return ""
}

// unit returns what is wrong with a unit, or "".
func (n *names) unit(u *Unit) string {
	if !utf8.ValidString(u.Name) {
		return "its name is not UTF-8"
	}
	if msg := wrongProbability("the prior", u.Prior); msg != "" {
		return msg
	}
	if u.Worth != nil {
		if msg := wrongAmount("WORTH", *u.Worth); msg != "" {
			return msg
		}
	}
	if len(u.Expect) == 0 {
		return "it expects nothing"
	}
	seen := map[string]bool{}
	for i := range u.Expect {
		e := &u.Expect[i]
		if wrong := n.expectation(e); wrong != nil {
			return wrong.msg
		}
		if seen[e.Column] {
			return fmt.Sprintf("%s is expected twice", quote(e.Column))
		}
		seen[e.Column] = true
	}
	return ""
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// wrongProbability allows for the rounding of weights that were summed in two
// orders: a share of one can come out a little above it.
func wrongProbability(what string, p float64) string {
	if !(p >= 0 && p <= 1+1e-9) {
		return fmt.Sprintf("%s is %v, expected a probability from 0 to 1", what, p)
	}
	return ""
}

func wrongAmount(what string, x float64) string {
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Sprintf("%s is %v, expected a number ≥ 0", what, x)
	}
	return ""
}
