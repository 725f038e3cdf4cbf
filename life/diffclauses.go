package life

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
)

// clauseDiff is what changed between two lists of clauses, as rule.Diff has it of rules.
type clauseDiff struct {
	added, dropped          []RuleEntry
	stronger, weaker, moved []ChangeEntry
	reordered               bool
}

// clausesOf returns the clauses of a model; none of one that is none.
func clausesOf(m learn.Model) []RuleEntry {
	if m == nil {
		return nil
	}
	if base := Clauses(&Part{Model: m}, nil); base != nil {
		return base.Rules
	}
	return nil
}

// cutsOfClause are the numbers and dates with which a clause compares.
var cutsOfClause = regexp.MustCompile(`(>|=<) ('[^']*'|-?[0-9][0-9.e+-]*[0-9]|-?[0-9])`)

// shape is a clause without the places of its cuts.
func (e *RuleEntry) shape() string { return cutsOfClause.ReplaceAllString(e.Text, "$1 ?") }

// compareClauses sets the clauses of two models side by side: those that stayed, by how
// often they are right and what they are the first to cover; those that are the same but
// for cuts; and the others.
func compareClauses(before, after []RuleEntry) (d clauseDiff) {
	at := func(list []RuleEntry, same func(*RuleEntry) bool) int {
		return slices.IndexFunc(list, func(e RuleEntry) bool { return same(&e) })
	}
	var gone []RuleEntry
	last := -1
	for i := range before {
		was := before[i]
		k := at(after, func(e *RuleEntry) bool { return e.Text == was.Text })
		if k < 0 {
			gone = append(gone, was)
			continue
		}
		d.reordered = d.reordered || k < last
		last = max(last, k)
		by := cmp.Or(cmp.Compare(pointed(after[k].Probability), pointed(was.Probability)),
			cmp.Compare(pointed(after[k].Worth), pointed(was.Worth)), cmp.Compare(pointed(after[k].Covered), pointed(was.Covered)))
		switch {
		case by > 0:
			d.stronger = append(d.stronger, ChangeEntry{was, after[k]})
		case by < 0:
			d.weaker = append(d.weaker, ChangeEntry{was, after[k]})
		}
	}
	for _, is := range after {
		if at(before, func(e *RuleEntry) bool { return e.Text == is.Text }) >= 0 {
			continue
		}
		if k := at(gone, func(e *RuleEntry) bool { return e.shape() == is.shape() }); k >= 0 {
			d.moved = append(d.moved, ChangeEntry{gone[k], is})
			gone = slices.Delete(gone, k, k+1)
			continue
		}
		d.added = append(d.added, is)
	}
	d.dropped = gone
	return d
}

func pointed(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

func (d *clauseDiff) empty() bool {
	return len(d.added)+len(d.dropped)+len(d.stronger)+len(d.weaker)+len(d.moved) == 0 && !d.reordered
}

// brief is a clause on a line, with what speaks for it.
func (e *RuleEntry) brief() string {
	text := cmp.Or(e.said(), strings.TrimPrefix(e.Text, "% "))
	if e.Covered != nil {
		text += fmt.Sprintf(" (%s of %.6g)", console.Percent(*e.Probability), *e.Covered)
	}
	return console.Shown(text, console.LongestLast)
}
