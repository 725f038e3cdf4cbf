package relation

import "slices"

// sweep counts, for every rank of a number, what a cut there leaves.
type sweep struct {
	f     *search
	above []counts // by the greatest rank of a binding, a parent or an example
	below []counts // by the least
	all   counts   // of bindings that have no number, too
}

// span is the least and greatest rank of a group of bindings; -1 is none.
type span struct {
	id          int32
	least, most int32
}

func (s *span) add(least, most int32) {
	if least < 0 {
		return
	}
	if s.most < 0 {
		s.least, s.most = least, most
		return
	}
	s.least, s.most = min(s.least, least), max(s.most, most)
}

// cuts offers every cut of a number: above and at most, and that it is not so, which
// holds where there is no number, too.
func (f *search) cuts(s *state, prefix []literal, r *relation, args []int, c *chosen) {
	rank, distinct := r.ranked()
	if len(distinct) == 0 {
		return
	}
	w := &sweep{f: f, above: make([]counts, len(distinct)), below: make([]counts, len(distinct))}
	l := literal{relation: r, args: slices.Clone(args)}
	w.run(s, &l, rank)
	// From counts at each rank to counts beyond it.
	for i := len(distinct) - 2; i >= 0; i-- {
		w.above[i].add(w.above[i+1])
	}
	for i := 1; i < len(distinct); i++ {
		w.below[i].add(w.below[i-1])
	}
	for i := range len(distinct) - 1 {
		l.op, l.cut, l.negated = above, distinct[i], false
		c.offer(append(slices.Clip(prefix), l), w.above[i+1])
		if f.options.negation {
			l.negated = true
			f.unless(s, l, w.all, w.above[i+1], prefix, c)
		}
		l.op, l.negated = atMost, false
		c.offer(append(slices.Clip(prefix), l), w.below[i])
		if f.options.negation {
			l.negated = true
			f.unless(s, l, w.all, w.below[i], prefix, c)
		}
	}
}

// unless offers the negation of a cut where each example has one binding; where they
// have more, the clause says it of one of them, and aggregates of all.
func (f *search) unless(s *state, l literal, all, n counts, prefix []literal, c *chosen) {
	if all.p == all.ep && all.n == all.en && len(prefix) == 0 {
		f.negate(s, l, all, n, prefix, c)
	}
}

func (c *counts) add(o counts) {
	c.p += o.p
	c.n += o.n
	c.kept += o.kept
	c.ep += o.ep
	c.en += o.en
}

// run goes through the bindings once.
func (w *sweep) run(s *state, l *literal, rank []int32) {
	f := w.f
	all := newTally()
	parent, example := span{-1, -1, -1}, span{-1, -1, -1}
	endParent := func(e int32) {
		if parent.most >= 0 && f.positive[e] {
			w.above[parent.most].kept += f.weight[e]
			w.below[parent.least].kept += f.weight[e]
		}
	}
	endExample := func(e int32) {
		if example.most < 0 {
			return
		}
		if weight := f.weight[e]; f.positive[e] {
			w.above[example.most].ep += weight
			w.below[example.least].ep += weight
		} else {
			w.above[example.most].en += weight
			w.below[example.least].en += weight
		}
	}
	ranks := l.ranker(s, rank)
	for b, e := range s.example {
		all.add(f, s, b)
		if b > 0 && s.parent[b] != parent.id {
			endParent(s.example[b-1])
		}
		if b > 0 && e != example.id {
			endExample(example.id)
		}
		if b == 0 || s.parent[b] != parent.id {
			parent = span{s.parent[b], -1, -1}
		}
		if b == 0 || e != example.id {
			example = span{e, -1, -1}
		}
		least, most := ranks(b)
		if least < 0 {
			continue
		}
		if weight := f.weight[e]; f.positive[e] {
			w.above[most].p += weight
			w.below[least].p += weight
		} else {
			w.above[most].n += weight
			w.below[least].n += weight
		}
		parent.add(least, most)
		example.add(least, most)
	}
	if n := len(s.example); n > 0 {
		endParent(s.example[n-1])
		endExample(s.example[n-1])
	}
	w.all = all.counts
}

// ranker returns the least and greatest rank of the numbers that a literal finds for a
// binding, -1 if there is none.
func (l *literal) ranker(s *state, rank []int32) func(b int) (least, most int32) {
	spread := func(tuples []int32, fits func(int32) bool) (int32, int32) {
		least, most := int32(-1), int32(-1)
		for _, tuple := range tuples {
			if k := rank[tuple]; k >= 0 && (fits == nil || fits(tuple)) {
				if least < 0 || k < least {
					least = k
				}
				most = max(most, k)
			}
		}
		return least, most
	}
	if len(l.args) == 1 && l.args[0] >= 0 { // a number of one thing
		x, codes := l.relation.indexed(0), s.columns[l.args[0]]
		return func(b int) (int32, int32) {
			c := codes[b]
			if c < 0 || int(c)+1 >= len(x.start) {
				return -1, -1
			}
			if x.most == 1 {
				if at := x.start[c]; at < x.start[c+1] {
					k := rank[x.rows[at]]
					return k, k
				}
				return -1, -1
			}
			return spread(x.rows[x.start[c]:x.start[c+1]], nil)
		}
	}
	binding := make([]int32, 0, len(s.columns))
	return func(b int) (int32, int32) {
		binding = s.binding(b, binding)
		return spread(l.candidates(binding, len(binding)), func(tuple int32) bool { return l.fits(tuple, binding, len(binding)) })
	}
}
