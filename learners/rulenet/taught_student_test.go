package rulenet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What a rule takes off the loss is the loss without it less the loss, whatever the rows
// weigh and however far its weight goes.
func TestCertificatesOfTwo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(r, "rows")
		l := &lesson{k: 1, rows: count(n), weight: make([]float64, n), q: make([]float64, n), ridge: studentRidge}
		for i := range n {
			l.weight[i] = rapid.SampledFrom([]float64{1, 1, 1, 0.5, 3}).Draw(r, "weight")
			l.q[i] = rapid.Float64Range(0, 1).Draw(r, "q")
			l.total += l.weight[i]
		}
		s := l.newStudent()
		for range rapid.IntRange(1, 4).Draw(r, "rules") {
			rule := picked{weights: []float64{rapid.Float64Range(-8, 8).Draw(r, "w")}}
			for i := range n {
				if rapid.Bool().Draw(r, "fires") {
					rule.rows = append(rule.rows, int32(i))
				}
			}
			rule.addTo(s.scores, rule.rows, rule.weights)
			s.rules = append(s.rules, rule)
		}
		loss := s.measure(s.scores)
		taken := s.certificates()
		for j, rule := range s.rules {
			rule.addTo(s.scores, rule.rows, []float64{-rule.weights[0]})
			want := s.measure(s.scores) - loss
			rule.addTo(s.scores, rule.rows, rule.weights)
			if math.Abs(taken[j]-want) > 1e-7*(1+math.Abs(want)) {
				r.Errorf("rule %d: %v, expected %v", j, taken[j], want)
			}
		}
	})
}

// A most that is allowed only ever cuts: where it is room enough for the rules that are
// chosen freely, nothing changes, and else there are as many rules as are allowed.
func TestRulesAllowed(t *testing.T) {
	rows, target := load(t, "mixed:rows=1500,noise=0.05,seed=3")
	free := learnOrFail(t, rows, target, map[string]string{"teacher": "trees"})
	chosen := len(free.units)
	for _, allowed := range []int{chosen / 3, chosen / 2, chosen, chosen + 7, 4 * chosen} {
		m := learnOrFail(t, rows, target, map[string]string{"teacher": "trees", "rules": fmt.Sprint(allowed)})
		switch {
		case allowed >= chosen && !sameUnits(m, free):
			t.Errorf("with room for %d rules there are %d, and %d where any number is allowed", allowed, len(m.units), chosen)
		case allowed < chosen && len(m.units) != allowed:
			t.Errorf("%d rules, expected the %d that are allowed, as freely there are %d", len(m.units), allowed, chosen)
		}
	}
}

func sameUnits(a, b *Model) bool {
	if len(a.units) != len(b.units) {
		return false
	}
	for i, u := range a.units {
		if u.rule.key() != b.units[i].rule.key() || u.weights[0] != b.units[i].weights[0] || u.weights[1] != b.units[i].weights[1] {
			return false
		}
	}
	return true
}

// The most promising are those that come first when all are put in order.
func TestBest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := make([]promise, rapid.IntRange(0, 300).Draw(r, "promises"))
		for i := range all {
			all[i] = promise{tree: rapid.Int32Range(0, 9).Draw(r, "tree"), node: int32(i), gain: float64(rapid.IntRange(0, 40).Draw(r, "gain"))}
		}
		most := rapid.IntRange(1, 40).Draw(r, "most")
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b promise) int {
			return cmp.Or(-cmp.Compare(a.gain, b.gain), cmp.Compare(a.tree, b.tree), cmp.Compare(a.node, b.node))
		})
		if got := best(slices.Clone(all), most); !slices.Equal(got, want[:min(most, len(want))]) {
			r.Errorf("%v, expected %v", got, want[:min(most, len(want))])
		}
	})
}
