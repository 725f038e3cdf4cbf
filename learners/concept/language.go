package concept

import (
	"math"
	"slices"
)

// A language is what hypotheses are written in: for each column the
// constraints that it may be put under, ordered by generality. The names of a
// column stand at the leaves of a tree (its taxonomy; without one all names
// hang from the root, which any name satisfies). The constraints of a number
// are the intervals.
type language struct {
	columns []column
}

// column is the constraints of one column.
type column struct {
	numeric bool
	// Of names: the parent of each node, −1 at the root. The first nodes are
	// the column's values by code. The root is any: it holds for missing
	// cells too. Where rows have missing cells, known hangs from it.
	parent []int32
	root   int32
	known  int32 // −1 where every cell of every row is known
	values int
	// Of numbers: whether they are whole, and, ascending, where intervals may
	// end: all whole numbers from the least to the largest, or the numbers
	// that rows have. The first stands for any lower number, the last for any
	// higher one.
	whole   bool
	ends    []float64
	missing bool // some cell of some row is
}

// value is a cell of a row: a code or a number.
type value struct {
	code    int32 // of a name that is known to the language
	number  float64
	missing bool // or a name that no constraint but any holds for
}

// constraint is what a hypothesis asks of a column: a node of its tree or an
// interval.
type constraint struct {
	node              int32
	low, high         float64
	lowOpen, highOpen bool
	any               bool // of numbers: also missing cells
}

// term is a conjunction of constraints, one a column. The empty term, nil,
// holds for no row: ⟨∅, …, ∅⟩.
type term []constraint

// top is the term that holds for every row: ⟨?, …, ?⟩.
func (l *language) top() term {
	t := make(term, len(l.columns))
	for i := range l.columns {
		t[i] = l.columns[i].top()
	}
	return t
}

func (c *column) top() constraint {
	if c.numeric {
		return constraint{low: math.Inf(-1), high: math.Inf(1), any: true}
	}
	return constraint{node: c.root}
}

// isTop reports whether a constraint asks for nothing.
func (c *column) isTop(k constraint) bool {
	if c.numeric {
		return k.any
	}
	return k.node == c.root
}

// holds reports whether a cell satisfies a constraint.
func (c *column) holds(k constraint, v value) bool {
	if c.numeric {
		if k.any || v.missing {
			return k.any
		}
		return (k.low < v.number || k.low == v.number && !k.lowOpen) && (v.number < k.high || v.number == k.high && !k.highOpen)
	}
	if v.missing {
		return k.node == c.root
	}
	return c.above(k.node, v.code)
}

// above reports whether a node is another one or over it.
func (c *column) above(node, under int32) bool {
	for ; under >= 0; under = c.parent[under] {
		if under == node {
			return true
		}
	}
	return false
}

// covers reports whether a row satisfies every constraint: h(x) = 1.
func (l *language) covers(h term, x []value) bool {
	if h == nil {
		return false
	}
	for i := range h {
		if !l.columns[i].holds(h[i], x[i]) {
			return false
		}
	}
	return true
}

// moreGeneral reports whether a ≥g b: every row that satisfies b satisfies a
// (section 2.3.1).
func (l *language) moreGeneral(a, b term) bool {
	if b == nil {
		return true
	}
	if a == nil {
		return false
	}
	for i := range a {
		if !l.columns[i].wider(a[i], b[i]) {
			return false
		}
	}
	return true
}

// wider reports whether one constraint of a column allows all that another
// does.
func (c *column) wider(a, b constraint) bool {
	if !c.numeric {
		return c.above(a.node, b.node)
	}
	if a.any || b.any {
		return a.any
	}
	low := a.low < b.low || a.low == b.low && (!a.lowOpen || b.lowOpen)
	high := a.high > b.high || a.high == b.high && (!a.highOpen || b.highOpen)
	return low && high
}

// generalise is the least general term above h that a row satisfies: each
// constraint that the row breaks becomes the next more general one that it
// keeps (FIND-S, table 2.3).
func (l *language) generalise(h term, x []value) term {
	g := make(term, len(l.columns))
	for i := range l.columns {
		c := &l.columns[i]
		if h == nil {
			g[i] = c.only(x[i])
		} else {
			g[i] = c.join(h[i], c.only(x[i]))
		}
	}
	return g
}

