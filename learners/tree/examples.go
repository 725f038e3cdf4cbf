package tree

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// examples are the rows to learn from, laid out for counting. Codes and
// classes are as narrow as they can be, because what a node of the tree reads
// of them is scattered, and the fewer bytes they take in all the more of them
// stay in the cache.
type examples struct {
	view    *kept.View
	target  int
	rows    int
	classes int  // 0: the target is numeric
	size    int  // numbers in a statistic: one a class, or three moments
	entry   form // of sorted columns

	narrowClass []uint8 // the class of each row; up to 256 classes
	wideClass   []int32 // otherwise
	number      []float64
	center      float64 // number = (target - center) / scale
	scale       float64
	weights     []float64  // nil: every row counts once
	columns     []codes    // of the table, then of missing cells
	gaps        []int32    // whose missing cells the latter are
	sorted      [][]uint64 // room for each numeric column's entries
}

// codes are the cells of a nominal column. Missing cells have the code that
// follows the last value's.
type codes struct {
	values int
	narrow []uint8 // up to 255 values
	wide   []int32 // otherwise
}

// form is how a row of a sorted column fits into 64 bits: the rank of its
// number among the column's distinct ones on top, then its class, then the
// row. Going through a sorted column then touches no other memory.
type form struct {
	rowBits, classBits uint
}

func (f form) rank(e uint64) uint64 { return e >> (f.rowBits + f.classBits) }
func (f form) class(e uint64) int   { return int(e >> f.rowBits & (1<<f.classBits - 1)) }
func (f form) row(e uint64) int32   { return int32(e & (1<<f.rowBits - 1)) }

func layOut(ctx context.Context, v *kept.View, target int) (*examples, error) {
	x := &examples{view: v, target: target, rows: v.Rows(), sorted: make([][]uint64, len(v.Schema.Attributes))}
	a := &v.Schema.Attributes[target]
	if a.Kind == table.Nominal {
		x.classes, x.size = len(a.Values), len(a.Values)
		if x.classes <= 256 {
			x.narrowClass = v.Narrow(target, 0)
		} else {
			x.wideClass = v.Codes(target)
		}
	} else {
		x.size = 3
	}
	x.entry = form{rowBits: bitsFor(x.rows), classBits: bitsFor(x.classes)}
	if 2*x.entry.rowBits+x.entry.classBits > 64 {
		return nil, fmt.Errorf("%d distinct rows with %d classes are too many for one tree; learn from a sample", x.rows, x.classes)
	}
	x.columns = make([]codes, len(v.Schema.Attributes))
	err := learn.Each(ctx, len(x.columns), func(col int) {
		a := &v.Schema.Attributes[col]
		if col == target || a.Kind == table.Numeric {
			return
		}
		c := codes{values: len(a.Values)}
		if c.values <= 255 {
			c.narrow = v.Narrow(col, uint8(c.values))
		} else {
			c.wide = v.Codes(col)
			for r, code := range c.wide {
				if code < 0 {
					c.wide[r] = int32(c.values)
				}
			}
		}
		x.columns[col] = c
	})
	return x, err
}

// bitsFor returns the bits that hold 0 ≤ i < n.
func bitsFor(n int) uint { return uint(bits.Len(uint(max(n-1, 0)))) }

// weigh gives the rows other weights. A numeric target's numbers depend on
// them: they are moved and scaled so that sums of their squares neither
// overflow nor cancel. The scale is a power of two, which loses nothing.
func (x *examples) weigh(weights []float64) error {
	x.weights = weights
	if x.classes > 0 {
		return nil
	}
	x.number = resize(x.number, x.rows)
	largest := 0.0
	for r := range x.number {
		y := x.view.Float(x.target, r)
		if math.IsInf(y, 0) {
			return fmt.Errorf("target %q: it is infinite in some rows (%v); leave them out or empty the cells", x.view.Schema.Attributes[x.target].Name, y)
		}
		x.number[r] = y
		largest = max(largest, math.Abs(y))
	}
	power := func(v float64) float64 {
		_, exponent := math.Frexp(v)
		return math.Ldexp(1, min(exponent, 1023))
	}
	unit := power(largest)
	sum, n := 0.0, 0.0
	for r, y := range x.number {
		sum += x.weight(r) * (y / unit)
		n += x.weight(r)
	}
	x.center = sum / n * unit
	widest := 0.0
	for _, y := range x.number {
		widest = max(widest, math.Abs(y/2-x.center/2))
	}
	x.scale = power(widest)
	for r, y := range x.number {
		x.number[r] = (y/2 - x.center/2) / x.scale * 2
	}
	return nil
}

func (x *examples) weight(row int) float64 {
	if x.weights == nil {
		return 1
	}
	return x.weights[row]
}

func (x *examples) class(row int32) int {
	if x.narrowClass != nil {
		return int(x.narrowClass[row])
	}
	return int(x.wideClass[row])
}

// fewClasses is the number of classes up to which every node of a tree has a
// weight for each. With more, a node knows the classes of its rows alone, or
// thousands of classes would cost their square. (A test lowers it.)
var fewClasses = 64

// add adds a row to a statistic. Places are those of classes in it, nil where
// it has all of them.
func (x *examples) add(stat []float64, places []int32, row int32, w float64) {
	if x.classes > 0 {
		c := int32(x.class(row))
		if places != nil {
			c = places[c]
		}
		stat[c] += w
		return
	}
	z := x.number[row]
	stat[0] += w
	stat[1] += w * z
	stat[2] += w * z * z
}

// sort returns a numeric column's known cells of the given rows, ascending. It
// takes the place of what it returned for the column before.
func (x *examples) sort(col int, rows []int32, s *scratch) []uint64 {
	if x.sorted[col] == nil {
		x.sorted[col] = make([]uint64, x.rows)
	}
	keys := x.sorted[col][:0]
	order := resize(s.order, len(rows))[:0]
	for _, r := range rows {
		if cell := x.view.Float(col, int(r)); !table.IsMissing(cell) {
			keys = append(keys, radix.Key(cell))
			order = append(order, r)
		}
	}
	s.order = order
	s.sorting.Sort(keys, order)
	f := x.entry
	rank := uint64(0)
	before := uint64(0)
	for i, r := range order {
		if i > 0 && keys[i] != before {
			rank++
		}
		before = keys[i]
		e := rank<<(f.rowBits+f.classBits) | uint64(r)
		if x.classes > 0 {
			e |= uint64(x.class(r)) << f.rowBits
		}
		keys[i] = e
	}
	return keys
}
