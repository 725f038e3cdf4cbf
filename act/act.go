// Package act has environments: data that answer back. An agent sees a state,
// takes one of the actions that are legal in it, and is told its reward and the
// next state, until the episode ends.
//
// A state is a row of a schema, as examples are, so that whatever learns from
// tables can learn what states are worth. Environments with few states are built
// as a Model (Mitchell 1997, section 13.2; Puterman 1994), which knows all its
// transitions: it can be solved exactly, and steps through it are a few
// additions. Others, such as a pole on a cart, are computed step by step.
//
// The package knows nothing of learners: package learn hands environments to
// those that act in them. Lookup finds one by its name and settings.
package act

import (
	"math/rand/v2"

	"github.com/accrete-ml/accrete/table"
)

// Environment is a world to act in. It is used by one goroutine at a time.
type Environment interface {
	// Schema describes states: nominal columns with all their values, and
	// numbers.
	Schema() *table.Schema
	// Actions names all actions; legal ones are indices of these.
	Actions() []string
	// Reset begins an episode. Everything random in it comes from the seed.
	Reset(seed uint64)
	// State fills in the cells of the present state: numbers, and codes of
	// names.
	State(cells []float64)
	// Legal returns the actions that may be taken now, at least one unless
	// the episode has ended. It holds until the next step.
	Legal() []int
	// Step takes a legal action.
	Step(action int) (reward float64, end bool, err error)
}

// Ranged is an environment that knows between which numbers the columns of its
// states lie, as far as it matters.
type Ranged interface{ Ranges() [][2]float64 }

// Cutter is an environment whose episodes may be cut: they end because they were
// long enough, and not because there is nothing to come.
type Cutter interface{ Cut() bool }

// begin returns the random numbers of an episode.
func begin(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x13)) }
