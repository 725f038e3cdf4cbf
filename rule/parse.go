package rule

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Parse reads rules. The name is the file's, for errors, which are of type
// *Error.
func Parse(name string, src []byte) (*Base, error) { return ParseFor(name, src, nil) }

// ParseFor reads rules about the columns of a schema. A rule that names an
// unknown column or value, or asks of a column what its kind does not have,
// is an *Error at that name that suggests the nearest known one.
func ParseFor(name string, src []byte, schema *table.Schema) (base *Base, err error) {
	p := &parser{
		lexer:  lexer{file: name, src: strings.TrimPrefix(string(src), "\ufeff"), line: 1, column: 1},
		known:  newNames(schema),
		titles: map[string]bool{},
	}
	defer func() {
		if r := recover(); r != nil {
			stop, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			base, err = nil, stop
		}
	}()
	p.ahead[0], p.ahead[1] = p.lexer.next(), p.lexer.next()
	return p.base(), nil
}

// maxDepth bounds how deep AT LEAST tests may nest.
const maxDepth = 32

// parser is a recursive-descent parser with two tokens of lookahead. It stops
// at the first mistake by panicking with an *Error, which ParseFor recovers.
type parser struct {
	lexer
	ahead [2]token
	last  token // the token that was consumed last
	known *names
	// spots are the places of the names and values of the part that is
	// being read, in the order in which they stand.
	spots  []token
	titles map[string]bool // names of units so far
	depth  int
}

func (p *parser) next() token {
	p.last = p.ahead[0]
	p.ahead[0], p.ahead[1] = p.ahead[1], p.lexer.next()
	return p.last
}

func (p *parser) failAt(t token, format string, args ...any) {
	p.fail(t.line, t.column, format, args...)
}

// expected fails with what should stand here.
func (p *parser) expected(what string) {
	t := p.ahead[0]
	hint := ""
	if upper := strings.ToUpper(t.text); t.kind == wordToken && keywords[upper] {
		hint = fmt.Sprintf("; keywords are upper case: %s", upper)
	}
	p.failAt(t, "expected %s, found %s%s", what, t.describe(), hint)
}

func (p *parser) at(text string) bool {
	t := p.ahead[0]
	return t.text == text && (t.kind == keywordToken || t.kind == symbolToken)
}

func (p *parser) accept(text string) bool {
	if p.at(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.expected(text)
	}
}

// acceptWord consumes a word that means something here only, such as sd.
func (p *parser) acceptWord(word string) bool {
	if t := p.ahead[0]; t.kind == wordToken && t.text == word {
		p.next()
		return true
	}
	return false
}

// name reads a name or a value; what says which.
func (p *parser) name(what string) string {
	t := p.ahead[0]
	switch t.kind {
	case wordToken, quotedToken:
		p.spots = append(p.spots, t)
		return p.next().text
	case keywordToken:
		p.failAt(t, "expected %s, found %s; a name that is a keyword stands in quotes: %s", what, t.text, quote(t.text))
	}
	p.expected(what)
	return ""
}

func (p *parser) number(what string) float64 {
	p.accept("+")
	t := p.ahead[0]
	if t.kind != wordToken || !isNumber(t.text) {
		p.expected(what)
	}
	x, ok := parseNumber(t.text)
	if !ok {
		p.failAt(t, "%s is too large for a number", t.text)
	}
	p.next()
	return x
}

// require fails at a token unless the message is empty.
func (p *parser) require(t token, wrong string) {
	if wrong != "" {
		p.failAt(t, "%s", wrong)
	}
}

// verify fails at the place of a problem in the part that began at token
// first and whose names are p.spots[from:], which it drops.
func (p *parser) verify(first token, from int, wrong *problem) {
	if wrong != nil {
		if wrong.at >= 0 {
			first = p.spots[from+wrong.at]
		}
		p.failAt(first, "%s", wrong.msg)
	}
	p.spots = p.spots[:from]
}

