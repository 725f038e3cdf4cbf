package theory

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Prior knowledge may say both where to begin and what to look for (Mitchell 1997,
// exercise 12.7): a network begins as a theory of rules, as in KBANN, and is trained
// towards the slopes of earlier models beside the classes of the rows, as in EBNN,
//
//	E = Σ_i [ −ln p_i(class) + μ_i Σ_j Σ_k (Δ_j A_k − Δ_j p_k)² ] + trust/2 · |w − w_theory|²,
//
// where μ_i is how far the explanation of a row is trusted (Trust). Units of a theory
// are steep, and flat where they are sure of themselves, so slopes are taken between
// two places: Δ_j is what changes where cell j becomes another name, the other of 0
// and 1, or a number half a deviation greater.

// shift is a row that is moved in one cell: the inputs that change, and how the
// probability of each class should.
type shift struct {
	changes []change
	want    []float64
}

type change struct {
	at int32
	x  float64
}

// explained has earlier models explain the rows, and says how they fared.
func (m *Model) explained(ctx context.Context, t *table.Table, examples []example) (fared Explanation, err error) {
	s := &m.lesson.Settings
	if s.Explained == "" || s.Mu == 0 {
		return fared, nil
	}
	l := ebnnLesson{Format: format, Settings: ebnnSettings{Theory: s.Explained, Mu: s.Mu}, Seed: m.lesson.Seed, Target: m.lesson.Target}
	chain, err := newExplainer(ctx, &l, m.rows, &Explained{lesson: l, rows: m.rows, schema: m.schema, target: m.target, found: m.found, inputs: m.inputs})
	if err != nil {
		return fared, err
	}
	now, err := chain.answers(ctx, t)
	if err != nil {
		return fared, err
	}
	k := len(m.classes)
	seen := make([]float64, k)
	for r := range examples {
		e, said := &examples[r], now[r*k:(r+1)*k]
		for c := range seen {
			seen[c] = falsehood
		}
		seen[e.class] = truthValue
		trusted := Trust(said, seen, truthValue-falsehood)
		e.mu = s.Mu * trusted
		fared.Trusted += e.times / sum(m.counts) * trusted
		if learn.Best(said, m.schema.Attributes[m.target].Values) == int(e.class) {
			fared.Right += e.times / sum(m.counts)
		}
	}
	for j := range t.Columns {
		if j == m.target {
			continue
		}
		for _, cells := range m.elsewhere(t, j) {
			if err := m.compareMoved(ctx, chain, t, j, cells, now, examples); err != nil {
				return fared, err
			}
		}
	}
	return fared, nil
}

// elsewhere are the cells that a column is moved to: each name, the other of 0 and 1,
// or greater numbers.
func (m *Model) elsewhere(t *table.Table, j int) (all []table.Column) {
	c := &m.columns[j]
	if m.schema.Attributes[j].Kind == table.Nominal {
		for v := range m.schema.Attributes[j].Values {
			all = append(all, table.Column{Codes: slices.Repeat([]int32{int32(v)}, t.Rows())})
		}
		return all
	}
	if !c.binary && c.scale.Factor == 0 {
		return nil
	}
	moved := slices.Clone(t.Columns[j].Floats)
	for r, x := range moved {
		if moved[r] = x + wideStep/c.scale.Factor; c.binary {
			moved[r] = 1 - x
		}
	}
	return []table.Column{{Floats: moved}}
}

// compareMoved asks the earlier models about the rows with other cells in a column.
func (m *Model) compareMoved(ctx context.Context, chain *explainer, t *table.Table, j int, cells table.Column, now []float64, examples []example) error {
	other, err := chain.with(t, j, cells)
	if err != nil {
		return err
	}
	then, err := chain.answers(ctx, other)
	if err != nil {
		return err
	}
	moved, err := m.examples(ctx, other)
	if err != nil {
		return err
	}
	k := len(m.classes)
	for r := range examples {
		if cell := t.Columns[j]; cell.Codes != nil && cell.Codes[r] < 0 || cell.Floats != nil && math.IsNaN(cell.Floats[r]) {
			continue
		}
		s := shift{changes: examples[r].changesTo(&moved[r]), want: make([]float64, k)}
		if len(s.changes) == 0 {
			continue
		}
		for c := range s.want {
			s.want[c] = (then[r*k+c] - now[r*k+c]) / (truthValue - falsehood)
		}
		examples[r].shifts = append(examples[r].shifts, s)
	}
	return nil
}

// changesTo are the inputs that differ in another row.
func (e *example) changesTo(other *example) (all []change) {
	for i, at := range e.at {
		j := slices.Index(other.at, at)
		switch {
		case j < 0:
			all = append(all, change{at, 0})
		case other.x[j] != e.x[i]:
			all = append(all, change{at, other.x[j]})
		}
	}
	for j, at := range other.at {
		if !slices.Contains(e.at, at) {
			all = append(all, change{at, other.x[j]})
		}
	}
	return all
}

// moveBy is a row moved in one cell.
func (e *example) moveBy(s *shift, moved *example) {
	moved.at, moved.x = append(moved.at[:0], e.at...), append(moved.x[:0], e.x...)
	for _, c := range s.changes {
		if i := slices.Index(e.at, c.at); i >= 0 {
			moved.x[i] = c.x
		} else {
			moved.at, moved.x = append(moved.at, c.at), append(moved.x, c.x)
		}
	}
}

// learnSlopes returns the error of a row's slopes, and adds its slope to the gradient.
func (m *Model) learnSlopes(weights []float64, e *example, r *room) float64 {
	chances := func(e *example) {
		m.score(weights, e, r)
		copy(r.p, r.scores)
		logsum.Normalise(r.p)
	}
	chances(e)
	copy(r.here, r.p)
	clear(r.pull)
	off := 0.0
	for i := range e.shifts {
		s := &e.shifts[i]
		e.moveBy(s, &r.moved)
		chances(&r.moved)
		for k := range r.p {
			d := r.p[k] - r.here[k] - s.want[k]
			off += e.times * e.mu * d * d
			r.push[k] = 2 * e.times * e.mu * d
			r.pull[k] -= r.push[k]
		}
		m.push(weights, &r.moved, r, r.push)
	}
	chances(e)
	m.push(weights, e, r, r.pull)
	return off
}

// astray is how far the slopes of a network that was trained are from those wanted.
func (m *Model) astray(examples []example) float64 {
	r := m.newRoom()
	off, slopes := 0.0, 0.0
	for i := range examples {
		e := &examples[i]
		m.probabilities(m.net.weights, e, r)
		copy(r.here, r.p)
		for j := range e.shifts {
			s := &e.shifts[j]
			e.moveBy(s, &r.moved)
			m.probabilities(m.net.weights, &r.moved, r)
			for k := range r.p {
				off += math.Abs(r.p[k] - r.here[k] - s.want[k])
				slopes++
			}
		}
	}
	return off / max(slopes, 1)
}

// push adds to the gradient what the probabilities of a row, which is the last that
// was computed, are to move by.
func (m *Model) push(weights []float64, e *example, r *room, by []float64) {
	mean := 0.0
	for k, p := range r.p {
		mean += p * by[k]
	}
	clear(r.delta)
	for c, g := range m.classes {
		if g != none {
			r.delta[m.unitOf(g)] = r.p[c] * (by[c] - mean)
		}
	}
	m.net.backward(weights, e, r.value, r.delta, r.blame, r.gradient)
}
