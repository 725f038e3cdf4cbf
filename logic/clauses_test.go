package logic

import (
	"context"
	"slices"
	"testing"
)

// TestClausesInGoals asks about clauses as a person does, by the examples of Mitchell 1997,
// sections 10.7 and 10.7.4, and exercises 10.5 and 10.7.
func TestClausesInGoals(t *testing.T) {
	p, err := Read("p", "here.")
	if err != nil {
		t.Fatal(err)
	}
	elephants := "(elephant(f(X)) :- elephant(X)), (elephant(f(f(Y))) :- elephant(Y))"
	for _, c := range []struct {
		goal string
		want []string // of E; one empty text where the goal holds
	}{
		{"subsumes((p(X) :- q(X)), (p(a) :- q(a), r))", []string{""}},
		{"subsumes((p(a) :- q(a)), (p(X) :- q(X)))", nil},
		{"subsumes(" + elephants + ")", nil},
		{"entails(" + elephants + ")", []string{""}},
		{"entails((p(X) :- q(X)), (p(a) :- q(b)))", nil},
		{"lgg((p(a) :- q(a,b), r(a)), (p(c) :- q(c,b)), E)", []string{"(p(A) :- q(A,b))"}},
		{`resolvent((pass ; \+ know), (know :- study), E)`, []string{"(pass :- study)"}},
		{"resolvent((a ; b ; c :- d), (e ; f :- b), E)", []string{"(a ; c ; e ; f :- d)"}},
		{"resolvent((white(X) :- swan(X)), swan(fred), E)", []string{"white(fred)"}},
		{"resolvent(p, (:- p), E)", []string{"false"}},
		{"inverse_resolvent((pass :- study), (pass :- know), E)", []string{"(know :- study)", "(pass ; know :- study)"}},
		{"inverse_resolvent((a ; b), (a ; b ; g), E)", []string{"(:- g)", "(a :- g)", "(b :- g)", "(a ; b :- g)"}},
		{"inverse_resolvent(grandchild(bob,shannon), father(shannon,tom), E)", []string{"(grandchild(bob,shannon) :- father(shannon,tom))"}},
		{"loosened(p(a,b), E)", []string{"p(a,b)", "p(a,A)", "p(A,b)", "p(A,B)"}},
	} {
		s, err := p.Solve(context.Background(), c.goal)
		if err != nil {
			t.Errorf("%s: %v", c.goal, err)
			continue
		}
		var got []string
		for _, b := range s.Bindings {
			got = append(got, b["E"])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, expected %q", c.goal, got, c.want)
		}
	}
	for _, goal := range []string{"subsumes(X, p)", "entails((a ; b), c)", "lgg((p :- (q ; r)), p, E)"} {
		if _, err := p.Solve(context.Background(), goal); err == nil {
			t.Errorf("%s: no error", goal)
		}
	}
	own, err := Read("p", "lgg(a, b, mine).")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := own.Solve(context.Background(), "lgg(a, b, E)"); err != nil || s.Bindings[0]["E"] != "mine" {
		t.Errorf("a program's own lgg/3 is not asked: %v, %v", s, err)
	}
}
