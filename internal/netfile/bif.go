package netfile

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// readBIF reads the text form of the interchange format: a block for the
// network, one for each variable and one for each table, whose rows name the
// parents' states.
func readBIF(d *draft, l *lexer) error {
	for {
		switch t := l.take(); {
		case t.kind == end:
			return nil
		case t.text == "network":
			if err := bifNetwork(d, l); err != nil {
				return err
			}
		case t.text == "variable":
			if err := bifVariable(d, l); err != nil {
				return err
			}
		case t.text == "probability":
			if err := bifProbability(d, l); err != nil {
				return err
			}
		default:
			return l.fail(t.line, "%v: expected network, variable or probability", t)
		}
	}
}

func bifNetwork(d *draft, l *lexer) error {
	if !l.is("{") {
		name, err := l.name("the network's name")
		if err != nil {
			return err
		}
		d.net.Name = name.text
	}
	if err := l.expect("{"); err != nil {
		return err
	}
	for !l.is("}") {
		if err := l.statement(); err != nil {
			return err
		}
	}
	return l.expect("}")
}

func bifVariable(d *draft, l *lexer) error {
	name, err := l.name("a variable's name")
	if err != nil {
		return err
	}
	if err := l.expect("{"); err != nil {
		return err
	}
	var states []string
	for !l.is("}") {
		if !l.is("type") {
			if err := l.statement(); err != nil {
				return err
			}
			continue
		}
		if states, err = bifType(d, l, name.text); err != nil {
			return err
		}
	}
	l.take()
	return d.declare(name.line, name.text, states)
}

// bifType reads: type discrete [ 2 ] { yes, no };
func bifType(d *draft, l *lexer, name string) ([]string, error) {
	at := l.take()
	if t := l.take(); t.text != "discrete" {
		return nil, l.fail(t.line, "variable %q is of type %v; expected discrete", name, t)
	}
	count := -1
	if l.is("[") {
		l.take()
		t := l.take()
		n, err := strconv.Atoi(t.text)
		if err != nil {
			return nil, l.fail(t.line, "%v: expected the number of states of %q", t, name)
		}
		count = n
		if err := l.expect("]"); err != nil {
			return nil, err
		}
	}
	if err := l.expect("{"); err != nil {
		return nil, err
	}
	states, err := l.names("}", "a state")
	if err != nil {
		return nil, err
	}
	if count >= 0 && count != len(states) {
		return nil, d.fail(at.line, "variable %q says that it has %d states, but lists %d: %s", name, count, len(states), shown(states))
	}
	return states, l.expect(";")
}

// names reads names up to a mark, with or without commas.
func (l *lexer) names(until, what string) ([]string, error) {
	var names []string
	for !l.is(until) {
		if l.is(",") && len(names) > 0 {
			l.take()
		}
		t, err := l.name(what)
		if err != nil {
			return nil, err
		}
		names = append(names, t.text)
	}
	l.take()
	return names, nil
}

// numbers reads numbers up to a semicolon.
func (l *lexer) numbers() ([]float64, error) {
	var xs []float64
	for !l.is(";") {
		if l.is(",") && len(xs) > 0 {
			l.take()
		}
		t := l.take()
		x, err := number(t.text)
		if err != nil || t.kind != word {
			return nil, l.fail(t.line, "%v: expected a probability, or \";\" after the last", t)
		}
		if len(xs) >= MaxTable {
			return nil, l.fail(t.line, "more than %d numbers", MaxTable)
		}
		xs = append(xs, x)
	}
	l.take()
	return xs, nil
}

// head reads whose table follows, given which parents: ( a | b, c ). It returns
// the variable's number.
func (d *draft) head(l *lexer, what string) (int, error) {
	if err := l.expect("("); err != nil {
		return 0, err
	}
	child, err := l.name(what)
	if err != nil {
		return 0, err
	}
	var parents []string
	if l.is("|") {
		l.take()
		parents, err = l.names(")", "a parent's name")
	} else {
		err = l.expect(")")
	}
	if err != nil {
		return 0, err
	}
	return d.given(child.line, child.text, parents)
}

// bifProbability reads: probability ( a | b, c ) { (yes, no) 0.9, 0.1; … }.
func bifProbability(d *draft, l *lexer) error {
	i, err := d.head(l, "a variable's name")
	if err != nil {
		return err
	}
	if err := l.expect("{"); err != nil {
		return err
	}
	for !l.is("}") {
		if err := bifEntry(d, l, i); err != nil {
			return err
		}
	}
	return l.expect("}")
}

