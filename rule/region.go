package rule

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// A conjunction of tests on single columns is a product of sets, one set of
// cells a column; so one conjunction implies another where each of its sets
// lies in the other's, and two overlap where every pair of sets does. The
// functions of this file decide that exactly, over all float64 numbers, all
// nominal values (also such as no dictionary has), and missing cells.
//
// Half-spaces and m-of-n tests speak of several columns at once. They are
// judged by bounds: what the bounds do not settle counts as possible overlap
// and as no subsumption. So Subsumes never says yes, and Overlap never says
// no, without a reason.

// Subsumes reports whether every row that satisfies all tests of b satisfies
// all tests of a: a is the more general. With a nil schema, a column is
// numeric if a test on it asks for an order.
func Subsumes(a, b []Test, schema *table.Schema) bool {
	kinds := kindsOf(schema, a, b)
	narrow := newRegion(kinds, b)
	if narrow.empty() {
		return true
	}
	wide := newRegion(kinds, a)
	for _, c := range wide.columns {
		if !c.contains(narrow.cells(c.column)) {
			return false
		}
	}
	for i := range wide.rest {
		if _, surely := narrow.judge(&wide.rest[i]); !surely {
			return false
		}
	}
	return true
}

// Overlap returns the conjunction of a and b, in normal form, and whether a
// row can satisfy it. Where only half-spaces or m-of-n tests could exclude
// each other and their bounds do not settle it, it reports true.
func Overlap(a, b []Test, schema *table.Schema) (region []Test, ok bool) {
	both := newRegion(kindsOf(schema, a, b), slices.Concat(a, b))
	if both.empty() {
		return nil, false
	}
	return both.tests(), true
}

// Contradict reports whether two rules answer differently for a row that
// satisfies both, and returns the conjunction of their tests. Answers differ
// if the rules conclude different classes with probabilities that sum to more
// than 1 (a rule without WITH is certain), one finds a class probable and the
// other improbable, or they conclude numbers whose intervals, mean ±
// deviation, do not meet. A distribution stands for its most probable class.
func Contradict(a, b *Rule, schema *table.Schema) (region []Test, ok bool) {
	if !disagree(a, b) {
		return nil, false
	}
	return Overlap(a.If, b.If, schema)
}

// weighs reports whether a conclusion adds to an answer instead of giving one.
func (c *Conclusion) weighs() bool { return c.Adds || len(c.By) > 0 }

func disagree(a, b *Rule) bool {
	x, y := &a.Then, &b.Then
	if x.Column != y.Column || x.Numeric != y.Numeric || x.weighs() || y.weighs() {
		return false
	}
	if x.Numeric {
		return math.Abs(x.Mean-y.Mean) > x.Deviation+y.Deviation
	}
	v, p := a.Answer()
	w, q := b.Answer()
	if v == w {
		return p > 0.5 && q < 0.5 || p < 0.5 && q > 0.5
	}
	return p+q > 1
}

// Answer returns the class that a rule concludes, and its probability. Of the
// equally probable classes of a distribution it is the first by name; of a BY
// it is the class that is moved most, whose probability the rule does not say.
func (r *Rule) Answer() (class string, p float64) {
	if len(r.Then.By) > 0 {
		return slices.MaxFunc(r.Then.By, byWeight).Value, math.NaN()
	}
	if len(r.Then.Classes) == 0 {
		return r.Then.Value, probability(r)
	}
	best := r.Then.Classes[0]
	for _, s := range r.Then.Classes[1:] {
		if s.P > best.P || s.P == best.P && s.Value < best.Value {
			best = s
		}
	}
	return best.Value, best.P
}

// Canonical returns the normal form of a conjunction: tests on one column are
// combined into one (two if an interval has holes), sets and columns are
// sorted, m-of-n tests that need all of their tests are dissolved.
// The same rows satisfy it as before. A conjunction that no row satisfies
// keeps its tests, sorted; so do tests on a column that may be of either kind
// and for which it would matter, as in x IN {1, 2} AND x != 1.0.
func Canonical(tests []Test) []Test {
	kinds := kindsOf(nil, tests)
	r := newRegion(kinds, tests)
	if r.empty() {
		return kinds.arrange(flatten(nil, tests))
	}
	return r.tests()
}

