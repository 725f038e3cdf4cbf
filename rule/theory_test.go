package rule

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

func cups() *table.Schema {
	yes := []string{"yes", "no"}
	return &table.Schema{Attributes: []table.Attribute{
		{Name: "cup", Kind: table.Nominal, Values: yes}, {Name: "weight", Kind: table.Numeric},
		{Name: "handle", Kind: table.Nominal, Values: []string{"top", "side"}}, {Name: "bottom", Kind: table.Nominal, Values: []string{"flat", "round"}},
		{Name: "concave", Kind: table.Nominal, Values: yes},
	}}
}

// The theory of cups (Winston et al. 1983; Mitchell 1997, table 12.3), written
// with what builds on others first.
const cup = `
IF stable = yes AND liftable = yes AND vessel = yes THEN cup = yes
IF bottom = flat THEN stable = yes
IF graspable = yes AND weight < 0.5 THEN liftable = yes
IF handle IN {top, side} THEN graspable = yes
IF concave = yes THEN vessel = yes
`

func theory(t *testing.T, text string) (*Theory, error) {
	t.Helper()
	base, err := Parse("cup.rules", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return NewTheory(base, cups())
}

func TestTheory(t *testing.T) {
	got, err := theory(t, cup)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"stable", "graspable", "liftable", "vessel"}; !slices.Equal(got.Concepts, want) {
		t.Errorf("concepts %q, expected %q", got.Concepts, want)
	}
	if last := got.Rules[len(got.Rules)-1].Then.Column; last != "cup" || len(got.Rules) != 5 {
		t.Errorf("%d rules, the last of which concludes %q", len(got.Rules), last)
	}
	if len(got.News)+len(got.Contradictions) > 0 || len(got.Schema.Attributes) != 9 {
		t.Errorf("%q, %v, %d attributes", got.News, got.Contradictions, len(got.Schema.Attributes))
	}
}

func TestTheoryIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"IF stabel = yes THEN cup = yes\nIF bottom = flat THEN stable = yes":        `rule 1 tests "stabel", which is neither a column nor concluded by a rule; did you mean "stable"`,
		"IF a = yes THEN b = yes\nIF b = yes THEN c = yes\nIF c = yes THEN a = yes": "the theory goes in a circle: b needs a needs c needs b",
		"IF cup = yes THEN cup = no":                                       "cup needs cup",
		"IF AT LEAST 1 OF {x = yes, weight > 1} THEN x = yes":              "x needs x",
		"IF weight = heavy THEN cup = yes":                                 `"weight" is numeric`,
		"IF stable > 3 THEN cup = yes\nIF weight > 1 THEN stable = yes":    "stable",
		"IF stable = sure THEN cup = yes\nIF weight > 1 THEN stable = yes": `unknown value "sure" of "stable"`,
		"WHEN a (1) EXPECT weight ~ 3 ± 1":                                 `unit "a": a theory is made of IF`,
		"IF weight > 1 THEN cup = yes\nELSE cup = no":                      "no ELSE",
		"":                            "the theory is empty",
		"IF weight > 1 THEN load = 3": "",
	} {
		_, err := theory(t, text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, expected %q", text, err, want)
		}
	}
}

func TestTheoryNamesWhatIsOdd(t *testing.T) {
	got, err := theory(t, "IF bottom = flat THEN cup = yes\nIF bottom = flat AND weight > 3 THEN cup = no\nIF bottom = flet THEN cup = no\nIF weight > 1 THEN cup = no")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Contradictions) != 1 || !strings.Contains(got.Contradictions[0].String(), "IF bottom = flat THEN cup = yes contradicts IF bottom = flat AND weight > 3 THEN cup = no") {
		t.Errorf("contradictions %v", got.Contradictions)
	}
	if len(got.News) != 1 || !strings.Contains(got.News[0], `no row has had "flet" in column "bottom"; did you mean "flat"`) {
		t.Errorf("news %q", got.News)
	}
}

// TestTheoryOrder: whatever rules are given, either they go in a circle or each
// stands behind those that conclude what it tests.
func TestTheoryOrder(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "cup"}
	rapid.Check(t, func(t *rapid.T) {
		var base Base
		for range rapid.IntRange(1, 8).Draw(t, "rules") {
			r := Rule{Then: Conclusion{Column: rapid.SampledFrom(names).Draw(t, "then"), Value: "yes"}}
			for range rapid.IntRange(0, 2).Draw(t, "tests") {
				r.If = append(r.If, Test{Op: Eq, Column: rapid.SampledFrom(names).Draw(t, "if"), Value: "yes"})
			}
			base.Rules = append(base.Rules, r)
		}
		for _, name := range names { // each is concluded
			base.Rules = append(base.Rules, Rule{If: []Test{{Op: Eq, Column: "concave", Value: "yes"}}, Then: Conclusion{Column: name, Value: "yes"}})
		}
		got, err := NewTheory(&base, cups())
		// A circle is there if what needs nothing, taken away again and again, leaves something.
		left := slices.Clone(names)
		for n := -1; n != len(left); {
			n = len(left)
			left = slices.DeleteFunc(left, func(name string) bool {
				return !slices.ContainsFunc(base.Rules, func(r Rule) bool {
					return r.Then.Column == name && slices.ContainsFunc(r.If, func(x Test) bool { return slices.Contains(left, x.Column) })
				})
			})
		}
		if circle := len(left) > 0; circle != (err != nil) {
			t.Fatalf("circle %v, error %v", circle, err)
		}
		if err != nil {
			return
		}
		for i := range got.Rules {
			for _, test := range got.Rules[i].If {
				if slices.ContainsFunc(got.Rules[i:], func(r Rule) bool { return r.Then.Column == test.Column }) {
					t.Fatalf("rule %d tests %s, which is concluded later", i+1, test.Column)
				}
			}
		}
	})
}
