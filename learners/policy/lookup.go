package policy

import (
	"encoding/binary"
	"fmt"
	"math"
)

// lookup is a table of values: a row for each state that was met, a column for
// each action. A state is known by its cells.
type lookup struct {
	width, actions int
	index          map[string]int32
	cells          []float64   // of each state; missing is NaN
	q              []float64   // NaN: the action is not legal, or was not tried
	visits         []float64   // of each state and action
	base           []float64   // what states are worth to the critic of an actor
	rho            float64     // average reward of R-learning
	world          *worldModel // what was seen, of those who plan
	key            []byte      // scratch of the one who learns
}

func newLookup(width, actions int) *lookup {
	return &lookup{width: width, actions: actions, index: map[string]int32{}, key: make([]byte, 8*width)}
}

func (l *lookup) states() int { return len(l.q) / max(1, l.actions) }

// writeKey writes what a state is known by.
func writeKey(key []byte, cells []float64) {
	for i, x := range cells {
		switch {
		case x != x:
			x = math.NaN()
		case x == 0:
			x = 0 // not −0
		}
		binary.LittleEndian.PutUint64(key[8*i:], math.Float64bits(x))
	}
}

// find returns the number of a state, −1 if it was never met.
func (l *lookup) find(key []byte) int32 {
	if s, ok := l.index[string(key)]; ok {
		return s
	}
	return -1
}

// add numbers a state whose actions are not legal until they are allowed.
func (l *lookup) add(cells []float64) int32 {
	writeKey(l.key, cells)
	if s, ok := l.index[string(l.key)]; ok {
		return s
	}
	s := int32(l.states())
	l.index[string(l.key)] = s
	l.cells = append(l.cells, cells...)
	for range l.actions {
		l.q, l.visits = append(l.q, math.NaN()), append(l.visits, 0)
	}
	return s
}

// of returns the values of a state's actions.
func (l *lookup) of(s int32) []float64 { return l.q[int(s)*l.actions:][:l.actions] }

// at is the value of a state and an action.
func (l *lookup) at(p pair) *float64 { return &l.q[int(p.s)*l.actions+int(p.a)] }

// best is what the best action of a state is worth, 0 if it has none.
func (l *lookup) best(s int32) float64 { return highest(l.of(s)) }

// highest is the largest of the values that are known, 0 if none is.
func highest(q []float64) float64 {
	best := math.Inf(-1)
	for _, x := range q {
		if x > best {
			best = x
		}
	}
	if best == math.Inf(-1) {
		return 0
	}
	return best
}

// worth fills in the values of a state; those of one that was never met are NaN.
func (l *lookup) worth(cells, q []float64) {
	key := make([]byte, 8*l.width)
	l.worthWith(key, cells, q)
}

func (l *lookup) worthWith(key []byte, cells, q []float64) {
	writeKey(key, cells)
	if s := l.find(key); s >= 0 {
		copy(q, l.of(s))
		return
	}
	for a := range q {
		q[a] = math.NaN()
	}
}

// widen makes room for more actions.
func (l *lookup) widen(actions int) {
	n := l.states()
	q, visits := make([]float64, n*actions), make([]float64, n*actions)
	for s := range n {
		for a := range actions {
			q[s*actions+a] = math.NaN()
		}
		copy(q[s*actions:], l.of(int32(s)))
		copy(visits[s*actions:], l.visits[s*l.actions:][:l.actions])
	}
	l.q, l.visits, l.actions = q, visits, actions
}

// clone is a copy to learn with.
func (l *lookup) clone() *lookup {
	c := newLookup(l.width, l.actions)
	for s := range l.states() {
		c.add(l.cells[s*l.width:][:l.width])
	}
	copy(c.q, l.q)
	copy(c.visits, l.visits)
	c.base, c.rho = append([]float64(nil), l.base...), l.rho
	c.world, _ = seenBefore(l.world.saved(), l.states(), l.actions) // its own is sound
	return c
}

// savedLookup is its saved form.
type savedLookup struct {
	Cells  []float64 `cbor:"cells"`
	Q      []float64 `cbor:"q"`
	Visits []float64 `cbor:"visits"`
	Base   []float64 `cbor:"base,omitempty"`
	Rho    float64   `cbor:"rho,omitempty"`

	Seen []seenEffect `cbor:"seen,omitempty"`
}

func (l *lookup) saved() *savedLookup {
	return &savedLookup{l.cells, l.q, l.visits, l.base, l.rho, l.world.saved()}
}

// load checks what is read: values of the columns of a schema, each state once.
func (s *savedLookup) load(limits []int, actions int) (*lookup, error) {
	l := newLookup(len(limits), actions)
	n := len(s.Q) / max(1, actions)
	if len(s.Q) != n*actions || len(s.Visits) != len(s.Q) || len(s.Cells) != n*len(limits) {
		return nil, fmt.Errorf("a table of %d values has %d visits and %d cells", len(s.Q), len(s.Visits), len(s.Cells))
	}
	for i, x := range s.Cells {
		if limit := limits[i%len(limits)]; limit > 0 && !math.IsNaN(x) && (x != math.Trunc(x) || x < 0 || x >= float64(limit)) {
			return nil, fmt.Errorf("a state has the code %v of %d", x, limit)
		}
	}
	for i := range n {
		if l.add(s.Cells[i*l.width:][:l.width]) != int32(i) {
			return nil, fmt.Errorf("state %d is there twice", i+1)
		}
	}
	for i, q := range s.Q {
		if math.IsInf(q, 0) || !(s.Visits[i] >= 0 && s.Visits[i] <= 1e18) {
			return nil, fmt.Errorf("a value is %v after %v visits", q, s.Visits[i])
		}
	}
	for _, x := range append(append([]float64(nil), s.Base...), s.Rho) {
		if math.IsNaN(x) || math.IsInf(x, 0) || len(s.Base) > n {
			return nil, fmt.Errorf("a value of a critic is %v, of %d for %d states", x, len(s.Base), n)
		}
	}
	copy(l.q, s.Q)
	copy(l.visits, s.Visits)
	l.base, l.rho = s.Base, s.Rho
	var err error
	l.world, err = seenBefore(s.Seen, n, actions)
	return l, err
}
