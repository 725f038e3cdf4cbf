package rulenet

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// holds reports whether a row satisfies a test, as a reader would say.
func (g *grid) holds(a *atom, row int32) bool {
	if numbers := g.floats[a.col]; numbers != nil {
		x := numbers[row]
		if math.IsNaN(x) {
			return a.kind == isMissing || a.orMissing
		}
		return a.kind == between && !(x <= a.low) && x <= a.high
	}
	code := g.codes[a.col][row]
	switch {
	case code == table.Missing:
		return a.kind == isMissing || a.orMissing
	case a.kind == isOne:
		return code == a.values[0]
	case a.kind == isNone:
		return !slices.Contains(a.values, code)
	}
	return false
}

// A sieve finds the rows that satisfy all tests, whatever the tests, the chunks and
// the rows' order.
func TestSieve(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const columns, values = 4, 5
		n := rapid.IntRange(1, 150).Draw(r, "rows")
		g := &grid{make([][]int32, columns), make([][]float64, columns)}
		for col := range columns {
			for range n {
				x := rapid.IntRange(-1, values-1).Draw(r, "cell")
				switch {
				case col%2 == 0:
					g.codes[col] = append(g.codes[col], int32(x))
				case x < 0:
					g.floats[col] = append(g.floats[col], math.NaN())
				default:
					g.floats[col] = append(g.floats[col], float64(x))
				}
			}
		}
		end := rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2, 2.5, 4, math.Inf(1)})
		test := rapid.Custom(func(r *rapid.T) atom {
			a := atom{col: int32(rapid.IntRange(0, columns-1).Draw(r, "column")), orMissing: rapid.Bool().Draw(r, "or missing")}
			switch missing := rapid.IntRange(0, 5).Draw(r, "kind") == 0; {
			case missing:
				a.kind, a.orMissing = isMissing, true
			case a.col%2 == 1:
				a.low, a.high = end.Draw(r, "low"), end.Draw(r, "high")
				if math.IsInf(a.low, 1) {
					a.low = math.NaN()
				}
			default:
				a.kind, a.values = isOne, []int32{int32(rapid.IntRange(0, values-1).Draw(r, "value"))}
				if rapid.Bool().Draw(r, "none") {
					a.kind = isNone
					a.values = append(a.values, a.values[0]+1)[:rapid.IntRange(0, 2).Draw(r, "values")]
				}
			}
			return a
		})
		rules := rapid.SliceOfN(rapid.SliceOfN(test, 1, 3), 1, 6).Draw(r, "rules")
		for len(rules) < 200 && rapid.IntRange(0, 3).Draw(r, "more rules") == 0 {
			rules = append(rules, rules...)
		}
		rows := rapid.SliceOf(rapid.Int32Range(0, int32(n-1))).Draw(r, "chosen")
		for len(rows) > 0 && len(rows) < 600 && rapid.IntRange(0, 3).Draw(r, "more") == 0 {
			rows = append(rows, rows...)
		}
		sieve := newSieve(rules)
		for i, got := range sieve.covers(g, rows) {
			var want []int32
			for at, row := range rows {
				all := true
				for j := range rules[i] {
					all = all && g.holds(&rules[i][j], row)
				}
				if all {
					want = append(want, int32(at))
				}
				if alone := sieve.fired(g, row, nil)[i/64]>>(i%64)&1 != 0; alone != all {
					r.Fatalf("%+v, row %d alone: %v, expected %v", rules[i], row, alone, all)
				}
			}
			if !slices.Equal(got, want) {
				r.Fatalf("%+v covers %v, expected %v", rules[i], got, want)
			}
		}
	})
}

// BenchmarkOneRow is the answer for one row.
func BenchmarkOneRow(b *testing.B) {
	m := startLiving(b, twenty(10_000, 3), map[string]string{"rules": "100"})
	row := twenty(1, 4)
	out := learn.NewPredictions(m, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(b.Context(), row, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(m.s.rules)), "rules")
}

// The search without branches finds what any other does, for every number of cuts.
func TestFirstNotBelow(t *testing.T) {
	var cuts []float64
	for n := range 40 {
		for x := -1.0; x <= float64(2*n); x += 0.5 {
			if want, _ := slices.BinarySearch(cuts, x); firstNotBelow(cuts, x) != want {
				t.Fatalf("%v among %v: expected place %d, found %d", x, cuts, want, firstNotBelow(cuts, x))
			}
		}
		cuts = append(cuts, float64(2*n))
	}
}
