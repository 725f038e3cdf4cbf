package relation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/logic"
)

// Forms are the settings that bound the form of clauses.
type Forms struct {
	Schemata string `set:"schemata" default:"none" doc:"file of clauses of which all that are learnt are instances; names that the data do not have stand for any (RDT)" file:"true"`
	Grammar  string `set:"grammar" default:"none" doc:"file of clauses that derive the bodies of those that are learnt, from the head of the first (GRENDEL)" file:"true"`
}

// bound puts the forms into settings.
func (f *Forms) bound(s *settings) {
	_, s.Schemata, _ = strings.Cut(f.Schemata, "\n") // what stands before is the file's name
	_, s.Grammar, _ = strings.Cut(f.Grammar, "\n")
}

// language is what clauses may look like: those that instantiate a schema, as RDT has them
// (Kietz & Wrobel 1992), or whose body a grammar derives, as GRENDEL's does (Cohen 1994).
//
// Both are written as clauses. A schema h(X,Y) :- p(X,Z), q(Z,Y) is that of all clauses of
// two literals that are chained: names that the data do not have stand for any, the same
// name for the same. In a grammar body(X,Y) :- parent(X,Z), body(Z,Y) what has clauses
// derives others, beginning with the first, and what has none is a literal; a fact derives
// nothing. Literals come in the order in which they are written, and a number's cut counts
// with the relation of the number.
type language struct {
	search   *search
	of       logic.Predicate
	start    []*logic.Clause
	rules    map[logic.Predicate][]*logic.Clause // that derive others; none of schemata
	variable func(name string) bool              // names that stand for any
}

// bounded sets the language that the settings ask for.
func (m *Model) bounded(f *search) error {
	s := m.lesson.Settings
	name := m.lesson.Target
	if f.db.program != nil {
		name = f.db.bias.Head.Name
	}
	of := logic.Predicate{Name: name, Arity: m.arity}
	var err error
	if f.language, err = f.readLanguage(of, s.Schemata, s.Grammar); err != nil {
		return err
	}
	f.determinate, err = readDeterminacy(s.Determinate)
	return err
}

// readLanguage reads schemata or a grammar; nil if there is neither.
func (f *search) readLanguage(of logic.Predicate, schemata, grammar string) (*language, error) {
	what, text := "schemata", schemata
	if grammar != "" && schemata != "" {
		return nil, fmt.Errorf("schemata and grammar both say what clauses may look like; give one of them")
	}
	if grammar != "" {
		what, text = "grammar", grammar
	}
	if text == "" {
		return nil, nil
	}
	p, err := logic.Read(what, text)
	if err != nil {
		return nil, err
	}
	if len(p.Clauses) == 0 {
		return nil, fmt.Errorf("%s: there is no clause; expected one for each form that clauses may have", what)
	}
	l := &language{search: f, of: of, start: p.Clauses, variable: func(name string) bool { return !f.knows(name, of) }}
	if grammar != "" {
		first := predicateOf(p.Clauses[0].Head)
		l.start, l.rules, l.variable = p.Of(first), map[logic.Predicate][]*logic.Clause{}, func(string) bool { return false }
		for _, c := range p.Clauses {
			l.rules[predicateOf(c.Head)] = p.Of(predicateOf(c.Head))
		}
	}
	for _, c := range l.start {
		if n := predicateOf(c.Head).Arity; n != of.Arity {
			return nil, fmt.Errorf("%s:%d: expected %d arguments in the head %v, as the clauses of %s have that are learnt, got %d", what, c.Line, of.Arity, predicateOf(c.Head), of.Name, n)
		}
	}
	for _, c := range p.Clauses {
		for _, g := range skeleton(c.Body) {
			if name, _ := parts(g.Atom); grammar != "" && l.rules[predicateOf(g.Atom)] == nil && name != "=" && !f.knows(name, of) {
				return nil, fmt.Errorf("grammar:%d: %s has no clause there, and the data have no such relation; `accrete rules` and `accrete ask` show their names", c.Line, name)
			}
		}
	}
	return l, nil
}

