package logic_test

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/logic"
)

// A goal that nothing answers says which of its names nothing has, and which is near;
// names of what is built in are nobody's affair.
func TestNamesThatNothingHas(t *testing.T) {
	p, err := logic.Read("family.pl", "city(ann, 'Bern'). city(bob, 'Basel'). near(X, Y) :- city(X, C), city(Y, C).")
	if err != nil {
		t.Fatal(err)
	}
	for goal, want := range map[string]string{
		"city(X, bern)":        "no\nnote: nothing is called bern; did you mean 'Bern'?\n",
		"city(ann, 'Basel')":   "no\n",
		"near(ann, zacharias)": "no\nnote: nothing is called zacharias\n",
		"spoon = fork":         "no\n",
	} {
		s, err := p.Solve(context.Background(), goal)
		if err != nil {
			t.Fatal(goal, err)
		}
		if s.String() != want {
			t.Errorf("%s: %q, expected %q", goal, s, want)
		}
	}
}
