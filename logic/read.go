package logic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// deepest is how far terms may be nested in a text, and how many operators may
// stand in a row; conjunctions and lists may be longer.
const deepest = 100

// SyntaxError says where a program cannot be read, and what was expected there.
type SyntaxError struct {
	File         string
	Line, Column int
	What         string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Read reads a program: facts, clauses and directives, each with a full stop
// behind it. The file is named in errors.
func Read(file, text string) (*Program, error) {
	p, err := newParser(file, text)
	if err != nil {
		return nil, err
	}
	var clauses []*Clause
	var directives []Term
	for p.token.kind != atEnd {
		line := p.token.line
		p.names, p.known = nil, map[string]Var{}
		t, err := p.sentence()
		if err != nil {
			return nil, err
		}
		if d, ok := t.(*Compound); ok && d.Functor == ":-" && len(d.Args) == 1 {
			directives = append(directives, d.Args[0])
			continue
		}
		c, err := p.clause(t, line)
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, c)
	}
	program := NewProgram(clauses)
	program.Directives = directives
	return program, nil
}

// ReadGoal reads what is asked: literals between commas, with or without a full
// stop behind them. It returns the names of their variables, too.
func ReadGoal(text string) ([]Literal, []string, error) {
	if trimmed := strings.TrimSpace(text); !strings.HasSuffix(trimmed, ".") {
		text = trimmed + " ."
	}
	p, err := newParser("goal", text)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.sentence()
	if err != nil {
		return nil, nil, err
	}
	if p.token.kind != atEnd {
		return nil, nil, p.wrong("expected nothing behind the full stop")
	}
	body, err := p.body(t, nil)
	return body, p.names, err
}

type kind int

const (
	atEnd    kind = iota
	name          // an atom
	inQuotes      // an atom that was quoted, and is no operator
	variable
	whole
	real
	mark // one of ( ) [ ] { } , |
	stop // the full stop
)

type token struct {
	kind  kind
	text  string
	opens bool // a parenthesis follows at once
	line  int
	begin int // of the line
	at    int // where it stands
}

type parser struct {
	file  string
	text  string
	at    int
	line  int
	begin int // of the line
	token token
	names []string // of the sentence's variables
	known map[string]Var
	depth int
}

func newParser(file, text string) (*parser, error) {
	p := &parser{file: file, text: text, line: 1, known: map[string]Var{}}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				p.token = token{line: 1 + strings.Count(text[:i], "\n"), begin: strings.LastIndexByte(text[:i], '\n') + 1, at: i}
				return nil, p.wrong(fmt.Sprintf("byte %#x is not UTF-8; expected text in that encoding", text[i]))
			}
		}
	}
	return p, p.next()
}

func (p *parser) wrong(what string) error {
	return &SyntaxError{p.file, p.token.line, utf8.RuneCountInString(p.text[p.token.begin:p.token.at]) + 1, what}
}

// found says what stands where something else was expected.
func (p *parser) found(expected string) error {
	switch p.token.kind {
	case atEnd:
		return p.wrong("expected " + expected + ", found the end of the text")
	case stop:
		return p.wrong("expected " + expected + ", found the full stop")
	}
	return p.wrong(fmt.Sprintf("expected %s, found %q", expected, shorten(p.token.text)))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// next reads a token.
func (p *parser) next() error {
	if err := p.skip(); err != nil {
		return err
	}
	p.token = token{line: p.line, begin: p.begin, at: p.at}
	if p.at == len(p.text) {
		return nil
	}
	from := p.at
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	var err error
	switch {
	case r == '\'':
		p.token.kind = inQuotes
		p.token.text, err = p.quote()
	case unicode.IsDigit(r):
		err = p.number()
	case r == '_' || unicode.IsUpper(r):
		p.token.kind, p.token.text = variable, p.take(isAlphanumeric)
	case isAlphanumeric(r):
		p.token.kind, p.token.text = name, p.take(isAlphanumeric)
	case strings.ContainsRune("()[]{},|", r):
		p.at++
		p.token.kind, p.token.text = mark, p.text[from:p.at]
	case r == '!' || r == ';':
		p.at++
		p.token.kind, p.token.text = name, p.text[from:p.at]
	case r == '.' && p.endsHere(p.at+1):
		p.at++
		p.token.kind = stop
	case strings.ContainsRune(symbols, r):
		p.token.kind, p.token.text = name, p.take(func(r rune) bool { return strings.ContainsRune(symbols, r) })
	case r == '"':
		return p.wrong("texts in double quotes are not read; expected a name in single quotes, or a list")
	default:
		p.token.kind, p.token.text = mark, p.text[from:from+size]
		return p.found("a clause, a name, a variable or a number")
	}
	p.token.opens = p.at < len(p.text) && p.text[p.at] == '('
	return err
}

// endsHere reports whether a full stop before this place ends a sentence.
func (p *parser) endsHere(at int) bool {
	if at >= len(p.text) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(p.text[at:])
	return unicode.IsSpace(r) || r == '%'
}

// skip passes over space and comments.
func (p *parser) skip() error {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		switch rest := p.text[p.at:]; {
		case unicode.IsSpace(r):
			p.pass(size)
		case r == '%':
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.pass(n)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				p.token = token{line: p.line, begin: p.begin, at: p.at}
				return p.wrong("this comment has no end; expected */")
			}
			p.pass(n + 4)
		default:
			return nil
		}
	}
	return nil
}

