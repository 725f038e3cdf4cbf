package kept

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// kept is a small table: a nominal column, a numeric one and a target.
func kept(names []string, colours []int32, sizes []float64, target []int32, weights []float64) *table.Table {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "colour", Values: names},
		{Name: "size", Kind: table.Numeric},
		{Name: "class", Values: []string{"b", "a"}},
	}}
	t, err := table.New(schema, []table.Column{{Codes: colours}, {Floats: sizes}, {Codes: target}}, weights)
	if err != nil {
		panic(err)
	}
	return t
}

func gather(t testing.TB, r *Rows, id string, known *table.Schema, tables ...*table.Table) *Rows {
	t.Helper()
	g := r.Gather(learn.Source{ID: id, Name: id}, 2, known)
	for _, tbl := range tables {
		if err := g.Add(context.Background(), tbl); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := g.Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// show writes a table as lines of cells with weights, sorted.
func show(t testing.TB, r *Rows) string {
	t.Helper()
	tbl, err := r.Table(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for row := range tbl.Rows() {
		var cells []string
		for col := range tbl.Columns {
			cells = append(cells, tbl.Text(row, col))
		}
		lines = append(lines, fmt.Sprintf("%s ×%v", strings.Join(cells, ","), tbl.Weight(row)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func TestRowsCount(t *testing.T) {
	nan := math.NaN()
	a := kept([]string{"red", "blue"}, []int32{0, 0, 1, -1, 0, table.Unseen}, []float64{1, 1, 0, nan, 1, nan}, []int32{0, 0, 1, 1, -1, 1}, nil)
	r := gather(t, &Rows{}, "a", nil, a)
	// Two rows agree, one has no class, unseen is missing, -0 is 0.
	if got, want := show(t, r), ",,a ×2; blue,0,a ×1; red,1,b ×2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b := kept([]string{"green", "red"}, []int32{1, 0}, []float64{1, math.Copysign(0, -1)}, []int32{0, 1}, []float64{0.5, 0})
	r = gather(t, r, "b", nil, b)
	if got, want := show(t, r), ",,a ×2; blue,0,a ×1; red,1,b ×2.5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	tbl, err := r.Table(context.Background())
	if err != nil || !slices.Equal(tbl.Schema.Attributes[0].Values, []string{"blue", "green", "red"}) {
		t.Errorf("values %v, %v", tbl.Schema.Attributes[0].Values, err)
	}
	if r.Weight() != 5.5 {
		t.Errorf("weight %v", r.Weight())
	}
	if got := r.Sources(); len(got) != 2 || got[0].ID != "a" || got[1].Name != "b" {
		t.Errorf("sources %v", got)
	}
	left, err := r.Forget("a")
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, left); got != "red,1,b ×0.5" {
		t.Errorf("without a: %s", got)
	}
	if _, err := r.Forget("c"); err == nil || !strings.Contains(err.Error(), "unknown source") {
		t.Error(err)
	}
	none, err := r.Forget("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Table(context.Background()); err == nil {
		t.Error("a table of nothing")
	}
	if again := gather(t, r, "a", nil); show(t, again) != show(t, r) {
		t.Error("adding nothing changes something")
	}
}

// Values that a source merely repeats because the model knows them leave with
// the source that brought them.
func TestRowsForgetValues(t *testing.T) {
	a := kept([]string{"red", "blue"}, []int32{0, 1}, []float64{1, 2}, []int32{0, 1}, nil)
	r := gather(t, &Rows{}, "a", nil, a)
	tbl, err := r.Table(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	more := tbl.Schema.Attributes[0].Values
	b := kept(append(slices.Clone(more), "pink", "grey"), []int32{0, 2}, []float64{1, 2}, []int32{1, 1}, nil)
	b.Schema.Attributes[2] = tbl.Schema.Attributes[2]
	r = gather(t, r, "b", tbl.Schema, b)
	left, err := r.Forget("a")
	if err != nil {
		t.Fatal(err)
	}
	tbl, err = left.Table(context.Background())
	if err != nil || !slices.Equal(tbl.Schema.Attributes[0].Values, []string{"blue", "grey", "pink"}) || !slices.Equal(tbl.Schema.Attributes[2].Values, []string{"b"}) {
		t.Errorf("values %v and %v, %v", tbl.Schema.Attributes[0].Values, tbl.Schema.Attributes[2].Values, err)
	}
}

func drawKept(t *rapid.T) *table.Table {
	n := rapid.IntRange(0, 12).Draw(t, "rows")
	names := rapid.SampledFrom([][]string{{"x"}, {"x", "y"}, {"y", "x", "10", "9"}}).Draw(t, "names")
	var colours, target []int32
	var sizes, weights []float64
	weighed := rapid.Bool().Draw(t, "weighed")
	for range n {
		colours = append(colours, rapid.Int32Range(-2, int32(len(names)-1)).Draw(t, "colour"))
		target = append(target, rapid.Int32Range(-1, 1).Draw(t, "class"))
		sizes = append(sizes, rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(1)}).Draw(t, "size"))
		if weighed {
			weights = append(weights, rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.7, 1, 3}).Draw(t, "weight"))
		}
	}
	if colours == nil {
		colours, target, sizes = []int32{}, []int32{}, []float64{}
	}
	return kept(names, colours, sizes, target, weights)
}

// same compares tables to the bit.
func sameTable(a, b *table.Table) bool {
	if a.Rows() != b.Rows() || len(a.Columns) != len(b.Columns) {
		return false
	}
	bits := func(xs []float64) string {
		var s strings.Builder
		for _, x := range xs {
			fmt.Fprintf(&s, "%x ", math.Float64bits(x))
		}
		return s.String()
	}
	for r := range a.Rows() {
		if a.Weight(r) != b.Weight(r) {
			return false
		}
	}
	for i := range a.Columns {
		if !slices.Equal(a.Schema.Attributes[i].Values, b.Schema.Attributes[i].Values) ||
			!reflect.DeepEqual(a.Columns[i].Words, b.Columns[i].Words) || !slices.Equal(a.Columns[i].Codes, b.Columns[i].Codes) || bits(a.Columns[i].Floats) != bits(b.Columns[i].Floats) {
			return false
		}
	}
	return true
}

// The table depends on the multiset of rows alone: however they are spread
// over sources, tables and merges, it is the same to the bit.
func TestRowsAreAMultiset(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.Bool().Draw(t, "texts")
		tables := []*table.Table{drawTexts(t, texts), drawTexts(t, texts), drawTexts(t, texts)}
		add := func(r *Rows, id string, tables ...*table.Table) *Rows {
			g := r.Gather(learn.Source{ID: id}, 2, nil).Texts()
			for _, tbl := range tables {
				if err := g.Add(ctx, tbl); err != nil {
					t.Fatal(err)
				}
			}
			rows, err := g.Rows(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		merge := func(a, b *Rows) *Rows {
			r, err := MergeRows(ctx, a, b)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		at := func(r *Rows) *table.Table {
			tbl, err := r.Table(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return tbl
		}
		want := at(add(&Rows{}, "all", tables...))
		apart := add(add(add(&Rows{}, "c", tables[2]), "b", tables[1]), "a", tables[0])
		merged := merge(add(&Rows{}, "a", tables[1]), merge(add(&Rows{}, "b", tables[0]), add(&Rows{}, "a", tables[2])))
		forgetful, err := add(apart, "d", drawTexts(t, texts)).Forget("d")
		if err != nil {
			t.Fatal(err)
		}
		parts, err := apart.Parts()
		if err != nil {
			t.Fatal(err)
		}
		saved, err := DecodeRows(append(parts, learn.Part{Name: "another"}))
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]*Rows{"apart": apart, "merged": merged, "forgetful": forgetful, "saved": saved} {
			if !sameTable(at(got), want) {
				t.Fatalf("%s: another table", name)
			}
		}
		again, err := saved.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts {
			if !bytes.Equal(parts[i].Data, again[i].Data) || parts[i].Name != again[i].Name {
				t.Fatal("a part changes in saving")
			}
		}
		if got := apart.Weight(); math.Abs(got-weightOf(want)) > 1e-9 {
			t.Fatalf("weight %v", got)
		}
	})
}

func weightOf(t *table.Table) float64 {
	sum := 0.0
	for r := range t.Rows() {
		sum += t.Weight(r)
	}
	return sum
}

// One row after the other is as good as all at once.
func TestRowsOneByOne(t *testing.T) {
	ctx := context.Background()
	var colours, target []int32
	var sizes []float64
	for i := range 300 {
		colours, target, sizes = append(colours, int32(i%2)), append(target, int32(i%3/2)), append(sizes, float64(i%17))
	}
	all := kept([]string{"red", "blue"}, colours, sizes, target, nil)
	g := (&Rows{}).Gather(learn.Source{ID: "a"}, 2, nil)
	for r := range all.Rows() {
		if err := g.Add(ctx, all.Slice(r, r+1)); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := g.Rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if show(t, rows) != show(t, gather(t, &Rows{}, "a", nil, all)) {
		t.Error("row by row differs from all at once")
	}
}

// Columns that only some sources have are missing in the others.
func TestRowsUnionOfColumns(t *testing.T) {
	ctx := context.Background()
	a := kept([]string{"red"}, []int32{0}, []float64{1}, []int32{0}, nil)
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "extra", Values: []string{"e"}}, {Name: "size", Kind: table.Numeric}, {Name: "class", Values: []string{"a"}}}}
	b, err := table.New(schema, []table.Column{{Codes: []int32{0}}, {Floats: []float64{2}}, {Codes: []int32{0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := MergeRows(ctx, gather(t, &Rows{}, "a", nil, a), gather(t, &Rows{}, "b", nil, b))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(t, merged), ",2,a,e ×1; red,1,b, ×1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	schema.Attributes[1] = table.Attribute{Name: "size", Values: []string{"big"}}
	c, err := table.New(schema, []table.Column{{Codes: []int32{0}}, {Codes: []int32{0}}, {Codes: []int32{0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MergeRows(ctx, merged, gather(t, &Rows{}, "c", nil, c)); err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Error(err)
	}
}

// The hash is of content: the codes, the order of columns and columns without
// cells leave no trace.
func TestHashRows(t *testing.T) {
	ctx := context.Background()
	a := kept([]string{"red", "blue"}, []int32{0, 1}, []float64{1, math.NaN()}, []int32{0, 1}, nil)
	b := kept([]string{"blue", "red"}, []int32{1, 0}, []float64{1, math.NaN()}, []int32{0, 1}, nil)
	b.Schema.Attributes[0], b.Schema.Attributes[1] = b.Schema.Attributes[1], b.Schema.Attributes[0]
	b.Columns[0], b.Columns[1] = b.Columns[1], b.Columns[0]
	b.Schema.Attributes = append(b.Schema.Attributes, table.Attribute{Name: "idle", Kind: table.Numeric})
	b.Columns = append(b.Columns, table.Column{Floats: []float64{math.NaN(), math.NaN()}})
	x, err := HashRows(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := HashRows(ctx, b)
	if err != nil || !slices.Equal(x, y) || x[0] == x[1] {
		t.Errorf("%x and %x, %v", x, y, err)
	}
}

// A third of all weight is held out: of 30,000 units the standard deviation of
// the share is sqrt(2/9/30000) = 0.0027, so five of them are 0.014.
func TestHoldOut(t *testing.T) {
	total, held := 0.0, 0.0
	for i := range 10_000 {
		w := float64(i%5) + 0.5*float64(i%3)
		h := HoldOut(scramble(uint64(i)), 7, w, 1.0/3)
		if h < 0 || h > w {
			t.Fatalf("%v of %v is held out", h, w)
		}
		total += w
		held += h
	}
	if share := held / total; math.Abs(share-1.0/3) > 0.014 {
		t.Errorf("%v is held out", share)
	}
	if HoldOut(1, 1, 1e9, 0.25) != 2.5e8 {
		t.Error("of very heavy rows the share itself is held out")
	}
	if HoldOut(1, 1, 100, 1.0/3) != HoldOut(1, 1, 100, 1.0/3) || HoldOut(1, 1, 100, 1.0/3) == HoldOut(1, 2, 100, 1.0/3) {
		t.Error("held out by row and seed")
	}
}

func TestRowsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := kept([]string{"red"}, []int32{0}, []float64{1}, []int32{0}, nil)
	if err := (&Rows{}).Gather(learn.Source{}, 2, nil).Add(ctx, a); err == nil {
		t.Error("went on after the context ended")
	}
}

func FuzzDecodeRows(f *testing.F) {
	a := kept([]string{"red", "blue"}, []int32{0, 0, 1}, []float64{1, 1, 2}, []int32{0, 0, 1}, []float64{1, 1, 0.5})
	parts, err := gather(f, &Rows{}, "a", nil, a).Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data)
	parts, err = gather(f, &Rows{}, "a", nil, a.Slice(0, 2)).Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data)
	parts, err = gather(f, &Rows{}, "a", nil, scattered(300)).Parts() // long enough for Huffman's code
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data)
	many := &Rows{}
	for i := range bundle.Fan {
		many = gather(f, many, fmt.Sprint(i), nil, a.Slice(0, i%4))
	}
	if parts, err = many.Parts(); err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data)
	for _, r := range []*Rows{noted(f, "a", "fever fever cough", "?", "."), noted(f, "a", "rain").and(f, "b", "sun rain", "")} {
		data, err := saveBundle(r.blocks)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		r, err := DecodeRows([]learn.Part{{Name: rowsPart, Data: data}})
		if err != nil {
			r, err = DecodeRows([]learn.Part{{Name: bundlePart, Data: data}})
		}
		if err != nil {
			return
		}
		if _, err := r.Parts(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Table(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := MergeRows(context.Background(), r, r); err != nil {
			t.Fatal(err)
		}
	})
}

// scattered has a row of random cells for each of so many numbers.
func scattered(n int) *table.Table {
	var colours, target []int32
	var sizes []float64
	for i := range n {
		h := scramble(uint64(i))
		colours, target, sizes = append(colours, int32(h%2)), append(target, int32(h>>8%2)), append(sizes, float64(h>>20))
	}
	return kept([]string{"red", "blue"}, colours, sizes, target, nil)
}

func BenchmarkRows(b *testing.B) {
	t := scattered(100_000)
	b.ReportAllocs()
	for b.Loop() {
		gather(b, &Rows{}, "a", nil, t)
	}
}

// BenchmarkSaveRows saves and loads what BenchmarkRows gathers.
func BenchmarkSaveRows(b *testing.B) {
	rows := gather(b, &Rows{}, "a", nil, scattered(100_000))
	parts, err := rows.Parts()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("save", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := rows.Parts(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(parts[0].Data))/100_000, "bytes/row")
	})
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeRows(parts); err != nil {
				b.Fatal(err)
			}
		}
	})
}
