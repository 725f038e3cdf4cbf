package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/logic"
)

const workshopText = `operator(clamp(X,M), [part(X), loose(X), machine(M), free(M)], [held(X,M)], [loose(X), free(M)]).
operator(release(X,M), [held(X,M)], [loose(X), free(M)], [held(X,M)]).
operator(turn(X), [held(X,lathe)], [round(X)], [polished(X), painted(X)]).
operator(punch(X), [held(X,press)], [holed(X)], [polished(X)]).
operator(polish(X), [part(X), loose(X)], [polished(X)], [painted(X)]).
operator(paint(X), [part(X), loose(X)], [painted(X)], []).`

// randomControl is rules about a workshop, many of which hold somewhere.
func randomControl(t *testing.T, r *rand.Rand, rules int) *Control {
	t.Helper()
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for range rules {
		goal := pick("round", "holed", "polished", "painted")
		head := fmt.Sprintf("before(%s(X),%s(Y))", pick("round", "holed", "polished", "painted"), goal)
		if r.IntN(2) == 0 {
			head = fmt.Sprintf("%s(%s(X),%s(Y))", pick("prefer", "reject"), pick("turn", "punch", "polish", "paint"), goal)
		}
		body := []string{"holds(part(X))", "subgoal(" + goal + "(Y))"}
		for range 1 + r.IntN(3) {
			v := pick("X", "Y", "Z")
			c := pick(`\+ `, "", "") + pick("holds", "subgoal") + "(" + pick("round("+v+")", "held("+v+",lathe)", "held("+v+",M)", "loose("+v+")", "free(press)", "made_of("+v+",wood)", "made_of("+v+",S)", "polished(p1)") + ")"
			body = append(body, c)
		}
		r.Shuffle(len(body), func(i, j int) { body[i], body[j] = body[j], body[i] })
		fmt.Fprintf(&b, "%s :- %s.\n", head, strings.Join(body, ", "))
	}
	p, err := logic.Read("rules", b.String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewControl(p.Clauses)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A net says of every choice what matching rules one by one says: plans and nodes are
// the same.
func TestNetIsMatching(t *testing.T) {
	program, err := logic.Read("operators", workshopText)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDomain(program)
	if err != nil {
		t.Fatal(err)
	}
	fired := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		control := randomControl(t, r, manyRules+r.IntN(50))
		control.rules = control.rules[:manyRules-180+r.IntN(180)]
		net := &Control{rules: slices.Concat(control.rules, control.rules)} // twice says no more
		for len(net.rules) < manyRules {
			net.rules = append(net.rules, control.rules...)
		}
		p := &Problem{}
		goals, _, err := logic.ReadGoal("p([part(p1), part(p2), loose(p1), held(p2,press), machine(lathe), machine(press), free(lathe), made_of(p1,wood), made_of(p2,tin)], [round(p1), painted(p1), holed(p2), polished(p2)])")
		if err != nil {
			t.Fatal(err)
		}
		args := goals[0].Atom.(*logic.Compound).Args
		if p, err = NewProblem(args[0], args[1]); err != nil {
			t.Fatal(err)
		}
		limits := Limits{Work: 1 << 40, Acts: 9}
		want, err := d.Solve(context.Background(), p, net.Plain(), limits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Solve(context.Background(), p, net, limits)
		if err != nil {
			t.Fatal(err)
		}
		if got.Solved != want.Solved || got.Nodes != want.Nodes || Format(got.Plan) != Format(want.Plan) {
			t.Errorf("seed %d: %v %d %s, expected %v %d %s", seed, got.Solved, got.Nodes, Format(got.Plan), want.Solved, want.Nodes, Format(want.Plan))
		}
		free, err := d.Solve(context.Background(), p, nil, limits)
		if err == nil && (free.Nodes != want.Nodes || Format(free.Plan) != Format(want.Plan)) {
			fired++
		}
	}
	if fired < 5 {
		t.Errorf("rules changed the search of only %d problems", fired)
	}
}
