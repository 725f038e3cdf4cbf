package policy

import (
	"container/heap"
	"fmt"
	"math"
)

// Steps that were taken can be learnt again: in memory (replay, Lin 1992), or from
// a model of the world that is counted on the way. Dyna (Sutton 1991) draws seen
// states and actions by lot; prioritised sweeping (Moore and Atkeson 1993) begins
// where values change most, and goes on with the states that lead there.

// effect is what came of an action, and how often.
type effect struct {
	r     float64
	next  int32 // −1 is the end
	count float64
}

// pair is a state and an action.
type pair struct{ s, a int32 }

// worldModel is what was seen of the world.
type worldModel struct {
	effects map[pair][]effect
	pairs   []pair           // in the order in which they were first seen
	sources map[int32][]pair // that led to a state
	waits
}

func newWorldModel() *worldModel {
	return &worldModel{effects: map[pair][]effect{}, sources: map[int32][]pair{}}
}

// see counts a step.
func (w *worldModel) see(at pair, m *move) {
	known := w.effects[at]
	if known == nil {
		w.pairs = append(w.pairs, at)
	}
	for i := range known {
		if known[i].next == m.next && known[i].r == m.r {
			known[i].count++
			return
		}
	}
	w.effects[at] = append(known, effect{m.r, m.next, 1})
	if m.next >= 0 {
		w.sources[m.next] = append(w.sources[m.next], at)
	}
}

// plan learns from what was seen before, after a step was taken.
func (t *trainer) plan(m *move) {
	w := t.v.world
	if w == nil {
		return
	}
	w.see(pair{m.s, m.a}, m)
	if t.Algorithm == "sweeping" {
		t.sweep(pair{m.s, m.a})
		return
	}
	for range t.Planning {
		at := w.pairs[t.random.IntN(len(w.pairs))]
		seen := w.effects[at]
		x := t.random.Float64() * total(seen)
		i := 0
		for ; i < len(seen)-1 && x >= seen[i].count; i++ {
			x -= seen[i].count
		}
		again := move{at.s, at.a, seen[i].r, seen[i].next, -1}
		t.learn(&again, again.r+t.Gamma*t.ahead(&again))
	}
}

func total(seen []effect) (sum float64) {
	for _, e := range seen {
		sum += e.count
	}
	return sum
}

// expected is what a pair is worth by all that was seen of it.
func (t *trainer) expected(at pair) float64 {
	seen := t.v.world.effects[at]
	sum, n := 0.0, total(seen)
	for _, e := range seen {
		worth := e.r
		if e.next >= 0 {
			worth += t.Gamma * t.turn * t.v.best(e.next)
		}
		sum += e.count / n * worth
	}
	return sum
}

// leastChange is what is too little to go on sweeping for.
const leastChange = 1e-6

// sweep learns the pairs whose values would change most.
func (t *trainer) sweep(from pair) {
	w := t.v.world
	w.push(from, math.Abs(t.expected(from)-*t.v.at(from)))
	for range t.Planning {
		at, ok := w.pop()
		if !ok {
			return
		}
		*t.v.at(at) = t.expected(at)
		for _, before := range w.sources[at.s] {
			w.push(before, math.Abs(t.expected(before)-*t.v.at(before)))
		}
	}
}

// waits are pairs that wait to be learnt again, by how much they would change.
type waits struct {
	queued map[pair]float64 // their priorities
	queue  priorities
}

// push lets a pair wait, unless it waits already with a higher priority.
func (w *waits) push(at pair, priority float64) {
	if !(priority > leastChange) || w.queued[at] >= priority {
		return
	}
	if w.queued == nil {
		w.queued = map[pair]float64{}
	}
	w.queued[at] = priority
	heap.Push(&w.queue, waiting{at, priority})
}

// pop takes the one that would change most.
func (w *waits) pop() (at pair, ok bool) {
	for len(w.queue) > 0 {
		if next := heap.Pop(&w.queue).(waiting); w.queued[next.pair] == next.priority { // else it waits with another one, or not at all
			delete(w.queued, next.pair)
			return next.pair, true
		}
	}
	return pair{}, false
}

// waiting is a pair in the queue, priorities the queue with the highest first.
type waiting struct {
	pair     pair
	priority float64
}

type priorities []waiting

func (p priorities) Len() int { return len(p) }
func (p priorities) Less(i, j int) bool {
	if p[i].priority != p[j].priority {
		return p[i].priority > p[j].priority
	}
	return p[i].pair.s < p[j].pair.s || p[i].pair.s == p[j].pair.s && p[i].pair.a < p[j].pair.a
}
func (p priorities) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *priorities) Push(x any)   { *p = append(*p, x.(waiting)) }
func (p *priorities) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// mostRemembered is how many steps are kept to be learnt again.
const mostRemembered = 100_000

// remember keeps a step; at the end of an episode as many as replay says are
// learnt again, by lot.
func (t *trainer) remember(m *move) {
	if t.Replay == 0 {
		return
	}
	if len(t.memory) < mostRemembered {
		t.memory = append(t.memory, *m)
		return
	}
	t.memory[t.random.IntN(len(t.memory))] = *m
}

func (t *trainer) replay() {
	for range min(t.Replay, t.Replay*len(t.memory)) {
		m := &t.memory[t.random.IntN(len(t.memory))]
		t.learn(m, m.r+t.Gamma*t.ahead(m))
	}
}

// rest ends the waiting: an episode begins with none, so that learning can go on
// from what is kept.
func (w *worldModel) rest() {
	if w != nil {
		clear(w.queued)
		w.queue = w.queue[:0]
	}
}

// seenEffect is the saved form of an effect, in the order in which they came.
type seenEffect struct {
	S     int32   `cbor:"s"`
	A     int32   `cbor:"a"`
	R     float64 `cbor:"r"`
	Next  int32   `cbor:"next"`
	Count float64 `cbor:"count"`
}

func (w *worldModel) saved() (all []seenEffect) {
	if w == nil {
		return nil
	}
	for _, at := range w.pairs {
		for _, e := range w.effects[at] {
			all = append(all, seenEffect{at.s, at.a, e.r, e.next, e.count})
		}
	}
	return all
}

// seenBefore is what was saved, of so many states and actions.
func seenBefore(all []seenEffect, states, actions int) (*worldModel, error) {
	if all == nil {
		return nil, nil
	}
	w := newWorldModel()
	for _, e := range all {
		if e.S < 0 || int(e.S) >= states || e.A < 0 || int(e.A) >= actions || e.Next < -1 || int(e.Next) >= states ||
			math.IsNaN(e.R) || math.IsInf(e.R, 0) || !(e.Count >= 1 && e.Count <= 1e18) {
			return nil, fmt.Errorf("what was seen of state %d is not of this world", e.S+1)
		}
		at := pair{e.S, e.A}
		before := len(w.effects[at])
		w.see(at, &move{e.S, e.A, e.R, e.Next, -1})
		if len(w.effects[at]) == before {
			return nil, fmt.Errorf("what was seen of state %d is there twice", e.S+1)
		}
		w.effects[at][before].count = e.Count
	}
	return w, nil
}