// Canonical returns the rule with its IF part in normal form.
func (r *Rule) Canonical() Rule {
	c := *r
	c.If = Canonical(r.If)
	return c
}

// kind is what is known of a column that tests name.
type kind uint8

const (
	nominalKind kind = iota
	numericKind
	doubtfulKind // no schema, and it would matter
)

// kinds tells the kinds of the columns that tests name: the schema's, or
// else what the tests show.
type kinds struct {
	schema *table.Schema
	shown  map[string]kind
}

func (k kinds) of(column string) kind {
	if k.schema == nil {
		return k.shown[column]
	}
	if i := k.schema.Index(column); i >= 0 && k.schema.Attributes[i].Kind == table.Numeric {
		return numericKind
	}
	return nominalKind
}

func kindsOf(schema *table.Schema, conjunctions ...[]Test) kinds {
	if schema != nil {
		return kinds{schema: schema}
	}
	shown := map[string]kind{}
	named := map[string]map[float64]string{} // by column, the values that are numbers
	var visit func(tests []Test)
	visit = func(tests []Test) {
		for i := range tests {
			t := &tests[i]
			switch t.Op {
			case Lt, Le, Gt, Ge, Between:
				shown[t.Column] = numericKind
			}
			for _, term := range t.Terms {
				shown[term.Column] = numericKind
			}
			for _, v := range values(t) {
				x, ok := parseNumber(v)
				if !ok {
					continue
				}
				if named[t.Column] == nil {
					named[t.Column] = map[float64]string{}
				}
				if text, ok := named[t.Column][x]; ok && text != v && shown[t.Column] != numericKind {
					shown[t.Column] = doubtfulKind
				}
				named[t.Column][x] = v
			}
			visit(t.Of)
		}
	}
	for _, tests := range conjunctions {
		visit(tests)
	}
	return kinds{shown: shown}
}

// region is a conjunction of tests: a set of cells for each column that it
// restricts, and the tests that no set of cells expresses.
type region struct {
	kinds   kinds
	columns []*cells // sorted by column
	rest    []Test
}

func newRegion(kinds kinds, tests []Test) *region {
	r := &region{kinds: kinds}
	for _, t := range flatten(nil, tests) {
		switch {
		case t.Op == HalfSpace:
			r.rest = append(r.rest, t)
			for _, term := range t.Terms {
				r.own(term.Column).known = true
			}
		case t.Op == Contains || t.Op == NotContains:
			r.rest = append(r.rest, t)
			r.own(t.Column).known = true
		case t.Op == AtLeast || !r.expresses(&t):
			r.rest = append(r.rest, t)
		default:
			r.own(t.Column).restrict(&t)
		}
	}
	r.rest = kinds.arrange(r.rest)
	for _, c := range r.columns {
		c.settle()
	}
	slices.SortFunc(r.columns, func(a, b *cells) int { return strings.Compare(a.column, b.column) })
	return r
}

// flatten appends tests, dissolving m-of-n tests with m = n.
func flatten(to, tests []Test) []Test {
	for _, t := range tests {
		if t.Op == AtLeast && t.Count == len(t.Of) {
			to = flatten(to, t.Of)
		} else {
			to = append(to, t)
		}
	}
	return to
}

// expresses reports whether a set of cells can stand for a test.
func (r *region) expresses(t *Test) bool {
	switch t.Op {
	case IsMissing, IsKnown:
		return true
	case Lt, Le, Gt, Ge, Between:
		return r.kinds.of(t.Column) == numericKind
	case Eq, Ne, In, NotIn:
		if r.kinds.of(t.Column) == numericKind {
			return !slices.ContainsFunc(values(t), func(v string) bool { _, ok := parseNumber(v); return !ok })
		}
		return r.kinds.of(t.Column) == nominalKind
	}
	return false
}

