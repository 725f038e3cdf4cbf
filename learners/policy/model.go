package policy

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// valuer knows what actions are worth in states.
type valuer interface {
	// worth fills in the values of one state's actions, NaN for those that
	// are not legal or of which nothing is known. Cells are numbers, codes of
	// names, and NaN where they are missing.
	worth(cells, q []float64)
	// worths does so for all rows of a table of the model's columns.
	worths(ctx context.Context, m *Model, t *table.Table, q []float64) error
}

// lesson is what a policy is learnt by.
type lesson = kept.Lesson[settings]

// Model is a policy: the actions of its states by what they are worth. It is
// immutable.
type Model struct {
	lesson lesson
	schema *table.Schema
	target int   // the action
	reward int   // column of rewards, −1 if there is none
	state  []int // the other columns; of a log, those that it looks at
	values valuer

	acted *acted // by acting; nil from a log
	steps *Model // of all steps that were acted, where a learner of numbers is fitted to them

	rows    *kept.Rows  // of a log, as steps
	weight  float64     // of them
	summary learn.Model // classes as rules, where values are not a table
	agrees  float64     // share of the log's rows on which it says what the policy does
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Promiser  = (*Model)(nil)
)

// stateColumns are the columns that are neither the action nor the reward.
func stateColumns(schema *table.Schema, target, reward int) []int {
	state := []int{}
	for j := range schema.Attributes {
		if j != target && j != reward {
			state = append(state, j)
		}
	}
	return state
}

// Learner names the learner.
func (m *Model) Learner() string { return Name }

// Schema is the columns of states, the action and the reward.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target is the action.
func (m *Model) Target() int { return m.target }

// Gamma is the discount of later rewards.
func (m *Model) Gamma() float64 { return m.lesson.Settings.Gamma }

// Rewards is the column of rewards of a log, −1 if there is none.
func (m *Model) Rewards() int { return m.reward }

// States are the columns that states are told apart by.
func (m *Model) States() []int { return m.state }

// Cut reports whether the last row of an episode of a log does not end it.
func (m *Model) Cut() bool { return m.lesson.Settings.Cut }

func (m *Model) actions() []string { return m.schema.Attributes[m.target].Values }

// Size counts rows, or steps that were acted, and rules.
func (m *Model) Size() learn.Size {
	s := learn.Size{Rows: m.weight}
	if m.acted != nil {
		s.Rows = float64(m.acted.Steps)
	}
	if l, ok := m.values.(*lookup); ok {
		for i := range l.states() {
			if acts(l.of(int32(i))) {
				s.Rules++
			}
		}
	} else if m.summary != nil {
		s.Rules = m.summary.Size().Rules
	}
	return s
}

// acts reports whether a state has an action of which something is known.
func acts(q []float64) bool {
	for _, x := range q {
		if x == x {
			return true
		}
	}
	return false
}

// cellsOf fills in the state of a row.
func (m *Model) cellsOf(t *table.Table, row int, cells []float64) {
	for i, j := range m.state {
		if c := &t.Columns[j]; c.Floats != nil {
			cells[i] = c.Floats[row]
			continue
		}
		code := t.Columns[j].Codes[row]
		switch {
		case code == table.Missing:
			cells[i] = math.NaN()
		default:
			cells[i] = float64(code) // Unseen is a number that no state has
		}
	}
}

// worths looks all rows up.
func (l *lookup) worths(ctx context.Context, m *Model, t *table.Table, q []float64) error {
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		cells, key := make([]float64, l.width), make([]byte, 8*l.width)
		for row := lo; row < hi; row++ {
			m.cellsOf(t, row, cells)
			l.worthWith(key, cells, q[row*l.actions:][:l.actions])
		}
	})
}

// equal is how near values of one size are that count as the same.
const equal = 1e-9

// decide fills in the probabilities of actions by their values: those that are
// worth most share it evenly; where nothing is known, all do.
func decide(q, p []float64) {
	best := math.Inf(-1)
	for _, x := range q {
		if x > best {
			best = x
		}
	}
	ties := 0
	for _, x := range q {
		if best-x <= equal*max(1, math.Abs(best)) {
			ties++
		}
	}
	for a, x := range q {
		switch {
		case ties == 0:
			p[a] = 1 / float64(len(p))
		case best-x <= equal*max(1, math.Abs(best)):
			p[a] = 1 / float64(ties)
		default:
			p[a] = 0
		}
	}
}

// Predict answers with the best actions.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	a := len(m.actions())
	if out.Classes != a || len(out.P) < t.Rows()*a {
		return fmt.Errorf("room for %d probabilities, expected %d", len(out.P), t.Rows()*a)
	}
	p := out.P[:t.Rows()*a]
	if err := m.values.worths(ctx, m, t, p); err != nil {
		return err
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		q := make([]float64, a)
		for row := lo; row < hi; row++ {
			copy(q, p[row*a:][:a])
			decide(q, p[row*a:][:a])
		}
	})
}

// Values fills in what the actions of each row are worth; NaN where that is not
// known.
func (m *Model) Values(ctx context.Context, t *table.Table, q []float64) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if len(q) < t.Rows()*len(m.actions()) {
		return fmt.Errorf("room for %d values, expected %d", len(q), t.Rows()*len(m.actions()))
	}
	return m.values.worths(ctx, m, t, q)
}

// Worth fills in what actions are worth in a state by its cells, of the columns that
// it is told by: numbers, codes
// of names, and NaN where they are missing.
func (m *Model) Worth(cells, q []float64) { m.values.worth(cells, q) }

// Decide is the action that is worth most in a state, the first of several, where it
// is found sooner than what all are worth; −1 elsewhere.
func (m *Model) Decide(cells []float64) int {
	if j, ok := m.values.(*judge); ok {
		return j.decide(cells)
	}
	return -1
}
