package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

// Measure returns a copy of the base whose rules carry what a table says of
// them: the weight of the rows that satisfy the IF part (covered), of those
// that satisfy the THEN part too (correct), and for classes the J-measure in
// bits. The weight of a rule is kept. A number is correct if it lies within
// mean ± deviation; a distribution is measured by its most probable class.
// The ELSE rule covers the rows that no rule matches.
//
// Rows whose target is missing or unseen carry no class and are left out.
func Measure(b *Base, t *table.Table, target int) (*Base, error) {
	if target < 0 || target >= len(t.Columns) {
		return nil, fmt.Errorf("target %d is not one of the %d columns", target, len(t.Columns))
	}
	m := newMeasure(t, target)
	measured := *b
	measured.Rules = slices.Clone(b.Rules)
	covered, left := bits.New(t.Rows()), slices.Clone(m.labelled)
	for i := range measured.Rules {
		r := &measured.Rules[i]
		matcher, err := m.known.matcher(r.If)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		matcher.Match(t, covered)
		bits.And(covered, covered, m.labelled)
		bits.AndNot(left, left, covered)
		if err := m.rule(r, covered); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	if b.Else != nil {
		otherwise := *b.Else
		if err := m.rule(&otherwise, left); err != nil {
			return nil, fmt.Errorf("the ELSE rule: %w", err)
		}
		measured.Else = &otherwise
	}
	return &measured, nil
}

// measure measures rules on a table.
type measure struct {
	table    *table.Table
	target   int
	known    *names
	labelled bits.Set   // rows whose target is known
	total    float64    // their weight
	classes  []bits.Set // the rows of each class
	weights  []float64  // their weights
	correct  bits.Set   // of the rule in hand
}

func newMeasure(t *table.Table, target int) *measure {
	rows := t.Rows()
	m := &measure{table: t, target: target, known: newNames(t.Schema), labelled: bits.New(rows), correct: bits.New(rows)}
	for range t.Schema.Attributes[target].Values {
		m.classes = append(m.classes, bits.New(rows))
	}
	for row, code := range t.Columns[target].Codes {
		if code >= 0 {
			m.labelled.Put(row)
			m.classes[code].Put(row)
		}
	}
	for row, y := range t.Columns[target].Floats {
		if !table.IsMissing(y) {
			m.labelled.Put(row)
		}
	}
	m.total = m.weight(m.labelled)
	for _, class := range m.classes {
		m.weights = append(m.weights, m.weight(class))
	}
	return m
}

// weight returns the weight of a set of rows.
func (m *measure) weight(rows bits.Set) float64 {
	if m.table.Weights == nil {
		return float64(rows.Count())
	}
	sum := 0.0
	for row := range rows.All {
		sum += m.table.Weights[row]
	}
	return sum
}

// rule sets the evidence of a rule that covers these rows.
func (m *measure) rule(r *Rule, covered bits.Set) error {
	a := &m.table.Schema.Attributes[m.target]
	if r.Then.Column != a.Name {
		return fmt.Errorf("it concludes %s, expected the target %s", quote(r.Then.Column), quote(a.Name))
	}
	if wrong := m.known.conclusion(&r.Then); wrong != nil {
		return fmt.Errorf("%s", wrong.msg)
	}
	n := m.weight(covered)
	r.Evidence = Evidence{Covered: &n, Weight: r.Evidence.Weight, Templates: r.Evidence.Templates}
	if r.Then.Numeric {
		clear(m.correct)
		for row := range covered.All {
			if math.Abs(m.table.Columns[m.target].Floats[row]-r.Then.Mean) <= r.Then.Deviation {
				m.correct.Put(row)
			}
		}
		k := m.weight(m.correct)
		r.Evidence.Correct = &k
		return nil
	}
	class, _ := r.Answer()
	code := m.known.code(m.target, class)
	bits.And(m.correct, covered, m.classes[code])
	k := m.weight(m.correct)
	j := JMeasure(n, k, m.weights[code], m.total)
	r.Evidence.Correct, r.Evidence.Bits = &k, &j
	return nil
}

// JMeasure returns the information in bits that a rule "if y then x" gives
// (Smyth and Goodman 1992; Higgins and Goodman 1992): with probabilities from
// weights of rows,
//
//	J(X; y) = p(y) · ( p(x|y) log p(x|y)/p(x) + p(¬x|y) log p(¬x|y)/p(¬x) )
//
// where covered rows satisfy y, correct of them x too, class rows satisfy x,
// of total rows. 0 log 0 is 0, and without rows there is no information.
func JMeasure(covered, correct, class, total float64) float64 {
	if covered <= 0 || total <= 0 {
		return 0
	}
	return covered / total * (information(correct/covered, class/total) + information((covered-correct)/covered, (total-class)/total))
}

// information returns p log₂ p/q, 0 if p is 0.
func information(p, q float64) float64 {
	if p <= 0 || q <= 0 {
		return 0
	}
	return p * math.Log2(p/q)
}
