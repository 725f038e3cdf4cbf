package linear

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// layout says where the terms of each column stand in the design vector: the
// powers of a number, or the values of a nominal column, then the indicator of
// missing cells. The target, where it is a number, stands behind all of them.
type layout struct {
	schema *table.Schema
	target int
	degree int
	first  []int // term of each column; of columns without any, that of the next
	terms  int
}

func newLayout(schema *table.Schema, target, degree int) *layout {
	l := &layout{schema: schema, target: target, degree: degree, first: make([]int, len(schema.Attributes))}
	for j := range schema.Attributes {
		l.first[j] = l.terms
		l.terms += l.count(j)
	}
	return l
}

// count returns how many terms a column has.
func (l *layout) count(j int) int {
	a := &l.schema.Attributes[j]
	switch {
	case j == l.target || a.Kind == table.Text:
		return 0
	case a.Kind == table.Numeric:
		return l.degree + 1
	}
	return len(a.Values) + 1
}

// missing returns the term that says that a column's cell is missing.
func (l *layout) missing(j int) int { return l.first[j] + l.count(j) - 1 }

func (l *layout) numeric(j int) bool { return l.schema.Attributes[j].Kind == table.Numeric }

// frame is how a column's numbers are counted: z = x·2^-Exp − Shift.
type frame struct {
	Exp   int
	Shift float64
	Set   bool // a number was seen
}

// The exponents of units: the scales of both ends are float64s.
const (
	leastExp = -1000
	mostExp  = 1023
)

// farthest is how far from the shift, in units, numbers may lie before their
// unit is raised: far enough to be rare, near enough for the 20th power.
const farthest = 0x1p20

func (f frame) scale() float64 { return math.Ldexp(1, -f.Exp) }

// in returns a number in the frame.
func (f frame) in(x float64) float64 { return x*f.scale() - f.Shift }

// raised returns the frame in a larger unit.
func (f frame) raised(exp int) frame {
	if exp > f.Exp {
		f.Exp, f.Shift = exp, math.Ldexp(f.Shift, f.Exp-exp)
	}
	return f
}

// extent is what a frame is chosen by: of the finite ones among some numbers the
// ends, the sum in four parts, as a sum waits for the one before it, and how many
// they are.
type extent struct {
	low, high float64
	sums      [4]float64
	n         int
}

// extentOf looks at four numbers at a time, as long as all are finite: then so is
// their sum, or it is looked at one by one.
func extentOf(xs []float64, rows []int32) extent {
	e := extent{low: math.Inf(1), high: math.Inf(-1)}
	i := 0
	if len(rows) == len(xs) {
		low, high := e.low, e.high
		var p, q, r, s float64
		for ; i+4 <= len(xs); i += 4 {
			four := xs[i : i+4 : i+4]
			a, b, c, d := four[0], four[1], four[2], four[3]
			if both := (a + b) + (c + d); both-both != 0 {
				break
			}
			p, q, r, s = p+a, q+b, r+c, s+d
			if a < low || b < low || c < low || d < low {
				low = min(low, a, b, c, d)
			}
			if a > high || b > high || c > high || d > high {
				high = max(high, a, b, c, d)
			}
		}
		e = extent{low, high, [4]float64{p, q, r, s}, i}
	}
	for ; i < len(rows); i++ {
		if x := xs[rows[i]]; x-x == 0 {
			e.n++
			e.sums[i&3] += x
			e.low, e.high = min(e.low, x), max(e.high, x)
		}
	}
	return e
}

// frameOf returns a frame in which some numbers lie around 0: the unit is their
// largest distance from the mean, which the shift is, as far as 1/64 of a unit
// goes. Of equal numbers the shift is that number, exactly.
func frameOf(xs []float64, rows []int32, seen extent) frame {
	low, high, sums := seen.low, seen.high, seen.sums
	if low > high {
		return frame{}
	}
	if low == high {
		return frame{Exp: exponent(low), Shift: low * math.Ldexp(1, -exponent(low)), Set: true}
	}
	whole := frame{Exp: exponent(max(math.Abs(low), math.Abs(high)))}
	scale := whole.scale()
	for k := range sums {
		sums[k] *= scale
	}
	if whole.Exp < -900 || whole.Exp > 900 { // sums as they are may be too small or too large
		clear(sums[:])
		for i, r := range rows {
			if x := xs[r]; x-x == 0 {
				sums[i&3] += x * scale
			}
		}
	}
	mean := (sums[0] + sums[1] + sums[2] + sums[3]) / float64(seen.n)
	spread := max(whole.in(high)-mean, mean-whole.in(low))
	exp := min(max(leastExp, whole.Exp+exponent(spread), whole.Exp-900), mostExp)
	return frame{Exp: exp, Shift: rounded(math.Ldexp(mean, whole.Exp-exp)), Set: true}
}

