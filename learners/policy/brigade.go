package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/table"
)

// A classifier system acts by rules that bid for what to do, and learns by what
// they pay: the bid of a rule goes to those that acted before it (the bucket
// brigade, Holland 1986), so that what is earned at the end comes back step by step
// to those that led there. What stands in the table is what was bid for each action.

// brigadeRules is how many rules bid, brigadeBreeds how many steps lie between
// their offspring, and brigadeLosers what those pay that were not heard.
const (
	brigadeRules  = 400
	brigadeBreeds = 25
	brigadeLosers = 0.01
)

// brigade acts, and asks rules what to do.
type brigade struct {
	*settings
	e      act.Environment
	system *genetic.ClassifierSystem
	names  []table.Attribute // of the columns of states
	cuts   [][]float64       // of those that are numbers
	cells  []float64
	values *lookup
	pcg    rand.PCG
	random *rand.Rand
}

// newBrigade lays states out as bits: whether a column has each of its values, or
// is above each number but the last that it may be.
func newBrigade(s *settings, e act.Environment, width int, seed uint64) (*brigade, error) {
	b := &brigade{settings: s, e: e, names: e.Schema().Attributes, cells: make([]float64, width), values: newLookup(width, len(e.Actions()))}
	b.random = rand.New(&b.pcg)
	place, known := e.(*act.Place)
	if known && place.Alternates() {
		return nil, errors.New("algorithm=brigade learns for one who acts, and here two take turns; take algorithm=q")
	}
	b.cuts = make([][]float64, width)
	bits := 1
	for j := range b.names {
		a := &b.names[j]
		if a.Kind == table.Nominal {
			bits += len(a.Values)
			continue
		}
		if !known {
			return nil, fmt.Errorf("algorithm=brigade reads names, and numbers of an environment that knows its states; column %q is neither: take algorithm=q with values=tiles", a.Name)
		}
		for state := range place.States() {
			place.Cells(state, b.cells)
			if at, found := slices.BinarySearch(b.cuts[j], b.cells[j]); !found && !math.IsNaN(b.cells[j]) {
				b.cuts[j] = slices.Insert(b.cuts[j], at, b.cells[j])
			}
		}
		bits += len(b.cuts[j])
	}
	b.system = genetic.NewClassifierSystem(brigadeRules, bits, len(e.Actions()), seed)
	b.system.Chain, b.system.Discount, b.system.Every, b.system.Losers = true, s.Gamma, brigadeBreeds, brigadeLosers
	return b, nil
}

// situation writes the present state as bits, and numbers it.
func (b *brigade) situation() (genetic.Bits, int32, error) {
	if failed, ok := b.e.(interface{ Err() error }); ok && failed.Err() != nil {
		return nil, 0, failed.Err()
	}
	b.e.State(b.cells)
	s := b.values.add(b.cells)
	for _, a := range b.e.Legal() {
		if q := b.values.of(s); math.IsNaN(q[a]) {
			q[a] = 0
		}
	}
	return b.bits(b.cells), s, nil
}

// bits writes a state. What is not known is neither 0 nor 1.
func (b *brigade) bits(cells []float64) genetic.Bits {
	bits := genetic.Bits{0}
	put := func(known, yes bool) {
		switch {
		case !known:
			bits = append(bits, 2)
		case yes:
			bits = append(bits, 1)
		default:
			bits = append(bits, 0)
		}
	}
	for j := range b.names {
		known := !math.IsNaN(cells[j]) && cells[j] != float64(table.Missing)
		if b.names[j].Kind == table.Nominal {
			for v := range b.names[j].Values {
				put(known, cells[j] == float64(v))
			}
			continue
		}
		known = !math.IsNaN(cells[j])
		for _, cut := range b.cuts[j] {
			put(known, cells[j] > cut)
		}
	}
	return bits
}

// episode acts until the end.
func (b *brigade) episode(ctx context.Context, seed uint64, number int) (steps int, earned float64, err error) {
	b.pcg.Seed(seed, uint64(number))
	b.e.Reset(b.pcg.Uint64())
	b.system.End()
	weight := 1.0
	for end := false; !end && steps < b.Limit; steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			return steps, earned, ctx.Err()
		}
		bits, s, err := b.situation()
		if err != nil {
			return steps, earned, err
		}
		legal := b.e.Legal()
		if len(legal) == 0 {
			return steps, earned, errors.New("no action is legal, and the episode has not ended")
		}
		if b.random.Float64() < b.Epsilon {
			legal = []int{legal[b.random.IntN(len(legal))]}
		}
		action, actors := b.system.Act(bits, legal, false)
		var r float64
		if r, end, err = b.e.Step(int(action)); err != nil {
			return steps, earned, err
		}
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return steps, earned, fmt.Errorf("the reward is %v; expected a number", r)
		}
		b.values.visits[int(s)*b.values.actions+int(action)]++
		b.system.Reward(actors, r)
		earned += weight * r
		weight *= b.Gamma
	}
	return steps, earned, nil
}

// settle writes into the table what is bid in each state that was met.
func (b *brigade) settle() {
	for s := range int32(b.values.states()) {
		bids, _ := b.system.Bids(b.bits(b.values.cells[int(s)*b.values.width:][:b.values.width]))
		for a, q := range b.values.of(s) {
			if !math.IsNaN(q) {
				b.values.of(s)[a] = bids[a]
			}
		}
	}
}

// paid returns the model after more episodes. Its rules are not kept: all episodes
// are acted again, which by the seed comes to the same.
func (m *Model) paid(ctx context.Context, e act.Environment) (*Model, error) {
	s := &m.lesson.Settings
	b, err := newBrigade(s, e, len(m.state), m.lesson.Seed)
	if err != nil {
		return nil, err
	}
	all := m.acted.Episodes + s.Episodes
	m.acted.Episodes, m.acted.Steps, m.acted.Curve = 0, 0, curve{Size: 1}
	for n := range all {
		if n%16 == 0 {
			learn.Report(ctx, float64(n)/float64(all))
		}
		steps, earned, err := b.episode(ctx, m.lesson.Seed, n)
		if err != nil {
			return nil, fmt.Errorf("episode %d, step %d: %w", n+1, steps+1, err)
		}
		m.acted.Episodes++
		m.acted.Steps += steps
		m.acted.Curve.add(earned)
	}
	b.settle()
	m.values = b.values
	learn.Report(ctx, 1)
	m.schema, err = schemaOf(e)
	return m, err
}
