package policy

import "math"

// What states are worth can be learnt apart from actions, where the environment
// knows what follows from these: an action is worth what it earns and, discounted,
// what the state that it leads to is (equation 13.3).

// recall finds the states of the environment that the table has already.
func (t *trainer) recall() {
	if t.place == nil {
		return
	}
	key := make([]byte, 8*t.v.width)
	for state := range t.known {
		t.place.Cells(state, t.cells)
		writeKey(key, t.cells)
		t.known[state] = t.v.find(key)
	}
}

// worthOf is what a state of the environment is worth.
func (t *trainer) worthOf(state int) float64 {
	if s := t.known[state]; s >= 0 && int(s) < len(t.v.base) {
		return t.v.base[s]
	}
	return t.Start
}

// predict learns a step by TD(λ) (Sutton 1988), with traces that add up:
//
//	δ = r + γ·V(s') − V(s),  e(s) ← e(s) + 1,  V ← V + α·δ·e,  e ← γ·λ·e
func (t *trainer) predict(m *move) {
	t.grow()
	v := t.v.base
	surprise := m.r - v[m.s]
	if m.next >= 0 {
		surprise += t.Gamma * t.turn * v[m.next]
	}
	at := int(m.s) * t.v.actions
	t.v.visits[at+int(m.a)]++
	visits := 0.0
	for _, n := range t.v.visits[at:][:t.v.actions] {
		visits += n
	}
	for len(t.trace) < len(v) {
		t.trace = append(t.trace, 0)
	}
	if t.trace[m.s] == 0 {
		t.traced = append(t.traced, m.s)
	}
	t.trace[m.s]++
	d := t.step(visits) * surprise
	for _, s := range t.traced {
		v[s] += d * t.trace[s]
	}
	t.fade(t.turn * t.Gamma * t.Lambda)
}

// fade lets traces fall by a factor; 0 ends them.
func (t *trainer) fade(by float64) {
	kept := t.traced[:0]
	for _, s := range t.traced {
		if t.trace[s] *= by; math.Abs(t.trace[s]) > 1e-9 {
			kept = append(kept, s)
			continue
		}
		t.trace[s] = 0
		if t.leaning != nil {
			clear(t.leaning[int(s)*t.v.actions:][:t.v.actions])
		}
	}
	t.traced = kept
}

// settle fills in what actions are worth by what states are.
func (t *trainer) settle() {
	if t.Algorithm != "td" {
		return
	}
	for state, s := range t.known {
		if s >= 0 {
			t.place.Ahead(state, t.Gamma, t.worthOf, t.v.of(s))
		}
	}
}

// explain passes what a step brought back over a region (after Dietterich and Flann
// 1995): that a state is good is explained by what the one that it leads to is worth,
// so whatever leads to a state that is worth as much, as the environment's own model
// says, is good for the same reason, whether anybody was there or not.
func (t *trainer) explain(m *move) {
	t.v.visits[int(m.s)*t.v.actions+int(m.a)]++
	reason := t.ahead(m)
	for state := range t.known {
		for _, a := range t.place.Model.Legal(state) {
			o := t.place.Outcomes(state, a)[0] // the only one
			if ended := o.End || len(t.place.Model.Legal(o.Next)) == 0; ended != (m.next < 0) {
				continue
			} else if next := t.known[o.Next]; !ended && (next < 0 || t.turn*t.v.best(next) != reason) {
				continue // nobody knows what that is worth, or it is another reason
			}
			t.v.of(t.meet(state))[a] = o.Reward + t.Gamma*reason
		}
	}
}

// meet returns the number of a state of the environment, a new one if need be.
func (t *trainer) meet(state int) int32 {
	if s := t.known[state]; s >= 0 {
		return s
	}
	t.place.Cells(state, t.cells)
	s := t.v.add(t.cells)
	q := t.v.of(s)
	for _, a := range t.place.Model.Legal(state) {
		q[a] = t.Start
	}
	t.advised.begin(t.cells, q)
	t.known[state] = s
	return s
}
