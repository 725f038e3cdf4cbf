package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// workshop is a table being learnt.
type workshop struct {
	*sheet
	settings settings
	seed     uint64
	table    *table.Table
}

// Codes must fit the hash that tells tests apart.
const mostLevels = 1 << 20

// frequencyBins is the number of intervals of equal frequency.
const frequencyBins = 16

func newWorkshop(ctx context.Context, t *table.Table, target int, seed uint64, s settings) (*workshop, error) {
	cuts, err := findCuts(ctx, t, target, s.Cuts)
	if err != nil {
		return nil, err
	}
	c := coding{t.Schema, target, cuts}
	for col := range t.Schema.Attributes {
		if c.levels(col) > mostLevels {
			return nil, fmt.Errorf("column %q has %d values; at most %d can be told apart: ignore the column", t.Schema.Attributes[col].Name, c.levels(col), mostLevels)
		}
	}
	sheet, err := newSheet(ctx, c, t)
	if err != nil {
		return nil, err
	}
	return &workshop{sheet: sheet, settings: s, seed: seed, table: t}, nil
}

// findCuts cuts the numeric columns where the classes change (mdl), where the
// numbers lie (frequency), or both. Supervised cuts look at one column alone
// and ask for proof: they see no interaction, and of few rows hardly anything.
// So where there are none in a column, or few rows, those of equal frequency
// join them.
func findCuts(ctx context.Context, t *table.Table, target int, way string) ([]*encode.Cuts, error) {
	cuts := make([]*encode.Cuts, len(t.Columns))
	if way != "frequency" {
		found, err := encode.FitIntervals(ctx, t, target, encode.ByMDL, 0)
		if err != nil {
			return nil, err
		}
		cuts = found.Columns
	}
	if way == "mdl" {
		return cuts, nil
	}
	found, err := encode.FitIntervals(ctx, t, target, encode.ByFrequency, frequencyBins)
	if err != nil {
		return nil, err
	}
	weight := 0.0
	for r := range t.Rows() {
		weight += t.Weight(r)
	}
	for col, c := range found.Columns {
		switch {
		case c == nil:
		case cuts[col] == nil || len(cuts[col].At) == 0:
			cuts[col] = c
		case weight < fewRows:
			at := append(slices.Clone(cuts[col].At), c.At...)
			slices.Sort(at)
			cuts[col] = &encode.Cuts{At: slices.Compact(at)}
		}
	}
	return cuts, nil
}

// sampled returns a workshop of so many rows at most, chosen by a hash of the
// row, with the same cuts.
func (w *workshop) sampled(ctx context.Context, most int) (*workshop, error) {
	if len(w.class) <= most {
		return w, nil
	}
	if w.table == nil {
		return w.sampledRows(ctx, most)
	}
	hashes, err := learn.HashRows(ctx, w.table)
	if err != nil {
		return nil, err
	}
	limit := uint64(float64(most) / float64(len(hashes)) * math.MaxUint64)
	var rows []int
	for r, h := range hashes {
		if scramble(h^w.seed) <= limit {
			rows = append(rows, r)
		}
	}
	part := &workshop{settings: w.settings, seed: w.seed, table: w.table.Select(rows)}
	part.sheet, err = newSheet(ctx, w.coding, part.table)
	return part, err
}

// sampledRows does so with distinct rows alone, where there is no table.
func (w *workshop) sampledRows(ctx context.Context, most int) (*workshop, error) {
	limit := uint64(float64(most) / float64(len(w.class)) * math.MaxUint64)
	part := &stream{coding: w.coding, codes: make([][]int32, len(w.codes))}
	for row, class := range w.class {
		if w.hash(row) > limit {
			continue
		}
		part.class, part.weights = append(part.class, class), append(part.weights, w.weights[row])
		for col, codes := range w.codes {
			if codes != nil {
				part.codes[col] = append(part.codes[col], codes[row])
			}
		}
	}
	sheet, err := part.layOut(ctx)
	return &workshop{sheet: sheet, settings: w.settings, seed: w.seed}, err
}

// classWeights adds up the weights of the distinct rows by class.
func (s *sheet) classWeights(weights []float64) []float64 {
	sums := make([]float64, s.classes())
	for i, c := range s.class {
		sums[c] += weights[i]
	}
	return sums
}

// searches returns a search for each class that has rows of some weight.
func (w *workshop) searches(l *ledger) []*search {
	all := make([]*search, w.classes())
	for c := range all {
		if l.class[c] > 0 {
			all[c] = newSearch(w.sheet, l, c, w.settings.ties(), w.seed)
		}
	}
	return all
}

