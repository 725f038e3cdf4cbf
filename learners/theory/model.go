package theory

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Model is a network that began as a theory. It is immutable.
type Model struct {
	lesson lesson
	rows   *kept.Rows
	schema *table.Schema
	target int

	found  []savedInput // how the columns are
	counts []float64    // weight of the rows by class
	w      float64      // W, of the theory's links
	trust  float64      // how firmly weights are held to where the theory put them
	*built

	// agreement is the weight of the rows on which the network answers as the
	// theory did, right that of those on which the theory was, and open that of
	// those of which it says nothing, or two things.
	agreement, right, open float64
	theory                 *rule.Theory
	base                   refined // what the network is read as
	chosen                 []Balance
	fared                  Explanation // of earlier models
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
	_ learn.Remarker  = (*Model)(nil)
)

// build lays the network out.
func (m *Model) build() error {
	theory, err := m.lesson.Settings.theoryFor(m.schema)
	if err != nil {
		return err
	}
	m.theory = theory
	m.built, err = build(theory, m.schema, m.target, m.found, &m.lesson.Settings)
	return err
}

// Learner returns "kbann".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the rules, and the units that are no outputs.
func (m *Model) Size() learn.Size {
	outputs := 0
	for _, g := range m.classes {
		if g != none {
			outputs++
		}
	}
	return learn.Size{Rows: sum(m.counts), Rules: len(m.base.Rules) + 1, Units: len(m.net.units) - outputs}
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.classes)
	if out.Classes != k || len(out.P) < rows*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*k, k)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		r := m.newRoom()
		for row := lo; row < hi; row++ {
			m.read(t, row, &r.example)
			m.probabilities(m.net.weights, &r.example, r)
			copy(out.Row(row), r.p)
		}
	})
}

// Theory returns what the network began as; nil is nothing.
func (m *Model) Theory() *rule.Base { return rulesOf(m.lesson.Settings.Theory) }

// Earlier returns the setting with the network that this one began as, or with the
// models that explained its rows.
func (m *Model) Earlier() (key, value string) {
	if s := &m.lesson.Settings; s.Explained != "" {
		return "explained", s.Explained
	}
	return "from", m.lesson.Settings.From
}
