package rulenet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

const (
	// excerptPenalty keeps weights finite where rules part the classes
	// cleanly: a unit of weight costs as much as one nat of one row.
	excerptPenalty = 1.0
	// excerptRows is the number of rows from which an excerpt is chosen and
	// fitted at most; what it is worth is measured on all of them.
	excerptRows = 4000
	// oneByOne is the number of rules that are added one at a time. Beyond,
	// a quarter as many again come at once.
	oneByOne = 8
	// fewGroups is the size of a design that is fitted as it is.
	fewGroups = 2000
)

// Excerpt cuts the network to a budget: it starts with the priors and adds the
// rules that promise the greatest drop in log loss, fits, and so on. The share
// of the bits is of those that the whole network takes off the log loss of its
// rows.
func (m *Model) Excerpt(ctx context.Context, b rule.Budget) (*rule.Excerpt, error) {
	_, e, err := m.cut(ctx, b)
	return e, err
}

// Alike are settings by which other rows are learnt to a network of the same kind
// and size: how it is taught, and to how many rules, are else chosen by the rows.
func (m *Model) Alike() map[string]string {
	if !m.taught {
		if m.settings.Teacher == automaticTeacher && sum(m.counts) >= taughtRows { // climbs have won
			return map[string]string{"teacher": "none"}
		}
		return nil
	}
	return map[string]string{"teacher": "trees", "rules": strconv.Itoa(max(len(m.units), 1))}
}

// cut is the network that an excerpt tells of.
func (m *Model) cut(ctx context.Context, b rule.Budget) (*Model, *rule.Excerpt, error) {
	if b.Top < 0 || b.Bits < 0 || b.Bits > 1 || (b.Top == 0) == (b.Bits == 0) {
		return nil, nil, fmt.Errorf("a budget is a number of rules above 0 or a share of the bits from 0 to 1, not both; got %d and %v", b.Top, b.Bits)
	}
	x, err := m.startExcerpt(ctx)
	if err != nil {
		return nil, nil, err
	}
	e := &rule.Excerpt{Of: len(m.units), Whole: x.accuracy}
	loss, wrong := x.none, x.wrong
	var own *ownExcerpt // instead, where it is as good with as few rules
	for own == nil && len(x.chosen) < e.Of && (b.Top == 0 || len(x.chosen) < b.Top) && (b.Bits == 0 || x.none-loss < b.Bits*(x.none-x.all)) {
		most := 1
		if len(x.chosen) >= oneByOne {
			most = len(x.chosen) / 4
		}
		if b.Top > 0 {
			most = min(most, b.Top-len(x.chosen))
		}
		next, err := x.promising(ctx, most)
		if err != nil {
			return nil, nil, err
		}
		if len(next) == 0 {
			break // nothing else pays
		}
		x.chosen = append(x.chosen, next...)
		if loss, wrong, err = x.refit(ctx); err != nil {
			return nil, nil, err
		}
		if len(x.chosen) < e.Of/4 {
			continue
		}
		if own, err = x.ownWeights(ctx, b); err != nil {
			return nil, nil, err
		}
		if b.Bits > 0 && len(own.units) > len(x.chosen) && len(x.chosen) < e.Of/2 || b.Top > 0 && (len(x.chosen) < b.Top || own.loss >= loss) {
			own = nil
		}
	}
	cut := m.emptied()
	if own != nil {
		e.Rules, loss, wrong = len(own.units), own.loss, own.wrong
		cut.bias = m.bias
		for _, u := range own.units {
			cut.units = append(cut.units, m.units[u])
		}
	} else {
		e.Rules, e.Refitted = len(x.chosen), true
		x.rows.takeWeights(cut, x.rules(x.chosen), x.fitted)
	}
	if e.Share = 1; x.none > x.all {
		e.Share = min(1, max(0, (x.none-loss)/(x.none-x.all)))
	}
	e.Accuracy = 1 - wrong
	cut.writeRules()
	e.Base = cut.base
	e.Base.Notes = []string{e.String()}
	return cut, e, nil
}

