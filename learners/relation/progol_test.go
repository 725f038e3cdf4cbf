package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// TestGolem learns to append lists from what examples have in common.
func TestGolem(t *testing.T) {
	var background, member strings.Builder
	background.WriteString("empty(nil). ")
	lists := []string{"nil", "l1", "l2", "l11", "l12", "l21", "l22", "l111", "l112", "l121", "l122", "l211", "l212", "l221", "l222"}
	for _, l := range lists[1:] {
		rest := "l" + l[2:]
		if rest == "l" {
			rest = "nil"
		}
		fmt.Fprintf(&background, "components(%s,%s,%s). ", l, l[1:2], rest)
	}
	join := func(a, b string) string {
		c := "l" + strings.TrimPrefix(strings.TrimPrefix(a, "nil"), "l") + strings.TrimPrefix(strings.TrimPrefix(b, "nil"), "l")
		if c == "l" {
			return "nil"
		}
		return c
	}
	for _, a := range lists {
		for _, b := range lists {
			for _, c := range lists {
				class := map[bool]string{true: "pos", false: "neg"}[join(a, b) == c]
				fmt.Fprintf(&member, "%s(append(%s,%s,%s)). ", class, a, b, c)
			}
		}
	}
	bias := "enable_recursion. head_pred(append,3). body_pred(components,3). body_pred(empty,1).\ntype(append,(list,list,list)). type(components,(list,element,list)). type(empty,(list,))."
	got := learntOf(t, background.String(), bias, member.String(), &Golem{})
	want := []string{"append(A,B,C) :- components(A,D,E), components(C,D,F), append(E,B,F).", "append(A,B,C) :- B = C, empty(A)."}
	if !slices.Equal(got[:len(got)-1], want) {
		t.Errorf("learnt\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