// pass goes on, counting lines.
func (p *parser) pass(n int) {
	passed := p.text[p.at : p.at+n]
	if lines := strings.Count(passed, "\n"); lines > 0 {
		p.line += lines
		p.begin = p.at + strings.LastIndexByte(passed, '\n') + 1
	}
	p.at += n
}

func (p *parser) take(belongs func(rune) bool) string {
	n := strings.IndexFunc(p.text[p.at:], func(r rune) bool { return !belongs(r) })
	if n < 0 {
		n = len(p.text) - p.at
	}
	p.at += n
	return p.text[p.at-n : p.at]
}

// number reads a whole number or one with a fraction, an exponent or both.
func (p *parser) number() error {
	from := p.at
	digits := func(r rune) bool { return r >= '0' && r <= '9' }
	if written, err := p.otherNumber(); written || err != nil {
		return err
	}
	p.take(digits)
	p.token.kind = whole
	rest := p.text[p.at:]
	if len(rest) > 1 && rest[0] == '.' && digits(rune(rest[1])) {
		p.at++
		p.take(digits)
		p.token.kind = real
	}
	if rest = strings.ToLower(p.text[p.at:min(len(p.text), p.at+3)]); p.token.kind == real && strings.HasPrefix(rest, "e") {
		if trimmed := strings.TrimLeft(rest[1:], "+-"); len(rest)-1-len(trimmed) <= 1 && trimmed != "" && digits(rune(trimmed[0])) {
			p.at += len(rest) - len(trimmed)
			p.take(digits)
		}
	}
	p.token.text = p.text[from:p.at]
	if p.token.text == "" {
		return p.wrong("expected a number in the digits 0 to 9")
	}
	return nil
}

// otherNumber reads the code of a character (0'a), or a number in digits of another base
// (0xff, 0o17, 0b101).
func (p *parser) otherNumber() (bool, error) {
	rest := p.text[p.at:]
	if len(rest) < 3 || rest[0] != '0' {
		return false, nil
	}
	var code int64
	switch base, isBase := map[byte]int{'x': 16, 'o': 8, 'b': 2}[rest[1]]; {
	case rest[1] == '\'':
		p.at += 2
		var b strings.Builder
		switch r, size := utf8.DecodeRuneInString(rest[2:]); {
		case r == '\\':
			if err := p.escape(&b); err != nil {
				return false, err
			}
		case strings.HasPrefix(rest[2:], "''"):
			b.WriteByte('\'')
			p.at += 2
		default:
			b.WriteRune(r)
			p.pass(size)
		}
		r, _ := utf8.DecodeRuneInString(b.String())
		code = int64(r)
	case isBase:
		n := len(rest) - len(strings.TrimLeft(rest[2:], "0123456789abcdefABCDEF"))
		var err error
		if code, err = strconv.ParseInt(rest[2:n], base, 64); err != nil {
			return false, p.wrong(fmt.Sprintf("%s is no number of 64 bits in base %d", shorten(rest[:n]), base))
		}
		p.at += n
	default:
		return false, nil
	}
	p.token.kind, p.token.text = whole, strconv.FormatInt(code, 10)
	return true, nil
}

// quote reads a name in quotes, which may hold escapes and doubled quotes.
func (p *parser) quote() (string, error) {
	var b strings.Builder
	p.at++
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case r == '\'' && strings.HasPrefix(p.text[p.at+1:], "'"):
			b.WriteByte('\'')
			p.at += 2
		case r == '\'':
			p.at++
			return b.String(), nil
		case r == '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteRune(r)
			p.pass(size)
		}
	}
	return "", p.wrong("this quote has no end; expected '")
}

