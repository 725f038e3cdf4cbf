package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is a network with its tables, and the rows that it was learnt from. It
// is immutable.
type Model struct {
	lesson lesson
	rows   *kept.Rows
	kept   *counts // in place of rows
	schema *table.Schema
	target int
	weight float64
	net    *network
	counts [][]float64 // rows in each cell of the tables
	grown  []Arc

	compiling sync.Once
	tree      *junction // nil: answers are sampled
	wide      error     // why
	desks     sync.Pool
	alone     []float64 // the target when nothing is known
}

var (
	_ learn.Asker     = (*Model)(nil)
	_ learn.Imputer   = (*Model)(nil)
	_ learn.Density   = (*Model)(nil)
	_ learn.Grower    = (*Model)(nil)
	_ kept.Relearner  = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
)

// Learner returns the name of the learner.
func (m *Model) Learner() string { return Name }

// Schema returns the columns, hidden ones of the file last.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the column that is predicted, or learn.NoTarget.
func (m *Model) Target() int { return m.target }

// Size counts the rows of the tables as rules, and the arcs as units.
func (m *Model) Size() learn.Size {
	s := learn.Size{Rows: m.weight}
	for v := range m.net.nodes {
		if n := &m.net.nodes[v]; n.there() {
			s.Rules += n.rows(m.net.nodes)
			s.Units += len(n.parents)
		}
	}
	return s
}

// Grown returns a certificate for each arc.
func (m *Model) Grown() (certificates []fmt.Stringer, stopped string) {
	for _, a := range m.grown {
		certificates = append(certificates, a)
	}
	switch m.lesson.Settings.Structure {
	case "climb":
		stopped = "no arc that is added, dropped or turned raises " + m.lesson.Settings.Score + " any more, also from shaken graphs"
	case "k2":
		stopped = "no earlier column raises " + m.lesson.Settings.Score + " of a column any more, or it has as many parents as allowed"
	case "pc":
		stopped = fmt.Sprintf("all other pairs are independent given some columns, at the level %v", m.lesson.Settings.Alpha)
	}
	return certificates, stopped
}

// Order returns the columns, parents before children.
func (m *Model) Order() []string {
	names := make([]string, len(m.net.order))
	for i, v := range m.net.order {
		names[i] = m.schema.Attributes[v].Name
	}
	return names
}

// compiled makes the junction tree when the first question comes.
func (m *Model) compiled() *junction {
	m.compiling.Do(func() {
		if i := m.lesson.Settings.Inference; i == "" || i == "exact" {
			m.tree, m.wide = compile(m.net)
		}
		if m.target == learn.NoTarget {
			return
		}
		m.alone = make([]float64, m.net.nodes[m.target].states)
		d := m.desk()
		m.posterior(d, m.target, m.alone)
		m.desks.Put(d)
	})
	return m.tree
}

// desk returns a desk with nothing on it.
func (m *Model) desk() *desk {
	if d, ok := m.desks.Get().(*desk); ok {
		for v := range d.codes {
			d.codes[v], d.floats[v] = -1, math.NaN()
		}
		d.likelihood = nil
		return d
	}
	if m.tree == nil {
		return &desk{findings: newFindings(len(m.net.nodes))}
	}
	return m.tree.newDesk()
}

// posterior fills in the distribution of a nominal column given the desk's
// findings, and returns the log of their probability, −Inf if they cannot be.
// Sampled answers tell it within their error.
func (m *Model) posterior(d *desk, column int, p []float64) float64 {
	if m.tree == nil {
		return m.sampled(d.findings, column, p)
	}
	log := m.tree.collect(d)
	if math.IsInf(log, -1) {
		clear(p)
		return log
	}
	m.tree.marginal(d, column, p)
	return log
}

