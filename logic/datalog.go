package logic

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// tables are the relations of a program that were computed, and the others.
type tables struct {
	mutex     sync.Mutex
	relations map[Predicate]*relation // nil: not yet
}

func (t *tables) reset() {
	t.mutex.Lock()
	t.relations = nil
	t.mutex.Unlock()
}

// computed returns the relations of a program, with those that are recursive and
// Datalog as facts, each with why it holds.
func (p *Program) computed(ctx context.Context, limits Limits) (map[Predicate]*relation, error) {
	p.tables.mutex.Lock()
	defer p.tables.mutex.Unlock()
	if p.tables.relations != nil {
		return p.tables.relations, nil
	}
	d := &datalog{ctx: ctx, limit: limits.Facts, program: p, codes: map[string]int32{}, facts: map[Predicate]*facts{}, plain: map[Predicate]bool{}}
	all := make(map[Predicate]*relation, len(p.relations))
	for of, r := range p.relations {
		all[of] = r
	}
	for _, component := range p.components() {
		d.judge(component)
		if !d.plain[component[0]] || !p.isRecursive(component) {
			continue
		}
		if err := d.evaluate(component); err != nil {
			return nil, err
		}
		for _, of := range component {
			all[of] = d.relation(of)
		}
	}
	p.tables.relations = all
	return all, nil
}

// components returns the predicates of a program by what they call: those that
// call each other together, and behind what they call (Tarjan 1972).
func (p *Program) components() [][]Predicate {
	var (
		all   [][]Predicate
		stack []Predicate
		low   = map[Predicate]int{}
		is    = map[Predicate]bool{} // on the stack
		visit func(of Predicate) int
	)
	next := 0
	visit = func(of Predicate) int {
		next++
		index := next
		low[of], is[of] = index, true
		stack = append(stack, of)
		least := index
		for _, c := range p.Of(of) {
			for _, l := range c.Body {
				called, ok := l.Predicate()
				switch {
				case !ok || p.relations[called] == nil:
				case low[called] == 0:
					least = min(least, visit(called))
				case is[called]:
					least = min(least, low[called])
				}
			}
		}
		if low[of] = least; least == index {
			i := slices.Index(stack, of)
			for _, member := range stack[i:] {
				is[member] = false
			}
			all = append(all, slices.Clone(stack[i:]))
			stack = stack[:i]
		}
		return least
	}
	for _, of := range p.Predicates() {
		if low[of] == 0 {
			visit(of)
		}
	}
	return all
}

// isRecursive reports whether predicates that call each other do so at all.
func (p *Program) isRecursive(component []Predicate) bool {
	for _, of := range component {
		for _, c := range p.Of(of) {
			for _, l := range c.Body {
				if called, ok := l.Predicate(); ok && slices.Contains(component, called) {
					return true
				}
			}
		}
	}
	return false
}

// datalog computes relations of names and numbers bottom up.
type datalog struct {
	ctx     context.Context
	limit   int
	program *Program
	codes   map[string]int32 // of constants, by key
	terms   []Term           // and back
	facts   map[Predicate]*facts
	plain   map[Predicate]bool // it is Datalog, and so is all that it calls
	joined  int
}

// facts are the rows of a relation, as codes, each once.
type facts struct {
	arity   int
	cells   []int32
	known   map[string]int32 // where a row stands
	why     []derived
	indexes map[string]map[string][]int32 // by columns: the rows that have some codes there
}

// derived is why a row holds: a clause, and the rows that its body stands on.
type derived struct {
	by   *Clause
	goal Literal
	from []*derived
}

// proof returns a derivation as a proof.
func (w *derived) proof() *Proof {
	p := &Proof{Goal: w.goal, Clause: w.by}
	for _, f := range w.from {
		p.Of = append(p.Of, f.proof())
	}
	return p
}

// judge finds out whether predicates that call each other are Datalog: names,
// numbers and variables alone, each variable bound by a literal that is neither
// negated nor arithmetic, and none that depends on its own negation.
func (d *datalog) judge(component []Predicate) {
	plain := true
	for _, of := range component {
		for _, c := range d.program.Of(of) {
			plain = plain && d.isPlain(c, component)
		}
	}
	for _, of := range component {
		d.plain[of] = plain
	}
}

func (d *datalog) isPlain(c *Clause, component []Predicate) bool {
	bound := map[Var]bool{}
	flat := func(t Term) bool {
		if c, ok := t.(*Compound); ok {
			return !slices.ContainsFunc(c.Args, func(a Term) bool { _, nested := a.(*Compound); return nested })
		}
		return true
	}
	for _, l := range c.Body {
		of, ok := l.Predicate()
		switch {
		case !ok || !flat(l.Atom) || of.Arity > mostColumns:
			return false
		case isFilter(of):
		case d.program.relations[of] == nil && (isKnown(of) || foreign(of) != nil):
			return false
		case l.Negated:
			if slices.Contains(component, of) || d.program.relations[of] != nil && !d.plain[of] {
				return false
			}
		default:
			if d.program.relations[of] != nil && !d.plain[of] && !slices.Contains(component, of) {
				return false
			}
			variables(l.Atom, func(v Var) { bound[v] = true })
		}
	}
	safe := flat(c.Head) && len(arguments(c.Head)) <= mostColumns
	variables(c.Head, func(v Var) { safe = safe && bound[v] })
	for _, l := range c.Body {
		variables(l.Atom, func(v Var) { safe = safe && bound[v] })
	}
	return safe
}

