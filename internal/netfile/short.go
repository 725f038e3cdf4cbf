package netfile

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The short form is what one would write by hand, a statement a line:
//
//	# what a line says after this mark is for people
//	Storm: true, false                     the states of a variable
//	Storm, BusTourGroup -> Campfire        arcs, from each to each
//	Storm -> Lightning -> Thunder
//	[Storm][Thunder|Storm:Lightning]       arcs as bnlearn writes them
//	P(Storm=true) = 0.2                    tables; one state of each row may be left to the rest
//	P(Campfire=true | Storm=true, BusTourGroup=false) = 0.1
//
// States and tables may be left out where rows are to bring them. Names that hold a
// mark or a space stand in quotes.

// readShort reads the short form.
func readShort(d *draft, text []byte) error {
	s := &shortForm{draft: d, arcs: map[[2]int]bool{}}
	for n, line := range strings.Split(strings.TrimPrefix(string(text), "\xef\xbb\xbf"), "\n") {
		if !utf8.ValidString(line) {
			return d.fail(n+1, "the line is not UTF-8 text; expected a network in BIF, XMLBIF, Hugin's language or the short form (a -> b), saved as UTF-8")
		}
		s.lexer = &lexer{file: d.file, text: line, line: n + 1, marks: "()[],;|:=", arrows: true}
		for s.peek().kind != end {
			if s.is(";") {
				s.take()
				continue
			}
			if err := s.statement(); err != nil {
				return err
			}
		}
	}
	return s.tabulate()
}

type shortForm struct {
	*draft
	*lexer
	arcs  map[[2]int]bool
	cells []cell
}

// cell is a line P(child=state | parent=state, …) = p.
type cell struct {
	line  int
	child finding
	given []finding
	p     float64
}

type finding struct{ variable, state int }

// mention returns the place of a variable, which is new where nobody has spoken of it.
func (s *shortForm) mention(t token) (int, error) {
	if i, ok := s.places[t.text]; ok {
		return i, nil
	}
	return len(s.net.Variables), s.append(t.line, t.text)
}

func (s *shortForm) statement() error {
	if s.is("[") {
		return s.modelString()
	}
	if s.is("P") && strings.HasPrefix(strings.TrimLeft(s.text[s.at:], " \t"), "(") {
		s.take()
		return s.probability()
	}
	return s.arcsOrStates()
}

// arcsOrStates reads  a, b -> c  or  a: yes, no  or names alone.
func (s *shortForm) arcsOrStates() error {
	from, at, err := s.several()
	if err != nil {
		return err
	}
	if s.is(":") {
		s.take()
		if len(from) != 1 {
			return s.draft.fail(at, "states are given of one variable at a time, as in  alarm: yes, no")
		}
		return s.statesOf(at, from[0])
	}
	for s.is("->") || s.is("<-") {
		arrow := s.take()
		to, _, err := s.several()
		if err != nil {
			return err
		}
		for _, a := range from {
			for _, b := range to {
				parent, child := a, b
				if arrow.text == "<-" {
					parent, child = b, a
				}
				if err := s.arc(arrow.line, parent, child); err != nil {
					return err
				}
			}
		}
		from = to
	}
	if t := s.peek(); t.kind != end && t.text != ";" {
		return s.draft.fail(t.line, "%v: expected an arc (a -> b), states (a: yes, no) or a probability (P(a=yes) = 0.2); names with blanks stand in double quotes", t)
	}
	return nil
}

// several reads names with commas between them.
func (s *shortForm) several() (places []int, line int, err error) {
	for {
		t, err := s.name("a variable's name")
		if err != nil {
			return nil, 0, err
		}
		i, err := s.mention(t)
		if err != nil {
			return nil, 0, err
		}
		places, line = append(places, i), t.line
		if !s.is(",") {
			return places, line, nil
		}
		s.take()
	}
}

func (s *shortForm) arc(line, parent, child int) error {
	v := &s.net.Variables[child]
	switch {
	case parent == child:
		return s.draft.fail(line, "variable %q is its own parent", v.Name)
	case s.arcs[[2]int{parent, child}]:
		return nil
	}
	s.arcs[[2]int{parent, child}] = true
	v.Parents = append(v.Parents, parent)
	if s.tables[child] == 0 {
		s.tables[child] = line
	}
	return nil
}

