package rule

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleCompare() {
	before, _ := Parse("v1", []byte(`RULES ordered
		IF fever > 38 AND cough = yes THEN flu = yes WITH 0.8
		IF fever <= 37.5 THEN flu = no WITH 0.9
		IF age > 80 THEN flu = yes
		ELSE flu = no WITH 0.6`))
	after, _ := Parse("v2", []byte(`RULES ordered
		IF cough = yes AND fever > 38 THEN flu = yes WITH 0.85
		IF fever <= 37.2 THEN flu = no WITH 0.9
		IF smokes = yes THEN flu = yes
		ELSE flu = no WITH 0.5`))
	fmt.Print(Compare(before, after))
	// Output:
	// added    IF smokes = yes THEN flu = yes
	// dropped  IF age > 80 THEN flu = yes
	// stronger IF cough = yes AND fever > 38 THEN flu = yes WITH 0.85
	//     was  IF fever > 38 AND cough = yes THEN flu = yes WITH 0.8
	// weaker   ELSE flu = no WITH 0.5
	//     was  ELSE flu = no WITH 0.6
	// moved    IF fever <= 37.2 THEN flu = no WITH 0.9
	//     was  IF fever <= 37.5 THEN flu = no WITH 0.9
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"IF a = 1 THEN y = 1 WITH 0.5", "IF a = 1 THEN y = 1 WITH 0.5000000000001", ""},
		{"IF a > 1 THEN y = 1", "IF a > 1.0000000000001 THEN y = 1", ""},
		{"IF a > 1 AND a <= 3 THEN y = 1", "IF 1 < a <= 3 THEN y = 1", ""},
		{"IF a = 1 THEN y = 1 [weight 1]", "IF a = 1 THEN y = 1 [weight 2]", "stronger"},
		{"IF a = 1 THEN y = 1 [weight -1]", "IF a = 1 THEN y = 1 [weight -2]", "stronger"},
		{"IF a = 1 THEN y = 1 WORTH 3", "IF a = 1 THEN y = 1 WORTH 2", "weaker"},
		{"IF a = 1 THEN y = 1 [covered 3]", "IF a = 1 THEN y = 1 [covered 4]", "stronger"},
		{"IF a = 1 THEN y = 1", "IF a = 1 THEN y = 1 [covered 4]", ""},
		{"IF a = 1 THEN y = 1", "IF a = 1 THEN y = 1 WITH 0.9", "weaker"},
		{"IF a = 1 THEN y = {p 0.3, q 0.7}", "IF a = 1 THEN y = {p 0.2, q 0.8}", "stronger"},
		{"IF a = 1 THEN y = {p 0.3, q 0.7}", "IF a = 1 THEN y = {p 0.6, q 0.4}", "added dropped"},
		{"IF a = 1 THEN y ~ 3 ± 1", "IF a = 1 THEN y ~ 4 ± 1", "moved"},
		{"IF a = 1 THEN y ~ 3 ± 1 [covered 1]", "IF a = 1 THEN y ~ 3 ± 1 [covered 2]", "stronger"},
		{"IF 1*a + 2*b > 3 THEN y = 1", "IF 1*a + 2.5*b > 3 THEN y = 1", "moved"},
		{"IF 1*a + 2*b > 3 THEN y = 1", "IF 1*a + 2*b <= 3 THEN y = 1", "added dropped"},
		{"IF AT LEAST 1 OF {a > 1, b = 2} THEN y = 1", "IF AT LEAST 1 OF {a > 2, b = 2} THEN y = 1", "moved"},
		{"IF 1 < a < 2 THEN y = 1 IF 5 < a < 6 THEN y = 1", "IF 1 < a < 2.5 THEN y = 1 IF 5.5 < a < 6 THEN y = 1", "moved moved"},
		{"IF a < 2 THEN y = 1 IF a < 7 THEN y = 1", "IF a < 2.5 THEN y = 1", "dropped moved"},
		{"IF a = 1 THEN y = 1 IF a = 1 THEN y = 1", "IF a = 1 THEN y = 1", "dropped"},
		{"IF ALWAYS THEN y = 1", "ELSE y = 1", "added dropped"},
		{"RULES ordered IF a = 1 THEN y = 1 IF b = 1 THEN y = 2", "RULES ordered IF b = 1 THEN y = 2 IF a = 1 THEN y = 1", "reordered"},
		{"RULES weighed IF a = 1 THEN y = 1 IF b = 1 THEN y = 2", "RULES weighed IF b = 1 THEN y = 2 IF a = 1 THEN y = 1", ""},
		{"RULES ordered", "RULES weighed", "kind"},
		{"WHEN u (0.5) EXPECT a ~ 1 ± 1", "WHEN u (0.6) EXPECT a ~ 1 ± 1", "stronger"},
		{"WHEN u (0.5) EXPECT a ~ 1 ± 1", "WHEN u (0.6) EXPECT a ~ 2 ± 1", "moved"},
		{"WHEN u (0.5) EXPECT a = {p 1}", "WHEN u (0.5) EXPECT a = {q 1}", "moved"},
		{"WHEN u (0.5) EXPECT a ~ 1 ± 1", "WHEN v (0.5) EXPECT a ~ 1 ± 1", "added dropped"},
	} {
		before, after := mustParse(t, c.before), mustParse(t, c.after)
		if got := summary(Compare(before, after)); got != c.want {
			t.Errorf("%s\n%s\n%s, expected %s", c.before, c.after, got, c.want)
		}
	}
}

