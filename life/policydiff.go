package life

import (
	"fmt"
	"slices"
	"strings"

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
