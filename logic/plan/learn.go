package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/logic"
)

// Method is what is learnt from a search.
type Method string

// The methods.
const (
	Nothing Method = "none"
	Rules   Method = "rules"  // from failures: before and reject (PRODIGY)
	Chunks  Method = "chunks" // from impasses that were resolved: prefer (SOAR)
	Macros  Method = "macros" // from sequences of acts: macro (STRIPS)
	All     Method = "all"
)

// Learning is what was learnt from problems, and what it is worth on them.
type Learning struct {
	Control *Control
	// Saves is what the search costs more without each rule, in tests.
	Saves                           []int
	Problems, SolvedBefore, Solved  int
	Before, After                   int // tests, without and with the rules
	NodesBefore, NodesAfter         int
	Chances, Explained, Found, Kept int // chances to learn, those that were explained, rules of them, and those kept
	// Speedup compares the problems one by one.
	Speedup stat.Speedup
}

// noticed is what there is to be learnt from in a search.
type noticed struct {
	undone   [][2]int32 // working on the first goal undid the second
	needless [][2]int32 // an act that needs the goal that it is for
	impasses []segment
}

// segment is the part of a plan that reached a goal, up to the act that did.
type segment struct {
	goal     int32
	from, to int
}

// useless notes acts that require what can be had only where their goal holds.
func (n *noticed) useless(s *search, g int32, acts []int32) {
	for _, a := range acts {
		for _, p := range s.acts[a].pre {
			if s.state.has(p) || p == g || len(n.needless) >= mostNoticed {
				continue
			}
			if !slices.ContainsFunc(s.adds[p], func(b int32) bool { return !slices.Contains(s.acts[b].pre, g) }) {
				n.needless = append(n.needless, [2]int32{a, g})
				break
			}
		}
	}
}

// mostNoticed is how many chances of a kind one problem gives.
const mostNoticed = 10_000

// Learn solves problems one after the other, learns from each how to go about the next,
// and keeps, if asked to, only the rules that cost less than they save.
func (d *Domain) Learn(ctx context.Context, problems []*Problem, method Method, useful bool, l Limits) (*Learning, error) {
	theory, err := d.theory()
	if err != nil {
		return nil, err
	}
	x := &learning{Domain: d, theory: theory, method: method, known: map[string]bool{}, tried: map[string]bool{}, Learning: Learning{Control: &Control{}, Problems: len(problems)}}
	for _, p := range problems {
		t, err := d.ground(p)
		if err != nil {
			return nil, err
		}
		x.tasks = append(x.tasks, t)
	}
	x.Before, x.NodesBefore, x.SolvedBefore, err = x.total(ctx, x.Control, l)
	if err != nil {
		return nil, err
	}
	if method != Nothing {
		for _, t := range x.tasks {
			if err := x.study(ctx, t, l); err != nil {
				return nil, err
			}
		}
	}
	x.Found = len(x.Control.rules)
	if err := x.weigh(ctx, useful, l); err != nil {
		return nil, err
	}
	x.Kept = len(x.Control.rules)
	return &x.Learning, x.compare(ctx, l)
}

// compare tests whether the problems cost less with the rules.
func (x *learning) compare(ctx context.Context, l Limits) error {
	before, _, err := x.costs(ctx, &Control{}, l)
	if err != nil {
		return err
	}
	after, _, err := x.costs(ctx, x.Control, l)
	x.Speedup = stat.SpeedupOf(before, after)
	return err
}

// learning is a Learning in the making.
type learning struct {
	Learning
	*Domain
	theory       *logic.Program
	method       Method
	tasks        []*task
	known, tried map[string]bool
}

// total is what the search costs for all problems. One that is not solved costs all
// that it may.
func (x *learning) total(ctx context.Context, c *Control, l Limits) (work, nodes, solved int, err error) {
	costs, nodes, err := x.costs(ctx, c, l)
	for _, cost := range costs {
		work, solved = work+int(cost.Value), solved+btoi(!cost.GivenUp)
	}
	return work, nodes, solved, err
}

// costs is what the search costs for each problem.
func (x *learning) costs(ctx context.Context, c *Control, l Limits) (costs []stat.Cost, nodes int, err error) {
	for _, t := range x.tasks {
		s := newSearch(ctx, t, c, l)
		r := s.result()
		if s.err != nil {
			return nil, 0, s.err
		}
		costs, nodes = append(costs, stat.Cost{Value: float64(r.Work), GivenUp: !r.Solved}), nodes+r.Nodes
	}
	return costs, nodes, nil
}

