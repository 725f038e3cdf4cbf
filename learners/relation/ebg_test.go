package relation

import (
	"context"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// TestWhyUnexplained says why a theory explains nothing: it asks for what is not so, it
// does not end, or it has what is not understood.
func TestWhyUnexplained(t *testing.T) {
	task, err := logic.ReadTask("heavy(a). light(b).", "pos(holds(a)). neg(holds(b)).", "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	for theory, want := range map[string]string{
		`holds(X) :- heavy(X), \+ wet(X).`: "which negation=yes allows",
		"holds(X) :- holds(f(X)).":         "deep; the program may not end",
		"holds(X) :- heavy(X), !.":         "line 1: holds(X) :- heavy(X), !.: the cut is not understood",
		"holds(X) :- light(X).":            "the theory cannot explain holds(a)",
	} {
		m, err := (&EBG{Theory: "theory.pl\n" + theory}).Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			remarks, err := m.(*Model).Remarks()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range remarks {
				got += r.String()
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, expected %q", theory, got, want)
		}
	}
}

// TestLeaves collects the leaves of the explanation instead of regressing the target: what was
// reckoned with stays as it was in the example.
func TestLeaves(t *testing.T) {
	task, err := logic.ReadTask("volume(a,2). volume(b,9).", "pos(small(a)). neg(small(b)).", "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	for generalise, want := range map[string]string{"": "small(A) :- volume(A,B), B < 5.", "leaves": "small(A) :- volume(A,2)."} {
		l := &EBG{Theory: "theory.pl\nsmall(X) :- volume(X,V), V < 5.", Generalise: generalise}
		m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target})
		if err != nil {
			t.Fatal(err)
		}
		if all := m.(*Model).Clauses(); len(all) == 0 || all[0].Text != want {
			t.Errorf("generalise=%s: learnt %v, expected %s", generalise, all, want)
		}
	}
}
