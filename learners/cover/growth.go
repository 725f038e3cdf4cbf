package cover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
)

// Certificate says what a rule of the list is there for.
type Certificate struct {
	Rule    int      `json:"rule"` // counted from 1, in the order of the list
	Tests   []string `json:"tests"`
	Class   string   `json:"class"`   // that it answers
	Rows    float64  `json:"rows"`    // weight of the rows that come to it
	Covered float64  `json:"covered"` // of these, so many satisfy its tests
	Correct float64  `json:"correct"` // and so many of them are of its class
	Errors  float64  `json:"errors"`  // of the list as far as here, if the most frequent class of the rest answered instead of the rule
	Removed float64  `json:"removed"` // of them, by the rule
}

// String returns the certificate as one line.
func (c Certificate) String() string {
	return fmt.Sprintf("rule %d (%s): covers %.6g of %.6g rows, %.6g right, removes %.6g of %.6g errors  IF %s",
		c.Rule, c.Class, c.Covered, c.Rows, c.Correct, c.Removed, c.Errors, strings.Join(c.Tests, " AND "))
}

// Growth returns a certificate for each rule but the default.
func (m *Model) Growth() []Certificate {
	left := slices.Clone(m.all)
	classes := m.classes()
	wrong := func(counts []float64) float64 { return sum(counts) - slices.Max(counts) }
	var all []Certificate
	for i := range m.list {
		best := learn.Best(m.answerOf(i), classes)
		first := m.list[i].first
		c := Certificate{
			Rule: i + 1, Tests: []string{}, Class: classes[best], Rows: sum(left),
			Covered: sum(first), Correct: first[best], Errors: wrong(left),
		}
		for _, t := range m.tests(m.list[i].tests) {
			c.Tests = append(c.Tests, t.String())
		}
		for k := range left {
			left[k] = max(left[k]-first[k], 0)
		}
		c.Removed = c.Errors - wrong(left) - (c.Covered - c.Correct)
		all = append(all, c)
	}
	return all
}

// Grown returns the certificates, and why covering stopped.
func (m *Model) Grown() (certificates []fmt.Stringer, stopped string) {
	for _, c := range m.Growth() {
		certificates = append(certificates, c)
	}
	if len(m.why) == 1 {
		return certificates, m.why[0].String()
	}
	words := make([]string, len(m.why))
	for class, why := range m.why {
		words[class] = m.classes()[class] + ": " + why.String()
	}
	return certificates, strings.Join(words, "; ")
}
