package life

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Suit returns a table as a learner takes it, and where its target is then.
func Suit(i learn.Info, t *table.Table, target int) (suited *table.Table, at int, notes []string, err error) {
	return suit(i, t, target)
}

// suit returns a table as a learner takes it: without text columns, and with
// rows that stand alone, where it takes no text or no sequences. What it
// leaves out is said in a line each; a table of which nothing is left is an
// error. Groups stay in the table, so that they can be kept together when its
// rows are divided. The target moves with the columns before it.
func suit(i learn.Info, t *table.Table, target int) (suited *table.Table, at int, notes []string, err error) {
	if t.Linked != nil && !i.Takes.Relations {
		if t, target, err = standingAlone(t, target); err != nil {
			return nil, 0, nil, err
		}
		notes = append(notes, fmt.Sprintf("%s learns the rows of %s alone, without what they point at; learners of relations: %s", i.Name, t.Schema.Linked, relational()))
	}
	if t.Schema.Sequence != "" && !i.Takes.Sequences {
		notes = append(notes, fmt.Sprintf("%s takes rows one by one: their order within a %q is not used", i.Name, t.Schema.Sequence))
		t = t.WithoutSequence()
	}
	if t.Schema.Sequence != "" && i.Takes.Nominal && !i.Takes.Numeric {
		var counters []string
		if t, target, counters = withoutCounters(t, target); counters != nil {
			notes = append(notes, fmt.Sprintf("left out, as it only counts the rows of each %q: %s", t.Schema.Sequence, strings.Join(counters, ", ")))
		}
	}
	if i.Takes.Text {
		return t, target, notes, nil
	}
	var texts []string
	for col := range t.Schema.Attributes {
		if a := &t.Schema.Attributes[col]; a.Kind == table.Text {
			texts = append(texts, fmt.Sprintf("%q", a.Name))
		}
	}
	if len(texts) == 0 {
		return t, target, notes, nil
	}
	suited, at = t.WithoutText(target)
	inputs := len(suited.Columns)
	if target != learn.NoTarget {
		inputs--
	}
	if inputs == 0 {
		return nil, 0, nil, fmt.Errorf("nothing is left to learn from: %s does not learn from text (%s)%s", i.Name, strings.Join(texts, ", "), readers())
	}
	notes = append(notes, fmt.Sprintf("text is left out, which %s does not learn from: %s", i.Name, strings.Join(texts, ", ")))
	return suited, at, notes, nil
}

// readers names the learners that take text.
func readers() string {
	var names []string
	for _, info := range learn.All() {
		if info.Takes.Text {
			names = append(names, info.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; learners that do: " + strings.Join(names, ", ")
}

// withoutCounters returns a table of sequences without the numbers that only say
// which row of its sequence a row is, and where the target is then.
func withoutCounters(t *table.Table, target int) (*table.Table, int, []string) {
	var others []int
	var names []string
	at := learn.NoTarget
	for col, a := range t.Schema.Attributes {
		if col != target && a.Kind == table.Numeric && counts(t, t.Columns[col].Floats) {
			names = append(names, fmt.Sprintf("%q", a.Name))
			continue
		}
		if col == target {
			at = len(others)
		}
		others = append(others, col)
	}
	if names == nil || len(others) == 0 {
		return t, target, nil
	}
	return t.Project(others), at, names
}

// counts reports whether numbers go up by 1 in every sequence, from 0 or 1.
func counts(t *table.Table, cells []float64) bool {
	counting := t.Rows() > 0
	t.Groups(func(from, to int) {
		for row := from; row < to; row++ {
			counting = counting && cells[row] == cells[0]+float64(row-from) && (cells[0] == 0 || cells[0] == 1)
		}
	})
	return counting
}