func (p *parser) base() *Base {
	b := &Base{}
	for stated := false; ; {
		start := p.ahead[0]
		first := !stated && len(b.Rules)+len(b.Units) == 0 && b.Else == nil
		switch {
		case start.kind == endToken:
			return b
		case p.accept("RULES"):
			if !first {
				p.failAt(start, "RULES stands once, before all rules")
			}
			b.Kind = p.kind()
			stated = true
		case p.accept("SCHEMA"):
			if b.Header != nil || len(b.Rules)+len(b.Units) > 0 || b.Else != nil {
				p.failAt(start, "SCHEMA stands once, before all rules")
			}
			b.Header = p.header()
		case p.accept("IF"):
			if b.Else != nil {
				p.failAt(start, "IF after ELSE; ELSE is the last rule")
			}
			b.Rules = append(b.Rules, p.rule())
		case p.accept("ELSE"):
			if b.Else != nil {
				p.failAt(start, "a second ELSE; a base has one")
			}
			b.Else = &Rule{}
			p.then(b.Else, false)
		case p.accept("WHEN"):
			b.Units = append(b.Units, p.unit())
		default:
			p.expected("RULES, SCHEMA, IF, ELSE or WHEN")
		}
	}
}

func (p *parser) kind() Kind {
	t := p.ahead[0]
	words := make([]string, 0, 3)
	for _, k := range []Kind{Ordered, Weighed, Mixture} {
		if p.acceptWord(k.String()) {
			return k
		}
		words = append(words, k.String())
	}
	if t.kind == wordToken {
		p.failAt(t, "unknown kind of rules %s%s", t.text, spell.Hint(t.text, words))
	}
	p.expected("ordered, weighed or mixture")
	return Unstated
}

func (p *parser) rule() Rule {
	var r Rule
	if !p.accept("ALWAYS") {
		r.If = append(r.If, p.test())
		for p.accept("AND") {
			r.If = append(r.If, p.test())
		}
	}
	if !p.at("THEN") {
		p.expected("AND or THEN")
	}
	p.next()
	p.then(&r, true)
	return r
}

// then reads what follows THEN or ELSE. An ELSE has no WORTH: an expert's
// rule acts on the rows of its own IF part.
func (p *parser) then(r *Rule, worth bool) {
	r.Then = p.conclusion()
	if p.accept("WITH") {
		with := p.last
		at := p.ahead[0]
		x := p.number("a probability")
		p.require(at, wrongProbability("WITH", x))
		if msg := r.Then.without(); msg != "" {
			p.failAt(with, "%s", msg)
		}
		r.With = &x
	}
	if worth && p.accept("WORTH") {
		r.Worth = p.worth()
	}
	if p.accept("[") {
		p.evidence(&r.Evidence)
	}
}

func (p *parser) worth() *float64 {
	at := p.ahead[0]
	x := p.number("a number of cases")
	p.require(at, wrongAmount("WORTH", x))
	return &x
}

func (p *parser) evidence(e *Evidence) {
	for {
		t := p.ahead[0]
		if t.kind != wordToken {
			p.expected("covered, correct, bits, weight or templates")
		}
		fields := e.fields()
		i := 0
		for i < len(evidenceKeys) && evidenceKeys[i] != t.text {
			i++
		}
		if i == len(evidenceKeys) {
			p.failAt(t, "unknown evidence %s%s", t.text, spell.Hint(t.text, evidenceKeys[:]))
		}
		if *fields[i] != nil {
			p.failAt(t, "%s stands twice", t.text)
		}
		p.next()
		at := p.ahead[0]
		x := p.number("a number")
		if isAmount(t.text) {
			p.require(at, wrongAmount(t.text, x))
		}
		*fields[i] = &x
		if p.accept("]") {
			return
		}
		if !p.accept(",") {
			p.expected(`"," or "]"`)
		}
	}
}

func (p *parser) conclusion() Conclusion {
	first, from := p.ahead[0], len(p.spots)
	c := Conclusion{Column: p.name("a column")}
	switch {
	case p.accept("~"):
		c.Numeric = true
		c.Mean = p.number("a mean")
		p.expect("±")
		c.Deviation = p.number("a deviation")
	case p.accept("+="):
		c.Numeric, c.Adds = true, true
		c.Mean = p.number("what is added")
		if p.accept("*") {
			c.Line = p.line()
		}
		if p.accept("±") {
			c.Deviation = p.number("a deviation")
		}
	case p.accept("BY"):
		c.By = p.shares("its weight")
	case p.accept("="):
		if p.at("{") {
			c.Classes = p.shares("its probability")
		} else {
			c.Value = p.name("a value")
		}
	default:
		p.expected("= and a value, BY and weights, or ~ or += and a number")
	}
	p.verify(first, from, p.known.conclusion(&c))
	return c
}

