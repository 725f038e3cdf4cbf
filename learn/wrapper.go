package learn

import (
	"slices"
	"strings"
	"sync"
)

// Wrapper is a model around another, such as one that was told rules. Its
// learner, schema and target are those of the model within, and so are its
// parts, with more of its own behind them (RegisterWrapper).
type Wrapper interface {
	Model
	// Unwrap returns the model within.
	Unwrap() Model
	// Adds reports whether the wrapper has an ability that the model within
	// may lack. The ability is a nil pointer to its interface, such as
	// (*Forgetter)(nil).
	Adds(ability any) bool
}

// Ability returns the model as one that has a further ability, such as
// Updater, if it has it. It looks through wrappers, as errors.As does: what a
// wrapper says nothing of is done by the model within, and what it only
// changes it can do if the model within can.
func Ability[A any](m Model) (A, bool) {
	able, ok := m.(A)
	w, wraps := m.(Wrapper)
	if !wraps {
		return able, ok
	}
	within, has := Ability[A](w.Unwrap())
	if ok && (has || w.Adds((*A)(nil))) {
		return able, true
	}
	if ok {
		var none A
		return none, false
	}
	return within, has
}

// layer is the saved form of a wrapper: the name of its first part, which the
// names of the others begin with, and what puts it back around a model.
type layer struct {
	part   string
	decode func(within Model, parts []Part) (Model, error)
}

var wrappers struct {
	sync.RWMutex
	all []layer
}

// RegisterWrapper makes known how models of a kind are put back around others.
// Its parts are the one of this name, and those whose names begin with the
// name and a slash.
func RegisterWrapper(part string, decode func(within Model, parts []Part) (Model, error)) {
	wrappers.Lock()
	defer wrappers.Unlock()
	wrappers.all = append(wrappers.all, layer{part, decode})
}

// wrapping is a layer that is there.
type wrapping struct {
	layer
	parts []Part
}

// unwrapParts separates a model's own parts from those of the wrappers around
// it, the innermost first.
func unwrapParts(own []Part) (_ []Part, around []wrapping) {
	wrappers.RLock()
	defer wrappers.RUnlock()
	for _, l := range wrappers.all {
		mine := func(p Part) bool { return p.Name == l.part || strings.HasPrefix(p.Name, l.part+"/") }
		if slices.ContainsFunc(own, mine) {
			around = append(around, wrapping{l, slices.DeleteFunc(slices.Clone(own), func(p Part) bool { return !mine(p) })})
			own = slices.DeleteFunc(slices.Clone(own), mine)
		}
	}
	return own, around
}
