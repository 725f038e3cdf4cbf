package tree

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// examples are the rows to learn from, laid out for counting. Codes and
// classes are as narrow as they can be, because what a node of the tree reads
// of them is scattered, and the fewer bytes they take in all the more of them
// stay in the cache.
type examples struct {
	table   *table.Table
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
	weights     []float64 // nil: every row counts once
	columns     []codes
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

func layOut(ctx context.Context, t *table.Table, target int, weights []float64) (*examples, error) {
	x := &examples{table: t, target: target, rows: t.Rows(), weights: weights}
	a := &t.Schema.Attributes[target]
	if a.Kind == table.Nominal {
		x.classes, x.size = len(a.Values), len(a.Values)
		if x.classes <= 256 {
			x.narrowClass = narrowed(t.Columns[target].Codes, 0)
		} else {
			x.wideClass = t.Columns[target].Codes
		}
	} else {
		x.size = 3
		if err := x.shift(t.Columns[target].Floats); err != nil {
			return nil, fmt.Errorf("target %q: %v", a.Name, err)
		}
	}
	x.entry = form{rowBits: bitsFor(x.rows), classBits: bitsFor(x.classes)}
	if 2*x.entry.rowBits+x.entry.classBits > 64 {
		return nil, fmt.Errorf("%d distinct rows with %d classes are too many for one tree; learn from a sample", x.rows, x.classes)
	}
	x.columns = make([]codes, len(t.Columns))
	err := learn.Each(ctx, len(t.Columns), func(col int) {
		a := &t.Schema.Attributes[col]
		if col == target || a.Kind == table.Numeric {
			return
		}
		c := codes{values: len(a.Values)}
		if c.values <= 255 {
			c.narrow = narrowed(t.Columns[col].Codes, uint8(c.values))
		} else {
			c.wide = make([]int32, x.rows)
			for r, code := range t.Columns[col].Codes {
				c.wide[r] = code
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

func narrowed(codes []int32, missing uint8) []uint8 {
	narrow := make([]uint8, len(codes))
	for i, c := range codes {
		narrow[i] = uint8(c)
		if c < 0 {
			narrow[i] = missing
		}
	}
	return narrow
}

// shift moves and scales the target's numbers so that sums of their squares
// neither overflow nor cancel. The scale is a power of two, which loses
// nothing.
func (x *examples) shift(target []float64) error {
	largest := 0.0
	for r, y := range target {
		if math.IsInf(y, 0) {
			return fmt.Errorf("it is infinite in some rows (%v); leave them out or empty the cells", target[r])
		}
		largest = max(largest, math.Abs(y))
	}
	power := func(v float64) float64 {
		_, exponent := math.Frexp(v)
		return math.Ldexp(1, min(exponent, 1023))
	}
	unit := power(largest)
	sum, n := 0.0, 0.0
	for r, y := range target {
		sum += x.weight(r) * (y / unit)
		n += x.weight(r)
	}
	x.center = sum / n * unit
	widest := 0.0
	for _, y := range target {
		widest = max(widest, math.Abs(y/2-x.center/2))
	}
	x.scale = power(widest)
	x.number = make([]float64, len(target))
	for r, y := range target {
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

// add adds a row to a statistic.
func (x *examples) add(stat []float64, row int32, w float64) {
	if x.classes > 0 {
		stat[x.class(row)] += w
		return
	}
	z := x.number[row]
	stat[0] += w
	stat[1] += w * z
	stat[2] += w * z * z
}

// sort returns a numeric column's known cells of the given rows, ascending.
func (x *examples) sort(col int, rows []int32, s *scratch) []uint64 {
	cells := x.table.Columns[col].Floats
	keys := make([]uint64, 0, len(rows))
	order := resize(s.order, len(rows))[:0]
	for _, r := range rows {
		if !table.IsMissing(cells[r]) {
			keys = append(keys, radix.Key(cells[r]))
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
