package rule

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

// Matcher finds the rows that satisfy a conjunction of tests. Tests are
// compiled to column indexes, codes and bounds; matching allocates nothing.
// A Matcher is immutable and safe for concurrent use. Tables given to it have
// the columns of its schema, in this order; their dictionaries may go on
// where the schema's end.
//
// A test on a missing cell is false; only IS MISSING is true. A cell that is
// table.Unseen is known and differs from every value. A half-space is false
// where a cell is missing or where its sum is not a number, as with
// infinities of both signs.
type Matcher struct {
	tests []condition
}

// NewMatcher compiles tests about the columns of a schema. It refuses what
// Check refuses.
func NewMatcher(tests []Test, schema *table.Schema) (*Matcher, error) {
	return newNames(schema).matcher(tests)
}

// NewMatchers does so with several conjunctions, and looks through the schema once.
func NewMatchers(all [][]Test, schema *table.Schema) ([]*Matcher, error) {
	known := newNames(schema)
	matchers := make([]*Matcher, len(all))
	for i, tests := range all {
		var err error
		if matchers[i], err = known.matcher(tests); err != nil {
			return nil, err
		}
	}
	return matchers, nil
}

func (n *names) matcher(tests []Test) (*Matcher, error) {
	m := &Matcher{make([]condition, len(tests))}
	for i := range tests {
		if wrong := n.test(&tests[i]); wrong != nil {
			return nil, fmt.Errorf("test %d (%v): %s", i+1, tests[i], wrong.msg)
		}
		m.tests[i] = n.compile(&tests[i])
	}
	return m, nil
}

// block is the number of rows that are matched at a time: the words of a
// block stay in the fastest cache while tests are combined.
const block = 1024

const blockWords = block / 64

// Match makes into, which has room for the table's rows, the set of the rows
// that satisfy all tests.
func (m *Matcher) Match(t *table.Table, into bits.Set) {
	rows := t.Rows()
	into.Fill(rows)
	var words [blockWords]uint64
	for lo := 0; lo < rows; lo += block {
		hi := min(lo+block, rows)
		matched := into[lo/64 : bits.Words(hi)]
		for i := range m.tests {
			m.tests[i].match(t, lo, hi, words[:len(matched)])
			bits.And(matched, matched, words[:len(matched)])
			if !matched.Any() {
				break
			}
		}
	}
}

// MatchRow reports whether one row satisfies all tests.
func (m *Matcher) MatchRow(t *table.Table, row int) bool {
	for i := range m.tests {
		if !m.tests[i].holds(t, row) {
			return false
		}
	}
	return true
}

// form is how a compiled test is decided.
type form uint8

const (
	codeForm    form = iota // allowed[code+2]: any test on a nominal column
	spanForm                // low ≤ cell ≤ high
	pointForm               // the cell is one of the points
	otherForm               // the cell is known and none of the points
	missingForm             // the cell is missing
	sumForm                 // a half-space
	countForm               // m-of-n
	wordForm                // the text has the word, or with below has it not
)

// condition is a compiled test.
type condition struct {
	form      form
	below     bool
	column    int
	allowed   []uint8 // by code+2: unseen, missing, then the dictionary
	low, high float64 // spanForm; high is the bound of sumForm
	points    []float64
	word      int32
	terms     []summand
	count     int
	of        []condition
}

type summand struct {
	factor float64
	column int
}

// compile translates a test that has passed the check.
func (n *names) compile(t *Test) condition {
	switch t.Op {
	case HalfSpace:
		c := condition{form: sumForm, high: t.Number, below: t.Below, terms: make([]summand, len(t.Terms))}
		for i, term := range t.Terms {
			c.terms[i] = summand{term.Factor, n.columns[term.Column]}
		}
		return c
	case AtLeast:
		c := condition{form: countForm, count: t.Count, of: make([]condition, len(t.Of))}
		for i := range t.Of {
			c.of[i] = n.compile(&t.Of[i])
		}
		return c
	}
	column := n.columns[t.Column]
	switch n.schema.Attributes[column].Kind {
	case table.Nominal:
		return condition{form: codeForm, column: column, allowed: n.allowed(column, t)}
	case table.Text:
		return n.compileWord(column, t)
	}
	c := condition{form: spanForm, column: column}
	switch t.Op {
	case Eq, In:
		c.form, c.points = pointForm, numbers(t)
	case Ne, NotIn:
		c.form, c.points = otherForm, numbers(t)
	case IsKnown:
		c.form = otherForm
	case IsMissing:
		c.form = missingForm
	default:
		c.low, c.high = span(t)
	}
	return c
}