// knows reports whether the data have a relation of that name.
func (f *search) knows(name string, of logic.Predicate) bool {
	return name == of.Name || f.db.byName[name] != nil || f.db.byName[name+numberMark] != nil
}

func predicateOf(t logic.Term) logic.Predicate {
	name, args := parts(t)
	return logic.Predicate{Name: name, Arity: len(args)}
}

// parts returns the name of an atom, and its arguments.
func parts(t logic.Term) (string, []logic.Term) {
	switch t := t.(type) {
	case *logic.Compound:
		return t.Functor, t.Args
	case logic.Atom:
		return string(t), nil
	}
	return "", nil
}

// skeleton is a body without comparisons of numbers.
func skeleton(body []logic.Literal) []logic.Literal {
	var all []logic.Literal
	for _, l := range body {
		name, args := parts(l.Atom)
		if slices.Contains([]string{"<", ">", "=<", ">="}, name) {
			continue
		}
		if l.Negated && name == "," { // a number that is not cut so
			l.Atom = args[0]
		}
		all = append(all, l)
	}
	return all
}

// begins reports whether a body is the beginning of one of the language, and is whether it
// is whole.
func (l *language) begins(body []literal) bool { return l == nil || l.derives(body, false) }
func (l *language) is(body []literal) bool     { return l == nil || l.derives(body, true) }

// derives reports whether the language derives a body, or something that begins with it.
func (l *language) derives(body []literal, whole bool) bool {
	clause := l.search.written(l.of, body)
	fixed := make(map[logic.Var]logic.Term, len(clause.Names))
	for v := range clause.Names {
		fixed[logic.Var(v)] = logic.Atom("variable " + strconv.Itoa(v))
	}
	sentence := skeleton(clause.Body)
	for i := range sentence {
		sentence[i].Atom = logic.Substitute(sentence[i].Atom, fixed)
	}
	_, head := parts(logic.Substitute(clause.Head, fixed))
	for _, c := range l.start {
		p := &parse{language: l, whole: whole}
		if l.rules == nil {
			p.names = append(p.names, [2]string{predicateOf(c.Head).Name, l.of.Name})
		}
		if pending, ok := p.open(c, head[:l.of.Arity], nil); ok && p.match(pending, sentence, 0) {
			return true
		}
	}
	return false
}

// parse is one derivation in the making.
type parse struct {
	*language
	whole bool
	of    []logic.Term // what the variables of the language stand for; nil is nothing yet
	trail []logic.Var
	names [][2]string // and its names
	steps int
}

// pending is a literal that is to be derived before others.
type pending struct {
	literal logic.Literal
	next    *pending
}

// mostDerived bounds the steps of a derivation, and mostUnread those without a literal.
const mostDerived, mostUnread = 20_000, 50

// open puts the body of a clause before what is pending, its head being args.
func (p *parse) open(c *logic.Clause, args []logic.Term, next *pending) (*pending, bool) {
	from := logic.Var(len(p.of))
	fresh := make(map[logic.Var]logic.Term, len(c.Names))
	for v := range c.Names {
		fresh[logic.Var(v)] = from + logic.Var(v)
		p.of = append(p.of, nil)
	}
	_, head := parts(logic.Substitute(c.Head, fresh))
	if !p.unifyAll(head, args) {
		return nil, false
	}
	for _, g := range slices.Backward(skeleton(c.Body)) {
		next = &pending{logic.Literal{Negated: g.Negated, Atom: logic.Substitute(g.Atom, fresh)}, next}
	}
	return next, true
}

