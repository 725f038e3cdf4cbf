package say

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func patients() *Speaker {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "cp", Values: []string{"asympt", "typ"}},
		{Name: "exang", Values: []string{"no", "yes"}},
		{Name: "ca", Kind: table.Numeric},
		{Name: "oldpeak", Kind: table.Numeric},
		{Name: "seen", Kind: table.Numeric, Date: true},
		{Name: "income", Kind: table.Numeric},
		{Name: "num", Values: []string{"<50", ">50_1"}},
	}}
	s := New(schema, 6, Words{})
	s.Known = [][]float64{2: {0, 1, 2, 3}, 3: {0, 0.5, 0.6, 1.9, 2}, 4: {19000, 19001, 19500}, 5: {1200.5, 165230, 175400}, 6: nil}
	s.Usual = []float64{0.54, 0.46}
	return s
}

func words() Words {
	return Words{Row: "patient", Columns: map[string]Column{
		"exang": {Label: "angina on exercise"}, "oldpeak": {Label: "ST depression", Unit: "mm"},
		"ca": {Label: "coloured vessels", Count: true}, "num": {Values: map[string]string{">50_1": "disease", "<50": "healthy"}},
		"cp": {Label: "chest pain", Values: map[string]string{"asympt": "asymptomatic"}},
	}}
}

func TestRules(t *testing.T) {
	for text, want := range map[string][2]string{
		`IF cp = asympt AND ca > 0.5 THEN num = ">50_1" WITH 0.9351 [covered 77, correct 72, weight 0.62]`: {
			"When cp = asympt and ca is 1 or more, num = >50_1 in 72 of 77 cases (94 %; usually 46 %).",
			"When chest pain is asymptomatic and 1 or more coloured vessels, disease in 72 of 77 patients (94 %; usually 46 %)."},
		`IF exang = no AND oldpeak <= 1.95 AND ca <= 0.5 THEN num = "<50" WITH 1 [covered 57, correct 57]`: {
			"When exang = no and oldpeak is less than 2 and ca = 0, num = <50 in all 57 cases (usually 54 %).",
			"When no angina on exercise and ST depression is less than 2 mm and no coloured vessels, healthy in all 57 patients (usually 54 %)."},
		`IF 0.55 < oldpeak <= 1.95 AND exang != yes THEN num = "<50" WITH 0.1 [covered 10, correct 1, weight -1.5]`: {
			"When oldpeak is at least 0.6 and less than 2 and exang = no, num = <50 in 1 of 10 cases (10 %; usually 54 %): it speaks against num = <50.",
			"When ST depression is at least 0.6 and less than 2 mm and no angina on exercise, healthy in 1 of 10 patients (10 %; usually 54 %): it speaks against healthy."},
		`IF income > 170300 AND seen > 19000.5 THEN num = "<50" WITH 0.9 WORTH 20`: {
			"When income is 170,000 or more and seen is 2022-01-09 or later, num = <50 in 90 % (usually 54 %).",
			"When income is 170,000 or more and seen is 2022-01-09 or later, healthy in 90 % (usually 54 %)."},
		`IF cp IN {asympt, typ} AND oldpeak > 0.7 THEN num = "<50" WITH 0.6 [covered 10, correct 6, weight -0.2]`: {
			"When cp is asympt or typ and oldpeak is 1 or more, num = <50 in 6 of 10 cases (60 %; usually 54 %): beside the other rules it still takes from num = <50.",
			"When chest pain is asymptomatic or typ and ST depression is 1 mm or more, healthy in 6 of 10 patients (60 %; usually 54 %): beside the other rules it still takes from healthy."},
		`IF num = "<50" THEN cp = asympt WITH 0.4 [covered 10, correct 4]`: { // of another column than the target nothing is usual
			"When num = <50, cp = asympt in 4 of 10 cases (40 %).",
			"When num is healthy, chest pain = asymptomatic in 4 of 10 patients (40 %)."},
		`IF num = "<50" THEN cp = {asympt 0.3, typ 0.7} [covered 10]`: { // the shares of its values
			"When num = <50, cp = typ in 70 %, asympt in 30 % (10 cases).",
			"When num is healthy, chest pain = typ in 70 %, asymptomatic in 30 % (10 patients)."},
	} {
		for i, w := range []Words{{}, words()} {
			s := patients()
			s.Words = w
			base, err := rule.ParseFor("x", []byte(text), s.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Rule(&base.Rules[0]).String(); got != want[i] {
				t.Errorf("%s\n says   %s\n wanted %s", text, got, want[i])
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(170300), "170,300"}, {Number(1984), "1984"}, {Number(-0.25), "−0.25"}, {Number(4e-7), "4 × 10⁻⁷"}, {Number(-6.5531e18), "−6.553 × 10¹⁸"}, {Number(math.Inf(1)), "+Inf"}, {Count(8124), "8,124"}, {Count(104.66), "104.7"},
		{Percent(0.978), "98 %"}, {Percent(0.992), "99.2 %"}, {Percent(0.9999), "over 99.9 %"}, {Percent(0.004), "0.4 %"}, {Percent(1e-9), "under 0.1 %"},
		{Between(0.68, 0.84), "68–84 %"}, {Rounded(1234.5678, 3), "1230"}, {Many("patient"), "patients"}, {Many("city"), "cities"},
	} {
		if c.got != c.want {
			t.Errorf("%q, expected %q", c.got, c.want)
		}
	}
}

// A cut is said as a number that divides the values in the same way, with no
// more digits than the value at its side.
func TestShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := float64(rapid.IntRange(-100000, 100000).Draw(t, "low")) / 100
		high := low + float64(rapid.IntRange(1, 5000).Draw(t, "step"))/100
		for _, upper := range []bool{true, false} {
			x := shortest(low, high, upper)
			end := high
			if !upper {
				end = low
			}
			if upper && (x <= low || x > high) || !upper && (x < low || x >= high) || digitsOf(x) > digitsOf(end) {
				t.Fatalf("between %v and %v it says %v", low, high, x)
			}
		}
	})
}

