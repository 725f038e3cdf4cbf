package logic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drawn is a program drawn by chance, and a goal: in our words, and in those of an oracle
// for which every program has predicates of its own.
type drawn struct {
	text string
	goal string
	vars []string
	of   []Predicate // that the oracle must keep in tables
}

// drawDatalog draws facts and rules over them, which may call each other in circles; what
// is negated is facts.
func drawDatalog(r *rand.Rand, i int) drawn {
	constants := []string{"a", "b", "c", "d", "1", "2", "'x y'", "-3"}
	var text strings.Builder
	arity := [6]int{1, 2, 2, 1 + r.IntN(2), 1 + r.IntN(2), 2} // three of facts, three of rules
	name := func(k int) string { return fmt.Sprintf("%c%d", "uvwpqr"[k], i) }
	for k := range 3 {
		for range 1 + r.IntN(6) {
			args := make([]string, arity[k])
			for j := range args {
				args[j] = constants[r.IntN(len(constants))]
			}
			fmt.Fprintf(&text, "%s(%s).\n", name(k), strings.Join(args, ","))
		}
	}
	variables := []string{"X", "Y", "Z", "W"}
	for k := 3; k < 6; k++ {
		for range 1 + r.IntN(3) {
			var body, known []string
			for range 1 + r.IntN(3) {
				of := r.IntN(6)
				args := make([]string, arity[of])
				for j := range args {
					if args[j] = variables[r.IntN(4)]; r.IntN(8) == 0 {
						args[j] = constants[r.IntN(len(constants))]
					} else if !slices.Contains(known, args[j]) {
						known = append(known, args[j])
					}
				}
				body = append(body, name(of)+"("+strings.Join(args, ",")+")")
			}
			pick := func() string {
				if len(known) == 0 || r.IntN(10) == 0 {
					return constants[r.IntN(len(constants))]
				}
				return known[r.IntN(len(known))]
			}
			switch r.IntN(5) {
			case 0:
				body = append(body, fmt.Sprintf(`\+ %s(%s)`, name(0), pick()))
			case 1:
				body = append(body, fmt.Sprintf(`%s \== %s`, pick(), pick()))
			case 2:
				body = append(body, fmt.Sprintf(`\+ %s(%s,%s)`, name(1), pick(), pick()))
			}
			head := make([]string, arity[k])
			for j := range head {
				head[j] = pick()
			}
			fmt.Fprintf(&text, "%s(%s) :- %s.\n", name(k), strings.Join(head, ","), strings.Join(body, ", "))
		}
	}
	d := drawn{text: text.String(), vars: variables[:arity[3]]}
	for k := 3; k < 6; k++ {
		d.of = append(d.of, Predicate{name(k), arity[k]})
	}
	d.goal = fmt.Sprintf("%s(%s)", name(3), strings.Join(d.vars, ","))
	return d
}

// drawLists draws programs over lists and numbers, in which the order of clauses and
// goals counts.
func drawLists(r *rand.Rand, i int) drawn {
	list := func() string {
		xs := make([]string, r.IntN(5))
		for k := range xs {
			xs[k] = []string{"1", "2", "-3", "a", "f(b)", "[c]", "2.5"}[r.IntN(7)]
		}
		return "[" + strings.Join(xs, ",") + "]"
	}
	numbers := func() string {
		xs := make([]string, r.IntN(5))
		for k := range xs {
			xs[k] = fmt.Sprint(r.IntN(21) - 10)
		}
		return "[" + strings.Join(xs, ",") + "]"
	}
	operator := []string{"+", "-", "*", "//", "mod", "max", "min"}[r.IntN(7)]
	step := "N " + operator + " H"
	if len(operator) == 3 && operator != "mod" {
		step = operator + "(N,H)"
	}
	switch r.IntN(5) {
	case 0:
		return drawn{fmt.Sprintf("a%d([],L,L).\na%d([H|T],L,[H|R]) :- a%d(T,L,R).\n", i, i, i), fmt.Sprintf("a%d(X,Y,%s)", i, list()), []string{"X", "Y"}, nil}
	case 1:
		return drawn{fmt.Sprintf("f%d([],N,N).\nf%d([H|T],N,R) :- M is %s, f%d(T,M,R).\n", i, i, step, i), fmt.Sprintf("f%d(%s,%d,X)", i, numbers(), 1+r.IntN(9)), []string{"X"}, nil}
	case 2:
		return drawn{fmt.Sprintf("m%d(X,[X|_]).\nm%d(X,[_|T]) :- m%d(X,T).\nn%d(X,L,K) :- m%d(X,L), \\+ m%d(X,K).\n", i, i, i, i, i, i), fmt.Sprintf("n%d(X,%s,%s)", i, list(), list()), []string{"X"}, nil}
	case 3:
		return drawn{fmt.Sprintf("s%d([],_,[]).\ns%d([H|T],P,[H|R]) :- H %s P, s%d(T,P,R).\ns%d([H|T],P,R) :- \\+ H %s P, s%d(T,P,R).\n", i, i, "<", i, i, "<", i), fmt.Sprintf("s%d(%s,%d,X)", i, numbers(), r.IntN(9)-4), []string{"X"}, nil}
	}
	return drawn{fmt.Sprintf("z%d(0).\nz%d(s(X)) :- z%d(X).\nd%d(0,0).\nd%d(s(X),s(s(Y))) :- d%d(X,Y).\ng%d(X,Y) :- d%d(X,Y), z%d(Y).\n", i, i, i, i, i, i, i, i, i),
		fmt.Sprintf("g%d(s(s(%s)),X)", i, []string{"0", "s(0)", "s(s(0))", "a"}[r.IntN(4)]), []string{"X"}, nil}
}

