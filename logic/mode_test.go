package logic

import (
	"strings"
	"testing"
)

// TestModes reads what Progol and Aleph call modes, in a bias and among the clauses of a
// program.
func TestModes(t *testing.T) {
	const modes = ":- modeh(1, grandchild(+person,+person)).\n:- modeb(*, father(+person, - person)).\n:- modeb(*, father(-person, +person)).\n" +
		":- modeb(1, eyes(+person, #colour)).\n:- determination(grandchild/2, adult/1).\n"
	task, err := Split(modes+"father(ann,bob). eyes(ann,blue). grandchild(ann,cid). father(bob,cid).", "")
	if err != nil {
		t.Fatal(err)
	}
	for from, text := range map[string]string{"bias": modes, "program": task.Bias} {
		b, err := ReadBias(text)
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		if b.Head.String() != "grandchild/2" || len(b.Body) != 3 || b.Recursion {
			t.Errorf("%s: head %v, bodies of %v, recursion %v", from, b.Head, b.Body, b.Recursion)
		}
		if d := strings.Join(b.Directions["father"], " "); d != "either either" {
			t.Errorf("%s: father is asked %s", from, d)
		}
		if !b.Fixed("eyes", 1) || b.Fixed("eyes", 0) || b.Types["eyes"][1] != "colour" {
			t.Errorf("%s: eyes %v of %v", from, b.Directions["eyes"], b.Types["eyes"])
		}
	}
	if task.Of.String() != "grandchild/2" {
		t.Errorf("%v is learnt", task.Of)
	}
	for text, says := range map[string]string{
		"modeh(p(a)).":                "no mode",
		"modeb(*).":                   "expected a predicate",
		"modeh(p(+a)). modeh(q(+a)).": "one head",
		"modeb(q(+a)). modeb(q(+b)).": "same types",
		"determination(p).":           "expected two predicates",
		":- determination(p/2,q/x).":  "expected two predicates",
		"modeh(1,p(+)).":              "no mode",
	} {
		if _, err := ReadBias(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %q", text, err, says)
		}
	}
}
