package relation

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/logic"
)

// Mitchell 1997, section 10.7.5, on the facts of figure 10.3: the most specific clause
// of the example, which is the rule, too.
func TestMostSpecificClause(t *testing.T) {
	p, err := logic.Read("facts", "father(shannon,tom). father(tom,bob).")
	if err != nil {
		t.Fatal(err)
	}
	of := logic.Predicate{Name: "grandchild", Arity: 2}
	f, err := plain(context.Background(), p, Tuples{Of: of, Positives: [][]logic.Term{{logic.Atom("bob"), logic.Atom("shannon")}}}, FoilOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.db.bias.Directions = map[string][]string{"father": {"in", "out"}}
	b := f.saturate(0, 2)
	var all []int
	for i := range b.body {
		all = append(all, i)
	}
	body, ok := b.ordered(all, 2)
	if got := f.written(of, body).String(); !ok || got != "grandchild(A,B) :- father(B,C), father(C,A)." {
		t.Error(got)
	}
}