// mostColumns is how many columns indexes can name.
const mostColumns = 255

// isFilter reports whether a built-in predicate only compares what is known.
func isFilter(of Predicate) bool {
	return of.Arity == 2 && slices.Contains([]string{"==", `\==`, `\=`, "<", ">", "=<", ">=", "=:=", `=\=`}, of.Name)
}

func (d *datalog) code(t Term) int32 {
	key, _ := keyOf(t)
	c, ok := d.codes[key]
	if !ok {
		c = int32(len(d.terms))
		d.codes[key] = c
		d.terms = append(d.terms, t)
	}
	return c
}

func (d *datalog) of(p Predicate) *facts {
	f := d.facts[p]
	if f == nil {
		f = &facts{arity: p.Arity, known: map[string]int32{}, indexes: map[string]map[string][]int32{}}
		d.facts[p] = f
	}
	return f
}

func keyOfCodes(codes []int32) string {
	b := make([]byte, 0, 4*len(codes))
	for _, c := range codes {
		b = binary.LittleEndian.AppendUint32(b, uint32(c))
	}
	return string(b)
}

func (f *facts) row(i int32) []int32 { return f.cells[int(i)*f.arity : int(i+1)*f.arity] }

// add takes in a row, and reports whether it is new.
func (f *facts) add(codes []int32, why derived) bool {
	key := keyOfCodes(codes)
	if _, ok := f.known[key]; ok {
		return false
	}
	at := int32(len(f.why))
	f.known[key] = at
	f.cells = append(f.cells, codes...)
	f.why = append(f.why, why)
	for columns, index := range f.indexes {
		key := f.keyAt(at, columns)
		index[key] = append(index[key], at)
	}
	return true
}

// keyAt returns the codes of a row in some columns.
func (f *facts) keyAt(at int32, columns string) string {
	row, codes := f.row(at), make([]int32, len(columns))
	for i := range columns {
		codes[i] = row[columns[i]]
	}
	return keyOfCodes(codes)
}

// with returns the rows that have some codes in some columns.
func (f *facts) with(columns string, codes []int32) []int32 {
	index := f.indexes[columns]
	if index == nil {
		index = map[string][]int32{}
		for at := range int32(len(f.why)) {
			key := f.keyAt(at, columns)
			index[key] = append(index[key], at)
		}
		f.indexes[columns] = index
	}
	return index[keyOfCodes(codes)]
}

// arguments returns the arguments of a literal.
func arguments(t Term) []Term {
	if c, ok := t.(*Compound); ok {
		return c.Args
	}
	return nil
}

// evaluate computes predicates that call each other, after what they call.
func (d *datalog) evaluate(component []Predicate) error {
	for _, of := range component {
		for _, c := range d.program.Of(of) {
			for _, l := range c.Body {
				if called, _ := l.Predicate(); !slices.Contains(component, called) {
					if err := d.load(called); err != nil {
						return err
					}
				}
			}
		}
	}
	type news struct{ from, to int }
	fresh := map[Predicate]news{}
	for _, of := range component {
		for _, c := range d.program.Of(of) {
			calls := slices.ContainsFunc(c.Body, func(l Literal) bool { p, _ := l.Predicate(); return slices.Contains(component, p) })
			if calls {
				continue
			}
			if err := d.join(of, c, -1, 0, 0); err != nil {
				return err
			}
		}
	}
	for _, of := range component {
		fresh[of] = news{0, len(d.of(of).why)}
	}
	for {
		for _, of := range component {
			for _, c := range d.program.Of(of) {
				for i, l := range c.Body {
					if p, _ := l.Predicate(); slices.Contains(component, p) && fresh[p].from < fresh[p].to {
						if err := d.join(of, c, i, fresh[p].from, fresh[p].to); err != nil {
							return err
						}
					}
				}
			}
		}
		more := false
		for _, of := range component {
			n := news{fresh[of].to, len(d.of(of).why)}
			more = more || n.from < n.to
			fresh[of] = n
		}
		if !more {
			return nil
		}
	}
}

// load computes a predicate that is not recursive, or is there already.
func (d *datalog) load(of Predicate) error {
	if d.facts[of] != nil || isFilter(of) {
		return nil
	}
	return d.evaluate([]Predicate{of})
}

