package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// Limits bound a search. Zero values are the defaults.
type Limits struct {
	Work int // tests in all; default 2 million
	Acts int // of a plan; default 60
}

func (l Limits) orDefault() Limits {
	if l.Work == 0 {
		l.Work = 2_000_000
	}
	if l.Acts == 0 {
		l.Acts = 60
	}
	return l
}

// Result is what a search came to.
type Result struct {
	Solved bool
	Plan   []logic.Term
	Nodes  int // choices of a goal
	Work   int // tests of conditions, of acts and of rules: what it cost
}

// Solve looks for acts that lead from a problem's situation to its goals. Where there
// are none within the limits, it is not solved.
func (d *Domain) Solve(ctx context.Context, p *Problem, c *Control, l Limits) (*Result, error) {
	t, err := d.ground(p)
	if err != nil {
		return nil, err
	}
	s := newSearch(ctx, t, c, l)
	return s.result(), s.err
}

// search is by means and ends, depth first, with plans that may be ever longer.
type search struct {
	*task
	ctx    context.Context
	guide  *guide
	limits Limits
	longest,
	nodes, work int
	err error

	state   state
	path    []int32 // acts so far
	visited map[uint64]bool
	noticed *noticed // what there is to be learnt from; nil if nothing is
	solved  bool
}

// aim is the goals that an act is to reach, with those that they are for.
type aim struct {
	goal  int32
	goals []int32 // among which it was picked
	of    *aim
	depth int // acts that are yet to come for it
}

func (a *aim) acts() int {
	if a == nil {
		return 0
	}
	return a.depth
}

func newSearch(ctx context.Context, t *task, c *Control, l Limits) *search {
	s := &search{task: t, ctx: ctx, guide: t.guide(c), limits: l.orDefault()}
	return s
}

