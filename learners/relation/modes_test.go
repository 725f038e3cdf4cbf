package relation

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// TestModesBound learns with modes in Progol's words: constants where # stands, and
// nothing but what has a mode.
func TestModesBound(t *testing.T) {
	const background = `
		:- modeh(1, cool(+person)).
		:- modeb(1, eyes(+person,#colour)).
		:- modeb(*, friend(+person,-person)).
		eyes(a,blue). eyes(b,brown). eyes(c,blue). eyes(d,brown). eyes(e,green). eyes(f,green). eyes(g,blue). eyes(h,brown).
		friend(a,b). friend(b,c). friend(c,d). friend(d,b). friend(e,a). friend(f,f). friend(g,h). friend(h,g).
		secret(b). secret(e). secret(h).`
	const examples = "pos(cool(b)). pos(cool(e)). pos(cool(h)). neg(cool(a)). neg(cool(c)). neg(cool(d)). neg(cool(f)). neg(cool(g))."
	for name, l := range map[string]learn.Learner{"foil": &Learner{}, "progol": &Progol{}} {
		got := strings.Join(learntOf(t, background, "", examples, l), "\n")
		if want := "cool(A) :- friend(A,B), eyes(B,blue).\n"; !strings.HasPrefix(got, want) {
			t.Errorf("%s learnt\n%s\nexpected %s", name, got, want)
		}
	}
}

// TestNothingTooMuch learns a relation that need not call itself, although it may.
func TestNothingTooMuch(t *testing.T) {
	const bias = "enable_recursion. head_pred(t,2). body_pred(e,2)."
	got := learntOf(t, "e(a,b). e(b,c). e(c,a).", bias, "pos(t(a,b)). pos(t(b,c)). neg(t(a,c)). neg(t(b,a)).", &Learner{})
	if len(got) != 2 || got[0] != "t(A,B) :- e(A,B)." {
		t.Errorf("learnt\n%s", strings.Join(got, "\n"))
	}
}
