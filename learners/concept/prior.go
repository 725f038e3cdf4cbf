package concept

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Prior knowledge is a version space of its own (Hirsh 1990): a rule that is
// certain says of a whole region of rows that they are the concept's, or that
// none is. The hypotheses that agree are merged with those that agree with the
// rows, exactly: the first kind of rule raises S to hold for the region, the
// second lowers G until it does not meet it.

// region is the rows of a rule's condition.
type region struct {
	term
	positive bool
	of       int // the rule
}

// mostRegions is how many regions a rule may be cut into.
const mostRegions = 64

// Believe returns the space of the hypotheses that also agree with rules which
// are certain, in place of those believed before. Rules that the language
// cannot say, and all rules in spaces other than boxes and lists, are left.
func (m *Model) Believe(rules []rule.Rule) (learn.Model, []bool) {
	taken := make([]bool, len(rules))
	if len(rules) == 0 && len(m.beliefs) == 0 {
		return m, taken
	}
	next := *m
	next.beliefs, next.regions = nil, nil
	for i := range rules {
		regions, ok := m.regionsOf(&rules[i], len(next.beliefs))
		if !ok {
			continue
		}
		taken[i] = true
		next.beliefs = append(next.beliefs, rules[i].String())
		next.regions = append(next.regions, regions...)
	}
	if err := next.eliminate(context.Background()); err != nil {
		return m, make([]bool, len(rules))
	}
	base, err := next.Rules()
	if err != nil {
		return m, make([]bool, len(rules))
	}
	next.rules = len(base.Rules) + 1
	return &next, taken
}

// regionsOf cuts a rule's condition into terms of the language.
func (m *Model) regionsOf(r *rule.Rule, place int) ([]region, bool) {
	a := &m.schema.Attributes[m.target]
	class := slices.Index(a.Values, r.Then.Value)
	if class < 0 || r.Then.Column != a.Name || !m.takesRegions() {
		return nil, false
	}
	regions := []region{{m.language.top(), int32(class) == m.concept, place}}
	for i, col := range m.columns {
		var tests []rule.Test
		for _, t := range r.If {
			if t.Column == m.schema.Attributes[col].Name {
				tests = append(tests, t)
			}
		}
		if len(tests) == 0 {
			continue
		}
		parts, ok := m.constraintsOf(i, tests)
		if !ok || len(parts)*len(regions) > mostRegions {
			return nil, false
		}
		var next []region
		for _, part := range parts {
			for _, g := range regions {
				g.term = slices.Clone(g.term)
				g.term[i] = part
				next = append(next, g)
			}
		}
		regions = next
	}
	for _, t := range r.If { // every test was of a column of the language
		if t.Column == "" || t.Column == a.Name {
			return nil, false
		}
	}
	return regions, len(regions) > 0
}

// takesRegions reports whether the space can be merged with that of a rule.
func (m *Model) takesRegions() bool {
	s := &m.settings
	switch {
	case s.Noise > 0 || s.Slack > 0 || s.Algorithm != "candidate" && s.Algorithm != "list":
		return false
	}
	return s.Space != "discs" && s.Space != "kcnf" && s.Space != "kdnf"
}

// constraintsOf returns constraints of a column which together hold where all
// of some tests do.
func (m *Model) constraintsOf(i int, tests []rule.Test) ([]constraint, bool) {
	c, a := &m.language.columns[i], &m.schema.Attributes[m.columns[i]]
	if c.numeric {
		k := constraint{low: math.Inf(-1), high: math.Inf(1)}
		for _, t := range tests {
			part := constraint{low: math.Inf(-1), high: math.Inf(1)}
			switch t.Op {
			case rule.Lt, rule.Le:
				part.high, part.highOpen = t.Number, t.Op == rule.Lt
			case rule.Gt, rule.Ge:
				part.low, part.lowOpen = t.Number, t.Op == rule.Gt
			case rule.Between:
				part.low, part.high, part.lowOpen, part.highOpen = t.Low, t.High, !t.LowClosed, t.HighOpen
			case rule.IsKnown:
			default:
				return nil, false
			}
			var ok bool
			if k, ok = c.meet(k, part); !ok {
				return nil, false
			}
		}
		return []constraint{k}, true
	}
	allowed := make([]bool, c.values)
	for v := range allowed {
		allowed[v] = true
	}
	for _, t := range tests {
		for v, name := range a.Values[:c.values] {
			switch t.Op {
			case rule.Eq:
				allowed[v] = allowed[v] && name == t.Value
			case rule.Ne:
				allowed[v] = allowed[v] && name != t.Value
			case rule.In:
				allowed[v] = allowed[v] && slices.Contains(t.Values, name)
			case rule.NotIn:
				allowed[v] = allowed[v] && !slices.Contains(t.Values, name)
			default:
				return nil, false
			}
		}
		if !m.speaks(a, t) {
			return nil, false
		}
	}
	return c.cover(allowed), true
}

