package act

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// history is a world whose states are the last few observations, and the actions
// between them, the present one first: what is hidden in one may show in several
// (McCallum 1995). What was before the beginning is missing.
type history struct {
	Environment
	schema *table.Schema
	window int
	past   [][]float64 // the present observation first
	acts   []float64
}

func newHistory(e Environment, window int) *history {
	h := &history{Environment: e, window: window, schema: table.CopySchema(e.Schema())}
	for i := 1; i < window; i++ {
		ago := "-" + strconv.Itoa(i)
		h.schema.Attributes = append(h.schema.Attributes, table.Attribute{Name: "did" + ago, Kind: table.Nominal, Values: slices.Clone(e.Actions())})
		for _, a := range e.Schema().Attributes {
			a.Name += ago
			h.schema.Attributes = append(h.schema.Attributes, a)
		}
	}
	return h
}

// Window is how many observations a state of a world is.
func Window(e Environment) int {
	switch h := e.(type) {
	case *history:
		return h.window
	case *recorded:
		return h.window
	}
	return 1
}

func (h *history) Schema() *table.Schema { return h.schema }

func (h *history) Reset(seed uint64) {
	h.Environment.Reset(seed)
	h.begin()
}

// begin forgets what was before.
func (h *history) begin() {
	h.past, h.acts = h.past[:0], h.acts[:0]
	h.observe()
}

// observe puts the present observation first.
func (h *history) observe() {
	x := make([]float64, len(h.Environment.Schema().Attributes))
	if len(h.past) == h.window {
		x = h.past[h.window-1]
		h.past = h.past[:h.window-1]
	}
	h.Environment.State(x)
	h.past = slices.Insert(h.past, 0, x)
}

func (h *history) State(cells []float64) {
	n := len(h.Environment.Schema().Attributes)
	for i := range h.window {
		if i > 0 {
			if cells[0] = math.NaN(); i < len(h.past) {
				cells[0] = h.acts[i-1]
			}
			cells = cells[1:]
		}
		for k := range n {
			if cells[k] = math.NaN(); i < len(h.past) {
				cells[k] = h.past[i][k]
			}
		}
		cells = cells[n:]
	}
}

func (h *history) Step(action int) (float64, bool, error) {
	reward, end, err := h.Environment.Step(action)
	if err == nil {
		h.acts = slices.Insert(h.acts, 0, float64(action))
		if len(h.acts) >= h.window {
			h.acts = h.acts[:h.window-1]
		}
		h.observe()
	}
	return reward, end, err
}

// Cut reports whether the world cut an episode.
func (h *history) Cut() bool { return cut(h.Environment) }

// recorded is a program of which the last few states are one. Its names and actions
// grow as it speaks, and with them those of the states before.
type recorded struct {
	*history
	program *Program
}

// Run starts a program as Start does. As variables do in a shell, a setting may stand
// before it: window=3 ./simulator.
func Run(ctx context.Context, words []string, wait time.Duration) (Environment, error) {
	given, argv := Looks(words)
	window := 1
	for _, setting := range given {
		key, value, _ := strings.Cut(setting, "=")
		if key != "window" {
			return nil, fmt.Errorf("%s: of a program only window=N can be set, how many of its states are one", setting)
		}
		var err error
		if window, err = (settings{key: value}).count(key, 1, 100); err != nil {
			return nil, err
		}
	}
	p, err := Start(ctx, argv, wait)
	if err != nil || window == 1 {
		return p, err
	}
	return &recorded{newHistory(p, window), p}, nil
}

// Looks parts the words of a command into settings of how its states are looked at,
// which stand before it, and the command.
func Looks(words []string) (given, argv []string) {
	for i, word := range words {
		key, _, setting := strings.Cut(word, "=")
		if !setting || !slices.ContainsFunc(views, func(v Setting) bool { return v.Name == key }) {
			return words[:i], words[i:]
		}
	}
	return words, nil
}

// Err is what went wrong with the program.
func (r *recorded) Err() error { return r.program.Err() }

// Close ends the program.
func (r *recorded) Close() error { return r.program.Close() }

func (r *recorded) Reset(seed uint64) {
	r.history.Reset(seed)
	r.grow()
}

func (r *recorded) Step(action int) (float64, bool, error) {
	reward, end, err := r.history.Step(action)
	r.grow()
	return reward, end, err
}

// grow gives the columns of states before the names that came up.
func (r *recorded) grow() {
	now := r.program.Schema().Attributes
	for i := range r.schema.Attributes {
		a := &r.schema.Attributes[i]
		if at := i % (len(now) + 1); at < len(now) {
			a.Values = now[at].Values
		} else {
			a.Values = r.program.Actions()
		}
	}
}

// Know numbers names and actions as somebody does who has acted here before, in
// windows as long as these.
func (r *recorded) Know(states *table.Schema, actions []string) error {
	if len(states.Attributes) != len(r.schema.Attributes) {
		return fmt.Errorf("states of window=%d have %d columns, expected %d: act with the window that was learnt with", r.window, len(r.schema.Attributes), len(states.Attributes))
	}
	now := len(r.program.Schema().Attributes)
	if err := r.program.Know(&table.Schema{Attributes: states.Attributes[:now]}, actions); err != nil {
		return err
	}
	r.begin()
	r.grow()
	return nil
}
