package genetic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Strategy is an evolution strategy over real numbers (Rechenberg 1973, Schwefel
// 1981; named in section 9.8): μ parents have λ offspring by Gaussian mutation,
// whose step sizes are inherited and mutate too; the μ best of the offspring, or
// of both (Plus), are the next parents.
type Strategy struct {
	Parents, Offspring int // μ and λ; 0 mean 10 and 70
	Plus               bool
	Start              func(r *rand.Rand) []float64
	Error              func(x []float64) float64 // to be made small; called from one goroutine
	Step               float64                   // of the first generation; 0 means 1
	Generations        int
	Enough             float64 // error at which it ends
}

// Real is a point and the size of its steps along each axis.
type Real struct {
	X, Step []float64
	Error   float64
}

// Minimise runs the strategy. When the context ends it returns the best so far
// beside the context's error.
func (s Strategy) Minimise(ctx context.Context, seed uint64) (best Real, generations int, err error) {
	mu, lambda, step := s.Parents, s.Offspring, s.Step
	if mu == 0 {
		mu = 10
	}
	if lambda == 0 {
		lambda = 7 * mu
	}
	if lambda < mu && !s.Plus {
		return best, 0, fmt.Errorf("%d offspring cannot replace %d parents", lambda, mu)
	}
	if step == 0 {
		step = 1
	}
	r := rand.New(rand.NewPCG(seed, 1<<42))
	var parents []Real
	for range mu {
		x := s.Start(r)
		parents = append(parents, Real{x, slices.Repeat([]float64{step}, len(x)), s.Error(x)})
	}
	best = fittest(parents)
	for ; generations < s.Generations && best.Error > s.Enough; generations++ {
		if err := ctx.Err(); err != nil {
			return best, generations, err
		}
		all := make([]Real, 0, lambda+mu)
		for range lambda {
			all = append(all, s.offspring(r, parents[r.IntN(mu)], parents[r.IntN(mu)]))
		}
		if s.Plus {
			all = append(all, parents...)
		}
		slices.SortStableFunc(all, func(a, b Real) int { return cmp.Compare(a.Error, b.Error) })
		parents = all[:mu]
		if parents[0].Error < best.Error {
			best = parents[0]
		}
	}
	return best, generations, nil
}

// offspring takes each number from one of two parents, steps from both, and
// mutates the steps (log-normally) before it uses them.
func (s Strategy) offspring(r *rand.Rand, a, b Real) Real {
	n := len(a.X)
	c := Real{X: make([]float64, n), Step: make([]float64, n)}
	all := r.NormFloat64() / math.Sqrt(2*float64(n))
	for i := range n {
		c.X[i] = a.X[i]
		if r.IntN(2) == 1 {
			c.X[i] = b.X[i]
		}
		each := r.NormFloat64() / math.Sqrt(2*math.Sqrt(float64(n)))
		c.Step[i] = math.Max(1e-12, math.Sqrt(a.Step[i]*b.Step[i])*math.Exp(all+each))
		c.X[i] += c.Step[i] * r.NormFloat64()
	}
	c.Error = s.Error(c.X)
	return c
}

func fittest(all []Real) Real {
	return slices.MinFunc(all, func(a, b Real) int { return cmp.Compare(a.Error, b.Error) })
}

// Program is evolutionary programming (Fogel, Owens and Walsh 1966): every
// member has one mutant and no two are crossed; of both the better half by
// tournaments with ten others survives.
func Program[G any](ctx context.Context, s *Species[G], size, generations int, threshold float64, seed uint64) (*Result[G], error) {
	r := rand.New(rand.NewPCG(seed, 1<<43))
	p := &Population[G]{}
	add := func(g G) {
		p.Members = append(p.Members, g)
		p.Fitness = append(p.Fitness, s.Fitness(g))
	}
	for range size {
		add(s.Random(r))
	}
	best := &Result[G]{Last: p}
	for ; ; best.Generations++ {
		at := p.Fittest()
		if best.Generations == 0 || p.Fitness[at] > best.Fitness {
			best.Best, best.Fitness = p.Members[at], p.Fitness[at]
		}
		switch {
		case threshold > 0 && best.Fitness >= threshold:
			best.Stopped = "the fitness that was asked for is reached"
			return best, nil
		case best.Generations >= generations:
			best.Stopped = fmt.Sprintf("%d generations are over", generations)
			return best, nil
		case ctx.Err() != nil:
			return best, ctx.Err()
		}
		for i := range size {
			add(s.Mutate(r, p.Members[i]))
		}
		wins := make([]float64, len(p.Members))
		for i := range wins {
			for range 10 {
				if p.Fitness[i] >= p.Fitness[r.IntN(len(wins))] {
					wins[i]++
				}
			}
		}
		q := &Population[G]{Members: p.Members, Fitness: wins}
		next := &Population[G]{}
		for _, i := range q.order()[:size] {
			next.Members, next.Fitness = append(next.Members, p.Members[i]), append(next.Fitness, p.Fitness[i])
		}
		p, best.Last = next, next
	}
}