// match derives a sentence from what is pending; unread counts the clauses that were
// opened for its first literal.
func (p *parse) match(todo *pending, sentence []logic.Literal, unread int) bool {
	if len(sentence) == 0 && (!p.whole || todo == nil) {
		return true
	}
	if p.steps++; todo == nil || p.steps > mostDerived || unread > mostUnread {
		return false
	}
	trail, room, names := len(p.trail), len(p.of), len(p.names)
	back := func() bool {
		for _, v := range p.trail[trail:] {
			p.of[v] = nil
		}
		p.trail, p.of, p.names = p.trail[:trail], p.of[:room], p.names[:names]
		return false
	}
	name, args := parts(todo.literal.Atom)
	if rules := p.rules[predicateOf(todo.literal.Atom)]; rules != nil && !todo.literal.Negated {
		for _, c := range rules {
			if next, ok := p.open(c, args, todo.next); ok && p.match(next, sentence, unread+1) {
				return true
			}
			back()
		}
		return false
	}
	if len(sentence) == 0 || sentence[0].Negated != todo.literal.Negated {
		return false
	}
	is, of := parts(sentence[0].Atom)
	if p.named(name, is) && len(of) == len(args) && p.unifyAll(args, of) && p.match(todo.next, sentence[1:], 0) {
		return true
	}
	return back()
}

// named reports whether a name of the language may stand for a relation.
func (p *parse) named(name, relation string) bool {
	for _, n := range p.names {
		if n[0] == name {
			return n[1] == relation
		}
	}
	if !p.variable(name) || name == "=" {
		return name == relation
	}
	p.names = append(p.names, [2]string{name, relation})
	return relation != "="
}

func (p *parse) unifyAll(a, b []logic.Term) bool {
	for i := range a {
		if !p.unify(a[i], b[i]) {
			return false
		}
	}
	return true
}

// unify makes two terms the same, of names, numbers and variables.
func (p *parse) unify(a, b logic.Term) bool {
	a, b = p.walk(a), p.walk(b)
	if logic.Compare(a, b) == 0 {
		return true
	}
	if v, ok := b.(logic.Var); ok {
		a, b = v, a
	}
	v, ok := a.(logic.Var)
	if ok {
		p.of[v] = b
		p.trail = append(p.trail, v)
	}
	return ok
}

func (p *parse) walk(t logic.Term) logic.Term {
	for {
		v, ok := t.(logic.Var)
		if !ok || p.of[v] == nil {
			return t
		}
		t = p.of[v]
	}
}

// determinacy bounds new variables as GOLEM does (Muggleton & Feng 1990): each has one
// value for each binding of those before it, is at most so many links from the head, and
// is decided by at most so many variables.
type determinacy struct{ links, known int }

// readDeterminacy reads i,j; nil if there is nothing to read.
func readDeterminacy(text string) (*determinacy, error) {
	if text == "" {
		return nil, nil
	}
	i, j, _ := strings.Cut(text, ",")
	d := &determinacy{}
	var errs [2]error
	d.links, errs[0] = strconv.Atoi(strings.TrimSpace(i))
	d.known, errs[1] = strconv.Atoi(strings.TrimSpace(j))
	if errs[0] != nil || errs[1] != nil || d.links < 1 || d.known < 1 {
		return nil, fmt.Errorf("determinate=%s: expected two numbers from 1, as in 2,1: links from the head, and variables that decide a new one", text)
	}
	return d, nil
}

// allows reports whether a literal may bring its new variables, behind a clause whose head
// has so many.
func (d *determinacy) allows(heads int, s *state, l *literal) bool {
	if d == nil {
		return true
	}
	depth := make([]int, heads, len(s.columns))
	for _, have := range s.body {
		if n := have.news(len(depth)); n > 0 && !have.negated {
			depth = append(depth, slices.Repeat([]int{1 + deepest(have.args, depth)}, n)...)
		}
	}
	known := map[int]bool{}
	for _, a := range l.args {
		if a >= 0 && a < len(s.columns) {
			known[a] = true
		}
	}
	if len(known) > d.known || 1+deepest(l.args, depth) > d.links {
		return false
	}
	binding := make([]int32, 0, len(s.columns))
	for b := range s.example {
		binding = s.binding(b, binding)
		n := 0
		for _, tuple := range l.candidates(binding, len(binding)) {
			if l.fits(tuple, binding, len(binding)) {
				if n++; n > 1 {
					return false
				}
			}
		}
	}
	return true
}

// deepest is the greatest depth of the variables among args.
func deepest(args, depth []int) int {
	most := 0
	for _, a := range args {
		if a >= 0 && a < len(depth) {
			most = max(most, depth[a])
		}
	}
	return most
}