// study solves a problem, and learns from what it noticed.
func (x *learning) study(ctx context.Context, t *task, l Limits) error {
	s := newSearch(ctx, t, x.Control, l)
	s.noticed = &noticed{}
	r := s.result()
	if s.err != nil {
		return s.err
	}
	n := s.noticed
	if x.method == Rules || x.method == All {
		for _, pair := range n.undone {
			if err := x.explain(ctx, before, t, t.facts[pair[0]], t.facts[pair[1]]); err != nil {
				return err
			}
		}
		for _, pair := range n.needless {
			if err := x.explain(ctx, reject, t, t.acts[pair[0]].name, t.facts[pair[1]]); err != nil {
				return err
			}
		}
	}
	if !r.Solved {
		return nil
	}
	for _, part := range n.impasses {
		acts := s.path[part.from : part.to+1]
		if x.method == Chunks || x.method == All {
			x.chunk(t, acts, part.goal, prefer)
		}
		if (x.method == Macros || x.method == All) && len(acts) > 1 && len(acts) <= mostOfMacro {
			x.chunk(t, acts, part.goal, macro)
		}
	}
	return nil
}

// mostOfMacro is how many acts a macro may have.
const mostOfMacro = 4

// mostRules is how many rules are learnt.
const mostRules = 500

// add takes in a rule that is new.
func (x *learning) add(c *logic.Clause) {
	x.Explained++
	if text := c.String(); !x.known[text] && len(x.Control.rules) < mostRules {
		x.known[text] = true
		x.Control = &Control{rules: append(slices.Clip(x.Control.rules), c)}
	}
}

// explain proves that a choice was good or bad, and regresses what was proved through
// the explanation: the rule (PROLOG-EBG). Of the situation the goals are known, and that
// what an act requires does not hold.
func (x *learning) explain(ctx context.Context, kind string, t *task, first, goal pattern) error {
	x.Chances++
	a, g := t.term(first), t.term(goal)
	atom := &logic.Compound{Functor: kind, Args: []logic.Term{a, g}}
	text := logic.Format(atom, nil)
	if x.tried[text] {
		return nil
	}
	x.tried[text] = true
	facts := logic.NewProgram(nil)
	for _, sub := range []logic.Term{a, g} {
		facts.Add(&logic.Clause{Head: &logic.Compound{Functor: subgoal, Args: []logic.Term{sub}}})
	}
	// That there is a fact that holds makes it a relation.
	facts.Add(&logic.Clause{Head: &logic.Compound{Functor: holds, Args: []logic.Term{logic.Nil}}})
	th := logic.NewTheory(x.theory, facts, nil)
	proof, err := th.Explain(ctx, atom, true, logic.Limits{Steps: 100_000})
	if err != nil || proof == nil {
		return ctx.Err() // an accident of this problem, not of the operators
	}
	target := &logic.Compound{Functor: kind, Args: []logic.Term{logic.Var(0), logic.Var(1)}}
	rule, _, ok := th.Preimage(target, proof)
	if !ok || checkControl(rule) != nil {
		return nil
	}
	x.add(rule)
	return nil
}

// chunk traces acts that reached a goal back to what they required of the situation, and
// makes a rule of it.
func (x *learning) chunk(t *task, acts []int32, goal int32, kind string) {
	x.Chances++
	w := &general{task: t}
	for _, a := range acts {
		w.then(a)
	}
	names, target, ok := w.names, logic.Term(nil), false
	last := &t.acts[acts[len(acts)-1]]
	for i, f := range last.add {
		if f == goal {
			target, ok = w.at(len(acts)-1, x.Operators[last.operator].Add[i]), true
		}
	}
	if !ok {
		return
	}
	head := []logic.Term{w.resolve(names[len(names)-1]), w.resolve(target)}
	if kind == macro {
		for i := range names {
			names[i] = w.resolve(names[i])
		}
		head[0] = logic.List(names, logic.Nil)
	}
	body := []logic.Literal{{Atom: &logic.Compound{Functor: subgoal, Args: []logic.Term{head[1]}}}}
	for _, p := range w.needs {
		l := logic.Literal{Atom: &logic.Compound{Functor: holds, Args: []logic.Term{w.resolve(p)}}}
		if !slices.ContainsFunc(body, func(have logic.Literal) bool { return logic.Compare(have.Atom, l.Atom) == 0 }) {
			body = append(body, l)
		}
	}
	rule := logic.NewClause(&logic.Compound{Functor: kind, Args: head}, body)
	if checkControl(rule) == nil {
		x.add(rule)
	}
}