// result runs the search, for plans of so many acts, then for longer ones.
func (s *search) result() *Result {
	left := 0
	for _, g := range s.goal {
		left += btoi(!s.init.has(g))
	}
	for s.longest = max(2*left, 2); ; s.longest += 1 + s.longest/2 {
		s.longest = min(s.longest, s.limits.Acts)
		s.state, s.path, s.visited = slices.Clone(s.init), s.path[:0], map[uint64]bool{}
		s.visited[s.state.hash()] = true
		if s.achieve(s.goal, nil, func() bool { return true }) {
			s.solved = true
			break
		}
		if s.err == nil {
			s.err = s.ctx.Err()
		}
		if s.over() || s.longest == s.limits.Acts {
			break
		}
	}
	r := &Result{Solved: s.solved, Nodes: s.nodes, Work: s.work + s.guide.tests}
	if s.solved {
		for _, a := range s.path {
			r.Plan = append(r.Plan, s.term(s.acts[a].name))
		}
	}
	return r
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// over reports whether the search has to stop.
func (s *search) over() bool {
	if s.err == nil && s.nodes&255 == 0 {
		s.err = s.ctx.Err()
	}
	return s.err != nil || s.work+s.guide.tests > s.limits.Work
}

// achieve makes goals hold together, then goes on.
func (s *search) achieve(goals []int32, of *aim, goOn func() bool) bool {
	var pending []int32
	for _, g := range goals {
		s.work++
		if !s.state.has(g) {
			pending = append(pending, g)
		}
	}
	if len(pending) == 0 {
		return goOn()
	}
	if s.nodes++; s.over() || len(s.path)+of.acts() >= s.longest {
		return false
	}
	at := situation{s.state, pending}
	for _, g := range s.ordered(pending, at) {
		if s.reach(g, goals, at, of, goOn) {
			return true
		}
		if s.over() {
			return false
		}
	}
	return false
}

// ordered leaves out goals that have to wait for others, as rules say, unless all do.
func (s *search) ordered(pending []int32, at situation) []int32 {
	if len(pending) < 2 || len(s.guide.of[before]) == 0 && s.guide.net == nil {
		return pending
	}
	var first, later []int32
	for _, g := range pending {
		waits := slices.ContainsFunc(pending, func(h int32) bool { return h != g && s.guide.says(before, s.facts[h], g, at) })
		if waits {
			later = append(later, g)
		} else {
			first = append(first, g)
		}
	}
	if len(first) == 0 {
		return later
	}
	return first
}

// reach tries the acts that add a goal.
func (s *search) reach(g int32, goals []int32, at situation, of *aim, goOn func() bool) bool {
	mine := &aim{g, goals, of, of.acts() + 1}
	for _, acts := range s.guide.sequences(g, at) {
		if s.applied(acts, mine, goOn) {
			return true
		}
		if s.over() {
			return false
		}
	}
	candidates := s.choices(g, at)
	for _, a := range candidates {
		s.work++
		if s.circular(a, mine) {
			continue
		}
		from, to := len(s.path), 0
		ready := func() bool {
			to = len(s.path)
			return s.applied([]int32{a}, mine, goOn)
		}
		if s.achieve(s.acts[a].pre, mine, ready) {
			if s.noticed != nil && len(candidates) > 1 {
				s.noticed.impasses = append(s.noticed.impasses, segment{g, from, to})
			}
			return true
		}
		if s.over() {
			return false
		}
	}
	return false
}

// choices are the acts that add a goal, without those that rules reject, and only those
// that they prefer if there are any.
func (s *search) choices(g int32, at situation) []int32 {
	acts := s.adds[g]
	of := s.facts[g].of
	if s.guide.guides(reject, of) {
		acts = slices.DeleteFunc(slices.Clone(acts), func(a int32) bool { return s.guide.says(reject, s.acts[a].name, g, at) })
	}
	if s.noticed != nil {
		s.noticed.useless(s, g, acts)
	}
	acts = s.readiest(acts)
	if !s.guide.guides(prefer, of) || len(acts) < 2 {
		return acts
	}
	preferred := slices.DeleteFunc(slices.Clone(acts), func(a int32) bool { return !s.guide.says(prefer, s.acts[a].name, g, at) })
	if len(preferred) == 0 {
		return acts
	}
	return preferred
}

// readiest puts acts in the order of how much of what they require is missing.
func (s *search) readiest(acts []int32) []int32 {
	type missing struct{ act, n int32 }
	order := make([]missing, len(acts))
	for i, a := range acts {
		order[i].act = a
		for _, f := range s.acts[a].pre {
			if s.work++; !s.state.has(f) {
				order[i].n++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y missing) int { return int(x.n - y.n) })
	sorted := make([]int32, len(acts))
	for i := range order {
		sorted[i] = order[i].act
	}
	return sorted
}

// circular reports whether an act needs what it is for.
func (s *search) circular(a int32, of *aim) bool {
	for _, f := range s.acts[a].pre {
		if s.state.has(f) {
			continue
		}
		for at := of; at != nil; at = at.of {
			if s.work++; at.goal == f {
				return true
			}
		}
	}
	return false
}

// applied takes acts that are possible now, and goes on to the goals that they are for.
func (s *search) applied(acts []int32, mine *aim, goOn func() bool) bool {
	if len(s.path)+len(acts)+mine.of.acts() > s.longest {
		return false
	}
	old, length := s.state, len(s.path)
	next, ok := s.after(old, acts)
	if !ok || s.visited[next.hash()] {
		return false
	}
	if s.noticed != nil {
		for at := mine; at != nil; at = at.of {
			for _, h := range at.goals {
				if old.has(h) && !next.has(h) && len(s.noticed.undone) < mostNoticed {
					s.noticed.undone = append(s.noticed.undone, [2]int32{at.goal, h})
				}
			}
		}
	}
	h := next.hash()
	s.state, s.path = next, append(s.path, acts...)
	s.visited[h] = true
	if s.achieve(mine.goals, mine.of, goOn) {
		return true
	}
	s.state, s.path = old, s.path[:length]
	delete(s.visited, h)
	return false
}

// Check refuses acts that are not possible one after another, or do not reach the goals.
func (d *Domain) Check(p *Problem, plan []logic.Term) error {
	t, err := d.ground(p)
	if err != nil {
		return err
	}
	s := t.init
	for i, step := range plan {
		a, ok := t.named(t.pattern(step))
		if ok {
			s, ok = t.after(s, []int32{a})
		}
		if !ok {
			return fmt.Errorf("act %d, %s, is not possible", i+1, logic.Format(step, nil))
		}
	}
	for _, g := range t.goal {
		if !s.has(g) {
			return fmt.Errorf("%s does not hold in the end", logic.Format(t.term(t.facts[g]), nil))
		}
	}
	return nil
}
