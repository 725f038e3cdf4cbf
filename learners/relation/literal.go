package relation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// literal is one condition of a clause, over a database: a relation with variables
// and constants in its places, a number that is compared, or two variables that are
// equal.
type literal struct {
	relation *relation // nil: two variables are equal
	args     []int     // of each place; of a number none
	op       operator  // how the number of the last place is compared
	cut      float64
	negated  bool // there is no such tuple
	told     bool // a theory says so
}

// Args that are no variables.
const (
	anything = -1 // of a negated literal: whatever stands there
	constant = -2 // and below: the constant of code constant−arg
)

func constantArg(code int32) int { return constant - int(code) }

// operator compares a number.
type operator uint8

const (
	none operator = iota
	above
	atMost
)

func (o operator) String() string { return [...]string{"", ">", "=<"}[o] }

func (o operator) holds(x, cut float64) bool {
	if o == above {
		return x > cut
	}
	return x <= cut
}

// news returns how many variables of a literal are new to a clause of so many.
func (l *literal) news(variables int) int {
	most := variables
	for _, a := range l.args {
		most = max(most, a+1)
	}
	return most - variables
}

// first returns a place whose code is known when the variables before are bound: the
// one with the fewest tuples for a code.
func (l *literal) first(variables int) int {
	best := -1
	for k, a := range l.args {
		if a < variables && a != anything && (best < 0 || l.relation.indexed(k).most < l.relation.indexed(best).most) {
			best = k
		}
	}
	return best
}

// code is what an argument stands for.
func (l *literal) code(k int, binding []int32) int32 {
	if a := l.args[k]; a >= 0 {
		return binding[a]
	}
	return int32(constant - l.args[k])
}

// fits reports whether a tuple agrees with what is bound: variables below so many.
func (l *literal) fits(tuple int32, binding []int32, variables int) bool {
	r := l.relation
	for k, a := range l.args {
		switch cell := r.columns[k][tuple]; {
		case cell < 0:
			return false
		case a == anything:
		case a < variables:
			if cell != l.code(k, binding) {
				return false
			}
		default: // a new variable that stands in two places
			for j, b := range l.args[:k] {
				if b == a && r.columns[j][tuple] != cell {
					return false
				}
			}
		}
	}
	return l.op == none || l.op.holds(r.numbers[tuple], l.cut)
}

// candidates returns the tuples that may satisfy a literal.
func (l *literal) candidates(binding []int32, variables int) []int32 {
	if k := l.first(variables); k >= 0 {
		return l.relation.with(k, l.code(k, binding))
	}
	if n := l.relation.size(); n > 0 {
		return everything(n)
	}
	return nil
}

