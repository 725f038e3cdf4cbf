package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// lists is what is known of lists, with what does not help among it.
const lists = `head([H|_],H). tail([_|T],T). empty([]). zero(0).
even(A) :- integer(A), 0 is A mod 2.
geq(A,B) :- integer(A), integer(B), A >= B.
sum(A,B,C) :- integer(A), integer(B), C is A+B.
cons(H,T,[H|T]).`

const listBias = `enable_recursion.
body_pred(head,2). body_pred(tail,2). body_pred(empty,1). body_pred(zero,1). body_pred(even,1). body_pred(geq,2). body_pred(sum,3). body_pred(cons,3).
type(head,(list,element)). type(tail,(list,list)). type(empty,(list,)). type(zero,(element,)). type(even,(element,)).
type(geq,(element,element)). type(sum,(element,element,element)). type(cons,(element,list,list)).
direction(head,(in,out)). direction(tail,(in,out)). direction(empty,(in,)). direction(zero,(out,)). direction(even,(in,)).
direction(geq,(in,in)). direction(sum,(in,in,out)). direction(cons,(in,in,out)).
`

// learnt returns the clauses of a task.
func learntOf(t *testing.T, background, bias, examples string, l learn.Learner) []string {
	t.Helper()
	task, err := logic.ReadTask(background, examples, bias)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, c := range m.(*Model).Clauses() {
		text = append(text, c.Text)
	}
	return text
}

func exampleList(xs []int) string { return strings.ReplaceAll(fmt.Sprint(xs), " ", ",") }

func TestWholePrograms(t *testing.T) {
	all := [][]int{{3, 1, 4}, {5}, {9, 2, 6, 5}, {3, 5}, {8, 9, 7}, {1, 1, 2, 3}}
	var member, total, even strings.Builder
	for i, xs := range all {
		sum := 0
		for _, x := range xs {
			sum += x
			fmt.Fprintf(&member, "pos(f(%s,%d)). ", exampleList(xs), x)
		}
		fmt.Fprintf(&member, "neg(f(%s,%d)). ", exampleList(xs), 20+i)
		fmt.Fprintf(&total, "pos(f(%s,%d)). neg(f(%s,%d)). neg(f(%s,%d)). ", exampleList(xs), sum, exampleList(xs), sum+1, exampleList(xs), sum-2)
		class := map[bool]string{true: "pos", false: "neg"}[len(xs)%2 == 0]
		fmt.Fprintf(&even, "%s(f(%s)). ", class, exampleList(xs))
	}
	for _, task := range []struct {
		name, bias, examples string
		want                 []string
	}{
		{"member", "head_pred(f,2). type(f,(list,element)). direction(f,(in,in)).", member.String(),
			[]string{"f(A,B) :- head(A,B).", "f(A,B) :- tail(A,C), f(C,B)."}},
		{"sum", "head_pred(f,2). type(f,(list,element)). direction(f,(in,out)).", total.String(),
			[]string{"f(A,B) :- head(A,B), tail(A,C), empty(C).", "f(A,B) :- head(A,C), tail(A,D), f(D,E), sum(C,E,B)."}},
		{"even length", "head_pred(f,1). type(f,(list,)). direction(f,(in,)).", even.String(),
			[]string{"f(A) :- empty(A).", "f(A) :- tail(A,B), tail(B,C), f(C)."}},
	} {
		t.Run(task.name, func(t *testing.T) {
			got := learntOf(t, lists, listBias+task.bias, task.examples, &Learner{})
			if !slices.Equal(got[:len(got)-1], task.want) {
				t.Errorf("learnt\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(task.want, "\n"))
			}
		})
	}
}

// TestTrialEnds asks programs that call themselves without end, or in circles.
func TestTrialEnds(t *testing.T) {
	edges := "edge(a,b). edge(b,c). edge(c,a). edge(c,d)."
	got := learntOf(t, edges, "enable_recursion. head_pred(reach,2). body_pred(edge,2).",
		"pos(reach(a,b)). pos(reach(a,c)). pos(reach(a,a)). pos(reach(b,b)). pos(reach(b,d)). pos(reach(a,d)). neg(reach(d,a)). neg(reach(d,d)). neg(reach(d,c)).", &Learner{})
	if !slices.Contains(got, "reach(A,B) :- edge(A,B).") {
		t.Errorf("learnt %q", got)
	}
}
