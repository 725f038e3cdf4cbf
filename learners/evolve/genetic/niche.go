package genetic

import (
	"context"
	"math"
	"math/rand/v2"
)

// Niche keeps a population diverse: a fit member's near copies are not to take
// it over (crowding, section 9.4). Its zero value does nothing.
type Niche struct {
	// Sharing, above 0, is the distance within which members share their
	// fitness: f′ᵢ = fᵢ / Σⱼ sh(dᵢⱼ), sh(d) = 1 − d/σ for d < σ.
	Sharing float64
	// Mating, above 0, restricts mating: the second parent is the most similar
	// of so many that were selected.
	Mating int
	// Crowding makes offspring replace the more similar of their parents, where
	// they are no less fit (deterministic crowding, Mahfoud 1995).
	Crowding bool
	// Grid, above 0, is the width of a torus on which members have places, and
	// mate with one of their four neighbours (Spiessens and Manderick 1991).
	Grid int
}

func (n Niche) needsDistance() bool { return n.Sharing > 0 || n.Mating > 0 || n.Crowding }

// Shared returns fitness divided among members that are alike.
func Shared[G any](members []G, fitness []float64, sigma float64, distance func(a, b G) float64) []float64 {
	f := make([]float64, len(fitness))
	for i := range members {
		count := 0.0
		for j := range members {
			if d := distance(members[i], members[j]); d < sigma {
				count += 1 - d/sigma
			}
		}
		f[i] = fitness[i] / max(count, 1)
	}
	return f
}

// shares returns the fitness by which members of a population are selected.
func shares[G any](n Niche, p *Population[G], distance func(a, b G) float64) []float64 {
	if n.Sharing > 0 {
		return Shared(p.Members, p.Fitness, n.Sharing, distance)
	}
	return p.Fitness
}

// Diversity is the mean distance between two different members.
func (p *Population[G]) Diversity(distance func(a, b G) float64) float64 {
	total, pairs := 0.0, 0.0
	for i := range p.Members {
		for j := range i {
			total += distance(p.Members[i], p.Members[j])
			pairs++
		}
	}
	return total / math.Max(pairs, 1)
}

// mates chooses two parents.
func (e *evolution[G]) mates(choose func(r *rand.Rand) int) (int, int) {
	ga, p := e.ga, e.now
	i := choose(e.random)
	if width := ga.Niche.Grid; width > 0 {
		return i, e.neighbour(i, width)
	}
	j := choose(e.random)
	for range ga.Niche.Mating - 1 {
		k := choose(e.random)
		if ga.Distance(p.Members[i], p.Members[k]) < ga.Distance(p.Members[i], p.Members[j]) {
			j = k
		}
	}
	return i, j
}

// neighbour returns the fitter of two neighbours of a place on the torus, drawn
// at random.
func (e *evolution[G]) neighbour(i, width int) int {
	n := len(e.now.Members)
	steps := [4]int{1, n - 1, width % n, n - width%n}
	a, b := (i+steps[e.random.IntN(4)])%n, (i+steps[e.random.IntN(4)])%n
	if e.now.Fitness[b] > e.now.Fitness[a] {
		return b
	}
	return a
}

// crowd makes the next generation by deterministic crowding: all members mate
// in random pairs, and each of two offspring meets the parent that it is more
// like.
func (e *evolution[G]) crowd(ctx context.Context) error {
	ga, p := e.ga, e.now
	order := e.random.Perm(len(p.Members))
	offspring := make([]G, 0, len(order))
	for k := 0; k+1 < len(order); k += 2 {
		i, j := order[k], order[k+1]
		a, b := ga.Cross(e.random, p.Members[i], p.Members[j])
		for _, child := range []*G{&a, &b} {
			if ga.Mutation > 0 && e.random.Float64() < ga.Mutation {
				*child = ga.Mutate(e.random, *child)
			}
		}
		straight := ga.Distance(a, p.Members[i]) + ga.Distance(b, p.Members[j])
		if straight > ga.Distance(a, p.Members[j])+ga.Distance(b, p.Members[i]) {
			a, b = b, a
		}
		offspring = append(offspring, a, b)
	}
	if err := e.evaluate(ctx, offspring, e.result.Generations+1); err != nil {
		e.now = p
		return err
	}
	young := e.now
	next := &Population[G]{Members: append([]G(nil), p.Members...), Fitness: append([]float64(nil), p.Fitness...), lived: append([]G(nil), p.lived...)}
	for k := range young.Members {
		if i := order[k]; young.Fitness[k] >= next.Fitness[i] {
			next.Members[i], next.Fitness[i], next.lived[i] = young.Members[k], young.Fitness[k], young.lived[k]
		}
	}
	e.now = next
	e.result.Generations++
	e.note()
	return nil
}
