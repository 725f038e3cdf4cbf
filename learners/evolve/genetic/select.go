package genetic

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
)

// Selection is how members are chosen to be copied and to mate (section 9.2.3).
type Selection struct {
	Method Method
	// Fitter is the probability that the fitter of two wins their tournament;
	// 0 means 1.
	Fitter float64
}

// Method is a way to select.
type Method uint8

// The methods.
const (
	Proportionate Method = iota // roulette: Pr(h) = Fitness(h) / Σ Fitness, equation 9.1
	Tournament                  // of two drawn at random
	Rank                        // Pr(h) is proportional to its rank
)

// Probabilities returns with which probability each member is selected.
func (s Selection) Probabilities(fitness []float64) []float64 {
	n := len(fitness)
	p := make([]float64, n)
	switch s.Method {
	case Proportionate:
		total := 0.0
		for _, f := range fitness {
			total += f
		}
		for i, f := range fitness {
			if p[i] = 1 / float64(n); total > 0 {
				p[i] = f / total
			}
		}
	case Rank:
		for i, rank := range ranks(fitness) {
			p[i] = 2 * rank / (float64(n) * float64(n+1))
		}
	case Tournament: // two members, drawn with replacement
		wins := s.wins()
		for i, rank := range ranks(fitness) {
			weaker, stronger := rank-1, float64(n)-rank
			p[i] = (2*wins*weaker + 2*(1-wins)*stronger + 1) / float64(n*n)
		}
	}
	return p
}

func (s Selection) wins() float64 {
	if s.Fitter == 0 {
		return 1
	}
	return s.Fitter
}

// ranks returns the rank of each member, 1 for the least fit; equal ones share
// the mean of their ranks.
func ranks(fitness []float64) []float64 {
	order := make([]int, len(fitness))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(fitness[i], fitness[j]) })
	r := make([]float64, len(fitness))
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && fitness[order[hi]] == fitness[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			r[i] = float64(lo+hi+1) / 2
		}
		lo = hi
	}
	return r
}

// chooser returns a function that selects a member, with replacement.
func (s Selection) chooser(fitness []float64) func(r *rand.Rand) int {
	if s.Method == Tournament {
		wins := s.wins()
		return func(r *rand.Rand) int {
			a, b := r.IntN(len(fitness)), r.IntN(len(fitness))
			if (fitness[a] >= fitness[b]) == (r.Float64() < wins) {
				return a
			}
			return b
		}
	}
	cumulated := s.Probabilities(fitness)
	for i := 1; i < len(cumulated); i++ {
		cumulated[i] += cumulated[i-1]
	}
	total := cumulated[len(cumulated)-1]
	return func(r *rand.Rand) int {
		return min(sort.SearchFloat64s(cumulated, r.Float64()*total), len(cumulated)-1)
	}
}
