package encode

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, expected %v ± %v", what, got, want, tolerance)
	}
}

// The temperatures of Mitchell 1997, §3.7.2: the best cut is 54 with a gain
// of .459, and does not pay for itself.
func TestSixTemperatures(t *testing.T) {
	x := []float64{40, 48, 60, 72, 80, 90}
	class := []int32{0, 0, 1, 1, 1, 0}
	s := newSupervised(x, class, 2, nil)
	best := s.trial(0, len(x))
	near(t, "cut", best.cut, 54, 0)
	near(t, "gain", best.gain, .459148, 5e-7)
	near(t, "Δ", best.delta(), 2.4299, 5e-5)
	near(t, "bound", best.bound(), .79197, 5e-6)
	if cuts := MDL(x, class, 2, nil); len(cuts.At) != 0 {
		t.Errorf("cuts at %v, expected none", cuts.At)
	}
}

// Cuts of the four columns of iris as other implementations of the method
// publish them.
func TestIris(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "iris")
	if err != nil {
		t.Fatal(err)
	}
	f, err := FitIntervals(context.Background(), rows, rows.Schema.Index(set.Target), ByMDL, 0)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range [][]float64{{5.55, 6.15}, {2.95, 3.35}, {2.45, 4.75}, {0.8, 1.75}} {
		if !slices.EqualFunc(f.Columns[c].At, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: cuts at %v, expected %v", rows.Schema.Attributes[c].Name, f.Columns[c].At, want)
		}
	}
}

var cell = rapid.OneOf(
	rapid.Map(rapid.IntRange(0, 12), func(n int) float64 { return float64(n) / 2 }),
	rapid.Float64(),
	rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0, math.Copysign(0, -1), 5e-324, -5e-324}),
)

type column struct {
	x       []float64
	class   []int32
	weights []float64
}

func drawColumn(t *rapid.T) column {
	n := rapid.IntRange(0, 60).Draw(t, "rows")
	c := column{
		x:     rapid.SliceOfN(cell, n, n).Draw(t, "x"),
		class: rapid.SliceOfN(rapid.Int32Range(-1, 2), n, n).Draw(t, "class"),
	}
	if rapid.Bool().Draw(t, "weighted") {
		c.weights = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) }), n, n).Draw(t, "weights")
	}
	return c
}

func drawCuts(t *rapid.T, c column) Cuts {
	bins := rapid.IntRange(1, 30).Draw(t, "bins")
	switch rapid.IntRange(0, 2).Draw(t, "method") {
	case 0:
		return MDL(c.x, c.class, 3, c.weights)
	case 1:
		return EqualFrequency(c.x, c.weights, bins)
	}
	return EqualWidth(c.x, c.weights, bins)
}

// Cuts are sound, codes lie in their intervals and rise with x, and one cell
// at a time gives what a column gives.
func TestCutsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumn(t)
		cuts := drawCuts(t, c)
		if err := cuts.Check(); err != nil {
			t.Fatalf("%v: %v", cuts.At, err)
		}
		x := rapid.SliceOfN(cell, 1, 20).Draw(t, "new")
		codes := make([]int32, len(x))
		cuts.Apply(x, codes)
		for i, v := range x {
			if codes[i] != cuts.Code(v) {
				t.Fatalf("%v: code %d in a column, %d alone", v, codes[i], cuts.Code(v))
			}
			if table.IsMissing(v) {
				if codes[i] != table.Missing {
					t.Fatalf("a missing cell has code %d", codes[i])
				}
				continue
			}
			if codes[i] < 0 || int(codes[i]) >= cuts.Intervals() {
				t.Fatalf("code %d of %d intervals", codes[i], cuts.Intervals())
			}
			low, high := cuts.Interval(codes[i])
			if !(low < v || math.IsInf(low, -1)) || !(v <= high) {
				t.Fatalf("%v is not in its interval %v … %v", v, low, high)
			}
			for j, w := range x {
				if v <= w && codes[i] > codes[j] {
					t.Fatalf("%v has code %d, %v has %d", v, codes[i], w, codes[j])
				}
			}
		}
	})
}

