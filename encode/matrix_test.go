package encode

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

// Scaled training cells have mean 0 and variance 1, or are all 0; or lie
// between 0 and 1.
func TestScaleOfTrainingRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "rows")
		unit := math.Pow(10, float64(rapid.IntRange(-200, 200).Draw(t, "exponent")))
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(-100, 100), func(n int) float64 { return float64(n) * unit }), n, n).Draw(t, "x")
		var weights []float64
		if rapid.Bool().Draw(t, "weighted") {
			weights = rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.01, 5)), n, n).Draw(t, "weights")
		}
		s := FitScale(x, weights, ZScore, false)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		out := make([]float64, n)
		s.Apply(x, out)
		var sum, mean, square float64
		for i, y := range out {
			w := weightOf(weights, i)
			sum += w
			mean += w * y
			square += w * y * y
		}
		distinct := map[float64]bool{}
		for i, v := range x {
			if weightOf(weights, i) > 0 {
				distinct[v] = true
			}
		}
		want := 1.0
		if len(distinct) < 2 {
			want = 0
		}
		// Rounding is below 100 · ε · n · 500, the greatest ratio of weights.
		if sum > 0 && (math.Abs(mean/sum) > 1e-9 || math.Abs(square/sum-want) > 1e-9) {
			t.Fatalf("mean %v, mean square %v of %v", mean/sum, square/sum, out)
		}
		m := FitScale(x, weights, MinMax, false)
		m.Apply(x, out)
		for i, y := range out {
			if weightOf(weights, i) > 0 && (y < -1e-12 || y > 1+1e-12) {
				t.Fatalf("%v is scaled to %v", x[i], y)
			}
		}
	})
}

// Whatever the cells, scaled ones are finite, within the limit, and rise with
// the cell.
func TestScaleIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumn(t)
		scaling := Scaling(rapid.IntRange(0, int(Raw)).Draw(t, "scaling"))
		s := FitScale(c.x, c.weights, scaling, rapid.Bool().Draw(t, "indicator"))
		if err := s.Check(); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		x := rapid.SliceOfN(cell, 1, 20).Draw(t, "new")
		out := make([]float64, len(x))
		s.Apply(x, out)
		for i, y := range out {
			if !finite(y) || math.Abs(y) > s.Most {
				t.Fatalf("%v is scaled to %v by %+v", x[i], y, s)
			}
			if small := narrow[float32](y); math.IsInf(float64(small), 0) {
				t.Fatalf("%v overflows in single precision", y)
			}
			for j := range x {
				if x[i] <= x[j] && y > out[j] {
					t.Fatalf("%v → %v but %v → %v by %+v", x[i], y, x[j], out[j], s)
				}
			}
		}
	})
}

func TestFitScale(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		x       []float64
		weights []float64
		scaling Scaling
		in, out []float64
	}{
		{"z-score", []float64{2, 4}, nil, ZScore, []float64{2, 4, 3, nan, inf, -inf}, []float64{-1, 1, 0, 0, Limit, -Limit}},
		{"weights", []float64{0, 4}, []float64{3, 1}, ZScore, []float64{1}, []float64{0}},
		{"weight 0", []float64{2, 4, 1e9}, []float64{1, 1, 0}, ZScore, []float64{2, 4}, []float64{-1, 1}},
		{"infinite cells", []float64{2, inf, 4, -inf}, nil, ZScore, []float64{2, 4}, []float64{-1, 1}},
		{"constant", []float64{7, 7, nan}, nil, ZScore, []float64{7, 9, nan, inf}, []float64{0, 0, 0, 0}},
		{"nothing known", []float64{nan, nan}, nil, ZScore, []float64{5, nan}, []float64{0, 0}},
		{"no rows", nil, nil, MinMax, []float64{5, nan}, []float64{0, 0}},
		{"min-max", []float64{2, 4, 3, 3, nan}, nil, MinMax, []float64{2, 4, 5, nan, -inf}, []float64{0, 1, 1.5, 0.5, -Limit}},
		{"greatest numbers", []float64{-math.MaxFloat64, math.MaxFloat64}, nil, ZScore, []float64{-math.MaxFloat64, math.MaxFloat64, 0}, []float64{-1, 1, 0}},
		{"greatest min-max", []float64{-math.MaxFloat64, math.MaxFloat64}, nil, MinMax, []float64{-math.MaxFloat64, math.MaxFloat64, 0}, []float64{0, 1, 0.5}},
		{"smallest numbers", []float64{0, 5e-324}, nil, ZScore, []float64{0, 5e-324}, []float64{0, 0}},
		{"heavy", []float64{0, 4}, []float64{math.MaxFloat64, math.MaxFloat64}, ZScore, []float64{0, 4}, []float64{-1, 1}},
		{"raw", []float64{2, 4}, nil, Raw, []float64{1e12, nan, inf, 5e-324}, []float64{1e12, 3, math.MaxFloat64, 5e-324}},
	} {
		s := FitScale(c.x, c.weights, c.scaling, false)
		got := make([]float64, len(c.in))
		s.Apply(c.in, got)
		for i := range got {
			if math.Abs(got[i]-c.out[i]) > 1e-12*max(1, math.Abs(c.out[i])) {
				t.Errorf("%s: %v is scaled to %v, expected %v", c.name, c.in[i], got[i], c.out[i])
			}
		}
	}
}

