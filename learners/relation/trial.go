package relation

import "slices"

// atom is a literal of a clause that is tried: a predicate of the background, the
// relation itself or, of two variables, that they are equal.
type atom struct {
	of   int // the predicate's place in the world
	args []int
}

const (
	itself = -1
	equal  = -2
)

// candidate is a clause that is tried. The variables of its head come first.
type candidate struct {
	body      []atom
	variables int
	recursive bool
}

// trial is a program that is tried: what it proves, asked from above, with tables, so
// that it ends whatever calls what (Tamaki & Sato 1986).
type trial struct {
	world  *world
	arity  int
	rules  []*candidate
	tables map[tuple]*proved
	stack  int
	found  int // answers in all tables
	steps  int
	most   int // steps that it may take
	lowest int // place on the stack of the first question that is still open and was asked again
}

// proved is the answers to a question that was asked of the program itself.
type proved struct {
	answers []tuple
	at      int // on the stack, while it is open
	done    bool
}

// holds reports whether the program proves a tuple; what takes too many steps is not
// proved.
func (t *trial) holds(example *tuple) bool {
	return len(t.ask(*example).answers) > 0
}

// spent reports whether the program took more steps than it may.
func (t *trial) spent() bool { return t.steps > t.most }

const closed = 1 << 30

// mostDeep is how deep a program may call itself: what goes deeper builds larger and
// larger things.
const mostDeep = 100

// costOfProof is how many steps a question to the prover counts.
const costOfProof = 20

// ask returns the answers to a question. The first question of those that wait for each
// other repeats them until nothing new comes.
func (t *trial) ask(asked tuple) *proved {
	p := t.tables[asked]
	if p != nil && (p.done || p.at < closed) {
		if !p.done {
			t.lowest = min(t.lowest, p.at)
		}
		return p
	}
	if p == nil {
		p = &proved{}
		t.tables[asked] = p
	}
	p.at = t.stack
	if t.stack++; t.stack > mostDeep {
		t.steps = t.most + 1
	}
	outer := t.lowest
	for {
		before := t.found
		t.lowest = closed
		for _, r := range t.rules {
			t.clause(r, &asked, p)
		}
		if ground := !slices.Contains(asked[:t.arity], free); ground && len(p.answers) > 0 {
			p.done = true
			break
		}
		if t.lowest < p.at { // it waits for another: that one repeats it
			break
		}
		if t.lowest == closed || t.found == before || t.spent() {
			p.done = true
			break
		}
	}
	t.stack--
	p.at = closed
	t.lowest = min(outer, t.lowest)
	if p.done {
		t.lowest = outer
	}
	return p
}

// clause adds what a clause proves.
func (t *trial) clause(r *candidate, asked *tuple, p *proved) {
	var room [32]int32
	binding := room[:r.variables]
	for v := range binding {
		binding[v] = free
		if v < t.arity {
			binding[v] = asked[v]
		}
	}
	ground := !slices.Contains(asked[:t.arity], free)
	if ground && len(p.answers) > 0 {
		return
	}
	t.body(r.body, binding, func() bool {
		answer := *asked
		for v := range t.arity {
			if answer[v] = binding[v]; answer[v] == free {
				return true
			}
		}
		if !slices.Contains(p.answers, answer) {
			p.answers = append(p.answers, answer)
			t.found++
		}
		return !ground
	})
}

// body goes through the ways in which atoms hold, one behind another, until found
// returns false.
func (t *trial) body(body []atom, binding []int32, found func() bool) bool {
	if len(body) == 0 {
		return found()
	}
	if t.steps++; t.spent() {
		return false
	}
	a := &body[0]
	if a.of == equal {
		x, y := a.args[0], a.args[1]
		switch {
		case binding[x] == binding[y]:
			return binding[x] == free || t.body(body[1:], binding, found)
		case binding[x] != free && binding[y] != free:
			return true
		}
		kept := [2]int32{binding[x], binding[y]}
		binding[x], binding[y] = max(kept[0], kept[1]), max(kept[0], kept[1])
		on := t.body(body[1:], binding, found)
		binding[x], binding[y] = kept[0], kept[1]
		return on
	}
	var asked tuple
	for k, v := range a.args {
		asked[k] = binding[v]
	}
	on := true
	visit := func(answer *tuple) bool {
		if t.steps++; t.spent() {
			return false
		}
		for k, v := range a.args {
			if binding[v] == free {
				binding[v] = answer[k]
			} else if binding[v] != answer[k] {
				on = true
				t.restore(a.args, binding, &asked)
				return true
			}
		}
		on = t.body(body[1:], binding, found)
		t.restore(a.args, binding, &asked)
		return on
	}
	if a.of == itself {
		p := t.ask(asked)
		for i := 0; i < len(p.answers); i++ { // it may grow
			if answer := p.answers[i]; !visit(&answer) {
				return false
			}
		}
		return true
	}
	if p := t.world.predicates[a.of]; p.relation == nil {
		if _, known := p.answers[asked]; !known {
			t.steps += costOfProof
		}
	}
	t.world.each(t.world.predicates[a.of], &asked, visit)
	return on
}

// restore frees the variables that an answer bound.
func (t *trial) restore(args []int, binding []int32, asked *tuple) {
	for k, v := range args {
		binding[v] = asked[k]
	}
}
