package evolve

import (
	"context"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// instances are the rows of a table, as sets: for each value of each column,
// and each class, the rows that have it. A rule is a string of bits, one for
// each value of each column (1 is allowed; all ones are no condition) and behind
// them the class (section 9.2.1).
type instances struct {
	schema   *table.Schema
	target   int
	rows     int
	class    []bits.Set
	weight   []float64 // nil: all 1
	total    float64
	segments []segment
	length   int // bits of a rule
	postbits int // of which the last say the class
	usual    int // the most frequent class, which answers where no rule does
	codes    [][]int32
	told     genetic.Bits // an expert's rules
}

// segment is the bits of one column.
type segment struct {
	col, from, size int
	cuts            *encode.Cuts // of a numeric column
	sets            []bits.Set   // rows of each value
}

// mostValues is how many values a nominal column may have to be worth a bit
// each.
const mostValues = 256

// fewNumbers is how many different numbers a column may have to be cut between
// all of them: such as 0 and 1, which may tell classes apart only together with
// other columns.
const fewNumbers = 4

// withEach returns the cuts between all numbers of a column that has few of them,
// and the cuts that it has otherwise.
func withEach(cuts *encode.Cuts, column []float64) *encode.Cuts {
	var numbers []float64
	for _, x := range column {
		if at, found := slices.BinarySearch(numbers, x); !found && !table.IsMissing(x) {
			if len(numbers) == fewNumbers {
				return cuts
			}
			numbers = slices.Insert(numbers, at, x)
		}
	}
	each := &encode.Cuts{}
	for i := 1; i < len(numbers); i++ {
		each.At = append(each.At, numbers[i-1]/2+numbers[i]/2)
	}
	return each
}

// newInstances lays out a table. Numbers are cut into intervals by their
// classes (encode.MDL), and where told rules compare them.
func newInstances(ctx context.Context, t *table.Table, target int, told string) (*instances, error) {
	x := &instances{schema: t.Schema, target: target, rows: t.Rows(), weight: t.Weights}
	theory, err := readTold(told, t.Schema, target)
	if err != nil {
		return nil, err
	}
	cuts, err := encode.FitIntervals(ctx, t, target, encode.ByMDL, 0)
	if err != nil {
		return nil, err
	}
	for j := range t.Schema.Attributes {
		a := &t.Schema.Attributes[j]
		s := segment{col: j, from: x.length, size: len(a.Values)}
		codes := t.Columns[j].Codes
		switch {
		case j == target || a.Kind == table.Nominal && (s.size < 2 && !mentioned(theory, a.Name) || s.size > mostValues):
			continue
		case a.Kind == table.Numeric:
			s.cuts = withLimits(withEach(cuts.Columns[j], t.Columns[j].Floats), theory, a.Name)
			codes = make([]int32, x.rows)
			s.cuts.Apply(t.Columns[j].Floats, codes)
			if s.size = s.cuts.Intervals(); s.size < 2 {
				continue
			}
		case a.Kind != table.Nominal:
			continue
		}
		s.sets = setsOf(codes, s.size)
		x.codes = append(x.codes, codes)
		x.segments = append(x.segments, s)
		x.length += s.size
	}
	classes := len(t.Schema.Attributes[target].Values)
	x.class = setsOf(t.Columns[target].Codes, classes)
	x.postbits = mathbits.Len(uint(classes - 1))
	x.length += x.postbits
	most := -1.0
	for c, set := range x.class {
		w := x.weigh(set)
		x.total += w
		if w > most {
			x.usual, most = c, w
		}
	}
	if x.length == 0 { // one class and nothing to tell rows apart by
		x.length, x.postbits = 1, 1
	}
	x.told, err = x.encodeTold(theory)
	return x, err
}

// setsOf returns the rows of each code.
func setsOf(codes []int32, size int) []bits.Set {
	sets := make([]bits.Set, size)
	for v := range sets {
		sets[v] = bits.New(len(codes))
	}
	for r, v := range codes {
		if v >= 0 {
			sets[v].Put(r)
		}
	}
	return sets
}

// weigh returns the weight of a set of rows.
func (x *instances) weigh(set bits.Set) float64 {
	if x.weight == nil {
		return float64(set.Count())
	}
	sum := 0.0
	for r := range set.All {
		sum += x.weight[r]
	}
	return sum
}

// weighBoth returns the weight of the rows that are in two sets.
func (x *instances) weighBoth(a, b bits.Set) float64 {
	if x.weight == nil {
		return float64(bits.AndCount(a, b))
	}
	sum := 0.0
	for i := range a {
		for w := a[i] & b[i]; w != 0; w &= w - 1 {
			sum += x.weight[i*64+mathbits.TrailingZeros64(w)]
		}
	}
	return sum
}

// classOf returns the class that a rule concludes: its last bits, as a number.
// Numbers that are no class count on from the first again, so that every string
// says one.
func (x *instances) classOf(rule genetic.Bits) int {
	class := 0
	for _, b := range rule[x.length-x.postbits:] {
		class = class<<1 | int(b)
	}
	return class % len(x.class)
}

// cover makes into the rows of left that satisfy a rule's conditions, and
// reports whether there are any. Room is scratch.
func (x *instances) cover(rule genetic.Bits, left, into, room bits.Set) bool {
	copy(into, left)
	for i := range x.segments {
		s := &x.segments[i]
		allowed := rule[s.from : s.from+s.size]
		ones := 0
		for _, b := range allowed {
			ones += int(b)
		}
		switch ones {
		case len(allowed): // no condition
			continue
		case 0:
			return false
		case 1:
			bits.And(into, into, s.sets[slices.Index(allowed, 1)])
		default:
			clear(room)
			for v, b := range allowed {
				if b == 1 {
					bits.Or(room, room, s.sets[v])
				}
			}
			bits.And(into, into, room)
		}
	}
	return into.Any()
}

// desk is what one judgement needs.
type desk struct{ left, of, room bits.Set }

func (x *instances) newDesk() *desk {
	return &desk{bits.New(x.rows), bits.New(x.rows), bits.New(x.rows)}
}

// correct returns the share of rows that a rule set classifies rightly: the
// first rule that matches answers, the most frequent class if none does.
func (x *instances) correct(rules genetic.Bits, d *desk) float64 {
	d.left.Fill(x.rows)
	right := 0.0
	for ; len(rules) >= x.length; rules = rules[x.length:] {
		if rule := rules[:x.length]; x.cover(rule, d.left, d.of, d.room) {
			right += x.weighBoth(d.of, x.class[x.classOf(rule)])
			bits.AndNot(d.left, d.left, d.of)
		}
	}
	return (right + x.weighBoth(d.left, x.class[x.usual])) / x.total
}

// tests writes the conditions of a rule in the rule language.
func (x *instances) tests(r genetic.Bits) []rule.Test {
	var tests []rule.Test
	for i := range x.segments {
		s := &x.segments[i]
		allowed := r[s.from : s.from+s.size]
		if !slices.Contains(allowed, 0) {
			continue
		}
		a := &x.schema.Attributes[s.col]
		if s.cuts != nil {
			tests = append(tests, s.intervals(a.Name, allowed))
			continue
		}
		t := rule.Test{Op: rule.In, Column: a.Name}
		for v, b := range allowed {
			if b == 1 {
				t.Values = append(t.Values, a.Values[v])
			}
		}
		if len(t.Values) == 1 {
			t = rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Values[0]}
		}
		tests = append(tests, t)
	}
	return tests
}

