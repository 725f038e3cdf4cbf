package cover

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
)

// ITRULE (Smyth and Goodman 1992) looks at all rules of up to so many tests, and
// keeps those that tell most by their J-measure. A conjunction need not be made
// longer if even the best of what it covers, all rows of a class or none of
// them, would tell less than the rules that are kept already.

const (
	itruleTests = 3   // tests of a rule unless told otherwise
	itruleKept  = 200 // rules that are kept
	itruleCuts  = 8   // thresholds of a column of numbers, at equal shares of the rows
)

// J is the J-measure in bits of a rule that covers rows of the weight of which a
// part is of its class, among all rows and all of its class.
func J(right, covered, class, all float64) float64 {
	if covered <= 0 || all <= 0 {
		return 0
	}
	p, q := right/covered, class/all
	return covered / all * (information(p, q) + information(1-p, 1-q))
}

// information is p·log₂(p/q).
func information(p, q float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log2(p/q)
}

// bestJ bounds the J-measure of every rule that covers some of these rows: at
// best it covers those of the class alone, or those of the others alone.
func bestJ(right, covered, class, all float64) float64 {
	return max(J(right, right, class, all), J(0, covered-right, class, all))
}

// literal is a test with the rows that satisfy it.
type literal struct {
	condition
	rows bits.Set
}

// telling is a rule with what it tells.
type telling struct {
	learnt
	places []int // of its literals
	right  float64
	rows   float64
}

// itrule is the search for the rules of one class.
type itrule struct {
	*covering
	ctx      context.Context
	literals []literal
	class    int
	of       bits.Set // rows of the class
	total    float64  // their weight
	all      float64
	kept     []telling // the best first
	visited  int
}

// itrule finds the rules that tell most about each class, and makes a list of
// them: the most accurate first, each of which is right on a row that those before
// it leave.
func (c *covering) itrule(ctx context.Context) ([]learnt, []stop, error) {
	if err := c.index(ctx); err != nil {
		return nil, nil, err
	}
	literals := c.literals()
	why := slices.Repeat([]stop{stopDefault}, c.classes)
	var found []telling
	order := c.wanted()
	for i, class := range order {
		s := &itrule{covering: c, ctx: ctx, literals: literals, class: class, of: bits.New(c.rowCount()), all: c.weigh(bits.Fill(c.rowCount()))}
		for r, of := range c.class {
			if int(of) == class {
				s.of.Put(r)
			}
		}
		s.total = c.weigh(s.of)
		if err := s.extend(nil, bits.Fill(c.rowCount())); err != nil {
			return nil, nil, err
		}
		found = append(found, s.kept...)
		why[class] = stopBest
		c.progress(float64(i+1) / float64(len(order)))
	}
	return c.chosen(found), why, nil
}

// literals are all tests that rules are made of.
func (c *covering) literals() []literal {
	var all []literal
	for j := range c.columns {
		col := &c.columns[j]
		if col.values == nil {
			for code := range int32(col.size) {
				all = append(all, literal{condition: condition{col: int32(j), form: is, code: code}})
			}
			continue
		}
		for cut := 1; cut <= itruleCuts; cut++ {
			rank := int32(cut*col.size/(itruleCuts+1)) - 1
			if rank < 0 || int(rank)+1 >= col.size {
				continue
			}
			threshold, ok := between(col.values[rank], col.values[rank+1])
			if !ok || len(all) > 0 && all[len(all)-1].col == int32(j) && all[len(all)-1].code == rank {
				continue
			}
			all = append(all, literal{condition: condition{col: int32(j), form: atMost, code: rank, threshold: threshold}},
				literal{condition: condition{col: int32(j), form: above, code: rank, threshold: threshold}})
		}
	}
	for i := range all {
		all[i].rows = bits.New(c.rowCount())
		for r, code := range c.columns[all[i].col].codes {
			if all[i].covers(code) {
				all[i].rows.Put(r)
			}
		}
	}
	return all
}

// extend tries every conjunction that adds one of the later literals to some, and
// goes on from those whose extensions may still be kept.
func (s *itrule) extend(places []int, rows bits.Set) error {
	if s.visited++; s.visited%64 == 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	first := 0
	if len(places) > 0 {
		first = places[len(places)-1] + 1
	}
	most := s.settings.MaxTests
	if most == 0 {
		most = itruleTests
	}
	covered, right := bits.New(s.rowCount()), bits.New(s.rowCount())
	for i := first; i < len(s.literals); i++ {
		if slices.ContainsFunc(places, func(p int) bool { return s.clash(p, i) }) {
			continue
		}
		bits.And(covered, rows, s.literals[i].rows)
		n := s.weigh(covered)
		if n < s.settings.MinRows {
			continue
		}
		bits.And(right, covered, s.of)
		k := s.weigh(right)
		longer := append(slices.Clone(places), i)
		if k >= s.settings.MinRows && k/n > s.total/s.all { // it speaks for the class
			s.keep(longer, k, n)
		}
		if len(longer) < most && bestJ(k, n, s.total, s.all) > s.least() {
			if err := s.extend(longer, covered); err != nil {
				return err
			}
		}
	}
	return nil
}

// clash reports whether two literals do not go together: on the same names, or on
// the same side of numbers.
func (s *itrule) clash(a, b int) bool {
	x, y := &s.literals[a], &s.literals[b]
	return x.col == y.col && (x.form == is || x.form == y.form)
}

// least is the J-measure that a rule must exceed.
func (s *itrule) least() float64 {
	if len(s.kept) < itruleKept {
		return 0
	}
	return s.kept[len(s.kept)-1].measure
}

// keep puts a rule among the best. Of equals the shorter and earlier one is.
func (s *itrule) keep(places []int, right, rows float64) {
	j := J(right, rows, s.total, s.all)
	if j <= s.least() {
		return
	}
	t := telling{learnt{class: s.class, measure: j}, places, right, rows}
	for _, p := range places {
		t.tests = append(t.tests, s.literals[p].condition)
	}
	at, _ := slices.BinarySearchFunc(s.kept, t, func(a, b telling) int {
		return cmp.Or(-cmp.Compare(a.measure, b.measure), cmp.Compare(len(a.places), len(b.places)), slices.Compare(a.places, b.places))
	})
	s.kept = slices.Insert(s.kept, at, t)
	if len(s.kept) > itruleKept {
		s.kept = s.kept[:itruleKept]
	}
}

// chosen orders rules by their accuracy and leaves out those that are right on no
// row that is left.
func (c *covering) chosen(found []telling) []learnt {
	accuracy := func(t *telling) float64 { return Laplace(t.right, t.rows, c.classes) }
	slices.SortStableFunc(found, func(a, b telling) int {
		return cmp.Or(-cmp.Compare(accuracy(&a), accuracy(&b)), -cmp.Compare(a.measure, b.measure))
	})
	left, fresh := bits.Fill(c.rowCount()), bits.New(c.rowCount())
	var list []learnt
	for i := range found {
		rows := c.cover(found[i].tests)
		bits.And(fresh, rows, left)
		useful := false
		for r := range fresh.All {
			useful = useful || int(c.class[r]) == found[i].class
		}
		if useful {
			list = append(list, found[i].learnt)
			bits.AndNot(left, left, rows)
		}
	}
	return list
}
