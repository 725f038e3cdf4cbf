package genetic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// The rivals of evolution search the same hypotheses with its mutation, one at
// a time (O'Reilly and Oppacher 1994, named in section 9.5.3).

// Climb is hill climbing with restarts: a mutant that is no less fit takes the
// place of its parent, and after so many mutants in vain a new climb begins.
func Climb[G any](ctx context.Context, s *Species[G], tries, patience int, threshold float64, seed uint64) (*Result[G], error) {
	r := rand.New(rand.NewPCG(seed, 1<<40))
	best := &Result[G]{}
	var here G
	var height float64
	for n, idle := 0, patience; n < tries; n++ {
		if err := ctx.Err(); err != nil {
			return best, err
		}
		if idle >= patience {
			here, idle = s.Random(r), 0
			height = s.Fitness(here)
		} else {
			there := s.Mutate(r, here)
			f := s.Fitness(there)
			if idle++; f > height {
				idle = 0
			}
			if f >= height {
				here, height = there, f
			}
		}
		if n == 0 || height > best.Fitness {
			best.Best, best.Fitness = here, height
		}
		if best.Generations++; threshold > 0 && best.Fitness >= threshold {
			best.Stopped = "the fitness that was asked for is reached"
			return best, nil
		}
	}
	best.Stopped = fmt.Sprintf("%d hypotheses were tried", tries)
	return best, nil
}

// Anneal is simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): a mutant
// that is less fit by d is taken with probability exp(−d/T), and the temperature
// T falls from hot to cold by one factor a step.
func Anneal[G any](ctx context.Context, s *Species[G], tries int, hot, cold, threshold float64, seed uint64) (*Result[G], error) {
	r := rand.New(rand.NewPCG(seed, 1<<41))
	here := s.Random(r)
	height := s.Fitness(here)
	best := &Result[G]{Best: here, Fitness: height}
	cooling := math.Pow(cold/hot, 1/math.Max(1, float64(tries-1)))
	for t, n := hot, 1; n < tries; n, t = n+1, t*cooling {
		if err := ctx.Err(); err != nil {
			return best, err
		}
		there := s.Mutate(r, here)
		if f := s.Fitness(there); f >= height || r.Float64() < math.Exp((f-height)/t) {
			here, height = there, f
		}
		if height > best.Fitness {
			best.Best, best.Fitness = here, height
		}
		if best.Generations++; threshold > 0 && best.Fitness >= threshold {
			best.Stopped = "the fitness that was asked for is reached"
			return best, nil
		}
	}
	best.Stopped = fmt.Sprintf("%d hypotheses were tried", tries)
	return best, nil
}
