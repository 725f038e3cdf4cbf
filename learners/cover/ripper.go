package cover

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
)

// ripper learns rules for one class against all others (Cohen 1995, with the
// details that the paper leaves open as in Weka's JRip).
type ripper struct {
	*examples
	settings settings
	label    []int32 // 1: of the class
	positive bits.Set
	data     bits.Set // rows that rules of earlier classes leave
	expected float64  // share of the class in them: of errors, so many are expected to be false positives
	tests    float64  // all tests that there are
	random   *rand.Rand
	tallies  *sync.Pool

	grow, prune []float64 // weights, dealt anew for each rule
}

// ruleOf is a rule of the class with the rows that it covers.
type ruleOf struct {
	tests []condition
	rows  bits.Set
}

func (r *ripper) rule(tests []condition) ruleOf { return ruleOf{tests, r.cover(tests)} }

// learn returns the rules of the class, and why no more came: building as in
// IREP*, then optimisation.
func (r *ripper) learn(ctx context.Context) ([]ruleOf, stop, error) {
	rules, why, err := r.build(ctx)
	for range r.settings.Rounds {
		if err == nil {
			rules, err = r.optimise(ctx, rules)
		}
	}
	return rules, why, err
}

// build is IREP*: grow and prune rules until all rows of the class are covered,
// or the description becomes too long, or a rule is wrong more often than not.
func (r *ripper) build(ctx context.Context) (rules []ruleOf, why stop, err error) {
	length := r.describe(nil).bits()
	shortest := length
	left := slices.Clone(r.data)
	for bits.AndCount(left, r.positive) > 0 {
		next, err := r.fresh(ctx, left)
		if err != nil {
			return nil, 0, err
		}
		rules = append(rules, next)
		length += r.relative(rules, len(rules)-1)
		if why := r.stops(next, left, length, shortest); why != 0 {
			return rules[:len(rules)-1], why, nil
		}
		shortest = min(shortest, length)
		bits.AndNot(left, left, next.rows)
	}
	return rules, stopCovered, nil
}

// stops returns why a rule is not to be added, 0 if it is.
func (r *ripper) stops(next ruleOf, left bits.Set, length, shortest float64) stop {
	covered := bits.New(r.rows)
	bits.And(covered, next.rows, left)
	n := r.weigh(covered)
	bits.And(covered, covered, r.positive)
	switch correct := r.weigh(covered); {
	case length > shortest+r.settings.Bits:
		return stopLength
	case correct <= 0:
		return stopNone
	case (n-correct)/n >= 0.5:
		return stopWrong
	}
	return 0
}

// fresh grows a rule on two thirds of some rows and prunes it on the others.
func (r *ripper) fresh(ctx context.Context, left bits.Set) (ruleOf, error) {
	rows := r.deal(left)
	tests, err := r.extend(ctx, nil, weighing(rows, r.grow))
	if err != nil {
		return ruleOf{}, err
	}
	return r.rule(r.cut(tests, rows, r.prune, false)), nil
}

// deal splits rows for a rule, and returns them.
func (r *ripper) deal(left bits.Set) []int32 {
	rows := make([]int32, 0, r.rows)
	for row := range left.All {
		rows = append(rows, int32(row))
	}
	if r.settings.Prune {
		split(r.random, rows, r.label, 2, r.weight, r.grow, r.prune)
	} else {
		copy(r.grow, r.weight)
		clear(r.prune)
	}
	return rows
}

// extend adds tests to a rule, always the one with the largest gain in
// information (FOIL), p·(log₂ (p+1)/(n+1) − log₂ of the same before it), until
// only rows of the class are covered.
func (r *ripper) extend(ctx context.Context, tests []condition, rows []int32) ([]condition, error) {
	for {
		counts := count(rows, r.label, 2, r.grow)
		rate := (counts[1] + 1) / (sum(counts) + 1)
		if len(rows) == 0 || rate >= 1 || r.settings.MaxTests > 0 && len(tests) >= r.settings.MaxTests {
			return tests, nil
		}
		best, err := r.bestTest(ctx, tests, rows, rate)
		if err != nil {
			return nil, err
		}
		if best.gain <= 0 || best.correct < r.settings.MinRows {
			return tests, nil
		}
		tests = and(tests, best.condition)
		rows = r.filter(rows, &best.condition)
	}
}

// offer is a test with what it gains.
type offer struct {
	condition     condition
	gain, correct float64
}

