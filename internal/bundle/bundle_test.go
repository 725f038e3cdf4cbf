package bundle

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

func TestSizes(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 3: {1, 1, 1}, Fan: {Fan}, Fan + 1: {Fan, 1}, Fan*Fan + Fan + 1: {Fan * Fan, Fan, 1}} {
		if got := Sizes(n); !reflect.DeepEqual(got, want) {
			t.Errorf("%d sources stand in %v, expected %v", n, got, want)
		}
	}
	sum := 0
	for _, size := range Sizes(2000) {
		sum += size
	}
	if parts := len(Sizes(2000)); sum != 2000 || parts > 3*Fan {
		t.Errorf("2000 sources: %d in %d parts", sum, parts)
	}
}

// Members come back as they were, those of one schema sharing it.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attribute := rapid.Custom(func(t *rapid.T) table.Attribute {
			a := table.Attribute{Name: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "name"), Kind: table.Numeric, Date: rapid.Bool().Draw(t, "date"), Time: rapid.Bool().Draw(t, "time")}
			if rapid.Bool().Draw(t, "nominal") {
				a.Kind, a.Values = table.Nominal, rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z", ""}), 1, 4, rapid.ID).Draw(t, "values")
			}
			return a
		})
		var members []Member
		for i := range rapid.IntRange(1, 6).Draw(t, "members") {
			m := Member{ID: fmt.Sprint(i), Name: "n", Numbers: rapid.SliceOf(rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-3, 1<<60), func(n int) float64 { return float64(n) }))).Draw(t, "numbers")}
			if i > 0 && rapid.Bool().Draw(t, "same") {
				m.Schema = members[i-1].Schema
			} else {
				m.Schema = &table.Schema{Attributes: rapid.SliceOfNDistinct(attribute, 1, 3, func(a table.Attribute) string { return a.Name }).Draw(t, "columns")}
			}
			m.Target = rapid.IntRange(0, len(m.Schema.Attributes)-1).Draw(t, "target")
			members = append(members, m)
		}
		p := Pack(members)
		data, err := coding.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 { // as it was saved, and damaged
			var quick Packed
			var plain plainPacked
			errQuick, errPlain := coding.Unmarshal(data, &quick), coding.Unmarshal(data, &plain)
			if (errQuick == nil) != (errPlain == nil) || errQuick == nil && !reflect.DeepEqual(quick, Packed(plain)) {
				t.Fatalf("%x:\n%+v %v\n%+v %v", data, quick, errQuick, plain, errPlain)
			}
			data[rapid.IntRange(0, len(data)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		got, err := p.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			a, b := &got[i], &members[i]
			if a.ID != b.ID || a.Name != b.Name || a.Target != b.Target || !reflect.DeepEqual(a.Schema, b.Schema) || len(a.Numbers) != len(b.Numbers) {
				t.Fatalf("%+v came back as %+v", b, a)
			}
			for k, x := range a.Numbers {
				if math.Float64bits(x) != math.Float64bits(b.Numbers[k]) {
					t.Fatalf("%v came back as %v", b.Numbers[k], x)
				}
			}
			if i > 0 && members[i].Schema == members[i-1].Schema && a.Schema != got[i-1].Schema {
				t.Fatal("a schema comes twice")
			}
		}
	})
}

// Whatever stands in a bundle, reading it gives members or an error.
func TestUnpackRefuses(t *testing.T) {
	one := func() *Packed {
		return Pack([]Member{{ID: "s", Schema: &table.Schema{Attributes: []table.Attribute{{Name: "a", Values: []string{"x", "y"}}, {Name: "b", Kind: table.Numeric}}}, Numbers: []float64{1, 2.5}}})
	}
	for what, edit := range map[string]func(*Packed){
		"no such schema":      func(p *Packed) { p.Sources[0].Schema = 1 },
		"a negative schema":   func(p *Packed) { p.Sources[0].Schema = -1 },
		"no such target":      func(p *Packed) { p.Sources[0].Target = 2 },
		"no such column":      func(p *Packed) { p.Schemas[0][0] = 9 },
		"too many values":     func(p *Packed) { p.Schemas[0][1] = 90 },
		"no such value":       func(p *Packed) { p.Schemas[0][2] = 7 },
		"a value twice":       func(p *Packed) { p.Schemas[0][3] = p.Schemas[0][2] },
		"a value twice there": func(p *Packed) { p.Columns[0].Values[1] = "x" },
		"a column twice":      func(p *Packed) { p.Columns[1].Name = "a" },
		"names for numbers":   func(p *Packed) { p.Columns[0].Numeric = true },
		"half a column":       func(p *Packed) { p.Schemas[0] = p.Schemas[0][:1] },
		"too few numbers":     func(p *Packed) { p.Sources[0].Count = 3 },
		"too many numbers":    func(p *Packed) { p.Sources[0].Count = 1 },
		"very many numbers":   func(p *Packed) { p.Sources[0].Count = math.MaxInt },
		"half a number":       func(p *Packed) { p.Sources[0].Numbers = p.Sources[0].Numbers[:5] },
		"an odd number":       func(p *Packed) { p.Sources[0].Numbers[0] = 3 },
	} {
		p := one()
		edit(p)
		if _, err := p.Unpack(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// What was saved is saved again only where its blocks have changed.
func TestShelf(t *testing.T) {
	var s Shelf[int]
	saves := 0
	save := func(blocks []int) ([]byte, error) {
		saves++
		return []byte(fmt.Sprint(blocks)), nil
	}
	blocks := make([]int, 0, 40)
	for i := range 40 {
		blocks = append(blocks, i)
		saves = 0
		runs, err := s.Save(blocks, save)
		if err != nil || saves != 1 {
			t.Fatalf("source %d: %d saved, %v", i, saves, err)
		}
		for _, run := range runs {
			if string(run.Data) != fmt.Sprint(run.Blocks) {
				t.Fatalf("%v saved as %s", run.Blocks, run.Data)
			}
		}
	}
	blocks = slices.Clone(blocks)
	blocks[3] = 100
	saves = 0
	if _, err := s.Save(blocks, save); err != nil || saves != 1 {
		t.Errorf("a changed block: %d saved, %v", saves, err)
	}
}
