package logic

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func theorySchema() *table.Schema {
	return &table.Schema{Attributes: []table.Attribute{
		{Name: "p-37", Kind: table.Nominal, Values: []string{"a", "c", "g", "t"}}, {Name: "age", Kind: table.Numeric},
		{Name: "wet", Kind: table.Nominal, Values: []string{"no", "yes"}}, {Name: "class", Kind: table.Nominal, Values: []string{"+", "-"}},
	}}
}

const clausesOfRows = `promoter :- contact, \+ stop, wet.
contact :- p-37=c, age >= 30.
stop :- n_of(2, [p-37=(A;t), \+ wet, age < 3]).`

func TestRules(t *testing.T) {
	p, err := Read("t.pl", clausesOfRows)
	if err != nil {
		t.Fatal(err)
	}
	base, err := Rules(p, theorySchema(), "class")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`IF contact = yes AND stop != yes AND wet = yes THEN class = "+"`,
		`IF p-37 = c AND age >= 30 THEN contact = yes`,
		`IF AT LEAST 2 OF {p-37 IN {A, t}, wet != yes, age < 3} THEN stop = yes`,
	}
	for i := range want {
		if got := base.Rules[i].String(); got != want[i] {
			t.Errorf("rule %d is %s, expected %s", i+1, got, want[i])
		}
	}
}

// FuzzRules: whatever is read as clauses becomes rules that print and read back,
// or an error.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{clausesOfRows, "class :- class.", "+ :- wet.", "a :- not(not(wet)), age > x.", "a :- n_of(0,[]).", "a. b :- a=(b;c;d)."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		if len(text) > 1<<16 {
			return
		}
		p, err := Read("t.pl", text)
		if err != nil {
			return
		}
		base, err := Rules(p, theorySchema(), "class")
		if err != nil {
			return
		}
		if again, err := rule.Parse("t", []byte(base.String())); err == nil && len(again.Rules) != len(base.Rules) {
			t.Errorf("%d rules of %d", len(again.Rules), len(base.Rules))
		}
	})
}

// What is negated becomes a concept of its own, unless its clauses bring variables.
func TestPositive(t *testing.T) {
	p, err := Read("theory", `attacks(A,B,C) :- eq(A,B), \+ between(A,B,C).
between(X,Y,Z) :- lt(X,Y), lt(Y,Z).
between(X,Y,Z) :- lt(Z,Y).
alone(X) :- \+ knows(X).
knows(X) :- knows(X,Y), friend(Y).`)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, c := range p.Positive().Clauses {
		text = append(text, c.String())
	}
	all := strings.Join(text, "\n")
	for _, want := range []string{`attacks(A,B,C) :- eq(A,B), 'not between'(A,B,C).`, `'not between'(A,B,C) :- \+ lt(A,B), \+ lt(C,B).`, `'not between'(A,B,C) :- \+ lt(B,C), \+ lt(C,B).`, `alone(A) :- \+ knows(A).`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, all)
		}
	}
}
