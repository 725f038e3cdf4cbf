package logic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
)

var background = context.Background()

func read(t testing.TB, text string) *Program {
	t.Helper()
	p, err := Read("test.pl", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask returns the bindings of a goal, a line each.
func ask(p *Program, goal string, limits Limits) ([]string, error) {
	literals, names, err := ReadGoal(goal)
	if err != nil {
		return nil, err
	}
	all := []string{}
	err = p.Prove(background, literals, limits, func(a Answer) bool {
		var line []string
		for v, name := range names {
			if term, ok := a.Bindings[Var(v)]; ok && name != "_" {
				line = append(line, name+"="+Format(term, nil))
			}
		}
		all = append(all, strings.Join(line, " "))
		return true
	})
	return all, err
}

// clause reads a clause as the set of its literals.
func clause(t testing.TB, text string) []Literal {
	t.Helper()
	return read(t, text).Clauses[0].Literals()
}

// disjunction reads literals with ; between them and - before negative ones.
func disjunction(t testing.TB, text string) []Literal {
	t.Helper()
	goal, names, err := ReadGoal(strings.NewReplacer("-", `\+ `, ";", ",").Replace(text))
	if err != nil {
		t.Fatal(err)
	}
	_ = names
	return goal
}

func written(clauses [][]Literal) []string {
	all := []string{}
	for _, c := range clauses {
		var literals []string
		for _, l := range c {
			literals = append(literals, strings.Replace(l.Format([]string{"X", "Y", "Z", "U", "V", "W"}), `\+ `, "-", 1))
		}
		slices.Sort(literals)
		all = append(all, strings.Join(literals, ";"))
	}
	return all
}

func TestProve(t *testing.T) {
	p := read(t, `
		% a family
		father(sharon, bob). father(tom, bob). father(bob, victor).
		female(sharon).
		granddaughter(X, Y) :- father(Y, Z), father(Z, X), female(Y).
		parent(ann, bea). parent(ann, bob). parent(bea, cid). parent(cid, dot). parent(bob, eve).
		ancestor(X, Y) :- parent(X, Y).
		ancestor(X, Y) :- ancestor(Z, Y), parent(X, Z). % left recursion
		member(X, [X|_]).
		member(X, [_|T]) :- member(X, T).
		append([], L, L).
		append([H|T], L, [H|R]) :- append(T, L, R).
		sum([], 0).
		sum([H|T], S) :- sum(T, R), S is R + H.
		childless(X) :- parent(_, X), \+ parent(X, _).
		either(X) :- (X = a ; X = b).
		small(X) :- member(X, [1, 5, 9]), X < 6.
	`)
	for goal, want := range map[string][]string{
		"granddaughter(X, Y)":             {"X=victor Y=sharon"},
		"granddaughter(victor, tom)":      {},
		"granddaughter(victor, sharon)":   {""},
		"ancestor(ann, Y)":                {"Y=bea", "Y=bob", "Y=cid", "Y=eve", "Y=dot"},
		"ancestor(X, eve)":                {"X=bob", "X=ann"},
		"member(X, [a, b])":               {"X=a", "X=b"},
		"append(X, [c], [a, b, c])":       {"X=[a,b]"},
		"append(X, Y, [1])":               {"X=[] Y=[1]", "X=[1] Y=[]"},
		"sum([1, 2, 3.5], S)":             {"S=6.5"},
		"childless(X)":                    {"X=dot", "X=eve"},
		"either(X)":                       {"X=a", "X=b"},
		"small(X)":                        {"X=1", "X=5"},
		"X = f(Y), Y = g(a)":              {"X=f(g(a)) Y=g(a)"},
		"X = f(X)":                        {}, // occurs check
		"0 is 4 mod 2":                    {""},
		"X is 7 // 2, Y is -7 mod 2":      {"X=3 Y=1"},
		"nobody(X)":                       {},
		`father(X, bob), \+ female(X)`:    {"X=tom"},
		"'odd name' = X":                  {"X='odd name'"},
		"f(A, B, A) = f(1, 2, 1.0)":       {},
		"member(X, [1, 2, 3]), X >= 2, !": nil,
	} {
		got, err := ask(p, goal, Limits{})
		if want == nil {
			if err == nil {
				t.Errorf("%s: no error", goal)
			}
			continue
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, %v, expected %q", goal, got, err, want)
		}
	}
}

// Proofs are what was proved, by which clauses: also of computed relations.
func TestProofs(t *testing.T) {
	p := read(t, `
		edge(a, b). edge(b, c). edge(c, a).
		reach(X, Y) :- edge(X, Y).
		reach(X, Y) :- reach(X, Z), edge(Z, Y).
		cyclic(X) :- reach(X, X), \+ lonely(X).
	`)
	literals, _, err := ReadGoal("cyclic(a)")
	if err != nil {
		t.Fatal(err)
	}
	var proof string
	if err := p.Prove(background, literals, Limits{}, func(a Answer) bool { proof = a.Proofs[0].String(); return false }); err != nil {
		t.Fatal(err)
	}
	want := `cyclic(a)
  reach(a,a)
    reach(a,c)
      reach(a,b)
        edge(a,b)
      edge(b,c)
    edge(c,a)
  \+ lonely(a)
`
	if proof != want {
		t.Errorf("%s", proof)
	}
}

// What does not end is ended, with a reason, in little time and memory.
func TestLimits(t *testing.T) {
	for text, goal := range map[string]string{
		"p(X) :- p(f(X)).":                                    "p(a)",
		"p(X) :- p(X), q(f(X)).\nq(a).":                       "p(a)",
		"p(X) :- p(f(X, X)).":                                 "p(a)",
		"p(f(X, X)) :- p(X).":                                 "p(X)",
		"n(0).\nn(X) :- n(Y), X is Y + 1.\np :- n(X), X < 0.": "p",
		"l([a|T]) :- l(T).":                                   "l(X)",
		"d(X, Y) :- X = f(Y, Y).\nbig(X) :- d(X, A), d(A, B), d(B, C), d(C, D), d(D, E), d(E, F), d(F, G), d(G, H), d(H, I), d(I, J), d(J, K), d(K, L), d(L, M), d(M, N), d(N, O), d(O, P), d(P, Q), d(Q, R), d(R, S), d(S, T), d(T, U), d(U, V), d(V, W), d(W, Z), d(Z, A1), d(A1, B1), d(B1, C1).": "big(X)",
		"t(X) :- \\+ t(X).":                       "t(a)",
		"t(X) :- not(t(X)).":                      "t(a)",
		"u(X) :- \\+ v(X).\nv(X) :- \\+ u(f(X)).": "u(a)",
		"p :- X.":                            "p",
		"p :- X is foo + 1.":                 "p",
		"p :- X is 1 / 0.":                   "p",
		"p :- X is 9223372036854775807 + 1.": "p",
		"p :- X < 3.":                        "p",
	} {
		begin := time.Now()
		got, err := ask(read(t, text), goal, Limits{Steps: 200_000, Depth: 5000})
		if err == nil || time.Since(begin) > 20*time.Second {
			t.Errorf("%s: %q after %v", text, got, time.Since(begin))
		}
	}
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	literals, _, _ := ReadGoal("p")
	begin := time.Now()
	err := read(t, "p :- n(X), X < 0.\nn(0).\nn(X) :- n(Y), X is Y + 1.").Prove(ctx, literals, Limits{Steps: 1 << 60, Depth: 1 << 60}, func(Answer) bool { return true })
	if err == nil || time.Since(begin) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"p(a":                      "test.pl:1:4: expected ), found the end of the text",
		"p(a)\nq(b).":              `test.pl:2:1: expected an operator or the full stop, found "q"`,
		"p(a) :- .":                "test.pl:1:9: expected a term, found the full stop",
		"f('a).":                   "test.pl:1:3: this quote has no end; expected '",
		"3 :- p.":                  "test.pl:1:1: 3 cannot be the head of a clause; expected a name, with or without arguments",
		"p :- 3.":                  "test.pl:1:8: 3 cannot be proved; expected a literal",
		"/* p":                     "test.pl:1:1: this comment has no end; expected */",
		"p(\"a\").":                "test.pl:1:3: texts in double quotes are not read; expected a name in single quotes, or a list",
		"p(99999999999999999999).": "test.pl:1:3: 99999999999999999999 is out of range; expected a whole number of 64 bits",
		"p(\xff).":                 "test.pl:1:3: byte 0xff is not UTF-8; expected text in that encoding",
		"a :- b :- c.":             `test.pl:1:8: expected an operator or the full stop, found ":-"`,
		"p(" + strings.Repeat("f(", 300) + "a" + strings.Repeat(")", 301) + ".": "test.pl:1:201: terms are nested more than 100 deep; expected fewer",
	} {
		if _, err := Read("test.pl", text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// Mitchell 1997, section 10.6: h₁ needs no background, h₂ does.
func TestInverseEntailment(t *testing.T) {
	const instance = "male(bob). female(sharon). father(sharon, bob).\n"
	const b, h1, h2 = "parent(U, V) :- father(U, V).\n", "child(U, V) :- father(V, U).\n", "child(U, V) :- parent(V, U).\n"
	for text, want := range map[string]bool{instance + h1: true, instance + h2: false, instance + b + h2: true} {
		goal, _, _ := ReadGoal("child(bob, sharon)")
		if holds, err := read(t, text).Holds(background, goal, Limits{}); err != nil || holds != want {
			t.Errorf("%s%v, %v", text, holds, err)
		}
	}
}

// Mitchell 1997, tables 10.5 and 10.7, and equation 10.3.
func TestResolve(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"a;b;c;-d", "-b;e;f", "-d;a;c;e;f"},
		{"passExam;-knowMaterial", "knowMaterial;-study", "-study;passExam"},
		{"white(X);-swan(X)", "swan(fred)", "white(fred)"},
		{"p(X);-q(X)", "r(X);q(f(X))", "p(f(Y));r(Y)"},
	} {
		if got := written(Resolve(disjunction(t, c.a), disjunction(t, c.b))); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s and %s: %q, expected %q", c.a, c.b, got, c.want)
		}
	}
	if by, ok := Unify(clause(t, "father(X, Y).")[0].Atom, &Compound{"father", []Term{Atom("bill"), Var(2)}}); !ok || by[0] != Term(Atom("bill")) || by[1] != Term(Var(2)) {
		t.Errorf("%v, %v", by, ok)
	}
}

// Mitchell 1997, tables 10.6 and 10.7, figure 10.3 and exercises 10.5 to 10.7.
func TestInverse(t *testing.T) {
	for _, c := range []struct {
		resolvent, parent string
		want              []string
	}{
		{"passExam;-study", "passExam;-knowMaterial", []string{"-study;knowMaterial", "-study;knowMaterial;passExam"}},
		{"a;b", "b;d", []string{"-d;a", "-d;a;b"}},
		{"a;b", "a;b;g", []string{"-g", "-g;a", "-g;b", "-g;a;b"}},
		{"grandchild(bob,shannon)", "father(shannon,tom)", []string{"-father(shannon,tom);grandchild(bob,shannon)"}},
		{"r(b,X);p(X,a)", "s(b,Y);r(Z,U)", []string{"-s(b,Y);p(X,a)", "-s(b,Y);p(X,a);r(b,X)"}},
	} {
		all, err := Inverse(disjunction(t, c.resolvent), disjunction(t, c.parent))
		if got := written(all); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s from %s: %q, %v, expected %q", c.resolvent, c.parent, got, err, c.want)
		}
	}
	step1, err := Inverse(disjunction(t, "grandchild(bob,shannon)"), disjunction(t, "father(shannon,tom)"))
	if err != nil {
		t.Fatal(err)
	}
	everywhere, err := Loosen(step1[0], false)
	if err != nil || len(everywhere) != 8 {
		t.Errorf("%d inverse substitutions, %v, expected 8", len(everywhere), err)
	}
	places, err := Loosen(step1[0], true)
	if err != nil || len(places) != 20 {
		t.Errorf("%d inverse substitutions place by place, %v, expected 20", len(places), err)
	}
	if !slices.Contains(written(everywhere), "-father(X,tom);grandchild(bob,X)") {
		t.Errorf("%q", written(everywhere))
	}
	step2, err := Inverse(disjunction(t, "grandchild(bob,X);-father(X,tom)"), disjunction(t, "father(tom,bob)"))
	if err != nil {
		t.Fatal(err)
	}
	last, err := Loosen(step2[0], false)
	if err != nil || !slices.Contains(written(last), "-father(X,Z);-father(Z,Y);grandchild(Y,X)") {
		t.Errorf("%q, %v", written(last), err)
	}
	loose, err := Loosen(disjunction(t, "p(X,a);-s(b,Y)"), false)
	if got := written(loose); err != nil || !slices.Equal(got, []string{"-s(b,Y);p(X,a)", "-s(Z,Y);p(X,a)", "-s(b,Y);p(X,Z)", "-s(U,Y);p(X,Z)"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// Mitchell 1997, section 10.7.4; the first example holds when its spouse is put
// right.
func TestSubsumes(t *testing.T) {
	for _, c := range []struct {
		general, special string
		want             bool
	}{
		{"mother(X,Y) :- father(X,Z), spouse(Z,Y).", "mother(X,louise) :- father(X,bob), spouse(bob,Y), female(X).", false},
		{"mother(X,Y) :- father(X,Z), spouse(Z,Y).", "mother(X,louise) :- father(X,bob), spouse(bob,louise), female(X).", true},
		{"elephant(father_of(X)) :- elephant(X).", "elephant(father_of(father_of(Y))) :- elephant(Y).", false},
		{"p(X) :- q(X,Y), q(Y,Z).", "p(X) :- q(X,X).", true},
		{"p(X) :- q(X,X).", "p(X) :- q(X,Y), q(Y,Z).", false},
	} {
		if _, got, err := Subsumes(clause(t, c.general), clause(t, c.special)); err != nil || got != c.want {
			t.Errorf("%s and %s: %v, %v", c.general, c.special, got, err)
		}
	}
}

func TestLGG(t *testing.T) {
	got := LGG(clause(t, "daughter(mary, ann) :- parent(ann, mary), female(mary)."), clause(t, "daughter(eve, tom) :- parent(tom, eve), female(eve)."))
	if all := written([][]Literal{got}); all[0] != "-female(X);-parent(Y,X);daughter(X,Y)" {
		t.Errorf("%q", all)
	}
	reduced, err := Reduce(clause(t, "p(X) :- q(X,Y), q(X,Z), q(X,a)."))
	if err != nil || len(reduced) != 2 {
		t.Errorf("%q, %v", written([][]Literal{reduced}), err)
	}
}

// randomTerm draws a term over a few names and variables.
func randomTerm(t *rapid.T, depth int) Term {
	switch n := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case n == 0:
		return Var(rapid.IntRange(0, 3).Draw(t, "v"))
	case n == 1:
		return Int(rapid.Int64().Draw(t, "i"))
	case n == 2:
		return Float(rapid.Float64Range(-1e300, 1e300).Draw(t, "f"))
	case n < 5 || depth == 0:
		return Atom(rapid.SampledFrom([]string{"a", "Bob", "it's", "", "[]", "=", "-", "mod", "table", "!", "\n", "{}", "é"}).Draw(t, "a"))
	case n == 5:
		elements := make([]Term, rapid.IntRange(1, 3).Draw(t, "n"))
		for i := range elements {
			elements[i] = randomTerm(t, depth-1)
		}
		return List(elements, rapid.SampledFrom([]Term{Nil, Nil, Var(1), Atom("x")}).Draw(t, "tail"))
	}
	args := make([]Term, rapid.IntRange(1, 3).Draw(t, "n"))
	for i := range args {
		args[i] = randomTerm(t, depth-1)
	}
	return &Compound{rapid.SampledFrom([]string{"f", "g", "+", "-", ",", "is", `\+`, ":-", "<", "F", ";", "^"}).Draw(t, "functor"), args}
}

// What is written is read as it was.
func TestPrintIsParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClause(&Compound{"head", []Term{randomTerm(t, 3)}}, []Literal{{rapid.Bool().Draw(t, "negated"), &Compound{"body", []Term{randomTerm(t, 3)}}}})
		text := c.String()
		p, err := Read("printed", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := p.Clauses[0]; got.String() != text || Compare(got.Head, c.Head) != 0 || !equalLiterals(got.Body[0], c.Body[0]) {
			t.Fatalf("%s was read as %s", text, got)
		}
	})
}

