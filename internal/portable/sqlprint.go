package portable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// print lays the steps out one before another, and the answer behind them.
func (s *sqlPrinter) print(table string) ([]byte, error) {
	answers, names := s.answers()
	last := 1
	for _, e := range answers {
		last = max(last, s.place(e)+1)
	}
	var text strings.Builder
	text.WriteString(comment("--", s.head()...))
	from := quoted(table)
	for level := 1; level < last; level++ {
		if level == 1 {
			text.WriteString("WITH ")
		}
		name := fmt.Sprintf("step_%d", level)
		for s.program.column(name) >= 0 || name == table {
			name += "_"
		}
		fmt.Fprintf(&text, "%s AS MATERIALIZED (\n  SELECT\n    %s\n  FROM %s\n)", quoted(name), strings.Join(s.columns(level, answers), ",\n    "), from)
		if from = quoted(name); level+1 < last {
			text.WriteString(",\n")
		} else {
			text.WriteString("\n")
		}
	}
	text.WriteString("SELECT\n")
	for i, e := range answers {
		if text.WriteString("  " + s.write(e, last) + " AS " + quoted(names[i])); i+1 < len(answers)+len(s.ids) {
			text.WriteString(",")
		}
		text.WriteString("\n")
	}
	for i, id := range s.ids {
		if text.WriteString("  " + quoted(id)); i+1 < len(s.ids) {
			text.WriteString(",")
		}
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "FROM %s;\n", from)
	return []byte(text.String()), nil
}

// head says what the text is.
func (s *sqlPrinter) head() []string {
	p := s.program
	lines := []string{fmt.Sprintf("A model of %s, learnt by Accrete (%s): a row of answers for each row of the table.", p.Target.Name, p.Learner)}
	return append(append(lines, p.reading("NULL", "NULL")...), p.Notes...)
}

// reading says what cells are to be.
func (p *Program) reading(number, name string) []string {
	lines := []string{"A missing number is " + number + ", a missing name " + name + "."}
	if number == name {
		lines[0] = "A missing cell is " + number + "."
	}
	for i := range p.Columns {
		switch c := &p.Columns[i]; c.Kind {
		case "date":
			lines = append(lines, c.Name+" counts days since 1970-01-01.")
		case "time":
			since := "1970-01-01"
			if !table.Style(c.Style).IsDay() {
				since = "midnight"
			}
			lines = append(lines, c.Name+" counts seconds since "+since+".")
		}
	}
	return lines
}

// column finds a column by its name, whatever its case; -1 if there is none.
func (p *Program) column(name string) int {
	return slices.IndexFunc(p.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// answers are the columns of the answer, with their names.
func (s *sqlPrinter) answers() (answers []*scalar, names []string) {
	p, a := s.program, &s.program.Answer
	if a.Number != nil {
		answers, names = append(answers, s.steps[*a.Number][0]), append(names, "prediction")
		if a.Low != nil {
			s.keep(answers[0], "number")
			answers, names = append(answers, s.steps[*a.Low][0], s.steps[*a.High][0]), append(names, "low", "high")
		}
		return answers, names
	}
	probabilities := s.steps[*a.Probabilities]
	order := nameOrder(p.Target.Classes)
	for _, e := range probabilities {
		s.keep(e, "p")
	}
	parts := []any{"CASE"}
	for i, c := range order[:len(order)-1] {
		parts = append(parts, "\n    WHEN ")
		for k, other := range order[i+1:] {
			if k > 0 {
				parts = append(parts, " AND ")
			}
			parts = append(parts, probabilities[c], " >= ", probabilities[other])
		}
		parts = append(parts, " THEN ", text(p.Target.Classes[c]))
	}
	prediction := atom(append(parts, "\n    ELSE ", text(p.Target.Classes[order[len(order)-1]]), " END")...)
	if len(order) == 1 {
		prediction = atom(text(p.Target.Classes[0]))
	}
	answers, names = append(answers, prediction), append(names, "prediction")
	for c, e := range probabilities {
		answers, names = append(answers, e), append(names, "p_"+p.Target.Classes[c])
	}
	return answers, names
}

// place returns the level of the last step that an expression needs, and gives the
// columns on the way theirs.
func (s *sqlPrinter) place(e *scalar) int {
	if e.level > 0 {
		return e.level
	}
	deepest := 0
	for _, p := range e.parts {
		if of, ok := p.(*scalar); ok {
			deepest = max(deepest, s.place(of))
		}
	}
	if e.name == "" && e.uses > 1 && !e.simple {
		s.keep(e, "part")
	}
	if e.name == "" {
		return deepest
	}
	e.level = deepest + 1
	return e.level
}

// columns are those of a step: what it computes, and what later ones need of before.
func (s *sqlPrinter) columns(level int, answers []*scalar) []string {
	var own, handed []string
	cells := make([]bool, len(s.program.Columns))
	later := map[*scalar]bool{}
	var need func(e *scalar, top bool)
	need = func(e *scalar, top bool) {
		if !top && e.name != "" && e.level > 0 {
			if e.level <= level {
				later[e] = true
			}
			return
		}
		for _, p := range e.parts {
			switch p := p.(type) {
			case column:
				cells[p] = true
			case *scalar:
				need(p, false)
			}
		}
	}
	for _, e := range s.kept {
		if e.level > level {
			need(e, true)
		}
	}
	for _, e := range answers {
		need(e, e.level == 0)
	}
	for _, id := range s.ids {
		if !slices.ContainsFunc(s.program.Columns, func(c Column) bool { return c.Name == id }) {
			handed = append(handed, quoted(id))
		} else {
			cells[s.program.column(id)] = true
		}
	}
	for i, needed := range cells {
		if needed {
			handed = append(handed, quoted(s.program.Columns[i].Name))
		}
	}
	for _, e := range s.kept {
		switch {
		case !later[e]:
		case e.level == level:
			own = append(own, s.write(e, level)+" AS "+s.alias(e))
		default:
			handed = append(handed, s.alias(e))
		}
	}
	return append(own, handed...)
}

// alias is the column of a kept scalar, which no column of the table has as name.
func (s *sqlPrinter) alias(e *scalar) string {
	name := e.name
	for s.program.column(name) >= 0 || slices.Contains(s.ids, name) {
		name += "_"
	}
	return plain.ReplaceAllString(name, "_")
}

// write writes a scalar for a step: what steps before have is a column.
func (s *sqlPrinter) write(e *scalar, level int) string {
	var text strings.Builder
	s.writeTo(&text, e, level, true)
	return text.String()
}

func (s *sqlPrinter) writeTo(text *strings.Builder, e *scalar, level int, bare bool) {
	if e.name != "" && e.level > 0 && e.level < level {
		text.WriteString(s.alias(e))
		return
	}
	if bare = bare || e.atom; !bare {
		text.WriteString("(")
	}
	for i, p := range e.parts {
		switch p := p.(type) {
		case string:
			text.WriteString(p)
		case column:
			text.WriteString(quoted(s.program.Columns[p].Name))
		case *scalar:
			bare := e.sum && p.times || i+1 < len(e.parts) && e.parts[i+1] == any(" THEN ")
			s.writeTo(text, p, level, bare)
		}
	}
	if !bare {
		text.WriteString(")")
	}
}
