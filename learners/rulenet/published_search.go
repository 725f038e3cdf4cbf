package rulenet

import (
	"context"
	"math"
	mathbits "math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
)

// conjunction is a rule in the making: tests sorted by column, concluding the
// class of its search.
type conjunction []test

func (c conjunction) equal(d conjunction) bool { return slices.Equal(c, d) }

// key identifies a conjunction: the sum of its tests' hashes, twice.
type key [2]uint64

func (t test) key() key {
	h := scramble(uint64(uint32(t.col))<<40 ^ uint64(uint32(t.lo))<<20 ^ uint64(uint32(t.hi)) ^ uint64(t.form)<<62)
	return key{h, scramble(h ^ 0x6a09e667f3bcc909)}
}

func (c conjunction) key() key {
	var sum key
	for _, t := range c {
		k := t.key()
		sum[0] += k[0]
		sum[1] += k[1]
	}
	return sum
}

// scramble spreads a number over all bits (the finaliser of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tieBreak says which of equally good children a climb goes on with.
type tieBreak uint8

const (
	byInformation tieBreak = iota // drop the test that says least of the class by itself
	byChance                      // any, by the seed
	byPosition                    // the first column's
)

// search is the climbs for one class: from an example with all its values to
// the rule of greatest J that removing one test after the other reaches.
type search struct {
	*examples
	counter *counter
	class   int
	ties    tieBreak
	seed    uint64

	logClass, logOther float64     // log2 p(x), log2 p(¬x)
	firstJ             [][]float64 // of each column: J by itself of code lo, or of lo*levels+hi if ordered

	mutex sync.RWMutex
	ends  map[key]conjunction // where the climb from a conjunction ends
}

func newSearch(s *examples, l *counter, class int, ties tieBreak, seed uint64) *search {
	x := &search{examples: s, counter: l, class: class, ties: ties, seed: seed, ends: map[key]conjunction{}}
	s.ranks()
	x.prepare()
	return x
}

// prepare prepares the search for the weights of now.
func (x *search) prepare() {
	clear(x.ends)
	p := float64(x.counter.class[x.class]) / float64(x.counter.total)
	x.logClass, x.logOther = math.Log2(p), math.Log2(1-p)
	if x.ties == byInformation {
		x.measureTests()
	}
}

