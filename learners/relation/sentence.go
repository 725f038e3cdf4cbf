package relation

import (
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/logic"
)

// sentence says whom a clause over tables is about, for people: a customer who has an
// order that has an item with quantity more than 3.
type sentence struct {
	db    *database
	w     *writer
	nouns []string   // of each variable
	with  [][]string // what is said of each
	has   [][]link   // who comes with it
}

// link is a thing that another one leads to.
type link struct {
	by string // what stands between them
	to int
}

// people are the things that are somebody.
var people = []string{"customer", "client", "person", "people", "student", "patient", "employee", "user", "member", "actor", "director", "author", "child", "parent", "driver", "teacher", "professor", "voter", "man", "woman"}

// words writes a clause for people.
func (m *Model) words(w *writer, i int) string {
	if m.list[i].Text != "" || m.linked != nil && len(m.linked.Tables) == 0 {
		var parts []string
		for _, l := range w.body(m.list[i].Body, m.arity) {
			parts = append(parts, l.Format(nil))
		}
		return strings.Join(parts, " and ")
	}
	s := &sentence{db: alone(), w: w, nouns: []string{"row"}}
	if m.linked != nil {
		s.db = compiled(m.linked)
		s.nouns[0] = one(m.linked.Of)
	}
	s.with, s.has = make([][]string, 1), make([][]link, 1)
	for _, c := range m.list[i].Body {
		s.add(c)
	}
	return s.thing(0)
}

// one is what a row of a table is called.
func one(name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:] // without the schema of a database
	switch {
	case name == "people":
		name = "person"
	case strings.HasSuffix(name, "ies"):
		name = strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		name = strings.TrimSuffix(name, "s")
	}
	return words(name)
}

// add takes a condition in.
func (s *sentence) add(c Condition) {
	at := func(k int) int { // the variable of a place, -1 if it is none
		if k < len(c.Args) && c.Args[k] >= 0 {
			return c.Args[k]
		}
		return -1
	}
	r := s.db.byName[c.Relation]
	table, column := s.parts(c.Relation, r)
	switch {
	case c.Relation == "":
		s.say(at(0), "which is the same as the "+s.noun(at(1)))
	case c.Op != none:
		s.say(at(0), s.compared(c, r, column))
	case len(c.Constants) > 0:
		is := " = "
		if c.Negated {
			is = " other than "
		}
		s.say(at(0), "with "+column+is+c.Constants[0])
	case len(c.Args) == 2 && at(0) >= len(s.nouns): // rows that name one
		s.grow(at(0), table)
		s.has[at(1)] = append(s.has[at(1)], link{"has", at(0)})
	case len(c.Args) == 2 && at(1) >= len(s.nouns): // a row that is named
		noun := column
		if r != nil && r.places[1].domain >= 0 {
			noun = s.db.domains[r.places[1].domain].name
		}
		s.grow(at(1), noun)
		by := "whose " + column + " is"
		if strings.HasPrefix(column, one(noun)) || column == words(noun) {
			by = "of"
		}
		s.has[at(0)] = append(s.has[at(0)], link{by, at(1)})
	case c.Negated && len(c.Args) == 2 && at(0) < 0:
		s.say(at(1), "without any "+one(table))
	case c.Negated && len(c.Args) == 2 && at(1) < 0:
		s.say(at(0), "without "+column)
	case len(c.Args) == 2:
		not := ""
		if c.Negated {
			not = "not "
		}
		s.say(at(0), "whose "+column+" is "+not+"that "+s.noun(at(1)))
	default:
		s.say(max(at(0), 0), "with "+words(c.Relation))
	}
}

// parts are the table of a relation, and its column.
func (s *sentence) parts(name string, r *relation) (table, column string) {
	if r == nil || len(r.places) == 0 || r.places[0].domain < 0 {
		table = s.nouns[0]
		return table, words(strings.TrimPrefix(name, s.prefix()))
	}
	table = s.db.domains[r.places[0].domain].name
	return table, words(strings.TrimPrefix(name, table+"_"))
}

// prefix is what the columns of the rows themselves begin with.
func (s *sentence) prefix() string {
	if s.db.of < 0 {
		return ""
	}
	return s.db.domains[s.db.of].name + "_"
}

// compared says how a number is compared.
func (s *sentence) compared(c Condition, r *relation, column string) string {
	a := s.w.formats[c.Relation]
	number := strings.Trim(logic.Format(numberTerm(&a, c.Cut), nil), "'")
	than := " more than "
	if (c.Op == above) == c.Negated {
		than = " at most "
	}
	if r != nil && r.derived != "" {
		return "whose " + r.derived + " is" + than + number
	}
	return "with " + column + than + number
}

func (s *sentence) grow(v int, table string) {
	for len(s.nouns) <= v {
		s.nouns, s.with, s.has = append(s.nouns, one(table)), append(s.with, nil), append(s.has, nil)
	}
}

func (s *sentence) noun(v int) string {
	if v < 0 || v >= len(s.nouns) {
		return "other"
	}
	return s.nouns[v]
}

func (s *sentence) say(v int, what string) {
	if v >= 0 && v < len(s.with) {
		s.with[v] = append(s.with[v], what)
	}
}

// thing says what is known of a variable.
func (s *sentence) thing(v int) string {
	noun := s.nouns[v]
	text := "a " + noun
	if noun != "" && strings.ContainsRune("aeio", rune(noun[0])) {
		text = "an " + noun
	}
	who := "that"
	if slices.Contains(people, noun) {
		who = "who"
	}
	var said []string
	for i, w := range s.with[v] {
		if i > 0 && strings.HasPrefix(w, "with ") && strings.HasPrefix(s.with[v][i-1], "with ") {
			w = strings.TrimPrefix(w, "with ")
		}
		said = append(said, w)
	}
	var having []string
	for _, l := range s.has[v] {
		by := l.by
		if by == "has" {
			by = who + " has"
		}
		having = append(having, by+" "+s.thing(l.to))
	}
	if len(said) > 0 {
		text += " " + strings.Join(said, " and ")
	}
	if len(having) > 0 {
		text += " " + strings.Join(having, ", and ")
	}
	return text
}
