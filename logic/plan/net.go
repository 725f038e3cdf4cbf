package plan

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// net matches many rules against a situation that changes a little at a time (Forgy 1982).
// Conditions that are alike are tested once, for all rules that begin alike, and what
// matched stays until a fact that it stands on goes. A join is looked at from a side only
// while its other side has something (Doorenbos 1995), so that what a change costs does
// not grow with rules that it does not concern: a hundred thousand cost as much as a few.
type net struct {
	task   *task
	kinds  map[string]*alpha // of conditions, by what they ask for
	shapes map[int32][]shape // by predicate: which places hold constants
	root   *beta
	now    situationSet
	heads  map[string][]*token
	tests  *int
	key    []byte
}

// alpha is the facts that one kind of condition asks for.
type alpha struct {
	facts []int32
	joins []*join // those whose left side has tokens
}

// shape is the places of a predicate at which conditions have constants, as bits, and
// those that must be equal.
type shape struct {
	constants uint32
	equal     [][2]int8
}

// beta is the tokens that match the first conditions of rules.
type beta struct {
	depth    int
	tokens   []*token
	joins    []*join // those whose right side has facts
	byKey    map[string]*join
	rules    []*ending
	binds    []int8 // the places of the fact that bind new variables
	bindings int
}

// join extends tokens by facts.
type join struct {
	left    *beta
	right   *alpha
	same    [][2]int8 // a variable, and the place of the fact that has to have it
	to      *beta
	atLeft  int // where it stands in the lists of its sides; -1 if it does not
	atRight int
}

// ending is a rule whose conditions all matched.
type ending struct {
	rule *compiled
	kind string
	vars []int32 // of the rule, in the numbers of tokens
}

// token is facts that match the first conditions, and what their variables are.
type token struct {
	of       *beta
	at       int
	binding  []int32
	parent   *token
	children []*token
	fact     int32
	heads    []string
	endings  []*ending
	gone     bool
}

// situationSet is the facts that hold and the goals that are pending, and what stands
// on each.
type situationSet struct {
	facts  state
	goals  state
	tokens map[int32][]*token
}

// manyRules is from how many rules on a net is worth its making.
const manyRules = 200

func newNet(t *task, tests *int) *net {
	n := &net{task: t, kinds: map[string]*alpha{}, shapes: map[int32][]shape{}, heads: map[string][]*token{}, tests: tests}
	n.root = &beta{byKey: map[string]*join{}}
	n.root.tokens = []*token{{of: n.root, fact: -1}}
	n.now = situationSet{newState(len(t.facts)), newState(len(t.facts)), map[int32][]*token{}}
	return n
}

// predicate numbers what a condition is of: facts and goals are apart.
func (c *condition) predicate() int32 { return 2*c.of + int32(btoi(c.goal)) }

// fits reports whether a net can match a rule: conditions bind all variables of its head,
// and none that a negated condition before them leaves open.
func (r *compiled) fits() bool {
	var head, bound, open []int32
	for _, p := range r.head {
		for _, a := range p.args {
			if a < 0 {
				head = append(head, a)
			}
		}
	}
	for _, c := range r.conditions {
		for _, a := range c.args {
			switch {
			case a >= 0:
			case !c.negated && slices.Contains(open, a):
				return false
			case !c.negated:
				bound = append(bound, a)
			case !slices.Contains(bound, a) && !slices.Contains(head, a):
				open = append(open, a)
			}
		}
	}
	return !slices.ContainsFunc(head, func(a int32) bool { return !slices.Contains(bound, a) })
}

// add takes a rule in before anything holds; false if it does not fit.
func (n *net) add(kind string, r *compiled) bool {
	if !r.fits() {
		return false
	}
	var vars []int32 // of the rule, in the order in which conditions bind them
	at := n.root
	for i := range r.conditions {
		if !r.conditions[i].negated {
			at, vars = n.extend(at, &r.conditions[i], vars)
		}
	}
	at.rules = append(at.rules, &ending{r, kind, vars})
	return true
}

