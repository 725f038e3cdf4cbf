package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/google/go-cmp/cmp"
)

func TestConform(t *testing.T) {
	from, _ := mustRead(t, "x.csv", "n,v,d,c,t\n1,a,2024-01-01,1.0,7\n2.5,z,,3,x\n,,1970-01-01,,8\n", Options{Nominal: []string{"c"}})
	from.Weights = []float64{1, 2, 3}
	number, day := Attribute{Name: "n", Kind: Numeric}, Attribute{Name: "d", Kind: Numeric, Date: true}
	name := func(name string, values ...string) Attribute {
		return Attribute{Name: name, Kind: Nominal, Values: values}
	}
	for _, test := range []struct {
		name   string
		schema []Attribute
		extend bool
		want   string
		notes  int
		err    string
	}{
		{name: "same", schema: from.Schema.Attributes, want: "n v{a,z} d:date c{1.0,3} t{7,8,x} | 1 a 2024-01-01 1.0 7 ×1 | 2.5 z - 3 x ×2 | - - 1970-01-01 - 8 ×3"},
		{name: "unseen", schema: []Attribute{name("v", "q", "z"), number}, want: "v{q,z} n | (unseen) 1 ×1 | z 2.5 ×2 | - - ×3", notes: 1},
		{name: "extended", schema: []Attribute{name("v", "q", "z")}, extend: true, want: "v{q,z,a} | a ×1 | z ×2 | - ×3", notes: 1},
		{name: "absent", schema: []Attribute{number, name("p", "q"), {Name: "r", Kind: Numeric}}, want: "n p{q} r | 1 - - ×1 | 2.5 - - ×2 | - - - ×3", notes: 2},
		{name: "classes by value", schema: []Attribute{name("c", "1", "2")}, extend: true, want: "c{1,2,3} | 1 ×1 | 3 ×2 | - ×3", notes: 1},
		{name: "classes by text", schema: []Attribute{name("c", "1", "b")}, want: "c{1,b} | (unseen) ×1 | (unseen) ×2 | - ×3", notes: 1},
		{name: "numbers to names", schema: []Attribute{name("n", "1")}, extend: true, want: "n{1,2.5} | 1 ×1 | 2.5 ×2 | - ×3", notes: 1},
		{name: "dates to names", schema: []Attribute{name("d", "x")}, extend: true, want: "d{x,2024-01-01,1970-01-01} | 2024-01-01 ×1 | - ×2 | 1970-01-01 ×3", notes: 1},
		{name: "names to numbers", schema: []Attribute{{Name: "c", Kind: Numeric}}, want: "c | 1 ×1 | 3 ×2 | - ×3", notes: 1},
		{name: "names no numbers", schema: []Attribute{{Name: "t", Kind: Numeric}}, err: `table: row 2, column "t": "x" is not a number, as the model expects; correct the cell, or leave it empty if it is not known`},
		{name: "names no dates", schema: []Attribute{{Name: "v", Kind: Numeric, Date: true}}, err: `table: row 1, column "v": "a" is not a date, as the model expects; correct the cell, or leave it empty if it is not known`},
		{name: "numbers no dates", schema: []Attribute{{Name: "n", Kind: Numeric, Date: true}}, err: `table: row 1, column "n": "1" is not a date, as the model expects; correct the cell, or leave it empty if it is not known`},
		{name: "dates no numbers", schema: []Attribute{{Name: "d", Kind: Numeric}}, err: `table: row 1, column "d": "2024-01-01" is not a number, as the model expects; correct the cell, or leave it empty if it is not known`},
		{name: "dates", schema: []Attribute{day}, want: "d:date | 2024-01-01 ×1 | - ×2 | 1970-01-01 ×3", notes: 1},
		{name: "nothing in common", schema: []Attribute{name("p"), name("q")}, err: `table: there is none of the model's columns "p", "q"; known are n, v, d, c, t`},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := &Schema{Attributes: test.schema}
			before := fmt.Sprint(schema, show(from))
			got, notes, err := Conform(from, schema, test.extend)
			if fmt.Sprint(schema, show(from)) != before {
				t.Error("schema or table have changed")
			}
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != test.want || len(notes) != test.notes {
				t.Errorf("got  %s\nwant %s\nnotes %q", show(got), test.want, notes)
			}
		})
	}
	if _, _, err := Conform(from, &Schema{}, false); err == nil {
		t.Error("a schema without columns is taken")
	}
}