// Every interval between found cuts holds training rows.
func TestNoEmptyIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumn(t)
		for _, cuts := range []Cuts{MDL(c.x, c.class, 3, c.weights), EqualFrequency(c.x, c.weights, 7)} {
			used := make([]bool, cuts.Intervals())
			for _, v := range c.x {
				if code := cuts.Code(v); code >= 0 {
					used[code] = true
				}
			}
			if len(cuts.At) > 0 && slices.Contains(used, false) {
				t.Fatalf("cuts %v leave an interval without rows: %v", cuts.At, used)
			}
		}
	})
}

// A weight of 3 is three rows.
func TestWeightsAreRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumn(t)
		if c.weights == nil {
			return
		}
		var x []float64
		var class []int32
		for i, w := range c.weights {
			for range int(w) {
				x, class = append(x, c.x[i]), append(class, c.class[i])
			}
		}
		for name, pair := range map[string][2]Cuts{
			"MDL":       {MDL(c.x, c.class, 3, c.weights), MDL(x, class, 3, nil)},
			"frequency": {EqualFrequency(c.x, c.weights, 5), EqualFrequency(x, nil, 5)},
			"width":     {EqualWidth(c.x, c.weights, 5), EqualWidth(x, nil, 5)},
		} {
			if !slices.Equal(pair[0].At, pair[1].At) {
				t.Fatalf("%s: %v weighted, %v repeated", name, pair[0].At, pair[1].At)
			}
		}
	})
}

// The order of rows does not matter.
func TestOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumn(t)
		order := rapid.Permutation(indices(len(c.x))).Draw(t, "order")
		var d column
		for _, r := range order {
			d.x, d.class = append(d.x, c.x[r]), append(d.class, c.class[r])
			if c.weights != nil {
				d.weights = append(d.weights, c.weights[r])
			}
		}
		if a, b := MDL(c.x, c.class, 3, c.weights), MDL(d.x, d.class, 3, d.weights); !slices.Equal(a.At, b.At) {
			t.Fatalf("%v, in another order %v", a.At, b.At)
		}
	})
}

func indices(n int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	return is
}

// The best boundary point is as good as the best of all cuts, as counted
// without any of the shortcuts.
func TestBestCut(t *testing.T) {
	entropy := func(class []int32) float64 {
		e := 0.0
		for c := range int32(3) {
			n := 0
			for _, v := range class {
				if v == c {
					n++
				}
			}
			if n > 0 {
				p := float64(n) / float64(len(class))
				e -= p * math.Log2(p)
			}
		}
		return e
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "rows")
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 15), func(n int) float64 { return float64(n) }), n, n).Draw(t, "x")
		class := rapid.SliceOfN(rapid.Int32Range(0, 2), n, n).Draw(t, "class")
		best := -1.0
		for _, cut := range x {
			var left, right []int32
			for i, v := range x {
				if v <= cut {
					left = append(left, class[i])
				} else {
					right = append(right, class[i])
				}
			}
			if len(right) > 0 {
				gain := entropy(class) - float64(len(left))/float64(n)*entropy(left) - float64(len(right))/float64(n)*entropy(right)
				best = max(best, gain)
			}
		}
		s := newSupervised(x, class, 3, nil)
		found := s.trial(0, n)
		if found.at < 0 && best > 1e-9 || found.at >= 0 && math.Abs(found.gain-best) > 1e-9 {
			t.Fatalf("gain %v at %v, the best is %v", found.gain, found.cut, best)
		}
	})
}

func TestEqualFrequency(t *testing.T) {
	for _, c := range []struct {
		x       []float64
		weights []float64
		bins    int
		want    []float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6}, nil, 3, []float64{2.5, 4.5}},
		{[]float64{6, 1, 5, 2, 4, 3}, nil, 2, []float64{3.5}},
		{[]float64{1, 1, 1, 1, 1, 2}, nil, 3, []float64{1.5}},
		{[]float64{1, 1, 1}, nil, 3, nil},
		{nil, nil, 3, nil},
		{[]float64{math.NaN(), 1, 2, math.NaN()}, nil, 2, []float64{1.5}},
		{[]float64{1, 2, 3}, []float64{2, 1, 1}, 2, []float64{1.5}},
		{[]float64{1, 2, 3}, []float64{0, 1, 1}, 2, []float64{2.5}},
		{[]float64{math.Inf(-1), 5, math.Inf(1)}, nil, 3, []float64{0, 10}},
		{[]float64{1, 2, 3}, nil, 1, nil},
	} {
		if got := EqualFrequency(c.x, c.weights, c.bins); !slices.Equal(got.At, c.want) {
			t.Errorf("EqualFrequency(%v, %v, %d) = %v, expected %v", c.x, c.weights, c.bins, got.At, c.want)
		}
	}
}

