package life

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
)

// StateChange is a state in which two policies act otherwise. What either does not
// know is empty.
type StateChange struct {
	State  map[string]any `json:"state"`
	Before string         `json:"before"`
	After  string         `json:"after"`
	text   string
}

// stateChanges lists the states in which two policies act otherwise, in the order of
// the second, then those that only the first knows; nil unless both are tables of
// states. Actions that are worth as much are named together.
func stateChanges(before, after learn.Model) []StateChange {
	if before == nil || after == nil {
		return nil
	}
	old, new := PolicyOf(&Part{Model: before}), PolicyOf(&Part{Model: after})
	if old == nil || new == nil {
		return nil
	}
	was := map[string]PolicyEntry{}
	for _, e := range old {
		was[stateText(before, e.State)] = e
	}
	var list []StateChange
	for _, e := range new {
		text := stateText(after, e.State)
		o, known := was[text]
		delete(was, text)
		if !known || o.acts() != e.acts() {
			list = append(list, StateChange{State: e.State, Before: o.acts(), After: e.acts(), text: text})
		}
	}
	for _, e := range old {
		text := stateText(before, e.State)
		if _, left := was[text]; left {
			list = append(list, StateChange{State: e.State, Before: e.acts(), text: text})
		}
	}
	return list
}

// metStates and metEpisodes are in how many states, and episodes, policies are compared
// that have no table of states.
const (
	metStates   = 1000
	metEpisodes = 20
)

var errMetEnough = errors.New("these are enough states")

// metChanges lets the second of two policies act in its world, where that is built in,
// and lists the states in which the first would have acted otherwise, of so many that
// it met; nothing of boards, where looking ahead takes its time.
func metChanges(ctx context.Context, before, after learn.Model) (list []StateChange, met int, err error) {
	if before == nil || after == nil {
		return nil, 0, nil
	}
	was, acted := learn.Ability[policy](before)
	is, acts := learn.Ability[policy](after)
	if !acted || !acts || PolicyOf(&Part{Model: before}) != nil && PolicyOf(&Part{Model: after}) != nil {
		return nil, 0, nil // tables were compared whole
	}
	e := worldOf(is.World())
	if e == nil || act.GameOf(e) != nil {
		return nil, 0, nil
	}
	then, other := bestKnown(was, e)
	now, err := bestKnown(is, e)
	if other != nil || err != nil {
		return nil, 0, nil // they act in different worlds
	}
	name := func(a int) string {
		if a < 0 {
			return ""
		}
		return e.Actions()[a]
	}
	seen := map[string]bool{}
	for episode := range uint64(metEpisodes) {
		_, _, err := act.Play(ctx, e, episode, longest, 1, func(cells []float64, legal []int) (int, error) {
			if met == metStates {
				return 0, errMetEnough
			}
			before, after := then(cells, legal), now(cells, legal)
			if key := fmt.Sprint(cells); !seen[key] {
				seen[key] = true
				if met++; before != after {
					list = append(list, StateChange{stateEntry(is.Schema(), is.Target(), cells), name(before), name(after), stateWords(is.Schema(), is.Target(), cells)})
				}
			}
			if after < 0 {
				after = legal[0]
			}
			return after, nil
		}, nil)
		if errors.Is(err, errMetEnough) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return list, met, nil
}

// acts are the actions that a policy may take in a state.
func (e *PolicyEntry) acts() string {
	if len(e.Ties) > 0 {
		return strings.Join(slices.Sorted(slices.Values(e.Ties)), " or ")
	}
	return e.Action
}

// stateText writes a state as tests in the order of the columns.
func stateText(m learn.Model, state map[string]any) string {
	var tests []string
	for _, a := range m.Schema().Attributes {
		switch cell, ok := state[a.Name]; {
		case ok && cell == nil:
			tests = append(tests, a.Name+" is missing")
		case ok:
			tests = append(tests, fmt.Sprintf("%s = %v", a.Name, cell))
		}
	}
	return strings.Join(tests, ", ")
}
