package ensemble

import "math"

// A vote says who is right, not how surely. A pool's probabilities are a
// mixture of what its members say, each with a share of the mixture, and the
// class that is voted for is never less probable than another.
//
// Shares come from the rows that the votes' weights come from, judged before
// they were learnt: each row is credited to the members in proportion to their
// shares times the probability that they gave to what was true, and a member's
// share is its part of all credit, one row each being theirs from the start.
// Credit and shares that agree are those under which the rows are most
// probable (EM: Dempster, Laird and Rubin 1977; for learners' answers, Smyth
// and Wolpert 1999).

// trial is how probable each member found what was true, a number for each
// row and member, and what the rows weigh.
type trial struct {
	given   []float64
	weights []float64
}

const (
	mostRounds = 200
	settled    = 1e-5 // shares that move no further
)

// credited adds the rows of a trial to the members' credit.
func credited(before []float64, t *trial) []float64 {
	n := len(before)
	credit := make([]float64, n)
	share := shares(before)
	for range mostRounds {
		copy(credit, before)
		for r, weight := range t.weights {
			given := t.given[r*n : (r+1)*n]
			sum := 0.0
			for i, p := range given {
				sum += share[i] * p
			}
			if sum <= 0 {
				continue // nobody knows the class yet
			}
			for i, p := range given {
				credit[i] += weight * (share[i] * p / sum)
			}
		}
		moved := 0.0
		for i, s := range shares(credit) {
			moved = max(moved, math.Abs(s-share[i]))
			share[i] = s
		}
		if moved < settled {
			break
		}
	}
	return credit
}

// shares of the mixture that credit gives.
func shares(credit []float64) []float64 {
	total := float64(len(credit))
	for _, c := range credit {
		total += c
	}
	share := make([]float64, len(credit))
	for i, c := range credit {
		share[i] = (1 + c) / total
	}
	return share
}