// excerpt is a network being cut to a budget.
type excerpt struct {
	model     *Model
	rows      *training // all
	part      *training // those that rules are chosen and fitted on
	chosen    []int     // units, in the order in which they were taken
	fitted    *regression
	fires     []bits.Set // of each unit: the part's rows
	rowAt     []int32    // of each bit of the part
	groupsOf  *design    // all rows by all units
	counts    []float64  // of each of these groups and class
	own       *ownExcerpt
	none, all float64 // log loss of the priors, and of the whole network
	wrong     float64 // share of errors of the priors
	accuracy  float64 // of the whole network
}

// startExcerpt lays out the rows that the model was learnt from, and measures
// the priors and the whole network.
func (m *Model) startExcerpt(ctx context.Context) (*excerpt, error) {
	w, err := m.trainingRows(ctx)
	if err != nil {
		return nil, err
	}
	x := &excerpt{model: m, rows: w, part: w}
	if part, err := w.sampled(ctx, excerptRows); err != nil {
		return nil, err
	} else if all := w.classWeights(w.weights); !slices.ContainsFunc(someWeight(all), func(c int) bool { return part.classWeights(part.weights)[c] == 0 }) {
		x.part = part
	}
	x.rowAt = make([]int32, len(x.part.valid)*64)
	for row, at := range x.part.bit {
		x.rowAt[at] = int32(row)
	}
	x.fires = make([]bits.Set, len(m.units))
	err = learn.Each(ctx, len(m.units), func(u int) {
		x.fires[u] = make(bits.Set, len(x.part.valid))
		x.part.match(m.units[u].rule, x.fires[u])
	})
	if err != nil {
		return nil, err
	}
	if x.none, x.wrong, err = x.refit(ctx); err != nil {
		return nil, err
	}
	return x, x.measureWhole(ctx)
}

// someWeight returns the places of weights above 0.
func someWeight(weights []float64) []int {
	var some []int
	for i, w := range weights {
		if w > 0 {
			some = append(some, i)
		}
	}
	return some
}

// measureWhole finds the log loss and the accuracy of the network itself on
// all rows. Published weights count overlapping evidence more than once, so
// that their loss says nothing of what the rules know: it is measured with all
// rules fitted.
func (x *excerpt) measureWhole(ctx context.Context) error {
	every := make([]int, len(x.model.units))
	for u := range every {
		every[u] = u
	}
	d, err := x.design(ctx, x.rows, every)
	if err != nil {
		return err
	}
	x.groupsOf, x.counts = d, d.weigh(x.rows.weights)
	whole, err := x.measureOwn(ctx, every)
	if err != nil {
		return err
	}
	x.all, x.accuracy = whole.loss, 1-whole.wrong
	if x.model.settings.Weights == "calibrated" {
		return nil
	}
	fitted := x.fitted
	x.chosen = every
	x.all, _, err = x.refit(ctx)
	x.chosen, x.fitted = nil, fitted
	return err
}

// ownExcerpt is units with the weights that they have in the network.
type ownExcerpt struct {
	units       []int
	loss, wrong float64 // mean log loss and share of errors on all rows
}

// ownWeights cuts the network to a budget by leaving out the units that take
// least off its loss. Where most units stay that is better than fitting them
// again from fewer rows.
func (x *excerpt) ownWeights(ctx context.Context, b rule.Budget) (*ownExcerpt, error) {
	if x.own != nil {
		return x.own, nil
	}
	units := make([]int, len(x.model.units))
	for u := range units {
		units[u] = u
	}
	slices.SortStableFunc(units, func(u, v int) int { return cmp.Compare(x.model.units[v].removed, x.model.units[u].removed) })
	lo, hi := 0, len(units) // of the units, the first hi are enough
	if b.Top > 0 {
		lo, hi = b.Top, min(b.Top, hi)
	}
	for lo < hi {
		half := (lo + hi) / 2
		o, err := x.measureOwn(ctx, units[:half])
		if err != nil {
			return nil, err
		}
		if x.none-o.loss < b.Bits*(x.none-x.all) {
			lo = half + 1
		} else {
			hi = half
		}
	}
	var err error
	x.own, err = x.measureOwn(ctx, units[:hi])
	return x.own, err
}