// ranks returns the place of each column among their names in order.
func (s *examples) ranks() []int32 {
	s.ranking.Do(func() {
		names := s.schema.Names()
		order := make([]int, len(names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
		s.rank = make([]int32, len(names))
		for place, i := range order {
			s.rank[i] = int32(place)
		}
	})
	return s.rank
}

// small numbers' n·log2 n, which the measure of most rules is made of.
var nLogN = func() (table [1 << 14]float64) {
	for n := 2; n < len(table); n++ {
		table[n] = float64(n) * math.Log2(float64(n))
	}
	return table
}()

func xlogx(n int64) float64 {
	if n < int64(len(nLogN)) {
		return nLogN[n]
	}
	return float64(n) * math.Log2(float64(n))
}

// j returns the J-measure in bits of a rule that covers rows of the weight n,
// k of them of the class.
func (x *search) j(n, k int64) float64 {
	sum := xlogx(k) + xlogx(n-k) - xlogx(n)
	if k > 0 {
		sum -= float64(k) * x.logClass
	}
	if n > k {
		sum -= float64(n-k) * x.logOther
	}
	return sum / float64(x.counter.total)
}

// tolerance is how far two measures may be apart and count as the same.
const tolerance = 1e-12

// measureTests measures what each test says of the class by itself. An interval
// counts as what the best interval around it says, since it can be widened.
func (x *search) measureTests() {
	if x.firstJ == nil {
		x.firstJ = make([][]float64, len(x.bitmaps))
	}
	var n, k []int64 // of each code, from 1; of ordered ones up to it
	classes := x.classes()
	for col, sets := range x.bitmaps {
		n, k = zeroed(n, len(sets)+1), zeroed(k, len(sets)+1)
		for v := range sets {
			count := x.counter.byValue[col][v*classes : (v+1)*classes]
			k[v+1] = count[x.class]
			for _, w := range count {
				n[v+1] += w
			}
			if x.ordered(col) {
				n[v+1] += n[v]
				k[v+1] += k[v]
			}
		}
		levels := len(sets)
		size := levels
		if x.ordered(col) {
			size *= levels
		}
		info := zeroed(x.firstJ[col], size)
		if !x.ordered(col) {
			for v := range sets {
				info[v] = x.j(n[v+1], k[v+1])
			}
		} else {
			for a := range levels {
				for b := levels - 1; b >= a; b-- {
					best := x.j(n[b+1]-n[a], k[b+1]-k[a])
					if a > 0 {
						best = max(best, info[(a-1)*levels+b])
					}
					if b+1 < levels {
						best = max(best, info[a*levels+b+1])
					}
					info[a*levels+b] = best
				}
			}
		}
		x.firstJ[col] = info
	}
}

func (x *search) firstOrderJ(t test) float64 {
	if !x.ordered(int(t.col)) {
		return x.firstJ[t.col][t.lo]
	}
	return x.firstJ[t.col][int(t.lo)*len(x.bitmaps[t.col])+int(t.hi)]
}

// tally is the weight of covered rows: of the other classes, and of the class.
type tally [2]int64

const out, in = 0, 1

func (t tally) plus(u tally) tally { return tally{t[0] + u[0], t[1] + u[1]} }

// climber is what one goroutine needs to climb.
type climber struct {
	*search
	rule conjunction
	in   []bits.Set // of each test of the rule: its rows are in[i] less not[i]
	not  []bits.Set
	tallies
	path      []key
	key       key    // of the rule, for ties by chance
	row       int    // the example, where tests can come back
	additions []test // values of columns that the rule does not test as the example does
	equalSteps
}

// tallies are the counts of a rule and all its children.
type tallies struct {
	base      tally    // of the rule
	without   []tally  // of each test: rows that satisfy all the others and not it
	widenings []widths // of each test, if ordered: those of miss that widening would take in
	added     []tally  // of each test that could come back: rows of the rule that have it
}

// add adds the counts of the same rule over other rows.
func (t *tallies) add(u *tallies) {
	t.base = t.base.plus(u.base)
	for i := range u.without {
		t.without[i] = t.without[i].plus(u.without[i])
		for way := range u.widenings[i] {
			t.widenings[i][way] = t.widenings[i][way].plus(u.widenings[i][way])
		}
	}
	for i := range u.added {
		t.added[i] = t.added[i].plus(u.added[i])
	}
}

// set makes t a copy of other counts.
func (t *tallies) set(u *tallies) {
	t.base = u.base
	t.without = append(t.without[:0], u.without...)
	t.widenings = append(t.widenings[:0], u.widenings...)
	t.added = append(t.added[:0], u.added...)
}

// widths are the four ways to widen an interval: by one cut, or all the way.
type widths [4]tally

// widened returns the interval after one of the four, and whether there is
// one: that takes in something, and that is not the whole range, which is
// the same as dropping the test.
func (x *search) widened(t test, way int) (test, bool) {
	last := int32(len(x.bitmaps[t.col]) - 1)
	w := t
	switch way {
	case 0:
		w.lo--
	case 1:
		w.hi++
	case 2:
		w.lo = 0
	case 3:
		w.hi = last
	}
	ok := w.lo >= 0 && w.hi <= last && w != t && (w.lo > 0 || w.hi < last)
	if ok && way >= 2 { // the same as by one cut
		ok = t.lo-w.lo+w.hi-t.hi > 1
	}
	return w, ok
}

// climb returns the rule of an example: the conjunction of all its values,
// generalised as long as J does not fall; nil if the context ends.
//
//  1. Take the rule as the parent and measure it.
//  2. Its children are the rules with one test removed, or one interval
//     widened; measure them.
//  3. Choose the one of greatest J, of equal ones the most general.
//  4. If that is a child, go on with it as the parent; else stop.
func (c *climber) climb(ctx context.Context, example conjunction) conjunction {
	c.rule = append(c.rule[:0], example...)
	c.path = c.path[:0]
	var end conjunction
	for {
		k := c.rule.key()
		c.mutex.RLock()
		known, ok := c.ends[k]
		c.mutex.RUnlock()
		if ok {
			end = known
			break
		}
		if ctx.Err() != nil {
			return nil
		}
		c.path = append(c.path, k)
		c.count()
		if c.dropEqual() {
			continue
		}
		c.key = k
		if !c.step() {
			end = slices.Clone(c.rule)
			break
		}
	}
	c.mutex.Lock()
	for _, k := range c.path {
		c.ends[k] = end
	}
	c.mutex.Unlock()
	return end
}

// searchAgain runs the incremental search for rules that examples share: from a
// rule of an example, tests of the example that were removed may also come
// back, and widened intervals become the example's own again. Counted are the
// rule and its children over all rows. It gives the rule of each example that
// moves to set, asks count for the counts of the rules on the way, and returns
// the most iterations that one took.
func (c *climber) searchAgain(rule conjunction, counted *tallies, examples []int, count func(*climber), set func(example int, rule conjunction)) int {
	most := 1
	moved := true
	for _, row := range examples {
		if moved { // the counts are of another rule by now
			c.rule = append(c.rule[:0], rule...)
			c.listAdditions()
			c.tallies.set(counted)
		}
		c.row = row
		iterations := 1
		for moved = false; ; iterations++ {
			if c.ties == byChance {
				c.key = c.rule.key()
			}
			if !c.step() {
				break
			}
			moved = true
			c.listAdditions()
			count(c)
		}
		if moved {
			set(row, slices.Clone(c.rule))
		}
		most = max(most, iterations)
	}
	return most
}

// countRule counts a rule and its children, with tests to come back.
func (c *climber) countRule(rule conjunction) *tallies {
	c.rule = append(c.rule[:0], rule...)
	c.listAdditions()
	c.count()
	return &c.tallies
}

// listAdditions lists the tests that could be added to the rule.
func (c *climber) listAdditions() {
	c.additions = c.additions[:0]
	for col := range c.codes {
		levels := int32(c.levels(col))
		if c.codes[col] == nil || c.ordered(col) && levels < 2 {
			continue
		}
		own := test{col: int32(col), hi: levels - 1}
		for _, t := range c.rule {
			if int(t.col) == col {
				own = t
			}
		}
		if own.lo == own.hi && levels > 1 {
			continue // as narrow as can be
		}
		for v := own.lo; v <= own.hi; v++ {
			if t := (test{col: int32(col), lo: v, hi: v}); !slices.Contains(c.rule, t) {
				c.additions = append(c.additions, t)
			}
		}
	}
}

// child is a way to change the rule.
type child struct {
	j     float64
	order int // change of the rule's order
	width int // codes that widening takes in
	test  int // of the rule, or of those to add back if order is +1
	to    test
	tie   float64
	place int32
}

// better reports whether a child is to be chosen over another: greater J,
// then the more general, then by the tie break.
func (a *child) better(b *child) bool {
	switch {
	case math.Abs(a.j-b.j) > tolerance:
		return a.j > b.j
	case a.order != b.order:
		return a.order < b.order
	case a.width != b.width:
		return a.width > b.width
	case a.tie != b.tie:
		return a.tie < b.tie
	case a.place != b.place:
		return a.place < b.place
	}
	return a.to.lo < b.to.lo
}

// step replaces the rule by the best of it and its children. It returns false
// if that is the rule itself.
func (c *climber) step() bool {
	best := child{j: c.j(c.base[in]+c.base[out], c.base[in]), test: -1}
	same := best.j
	try := func(n tally, one child, t test) {
		if one.j = same; n != c.base {
			one.j = c.j(n[in]+n[out], n[in])
		}
		if one.j < best.j-tolerance {
			return
		}
		one.place, one.tie = c.rank[t.col], c.tie(t)
		if one.better(&best) {
			best = one
		}
	}
	for i, t := range c.rule {
		try(c.base.plus(c.without[i]), child{order: -1, test: i}, t)
	}
	for i, t := range c.rule {
		if !c.ordered(int(t.col)) {
			continue
		}
		for way, extra := range c.widenings[i] {
			if extra == (tally{}) && best.order < 0 {
				continue // as good as the rule, to which a more general one was preferred
			}
			if w, ok := c.widened(t, way); ok {
				try(c.base.plus(extra), child{width: int(w.hi - w.lo - t.hi + t.lo), test: i, to: w}, t)
			}
		}
	}
	for i, t := range c.additions {
		if c.codes[t.col][c.row] == t.lo { // the example's own
			try(c.added[i], child{order: 1, test: i, to: t}, t)
		}
	}
	switch {
	case best.test < 0:
		return false
	case best.order < 0:
		c.rule = slices.Delete(c.rule, best.test, best.test+1)
	case best.order > 0:
		i, found := slices.BinarySearchFunc(c.rule, best.to.col, func(t test, col int32) int { return int(t.col - col) })
		if found {
			c.rule[i] = best.to // an interval becomes the example's own again
		} else {
			c.rule = slices.Insert(c.rule, i, best.to)
		}
	default:
		c.rule[best.test] = best.to
	}
	return true
}

// tie returns what decides between changes of tests that are equally good: the
// least is chosen.
func (c *climber) tie(t test) float64 {
	switch c.ties {
	case byInformation:
		return c.firstOrderJ(t)
	case byPosition:
		return float64(t.col)
	}
	own := t.key()
	return float64(scramble(c.key[0]^own[1]^c.seed) >> 11)
}

// count weighs the rows that the rule and its children cover, all in one pass
// over the bitmaps: a row that fails no test is covered by all of them, one
// that fails a single test by the child without that test.
func (c *climber) count() {
	c.in, c.not = c.in[:0], c.not[:0]
	for _, t := range c.rule {
		in, not := c.bitmapsOf(t)
		c.in, c.not = append(c.in, in), append(c.not, not)
	}
	if len(c.rule) >= longRule {
		c.few = zeroed(c.few, len(c.valid))
	}
	c.base = tally{}
	c.without = zeroed(c.without, len(c.rule))
	c.widenings = zeroed(c.widenings, len(c.rule))
	c.added = zeroed(c.added, len(c.additions))
	lo, hi := c.firstWord[c.class], c.firstWord[c.class+1]
	c.scan(0, lo, out)
	c.scan(lo, hi, in)
	c.scan(hi, len(c.valid), out)
}

func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// scan adds the rows of some words to one side of the tallies.
func (c *climber) scan(lo, hi, side int) {
	const all = ^uint64(0)
	var one [laneWords]uint64
	for at := lo; at < hi; at += laneWords {
		v := c.valid[at : at+laneWords : at+laneWords]
		// Rows that fail at least one test, and at least two.
		a0, a1, a2, a3 := ^v[0], ^v[1], ^v[2], ^v[3]
		b0, b1, b2, b3 := a0, a1, a2, a3
		for i, set := range c.in {
			s := set[at : at+laneWords : at+laneWords]
			x0, x1, x2, x3 := ^s[0], ^s[1], ^s[2], ^s[3]
			if not := c.not[i]; not != nil {
				s := not[at : at+laneWords : at+laneWords]
				x0, x1, x2, x3 = x0|s[0], x1|s[1], x2|s[2], x3|s[3]
			}
			b0, b1, b2, b3 = b0|a0&x0, b1|a1&x1, b2|a2&x2, b3|a3&x3
			a0, a1, a2, a3 = a0|x0, a1|x1, a2|x2, a3|x3
			if b0&b1&b2&b3 == all {
				break
			}
		}
		if b0&b1&b2&b3 == all {
			continue
		}
		if len(c.rule) >= longRule {
			copy(c.few[at:at+laneWords], []uint64{^b0, ^b1, ^b2, ^b3})
		}
		one = [laneWords]uint64{^a0, ^a1, ^a2, ^a3}
		if one[0]|one[1]|one[2]|one[3] != 0 {
			c.base[side] += c.counter.countLane(&one, at)
			if len(c.additions) > 0 {
				c.countAdditions(one, at, side)
			}
		}
		r0, r1, r2, r3 := a0&^b0, a1&^b1, a2&^b2, a3&^b3 // rows that fail one test
		for i, set := range c.in {
			if r0|r1|r2|r3 == 0 {
				break
			}
			s := set[at : at+laneWords : at+laneWords]
			x0, x1, x2, x3 := r0&^s[0], r1&^s[1], r2&^s[2], r3&^s[3]
			if not := c.not[i]; not != nil {
				s := not[at : at+laneWords : at+laneWords]
				x0, x1, x2, x3 = x0|r0&s[0], x1|r1&s[1], x2|r2&s[2], x3|r3&s[3]
			}
			if x0|x1|x2|x3 == 0 {
				continue
			}
			r0, r1, r2, r3 = r0&^x0, r1&^x1, r2&^x2, r3&^x3
			if c.counter.planes == nil {
				c.without[i][side] += int64(mathbits.OnesCount64(x0) + mathbits.OnesCount64(x1) + mathbits.OnesCount64(x2) + mathbits.OnesCount64(x3))
			} else {
				one = [laneWords]uint64{x0, x1, x2, x3}
				c.without[i][side] += c.counter.countLane(&one, at)
			}
			if t := c.rule[i]; c.ordered(int(t.col)) {
				c.countWidenings(i, t, [laneWords]uint64{x0, x1, x2, x3}, at, side)
			}
		}
	}
}

// countAdditions adds rows of the rule to the tests that could come back.
func (c *climber) countAdditions(rows [laneWords]uint64, at, side int) {
	for i, t := range c.additions {
		taken := rows
		c.restrict(&taken, t, at)
		c.added[i][side] += c.counter.countLane(&taken, at)
	}
}

// restrict leaves the rows that satisfy a test.
func (c *climber) restrict(rows *[laneWords]uint64, t test, at int) {
	in, not := c.bitmapsOf(t)
	for w, x := range in[at : at+laneWords] {
		rows[w] &= x
	}
	if not != nil {
		for w, x := range not[at : at+laneWords] {
			rows[w] &^= x
		}
	}
}

// countWidenings adds the rows that fail only an ordered test to the ways of widening
// it that would take them in.
func (c *climber) countWidenings(i int, t test, rows [laneWords]uint64, at, side int) {
	for way := range c.widenings[i] {
		if w, ok := c.widened(t, way); ok {
			taken := rows
			c.restrict(&taken, w, at)
			c.widenings[i][way][side] += c.counter.countLane(&taken, at)
		}
	}
}

// initialRule returns the conjunction of all known values of a distinct row.
func (s *examples) initialRule(row int) conjunction {
	c := make(conjunction, 0, len(s.codes))
	for col, codes := range s.codes {
		if codes == nil || codes[row] < 0 || s.ordered(col) && s.levels(col) < 2 {
			continue
		}
		c = append(c, test{col: int32(col), lo: codes[row], hi: codes[row]})
	}
	return c
}

// foundRule is a rule that templates ended in.
type foundRule struct {
	class     int
	rule      conjunction
	templates float64 // weight of the templates
	round     int     // of growth, 0 for the published search
}

// climbEach returns where the climb from each template ends.
func climbEach(ctx context.Context, searches []*search, templates []template) ([]conjunction, error) {
	ends := make([]conjunction, len(templates))
	const batch = 16
	if len(templates) == 1 {
		c := climber{search: searches[templates[0].class]}
		ends[0] = c.climb(ctx, c.initialRule(templates[0].row))
		return ends, ctx.Err()
	}
	err := learn.Each(ctx, (len(templates)+batch-1)/batch, func(b int) {
		var c climber
		for i := b * batch; i < min((b+1)*batch, len(templates)); i++ {
			c.search = searches[templates[i].class]
			ends[i] = c.climb(ctx, c.initialRule(templates[i].row))
		}
	})
	return ends, err
}

// climbAll climbs from templates, each a distinct row with the weight it
// stands for, and puts equal rules together, in the order of the templates.
func climbAll(ctx context.Context, searches []*search, templates []template) ([]foundRule, error) {
	ends, err := climbEach(ctx, searches, templates)
	if err != nil {
		return nil, err
	}
	type name struct {
		key   key
		class int
	}
	index := map[name]int{}
	var rules []foundRule
	for i, end := range ends {
		n := name{end.key(), templates[i].class}
		at, ok := index[n]
		if !ok {
			at = len(rules)
			index[n] = at
			rules = append(rules, foundRule{class: n.class, rule: end})
		}
		rules[at].templates += templates[i].weight
	}
	return rules, nil
}

// template is a distinct row to climb from.
type template struct {
	row, class int
	weight     float64
}
