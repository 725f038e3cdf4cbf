package bayes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns the model as rules. If all columns are nominal, each value
// is a rule for or against each class, weighed by ln P(value|class)/P(value)
// and sorted by the information it carries (J-measure, Smyth & Goodman 1991).
// If some are numeric, each class is a unit that expects its means and shares.
// Each word of a text is a rule that moves all classes.
func (m *Model) Rules() (*rule.Base, error) {
	m.estimate()
	switch {
	case hasText(m.schema):
		return m.worded(math.MaxInt), nil
	case m.numeric():
		return m.mixture(), nil
	}
	return m.weighed(), nil
}

// TopRules returns the n most informative rules, and how many were left out. Of
// many words only those that are shown become rules.
func (m *Model) TopRules(n int) (*rule.Base, int, error) {
	if m.estimate(); hasText(m.schema) {
		base := m.worded(n)
		return base, m.Size().Rules - len(base.Rules), nil
	}
	base, err := m.Rules()
	if err != nil || len(base.Units) > 0 || len(base.Rules) <= n {
		return base, 0, err
	}
	left := len(base.Rules) - n
	base.Rules = foremost(base.Rules, n)
	return base, left, nil
}

// foremost returns the n rules of most bits, in their order.
func foremost(rules []rule.Rule, n int) []rule.Rule {
	bits := func(i int) float64 {
		if b := rules[i].Evidence.Bits; b != nil {
			return *b
		}
		return 0 // of classes before any evidence
	}
	order := make([]int, len(rules))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return -cmp.Compare(bits(i), bits(j)) })
	order = order[:min(n, len(order))]
	slices.Sort(order)
	best := make([]rule.Rule, len(order))
	for k, i := range order {
		best[k] = rules[i]
	}
	return best
}

// weighed returns a rule for each class, and for each value and class.
func (m *Model) weighed() *rule.Base {
	base := &rule.Base{Kind: rule.Weighed}
	rows := sum(m.total.classes)
	for c, weight := range m.logPrior {
		if !m.active(c) {
			continue // a class without a prior has the probability 0
		}
		base.Rules = append(base.Rules, rule.Rule{
			Then:     m.conclude(c),
			With:     pointer(math.Exp(weight)),
			Evidence: rule.Evidence{Covered: pointer(rows), Correct: pointer(m.total.classes[c]), Weight: pointer(weight)},
		})
	}
	classes := len(m.logPrior)
	var rules []rule.Rule
	for j := range m.columns {
		e := &m.columns[j]
		rules = append(rules, m.missingRules(j)...)
		for v := range e.marginal {
			counts := m.total.columns[j].counts[v*classes:][:classes]
			for c, weight := range e.value(v, classes) {
				if !m.active(c) {
					continue
				}
				prior := math.Exp(m.logPrior[c])
				p := min(1, math.Exp(m.logPrior[c]+weight))
				rules = append(rules, rule.Rule{
					If:   []rule.Test{m.valueTest(j, m.schema.Attributes[j].Values[v])},
					Then: m.conclude(c),
					With: pointer(p),
					Evidence: rule.Evidence{
						Covered: pointer(sum(counts)),
						Correct: pointer(counts[c]),
						Bits:    pointer(jMeasure(math.Exp(e.marginal[v]), p, prior)),
						Weight:  pointer(weight),
					},
				})
			}
		}
	}
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return -cmp.Compare(*a.Evidence.Bits, *b.Evidence.Bits) })
	base.Rules = append(base.Rules, rules...)
	return base
}

// ruleCount returns how many rules worded gives.
func (m *Model) ruleCount(classes int) int {
	rules := classes
	for j := range m.columns {
		e := &m.columns[j]
		for _, in := range e.chosen {
			if in {
				rules++
			}
		}
		if e.absent != nil {
			rules++
		}
		rules += len(e.marginal) * classes
		if e.gapped {
			rules += classes
		}
	}
	return rules
}

// worded returns the rules of names and words, the n most informative of them.
func (m *Model) worded(n int) *rule.Base {
	base := m.weighed()
	type word struct {
		column, code int
		bits         float64
	}
	var all []word
	q, classes := make([]float64, len(m.logPrior)), len(m.logPrior)
	for j := range m.columns {
		e, name := &m.columns[j], m.schema.Attributes[j].Name
		if e.chosen == nil {
			continue
		}
		l := m.lexicon(j)
		for v, in := range l.chosen {
			if in && n > 0 {
				all = append(all, word{j, v, l.bits(v, m.logPrior, q)})
			}
		}
		if e.absent != nil {
			base.Rules = slices.Insert(base.Rules, 0, rule.Rule{If: []rule.Test{{Op: rule.IsKnown, Column: name}}, Then: m.concludeAll(e.absent)})
		}
		if l.found {
			base.Notes = append(base.Notes, l.given(name))
		}
		switch {
		case e.words.Event == bernoulli, e.words.Count == countOnce:
		case e.words.Count == countLong:
			base.Notes = append(base.Notes, fmt.Sprintf("summary: the rule of a word counts as often as the word occurs in %[1]s; %[1]s of more than %[2]v words counts as %[2]v, in which a word that occurs n times has 1 + log2 n shares", name, e.words.Length))
			continue
		case e.words.Count == countLog:
			base.Notes = append(base.Notes, "summary: the rule of a word that occurs n times in "+name+" counts 1 + log2 n times")
		default:
			base.Notes = append(base.Notes, "summary: the rule of a word counts as often as the word occurs in "+name)
		}
		if e.words.Length > 0 {
			base.Notes = append(base.Notes, fmt.Sprintf("summary: %s counts as %v words at most, the words of a longer text in proportion", name, e.words.Length))
		}
	}
	if m.numeric() {
		base.Notes = append(base.Notes, "summary: what numbers say is not in these rules")
	}
	slices.SortFunc(all, func(a, b word) int {
		return cmp.Or(-cmp.Compare(a.bits, b.bits), cmp.Compare(a.column, b.column), strings.Compare(m.schema.Attributes[a.column].Values[a.code], m.schema.Attributes[b.column].Values[b.code]))
	})
	for _, w := range all[:min(len(all), n)] {
		base.Rules = append(base.Rules, rule.Rule{
			If: []rule.Test{m.wordTest(w.column, w.code)}, Then: m.concludeAll(m.columns[w.column].value(w.code, classes)),
			Evidence: rule.Evidence{Bits: pointer(w.bits)},
		})
	}
	if len(base.Rules) > n {
		base.Rules = foremost(base.Rules, n)
	}
	return base
}

