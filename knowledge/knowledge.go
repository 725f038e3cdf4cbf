// Package knowledge compares what models know: what changed from one to
// another, where two disagree, which source stands behind a rule, and whether
// a model is what learning from its sources at once would give; and which rows
// would teach a model most if somebody told it the answers (Questions).
//
// Everything works on models, rule bases and tables alone. What a model can
// tell depends on its abilities: rules where it can be read as rules, sources
// where it keeps them apart.
package knowledge

import (
	"cmp"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Of returns what a model knows as rules: what it learnt, and what experts
// told it, with what the rows say of it. Each is nil if there is none.
func Of(m learn.Model) (learnt, told *rule.Base, err error) {
	if t, ok := m.(*expert.Told); ok {
		told = &rule.Base{}
		for _, s := range t.Standings() {
			told.Rules = append(told.Rules, s.Rule)
		}
		m = t.Unwrap()
	}
	if r, ok := m.(learn.Ruler); ok {
		learnt, err = r.Rules()
	}
	return learnt, told, err
}

// Conflict is two rules that answer differently for rows that satisfy both.
type Conflict struct {
	A, B   rule.Rule
	Region []rule.Test // the rows
	Weight float64     // of the rows that the rule with less behind it covers
	// Rows are the weights of the classes among the rows learnt from that
	// lie in the region, and that decide; nil if they were not counted.
	Rows map[string]float64
}

// Decide counts, for each conflict, the rows learnt from that lie in its
// region, by class. The tables have a model's schema.
func Decide(conflicts []Conflict, learnt []learn.Learnt, schema *table.Schema, target int) {
	names := schema.Attributes[target].Values
	if schema.Attributes[target].Kind != table.Nominal {
		return
	}
	for i := range conflicts {
		matcher, err := rule.NewMatcher(conflicts[i].Region, schema)
		if err != nil {
			continue // it speaks of what the model does not know
		}
		rows := map[string]float64{}
		for _, l := range learnt {
			there := bits.New(l.Table.Rows())
			matcher.Match(l.Table, there)
			for row := range there.All {
				if class := l.Table.Columns[target].Codes[row]; class >= 0 {
					rows[names[class]] += l.Table.Weight(row)
				}
			}
		}
		conflicts[i].Rows = rows
	}
}

// mostRules is how many rules of a base are compared with how many of another:
// those that cover most. Pairs take their time.
const mostRules = 300

// MostConflicts is how many conflicts or overlaps are listed: those with most
// rows behind them.
const MostConflicts = 100

// Conflicts returns where two rule bases disagree, what has most rows behind
// it first: rules that answer differently for rows that satisfy both. Rules of
// weighed bases add up, and one alone answers nothing; two such bases are in
// conflict where one rule's rows are all among the other's.
func Conflicts(a, b *rule.Base, schema *table.Schema) []Conflict {
	if a == nil || b == nil {
		return nil
	}
	weighed := a.Kind == rule.Weighed && b.Kind == rule.Weighed
	ours, theirs := heaviest(a), heaviest(b)
	var pairs []pair
	for i := range ours {
		for j := range theirs {
			if says(&ours[i], a.Kind) && says(&theirs[j], b.Kind) {
				pairs = append(pairs, pair{&ours[i], &theirs[j]})
			}
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.weight(), p.weight()) })
	var found []Conflict
	for _, p := range pairs {
		if len(found) == MostConflicts {
			break
		}
		if c, ok := p.conflict(schema); ok && (!weighed || rule.Subsumes(p.a.If, p.b.If, schema) || rule.Subsumes(p.b.If, p.a.If, schema)) {
			found = append(found, c)
		}
	}
	return found
}

// Among returns where rules disagree with each other, what has most rows behind
// it first.
func Among(rules []rule.Rule, schema *table.Schema) []Conflict {
	return among(rules, func(p pair) (Conflict, bool) { return p.conflict(schema) })
}

// Overlaps returns the pairs of rules that some row may satisfy both of, and
// that do not disagree: together they count as more than each says.
func Overlaps(rules []rule.Rule, schema *table.Schema) []Conflict {
	return among(rules, func(p pair) (Conflict, bool) {
		if p.apart() || disagree(p.a, p.b) {
			return Conflict{}, false
		}
		region, meet := rule.Overlap(p.a.If, p.b.If, schema)
		return Conflict{A: *p.a, B: *p.b, Region: region, Weight: p.weight()}, meet
	})
}

// among looks at pairs of rules, the one that covers less deciding which come
// first, until enough are found.
func among(rules []rule.Rule, look func(pair) (Conflict, bool)) []Conflict {
	order := make([]int, len(rules))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(covered(&rules[j]), covered(&rules[i])) })
	var found []Conflict
	for at, i := range order {
		for _, j := range order[:at] {
			first, second := min(i, j), max(i, j)
			if c, ok := look(pair{&rules[first], &rules[second]}); ok {
				found = append(found, c)
			}
			if len(found) == MostConflicts {
				return found
			}
		}
	}
	return found
}

// pair is two rules.
type pair struct{ a, b *rule.Rule }

// weight is that of the rows that the rule with less behind it covers.
func (p pair) weight() float64 { return min(covered(p.a), covered(p.b)) }

// conflict returns where the two answer differently.
func (p pair) conflict(schema *table.Schema) (Conflict, bool) {
	if p.apart() {
		return Conflict{}, false
	}
	region, ok := rule.Contradict(p.a, p.b, schema)
	return Conflict{A: *p.a, B: *p.b, Region: region, Weight: p.weight()}, ok
}

// apart reports, at a glance, that no row satisfies both: they ask for
// different names in one column.
func (p pair) apart() bool {
	for i := range p.a.If {
		x := &p.a.If[i]
		if x.Op != rule.Eq {
			continue
		}
		for j := range p.b.If {
			if y := &p.b.If[j]; y.Op == rule.Eq && y.Column == x.Column && y.Value != x.Value {
				return true
			}
		}
	}
	return false
}

// disagree reports whether two rules would answer differently for a row that
// satisfies both.
func disagree(a, b *rule.Rule) bool {
	x, y := *a, *b
	x.If, y.If = nil, nil
	_, ok := rule.Contradict(&x, &y, nil)
	return ok
}

// says reports whether a rule by itself speaks for an answer. Of a weighed base
// that is one that has conditions, for without them it is where adding begins,
// and finds its class more probable than not, or leaves open how probable.
func says(r *rule.Rule, kind rule.Kind) bool {
	return kind != rule.Weighed || len(r.If) > 0 && (r.With == nil || *r.With >= 0.5)
}

// heaviest returns the rules of a base that cover most. A base of an ELSE
// alone answers always.
func heaviest(b *rule.Base) []rule.Rule {
	if len(b.Rules) == 0 && b.Else != nil {
		return []rule.Rule{*b.Else}
	}
	if len(b.Rules) <= mostRules {
		return b.Rules
	}
	rules := slices.Clone(b.Rules)
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return cmp.Compare(covered(&b), covered(&a)) })
	return rules[:mostRules]
}

func covered(r *rule.Rule) float64 { return value(r.Evidence.Covered) }

func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
