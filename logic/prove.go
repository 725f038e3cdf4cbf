package logic

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Limits bound a proof. Zero values are the defaults.
type Limits struct {
	Steps int // resolution steps in all; default 10 million
	Depth int // of clauses called by clauses; default 10,000
	Facts int // that a Datalog predicate may have; default 10 million
	// Positive leaves negated goals unproved, as explanations do that may not
	// stand on what is not known.
	Positive bool
}

func (l Limits) orDefault() Limits {
	if l.Steps == 0 {
		l.Steps = 10_000_000
	}
	if l.Depth == 0 {
		l.Depth = 10_000
	}
	if l.Facts == 0 {
		l.Facts = 10_000_000
	}
	return l
}

// Answer is a way in which a goal holds: what its variables stand for, and why.
type Answer struct {
	Bindings map[Var]Term
	Proofs   []*Proof // of each literal of the goal
}

// Proof is why a literal holds: by a clause whose body holds, or, where Clause is
// nil, by itself: arithmetic, negation as failure, or a computed relation.
type Proof struct {
	Goal   Literal
	Clause *Clause
	Of     []*Proof // of the literals of the clause's body
}

// String writes a proof as an indented tree.
func (p *Proof) String() string { return p.Format(nil) }

// Format writes a proof with names for variables.
func (p *Proof) Format(names []string) string {
	var b strings.Builder
	p.write(&b, names, 0)
	return b.String()
}

func (p *Proof) write(b *strings.Builder, names []string, depth int) {
	if of, ok := p.Goal.Predicate(); ok && strings.HasPrefix(of.Name, "$") { // how the library does it
		return
	}
	b.WriteString(strings.Repeat("  ", depth) + p.Goal.Format(names) + "\n")
	for _, q := range p.Of {
		q.write(b, names, depth+1)
	}
}

// Leaves calls visit for the literals that a proof stands on, from left to right.
func (p *Proof) Leaves(visit func(Literal)) {
	if len(p.Of) == 0 {
		visit(p.Goal)
	}
	for _, q := range p.Of {
		q.Leaves(visit)
	}
}

// Prove calls found for each answer to a goal, in the order in which clauses give
// them, until it returns false. Answers that are equal come as often as they are
// proved. It is an error to exceed a limit, which says nothing about the goal.
func (p *Program) Prove(ctx context.Context, literals []Literal, limits Limits, found func(Answer) bool) error {
	s := &search{ctx: ctx, limits: limits.orDefault()}
	s.left = int(min(100*float64(s.limits.Steps), 3*allowance))
	most := Var(-1)
	var goals *goal
	for _, l := range slices.Backward(literals) {
		variables(l.Atom, func(v Var) { most = max(most, v) })
		goals = &goal{literal: l, next: goals}
	}
	var err error
	if s.relations, err = p.computed(ctx, s.limits); err != nil {
		return err
	}
	s.room(int(most) + 1)
	err = s.run(goals, nil, func(last *step) bool {
		a := Answer{Bindings: map[Var]Term{}, Proofs: s.proofs(last)}
		for v := range most + 1 {
			if t := s.resolve(v); t != v {
				a.Bindings[v] = t
			}
		}
		return s.left > 0 && found(a)
	})
	if err != nil {
		return err
	}
	return s.large()
}

// Holds reports whether a goal has an answer.
func (p *Program) Holds(ctx context.Context, literals []Literal, limits Limits) (bool, error) {
	holds := false
	err := p.Prove(ctx, literals, limits, func(Answer) bool {
		holds = true
		return false
	})
	return holds, err
}

// goal is a literal that is to be proved, for the clause of a step, before others.
type goal struct {
	literal Literal
	of      *step
	next    *goal
}

// step is a literal that was proved: by a clause, or by itself. It knows the step
// before it, so that going back forgets it.
type step struct {
	literal Literal
	clause  *Clause
	of      *step
	before  *step
	depth   int
}