// reaching returns the frame if numbers lie near enough in it, else a larger
// unit; if there is none yet, that of the numbers. It says whether all are finite.
func (f frame) reaching(xs []float64, rows []int32) (reaching frame, whole bool) {
	seen := extentOf(xs, rows)
	whole = seen.n == len(rows)
	if !f.Set {
		return frameOf(xs, rows, seen), whole
	}
	if seen.n == 0 {
		return f, whole
	}
	switch far := max(f.in(seen.high), -f.in(seen.low)); {
	case far <= farthest:
		return f, whole
	case finite(far):
		return f.raised(min(f.Exp+exponent(far), mostExp)), whole
	}
	largest := max(math.Abs(seen.low), math.Abs(seen.high))
	return f.raised(max(exponent(largest), min(f.Exp+exponent(f.Shift), mostExp))), whole
}

// rounded returns a shift to 1/64 of the unit.
func rounded(x float64) float64 { return math.Round(x*64) / 64 }

// exponent returns the power of two that a unit needs to hold a number.
func exponent(x float64) int {
	if x == 0 {
		return 0
	}
	_, e := math.Frexp(x)
	return min(max(e, leastExp), mostExp)
}

// tileRows is how many rows are laid out at a time: few enough for their terms
// to stay near the processor.
const tileRows = 256

// tile is the terms of some rows, column by column.
type tile struct {
	*layout
	frames []frame
	cells  []float64 // term i of row r at i·tileRows + r
	live   []bool    // a term that is not 0 in all rows
}

func newTile(l *layout, frames []frame, terms int) *tile {
	return &tile{layout: l, frames: frames, cells: make([]float64, terms*tileRows), live: make([]bool, terms)}
}

// term returns a term's cells, for n rows.
func (t *tile) term(i, n int) []float64 { return t.cells[i*tileRows:][:n] }

// fill lays out the terms of rows of a table, at most tileRows.
func (t *tile) fill(columns []table.Column, rows []int32) { t.fillBut(columns, rows, nil) }

// fillBut leaves some columns out, if any are named.
func (t *tile) fillBut(columns []table.Column, rows []int32, bare []bool) {
	clear(t.live)
	for j := range t.schema.Attributes {
		switch c := t.count(j); {
		case c == 0 || bare != nil && bare[j]:
		case t.numeric(j):
			t.fillNumbers(j, columns[j].Floats, rows)
		default:
			clear(t.cells[t.first[j]*tileRows : (t.first[j]+c)*tileRows])
			gone := t.missing(j)
			for r, row := range rows {
				code := columns[j].Codes[row]
				term := t.first[j] + int(code)
				if code < 0 {
					term = gone
				}
				t.cells[term*tileRows+r] = 1
				t.live[term] = true
			}
		}
	}
}

// fillNumbers lays out the powers of a column.
func (t *tile) fillNumbers(j int, xs []float64, rows []int32) {
	n, scale, shift := len(rows), t.frames[j].scale(), t.frames[j].Shift
	z, gone := t.term(t.first[j], n), t.term(t.missing(j), n)
	some := false
	for r, row := range rows {
		x := xs[row]
		if d := x*scale - shift; x-x == 0 {
			z[r], gone[r] = d, 0
		} else {
			z[r], gone[r], some = 0, 1, true
		}
	}
	t.live[t.first[j]], t.live[t.missing(j)] = true, some
	for k := 1; k < t.degree; k++ {
		before, power := t.term(t.first[j]+k-1, n), t.term(t.first[j]+k, n)
		for r := range power {
			power[r] = before[r] * z[r]
		}
		t.live[t.first[j]+k] = true
	}
}
