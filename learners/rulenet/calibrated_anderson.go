package rulenet

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// anderson looks ahead from the last rounds of a fit. Where units
// overlap nearly everywhere, rounds creep: each leaves the same share of what
// the one before left. From a few of them follows where they are heading, as
// the mixture of the rounds whose moves cancel best (Anderson acceleration;
// Bertrand and Massias, Anderson acceleration of coordinate descent, 2021).
type anderson struct {
	rounds [][]float64 // weights after each, all classes' one after the other
}

// andersonMoves is how many moves are mixed.
const andersonMoves = 5

// accelerate takes the weights after one more round in, and once there are enough
// goes to where the rounds are heading, if the loss is less there.
func (e *anderson) accelerate(r *regression) {
	e.rounds = append(e.rounds, slices.Concat(r.weights...))
	if len(e.rounds) <= andersonMoves {
		return
	}
	ahead := e.extrapolate()
	e.rounds = e.rounds[:0]
	if ahead == nil {
		return
	}
	now, scores := r.loss(), slices.Clone(r.scores)
	before := r.weights
	r.weights = slices.Collect(slices.Chunk(ahead, r.units+1))
	r.score()
	if !(r.loss() < now) {
		r.weights, r.scores = before, scores
	}
	r.exponentiate()
}

// extrapolate returns Σ c · round, where the c add up to one and Σ c · move is
// least; nil where that does not say anything.
func (e *anderson) extrapolate() []float64 {
	moves := make([][]float64, andersonMoves)
	for i := range moves {
		moves[i] = make([]float64, len(e.rounds[i]))
		for j, w := range e.rounds[i+1] {
			moves[i][j] = w - e.rounds[i][j]
		}
	}
	products := mat.NewSymDense(andersonMoves, nil)
	trace := 0.0
	for i := range moves {
		for j := range i + 1 {
			p := 0.0
			for x, m := range moves[i] {
				p += m * moves[j][x]
			}
			products.SetSym(i, j, p)
		}
		trace += products.At(i, i)
	}
	for i := range moves {
		products.SetSym(i, i, products.At(i, i)+1e-12*trace)
	}
	var factors mat.Cholesky
	var c mat.VecDense
	if !factors.Factorize(products) || factors.SolveVecTo(&c, mat.NewVecDense(andersonMoves, []float64{1, 1, 1, 1, 1})) != nil {
		return nil
	}
	total := mat.Sum(&c)
	if total == 0 || math.IsInf(total, 0) || math.IsNaN(total) {
		return nil
	}
	ahead := make([]float64, len(e.rounds[0]))
	for i := range moves {
		for j, w := range e.rounds[i+1] {
			ahead[j] += c.AtVec(i) / total * w
		}
	}
	return ahead
}