// choice is where the search goes on when it fails.
type choice struct {
	goals       *goal
	last        *step
	trail, room int
	clauses     []*Clause // still to be tried for the first goal
}

// search is one proof in the making.
type search struct {
	bindings
	ctx       context.Context
	relations map[Predicate]*relation
	limits    Limits
	steps     int
}

// tick counts a step.
func (s *search) tick() error {
	if s.steps++; s.steps > s.limits.Steps {
		return fmt.Errorf("no answer within %d steps; the program may not end: give it a limit that it reaches, or write it without functions", s.limits.Steps)
	}
	if s.steps%4096 == 0 {
		return s.ctx.Err()
	}
	return s.large()
}

// large returns an error if the terms have become too large to be looked at.
func (s *search) large() error {
	if s.left > 0 {
		return nil
	}
	return fmt.Errorf("after %d steps the goal has taken all the work that it may: terms grow beyond all bounds, or too much is gone through; the program may not end, or the goal says too little", s.steps)
}

// run proves goals behind the steps so far, one after the other, depth first, until found
// returns false.
func (s *search) run(goals *goal, last *step, found func(last *step) bool) error {
	var choices []choice
	for {
		holds := true
		if goals == nil {
			if !found(last) {
				return nil
			}
			holds = false
		} else {
			if err := s.tick(); err != nil {
				return err
			}
			var err error
			if holds, err = s.prove(&goals, &last, &choices); err != nil {
				return err
			}
		}
		for !holds {
			if len(choices) == 0 {
				return nil
			}
			c := &choices[len(choices)-1]
			s.undo(c.trail, c.room)
			goals, last = c.goals, c.last
			if len(c.clauses) == 0 { // another way to go on, rather than another clause
				choices = choices[:len(choices)-1]
				break
			}
			clauses := c.clauses
			choices = choices[:len(choices)-1]
			var err error
			if holds, err = s.call(clauses, &goals, &last, &choices); err != nil {
				return err
			}
		}
	}
}

// prove takes on the first goal.
func (s *search) prove(goals **goal, last **step, choices *[]choice) (bool, error) {
	g := *goals
	t := s.walk(g.literal.Atom)
	if g.literal.Negated {
		if s.limits.Positive {
			return false, nil
		}
		holds, err := s.fails(t, g.of)
		if holds {
			s.done(goals, last)
		}
		return holds, err
	}
	of, ok := predicateOf(t)
	switch {
	case !ok:
		return false, fmt.Errorf("%s is asked for; expected a literal, with a predicate that is known when its turn comes", Format(s.resolve(t), nil))
	case of == Predicate{",", 2}:
		args := t.(*Compound).Args
		*goals = &goal{Literal{Atom: args[0]}, g.of, &goal{Literal{Atom: args[1]}, g.of, g.next}}
		return true, nil
	case of == Predicate{"not", 1} || of == Predicate{`\+`, 1}:
		*goals = &goal{Literal{Negated: true, Atom: t.(*Compound).Args[0]}, g.of, g.next}
		return true, nil
	case of == Predicate{"->", 2}:
		args := t.(*Compound).Args
		return s.choose(args[0], args[1], Atom("fail"), goals, last)
	case of == Predicate{";", 2}:
		args := t.(*Compound).Args
		if then, ok := s.walk(args[0]).(*Compound); ok && then.Functor == "->" && len(then.Args) == 2 {
			return s.choose(then.Args[0], then.Args[1], args[1], goals, last)
		}
		trail, room := s.mark()
		*choices = append(*choices, choice{&goal{Literal{Atom: args[1]}, g.of, g.next}, *last, trail, room, nil})
		*goals = &goal{Literal{Atom: args[0]}, g.of, g.next}
		return true, nil
	}
	if built := builtIns[of]; built != nil {
		var args []Term
		if c, ok := t.(*Compound); ok {
			args = c.Args
		}
		trail, room := s.mark()
		holds, err := built(s, args)
		if err != nil {
			return false, fmt.Errorf("%s: %w", Format(s.resolve(t), nil), err)
		}
		if holds {
			s.done(goals, last)
		} else {
			s.undo(trail, room)
		}
		return holds, nil
	}
	r := s.relations[of]
	if r == nil {
		if r = library().relations[of]; r == nil {
			return false, foreign(of) // the world is closed: what is not said is false
		}
	}
	clauses := r.clauses
	if c, ok := t.(*Compound); ok {
		clauses = r.matching(c.Args, s.walk)
	}
	return s.call(clauses, goals, last, choices)
}

