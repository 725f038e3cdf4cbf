package portable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// codePrinter writes a program as one function of a language with braces: each step
// is an array of numbers, made by statements.
type codePrinter struct {
	program *Program
	text    strings.Builder
	indent  int
	js      bool
	used    map[string]bool // functions that the language lacks
	cells   []string        // how each column's cell is called
}

func (c *codePrinter) line(format string, args ...any) {
	c.text.WriteString(strings.Repeat("\t", c.indent))
	fmt.Fprintf(&c.text, format, args...)
	c.text.WriteByte('\n')
}

// open begins a block, and end ends it.
func (c *codePrinter) open(format string, args ...any) {
	c.line(format+" {", args...)
	c.indent++
}

func (c *codePrinter) end() {
	c.indent--
	c.line("}")
}

// condition opens a block for rows of which a test holds.
func (c *codePrinter) condition(keyword, test string) {
	if c.js {
		c.open("%s (%s)", keyword, test)
	} else {
		c.open("%s %s", keyword, test)
	}
}

// orElse goes on with what happens otherwise.
func (c *codePrinter) orElse(test string) {
	c.indent--
	switch {
	case test == "":
		c.line("} else {")
	case c.js:
		c.line("} else if (%s) {", test)
	default:
		c.line("} else if %s {", test)
	}
	c.indent++
}

// declare makes room for a step.
func (c *codePrinter) declare(name string, width int) {
	if c.js {
		c.line("const %s = new Float64Array(%d);", name, width)
	} else {
		c.line("var %s [%d]float64", name, width)
	}
}

// set writes a statement.
func (c *codePrinter) set(format string, args ...any) {
	if c.js {
		format += ";"
	}
	c.line(format, args...)
}

// name of a step's array.
func (c *codePrinter) name(r Ref) string { return "v" + strconv.Itoa(int(r)) }

// call names a function, which is written where the language lacks it.
func (c *codePrinter) call(f string) string {
	if c.js {
		return "Math." + f
	}
	c.used[f] = true
	return f
}

func (c *codePrinter) steps() {
	for i := range c.program.Steps {
		c.step(Ref(i), &c.program.Steps[i])
	}
}

func (c *codePrinter) step(r Ref, s *Step) {
	v := c.name(r)
	c.declare(v, s.Width)
	switch s.Op {
	case Constant:
		for k, x := range s.Numbers {
			c.set("%s[%d] = %s", v, k, number(x))
		}
	case Cell:
		c.set("%s[0] = %s", v, c.cells[s.Column])
		c.condition("if", v+"[0] != "+v+"[0]")
		c.set("%s[0] = %s", v, number(s.Numbers[0]))
		c.end()
	case Lookup:
		c.lookup(v, s)
	case First:
		for i := range s.Tests {
			if test := c.test(&s.Tests[i]); i == 0 {
				c.condition("if", test)
			} else {
				c.orElse(test)
			}
			c.row(v, "=", s.row(i), "")
		}
		if len(s.Tests) > 0 {
			c.orElse("")
		}
		c.row(v, "=", s.row(len(s.Tests)), "")
		if len(s.Tests) > 0 {
			c.end()
		}
	case Sum:
		c.row(v, "=", s.row(0), "")
		for i := range s.Tests {
			c.condition("if", c.test(&s.Tests[i]))
			c.row(v, "+=", s.row(i+1), "")
			c.end()
		}
	case Walk:
		c.walk(v, s, 0, "")
	case Choose:
		c.condition("if", c.test(&s.Tests[0]))
		c.all(s.Width, v+"[k] = "+c.name(s.Of[0])+"[k]")
		c.orElse("")
		c.all(s.Width, v+"[k] = "+c.name(s.Of[1])+"[k]")
		c.end()
	default:
		c.arithmetic(v, s)
	}
}

