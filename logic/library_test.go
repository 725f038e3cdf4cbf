package logic

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestProlog asks what programs of others ask: if-then-else, lists, comparisons of terms,
// codes of characters, and refuses what it would else take for false.
func TestProlog(t *testing.T) {
	text := `
		size(X,S) :- ( X < 0 -> S = negative ; X =:= 0 -> S = none ; S = positive ).
		first(X) :- ( member(X,[c,b,a]) -> true ; X = z ).
		same(X) :- ( fail -> X = a ; true ).
		odd(X) :- member(X,[1,2,3,4]), ( \+ X mod 2 =:= 0 ).
		named(X) :- member(X,[a,1,f(b),2.5]), atomic(X).
		alone(X) :- setof(Y,member(Y,[1]),X).
		codes(X) :- X is 0'a + 0x1F + 0b11 + 0o17.
		rounded(X) :- X is truncate(-2.5) + round(2.5) + floor(-0.5) + ceiling(0.2) + sign(-7).
		own(X) :- last(X,y).
		last(mine,y).
		heard(X) :- knows(X), memberchk(X,[a,b]).
		knows(a). knows(c).`
	p, err := Read("text", text)
	if err != nil {
		t.Fatal(err)
	}
	for goal, want := range map[string]string{
		"size(-3,S)": "S=negative", "size(0,S)": "S=none", "size(3,S)": "S=positive", "size(3,negative)": "",
		"first(X)": "X=c", "same(b)": "yes", "odd(X)": "X=1 X=3", "named(X)": "X=a X=1 X=2.5", "codes(X)": "X=146",
		"rounded(X)": "X=0", "own(X)": "X=mine", "append(X,[c],[a,b,c])": "X=[a,b]", "length([a,b],N)": "N=2",
		"between(2,4,X)": "X=2 X=3 X=4", "reverse([a,b],X)": "X=[b,a]", "nth1(2,[a,b],X)": "X=b", "sum_list([1,2],X)": "X=3",
		"select(b,[a,b],X)": "X=[a]", "forall(member(_Y,[1,2]), _Y < 3)": "yes", "once(member(X,[a,b]))": "X=a", "heard(X)": "X=a",
		"b @< a": "", "f(a) @> a": "yes", "memberchk(X,[a,b])": "X=a",
		"alone(X)": "setof/3 is Prolog's", "own(X), call(foo,X)": "call/2 is Prolog's",
	} {
		s, err := p.Solve(context.Background(), goal)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", goal, err, want)
			}
			continue
		}
		var got []string
		for _, binding := range s.Bindings {
			if len(binding) == 0 {
				got = append(got, "yes")
			}
			for name, value := range binding {
				got = append(got, name+"="+value)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", goal, text, want)
		}
	}
}

// TestOperatorsAsNames reads a clause in which what may stand before a term is a name.
func TestOperatorsAsNames(t *testing.T) {
	p, err := Read("text", "head((table :- a)).")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Clauses[0].String(); got != "head((table :- a))." {
		t.Errorf("read as %s", got)
	}
}

// TestAnyArgument asks for facts by their last argument, many of many: each is found at once.
func TestAnyArgument(t *testing.T) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "order(o%d,c%d).\n", i, i/2)
	}
	text.WriteString("two(C) :- order(A,C), order(B,C), A @< B.\n")
	p, err := Read("text", text.String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Solve(context.Background(), "order(o777,C), two(C), order(O,C)")
	if err != nil || len(s.Bindings) != 2 {
		t.Fatalf("%v, %v", s, err)
	}
	n := 0
	if err := p.Prove(context.Background(), mustGoal(t, "order(O,C), two(C)"), Limits{}, func(Answer) bool { n++; return true }); err != nil || n != 20000 {
		t.Errorf("%d answers, %v", n, err)
	}
}

func mustGoal(t *testing.T, text string) []Literal {
	t.Helper()
	goal, _, err := ReadGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return goal
}
