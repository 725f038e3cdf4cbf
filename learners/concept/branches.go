package concept

import (
	"context"
	"fmt"
	"slices"
)

// branches is FIND-S where there are several most specific hypotheses (section
// 2.4): of disjunctions of up to k terms a row of the concept can be taken in by
// any term, or by a new one, and each way is a branch. A branch that comes to
// hold for a row which is not the concept's is given up, and the search goes on
// with the others. What is left is the boundary S.
type branches struct {
	language *language
	members  []hypothesis
}

// newBranches returns the branches left, and the place of the example that left
// none, or −1.
func newBranches(ctx context.Context, l *language, k, most int, examples []example) (*branches, int, error) {
	b := &branches{language: l, members: []hypothesis{nil}}
	var negatives [][]value
	for _, d := range examples {
		if !d.positive {
			negatives = append(negatives, d.x)
		}
	}
	for i, d := range examples {
		if ctx.Err() != nil {
			return nil, -1, ctx.Err()
		}
		if !d.positive {
			continue
		}
		var next []hypothesis
		for _, h := range b.members {
			if l.satisfies(h, d.x) {
				next = append(next, h)
				continue
			}
			for _, wider := range l.takeIn(h, d.x, k) {
				if !slices.ContainsFunc(negatives, func(n []value) bool { return l.satisfies(wider, n) }) {
					next = append(next, wider)
				}
			}
		}
		if b.members = l.leastGeneral(next, true); len(b.members) == 0 {
			return b, i, nil
		}
		if len(b.members) > most {
			return nil, -1, fmt.Errorf("FIND-S has more than %d branches of up to %d terms; ask for a smaller k, leave columns out, or allow for more with the setting most", most, k)
		}
	}
	b.members = l.leastGeneral(b.members, false)
	b.compare()
	return b, -1, nil
}

// compare drops branches by the rows that they hold for, where these are few:
// terms alone do not tell that two values are all that there are.
func (b *branches) compare() {
	const few = 1 << 12
	n := 1.0
	for i := range b.language.columns {
		n *= float64(len(b.language.columns[i].cells()) + 1)
	}
	if n > few || len(b.members) < 2 {
		return
	}
	rows, err := b.language.instances()
	if err != nil {
		return
	}
	v := &listed{language: b.language, rows: rows, members: b.members}
	for _, h := range v.members {
		extent := make([]uint64, (len(rows)+63)/64)
		for _, t := range h {
			for w, bits := range v.extentOf(t) {
				extent[w] |= bits
			}
		}
		v.extent = append(v.extent, extent)
	}
	b.members = v.boundary(false)
}

// takeIn returns the hypotheses that are h with a row taken in by one of its
// terms, or by a term of its own if there are fewer than k.
func (l *language) takeIn(h hypothesis, x []value, k int) []hypothesis {
	var all []hypothesis
	for i := range h {
		wider := slices.Clone(h)
		wider[i] = l.generalise(h[i], x)
		all = append(all, wider)
	}
	if len(h) < k {
		all = append(all, append(slices.Clone(h), l.generalise(nil, x)))
	}
	return all
}

// leastGeneral drops hypotheses that are another one or more general: each term
// of the other lies below one of theirs. While more rows may come, the other
// must not have more terms, for then it has less room for what is new.
func (l *language) leastGeneral(all []hypothesis, more bool) []hypothesis {
	above := func(a, b hypothesis) bool {
		return (!more || len(b) <= len(a)) && !slices.ContainsFunc(b, func(t term) bool {
			return !slices.ContainsFunc(a, func(s term) bool { return l.moreGeneral(s, t) })
		})
	}
	var left []hypothesis
	for i, h := range all {
		dropped := false
		for j := 0; j < len(all) && !dropped; j++ {
			dropped = j != i && above(h, all[j]) && (j < i || !above(all[j], h))
		}
		if !dropped {
			left = append(left, h)
		}
	}
	return left
}

func (b *branches) verdict(x []value) int {
	n := 0
	for _, h := range b.members {
		if b.language.satisfies(h, x) {
			n++
		}
	}
	switch n {
	case len(b.members):
		return 1
	case 0:
		return -1
	}
	return 0
}