// Whatever the values and the range, what is said, read again, admits the values
// that the range admits; and both sides of a cut are said by one number.
func TestSaidAsMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]float64{1, 0.1, 25}).Draw(t, "unit")
		n := rapid.IntRange(3, 12).Draw(t, "values")
		var known []float64
		for x := float64(rapid.IntRange(-20, 20).Draw(t, "from")); len(known) < n; x += float64(rapid.IntRange(1, 30).Draw(t, "step")) {
			known = append(known, x*unit)
		}
		s := New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Values: []string{"a", "b"}}}}, 1, Words{})
		s.Known = [][]float64{known, nil}
		i := rapid.IntRange(0, n-2).Draw(t, "cut")
		cut := known[i] + (known[i+1]-known[i])*rapid.Float64Range(0.01, 0.99).Draw(t, "where")
		j := rapid.IntRange(i, n-2).Draw(t, "to")
		to := known[j] + (known[j+1]-known[j])*rapid.Float64Range(0.01, 0.99).Draw(t, "there")
		for _, test := range []rule.Test{{Column: "x", Op: rule.Le, Number: cut}, {Column: "x", Op: rule.Gt, Number: cut}, {Column: "x", Op: rule.Between, Low: cut, High: max(to, cut)}} {
			span := spanOf(&test)
			if !slices.ContainsFunc(known, span.has) {
				continue
			}
			text := s.one(&test)
			admits := readAgain(t, text)
			for _, x := range known {
				if span.has(x) != admits(x) {
					t.Fatalf("%v of %v is said as %q, which is wrong of %v", test, known, text, x)
				}
			}
		}
		under, over := s.one(&rule.Test{Column: "x", Op: rule.Le, Number: cut}), s.one(&rule.Test{Column: "x", Op: rule.Gt, Number: cut})
		if u, ok := strings.CutPrefix(under, "x is less than "); ok && !strings.Contains(over, " = ") && over != "x is "+u+" or more" {
			t.Fatalf("one cut is said as %q and as %q", under, over)
		}
	})
}

// readAgain reads what is said of a number.
func readAgain(t *rapid.T, text string) func(float64) bool {
	var low, high float64
	text = strings.NewReplacer("−", "-", ",", "").Replace(text)
	for format, admits := range map[string]func(x float64) bool{
		"x = %g":                            func(x float64) bool { return x == low },
		"x is less than %g":                 func(x float64) bool { return x < low },
		"x is %g or more":                   func(x float64) bool { return x >= low },
		"x is %g or less":                   func(x float64) bool { return x <= low },
		"x is %g to %g":                     func(x float64) bool { return x >= low && x <= high },
		"x is at least %g and less than %g": func(x float64) bool { return x >= low && x < high },
	} {
		if n, err := fmt.Sscanf(text+"\n", format+"\n", []any{&low, &high}[:strings.Count(format, "%g")]...); err == nil && n > 0 {
			return admits
		}
	}
	t.Fatalf("%q cannot be read", text)
	return nil
}

