package portable

import (
	"fmt"
	"strings"
)

// JS writes the program as one function of JavaScript, which takes an object with a
// cell for each column.
func (p *Program) JS(function string) ([]byte, error) {
	c := &codePrinter{program: p, js: true, indent: 1}
	for i := range p.Columns {
		c.cells = append(c.cells, fmt.Sprintf("c%d", i))
		cell, gone := "row["+quote(p.Columns[i].Name)+"]", "NaN"
		known := "Number(" + cell + ")"
		if p.Columns[i].Nominal() {
			known, gone = "String("+cell+")", `""`
		}
		c.line(`const c%d = %s == null || %s === "" ? %s : %s;`, i, cell, cell, gone, known)
	}
	c.steps()
	a := &p.Answer
	switch {
	case a.Number == nil:
		v := c.name(*a.Probabilities)
		texts := make([]string, len(p.Target.Classes))
		for i, class := range p.Target.Classes {
			texts[i] = quote(class)
		}
		c.line("const classes = [%s];", strings.Join(texts, ", "))
		order := nameOrder(p.Target.Classes)
		c.line("let best = %d;", order[0])
		for _, i := range order[1:] {
			c.condition("if", fmt.Sprintf("%s[%d] > %s[best]", v, i, v))
			c.line("best = %d;", i)
			c.end()
		}
		c.line("const probabilities = {};")
		c.open("for (let k = 0; k < classes.length; k++)")
		c.line("Object.defineProperty(probabilities, classes[k], { value: %s[k], enumerable: true });", v)
		c.end()
		c.line("return { prediction: classes[best], probabilities };")
	case a.Low == nil:
		c.line("return { prediction: %s[0] };", c.name(*a.Number))
	default:
		c.line("return { prediction: %s[0], low: %s[0], high: %s[0] };", c.name(*a.Number), c.name(*a.Low), c.name(*a.High))
	}
	head := []string{"Written by accrete export.", fmt.Sprintf("%s(row) answers with %s, as a model does that Accrete learnt (%s).", function, p.Target.Name, p.Learner)}
	head = append(append(head, p.reading(`undefined, null, NaN or ""`, `undefined, null or ""`)...), p.Notes...)
	text := comment("//", head...) + fmt.Sprintf("function %s(row) {\n%s}\n", function, c.text.String())
	return []byte(text + fmt.Sprintf("if (typeof module !== \"undefined\") module.exports = %s;\n", function)), nil
}
