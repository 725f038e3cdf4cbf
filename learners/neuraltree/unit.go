package neuraltree

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/pocket"
	"github.com/accrete-ml/accrete/table"
)

// perceptron is a plane in the table's own units: a row lies on its right if
// the sum over its known numbers exceeds the threshold less what its other
// cells add. Written so, the plane is a half-space test of the rule language,
// to the last bit, once the nominal cells are known.
type perceptron struct {
	terms     []term
	tables    []lookup
	threshold float64
}

// term is the part of a numeric column.
type term struct {
	column  int32
	factor  float64
	missing float64 // instead of factor times the cell
}

// lookup is the part of a nominal column.
type lookup struct {
	column  int32
	weights []float64 // by code; whole numbers
	missing float64
}

// numeric reports whether numbers have a say.
func (u *perceptron) numeric() bool {
	return slices.ContainsFunc(u.terms, func(t term) bool { return t.factor != 0 })
}

// sums returns the sum over the known numbers, and what all other cells add. A
// value that was never seen adds nothing.
func (u *perceptron) sums(columns []table.Column, row int) (numbers, rest float64) {
	for i := range u.terms {
		t := &u.terms[i]
		if x := columns[t.column].Floats[row]; table.IsMissing(x) {
			rest += t.missing
		} else if t.factor != 0 {
			// The conversion keeps the product from being fused with
			// the sum, as in the half-spaces of package rule.
			numbers += float64(t.factor * x)
		}
	}
	for i := range u.tables {
		t := &u.tables[i]
		if code := columns[t.column].Codes[row]; uint32(code) < uint32(len(t.weights)) {
			rest += t.weights[code]
		} else if code == table.Missing {
			rest += t.missing
		}
	}
	return numbers, rest
}

// right reports on which side of the plane a row lies. On the plane itself, or
// where infinities cancel, is left: sgn(0) = −1.
func (u *perceptron) right(columns []table.Column, row int) bool {
	numbers, rest := u.sums(columns, row)
	return numbers > u.threshold-rest
}

// negligible is how small a weight of a numeric column is, relative to the
// largest, that is there by rounding only.
const negligible = 1e-9

// perceptron translates weights of encoded inputs back to the table's units.
// The threshold is left at 0. It returns nil if the numbers do not allow it.
func (s *sample) perceptron(w []float64) *perceptron {
	u := &perceptron{}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	at, sound := 0, true
	number := func(x float64) float64 {
		sound = sound && !math.IsNaN(x) && !math.IsInf(x, 0)
		return x
	}
	for i := range s.matrix.Inputs {
		in := &s.matrix.Inputs[i]
		if in.Scale != nil {
			own := w[at : at+in.Scale.Width()]
			at += len(own)
			factor := 0.0
			if math.Abs(own[0]) > negligible*largest {
				factor = number(own[0] * in.Scale.Factor)
			}
			t := term{int32(in.Column), factor, number(factor * in.Scale.Offset)}
			if in.Scale.Indicator {
				t.missing = number(t.missing + own[1])
			}
			if t.factor != 0 || t.missing != 0 {
				u.terms = append(u.terms, t)
			}
			continue
		}
		own := w[at : at+in.OneHot.Width()]
		at += len(own)
		t := lookup{column: int32(in.Column)}
		if in.OneHot.Indicator {
			t.missing = own[len(own)-1]
			own = own[:len(own)-1]
		}
		if in.OneHot.Single {
			t.weights = []float64{-own[0], own[0]}
		} else {
			t.weights = slices.Clone(own)
		}
		if t.missing != 0 || slices.ContainsFunc(t.weights, func(x float64) bool { return x != 0 }) {
			u.tables = append(u.tables, t)
		}
	}
	if !sound {
		return nil
	}
	return u
}

// turn exchanges right and left.
func (u *perceptron) turn() {
	u.threshold = -u.threshold
	for i := range u.terms {
		t := &u.terms[i]
		t.factor, t.missing = -t.factor, -t.missing
	}
	for i := range u.tables {
		t := &u.tables[i]
		t.missing = -t.missing
		for v := range t.weights {
			t.weights[v] = -t.weights[v]
		}
	}
}

// rounding is how far apart sums that should be equal may lie, relative to the
// largest.
const rounding = 1e-12

// projection is where a row lies across a plane, and its weight, which is
// negative for a negative target.
type projection struct{ at, weight float64 }

// place puts the plane where its value is best for rows with these targets, in
// the middle between two of them, and returns the value. Of equally good
// places the widest gap wins. Gaps so narrow, relative to the sums, that they
// could be due to rounding are none. A plane that does not part the rows is
// worth +Inf.
func (u *perceptron) place(s *sample, positive, negative []int32, weight []float64, c pocket.Criterion) float64 {
	all := make([]projection, 0, len(positive)+len(negative))
	var total [2]float64
	largest := 0.0
	for class, rows := range [][]int32{positive, negative} {
		sign := float64(1 - 2*class)
		for _, i := range rows {
			numbers, rest := u.sums(s.table.Columns, int(s.row[i]))
			at := numbers + rest
			if math.IsNaN(at) {
				at = math.Inf(-1)
			}
			if !math.IsInf(at, 0) {
				largest = max(largest, math.Abs(at))
			}
			all = append(all, projection{at, sign * weight[i]})
			total[class] += weight[i]
		}
	}
	slices.SortFunc(all, func(a, b projection) int { return cmp.Compare(a.at, b.at) })
	narrow := largest * rounding
	if len(u.terms)+len(u.tables) == 1 {
		narrow = 0 // nothing is added up
	}
	best, gap := math.Inf(1), 0.0
	turned := false
	var left [2]float64 // weight of each class so far
	for i := 0; i+1 < len(all); i++ {
		if w := all[i].weight; w > 0 {
			left[0] += w
		} else {
			left[1] -= w
		}
		a, b := all[i].at, all[i+1].at
		if a == b || b-a <= narrow {
			continue
		}
		middle, ok := between(a, b)
		if !ok {
			continue
		}
		missedNeg := total[1] - left[1]
		value := c.Value(left[0], total[0], missedNeg, total[1])
		if value < best || value == best && b-a > gap {
			best, gap, u.threshold = value, b-a, middle
			turned = imbalance(left[0], total[0], missedNeg, total[1]) > 1
		}
	}
	if turned {
		u.turn()
	}
	return best
}