// measureOwn measures units with the weights that they have in the network.
func (x *excerpt) measureOwn(ctx context.Context, units []int) (*ownExcerpt, error) {
	m, d := x.model, x.groupsOf
	taken := make([]bool, len(m.units))
	for _, u := range units {
		taken[u] = true
	}
	parts := (d.groups() + partGroups - 1) / partGroups
	losses, rights, totals := make([]float64, parts), make([]float64, parts), make([]float64, parts)
	err := learn.Each(ctx, parts, func(part int) {
		scores := make([]float64, d.classes)
		for g := part * partGroups; g < min((part+1)*partGroups, d.groups()); g++ {
			copy(scores, m.bias)
			for _, u := range d.fires(g) {
				if taken[u] {
					for c, w := range m.units[u].weights {
						scores[c] += w
					}
				}
			}
			row := x.counts[g*d.classes : (g+1)*d.classes]
			norm, best := logsum.Of(scores), 0
			for c, s := range scores {
				if s > scores[best] {
					best = c
				}
				if row[c] > 0 {
					losses[part] += row[c] * (norm - s)
				}
			}
			rights[part] += row[best]
			totals[part] += sum(row)
		}
	})
	total := sum(totals)
	return &ownExcerpt{units, sum(losses) / total, 1 - sum(rights)/total}, err
}

// rules returns units as rules that were found.
func (x *excerpt) rules(units []int) []foundRule {
	rules := make([]foundRule, len(units))
	for i, u := range units {
		of := &x.model.units[u]
		rules[i] = foundRule{class: of.class, rule: of.rule, templates: of.templates, round: of.round}
	}
	return rules
}

// design groups rows by the units that they fire.
func (x *excerpt) design(ctx context.Context, w *training, units []int) (*design, error) {
	tests := make([]conjunction, len(units))
	for i, u := range units {
		tests[i] = x.model.units[u].rule
	}
	return newDesign(ctx, w.examples, tests)
}

// refit fits the weights of the chosen units, on all rows if these fall into
// few groups, and returns the mean loss and the share of errors on all rows.
func (x *excerpt) refit(ctx context.Context) (loss, wrong float64, err error) {
	d, err := x.design(ctx, x.rows, x.chosen)
	if err != nil {
		return 0, 0, err
	}
	all := newRegression(d, d.weigh(x.rows.weights))
	r, precision := all, roughPrecision
	if d.groups() > fewGroups {
		precision = excerptPrecision
	}
	if x.part != x.rows && d.groups() > fewGroups {
		if d, err = x.design(ctx, x.part, x.chosen); err != nil {
			return 0, 0, err
		}
		r = newRegression(d, d.weigh(x.part.weights))
	}
	if x.fitted != nil {
		r.warmStart(x.fitted)
	}
	if err := r.fit(ctx, excerptPenalty*r.total/all.total, precision); err != nil {
		return 0, 0, err
	}
	x.fitted = r
	if r != all {
		all.warmStart(r)
	}
	loss, wrong = all.evaluate(all.counts)
	return loss, wrong, nil
}

// excerptPrecision is that of an excerpt's fit to many groups.
const excerptPrecision = 1e-3

