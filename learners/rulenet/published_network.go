package rulenet

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/internal/bits"
)

// searchAndWeigh finds rules by the published search and gives them the weights that
// the settings ask for.
func (w *training) searchAndWeigh(ctx context.Context, m *Model) error {
	rules, err := w.findRules(ctx, w.weights)
	if err != nil {
		return err
	}
	return w.weighRules(ctx, m, rules)
}

// weighRules makes the units of rules.
func (w *training) weighRules(ctx context.Context, m *Model, rules []foundRule) error {
	if m.settings.Weights == "published" {
		m.units = w.publishedWeights(rules)
		m.bias = logPriors(m.counts)
		return nil
	}
	rules = leftSides(rules)
	if m.settings.Weights == "all" {
		m.units = w.allClassWeights(rules)
		m.bias = logPriors(m.counts)
		return nil
	}
	return w.calibratedWeights(ctx, m, rules)
}

// leftSides puts rules with the same left side together.
func leftSides(rules []foundRule) []foundRule {
	index := map[key]int{}
	var sides []foundRule
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
func (w *training) cover(c conjunction) []float64 {
	set := make(bits.Set, len(w.valid))
	w.match(c, set)
	sums := make([]float64, w.classes())
	if w.plain {
		for c := range sums {
			sums[c] = float64(set[w.firstWord[c]:w.firstWord[c+1]].Count())
		}
		return sums
	}
	for i, at := range w.bit {
		if set.Get(int(at)) {
			sums[w.class[i]] += w.weights[i]
		}
	}
	return sums
}

// publishedWeights gives each rule the weight ln p(x|y)/p(x) for its class, as many
// times as examples ended in it.
func (w *training) publishedWeights(rules []foundRule) []unit {
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

// allClassWeights gives each left side the weight ln p(x|y)/p(x) for every class,
// with p(x|y) smoothed by one case of the prior.
func (w *training) allClassWeights(rules []foundRule) []unit {
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
		units[i] = unit{rule: f.rule, class: everyClass, templates: f.templates, counts: counts, weights: weights}
	}
	return units
}

// fitPrecision is how far derivatives of a fitted loss may be off, as a share of
// the rows.
const fitPrecision = 1e-6

// lambda is the penalty on a unit of weight for rows of some weight.
func (w *training) lambda(total float64) float64 { return w.settings.Penalty * math.Sqrt(total) }

// calibratedWeights fits the weights of left sides by penalised logistic regression.
func (w *training) calibratedWeights(ctx context.Context, m *Model, rules []foundRule) error {
	return w.fitWeights(ctx, m, rules, 1, nil)
}

// fitRows is the number of rows from which weights are fitted at most: the
// error of a weight from so many is far below what the penalty makes of it.
const fitRows = 100_000

// fitWeights gives left sides their weights at a share of the penalty, starting
// from those of another regression, if there is one.
func (w *training) fitWeights(ctx context.Context, m *Model, rules []foundRule, share float64, from *regression) error {
	tests := make([]conjunction, len(rules))
	for i, f := range rules {
		tests[i] = f.rule
	}
	part, err := w.sampled(ctx, fitRows)
	if err != nil {
		return err
	}
	d, err := newDesign(ctx, part.examples, tests)
	if err != nil {
		return err
	}
	r := newRegression(d, d.weigh(part.weights))
	if from != nil {
		r.warmStart(from)
	}
	if err := r.fit(ctx, share*w.lambda(r.total), fitPrecision); err != nil {
		return err
	}
	w.takeWeights(m, rules, r)
	m.share = share
	return nil
}

// takeWeights makes a model's units of those that a regression gave a weight.
func (w *training) takeWeights(m *Model, rules []foundRule, r *regression) {
	m.takeWeights(rules, r, func(u int) []float64 { return w.cover(rules[u].rule) })
}

// takeWeights gives a network the units that have some weight, and what they cover.
func (m *Model) takeWeights(rules []foundRule, r *regression, cover func(u int) []float64) {
	m.bias = make([]float64, r.classes)
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
	removed := r.removedBits()
	m.units = nil
	for u, f := range rules {
		weights := make([]float64, r.classes)
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
			rule: f.rule, class: everyClass, templates: f.templates, counts: cover(u), weights: weights,
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