// bifEntry reads a row of a table, the whole of it, or the row of all others.
func bifEntry(d *draft, l *lexer, i int) error {
	switch t := l.peek(); {
	case t.kind == mark && t.text == "(":
		return bifRow(d, l, i)
	case t.text == "table":
		l.take()
		xs, err := l.numbers()
		if err != nil {
			return err
		}
		return d.whole(t.line, i, xs, true)
	case t.text == "default":
		l.take()
		xs, err := l.numbers()
		if err != nil {
			return err
		}
		return d.others(t.line, i, xs)
	case t.text == "property":
		return l.statement()
	default:
		return l.fail(t.line, "%v: expected a row such as (yes, no) 0.9, 0.1; or table", t)
	}
}

func bifRow(d *draft, l *lexer, i int) error {
	line := l.take().line
	names, err := l.names(")", "a parent's state")
	if err != nil {
		return err
	}
	v := &d.net.Variables[i]
	if len(names) != len(v.Parents) {
		return l.fail(line, "a row of %q names %d states, expected one for each of %d parents", v.Name, len(names), len(v.Parents))
	}
	row := 0
	for k, name := range names {
		s, err := d.state(line, v.Parents[k], name)
		if err != nil {
			return err
		}
		row = row*len(d.net.Variables[v.Parents[k]].States) + s
	}
	xs, err := l.numbers()
	if err != nil {
		return err
	}
	r := len(v.States)
	if len(xs) != r {
		return l.fail(line, "the row of %q%s has %s, expected %d: one for each of %s", v.Name, d.when(v, row), count(len(xs)), r, shown(v.States))
	}
	to := v.Table[row*r:][:r]
	if to[0] == to[0] {
		return l.fail(line, "the row of %q%s comes twice", v.Name, d.when(v, row))
	}
	copy(to, xs)
	return d.row(line, i, row)
}

// others gives a distribution to all rows that have none.
func (d *draft) others(line, i int, xs []float64) error {
	v := &d.net.Variables[i]
	r := len(v.States)
	if len(xs) != r {
		return d.fail(line, "the default row of %q has %s, expected %d", v.Name, count(len(xs)), r)
	}
	for k := 0; k < len(v.Table); k += r {
		if v.Table[k] == v.Table[k] {
			continue
		}
		copy(v.Table[k:], xs)
		if err := d.row(line, i, k/r); err != nil {
			return err
		}
	}
	return nil
}

// BIF writes a network in the text form, which reads back as it is.
func (n *Network) BIF() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "network %s {\n}\n", quote(n.Name))
	for i := range n.Variables {
		v := &n.Variables[i]
		fmt.Fprintf(&b, "variable %s {\n  type discrete [ %d ] { %s };\n}\n", quote(v.Name), len(v.States), quotes(v.States))
	}
	for i := range n.Variables {
		v := &n.Variables[i]
		fmt.Fprintf(&b, "probability ( %s", quote(v.Name))
		for k, p := range v.Parents {
			fmt.Fprintf(&b, "%s %s", map[bool]string{true: " |", false: ","}[k == 0], quote(n.Variables[p].Name))
		}
		b.WriteString(" ) {\n")
		n.rows(&b, v)
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func (n *Network) rows(b *bytes.Buffer, v *Variable) {
	r := len(v.States)
	states := make([]string, len(v.Parents))
	for row := range len(v.Table) / r {
		at := row
		for k := len(v.Parents) - 1; k >= 0; k-- {
			of := n.Variables[v.Parents[k]].States
			states[k] = of[at%len(of)]
			at /= len(of)
		}
		if len(v.Parents) == 0 {
			b.WriteString("  table ")
		} else {
			fmt.Fprintf(b, "  (%s) ", quotes(states))
		}
		for k, x := range v.Table[row*r:][:r] {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
		b.WriteString(";\n")
	}
}

// quote puts a name in quotes that would not be read as one word.
func quote(name string) string {
	if name == "" {
		return "unknown"
	}
	if strings.ContainsAny(name, "{}()[],;|\" \t\r\n\f") || strings.HasPrefix(name, "//") || strings.HasPrefix(name, "/*") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return name
}

func quotes(names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = quote(name)
	}
	return strings.Join(texts, ", ")
}