// compileWord translates a test on a text column. Words are lower case there;
// one that the dictionary does not have is in no row.
func (n *names) compileWord(column int, t *Test) condition {
	c := condition{form: wordForm, column: column, word: table.Missing}
	switch t.Op {
	case IsMissing:
		c.form = missingForm
	case IsKnown:
		c.below = true
	default:
		c.below = t.Op == NotContains
		if c.word = n.code(column, t.Value); c.word < 0 {
			c.word = n.code(column, strings.ToLower(t.Value))
		}
	}
	return c
}

// allowed returns for each code of a nominal column, and for unseen and
// missing cells, whether the test holds.
func (n *names) allowed(column int, t *Test) []uint8 {
	listed := uint8(0) // what the values of the test get
	if t.Op == Eq || t.Op == In {
		listed = 1
	}
	allowed := make([]uint8, 2+len(n.schema.Attributes[column].Values))
	for i := range allowed {
		allowed[i] = 1 - listed
	}
	for _, v := range values(t) {
		allowed[2+n.code(column, v)] = listed
	}
	allowed[1] = 0
	if t.Op == IsMissing {
		clear(allowed)
		allowed[1] = 1
	}
	return allowed
}

// values returns the values that a test on one column names.
func values(t *Test) []string {
	switch t.Op {
	case Eq, Ne:
		return []string{t.Value}
	case In, NotIn:
		return t.Values
	}
	return nil
}

