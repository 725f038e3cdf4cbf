// Package knowledge compares what models know: what changed from one to
// another, where two disagree, which source stands behind a rule, and whether
// a model is what learning from its sources at once would give.
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

// Conflicts returns where two rule bases disagree, what has most rows behind
// it first. Rules of weighed bases add up, and one alone answers nothing: they
// are in conflict if the same conditions speak for different classes.
func Conflicts(a, b *rule.Base, schema *table.Schema) []Conflict {
	if a == nil || b == nil {
		return nil
	}
	alike := a.Kind == rule.Weighed || b.Kind == rule.Weighed
	var found []Conflict
	ours, theirs := heaviest(a), heaviest(b)
	for i := range ours {
		for j := range theirs {
			found = appendConflict(found, &ours[i], &theirs[j], schema, alike)
		}
	}
	return sorted(found)
}

// Among returns where rules disagree with each other.
func Among(rules []rule.Rule, schema *table.Schema) []Conflict {
	var found []Conflict
	for i := range rules {
		for j := range i {
			found = appendConflict(found, &rules[j], &rules[i], schema, false)
		}
	}
	return sorted(found)
}

// Overlaps returns the pairs of rules that some row may satisfy both of, and
// that do not disagree: together they count as more than each says.
func Overlaps(rules []rule.Rule, schema *table.Schema) []Conflict {
	var found []Conflict
	for i := range rules {
		for j := range i {
			if _, disagree := rule.Contradict(&rules[j], &rules[i], schema); disagree {
				continue
			}
			if region, meet := rule.Overlap(rules[j].If, rules[i].If, schema); meet {
				found = append(found, Conflict{A: rules[j], B: rules[i], Region: region, Weight: min(covered(&rules[j]), covered(&rules[i]))})
			}
		}
	}
	return sorted(found)
}

func appendConflict(to []Conflict, a, b *rule.Rule, schema *table.Schema, alike bool) []Conflict {
	region, disagree := rule.Contradict(a, b, schema)
	if !disagree || alike && !(answers(a) && answers(b) && rule.Subsumes(a.If, b.If, schema) && rule.Subsumes(b.If, a.If, schema)) {
		return to
	}
	return append(to, Conflict{A: *a, B: *b, Region: region, Weight: min(covered(a), covered(b))})
}

// answers reports whether a rule finds its class more probable than not, or
// leaves open how probable.
func answers(r *rule.Rule) bool { return r.With == nil || *r.With >= 0.5 }

func sorted(found []Conflict) []Conflict {
	slices.SortStableFunc(found, func(a, b Conflict) int { return cmp.Compare(b.Weight, a.Weight) })
	return found
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