// line reads column, or (column - number), and its limits.
func (p *parser) line() *Line {
	l := &Line{}
	if !p.accept("(") {
		l.Column = p.name("a column")
	} else {
		l.Column = p.name("a column")
		ahead := p.ahead[0]
		switch {
		case p.accept("+"):
			l.Centre = -p.number("a number")
		case p.accept("-"):
			l.Centre = p.number("a number")
		case ahead.kind == wordToken && strings.HasPrefix(ahead.text, "-"):
			l.Centre = -p.number("a number") // the minus belongs to the number: (x -3)
		default:
			p.expected("+ or - and a number")
		}
		p.expect(")")
	}
	if p.acceptWord("FROM") {
		l.Limited = true
		l.Low = p.number("a number")
		if !p.acceptWord("TO") {
			p.expected("TO")
		}
		l.High = p.number("a number")
	}
	return l
}

// shares reads values with a number each; what says what the number is.
func (p *parser) shares(what string) []Share {
	p.expect("{")
	var shares []Share
	for {
		value := p.name("a value")
		shares = append(shares, Share{value, p.number(what)})
		if p.accept("}") {
			return shares
		}
		if !p.accept(",") {
			p.expected(`"," or "}"`)
		}
	}
}

var relations = map[string]Op{"=": Eq, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge}

func (p *parser) test() Test {
	first, from := p.ahead[0], len(p.spots)
	var t Test
	follows := ""
	if first.kind == wordToken && isNumber(first.text) && p.ahead[1].kind == symbolToken {
		follows = p.ahead[1].text
	}
	switch {
	case p.at("AT"):
		t = p.atLeast()
	case follows == "<" || follows == "<=":
		t = p.between()
	case follows == "*":
		t = p.halfSpace()
	default:
		t = p.relation()
	}
	p.verify(first, from, p.known.test(&t))
	return t
}

// relation reads a test that begins with its column.
func (p *parser) relation() Test {
	t := Test{Column: p.name("a test")}
	switch {
	case p.accept("IS"):
		switch {
		case p.accept("MISSING"):
			t.Op = IsMissing
		case p.accept("KNOWN"):
			t.Op = IsKnown
		default:
			p.expected("MISSING or KNOWN")
		}
		return t
	case p.accept("NOT"):
		switch {
		case p.accept("IN"):
			t.Op, t.Values = NotIn, p.values(t.Column)
		case p.accept("CONTAINS"):
			t.Op, t.Value = NotContains, p.name("a word")
		default:
			p.expected("IN or CONTAINS")
		}
		return t
	case p.accept("CONTAINS"):
		t.Op, t.Value = Contains, p.name("a word")
		return t
	case p.accept("IN"):
		t.Op, t.Values = In, p.values(t.Column)
		return t
	}
	op, ok := relations[p.ahead[0].text]
	if !ok || p.ahead[0].kind != symbolToken {
		p.expected("=, !=, <, <=, >, >=, IN, NOT IN, CONTAINS, NOT CONTAINS or IS")
	}
	p.next()
	t.Op = op
	if op == Eq || op == Ne {
		if p.at("{") {
			p.failAt(p.last, "%s before a set; use IN or NOT IN", p.last.text)
		}
		t.Value = p.value(t.Column)
	} else {
		t.Number = p.quantity(t.Column, "a number")
	}
	return t
}

// clock returns the column if it is known to be a date or a time, else nil.
func (p *parser) clock(column string) *table.Attribute {
	if i, ok := p.known.columns[column]; ok {
		if a := &p.known.schema.Attributes[i]; a.Kind == table.Numeric && (a.Date || a.Time) {
			return a
		}
	}
	return nil
}

// quantity reads a number of a column. Of a date or a time it may be written
// as one, in quotes where it has a time of day.
func (p *parser) quantity(column, what string) float64 {
	t := p.ahead[0]
	if a := p.clock(column); a != nil && (t.kind == wordToken || t.kind == quotedToken) {
		if x, ok := a.Parse(t.text); ok && finite(x) {
			p.next()
			return x
		}
	}
	return p.number(what)
}