// everything is the tuples of a relation of n.
func everything(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// holds reports whether a literal without new variables holds.
func (l *literal) holds(binding []int32) bool {
	if l.relation == nil {
		return (binding[l.args[0]] == l.code(1, binding)) != l.negated
	}
	variables := len(binding)
	for _, tuple := range l.candidates(binding, variables) {
		if l.fits(tuple, binding, variables) {
			return !l.negated
		}
	}
	return l.negated
}

// prove looks for a way in which literals hold together, one behind another, and
// leaves in binding what the variables stand for and in rows the tuples used.
func prove(body []literal, at int, binding []int32, rows []int32, budget *int) ([]int32, bool) {
	if at == len(body) {
		return binding, true
	}
	if *budget--; *budget < 0 {
		return binding, false
	}
	l := &body[at]
	variables := len(binding)
	fresh := 0
	if l.relation != nil && !l.negated {
		fresh = l.news(variables)
	}
	if fresh == 0 && (l.relation == nil || l.negated || rows == nil) {
		if !l.holds(binding) {
			return binding, false
		}
		return prove(body, at+1, binding, rows, budget)
	}
	for _, tuple := range l.candidates(binding, variables) {
		if !l.fits(tuple, binding, variables) {
			continue
		}
		grown := binding[:variables]
		for range fresh {
			grown = append(grown, 0)
		}
		for k, a := range l.args {
			if a >= variables {
				grown[a] = l.relation.columns[k][tuple]
			}
		}
		if rows != nil {
			rows[at] = tuple
		}
		if done, ok := prove(body, at+1, grown, rows, budget); ok {
			return done, true
		}
		if *budget < 0 {
			break
		}
	}
	return binding[:variables], false
}

// mostProofSteps bounds the search for one proof of one row.
const mostProofSteps = 1 << 20

// Condition is a literal as it is saved and read back: by names, not by codes.
type Condition struct {
	Relation  string   `cbor:"relation,omitempty"`
	Args      []int    `cbor:"args"`
	Constants []string `cbor:"constants,omitempty"` // of the args constant, constant−1, …
	Op        operator `cbor:"op,omitempty"`
	Cut       float64  `cbor:"cut,omitempty"`
	Negated   bool     `cbor:"negated,omitempty"`
}

// equal reports whether two conditions say the same.
func (c Condition) equal(o Condition) bool {
	return c.Relation == o.Relation && c.Op == o.Op && c.Cut == o.Cut && c.Negated == o.Negated && slices.Equal(c.Args, o.Args) && slices.Equal(c.Constants, o.Constants)
}

// named returns literals by names.
func (db *database) named(body []literal) []Condition {
	all := make([]Condition, len(body))
	for i, l := range body {
		c := Condition{Args: slices.Clone(l.args), Op: l.op, Cut: l.cut, Negated: l.negated}
		if l.relation != nil {
			c.Relation = l.relation.name
		}
		for k, a := range l.args {
			if a <= constant {
				d := 0
				if l.relation != nil {
					d = l.relation.places[k].domain
				}
				c.Args[k] = constant - len(c.Constants)
				c.Constants = append(c.Constants, db.domains[d].names[constant-a])
			}
		}
		all[i] = c
	}
	return all
}

// bound returns conditions as literals of a database. A relation that it does not have
// is empty.
func (db *database) bound(body []Condition) []literal {
	all := make([]literal, len(body))
	for i, c := range body {
		l := literal{args: slices.Clone(c.Args), op: c.Op, cut: c.Cut, negated: c.Negated}
		if c.Relation != "" {
			r := db.byName[c.Relation]
			if r == nil || r.arity() != len(c.Args)+btoi(c.Op != none) || r.numeric() != (c.Op != none) {
				places := make([]place, len(c.Args))
				r = newRelation(c.Relation, places, make([][]int32, len(c.Args)))
			}
			l.relation = r
		}
		for k, a := range l.args {
			if a > constant {
				continue
			}
			d := 0
			if l.relation != nil {
				d = l.relation.places[k].domain
			}
			l.args[k] = constantArg(unknown - 1)
			if d >= 0 && d < len(db.domains) {
				if code := db.domains[d].find(c.Constants[constant-a]); code != unknown {
					l.args[k] = constantArg(code)
				}
			}
		}
		all[i] = l
	}
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// check returns an error unless conditions make sense one behind another in a clause
// whose head has so many variables.
func check(body []Condition, variables int) error {
	for i, c := range body {
		next, consts := variables, 0
		for _, a := range c.Args {
			switch {
			case a > next || a < constant && constant-a >= len(c.Constants):
				return fmt.Errorf("condition %d: its argument %d comes from nowhere", i+1, a)
			case a == next:
				next++
			case a <= constant:
				consts++
				if constant-a >= len(c.Constants) {
					return fmt.Errorf("condition %d has no constant %d", i+1, constant-a)
				}
			case a == anything && !c.Negated:
				return fmt.Errorf("condition %d is about anything, and not negated", i+1)
			}
		}
		if c.Relation == "" && (len(c.Args) != 2 || next > variables || c.Args[0] < 0 || c.Args[1] == anything) || c.Op > atMost || c.Negated && next > variables || c.Cut != c.Cut {
			return fmt.Errorf("condition %d makes no sense", i+1)
		}
		variables = next
	}
	return nil
}

// writer writes clauses: in Prolog, with the numbers of dates as dates.
type writer struct {
	formats map[string]table.Attribute // of relations whose last place is a number
}

// body returns conditions as the literals of a clause. Variables of numbers come
// behind those of the clause.
func (w *writer) body(body []Condition, variables int) []logic.Literal {
	next := variables
	for _, c := range body {
		for _, a := range c.Args {
			next = max(next, a+1)
		}
	}
	var all []logic.Literal
	for _, c := range body {
		args := make([]logic.Term, 0, len(c.Args)+1)
		for _, a := range c.Args {
			switch {
			case a >= 0:
				args = append(args, logic.Var(a))
			case a == anything:
				args = append(args, logic.Var(next))
				next++
			default:
				args = append(args, constantTerm(c.Constants[constant-a]))
			}
		}
		if c.Relation == "" {
			all = append(all, logic.Literal{Negated: c.Negated, Atom: &logic.Compound{Functor: "=", Args: args}})
			continue
		}
		if c.Op == none {
			all = append(all, logic.Literal{Negated: c.Negated, Atom: compound(c.Relation, args)})
			continue
		}
		number := logic.Var(next)
		next++
		a := w.formats[c.Relation]
		test := &logic.Compound{Functor: c.Op.String(), Args: []logic.Term{number, numberTerm(&a, c.Cut)}}
		tuple := compound(strings.TrimSuffix(c.Relation, numberMark), append(args, number))
		if c.Negated {
			all = append(all, logic.Literal{Negated: true, Atom: &logic.Compound{Functor: ",", Args: []logic.Term{tuple, test}}})
			continue
		}
		all = append(all, logic.Literal{Atom: tuple}, logic.Literal{Atom: test})
	}
	return all
}

func compound(name string, args []logic.Term) logic.Term {
	if len(args) == 0 {
		return logic.Atom(name)
	}
	return &logic.Compound{Functor: name, Args: args}
}

// constantTerm reads a constant as it was written: of a program a term, of a table a
// number or a name.
func constantTerm(text string) logic.Term {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return logic.Int(n)
	}
	if isName(text) || strings.HasPrefix(text, "#") { // a row without a key
		return logic.Atom(text)
	}
	if goal, names, err := logic.ReadGoal("c(" + text + ")"); err == nil && len(goal) == 1 && len(names) == 0 {
		if c, ok := goal[0].Atom.(*logic.Compound); ok && len(c.Args) == 1 && logic.IsGround(c.Args[0]) {
			return c.Args[0]
		}
	}
	return logic.Atom(text)
}

// isName reports whether a text is a name that needs no quotes, which most are.
func isName(text string) bool {
	for i := range len(text) {
		if b := text[i]; !('a' <= b && b <= 'z' || i > 0 && (b == '_' || '0' <= b && b <= '9')) {
			return false
		}
	}
	return text != ""
}

func numberTerm(a *table.Attribute, x float64) logic.Term {
	if a.Date || a.Time {
		return logic.Atom(a.Format(x))
	}
	if x == float64(int64(x)) {
		return logic.Int(int64(x))
	}
	return logic.Float(x)
}

// clause returns a whole clause.
func (w *writer) clause(head string, arity int, class string, body []Condition) *logic.Clause {
	args := make([]logic.Term, arity, arity+1)
	for i := range args {
		args[i] = logic.Var(i)
	}
	if class != "" {
		args = append(args, constantTerm(class))
	}
	return logic.NewClause(compound(head, args), w.body(body, arity))
}

// words returns a name as people write it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
