package concept

import (
	"context"
	"slices"
)

// example is a row with its label.
type example struct {
	x        []value
	positive bool
	weight   float64
	class    int32
}

// boundaries are the version space of table 2.5: its most specific members
// and its most general ones. Every hypothesis between the two is in it
// (theorem 2.1).
type boundaries struct {
	language *language
	s        term   // the only most specific member; nil is the empty concept
	open     bool   // s may be; false: no member is left
	g        []term // the most general members
	// most is how many members G may have; beyond it G is given up, and the
	// negative examples stand for it (Hirsh 1992). 0 is no limit.
	most    int
	without bool // G was given up
}

// start returns the space of all hypotheses: S = {⟨∅, …, ∅⟩}, G = {⟨?, …, ?⟩}.
func start(l *language, most int) *boundaries {
	return &boundaries{language: l, open: true, g: []term{l.top()}, most: most}
}

// collapsed reports whether no hypothesis is left.
func (b *boundaries) collapsed() bool { return !b.open || !b.without && len(b.g) == 0 }

// converged reports whether one hypothesis is left.
func (b *boundaries) converged() bool {
	return !b.collapsed() && !b.without && len(b.g) == 1 && equal(b.g[0], b.s)
}

// eliminate takes one example into account (CANDIDATE-ELIMINATION).
func (b *boundaries) eliminate(d example) {
	if b.collapsed() {
		return
	}
	l := b.language
	if d.positive {
		b.g = slices.DeleteFunc(b.g, func(g term) bool { return !l.covers(g, d.x) })
		if !l.covers(b.s, d.x) {
			b.s = l.generalise(b.s, d.x)
		}
		// A generalisation that no member of G is above is none.
		if !b.without {
			b.g = slices.DeleteFunc(b.g, func(g term) bool { return !l.moreGeneral(g, b.s) })
			b.open = len(b.g) > 0
		}
		return
	}
	if l.covers(b.s, d.x) {
		b.open = false
		return
	}
	if b.without {
		return
	}
	var kept, made []term
	for _, g := range b.g {
		if !l.covers(g, d.x) {
			kept = append(kept, g)
			continue
		}
		for _, h := range l.specialise(g, d.x) {
			if l.moreGeneral(h, b.s) {
				made = append(made, h)
			}
		}
	}
	b.g = maximal(l, kept, made)
	if b.most > 0 && len(b.g) > b.most {
		b.g, b.without = nil, true
	}
}

// maximal returns kept and those of made that none of either is more general
// than. No two of kept are comparable.
func maximal(l *language, kept, made []term) []term {
	all := kept
	for i, h := range made {
		covered := slices.ContainsFunc(kept, func(g term) bool { return l.moreGeneral(g, h) })
		for j := 0; !covered && j < len(made); j++ {
			covered = j != i && l.moreGeneral(made[j], h) && (j < i || !l.moreGeneral(h, made[j]))
		}
		if !covered {
			all = append(all, h)
		}
	}
	return all
}

// eliminateAll takes all examples into account, the positive ones first, which
// keeps G small (exercise 2.2); the space does not depend on the order. It
// returns the place of the example that left no hypothesis, or −1.
func (b *boundaries) eliminateAll(ctx context.Context, examples []example) (int, error) {
	for _, positive := range []bool{true, false} {
		for i, d := range examples {
			if i%64 == 0 && ctx.Err() != nil {
				return -1, ctx.Err()
			}
			if d.positive != positive {
				continue
			}
			if b.eliminate(d); b.collapsed() {
				return i, nil
			}
		}
	}
	return -1, nil
}

// merge returns the boundaries of the hypotheses that are in both spaces
// (Hirsh 1990, incremental version-space merging).
func merge(a, b *boundaries) *boundaries {
	l := a.language
	m := &boundaries{language: l, open: a.open && b.open, most: max(a.most, b.most), without: a.without || b.without}
	m.s = l.joinOf(a.s, b.s)
	if len(m.s) == 0 {
		m.s = nil
	}
	if m.without {
		return m
	}
	var met []term
	for _, g := range a.g {
		for _, h := range b.g {
			if t := l.meetOf(g, h); (t != nil || m.s == nil) && l.moreGeneral(t, m.s) {
				met = append(met, t)
			}
		}
	}
	m.g = maximal(l, nil, met)
	m.open = m.open && len(m.g) > 0
	return m
}
