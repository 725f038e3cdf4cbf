package policy

import "math"

// Episodes may end by what is done, as at a goal, or whatever is done, as a shop
// closes and people move away. Counted for each state and action by itself, ends of
// the second kind are mostly noise, and a large one: all that is to come hangs on
// them. Where the log is more probable with one frequency of ends for all states and
// actions than with one for each, that one is taken.

// surely is by how much the logarithm of a probability must be greater to be
// believed: 20 to 1.
const surely = 3.0

// oneEnding returns how frequently steps end an episode, of so many steps and ends of
// each state and action, and whether that is the same for all of them.
func oneEnding(steps, ends []float64) (share float64, same bool) {
	n, ended := 0.0, 0.0
	for i := range steps {
		n += steps[i]
		ended += ends[i]
	}
	if ended == 0 || ended == n {
		return 0, false
	}
	share = ended / n
	together := betaRatio(ended, n-ended, share)
	apart := 0.0
	for i := range steps {
		if steps[i] > 0 {
			apart += betaRatio(ends[i], steps[i]-ends[i], share)
		}
	}
	return share, together > apart+surely
}

// betaRatio is the logarithm of how probable so many ends and steps without one are,
// in a given order, before their frequency is known: it is expected to be a share, as
// surely as two steps would make one.
func betaRatio(ends, others, share float64) float64 {
	a, b := 2*share, 2*(1-share)
	return logBeta(ends+a, others+b) - logBeta(a, b)
}

func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// findEnding finds out whether steps end equally often whatever is done, by their
// states and actions.
func (j *journal) findEnding(l *lookup, s []int32) {
	if j.next == nil {
		return
	}
	ends := make([]float64, len(l.visits))
	for row, w := range j.weight {
		if j.ends[row] {
			ends[int(s[row])*l.actions+int(j.action[row])] += w
		}
	}
	if share, same := oneEnding(l.visits, ends); same {
		j.goesOn, j.ahead, j.going = 1-share, make([]float64, len(l.q)), ends
		for at, n := range l.visits {
			j.going[at] = n - ends[at]
		}
	}
}

// foresee fills in, where steps end equally often whatever is done, what the states
// that follow from each state and action are worth, of those steps that went on.
func (j *journal) foresee(l *lookup, s, next []int32, v []float64, lowest float64) {
	if j.ahead == nil {
		return
	}
	for at, w := range j.going {
		if j.ahead[at] = 0; w <= 0 {
			j.ahead[at] = lowest
		}
	}
	for row, w := range j.fair {
		if at := int(s[row])*l.actions + int(j.action[row]); !j.ends[row] && j.going[at] > 0 {
			j.ahead[at] += w / j.going[at] * known(next[row], v, lowest)
		}
	}
}

// known is what a state is worth, the lowest of all where the log never acted.
func known(state int32, v []float64, lowest float64) float64 {
	if state < 0 {
		return lowest
	}
	return v[state]
}
