package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Somebody who knows how may show it first (Lin 1992): the first episodes follow
// sequences of actions that were supplied, and are learnt from as if they had been
// chosen; with replay they are learnt from again and again.

// lessons are the episodes that are shown, as numbers of actions; nil is none.
type lessons struct {
	all     [][]int
	actions []string
	episode int
	step    int
	failed  error
}

// shownTo reads episodes, a line each or divided by semicolons, of names of actions
// divided by commas.
func (s *settings) shownTo(actions []string) (*lessons, error) {
	l := &lessons{actions: actions}
	for _, line := range strings.FieldsFunc(s.Shown, func(r rune) bool { return r == '\n' || r == ';' }) {
		var episode []int
		for _, name := range strings.Split(line, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			a := slices.Index(actions, name)
			if a < 0 {
				return nil, fmt.Errorf("setting shown: episode %d has the action %q; known are %s", len(l.all)+1, name, strings.Join(actions, ", "))
			}
			episode = append(episode, a)
		}
		if len(episode) > 0 {
			l.all = append(l.all, episode)
		}
	}
	return l, nil
}

// begin begins an episode, of which the first is 0.
func (l *lessons) begin(episode int) {
	if l != nil {
		l.episode, l.step = episode, 0
	}
}

// next is the action that is shown where actions are worth q, NaN of those that are
// not legal; false where nothing is.
func (l *lessons) next(q []float64) (action int, ok bool) {
	if l == nil || l.failed != nil || l.episode >= len(l.all) || l.step >= len(l.all[l.episode]) {
		return 0, false
	}
	action = l.all[l.episode][l.step]
	l.step++
	if math.IsNaN(q[action]) {
		l.failed = fmt.Errorf("setting shown: %q cannot be done there", l.actions[action])
		return 0, false
	}
	return action, true
}

// err tells that what was shown cannot be done.
func (l *lessons) err() error {
	if l == nil {
		return nil
	}
	return l.failed
}
