package rule

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

func ExampleParse() {
	base, _ := Parse("play.rules", []byte(`
		RULES ordered   # a list: the first rule that matches answers
		IF outlook = overcast THEN play = yes WITH 0.9
		IF 54.0 < temperature <= 85.0 AND outlook IN {sunny, "light rain"} THEN play = yes
		ELSE play = no
	`))
	fmt.Print(base)
	_, err := Parse("votes.rules", []byte("RULES weighed\nIF fee = y WITH 0.9"))
	fmt.Println(err)
	// Output:
	// RULES ordered
	// IF outlook = overcast THEN play = yes WITH 0.9
	// IF 54 < temperature <= 85 AND outlook IN {sunny, "light rain"} THEN play = yes
	// ELSE play = no
	// votes.rules:2:12: expected AND or THEN, found WITH
}

func ExampleParseFor() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sunny", "overcast", "rain"}},
		{Name: "temperature", Kind: table.Numeric},
		{Name: "play", Values: []string{"no", "yes"}},
	}}
	for _, src := range []string{
		"IF outlok = sunny THEN play = no",
		"IF outlook IN {rain,\n  suny} THEN play = no",
		"IF outlook > 3 THEN play = no",
	} {
		_, err := ParseFor("my.rules", []byte(src), schema)
		fmt.Println(err)
	}
	// Output:
	// my.rules:1:4: unknown column "outlok"; did you mean "outlook"?
	// my.rules:2:3: unknown value "suny" of "outlook"; did you mean "sunny"?
	// my.rules:1:4: "outlook" is nominal and has no order; use =, !=, IN or NOT IN
}