// row sets or adds the numbers of a row that are not 0.
func (c *codePrinter) row(v, how string, row []float64, share string) {
	for k, x := range row {
		if x != 0 {
			c.set("%s[%d] %s %s%s", v, k, how, share, number(x))
		}
	}
}

// all writes a statement for each k below n.
func (c *codePrinter) all(n int, statement string) {
	if n == 1 {
		c.set("%s", strings.ReplaceAll(statement, "[k]", "[0]"))
		return
	}
	if c.js {
		c.open("for (let k = 0; k < %d; k++)", n)
	} else {
		c.open("for k := 0; k < %d; k++", n)
	}
	c.set("%s", statement)
	c.end()
}

func (c *codePrinter) lookup(v string, s *Step) {
	cell := c.cells[s.Column]
	if c.js {
		c.open("switch (%s)", cell)
	} else {
		c.open("switch %s", cell)
	}
	unseen := s.row(0)
	label := func(text string, row []float64) {
		c.indent--
		c.line("%s:", text)
		c.indent++
		c.row(v, "=", row, "")
		if c.js {
			c.line("break;")
		}
	}
	label(`case ""`, s.row(1))
	for k := 2; k < s.rows(); k++ {
		if !slices.Equal(s.row(k), unseen) {
			label("case "+quote(c.program.Columns[s.Column].Values[k-2]), s.row(k))
		}
	}
	label("default", unseen)
	c.end()
}

// walk writes a node of a tree: where a row goes, and with which share of it.
func (c *codePrinter) walk(v string, s *Step, at int, share string) {
	n := &s.Nodes[at]
	if len(n.Branches) == 0 {
		times := ""
		if share != "" {
			times = share + " * "
		}
		c.row(v, "+=", s.row(n.Row), times)
		return
	}
	name := func(b int) string { return fmt.Sprintf("w%s_%d", v[1:], n.Branches[b].To) }
	var names, start []string
	for b := range n.Branches {
		names, start = append(names, name(b)), append(start, "0.0")
	}
	if c.js {
		c.line("let %s = 0;", strings.Join(names, " = 0, "))
	} else {
		c.line("%s := %s", strings.Join(names, ", "), strings.Join(start, ", "))
	}
	whole := share
	if whole == "" {
		whole = "1"
	}
	for b := range n.Branches {
		if test := c.test(&n.Branches[b].Test); b == 0 {
			c.condition("if", test)
		} else {
			c.orElse(test)
		}
		c.set("%s = %s", name(b), whole)
	}
	c.orElse("")
	for b := range n.Branches {
		if x := n.Branches[b].Share; share == "" {
			c.set("%s = %s", name(b), number(x))
		} else {
			c.set("%s = %s * %s", name(b), share, number(x))
		}
	}
	c.end()
	for b := range n.Branches {
		c.condition("if", name(b)+" > 0")
		c.walk(v, s, n.Branches[b].To, name(b))
		c.end()
	}
}

func (c *codePrinter) arithmetic(v string, s *Step) {
	x := c.name(s.Of[0])
	n := c.program.Steps[s.Of[0]].Width
	switch s.Op {
	case Affine:
		c.affine(v, x, s, n)
	case Join:
		at := 0
		for _, of := range s.Of {
			for k := range c.program.Steps[of].Width {
				c.set("%s[%d] = %s[%d]", v, at, c.name(of), k)
				at++
			}
		}
	case Take:
		c.set("%s[0] = %s[%d]", v, x, s.Index)
	case Softmax:
		c.softmax(v, x, s)
	case Best:
		c.best(v, x, s)
	case Add, Subtract, Multiply, Divide:
		sign := map[Op]string{Add: "+", Subtract: "-", Multiply: "*", Divide: "/"}[s.Op]
		c.all(s.Width, v+"[k] = "+c.operand(s, 0)+" "+sign+" "+c.operand(s, 1))
	case Least, Greatest:
		c.all(s.Width, fmt.Sprintf("%s[k] = %s(%s, %s)", v, c.builtin(string(s.Op)), c.operand(s, 0), c.operand(s, 1)))
	case Rectify:
		c.all(s.Width, fmt.Sprintf("%s[k] = %s(%s[k], 0)", v, c.builtin("max"), x))
	case Logistic:
		c.all(s.Width, fmt.Sprintf("%s[k] = 1 / (1 + %s(-%s[k]))", v, c.call("exp"), x))
	default:
		c.all(s.Width, fmt.Sprintf("%s[k] = %s(%s[k])", v, c.call(string(s.Op)), x))
	}
}

