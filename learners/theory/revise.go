package theory

import "github.com/accrete-ml/accrete/internal/bits"

// mostRevised is how many rules are changed, one after another, or back; a theory is
// revised if its gates among themselves, times the rows, are so many at most.
const (
	mostRevised  = 24
	mostRevision = 1 << 26
)

// revised changes one rule at a time, that of which the change saves most bits,
// until none does: a rule is read anew by the rows in which it decides what the
// rules answer, so that it says what the network answers there; or it is as the
// theory has it again. So what the rows changed is told by few rules, though
// training moves all weights a little.
func (x *extraction) revised(t text) text {
	if len(x.gates)*len(x.gates)*x.size > mostRevision {
		return t
	}
	for range mostRevised {
		best := t
		for g := range x.gates {
			if x.gates[g].closed || x.gates[g].rule == none && x.gates[g].column == "" {
				continue // a part of a rule stands in its text
			}
			for _, r := range x.revisions(t, g) {
				next := t
				next.gates = append(append(append([]reading{}, t.gates[:g]...), r), t.gates[g+1:]...)
				if next = x.composed(next); next.bits < best.bits-1e-9 {
					best = next
				}
			}
		}
		if best.bits >= t.bits-1e-9 {
			break
		}
		t = best
	}
	return t
}

// revisions returns what a gate might be read as instead.
func (x *extraction) revisions(t text, g int) []reading {
	var all []reading
	own := x.beside(x.own(g), t.read)
	if !t.gates[g].own {
		all = append(all, own)
	}
	on, cares := x.wished(t, g)
	if differ(t.read[g], on, cares) == 0 {
		return all
	}
	alone := x.gates[g].rule != none // not several rules, which stay apart
	for _, from := range []reading{own, t.gates[g]} {
		from.own = false
		all = append(all, x.limited(x.priced(from, on, cares), g, on, cares, alone))
	}
	if alone {
		all = append(all, x.limited(x.choose(x.candidates(g, t.read), on, cares, len(own.literals)), g, on, cares, true))
	}
	return all
}

// wished returns the rows where a gate should hold for the rules to answer as the
// network does, and those in which it makes the difference.
func (x *extraction) wished(t text, g int) (on, cares bits.Set) {
	on, cares = bits.New(x.size), bits.New(x.size)
	with, without := x.said(x.forced(t, g, bits.Fill(x.size))), x.said(x.forced(t, g, bits.New(x.size)))
	for r, answer := range x.answers {
		if (with[r] == answer) != (without[r] == answer) {
			cares.Put(r)
			if with[r] == answer {
				on.Put(r)
			}
		}
	}
	return on, cares
}

// forced returns where gates hold if one of them holds in some rows.
func (x *extraction) forced(t text, g int, rows bits.Set) []bits.Set {
	read := append(append([]bits.Set{}, t.read[:g]...), rows)
	for above := g + 1; above < len(t.gates); above++ {
		r := x.beside(t.gates[above], read)
		read = append(read, holding(r.literals, r.count, x.size))
	}
	return read
}
