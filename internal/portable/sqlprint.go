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
	if schema, name, ok := strings.Cut(table, "."); ok {
		from = quoted(schema) + "." + quoted(name)
	}
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
		if text.WriteString("  " + s.id(id, last)); i+1 < len(s.ids) {
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
	lines = append(lines, "A missing cell is NULL.")
	for i := range p.Columns {
		c := &p.Columns[i]
		switch {
		case !c.dated():
			continue
		case c.clock():
			lines = append(lines, c.Name+" is a time of day, such as 08:15:00")
		case c.Kind == "date":
			lines = append(lines, c.Name+" is a date, such as 2020-01-31")
		default:
			lines = append(lines, c.Name+" is a date with a time, such as 2020-01-31 08:15:00")
		}
		if lines[len(lines)-1] += "."; s.dialect == "sqlite" {
			lines[len(lines)-1] += " Numbers count " + c.counts() + "."
		}
	}
	return append(lines, p.Notes...)
}

// dated says that cells are dates or times, for which databases have types.
func (c *Column) dated() bool { return c.Kind == "date" || c.Kind == "time" }

// clock says that they are times of every day.
func (c *Column) clock() bool { return c.Kind == "time" && !table.Style(c.Style).IsDay() }

// counts says what the number of a date or a time is.
func (c *Column) counts() string {
	switch {
	case c.Kind == "date":
		return "days since 1970-01-01"
	case c.clock():
		return "seconds since midnight"
	}
	return "seconds since 1970-01-01"
}

// boolean says that cells are true or false, which are numbers in SQLite.
func (c *Column) boolean() bool {
	return len(c.Values) > 0 && !slices.ContainsFunc(c.Values, func(v string) bool { return v != "true" && v != "false" })
}

// stored is a column of the table as a number or a name.
func (s *sqlPrinter) stored(at int) string {
	c := &s.program.Columns[at]
	name := quoted(c.Name)
	switch {
	case s.dialect == "sqlite" && c.boolean():
		return "CASE " + name + " WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE " + name + " END"
	case !c.dated():
		return name
	}
	number := ""
	switch {
	case s.dialect == "postgres":
		number = "CAST(EXTRACT(EPOCH FROM " + name + ") AS double precision)"
	case s.dialect == "duckdb":
		number = "epoch(" + name + ")"
	default: // which has no such type, but texts, to thousandths of a second
		text := name
		if c.clock() {
			text = "'1970-01-01 ' || " + name
		}
		number = "strftime('%s', " + text + ")"
		if c.Kind == "time" {
			number = "(" + number + " + (strftime('%f', " + text + ") - strftime('%S', " + text + ")))"
		}
	}
	if c.Kind == "date" {
		number = "(" + number + " / 86400.0)"
	}
	if s.dialect == "sqlite" {
		number = "CASE typeof(" + name + ") WHEN 'text' THEN " + number + " ELSE " + name + " END"
	}
	return number
}

// reading says what cells are to be.
func (p *Program) reading(number, name string) []string {
	lines := []string{"A missing number is " + number + ", a missing name " + name + "."}
	for i := range p.Columns {
		if c := &p.Columns[i]; c.dated() {
			lines = append(lines, c.Name+" counts "+c.counts()+".")
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

// id is a column that says which row an answer is of. A date is a number in the steps,
// and stands there a second time, as the table has it.
func (s *sqlPrinter) id(name string, level int) string {
	at := slices.IndexFunc(s.program.Columns, func(c Column) bool { return c.Name == name })
	if level == 1 || at < 0 || s.stored(at) == quoted(name) {
		return quoted(name)
	}
	return s.asStored(name) + " AS " + quoted(name)
}

func (s *sqlPrinter) asStored(name string) string {
	name += " as stored"
	for s.program.column(name) >= 0 || slices.Contains(s.ids, name) {
		name += "_"
	}
	return quoted(name)
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
		at := slices.IndexFunc(s.program.Columns, func(c Column) bool { return c.Name == id })
		switch {
		case at >= 0 && s.stored(at) == quoted(id):
			cells[at] = true
		case at >= 0 && level == 1:
			handed = append(handed, quoted(id)+" AS "+s.asStored(id))
		case at >= 0:
			handed = append(handed, s.asStored(id))
		default:
			handed = append(handed, quoted(id))
		}
	}
	for i, needed := range cells {
		switch name := quoted(s.program.Columns[i].Name); {
		case needed && level == 1 && s.stored(i) != name:
			handed = append(handed, s.stored(i)+" AS "+name)
		case needed:
			handed = append(handed, name)
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
			if level == 1 {
				text.WriteString(s.stored(int(p)))
			} else {
				text.WriteString(quoted(s.program.Columns[p].Name))
			}
		case *scalar:
			bare := e.sum && p.times || i+1 < len(e.parts) && e.parts[i+1] == any(" THEN ")
			s.writeTo(text, p, level, bare)
		}
	}
	if !bare {
		text.WriteString(")")
	}
}
