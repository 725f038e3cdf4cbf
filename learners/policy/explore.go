package policy

import "math"

// choose takes an action in a state: mostly the best known, and others to find
// out (section 13.3.5).
func (t *trainer) choose(s int32) int32 {
	q := t.v.of(s)
	if t.Algorithm == "td" {
		t.place.Ahead(t.place.At(), t.Gamma, t.worthOf, q)
	}
	if a, ok := t.shown.next(q); ok {
		return int32(a)
	}
	switch {
	case t.Algorithm == "actorcritic":
		powers(q, 1, t.hoped)
		return t.drawn(t.hoped)
	case t.Explore == "ucb":
		visits := t.v.visits[int(s)*t.v.actions:][:t.v.actions]
		total := 1.0
		for _, n := range visits {
			total += n
		}
		for a := range q {
			t.hoped[a] = q[a] + t.Bound*t.calm(t.number)*math.Sqrt(math.Log(total)/visits[a])
			if visits[a] == 0 && q[a] == q[a] {
				t.hoped[a] = math.Inf(1)
			}
		}
		return t.greedy(t.hoped)
	}
	return t.try(q)
}

// calm is what is left of exploration in an episode.
func (s *settings) calm(episode int) float64 {
	if s.Anneal == 0 {
		return 1
	}
	return 1 / (1 + float64(episode)/float64(s.Anneal))
}

// try explores by what actions are worth, NaN of those that are not legal.
func (t *trainer) try(q []float64) int32 {
	switch t.Explore {
	case "epsilon":
		if t.Epsilon > 0 && t.random.Float64() < t.Epsilon*t.calm(t.number) {
			return t.any(q)
		}
	case "boltzmann":
		powers(q, math.Log(t.K)/t.calm(t.number), t.hoped)
		return t.drawn(t.hoped)
	case "random":
		return t.any(q)
	}
	return t.greedy(q)
}

// greedy returns the best action; one of several that are, by lot.
func (t *trainer) greedy(q []float64) int32 {
	best, pick, ties := math.Inf(-1), int32(0), 0
	for a, x := range q {
		if x > best || ties == 0 && x == x {
			best, pick, ties = x, int32(a), 1
		} else if x == best {
			if ties++; t.random.IntN(ties) == 0 {
				pick = int32(a)
			}
		}
	}
	return pick
}

// any returns a legal action by lot.
func (t *trainer) any(q []float64) int32 {
	legal := 0
	for _, x := range q {
		if x == x {
			legal++
		}
	}
	left := t.random.IntN(max(1, legal))
	for a, x := range q {
		if x == x {
			if left == 0 {
				return int32(a)
			}
			left--
		}
	}
	return 0
}

// powers fills in P(a) = k^Q(a) / Σ k^Q, of the logarithm of k; 0 of an action
// that is not legal.
func powers(q []float64, logK float64, p []float64) {
	most := math.Inf(-1)
	for _, x := range q {
		if x*logK > most {
			most = x * logK
		}
	}
	sum := 0.0
	for a, x := range q {
		p[a] = 0
		if x == x {
			p[a] = math.Exp(x*logK - most)
			sum += p[a]
		}
	}
	for a := range p {
		p[a] /= sum
	}
}

// drawn returns an action with its probability.
func (t *trainer) drawn(p []float64) int32 {
	x := t.random.Float64()
	last := int32(0)
	for a, share := range p {
		if share > 0 {
			if last = int32(a); x < share {
				return last
			}
			x -= share
		}
	}
	return last
}
