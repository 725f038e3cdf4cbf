package life

import (
	"time"

	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
)

// RuleEntry is a rule as programs read it.
type RuleEntry struct {
	ID          string      `json:"id"`
	Text        string      `json:"text"`
	If          []TestEntry `json:"if"`
	Then        *ThenEntry  `json:"then,omitempty"`
	Probability *float64    `json:"probability,omitempty"`
	Covered     *float64    `json:"covered,omitempty"`
	Correct     *float64    `json:"correct,omitempty"`
	Bits        *float64    `json:"bits,omitempty"`
	Weight      *float64    `json:"weight,omitempty"`
	Templates   *float64    `json:"templates,omitempty"`
	Words       string      `json:"words,omitempty"`
	Worth       *float64    `json:"worth,omitempty"`
	Boundary    string      `json:"boundary,omitempty"`
	Note        string      `json:"note,omitempty"`   // what a clause is worth, where rows do not say it
	Member      int         `json:"member,omitempty"` // which hypothesis, counted from 1
	// Sources say who stands behind the rule, and State how an expert's
	// rule fares.
	Sources []SourceEntry `json:"sources,omitempty"`
	State   string        `json:"state,omitempty"`
	// Low and High are the 95 % interval of how often the rule is right, and
	// Usual is how frequent its class is among all rows.
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Usual *float64 `json:"usual,omitempty"`
	// Decides is what it decides, where rows are kept; Near is the id of an
	// earlier rule that says the same of nearly the same rows; Say is the
	// sentence, in parts.
	Decides *Decides     `json:"decides,omitempty"`
	Near    string       `json:"near,omitempty"`
	Say     say.Sentence `json:"say,omitempty"`
	Told    *ToldEntry   `json:"told,omitempty"`
	// Certificate is what growth left of why the rule is there.
	Certificate Certificate `json:"certificate,omitempty"`
	// Expect is what a unit expects of the columns.
	Expect []ExpectEntry `json:"expect,omitempty"`
}

// ToldEntry is who told a rule, when, as which version, and why.
type ToldEntry struct {
	By      string    `json:"by"`
	At      time.Time `json:"at,omitzero"`
	Version int       `json:"version,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// ExpectEntry is an expectation as programs read it; neither a number nor
// values is NORMAL.
type ExpectEntry struct {
	Column    string             `json:"column"`
	Mean      *float64           `json:"mean,omitempty"`
	Deviation *float64           `json:"deviation,omitempty"`
	Values    map[string]float64 `json:"values,omitempty"`
	Normal    bool               `json:"normal,omitempty"`
}

// SourceEntry is what one source says of a rule.
type SourceEntry struct {
	Source  string   `json:"source"`
	Covered *float64 `json:"covered,omitempty"`
	Correct *float64 `json:"correct,omitempty"`
}

// TestEntry is one condition of a rule.
type TestEntry struct {
	Column string `json:"column,omitempty"`
	Op     string `json:"op"`
	Value  any    `json:"value,omitempty"`
}

// ThenEntry is what a rule concludes.
type ThenEntry struct {
	Column string `json:"column"`
	Value  any    `json:"value"`
	// Times, where the value is added for each unit of a column.
	Times *LineEntry `json:"times,omitempty"`
}

// LineEntry is a column less a number, between its limits.
type LineEntry struct {
	Column string   `json:"column"`
	Less   float64  `json:"less"`
	From   *float64 `json:"from,omitempty"`
	To     *float64 `json:"to,omitempty"`
}

func lineEntry(l *rule.Line) *LineEntry {
	if l == nil {
		return nil
	}
	e := &LineEntry{Column: l.Column, Less: l.Centre}
	if l.Limited {
		e.From, e.To = &l.Low, &l.High
	}
	return e
}

func sourceEntries(behind []expert.Behind) []SourceEntry {
	var entries []SourceEntry
	for _, b := range behind {
		entries = append(entries, SourceEntry{b.Source.Name, &b.Covered, &b.Correct})
	}
	return entries
}

func ruleEntries(base *rule.Base) []RuleEntry {
	entries := make([]RuleEntry, 0, len(base.Rules)+len(base.Units)+1)
	words := base.Words()
	for i := range base.Rules {
		e := newRuleEntry(&base.Rules[i], base.Rules[i].String())
		e.Words = words[i]
		entries = append(entries, e)
	}
	if base.Else != nil {
		entries = append(entries, newRuleEntry(base.Else, rule.Statement{Rule: base.Else, Else: true}.String()))
	}
	for i := range base.Units {
		entries = append(entries, unitEntry(&base.Units[i]))
	}
	return entries
}

func newRuleEntry(r *rule.Rule, text string) RuleEntry {
	e := RuleEntry{
		ID: r.ID(), Text: text, If: testEntries(r.If), Then: &ThenEntry{r.Then.Column, r.Then.Value, lineEntry(r.Then.Line)},
		Probability: r.With, Worth: r.Worth, Boundary: r.Boundary,
		Covered: r.Evidence.Covered, Correct: r.Evidence.Correct, Bits: r.Evidence.Bits, Weight: r.Evidence.Weight, Templates: r.Evidence.Templates,
	}
	switch {
	case r.Then.Numeric:
		e.Then.Value = r.Then.Mean
	case len(r.Then.Classes) > 0:
		likely := Likeliest(r.Then.Classes)
		e.Then.Value, e.Probability = likely.Value, &likely.P
	}
	return e
}

func unitEntry(u *rule.Unit) RuleEntry {
	entry := RuleEntry{ID: u.ID(), Text: u.String(), If: []TestEntry{}, Probability: &u.Prior, Worth: u.Worth}
	for i := range u.Expect {
		e := &u.Expect[i]
		x := ExpectEntry{Column: e.Column, Normal: e.Normal}
		switch {
		case len(e.Shares) > 0:
			x.Values = make(map[string]float64, len(e.Shares))
			for _, s := range e.Shares {
				x.Values[s.Value] = s.P
			}
		case !e.Normal:
			x.Mean, x.Deviation = &e.Mean, &e.Deviation
		}
		entry.Expect = append(entry.Expect, x)
	}
	return entry
}

func testEntries(tests []rule.Test) []TestEntry {
	entries := make([]TestEntry, 0, len(tests))
	for _, t := range tests {
		e := TestEntry{Column: t.Column, Op: t.Op.String()}
		switch t.Op {
		case rule.Eq, rule.Ne:
			e.Value = t.Value
		case rule.In, rule.NotIn:
			e.Value = t.Values
		case rule.Lt, rule.Le, rule.Gt, rule.Ge:
			e.Value = t.Number
		case rule.Between:
			e.Value = []float64{t.Low, t.High}
		case rule.HalfSpace, rule.AtLeast:
			if e.Value = t.String(); t.Below {
				e.Op = rule.Le.String()
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// toldEntries are the experts' rules as programs read them.
func toldEntries(told *expert.Told) []RuleEntry {
	var entries []RuleEntry
	for _, s := range told.Standings() {
		e := newRuleEntry(&s.Rule, s.Rule.String())
		e.State = string(s.State)
		e.Sources = append([]SourceEntry{{Source: s.Expert.Name}}, sourceEntries(s.Behind)...)
		entries = append(entries, e)
	}
	return entries
}
