package rulenet

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
)

// excerptPenalty keeps weights finite where rules part the classes cleanly: a
// unit of weight costs as much as one nat of one row.
const excerptPenalty = 1.0

// Excerpt cuts the network to a budget: it starts with the priors and adds the
// rule that promises the greatest drop in log loss, fits, and so on.
func (m *Model) Excerpt(ctx context.Context, b learn.Budget) (*learn.Excerpt, error) {
	if b.Top < 0 || b.Bits < 0 || b.Bits > 1 || (b.Top == 0) == (b.Bits == 0) {
		return nil, fmt.Errorf("a budget is a number of rules above 0 or a share of the bits from 0 to 1, not both; got %d and %v", b.Top, b.Bits)
	}
	w, err := m.trainingRows(ctx)
	if err != nil {
		return nil, err
	}
	rules := make([]foundRule, len(m.units))
	tests := make([]conjunction, len(m.units))
	for i := range m.units {
		u := &m.units[i]
		tests[i] = u.rule
		rules[i] = foundRule{class: u.class, rule: u.rule, templates: u.templates, round: u.round}
	}
	d, err := newDesign(ctx, w.examples, tests)
	if err != nil {
		return nil, err
	}
	counts := d.weigh(w.weights)
	r := newRegression(d, counts)
	none, _ := r.evaluate(counts)
	if err := r.fit(ctx, excerptPenalty, roughPrecision); err != nil {
		return nil, err
	}
	all, _ := r.evaluate(counts)

	e := &learn.Excerpt{Of: len(m.units)}
	r = newRegression(d, counts)
	r.only = make([]bool, r.units)
	loss, wrong := r.evaluate(counts)
	for e.Rules < e.Of && (b.Top == 0 || e.Rules < b.Top) && (b.Bits == 0 || none-loss < b.Bits*(none-all)) {
		next := r.mostPromising()
		if next < 0 {
			break // nothing else pays
		}
		r.only[next] = true
		e.Rules++
		if err := r.fit(ctx, excerptPenalty, roughPrecision); err != nil {
			return nil, err
		}
		loss, wrong = r.evaluate(counts)
	}
	if e.Share = 1; none > all {
		e.Share = max(0, (none-loss)/(none-all))
	}
	e.Accuracy = 1 - wrong
	e.Whole = m.trainingAccuracy(d, counts)
	cut := &Model{settings: m.settings, coding: m.coding, counts: m.counts}
	w.takeWeights(cut, rules, r)
	cut.writeRules()
	e.Base = cut.base
	e.Base.Notes = []string{e.String()}
	return e, nil
}

// trainingRows lays out the rows that the model was learnt from, coded as then.
func (m *Model) trainingRows(ctx context.Context) (*training, error) {
	w := &training{settings: m.settings, seed: m.seed}
	var err error
	if m.incremental != nil {
		w.examples, err = m.incremental.layOut(ctx)
		return w, err
	}
	if err := m.Relearning().Need("be cut to a budget"); err != nil {
		return nil, err
	}
	if w.table, err = m.rows.Table(ctx); err != nil {
		return nil, err
	}
	if !sameSchema(m.coding.schema, w.table.Schema) {
		return nil, fmt.Errorf("the network's columns are not those of its rows; load it again without its part %q", networkPart)
	}
	w.examples, err = newExamples(ctx, m.coding, w.table)
	return w, err
}

// mostPromising returns the unit not yet taken whose weights would take most off
// the loss, by its derivatives; -1 if none would.
func (r *regression) mostPromising() int {
	k := len(r.present)
	slope, curve := make([]float64, r.units*k), make([]float64, r.units*k)
	for g := range r.groups() {
		if r.sizes[g] == 0 {
			continue
		}
		for a, c := range r.present {
			p := r.probability(g, a)
			s, h := r.sizes[g]*p-r.counts[g*r.classes+c], r.sizes[g]*p*(1-p)
			for _, u := range r.fires(g) {
				slope[int(u)*k+a] += s
				curve[int(u)*k+a] += h
			}
		}
	}
	best, most := -1, 0.0
	for u := range r.units {
		if r.only[u] {
			continue
		}
		drop := 0.0
		for i := u * k; i < u*k+k; i++ {
			if pull := math.Abs(slope[i]) - r.lambda; pull > 0 {
				drop += pull * pull / (curve[i] + r.ridge)
			}
		}
		if drop > most {
			best, most = u, drop
		}
	}
	return best
}

// trainingAccuracy returns the share of the rows that the network itself gets
// right, by the groups of rows that fire the same units.
func (m *Model) trainingAccuracy(d *design, counts []float64) float64 {
	right, total := 0.0, 0.0
	for g := range d.groups() {
		row := counts[g*d.classes : (g+1)*d.classes]
		best, top := 0, math.Inf(-1)
		for c, b := range m.bias {
			for _, u := range d.fires(g) {
				b += m.units[u].weights[c]
			}
			if b > top {
				best, top = c, b
			}
		}
		right += row[best]
		total += sum(row)
	}
	return right / total
}
