package prior

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

func Example() {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "price", Kind: table.Numeric}, {Name: "sold", Values: []string{"yes", "no"}}}}
	houses, err := table.New(schema, []table.Column{{Floats: []float64{10, 20, 30, 40}}, {Codes: []int32{0, 0, 0, 1}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for target := range schema.Attributes {
		m, err := new(Learner).Learn(context.Background(), learn.Task{Table: houses}.At(target))
		if err != nil {
			fmt.Println(err)
			return
		}
		rules, err := m.(learn.Ruler).Rules()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(rules)
	}
	// Output:
	// RULES ordered
	// ELSE price ~ 25 ± 14.433756729740644 [covered 4]
	// RULES weighed
	// IF ALWAYS THEN sold = yes WITH 0.75 [covered 4, correct 3, weight -0.2876820724517809]
	// IF ALWAYS THEN sold = no WITH 0.25 [covered 4, correct 1, weight -1.3862943611198906]
}

// numbers returns a table of one numeric column.
func numbers(t testing.TB, weights []float64, xs ...float64) *table.Table {
	t.Helper()
	tab, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}, []table.Column{{Floats: xs}}, weights)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// names returns a table of one nominal column.
func names(t testing.TB, codes []int32, values ...string) *table.Table {
	t.Helper()
	tab, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Values: values}}}, []table.Column{{Codes: codes}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func fit(t testing.TB, tab *table.Table, source string) *Model {
	t.Helper()
	m, err := new(Learner).Learn(context.Background(), learn.Task{Table: tab, Target: "x", Source: learn.Source{ID: source}})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestNumbers(t *testing.T) {
	m := fit(t, numbers(t, nil, 1, 2, 3, 4, math.NaN()), "a")
	// Variance 5/3 with n − 1, and a fifth quarter for the mean's own error.
	deviation := math.Sqrt(5. / 3 * 1.25)
	near(t, "mean", m.mean, 2.5, 1e-12)
	near(t, "low", m.low, 2.5-1.959963984540054*deviation, 1e-12)
	near(t, "high", m.high, 2.5+1.959963984540054*deviation, 1e-12)
	if one := fit(t, numbers(t, nil, 7), "a"); one.low != 7 || one.high != 7 {
		t.Errorf("one number gives [%v, %v]", one.low, one.high)
	}
	// Weights below one row are no reason for an interval without end.
	light := fit(t, numbers(t, []float64{0.5, 0.5, 0.01}, 1, 2, 1.5), "a")
	if !(light.deviation < 2) {
		t.Errorf("deviation %v of numbers within 1", light.deviation)
	}
}

func TestHugeNumbers(t *testing.T) {
	m := fit(t, numbers(t, nil, math.MaxFloat64, -math.MaxFloat64, 0), "a")
	if m.mean != 0 || !(m.low >= -math.MaxFloat64 && m.high <= math.MaxFloat64 && m.low < m.high) {
		t.Errorf("mean %v in [%v, %v]", m.mean, m.low, m.high)
	}
	near(t, "mean", fit(t, numbers(t, nil, 1e300, 3e300), "a").mean/1e300, 2, 1e-12)
	near(t, "deviation", fit(t, numbers(t, nil, 1e-300, 3e-300), "a").deviation/1e-300, math.Sqrt(3), 1e-12)
}

func TestErrors(t *testing.T) {
	heavy := numbers(t, []float64{1e308, 1e308}, 1, 2)
	for says, task := range map[string]learn.Task{
		"needs a target":                        {Table: heavy, NoTarget: true},
		`"y" is not a column of the table`:      {Table: heavy, Target: "y"},
		"names no target":                       {Table: heavy},
		"the weights of the rows add up to":     {Table: heavy, Target: "x"},
		`target "x" is infinite in row 2`:       {Table: numbers(t, nil, 1, math.Inf(1)), Target: "x"},
		"no row has a target":                   {Table: numbers(t, nil, math.NaN()), Target: "x"},
		`the value "a" twice in its dictionary`: {Table: names(t, []int32{0}, "a", "a"), Target: "x"},
	} {
		if m, err := new(Learner).Learn(context.Background(), task); err == nil || m != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	m := fit(t, numbers(t, nil, 1, 2), "a")
	if _, err := m.Merge(context.Background(), fit(t, names(t, []int32{0}, "a"), "b")); err == nil || !strings.Contains(err.Error(), "different targets") {
		t.Errorf("numbers and names are merged: %v", err)
	}
	for _, tab := range []*table.Table{numbers(t, nil, 1), names(t, []int32{0}, "a")} {
		if err := fit(t, tab, "a").Predict(context.Background(), tab, &learn.Predictions{}); err == nil || !strings.Contains(err.Error(), "room for 0") {
			t.Errorf("predicts into no room: %v", err)
		}
	}
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), heavy); err == nil {
		t.Error("weights that overflow are added")
	}
	if frozen, err := u.Freeze(context.Background()); err != nil || frozen != learn.Model(m) {
		t.Errorf("an update without rows gives %v, %v", frozen, err)
	}
	if err := u.Add(context.Background(), numbers(t, []float64{9e29}, 1)); err != nil {
		t.Error(err)
	}
	if err := u.Add(context.Background(), numbers(t, []float64{9e29}, 1)); err == nil {
		t.Error("weights that overflow together are added")
	}
}

// Sources that are spread and joined in any way give the mean and deviation
// of all numbers.
func TestSourcesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		build := func(source string, xs []float64) learn.Model {
			tab, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}, []table.Column{{Floats: xs}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := new(Learner).Learn(ctx, learn.Task{Table: tab, Target: "x", Source: learn.Source{ID: source}})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 30), 2, 4).Draw(t, "parts")
		same := func(what string, got, want learn.Model) {
			a, b := got.(*Model), want.(*Model)
			if math.Abs(a.mean-b.mean) > 1e-9 || math.Abs(a.deviation-b.deviation) > 1e-9*max(1, b.deviation) {
				t.Fatalf("%s: %v ± %v, want %v ± %v", what, a.mean, a.deviation, b.mean, b.deviation)
			}
		}
		all := build("0", parts[0])
		for i, xs := range parts[1:] {
			var err error
			if all, err = all.(learn.Merger).Merge(ctx, build(fmt.Sprint(i+1), xs)); err != nil {
				t.Fatal(err)
			}
		}
		same("merging", all, build("all", slices.Concat(parts...)))
		out := rapid.IntRange(0, len(parts)-1).Draw(t, "out")
		left, err := all.(learn.Forgetter).Forget(ctx, fmt.Sprint(out))
		if err != nil {
			t.Fatal(err)
		}
		same("forgetting", left, build("rest", slices.Concat(slices.Delete(slices.Clone(parts), out, out+1)...)))
	})
}