// numbers returns the values of a test on a numeric column, sorted, each
// once.
func numbers(t *Test) []float64 {
	var points []float64
	for _, v := range values(t) {
		x, _ := parseNumber(v)
		points = append(points, x+0) // no negative zero
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// span returns the least and the greatest number that satisfy an ordering
// test. Closing the open ends at the neighbouring float64 makes all of them
// alike.
func span(t *Test) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch t.Op {
	case Lt:
		high = before(t.Number)
	case Le:
		high = t.Number
	case Gt:
		low = after(t.Number)
	case Ge:
		low = t.Number
	case Between:
		low, high = t.Low, t.High
		if !t.LowClosed {
			low = after(low)
		}
		if t.HighOpen {
			high = before(high)
		}
	}
	return low, high
}

func after(x float64) float64  { return math.Nextafter(x, math.Inf(1)) }
func before(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// bit returns 1 for true. The compiler makes it one instruction, without a
// branch that mispredicts.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// match sets the words of the rows lo ≤ row < hi, lo a multiple of 64. Bits
// beyond hi are zero.
func (c *condition) match(t *table.Table, lo, hi int, words []uint64) {
	switch c.form {
	case codeForm:
		cells := t.Columns[c.column].Codes[lo:hi]
		for w := range words {
			words[w] = matchCodes(cells[w*64:min(w*64+64, len(cells))], c.allowed)
		}
	case spanForm:
		cells := t.Columns[c.column].Floats[lo:hi]
		for w := range words {
			words[w] = matchSpan(cells[w*64:min(w*64+64, len(cells))], c.low, c.high)
		}
	default:
		for w := range words {
			var word uint64
			for row := lo + w*64; row < min(lo+w*64+64, hi); row++ {
				word |= bit(c.holds(t, row)) << (row & 63)
			}
			words[w] = word
		}
	}
}

// matchCodes decides a test of codes for up to 64 cells, and eight at a time.
func matchCodes(cells []int32, allowed []uint8) (word uint64) {
	n := uint32(len(allowed))
	one := func(code int32) uint64 {
		k := uint32(code + 2)
		if k >= n {
			k = 0 // a value that came after the schema is an unseen one
		}
		return uint64(allowed[k])
	}
	i := 0
	for ; i+8 <= len(cells); i += 8 {
		c := (*[8]int32)(cells[i:])
		word |= (one(c[0]) | one(c[1])<<1 | one(c[2])<<2 | one(c[3])<<3 | one(c[4])<<4 | one(c[5])<<5 | one(c[6])<<6 | one(c[7])<<7) << (i & 63)
	}
	for ; i < len(cells); i++ {
		word |= one(cells[i]) << (i & 63)
	}
	return word
}

// matchSpan decides for up to 64 cells whether they lie in a span. Most spans
// are open to one side, which halves the work.
func matchSpan(cells []float64, low, high float64) uint64 {
	switch {
	case math.IsInf(low, -1):
		return matchAtMost(cells, high)
	case math.IsInf(high, 1):
		return matchAtLeast(cells, low)
	}
	return matchAtLeast(cells, low) & matchAtMost(cells, high)
}

// matchAtMost goes through cells eight at a time; a missing one is never at most anything.
func matchAtMost(cells []float64, high float64) (word uint64) {
	i := 0
	for ; i+8 <= len(cells); i += 8 {
		c := (*[8]float64)(cells[i:])
		word |= (bit(c[0] <= high) | bit(c[1] <= high)<<1 | bit(c[2] <= high)<<2 | bit(c[3] <= high)<<3 |
			bit(c[4] <= high)<<4 | bit(c[5] <= high)<<5 | bit(c[6] <= high)<<6 | bit(c[7] <= high)<<7) << (i & 63)
	}
	for ; i < len(cells); i++ {
		word |= bit(cells[i] <= high) << (i & 63)
	}
	return word
}

// matchAtLeast is matchAtMost from the other side.
func matchAtLeast(cells []float64, low float64) (word uint64) {
	i := 0
	for ; i+8 <= len(cells); i += 8 {
		c := (*[8]float64)(cells[i:])
		word |= (bit(c[0] >= low) | bit(c[1] >= low)<<1 | bit(c[2] >= low)<<2 | bit(c[3] >= low)<<3 |
			bit(c[4] >= low)<<4 | bit(c[5] >= low)<<5 | bit(c[6] >= low)<<6 | bit(c[7] >= low)<<7) << (i & 63)
	}
	for ; i < len(cells); i++ {
		word |= bit(cells[i] >= low) << (i & 63)
	}
	return word
}

// holds decides the test for one row.
func (c *condition) holds(t *table.Table, row int) bool {
	switch c.form {
	case codeForm:
		k := uint32(t.Columns[c.column].Codes[row] + 2)
		if k >= uint32(len(c.allowed)) {
			k = 0
		}
		return c.allowed[k] != 0
	case spanForm:
		x := t.Columns[c.column].Floats[row]
		return x >= c.low && x <= c.high
	case pointForm:
		_, found := slices.BinarySearch(c.points, t.Columns[c.column].Floats[row])
		return found
	case otherForm:
		x := t.Columns[c.column].Floats[row]
		_, found := slices.BinarySearch(c.points, x)
		return !found && !table.IsMissing(x)
	case wordForm:
		bag := t.Columns[c.column].Words
		return !bag.Missing(row) && (bag.Count(row, c.word) != 0) != c.below
	case missingForm:
		if bag := t.Columns[c.column].Words; bag != nil {
			return bag.Missing(row)
		}
		return table.IsMissing(t.Columns[c.column].Floats[row])
	case sumForm:
		sum := 0.0
		for _, term := range c.terms {
			// The conversion keeps the product from being fused with the
			// sum on some processors, which would round differently.
			sum += float64(term.factor * t.Columns[term.column].Floats[row])
		}
		if c.below {
			return sum <= c.high
		}
		return sum > c.high
	}
	count := 0
	for i := range c.of {
		if c.of[i].holds(t, row) {
			count++
		}
	}
	return count >= c.count
}
