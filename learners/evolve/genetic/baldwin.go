package genetic

import (
	"context"
	"math/rand/v2"
)

// Genes of Hinton and Nowlan's networks: wrong, right, or left to learning.
const (
	Wrong byte = iota
	Right
	Learnt
)

// Traits is what a population of Hinton and Nowlan's networks is like: the
// shares of the three alleles, and the mean fitness.
type Traits struct{ Wrong, Right, Learnt, Fitness float64 }

// HintonNowlan runs the experiment of section 9.6.2 (Hinton and Nowlan 1987): 20
// connections, each wrong, right or to be learnt (1/4, 1/4, 1/2), of which only
// the network with all of them right is worth anything. A network guesses what
// is to be learnt, 1000 times at most; its fitness is 1 + 19 · (trials that are
// left)/1000. Without learning (learns false) what is not right is not right.
// Genes stay what they were: what is learnt is not inherited (Baldwin 1896).
func HintonNowlan(ctx context.Context, size, generations int, learns bool, seed uint64) ([]Traits, error) {
	const connections, trials = 20, 1000
	species := Species[Bits]{
		Random: func(r *rand.Rand) Bits {
			g := make(Bits, connections)
			for i := range g {
				if g[i] = byte(r.IntN(2)); r.IntN(2) == 0 {
					g[i] = Learnt
				}
			}
			return g
		},
		Cross: SinglePoint,
		// Of what a network learns in its life, the trials that are left stand
		// behind its genes.
		Learn: func(r *rand.Rand, g Bits) Bits {
			left, open := 0, 0
			for _, gene := range g {
				if gene == Wrong {
					return append(append(Bits(nil), g...), 0, 0)
				}
				if gene == Learnt {
					open++
				}
			}
			if !learns && open == 0 {
				left = trials
			}
			for trial := 0; learns && trial < trials; trial++ {
				if r.Uint64()&(1<<open-1) == 0 { // all guesses right
					left = trials - trial
					break
				}
			}
			return append(append(Bits(nil), g...), byte(left>>8), byte(left))
		},
		Fitness: func(g Bits) float64 { return 1 + 19*float64(int(g[connections])<<8|int(g[connections+1]))/trials },
	}
	var history []Traits
	ga := &GA[Bits]{Species: species, Size: size, Replaced: 1, Generations: generations, Watch: func(_ int, p *Population[Bits]) {
		t := Traits{Fitness: p.Mean()}
		each := 1 / float64(len(p.Members)*connections)
		for _, g := range p.Members {
			for _, gene := range g[:connections] {
				*[]*float64{&t.Wrong, &t.Right, &t.Learnt}[gene] += each
			}
		}
		history = append(history, t)
	}}
	_, err := ga.Evolve(ctx, seed)
	return history, err
}
