package life

import "slices"

// box is changes of some columns that are looked at together: a run of values of
// each, the cheapest first, within which the answer only rises or only falls. If
// no corner of a box has the answer that is wanted, nothing in it has.
type box struct {
	columns []int
	sides   [][]option
}

// one is the box of a single change.
func (a attempt) one() box {
	b := box{columns: a.columns}
	for i := range a.values {
		b.sides = append(b.sides, a.values[i:i+1])
	}
	return b
}

// corner is a change at a corner of a box: bit k of n says that column k has the
// dearest value of its side. The cheapest change of all is corner 0.
func (b *box) corner(n int) attempt {
	a := attempt{columns: b.columns, values: make([]option, len(b.sides))}
	for k, side := range b.sides {
		a.values[k] = side[0]
		if n>>k&1 == 1 {
			a.values[k] = side[len(side)-1]
		}
	}
	return a
}

// corners are those that differ.
func (b *box) corners() []int {
	all := []int{0}
	for k, side := range b.sides {
		if len(side) > 1 {
			for _, n := range slices.Clone(all) {
				all = append(all, n|1<<k)
			}
		}
	}
	return all
}

// halves parts a box in two across its longest side, none if it is all corners.
func (b *box) halves() []box {
	long := 0
	for k, side := range b.sides {
		if len(side) > len(b.sides[long]) {
			long = k
		}
	}
	n := len(b.sides[long])
	if n <= 2 {
		return nil
	}
	near, far := box{b.columns, slices.Clone(b.sides)}, box{b.columns, slices.Clone(b.sides)}
	near.sides[long], far.sides[long] = b.sides[long][:n/2], b.sides[long][n/2:]
	return []box{far, near}
}

// runs parts the other values of a column into runs within which the answer only
// rises or falls with the number, each from where the row is now: one of each
// value, unless every number counts, as along a line.
func (s *changeSearch) runs(column int) [][]option {
	options := s.options[column]
	var all [][]option
	name := s.part.Schema().Attributes[column].Name
	if !s.choices.lines[name] {
		for i := range options {
			all = append(all, options[i:i+1])
		}
		return all
	}
	now := s.table.Columns[column].Floats[s.row]
	cuts := s.choices.cuts[name]
	of := func(o option) (interval int, below bool) {
		at, _ := slices.BinarySearch(cuts, o.value.number)
		return at, o.value.number < now
	}
	for from := 0; from < len(options); {
		to := from + 1
		at, below := of(options[from])
		for ; to < len(options); to++ {
			if a, b := of(options[to]); a != at || b != below {
				break
			}
		}
		run := slices.Clone(options[from:to])
		if below {
			slices.Reverse(run)
		}
		all, from = append(all, run), to
	}
	return all
}

// flush asks the model for the answers to what is pending.
func (s *changeSearch) flush() error {
	for len(s.pending) > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if err := s.look(); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// look asks for the answers at the corners of the boxes that came last. A box is
// done with if none has the answer that is wanted, or the cheapest has; else what
// has it is kept, and the halves are pending.
func (s *changeSearch) look() error {
	var attempts []attempt
	var boxes []box
	var corners []int // how many of each box
	for len(s.pending) > 0 && len(attempts) < tryAtOnce {
		b := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		if s.dearer(b.columns, b.corner(0).cost()) {
			continue
		}
		all := b.corners()
		for _, n := range all {
			attempts = append(attempts, b.corner(n))
		}
		boxes, corners = append(boxes, b), append(corners, len(all))
	}
	if len(attempts) == 0 {
		return nil
	}
	s.tried += len(attempts)
	changed, out, err := s.answers(attempts)
	if err != nil {
		return err
	}
	at := 0
	for i := range boxes {
		some, cheapest := false, s.wanted(out, at)
		for k := range corners[i] {
			if s.wanted(out, at+k) {
				s.keep(changed, out, at+k, attempts[at+k])
				some = true
			}
		}
		if at += corners[i]; some && !cheapest {
			s.pending = append(s.pending, boxes[i].halves()...)
		}
	}
	return nil
}

// dearer reports whether a change costs more than one of the same columns that was
// found.
func (s *changeSearch) dearer(columns []int, cost float64) bool {
	at := slices.IndexFunc(s.found, func(c Change) bool { return slices.Equal(c.columns, columns) })
	return at >= 0 && s.found[at].Cost < cost
}