// concludeAll returns what a rule adds to all classes, the greatest first.
func (m *Model) concludeAll(weights []float64) rule.Conclusion {
	said := rule.Conclusion{Column: m.class().Name}
	for c, w := range weights {
		if m.active(c) {
			said.By = append(said.By, rule.Share{Value: m.class().Values[c], P: w})
		}
	}
	slices.SortStableFunc(said.By, func(x, y rule.Share) int {
		return cmp.Or(-cmp.Compare(x.P, y.P), strings.Compare(x.Value, y.Value))
	})
	return said
}

func (m *Model) wordTest(j, code int) rule.Test {
	a := &m.schema.Attributes[j]
	return rule.Test{Op: rule.Contains, Column: a.Name, Value: a.Values[code]}
}

// jMeasure returns the information in bits that a condition of probability y
// gives about a class whose probability it moves from prior to p.
func jMeasure(y, p, prior float64) float64 {
	part := func(p, prior float64) float64 {
		if p <= 0 || prior <= 0 {
			return 0
		}
		return p * math.Log2(p/prior)
	}
	return y * max(0, part(p, prior)+part(1-p, 1-prior))
}

func (m *Model) conclude(class int) rule.Conclusion {
	return rule.Conclusion{Column: m.class().Name, Value: m.class().Values[class]}
}

func (m *Model) valueTest(j int, value string) rule.Test {
	return rule.Test{Op: rule.Eq, Column: m.schema.Attributes[j].Name, Value: value}
}

// ruleID returns the identifier of the rule that a nominal cell fires for a
// class, "" if the model's rules are units.
func (m *Model) ruleID(j int, value string, class int) string {
	if m.numeric() {
		return ""
	}
	r := rule.Rule{If: []rule.Test{m.valueTest(j, value)}, Then: m.conclude(class)}
	return r.ID()
}

// mixture returns a unit for each class.
func (m *Model) mixture() *rule.Base {
	base := &rule.Base{Kind: rule.Mixture}
	if m.settings.M == 0 {
		base.Notes = []string{"m = 0: where these rules find every class impossible, the model names the least impossible one"}
	}
	if slices.ContainsFunc(m.columns, func(e estimate) bool { return e.gapped }) {
		base.Notes = append(base.Notes, "summary: what it says that a cell is missing is not in these rules")
	}
	for c, prior := range m.logPrior {
		if !m.active(c) {
			continue
		}
		name := m.class().Values[c]
		unit := rule.Unit{Name: name, Prior: math.Exp(prior)}
		unit.Expect = append(unit.Expect, rule.Expectation{Column: m.class().Name, Shares: []rule.Share{{Value: name, P: 1}}})
		for j := range m.columns {
			e, expect := &m.columns[j], rule.Expectation{Column: m.schema.Attributes[j].Name}
			switch {
			case len(e.marginal) > 0:
				for v, value := range m.schema.Attributes[j].Values {
					p := e.value(v, len(m.logPrior))[c] + e.marginal[v]
					if e.gapped {
						p -= e.here[c] // of the rows whose cell is known
					}
					expect.Shares = append(expect.Shares, rule.Share{Value: value, P: math.Exp(p)})
				}
			case e.normals != nil:
				n := &e.normals[c]
				expect.Mean = n.mean / e.scale
				expect.Deviation = max(n.deviation/e.scale, math.SmallestNonzeroFloat64)
			default:
				continue
			}
			unit.Expect = append(unit.Expect, expect)
		}
		base.Units = append(base.Units, unit)
	}
	return base
}

func pointer(x float64) *float64 { return &x }

// Bits is the length of the model when it is sent: of each class how frequent it is
// and, of each column, its table; of numbers a mean and a deviation; of texts the
// shares of the words. Each number is as exact as so many rows can make it.
func (m *Model) Bits(rows float64) float64 {
	classes, numbers := float64(len(m.logPrior)), float64(len(m.logPrior)-1)
	for j := range m.schema.Attributes {
		switch a := &m.schema.Attributes[j]; {
		case j == m.target:
		case a.Kind == table.Numeric:
			numbers += 2 * classes
		default:
			numbers += classes * float64(max(0, len(a.Values)-1))
		}
	}
	return numbers * math.Log2(max(rows, 2)) / 2
}
