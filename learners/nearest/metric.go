package nearest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// metric is how far rows are from each other, with the cases laid out for it:
// numbers as they stand in the metric's units, names as codes. The sum of what
// columns contribute is the distance, squared unless it is Hamming's.
type metric struct {
	cases   *cases
	squared bool // the sum is the square of the distance
	numbers []numberColumn
	names   []nameColumn

	// Of each case, one behind the other: its numbers (NaN: missing), its
	// codes, and whether all its numbers are known.
	points   []float64
	codes    []int32
	complete []bool
}

// numberColumn is a numeric column that has a say.
type numberColumn struct {
	column  int
	low     float64 // the least known number
	unit    float64
	missing float64 // what it contributes where one of two cells is missing
}

// nameColumn is a column whose cells are compared by code: of a nominal one the
// dictionary's, of a numeric one (Hamming) the place of the number. The code
// after the last value is missing, and the one after that unseen.
type nameColumn struct {
	column int
	values int
	known  []float64 // of a numeric column: its distinct numbers
	// shares has for each value, one behind the other, what two values are
	// compared by: the frequencies of the classes, or the mean of the
	// target. nil: any two values are 1 apart.
	shares []float64
	width  int     // of a value's shares
	most   float64 // what a missing cell contributes, and names that differ wholly
	// table has the contributions of all pairs, the asked value first; nil
	// if there are too many.
	table []float64
}

// farthest bounds numbers in the metric's units, so that squares stay finite.
const farthest = 1e150

// mostPairs bounds the tables of contributions.
const mostPairs = 1 << 18