// promising returns the units not yet taken whose weights would take most off
// the loss, by its derivatives, so many at most: fewer if fewer would take
// anything off, or where one covers much the same rows as another.
func (x *excerpt) promising(ctx context.Context, most int) ([]int, error) {
	p, r := x.part, x.fitted
	k := len(r.present)
	group, probabilities := x.groups()
	drops := make([]float64, len(x.fires))
	for _, u := range x.chosen {
		drops[u] = -1
	}
	lambda := excerptPenalty * sum(p.weights) / sum(x.rows.weights)
	place := make([]int, p.classes())
	for a, c := range r.present {
		place[c] = a
	}
	const batch = 16
	err := learn.Each(ctx, (len(drops)+batch-1)/batch, func(b int) {
		weight := make([]float64, len(probabilities)/k) // of the unit's rows in each group
		var touched []int32
		slope, curve := make([]float64, k), make([]float64, k)
		for u := b * batch; u < min((b+1)*batch, len(drops)); u++ {
			if drops[u] < 0 {
				continue
			}
			clear(slope)
			clear(curve)
			touched = touched[:0]
			for at := range x.fires[u].All {
				row := x.rowAt[at]
				g := group[row]
				if weight[g] == 0 {
					touched = append(touched, g)
				}
				weight[g] += p.weights[row]
				slope[place[p.class[row]]] -= p.weights[row]
			}
			for _, g := range touched {
				for a, q := range probabilities[int(g)*k : int(g)*k+k] {
					slope[a] += weight[g] * q
					curve[a] += weight[g] * q * (1 - q)
				}
				weight[g] = 0
			}
			for a := range slope {
				if pull := math.Abs(slope[a]) - lambda; pull > 0 {
					drops[u] += pull * pull / (curve[a] + ridge)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return x.apart(drops, most), nil
}

// apart returns the units of greatest drop that do not overlap much.
func (x *excerpt) apart(drops []float64, most int) []int {
	order := make([]int, 0, len(drops))
	for u, drop := range drops {
		if drop > 0 {
			order = append(order, u)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(drops[b], drops[a]) })
	var next []int
	for _, u := range order {
		if len(next) == most {
			break
		}
		if !slices.ContainsFunc(next, func(v int) bool {
			both := bits.AndCount(x.fires[u], x.fires[v])
			return 2*both > x.fires[u].Count()+x.fires[v].Count()-both
		}) {
			next = append(next, u)
		}
	}
	return next
}

// groups returns the group of each row of the part by the chosen units, and
// the probabilities of the present classes in each group.
func (x *excerpt) groups() (group []int32, probabilities []float64) {
	r := x.fitted
	k := len(r.present)
	probabilities = make([]float64, r.groups()*k)
	for g := range r.groups() {
		norm := logsum.Of(r.scores[g*k : g*k+k])
		for a, s := range r.scores[g*k : g*k+k] {
			probabilities[g*k+a] = math.Exp(s - norm)
		}
	}
	if len(r.of) == len(x.part.class) {
		return r.of, probabilities
	}
	// Fitted on all rows: one of each group is found by the units it fires.
	index := make(map[string]int32, r.groups())
	name := make([]byte, 0, 4*len(x.chosen))
	for g := range r.groups() {
		name = name[:0]
		for _, u := range r.fires(g) {
			name = append(name, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		}
		index[string(name)] = int32(g)
	}
	group = make([]int32, len(x.part.class))
	for row, at := range x.part.bit {
		name = name[:0]
		for i, u := range x.chosen {
			if x.fires[u].Get(int(at)) {
				name = append(name, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
			}
		}
		group[row] = index[string(name)]
	}
	return group, probabilities
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
	if m.reweighed { // values that only other rows had are known all the same
		if w.table, _, err = table.Conform(w.table, m.coding.schema, false); err != nil {
			return nil, err
		}
	}
	if !sameSchema(m.coding.schema, w.table.Schema) {
		return nil, fmt.Errorf("the network's columns are not those of its rows; load it again without its part %q", networkPart)
	}
	w.examples, err = newExamples(ctx, m.coding, w.table)
	return w, err
}
