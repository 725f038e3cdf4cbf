package theory

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// refined is what the network is read as.
type refined struct {
	Rules []rule.Rule
	From  []int   // the rule of the theory that each was; none
	Fit   float64 // share of the rows on which the rules answer as the network
}

// Rules returns the theory as the rows corrected it. It says on how many rows it
// answers as the network does.
func (m *Model) Rules() (*rule.Base, error) {
	b := &rule.Base{Kind: rule.Ordered, Rules: slices.Clone(m.base.Rules), Agrees: &m.base.Fit}
	b.Notes = []string{fmt.Sprintf("summary: read together, rules that conclude what others test, they agree with the network on %.1f %% of rows", 100*m.base.Fit)}
	last := rule.Rule{Then: rule.Conclusion{Column: m.schema.Attributes[m.target].Name, Value: m.schema.Attributes[m.target].Values[m.otherwise()]}}
	b.Else = &last
	return b, nil
}

// otherwise is the class of rows for which no rule concludes one: the one that
// the theory has no rules for, else the most frequent one.
func (m *Model) otherwise() int {
	best := none
	for c, g := range m.classes {
		open := g == none || m.gates[g].closed
		if open && (best == none || m.counts[c] > m.counts[best]) {
			best = c
		}
	}
	if best == none || len(m.theory.Rules) == 0 {
		best = learn.Best(m.counts, m.schema.Attributes[m.target].Values)
	}
	return best
}

// Change is what became of a rule of the theory.
type Change struct {
	State  string `json:"state"` // changed or dropped
	Before string `json:"before"`
	After  string `json:"after,omitempty"`
	before *rule.Rule
	after  *rule.Rule
}

// String says it in a line.
func (c Change) String() string {
	if c.State == "dropped" {
		return "the rows do without: " + c.Before
	}
	return fmt.Sprintf("the rows changed: %s\n  into: %s", c.Before, c.After)
}

// changes returns the rules of the theory that the rows corrected.
func (m *Model) changes() (changes []Change, kept int) {
	for i := range m.theory.Rules {
		before := &m.theory.Rules[i]
		c := Change{State: "dropped", Before: before.String(), before: before}
		if at := slices.Index(m.base.From, i); at >= 0 {
			after := rule.Rule{If: m.base.Rules[at].If, Then: m.base.Rules[at].Then}
			c.State, c.After, c.after = "changed", after.String(), &m.base.Rules[at]
			if after.ID() == before.ID() {
				kept++
				continue
			}
		}
		changes = append(changes, c)
	}
	return changes, kept
}

// Corrected returns the rules of the theory beside what they became, of those
// that became another.
func (m *Model) Corrected() []rule.Change {
	var pairs []rule.Change
	all, _ := m.changes()
	for _, c := range all {
		if c.after != nil {
			pairs = append(pairs, rule.Change{Before: rule.Statement{Rule: c.before}, After: rule.Statement{Rule: c.after}})
		}
	}
	return pairs
}

// Standing is how the theory fared on the rows.
type Standing struct {
	Rules    int     `json:"rules"`
	Kept     int     `json:"kept"`
	Right    float64 `json:"right"`          // share of the rows on which the theory was
	Same     float64 `json:"same"`           // on which the network still answers as the theory
	W        float64 `json:"weight"`         // of the theory's links at first
	RuleFits float64 `json:"rules_fit"`      // share of the rows on which the rules answer as the network
	Open     float64 `json:"open,omitempty"` // of which the theory says nothing, or two things
}

// String says so in a line.
func (s Standing) String() string {
	text := fmt.Sprintf("the theory was right on %.1f %% of the rows, and the network answers as it did on %.1f %%; %d of its %d rules stand as they were", 100*s.Right, 100*s.Same, s.Kept, s.Rules)
	if s.Open > 0 {
		text += fmt.Sprintf("; it says nothing, or two things at once, of %.1f %%", 100*s.Open)
	}
	if s.W != 4 {
		text += "; W = " + strconv.FormatFloat(s.W, 'g', 4, 64)
	}
	return text
}

// Remarks says which rules of the theory the rows corrected.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	var remarks []fmt.Stringer
	if m.lesson.Settings.Explained != "" {
		remarks = append(remarks, m.fared)
	}
	if len(m.theory.Rules) == 0 {
		return remarks, nil
	}
	changes, kept := m.changes()
	total := sum(m.counts)
	remarks = append(remarks, Standing{len(m.theory.Rules), kept, m.right / total, m.agreement / total, m.w, m.base.Fit, m.open / total})
	for _, c := range changes {
		remarks = append(remarks, c)
	}
	for _, b := range m.chosen {
		remarks = append(remarks, b)
	}
	return remarks, nil
}
