package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learners/relation"
	"github.com/accrete-ml/accrete/logic"
)

// logics are the worked examples of Mitchell 1997, sections 10.4 to 10.7: what is
// proved, resolved and more general, and the inverse of resolution.
func logics() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "logic-" + name, Tags: append(chapter(10), "logic"), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	add("child", "section 10.6", "of three entailments about Child(Bob, Sharon), those that are as stated", printed(3), childEntailments)
	add("resolution", "tables 10.5 and 10.7", "resolvents that are as printed, of PassExam, A ∨ B ∨ C ∨ ¬D and White(Fred)", printed(3), resolvents)
	add("inverse", "table 10.6", "parents of PassExam ∨ ¬Study and of A ∨ B, the shortest, that are as printed", printed(2), shortestParents)
	add("inverse-all", "exercise 10.5", "parents of A ∨ B beside A ∨ B ∨ G", reference(4), func(context.Context) (float64, error) {
		all, err := parents("a; b", "a; b; g")
		return float64(len(all)), err
	})
	add("inverse-first-order", "figure 10.3", "1 if two inverse resolutions of GrandChild(Bob, Shannon) reach the printed clause", printed(1), grandChild)
	add("inverse-substitutions", "exercise 10.7", "inverse substitutions of the lower step of figure 10.3, each constant everywhere or nowhere", reference(8), loosened(false))
	add("inverse-places", "exercise 10.7", "inverse substitutions of that step, place by place", reference(20), loosened(true))
	add("subsumption", "section 10.7.4", "of Mother, Mother with the spouse named, and Elephant, those that are as worked out", reference(3), subsumptions)
	add("ancestors", "section 10.5.3", "pairs of a left-recursive Ancestor over five parents, which a search by clauses never ends", reference(9), ancestors)
	gain := func(literal string) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) { return gainOf(literal) }
	}
	add("foil-female", "section 10.5.2", "gain of Female(y) for GrandDaughter(x, y), one of 16 bindings positive", reference(2).digits(1), gain("female(B)"))
	add("foil-father", "section 10.5.2", "gain of Father(y, z), likewise", reference(0.415037).digits(6), gain("father(B,C)"))
	add("foil-candidates", "section 10.5.1", "literals that may begin a clause of GrandDaughter(x, y), but for negated ones and those with a variable twice", printed(9), firstLiterals)
	add("foil-candidates-next", "section 10.5.1", "literals, likewise, that Father(y, z) makes possible: those about z that were not there before", printed(5), nextLiterals)
	add("foil-granddaughter", "section 10.5.1", "literals of the book's clause for GrandDaughter that FOIL finds", printed(3), bookLiterals)
	return experiments
}

// granddaughters is the relation of section 10.5.2 over four people, and its facts.
func granddaughters() (*logic.Program, relation.Tuples, error) {
	people := []logic.Term{logic.Atom("victor"), logic.Atom("sharon"), logic.Atom("bob"), logic.Atom("tom")}
	t := relation.Tuples{Of: logic.Predicate{Name: "granddaughter", Arity: 2}}
	for _, x := range people {
		for _, y := range people {
			if x == people[0] && y == people[1] {
				t.Positives = append(t.Positives, []logic.Term{x, y})
			} else {
				t.Negatives = append(t.Negatives, []logic.Term{x, y})
			}
		}
	}
	p, err := logic.Read("facts", "father(sharon, bob). father(tom, bob). father(bob, victor). female(sharon).")
	return p, t, err
}

// firstLiterals counts the candidates that name no variable twice.
func firstLiterals(context.Context) (float64, error) {
	first, err := candidates()
	return float64(len(first)), err
}

// nextLiterals counts those about the variable that a literal brought.
func nextLiterals(context.Context) (float64, error) {
	first, err := candidates()
	if err != nil {
		return 0, err
	}
	next, err := candidates("father(B,C)")
	count := 0.0
	for _, text := range next {
		if strings.Contains(text, "C") && !slices.Contains(first, text) {
			count++
		}
	}
	return count, err
}

// candidates are the literals that may come next, without those that name a variable
// twice.
func candidates(after ...string) ([]string, error) {
	facts, tuples, err := granddaughters()
	if err != nil {
		return nil, err
	}
	steps, err := relation.Candidates(facts, tuples, relation.FoilOptions{}, after...)
	var all []string
	for _, s := range steps {
		text := s.Literal.Format([]string{"A", "B", "C", "D"})
		if !slices.ContainsFunc([]string{"(A,A)", "(B,B)", "(C,C)"}, func(twice string) bool { return strings.Contains(text, twice) }) {
			all = append(all, text)
		}
	}
	return all, err
}

func gainOf(literal string) (float64, error) {
	facts, tuples, err := granddaughters()
	if err != nil {
		return 0, err
	}
	steps, err := relation.Candidates(facts, tuples, relation.FoilOptions{})
	if err != nil {
		return 0, err
	}
	for _, s := range steps {
		if s.Literal.Format([]string{"A", "B", "C"}) == literal {
			return s.Gain, nil
		}
	}
	return 0, fmt.Errorf("%s is no candidate", literal)
}

func bookLiterals(ctx context.Context) (float64, error) {
	facts, tuples, err := granddaughters()
	if err != nil {
		return 0, err
	}
	learnt, err := relation.Foil(ctx, facts, tuples, relation.FoilOptions{})
	if err != nil || len(learnt) != 1 {
		return 0, err
	}
	found := 0.0
	for _, l := range learnt[0].Clause.Body {
		if slices.Contains([]string{"father(B,C)", "father(C,A)", "female(B)"}, l.Format([]string{"A", "B", "C"})) {
			found++
		}
	}
	return found, nil
}

