// Package genetic is a genetic algorithm, and its relatives, over any kind of
// hypothesis: a population of them is judged, the fitter are copied and
// recombined, and the next generation takes their place.
//
// The text followed is Mitchell, Machine Learning (1997), chapter 9: table 9.1
// (GA), table 9.2 (the mask operators, bits.go), section 9.2.3 (select.go), section
// 9.3 (job shops, jobshop.go), section 9.4 (crowding, niche.go; the schema theorem, schema.go), section 9.5
// (trees.go; block stacking, blocks.go; subroutines, subroutines.go; filters,
// circuits.go), section 9.6 (Lamarck and Baldwin:
// Species.Learn; Hinton and Nowlan's experiment, baldwin.go), section 9.7
// (islands and grids, islands.go), section 9.8 (evolution strategies and
// evolutionary programming, strategy.go and machines.go; classifier systems with the bucket
// brigade, classifier.go) and exercise 9.4 (networks, weights.go). Rivals over
// the same hypotheses are in rivals.go.
//
// Everything random comes from a seed, and fitness is a function of the
// hypothesis: the same seed gives the same evolution on any number of cores.
//
// The learners of learners/evolve evolve with it, and experiments of package
// reproduce.
package genetic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Species is a kind of hypothesis and how it breeds. A hypothesis is never
// changed once it is made: Cross, Mutate and Learn return new ones.
type Species[G any] struct {
	// Random makes a hypothesis of the first generation.
	Random func(r *rand.Rand) G
	// Fitness judges a hypothesis: 0 or more, the larger the fitter. It is
	// called from several goroutines and depends on the hypothesis alone.
	Fitness func(g G) float64
	// Play, if not nil, judges a whole population instead, whose members may be
	// played against each other (co-evolution).
	Play func(all []G) []float64
	// Cross makes two offspring of two parents.
	Cross func(r *rand.Rand, a, b G) (G, G)
	// Mutate changes a hypothesis a little.
	Mutate func(r *rand.Rand, g G) G
	// Distance says how unlike two hypotheses are, for sharing, crowding and
	// restricted mating.
	Distance func(a, b G) float64
	// Learn, if not nil, is what a hypothesis learns in its life. What it is
	// then is what is judged (section 9.6): it is kept by Lamarckian evolution,
	// and by none other.
	Learn func(r *rand.Rand, g G) G
}

// GA is the prototypical genetic algorithm of table 9.1.
type GA[G any] struct {
	Species[G]
	Size        int     // p, hypotheses in the population
	Replaced    float64 // r, the fraction that crossover replaces at each step
	Mutation    float64 // m, the fraction of members that mutate
	Threshold   float64 // fitness at which evolution ends; 0 is none
	Settle      int     // generations to go on after that, for a better one of the same fitness
	Generations int     // at most
	Stall       int     // generations without a fitter hypothesis after which evolution ends; 0 is none
	Selection   Selection
	Elite       int  // fittest members that are copied as they are; the book has none
	Lamarckian  bool // what was learnt is inherited
	Niche       Niche
	Islands     Islands
	First       []G // members of the first generation that are given
	// Better, if not nil, tells which of two members of equal fitness to keep as
	// the best.
	Better func(a, b G) bool
	// Watch, if not nil, sees every generation; it is not to change it.
	Watch func(generation int, p *Population[G])
}

// Population is a generation: its members and their fitness.
type Population[G any] struct {
	Members []G
	Fitness []float64
	lived   []G // what the members became, where they learn
}

// Result is what evolution came to.
type Result[G any] struct {
	Best        G
	Fitness     float64
	Generations int
	Last        *Population[G]
	Stopped     string // why evolution ended
}

// Mean is the mean fitness of a population.
func (p *Population[G]) Mean() float64 {
	total := 0.0
	for _, f := range p.Fitness {
		total += f / float64(len(p.Fitness))
	}
	return total
}

// Fittest returns the index of the fittest member, the first of equal ones.
func (p *Population[G]) Fittest() int {
	best := 0
	for i, f := range p.Fitness {
		if f > p.Fitness[best] {
			best = i
		}
	}
	return best
}

// Grown is what a member became in its life, which is what was judged.
func (p *Population[G]) Grown(i int) G { return p.Lived()[i] }

// Lived is what the members became in their lives.
func (p *Population[G]) Lived() []G {
	if p.lived == nil {
		return p.Members
	}
	return p.lived
}

// check refuses what cannot evolve.
func (ga *GA[G]) check() error {
	switch {
	case ga.Random == nil || ga.Fitness == nil && ga.Play == nil:
		return errors.New("evolution needs a way to make hypotheses and a fitness")
	case ga.Size < 2:
		return fmt.Errorf("a population of %d cannot breed; expected 2 or more", ga.Size)
	case !(ga.Replaced >= 0 && ga.Replaced <= 1):
		return fmt.Errorf("a fraction of %v is to be replaced by crossover; expected 0 to 1", ga.Replaced)
	case !(ga.Mutation >= 0 && ga.Mutation <= 1):
		return fmt.Errorf("a fraction of %v is to mutate; expected 0 to 1", ga.Mutation)
	case ga.Replaced > 0 && ga.Cross == nil || ga.Mutation > 0 && ga.Mutate == nil:
		return errors.New("evolution needs a crossover and a mutation")
	case ga.Niche.needsDistance() && ga.Distance == nil:
		return errors.New("sharing, crowding and restricted mating need a distance between hypotheses")
	case ga.Elite < 0 || ga.Elite > ga.Size:
		return fmt.Errorf("an elite of %d in a population of %d", ga.Elite, ga.Size)
	}
	return nil
}