func summary(d *Diff) string {
	var words []string
	add := func(n int, word string) { words = append(words, slices.Repeat([]string{word}, n)...) }
	add(len(d.Added), "added")
	add(len(d.Dropped), "dropped")
	add(len(d.Stronger), "stronger")
	add(len(d.Weaker), "weaker")
	add(len(d.Moved), "moved")
	if d.Reordered {
		words = append(words, "reordered")
	}
	if d.Before != d.After {
		words = append(words, "kind")
	}
	if (len(words) == 0) != d.Empty() || d.Empty() != (d.String() == "") {
		words = append(words, "Empty is wrong")
	}
	text := fmt.Sprint(words)
	return text[1 : len(text)-1]
}

// TestCompareIsSymmetric exchanges the bases.
func TestCompareIsSymmetric(t *testing.T) {
	texts := func(list []Statement) []string {
		out := []string{}
		for _, s := range list {
			out = append(out, s.ID()+s.String())
		}
		slices.Sort(out)
		return out
	}
	changes := func(list []Change, swap bool) []string {
		out := []string{}
		for _, c := range list {
			if swap {
				c.Before, c.After = c.After, c.Before
			}
			out = append(out, c.Before.String()+" became "+c.After.String())
		}
		slices.Sort(out)
		return out
	}
	// Few shapes and few numbers, so that rules find twins.
	small := rapid.Custom(func(t *rapid.T) *Base {
		b := &Base{Kind: Kind(rapid.IntRange(0, 3).Draw(t, "kind"))}
		for range rapid.IntRange(0, 6).Draw(t, "rules") {
			r := smallConclusion(t)
			r.If = rapid.SliceOfN(wideTest(1), 0, 2).Draw(t, "if")
			b.Rules = append(b.Rules, r)
		}
		if rapid.Bool().Draw(t, "else") {
			r := smallConclusion(t)
			b.Else = &r
		}
		return b
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := small.Draw(t, "a"), small.Draw(t, "b")
		if rapid.Bool().Draw(t, "share") {
			b.Rules = append(b.Rules, a.Rules...)
		}
		there, back := Compare(a, b), Compare(b, a)
		if !slices.Equal(texts(there.Added), texts(back.Dropped)) || !slices.Equal(texts(there.Dropped), texts(back.Added)) ||
			!slices.Equal(changes(there.Stronger, false), changes(back.Weaker, true)) ||
			!slices.Equal(changes(there.Weaker, false), changes(back.Stronger, true)) ||
			!slices.Equal(changes(there.Moved, false), changes(back.Moved, true)) ||
			there.Reordered != back.Reordered {
			t.Fatalf("%v\nagainst\n%v", there, back)
		}
		if n := len(there.Added) + len(there.Stronger) + len(there.Weaker) + len(there.Moved); n > len(b.Rules)+1 {
			t.Fatalf("%d differences of %d rules", n, len(b.Rules))
		}
		if !Compare(a, a).Empty() {
			t.Fatal("differs from itself")
		}
	})
}
