package tree

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// list is a tree after rule post-pruning (Quinlan 1993; Mitchell 1997,
// §3.7.1.2): rules of which the first that matches answers.
type list struct {
	rules     []listRule
	otherwise []float64 // class weights of the rows that no rule covers
	root      []float64 // class weights of all rows
	answer    []float64 // class probabilities: of each rule, then of otherwise
}

// listRule is a rule with the class weights of the rows that it covers.
type listRule struct {
	conditions []condition
	stat       []float64
	estimate   float64 // of its accuracy
	class      int32   // that its leaf had
}

// condition is one test of a path.
type condition struct {
	col       int32
	above     bool    // numeric: cell > threshold, else cell ≤ threshold
	threshold float64 // numeric
	plane     *plane  // numeric: what is compared with the threshold instead of a cell
	in        []bool  // nominal: the values that satisfy it; nil for a numeric column
	absent    bool    // the cell is missing, or above: known
}

// holds reports whether a row satisfies the condition. A missing or unknown
// cell does not, unless that is what it asks.
func (c *condition) holds(columns []table.Column, row int) bool {
	if c.absent {
		return isMissing(columns[c.col], row) != c.above
	}
	if c.in != nil {
		code := columns[c.col].Codes[row]
		return uint32(code) < uint32(len(c.in)) && c.in[code]
	}
	if c.plane != nil {
		for _, t := range c.plane.terms {
			if table.IsMissing(columns[t.col].Floats[row]) {
				return false
			}
		}
		if c.above {
			return c.plane.sum(columns, row) > c.threshold
		}
		return c.plane.sum(columns, row) <= c.threshold
	}
	if c.above {
		return columns[c.col].Floats[row] > c.threshold
	}
	return columns[c.col].Floats[row] <= c.threshold
}

func (c *condition) equal(d *condition) bool {
	return c.col == d.col && c.absent == d.absent && c.above == d.above && c.threshold == d.threshold && c.plane.equal(d.plane) && slices.Equal(c.in, d.in)
}

// columns returns those that the condition is about.
func (c *condition) columns() []int32 {
	if c.plane == nil {
		return []int32{c.col}
	}
	var all []int32
	for _, t := range c.plane.terms {
		all = append(all, t.col)
	}
	return all
}

// condition returns what a row satisfies that takes a branch of a node.
func (nd *node) condition(b int) condition {
	c := condition{col: nd.col, absent: nd.absent}
	if nd.absent {
		c.above = b == 1
		return c
	}
	if nd.numeric {
		c.above, c.threshold, c.plane = b == 1, nd.threshold, nd.plane
		return c
	}
	c.in = make([]bool, len(nd.branch))
	for v, to := range nd.branch {
		c.in[v] = to == int32(b)
	}
	return c
}

// postPruner turns the paths of a tree into rules.
type postPruner struct {
	settings
	ctx     context.Context
	table   *table.Table
	classes []bitmap  // rows of each class
	weights []float64 // of rows that estimate accuracies; nil: each counts once
	all     []float64 // of rows that rules answer from
	upper   func(e, n float64) float64
	root    *node
	rules   []listRule
}

// bitmap is a set of rows.
type bitmap []uint64

// postPrune makes a list of rules of a tree. Accuracies are estimated on the
// rows with weights, answers rest on all.
func postPrune(ctx context.Context, root *node, x *examples, weights, all []float64, s *settings) (*list, error) {
	t, err := x.view.Table(ctx)
	if err != nil {
		return nil, err
	}
	p := &postPruner{settings: *s, ctx: ctx, table: t, root: root, weights: weights, all: all, upper: upperErrors(s.CF)}
	p.classes = make([]bitmap, x.classes)
	words := (x.rows + 63) / 64
	everything := make(bitmap, words)
	for c := range p.classes {
		p.classes[c] = make(bitmap, words)
	}
	for r := range x.rows {
		everything[r/64] |= 1 << (r % 64)
		p.classes[x.class(int32(r))][r/64] |= 1 << (r % 64)
	}
	p.paths(root, nil, nil, everything)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.list(everything), nil
}

// paths prunes the rule of every leaf below a node. The rows that satisfy each
// condition on the path to it are computed once for all its leaves.
func (p *postPruner) paths(nd *node, path []condition, sets []bitmap, everything bitmap) {
	if p.ctx.Err() != nil {
		return
	}
	if nd.isLeaf() {
		if nd.n > 0 {
			p.prune(nd, path, sets, everything)
		}
		return
	}
	for b, kid := range nd.kids {
		c := nd.condition(b)
		set := make(bitmap, len(everything))
		for r := range p.table.Rows() {
			if c.holds(p.table.Columns, r) {
				set[r/64] |= 1 << (r % 64)
			}
		}
		p.paths(kid, append(path, c), append(sets, set), everything)
	}
}

// prune drops the conditions of a rule one by one: always the one without
// which the rule's estimated accuracy is highest, as long as it does not fall.
func (p *postPruner) prune(nd *node, path []condition, sets []bitmap, everything bitmap) {
	kept := slices.Clone(path)
	sets = slices.Clone(sets)
	estimate, _ := p.estimate(intersect(everything, sets), nd.label)
	for len(kept) > 0 {
		best, highest, widest := -1, 0.0, 0.0
		without(everything, sets, func(i int, rows bitmap) {
			e, covered := p.estimate(rows, nd.label)
			if best < 0 || e > highest+tie || e > highest-tie && covered > widest {
				best, highest, widest = i, e, covered
			}
		})
		if highest < estimate-tie {
			break
		}
		estimate = highest
		kept = slices.Delete(kept, best, best+1)
		sets = slices.Delete(sets, best, best+1)
	}
	p.rules = append(p.rules, listRule{
		conditions: kept,
		stat:       p.count(intersect(everything, sets), p.all),
		estimate:   estimate,
		class:      nd.label,
	})
}