// speaks reports whether every value that a test names is known.
func (m *Model) speaks(a *table.Attribute, t rule.Test) bool {
	for _, v := range append(slices.Clone(t.Values), t.Value) {
		if v != "" && !slices.Contains(a.Values, v) {
			return false
		}
	}
	return true
}

// cover returns the highest nodes of a tree below which all values are allowed.
func (c *column) cover(allowed []bool) []constraint {
	whole := func(node int32) bool {
		under := c.valuesUnder(node)
		return len(under) > 0 && !slices.ContainsFunc(under, func(v int) bool { return !allowed[v] })
	}
	var all []constraint
	for n := range c.parent {
		node := int32(n)
		if node != c.root && whole(node) && (c.parent[node] == c.root || !whole(c.parent[node])) {
			all = append(all, constraint{node: node})
		}
	}
	return all
}

// meets reports whether some row satisfies both.
func (l *language) meets(a, b term) bool { return a != nil && b != nil && l.meetOf(a, b) != nil }

// apart returns the most general constraints below k that no cell satisfies
// together with another one.
func (c *column) apart(k, from constraint) []constraint {
	if c.isTop(from) {
		return nil
	}
	if !c.numeric {
		path := []int32{from.node}
		for path[len(path)-1] != k.node {
			above := c.parent[path[len(path)-1]]
			if above < 0 {
				return nil // k lies within it
			}
			path = append(path, above)
		}
		var all []constraint
		for i := len(path) - 1; i > 0; i-- {
			all = append(all, c.children(path[i], path[i-1])...)
		}
		return all
	}
	below, above := k, k
	below.any, above.any = false, false
	below.high, below.highOpen = from.low, !from.lowOpen
	above.low, above.lowOpen = from.high, !from.highOpen
	if c.whole && !math.IsInf(from.low, 0) {
		if below.high = math.Ceil(from.low) - 1; from.lowOpen {
			below.high = math.Floor(from.low)
		}
		below.highOpen = false
	}
	if c.whole && !math.IsInf(from.high, 0) {
		if above.low = math.Floor(from.high) + 1; from.highOpen {
			above.low = math.Ceil(from.high)
		}
		above.lowOpen = false
	}
	var all []constraint
	if !math.IsInf(from.low, -1) && c.some(below) {
		all = append(all, below)
	}
	if !math.IsInf(from.high, 1) && c.some(above) {
		all = append(all, above)
	}
	return all
}

// some reports whether a number can satisfy an interval.
func (c *column) some(k constraint) bool {
	return k.low < k.high || k.low == k.high && !k.lowOpen && !k.highOpen
}

// merge takes the hypotheses away that do not agree with a region.
func (b *boundaries) merge(r region) {
	if b.collapsed() {
		return
	}
	l := b.language
	if r.positive {
		b.s = l.joinOf(b.s, r.term)
		if !b.without {
			b.g = slices.DeleteFunc(b.g, func(g term) bool { return !l.moreGeneral(g, b.s) })
			b.open = len(b.g) > 0
		}
		return
	}
	if l.meets(b.s, r.term) {
		b.open = false
		return
	}
	if b.without {
		return
	}
	var kept, made []term
	for _, g := range b.g {
		if !l.meets(g, r.term) {
			kept = append(kept, g)
			continue
		}
		for i := range g {
			for _, k := range l.columns[i].apart(g[i], r.term[i]) {
				h := slices.Clone(g)
				if h[i] = k; l.moreGeneral(h, b.s) {
					made = append(made, h)
				}
			}
		}
	}
	if b.g = maximal(l, kept, made); b.most > 0 && len(b.g) > b.most {
		b.g, b.without = nil, true
	}
}

// merge leaves the members of a list that agree with a region.
func (v *listed) merge(r region) {
	extent := v.extentOf(r.term)
	none := make([]uint64, len(extent))
	both := make([]uint64, len(extent))
	for i := range v.members {
		agrees := within(extent, v.extent[i])
		if !r.positive {
			for w := range both {
				both[w] = extent[w] & v.extent[i][w]
			}
			agrees = slices.Equal(both, none)
		}
		if !agrees {
			v.errors[i] = math.Inf(1)
		}
	}
}