func TestEqualWidth(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		bins int
		want []float64
	}{
		{[]float64{0, 10}, 5, []float64{2, 4, 6, 8}},
		{[]float64{3, 3}, 5, nil},
		{[]float64{math.NaN(), 0, math.Inf(1), 4}, 2, []float64{2}},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 2, []float64{0}},
		{[]float64{0, 5e-324}, 8, []float64{0}},
	} {
		if got := EqualWidth(c.x, nil, c.bins); !slices.EqualFunc(got.At, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("EqualWidth(%v, %d) = %v, expected %v", c.x, c.bins, got.At, c.want)
		}
	}
}

func TestBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ a, b, want float64 }{
		{1, 2, 1.5},
		{393.7, 393.9, 393.8}, // not 393.79999999999995
		{1, math.Nextafter(1, 2), 1},
		{0, 5e-324, 0},
		{-5e-324, 0, -5e-324},
		{math.MaxFloat64 / 2, math.MaxFloat64, 1.34826985115e308},
		{-inf, 5, 0},
		{5, inf, 10},
		{-inf, inf, 0},
		{math.MaxFloat64, inf, math.MaxFloat64},
	} {
		if got := Between(c.a, c.b); got != c.want || !separable(c.a, c.b) {
			t.Errorf("Between(%v, %v) = %v, expected %v", c.a, c.b, got, c.want)
		}
	}
	if separable(-inf, -math.MaxFloat64) {
		t.Error("there is no finite number below the least one")
	}
}

func TestInseparable(t *testing.T) {
	x := slices.Repeat([]float64{math.Inf(-1), -math.MaxFloat64}, 50)
	class := slices.Repeat([]int32{0, 1}, 50)
	if cuts := MDL(x, class, 2, nil); len(cuts.At) != 0 {
		t.Errorf("MDL cuts at %v", cuts.At)
	}
	if cuts := EqualFrequency(x, nil, 2); len(cuts.At) != 0 {
		t.Errorf("equal frequencies cut at %v", cuts.At)
	}
}

func TestLabels(t *testing.T) {
	temperature := &table.Attribute{Name: "temperature", Kind: table.Numeric}
	for _, c := range []struct {
		at   []float64
		want string
	}{{nil, "any"}, {[]float64{54}, "<= 54, > 54"}, {[]float64{54, 85.5}, "<= 54, 54 < x <= 85.5, > 85.5"}} {
		if got := strings.Join(Cuts{c.at}.Labels(temperature), ", "); got != c.want {
			t.Errorf("labels %s, expected %s", got, c.want)
		}
	}
}

func TestIntervals(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "penguins")
	if err != nil {
		t.Fatal(err)
	}
	target := rows.Schema.Index(set.Target)
	for _, method := range []Method{ByMDL, ByFrequency, ByWidth} {
		f, err := FitIntervals(context.Background(), rows, target, method, 4)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := f.Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		for c, a := range cut.Schema.Attributes {
			if a.Kind != table.Nominal || a.Name != rows.Schema.Attributes[c].Name {
				t.Errorf("%s is %v", a.Name, a.Kind)
			}
			if f.Columns[c] == nil {
				continue
			}
			if method != ByMDL && len(a.Values) > 4 {
				t.Errorf("%s has %d intervals, expected at most 4", a.Name, len(a.Values))
			}
			for r := range rows.Rows() {
				if cut.Columns[c].Codes[r] != f.Columns[c].Code(rows.Columns[c].Floats[r]) {
					t.Fatalf("%s, row %d", a.Name, r+1)
				}
			}
		}
		var again Intervals
		data, err := cbor.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := cbor.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if err := again.Check(rows.Schema); err != nil {
			t.Fatal(err)
		}
		for c := range f.Columns {
			if (f.Columns[c] == nil) != (again.Columns[c] == nil) || f.Columns[c] != nil && !slices.Equal(f.Columns[c].At, again.Columns[c].At) {
				t.Errorf("column %d: %v was saved, %v read", c, f.Columns[c], again.Columns[c])
			}
		}
	}
}

