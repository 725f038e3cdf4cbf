package rule

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// Spans that share their column's cuts hold for the rows for which each holds by
// itself, those on a cut, just beside it and missing included.
func TestSpansShareCuts(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]float64{-math.MaxFloat64, -2, -1, 0, 5e-324, 1, 1.5, 3, math.MaxFloat64})
		base := &Base{Kind: Weighed, Else: &Rule{Then: Conclusion{Column: "y", Numeric: true}}}
		for i := range rapid.IntRange(1, 12).Draw(t, "rules") {
			r := Rule{Then: Conclusion{Column: "y", Numeric: true, Adds: true, Mean: float64(int(1) << i)}}
			for range rapid.IntRange(1, 2).Draw(t, "tests") {
				op := rapid.SampledFrom([]Op{Lt, Le, Gt, Ge}).Draw(t, "op")
				r.If = append(r.If, Test{Op: op, Column: "x", Number: number.Draw(t, "cut")})
			}
			base.Rules = append(base.Rules, r)
		}
		x := make([]float64, rapid.SampledFrom([]int{2, 63, 64, 65, 200}).Draw(t, "rows"))
		for i := range x {
			x[i] = number.Draw(t, "cell")
			switch rapid.IntRange(0, 3).Draw(t, "beside") {
			case 0:
				x[i] = table.NA
			case 1:
				x[i] = max(-math.MaxFloat64, below(x[i]))
			}
		}
		rows, err := table.New(schema, []table.Column{{Floats: x}, {Floats: make([]float64, len(x))}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPredictor(base, schema, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(x))
		if err := p.Predict(rows, nil, got); err != nil {
			t.Fatal(err)
		}
		for row := range x {
			want := 0.0
			for i := range base.Rules {
				m, err := NewMatcher(base.Rules[i].If, schema)
				if err != nil {
					t.Fatal(err)
				}
				if m.MatchRow(rows, row) {
					want += base.Rules[i].Then.Mean
				}
			}
			if got[row] != want {
				t.Fatalf("x = %v: %v, expected %v\n%v", x[row], got[row], want, base)
			}
		}
	})
}