// general is a sequence of acts made as general as its reasons allow: names become
// variables, which are the same only where one act provides what another requires.
type general struct {
	*task
	acts  []int32
	from  []int        // the first variable of each act
	names []logic.Term // of the acts
	needs []logic.Term // what the sequence requires
	by    map[logic.Var]logic.Term
	room  int
}

// at is a term of an act's operator, in the variables of the sequence.
func (w *general) at(i int, t logic.Term) logic.Term { return renamed(t, w.from[i]) }

// then appends an act.
func (w *general) then(a int32) {
	o := &w.domain.Operators[w.task.acts[a].operator]
	at := len(w.acts)
	w.acts, w.from = append(w.acts, a), append(w.from, w.room)
	w.room += len(o.names)
	w.names = append(w.names, w.at(at, o.Name))
	for i, f := range w.task.acts[a].pre {
		need := w.at(at, o.Pre[i])
		if by, ok := w.provider(at, f); !ok {
			w.needs = append(w.needs, need)
		} else {
			w.unify(need, by)
		}
	}
}

// provider returns the literal of the act that brought about a fact, as it is general.
func (w *general) provider(before int, f int32) (logic.Term, bool) {
	for i := before - 1; i >= 0; i-- {
		a := &w.task.acts[w.acts[i]]
		if k := slices.Index(a.add, f); k >= 0 {
			return w.at(i, w.domain.Operators[a.operator].Add[k]), true
		}
	}
	return nil, false
}

// unify makes the arguments of two literals the same.
func (w *general) unify(a, b logic.Term) {
	if w.by == nil {
		w.by = map[logic.Var]logic.Term{}
	}
	x, y := arguments(a), arguments(b)
	for i := range x {
		p, q := w.walk(x[i]), w.walk(y[i])
		if v, ok := p.(logic.Var); ok && p != q {
			w.by[v] = q
		} else if v, ok := q.(logic.Var); ok && p != q {
			w.by[v] = p
		}
	}
}

func (w *general) walk(t logic.Term) logic.Term {
	for {
		v, ok := t.(logic.Var)
		if !ok || w.by[v] == nil {
			return t
		}
		t = w.by[v]
	}
}

func (w *general) resolve(t logic.Term) logic.Term { return mapped(t, w.walk) }

// weigh measures what each rule is worth: what the search for all problems costs with
// and without it. Those that do not pay are dropped, the last first, if so asked.
func (x *learning) weigh(ctx context.Context, useful bool, l Limits) (err error) {
	if x.After, x.NodesAfter, x.Solved, err = x.total(ctx, x.Control, l); err != nil {
		return err
	}
	x.Saves = make([]int, len(x.Control.rules))
	for i := len(x.Control.rules) - 1; i >= 0; i-- {
		less := x.Control.without(i)
		work, nodes, solved, err := x.total(ctx, less, l)
		if err != nil {
			return err
		}
		if useful && work <= x.After && solved >= x.Solved {
			x.Control, x.After, x.NodesAfter, x.Solved = less, work, nodes, solved
			x.Saves = slices.Delete(x.Saves, i, i+1)
			continue
		}
		x.Saves[i] = work - x.After
	}
	return nil
}

// String says what learning came to.
func (x *Learning) String() string {
	text := fmt.Sprintf("plans for %d of %d problems, at a cost of %d tests", x.Solved, x.Problems, x.After)
	if x.Found == 0 {
		return text
	}
	text += fmt.Sprintf("; without rules for %d, at %d (%.3g times as many); %d chances to learn, %d of them explained by %d rules, of which %d are kept",
		x.SolvedBefore, x.Before, float64(x.Before)/float64(max(x.After, 1)), x.Chances, x.Explained, x.Found, x.Kept)
	if s := x.Speedup; s.Faster+s.Slower > 0 {
		text += fmt.Sprintf("; %d problems are solved faster, %d slower (sign test p = %.2g, signed ranks p = %.2g)", s.Faster, s.Slower, s.Sign, s.Ranks)
	}
	return text
}
