package logic

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// operator is how a functor is written between or before its arguments.
type operator struct {
	priority    int
	left, right int // the highest priority of its arguments; left is -1 before one
}

// infix and prefix are the operators of ISO Prolog that programs here use.
var infix = map[string]operator{
	":-": {1200, 1199, 1199}, ";": {1100, 1099, 1100}, "->": {1050, 1049, 1050}, ",": {1000, 999, 1000},
	"=": {700, 699, 699}, "\\=": {700, 699, 699}, "==": {700, 699, 699}, "\\==": {700, 699, 699}, "is": {700, 699, 699},
	"<": {700, 699, 699}, ">": {700, 699, 699}, "=<": {700, 699, 699}, ">=": {700, 699, 699}, "=:=": {700, 699, 699}, "=\\=": {700, 699, 699},
	"@<": {700, 699, 699}, "@>": {700, 699, 699}, "@=<": {700, 699, 699}, "@>=": {700, 699, 699}, "=..": {700, 699, 699},
	"+": {500, 500, 499}, "-": {500, 500, 499}, "*": {400, 400, 399}, "/": {400, 400, 399}, "//": {400, 400, 399},
	"mod": {400, 400, 399}, "rem": {400, 400, 399}, "**": {200, 199, 199}, "^": {200, 199, 200},
}

var prefix = map[string]operator{
	":-": {1200, -1, 1199}, "?-": {1200, -1, 1199}, "\\+": {900, -1, 900}, "-": {200, -1, 200}, "+": {200, -1, 200}, "#": {200, -1, 200},
	"table": {1150, -1, 1150}, "dynamic": {1150, -1, 1150}, "discontiguous": {1150, -1, 1150},
}

// Format writes a term; names are those of variables, which are _0, _1, … where
// there are none.
func Format(t Term, names []string) string {
	var w writer
	w.names = names
	w.term(t, 999)
	return w.String()
}

// String writes a clause as Read reads it.
func (c *Clause) String() string {
	var w writer
	w.names = c.Names
	w.term(c.Head, 999)
	for i, l := range c.Body {
		w.WriteString([]string{", ", " :- "}[btoi(i == 0)])
		w.literal(l)
	}
	text := w.Builder.String()
	if strings.ContainsRune(symbols, rune(text[len(text)-1])) {
		return text + " ."
	}
	return text + "."
}

// ID is a short name of a clause: a hash of its text, whatever its variables are
// called.
func (c *Clause) ID() string {
	hash := sha256.Sum256([]byte(NewClause(c.Head, c.Body).String()))
	return hex.EncodeToString(hash[:4])
}

// Format writes a literal.
func (l Literal) Format(names []string) string {
	var w writer
	w.names = names
	w.literal(l)
	return w.Builder.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

type writer struct {
	strings.Builder
	names []string
}

func (w *writer) literal(l Literal) {
	if !l.Negated {
		w.term(l.Atom, 999)
		return
	}
	w.WriteString("\\+ ")
	w.term(l.Atom, 900)
}

// term writes a term, in parentheses if it binds less than is asked for.
func (w *writer) term(t Term, most int) {
	switch t := t.(type) {
	case Var:
		if int(t) < len(w.names) {
			w.WriteString(w.names[t])
			return
		}
		w.WriteString("_" + strconv.Itoa(int(t)))
	case Int:
		w.WriteString(strconv.FormatInt(int64(t), 10))
	case Float:
		w.WriteString(formatFloat(float64(t)))
	case Atom:
		_, isInfix := infix[string(t)]
		_, isPrefix := prefix[string(t)]
		if (isInfix || isPrefix) && (!isWord(string(t)) || most < 999) { // not before another operator
			w.WriteString("(" + quoted(string(t)) + ")")
			return
		}
		w.WriteString(quoted(string(t)))
	case *Compound:
		w.compound(t, most)
	}
}

func formatFloat(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if math.IsInf(x, 0) || math.IsNaN(x) || strings.ContainsAny(s, ".") {
		return s
	}
	if digits, exponent, ok := strings.Cut(s, "e"); ok {
		return digits + ".0e" + exponent
	}
	return s + ".0"
}

func (w *writer) compound(t *Compound, most int) {
	switch {
	case t.Functor == cons && len(t.Args) == 2:
		w.list(t)
		return
	case len(t.Args) == 2:
		if o, ok := infix[t.Functor]; ok {
			w.bracket(o.priority > most, func() {
				w.term(t.Args[0], o.left)
				switch {
				case t.Functor == ",":
					w.WriteString(", ")
				default:
					w.WriteString(" " + t.Functor + " ")
				}
				w.term(t.Args[1], o.right)
			})
			return
		}
	case t.Functor == ":-" && len(t.Args) == 1:
		w.bracket(prefix[t.Functor].priority > most, func() {
			w.WriteString(":- ")
			w.term(t.Args[0], prefix[t.Functor].right)
		})
		return
	case t.Functor == "\\+" && len(t.Args) == 1:
		w.bracket(prefix[t.Functor].priority > most, func() { w.literal(Literal{true, t.Args[0]}) })
		return
	}
	w.WriteString(quoted(t.Functor) + "(")
	for i, a := range t.Args {
		if i > 0 {
			w.WriteByte(',')
		}
		w.term(a, 999)
	}
	w.WriteByte(')')
}

func (w *writer) bracket(needed bool, write func()) {
	if needed {
		w.WriteByte('(')
		defer w.WriteByte(')')
	}
	write()
}

func (w *writer) list(t *Compound) {
	w.WriteByte('[')
	w.term(t.Args[0], 999)
	for rest := t.Args[1]; ; {
		next, ok := rest.(*Compound)
		if !ok || next.Functor != cons || len(next.Args) != 2 {
			if rest != Nil {
				w.WriteByte('|')
				w.term(rest, 999)
			}
			break
		}
		w.WriteByte(',')
		w.term(next.Args[0], 999)
		rest = next.Args[1]
	}
	w.WriteByte(']')
}

// quoted writes an atom, in quotes unless it is a word or made of symbols.
func quoted(name string) string {
	if isWord(name) || name == string(Nil) || name == "!" || name == ";" || isSymbolic(name) {
		return name
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString("\\n")
		case r == '\t':
			b.WriteString("\\t")
		case unicode.IsControl(r):
			b.WriteString("\\x" + strconv.FormatInt(int64(r), 16) + "\\")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// isWord reports whether a name begins with a small letter and goes on with
// letters, digits and underscores.
func isWord(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLower(first) {
		return false
	}
	for _, r := range name {
		if !isAlphanumeric(r) {
			return false
		}
	}
	return true
}

func isAlphanumeric(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

const symbols = "+-*/\\^<>=~:.?@#&$"

func isSymbolic(name string) bool {
	return name != "" && name != "." && strings.Trim(name, symbols) == "" && !strings.HasPrefix(name, "/*")
}
