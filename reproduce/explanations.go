package reproduce

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/logic"
)

// The theory and the example of Mitchell 1997, table 11.1, and the theory of
// exercise 11.1.
const (
	stackingTheory = `safe_to_stack(X,Y) :- \+ fragile(Y).
safe_to_stack(X,Y) :- lighter(X,Y).
lighter(X,Y) :- weight(X,Wx), weight(Y,Wy), less_than(Wx,Wy).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
fragile(X) :- material(X,glass).
less_than(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.`
	stackingFacts = `on(obj1,obj2). type(obj1,box). type(obj2,endtable). color(obj1,red). color(obj2,blue).
volume(obj1,2). density(obj1,0.3). owner(obj1,fred). owner(obj2,louise). material(obj1,cardboard). material(obj2,wood).`
	controlTheory = `solve_before(G1,G2) :- subgoal(G1), subgoal(G2), undoes(G1,G2).
undoes(G1,G2) :- achieves(Op,G1), requires(Op,P), contradicts(G2,P).
achieves(move(U,V),on(U,V)). requires(move(U,_),clear(U)). contradicts(on(_,T),clear(T)).`
)

// explanations are figures of Mitchell 1997, chapter 11: rules learnt by
// explaining one example with a theory.
func explanations() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "explanation-" + name, Tags: chapter(11), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	const stack = "safe_to_stack(A,B) :- volume(A,C), density(A,D), equal(E,times(C,D)), type(B,endtable), less_than(E,5)."
	add("stack", "table 11.3", "rules of SafeToStack to the letter, of 1", printed(1), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		return letter(e.rule, stack), err
	})
	add("frontiers", "figure 11.3", "literals of the five frontiers that the target is regressed through", printed(15), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		n := 0
		for _, s := range e.frontiers {
			n += len(s)
		}
		return float64(n), err
	})
	add("leaves", "section 11.2.1", "rules by collecting leaves to the letter, of 1: true, but for one volume and density only", printed(1), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		return letter(e.leaves, "safe_to_stack(A,B) :- volume(A,2), density(A,0.3), type(B,endtable)."), err
	})
	add("lemmas", "section 11.3.3", "rules that LEMMA-ENUMERATOR proves without any example", reference(4), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		return float64(e.lemmas), err
	})
	add("control", "section 11.4", "control rules of PRODIGY to the letter, of 1: which of two subgoals to solve before the other", printed(1), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, controlTheory, "subgoal(on(u,n)). subgoal(on(n,i)).", "solve_before(X,Y)", "solve_before(on(n,i),on(u,n))")
		return letter(e.rule, "solve_before(on(A,B),on(C,A)) :- subgoal(on(A,B)), subgoal(on(C,A))."), err
	})
	add("constraints", "equations 11.1 to 11.3", "deductive constraints that the learnt rule keeps, of 3", reference(3), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		if err != nil {
			return 0, err
		}
		return constraints(ctx, e.rule)
	})
	add("compiled", "section 11.1.3", "steps of the proof by the learnt rule, as a share of those by the theory: knowledge compiled", reference(1).lower(), func(ctx context.Context) (float64, error) {
		e, err := explain(ctx, stackingTheory, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		if err != nil {
			return 0, err
		}
		helpers := "less_than(A,B) :- A < B.\nequal(W,times(V,D)) :- W is V*D.\n"
		after, err := explain(ctx, e.rule+"\n"+helpers, stackingFacts, "safe_to_stack(X,Y)", "safe_to_stack(obj1,obj2)")
		return float64(after.steps) / float64(e.steps), err
	})
	return experiments
}

// letter is 1 if a rule is another to the letter.
func letter(got, want string) float64 {
	if got == want {
		return 1
	}
	return 0
}

// explained is what an explanation teaches.
type explained struct {
	rule, leaves  string
	frontiers     [][]logic.Literal
	lemmas, steps int
}

// explain explains a goal by a theory and facts, and regresses the target through
// the explanation (PROLOG-EBG, table 11.2).
func explain(ctx context.Context, theory, facts, target, goal string) (e explained, err error) {
	rules, err := logic.Read("theory", theory)
	if err != nil {
		return e, err
	}
	known, err := logic.Read("facts", facts)
	if err != nil {
		return e, err
	}
	wanted, _, err := logic.ReadGoal(target)
	if err != nil {
		return e, err
	}
	asked, _, err := logic.ReadGoal(goal)
	if err != nil {
		return e, err
	}
	th := logic.NewTheory(rules, known, nil)
	proof, err := th.Explain(ctx, asked[0].Atom, false, logic.Limits{})
	if err != nil || proof == nil {
		return e, fmt.Errorf("%s is not explained: %v", goal, err)
	}
	rule, frontiers, ok := th.Preimage(wanted[0].Atom, proof)
	if !ok {
		return e, fmt.Errorf("%s is not regressed through the explanation of %s", target, goal)
	}
	e = explained{rule: rule.String(), leaves: th.Collected(wanted[0].Atom, asked[0].Atom, proof).String(), frontiers: frontiers, steps: stepsOf(proof)}
	e.lemmas = len(th.Lemmas(wanted[0].Atom, 10, 100))
	return e, nil
}

// stepsOf counts the conclusions of a proof.
func stepsOf(p *logic.Proof) int {
	n := 1
	for _, part := range p.Of {
		n += stepsOf(part)
	}
	return n
}

// constraints counts what holds of a rule of SafeToStack: it explains the example (11.1),
// it follows from the theory (11.2), which explains the example itself (11.3). That the
// rule follows is shown for things of which nothing but its conditions is known, in
// numbers.
func constraints(ctx context.Context, rule string) (float64, error) {
	const helpers = "less_than(A,B) :- A < B.\nequal(W,times(V,D)) :- W is V*D.\n"
	kept := 0.0
	for _, c := range []struct{ program, goal string }{
		{rule + "\n" + helpers + stackingFacts, "safe_to_stack(obj1,obj2)"},
		{stackingTheory + "\nvolume(x,1). density(x,4.5). type(y,endtable). material(y,glass).", "safe_to_stack(x,y)"},
		{stackingTheory + "\n" + stackingFacts, "safe_to_stack(obj1,obj2)"},
	} {
		p, err := logic.Read("constraint", c.program)
		if err != nil {
			return 0, err
		}
		goal, _, err := logic.ReadGoal(c.goal)
		if err != nil {
			return 0, err
		}
		holds, err := p.Holds(ctx, goal, logic.Limits{})
		if err != nil {
			return 0, err
		}
		if holds {
			kept++
		}
	}
	return kept, nil
}