// Predict answers whole tables: by the Markov blanket of the target where it is
// known, else by the junction tree. A row that cannot be is answered as if
// nothing were known of it.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if m.target == learn.NoTarget {
		return ctx.Err() // a density predicts nothing
	}
	states := m.net.nodes[m.target].states
	if out.Classes != states || len(out.P) < t.Rows()*states {
		return fmt.Errorf("room for %d probabilities, expected %d", len(out.P), t.Rows()*states)
	}
	m.compiled()
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		d := m.desk()
		defer m.desks.Put(d)
		for row := lo; row < hi; row++ {
			if row%64 == 0 && ctx.Err() != nil {
				return
			}
			d.read(t, row, m.target)
			m.answer(d, out.Row(row))
		}
	})
}

// answer fills in the target's distribution.
func (m *Model) answer(d *desk, p []float64) {
	known, log := m.net.blanket(d.findings, m.target, p)
	if !known {
		log = m.posterior(d, m.target, p)
	}
	if math.IsInf(log, -1) {
		copy(p, m.alone)
	}
}

// LogDensity returns the log of the probability of each row: of its names, times
// the density of its numbers.
func (m *Model) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if len(out) < t.Rows() {
		return fmt.Errorf("room for %d numbers, expected %d", len(out), t.Rows())
	}
	if m.compiled() == nil {
		return m.needTree("tell how dense rows are")
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		d := m.desk()
		defer m.desks.Put(d)
		for row := lo; row < hi; row++ {
			d.read(t, row, learn.NoTarget)
			out[row] = max(m.tree.collect(d), -math.MaxFloat64)
		}
	})
}

func (m *Model) needTree(what string) error {
	if m.wide != nil {
		return m.wide
	}
	return fmt.Errorf("a network whose answers are sampled (inference=%s) cannot %s", m.lesson.Settings.Inference, what)
}

// Impute fills in missing cells: the most probable name, the mean of a number.
func (m *Model) Impute(ctx context.Context, t *table.Table) (*table.Table, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if m.compiled() == nil {
		return nil, m.needTree("fill in cells")
	}
	columns := make([]table.Column, len(t.Columns))
	for j := range columns {
		columns[j] = table.Column{Codes: slices.Clone(t.Columns[j].Codes), Floats: slices.Clone(t.Columns[j].Floats)}
	}
	err := learn.Split(ctx, t.Rows(), func(lo, hi int) {
		d := m.desk()
		defer m.desks.Put(d)
		room := make([]float64, m.room())
		for row := lo; row < hi; row++ {
			m.fill(d, t, row, columns, room)
		}
	})
	if err != nil {
		return nil, err
	}
	return table.New(t.Schema, columns, t.Weights)
}

// room is the most states or rows of a table.
func (m *Model) room() int {
	most := 1
	for v := range m.net.nodes {
		most = max(most, m.net.nodes[v].states, len(m.net.nodes[v].mean))
	}
	return most
}

// fill fills in the missing cells of a row.
func (m *Model) fill(d *desk, t *table.Table, row int, columns []table.Column, room []float64) {
	asked := false
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		gone := n.states > 0 && t.Columns[v].Codes[row] == table.Missing || n.numeric && table.IsMissing(t.Columns[v].Floats[row])
		if !gone {
			continue
		}
		if !asked {
			d.read(t, row, learn.NoTarget)
			if asked = true; math.IsInf(m.tree.collect(d), -1) {
				for j := range d.codes { // cannot be: as if nothing were known
					d.codes[j], d.floats[j] = -1, math.NaN()
				}
				m.tree.collect(d)
			}
		}
		if n.states > 0 {
			p := room[:n.states]
			m.tree.marginal(d, v, p)
			columns[v].Codes[row] = int32(learn.Best(p, m.schema.Attributes[v].Values))
			continue
		}
		p := room[:len(n.mean)]
		m.tree.family(d, n.parents, p)
		mean := 0.0
		for k, q := range p {
			mean += q * n.mean[k]
		}
		columns[v].Floats[row] = mean
	}
}
