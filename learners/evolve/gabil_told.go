package evolve

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// mostTold is how many rules an expert's may come to when what they build on is
// put in its place.
const mostTold = 500

// readTold reads an expert's rules and unfolds them: each concludes the target
// and tests columns alone.
func readTold(text string, schema *table.Schema, target int) ([]rule.Rule, error) {
	if text == "" {
		return nil, nil
	}
	base, err := rule.Parse("rules", []byte(text))
	if err != nil {
		return nil, err
	}
	theory, err := rule.NewTheory(base, schema)
	if err != nil {
		return nil, err
	}
	if len(theory.Contradictions) > 0 {
		return nil, fmt.Errorf("%v; take one of the two out", theory.Contradictions[0])
	}
	name := schema.Attributes[target].Name
	var rules []rule.Rule
	for i := range theory.Rules {
		r := &theory.Rules[i]
		if r.Then.Column != name {
			continue
		}
		for _, tests := range unfold(r.If, theory, schema) {
			rules = append(rules, rule.Rule{If: tests, Then: r.Then})
		}
		if len(rules) > mostTold {
			return nil, fmt.Errorf("the expert's rules come to more than %d when what they build on is put in its place; tell fewer", mostTold)
		}
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("none of the expert's rules concludes %q", name)
	}
	return rules, nil
}

// unfold replaces tests for concepts that are no columns by what concludes them.
func unfold(tests []rule.Test, theory *rule.Theory, schema *table.Schema) [][]rule.Test {
	for i := range tests {
		t := &tests[i]
		if t.Op != rule.Eq || schema.Index(t.Column) >= 0 {
			continue
		}
		var all [][]rule.Test
		for j := range theory.Rules {
			r := &theory.Rules[j]
			if r.Then.Column != t.Column || r.Then.Value != t.Value || len(all) > mostTold {
				continue
			}
			replaced := slices.Concat(tests[:i], r.If, tests[i+1:])
			all = append(all, unfold(replaced, theory, schema)...)
		}
		return all
	}
	return [][]rule.Test{tests}
}

// mentioned reports whether a rule tests a column.
func mentioned(rules []rule.Rule, column string) bool {
	return slices.ContainsFunc(rules, func(r rule.Rule) bool {
		return slices.ContainsFunc(r.If, func(t rule.Test) bool { return t.Column == column })
	})
}

// withLimits adds the limits at which rules compare a column to its cuts.
func withLimits(cuts *encode.Cuts, rules []rule.Rule, column string) *encode.Cuts {
	at := slices.Clone(cuts.At)
	for i := range rules {
		for _, t := range rules[i].If {
			if t.Column != column {
				continue
			}
			switch t.Op {
			case rule.Le, rule.Gt:
				at = append(at, t.Number)
			case rule.Lt, rule.Ge:
				at = append(at, math.Nextafter(t.Number, math.Inf(-1)))
			case rule.Between:
				low, high := t.Low, t.High
				if t.LowClosed {
					low = math.Nextafter(low, math.Inf(-1))
				}
				if t.HighOpen {
					high = math.Nextafter(high, math.Inf(-1))
				}
				at = append(at, low, high)
			}
		}
	}
	slices.Sort(at)
	at = slices.DeleteFunc(slices.Compact(at), func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
	return &encode.Cuts{At: at}
}

// encodeTold writes an expert's rules as bits.
func (x *instances) encodeTold(rules []rule.Rule) (genetic.Bits, error) {
	var all genetic.Bits
	for i := range rules {
		r := &rules[i]
		one := make(genetic.Bits, x.length)
		for k := range one {
			one[k] = 1
		}
		class := slices.Index(x.schema.Attributes[x.target].Values, r.Then.Value)
		if class < 0 {
			continue // a class that no row has had cannot be judged
		}
		for k := range r.If {
			if err := x.allow(&r.If[k], one); err != nil {
				return nil, wrongTold(r, err.Error())
			}
		}
		x.conclude(one, class)
		all = append(all, one...)
	}
	return all, nil
}

// allow takes the values out of a rule that a test does not allow.
func (x *instances) allow(t *rule.Test, one genetic.Bits) error {
	i := slices.IndexFunc(x.segments, func(s segment) bool { return x.schema.Attributes[s.col].Name == t.Column })
	switch {
	case t.Op == rule.HalfSpace || t.Op == rule.AtLeast || t.Op == rule.IsMissing || t.Op == rule.Contains || t.Op == rule.NotContains:
		return fmt.Errorf("%q is no set of values of one column", t)
	case i < 0 || t.Op == rule.IsKnown:
		return nil // a column that tells nothing
	}
	s := &x.segments[i]
	a := x.schema.Attributes[s.col]
	probe, err := table.New(&table.Schema{Attributes: []table.Attribute{a}}, []table.Column{s.every()}, nil)
	if err != nil {
		return err
	}
	m, err := rule.NewMatcher([]rule.Test{*t}, probe.Schema)
	if err != nil {
		return err
	}
	for v := range s.size {
		if !m.MatchRow(probe, v) {
			one[s.from+v] = 0
		}
	}
	return nil
}

// every returns a column with one cell for each bit.
func (s *segment) every() table.Column {
	var c table.Column
	for v := range s.size {
		if s.cuts == nil {
			c.Codes = append(c.Codes, int32(v))
			continue
		}
		at := math.Inf(1) // the last interval reaches up
		if v < len(s.cuts.At) {
			at = s.cuts.At[v]
		}
		c.Floats = append(c.Floats, at)
	}
	return c
}
