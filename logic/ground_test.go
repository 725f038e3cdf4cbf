package logic

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// Clauses about things are written out for the constants of the columns; facts are
// settled, and what nothing says is left out.
func TestGround(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "on(a,b)", Kind: table.Numeric}, {Name: "on(b, c)", Kind: table.Numeric}, {Name: "alarm", Values: []string{"no", "yes"}},
	}}
	p, err := Read("theory", "alarm :- high(X).\nhigh(X) :- on(X,Y), on(Y,Z), \\+ safe(X).\nsafe(c).\n")
	if err != nil {
		t.Fatal(err)
	}
	base, err := Rules(p, schema, "alarm")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSpace(base.String())
	want := `IF "high(a)" = yes THEN alarm = yes` + "\n" + `IF "on(a,b)" = 1 AND "on(b, c)" = 1 THEN "high(a)" = yes`
	if got != want {
		t.Errorf("grounded:\n%s\nexpected:\n%s", got, want)
	}
	for text, want := range map[string]string{
		"alarm :- p(f(X)).\np(X) :- on(X, X).":                                 "has a function in it",
		"alarm :- p(A,B,C,D,E,F,G,H,I,J).\np(A,B,C,D,E,F,G,H,I,J) :- on(A,B).": "more than 20000 clauses",
	} {
		p, err := Read("theory", text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Rules(p, schema, "alarm"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}
