package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/logic"
)

const blocks = `
operator(move(X,Y,Z), [on(X,Y), clear(X), clear(Z), X \= Z], [on(X,Z), clear(Y)], [on(X,Y), clear(Z)]).
operator(unstack(X,Y), [on(X,Y), clear(X)], [table(X), clear(Y)], [on(X,Y)]).
operator(stack(X,Z), [table(X), clear(X), clear(Z), X \= Z], [on(X,Z)], [table(X), clear(Z)]).
`

func domain(t testing.TB, text string) *Domain {
	t.Helper()
	p, err := logic.Read("domain", text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDomain(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func problem(t testing.TB, init, goal string) *Problem {
	t.Helper()
	g, _, err := logic.ReadGoal("p([" + init + "],[" + goal + "])")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProblem(g[0].Atom.(*logic.Compound).Args[0], g[0].Atom.(*logic.Compound).Args[1])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// towers is a random arrangement of n blocks, as facts; goals are those of on alone.
func towers(r *rand.Rand, n int, goal bool) string {
	var facts []string
	below := ""
	for i, b := range r.Perm(n) {
		name := string(rune('a' + b))
		if i == 0 || r.IntN(3) == 0 {
			if below != "" && !goal {
				facts = append(facts, "clear("+below+")")
			}
			if !goal {
				facts = append(facts, "table("+name+")")
			}
		} else {
			facts = append(facts, fmt.Sprintf("on(%s,%s)", name, below))
		}
		below = name
	}
	if !goal {
		facts = append(facts, "clear("+below+")")
	}
	return strings.Join(facts, ",")
}

// Rules of a search for plans: the book's, to the letter, and those of failures.
func TestRulesFromFailures(t *testing.T) {
	d := domain(t, blocks)
	r := rand.New(rand.NewPCG(1, 1))
	var problems []*Problem
	for range 8 {
		problems = append(problems, problem(t, towers(r, 4, false), towers(r, 4, true)))
	}
	x, err := d.Learn(context.Background(), problems, Rules, false, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range x.Control.Rules() {
		got = append(got, c.String())
	}
	for _, want := range []string{
		"before(on(A,B),on(C,A)) :- subgoal(on(A,B)), subgoal(on(C,A)).",
		`reject(move(A,B,C),clear(B)) :- subgoal(clear(B)), \+ holds(on(A,B)).`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if x.After >= x.Before || x.Solved < x.SolvedBefore || x.Kept != len(x.Saves) {
		t.Errorf("rules do not help: %v", x)
	}
}

// Whatever is learnt, plans are possible and reach their goals; rules that are kept as
// useful never cost more than they save on what they were learnt from.
func TestPlansHold(t *testing.T) {
	d := domain(t, blocks)
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		method := rapid.SampledFrom([]Method{Nothing, Rules, Chunks, Macros, All}).Draw(rt, "method")
		var problems []*Problem
		for range 3 {
			problems = append(problems, problem(t, towers(r, 3, false), towers(r, 3, true)))
		}
		few := Limits{Work: 5_000}
		x, err := d.Learn(context.Background(), problems, method, true, few)
		if err != nil {
			rt.Fatal(err)
		}
		if x.Solved < x.SolvedBefore && method == Nothing || slices.ContainsFunc(x.Saves, func(s int) bool { return s < 0 }) && x.Solved == x.Problems {
			rt.Errorf("%v: %v", x, x.Saves)
		}
		for _, p := range problems {
			result, err := d.Solve(context.Background(), p, x.Control, few)
			if err != nil {
				rt.Fatal(err)
			}
			if result.Solved {
				if err := d.Check(p, result.Plan); err != nil {
					rt.Errorf("%v: %v", result.Plan, err)
				}
			}
		}
	})
}

// What cannot be done, or not be read, is said.
func TestBadDomains(t *testing.T) {
	for text, want := range map[string]string{
		"p(a).":                            "there are no operators",
		"operator(a(X), [], [b(X)], []).":  "nothing is required of X",
		"operator(a(X), [b(X)], [], []).":  "adds nothing",
		"operator(a(X), b, [c(X)], []).":   "is no list",
		"operator(a, [b(f(c))], [c], []).": "terms inside terms",
		"operator(a, [b], [c], []) :- d.":  "it has a body",
	} {
		p, err := logic.Read("domain", text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewDomain(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	d := domain(t, blocks)
	circle := problem(t, "table(a),table(b),clear(a),clear(b)", "on(a,b),on(b,a)")
	if r, err := d.Solve(context.Background(), circle, nil, Limits{Work: 50_000}); err != nil || r.Solved {
		t.Errorf("two blocks on each other: %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Solve(ctx, circle, nil, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