// literals reads a disjunction: literals with ; between them, and - before
// negative ones.
func literals(text string) ([]logic.Literal, error) {
	all, _, err := logic.ReadGoal(strings.NewReplacer("-", `\+ `, ";", ",").Replace(text))
	return all, err
}

// disjunction writes one, its literals in order and its variables as X, Y, Z.
func disjunction(all []logic.Literal) string {
	texts := make([]string, len(all))
	for i, l := range all {
		texts[i] = strings.Replace(l.Format([]string{"X", "Y", "Z"}), `\+ `, "-", 1)
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

func childEntailments(ctx context.Context) (float64, error) {
	const (
		instance   = "male(bob). female(sharon). father(sharon, bob).\n"
		background = "parent(U, V) :- father(U, V).\n"
		first      = "child(U, V) :- father(V, U).\n"
		second     = "child(U, V) :- parent(V, U).\n"
	)
	goal, _, err := logic.ReadGoal("child(bob, sharon)")
	if err != nil {
		return 0, err
	}
	right := 0.0
	for text, want := range map[string]bool{instance + first: true, instance + second: false, instance + background + second: true} {
		p, err := logic.Read("child", text)
		if err != nil {
			return 0, err
		}
		holds, err := p.Holds(ctx, goal, logic.Limits{})
		if err != nil {
			return 0, err
		}
		if holds == want {
			right++
		}
	}
	return right, nil
}

func resolvents(context.Context) (float64, error) {
	right := 0.0
	for _, c := range [][3]string{
		{"passexam; -knowmaterial", "knowmaterial; -study", "-study; passexam"},
		{"a; b; c; -d", "-b; e; f", "-d; a; c; e; f"},
		{"white(X); -swan(X)", "swan(fred)", "white(fred)"},
	} {
		one, err := literals(c[0])
		if err != nil {
			return 0, err
		}
		other, err := literals(c[1])
		if err != nil {
			return 0, err
		}
		if all := logic.Resolve(one, other); len(all) == 1 && disjunction(all[0]) == c[2] {
			right++
		}
	}
	return right, nil
}

func parents(resolvent, parent string) ([][]logic.Literal, error) {
	c, err := literals(resolvent)
	if err != nil {
		return nil, err
	}
	one, err := literals(parent)
	if err != nil {
		return nil, err
	}
	return logic.Inverse(c, one)
}

func shortestParents(context.Context) (float64, error) {
	right := 0.0
	for _, c := range [][3]string{
		{"passexam; -study", "passexam; -knowmaterial", "-study; knowmaterial"},
		{"a; b", "b; d", "-d; a"},
	} {
		all, err := parents(c[0], c[1])
		if err != nil {
			return 0, err
		}
		if len(all) > 0 && disjunction(all[0]) == c[2] {
			right++
		}
	}
	return right, nil
}

func grandChild(context.Context) (float64, error) {
	lower, err := parents("grandchild(bob, shannon)", "father(shannon, tom)")
	if err != nil {
		return 0, err
	}
	loose, err := logic.Loosen(lower[0], false)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(loose, func(c []logic.Literal) bool { return disjunction(c) == "-father(X,tom); grandchild(bob,X)" })
	if at < 0 {
		return 0, fmt.Errorf("the lower step does not reach the printed clause")
	}
	father, err := literals("father(tom, bob)")
	if err != nil {
		return 0, err
	}
	upper, err := logic.Inverse(loose[at], father)
	if err != nil {
		return 0, err
	}
	all, err := logic.Loosen(upper[0], false)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		if disjunction(c) == "-father(X,Z); -father(Z,Y); grandchild(Y,X)" {
			return 1, nil
		}
	}
	return 0, nil
}

func loosened(byPlace bool) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		lower, err := parents("grandchild(bob, shannon)", "father(shannon, tom)")
		if err != nil {
			return 0, err
		}
		all, err := logic.Loosen(lower[0], byPlace)
		return float64(len(all)), err
	}
}

func subsumptions(context.Context) (float64, error) {
	right := 0.0
	for _, c := range []struct {
		general, special string
		want             bool
	}{
		{"mother(X,Y) :- father(X,Z), spouse(Z,Y).", "mother(X,louise) :- father(X,bob), spouse(bob,Y), female(X).", false},
		{"mother(X,Y) :- father(X,Z), spouse(Z,Y).", "mother(X,louise) :- father(X,bob), spouse(bob,louise), female(X).", true},
		{"elephant(father_of(X)) :- elephant(X).", "elephant(father_of(father_of(Y))) :- elephant(Y).", false},
	} {
		p, err := logic.Read("clauses", c.general+"\n"+c.special)
		if err != nil {
			return 0, err
		}
		_, holds, err := logic.Subsumes(p.Clauses[0].Literals(), p.Clauses[1].Literals())
		if err != nil {
			return 0, err
		}
		if holds == c.want {
			right++
		}
	}
	return right, nil
}

func ancestors(ctx context.Context) (float64, error) {
	p, err := logic.Read("family", `
		parent(ann, bea). parent(ann, bob). parent(bea, cid). parent(cid, dot). parent(bob, eve).
		ancestor(X, Y) :- ancestor(X, Z), parent(Z, Y).
		ancestor(X, Y) :- parent(X, Y).`)
	if err != nil {
		return 0, err
	}
	s, err := p.Solve(ctx, "ancestor(X, Y)")
	if err != nil {
		return 0, err
	}
	return float64(len(s.Bindings)), nil
}