// between returns a finite number m with a ≤ m < b: near the middle, and with
// as few digits as the gap allows.
func between(a, b float64) (float64, bool) {
	if math.IsInf(a, -1) && b <= -math.MaxFloat64 {
		return 0, false
	}
	m := encode.Between(a, b)
	if short := shortest(m, (b/2-a/2)/2); short > a && short < b {
		m = short
	}
	return m, true
}

// shortest returns a number with few digits, within so much of another.
func shortest(x, within float64) float64 {
	digits := math.Floor(math.Log10(math.Abs(x))) - math.Floor(math.Log10(2*within)) + 1
	if !(digits >= 1 && digits <= 15) {
		if math.Abs(x) <= within {
			return 0
		}
		return x
	}
	return significant(x, int(digits))
}

// significant rounds a number to so many digits.
func significant(x float64, digits int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return short
}

// tidy returns the plane with weights of as few digits as leave its value what
// it is.
func (u *perceptron) tidy(s *sample, value float64, positive, negative []int32, weight []float64, c pocket.Criterion) (*perceptron, float64) {
	for _, digits := range []int{3, 5} {
		t := &perceptron{terms: slices.Clone(u.terms), tables: slices.Clone(u.tables)}
		for i := range t.terms {
			t.terms[i].factor = significant(t.terms[i].factor, digits)
			t.terms[i].missing = significant(t.terms[i].missing, digits)
		}
		for i := range t.tables {
			t.tables[i].weights = slices.Clone(t.tables[i].weights) // whole numbers as they are
		}
		if v := t.place(s, positive, negative, weight, c); v <= value {
			return t, v
		}
	}
	return u, value
}

// mostRounding is the greatest weight that round tries.
const mostRounding = 9

// round looks for the smallest whole weights of names that are as good as
// those of a plane, numbers keeping their proportion. Such a plane is easy to
// read: where all weights are 1 and there are no numbers, it says that at least
// so many of its tests hold. With numbers the plane may be worse by as little
// as the slack.
func (s *sample) round(w []float64, value, slack float64, positive, negative []int32, weight []float64, c pocket.Criterion) (*perceptron, float64) {
	names := make([]bool, len(w))
	mixed := false
	largest := 0.0
	at := 0
	for i := range s.matrix.Inputs {
		in := &s.matrix.Inputs[i]
		for range inputWidth(in) {
			if names[at] = in.OneHot != nil; names[at] {
				largest = max(largest, math.Abs(w[at]))
			} else {
				mixed = mixed || w[at] != 0
			}
			at++
		}
	}
	if largest == 0 {
		return nil, 0
	}
	if mixed {
		value += slack
	}
	rounded := make([]float64, len(w))
	for most := 1.0; most <= mostRounding && most < largest; most++ {
		for j, x := range w {
			if rounded[j] = x / largest * most; names[j] {
				rounded[j] = math.Round(rounded[j])
			}
		}
		u := s.perceptron(rounded)
		if u == nil {
			return nil, 0
		}
		if v := u.place(s, positive, negative, weight, c); v <= value {
			return u, v
		}
	}
	return nil, 0
}

func inputWidth(in *encode.Input) int {
	if in.OneHot != nil {
		return in.OneHot.Width()
	}
	return in.Scale.Width()
}

// along returns the best plane across one column: a threshold of its numbers,
// one value against the others, or missing against known. Rows that differ at
// all differ in some column, so there always is one, whatever infinite or tiny
// numbers do to sums; nil if the rows do not differ.
func (s *sample) along(positive, negative []int32, weight []float64, c pocket.Criterion) (*perceptron, float64) {
	var best *perceptron
	value := math.Inf(1)
	try := func(u *perceptron) {
		if v := u.place(s, positive, negative, weight, c); v < value && u.parts(s, positive, negative) {
			best, value = u, v
		}
	}
	for i := range s.matrix.Inputs {
		in := &s.matrix.Inputs[i]
		column := int32(in.Column)
		if in.Scale != nil {
			try(&perceptron{terms: []term{{column, 1, 0}}})
			try(&perceptron{terms: []term{{column, 0, 1}}})
			continue
		}
		values := len(in.OneHot.Values)
		try(&perceptron{tables: []lookup{{column: column, weights: make([]float64, values), missing: 1}}})
		if values == 2 {
			try(&perceptron{tables: []lookup{{column: column, weights: []float64{-1, 1}}}})
			continue
		}
		for v := range values {
			weights := make([]float64, values)
			weights[v] = 1
			try(&perceptron{tables: []lookup{{column: column, weights: weights}}})
		}
	}
	return best, value
}

// parts reports whether rows lie on both sides of a plane.
func (u *perceptron) parts(s *sample, groups ...[]int32) bool {
	var sides [2]bool
	for _, rows := range groups {
		for _, i := range rows {
			if u.right(s.table.Columns, int(s.row[i])) {
				sides[1] = true
			} else {
				sides[0] = true
			}
			if sides[0] && sides[1] {
				return true
			}
		}
	}
	return false
}