// value reads a value of a column. A date that counts otherwise than in days
// becomes the number that it is.
func (p *parser) value(column string) string {
	text := p.name("a value")
	if a := p.clock(column); a != nil && (a.Time || !isNumber(text)) {
		if x, ok := a.Parse(text); ok && finite(x) {
			return string(appendNumber(nil, x))
		}
	}
	return text
}

func (p *parser) values(column string) []string {
	p.expect("{")
	var values []string
	for {
		values = append(values, p.value(column))
		if p.accept("}") {
			return values
		}
		if !p.accept(",") {
			p.expected(`"," or "}"`)
		}
	}
}

// between reads low < column <= high.
func (p *parser) between() Test {
	low := p.ahead[0].text
	t := Test{Op: Between, Low: p.number("a number")}
	t.LowClosed = p.next().text == "<="
	t.Column = p.name("a column")
	if a := p.clock(t.Column); a != nil {
		t.Low, _ = a.Parse(low)
	}
	switch {
	case p.accept("<"):
		t.HighOpen = true
	case p.accept("<="):
	default:
		p.expected("< or <= and an upper bound (a lower bound alone is written column > number)")
	}
	t.High = p.quantity(t.Column, "an upper bound")
	return t
}

// halfSpace reads number*column + number*column … > number.
func (p *parser) halfSpace() Test {
	t := Test{Op: HalfSpace}
	sign := 1.0
	for {
		factor := p.number("a factor")
		p.expect("*")
		t.Terms = append(t.Terms, Term{sign * factor, p.name("a column")})
		ahead := p.ahead[0]
		switch {
		case p.accept("+"):
			sign = 1
		case p.accept("-"):
			sign = -1
		case ahead.kind == wordToken && strings.HasPrefix(ahead.text, "-"):
			sign = 1 // the minus belongs to the factor: 2*x -3*y
		case p.accept(">"):
			t.Number = p.number("a number")
			return t
		case p.accept("<="):
			t.Below = true
			t.Number = p.number("a number")
			return t
		default:
			p.expected("+, -, > or <=")
		}
	}
}

// atLeast reads AT LEAST count OF {tests}.
func (p *parser) atLeast() Test {
	first := p.ahead[0]
	if p.depth++; p.depth > maxDepth {
		p.failAt(first, "AT LEAST nests deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	p.expect("AT")
	p.expect("LEAST")
	t := Test{Op: AtLeast}
	at := p.ahead[0]
	count := p.number("a whole number")
	p.expect("OF")
	p.expect("{")
	for {
		t.Of = append(t.Of, p.test())
		if p.accept("}") {
			break
		}
		if !p.accept(",") {
			p.expected(`"," or "}"`)
		}
	}
	if t.Count = int(count); float64(t.Count) != count {
		p.failAt(at, "AT LEAST %s, expected a whole number", at.text)
	}
	return t
}

func (p *parser) unit() Unit {
	title := p.ahead[0]
	u := Unit{Name: p.name("the unit's name")}
	p.spots = p.spots[:0]
	if p.titles[u.Name] {
		p.failAt(title, "a second unit %s", title.describe())
	}
	p.titles[u.Name] = true
	p.expect("(")
	at := p.ahead[0]
	u.Prior = p.number("the unit's prior probability")
	p.require(at, wrongProbability("the prior", u.Prior))
	p.expect(")")
	if p.accept("WORTH") {
		u.Worth = p.worth()
	}
	p.expect("EXPECT")
	seen := map[string]bool{}
	for {
		first := p.ahead[0]
		e := p.expectation()
		if seen[e.Column] {
			p.failAt(first, "%s is expected twice", quote(e.Column))
		}
		seen[e.Column] = true
		u.Expect = append(u.Expect, e)
		if !p.accept("AND") {
			return u
		}
	}
}

func (p *parser) expectation() Expectation {
	first, from := p.ahead[0], len(p.spots)
	e := Expectation{Column: p.name("a column")}
	switch {
	case p.accept("NORMAL"):
		e.Normal = true
	case p.accept("="):
		e.Shares = p.shares("its probability")
	case p.accept("~"):
		e.Mean = p.number("a mean")
		e.MeanSD = p.acceptWord("sd")
		p.expect("±")
		e.Deviation = p.number("a deviation")
		e.DeviationSD = p.acceptWord("sd")
	default:
		p.expected("~, = or NORMAL")
	}
	p.verify(first, from, p.known.expectation(&e))
	return e
}