// intervals is the test for some intervals of a number: one for each run of
// them, any of which will do.
func (s *segment) intervals(column string, allowed genetic.Bits) rule.Test {
	var runs []rule.Test
	for lo := 0; lo < s.size; lo++ {
		if allowed[lo] == 0 {
			continue
		}
		hi := lo
		for hi+1 < s.size && allowed[hi+1] == 1 {
			hi++
		}
		switch {
		case lo == 0:
			runs = append(runs, rule.Test{Op: rule.Le, Column: column, Number: s.cuts.At[hi]})
		case hi == s.size-1:
			runs = append(runs, rule.Test{Op: rule.Gt, Column: column, Number: s.cuts.At[lo-1]})
		default:
			runs = append(runs, rule.Test{Op: rule.Between, Column: column, Low: s.cuts.At[lo-1], High: s.cuts.At[hi]})
		}
		lo = hi
	}
	if len(runs) == 1 {
		return runs[0]
	}
	return rule.Test{Op: rule.AtLeast, Count: 1, Of: runs}
}

// generalised returns a rule that a row satisfies, and that concludes its class:
// a few conditions, which allow the row's own value and each other by a coin.
func (x *instances) generalised(random func(n int) int, row int, into genetic.Bits) {
	for i := range into {
		into[i] = 1
	}
	for i := range x.segments {
		if len(x.segments) > 4 && random(len(x.segments)) >= 4 {
			continue
		}
		s := &x.segments[i]
		own := x.codes[i][row]
		for v := range s.size {
			if int32(v) != own && own >= 0 {
				into[s.from+v] = byte(random(2))
			}
		}
	}
	x.conclude(into, x.classAt(row))
}

// conclude makes a rule conclude a class.
func (x *instances) conclude(rule genetic.Bits, class int) {
	for i := range x.postbits {
		rule[x.length-1-i] = byte(class >> i & 1)
	}
}

func (x *instances) classAt(row int) int {
	return slices.IndexFunc(x.class, func(s bits.Set) bool { return s.Get(row) })
}

// wrongTold says which of an expert's rules cannot be a rule of bits.
func wrongTold(r *rule.Rule, why string) error {
	return fmt.Errorf("the rule %q cannot be among the first rules: %s", r, why)
}