// only is the most specific constraint that a cell satisfies.
func (c *column) only(v value) constraint {
	switch {
	case v.missing:
		return c.top()
	case c.numeric:
		return constraint{low: v.number, high: v.number}
	}
	return constraint{node: v.code}
}

// join is the least general constraint above both.
func (c *column) join(a, b constraint) constraint {
	if !c.numeric {
		for !c.above(a.node, b.node) {
			a.node = c.parent[a.node]
		}
		return a
	}
	if a.any || b.any {
		return c.top()
	}
	if b.low < a.low || b.low == a.low && !b.lowOpen {
		a.low, a.lowOpen = b.low, b.lowOpen
	}
	if b.high > a.high || b.high == a.high && !b.highOpen {
		a.high, a.highOpen = b.high, b.highOpen
	}
	return a
}

// meet is the most general constraint below both; ok is false where no cell
// can satisfy both.
func (c *column) meet(a, b constraint) (k constraint, ok bool) {
	if !c.numeric {
		switch {
		case c.above(a.node, b.node):
			return b, true
		case c.above(b.node, a.node):
			return a, true
		}
		return k, false
	}
	switch {
	case a.any:
		return b, true
	case b.any:
		return a, true
	}
	if b.low > a.low || b.low == a.low && b.lowOpen {
		a.low, a.lowOpen = b.low, b.lowOpen
	}
	if b.high < a.high || b.high == a.high && b.highOpen {
		a.high, a.highOpen = b.high, b.highOpen
	}
	return a, a.low < a.high || a.low == a.high && !a.lowOpen && !a.highOpen
}

// meetOf is the most general term below both, nil where no row satisfies both.
func (l *language) meetOf(a, b term) term {
	if a == nil || b == nil {
		return nil
	}
	t := make(term, len(a))
	for i := range a {
		k, ok := l.columns[i].meet(a[i], b[i])
		if !ok {
			return nil
		}
		t[i] = k
	}
	return t
}

// joinOf is the least general term above both.
func (l *language) joinOf(a, b term) term {
	if a == nil || b == nil {
		return slices.Clone(append(a, b...)) // the one that is not empty
	}
	t := make(term, len(a))
	for i := range a {
		t[i] = l.columns[i].join(a[i], b[i])
	}
	return t
}

// specialise returns the most general terms below h that a row does not
// satisfy: h with one constraint made strict enough to keep the row out.
func (l *language) specialise(h term, x []value) []term {
	var all []term
	for i := range h {
		for _, k := range l.columns[i].without(h[i], x[i]) {
			s := slices.Clone(h)
			s[i] = k
			all = append(all, s)
		}
	}
	return all
}

// without returns the most general constraints below k that a cell which
// satisfies it does not satisfy.
func (c *column) without(k constraint, v value) []constraint {
	if c.numeric {
		return c.cut(k, v)
	}
	if v.missing { // k is any
		if c.known >= 0 {
			return []constraint{{node: c.known}}
		}
		return c.children(c.root, -1)
	}
	// Walk down from k to the value: what hangs beside that path is left.
	var all []constraint
	path := []int32{v.code}
	for path[len(path)-1] != k.node {
		path = append(path, c.parent[path[len(path)-1]])
	}
	for i := len(path) - 1; i > 0; i-- {
		all = append(all, c.children(path[i], path[i-1])...)
	}
	return all
}

// children returns the nodes that hang from one, but for one of them.
func (c *column) children(node, except int32) []constraint {
	var all []constraint
	for n, p := range c.parent {
		if p == node && int32(n) != except {
			all = append(all, constraint{node: int32(n)})
		}
	}
	return all
}

// cut returns the parts of an interval below and above a number.
func (c *column) cut(k constraint, v value) []constraint {
	if v.missing {
		return []constraint{{low: math.Inf(-1), high: math.Inf(1)}}
	}
	k.any = false
	below, above := k, k
	below.high, below.highOpen = v.number, true
	above.low, above.lowOpen = v.number, true
	if c.whole {
		below.high, below.highOpen = v.number-1, false
		above.low, above.lowOpen = v.number+1, false
	}
	var all []constraint
	for _, part := range []constraint{below, above} {
		if part.low < part.high || part.low == part.high && !part.lowOpen && !part.highOpen {
			all = append(all, part)
		}
	}
	return all
}

// equal reports whether two terms ask for the same.
func equal(a, b term) bool {
	return (a == nil) == (b == nil) && slices.Equal(a, b)
}
