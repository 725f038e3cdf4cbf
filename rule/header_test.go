package rule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

// ExampleBase_Model makes a predictor of a text alone.
func ExampleBase_Model() {
	base, err := Parse("play.rules", []byte(`
		SCHEMA outlook nominal {sunny, overcast, rain}, humidity numeric ~ 81 ± 9, play nominal; TARGET play
		RULES ordered
		IF outlook = overcast THEN play = yes
		IF outlook = sunny AND humidity > 75 THEN play = no WITH 0.75
		ELSE play = yes WITH 0.6
	`))
	if err != nil {
		panic(err)
	}
	schema, target, overall, err := base.Model()
	if err != nil {
		panic(err)
	}
	p, err := NewPredictor(base, schema, target, overall...)
	if err != nil {
		panic(err)
	}
	row, _ := table.New(schema, []table.Column{{Codes: []int32{0}}, {Floats: []float64{80}}, {Codes: []int32{table.Missing}}}, nil)
	probs := make([]float64, 2)
	err = p.Predict(row, probs, nil)
	fmt.Println(schema.Attributes[target].Values, probs, err)
	// Output:
	// [yes no] [0.25 0.75] <nil>
}

// TestHeaderRoundTrip: a SCHEMA line reads back to what it was, and bases
// without rules about other columns keep theirs.
func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &Base{Header: anyHeader().Draw(t, "header"), Kind: Ordered}
		var text strings.Builder
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		back, err := Parse("printed", []byte(text.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if !back.Equal(b) || back.String() != b.String() {
			t.Fatalf("reads back differently:\n%s\nas\n%s", b, back)
		}
		schema, target, overall, err := back.Model()
		if err != nil {
			t.Fatal(err)
		}
		if again := NewHeader(schema, overall, target); !equalHeaders(again, b.Header) {
			t.Fatalf("NewHeader of Model: %s\nwas %s", appendHeader(nil, again), appendHeader(nil, b.Header))
		}
	})
}

// TestPrintedModel: a base printed with the SCHEMA of its table predicts as
// before once it is read back.
func TestPrintedModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := smallTable(t, 40)
		b := &Base{Kind: Ordered, Header: NewHeader(data.Schema, OverallOf(data), 4)}
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			tests := rapid.SliceOfN(wideTest(1), 0, 2).Draw(t, "if")
			b.Rules = append(b.Rules, Rule{If: tests, Then: Conclusion{Column: "class", Value: rapid.SampledFrom(data.Schema.Attributes[4].Values).Draw(t, "class")}})
		}
		back, err := Parse("printed", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		schema, target, overall, err := back.Model()
		if err != nil {
			t.Fatal(err)
		}
		before, err := NewPredictor(b, data.Schema, 4)
		if err != nil {
			t.Fatal(err)
		}
		after, err := NewPredictor(back, schema, target, overall...)
		if err != nil {
			t.Fatal(err)
		}
		p, q := make([]float64, 3*data.Rows()), make([]float64, 3*data.Rows())
		if before.Predict(data, p, nil) != nil || after.Predict(data, q, nil) != nil || !slices.Equal(p, q) {
			t.Fatalf("%v\n%v", p, q)
		}
	})
}

// TestDates: dates and times in rules count as the columns that they are
// about do.
func TestDates(t *testing.T) {
	const head = "SCHEMA d date, t time, y nominal {a}; TARGET y "
	for src, want := range map[string]string{
		"d > 2024-02-29":                           "d > 19782",
		`d > "2024-02-29T12:00:00"`:                "d > 19782.5",
		"d = 2024-02-29":                           "d = 2024-02-29",
		"t > 1970-01-02":                           "t > 86400",
		`t <= "1970-01-02T00:00:01.5"`:             "t <= 86401.5",
		"1970-01-02 < t <= 1970-01-03":             "86400 < t <= 172800",
		`t IN {1970-01-02, "1970-01-01T00:01:00"}`: "t IN {86400, 60}",
		"t > 5":      "t > 5",
		"-3 < t < 5": "-3 < t < 5",
	} {
		b, err := Parse("f", []byte(head+"IF "+src+" THEN y = a"))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := b.Rules[0].If[0].String(); got != want {
			t.Errorf("%s is %s, expected %s", src, got, want)
		}
		again, err := Parse("f", []byte(b.String()))
		if err != nil || !again.Equal(b) {
			t.Errorf("%s: reads back as %v, %v", src, again, err)
		}
	}
}

func TestModelRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"IF a = 1 THEN y = 1": "the base has no SCHEMA line",
	} {
		b, err := Parse("f", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := b.Model(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", src, err, want)
		}
	}
}