// extend finds or makes the tokens behind one more condition.
func (n *net) extend(from *beta, c *condition, vars []int32) (*beta, []int32) {
	var s shape
	var same [][2]int8
	var binds []int8
	fresh := map[int32]int8{}
	key := binary.AppendVarint(nil, int64(c.predicate()))
	for k, a := range c.args {
		v := slices.Index(vars, -1-a)
		first, again := fresh[-1-a]
		switch {
		case a >= 0:
			s.constants |= 1 << k
			key = binary.AppendVarint(append(key, 'c', byte(k)), int64(a))
		case v >= 0:
			same = append(same, [2]int8{int8(v), int8(k)})
		case again:
			s.equal = append(s.equal, [2]int8{first, int8(k)})
			key = append(key, 'e', byte(first), byte(k))
		default:
			fresh[-1-a] = int8(k)
			binds = append(binds, int8(k))
		}
	}
	for _, k := range binds {
		vars = append(slices.Clip(vars), -1-c.args[k])
	}
	right := n.kinds[string(key)]
	if right == nil {
		right = &alpha{}
		n.kinds[string(key)] = right
		if of := c.predicate(); !slices.ContainsFunc(n.shapes[of], func(o shape) bool { return o.constants == s.constants && slices.Equal(o.equal, s.equal) }) {
			n.shapes[of] = append(n.shapes[of], s)
		}
	}
	for _, t := range same {
		key = append(key, 's', byte(t[0]), byte(t[1]))
	}
	if j := from.byKey[string(key)]; j != nil {
		return j.to, vars
	}
	to := &beta{depth: from.depth + 1, byKey: map[string]*join{}, binds: binds, bindings: len(vars)}
	j := &join{left: from, right: right, same: same, to: to, atLeft: -1, atRight: -1}
	if len(from.tokens) > 0 {
		j.linkRight() // nothing is on the right side yet, so that only a fact wakes it
	} else {
		j.linkLeft()
	}
	from.byKey[string(key)] = j
	return to, vars
}

func (j *join) linkLeft() {
	if j.atLeft < 0 {
		j.atLeft = len(j.left.joins)
		j.left.joins = append(j.left.joins, j)
	}
}

func (j *join) unlinkLeft() {
	if j.atLeft >= 0 {
		last := len(j.left.joins) - 1
		j.left.joins[j.atLeft] = j.left.joins[last]
		j.left.joins[j.atLeft].atLeft = j.atLeft
		j.left.joins = j.left.joins[:last]
		j.atLeft = -1
	}
}

func (j *join) linkRight() {
	if j.atRight < 0 {
		j.atRight = len(j.right.joins)
		j.right.joins = append(j.right.joins, j)
	}
}

func (j *join) unlinkRight() {
	if j.atRight >= 0 {
		last := len(j.right.joins) - 1
		j.right.joins[j.atRight] = j.right.joins[last]
		j.right.joins[j.atRight].atRight = j.atRight
		j.right.joins = j.right.joins[:last]
		j.atRight = -1
	}
}

// moved makes the net match a situation: only what has changed is looked at.
func (n *net) moved(at situation) {
	for w := range at.state {
		for d := at.state[w] ^ n.now.facts[w]; d != 0; d &= d - 1 {
			n.change(int32(w<<6+bits.TrailingZeros64(d)), false, at.state[w]>>bits.TrailingZeros64(d)&1 == 1)
		}
	}
	goals := newState(len(n.task.facts))
	for _, g := range at.pending {
		goals.set(g, true)
	}
	for w := range goals {
		for d := goals[w] ^ n.now.goals[w]; d != 0; d &= d - 1 {
			n.change(int32(w<<6+bits.TrailingZeros64(d)), true, goals[w]>>bits.TrailingZeros64(d)&1 == 1)
		}
	}
}

// change adds or takes away a fact or a goal.
func (n *net) change(f int32, goal, there bool) {
	id := 2*f + int32(btoi(goal))
	if goal {
		n.now.goals.set(f, there)
	} else {
		n.now.facts.set(f, there)
	}
	fact := &n.task.facts[f]
	of := 2*fact.of + int32(btoi(goal))
	var kinds []*alpha
	for _, s := range n.shapes[of] {
		*n.tests++
		n.key = binary.AppendVarint(n.key[:0], int64(of))
		holds := true
		for _, e := range s.equal {
			holds = holds && fact.args[e[0]] == fact.args[e[1]]
		}
		equal := 0
		for k, a := range fact.args {
			if s.constants>>k&1 == 1 {
				n.key = binary.AppendVarint(append(n.key, 'c', byte(k)), int64(a))
			}
			for ; equal < len(s.equal) && s.equal[equal][1] == int8(k); equal++ {
				n.key = append(n.key, 'e', byte(s.equal[equal][0]), byte(k))
			}
		}
		if a := n.kinds[string(n.key)]; a != nil && holds {
			kinds = append(kinds, a)
		}
	}
	if there {
		for _, a := range kinds {
			n.arrive(a, id)
		}
		return
	}
	for _, t := range n.now.tokens[id] {
		n.drop(t)
	}
	delete(n.now.tokens, id)
	for _, a := range kinds {
		if at := slices.Index(a.facts, id); at >= 0 {
			a.facts = slices.Delete(a.facts, at, at+1)
		}
		if len(a.facts) == 0 {
			for _, j := range slices.Clone(a.joins) {
				j.unlinkLeft()
			}
		}
	}
}