// done notes that the first goal holds by itself.
func (s *search) done(goals **goal, last **step) {
	g := *goals
	*last = &step{literal: g.literal, of: g.of, before: *last}
	*goals = g.next
}

// call tries clauses for the first goal, and leaves a choice where more are left.
func (s *search) call(clauses []*Clause, goals **goal, last **step, choices *[]choice) (bool, error) {
	g := *goals
	trail, room := s.mark()
	for i, c := range clauses {
		from := s.bindings.room(len(c.Names))
		if !s.unify(shift(c.Head, from), g.literal.Atom) {
			s.undo(trail, room)
			continue
		}
		if i+1 < len(clauses) {
			*choices = append(*choices, choice{g, *last, trail, room, clauses[i+1:]})
		}
		at := &step{literal: g.literal, clause: c, of: g.of, before: *last}
		if g.of != nil {
			at.depth = g.of.depth + 1
		}
		if at.depth > s.limits.Depth {
			return false, fmt.Errorf("%s needs a proof more than %d clauses deep; the program may not end: order its clauses so that it does, or write it without functions", shorten(Format(s.resolve(g.literal.Atom), nil)), s.limits.Depth)
		}
		*last = at
		rest := g.next
		for _, l := range slices.Backward(c.Body) {
			rest = &goal{Literal{l.Negated, shift(l.Atom, from)}, at, rest}
		}
		*goals = rest
		return true, nil
	}
	return false, nil
}

// fails reports whether a goal of a step's clause has no answer: negation as failure. It
// is as deep as that clause, so that what denies itself ends, too.
func (s *search) fails(t Term, of *step) (bool, error) {
	trail, room := s.mark()
	fails := true
	err := s.run(&goal{literal: Literal{Atom: t}, of: of}, nil, func(*step) bool {
		fails = false
		return false
	})
	s.undo(trail, room)
	return fails, err
}

// choose goes on with one goal behind the first answer to a condition, or with another
// one if it has none.
func (s *search) choose(condition, then, otherwise Term, goals **goal, last **step) (bool, error) {
	g := *goals
	trail, room := s.mark()
	holds := false
	err := s.run(&goal{literal: Literal{Atom: condition}, of: g.of}, *last, func(at *step) bool {
		holds, *last = true, at
		return false
	})
	if !holds {
		s.undo(trail, room)
		then = otherwise
	}
	*goals = &goal{Literal{Atom: then}, g.of, g.next}
	return true, err
}

// proofs returns the proofs of the goals that were asked for, of the steps that
// led to an answer.
func (s *search) proofs(last *step) []*Proof {
	var steps []*step
	for ; last != nil; last = last.before {
		steps = append(steps, last)
	}
	var all []*Proof
	made := map[*step]*Proof{}
	for _, at := range slices.Backward(steps) {
		p := &Proof{Goal: Literal{at.literal.Negated, s.resolve(at.literal.Atom)}, Clause: at.clause}
		if at.clause != nil && at.clause.why != nil {
			p = at.clause.why.proof()
		}
		made[at] = p
		if at.of == nil {
			all = append(all, p)
		} else {
			made[at.of].Of = append(made[at.of].Of, p)
		}
	}
	return all
}