// Datalog programs give bottom up what a search for a model by brute force gives.
func TestDatalogIsTheLeastModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c"}
		var text strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "facts") {
			fmt.Fprintf(&text, "e(%s, %s).\n", rapid.SampledFrom(names).Draw(t, "x"), rapid.SampledFrom(names).Draw(t, "y"))
		}
		vars := []string{"X", "Y", "Z"}
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			head := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "head")
			var body []string
			bound := map[string]bool{}
			for range rapid.IntRange(1, 3).Draw(t, "body") {
				x, y := rapid.SampledFrom(vars).Draw(t, "v"), rapid.SampledFrom(vars).Draw(t, "w")
				bound[x], bound[y] = true, true
				body = append(body, fmt.Sprintf("%s(%s, %s)", rapid.SampledFrom([]string{"e", "p", "q"}).Draw(t, "of"), x, y))
			}
			known := slices.Sorted(func(yield func(string) bool) {
				for v := range bound {
					if !yield(v) {
						return
					}
				}
			})
			fmt.Fprintf(&text, "%s(%s, %s) :- %s.\n", head, rapid.SampledFrom(known).Draw(t, "h"), rapid.SampledFrom(known).Draw(t, "k"), strings.Join(body, ", "))
		}
		p, err := Read("random", text.String())
		if err != nil {
			t.Fatal(err)
		}
		model := leastModel(p, names)
		for _, of := range []string{"e", "p", "q"} {
			for _, x := range names {
				for _, y := range names {
					goal := fmt.Sprintf("%s(%s, %s)", of, x, y)
					literals, _, _ := ReadGoal(goal)
					holds, err := p.Holds(background, literals, Limits{})
					if err != nil || holds != model[fmt.Sprintf("%s(%s,%s)", of, x, y)] {
						t.Fatalf("%s: %v, %v\n%s", goal, holds, err, text.String())
					}
				}
			}
		}
	})
}

