package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// chain is what a policy makes of the states of a log: of each, the steps of the log
// that act as the policy would, and where they led. Episodes that follow a policy
// to their end are rare once they are long, but steps that do are not; where a
// state shows all that counts, steps of different episodes can be put together
// (fitted Q evaluation: Le, Voloshin and Yue 2019; with a table of states also
// marginalised importance sampling: Yin and Wang 2020).
type chain struct {
	gamma  float64
	states int
	first  []int32  // state that each episode begins in
	steps  [][]link // of each episode, those that the policy would take
	pairs  []pair   // by state
	of     []int    // pairs of state s are of[s]…of[s+1]
	next   []int32  // of each way that a step leads: the state, −1 at the end
	ways   []int    // ways of pair p are ways[p]…ways[p+1]
	rest   []float64
	// of one way to count episodes: means of pairs, shares of ways, values of states
	n, earned, share, q, v []float64
}

// pair is a state and an action that the policy takes there, and how probably.
type pair struct {
	state int32
	p     float64
}

// link is a step of the log: its pair, the way that it led, what it earned.
type link struct {
	pair, way int32
	reward    float64
}

// newChain puts steps together; nil where states are not known.
func newChain(episodes [][]Visit, gamma float64) *chain {
	c := &chain{gamma: gamma}
	type place struct{ state, action, next int32 }
	probability := map[place]float64{}
	var rests [][2]float64
	for _, visits := range episodes {
		rest := 0.0
		for t := len(visits) - 1; t >= 0; t-- {
			v := &visits[t]
			if v.State <= 0 {
				return nil
			}
			c.states = max(c.states, int(v.State))
			for len(rests) < c.states {
				rests = append(rests, [2]float64{})
			}
			rest = v.Reward + gamma*rest
			rests[v.State-1][0]++
			rests[v.State-1][1] += rest
			if next, follows := after(visits, t); follows && v.P > 0 {
				probability[place{v.State - 1, v.Action, next}] = v.P
			}
		}
	}
	for _, r := range rests {
		c.rest = append(c.rest, r[1]/max(1, r[0]))
	}
	places := make([]place, 0, len(probability))
	for p := range probability {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.action, b.action), cmp.Compare(a.next, b.next))
	})
	at := make(map[place][2]int32, len(places))
	c.of = make([]int, c.states+1)
	for i, p := range places {
		if i == 0 || p.state != places[i-1].state || p.action != places[i-1].action {
			c.pairs = append(c.pairs, pair{p.state, probability[p]})
			c.ways = append(c.ways, i)
			c.of[p.state+1]++
		}
		c.next = append(c.next, p.next)
		at[p] = [2]int32{int32(len(c.pairs) - 1), int32(i)}
	}
	c.ways = append(c.ways, len(places))
	for s := range c.states {
		c.of[s+1] += c.of[s]
	}
	for _, visits := range episodes {
		var steps []link
		for t := range visits {
			if next, follows := after(visits, t); follows && visits[t].P > 0 {
				i := at[place{visits[t].State - 1, visits[t].Action, next}]
				steps = append(steps, link{i[0], i[1], visits[t].Reward})
			}
		}
		if c.steps = append(c.steps, steps); len(visits) > 0 {
			c.first = append(c.first, visits[0].State-1)
			continue
		}
		c.first = append(c.first, -1)
	}
	c.n, c.earned, c.q = make([]float64, len(c.pairs)), make([]float64, len(c.pairs)), make([]float64, len(c.pairs))
	c.share, c.v = make([]float64, len(c.next)), slices.Clone(c.rest)
	return c
}

// after is the state that follows a step, −1 at the end; it reports whether that is
// known.
func after(visits []Visit, t int) (next int32, follows bool) {
	if t+1 < len(visits) {
		return visits[t+1].State - 1, true
	}
	return -1, !visits[t].Cut
}

// count counts steps and what they brought, with each episode counted so often.
func (c *chain) count(counts []float64) {
	clear(c.n)
	clear(c.earned)
	clear(c.share)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		for _, s := range c.steps[i] {
			c.n[s.pair] += n
			c.earned[s.pair] += n * s.reward
			c.share[s.way] += n
		}
	}
}

// chainSweeps is how often values are computed anew at most.
const chainSweeps = 5000

// estimate is what an episode earns, with each episode counted so often. Values begin
// as they were left before. What is known of no step is as it was, and at first as
// the log's own acts went on from there. Values settle when none moves by more than a
// part of the largest.
func (c *chain) estimate(counts []float64, within float64) (value float64, settles bool) {
	c.count(counts)
	for range chainSweeps {
		change, largest := 0.0, 1e-12
		for s := range c.states {
			sum, known := 0.0, 0.0
			for p := c.of[s]; p < c.of[s+1]; p++ {
				if c.n[p] > 0 {
					x := c.earned[p]
					for w := c.ways[p]; w < c.ways[p+1]; w++ {
						if next := c.next[w]; next >= 0 && c.share[w] > 0 {
							x += c.gamma * c.share[w] * c.v[next]
						}
					}
					c.q[p] = x / c.n[p]
				}
				sum += c.pairs[p].p * c.q[p]
				known += c.pairs[p].p
			}
			if known > 0 {
				sum /= known
				change = max(change, math.Abs(sum-c.v[s]))
				c.v[s] = sum
			}
			largest = max(largest, math.Abs(c.v[s]))
		}
		if settles = change <= within*largest; settles {
			break
		}
	}
	all := 0.0
	for i, n := range counts {
		if n > 0 && c.first[i] >= 0 {
			value += n * c.v[c.first[i]]
			all += n
		}
	}
	return value / max(all, 1), settles
}

// support is how many rows of the log speak for the policy, each step weighed by how
// often the policy would be there (Kish 1965), and the share of its steps of which
// the log has none. Steps count as rewards do, less from one to the next.
func (c *chain) support() (rows, unseen float64) {
	begins, d, more := make([]float64, c.states), make([]float64, c.states), make([]float64, c.states)
	for _, s := range c.first {
		if s >= 0 {
			begins[s] += 1 / float64(len(c.first))
		}
	}
	copy(d, begins)
	for range chainSweeps {
		copy(more, begins)
		for s := range c.states {
			for p := c.of[s]; p < c.of[s+1]; p++ {
				for w := c.ways[p]; w < c.ways[p+1]; w++ {
					if next := c.next[w]; next >= 0 {
						more[next] += c.gamma * d[s] * c.pairs[p].p * c.share[w] / c.n[p]
					}
				}
			}
		}
		change := 0.0
		for s := range d {
			change = max(change, math.Abs(more[s]-d[s]))
		}
		if d, more = more, d; change < 1e-9 {
			break
		}
	}
	var seen, square, all float64
	for s, x := range d {
		all += x
		for p := c.of[s]; p < c.of[s+1]; p++ {
			y := x * c.pairs[p].p
			seen += y
			square += y * y / c.n[p]
		}
	}
	if square > 0 {
		rows = seen * seen / square
	}
	return rows, 1 - seen/max(all, 1e-300)
}
