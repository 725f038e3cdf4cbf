package logic

import (
	"context"
	"slices"
)

// Theory is a domain theory: clauses that explain why things are as they are, in terms
// that are operational, so that rules made of them can be used at once.
type Theory struct {
	*Program
	own map[*Clause]bool // clauses of the theory, not of the facts
	// operational are predicates at which explanations end; nil: those that the
	// theory has no clauses for, and those that only compare and compute.
	operational []Predicate
}

// NewTheory joins a theory with facts. Operational lists predicates at which
// explanations end; nil finds them.
func NewTheory(theory, facts *Program, operational []Predicate) *Theory {
	t := &Theory{NewProgram(slices.Concat(theory.Clauses, facts.Clauses)), map[*Clause]bool{}, operational}
	for _, c := range theory.Clauses {
		t.own[c] = true
	}
	return t
}

// IsOperational reports whether explanations end at a predicate.
func (t *Theory) IsOperational(of Predicate) bool {
	if t.operational != nil {
		return slices.Contains(t.operational, of) || IsBuiltIn(of)
	}
	clauses := t.Of(of)
	computes := true
	for _, c := range clauses {
		if t.own[c] && (len(c.Body) == 0 || slices.ContainsFunc(c.Body, func(l Literal) bool {
			called, ok := l.Predicate()
			return !ok || !IsBuiltIn(called)
		})) {
			computes = false
		}
	}
	return computes || !slices.ContainsFunc(clauses, func(c *Clause) bool { return t.own[c] })
}

// Explain returns the first proof of a goal, nil if there is none. Negated goals are
// proved only if they may be.
func (t *Theory) Explain(ctx context.Context, goal Term, negation bool, limits Limits) (*Proof, error) {
	var first *Proof
	limits.Positive = !negation
	err := t.Prove(ctx, []Literal{{Atom: goal}}, limits, func(a Answer) bool {
		first = a.Proofs[0]
		return false
	})
	return first, err
}

// Preimage returns the weakest condition under which a proof shows the target
// (Mitchell 1997, table 11.3): the target, with variables in its places, is regressed
// through the clauses of the proof, and what the proof takes from the facts stays as
// general as the clauses have it. The steps are the frontiers on the way.
func (t *Theory) Preimage(target Term, proof *Proof) (rule *Clause, steps [][]Literal, ok bool) {
	r := &bindings{left: allowance}
	most := Var(-1)
	variables(target, func(v Var) { most = max(most, v) })
	r.room(int(most) + 1)
	type open struct {
		literal Literal
		proof   *Proof
	}
	frontier := []open{{Literal{Atom: target}, proof}}
	note := func() {
		var at []Literal
		for _, o := range frontier {
			at = append(at, Literal{o.literal.Negated, r.resolve(o.literal.Atom)})
		}
		steps = append(steps, at)
	}
	note()
	for i := 0; i < len(frontier); {
		o := frontier[i]
		of, known := o.literal.Predicate()
		c := o.proof.Clause
		if !known || o.literal.Negated || c == nil || !t.own[c] || i+1 <= len(frontier) && o.proof != proof && t.IsOperational(of) {
			i++
			continue
		}
		from := r.room(len(c.Names))
		if !r.unify(shift(c.Head, from), o.literal.Atom) || len(c.Body) > len(o.proof.Of) {
			return nil, nil, false
		}
		body := make([]open, len(c.Body))
		for k, l := range c.Body {
			body[k] = open{Literal{l.Negated, shift(l.Atom, from)}, o.proof.Of[k]}
		}
		frontier = slices.Replace(frontier, i, i+1, body...)
		note()
	}
	var body []Literal
	for _, o := range frontier {
		body = union(body, Literal{o.literal.Negated, r.resolve(o.literal.Atom)})
	}
	return NewClause(r.resolve(target), body), steps, true
}

// Collected returns the weaker generalisation of a proof: its leaves as they are, with
// the objects of the goal replaced by the variables of the target, and without what is
// always true.
func (t *Theory) Collected(target, goal Term, proof *Proof) *Clause {
	of := map[string]Term{}
	for i, a := range arguments(goal) {
		of[Format(a, nil)] = arguments(target)[i]
	}
	var body []Literal
	proof.leavesAt(t, true, func(l Literal) {
		if p, ok := l.Predicate(); ok && (IsBuiltIn(p) || t.Of(p) != nil && t.own[t.Of(p)[0]]) {
			return
		}
		body = union(body, Literal{l.Negated, rebuild(l.Atom, func(a Term) Term {
			if v, ok := of[Format(a, nil)]; ok {
				return v
			}
			return a
		})})
	})
	return NewClause(target, body)
}

// leavesAt calls visit for the operational literals that a proof stands on.
func (p *Proof) leavesAt(t *Theory, root bool, visit func(Literal)) {
	of, ok := p.Goal.Predicate()
	if len(p.Of) == 0 || ok && !root && t.IsOperational(of) {
		visit(p.Goal)
		return
	}
	for _, q := range p.Of {
		q.leavesAt(t, false, visit)
	}
}

// Lemmas enumerates what the theory alone says of a target: every way to conclude it,
// as a rule over operational predicates (LEMMA-ENUMERATOR), up to a depth of clauses
// and a number of rules. Those that compare numbers wrongly are left out.
func (t *Theory) Lemmas(target Term, depth, most int) []*Clause {
	var rules []*Clause
	var unfold func(head Term, body []Literal, at, depth int)
	unfold = func(head Term, body []Literal, at, depth int) {
		for at < len(body) {
			of, ok := body[at].Predicate()
			if ok && !body[at].Negated && !t.IsOperational(of) || at == 0 && len(body) == 1 && depth == 0 {
				break
			}
			at++
		}
		if at == len(body) {
			if c := NewClause(head, body); !t.impossible(c) {
				rules = append(rules, c)
			}
			return
		}
		of, _ := body[at].Predicate()
		for _, c := range t.Of(of) {
			if !t.own[c] || len(rules) >= most || depth < 0 {
				continue
			}
			vars := Var(-1)
			highest := func(v Var) { vars = max(vars, v) }
			variables(head, highest)
			for _, l := range body {
				variables(l.Atom, highest)
			}
			from := vars + 1
			by, ok := Unify(body[at].Atom, shift(c.Head, from))
			if !ok {
				continue
			}
			var next []Literal
			for i, l := range body {
				if i != at {
					next = append(next, l)
					continue
				}
				for _, b := range c.Body {
					next = append(next, Literal{b.Negated, shift(b.Atom, from)})
				}
			}
			for i := range next {
				next[i].Atom = Substitute(next[i].Atom, by)
			}
			unfold(Substitute(head, by), next, at, depth-1)
		}
	}
	unfold(target, []Literal{{Atom: target}}, 0, depth)
	return rules
}

// impossible reports whether a literal that only compares fails for what it says.
func (t *Theory) impossible(c *Clause) bool {
	for _, l := range c.Body {
		if of, ok := l.Predicate(); ok && !l.Negated && isGround(l.Atom) && t.IsOperational(of) && (IsBuiltIn(of) || t.Of(of) != nil && t.own[t.Of(of)[0]]) {
			if holds, err := t.Holds(context.Background(), []Literal{l}, Limits{}); err == nil && !holds {
				return true
			}
		}
	}
	return false
}
