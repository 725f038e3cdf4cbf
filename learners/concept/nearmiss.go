package concept

import "slices"

// A near miss is a row that is not the concept's and that S would let in if
// just one of its constraints were loosened (Winston 1975). It says that this
// constraint is needed, and so bounds every hypothesis from above: where G has
// too many members to be kept, near misses give a bound of one (Smith &
// Rosenbloom 1990). Rows that miss by more are kept, and looked at again when S
// has become more general (Hirsh 1992).

// upper returns the bound that the near misses give, and whether it keeps all
// negative rows out, so that it is the only member of G.
func (b *bounded) upper() (term, bool) {
	if b.s == nil {
		return nil, false
	}
	l := b.language
	bound := l.top()
	for _, n := range b.negatives {
		column, misses := -1, 0
		for i := range b.s {
			if !l.columns[i].holds(b.s[i], n[i]) {
				column, misses = i, misses+1
			}
		}
		if misses == 1 && l.columns[column].holds(bound[column], n[column]) {
			bound[column] = l.columns[column].shut(bound[column], b.s[column], n[column])
		}
	}
	far := slices.ContainsFunc(b.negatives, func(n []value) bool { return l.covers(bound, n) })
	met := slices.ContainsFunc(b.barred, func(r term) bool { return l.meets(bound, r) })
	return bound, !far && !met
}

// shut returns the most general constraint below k and above s that keeps a
// cell out.
func (c *column) shut(k, s constraint, v value) constraint {
	for _, h := range c.without(k, v) {
		if c.wider(h, s) {
			return h
		}
	}
	return s
}
