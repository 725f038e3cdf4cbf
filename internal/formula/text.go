package formula

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text writes a formula as people do, over names of variables, constants with
// so many significant digits; -1 for all that they have.
func (t Tree) Text(variables []string, digits int) string {
	type piece struct {
		text string
		rank int // how tightly it holds together
	}
	const sumRank, productRank, signRank, powerRank, atomRank = 1, 2, 3, 4, 5
	var stack []piece
	in := func(p piece, least int) string {
		if p.rank < least {
			return "(" + p.text + ")"
		}
		return p.text
	}
	for _, n := range t {
		switch {
		case n.Op == Const:
			p := piece{strconv.FormatFloat(n.Value, 'g', digits, 64), atomRank}
			if math.Signbit(n.Value) {
				p.rank = signRank
			}
			stack = append(stack, p)
		case n.Op == Var:
			stack = append(stack, piece{quoted(variables[n.Index]), atomRank})
		case n.Op.Arity() == 2:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			switch n.Op {
			case Add:
				stack = append(stack, piece{a.text + " + " + in(b, productRank), sumRank})
			case Sub:
				stack = append(stack, piece{a.text + " - " + in(b, productRank), sumRank})
			case Mul, Div:
				stack = append(stack, piece{in(a, productRank) + n.Op.String() + in(b, signRank), productRank})
			default:
				stack = append(stack, piece{in(a, atomRank) + "^" + in(b, atomRank), powerRank})
			}
		default:
			a := stack[len(stack)-1]
			p := piece{n.Op.String() + "(" + a.text + ")", atomRank}
			switch n.Op {
			case Neg:
				p = piece{"-" + in(a, powerRank), signRank}
			case Square:
				p = piece{in(a, atomRank) + "^2", powerRank}
			case Inverse:
				p = piece{"1/" + in(a, signRank), productRank}
			}
			stack[len(stack)-1] = p
		}
	}
	return stack[0].text
}

// quoted returns a name as formulas have it: bare if it is letters, digits, _
// and dots, not beginning with a digit, and no function; else in double quotes.
func quoted(name string) string {
	_, taken := Named(name)
	for i, c := range name {
		if !(unicode.IsLetter(c) || c == '_' || i > 0 && (unicode.IsDigit(c) || c == '.')) {
			taken = true
		}
	}
	if taken || name == "" || name == "pi" || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

// deepest is how deeply brackets may be nested.
const deepest = 500

// Parse reads a formula over names of variables. Powers are written ^ or **,
// hold to the right, and bind tighter than a sign.
func Parse(text string, variables []string) (Tree, error) {
	p := &parser{text: text, index: make(map[string]int, len(variables))}
	for i, name := range variables {
		p.index[name] = i
	}
	p.next()
	t, err := p.sum()
	if err == nil && p.token != "" {
		err = p.wrong("an operator")
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

type parser struct {
	text  string
	at    int // behind the token
	token string
	index map[string]int
	depth int
}

func (p *parser) wrong(expected string) error {
	found := strconv.Quote(p.token)
	if p.token == "" {
		found = "the end"
	}
	return fmt.Errorf("formula: expected %s, found %s behind %d characters", expected, found, max(0, p.at-len(p.token)))
}

// next reads the next token: a number, a name, or an operator; "" at the end.
func (p *parser) next() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	rest := p.text[p.at:]
	end := 0
	switch c, size := utf8.DecodeRuneInString(rest); {
	case rest == "":
	case c == '"':
		end = 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(rest))
	case c >= '0' && c <= '9' || c == '.':
		for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '.' || strings.IndexByte("eE", rest[end]) >= 0 || strings.IndexByte("+-", rest[end]) >= 0 && strings.IndexByte("eE", rest[end-1]) >= 0) {
			end++
		}
	case unicode.IsLetter(c) || c == '_':
		for end < len(rest) {
			c, size := utf8.DecodeRuneInString(rest[end:])
			if !(unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '.') {
				break
			}
			end += size
		}
	case strings.HasPrefix(rest, "**"):
		end = 2
	default:
		end = size
	}
	p.token = rest[:end]
	p.at += end
}

func (p *parser) sum() (Tree, error) {
	if p.depth++; p.depth > deepest {
		return nil, fmt.Errorf("formula: nested more than %d deep", deepest)
	}
	defer func() { p.depth-- }()
	return p.chain(p.product, "+", "-")
}

func (p *parser) product() (Tree, error) { return p.chain(p.signed, "*", "/") }

// chain reads arguments with operators of one rank between them.
func (p *parser) chain(argument func() (Tree, error), signs ...string) (Tree, error) {
	t, err := argument()
	for err == nil && (p.token == signs[0] || p.token == signs[1]) {
		o, _ := Named(p.token)
		p.next()
		var b Tree
		if b, err = argument(); err == nil {
			t = append(append(t, b...), Node{Op: o})
		}
	}
	return t, err
}

func (p *parser) signed() (Tree, error) {
	if p.token != "-" && p.token != "+" {
		return p.power()
	}
	if p.depth++; p.depth > deepest {
		return nil, fmt.Errorf("formula: nested more than %d deep", deepest)
	}
	defer func() { p.depth-- }()
	negative := p.token == "-"
	p.next()
	t, err := p.signed()
	switch {
	case err != nil || !negative:
	case len(t) == 1 && t[0].Op == Const:
		t[0].Value = -t[0].Value
	default:
		t = append(t, Node{Op: Neg})
	}
	return t, err
}

func (p *parser) power() (Tree, error) {
	t, err := p.atom()
	if err != nil || p.token != "^" && p.token != "**" {
		return t, err
	}
	if p.depth++; p.depth > deepest {
		return nil, fmt.Errorf("formula: nested more than %d deep", deepest)
	}
	defer func() { p.depth-- }()
	p.next()
	exponent, err := p.signed()
	if err != nil {
		return nil, err
	}
	return append(append(t, exponent...), Node{Op: Pow}), nil
}

func (p *parser) atom() (Tree, error) {
	token := p.token
	switch {
	case token == "":
		return nil, p.wrong("a number, a column or a function")
	case token == "(":
		p.next()
		t, err := p.sum()
		if err == nil && p.token != ")" {
			err = p.wrong(")")
		}
		p.next()
		return t, err
	case token[0] >= '0' && token[0] <= '9' || token[0] == '.':
		x, err := strconv.ParseFloat(token, 64)
		if err != nil || math.IsInf(x, 0) {
			return nil, p.wrong("a number")
		}
		p.next()
		return Number(x), nil
	}
	name := token
	if token[0] == '"' {
		var err error
		if name, err = strconv.Unquote(token); err != nil {
			return nil, p.wrong("a name in double quotes")
		}
	}
	p.next()
	if o, ok := Named(name); ok && token[0] != '"' && o.Arity() == 1 && p.token == "(" {
		t, err := p.atom()
		return append(t, Node{Op: o}), err
	}
	if i, ok := p.index[name]; ok {
		return Variable(i), nil
	}
	if token == "pi" {
		return Number(math.Pi), nil
	}
	p.token = token
	return nil, p.wrong("a column or a function")
}
