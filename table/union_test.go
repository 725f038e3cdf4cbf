package table

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// nominal returns a schema of one nominal column.
func nominal(name string, values ...string) *Schema {
	return &Schema{Attributes: []Attribute{{Name: name, Values: values}}}
}

func TestUnion(t *testing.T) {
	for _, c := range []struct {
		dictionaries [][]string
		want         []string
	}{
		{[][]string{{"low", "mid", "high"}}, []string{"low", "mid", "high"}},                                 // declared order
		{[][]string{{"low", "high"}, {"low", "mid", "high"}}, []string{"low", "mid", "high"}},                // contained
		{[][]string{{"low", "mid", "high"}, {"high", "low"}}, []string{"high", "low", "mid"}},                // out of order
		{[][]string{{"b"}, {"a"}}, []string{"a", "b"}},                                                       // neither contains the other
		{[][]string{{"10", "x"}, {"9", "-1"}, {"1e1", "Inf"}}, []string{"-1", "9", "10", "1e1", "Inf", "x"}}, // numbers by value
		{[][]string{{}, {}}, nil},
	} {
		var schemas []*Schema
		for _, d := range c.dictionaries {
			schemas = append(schemas, nominal("a", d...))
		}
		u, err := Union(schemas...)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Attributes[0].Values; !slices.Equal(got, c.want) {
			t.Errorf("union of %q is %q, want %q", c.dictionaries, got, c.want)
		}
	}
}

func TestUnionOfColumns(t *testing.T) {
	a := &Schema{Attributes: []Attribute{{Name: "x", Kind: Numeric}, {Name: "y", Values: []string{"1"}}}}
	b := &Schema{Attributes: []Attribute{{Name: "y", Values: []string{"2"}}, {Name: "x", Kind: Numeric, Date: true}, {Name: "z", Kind: Numeric}}}
	u, err := Union(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Names(); !slices.Equal(got, []string{"x", "y", "z"}) || !u.Attributes[0].Date || !slices.Equal(u.Attributes[1].Values, []string{"1", "2"}) {
		t.Errorf("union is %+v", u)
	}
	if _, err := Union(a, nominal("x", "1")); err == nil || !strings.Contains(err.Error(), `"x" is numeric in one source and nominal in another`) {
		t.Errorf("a column of two kinds: %v", err)
	}
	twice := &Schema{Attributes: []Attribute{{Name: "x"}, {Name: "x"}}}
	if _, err := Union(twice); err == nil {
		t.Error("a schema with two columns of one name is accepted")
	}
}

// The union does not depend on the order of the schemas, holds every value
// once, and leaves what it was made of alone.
func TestUnionLaws(t *testing.T) {
	value := rapid.SampledFrom([]string{"a", "b", "c", "1", "2", "10", "1e0", "é"})
	dictionary := rapid.SliceOfNDistinct(value, 0, 6, rapid.ID[string])
	rapid.Check(t, func(t *rapid.T) {
		dictionaries := rapid.SliceOfN(dictionary, 1, 4).Draw(t, "dictionaries")
		var schemas, turned []*Schema
		all := map[string]bool{}
		for _, d := range dictionaries {
			schemas = append(schemas, nominal("a", slices.Clone(d)...))
			turned = append([]*Schema{schemas[len(schemas)-1]}, turned...)
			for _, v := range d {
				all[v] = true
			}
		}
		u, err := Union(schemas...)
		if err != nil {
			t.Fatal(err)
		}
		values := u.Attributes[0].Values
		if len(values) != len(all) {
			t.Fatalf("%q does not hold each of %v once", values, all)
		}
		v, err := Union(turned...)
		if err != nil || !slices.Equal(v.Attributes[0].Values, values) {
			t.Fatalf("%q in one order, %q in the other (%v)", values, v.Attributes[0].Values, err)
		}
		again, err := Union(u, schemas[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Attributes[0].Values) != len(values) {
			t.Fatalf("the union with a part of it is %q", again.Attributes[0].Values)
		}
		for i, d := range dictionaries {
			if !slices.Equal(schemas[i].Attributes[0].Values, d) {
				t.Fatal("a schema was changed")
			}
		}
	})
}

func TestFits(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "a", Values: []string{"x", "y"}}, {Name: "b", Kind: Numeric}}}
	columns := []Column{{Codes: []int32{0}}, {Floats: []float64{1}}}
	with := func(change func(s *Schema)) *Table {
		s := CopySchema(schema)
		change(s)
		return &Table{Schema: s, Columns: columns}
	}
	for what, c := range map[string]struct {
		table *Table
		says  string
	}{
		"itself":        {&Table{Schema: schema, Columns: columns}, ""},
		"a copy":        {with(func(*Schema) {}), ""},
		"fewer values":  {with(func(s *Schema) { s.Attributes[0].Values = []string{"x"} }), ""},
		"more values":   {with(func(s *Schema) { s.Attributes[0].Values = []string{"x", "y", "z"} }), "has 3 values, the model knows 2"},
		"another name":  {with(func(s *Schema) { s.Attributes[1].Name = "c" }), `is "c" (numeric), expected "b" (numeric)`},
		"another kind":  {with(func(s *Schema) { s.Attributes[1].Kind = Nominal }), `is "b" (nominal), expected "b" (numeric)`},
		"fewer columns": {with(func(s *Schema) { s.Attributes = s.Attributes[:1] }), "has 1 columns, the model 2"},
	} {
		err := Fits(schema, c.table)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, c.says)
		}
	}
}