// Evolve runs the algorithm. When the context ends it returns the best
// hypothesis so far, if there is one, beside the context's error.
func (ga *GA[G]) Evolve(ctx context.Context, seed uint64) (*Result[G], error) {
	if err := ga.check(); err != nil {
		return nil, err
	}
	if ga.Islands.Count > 1 {
		return ga.evolveIslands(ctx, seed)
	}
	e, err := ga.begin(ctx, seed, 0)
	if err != nil {
		return nil, err
	}
	for e.result.Stopped == "" {
		if err = e.step(ctx); err != nil {
			break
		}
	}
	return &e.result, err
}

// evolution is a population on its way.
type evolution[G any] struct {
	ga     *GA[G]
	seed   uint64
	island uint64
	random *rand.Rand
	now    *Population[G]
	stall  int
	settle int // generations since the threshold was reached
	result Result[G]
}

// begin initialises a population, P ← p random hypotheses, and evaluates it.
func (ga *GA[G]) begin(ctx context.Context, seed, island uint64) (*evolution[G], error) {
	e := &evolution[G]{ga: ga, seed: seed, island: island, random: rand.New(rand.NewPCG(seed, island))}
	members := slices.Clone(ga.First[:min(len(ga.First), ga.Size)])
	for len(members) < ga.Size {
		members = append(members, ga.Random(e.random))
	}
	if err := e.evaluate(ctx, members, 0); err != nil {
		return nil, err
	}
	e.note()
	return e, nil
}

// step makes the next generation: select, crossover, mutate, update, evaluate.
func (e *evolution[G]) step(ctx context.Context) error {
	ga, p := e.ga, e.now
	if ga.Niche.Crowding {
		return e.crowd(ctx)
	}
	choose := ga.Selection.chooser(shares(ga.Niche, p, ga.Distance))
	next := make([]G, 0, ga.Size+1)
	next = append(next, p.fittest(ga.Elite)...)

	// 1. Select: (1−r)·p members, probabilistically.
	pairs := int(math.Round(ga.Replaced * float64(ga.Size) / 2))
	for len(next) < ga.Size-2*pairs {
		next = append(next, p.Members[choose(e.random)])
	}
	// 2. Crossover: r·p/2 pairs, chosen likewise, have two offspring each.
	elite := min(ga.Elite, ga.Size)
	for len(next) < ga.Size {
		i, j := e.mates(choose)
		a, b := ga.Cross(e.random, p.Members[i], p.Members[j])
		if next = append(next, a); len(next) < ga.Size {
			next = append(next, b)
		}
	}
	// 3. Mutate: a fraction m of the members, uniformly.
	for i := elite; i < len(next) && ga.Mutation > 0; i++ {
		if e.random.Float64() < ga.Mutation {
			next[i] = ga.Mutate(e.random, next[i])
		}
	}
	// 4. Update: P ← P_s. 5. Evaluate.
	if err := e.evaluate(ctx, next, e.result.Generations+1); err != nil {
		return err
	}
	e.result.Generations++
	e.note()
	return nil
}

// evaluate judges the members of a new generation, on all cores.
func (e *evolution[G]) evaluate(ctx context.Context, members []G, generation int) error {
	ga := e.ga
	p := &Population[G]{Members: members, Fitness: make([]float64, len(members)), lived: members}
	if ga.Learn != nil {
		p.lived = make([]G, len(members))
		if err := crew.Each(ctx, len(members), func(i int) {
			life := rand.New(rand.NewPCG(e.seed^uint64(generation+1)*0x9e3779b97f4a7c15, e.island<<32|uint64(i)))
			p.lived[i] = ga.Learn(life, members[i])
		}); err != nil {
			return err
		}
	}
	if ga.Play != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		copy(p.Fitness, ga.Play(p.lived))
	} else if err := crew.Each(ctx, len(members), func(i int) { p.Fitness[i] = ga.Fitness(p.lived[i]) }); err != nil {
		return err
	}
	for i, f := range p.Fitness {
		if !(f >= 0) { // what cannot be judged is unfit
			p.Fitness[i] = 0
		}
	}
	if ga.Lamarckian {
		p.Members = p.lived
	}
	e.now = p
	return nil
}

// note keeps the best hypothesis so far, and says when it is enough.
func (e *evolution[G]) note() {
	ga, p, r := e.ga, e.now, &e.result
	first := r.Last == nil
	r.Last = p
	fitter := first
	for i, f := range p.Fitness {
		if first && i == 0 || f > r.Fitness || f == r.Fitness && ga.Better != nil && ga.Better(p.lived[i], r.Best) {
			fitter = fitter || f > r.Fitness
			r.Best, r.Fitness = p.lived[i], f
		}
	}
	if e.stall++; fitter {
		e.stall = 0
	}
	if ga.Watch != nil {
		ga.Watch(r.Generations, p)
	}
	if ga.Threshold > 0 && r.Fitness >= ga.Threshold {
		e.settle++
	}
	switch {
	case e.settle > ga.Settle:
		r.Stopped = "the fitness that was asked for is reached"
	case r.Generations >= ga.Generations:
		r.Stopped = fmt.Sprintf("%d generations are over", r.Generations)
	case ga.Stall > 0 && e.stall >= ga.Stall:
		r.Stopped = fmt.Sprintf("nothing fitter came in %d generations", e.stall)
	}
}

// order returns the members from the fittest to the least fit.
func (p *Population[G]) order() []int {
	order := make([]int, len(p.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.Fitness[j], p.Fitness[i]) })
	return order
}

// fittest returns the n fittest members.
func (p *Population[G]) fittest(n int) []G {
	best := make([]G, 0, n)
	if n > 0 {
		for _, i := range p.order()[:min(n, len(p.Members))] {
			best = append(best, p.Members[i])
		}
	}
	return best
}
