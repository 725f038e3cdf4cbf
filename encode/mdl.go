package encode

import "math"

// MDL returns the cuts that pay for themselves: each shortens the description
// of the rows' classes by more than describing the cut itself costs. Class is
// a code below classes for each row, or negative where it is not known.
// Weights, if not nil, are the cases that rows are worth.
//
// The cost is O(n) for sorting and O(n·classes) for each level of cuts.
func MDL(x []float64, class []int32, classes int, weights []float64) Cuts {
	s := newSupervised(x, class, classes, weights)
	s.divide(0, len(s.x))
	return s.cuts
}

func newSupervised(x []float64, class []int32, classes int, weights []float64) *supervised {
	s := &supervised{sample: sorted(x, class, weights)}
	for i := range s.tallies {
		s.tallies[i] = tally{rows: make([]int32, classes), weight: make([]float64, classes)}
	}
	if weights == nil {
		s.logs = make([]float64, len(s.x)+1)
		for n := range s.logs {
			s.logs[n] = xlogx(float64(n))
		}
	}
	return s
}

// supervised is a column being cut.
type supervised struct {
	sample
	cuts    Cuts
	tallies [3]tally // of a set S and of its parts S1 and S2
	// logs is n·log n for whole n, where no weights make other numbers:
	// logarithms would take most of the time.
	logs []float64
}

// divide cuts the rows from lo to hi where that pays, then both parts.
func (s *supervised) divide(lo, hi int) {
	t := s.trial(lo, hi)
	if t.at < 0 || !(t.gain > t.bound()) {
		return
	}
	s.divide(lo, t.at)
	s.cuts.At = append(s.cuts.At, t.cut)
	s.divide(t.at, hi)
}

// trial is the best way to part the set S into S1 and S2.
type trial struct {
	at        int     // first row of S2; -1 if S cannot be parted
	cut       float64 // x <= cut in S1
	n         float64 // weight of S
	e, e1, e2 float64 // class entropies of S, S1, S2 in bits
	k, k1, k2 int     // classes that occur in S, S1, S2
	gain      float64 // E(S) − N1/N·E(S1) − N2/N·E(S2)
}

// delta is the part of a cut's cost that comes from describing which classes
// occur on which side.
func (t *trial) delta() float64 {
	return log2Partitions(t.k) - (float64(t.k)*t.e - float64(t.k1)*t.e1 - float64(t.k2)*t.e2)
}

// bound is what the gain must exceed: the cost of the cut, a row.
func (t *trial) bound() float64 {
	if t.n < 2 { // there is less than a row to tell from another
		return math.Inf(1)
	}
	return math.Log2(t.n-1)/t.n + t.delta()/t.n
}

// log2Partitions is log2(3^k − 2).
func log2Partitions(k int) float64 {
	if k > 30 { // the 2 is lost in rounding
		return float64(k) * math.Log2(3)
	}
	return math.Log2(math.Pow(3, float64(k)) - 2)
}

// trial finds the cut of least class entropy among the boundary points of the
// rows from lo to hi: cuts between values all of whose rows are of one class
// are never best (Fayyad & Irani 1992). Of equally good cuts the lowest wins.
func (s *supervised) trial(lo, hi int) trial {
	whole, left, right := &s.tallies[0], &s.tallies[1], &s.tallies[2]
	whole.reset()
	left.reset()
	for i := lo; i < hi; i++ {
		whole.add(s.class[i], s.weight(i))
	}
	t := trial{at: -1, n: whole.sum}
	t.e, t.k = whole.entropy()
	if t.k < 2 {
		return t
	}
	const mixed = -1
	least := math.Inf(1)
	before := int32(mixed) // the class of all rows of the previous value
	for i := lo; i < hi; {
		value, only := i, s.class[i]
		for i < hi && s.x[i] == s.x[value] {
			if s.class[i] != only {
				only = mixed
			}
			i++
		}
		if value > lo && (only == mixed || only != before) {
			right.remainder(whole, left)
			if cost := s.cost(left) + s.cost(right); cost < least && separable(s.x[value-1], s.x[value]) {
				least, t.at = cost, value
			}
		}
		for j := value; j < i; j++ {
			left.add(s.class[j], s.weight(j))
		}
		before = only
	}
	if t.at < 0 {
		return t
	}
	t.cut = Between(s.x[t.at-1], s.x[t.at])
	left.reset()
	for i := lo; i < t.at; i++ {
		left.add(s.class[i], s.weight(i))
	}
	right.remainder(whole, left)
	t.e1, t.k1 = left.entropy()
	t.e2, t.k2 = right.entropy()
	t.gain = t.e - left.sum/t.n*t.e1 - right.sum/t.n*t.e2
	return t
}

// tally counts the classes of some rows.
type tally struct {
	rows   []int32   // a class; tells exactly which classes occur
	weight []float64 // a class
	sum    float64   // of all weights
}

func (t *tally) reset() {
	clear(t.rows)
	clear(t.weight)
	t.sum = 0
}

func (t *tally) add(class int32, weight float64) {
	t.rows[class]++
	t.weight[class] += weight
	t.sum += weight
}

// remainder makes t the rows of whole that are not in part.
func (t *tally) remainder(whole, part *tally) {
	t.sum = 0
	for c := range t.rows {
		t.rows[c] = whole.rows[c] - part.rows[c]
		t.weight[c] = 0
		if t.rows[c] > 0 {
			t.weight[c] = max(whole.weight[c]-part.weight[c], 0)
		}
		t.sum += t.weight[c]
	}
}

// entropy returns the entropy of the classes in bits, and how many occur.
func (t *tally) entropy() (e float64, classes int) {
	for c, w := range t.weight {
		if t.rows[c] == 0 {
			continue
		}
		classes++
		if p := w / t.sum; p > 0 {
			e -= p * math.Log2(p)
		}
	}
	return e, classes
}

// cost is the entropy of the classes times the weight of the rows, in nats.
func (s *supervised) cost(t *tally) float64 {
	cost := 0.0
	if s.logs != nil {
		n := int32(0)
		for _, rows := range t.rows {
			cost -= s.logs[rows]
			n += rows
		}
		return cost + s.logs[n]
	}
	for _, w := range t.weight {
		cost -= xlogx(w)
	}
	return cost + xlogx(t.sum)
}

func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}