// bestTest returns the test of largest gain.
func (r *ripper) bestTest(ctx context.Context, tests []condition, rows []int32, rate float64) (offer, error) {
	offers := make([]offer, len(r.columns))
	now := math.Log2(rate)
	work := func(j int) {
		asked := slices.ContainsFunc(tests, func(c condition) bool { return c.col == int32(j) && c.form == is })
		if r.columns[j].codes == nil || asked {
			return
		}
		t := r.tallies.Get().(*tally)
		defer r.tallies.Put(t)
		t.take(&r.columns[j], rows, r.label, 2, r.grow)
		r.specialise(t, j, 2, r.settings.Sets, -1, func(c condition, counts []float64) {
			p := counts[1]
			if p <= 0 {
				return
			}
			if gain := p * (math.Log2((p+1)/(p+counts[0]+1)) - now); better(gain, offers[j].gain) {
				offers[j] = offer{r.settled(c), gain, p}
			}
		})
	}
	var err error
	if len(rows)*len(r.columns) >= enough {
		err = learn.Each(ctx, len(r.columns), work)
	} else {
		for j := range r.columns {
			work(j)
		}
		err = ctx.Err()
	}
	best := offer{}
	for _, o := range offers {
		if better(o.gain, best.gain) {
			best = o
		}
	}
	return best, err
}

// cut prunes a rule: it keeps as many of its first tests as are best on held
// out rows, by the share of rows that are right among those covered or, with
// whole, among all.
func (r *ripper) cut(tests []condition, rows []int32, weight []float64, whole bool) []condition {
	rows = weighing(rows, weight)
	counts := count(rows, r.label, 2, weight)
	total := sum(counts)
	if total <= 0 || len(tests) == 0 {
		return tests
	}
	most, keep := (counts[1]+1)/(total+2), len(tests)
	rejected := 0.0 // rows of other classes that some test leaves out
	for i := range tests {
		rest := r.filter(rows, &tests[i])
		after := count(rest, r.label, 2, weight)
		rejected += counts[0] - after[0]
		worth := (after[1] + 1) / (sum(after) + 2)
		if whole {
			worth = (after[1] + rejected) / total
		}
		if better(worth, most) {
			most, keep = worth, i+1
		}
		rows, counts = rest, after
	}
	return tests[:keep:keep]
}

// optimise sets each rule against two others, a replacement that is grown
// afresh and a revision that is grown further, and keeps the one with which
// the description is shortest; adds rules for what is left; and deletes those
// that make the description longer.
func (r *ripper) optimise(ctx context.Context, rules []ruleOf) ([]ruleOf, error) {
	rules = slices.Clone(rules)
	left := slices.Clone(r.data)
	length := r.describe(nil).bits()
	shortest := length
	for i := 0; bits.AndCount(left, r.positive) > 0; i++ {
		if i < len(rules) {
			if bits.AndCount(left, rules[i].rows) == 0 {
				continue
			}
			best, err := r.variant(ctx, rules, i, left)
			if err != nil {
				return nil, err
			}
			rules[i] = best
			bits.AndNot(left, left, best.rows)
			continue
		}
		next, err := r.fresh(ctx, left)
		if err != nil {
			return nil, err
		}
		rules = append(rules, next)
		length += r.relative(rules, i)
		shortest = min(shortest, length)
		if r.stops(next, left, length, shortest) != 0 {
			rules = rules[:i]
			break
		}
		bits.AndNot(left, left, next.rows)
	}
	return r.reduce(rules), nil
}

// variant returns the best of a rule, its replacement and its revision.
func (r *ripper) variant(ctx context.Context, rules []ruleOf, i int, left bits.Set) (ruleOf, error) {
	rows := r.deal(left)
	grown := weighing(rows, r.grow)
	replacement, err := r.extend(ctx, nil, grown)
	if err != nil {
		return ruleOf{}, err
	}
	inside := grown
	for k := range rules[i].tests {
		inside = r.filter(inside, &rules[i].tests[k])
	}
	revision, err := r.extend(ctx, rules[i].tests, inside)
	if err != nil {
		return ruleOf{}, err
	}
	// Rows that later rules cover do not matter to this one.
	judging := slices.DeleteFunc(rows, func(row int32) bool {
		return slices.ContainsFunc(rules[i+1:], func(o ruleOf) bool { return o.rows.Get(int(row)) })
	})
	best := rules[i]
	length := r.relative(rules, i)
	trial := slices.Clone(rules)
	for _, tests := range [][]condition{revision, replacement} {
		trial[i] = r.rule(r.cut(tests, judging, r.prune, true))
		if l := r.relative(trial, i); l < length-tie*math.Abs(length) {
			best, length = trial[i], l
		}
	}
	return best, nil
}

// reduce deletes rules, the last first, without which the description is not
// longer, or that are wrong at least half the time.
func (r *ripper) reduce(rules []ruleOf) []ruleOf {
	kept := slices.Clone(rules)
	d := r.describe(rules)
	for k := len(rules) - 1; k >= 0; k-- {
		if _, goes := d.without(&d.each[k], r.theory(len(rules[k].tests))); goes {
			kept = slices.Delete(kept, k, k+1)
		}
	}
	return kept
}
