package pac

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Concepts is a finite class over a few points, written out: a concept is the
// set of its positive points, one bit each.
type Concepts struct {
	points int
	sets   []uint64 // distinct, ascending
}

// MostPoints is how many points a class may have.
const MostPoints = 64

// NewConcepts returns the class of these concepts over points 0 to points−1.
// Equal concepts count once.
func NewConcepts(points int, sets []uint64) (*Concepts, error) {
	if points < 0 || points > MostPoints {
		return nil, fmt.Errorf("%d points; expected at most %d", points, MostPoints)
	}
	if len(sets) == 0 {
		return nil, errors.New("a class needs a concept at least")
	}
	distinct := slices.Clone(sets)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if last := distinct[len(distinct)-1]; points < 64 && last>>points != 0 {
		return nil, fmt.Errorf("the concept %b has more than %d points", last, points)
	}
	return &Concepts{points, distinct}, nil
}

// Size counts the concepts.
func (c *Concepts) Size() int { return len(c.sets) }

// Shatters reports whether the class has a concept for every way of dividing
// these points into two (section 7.4.1).
func (c *Concepts) Shatters(points uint64) bool {
	want := 1 << bits.OnesCount64(points)
	if want > len(c.sets) {
		return false
	}
	seen := make(map[uint64]struct{}, want)
	for _, s := range c.sets {
		seen[s&points] = struct{}{}
	}
	return len(seen) == want
}

// VC is the size of the largest set that the class shatters, and such a set.
func (c *Concepts) VC() (dimension int, shattered uint64) {
	for size := 1; size <= c.points && 1<<size <= len(c.sets); size++ {
		found := false
		subsets(c.points, size, func(points uint64) bool {
			found = c.Shatters(points)
			if found {
				dimension, shattered = size, points
			}
			return !found
		})
		if !found {
			break
		}
	}
	return dimension, shattered
}

// subsets calls try with every set of size of the points, until it says no.
func subsets(points, size int, try func(set uint64) bool) {
	var from func(set uint64, at, left int) bool
	from = func(set uint64, at, left int) bool {
		if left == 0 {
			return try(set)
		}
		for p := at; p <= points-left; p++ {
			if !from(set|1<<p, p+1, left-1) {
				return false
			}
		}
		return true
	}
	from(0, 0, size)
}

// Optimal is the optimal mistake bound (Littlestone 1987): how many mistakes
// the best of all learners makes on the worst of all concepts and sequences,
// found by playing the game to its end. The learner answers so that the worse
// of its two futures is as good as can be.
func (c *Concepts) Optimal() int {
	return c.play(func(_, _ []uint64, ifNo, ifYes int) int { return 1 + min(ifNo, ifYes) })
}

// Halving is how many mistakes the Halving algorithm makes at worst: it says
// what most of the concepts left say, no where they are equally many.
func (c *Concepts) Halving() int {
	return c.play(func(no, yes []uint64, ifNo, ifYes int) int {
		if len(yes) > len(no) {
			return max(ifYes, 1+ifNo)
		}
		return max(ifNo, 1+ifYes)
	})
}

// play plays the game of section 7.5: an adversary names a point that divides
// the concepts left into no and yes, the learner answers, and those that agree
// with the truth are left. The mistakes still to come if the truth is no, and
// if it is yes, are given to the learner, who says how many it will make.
func (c *Concepts) play(learner func(no, yes []uint64, ifNo, ifYes int) int) int {
	known := map[string]int{}
	var worst func(left []uint64) int
	worst = func(left []uint64) int {
		if len(left) <= 1 {
			return 0
		}
		key := keyOf(left)
		if m, ok := known[key]; ok {
			return m
		}
		most := 0
		for p := range c.points {
			if no, yes := divide(left, p); len(no) > 0 && len(yes) > 0 {
				most = max(most, learner(no, yes, worst(no), worst(yes)))
			}
		}
		known[key] = most
		return most
	}
	return worst(c.sets)
}

// divide returns the concepts that leave a point out, and those that have it.
func divide(sets []uint64, point int) (no, yes []uint64) {
	for _, s := range sets {
		if s>>point&1 == 0 {
			no = append(no, s)
		} else {
			yes = append(yes, s)
		}
	}
	return no, yes
}

// keyOf names a list of concepts.
func keyOf(sets []uint64) string {
	b := make([]byte, 0, 8*len(sets))
	for _, s := range sets {
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(s>>i))
		}
	}
	return string(b)
}