// planes are enough to weigh rows by in a search.
const planes = 8

// sample returns the examples to climb from among the rows of some weight: all
// of them, or as many as the settings say, chosen by a hash of the row. Their
// weights add up to that of all rows. It also returns the greatest hash that
// was chosen.
func (w *workshop) sample(weights []float64) ([]template, uint64) {
	var all []template
	total := 0.0
	for i, x := range weights {
		if x > 0 {
			all = append(all, template{i, int(w.class[i]), x})
			total += x
		}
	}
	n := w.settings.Templates
	if n == automatic {
		if n = enough; len(all) <= quickly {
			n = 0
		}
	}
	if n == 0 || len(all) <= n {
		return all, math.MaxUint64
	}
	hashes, order := make([]uint64, len(all)), make([]int32, len(all))
	for i, t := range all {
		hashes[i], order[i] = w.hash(t.row), int32(i)
	}
	radix.Sort(hashes, order)
	limit := hashes[n-1]
	chosen := order[:n]
	slices.Sort(chosen)
	for i, at := range chosen {
		all[i] = all[at]
	}
	all = all[:n]
	part := 0.0
	for _, t := range all {
		part += t.weight
	}
	for i := range all {
		all[i].weight *= total / part
	}
	return all, limit
}

// hash returns a hash of a distinct row.
func (w *workshop) hash(row int) uint64 { return hashRow(w.seed, w.class, w.codes, row) }

// hashRow returns a hash of a row's codes, its class and the seed.
func hashRow(seed uint64, class []int32, codes [][]int32, row int) uint64 {
	h := scramble(seed ^ uint64(class[row]))
	for col, codes := range codes {
		if codes != nil {
			h += scramble(uint64(col)<<32 ^ uint64(uint32(codes[row])))
		}
	}
	return scramble(h)
}

// discover runs the published search on rows of some weight.
func (w *workshop) discover(ctx context.Context, weights []float64) ([]found, error) {
	templates, _ := w.sample(weights)
	rules, err := climbAll(ctx, w.searches(newLedger(w.sheet, weights, 2*planes)), templates)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rules, func(f found) bool { return len(f.rule) == 0 }), nil
}

// weigh finds rules by the published search and gives them the weights that
// the settings ask for.
func (w *workshop) weigh(ctx context.Context, m *Model) error {
	rules, err := w.discover(ctx, w.weights)
	if err != nil {
		return err
	}
	return w.network(ctx, m, rules)
}

// network makes the units of rules.
func (w *workshop) network(ctx context.Context, m *Model, rules []found) error {
	if m.settings.Weights == "published" {
		m.units = w.published(rules)
		m.bias = logPriors(m.counts)
		return nil
	}
	rules = leftSides(rules)
	if m.settings.Weights == "all" {
		m.units = w.allClasses(rules)
		m.bias = logPriors(m.counts)
		return nil
	}
	return w.calibrate(ctx, m, rules)
}

// leftSides puts rules with the same left side together.
func leftSides(rules []found) []found {
	index := map[key]int{}
	var sides []found
	for _, f := range rules {
		k := f.rule.key()
		if at, ok := index[k]; ok {
			sides[at].templates += f.templates
			continue
		}
		index[k] = len(sides)
		sides = append(sides, f)
	}
	return sides
}

// logPriors returns ln p(x) of each class; a class without rows has none.
func logPriors(counts []float64) []float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	logs := make([]float64, len(counts))
	for c, n := range counts {
		logs[c] = math.Log(n / total)
	}
	return logs
}

// cover returns the weight of the covered rows by class.
func (w *workshop) cover(c conjunction) []float64 {
	set := make(bits.Set, len(w.valid))
	w.match(c, set)
	sums := make([]float64, w.classes())
	if w.plain {
		for c := range sums {
			sums[c] = float64(set[w.first[c]:w.first[c+1]].Count())
		}
		return sums
	}
	for i, at := range w.at {
		if set.Get(int(at)) {
			sums[w.class[i]] += w.weights[i]
		}
	}
	return sums
}

// published gives each rule the weight ln p(x|y)/p(x) for its class, as many
// times as examples ended in it.
func (w *workshop) published(rules []found) []unit {
	priors := logPriors(w.classWeights(w.weights))
	units := make([]unit, len(rules))
	for i, f := range rules {
		counts := w.cover(f.rule)
		weights := make([]float64, len(counts))
		weights[f.class] = f.templates * (math.Log(counts[f.class]/sum(counts)) - priors[f.class])
		units[i] = unit{rule: f.rule, class: f.class, templates: f.templates, counts: counts, weights: weights}
	}
	return units
}