// arrive adds a fact to a kind, and joins it with what waits for one: the longest first,
// so that nothing is joined twice.
func (n *net) arrive(a *alpha, id int32) {
	a.facts = append(a.facts, id)
	waiting := slices.Clone(a.joins)
	slices.SortStableFunc(waiting, func(x, y *join) int { return y.left.depth - x.left.depth })
	for _, j := range waiting {
		*n.tests++
		if len(a.facts) == 1 {
			j.linkLeft()
		}
		if len(j.left.tokens) == 0 {
			j.unlinkRight()
			continue
		}
		for _, t := range slices.Clone(j.left.tokens) {
			n.meet(j, t, id)
		}
	}
}

// meet extends a token by a fact, if it fits.
func (n *net) meet(j *join, t *token, id int32) {
	*n.tests++
	if t.gone {
		return
	}
	fact := &n.task.facts[id>>1]
	for _, s := range j.same {
		if t.binding[s[0]] != fact.args[s[1]] {
			return
		}
	}
	next := &token{of: j.to, at: len(j.to.tokens), parent: t, fact: id, binding: make([]int32, 0, j.to.bindings)}
	next.binding = append(next.binding, t.binding...)
	for _, k := range j.to.binds {
		next.binding = append(next.binding, fact.args[k])
	}
	t.children = append(t.children, next)
	n.now.tokens[id] = append(n.now.tokens[id], next)
	j.to.tokens = append(j.to.tokens, next)
	for _, e := range j.to.rules {
		n.end(next, e)
	}
	for _, k := range slices.Clone(j.to.joins) {
		*n.tests++
		if len(j.to.tokens) == 1 {
			k.linkRight()
		}
		if len(k.right.facts) == 0 {
			k.unlinkLeft()
			continue
		}
		for _, id := range slices.Clone(k.right.facts) {
			n.meet(k, next, id)
		}
	}
}

// end notes what a rule concludes.
func (n *net) end(t *token, e *ending) {
	binding := unbound(e.rule.variables)
	for i, v := range e.vars {
		binding[v] = t.binding[i]
	}
	text := e.kind
	for _, p := range e.rule.head {
		text += key(instance(p, binding))
	}
	t.heads, t.endings = append(t.heads, text), append(t.endings, e)
	n.heads[text] = append(n.heads[text], t)
}

// drop takes a token away, and what stands on it.
func (n *net) drop(t *token) {
	if t.gone {
		return
	}
	t.gone = true
	*n.tests++
	for _, c := range t.children {
		n.drop(c)
	}
	b := t.of
	last := len(b.tokens) - 1
	b.tokens[t.at] = b.tokens[last]
	b.tokens[t.at].at = t.at
	b.tokens = b.tokens[:last]
	if len(b.tokens) == 0 {
		for _, j := range slices.Clone(b.joins) {
			j.unlinkRight()
		}
	}
	if t.parent != nil && !t.parent.gone {
		t.parent.children = slices.DeleteFunc(t.parent.children, func(c *token) bool { return c == t })
	}
	if kept := n.now.tokens[t.fact]; len(kept) > 0 {
		n.now.tokens[t.fact] = slices.DeleteFunc(slices.Clone(kept), func(c *token) bool { return c == t })
	}
	for _, text := range t.heads {
		if rest := slices.DeleteFunc(n.heads[text], func(c *token) bool { return c == t }); len(rest) > 0 {
			n.heads[text] = rest
		} else {
			delete(n.heads, text)
		}
	}
}

// concludes reports whether a rule of a kind holds of two things; what it denies is looked
// at only now.
func (n *net) concludes(g *guide, kind string, first, goal pattern, at situation) *compiled {
	n.moved(at)
	text := kind + key(first) + key(goal)
	for _, t := range n.heads[text] {
		for i, e := range t.endings {
			if t.heads[i] != text {
				continue
			}
			*n.tests++
			binding := unbound(e.rule.variables)
			for k, v := range e.vars {
				binding[v] = t.binding[k]
			}
			denied := &compiled{variables: e.rule.variables}
			for _, c := range e.rule.conditions {
				if c.negated {
					denied.conditions = append(denied.conditions, c)
				}
			}
			if !g.matches(denied, binding, at, func() bool { return false }) {
				return e.rule
			}
		}
	}
	return nil
}