// builtin is min or max, which both languages have.
func (c *codePrinter) builtin(f string) string {
	if c.js {
		return "Math." + f
	}
	return f
}

// operand is one of two; a single number goes with all of the other.
func (c *codePrinter) operand(s *Step, i int) string {
	if c.program.Steps[s.Of[i]].Width == 1 {
		return c.name(s.Of[i]) + "[0]"
	}
	return c.name(s.Of[i]) + "[k]"
}

// affine writes few products one by one, and many as a table.
func (c *codePrinter) affine(v, x string, s *Step, n int) {
	filled := 0
	for _, f := range s.Numbers {
		if f != 0 {
			filled++
		}
	}
	if filled <= 200 {
		for k := range s.Width {
			factors := s.Numbers[k*(n+1):][:n+1]
			terms := []string{number(factors[0])}
			for i, f := range factors[1:] {
				if f != 0 {
					terms = append(terms, fmt.Sprintf("%s*%s[%d]", number(f), x, i))
				}
			}
			c.set("%s[%d] = %s", v, k, strings.Join(terms, " + "))
		}
		return
	}
	table := "t" + v[1:]
	if c.js {
		c.line("const %s = [", table)
	} else {
		c.line("%s := [...]float64{", table)
	}
	c.indent++
	for part := range slices.Chunk(s.Numbers, n+1) {
		texts := make([]string, len(part))
		for i, f := range part {
			texts[i] = number(f)
		}
		c.line("%s,", strings.Join(texts, ", "))
	}
	c.indent--
	if c.js {
		c.line("];")
		c.open("for (let k = 0; k < %d; k++)", s.Width)
		c.line("let sum = %s[k * %d];", table, n+1)
		c.open("for (let i = 0; i < %d; i++)", n)
	} else {
		c.line("}")
		c.open("for k := 0; k < %d; k++", s.Width)
		c.line("sum := %s[k*%d]", table, n+1)
		c.open("for i := 0; i < %d; i++", n)
	}
	c.set("sum += %s[k*%d+i+1] * %s[i]", table, n+1, x)
	c.end()
	c.set("%s[k] = sum", v)
	c.end()
}

func (c *codePrinter) softmax(v, x string, s *Step) {
	most, total := "m"+v[1:], "s"+v[1:]
	if c.js {
		c.line("let %s = %s[0], %s = 0;", most, x, total)
	} else {
		c.line("%s, %s := %s[0], 0.0", most, total, x)
	}
	c.all(s.Width, fmt.Sprintf("%s = %s(%s, %s[k])", most, c.builtin("max"), most, x))
	value := fmt.Sprintf("%s(%s[k] - %s)", c.call("exp"), x, most)
	if len(s.Numbers) == 0 {
		c.all(s.Width, v+"[k] = "+value)
	} else {
		if c.js {
			c.open("for (let k = 0; k < %d; k++)", s.Width)
		} else {
			c.open("for k := 0; k < %d; k++", s.Width)
		}
		c.condition("if", fmt.Sprintf("%s[k]-%s > %s", x, most, number(s.Numbers[0])))
		c.set("%s[k] = %s", v, value)
		c.end()
		c.end()
	}
	c.all(s.Width, total+" += "+v+"[k]")
	c.all(s.Width, v+"[k] /= "+total)
}

