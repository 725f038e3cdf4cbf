package act

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// views are settings that every world has: other ways to look at it.
var views = []Setting{
	{"window", "1", "a state is the last so many of them and the actions between: for worlds that hide something"},
	{"horizon", "0", "steps that are left when an episode begins, a column of its own; 0 is no end"},
	{"macros", "false", "true: for each action another that repeats it for as long as it is legal and leads elsewhere"},
	{"clusters", "0", "states of numbers are taken for the nearest of so many; 0 leaves them as they are"},
}

// Views are the settings that every world has.
func Views() []Setting { return slices.Clone(views) }

// viewed looks at a world as its settings say.
func viewed(e Environment, s settings) (Environment, error) {
	clusters, err := s.count("clusters", 0, 100000)
	if err == nil && clusters > 0 {
		e, err = clustered(e, clusters)
	}
	if err != nil {
		return nil, err
	}
	switch s["macros"] {
	case "true":
		e = newMacros(e)
	case "false":
	default:
		return nil, fmt.Errorf("macros=%s: expected true or false", s["macros"])
	}
	horizon, err := s.count("horizon", 0, 1_000_000)
	if err != nil {
		return nil, err
	}
	if place, ok := e.(*Place); ok && horizon > 0 {
		if e, err = place.until(horizon); err != nil {
			return nil, err
		}
	} else if horizon > 0 {
		return nil, fmt.Errorf("horizon=%d: only worlds that know their own model have one", horizon)
	}
	window, err := s.count("window", 1, 100)
	if err != nil {
		return nil, err
	}
	if window > 1 {
		if GameOf(e) != nil {
			return nil, fmt.Errorf("window=%d: a board hides nothing", window)
		}
		e = newHistory(e, window)
	}
	return e, nil
}

// cut reports whether an episode of a world ended because it was long enough.
func cut(e Environment) bool {
	cutter, ok := e.(Cutter)
	return ok && cutter.Cut()
}

// macros is a world with an action more for each of its own, which repeats it: a
// step of a hierarchy (Singh 1993; Lin 1993). It ends where the action is no longer
// legal or leads nowhere.
type macros struct {
	Environment
	actions       []string
	legal         []int
	before, after []float64
}

// longestMacro is how often an action is repeated at most.
const longestMacro = 1000

func newMacros(e Environment) *macros {
	n := len(e.Schema().Attributes)
	m := &macros{Environment: e, actions: slices.Clone(e.Actions()), before: make([]float64, n), after: make([]float64, n)}
	for _, a := range e.Actions() {
		m.actions = append(m.actions, a+"...")
	}
	return m
}

func (m *macros) Actions() []string { return m.actions }

func (m *macros) Legal() []int {
	own, n := m.Environment.Legal(), len(m.actions)/2
	m.legal = append(m.legal[:0], own...)
	for _, a := range own {
		m.legal = append(m.legal, a+n)
	}
	return m.legal
}

func (m *macros) Step(action int) (sum float64, end bool, err error) {
	n := len(m.actions) / 2
	if action < n {
		return m.Environment.Step(action)
	}
	for range longestMacro {
		m.Environment.State(m.before)
		reward, end, err := m.Environment.Step(action - n)
		if sum += reward; end || err != nil {
			return sum, end, err
		}
		if m.Environment.State(m.after); slices.Equal(m.before, m.after) || !slices.Contains(m.Environment.Legal(), action-n) {
			break
		}
	}
	return sum, false, nil
}

// Cut reports whether the world cut an episode.
func (m *macros) Cut() bool { return cut(m.Environment) }

// timed is a state of a model and how many steps are left.
type timed struct{ state, left int }

// until is the world of which only so many steps count (finite-horizon reward): a
// state has a column more, the steps that are left.
func (p *Place) until(horizon int) (Environment, error) {
	m := p.Model
	n := len(m.schema.Attributes)
	r := rules[timed]{schema: table.CopySchema(m.schema), actions: m.actions, turns: m.turns}
	r.schema.Attributes = append(r.schema.Attributes, table.Attribute{Name: "left", Kind: table.Numeric})
	if err := table.Distinct(r.schema); err != nil {
		return nil, err
	}
	for _, s := range m.starts {
		r.starts = append(r.starts, timed{int(s), horizon})
	}
	r.cells = func(t timed, cells []float64) {
		m.Cells(t.state, cells[:n])
		cells[n] = float64(t.left)
	}
	r.legal = func(t timed) []int {
		if t.left == 0 {
			return nil
		}
		return m.Legal(t.state)
	}
	r.act = func(t timed, action int) (out []Outcome[timed]) {
		for _, o := range m.Outcomes(t.state, action) {
			out = append(out, Outcome[timed]{o.P, timed{o.Next, t.left - 1}, o.Reward, o.End || t.left == 1})
		}
		return out
	}
	limited, err := r.build()
	if err != nil {
		return nil, err
	}
	return limited.Environment(), nil
}
