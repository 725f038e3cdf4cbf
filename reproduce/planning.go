package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/logic/plan"
)

// The operators of two worlds: blocks on a table, and parts in a workshop where turning
// takes polish and paint off, punching polish, and polishing paint.
const (
	blockOperators = `operator(move(X,Y,Z), [on(X,Y), clear(X), clear(Z), X \= Z], [on(X,Z), clear(Y)], [on(X,Y), clear(Z)]).
operator(unstack(X,Y), [on(X,Y), clear(X)], [table(X), clear(Y)], [on(X,Y)]).
operator(stack(X,Z), [table(X), clear(X), clear(Z), X \= Z], [on(X,Z)], [table(X), clear(Z)]).`
	workshopOperators = `operator(clamp(X,M), [part(X), loose(X), machine(M), free(M)], [held(X,M)], [loose(X), free(M)]).
operator(release(X,M), [held(X,M)], [loose(X), free(M)], [held(X,M)]).
operator(turn(X), [held(X,lathe)], [round(X)], [polished(X), painted(X)]).
operator(punch(X), [held(X,press)], [holed(X)], [polished(X)]).
operator(polish(X), [part(X), loose(X)], [polished(X)], [painted(X)]).
operator(paint(X), [part(X), loose(X)], [painted(X)], []).`
)

// planning are figures of Mitchell 1997, section 11.4: what a planner saves by rules
// that it learns from its own search.
func planning() []Experiment {
	var experiments []Experiment
	add := func(name, measure string, figure Figure, run func(ctx context.Context, seed uint64) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "control-" + name, Tags: chapter(11), Source: mitchell("section 11.4"), Measure: measure, Figure: figure, Seeds: 5, Run: OverSeeds(run),
		})
	}
	saved := func(w planWorld, method plan.Method, useful bool) func(ctx context.Context, seed uint64) (float64, error) {
		return func(ctx context.Context, seed uint64) (float64, error) {
			c, err := w.costs(ctx, seed, method, useful)
			return float64(c.before) / float64(c.after), err
		}
	}
	const unseen = "cost of the search for plans of unseen problems without rules, times that with them: "
	add("blocks-rules", unseen+"rules from failures, blocks (published 2 to 4, in three domains)", printed(2).higher(), saved(blockWorld, plan.Rules, true))
	add("workshop-rules", unseen+"rules from failures, a workshop (published 2 to 4)", printed(2).higher(), saved(workshop, plan.Rules, true))
	add("blocks-chunks", unseen+"chunks, blocks", reference(1).higher(), saved(blockWorld, plan.Chunks, true))
	add("blocks-macros", unseen+"macros, blocks", reference(1).higher(), saved(blockWorld, plan.Macros, true))
	add("blocks-utility", "share of rules, chunks and macros that cost less than they save, blocks (published 19 of 69)", reference(1).lower(), func(ctx context.Context, seed uint64) (float64, error) {
		c, err := blockWorld.costs(ctx, seed, plan.All, true)
		return float64(c.kept) / float64(c.found), err
	})
	add("blocks-useful", "cost of the search for what was practised on with all chunks, times that with the useful ones", reference(1).higher(), func(ctx context.Context, seed uint64) (float64, error) {
		all, err := blockWorld.costs(ctx, seed, plan.Chunks, false)
		if err != nil {
			return 0, err
		}
		useful, err := blockWorld.costs(ctx, seed, plan.Chunks, true)
		return float64(all.practised) / float64(useful.practised), err
	})
	experiments = append(experiments, matching()...)
	return experiments
}

// matching are what many rules cost: those of a workshop, and a hundred thousand more, each
// about parts of some stuff for somebody.
func matching() []Experiment {
	var experiments []Experiment
	add := func(name, measure string, figure Figure, rules, than int) {
		experiments = append(experiments, Experiment{
			Name: "control-match-" + name, Tags: chapter(11), Source: mitchell("section 11.4") + "; Doorenbos 1993", Measure: measure, Figure: figure, Seeds: 2,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				many, err := matchCost(ctx, rules, seed)
				if err != nil {
					return 0, err
				}
				few, err := matchCost(ctx, than, seed)
				return many / few, err
			}),
		})
	}
	add("10000", "tests that plans in a workshop cost with 10,000 rules about parts and customers, as a share of those with 1,000 (published: no notable growth)", reference(1.5).lower(), 10_000, 1000)
	add("100000", "the same of 100,000 rules (published: no notable growth)", reference(1.5).lower(), 100_000, 1000)
	return experiments
}