// allClasses gives each left side the weight ln p(x|y)/p(x) for every class,
// with p(x|y) smoothed by one case of the prior.
func (w *workshop) allClasses(rules []found) []unit {
	classes := w.classWeights(w.weights)
	total := sum(classes)
	units := make([]unit, len(rules))
	for i, f := range rules {
		counts := w.cover(f.rule)
		n := sum(counts)
		weights := make([]float64, len(counts))
		for c := range weights {
			if classes[c] > 0 {
				prior := classes[c] / total
				weights[c] = f.templates * math.Log((counts[c]+prior)/(n+1)/prior)
			}
		}
		units[i] = unit{rule: f.rule, class: every, templates: f.templates, counts: counts, weights: weights}
	}
	return units
}

// precision is how far derivatives of a fitted loss may be off, as a share of
// the rows.
const precision = 1e-6

// lambda is the penalty on a unit of weight for rows of some weight.
func (w *workshop) lambda(total float64) float64 { return w.settings.Penalty * math.Sqrt(total) }

// calibrate fits the weights of left sides by penalised logistic regression.
func (w *workshop) calibrate(ctx context.Context, m *Model, rules []found) error {
	return w.fitted(ctx, m, rules, 1, nil)
}

// fitRows is the number of rows from which weights are fitted at most: the
// error of a weight from so many is far below what the penalty makes of it.
const fitRows = 100_000

// fitted gives left sides their weights at a share of the penalty, starting
// from those of another regression, if there is one.
func (w *workshop) fitted(ctx context.Context, m *Model, rules []found, share float64, from *regression) error {
	tests := make([]conjunction, len(rules))
	for i, f := range rules {
		tests[i] = f.rule
	}
	part, err := w.sampled(ctx, fitRows)
	if err != nil {
		return err
	}
	d, err := newDesign(ctx, part.sheet, tests)
	if err != nil {
		return err
	}
	r := newRegression(d, d.weigh(part.weights))
	if from != nil {
		r.warm(from)
	}
	if err := r.fit(ctx, share*w.lambda(r.total), precision); err != nil {
		return err
	}
	w.adopt(m, rules, r)
	return nil
}

// adopt makes a model's units of those that a regression gave a weight.
func (w *workshop) adopt(m *Model, rules []found, r *regression) {
	m.bias = make([]float64, w.classes())
	for c := range m.bias {
		m.bias[c] = math.Inf(-1)
	}
	norm := 0.0
	for a := range r.present {
		norm += math.Exp(r.weights[a][r.units])
	}
	for a, c := range r.present {
		m.bias[c] = r.weights[a][r.units] - math.Log(norm)
	}
	removed := r.removed()
	m.units = nil
	for u, f := range rules {
		weights := make([]float64, w.classes())
		some := false
		for a, c := range r.present {
			weights[c] = r.weights[a][u]
			some = some || weights[c] != 0
		}
		if !some {
			continue
		}
		if len(r.present) == 2 {
			// One class's gain is the other's loss: say it of the one it
			// speaks for.
			first, second := r.present[0], r.present[1]
			if weights[second] < 0 {
				weights[first], weights[second] = -weights[second], 0
			}
		}
		m.units = append(m.units, unit{
			rule: f.rule, class: every, templates: f.templates, counts: w.cover(f.rule), weights: weights,
			round: f.round, removed: removed[u],
		})
	}
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}

// folds deals the weight of each distinct row out to so many parts, by a hash
// of the row: each case goes to a part of its own, as if equal rows had never
// been put together.
func (w *workshop) folds(ctx context.Context, parts int) ([][]float64, error) {
	hashes, err := learn.HashRows(ctx, w.table)
	if err != nil {
		return nil, err
	}
	dealt := make([][]float64, parts)
	for p := range dealt {
		dealt[p] = make([]float64, len(w.class))
	}
	for r, h := range hashes {
		left := w.table.Weight(r)
		for p := range dealt {
			part := left
			if p < parts-1 {
				part = learn.HoldOut(h, scramble(w.seed)+uint64(p), left, 1/float64(parts-p))
			}
			dealt[p][w.of[r]] += part
			left -= part
		}
	}
	return dealt, nil
}