// TestExamples reads the kinds of statements as people write them, and knows
// how they are printed.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ src, printed string }{
		{"RULES weighed", "RULES weighed"},
		{"SCHEMA a numeric~1+-2,\"b c\" nominal{x,y};TARGET a RULES ordered", "SCHEMA a numeric ~ 1 ± 2, \"b c\" nominal {x, y}; TARGET a\nRULES ordered"},
		{"RULES mixture SCHEMA a nominal {x 0.25, y 0.75}, d date, t time ~ 1 ± 0, w text", "SCHEMA a nominal {x 0.25, y 0.75}, d date, t time ~ 1 ± 0, w text\nRULES mixture"},
		{`IF w CONTAINS "New York" AND w NOT CONTAINS "CONTAINS" AND AT LEAST 1 OF {w CONTAINS b} THEN y = 1`, ""},
		{"IF a = 1 THEN y BY {x 0.5, \"y z\" -1.25} [covered 3]", ""},
		{"IF a = 1 THEN y+=-2.5 IF a = 2 THEN y += 1 +- 0.5 WORTH 3", "IF a = 1 THEN y += -2.5\nIF a = 2 THEN y += 1 ± 0.5 WORTH 3"},
		{"IF physician-fee-freeze = n AND adoption-of-the-budget-resolution = y THEN class = democrat WITH 0.98 WORTH 50", ""},
		{"IF 54.0 < temperature <= 85.0 AND outlook IN {sunny, overcast} THEN play = yes", "IF 54 < temperature <= 85 AND outlook IN {sunny, overcast} THEN play = yes"},
		{"WHEN wealthy (0.33) WORTH 50 EXPECT crim ~ -0.40 sd ± 0.20 sd AND rm ~ 7.0 ± 0.7 AND zn NORMAL", "WHEN wealthy (0.33) WORTH 50 EXPECT crim ~ -0.4 sd ± 0.2 sd AND rm ~ 7 ± 0.7 AND zn NORMAL"},
		{"WHEN w(.5)EXPECT a~1+-2 AND b={x 0.5,\"y z\" .5}", `WHEN w (0.5) EXPECT a ~ 1 ± 2 AND b = {x 0.5, "y z" 0.5}`},
		{"IF ALWAYS THEN class = {a 0.25, b 0.75} [weight -1.5]", ""},
		{"IF ALWAYS THEN y ~ -1e-9 ± 0 [covered 12, correct 11, bits 0.38, weight 1.2]", ""},
		{"IF ALWAYS THEN y ~ 1 ± 2 [weight 1e+3, covered 2]", "IF ALWAYS THEN y ~ 1 ± 2 [covered 2, weight 1000]"},
		{"IF a NOT IN {1, -2.5} AND b IS MISSING AND c IS KNOWN AND d != \"1e+5\" THEN y = 1", ""},
		{"IF a<-5 AND b>=+3 AND \"5\" = 5 THEN y = 1", `IF a < -5 AND b >= 3 AND "5" = 5 THEN y = 1`},
		{"IF 5 = 5 AND 3<=5<4 THEN y = 1", `IF "5" = 5 AND 3 <= "5" < 4 THEN y = 1`},
		{"IF 2*x - 3.5*\"a b\" -1*z + -0.5*w > 1 AND -1*x <= 0 THEN y = 1", "IF 2*x - 3.5*\"a b\" - 1*z - 0.5*w > 1 AND -1*x <= 0 THEN y = 1"},
		{"IF AT LEAST 2 OF {a = 1, b IN {x, y}, AT LEAST 1 OF {c > 2}} THEN y = 1", ""},
		{"IF day >= 2024-02-29 THEN y = 2024-02-29", "IF day >= 19782 THEN y = 2024-02-29"},
		{`IF "" = "\u00e9\ud83d\ude00\n\/" THEN y = "AND"`, `IF "" = "é😀\n/" THEN y = "AND"`},
		{"\ufeff# comment\r\nELSE y = 1 # another", "ELSE y = 1"},
		{"IF x > 100000000000000000000 AND z < 1e21 AND w < 0.000001 AND v < 1e-7 THEN y = 1", ""},
	} {
		b, err := Parse("x", []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		want := c.printed
		if want == "" {
			want = c.src
		}
		if got := b.String(); got != want+"\n" {
			t.Errorf("%s\nprints %s\nexpected %s", c.src, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, err string }{
		{"IF a = 1", "f:1:9: expected AND or THEN, found the end of the file"},
		{"if a = 1 THEN y = 1", "f:1:1: expected RULES, SCHEMA, IF, ELSE or WHEN, found if; keywords are upper case: IF"},
		{"IF a = 1 then y = 1", "f:1:10: expected AND or THEN, found then; keywords are upper case: THEN"},
		{"IF AND = 1", `f:1:4: expected a test, found AND; a name that is a keyword stands in quotes: "AND"`},
		{"IF é = 1 ? 2", `f:1:10: unexpected '?'; put names with such characters in double quotes`},
		{"IF a\n\xff = 1", "f:2:1: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"IF \"a\xff\" = 1", "f:1:6: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"IF \"a = 1\nTHEN", `f:1:4: this quote is not closed on its line; write a line break inside a name as \n`},
		{"IF \"a\tb\" = 1", `f:1:6: control character U+0009 in quotes; write it as \u0009`},
		{`IF "\x" = 1`, `f:1:5: unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four hex digits`},
		{`IF "\ud83dx" = 1`, `f:1:5: unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four hex digits`},
		{`IF "\u12`, `f:1:5: unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four hex digits`},
		{`IF "\u12g4" = 1`, `f:1:5: unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four hex digits`},
		{"IF a = {1} THEN y = 1", "f:1:6: = before a set; use IN or NOT IN"},
		{"IF a IN {} THEN y = 1", "f:1:10: expected a value, found }"},
		{"IF a IN {b c} THEN y = 1", `f:1:12: expected "," or "}", found c`},
		{"IF a NOT b", "f:1:10: expected IN or CONTAINS, found b"},
		{"IF a IS b", "f:1:9: expected MISSING or KNOWN, found b"},
		{"IF a 5", "f:1:6: expected =, !=, <, <=, >, >=, IN, NOT IN, CONTAINS, NOT CONTAINS or IS, found 5"},
		{"IF a < nan THEN", "f:1:8: expected a number, found nan"},
		{"IF a < Inf THEN", "f:1:8: expected a number, found Inf"},
		{"IF a < 1e999 THEN", "f:1:8: 1e999 is too large for a number"},
		{`IF a < "5" THEN`, `f:1:8: expected a number, found "5"`},
		{"IF 5 < a THEN", "f:1:10: expected < or <= and an upper bound (a lower bound alone is written column > number), found THEN"},
		{"IF 5 < a < 5 THEN", "f:1:4: nothing lies between 5 and 5; the lower bound stands first"},
		{"IF 2*a < 5 THEN", "f:1:8: expected +, -, > or <=, found <"},
		{"IF 2*a+b > 5 THEN", "f:1:8: expected a factor, found b"},
		{"IF AT LEAST 3 OF {a = 1, b = 2} THEN y = 1", "f:1:4: AT LEAST 3 of 2 tests, expected a number from 1 to 2"},
		{"IF AT LEAST 1.5 OF {a = 1, b = 2} THEN y = 1", "f:1:13: AT LEAST 1.5, expected a whole number"},
		{"IF AT LEAST 1 OF {a = 1 b = 2} THEN y = 1", `f:1:25: expected "," or "}", found b`},
		{"IF a = 1 THEN y > 1", "f:1:17: expected = and a value, BY and weights, or ~ or += and a number, found >"},
		{"IF a = 1 THEN y = 1 WITH 1.5", "f:1:26: WITH is 1.5, expected a probability from 0 to 1"},
		{"IF a = 1 THEN y = 1 WORTH -1", "f:1:27: WORTH is -1, expected a number ≥ 0"},
		{"IF a = 1 THEN y = {a 1} WITH 1", "f:1:25: WITH after a distribution; the probabilities stand in its braces"},
		{"IF a = 1 THEN y = {a 0.5, b 0.4}", "f:1:15: the probabilities sum to 0.9, expected 1"},
		{"IF a = 1 THEN y = {a 0.5, a 0.5}", `f:1:27: "a" stands twice`},
		{"IF a = 1 THEN y = {a 0.5; a 0.5}", `f:1:25: expected "," or "}", found ;`},
		{"IF a = 1 THEN y BY {a 1} WITH 1", "f:1:26: WITH after BY; the weights stand in its braces"},
		{"IF a = 1 THEN y BY {a 1, a 2}", `f:1:26: "a" stands twice`},
		{"IF a = 1 THEN y += 1 WITH 1", "f:1:22: WITH after +=; what is added has no probability"},
		{"IF a = 1 THEN y = 1 SCHEMA a numeric", "f:1:21: SCHEMA stands once, before all rules"},
		{"SCHEMA a numeric SCHEMA a numeric", "f:1:18: SCHEMA stands once, before all rules"},
		{"SCHEMA a number", `f:1:10: unknown kind of column number; known are nominal, numeric, date, time, text`},
		{"SCHEMA a", "f:1:9: expected nominal, numeric, date, time or text, found the end of the file"},
		{"SCHEMA a numeric {1}", `f:1:8: "a" is numeric and has no list of values; leave out the braces`},
		{"SCHEMA a nominal ~ 1 ± 1", `f:1:8: "a" is nominal and has no mean; leave out ~`},
		{"SCHEMA a nominal, a nominal", `f:1:8: column "a" stands twice`},
		{"SCHEMA a nominal {x, x}", `f:1:8: "a": the value "x" stands twice`},
		{"SCHEMA a nominal {x 0.5, y}", `f:1:8: "a": a share for each of its values, or for none`},
		{"SCHEMA colour nominal; TARGET color", `f:1:8: the target "color" is none of the columns; did you mean "colour"?`},
		{"SCHEMA a text; TARGET a", `f:1:8: the target "a" is text, which no rule concludes`},
		{"SCHEMA a nominal {x} IF b = x THEN a = x", `f:1:25: unknown column "b"; known are a`},
		{"SCHEMA a nominal {x}, b nominal IF b = q THEN a = y", `f:1:51: unknown value "y" of "a"; known are x`},
		{"SCHEMA a text, b nominal IF a = q THEN b = y", `f:1:29: "a" is text; use CONTAINS or NOT CONTAINS and a word`},
		{"SCHEMA a text, b nominal IF b CONTAINS q THEN b = y", `f:1:29: "b" is nominal and has no words; use = or !=`},
		{"SCHEMA a text, b nominal IF a > 1 THEN b = y", `f:1:29: "a" is text and has no order; use CONTAINS or NOT CONTAINS`},
		{"IF a = 1 THEN y = {a 2}", `f:1:20: the probability of "a" is 2, expected a probability from 0 to 1`},
		{"IF a = 1 THEN y ~ 1 ± -1", "f:1:15: 1 ± -1, expected a finite number and a deviation ≥ 0"},
		{"IF a = 1 THEN y = 1 [cover 5]", `f:1:22: unknown evidence cover; did you mean "covered"?`},
		{"IF a = 1 THEN y = 1 [covered 5, covered 5]", "f:1:33: covered stands twice"},
		{"IF a = 1 THEN y = 1 [covered -5]", "f:1:30: covered is -5, expected a number ≥ 0"},
		{"IF a = 1 THEN y = 1 [covered 5", `f:1:31: expected "," or "]", found the end of the file`},
		{"IF a = 1 THEN y = 1 []", "f:1:22: expected covered, correct, bits, weight or templates, found ]"},
		{"RULES sorted", `f:1:7: unknown kind of rules sorted; known are ordered, weighed, mixture`},
		{"RULES IF", "f:1:7: expected ordered, weighed or mixture, found IF"},
		{"RULES ordered RULES ordered", "f:1:15: RULES stands once, before all rules"},
		{"ELSE y = 1 IF a = 1 THEN y = 1", "f:1:12: IF after ELSE; ELSE is the last rule"},
		{"ELSE y = 1 ELSE y = 1", "f:1:12: a second ELSE; a base has one"},
		{"ELSE y = 1 WORTH 5", "f:1:12: expected RULES, SCHEMA, IF, ELSE or WHEN, found WORTH"},
		{"WHEN u (2) EXPECT a NORMAL", "f:1:9: the prior is 2, expected a probability from 0 to 1"},
		{"WHEN u (1) EXPECT a NORMAL AND a NORMAL", `f:1:32: "a" is expected twice`},
		{"WHEN u (1) EXPECT a NORMAL WHEN u (1) EXPECT a NORMAL", "f:1:33: a second unit u"},
		{"WHEN u (1) EXPECT a < 5", "f:1:21: expected ~, = or NORMAL, found <"},
		{"WHEN u (1) EXPECT a ~ 5 ± -1", "f:1:19: 5 ± -1, expected a finite number and a deviation ≥ 0"},
	} {
		_, err := Parse("f", []byte(c.src))
		var at *Error
		if err == nil || err.Error() != c.err || !errors.As(err, &at) {
			t.Errorf("%s\n   got %v\n  want %s", c.src, err, c.err)
		}
	}
	if _, err := Parse("", []byte("x")); err == nil || !strings.HasPrefix(err.Error(), "1:1: ") {
		t.Errorf("without a file name: %v", err)
	}
}

// TestErrorsAgainstSchema knows the place of every unknown name.
func TestErrorsAgainstSchema(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "colour", Values: []string{"red", "green"}},
		{Name: "size", Kind: table.Numeric},
		{Name: "class", Values: []string{"a", "b"}},
	}}
	for _, c := range []struct{ src, err string }{
		{"IF color = red THEN class = a", `f:1:4: unknown column "color"; did you mean "colour"?`},
		{"IF colour = rad THEN class = a", `f:1:13: unknown value "rad" of "colour"; did you mean "red"?`},
		{"IF size = big THEN class = a", `f:1:11: "size" is numeric; expected a number, found "big"`},
		{"IF 1*size + 1*colour > 1 THEN class = a", `f:1:15: "colour" is nominal and has no order; use =, !=, IN or NOT IN`},
		{"IF 1*size + 1*siez > 1 THEN class = a", `f:1:15: unknown column "siez"; did you mean "size"?`},
		{"IF 1 < colour < 2 THEN class = a", `f:1:8: "colour" is nominal and has no order; use =, !=, IN or NOT IN`},
		{"IF AT LEAST 1 OF {size > 1, colour = blue} THEN class = a", `f:1:38: unknown value "blue" of "colour"; known are red, green`},
		{"IF ALWAYS THEN clas = a", `f:1:16: unknown column "clas"; did you mean "class"?`},
		{"IF ALWAYS THEN class = c", `f:1:24: unknown value "c" of "class"; known are a, b`},
		{"IF ALWAYS THEN class = {a 0.5, c 0.5}", `f:1:32: unknown value "c" of "class"; known are a, b`},
		{"IF ALWAYS THEN class ~ 5 ± 1", `f:1:16: "class" is nominal; conclude class = value`},
		{"IF ALWAYS THEN size = 5", `f:1:16: "size" is numeric; conclude size ~ mean ± deviation`},
		{"WHEN u (1) EXPECT sized ~ 1 ± 1", `f:1:19: unknown column "sized"; did you mean "size"?`},
		{"WHEN u (1) EXPECT colour ~ 1 ± 1", `f:1:19: "colour" is nominal; expect colour = {value probability, …}`},
		{"WHEN u (1) EXPECT size = {5 1}", `f:1:19: "size" is numeric; expect size ~ mean ± deviation`},
		{"WHEN u (1) EXPECT colour = {blue 1}", `f:1:29: unknown value "blue" of "colour"; known are red, green`},
	} {
		_, err := ParseFor("f", []byte(c.src), schema)
		if err == nil || err.Error() != c.err {
			t.Errorf("%s\n   got %v\n  want %s", c.src, err, c.err)
		}
		b, err := Parse("f", []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		_, msg, _ := strings.Cut(strings.TrimPrefix(c.err, "f:1:"), ": ")
		if err := b.Check(schema); err == nil || !strings.HasSuffix(err.Error(), msg) {
			t.Errorf("%s\n Check: %v\n  want %s", c.src, err, msg)
		}
	}
	good := "IF colour = red AND size = 5 AND size NOT IN {1, 2e0, 2024-01-01} AND colour IS KNOWN AND 1*size > 2 THEN class = {a 0.3, b 0.7}\nWHEN u (1) EXPECT colour = {red 1} AND size NORMAL AND class NORMAL\n"
	if _, err := ParseFor("f", []byte(good), schema); err != nil {
		t.Error(err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBase().Draw(t, "base")
		var text strings.Builder
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		if text.String() != b.String() {
			t.Fatal("Write and String differ")
		}
		back, err := Parse("printed", []byte(text.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if !back.Equal(b) {
			t.Fatalf("reads back differently:\n%s\nas\n%s", b, back)
		}
		if b.Notes = nil; back.String() != b.String() {
			t.Fatalf("prints differently:\n%s\nas\n%s", b, back)
		}
		for _, d := range []*Diff{Compare(b, back), Compare(back, b)} {
			if !d.Empty() {
				t.Fatalf("differs from itself:\n%s", d)
			}
		}
	})
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(depth int) string {
		return "IF " + strings.Repeat("AT LEAST 1 OF {", depth) + "a = 1" + strings.Repeat("}", depth) + " THEN y = 1"
	}
	b, err := Parse("f", []byte(nested(maxDepth)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("f", []byte(nested(100_000))); err == nil || !strings.Contains(err.Error(), "nests deeper than") {
		t.Errorf("deep nesting: %v", err)
	}
	b.Rules[0].If[0] = Test{Op: AtLeast, Count: 1, Of: b.Rules[0].If}
	if err := b.Check(nil); err == nil {
		t.Error("Check accepts what cannot be read back")
	}
}

// TestWriteRefuses what would not read back.
func TestWriteRefuses(t *testing.T) {
	nan, two, minus := math.NaN(), 2.0, -1.0
	yes := Conclusion{Column: "y", Value: "1"}
	rule := func(r Rule) *Base {
		if r.Then.Column == "" {
			r.Then = yes
		}
		return &Base{Rules: []Rule{r}}
	}
	test := func(t Test) *Base { return rule(Rule{If: []Test{t}}) }
	unit := func(u Unit) *Base { return &Base{Units: []Unit{u}} }
	good := Expectation{Column: "a", Normal: true}
	for name, b := range map[string]*Base{
		"NaN cut":             test(Test{Op: Lt, Column: "a", Number: nan}),
		"infinite cut":        test(Test{Op: Between, Column: "a", Low: 1, High: math.Inf(1)}),
		"empty interval":      test(Test{Op: Between, Column: "a", Low: 2, High: 1}),
		"empty set":           test(Test{Op: In, Column: "a"}),
		"no such operator":    test(Test{Op: 99, Column: "a"}),
		"not UTF-8":           test(Test{Op: Eq, Column: "a", Value: "\xff"}),
		"column not UTF-8":    test(Test{Op: Eq, Column: "\xff"}),
		"no terms":            test(Test{Op: HalfSpace}),
		"infinite factor":     test(Test{Op: HalfSpace, Terms: []Term{{math.Inf(1), "a"}}}),
		"none of none":        test(Test{Op: AtLeast}),
		"bad test within":     test(Test{Op: AtLeast, Count: 1, Of: []Test{{Op: In, Column: "a"}}}),
		"with 2":              rule(Rule{With: &two}),
		"worth -1":            rule(Rule{Worth: &minus}),
		"covered NaN":         rule(Rule{Evidence: Evidence{Covered: &nan}}),
		"bits NaN":            rule(Rule{Evidence: Evidence{Bits: &nan}}),
		"NaN mean":            rule(Rule{Then: Conclusion{Column: "y", Numeric: true, Mean: nan}}),
		"with and classes":    rule(Rule{With: new(float64), Then: Conclusion{Column: "y", Classes: []Share{{"a", 1}}}}),
		"shares of 2":         rule(Rule{Then: Conclusion{Column: "y", Classes: []Share{{"a", 1}, {"b", 1}}}}),
		"else with IF":        {Else: &Rule{If: []Test{{Op: IsKnown, Column: "a"}}, Then: yes}},
		"else with WORTH":     {Else: &Rule{Worth: &two, Then: yes}},
		"else with NaN":       {Else: &Rule{With: &nan, Then: yes}},
		"unit's prior":        unit(Unit{Name: "u", Prior: nan, Expect: []Expectation{good}}),
		"unit's worth":        unit(Unit{Name: "u", Worth: &nan, Expect: []Expectation{good}}),
		"unit's name":         unit(Unit{Name: "\xff", Expect: []Expectation{good}}),
		"expects nothing":     unit(Unit{Name: "u"}),
		"expects twice":       unit(Unit{Name: "u", Expect: []Expectation{good, good}}),
		"expects NaN":         unit(Unit{Name: "u", Expect: []Expectation{{Column: "a", Mean: nan}}}),
		"two units, one name": {Units: []Unit{{Name: "u", Expect: []Expectation{good}}, {Name: "u", Expect: []Expectation{good}}}},
	} {
		if err := b.Write(io.Discard); err == nil {
			t.Errorf("%s: written as %s", name, b)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than a line: %v", name, err)
		}
		_ = b.String() // prints something, whatever it is
	}
	if Op(99).String() != "Op(99)" || Kind(99).String() != "unstated" {
		t.Error("names of what does not exist")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteReportsFailure(t *testing.T) {
	b := &Base{Kind: Ordered}
	if err := b.Write(fullDisk{}); err == nil || err.Error() != "disk full" {
		t.Errorf("got %v", err)
	}
}

func TestNotesAreComments(t *testing.T) {
	b := &Base{Kind: Weighed, Notes: []string{"summary: agrees with the model on 97.1 % of rows", "two\nlines\r\nELSE y = 1"}}
	want := "RULES weighed\n# summary: agrees with the model on 97.1 % of rows\n# two\n# lines\n# ELSE y = 1\n"
	if b.String() != want {
		t.Errorf("got %s", b)
	}
	back, err := Parse("f", []byte(b.String()))
	if err != nil || !back.Equal(b) {
		t.Errorf("read back as %v, %v", back, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"RULES weighed\nIF a-b = n AND c != y THEN class = democrat WITH 0.98 WORTH 50 [covered 12, correct 11, bits 0.38, weight 1.2]",
		"IF 54.0 < t <= 85.0 AND o NOT IN {sunny, \"over\\ncast\"} THEN play = {yes 0.5, no 0.5} # comment",
		"WHEN w (0.33) WORTH 50 EXPECT crim ~ -0.40 sd +- 0.20 sd AND rm ~ 7.0 ± 0.7 AND zn NORMAL AND c = {a 1}",
		"RULES ordered IF AT LEAST 2 OF {a IS MISSING, 2*x - 3*y > 1e+5, b IS KNOWN} THEN y ~ 1 ± 2 ELSE y ~ 0 ± 1",
		"SCHEMA a numeric ~ 1 ± 2, b nominal {x 0.5, y 0.5}, d date, t time, w text; TARGET b RULES weighed IF w NOT CONTAINS q AND t > 2024-01-01 THEN b BY {x 1, y -2} ELSE b = x",
		"RULES weighed IF a CONTAINS b THEN y += 1 ± 2 ELSE y ~ 0 ± 1",
		"IF \"\\ud83d\\ude00\" = 1e+5 AND 5 = 2024-02-29 AND d < 2024-02-29 THEN IF = 1",
	} {
		f.Add([]byte(src))
	}
	schema := smallSchema()
	f.Fuzz(func(t *testing.T, src []byte) {
		defer bounded.Start(t, len(src))()
		_, _ = ParseFor("f", src, schema)
		b, err := Parse("f", src)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("more than a line: %q", err)
			}
			return
		}
		var text strings.Builder
		if err := b.Write(&text); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		back, err := Parse("printed", []byte(text.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if !back.Equal(b) || back.String() != b.String() {
			t.Fatalf("reads back differently:\n%s\nas\n%s", b, back)
		}
		for i := range b.Rules {
			if b.Rules[i].ID() != back.Rules[i].ID() {
				t.Fatalf("id changes: %v", &b.Rules[i])
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte(strings.Repeat("IF 54.0 < temperature <= 85.0 AND outlook IN {sunny, overcast} THEN play = yes WITH 0.9 [covered 12, correct 11]\n", 1000))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("f", src); err != nil {
			b.Fatal(err)
		}
	}
}