func FuzzWords(f *testing.F) {
	f.Add([]byte(`{"row":"patient","columns":{"ca":{"label":"vessels","count":true},"num":{"values":{"<50":"healthy"}}}}`))
	f.Add([]byte(`{"columns":{"none":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		s := patients()
		w, err := ParseWords(text, s.Schema)
		if err != nil {
			return
		}
		s.Words = w
		base, _ := rule.ParseFor("x", []byte(`IF cp = asympt AND ca > 0.5 THEN num = "<50" WITH 0.9`), s.Schema)
		if s.Rule(&base.Rules[0]).String() == "" {
			t.Error("nothing is said")
		}
	})
}

// TestGrowth: say.ParseWords takes time in proportion to what it reads.
func TestGrowth(t *testing.T) {
	s := patients()
	bounded.Worst(t, func(size int) []byte {
		return []byte(`{"columns":{` + strings.Repeat(`"ca":{"label":"v"},`, size/19) + `"ca":{}}}`)
	}, func(b []byte) { _, _ = ParseWords(b, s.Schema) })
}

// What is added for each unit of a column is said so.
func TestLine(t *testing.T) {
	base, err := rule.Parse("", []byte("IF ALWAYS THEN price += -1.5*(area - 90.25) FROM 20 TO 240 ± 0.1"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(&table.Schema{Attributes: []table.Attribute{{Name: "area", Kind: table.Numeric}, {Name: "price", Kind: table.Numeric}}}, 1, Words{})
	const want = "For each 1 that area is above 90.25, takes 1.5 ± 0.1 from price, and the other way below (counted from 20 to 240)."
	if got := s.Rule(&base.Rules[0]).String(); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

func TestRow(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "age", Kind: table.Numeric}, {Name: "sex", Kind: table.Nominal, Values: []string{"m", "f"}}, {Name: "angina", Kind: table.Nominal, Values: []string{"no", "yes"}}, {Name: "ill", Kind: table.Nominal, Values: []string{"no", "yes"}}}}
	b := table.NewBuilder(schema)
	for _, row := range []map[string]any{{"age": 63.0, "sex": "f", "angina": "yes", "ill": "yes"}, {"sex": "m", "angina": "no"}, {"angina": "yes", "ill": "no"}, {}} {
		if err := b.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	s := New(schema, 3, Words{Columns: map[string]Column{"sex": {Values: map[string]string{"m": "man", "f": "woman"}}, "angina": {Label: "angina on exercise"}}})
	for i, want := range []string{"woman, 63", "man, no angina on exercise", "angina on exercise", ""} {
		if got := s.Row(rows, i); got != want {
			t.Errorf("row %d is %q, not %q", i, got, want)
		}
	}
}

// Two cuts between the same neighbours leave a range that no value is in.
func TestNowhere(t *testing.T) {
	s := New(&table.Schema{Attributes: []table.Attribute{{Name: "age", Kind: table.Numeric}}}, -1, Words{})
	s.Known = [][]float64{{59, 60, 61}}
	between := func(low, high float64) []rule.Test {
		return []rule.Test{{Op: rule.Between, Column: "age", Low: low, High: high}}
	}
	if !s.Nowhere(between(60, 60.5)) || s.Nowhere(between(60, 61)) || s.Nowhere([]rule.Test{{Op: rule.Gt, Column: "age", Number: 90}}) {
		t.Error("60 < age <= 60.5 has no value of 59, 60 and 61; 60 < age <= 61 has one; age > 90 is no gap")
	}
}

// TestCounted says tests that stand several times, and limits of one sum, once; and
// days that no row tells as days.
func TestCounted(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "owner", Kind: table.Nominal, Values: []string{"no", "yes"}},
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "day", Kind: table.Numeric, Date: true},
	}}
	s := New(schema, -1, Words{})
	owner := rule.Test{Op: rule.Eq, Column: "owner", Value: "yes"}
	sum := func(limit float64) rule.Test {
		return rule.Test{Op: rule.HalfSpace, Terms: []rule.Term{{Factor: -0.5, Column: "x"}, {Factor: 2, Column: "y"}}, Number: limit}
	}
	for want, test := range map[string]rule.Test{
		"at least 3 of (owner = yes (counts 2), −0.5 × x + 2 × y is more than 1, 2, 4 (each counts))": {Op: rule.AtLeast, Count: 3, Of: []rule.Test{owner, sum(1), owner, sum(2), sum(4)}},
		"at least 1 of (owner = yes, −0.5 × x + 2 × y is more than 1)":                                {Op: rule.AtLeast, Count: 1, Of: []rule.Test{owner, sum(1)}},
		"day is 2020-11-12 or later":           {Op: rule.Gt, Column: "day", Number: 18577.5},
		"day is 2020-11-11 or earlier":         {Op: rule.Le, Column: "day", Number: 18577.5},
		"day is from 2020-11-12 to 2020-11-20": {Op: rule.Between, Column: "day", Low: 18577, High: 18587, LowClosed: false, HighOpen: true},
		"day is 2020-11-12":                    {Op: rule.Between, Column: "day", Low: 18577.5, High: 18578.5},
	} {
		if got := s.Conditions([]rule.Test{test}).String(); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
	for want, a := range map[string]table.Attribute{
		"2020-11-12 ± 411 d": {Date: true}, "18,580 ± 411": {}, "1970-01-01 ± 0.00475 d": {Time: true}, "05:10 ± 0.114 h": {Time: true, Style: table.Clock},
	} {
		if a.Kind = table.Numeric; Spread(&a, 18577.6, 410.6) != want {
			t.Errorf("%s, expected %s", Spread(&a, 18577.6, 410.6), want)
		}
	}
}