func small(t testing.TB) *table.Table {
	t.Helper()
	rows, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "n", Kind: table.Numeric},
		{Name: "c", Kind: table.Nominal, Values: []string{"a", "b", "c"}},
		{Name: "y", Kind: table.Nominal, Values: []string{"no", "yes"}},
	}}, []table.Column{
		{Floats: []float64{1, math.NaN(), 3, math.Inf(1), math.Inf(-1)}},
		{Codes: []int32{0, 1, 2, table.Missing, table.Unseen}},
		{Codes: []int32{0, 1, 1, table.Missing, 0}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestIntervalErrors(t *testing.T) {
	rows := small(t)
	ctx := context.Background()
	for want, fit := range map[string]func() (*Intervals, error){
		"encode: target 9 is no column; expected -1 to 2":                                       func() (*Intervals, error) { return FitIntervals(ctx, rows, 9, ByMDL, 0) },
		"encode: supervised cuts need a target; take equal frequencies without one":             func() (*Intervals, error) { return FitIntervals(ctx, rows, -1, ByMDL, 0) },
		`encode: supervised cuts need a nominal target, "n" is numeric; take equal frequencies`: func() (*Intervals, error) { return FitIntervals(ctx, rows, 0, ByMDL, 0) },
		"encode: 1 bins, expected 2 to 65536":                                                   func() (*Intervals, error) { return FitIntervals(ctx, rows, 2, ByFrequency, 1) },
		"encode: unknown method 7 of finding cuts":                                              func() (*Intervals, error) { return FitIntervals(ctx, rows, 2, Method(7), 3) },
	} {
		if _, err := fit(); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FitIntervals(cancelled, rows, 2, ByMDL, 0); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	for want, f := range map[string]*Intervals{
		"encode: cuts of 1 columns for a table of 3":                       {Columns: make([]*Cuts, 1)},
		`encode: column "c" has cuts but is nominal`:                       {Columns: []*Cuts{nil, {}, nil}},
		`encode: cut 2 is 1 after 1, expected ascending cuts (column "n")`: {Columns: []*Cuts{{At: []float64{1, 1}}, nil, nil}},
		`encode: cut 1 is NaN, expected a finite number (column "n")`:      {Columns: []*Cuts{{At: []float64{math.NaN()}}, nil, nil}},
	} {
		if _, err := f.Apply(rows); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// Whatever is read either is refused or can be applied.
func FuzzIntervals(f *testing.F) {
	for _, v := range []Intervals{{}, {Columns: []*Cuts{{At: []float64{1, 2}}, nil, nil}}} {
		data, err := cbor.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	rows := small(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		var v Intervals
		if cbor.Unmarshal(data, &v) != nil || v.Check(rows.Schema) != nil {
			return
		}
		if _, err := v.Apply(rows); err != nil {
			t.Fatal(err)
		}
	})
}

func benchmarkColumn(b *testing.B) (*table.Table, []int32) {
	b.Helper()
	rows, _, err := datasets.Load(context.Background(), "mixed:rows=200000")
	if err != nil {
		b.Fatal(err)
	}
	return rows, rows.Columns[20].Codes
}

func BenchmarkMDL(b *testing.B) {
	rows, class := benchmarkColumn(b)
	b.ReportAllocs()
	for b.Loop() {
		MDL(rows.Columns[0].Floats, class, 2, nil)
	}
}

func BenchmarkEqualFrequency(b *testing.B) {
	rows, _ := benchmarkColumn(b)
	b.ReportAllocs()
	for b.Loop() {
		EqualFrequency(rows.Columns[0].Floats, nil, 10)
	}
}

func BenchmarkCutsApply(b *testing.B) {
	rows, class := benchmarkColumn(b)
	cuts := MDL(rows.Columns[0].Floats, class, 2, nil)
	codes := make([]int32, rows.Rows())
	b.ReportAllocs()
	b.SetBytes(int64(8 * rows.Rows()))
	for b.Loop() {
		cuts.Apply(rows.Columns[0].Floats, codes)
	}
}