// leastModel applies every ground instance of every clause until nothing is new.
func leastModel(p *Program, names []string) map[string]bool {
	model := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, c := range p.Clauses {
			instances := 1
			for range c.Names {
				instances *= len(names)
			}
			for n := range instances {
				by := map[Var]Term{}
				for v := range c.Names {
					by[Var(v)] = Atom(names[n%len(names)])
					n /= len(names)
				}
				holds := true
				for _, l := range c.Body {
					holds = holds && model[Format(Substitute(l.Atom, by), nil)]
				}
				if head := Format(Substitute(c.Head, by), nil); holds && !model[head] {
					model[head], changed = true, true
				}
			}
		}
	}
	return model
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"p(a, X) :- q(X), \\+ r([1, 2.5e3|X]).\n:- table p/2.", "type(f,(list,)).", "a :- b ; c -> d.", "'it''s'(\\x41\\).", "p:-X is- 1+ -1*2.", "f(- 1, -(1), -a)."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		if len(text) > 1<<16 {
			return
		}
		p, err := Read("fuzz", text)
		if err != nil {
			return
		}
		for _, c := range p.Clauses {
			again, err := Read("again", c.String())
			if err != nil || len(again.Clauses) != 1 || again.Clauses[0].String() != c.String() {
				t.Fatalf("%q was written as %q and read as %v", text, c, err)
			}
		}
		_ = p.Prove(background, []Literal{{Atom: p.anyGoal()}}, Limits{Steps: 2000, Depth: 200, Facts: 2000}, func(Answer) bool { return true })
	})
}