// answers are those of our own prover, each once, in standard order.
func (d *drawn) answers(t *testing.T) string {
	p, err := Read("drawn", d.text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, d.text)
	}
	goal, names, err := ReadGoal(d.goal)
	if err != nil {
		t.Fatalf("%v in %s", err, d.goal)
	}
	var all []Term
	err = p.Prove(context.Background(), goal, Limits{Steps: 1_000_000}, func(a Answer) bool {
		var row []Term
		for _, v := range d.vars {
			row = append(row, a.Bindings[Var(slices.Index(names, v))])
		}
		all = append(all, List(row, Nil))
		return true
	})
	if err != nil {
		return "error"
	}
	slices.SortFunc(all, Compare)
	all = slices.CompactFunc(all, func(a, b Term) bool { return Compare(a, b) == 0 })
	return Format(List(all, Nil), nil)
}

// TestAgainstProlog asks SWI-Prolog the same: of 10,000 programs in long runs, of 200
// otherwise, where it is there.
func TestAgainstProlog(t *testing.T) {
	swipl, err := exec.LookPath("swipl")
	if err != nil {
		t.Skip("SWI-Prolog (swipl) is not on the path: nothing to compare with")
	}
	n := 200
	if os.Getenv("ACCRETE_LONG") != "" {
		n = 10_000
	}
	r := rand.New(rand.NewPCG(7, 11))
	var script strings.Builder
	script.WriteString(":- style_check(-singleton). :- style_check(-discontiguous). :- set_prolog_flag(prefer_rationals,false).\n")
	programs := make([]drawn, n)
	for i := range programs {
		if programs[i] = drawDatalog(r, i); i%2 == 1 {
			programs[i] = drawLists(r, i)
		}
		for _, of := range programs[i].of {
			fmt.Fprintf(&script, ":- table %v.\n", of)
		}
		script.WriteString(programs[i].text)
		fmt.Fprintf(&script, "goal(%d,[%s]) :- %s.\n", i, strings.Join(programs[i].vars, ","), programs[i].goal)
	}
	fmt.Fprintf(&script, `ask(I) :- catch((findall(V,goal(I,V),L), sort(L,S), format("~q~n",[S])), _, format("error~n")).
:- initialization((forall(between(0,%d,I),ask(I)), halt)).
`, n-1)
	file := filepath.Join(t.TempDir(), "drawn.pl")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), swipl, "-q", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != n {
		t.Fatalf("%d answers of SWI-Prolog, expected %d", len(lines), n)
	}
	differ, some := 0, 0
	for i := range programs {
		own := programs[i].answers(t)
		some += min(1, len(own)/4)
		if own != lines[i] {
			if differ++; differ <= 5 {
				t.Errorf("%s\n?- %s\n  here        %s\n  SWI-Prolog  %s", programs[i].text, programs[i].goal, own, lines[i])
			}
		}
	}
	t.Logf("%d programs, %d of them with answers: %d differ", n, some, differ)
	if differ > 0 {
		t.Errorf("%d of %d programs have other answers", differ, n)
	}
}

// TestDifferentThings is of what is computed bottom up: recursion beside comparison.
func TestDifferentThings(t *testing.T) {
	d := drawn{text: "v(a,b). v(b,b). p(X,Y) :- v(X,Y), X \\== Y. p(X,Y) :- p(Y,X), v(X,X).", goal: "p(X,Y)", vars: []string{"X", "Y"}}
	if got, want := d.answers(t), "[[a,b],[b,a]]"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
