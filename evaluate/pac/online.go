package pac

import (
	"math/bits"
	"slices"
)

// A learner in the mistake-bound model (section 7.5) answers each row before it
// is told the truth. What counts is how often it is wrong, whatever the rows
// are and in whatever order they come.

// Online is such a learner.
type Online interface {
	Answer(x uint64) bool
	Learn(x uint64, truth bool)
}

// Run shows a learner rows one after the other, and counts its mistakes.
func Run(l Online, rows []uint64, truth func(x uint64) bool) int {
	mistakes := 0
	for _, x := range rows {
		if l.Answer(x) != truth(x) {
			mistakes++
		}
		l.Learn(x, truth(x))
	}
	return mistakes
}

// FindS learns a conjunction of literals over n Boolean columns, the bits of a
// row: it begins with all 2n literals, and drops those that a positive row
// does not satisfy. It is never wrong on a negative row and makes at most
// n + 1 mistakes (section 7.5.1).
type FindS struct{ set, unset uint64 } // literals left: a column is 1, is 0

// NewFindS returns the conjunction that no row satisfies.
func NewFindS(n int) *FindS {
	all := ^uint64(0) >> (64 - n)
	return &FindS{all, all}
}

// Answer reports whether a row satisfies every literal left.
func (f *FindS) Answer(x uint64) bool { return f.set&^x == 0 && f.unset&x == 0 }

// Learn takes a row into account.
func (f *FindS) Learn(x uint64, truth bool) {
	if truth {
		f.set, f.unset = f.set&x, f.unset&^x
	}
}

// Literals counts those that are left.
func (f *FindS) Literals() int { return bits.OnesCount64(f.set) + bits.OnesCount64(f.unset) }

// Halved is the Halving algorithm over the concepts of a class, the points
// being its rows.
type Halved struct{ left []uint64 }

// NewHalved begins with all concepts.
func NewHalved(c *Concepts) *Halved { return &Halved{slices.Clone(c.sets)} }

// Answer is what most concepts left say, no where they are equally many.
func (h *Halved) Answer(x uint64) bool {
	no, yes := divide(h.left, int(x))
	return len(yes) > len(no)
}

// Learn drops the concepts that are wrong.
func (h *Halved) Learn(x uint64, truth bool) {
	no, yes := divide(h.left, int(x))
	if h.left = no; truth {
		h.left = yes
	}
}

// Majority is Weighted-Majority (table 7.1) over predictors that answer by
// themselves: each weighs 1 at first, and what is wrong is multiplied by beta.
type Majority struct {
	Beta     float64
	Weights  []float64
	Mistakes int   // of the whole; a tie counts as one
	Of       []int // mistakes of each predictor
}

// NewMajority returns n predictors of equal weight.
func NewMajority(n int, beta float64) *Majority {
	return &Majority{Beta: beta, Weights: slices.Repeat([]float64{1}, n), Of: make([]int, n)}
}

// See answers from the answers of the predictors, and learns the truth. It
// returns the weight that said no and the weight that said yes.
func (m *Majority) See(answers []bool, truth bool) (no, yes float64) {
	for i, said := range answers {
		if said {
			yes += m.Weights[i]
		} else {
			no += m.Weights[i]
		}
	}
	if truth && yes <= no || !truth && no <= yes {
		m.Mistakes++
	}
	for i, said := range answers {
		if said != truth {
			m.Weights[i] *= m.Beta
			m.Of[i]++
		}
	}
	return no, yes
}

// Bound is what theorem 7.5 promises after what has been seen.
func (m *Majority) Bound() float64 {
	return Mistakes(float64(slices.Min(m.Of)), float64(len(m.Of)), m.Beta)
}

// Best returns the concept of the class that is wrong on the fewest of some
// labelled points, and on how many: what an agnostic learner returns, which
// does not assume that the truth is in its class (section 7.3.1).
func (c *Concepts) Best(points []int, truth []bool) (set uint64, errors int) {
	errors = len(points) + 1
	for _, s := range c.sets {
		wrong := 0
		for i, p := range points {
			if (s>>p&1 == 1) != truth[i] {
				wrong++
			}
		}
		if wrong < errors {
			set, errors = s, wrong
		}
	}
	return set, errors
}

// Sets returns the concepts, ascending.
func (c *Concepts) Sets() []uint64 { return slices.Clone(c.sets) }

// CNF rewrites a disjunction of conjunctions as a conjunction of disjunctions:
// one for each choice of a literal from every term (section 7.3.3.2). A literal
// is a column counted from 1, or its negative for one that must be 0. What a
// k-term DNF says, a k-CNF says too.
func CNF(terms [][]int) [][]int {
	clauses := [][]int{{}}
	for _, term := range terms {
		var longer [][]int
		for _, c := range clauses {
			for _, l := range term {
				next := slices.Clone(c)
				if !slices.Contains(next, l) {
					next = append(next, l)
				}
				longer = append(longer, next)
			}
		}
		clauses = longer
	}
	return clauses
}
