package act

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Step is one step of an episode.
type Step struct {
	Number int       // from 1
	State  []float64 // cells before the action; of those who look only
	Action int
	Reward float64
	End    bool
}

// Choose returns one of the legal actions of a state.
type Choose func(cells []float64, legal []int) (int, error)

// Play acts one episode, for so many steps at most, and returns the sum of its
// rewards and of its discounted rewards: those of the first player where two take
// turns. Each step is shown to look, unless it is
// nil.
func Play(ctx context.Context, e Environment, seed uint64, most int, gamma float64, choose Choose, look func(Step) error) (sum, discounted float64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	e.Reset(seed)
	cells := make([]float64, len(e.Schema().Attributes))
	weight := 1.0
	for n := 1; n <= most; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return sum, discounted, ctx.Err()
		}
		e.State(cells)
		legal := e.Legal()
		if failed, ok := e.(interface{ Err() error }); ok && failed.Err() != nil {
			return sum, discounted, failed.Err()
		}
		if len(legal) == 0 {
			return sum, discounted, errors.New("no action is legal, and the episode has not ended")
		}
		action, err := choose(cells, legal)
		if err != nil {
			return sum, discounted, err
		}
		side := 1 - 2*float64(Mover(e, n-1))
		reward, end, err := e.Step(action)
		if err != nil {
			return sum, discounted, fmt.Errorf("step %d: %w", n, err)
		}
		if math.IsNaN(reward) || math.IsInf(reward, 0) {
			return sum, discounted, fmt.Errorf("step %d: the reward is %v; expected a number", n, reward)
		}
		discounted += weight * side * reward
		sum += side * reward
		weight *= gamma
		if look != nil {
			if err := look(Step{n, cells, action, reward, end}); err != nil {
				return sum, discounted, err
			}
		}
		if end {
			break
		}
	}
	return sum, discounted, nil
}