// own returns the cells of a column, to restrict them.
func (r *region) own(column string) *cells {
	for _, c := range r.columns {
		if c.column == column {
			return c
		}
	}
	c := newCells(column, r.kinds.of(column) == numericKind)
	r.columns = append(r.columns, c)
	return c
}

// cells returns the cells of a column that the region admits.
func (r *region) cells(column string) *cells {
	i, found := slices.BinarySearchFunc(r.columns, column, func(c *cells, name string) int { return strings.Compare(c.column, name) })
	if found {
		return r.columns[i]
	}
	return newCells(column, r.kinds.of(column) == numericKind)
}

// empty reports whether surely no row lies in the region.
func (r *region) empty() bool {
	for _, c := range r.columns {
		if c.empty {
			return true
		}
	}
	for i := range r.rest {
		if possible, _ := r.judge(&r.rest[i]); !possible {
			return true
		}
	}
	return false
}

// judge says of a test whether some row of the region may satisfy it, and
// whether every row surely does.
func (r *region) judge(t *Test) (possible, surely bool) {
	for i := range r.rest {
		if &r.rest[i] != t && equalTests(&r.rest[i], t) {
			return true, true
		}
		if opposite(&r.rest[i], t) {
			return false, false
		}
	}
	switch {
	case t.Op == HalfSpace:
		return r.judgeSum(t)
	case t.Op == AtLeast:
		may, must := 0, 0
		for i := range t.Of {
			possible, surely := r.judge(&t.Of[i])
			if possible {
				may++
			}
			if surely {
				must++
			}
		}
		return may >= t.Count, must >= t.Count
	case t.Op == Contains || t.Op == NotContains:
		return !r.cells(t.Column).missing, false
	case !r.expresses(t):
		return true, false
	}
	here := r.cells(t.Column)
	there := newCells(t.Column, here.numeric)
	there.restrict(t)
	there.settle()
	both := here.clone()
	both.restrict(t)
	both.settle()
	return !both.empty, there.contains(here)
}

// opposite reports whether two tests ask that a text has and has not a word.
func opposite(a, b *Test) bool {
	return (a.Op == Contains && b.Op == NotContains || a.Op == NotContains && b.Op == Contains) &&
		a.Column == b.Column && a.Value == b.Value
}

// judgeSum judges a half-space by the least and greatest values of its sum.
// Products and sums of float64 are monotone, rounding included, so a sum that
// is computed in the matcher's order from bounds bounds the matcher's sum.
func (r *region) judgeSum(t *Test) (possible, surely bool) {
	low, high, known := 0.0, 0.0, true
	for _, term := range t.Terms {
		c := r.cells(term.Column)
		if c.missing {
			return false, false
		}
		known = known && c.known
		from, to := c.bounds()
		x, y := float64(term.Factor*from), float64(term.Factor*to)
		low += min(x, y)
		high += max(x, y)
	}
	if math.IsNaN(low) || math.IsNaN(high) {
		return true, false // infinities of both signs, or times zero
	}
	if t.Below {
		return low <= t.Number, known && high <= t.Number
	}
	return high > t.Number, known && low > t.Number
}

// tests returns the normal form of the region.
func (r *region) tests() []Test {
	var tests []Test
	implied := map[string]bool{} // a half-space and CONTAINS say themselves that their cells are known
	for i := range r.rest {
		if op := r.rest[i].Op; op == Contains || op == NotContains {
			implied[r.rest[i].Column] = true
		}
		for _, term := range r.rest[i].Terms {
			implied[term.Column] = true
		}
	}
	for _, c := range r.columns {
		if c.unrestricted() && implied[c.column] {
			continue
		}
		tests = c.tests(tests)
	}
	return append(tests, r.rest...)
}

// arrange returns tests sorted by their text, each once, the tests of m-of-n
// tests normalised and sorted (but kept if repeated: they count twice).
func (k kinds) arrange(tests []Test) []Test {
	tests = slices.Clone(tests)
	for i := range tests {
		if tests[i].Op != AtLeast {
			continue
		}
		var of []Test
		for j := range tests[i].Of {
			one := tests[i].Of[j : j+1]
			if r := newRegion(k, one); !r.empty() && len(r.columns)+len(r.rest) == 1 {
				one = r.tests()
			}
			of = append(of, one[0])
		}
		slices.SortStableFunc(of, byText)
		tests[i].Of = of
	}
	slices.SortStableFunc(tests, byText)
	return slices.CompactFunc(tests, func(a, b Test) bool { return equalTests(&a, &b) })
}

