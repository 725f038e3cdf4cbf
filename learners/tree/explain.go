package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain walks the row's path. The prior is the root's distribution; each
// test on the way is evidence, worth the change of the log probabilities from
// its node to the next, so that they add up to the answer. Where a cell is
// missing, the row is in several nodes at once and its distribution is their
// mixture: that the cell is missing is then a step like any other.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	if m.list != nil {
		return m.explainList(t, row)
	}
	w := &walker{Model: m, columns: t.Columns, row: row, crowd: []visitor{{0, 1}}}
	now := w.outlook()
	e := &learn.Explanation{Prior: now, Additive: true}
	for {
		text, ok := w.step()
		if !ok {
			break
		}
		next := w.outlook()
		e.Evidence = addEvidence(e.Evidence, "", text, now, next)
		now = next
	}
	for _, col := range w.missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[col].Name, CouldMove: m.couldMove(t, row, col)})
	}
	return e, nil
}

// impossible stands for the logarithm of 0, so that sums stay finite: no
// probability is as small.
const impossible = -1000

func logarithm(p float64) float64 {
	if p <= 0 {
		return impossible
	}
	return math.Log(p)
}

// addEvidence adds what a step changed.
func addEvidence(evidence []learn.Evidence, id, text string, now, next []float64) []learn.Evidence {
	for c := range next {
		weight := next[c] - now[c]
		i := slices.IndexFunc(evidence, func(e learn.Evidence) bool { return e.Text == text && e.Class == c })
		if i >= 0 {
			evidence[i].Weight += weight
			continue
		}
		evidence = append(evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: weight})
	}
	return evidence
}

// walker is a row on its way through a tree, in one node or in several.
type walker struct {
	*Model
	columns []table.Column
	row     int
	crowd   []visitor
	missing []int32 // tested columns whose cells are missing
}

// visitor is a fraction of a row in a node.
type visitor struct {
	node  int
	share float64
}

// outlook returns the log probabilities of the classes where the row stands,
// or the expected number.
func (w *walker) outlook() []float64 {
	c := w.tree
	if c.classes == 0 {
		if len(w.crowd) == 1 {
			return []float64{c.answer[2*w.crowd[0].node]}
		}
		mean := 0.0
		for _, v := range w.crowd {
			mean += v.share * c.answer[2*v.node]
		}
		return []float64{mean}
	}
	p := make([]float64, c.classes)
	for _, v := range w.crowd {
		c.mix(v.node, v.share, p)
	}
	for k, q := range p {
		p[k] = logarithm(q)
	}
	return p
}

// step makes the first test that is still to be made, and returns what its
// answer was; false if all of the row is in leaves.
func (w *walker) step() (string, bool) {
	c := w.tree
	i := slices.IndexFunc(w.crowd, func(v visitor) bool { return c.nodes[v.node].col != leaf })
	if i < 0 {
		return "", false
	}
	at := w.crowd[i]
	st := &c.nodes[at.node]
	if next := c.next(st, w.columns, w.row); next != 0 {
		w.crowd[i].node = next
		if p := c.plane(st); p != nil {
			for _, t := range p.terms {
				w.note(t.col)
			}
		}
		w.note(st.col)
		test := w.tests([]condition{c.condition(at.node, next-int(st.kid))})[0]
		return test.String(), true
	}
	var apart []visitor
	for k, kids := c.kids(at.node).from, c.kids(at.node); k < kids.to; k++ {
		if c.share[k] > 0 {
			apart = append(apart, visitor{k, at.share * c.share[k]})
		}
	}
	w.crowd = slices.Replace(w.crowd, i, i+1, apart...)
	a := &w.schema.Attributes[st.col]
	if isUnseen(w.columns[st.col], w.row) {
		return rule.Test{Op: rule.NotIn, Column: a.Name, Values: a.Values}.String(), true
	}
	w.note(st.col)
	return rule.Test{Op: rule.IsMissing, Column: a.Name}.String(), true
}

// note remembers that a tested cell is missing, if it is.
func (w *walker) note(col int32) {
	if isMissing(w.columns[col], w.row) && !slices.Contains(w.missing, col) {
		w.missing = append(w.missing, col)
	}
}