func (p *parser) escape(b *strings.Builder) error {
	rest := p.text[p.at+1:]
	if rest == "" {
		return p.wrong("this quote has no end; expected '")
	}
	if i := strings.IndexByte(`nt\'"`+"`", rest[0]); i >= 0 {
		b.WriteByte("\n\t\\'\"`"[i])
		p.at += 2
		return nil
	}
	if rest[0] == 'x' {
		if n := strings.IndexByte(rest, '\\'); n > 1 && n < 10 {
			if code, err := strconv.ParseUint(rest[1:n], 16, 32); err == nil && code <= unicode.MaxRune && utf8.ValidRune(rune(code)) {
				b.WriteRune(rune(code))
				p.at += n + 2
				return nil
			}
		}
	}
	if rest[0] == '\n' {
		p.pass(2)
		return nil
	}
	return p.wrong(fmt.Sprintf("%q is no escape; expected \\n, \\t, \\\\, \\' or \\xHEX\\", "\\"+rest[:1]))
}

// sentence reads a term and the full stop behind it.
func (p *parser) sentence() (Term, error) {
	t, err := p.term(1200)
	if err != nil {
		return nil, err
	}
	if p.token.kind != stop {
		return nil, p.found("an operator or the full stop")
	}
	return t, p.next()
}

// term reads a term that binds at least as strongly as asked for.
func (p *parser) term(most int) (Term, error) {
	if p.depth++; p.depth > deepest {
		return nil, p.wrong(fmt.Sprintf("terms are nested more than %d deep; expected fewer", deepest))
	}
	defer func() { p.depth-- }()
	left, binds, err := p.primary(most)
	if err != nil {
		return nil, err
	}
	for links := 0; ; links++ {
		text := p.token.text
		if p.token.kind != name && !p.isMark(",") {
			return left, nil
		}
		o, ok := infix[text]
		if !ok || o.priority > most || binds > o.left {
			return left, nil
		}
		if links == deepest {
			return nil, p.wrong(fmt.Sprintf("more than %d operators stand in a row; expected fewer, or parentheses", deepest))
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		var right Term
		if text == "," {
			right, err = p.conjunction()
		} else {
			right, err = p.term(o.right)
		}
		if err != nil {
			return nil, err
		}
		if right == nil {
			return &Compound{",", []Term{left}}, nil
		}
		left, binds = &Compound{text, []Term{left, right}}, o.priority
	}
}

// conjunction reads what stands behind the first comma of a conjunction; nothing
// for a tuple of one, as in type(f,(list,)).
func (p *parser) conjunction() (Term, error) {
	if p.isMark(")") {
		return nil, nil
	}
	all, err := p.several()
	if err != nil {
		return nil, err
	}
	t := all[len(all)-1]
	for _, left := range slices.Backward(all[:len(all)-1]) {
		t = &Compound{",", []Term{left, t}}
	}
	return t, nil
}

func (p *parser) isMark(text string) bool { return p.token.kind == mark && p.token.text == text }

// expect reads a mark.
func (p *parser) expect(text string) error {
	if !p.isMark(text) {
		return p.found(text)
	}
	return p.next()
}

// primary reads a term up to its first infix operator, and returns how strongly
// it binds.
func (p *parser) primary(most int) (t Term, binds int, err error) {
	token := p.token
	switch token.kind {
	case whole, real:
		if t, err = p.numeral(""); err != nil {
			return nil, 0, err
		}
		return t, 0, p.next()
	case variable:
		return p.variable(token.text), 0, p.next()
	case inQuotes, name:
		if err := p.next(); err != nil {
			return nil, 0, err
		}
		if token.opens {
			args, err := p.arguments()
			return &Compound{token.text, args}, 0, err
		}
		if token.kind == name {
			return p.operatorOrAtom(token, most)
		}
		return Atom(token.text), 0, nil
	case mark:
		switch token.text {
		case "(":
			if err := p.next(); err != nil {
				return nil, 0, err
			}
			if t, err = p.term(1200); err != nil {
				return nil, 0, err
			}
			return t, 0, p.expect(")")
		case "[":
			t, err = p.list()
			return t, 0, err
		}
	}
	return nil, 0, p.found("a term")
}

// operatorOrAtom reads what follows a prefix operator, or returns the atom.
func (p *parser) operatorOrAtom(t token, most int) (Term, int, error) {
	if t.text == "-" && (p.token.kind == whole || p.token.kind == real) && p.token.at == t.at+1 {
		n, err := p.numeral("-")
		if err != nil {
			return nil, 0, err
		}
		return n, 0, p.next()
	}
	o, ok := prefix[t.text]
	if !ok || !p.begins() {
		return Atom(t.text), 0, nil
	}
	priority, right := o.priority, o.right
	if priority > most {
		priority, right = 999, 999
	}
	argument, err := p.term(right)
	if err != nil {
		return nil, 0, err
	}
	return &Compound{t.text, []Term{argument}}, priority, nil
}

// begins reports whether a term can begin here.
func (p *parser) begins() bool {
	switch p.token.kind {
	case atEnd, stop:
		return false
	case mark:
		return p.token.text == "(" || p.token.text == "["
	case name:
		_, isInfix := infix[p.token.text]
		_, isPrefix := prefix[p.token.text]
		return !isInfix || isPrefix && p.token.text != ":-" || p.token.opens
	}
	return true
}

// numeral returns the number that stands here.
func (p *parser) numeral(sign string) (Term, error) {
	text := sign + p.token.text
	if p.token.kind == whole {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, p.wrong(fmt.Sprintf("%s is out of range; expected a whole number of 64 bits", shorten(text)))
		}
		return Int(n), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) {
		return nil, p.wrong(fmt.Sprintf("%s is out of range; expected a number below 1.8e308", shorten(text)))
	}
	return Float(x), nil
}