func byText(a, b Test) int { return strings.Compare(a.String(), b.String()) }

// cells is a set of cells of one column: missing ones only, known ones only,
// or both; and of the known ones either those listed or, with listed false,
// all but those listed. Numeric cells also lie from low to high, both
// included.
type cells struct {
	column         string
	numeric        bool
	missing, known bool
	listed         bool
	names          []string  // nominal, sorted
	points         []float64 // numeric, sorted
	low, high      float64
	empty          bool
}

func newCells(column string, numeric bool) *cells {
	return &cells{column: column, numeric: numeric, low: math.Inf(-1), high: math.Inf(1)}
}

func (c *cells) clone() *cells {
	d := *c
	return &d // the slices are replaced, never changed
}

// restrict keeps the cells that satisfy a test.
func (c *cells) restrict(t *Test) {
	if t.Op == IsMissing {
		c.missing = true
		return
	}
	c.known = true
	switch t.Op {
	case Eq, In, Ne, NotIn:
		only := t.Op == Eq || t.Op == In
		if c.numeric {
			c.points = choose(c.listed, c.points, only, numbers(t))
		} else {
			named := slices.Clone(values(t))
			slices.Sort(named)
			c.names = choose(c.listed, c.names, only, slices.Compact(named))
		}
		c.listed = c.listed || only
	case Lt, Le, Gt, Ge, Between:
		low, high := span(t)
		c.low, c.high = max(c.low, low), min(c.high, high)
	}
}

// choose intersects two sets that are each given by a sorted list: of what is
// in it, or of what is not. The result is listed if either is.
func choose[T cmp.Ordered](listed bool, have []T, only bool, want []T) []T {
	in := func(list []T) func(T) bool {
		return func(x T) bool { _, found := slices.BinarySearch(list, x); return found }
	}
	switch {
	case listed && only:
		return filter(have, in(want), true)
	case listed:
		return filter(have, in(want), false)
	case only:
		return filter(want, in(have), false)
	}
	all := slices.Concat(have, want)
	slices.Sort(all)
	return slices.Compact(all)
}

func filter[T any](list []T, keep func(T) bool, is bool) []T {
	var kept []T
	for _, x := range list {
		if keep(x) == is {
			kept = append(kept, x)
		}
	}
	return kept
}

// settle brings the set into its normal form and finds out if it is empty.
func (c *cells) settle() {
	c.empty = c.missing && c.known
	if !c.numeric {
		c.empty = c.empty || c.listed && len(c.names) == 0
		return
	}
	inside := func(x float64) bool { return c.low <= x && x <= c.high }
	c.points = filter(c.points, inside, true)
	if c.listed {
		c.empty = c.empty || len(c.points) == 0
		c.low, c.high = math.Inf(-1), math.Inf(1)
		return
	}
	for len(c.points) > 0 && c.points[0] == c.low {
		c.low, c.points = after(c.low), c.points[1:]
	}
	for n := len(c.points); n > 0 && c.points[n-1] == c.high; n-- {
		c.high, c.points = before(c.high), c.points[:n-1]
	}
	c.empty = c.empty || c.low > c.high
	if c.low == c.high && finite(c.low) {
		c.listed, c.points = true, []float64{c.low + 0}
		c.low, c.high = math.Inf(-1), math.Inf(1)
	}
}

// bounds returns the least and the greatest known cell of a numeric column.
func (c *cells) bounds() (low, high float64) {
	if c.listed && len(c.points) > 0 {
		return c.points[0], c.points[len(c.points)-1]
	}
	return c.low, c.high
}

