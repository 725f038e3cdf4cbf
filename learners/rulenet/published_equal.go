package rulenet

import (
	"container/heap"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
)

// longRule is the order from which equal steps are taken at once.
const longRule = 24

// equalSteps is what it takes to take equal steps at once.
type equalSteps struct {
	few               bits.Set   // rows that fail at most one test of a long rule
	free              freeTests  // whose place is not known yet
	last              []freeTest // those that would be dropped last, the very last first
	fixedIn, fixedNot []bits.Set // of the tests that some row fails alone
}

// freeTest is a test that no row fails alone, so that the rule without it
// covers the same rows.
type freeTest struct {
	at    int // in the rule
	tie   float64
	place int32
}

// freeTests is a heap of tests, the one that the tie break drops last on top.
type freeTests []freeTest

func (f freeTests) Len() int      { return len(f) }
func (f freeTests) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f freeTests) Less(i, j int) bool {
	if f[i].tie != f[j].tie {
		return f[i].tie > f[j].tie
	}
	return f[i].place > f[j].place
}
func (f *freeTests) Push(x any) { *f = append(*f, x.(freeTest)) }
func (f *freeTests) Pop() any {
	*f = (*f)[:len(*f)-1]
	return nil
}

// dropEqual takes equal steps at once. A long rule covers little but its own
// example and loses nearly all of its tests in ties: where all children that
// cover other rows are worse, the climb drops, one after the other, the free
// tests in the order of the tie break, up to the first after which some row
// comes to fail one test alone. Which one that is follows from the tests that
// would be dropped last: a row's last two failures say when. So a climb costs
// as much as its tests, and not as their square, and ends in the same rule. It
// needs the counts of the rule, and reports whether it dropped any test, after
// which they are no longer right.
func (c *climber) dropEqual() bool {
	if len(c.rule) < longRule || c.ties == byChance {
		return false
	}
	c.free, c.last, c.fixedIn, c.fixedNot = c.free[:0], c.last[:0], c.fixedIn[:0], c.fixedNot[:0]
	least := c.j(c.base[in]+c.base[out], c.base[in]) - tolerance
	for i, t := range c.rule {
		if c.without[i] == (tally{}) {
			c.free = append(c.free, freeTest{i, c.tie(t), c.rank[t.col]})
			continue
		}
		if !c.worse(c.without[i], least) {
			return false
		}
		for _, extra := range c.widenings[i] {
			if extra != (tally{}) && !c.worse(extra, least) {
				return false
			}
		}
		c.fixedIn, c.fixedNot = append(c.fixedIn, c.in[i]), append(c.fixedNot, c.not[i])
	}
	if len(c.free) < longRule/2 {
		return false
	}
	heap.Init(&c.free)
	stay := 0
	for at := 0; at < len(c.valid); at += laneWords {
		stay = max(stay, c.stay(at))
	}
	for _, f := range c.last[stay:] {
		c.rule[f.at].col = -1
	}
	for _, f := range c.free {
		c.rule[f.at].col = -1
	}
	c.rule = slices.DeleteFunc(c.rule, func(t test) bool { return t.col < 0 })
	return true
}

// worse reports whether a child that covers more rows has less than some J.
func (c *climber) worse(more tally, least float64) bool {
	n := c.base.plus(more)
	return c.j(n[in]+n[out], n[in]) < least
}

// stay returns how many of the free tests are left when a row of a lane first
// comes to fail one test alone, which none of those in few does.
func (c *climber) stay(at int) int {
	const all = ^uint64(0)
	// Rows that fail at least one test, and at least two.
	var a, b [laneWords]uint64
	for w, valid := range c.valid[at : at+laneWords] {
		b[w] = ^valid | c.few[at+w]
	}
	fail := func(in, not bits.Set) (changed bool) {
		for w, x := range in[at : at+laneWords : at+laneWords] {
			x = ^x
			if not != nil {
				x |= not[at+w]
			}
			changed = changed || a[w]&x&^b[w] != 0
			b[w] |= a[w] & x
			a[w] |= x
		}
		return changed
	}
	for i := range c.fixedIn {
		if b[0]&b[1]&b[2]&b[3] == all {
			return 0
		}
		fail(c.fixedIn[i], c.fixedNot[i])
	}
	stay := 0
	for p := 0; b[0]&b[1]&b[2]&b[3] != all && p < len(c.last)+len(c.free); p++ {
		if p == len(c.last) {
			c.last = append(c.last, c.free[0])
			heap.Pop(&c.free)
		}
		if i := c.last[p].at; fail(c.in[i], c.not[i]) {
			stay = p
		}
	}
	return stay
}