func (c *codePrinter) best(v, x string, s *Step) {
	at := "b" + v[1:]
	if c.js {
		c.line("let %s = %d;", at, s.Order[0])
	} else {
		c.line("%s := %d", at, s.Order[0])
	}
	for _, i := range s.Order[1:] {
		c.condition("if", fmt.Sprintf("%s[%d] > %s[%s]", x, i, x, at))
		c.set("%s = %d", at, i)
		c.end()
	}
	c.set("%s[%s] = 1", v, at)
}

// test writes a condition.
func (c *codePrinter) test(t *Test) string {
	cell := ""
	if t.onColumn() {
		cell = c.cells[t.Column]
	}
	equal, or, and := "==", " || ", " && "
	if c.js {
		equal = "==="
	}
	switch t.Op {
	case Between:
		var parts []string
		for _, r := range t.relations() {
			if r[0] == "=" {
				r[0] = equal
			}
			parts = append(parts, cell+" "+r[0]+" "+r[1])
		}
		return strings.Join(parts, and)
	case Among:
		var parts []string
		for _, x := range t.Points {
			parts = append(parts, cell+" "+equal+" "+number(x))
		}
		return joined(parts, or, "false")
	case In:
		var parts []string
		for _, k := range t.Values {
			parts = append(parts, cell+" "+equal+" "+quote(c.program.Columns[t.Column].Values[k]))
		}
		return joined(parts, or, "false")
	case NotIn:
		parts := []string{cell + ` != ""`}
		for _, k := range t.Values {
			parts = append(parts, cell+" != "+quote(c.program.Columns[t.Column].Values[k]))
		}
		return strings.Join(parts, and)
	case Missing, Known:
		sign := equal
		if c.program.Columns[t.Column].Nominal() {
			if t.Op == Known {
				sign = "!="
			}
			return cell + " " + sign + ` ""`
		}
		if sign = "!="; t.Op == Known {
			sign = equal
		}
		return cell + " " + sign + " " + cell
	case Above:
		return c.name(t.Of) + "[0] > " + number(*t.Low)
	case AtMost:
		return c.name(t.Of) + "[0] <= " + number(*t.High)
	case Not:
		return "!(" + c.test(&t.Tests[0]) + ")"
	}
	return c.several(t)
}

// several writes a test of tests.
func (c *codePrinter) several(t *Test) string {
	parts := make([]string, len(t.Tests))
	for i := range t.Tests {
		parts[i] = c.test(&t.Tests[i])
	}
	switch {
	case t.Op == All:
		for i, p := range parts {
			if strings.Contains(p, "||") {
				parts[i] = "(" + p + ")"
			}
		}
		return joined(parts, " && ", "true")
	case t.Count <= 0:
		return "true"
	case len(parts) < t.Count:
		return "false"
	case t.Count == 1:
		for i, p := range parts {
			if strings.Contains(p, "&&") {
				parts[i] = "(" + p + ")"
			}
		}
		return strings.Join(parts, " || ")
	case c.js:
		for i, p := range parts {
			parts[i] = "((" + p + ") ? 1 : 0)"
		}
		return fmt.Sprintf("%s >= %d", strings.Join(parts, " + "), t.Count)
	}
	c.used["count"] = true
	return fmt.Sprintf("count(%s) >= %d", strings.Join(parts, ", "), t.Count)
}

func joined(parts []string, between, none string) string {
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, between)
}

// quote writes a string that Go and JavaScript read alike.
func quote(s string) string {
	var text strings.Builder
	text.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			text.WriteByte('\\')
			text.WriteRune(r)
		case r < ' ' || r == 0x7f || !unicode.IsPrint(r) && r <= 0xffff:
			fmt.Fprintf(&text, `\u%04x`, r)
		default:
			text.WriteRune(r)
		}
	}
	text.WriteByte('"')
	return text.String()
}
