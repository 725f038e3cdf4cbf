package table

import (
	"slices"
	"strings"
	"testing"
)

func TestVocabulary(t *testing.T) {
	known := &Schema{Attributes: []Attribute{{Name: "a", Values: []string{"x", "y", "z"}}, {Name: "b", Kind: Numeric}}}
	own := nominal("a", "z")
	v := NewVocabulary(known, own)
	if !v.Same(known) {
		t.Error("the schema that it began with is not the same")
	}
	table1 := CopySchema(known)
	if !v.Same(table1) {
		t.Error("a copy is not the same")
	}
	table1.Attributes[0].Values = append(table1.Attributes[0].Values, "new")
	if v.Same(table1) {
		t.Error("a schema that grew is the same")
	}
	if err := v.Check(table1); err != nil {
		t.Fatal(err)
	}
	before := v.Schema()
	v.Admit(table1)
	if !v.Same(table1) || len(before.Attributes[0].Values) != 3 {
		t.Errorf("admitted, the values are %q; before %q", v.Schema().Attributes[0].Values, before.Attributes[0].Values)
	}
	// In another order, and without some: codes differ, nothing is new.
	other := &Schema{Attributes: []Attribute{{Name: "a", Values: []string{"new", "x"}}, {Name: "b", Kind: Numeric}}}
	v.Admit(other)
	if v.Same(other) || !slices.Equal(v.Schema().Attributes[0].Values, []string{"x", "y", "z", "new"}) {
		t.Errorf("values are %q", v.Schema().Attributes[0].Values)
	}
	// The source's own: what it had, what it brought, and what occurs.
	if got := v.Own(func(column, value int) bool { return column == 0 && value == 0 }).Attributes[0].Values; !slices.Equal(got, []string{"x", "z", "new"}) {
		t.Errorf("its own values are %q", got)
	}
	// What is seen in a row is its own too, however the table codes it.
	tab, err := New(other, []Column{{Codes: []int32{1, Missing, 0}}, {Floats: []float64{1, 2, 3}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.See(tab, func(row int) bool { return row < 2 })
	nothing := func(int, int) bool { return false }
	if got := v.Own(nothing).Attributes[0].Values; !slices.Equal(got, []string{"x", "z", "new"}) {
		t.Errorf("after seeing x its own values are %q", got)
	}
	if tab, err = New(table1, []Column{{Codes: []int32{1}}, {Floats: []float64{1}}}, nil); err != nil {
		t.Fatal(err)
	}
	v.See(tab, func(int) bool { return true })
	if got := v.Own(nothing).Attributes[0].Values; !slices.Equal(got, []string{"x", "y", "z", "new"}) {
		t.Errorf("after seeing y its own values are %q", got)
	}
	if v.Same(nominal("a")) {
		t.Error("a schema with a column fewer is the same")
	}
}

func TestVocabularyRefuses(t *testing.T) {
	v := NewVocabulary(nominal("a", "x"), nil)
	for says, s := range map[string]*Schema{
		"has 0 columns, the model 1":        {},
		`is "b" (nominal), expected "a"`:    nominal("b", "x"),
		`the value "y" twice`:               nominal("a", "x", "y", "y"),
		`is "a" (numeric), expected "a" (n`: {Attributes: []Attribute{{Name: "a", Kind: Numeric}}},
	} {
		if err := v.Check(s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	if err := Distinct(&Schema{Attributes: []Attribute{{Name: "a"}, {Name: "a"}}}); err == nil {
		t.Error("two columns of one name are distinct")
	}
}

func TestRecoding(t *testing.T) {
	from, to := &Attribute{Values: []string{"a", "b", "c"}}, &Attribute{Values: []string{"a", "c"}}
	if got := Recoding(from, to); !slices.Equal(got, []int32{0, Unseen, 1}) {
		t.Errorf("codes %v", got)
	}
	// Dictionaries that are worth an index.
	from.Values = strings.Fields("a b c d e f g h i j")
	to.Values = strings.Fields("a j i h x g f e d c")
	if got := AppendRecoding([]int32{7}, from, to); !slices.Equal(got, []int32{7, 0, Unseen, 9, 8, 7, 6, 5, 3, 2, 1}) {
		t.Errorf("codes %v", got)
	}
}

// Own schemas share what they can with the vocabulary, and do not write to it.
func TestVocabularyOwn(t *testing.T) {
	known := nominal("a", "v", "w", "x", "y", "z")
	for _, want := range []string{"", "v", "w x", "v x y", "w z", "v w y z", "v w x y z"} {
		own := NewVocabulary(known, nil).Own(func(_, value int) bool {
			return slices.Contains(strings.Fields(want), known.Attributes[0].Values[value])
		})
		if got := strings.Join(own.Attributes[0].Values, " "); got != want {
			t.Errorf("values %q, want %q", got, want)
		}
		if got := strings.Join(known.Attributes[0].Values, " "); got != "v w x y z" {
			t.Errorf("the vocabulary became %q", got)
		}
		if shared := own == known; shared != (want == "v w x y z") {
			t.Errorf("values %q: shared %v", want, shared)
		}
	}
	if own := NewVocabulary(known, CopySchema(known)).Own(nil); own != known {
		t.Errorf("a source that has all values got the schema %v", own)
	}
}