// statesOf reads the states of a variable.
func (s *shortForm) statesOf(line, variable int) error {
	v := &s.net.Variables[variable]
	if v.States != nil {
		return s.draft.fail(line, "the states of %q are given twice", v.Name)
	}
	var states []string
	for {
		t, err := s.name("a state")
		if err != nil {
			return err
		}
		states = append(states, t.text)
		if !s.is(",") {
			break
		}
		s.take()
	}
	if t := s.peek(); t.kind != end && t.text != ";" {
		return s.draft.fail(t.line, "%v: expected a comma, or the end of the line", t)
	}
	return s.setStates(line, variable, states)
}

// modelString reads [a][b|a:c], the arcs of one variable after the other.
func (s *shortForm) modelString() error {
	for s.is("[") {
		s.take()
		t, err := s.name("a variable's name")
		if err != nil {
			return err
		}
		child, err := s.mention(t)
		if err != nil {
			return err
		}
		for s.is("|") || s.is(":") {
			s.take()
			t, err := s.name("a parent's name")
			if err != nil {
				return err
			}
			parent, err := s.mention(t)
			if err == nil {
				err = s.arc(t.line, parent, child)
			}
			if err != nil {
				return err
			}
		}
		if err := s.expect("]"); err != nil {
			return err
		}
	}
	return nil
}

// probability reads (a=yes | b=no, c=high) = 0.3 after the P.
func (s *shortForm) probability() error {
	open := s.take()
	child, err := s.finding()
	if err != nil {
		return err
	}
	c := cell{line: open.line, child: child}
	for s.is("|") || s.is(",") {
		s.take()
		f, err := s.finding()
		if err != nil {
			return err
		}
		if err := s.arc(open.line, f.variable, child.variable); err != nil {
			return err
		}
		c.given = append(c.given, f)
	}
	if err := s.expect(")"); err != nil {
		return err
	}
	if err := s.expect("="); err != nil {
		return err
	}
	t := s.take()
	if c.p, err = number(t.text); err != nil || t.kind != word || !(c.p >= 0 && c.p <= 1) {
		return s.draft.fail(t.line, "%v: expected a probability from 0 to 1", t)
	}
	s.cells = append(s.cells, c)
	return nil
}

// finding reads a=yes, of a variable whose states were given.
func (s *shortForm) finding() (finding, error) {
	t, err := s.name("a variable's name")
	if err != nil {
		return finding{}, err
	}
	v, known := s.places[t.text]
	if !known || s.net.Variables[v].States == nil {
		return finding{}, s.draft.fail(t.line, "the states of %q are not known here; expected a line before, such as  %s: yes, no", t.text, quoteShort(t.text))
	}
	if err := s.expect("="); err != nil {
		return finding{}, err
	}
	of, err := s.name("a state")
	if err != nil {
		return finding{}, err
	}
	state, err := s.state(of.line, v, of.text)
	return finding{v, state}, err
}

