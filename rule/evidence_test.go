package rule

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

// votes is the one column of the 1984 votes that says nearly all: how each
// party voted on the physician fee freeze.
func votes() *table.Table {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "physician-fee-freeze", Values: []string{"n", "y"}},
		{Name: "class", Values: []string{"democrat", "republican"}},
	}}
	t, err := table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1}}, {Codes: []int32{0, 1, 0, 1}}}, []float64{245, 2, 14, 163})
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleMeasure() {
	base, _ := Parse("votes.rules", []byte("IF physician-fee-freeze = y THEN class = republican"))
	measured, err := Measure(base, votes(), 1)
	e := measured.Rules[0].Evidence
	fmt.Printf("covered %v, correct %v, bits %.3f %v\n", *e.Covered, *e.Correct, *e.Bits, err)
	// Output: covered 177, correct 163, bits 0.380 <nil>
}

// TestJMeasureOfVotes knows the figures of the rule network literature to the
// sixth digit.
func TestJMeasureOfVotes(t *testing.T) {
	b, err := Measure(mustParse(t, "IF physician-fee-freeze = y THEN class = republican IF physician-fee-freeze = n THEN class = {democrat 0.6, republican 0.4} [weight 2]"), votes(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.380367, 0.377772} {
		if got := *b.Rules[i].Evidence.Bits; math.Abs(got-want) > 5e-7 {
			t.Errorf("rule %d: J = %.7f, expected %.6f", i+1, got, want)
		}
	}
	if w := b.Rules[1].Evidence.Weight; w == nil || *w != 2 {
		t.Error("the weight was not kept")
	}
	for _, c := range []struct{ covered, correct, class, total, want float64 }{
		{0, 0, 5, 10, 0}, {5, 5, 10, 10, 0}, {10, 5, 5, 10, 0}, {5, 5, 5, 10, 0.5}, {5, 0, 5, 10, 0.5}, {0, 0, 0, 0, 0},
	} {
		if got := JMeasure(c.covered, c.correct, c.class, c.total); got != c.want {
			t.Errorf("J%v = %v", c, got)
		}
	}
}

func TestMeasureAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := smallTable(t, 60)
		b := &Base{Kind: Ordered, Else: &Rule{Then: Conclusion{Column: "class", Value: "no"}}}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			r := smallConclusion(t)
			r.If = rapid.SliceOfN(wideTest(1), 0, 2).Draw(t, "if")
			b.Rules = append(b.Rules, r)
		}
		m, err := Measure(b, rows, classColumn)
		if err != nil {
			t.Fatal(err)
		}
		left := make(map[int]bool)
		for row := range rows.Rows() {
			left[row] = true
		}
		check := func(r *Rule, covers func(row int) bool) {
			covered, correct := 0.0, 0.0
			class, _ := r.Answer()
			for row := range rows.Rows() {
				if rows.Columns[classColumn].Codes[row] < 0 || !covers(row) {
					continue
				}
				covered += rows.Weight(row)
				if rows.Text(row, classColumn) == class {
					correct += rows.Weight(row)
				}
			}
			if *r.Evidence.Covered != covered || *r.Evidence.Correct != correct || *r.Evidence.Bits < -1e-12 {
				t.Fatalf("%v: expected %v covered and %v correct", r, covered, correct)
			}
		}
		for i := range m.Rules {
			check(&m.Rules[i], func(row int) bool {
				if matches(&m.Rules[i], rows, row) {
					delete(left, row)
					return true
				}
				return false
			})
		}
		for i := range m.Rules {
			for row := range left {
				if matches(&m.Rules[i], rows, row) {
					delete(left, row) // rows without a class are covered too
				}
			}
		}
		check(m.Else, func(row int) bool { return left[row] })
		for i := range b.Rules {
			if b.Rules[i].Evidence.Covered != nil {
				t.Fatal("Measure changed its argument")
			}
		}
	})
}

func TestMeasureNumbers(t *testing.T) {
	schema := smallSchema()
	nominal := table.Column{Codes: []int32{0, 0, 0, 0}}
	rows, err := table.New(schema, []table.Column{nominal, nominal, {Floats: []float64{1, 2, 3, math.NaN()}}, {Floats: []float64{0, 0, 0, 0}}, nominal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Measure(mustParse(t, "IF u = a THEN x ~ 2 ± 1 ELSE x ~ 5 ± 1"), rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "IF u = a THEN x ~ 2 ± 1 [covered 3, correct 3]\nELSE x ~ 5 ± 1 [covered 0, correct 0]\n" {
		t.Error(got)
	}
	for src, want := range map[string]string{
		"IF u = z THEN x ~ 2 ± 1": `rule 1: test 1 (u = z): unknown value "z" of "u"`,
		"IF u = a THEN y ~ 2 ± 1": `rule 1: it concludes "y", expected the target "x"`,
		"IF u = a THEN x = 2":     `rule 1: "x" is numeric`,
		"ELSE y ~ 2 ± 1":          `the ELSE rule: it concludes "y", expected the target "x"`,
	} {
		if _, err := Measure(mustParse(t, src), rows, 2); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, err := Measure(b, rows, 7); err == nil {
		t.Error("a target that is no column accepted")
	}
}
