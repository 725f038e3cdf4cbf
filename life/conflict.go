package life

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
)

// Conflict is where two rules, or two units of a mixture, disagree.
type Conflict struct {
	A      string             `json:"a"`
	B      string             `json:"b"`
	Region string             `json:"region"`
	Rows   map[string]float64 `json:"rows,omitempty"` // in the region, by class
	Say    *ConflictSaid      `json:"say,omitempty"`

	Rules *knowledge.Conflict `json:"-"` // one of the two
	Units *knowledge.Clash    `json:"-"`

	idle  bool
	there string // the rows in the region, by class
}

// ConflictSaid is a conflict of two rules as sentences.
type ConflictSaid struct {
	A      say.Sentence `json:"a"`
	B      say.Sentence `json:"b"`
	Region say.Sentence `json:"region"`
}

// newConflicts returns conflicts as they are said, those in which most rows are first.
func newConflicts(conflicts []knowledge.Conflict, s *say.Speaker) []Conflict {
	entries := make([]Conflict, len(conflicts))
	for i := range conflicts {
		c := &conflicts[i]
		entries[i] = Conflict{
			A: c.A.String(), B: c.B.String(), Region: RegionText(c.Region), Rows: c.Rows, Rules: c,
			Say: &ConflictSaid{s.Rule(&c.A), s.Rule(&c.B), regionSaid(c.Region, s)},
		}
		entries[i].idle = s.Nowhere(c.Region) || speaksAgainst(&c.A) || speaksAgainst(&c.B)
		entries[i].there = weightsOf(c.Rows, s)
	}
	slices.SortStableFunc(entries, func(a, b Conflict) int { return cmp.Compare(b.rows(), a.rows()) })
	return entries
}

// rows is the weight of the rows in the region.
func (c *Conflict) rows() float64 {
	sum := 0.0
	for _, class := range slices.Sorted(maps.Keys(c.Rows)) {
		sum += c.Rows[class]
	}
	return sum
}

// speaksAgainst reports whether a rule takes from the class that it names.
func speaksAgainst(r *rule.Rule) bool { return r.Evidence.Weight != nil && *r.Evidence.Weight < 0 }

// Idle reports whether a conflict is one by the classes that rules name alone: one of
// them speaks against its class, or they meet in no more than a gap between two
// neighbouring values.
func (c *Conflict) Idle() bool { return c.idle }

// WriteConflicts writes where rules disagree, at most so many. First and second are
// who says the rules; where they are "", rules tell who by what they are worth.
func WriteConflicts(w io.Writer, conflicts []Conflict, most int, first, second string) {
	for i := range conflicts[:min(len(conflicts), most)] {
		c := &conflicts[i]
		one, other := cmp.Or(first, origin(&c.Rules.A)), cmp.Or(second, origin(&c.Rules.B))
		wide := max(utf8.RuneCountInString(one), utf8.RuneCountInString(other))
		fmt.Fprintf(w, "  where %s\n    %-*s  %s\n    %-*s  %s\n", c.Say.Region, wide, one, c.Say.A, wide, other, c.Say.B)
		if c.Rows != nil {
			fmt.Fprintf(w, "    the rows there  %s\n", c.there)
		}
	}
}

// weightsOf lists the weights of classes, the heaviest first.
func weightsOf(rows map[string]float64, s *say.Speaker) string {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return "none"
	}
	for i, name := range names {
		names[i] = s.Class(name) + " " + console.Count(rows[name])
	}
	return strings.Join(names, ", ")
}

// WriteOverlaps writes where rules that were told count together, at most so many.
func WriteOverlaps(w io.Writer, overlaps []Conflict, most int) {
	for i := range overlaps[:min(len(overlaps), most)] {
		o := &overlaps[i]
		fmt.Fprintf(w, "\nwhere %s two rules count together:\n    %s\n    %s\n    the rows there  %s\n", o.Say.Region, o.Say.A, o.Say.B, o.there)
	}
}

// origin says whether a rule was told by an expert, who said what it is worth.
func origin(r *rule.Rule) string {
	if r.Worth != nil {
		return "told"
	}
	return "learnt"
}

func newClashes(clashes []knowledge.Clash) []Conflict {
	entries := make([]Conflict, len(clashes))
	for i := range clashes {
		c := &clashes[i]
		entries[i] = Conflict{A: c.A.Name + ": " + c.Says.String(), B: c.B.Name + ": " + c.Other.String(), Region: ExpectationText(c.Where), Units: c}
	}
	return entries
}

// regionSaid says a conjunction of tests.
func regionSaid(tests []rule.Test, s *say.Speaker) say.Sentence {
	if len(tests) == 0 {
		return say.Sentence{{Text: RegionText(tests)}}
	}
	return s.Conditions(tests)
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