// tabulate makes tables of the cells, when all arcs are known.
func (s *shortForm) tabulate() error {
	lines := map[[2]int]int{} // of a row, where it was last spoken of
	for _, c := range s.cells {
		row, err := s.rowOf(c)
		if err != nil {
			return err
		}
		v := &s.net.Variables[c.child.variable]
		place := &v.Table[row*len(v.States)+c.child.state]
		if !math.IsNaN(*place) {
			return s.draft.fail(c.line, "P(%s=%s%s) comes twice", v.Name, v.States[c.child.state], strings.Replace(s.when(v, row), " given", " |", 1))
		}
		*place, lines[[2]int{c.child.variable, row}] = c.p, c.line
	}
	for i := range s.net.Variables {
		v := &s.net.Variables[i]
		for row := range len(v.Table) / max(1, len(v.States)) {
			line := lines[[2]int{i, row}]
			if line == 0 {
				return s.draft.fail(s.tables[i], "the table of %q lacks the row%s; expected a probability for it", v.Name, s.when(v, row))
			}
			s.rest(v.Table[row*len(v.States):][:len(v.States)])
			if err := s.row(line, i, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowOf returns the row of its table that a cell is in.
func (s *shortForm) rowOf(c cell) (int, error) {
	v := &s.net.Variables[c.child.variable]
	if len(c.given) != len(v.Parents) {
		return 0, s.draft.fail(c.line, "P(%s=…) names %d parents, expected %d: %s", v.Name, len(c.given), len(v.Parents), strings.Join(s.names(v.Parents), ", "))
	}
	row, size := 0, len(v.States)
	for _, p := range v.Parents {
		k := slices.IndexFunc(c.given, func(f finding) bool { return f.variable == p })
		if k < 0 {
			return 0, s.draft.fail(c.line, "P(%s=…) does not name the parent %q; expected all of %s", v.Name, s.net.Variables[p].Name, strings.Join(s.names(v.Parents), ", "))
		}
		states := len(s.net.Variables[p].States)
		row = row*states + c.given[k].state
		if size *= states; size > MaxTable {
			return 0, s.draft.fail(c.line, "the table of %q would have more than %d numbers", v.Name, MaxTable)
		}
	}
	if v.Table == nil {
		v.Table = slices.Repeat([]float64{math.NaN()}, size)
		s.tables[c.child.variable] = c.line
	}
	return row, nil
}

// rest gives what the states of a row leave to the one that nobody spoke of, and
// nothing to others.
func (s *shortForm) rest(row []float64) {
	open, sum := 0, 0.0
	for _, p := range row {
		if math.IsNaN(p) {
			open++
		} else {
			sum += p
		}
	}
	for k, p := range row {
		if math.IsNaN(p) && (open == 1 || sum > 1-sumError) {
			row[k] = max(0, 1-sum)
		}
	}
}

func (s *shortForm) names(places []int) []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = s.net.Variables[p].Name
	}
	return names
}

// Whole reports whether every variable has its states and its table.
func (n *Network) Whole() bool {
	return !slices.ContainsFunc(n.Variables, func(v Variable) bool { return v.Table == nil })
}

// Text writes a network so that it reads back as it is: in BIF where it is whole,
// else in the short form.
func (n *Network) Text() []byte {
	if n.Whole() {
		return n.BIF()
	}
	var b bytes.Buffer
	for i := range n.Variables {
		v := &n.Variables[i]
		b.WriteString(quoteShort(v.Name))
		for k, s := range v.States {
			fmt.Fprintf(&b, "%s %s", map[bool]string{true: ":", false: ","}[k == 0], quoteShort(s))
		}
		b.WriteByte('\n')
	}
	for i := range n.Variables {
		v := &n.Variables[i]
		for k, p := range v.Parents {
			fmt.Fprintf(&b, "%s%s", map[bool]string{false: ", "}[k == 0], quoteShort(n.Variables[p].Name))
		}
		if len(v.Parents) > 0 {
			fmt.Fprintf(&b, " -> %s\n", quoteShort(v.Name))
		}
	}
	for i := range n.Variables {
		n.cells(&b, &n.Variables[i])
	}
	return b.Bytes()
}

// cells writes a table in the short form.
func (n *Network) cells(b *bytes.Buffer, v *Variable) {
	for k, p := range v.Table {
		fmt.Fprintf(b, "P(%s=%s", quoteShort(v.Name), quoteShort(v.States[k%len(v.States)]))
		row, given := k/len(v.States), make([]string, len(v.Parents))
		for i := len(v.Parents) - 1; i >= 0; i-- {
			of := &n.Variables[v.Parents[i]]
			given[i] = quoteShort(of.Name) + "=" + quoteShort(of.States[row%len(of.States)])
			row /= len(of.States)
		}
		if len(given) > 0 {
			b.WriteString(" | " + strings.Join(given, ", "))
		}
		b.WriteString(") = " + strconv.FormatFloat(p, 'g', -1, 64) + "\n")
	}
}

// quoteShort puts a name in quotes unless it is a plain word.
func quoteShort(name string) string {
	plain := name != "" && name != "P"
	for _, r := range name {
		plain = plain && (r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f)
	}
	if plain {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
