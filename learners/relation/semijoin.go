package relation

import "github.com/accrete-ml/accrete/internal/bits"

// dear is how many tuples a semi-join may go through for one example that it saves the
// proof of.
const dear = 32

// coverage reports for examples whether a body covers them: at once, by semi-joins,
// where it is a tree and so many examples are to be asked for that it pays, else one by
// one.
func (f *search) coverage(body []literal, examples int) func(e int32) bool {
	heads := f.semijoin(body, examples)
	if heads == nil {
		return func(e int32) bool { return f.covers(body, e) }
	}
	return func(e int32) bool {
		for k, c := range f.examples.columns {
			if !heads[k].has(c[e]) {
				return false
			}
		}
		return true
	}
}

// allowed is the codes that a variable may have; nil is any.
type allowed struct {
	set    bits.Set
	size   int
	others bool // those that are not of its domain, or missing
}

func (a *allowed) has(code int32) bool {
	if a == nil {
		return true
	}
	if code < 0 || int(code) >= a.size {
		return a.others
	}
	return a.set.Get(int(code))
}

// semijoin returns the codes that each variable of the head may have, if every literal
// hangs on one variable that was there before (Yannakakis 1981): from the last literal to
// the first, a variable keeps the codes for which some tuple has allowed ones in its
// other places. It costs one pass over each relation, whatever the examples. It returns
// nil where a literal hangs on two, or the passes cost more than proofs.
func (f *search) semijoin(body []literal, examples int) []*allowed {
	places := f.examples.places
	heads := len(places)
	parents := make([]int, len(body))
	tuples := 0
	for i := range body {
		l := &body[i]
		parents[i] = -1
		for _, a := range l.args {
			if a < 0 || a >= len(places) || a == parents[i] {
				continue
			}
			if parents[i] >= 0 {
				return nil
			}
			parents[i] = a
		}
		if parents[i] < 0 {
			return nil
		}
		if l.relation == nil {
			continue
		}
		tuples += l.relation.size()
		for v := len(places); !l.negated; v++ {
			k := -1
			for j, a := range l.args {
				if a == v {
					k = j
				}
			}
			if k < 0 {
				break
			}
			places = append(places[:v:v], l.relation.places[k])
		}
	}
	if len(body) == 0 || tuples > dear*examples {
		return nil
	}
	all := make([]*allowed, len(places))
	for i := len(body) - 1; i >= 0; i-- {
		p := parents[i]
		size := f.size(places[p].domain)
		kept := &allowed{set: bits.New(size), size: size, others: body[i].negated}
		body[i].keep(p, all, kept)
		if body[i].negated {
			bits.AndNot(kept.set, bits.Fill(size), kept.set)
		}
		if had := all[p]; had != nil {
			bits.And(kept.set, kept.set, had.set)
			kept.others = kept.others && had.others
		}
		all[p] = kept
	}
	return all[:heads]
}

// size is how many codes of a domain are in use: rows that stand alone have no names.
func (f *search) size(domain int) int {
	if f.sizes == nil {
		f.sizes = make([]int, len(f.db.domains))
		for d := range f.sizes {
			f.sizes[d] = len(f.db.domains[d].names)
		}
		for _, r := range f.db.relations {
			for k, column := range r.columns {
				d := r.places[k].domain
				for _, c := range column {
					if c != unknown && int(c) >= f.sizes[d] {
						f.sizes[d] = int(c) + 1
					}
				}
			}
		}
	}
	return f.sizes[domain]
}

// keep puts in the codes of a variable for which a literal has a tuple.
func (l *literal) keep(parent int, all []*allowed, kept *allowed) {
	if l.relation == nil {
		k := 0
		if l.args[0] == parent {
			k = 1
		}
		if c := l.code(k, nil); int(c) < kept.size {
			kept.set.Put(int(c))
		}
		return
	}
	columns := l.relation.columns
	at := 0
	for l.args[at] != parent {
		at++
	}
	own := columns[at]
	if len(l.args) == 2 && l.op == none && l.args[1-at] >= 0 && l.args[1-at] != parent {
		to, other := all[l.args[1-at]], columns[1-at]
		if to == nil {
			to = &allowed{size: 0, others: true}
		}
		size, marks := uint32(kept.size), kept.set
		for i, c := range own {
			o := other[i]
			if uint32(c) >= size || o < 0 {
				continue
			}
			if int(o) >= to.size {
				if to.others {
					marks.Put(int(c))
				}
				continue
			}
			from, at := uint32(o), uint32(c)
			marks[at/64] |= to.set[from/64] >> (from % 64) & 1 << (at % 64) // no branch on what is as good as chance
		}
		return
	}
	for i, c := range own {
		if c >= 0 && int(c) < kept.size && l.keeps(int32(i), parent, c, all) {
			kept.set.Put(int(c))
		}
	}
}

// keeps reports whether a tuple satisfies a literal, given what its other variables may
// be.
func (l *literal) keeps(tuple int32, parent int, own int32, all []*allowed) bool {
	for k, a := range l.args {
		code := l.relation.columns[k][tuple]
		switch {
		case code < 0:
			return false
		case a == anything:
		case a == parent:
			if code != own {
				return false
			}
		case a < 0:
			if code != int32(constant-a) {
				return false
			}
		default:
			if !all[a].has(code) {
				return false
			}
			for j, b := range l.args[:k] {
				if b == a && l.relation.columns[j][tuple] != code {
					return false
				}
			}
		}
	}
	return l.op == none || l.op.holds(l.relation.numbers[tuple], l.cut)
}