// matchCost is the tests that the search for plans of some problems costs with so many
// rules.
func matchCost(ctx context.Context, rules int, seed uint64) (float64, error) {
	program, err := logic.Read("operators", workshopOperators)
	if err != nil {
		return 0, err
	}
	domain, err := plan.NewDomain(program)
	if err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(seed, 0x6d61746368))
	kinds := []string{"round", "holed", "polished", "painted"}
	acts := []string{"turn", "punch", "polish", "paint"}
	var text strings.Builder
	for range rules {
		k := r.IntN(4)
		fmt.Fprintf(&text, "prefer(%s(X),%s(X)) :- subgoal(%s(X)), holds(part(X)), holds(made_of(X,stuff%d)), holds(for(X,customer%d)).\n", acts[k], kinds[k], kinds[k], r.IntN(1000), r.IntN(1000))
	}
	known, err := logic.Read("rules", text.String())
	if err != nil {
		return 0, err
	}
	control, err := plan.NewControl(known.Clauses)
	if err != nil {
		return 0, err
	}
	work := 0
	r = rand.New(rand.NewPCG(seed, 0x70726f626c656d)) // the same problems, whatever the rules
	for range 3 {
		init, goal := workshopProblem(r, 2)
		for _, part := range []string{"p1", "p2"} {
			init = append(init, fmt.Sprintf("made_of(%s,stuff%d)", part, r.IntN(1000)), fmt.Sprintf("for(%s,customer%d)", part, r.IntN(1000)))
		}
		p, err := newPlanProblem(init, goal)
		if err != nil {
			return 0, err
		}
		result, err := domain.Solve(ctx, p, control, plan.Limits{Work: 1_000_000})
		if err != nil {
			return 0, err
		}
		work += result.Work
	}
	return float64(work), nil
}

// planWorld is operators, and problems of a size.
type planWorld struct {
	operators string
	problem   func(r *rand.Rand, size int) (init, goal []string)
	practice  int // size of the problems that are learnt from
	test      int // and of those that are not
}

var (
	blockWorld = planWorld{blockOperators, blockProblem, 4, 4}
	workshop   = planWorld{workshopOperators, workshopProblem, 1, 2}
)

// planCosts is what the search costs on unseen problems, before and after learning, and
// on those that were learnt from.
type planCosts struct{ before, after, practised, found, kept int }

// planProblems is how many problems are learnt from, and how many are tried.
const planProblems = 15

// costs learns from some problems and measures the search for plans of others.
func (w planWorld) costs(ctx context.Context, seed uint64, method plan.Method, useful bool) (c planCosts, err error) {
	program, err := logic.Read("operators", w.operators)
	if err != nil {
		return c, err
	}
	domain, err := plan.NewDomain(program)
	if err != nil {
		return c, err
	}
	r := rand.New(rand.NewPCG(seed, 11))
	var problems [2][]*plan.Problem
	for i, size := range []int{w.practice, w.test} {
		for range planProblems {
			init, goal := w.problem(r, size)
			p, err := newPlanProblem(init, goal)
			if err != nil {
				return c, err
			}
			problems[i] = append(problems[i], p)
		}
	}
	limits := plan.Limits{Work: 1_000_000}
	learnt, err := domain.Learn(ctx, problems[0], method, useful, limits)
	if err != nil {
		return c, err
	}
	c.found, c.kept, c.practised = learnt.Found, learnt.Kept, learnt.After
	for _, p := range problems[1] {
		before, err := domain.Solve(ctx, p, nil, limits)
		if err != nil {
			return c, err
		}
		after, err := domain.Solve(ctx, p, learnt.Control, limits)
		if err != nil {
			return c, err
		}
		c.before, c.after = c.before+before.Work, c.after+after.Work
	}
	return c, nil
}

func newPlanProblem(init, goal []string) (*plan.Problem, error) {
	goals, _, err := logic.ReadGoal(fmt.Sprintf("p([%s],[%s])", strings.Join(init, ","), strings.Join(goal, ",")))
	if err != nil {
		return nil, err
	}
	args := goals[0].Atom.(*logic.Compound).Args
	return plan.NewProblem(args[0], args[1])
}

// blockProblem is blocks in towers, and the towers that they are to stand in.
func blockProblem(r *rand.Rand, n int) (init, goal []string) {
	towers := func(fact func(block, below string)) {
		below := ""
		order := r.Perm(n)
		for i, b := range order {
			name := string(rune('a' + b))
			if i > 0 && r.IntN(3) == 0 {
				below = ""
			}
			fact(name, below)
			below = name
		}
	}
	on := map[string]bool{}
	towers(func(block, below string) {
		if below == "" {
			init = append(init, "table("+block+")")
		} else {
			init, on[below] = append(init, "on("+block+","+below+")"), true
		}
	})
	for i := range n {
		if name := string(rune('a' + i)); !on[name] {
			init = append(init, "clear("+name+")")
		}
	}
	towers(func(block, below string) {
		if below != "" {
			goal = append(goal, "on("+block+","+below+")")
		}
	})
	return init, goal
}

// workshopProblem is raw parts, and what is to be made of them.
func workshopProblem(r *rand.Rand, n int) (init, goal []string) {
	init = []string{"machine(lathe)", "machine(press)", "free(lathe)", "free(press)"}
	for i := range n {
		part := fmt.Sprintf("p%d", i+1)
		init = append(init, "part("+part+")", "loose("+part+")")
		qualities := []string{"round", "holed", "polished", "painted"}
		r.Shuffle(len(qualities), func(a, b int) { qualities[a], qualities[b] = qualities[b], qualities[a] })
		for _, q := range qualities[:1+r.IntN(len(qualities))] {
			goal = append(goal, q+"("+part+")")
		}
	}
	r.Shuffle(len(goal), func(a, b int) { goal[a], goal[b] = goal[b], goal[a] })
	return init, goal
}