// predictText predicts a table of one numeric column x with a base that says
// its own schema.
func predictText(t *testing.T, src string, x []float64) []float64 {
	t.Helper()
	b, err := Parse("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	schema, target, overall, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPredictor(b, schema, target, overall...)
	if err != nil {
		t.Fatal(err)
	}
	columns := []table.Column{{Floats: x}, {Floats: make([]float64, len(x))}}
	k := 1
	if a := schema.Attributes[1]; a.Kind == table.Nominal {
		columns[1], k = table.Column{Codes: make([]int32, len(x))}, len(a.Values)
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, k*len(x))
	if err := p.Predict(rows, out, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSums: rules of a weighed base add to a number, from where ELSE starts.
func TestSums(t *testing.T) {
	const rules = `IF x > 1 THEN y += 2.5 ± 1
		IF x > 2 THEN y += -1
		IF ALWAYS THEN y += 0.25
		`
	x := []float64{0, 1.5, 3, math.NaN()}
	if got, want := predictText(t, "SCHEMA x numeric, y numeric; TARGET y RULES weighed "+rules+"ELSE y ~ 10 ± 2", x), []float64{10.25, 12.75, 11.75, 10.25}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if got, want := predictText(t, "SCHEMA x numeric, y numeric; TARGET y RULES weighed "+rules, x), []float64{0.25, 2.75, 1.75, 0.25}; !slices.Equal(got, want) {
		t.Errorf("without ELSE %v, expected %v", got, want)
	}
}

// TestBy: a rule that moves several classes answers as one rule for each.
func TestBy(t *testing.T) {
	x := []float64{0, 1.5, 3}
	const head = "SCHEMA x numeric, y nominal {a, b, c}; TARGET y RULES weighed "
	by := predictText(t, head+"IF ALWAYS THEN y BY {a -1, b -2, c 0} IF x > 1 THEN y BY {a 0.5, b -0.75} IF x > 2 THEN y BY {c 2}", x)
	apart := predictText(t, head+`IF ALWAYS THEN y = a [weight -1] IF ALWAYS THEN y = b [weight -2] IF ALWAYS THEN y = c [weight 0]
		IF x > 1 THEN y = a [weight 0.5] IF x > 1 THEN y = b [weight -0.75] IF x > 2 THEN y = c [weight 2]`, x)
	if !slices.Equal(by, apart) {
		t.Errorf("%v\n%v", by, apart)
	}
}

func TestSumsRefuse(t *testing.T) {
	for src, want := range map[string]string{
		"SCHEMA x numeric, y numeric; TARGET y RULES ordered IF x > 1 THEN y += 1":                                           "only rules of a weighed base do",
		"SCHEMA x numeric, y numeric; TARGET y RULES weighed IF x > 1 THEN y ~ 1 ± 1":                                        "add to a number: y += number",
		"SCHEMA x numeric, y numeric; TARGET y RULES weighed ELSE y += 1":                                                    "the ELSE rule adds",
		"SCHEMA x numeric, y nominal {a, b}; TARGET y RULES weighed IF ALWAYS THEN y BY {a 1} IF x > 1 THEN y BY {a 1, b 2}": `concludes "b", which has no prior`,
	} {
		b, err := Parse("f", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		schema, target, overall, err := b.Model()
		if err == nil {
			_, err = NewPredictor(b, schema, target, overall...)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", src, err, want)
		}
	}
}

// TestContains matches words row by row and in bulk.
func TestContains(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "w", Kind: table.Text, Values: []string{"red", "green", "blue"}}}}
	bag := &table.Bag{Starts: []int{0, 2, 2, 2, 3}, Codes: []int32{0, 2, 2}, Counts: []float64{1, 3, 1}, Gone: []bool{false, false, true, false}}
	data, err := table.New(schema, []table.Column{{Words: bag}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"w CONTAINS red": "1000", "w CONTAINS RED": "1000", "w NOT CONTAINS red": "0101", "w CONTAINS blue": "1001", "w CONTAINS pink": "0000",
		"w NOT CONTAINS pink": "1101", "w IS MISSING": "0010", "w IS KNOWN": "1101", "w CONTAINS blue AND w NOT CONTAINS red": "0001",
		"AT LEAST 1 OF {w CONTAINS red, w NOT CONTAINS blue}": "1100",
	} {
		b, err := ParseFor("f", []byte("IF "+src+" THEN y = 1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tests := range [][]Test{b.Rules[0].If, Canonical(b.Rules[0].If)} {
			m, err := NewMatcher(tests, schema)
			if err != nil {
				t.Fatal(err)
			}
			set := make([]uint64, 1)
			m.Match(data, set)
			got, single := "", ""
			for r := range data.Rows() {
				got += fmt.Sprint(set[0] >> r & 1)
				single += map[bool]string{false: "0", true: "1"}[m.MatchRow(data, r)]
			}
			if got != want || single != want {
				t.Errorf("%s: %s and %s, expected %s", src, got, single, want)
			}
		}
	}
	one := func(src string) []Test {
		b, err := Parse("f", []byte("IF "+src+" THEN y = 1"))
		if err != nil {
			t.Fatal(err)
		}
		return b.Rules[0].If
	}
	if _, ok := Overlap(one("w CONTAINS a"), one("w NOT CONTAINS a"), nil); ok {
		t.Error("a word is and is not there")
	}
	if _, ok := Overlap(one("w CONTAINS a"), one("w IS MISSING"), nil); ok {
		t.Error("a missing text has a word")
	}
	if _, ok := Overlap(one("w CONTAINS a"), one("w NOT CONTAINS b"), nil); !ok {
		t.Error("two words exclude each other")
	}
	if !Subsumes(one("w CONTAINS a"), one("w CONTAINS a AND w CONTAINS b"), nil) || !Subsumes(one("w IS KNOWN"), one("w CONTAINS a"), nil) || Subsumes(one("w CONTAINS a"), one("w CONTAINS b"), nil) {
		t.Error("subsumption of words")
	}
	if got := (&Rule{If: Canonical(one("w CONTAINS b AND w CONTAINS a AND w IS KNOWN"))}).If; len(got) != 2 || got[0].Value != "a" {
		t.Errorf("canonical form %v", got)
	}
}

// TestDatesAreDates: limits on dates and times are printed as such, and read back
// to the same base; what has no such text stays a number.
func TestDatesAreDates(t *testing.T) {
	const text = `SCHEMA day date, at time, x numeric, y nominal {no, yes}; TARGET y
RULES ordered
IF day <= 18781.5 AND x > 3 THEN y = no
IF day > 18781 THEN y = yes
IF 18781 < day <= 18782 AND at >= 1613793330 THEN y = yes
IF 18781.5 < day < 18783.25 THEN y = yes
IF AT LEAST 1 OF {day < 0, at < 1609459200} THEN y = yes
IF day > 1e300 THEN y = yes
ELSE y = no
`
	base, err := Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	printed := base.String()
	for _, want := range []string{`day <= "2021-06-03T12:00:00" AND x > 3`, "IF day > 2021-06-03 THEN", `2021-06-03 < day <= 2021-06-04 AND at >= "2021-02-20T03:55:30"`, "day < 1970-01-01"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%s\nexpected %s", printed, want)
		}
	}
	again, err := Parse("printed", []byte(printed))
	if err != nil || !again.Equal(base) {
		t.Errorf("%v\n%s", err, printed)
	}
	if again.Rules[0].ID() != base.Rules[0].ID() {
		t.Error("the id hangs on how a date is written")
	}
	bare := *base
	bare.Header, bare.Clocks = nil, base.Header.known().schema
	if !strings.Contains(bare.String(), "IF day > 2021-06-03 THEN") {
		t.Errorf("%s", bare.String())
	}
}

// TestHowCellsAreWritten: a base knows how files have its columns, so that a model of
// the text reads them as the one did that it was printed from.
func TestHowCellsAreWritten(t *testing.T) {
	const text = `SCHEMA pay numeric written "," missing {brak, "b. d."}, day date written dmy, at time written clock, y nominal missing {nil} {no, yes}; TARGET y
RULES ordered
IF at <= "13:31:30" AND pay > 1250.5 THEN y = no
ELSE y = yes
`
	base, err := Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	schema, _, _, err := base.Model()
	if err != nil || base.String() != text {
		t.Fatalf("%v\n%s", err, base)
	}
	if x, ok := schema.Attributes[0].ParseCell("1.250,75"); !ok || x != 1250.75 || base.Rules[0].If[0].Number != 13*3600+31*60+30 {
		t.Errorf("1.250,75 is %v, 13:31:30 is %v", x, base.Rules[0].If[0].Number)
	}
	for text, want := range map[string]string{
		"SCHEMA a numeric written dmy":              "is numeric and is not written dmy",
		"SCHEMA a numeric written words":            `unknown way to write cells "words"`,
		"SCHEMA a numeric written \",\" missing {}": "expected a text that means a missing cell",
	} {
		if _, err := Parse("test", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
