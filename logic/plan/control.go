package plan

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// The kinds of control rules, by the predicate in their heads.
const (
	before = "before" // before(G1,G2): of two goals, the first is worked on first
	reject = "reject" // reject(Op,G): an operator is not used for a goal
	prefer = "prefer" // prefer(Op,G): an operator is tried before others for a goal
	macro  = "macro"  // macro([Op,…],G): acts that reach a goal together
)

// The conditions of control rules.
const (
	subgoal = "subgoal" // a goal that does not hold yet
	holds   = "holds"   // a fact of the situation
)

// Control is rules about the choices of a search. It is immutable.
type Control struct {
	rules []*logic.Clause
	plain bool // matched one by one, however many
}

// Plain is the control with rules that are matched one by one, for comparison.
func (c *Control) Plain() *Control { return &Control{c.rules, true} }

// NewControl checks rules of control:
//
//	before(on(A,B),on(C,A)) :- subgoal(on(A,B)), subgoal(on(C,A)).
func NewControl(rules []*logic.Clause) (*Control, error) {
	for _, c := range rules {
		if err := checkControl(c); err != nil {
			return nil, fmt.Errorf("%v is no rule of control: %w", c, err)
		}
	}
	return &Control{rules: rules}, nil
}

func checkControl(c *logic.Clause) error {
	head, ok := c.Head.(*logic.Compound)
	if !ok || len(head.Args) != 2 || !slices.Contains([]string{before, reject, prefer, macro}, head.Functor) {
		return fmt.Errorf("expected before(Goal,Goal), reject(Act,Goal), prefer(Act,Goal) or macro([Act,…],Goal)")
	}
	parts := []logic.Term{head.Args[1]}
	if head.Functor == macro {
		acts, ok := Elements(head.Args[0])
		if !ok || len(acts) == 0 {
			return fmt.Errorf("expected a list of acts")
		}
		parts = append(parts, acts...)
	} else {
		parts = append(parts, head.Args[0])
	}
	for _, l := range c.Body {
		of, isCompound := l.Atom.(*logic.Compound)
		if !isCompound || len(of.Args) != 1 || of.Functor != subgoal && of.Functor != holds {
			return fmt.Errorf("expected subgoal(…) or holds(…), not %s", l.Format(c.Names))
		}
		parts = append(parts, of.Args[0])
	}
	for _, p := range parts {
		if !isFlat(p) {
			return fmt.Errorf("%s has terms inside terms, or is none", logic.Format(p, c.Names))
		}
	}
	return nil
}

// Rules returns the rules.
func (c *Control) Rules() []*logic.Clause { return slices.Clone(c.rules) }

// without is the control without one of its rules.
func (c *Control) without(i int) *Control {
	return &Control{rules: slices.Delete(slices.Clone(c.rules), i, i+1)}
}

// compiled is a rule in the numbers of a task.
type compiled struct {
	head       []pattern // what stands in the head, the goal last
	conditions []condition
	variables  int
	fired      int
}

// condition is a literal of a rule's body.
type condition struct {
	pattern
	negated bool
	goal    bool // a goal, not a fact of the situation
}

// guide is a control compiled for a task, by kind and by the predicate of the goal that
// a choice is about.
type guide struct {
	task   *task
	of     map[string]map[int32][]*compiled
	tests  int  // of conditions, the cost of matching
	net    *net // of many rules; nil if they are few
	netted map[netted]bool
}

// netted is rules of a kind about goals of a predicate, which are in the net.
type netted struct {
	kind string
	goal int32
}

// guides reports whether there are rules of a kind about goals of a predicate.
func (g *guide) guides(kind string, of int32) bool {
	return len(g.of[kind][of]) > 0 || g.netted[netted{kind, of}]
}

