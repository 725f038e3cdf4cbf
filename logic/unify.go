package logic

// bindings are what variables stand for, and in which order they were bound. They
// spend no more than their allowance: terms that share parts can be larger, written
// out, than any memory.
type bindings struct {
	of    []Term // nil: free
	trail []Var
	left  int // of the allowance
}

// ofMemory is what a part of a term costs that is kept.
const ofMemory = 100

// spend takes from the allowance, and reports whether there was something left.
func (b *bindings) spend(cost int) bool {
	b.left -= cost
	return b.left > 0
}

// room returns the first of so many new variables.
func (b *bindings) room(n int) Var {
	first := Var(len(b.of))
	for range n {
		b.of = append(b.of, nil)
	}
	return first
}

// mark says where things stand, for undo.
func (b *bindings) mark() (trail, room int) { return len(b.trail), len(b.of) }

// undo frees what was bound since a mark.
func (b *bindings) undo(trail, room int) {
	for _, v := range b.trail[trail:] {
		b.of[v] = nil
	}
	b.trail, b.of = b.trail[:trail], b.of[:room]
}

// walk returns what a term is bound to, as far as its outermost functor goes.
func (b *bindings) walk(t Term) Term {
	for {
		v, ok := t.(Var)
		if !ok || b.of[v] == nil {
			return t
		}
		t = b.of[v]
	}
}

// resolve returns a term with all bindings put in. Unification checks for cycles,
// so that it ends.
func (b *bindings) resolve(t Term) Term {
	return rebuild(t, func(t Term) Term {
		if !b.spend(ofMemory) {
			return Nil
		}
		return b.walk(t)
	})
}

// rebuild copies a term, each part of it as it is found to be. Last arguments,
// along which lists are long, take no room on the stack.
func rebuild(t Term, found func(Term) Term) Term {
	var root Term
	for at := &root; ; {
		t = found(t)
		c, ok := t.(*Compound)
		if !ok {
			*at = t
			return root
		}
		copied := &Compound{c.Functor, make([]Term, len(c.Args))}
		last := len(c.Args) - 1
		for i, a := range c.Args[:last] {
			copied.Args[i] = rebuild(a, found)
		}
		*at = copied
		at, t = &copied.Args[last], c.Args[last]
	}
}

// unify makes two terms equal (Robinson 1965), with occurs check, or reports that
// they cannot be. What was bound on the way stays until undo.
func (b *bindings) unify(x, y Term) bool {
	for b.spend(1) {
		x, y = b.walk(x), b.walk(y)
		v, isVar := x.(Var)
		w, isToo := y.(Var)
		switch {
		case isVar && isToo && v == w:
			return true
		case isVar:
			return b.bind(v, y)
		case isToo:
			return b.bind(w, x)
		}
		c, ok := x.(*Compound)
		if !ok {
			return x == y
		}
		d, ok := y.(*Compound)
		if !ok || c.Functor != d.Functor || len(c.Args) != len(d.Args) {
			return false
		}
		if c == d {
			return true
		}
		last := len(c.Args) - 1
		for i := range last {
			if !b.unify(c.Args[i], d.Args[i]) {
				return false
			}
		}
		x, y = c.Args[last], d.Args[last]
	}
	return false
}

func (b *bindings) bind(v Var, t Term) bool {
	if b.occurs(v, t) {
		return false
	}
	b.of[v] = t
	b.trail = append(b.trail, v)
	return true
}

// occurs reports whether a term has a variable in it.
func (b *bindings) occurs(v Var, t Term) bool {
	for b.spend(1) {
		t = b.walk(t)
		c, ok := t.(*Compound)
		if !ok {
			return t == v
		}
		last := len(c.Args) - 1
		for _, a := range c.Args[:last] {
			if b.occurs(v, a) {
				return true
			}
		}
		t = c.Args[last]
	}
	return true
}

// shift returns a term with its variables counted from another one on.
func shift(t Term, from Var) Term {
	return rebuild(t, func(t Term) Term {
		if v, ok := t.(Var); ok {
			return from + v
		}
		return t
	})
}

// allowance is what a unification may spend by default.
const allowance = 100_000_000

// Unify returns the most general substitution that makes two terms equal. Their
// variables are the same where they have the same number.
func Unify(x, y Term) (map[Var]Term, bool) {
	most := Var(-1)
	for _, t := range []Term{x, y} {
		variables(t, func(v Var) { most = max(most, v) })
	}
	b := bindings{left: allowance}
	b.room(int(most) + 1)
	if !b.unify(x, y) {
		return nil, false
	}
	by := map[Var]Term{}
	for _, v := range b.trail {
		by[v] = b.resolve(v)
	}
	return by, true
}