// intersect returns the rows in all sets.
func intersect(everything bitmap, sets []bitmap) bitmap {
	rows := slices.Clone(everything)
	for _, set := range sets {
		rows.and(set)
	}
	return rows
}

func (rows bitmap) and(set bitmap) {
	for w := range rows {
		rows[w] &= set[w]
	}
}

// without calls visit for each set with the rows that are in all the others.
func without(everything bitmap, sets []bitmap, visit func(i int, rows bitmap)) {
	after := make([]bitmap, len(sets)+1) // rows in all sets from here on
	after[len(sets)] = everything
	for i := len(sets) - 1; i > 0; i-- {
		after[i] = slices.Clone(after[i+1])
		after[i].and(sets[i])
	}
	before := slices.Clone(everything)
	rows := make(bitmap, len(everything))
	for i := range sets {
		copy(rows, before)
		rows.and(after[i+1])
		visit(i, rows)
		before.and(sets[i])
	}
}

// estimate returns the accuracy that a rule is expected to have, from the rows
// that it covers, and their weight.
func (p *postPruner) estimate(rows bitmap, class int32) (accuracy, covered float64) {
	covered = weigh(rows, nil, p.weights)
	if covered <= 0 {
		return 0, 0
	}
	correct := weigh(rows, p.classes[class], p.weights)
	switch p.Estimate {
	case "normal":
		return NormalBound(correct/covered, covered, p.Z), covered
	case "m":
		prior := p.root.of(int32(class)) / p.root.n
		return (correct + p.M*prior) / (covered + p.M), covered
	case "validation":
		return correct / covered, covered
	}
	return 1 - p.upper(covered-correct, covered), covered
}

// weigh returns the weight of the rows in a set, and in another if given.
func weigh(rows, also bitmap, weights []float64) float64 {
	if weights == nil {
		n := 0
		for w, word := range rows {
			if also != nil {
				word &= also[w]
			}
			n += bits.OnesCount64(word)
		}
		return float64(n)
	}
	sum := 0.0
	for w, word := range rows {
		if also != nil {
			word &= also[w]
		}
		for ; word != 0; word &= word - 1 {
			sum += weights[64*w+bits.TrailingZeros64(word)]
		}
	}
	return sum
}

func (p *postPruner) count(rows bitmap, weights []float64) []float64 {
	stat := make([]float64, len(p.classes))
	for c := range stat {
		stat[c] = weigh(rows, p.classes[c], weights)
	}
	return stat
}

// list sorts the rules by estimated accuracy, drops repetitions and what
// follows a rule without conditions, and counts the rows that are left over.
func (p *postPruner) list(everything bitmap) *list {
	slices.SortStableFunc(p.rules, func(a, b listRule) int {
		return cmp.Or(-cmp.Compare(a.estimate, b.estimate), -cmp.Compare(sum(a.stat), sum(b.stat)))
	})
	l := &list{root: p.count(everything, p.all)}
	rest := slices.Clone(everything)
	for _, r := range p.rules {
		if len(r.conditions) == 0 {
			break
		}
		repeats := slices.ContainsFunc(l.rules, func(have listRule) bool {
			return have.class == r.class && slices.EqualFunc(have.conditions, r.conditions, func(a, b condition) bool { return a.equal(&b) })
		})
		if repeats {
			continue
		}
		l.rules = append(l.rules, r)
		for row := range p.table.Rows() {
			if rest[row/64]>>(row%64)&1 == 1 && r.covers(p.table.Columns, row) {
				rest[row/64] &^= 1 << (row % 64)
			}
		}
	}
	l.otherwise = p.count(rest, p.all)
	l.derive(p.M)
	return l
}

func (r *listRule) covers(columns []table.Column, row int) bool {
	for i := range r.conditions {
		if !r.conditions[i].holds(columns, row) {
			return false
		}
	}
	return true
}

// derive computes the class probabilities, m-estimates with the distribution
// of all rows as prior.
func (l *list) derive(m float64) {
	C := len(l.root)
	prior := make([]float64, C)
	n := sum(l.root)
	for c := range prior {
		prior[c] = (l.root[c] + 1) / (n + float64(C))
	}
	l.answer = l.answer[:0]
	add := func(stat []float64) {
		n := sum(stat)
		for c := range stat {
			p := prior[c]
			if n+m > 0 {
				p = (stat[c] + m*prior[c]) / (n + m)
			}
			l.answer = append(l.answer, p)
		}
	}
	for i := range l.rules {
		add(l.rules[i].stat)
	}
	if sum(l.otherwise) > 0 || m > 0 {
		add(l.otherwise)
	} else {
		add(l.root)
	}
}

// match returns the rule that answers for a row; len(l.rules) for none.
func (l *list) match(columns []table.Column, row int) int {
	for i := range l.rules {
		if l.rules[i].covers(columns, row) {
			return i
		}
	}
	return len(l.rules)
}

// probabilities returns the answer of a rule.
func (l *list) probabilities(rule int) []float64 {
	C := len(l.root)
	return l.answer[rule*C : (rule+1)*C]
}

// conditions counts the tests of all rules.
func (l *list) conditions() int {
	n := 0
	for i := range l.rules {
		n += len(l.rules[i].conditions)
	}
	return n
}