// Many sources are saved in few parts, of which an update writes few again.
func TestManySources(t *testing.T) {
	for _, tab := range []*table.Table{names(t, []int32{0, 1, 1}, "a", "b"), numbers(t, nil, 1, 2, 4.5)} {
		var m learn.Model = fit(t, tab, "0")
		var before []learn.Part
		for i := 1; i <= 100; i++ {
			u, err := m.(learn.Updater).Begin(learn.Source{ID: fmt.Sprint(i)})
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Add(context.Background(), tab); err != nil {
				t.Fatal(err)
			}
			if m, err = u.Freeze(context.Background()); err != nil {
				t.Fatal(err)
			}
			parts, err := m.Parts()
			if err != nil {
				t.Fatal(err)
			}
			fresh := 0
			for _, p := range parts {
				if !p.Derived && !slices.ContainsFunc(before, func(old learn.Part) bool { return old.Name == p.Name && slices.Equal(old.Data, p.Data) }) {
					fresh++
				}
			}
			if len(parts) > bundle.Fan+1 || i > 1 && fresh != 1 {
				t.Fatalf("update %d writes %d of %d parts", i, fresh, len(parts))
			}
			read, err := decode(parts)
			if err != nil {
				t.Fatal(err)
			}
			a, b := m.(*Model), read.(*Model)
			if a.mean != b.mean || a.deviation != b.deviation || !slices.Equal(a.p, b.p) || b.Size() != a.Size() {
				t.Fatalf("%+v is read as %+v", a, b)
			}
			before, m = parts, read
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	m := fit(t, names(t, []int32{0, 1, 1}, "a", "b"), "s")
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(s *saved)) []learn.Part {
		var s saved
		if err := learn.Unmarshal(parts[0].Data, &s); err != nil {
			t.Fatal(err)
		}
		edit(&s)
		data, err := learn.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return []learn.Part{{Name: parts[0].Name, Data: data}}
	}
	for says, parts := range map[string][]learn.Part{
		"sources are missing":           nil,
		"is not one that prior knows":   {{Name: "x"}},
		"part source/s: ":               {{Name: "source/s", Data: []byte("?")}},
		"comes twice":                   {parts[0], parts[0]},
		"this program reads format 2":   change(func(s *saved) { s.Format = 3 }),
		"target 7 is not one of 1":      change(func(s *saved) { s.Target = 7 }),
		"has names for values":          change(func(s *saved) { s.Columns[0].Numeric = true }),
		"the value \"a\" twice":         change(func(s *saved) { s.Columns[0].Values[1] = "a" }),
		"are not moments":               change(func(s *saved) { s.Moments[0] = -1 }),
		"at level 5 are not moments":    change(func(s *saved) { s.Level = 5 }),
		"moments of a nominal target":   change(func(s *saved) { s.Moments[0] = 1 }),
		"1 weights of 2 classes":        change(func(s *saved) { s.Classes = s.Classes[:1] }),
		"or not weights":                change(func(s *saved) { s.Classes[0] = math.Inf(1) }),
		"not the one it is named after": change(func(s *saved) { s.ID = "z" }),
		"no row with a target is left":  change(func(s *saved) { s.Classes = []float64{0, 0} }),
		`its target is "y", expected`: append(change(func(s *saved) {}), learn.Part{Name: "source/t", Data: change(func(s *saved) {
			s.ID, s.Columns[0].Name = "t", "y"
		})[0].Data}),
	} {
		if _, err := decode(parts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

// Any bytes give an error or a model that answers.
func FuzzDecode(f *testing.F) {
	for _, tab := range []*table.Table{names(f, []int32{0, 1, 1}, "a", "b"), numbers(f, nil, 1, 2, 1e300)} {
		parts, err := fit(f, tab, "s").Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parts[0].Data)
		many, err := save([]*block{fit(f, tab, "s").blocks[0], fit(f, tab, "t").blocks[0]})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(many)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		m, err := decode([]learn.Part{{Name: "source/s", Data: data}})
		if err != nil {
			m, err = decode([]learn.Part{{Name: "sources/s", Data: data}})
		}
		if err != nil {
			return
		}
		if m.Size().Rows <= 0 {
			t.Fatalf("size %+v", m.Size())
		}
		if p := m.(*Model); p.p == nil && !(p.low <= p.mean && p.mean <= p.high) {
			t.Fatalf("mean %v in [%v, %v]", p.mean, p.low, p.high)
		}
		if _, err := m.(learn.Ruler).Rules(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkAddRow(b *testing.B) {
	u, err := fit(b, numbers(b, nil, 1, 2, 3), "a").Begin(learn.Source{ID: "b"})
	if err != nil {
		b.Fatal(err)
	}
	row := numbers(b, nil, 5)
	b.ReportAllocs()
	for b.Loop() {
		if err := u.Add(context.Background(), row); err != nil {
			b.Fatal(err)
		}
	}
}

// Any bytes are no sum, or one that can be answered from and added to.
func FuzzDecodeSum(f *testing.F) {
	for _, tab := range []*table.Table{names(f, []int32{0, 1, 1}, "a", "b"), numbers(f, nil, 1, 2, 4.5)} {
		m, err := fit(f, tab, "s").Merge(context.Background(), fit(f, tab, "t"))
		if err != nil {
			f.Fatal(err)
		}
		data, err := m.(*Model).sum.saved([]bundle.Listed{{Part: "source/s", Sources: []string{"s", "n"}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		sum, list, err := decodeSum(data)
		if err != nil {
			return
		}
		sum.in(sum.schema, sum.target).add(sum.block(), 1)
		if _, err := sum.saved(list); err != nil {
			t.Fatal(err)
		}
	})
}