// variable returns the number of a variable; each _ is another one.
func (p *parser) variable(text string) Term {
	if v, ok := p.known[text]; ok {
		return v
	}
	v := Var(len(p.names))
	p.names = append(p.names, text)
	if text != "_" {
		p.known[text] = v
	}
	return v
}

// arguments reads the arguments of a compound term.
func (p *parser) arguments() ([]Term, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	args, err := p.several()
	if err != nil {
		return nil, err
	}
	return args, p.expect(")")
}

// several reads terms between commas.
func (p *parser) several() ([]Term, error) {
	var all []Term
	for {
		t, err := p.term(999)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if !p.isMark(",") {
			return all, nil
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) list() (Term, error) {
	if err := p.expect("["); err != nil {
		return nil, err
	}
	if p.isMark("]") {
		return Nil, p.next()
	}
	elements, err := p.several()
	if err != nil {
		return nil, err
	}
	tail := Term(Nil)
	if p.isMark("|") {
		if err := p.next(); err != nil {
			return nil, err
		}
		if tail, err = p.term(999); err != nil {
			return nil, err
		}
	}
	return List(elements, tail), p.expect("]")
}

// clause makes a clause of a sentence.
func (p *parser) clause(t Term, line int) (*Clause, error) {
	c := &Clause{Head: t, Names: p.names, Line: line}
	if rule, ok := t.(*Compound); ok && rule.Functor == ":-" && len(rule.Args) == 2 {
		c.Head = rule.Args[0]
		var err error
		if c.Body, err = p.body(rule.Args[1], nil); err != nil {
			return nil, err
		}
	}
	of, ok := predicateOf(c.Head)
	if _, isControl := infix[of.Name]; !ok || isControl && of.Arity == 2 || of.Name == `\+` || of.Name == ":-" {
		return nil, &SyntaxError{p.file, line, 1, fmt.Sprintf("%s cannot be the head of a clause; expected a name, with or without arguments", shorten(Format(c.Head, p.names)))}
	}
	return c, nil
}

// body returns the literals of a conjunction.
func (p *parser) body(t Term, before []Literal) ([]Literal, error) {
	for {
		c, ok := t.(*Compound)
		if !ok || c.Functor != "," || len(c.Args) != 2 {
			break
		}
		var err error
		if before, err = p.body(c.Args[0], before); err != nil {
			return nil, err
		}
		t = c.Args[1]
	}
	l := Literal{Atom: t}
	for {
		c, ok := l.Atom.(*Compound)
		if !ok || c.Functor != `\+` || len(c.Args) != 1 || l.Negated {
			break
		}
		l = Literal{true, c.Args[0]}
	}
	if _, isNumber := number(l.Atom); isNumber {
		return nil, p.wrong(fmt.Sprintf("%s cannot be proved; expected a literal", Format(l.Atom, p.names)))
	}
	return append(before, l), nil
}