// anyGoal asks for all of the last predicate.
func (p *Program) anyGoal() Term {
	if len(p.Clauses) == 0 {
		return Atom("nothing")
	}
	of, _ := predicateOf(p.Clauses[len(p.Clauses)-1].Head)
	if of.Arity == 0 {
		return Atom(of.Name)
	}
	args := make([]Term, of.Arity)
	for i := range args {
		args[i] = Var(i)
	}
	return &Compound{of.Name, args}
}

func BenchmarkProve(b *testing.B) {
	p := read(b, "app([], L, L).\napp([H|T], L, [H|R]) :- app(T, L, R).\nnrev([], []).\nnrev([H|T], R) :- nrev(T, S), app(S, [H], R).")
	goal, _, _ := ReadGoal("nrev([1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30], X)")
	b.ReportAllocs()
	for b.Loop() {
		if holds, err := p.Holds(background, goal, Limits{}); err != nil || !holds {
			b.Fatal(err)
		}
	}
	b.ReportMetric(496*float64(b.N)/b.Elapsed().Seconds(), "LIPS")
}

func BenchmarkDatalog(b *testing.B) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "e(n%d, n%d).\n", i, (i*7+3)%300)
	}
	text.WriteString("r(X, Y) :- e(X, Y).\nr(X, Y) :- r(X, Z), e(Z, Y).\n")
	goal, _, _ := ReadGoal("r(n0, X)")
	b.ReportAllocs()
	for b.Loop() {
		p := read(b, text.String())
		if holds, err := p.Holds(background, goal, Limits{}); err != nil || !holds {
			b.Fatal(err)
		}
	}
}