// couldMove returns how far the probability of the predicted class, or the
// predicted number, could move if a missing cell were known: the most over
// all values that the model tells apart.
func (m *Model) couldMove(t *table.Table, row int, col int32) float64 {
	one := t.Slice(row, row+1)
	columns := slices.Clone(one.Columns)
	answer := func() []float64 {
		switch {
		case m.list != nil:
			return slices.Clone(m.list.probabilities(m.list.match(columns, 0)))
		case m.tree.classes == 0:
			mean, _, _ := m.tree.regress(columns, 0)
			return []float64{mean}
		}
		p := make([]float64, m.tree.classes)
		m.tree.classify(columns, 0, p)
		return p
	}
	now := answer()
	best := 0
	if len(now) > 1 {
		best = learn.Best(now, m.schema.Attributes[m.target].Values)
	}
	furthest := 0.0
	try := func() {
		if d := math.Abs(answer()[best] - now[best]); d > furthest {
			furthest = d
		}
	}
	if a := &m.schema.Attributes[col]; a.Kind == table.Nominal {
		for v := range a.Values {
			columns[col].Codes = []int32{int32(v)}
			try()
		}
		return furthest
	}
	for _, x := range append(m.thresholds(col, one.Columns), math.Inf(1)) {
		columns[col].Floats = []float64{x}
		try()
	}
	return furthest
}

// thresholds returns numbers on all sides of those that a column is compared
// with, for a row's other cells.
func (m *Model) thresholds(col int32, columns []table.Column) []float64 {
	var all []float64
	add := func(at int32, threshold float64, p *plane) {
		if p == nil {
			if at == col {
				all = append(all, threshold)
			}
			return
		}
		if x, ok := p.crossing(columns, 0, col, threshold); ok {
			near := 1e-9 * (1 + math.Abs(x))
			all = append(all, x-near, x, x+near)
		}
	}
	if m.tree != nil {
		for i := range m.tree.nodes {
			if st := &m.tree.nodes[i]; st.col != leaf {
				add(st.col, st.threshold, m.tree.plane(st))
			}
		}
	} else {
		for i := range m.list.rules {
			for _, c := range m.list.rules[i].conditions {
				add(c.col, c.threshold, c.plane)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// explainList names the rule that answers. Cells are missing that would have
// had to be known for an earlier rule to match.
func (m *Model) explainList(t *table.Table, row int) (*learn.Explanation, error) {
	l := m.list
	logs := func(p []float64) []float64 {
		out := make([]float64, len(p))
		for c := range p {
			out[c] = logarithm(p[c])
		}
		return out
	}
	n := sum(l.root)
	prior := make([]float64, len(l.root))
	for c := range prior {
		prior[c] = (l.root[c] + m.settings.M*(l.root[c]+1)/(n+float64(len(prior)))) / (n + m.settings.M)
	}
	matched := l.match(t.Columns, row)
	base, err := m.Rules()
	if err != nil {
		return nil, err
	}
	id, text := "", "ALWAYS"
	if matched < len(l.rules) {
		r := &base.Rules[matched]
		id, text = r.ID(), ""
		for i := range r.If {
			if i > 0 {
				text += " AND "
			}
			text += r.If[i].String()
		}
	}
	e := &learn.Explanation{Prior: logs(prior), Additive: true}
	e.Evidence = addEvidence(nil, id, text, e.Prior, logs(l.probabilities(matched)))
	var missing []int32
	for i := range l.rules[:matched] {
		for _, c := range l.rules[i].conditions {
			for _, col := range c.columns() {
				if isMissing(t.Columns[col], row) && !slices.Contains(missing, col) {
					missing = append(missing, col)
				}
			}
		}
	}
	for _, col := range missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[col].Name, CouldMove: m.couldMove(t, row, col)})
	}
	return e, nil
}

// isUnseen reports whether a cell is known, but of no value that the model
// knows.
func isUnseen(column table.Column, row int) bool {
	return column.Codes != nil && column.Codes[row] != table.Missing
}

// isMissing reports whether a cell is missing.
func isMissing(column table.Column, row int) bool {
	if column.Codes != nil {
		return column.Codes[row] == table.Missing
	}
	return table.IsMissing(column.Floats[row])
}