func (t *task) guide(c *Control) *guide {
	g := &guide{task: t, of: map[string]map[int32][]*compiled{before: {}, reject: {}, prefer: {}, macro: {}}}
	if c == nil {
		return g
	}
	if len(c.rules) >= manyRules && !c.plain {
		g.net, g.netted = newNet(t, &g.tests), map[netted]bool{}
	}
	for _, clause := range c.rules {
		head := clause.Head.(*logic.Compound)
		r := &compiled{variables: len(clause.Names)}
		if head.Functor == macro {
			acts, _ := Elements(head.Args[0])
			for _, a := range acts {
				r.head = append(r.head, t.pattern(a))
			}
		} else {
			r.head = append(r.head, t.pattern(head.Args[0]))
		}
		r.head = append(r.head, t.pattern(head.Args[1]))
		for _, l := range clause.Body {
			of := l.Atom.(*logic.Compound)
			r.conditions = append(r.conditions, condition{t.pattern(of.Args[0]), l.Negated, of.Functor == subgoal})
		}
		goal := r.head[len(r.head)-1].of
		if g.net != nil && head.Functor != macro && g.net.add(head.Functor, r) {
			g.netted[netted{head.Functor, goal}] = true
			continue
		}
		by := g.of[head.Functor]
		by[goal] = append(by[goal], r)
	}
	return g
}

// situation is what conditions are about.
type situation struct {
	state   state
	pending []int32 // goals
}

// matches calls found for each way in which a rule's conditions hold, until it returns
// false.
func (g *guide) matches(r *compiled, binding []int32, at situation, found func() bool) bool {
	return g.matchesFrom(r, 0, binding, at, found)
}

func (g *guide) matchesFrom(r *compiled, i int, binding []int32, at situation, found func() bool) bool {
	if i == len(r.conditions) {
		return found()
	}
	c := &r.conditions[i]
	candidates := at.pending
	if !c.goal {
		candidates = g.task.of[c.of]
	}
	there := false
	for _, f := range candidates {
		g.tests++
		fact := &g.task.facts[f]
		if fact.of != c.of || !c.goal && !at.state.has(f) {
			continue
		}
		var bound []int32
		if match(c.pattern, fact.args, binding, &bound) {
			if there = true; !c.negated && !g.matchesFrom(r, i+1, binding, at, found) {
				unbind(binding, bound)
				return false
			}
		}
		unbind(binding, bound)
		if there && (c.negated || len(bound) == 0) {
			break // what it says is known
		}
	}
	if c.negated && !there {
		return g.matchesFrom(r, i+1, binding, at, found)
	}
	return true
}

// says reports whether a rule of a kind holds of two things.
func (g *guide) says(kind string, first pattern, goal int32, at situation) bool {
	target := &g.task.facts[goal]
	if g.netted[netted{kind, target.of}] {
		if r := g.net.concludes(g, kind, first, *target, at); r != nil {
			r.fired++
			return true
		}
	}
	for _, r := range g.of[kind][target.of] {
		g.tests++
		if r.head[0].of != first.of {
			continue
		}
		binding := unbound(r.variables)
		var bound []int32
		if !match(r.head[0], first.args, binding, &bound) || !match(r.head[1], target.args, binding, &bound) {
			continue
		}
		if !g.matches(r, binding, at, func() bool { return false }) {
			r.fired++
			return true
		}
	}
	return false
}

func unbound(n int) []int32 {
	b := make([]int32, n)
	for v := range b {
		b[v] = -1
	}
	return b
}

// sequences returns the acts that macros propose for a goal.
func (g *guide) sequences(goal int32, at situation) [][]int32 {
	var all [][]int32
	target := &g.task.facts[goal]
	for _, r := range g.of[macro][target.of] {
		binding := unbound(r.variables)
		var bound []int32
		if !match(r.head[len(r.head)-1], target.args, binding, &bound) {
			continue
		}
		g.matches(r, binding, at, func() bool {
			var acts []int32
			for _, p := range r.head[:len(r.head)-1] {
				a, ok := g.task.named(instance(p, binding))
				if !ok {
					return true
				}
				acts = append(acts, a)
			}
			after, possible := g.task.after(at.state, acts)
			if possible && after.has(goal) {
				r.fired++
				all = append(all, acts)
			}
			return len(all) < mostProposed
		})
	}
	return all
}

// mostProposed is how many sequences macros propose for one goal.
const mostProposed = 64

// named finds an act.
func (t *task) named(p pattern) (int32, bool) {
	if t.byName == nil {
		t.byName = map[string]int32{}
		for a := range t.acts {
			t.byName[key(t.acts[a].name)] = int32(a)
		}
	}
	a, ok := t.byName[key(p)]
	return a, ok
}