func TestConformUnseen(t *testing.T) {
	from, err := New(&Schema{Attributes: []Attribute{{Name: "v", Kind: Nominal, Values: []string{"a"}}}}, []Column{{Codes: []int32{Unseen, 0, Missing}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := Conform(from, &Schema{Attributes: []Attribute{{Name: "v", Kind: Nominal, Values: []string{"b"}}}}, true)
	if err != nil || show(got) != "v{b,a} | (unseen) | a | -" {
		t.Error(got, err)
	}
	if _, _, err = Conform(from, &Schema{Attributes: []Attribute{{Name: "v", Kind: Numeric}}}, true); err == nil {
		t.Error("an unseen name is a number")
	}
}

// Two extensions of one schema do not see each other's values.
func TestConformDoesNotShareGrowth(t *testing.T) {
	values := append(make([]string, 0, 8), "a")
	schema := &Schema{Attributes: []Attribute{{Name: "v", Kind: Nominal, Values: values}}}
	one, _ := mustRead(t, "x.csv", "v\nb\n", Options{})
	two, _ := mustRead(t, "x.csv", "v\nc\n", Options{})
	first, _, _ := Conform(one, schema, true)
	second, _, _ := Conform(two, schema, true)
	third, _ := mustRead(t, "x.csv", "v\nd\n", Options{Schema: schema, Extend: true})
	if show(first) != "v{a,b} | b" || show(second) != "v{a,c} | c" || show(third) != "v{a,d} | d" {
		t.Error(show(first), show(second), show(third))
	}
}

// FuzzConform meets any pair of tables with a sound table or an error in one
// line, and agrees with reading against the schema.
func FuzzConform(f *testing.F) {
	f.Add("a,b\n1,x\n2,y\n", "b,a\nz,3\n", true)
	f.Add("d\n2024-01-01\n", "d\n7\n", false)
	f.Add("c\n1.0\n", "c\nx\n", true)
	f.Fuzz(func(t *testing.T, model, data string, extend bool) {
		defer bounded.Start(t, len(model)+len(data))()
		m, _, err := read(t, "m.csv", model, Options{})
		if err != nil {
			return
		}
		d, _, err := read(t, "d.csv", data, Options{})
		if err != nil {
			return
		}
		got, _, err := Conform(d, m.Schema, extend)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if _, err := New(got.Schema, got.Columns, got.Weights); err != nil || got.Rows() != d.Rows() {
			t.Fatalf("%q against %q: %v", data, model, err)
		}
		again, _, err := Conform(got, got.Schema, extend)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again, same); diff != "" {
			t.Error(diff)
		}
		for i := range m.Schema.Attributes {
			before, now := m.Schema.Attributes[i].Values, got.Schema.Attributes[i].Values
			if !extend && len(now) != len(before) || !slices.Equal(before, now[:len(before)]) {
				t.Errorf("values %q became %q", before, now)
			}
		}
	})
}

// Rows that already have a schema's columns and codes share their cells, and name it.
func TestConformToTheSame(t *testing.T) {
	of := func() *Schema {
		return &Schema{Attributes: []Attribute{{Name: "x", Kind: Numeric}, {Name: "c", Values: []string{"a", "b"}}}}
	}
	rows, err := New(of(), []Column{{Floats: []float64{1, NA}}, {Codes: []int32{1, Missing}}}, []float64{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	schema := of()
	same, notes, err := Conform(rows, schema, true)
	if err != nil || len(notes) > 0 || same.Schema != schema || same.Rows() != 2 || same.Weight(1) != 3 || &same.Columns[0].Floats[0] != &rows.Columns[0].Floats[0] {
		t.Errorf("%+v, %v, %v", same, notes, err)
	}
	if rows.Schema == schema {
		t.Error("the rows that came were changed")
	}
}