func TestOneHot(t *testing.T) {
	three := &table.Attribute{Name: "sky", Kind: table.Nominal, Values: []string{"sunny", "cloudy", "rainy"}}
	two := &table.Attribute{Name: "wind", Kind: table.Nominal, Values: []string{"weak", "strong"}}
	codes := []int32{0, 1, 2, table.Missing, table.Unseen, 3}
	for _, c := range []struct {
		a                 *table.Attribute
		single, indicator bool
		names             string
		want              []float64
	}{
		{three, false, false, "sky = sunny, sky = cloudy, sky = rainy", []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{three, true, true, "sky = sunny, sky = cloudy, sky = rainy, sky IS MISSING", []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		{two, true, false, "wind = strong", []float64{0, 1, .5, .5, .5, .5}},
		{two, true, true, "wind = strong, wind IS MISSING", []float64{0, 0, 1, 0, .5, 0, .5, 1, .5, 0, .5, 0}},
	} {
		o := FitOneHot(c.a, codes, c.single, c.indicator)
		if got := strings.Join(o.Names(c.a.Name), ", "); got != c.names || o.Width() != len(o.Names("")) {
			t.Errorf("names %s, expected %s", got, c.names)
		}
		out := make([]float64, len(codes)*o.Width())
		oneHot(&o, codes, out, o.Width())
		if !slices.Equal(out, c.want) {
			t.Errorf("%s: %v, expected %v", c.names, out, c.want)
		}
	}
	if o := FitOneHot(three, []int32{0, table.Unseen}, false, true); o.Indicator {
		t.Error("an indicator although no cell is missing")
	}
}

func drawTable(t *rapid.T) *table.Table {
	rows := rapid.IntRange(0, 150).Draw(t, "rows")
	schema := &table.Schema{}
	var columns []table.Column
	for c := range rapid.IntRange(1, 5).Draw(t, "columns") {
		a := table.Attribute{Name: fmt.Sprint("c", c)}
		if rapid.Bool().Draw(t, "numeric") {
			a.Kind = table.Numeric
			columns = append(columns, table.Column{Floats: rapid.SliceOfN(cell, rows, rows).Draw(t, "floats")})
		} else {
			for v := range rapid.IntRange(0, 4).Draw(t, "values") {
				a.Values = append(a.Values, fmt.Sprint("v", v))
			}
			columns = append(columns, table.Column{Codes: rapid.SliceOfN(rapid.Int32Range(table.Unseen, int32(len(a.Values)-1)), rows, rows).Draw(t, "codes")})
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Rows are the same in one piece or many and in both precisions; one-hot
// groups sum to 1 where the cell is known; saving and loading changes
// nothing.
func TestMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawTable(t)
		target := rapid.IntRange(-1, len(rows.Columns)-1).Draw(t, "target")
		o := Options{Scaling: Scaling(rapid.IntRange(0, int(Raw)).Draw(t, "scaling")), Single: rapid.Bool().Draw(t, "single"), Indicators: rapid.Bool().Draw(t, "indicators")}
		m, err := FitMatrix(context.Background(), rows, target, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(rows.Schema); err != nil {
			t.Fatal(err)
		}
		width := m.Width()
		if names := m.Names(rows.Schema); len(names) != width {
			t.Fatalf("%d names for %d floats", len(names), width)
		}
		all := slices.Repeat([]float64{99}, rows.Rows()*width)
		if err := m.Apply(rows, 0, rows.Rows(), all); err != nil {
			t.Fatal(err)
		}
		single := make([]float32, len(all))
		if err := m.Apply32(rows, 0, rows.Rows(), single); err != nil {
			t.Fatal(err)
		}
		for r := range rows.Rows() {
			one := make([]float64, width)
			if err := m.Apply(rows, r, r+1, one); err != nil {
				t.Fatal(err)
			}
			row := all[r*width : (r+1)*width]
			if !slices.Equal(one, row) {
				t.Fatalf("row %d alone is %v, among others %v", r, one, row)
			}
			for i, y := range row {
				if !finite(y) || single[r*width+i] != narrow[float32](y) {
					t.Fatalf("row %d: %v, in single precision %v", r, y, single[r*width+i])
				}
			}
			at := 0
			for i := range m.Inputs {
				in := &m.Inputs[i]
				if in.OneHot != nil && !in.OneHot.Single {
					sum, want := 0.0, 0.0
					for v := range in.OneHot.Values {
						sum += row[at+v]
					}
					if rows.Columns[in.Column].Codes[r] >= 0 {
						want = 1
					}
					if sum != want {
						t.Fatalf("row %d, column %d: floats sum to %v, expected %v", r, in.Column, sum, want)
					}
				}
				at += in.width()
			}
		}
		data, err := cbor.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again Matrix
		if err := cbor.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		loaded := make([]float64, len(all))
		if err := again.Check(rows.Schema); err != nil {
			t.Fatal(err)
		}
		if err := again.Apply(rows, 0, rows.Rows(), loaded); err != nil || !slices.Equal(loaded, all) {
			t.Fatalf("after saving and loading: %v", err)
		}
	})
}

func TestMatrixIsDeterministic(t *testing.T) {
	rows, _, err := datasets.Load(context.Background(), "mixed:rows=2000,missing=0.05")
	if err != nil {
		t.Fatal(err)
	}
	var first *Matrix
	for range 5 {
		m, err := FitMatrix(context.Background(), rows, 20, Options{Indicators: true})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m
		}
		if !reflect.DeepEqual(m, first) {
			t.Fatal("fitted again it differs")
		}
	}
}

func TestMatrixErrors(t *testing.T) {
	rows := small(t)
	ctx := context.Background()
	if _, err := FitMatrix(ctx, rows, 3, Options{}); err == nil || err.Error() != "encode: target 3 is no column; expected -1 to 2" {
		t.Error(err)
	}
	if _, err := FitMatrix(ctx, rows, 2, Options{Scaling: 9}); err == nil || err.Error() != "encode: unknown scaling 9" {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FitMatrix(cancelled, rows, 2, Options{}); err != context.Canceled {
		t.Error(err)
	}
	m, err := FitMatrix(ctx, rows, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, 20)
	for want, apply := range map[string]func() error{
		"encode: rows 3 to 9 of a table of 5":                                   func() error { return m.Apply(rows, 3, 9, out) },
		"encode: rows 3 to 2 of a table of 5":                                   func() error { return m.Apply(rows, 3, 2, out) },
		"encode: room for 19 floats, expected 5 rows of 4":                      func() error { return m.Apply(rows, 0, 5, out[:19]) },
		"encode: column 8 of a table of 3":                                      func() error { return (&Matrix{Inputs: []Input{{Column: 7}}}).Apply(rows, 0, 1, out) },
		`encode: column "n" is to be encoded in two ways or none, expected one`: func() error { return (&Matrix{Inputs: []Input{{}}}).Apply(rows, 0, 1, out) },
		`encode: column "n" is numeric, which it was not at fitting`:            func() error { return (&Matrix{Inputs: []Input{{OneHot: &OneHot{}}}}).Apply(rows, 0, 1, out) },
		"encode: column 1 after column 1, expected ascending columns":           func() error { return (&Matrix{Inputs: []Input{m.Inputs[0], m.Inputs[0]}}).Check(rows.Schema) },
		`encode: a single float for 0 values, expected 2 (column "c")`: func() error {
			return (&Matrix{Inputs: []Input{{Column: 1, OneHot: &OneHot{Single: true}}}}).Check(rows.Schema)
		},
		`encode: scale has a +Inf, expected finite numbers (column "n")`: func() error {
			return (&Matrix{Inputs: []Input{{Scale: &Scale{Factor: math.Inf(1)}}}}).Check(rows.Schema)
		},
		`encode: scale has the factor -1 and the limit 1, expected them not to be negative (column "n")`: func() error {
			return (&Matrix{Inputs: []Input{{Scale: &Scale{Factor: -1, Most: 1}}}}).Check(rows.Schema)
		},
		`encode: column "c" is nominal, which it was not at fitting`: func() error { return (&Matrix{Inputs: []Input{{Column: 1, Scale: &Scale{}}}}).Check(rows.Schema) },
	} {
		if err := apply(); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// Whatever is read either is refused or can be applied, with finite floats.
func FuzzMatrix(f *testing.F) {
	rows := small(f)
	for _, o := range []Options{{}, {Scaling: MinMax, Indicators: true}, {Scaling: Raw, Single: true}} {
		m, err := FitMatrix(context.Background(), rows, 2, o)
		if err != nil {
			f.Fatal(err)
		}
		data, err := cbor.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		var m Matrix
		if cbor.Unmarshal(data, &m) != nil || m.Check(rows.Schema) != nil || m.Width() > 1000 {
			return
		}
		out := make([]float64, rows.Rows()*m.Width())
		if err := m.Apply(rows, 0, rows.Rows(), out); err != nil {
			t.Fatal(err)
		}
		for _, y := range out {
			if !finite(y) {
				t.Fatalf("%v among the floats", y)
			}
		}
		m.Names(rows.Schema)
	})
}

func BenchmarkFitMatrix(b *testing.B) {
	rows, _ := benchmarkColumn(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FitMatrix(context.Background(), rows, 20, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrixApply(b *testing.B) {
	rows, _ := benchmarkColumn(b)
	m, err := FitMatrix(context.Background(), rows, 20, Options{})
	if err != nil {
		b.Fatal(err)
	}
	const chunk = 4096
	out := make([]float64, chunk*m.Width())
	b.ReportAllocs()
	b.SetBytes(int64(8 * chunk * m.Width()))
	for b.Loop() {
		if err := m.Apply(rows, 0, chunk, out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrixRow(b *testing.B) {
	rows, _ := benchmarkColumn(b)
	m, err := FitMatrix(context.Background(), rows, 20, Options{})
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, m.Width())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Apply(rows, 7, 8, out); err != nil {
			b.Fatal(err)
		}
	}
}
