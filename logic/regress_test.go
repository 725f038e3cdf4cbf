package logic

import (
	"context"
	"slices"
	"testing"
)

const stacking = `safe_to_stack(X,Y) :- \+ fragile(Y).
safe_to_stack(X,Y) :- lighter(X,Y).
lighter(X,Y) :- weight(X,Wx), weight(Y,Wy), less_than(Wx,Wy).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
fragile(X) :- material(X,glass).
less_than(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.`

const stacked = `on(obj1,obj2). type(obj1,box). type(obj2,endtable). color(obj1,red). color(obj2,blue).
volume(obj1,2). density(obj1,0.3). owner(obj1,fred). owner(obj2,louise). material(obj1,cardboard). material(obj2,wood).`

func goalTerm(t *testing.T, text string) Term {
	t.Helper()
	l, _, err := ReadGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return l[0].Atom
}

// learntRule explains a goal and regresses the target through the explanation.
func learntRule(t *testing.T, theory, facts, target, goal string) (string, [][]Literal) {
	t.Helper()
	th := NewTheory(read(t, theory), read(t, facts), nil)
	proof, err := th.Explain(context.Background(), goalTerm(t, goal), false, Limits{})
	if err != nil || proof == nil {
		t.Fatalf("%s: %v, %v", goal, proof, err)
	}
	rule, steps, ok := th.Preimage(goalTerm(t, target), proof)
	if !ok {
		t.Fatalf("%s: not regressed", goal)
	}
	return rule.String(), steps
}

// Mitchell 1997, tables 11.1 to 11.3 and figures 11.2 and 11.3, exercise 11.1, and
// PRODIGY's rule of section 11.4.
func TestPreimage(t *testing.T) {
	rule, steps := learntRule(t, stacking, stacked, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
	if want := "safe_to_stack(A,B) :- volume(A,C), density(A,D), equal(E,times(C,D)), type(B,endtable), less_than(E,5)."; rule != want {
		t.Errorf("%s, expected %s", rule, want)
	}
	var sizes []int
	for _, s := range steps {
		sizes = append(sizes, len(s))
	}
	if !slices.Equal(sizes, []int{1, 1, 3, 5, 5}) {
		t.Errorf("frontiers of %v literals", sizes)
	}
	mates := `house_mates(X,Y) :- in_same_family(X,Y). house_mates(X,Y) :- fraternity_brothers(X,Y).
in_same_family(X,Y) :- married(X,Y). in_same_family(X,Y) :- youngster(X), youngster(Y), same_mother(X,Y).
same_mother(X,Y) :- mother(X,Z), mother(Y,Z). youngster(X) :- age(X,A), less_than(A,10). less_than(A,B) :- A < B.`
	joe := "sex(joe,male). sex(sue,female). mother(joe,mary). mother(sue,mary). age(joe,8). age(sue,6)."
	for target, want := range map[string]string{
		"house_mates(X,Y)":   "house_mates(A,B) :- age(A,C), less_than(C,10), age(B,D), less_than(D,10), mother(A,E), mother(B,E).",
		"house_mates(joe,Y)": "house_mates(joe,A) :- age(joe,B), less_than(B,10), age(A,C), less_than(C,10), mother(joe,D), mother(A,D).",
	} {
		if rule, _ := learntRule(t, mates, joe, target, "house_mates(joe,sue)"); rule != want {
			t.Errorf("%s, expected %s", rule, want)
		}
	}
	before := `solve_before(G1,G2) :- subgoal(G1), subgoal(G2), undoes(G1,G2).
undoes(G1,G2) :- achieves(Op,G1), requires(Op,P), contradicts(G2,P).
achieves(move(U,V),on(U,V)). requires(move(U,_),clear(U)). contradicts(on(_,T),clear(T)).`
	if rule, _ := learntRule(t, before, "subgoal(on(u,n)). subgoal(on(n,i)).", "solve_before(X,Y)", "solve_before(on(n,i),on(u,n))"); rule != "solve_before(on(A,B),on(C,A)) :- subgoal(on(A,B)), subgoal(on(C,A))." {
		t.Error(rule)
	}
}

// The weaker generalisation of section 11.2.1, the proof that negation allows, and
// all that the theory says (LEMMA-ENUMERATOR): the rule that cannot hold is left out.
func TestTheory(t *testing.T) {
	th := NewTheory(read(t, stacking), read(t, stacked), nil)
	goal, target := goalTerm(t, "safe_to_stack(obj1,obj2)"), goalTerm(t, "safe_to_stack(X,Y)")
	proof, err := th.Explain(context.Background(), goal, false, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := th.Collected(target, goal, proof).String(); got != "safe_to_stack(A,B) :- volume(A,2), density(A,0.3), type(B,endtable)." {
		t.Error(got)
	}
	negated, err := th.Explain(context.Background(), goal, true, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if rule, _, ok := th.Preimage(target, negated); !ok || rule.String() != `safe_to_stack(A,B) :- \+ fragile(B).` {
		t.Errorf("%v", rule)
	}
	var got []string
	for _, c := range th.Lemmas(target, 10, 100) {
		got = append(got, c.String())
	}
	if want := []string{
		`safe_to_stack(A,B) :- \+ fragile(B).`,
		"safe_to_stack(A,B) :- volume(A,C), density(A,D), equal(E,times(C,D)), volume(B,F), density(B,G), equal(H,times(F,G)), less_than(E,H).",
		"safe_to_stack(A,B) :- volume(A,C), density(A,D), equal(E,times(C,D)), type(B,endtable), less_than(E,5).",
		"safe_to_stack(A,B) :- type(A,endtable), volume(B,C), density(B,D), equal(E,times(C,D)), less_than(5,E).",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
