package rulenet

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// drawTable draws a small table of nominal and numeric columns, the class
// last, with missing cells, repeated rows and weights in eighths.
func drawTable(t *rapid.T) (*table.Table, int) {
	rows := rapid.IntRange(2, 120).Draw(t, "rows")
	schema := &table.Schema{}
	var columns []table.Column
	for range rapid.IntRange(1, 5).Draw(t, "nominal") {
		codes := rapid.SliceOfN(rapid.Int32Range(-1, 2), rows, rows).Draw(t, "codes")
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a' + len(columns))), Values: []string{"u", "v", "w"}})
		columns = append(columns, table.Column{Codes: codes})
	}
	for range rapid.IntRange(0, 2).Draw(t, "numeric") {
		floats := make([]float64, rows)
		for r := range floats {
			if floats[r] = float64(rapid.IntRange(-1, 9).Draw(t, "number")); floats[r] < 0 {
				floats[r] = table.NA
			}
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a' + len(columns))), Kind: table.Numeric})
		columns = append(columns, table.Column{Floats: floats})
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"x", "y", "z"}})
	columns = append(columns, table.Column{Codes: rapid.SliceOfN(rapid.Int32Range(0, 2), rows, rows).Draw(t, "class")})
	var weights []float64
	if rapid.Bool().Draw(t, "weighed") {
		weights = make([]float64, rows)
		part := rapid.SampledFrom([]float64{1, 8}).Draw(t, "part")
		for r := range weights {
			weights[r] = float64(rapid.IntRange(1, 40).Draw(t, "weight")) / part
		}
	}
	made, err := table.New(schema, columns, weights)
	if err != nil {
		t.Fatal(err)
	}
	return made, len(columns) - 1
}

// drawExamples lays such a table out, numbers cut into three.
func drawExamples(t *rapid.T) (*examples, *table.Table) {
	made, target := drawTable(t)
	cuts := make([]*encode.Cuts, len(made.Columns))
	for col := range cuts {
		if made.Columns[col].Floats != nil {
			cuts[col] = &encode.Cuts{At: []float64{2.5, 4.5, 6.5}}
		}
	}
	s, err := newExamples(context.Background(), coding{made.Schema, target, cuts}, made)
	if err != nil {
		t.Fatal(err)
	}
	return s, made
}

// covers weighs the rows that satisfy tests, one row at a time.
func (s *examples) covers(tests []test, class int) (n, k float64) {
	for row := range s.class {
		ok := true
		for _, t := range tests {
			ok = ok && t.holds(s.codes[t.col][row])
		}
		if ok {
			n += s.weights[row]
			if int(s.class[row]) == class {
				k += s.weights[row]
			}
		}
	}
	return n, k
}

// The published search, as plainly as it can be written.
func plainClimb(x *search, example conjunction) conjunction {
	total := sum(x.classWeights(x.weights))
	class := x.classWeights(x.weights)[x.class]
	j := func(c conjunction) float64 {
		n, k := x.covers(c, x.class)
		return rule.JMeasure(n, k, class, total)
	}
	parent := slices.Clone(example)
	for {
		best, value := parent, j(parent)
		kind := 2 // parent, widened, dropped
		var own test
		try := func(c conjunction, of test, is int, width int32) {
			v := j(c)
			better := v > value+tolerance
			if math.Abs(v-value) <= tolerance {
				switch {
				case is != kind:
					better = is < kind
				case is == 1 && width != widthOf(best)-widthOf(parent):
					better = width > widthOf(best)-widthOf(parent)
				case x.firstOrderJ(of) != x.firstOrderJ(own):
					better = x.firstOrderJ(of) < x.firstOrderJ(own)
				case of != own:
					better = x.rank[of.col] < x.rank[own.col]
				}
			}
			if better {
				best, value, kind, own = c, v, is, of
			}
		}
		for i, t := range parent {
			try(slices.Delete(slices.Clone(parent), i, i+1), t, 0, 0)
			if !x.ordered(int(t.col)) {
				continue
			}
			last := int32(x.levels(int(t.col)) - 1)
			for _, w := range []test{{t.col, t.lo - 1, t.hi, 0}, {t.col, t.lo, t.hi + 1, 0}, {t.col, 0, t.hi, 0}, {t.col, t.lo, last, 0}} {
				if w.lo < 0 || w.hi > last || w == t || w.lo == 0 && w.hi == last {
					continue
				}
				c := slices.Clone(parent)
				c[i] = w
				try(c, t, 1, w.hi-w.lo-t.hi+t.lo)
			}
		}
		if kind == 2 {
			return parent
		}
		parent = best
	}
}

func widthOf(c conjunction) (w int32) {
	for _, t := range c {
		w += t.hi - t.lo
	}
	return w
}

// The bitmaps count what a plain loop over the rows counts, and the climb ends
// where the plain search ends.
func TestClimbIsThePublishedSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := drawExamples(t)
		l := newCounter(s, s.weights)
		for c := range s.classes() {
			if l.class[c] == 0 || l.class[c] == l.total {
				continue
			}
			x := newSearch(s, l, c, byInformation, 1)
			climber := climber{search: x}
			for row := range s.class {
				if int(s.class[row]) != c {
					continue
				}
				example := s.initialRule(row)
				climber.rule = append(climber.rule[:0], example...)
				climber.count()
				for i := range example {
					n, k := s.covers(slices.Delete(slices.Clone(example), i, i+1), c)
					got := climber.base.plus(climber.without[i])
					if l.unit*float64(got[in]) != k || l.unit*float64(got[in]+got[out]) != n {
						t.Fatalf("without test %d of %v: %v other rows and of the class, expected %v of %v", i, example, got, k, n)
					}
				}
				if got, want := climber.climb(context.Background(), example), plainClimb(x, example); !got.equal(want) {
					t.Fatalf("from %v the climb ends at %v, expected %v", example, got, want)
				}
			}
		}
	})
}
