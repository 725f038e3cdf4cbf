package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

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
	trees     trees     // of questions about numbers among numbers
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
			s.Rules += n.rows(m.net.nodes) * (1 + len(n.lines))
			s.Units += len(n.parents) + len(n.lines)
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
		m.net.width = float64(m.lesson.Settings.Width)
		if m.exact() {
			m.tree, m.wide = compile(m.net, m.net.groups(func(int) bool { return false }, -1))
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

// exact reports whether answers are worked out where they can be.
func (m *Model) exact() bool {
	i := m.lesson.Settings.Inference
	return i == "" || i == "exact" || i == "elimination"
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
	return newDesk(len(m.net.nodes))
}

// trees are junction trees by which numbers are known, and which is wanted.
type trees struct {
	lock sync.RWMutex
	by   map[string]*junction // nil: too wide
}

// mostTrees bounds those that are remembered.
const mostTrees = 256

// compiledFor returns the junction tree of a question: of the desk's findings, and
// of a number that is wanted (−1: none). It is nil where answers are sampled.
func (m *Model) compiledFor(d *desk, wanted int) *junction {
	if m.tree == nil || !m.net.lined {
		return m.tree
	}
	d.pattern = d.pattern[:0]
	for v := range m.net.nodes {
		switch {
		case !m.net.nodes[v].numeric:
		case v == wanted:
			d.pattern = append(d.pattern, 2)
		case d.floats[v] == d.floats[v]:
			d.pattern = append(d.pattern, 1)
		default:
			d.pattern = append(d.pattern, 0)
		}
	}
	m.trees.lock.RLock()
	tree, ok := m.trees.by[string(d.pattern)]
	m.trees.lock.RUnlock()
	if ok {
		return tree
	}
	tree, err := compile(m.net, m.net.groups(func(v int) bool { return d.floats[v] == d.floats[v] }, wanted))
	if err != nil {
		tree = nil
	}
	m.trees.lock.Lock()
	defer m.trees.lock.Unlock()
	if m.trees.by == nil || len(m.trees.by) >= mostTrees {
		m.trees.by = map[string]*junction{}
	}
	m.trees.by[string(d.pattern)] = tree
	return tree
}

// collect takes the findings of a question in, and returns the log of their
// probability; false where that can only be sampled.
func (m *Model) collect(d *desk, wanted int) (log float64, ok bool) {
	tree := m.compiledFor(d, wanted)
	if tree == nil {
		return 0, false
	}
	d.use(tree)
	return tree.collect(d), true
}

// posterior fills in the distribution of a nominal column given the desk's
// findings, and returns the log of their probability, −Inf if they cannot be: by the
// junction tree, by eliminating the other columns where that is asked for or the tree
// is too wide, or by sampling where that is too wide as well. Sampled answers tell it
// within their error.
func (m *Model) posterior(d *desk, column int, p []float64) float64 {
	if m.lesson.Settings.Inference == "elimination" {
		if log, ok := m.eliminated(d.findings, column, p); ok {
			return log
		}
	}
	log, ok := m.collect(d, -1)
	if !ok {
		if log, ok := m.eliminated(d.findings, column, p); ok {
			return log
		}
		return m.sampled(d.findings, column, p)
	}
	if math.IsInf(log, -1) {
		clear(p)
		return log
	}
	d.tree.marginal(d, column, p)
	return log
}

// eliminated answers by variable elimination; false where that is not wanted, or
// takes too much room.
func (m *Model) eliminated(f *findings, column int, p []float64) (log float64, ok bool) {
	if !m.exact() {
		return 0, false
	}
	log, err := (&elimination{net: m.net, findings: f}).sum(p, column)
	if err != nil {
		return 0, false
	}
	total := 0.0
	for _, x := range p {
		total += x
	}
	for k := range p {
		p[k] /= total
	}
	if total == 0 {
		clear(p)
	}
	return log, true
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
	if math.IsInf(m.find(d, p), -1) {
		copy(p, m.alone)
	}
}

// find fills in the target's distribution, and returns the log of the probability of
// what says so: −Inf if it cannot be.
func (m *Model) find(d *desk, p []float64) float64 {
	known, log := m.net.blanket(d.findings, m.target, p)
	if !known {
		log = m.posterior(d, m.target, p)
	}
	return log
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
	var wide atomic.Bool
	err := learn.Split(ctx, t.Rows(), func(lo, hi int) {
		d := m.desk()
		defer m.desks.Put(d)
		for row := lo; row < hi; row++ {
			d.read(t, row, learn.NoTarget)
			log, ok := m.collect(d, -1)
			if !ok {
				wide.Store(true)
			}
			out[row] = max(log, -math.MaxFloat64)
		}
	})
	if err == nil && wide.Load() {
		return fmt.Errorf("rows that know so few of the numbers would take tables of more than %.0f numbers; allow more (width=), fill in cells first, or learn with fewer parents", m.net.limit())
	}
	return err
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
		for row := lo; row < hi && ctx.Err() == nil; row++ {
			m.fill(d, t, row, columns, room)
		}
	})
	if err != nil {
		return nil, err
	}
	return table.New(t.Schema, columns, t.Weights)
}

// room is the most states.
func (m *Model) room() int {
	most := 1
	for v := range m.net.nodes {
		most = max(most, m.net.nodes[v].states)
	}
	return most
}

// fill fills in the missing cells of a row.
func (m *Model) fill(d *desk, t *table.Table, row int, columns []table.Column, room []float64) {
	read, asked := false, false
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		gone := n.states > 0 && t.Columns[v].Codes[row] == table.Missing || n.numeric && table.IsMissing(t.Columns[v].Floats[row])
		if !gone {
			continue
		}
		if !read {
			d.read(t, row, learn.NoTarget)
			if log, ok := m.collect(d, -1); ok && math.IsInf(log, -1) {
				for j := range d.codes { // cannot be: as if nothing were known
					d.codes[j], d.floats[j] = -1, math.NaN()
				}
			}
			read = true
		}
		if n.states > 0 {
			p := room[:n.states]
			if tree := m.compiledFor(d, -1); asked && tree == d.tree && tree != nil {
				tree.marginal(d, v, p)
			} else {
				m.posterior(d, v, p)
				asked = d.tree != nil
			}
			columns[v].Codes[row] = int32(learn.Best(p, m.schema.Attributes[v].Values))
			continue
		}
		x, _ := m.normal(d, v)
		asked = false
		columns[v].Floats[row] = x.centre()
	}
}
