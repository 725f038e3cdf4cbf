package life

import (
	"strings"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
)

// Conflict is where two rules, or two units of a mixture, disagree.
type Conflict struct {
	A      string             `json:"a"`
	B      string             `json:"b"`
	Region string             `json:"region"`
	Rows   map[string]float64 `json:"rows,omitempty"` // in the region, by class

	Rules *knowledge.Conflict `json:"-"` // one of the two
	Units *knowledge.Clash    `json:"-"`
}

func newConflicts(conflicts []knowledge.Conflict) []Conflict {
	entries := make([]Conflict, len(conflicts))
	for i := range conflicts {
		c := &conflicts[i]
		entries[i] = Conflict{A: c.A.String(), B: c.B.String(), Region: RegionText(c.Region), Rows: c.Rows, Rules: c}
	}
	return entries
}

func newClashes(clashes []knowledge.Clash) []Conflict {
	entries := make([]Conflict, len(clashes))
	for i := range clashes {
		c := &clashes[i]
		entries[i] = Conflict{A: c.A.Name + ": " + c.Says.String(), B: c.B.Name + ": " + c.Other.String(), Region: ExpectationText(c.Where), Units: c}
	}
	return entries
}

// RegionText writes a conjunction of tests.
func RegionText(tests []rule.Test) string {
	if len(tests) == 0 {
		return "every row"
	}
	texts := make([]string, len(tests))
	for i, t := range tests {
		texts[i] = t.String()
	}
	return strings.Join(texts, " AND ")
}

// ExpectationText writes some expectations of a unit, rounded.
func ExpectationText(expect []rule.Expectation) string {
	u := rule.Unit{Expect: expect}
	RoundUnit(&u)
	texts := make([]string, len(u.Expect))
	for i, e := range u.Expect {
		texts[i] = e.String()
	}
	return strings.Join(texts, " AND ")
}

// toldConflicts lists where an expert's new rules disagree with what was told
// and learnt, and where they say the same as other rules.
func toldConflicts(told *expert.Told, base *rule.Base) (conflicts, overlaps []knowledge.Conflict, err error) {
	learnt, all, err := knowledge.Of(told)
	if err != nil {
		return nil, nil, err
	}
	var fresh rule.Base
	isNew := map[string]bool{}
	for i := range base.Rules {
		isNew[base.Rules[i].ID()] = true
	}
	for _, r := range all.Rules {
		if isNew[r.ID()] {
			fresh.Rules = append(fresh.Rules, r)
		}
	}
	schema := told.Schema()
	return append(knowledge.Among(all.Rules, schema), knowledge.Conflicts(&fresh, learnt, schema)...), knowledge.Overlaps(all.Rules, schema), nil
}

// unitConflicts returns the units that a model has since it was told rules,
// and where they disagree with each other and with those it had.
func unitConflicts(before, after learn.Model) (fresh []rule.Unit, clashes []knowledge.Clash, err error) {
	was, _, err := knowledge.Of(before)
	if err != nil {
		return nil, nil, err
	}
	is, _, err := knowledge.Of(after)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for i := range was.Units {
		known[was.Units[i].ID()] = true
	}
	for i := range is.Units {
		if u := is.Units[i]; u.Worth != nil && !known[u.ID()] {
			clashes = append(clashes, knowledge.Clashes([]rule.Unit{u}, fresh)...)
			fresh = append(fresh, u)
		}
	}
	return fresh, append(clashes, knowledge.Clashes(fresh, was.Units)...), nil
}