// contains reports whether every cell of d, which is settled and of the same
// column, is in c.
func (c *cells) contains(d *cells) bool {
	switch {
	case d.empty:
		return true
	case c.empty, c.missing && !d.missing, c.known && !d.known:
		return false
	case d.missing:
		return true
	case c.numeric:
		return c.containsNumbers(d)
	case d.listed:
		return !slices.ContainsFunc(d.names, func(x string) bool { return !has(c.listed, c.names, x) })
	case c.listed:
		return false // there are more names than any list holds
	}
	return !slices.ContainsFunc(c.names, func(x string) bool { return has(d.listed, d.names, x) })
}

func has[T cmp.Ordered](listed bool, list []T, x T) bool {
	_, found := slices.BinarySearch(list, x)
	return found == listed
}

func (c *cells) hasNumber(x float64) bool {
	return c.low <= x && x <= c.high && has(c.listed, c.points, x)
}

func (c *cells) containsNumbers(d *cells) bool {
	if d.listed {
		return !slices.ContainsFunc(d.points, func(x float64) bool { return !c.hasNumber(x) })
	}
	if !c.listed {
		return c.low <= d.low && d.high <= c.high &&
			!slices.ContainsFunc(c.points, d.hasNumber)
	}
	// An interval lies in a list only if it holds no more float64 numbers
	// than the list, plus its own holes.
	for x, n := d.low, 0; n <= len(c.points)+len(d.points); x, n = after(x), n+1 {
		if d.hasNumber(x) && !c.hasNumber(x) {
			return false
		}
		if x == d.high {
			return true
		}
	}
	return false
}

// unrestricted reports whether all known cells are in the set.
func (c *cells) unrestricted() bool {
	return c.known && !c.missing && !c.listed && len(c.names) == 0 && len(c.points) == 0 &&
		math.IsInf(c.low, -1) && math.IsInf(c.high, 1)
}

// tests appends the tests that say what the set is.
func (c *cells) tests(to []Test) []Test {
	switch {
	case c.missing:
		return append(to, Test{Op: IsMissing, Column: c.column})
	case c.unrestricted():
		return append(to, Test{Op: IsKnown, Column: c.column})
	}
	if t, ok := c.interval(); ok {
		to = append(to, t)
	}
	texts := c.names
	if c.numeric {
		texts = make([]string, len(c.points))
		for i, x := range c.points {
			texts[i] = string(appendNumber(nil, x))
		}
	}
	one, many := Ne, NotIn
	if c.listed {
		one, many = Eq, In
	}
	switch len(texts) {
	case 0:
		return to
	case 1:
		return append(to, Test{Op: one, Column: c.column, Value: texts[0]})
	}
	return append(to, Test{Op: many, Column: c.column, Values: texts})
}

// interval returns the ordering test of the set, if it needs one.
func (c *cells) interval() (Test, bool) {
	low, lowClosed := shorter(c.low, before(c.low), false)
	high, highClosed := shorter(c.high, after(c.high), true)
	t := Test{Op: Between, Column: c.column, Low: low, High: high, LowClosed: lowClosed, HighOpen: !highClosed}
	below, above := !math.IsInf(c.low, -1), !math.IsInf(c.high, 1)
	switch {
	case below && above:
	case below && lowClosed:
		t = Test{Op: Ge, Column: c.column, Number: low}
	case below:
		t = Test{Op: Gt, Column: c.column, Number: low}
	case above && highClosed:
		t = Test{Op: Le, Column: c.column, Number: high}
	case above:
		t = Test{Op: Lt, Column: c.column, Number: high}
	default:
		return Test{}, false
	}
	return t, true
}

// shorter chooses how to write a bound: the closed end, or its neighbour as
// an open end. They are the same set, so the one with the shorter text is the
// one that was meant; prefer says whether that is the closed one when both
// are as short.
func shorter(closed, open float64, prefer bool) (bound float64, isClosed bool) {
	switch {
	case !finite(open):
		return closed, true
	case !finite(closed):
		return open, false
	}
	c, o := len(appendNumber(nil, closed)), len(appendNumber(nil, open))
	if c < o || c == o && prefer {
		return closed, true
	}
	return open, false
}