// newMetric finds the units of all columns and lays the cases out.
func newMetric(ctx context.Context, c *cases, s *settings, stretch []float64) (*metric, error) {
	m := &metric{cases: c, squared: s.Distance != "hamming"}
	for j := range c.schema.Attributes {
		a := &c.schema.Attributes[j]
		z := 1.0
		if stretch != nil {
			z = stretch[j]
		}
		switch {
		case j == c.target || z == 0:
		case a.Kind == table.Text:
			return nil, fmt.Errorf("column %q is text, which has no distance here", a.Name)
		case a.Kind == table.Nominal:
			m.addNames(j, s, z)
		case s.Distance == "hamming":
			m.addCoded(j, z)
		default:
			m.addNumbers(j, s, z)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	m.layOut()
	return m, nil
}

// grown returns the metric with more cases behind its own.
func (m *metric) grown(c *cases, copied bool) *metric {
	g := *m
	if g.cases = c; copied {
		g.points, g.codes, g.complete = slices.Clip(g.points), slices.Clip(g.codes), slices.Clip(g.complete)
	}
	g.layOut()
	return &g
}

// addNumbers adds a numeric column, unless it never varies.
func (m *metric) addNumbers(j int, s *settings, z float64) {
	deviation, low, span := m.spread(m.cases.table.Columns[j].Floats)
	if !(span > 0) {
		return
	}
	n := numberColumn{column: j, low: low, unit: deviation, missing: 2}
	switch {
	case s.Distance == "hvdm":
		n.unit, n.missing = 4*deviation, 1
	case s.Scale == "range":
		n.unit = span
		n.missing = 2 * (deviation / span) * (deviation / span)
	case s.Scale == "none":
		n.unit = 1
		n.missing = 2 * min(deviation, farthest) * min(deviation, farthest)
	}
	if !(n.unit > 0) || math.IsInf(n.unit, 0) {
		n.unit = span // the deviation is below or above what a number can be
	}
	n.unit, n.missing = n.unit/z, n.missing*z*z
	m.numbers = append(m.numbers, n)
}

// spread returns the standard deviation, the least and the range of a column's
// known and finite numbers.
func (m *metric) spread(xs []float64) (deviation, low, span float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		if !table.IsMissing(x) && !math.IsInf(x, 0) {
			low, high = min(low, x), max(high, x)
		}
	}
	if !(low < high) {
		return 0, 0, 0
	}
	// In units of the largest, and from the middle, sums cannot overflow.
	scale := max(math.Abs(low), math.Abs(high))
	var weight, sum, squares float64
	for pass := range 2 {
		mean := sum / max(weight, math.SmallestNonzeroFloat64)
		for r, x := range xs {
			if table.IsMissing(x) || math.IsInf(x, 0) {
				continue
			}
			w := m.cases.table.Weight(r)
			if pass == 0 {
				weight += w
				sum += w * (x / scale)
			} else {
				squares += w * (x/scale - mean) * (x/scale - mean)
			}
		}
	}
	return math.Sqrt(squares/weight) * scale, low, min(high-low, math.MaxFloat64)
}

// addNames adds a nominal column, unless it never varies.
func (m *metric) addNames(j int, s *settings, z float64) {
	codes := m.cases.table.Columns[j].Codes
	values := len(m.cases.schema.Attributes[j].Values)
	n := nameColumn{column: j, values: values, most: m.contribution(z)}
	seen := make([]bool, values)
	distinct := 0
	for _, v := range codes {
		if v >= 0 && !seen[v] {
			seen[v] = true
			distinct++
		}
	}
	if distinct < 2 {
		return
	}
	if s.Distance == "hvdm" {
		n.share(m.cases, codes)
	}
	m.names = append(m.names, n.tabled())
}

// share finds by what the values of a column are compared: the frequency of
// each class among a value's rows or, of a numeric target, its mean, shrunk by
// one row towards the mean of all.
func (n *nameColumn) share(c *cases, codes []int32) {
	n.width = max(1, c.classCount())
	n.shares = make([]float64, (n.values+2)*n.width)
	weights := make([]float64, n.values)
	deviation, mean := 1.0, 0.0
	if c.classes == nil {
		for r, y := range c.numbers {
			mean += c.table.Weight(r) / c.weight * y
		}
		squares := 0.0
		for r, y := range c.numbers {
			squares += c.table.Weight(r) / c.weight * (y - mean) * (y - mean)
		}
		if deviation = 4 * math.Sqrt(squares); deviation == 0 {
			deviation = 1
		}
	}
	for r, v := range codes {
		if v < 0 {
			continue
		}
		w := c.table.Weight(r)
		weights[v] += w
		if c.classes != nil {
			n.shares[int(v)*n.width+int(c.classes[r])] += w
		} else {
			n.shares[v] += w * (c.numbers[r] - mean) / deviation
		}
	}
	for v, w := range weights {
		if c.classes == nil {
			w++
		}
		for i := range n.width {
			if w > 0 {
				n.shares[v*n.width+i] /= w
			}
		}
	}
}

// addCoded adds a numeric column of which only equality counts.
func (m *metric) addCoded(j int, z float64) {
	var known []float64
	for _, x := range m.cases.table.Columns[j].Floats {
		if !table.IsMissing(x) {
			known = append(known, x+0)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if len(known) < 2 {
		return
	}
	n := nameColumn{column: j, values: len(known), known: known, most: z}
	m.names = append(m.names, n.tabled())
}

// tabled computes the contributions of all pairs if they are few.
func (n nameColumn) tabled() nameColumn {
	row := n.values + 1
	if (row+1)*row > mostPairs {
		return n
	}
	pairs := make([]float64, (row+1)*row)
	for code := range row + 1 {
		n.fill(pairs[code*row:(code+1)*row], code)
	}
	n.table = pairs
	return n
}

// fill writes what each value of a case contributes beside an asked one.
func (n *nameColumn) fill(out []float64, asked int) {
	for v := range n.values {
		switch {
		case asked == n.values: // missing
			out[v] = n.most
		case n.shares == nil:
			if out[v] = n.most; v == asked {
				out[v] = 0
			}
		default:
			of := n.shares[v*n.width : (v+1)*n.width]
			sum := 0.0
			for i, q := range n.shares[asked*n.width : (asked+1)*n.width] {
				sum += (q - of[i]) * (q - of[i])
			}
			out[v] = n.most * sum
		}
	}
	out[n.values] = n.most
}

// code returns the code by which a cell is compared.
func (n *nameColumn) code(c *table.Column, row int) int {
	if n.known != nil {
		x := c.Floats[row]
		if table.IsMissing(x) {
			return n.values
		}
		if at, found := slices.BinarySearch(n.known, x+0); found {
			return at
		}
		return n.values + 1
	}
	switch v := c.Codes[row]; {
	case v >= 0 && int(v) < n.values:
		return int(v)
	case v == table.Missing:
		return n.values
	}
	return n.values + 1
}

// point returns a number in the metric's units, NaN if it is missing.
func (n *numberColumn) point(x float64) float64 {
	if table.IsMissing(x) {
		return math.NaN()
	}
	above := (x - n.low) / n.unit // from the least, so that little is rounded away
	if math.IsInf(above, 0) && !math.IsInf(x, 0) {
		above = x/n.unit - n.low/n.unit
	}
	return min(max(above, -farthest), farthest)
}

// layOut writes the cases as points, behind those that are there.
func (m *metric) layOut() {
	c := m.cases
	if m.complete == nil {
		m.points = make([]float64, 0, c.count()*len(m.numbers))
		m.codes = make([]int32, 0, c.count()*len(m.names))
		m.complete = make([]bool, 0, c.count())
	}
	for i := len(m.complete); i < c.count(); i++ {
		row := int(c.starts[i])
		complete := true
		for d := range m.numbers {
			x := m.numbers[d].point(c.table.Columns[m.numbers[d].column].Floats[row])
			m.points = append(m.points, x)
			complete = complete && !math.IsNaN(x)
		}
		for d := range m.names {
			m.codes = append(m.codes, int32(m.names[d].code(&c.table.Columns[m.names[d].column], row)))
		}
		m.complete = append(m.complete, complete)
	}
}

// distance returns the distance that a sum of contributions is.
func (m *metric) distance(sum float64) float64 {
	if m.squared {
		return math.Sqrt(sum)
	}
	return sum
}

// contribution returns what a column contributes in which two rows are so far
// from each other.
func (m *metric) contribution(distance float64) float64 {
	if m.squared {
		return distance * distance
	}
	return distance
}

// square returns the square of the distance that a sum of contributions is.
func (m *metric) square(sum float64) float64 {
	if m.squared {
		return sum
	}
	return sum * sum
}

// neighbour is a case that was found.
type neighbour struct {
	sum  float64 // of contributions
	near float64 // the same to 12 digits, so that rounding decides no tie
	at   int32   // the case; cases stand in row order
	used float64 // how much of its weight counts
}

func (a neighbour) farther(b neighbour) bool {
	return a.near > b.near || a.near == b.near && a.at > b.at
}

// digits rounds a sum that is not negative to 40 bits, 12 digits.
func digits(sum float64) float64 {
	const cut = 1 << 12
	return math.Float64frombits((math.Float64bits(sum) + cut/2) &^ (cut - 1))
}

// slack is by how much sums that are equal to 12 digits may differ.
const slack = 1 + 2e-12

// search is a question in a worker's room: the row that is asked about, and
// the nearest cases so far, as a heap with the farthest on top.
type search struct {
	m        *metric
	point    []float64
	near     [][]float64 // contributions by code, of each name column
	filled   [][]float64 // for those that no table has
	codes    []int       // of the row, in each name column
	complete bool
	stretch  []float64 // of each column, for this question; nil: none
	room     room
	which    uint64 // of the questions that it was asked

	k     float64 // weight of the cases that are wanted
	total float64 // of those in the heap
	limit float64 // sums above cannot come in
	heap  []neighbour
	rest  []neighbour // room for those that are left when a row is left out
	votes []float64
}

func newSearch(m *metric) *search {
	s := &search{m: m, point: make([]float64, len(m.numbers)), near: make([][]float64, len(m.names)), filled: make([][]float64, len(m.names)), codes: make([]int, len(m.names)), votes: make([]float64, 2*m.cases.classCount())}
	for d := range m.names {
		if m.names[d].table == nil {
			s.filled[d] = make([]float64, m.names[d].values+1)
		}
	}
	return s
}

// ask begins a question: which cases, of the weight k together, are nearest to
// a row?
func (s *search) ask(columns []table.Column, row int, k float64) {
	s.complete = true
	s.which++
	for d := range s.m.numbers {
		x := s.m.numbers[d].point(columns[s.m.numbers[d].column].Floats[row])
		s.point[d] = x
		s.complete = s.complete && !math.IsNaN(x)
	}
	for d := range s.m.names {
		s.name(d, s.m.names[d].code(&columns[s.m.names[d].column], row))
	}
	s.begin(k)
}

// askCase begins a question about a case itself.
func (s *search) askCase(i int, k float64) {
	width := len(s.m.numbers)
	s.which++
	copy(s.point, s.m.points[i*width:(i+1)*width])
	s.complete = s.m.complete[i]
	for d := range s.m.names {
		s.name(d, int(s.m.codes[i*len(s.m.names)+d]))
	}
	s.begin(k)
}

func (s *search) name(d, code int) {
	n := &s.m.names[d]
	s.codes[d] = code
	if n.table != nil {
		s.near[d] = n.table[code*(n.values+1) : (code+1)*(n.values+1)]
		return
	}
	n.fill(s.filled[d], code)
	s.near[d] = s.filled[d]
}

func (s *search) begin(k float64) {
	s.k, s.total, s.limit, s.stretch = k, 0, math.Inf(1), nil
	s.heap = s.heap[:0]
}

// again begins the same question anew.
func (s *search) again() *search {
	s.begin(s.k)
	return s
}

// look takes a case in if it is near enough.
func (s *search) look(i int) {
	if sum := s.sum(i); sum <= s.limit {
		s.take(neighbour{sum: sum, near: digits(sum), at: int32(i), used: s.m.cases.worth[i]})
	}
}

// sum adds up what columns contribute, names first. Above the limit it may
// stop early.
func (s *search) sum(i int) float64 {
	sum := 0.0
	names := len(s.near)
	for d, code := range s.m.codes[i*names : (i+1)*names] {
		sum += s.near[d][code]
	}
	width := len(s.point)
	p := s.m.points[i*width : (i+1)*width]
	if !s.complete || !s.m.complete[i] {
		return s.gappy(sum, p)
	}
	q := s.point[:len(p)]
	for len(p) >= 4 {
		a, b, c, d := q[0]-p[0], q[1]-p[1], q[2]-p[2], q[3]-p[3]
		sum += float64(float64(a*a)+float64(b*b)) + float64(float64(c*c)+float64(d*d))
		if sum > s.limit {
			return sum
		}
		p, q = p[4:], q[4:]
	}
	for d, x := range p {
		sum += float64((q[d] - x) * (q[d] - x))
	}
	return sum
}

// gappy is sum where numbers are missing.
func (s *search) gappy(sum float64, p []float64) float64 {
	term := func(d int) float64 {
		e := s.point[d] - p[d]
		if e != e {
			return s.m.numbers[d].missing
		}
		return float64(e * e)
	}
	d := 0
	for ; d+4 <= len(p); d += 4 {
		sum += float64(term(d)+term(d+1)) + float64(term(d+2)+term(d+3))
		if sum > s.limit {
			return sum
		}
	}
	for ; d < len(p); d++ {
		sum += term(d)
	}
	return sum
}

// take puts a case into the heap, and drops those that are no longer needed to
// make up the weight k.
func (s *search) take(n neighbour) {
	if s.total >= s.k && !s.heap[0].farther(n) {
		return
	}
	s.heap = append(s.heap, n)
	s.total += n.used
	for at := len(s.heap) - 1; at > 0; {
		above := (at - 1) / 2
		if !s.heap[at].farther(s.heap[above]) {
			break
		}
		s.heap[at], s.heap[above] = s.heap[above], s.heap[at]
		at = above
	}
	for s.total-s.heap[0].used >= s.k {
		s.drop()
	}
	if s.total >= s.k {
		s.limit = s.heap[0].near * slack
	}
}

// drop takes the farthest case out.
func (s *search) drop() {
	s.total -= s.heap[0].used
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for at := 0; ; {
		child := 2*at + 1
		if child >= last {
			return
		}
		if child+1 < last && s.heap[child+1].farther(s.heap[child]) {
			child++
		}
		if !s.heap[child].farther(s.heap[at]) {
			return
		}
		s.heap[at], s.heap[child] = s.heap[child], s.heap[at]
		at = child
	}
}

// found returns the nearest cases, nearest first; of the farthest only as much
// counts as makes up k.
func (s *search) found() []neighbour {
	slices.SortFunc(s.heap, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.near, b.near), cmp.Compare(a.at, b.at))
	})
	left := s.k
	for i := range s.heap {
		s.heap[i].used = min(s.heap[i].used, left)
		left -= s.heap[i].used
	}
	return s.heap
}

// rounding is by how much, relatively, sums of distances may be wrong.
const rounding = 1e-12
