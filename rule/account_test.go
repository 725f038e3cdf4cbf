package rule

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// TestBits reckons up a base by hand.
func TestBits(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Values: []string{"x", "y", "z", "w"}}, {Name: "n", Kind: table.Numeric}, {Name: "w", Kind: table.Text, Values: []string{"p", "q"}}, {Name: "c", Values: []string{"yes", "no"}},
	}}
	for text, want := range map[string]float64{
		// the end; a rule: one more, its test (one more, a column of 4, a relation of 8, a value of 4), no more, a class of 2; the ELSE: no tests, a class.
		"RULES ordered IF a = x THEN c = yes ELSE c = no": 1 + 1 + (1 + 2 + 3 + 2) + 1 + 1 + (1 + 1),
		// a limit is one of 16 rows.
		"RULES ordered IF n > 3 THEN c = yes": 1 + 1 + (1 + 2 + 3 + 4) + 1 + 1,
		// weights are half of log2 16 each.
		"RULES weighed IF w CONTAINS p THEN c BY {yes 1, no -1}": 1 + 1 + (1 + 2 + 3 + 1) + 1 + 2*2,
		"RULES weighed IF ALWAYS THEN c = yes WITH 0.5":          1 + 1 + 1 + 1 + 2,
		// what is added: no tests but one more, a column, two numbers and whether limits follow; two limits of 16 rows.
		"RULES weighed IF ALWAYS THEN m += 2*(n - 1) FROM 0 TO 4":          1 + 1 + 1 + 2 + 2*2 + 1 + 2*4,
		"RULES ordered IF a IN {x, y} THEN c = {yes 0.5, no 0.5}":          1 + 1 + (1 + 2 + 3 + 4) + 1 + 2,
		"RULES mixture WHEN u (1) EXPECT n ~ 1 ± 2 AND a = {x 0.5, y 0.5}": 1 + 1 + 2 + (1 + 2 + 4) + (1 + 2 + 2),
	} {
		b, err := Parse("base", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Bits(schema, 16); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v bits, want %v", text, got, want)
		}
	}
}