// join adds the rows that a clause gives, of which the literal at a place, if
// there is one, stands for some of its rows alone.
func (d *datalog) join(of Predicate, c *Clause, at, from, to int) error {
	order := make([]int, 0, len(c.Body))
	if at >= 0 {
		order = append(order, at)
	}
	var checks []int
	for i, l := range c.Body {
		if p, _ := l.Predicate(); l.Negated || isFilter(p) {
			checks = append(checks, i)
		} else if i != at {
			order = append(order, i)
		}
	}
	j := &joining{datalog: d, of: of, clause: c, order: append(order, checks...), at: at, from: int32(from), to: int32(to), values: make([]int32, len(c.Names)), rows: make([]*derived, len(c.Body))}
	for v := range j.values {
		j.values[v] = -1
	}
	return j.step(0)
}

// joining is a clause whose body is matched literal by literal.
type joining struct {
	*datalog
	of       Predicate
	clause   *Clause
	order    []int
	at       int
	from, to int32
	values   []int32 // of variables, -1 if free
	rows     []*derived
}

// value returns the code of a constant or of a bound variable, -1 if it is free.
func (j *joining) value(t Term) int32 {
	if v, ok := t.(Var); ok {
		return j.values[v]
	}
	return j.code(t)
}

func (j *joining) step(n int) error {
	if j.joined++; j.joined%4096 == 0 {
		if err := j.ctx.Err(); err != nil {
			return err
		}
	}
	if n == len(j.order) {
		return j.conclude()
	}
	i := j.order[n]
	l := j.clause.Body[i]
	of, _ := l.Predicate()
	args := arguments(l.Atom)
	if isFilter(of) {
		x, y := j.terms[j.value(args[0])], j.terms[j.value(args[1])]
		holds, err := builtIns[of](&search{bindings: bindings{left: allowance}}, []Term{x, y})
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", j.clause.Line, l.Format(j.clause.Names), err)
		}
		if holds == l.Negated {
			return nil
		}
		j.rows[i] = &derived{goal: Literal{l.Negated, &Compound{of.Name, []Term{x, y}}}}
		return j.step(n + 1)
	}
	f := j.datalog.of(of)
	var columns strings.Builder
	var codes []int32
	for k, a := range args {
		if v := j.value(a); v >= 0 {
			columns.WriteByte(byte(k))
			codes = append(codes, v)
		}
	}
	if l.Negated {
		if _, ok := f.known[keyOfCodes(codes)]; ok {
			return nil
		}
		j.rows[i] = &derived{goal: j.ground(l)}
		return j.step(n + 1)
	}
	if i == j.at && len(codes) == 0 {
		for at := j.from; at < j.to; at++ {
			if err := j.match(n, i, f, at, args); err != nil {
				return err
			}
		}
		return nil
	}
	for _, at := range slices.Clone(f.with(columns.String(), codes)) {
		if i == j.at && (at < j.from || at >= j.to) {
			continue
		}
		if err := j.match(n, i, f, at, args); err != nil {
			return err
		}
	}
	return nil
}

// ground returns a literal with the values of its variables.
func (j *joining) ground(l Literal) Literal {
	by := map[Var]Term{}
	for v, code := range j.values {
		if code >= 0 {
			by[Var(v)] = j.terms[code]
		}
	}
	return Literal{l.Negated, Substitute(l.Atom, by)}
}

// match goes on with a row for a literal, if its free variables allow it.
func (j *joining) match(n, i int, f *facts, at int32, args []Term) error {
	var bound []Var
	fits := true
	for k, a := range args {
		code := f.row(at)[k]
		if v, ok := a.(Var); ok && j.values[v] < 0 {
			j.values[v] = code
			bound = append(bound, v)
		} else if j.value(a) != code {
			fits = false
			break
		}
	}
	var err error
	if fits {
		why := f.why[at]
		j.rows[i] = &why
		err = j.step(n + 1)
	}
	for _, v := range bound {
		j.values[v] = -1
	}
	return err
}

// conclude adds the row of the clause's head.
func (j *joining) conclude() error {
	head := arguments(j.clause.Head)
	codes := make([]int32, len(head))
	for k, a := range head {
		codes[k] = j.value(a)
	}
	f := j.datalog.of(j.of)
	if f.add(codes, derived{by: j.clause, goal: j.ground(Literal{Atom: j.clause.Head}), from: slices.Clone(j.rows)}) && len(f.why) > j.limit {
		return fmt.Errorf("%v has more than %d facts; expected fewer", j.of, j.limit)
	}
	return nil
}

// relation returns the rows of a predicate as facts.
func (d *datalog) relation(of Predicate) *relation {
	f := d.of(of)
	r := &relation{by: make([]map[string][]*Clause, of.Arity)}
	for i := range f.why {
		r.clauses = append(r.clauses, &Clause{Head: f.why[i].goal.Atom, why: &f.why[i]})
	}
	return r
}
