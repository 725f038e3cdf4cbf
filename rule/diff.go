package rule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Statement is a rule, the ELSE rule, or a unit of a base.
type Statement struct {
	Rule *Rule // nil for a unit
	Else bool
	Unit *Unit
}

// ID returns the id of the rule or unit.
func (s Statement) ID() string {
	if s.Unit != nil {
		return s.Unit.ID()
	}
	return s.Rule.ID()
}

// String returns the statement as its line in a rule file.
func (s Statement) String() string {
	switch {
	case s.Unit != nil:
		return s.Unit.String()
	case s.Else:
		return string(appendThen([]byte("ELSE "), s.Rule))
	}
	return s.Rule.String()
}

// Change is a statement before and after.
type Change struct {
	Before, After Statement
}

// Diff is the difference between two bases as knowledge.
type Diff struct {
	Added, Dropped []Statement
	// Stronger and Weaker are statements that stayed, by the first of
	// these that changed: the probability (of a unit: its prior), the
	// weight in a weighed base, further from 0 being stronger, the worth,
	// and what is covered.
	Stronger, Weaker []Change
	// Moved statements test the same columns in the same way and conclude
	// the same, but with other cuts; a concluded number, and what a unit
	// expects, may move too.
	Moved []Change
	// Reordered is set if statements that stayed follow each other
	// differently in an ordered base, where that can change answers.
	Reordered bool
	// Before and After are the readings of the bases.
	Before, After Kind
}

// Empty reports whether there is no difference.
func (d *Diff) Empty() bool {
	return len(d.Added)+len(d.Dropped)+len(d.Stronger)+len(d.Weaker)+len(d.Moved) == 0 && !d.Reordered && d.Before == d.After
}

// String lists the differences, a line each; two for a change.
func (d *Diff) String() string {
	var text strings.Builder
	if d.Before != d.After {
		fmt.Fprintf(&text, "read as %v, was %v\n", d.After, d.Before)
	}
	for _, s := range d.Added {
		fmt.Fprintf(&text, "added    %v\n", s)
	}
	for _, s := range d.Dropped {
		fmt.Fprintf(&text, "dropped  %v\n", s)
	}
	for _, part := range []struct {
		name    string
		changes []Change
	}{{"stronger", d.Stronger}, {"weaker  ", d.Weaker}, {"moved   ", d.Moved}} {
		for _, c := range part.changes {
			fmt.Fprintf(&text, "%s %v\n    was  %v\n", part.name, c.After, c.Before)
		}
	}
	if d.Reordered {
		text.WriteString("rules that stayed are in another order\n")
	}
	return text.String()
}

// tolerance is how far numbers may differ, relative to their size, and be
// taken for the same: sums in another order, or on another processor, do.
const tolerance = 1e-9

func same(x, y float64) bool {
	return x == y || math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))
}

// Compare returns what changed from one base to another. Comparing the other
// way round gives the same with before and after exchanged. Rules are known
// again by their identity (see ID), then by everything but their numbers;
// units by their names.
func Compare(before, after *Base) *Diff {
	d := &Diff{Before: before.Kind, After: after.Kind}
	olds, news := entries(before), entries(after)
	pair(olds, news, func(e *entry) string { return e.identity })
	pair(olds, news, func(e *entry) string { return e.rounded })
	pairNearest(olds, news)
	last := -1
	for _, e := range olds {
		if e.twin == nil {
			d.Dropped = append(d.Dropped, e.Statement)
			continue
		}
		change := Change{e.Statement, e.twin.Statement}
		switch strength := e.strength(e.twin); {
		case e.moved():
			d.Moved = append(d.Moved, change)
			continue
		case strength > 0:
			d.Stronger = append(d.Stronger, change)
		case strength < 0:
			d.Weaker = append(d.Weaker, change)
		}
		if before.Kind == Ordered && after.Kind == Ordered {
			d.Reordered = d.Reordered || e.twin.index < last
			last = e.twin.index
		}
	}
	for _, e := range news {
		if e.twin == nil {
			d.Added = append(d.Added, e.Statement)
		}
	}
	return d
}

// entry is a statement that is looking for its twin in the other base.
type entry struct {
	Statement
	index    int
	identity string
	rounded  string    // the identity with its numbers rounded
	shape    string    // the identity without its numbers
	numbers  []float64 // those numbers
	twin     *entry
}

func entries(b *Base) []*entry {
	var all []*entry
	add := func(s Statement) {
		e := &entry{Statement: s, index: len(all)}
		var shape []byte
		if s.Unit != nil {
			shape = appendName([]byte("WHEN "), s.Unit.Name)
			e.identity = string(shape)
		} else {
			e.identity = string(s.Rule.identity())
			if s.Else {
				e.identity = "ELSE" + e.identity
				shape = append(shape, "ELSE"...)
			}
			for _, t := range Canonical(s.Rule.If) {
				shape = e.appendShape(append(shape, " AND "...), &t)
			}
			shape = appendName(append(shape, " THEN "...), s.Rule.Then.Column)
			if s.Rule.Then.weighs() {
				shape = append(shape, " +="...)
				if l := s.Rule.Then.Line; l != nil {
					shape = appendName(append(shape, " *"...), l.Column)
					e.numbers = append(e.numbers, l.Centre, l.Low, l.High)
				}
			} else if s.Rule.Then.Numeric {
				e.numbers = append(e.numbers, s.Rule.Then.Mean, s.Rule.Then.Deviation)
			} else {
				class, _ := s.Rule.Answer()
				shape = appendValue(append(shape, " = "...), class)
			}
		}
		e.shape = string(shape)
		for _, x := range e.numbers {
			shape = fmt.Appendf(shape, " %.9g", x)
		}
		e.rounded = string(shape)
		all = append(all, e)
	}
	for i := range b.Rules {
		add(Statement{Rule: &b.Rules[i]})
	}
	if b.Else != nil {
		add(Statement{Rule: b.Else, Else: true})
	}
	for i := range b.Units {
		add(Statement{Unit: &b.Units[i]})
	}
	return all
}

// appendShape prints a test without its numbers, which it collects. Open and
// closed ends look alike: which of them a bound is printed as may change with
// the number.
func (e *entry) appendShape(dst []byte, t *Test) []byte {
	switch t.Op {
	case Lt, Le:
		e.numbers = append(e.numbers, t.Number)
		return append(appendName(dst, t.Column), " <"...)
	case Gt, Ge:
		e.numbers = append(e.numbers, t.Number)
		return append(appendName(dst, t.Column), " >"...)
	case Between:
		e.numbers = append(e.numbers, t.Low, t.High)
		return append(appendName(append(dst, "< "...), t.Column), " <"...)
	case HalfSpace:
		for _, term := range t.Terms {
			e.numbers = append(e.numbers, term.Factor)
			dst = appendName(append(dst, " + "...), term.Column)
		}
		e.numbers = append(e.numbers, t.Number)
		return fmt.Appendf(dst, " below %v", t.Below)
	case AtLeast:
		dst = fmt.Appendf(dst, "AT LEAST %d OF {", t.Count)
		for i := range t.Of {
			dst = append(e.appendShape(dst, &t.Of[i]), ", "...)
		}
		return append(dst, '}')
	}
	return appendTest(dst, t, nil)
}

// pair makes twins of entries with equal keys, in the order of the bases.
func pair(olds, news []*entry, key func(*entry) string) {
	waiting := map[string][]*entry{}
	for _, e := range news {
		if e.twin == nil {
			waiting[key(e)] = append(waiting[key(e)], e)
		}
	}
	for _, e := range olds {
		if queue := waiting[key(e)]; e.twin == nil && len(queue) > 0 {
			e.twin, queue[0].twin = queue[0], e
			waiting[key(e)] = queue[1:]
		}
	}
}

// pairNearest makes twins of the entries of one shape that are left. With
// both bases' entries sorted by their numbers, each goes to the nearest one
// of the other base that is still free before it, as brackets close.
func pairNearest(olds, news []*entry) {
	type side struct {
		*entry
		old bool
	}
	var left []side
	for _, e := range olds {
		if e.twin == nil {
			left = append(left, side{e, true})
		}
	}
	for _, e := range news {
		if e.twin == nil {
			left = append(left, side{e, false})
		}
	}
	slices.SortStableFunc(left, func(a, b side) int {
		return cmp.Or(strings.Compare(a.shape, b.shape), slices.Compare(a.numbers, b.numbers))
	})
	var open []side
	for _, s := range left {
		if len(open) > 0 && open[0].shape != s.shape {
			open = open[:0]
		}
		if n := len(open); n > 0 && open[n-1].old != s.old {
			s.twin, open[n-1].twin = open[n-1].entry, s.entry
			open = open[:n-1]
		} else {
			open = append(open, s)
		}
	}
}

// moved reports whether an entry's numbers differ from its twin's.
func (e *entry) moved() bool {
	if e.Unit != nil {
		return !slices.EqualFunc(e.Unit.Expect, e.twin.Unit.Expect, sameExpectations)
	}
	return !slices.EqualFunc(e.numbers, e.twin.numbers, same)
}

func sameExpectations(x, y Expectation) bool {
	if !same(x.Mean, y.Mean) || !same(x.Deviation, y.Deviation) ||
		!slices.EqualFunc(x.Shares, y.Shares, func(s, t Share) bool { return s.Value == t.Value && same(s.P, t.P) }) {
		return false
	}
	x.Mean, x.Deviation, x.Shares = y.Mean, y.Deviation, y.Shares
	return equalExpectations(&x, &y)
}

// strength compares a statement with what it has become: positive if it is
// stronger now, negative if it is weaker.
func (e *entry) strength(now *entry) int {
	before, after := e.strengths(), now.strengths()
	for i := range before {
		x, y := before[i], after[i]
		if !math.IsNaN(x) && !math.IsNaN(y) && !same(x, y) {
			return cmp.Compare(y, x)
		}
	}
	return 0
}

// strengths returns probability, weight, worth and coverage; NaN is what is
// not stated.
func (e *entry) strengths() [4]float64 {
	if e.Unit != nil {
		return [4]float64{e.Unit.Prior, math.NaN(), orNaN(e.Unit.Worth), math.NaN()}
	}
	p, weight := math.NaN(), orNaN(e.Rule.Evidence.Weight)
	switch then := &e.Rule.Then; {
	case then.Adds:
		weight = then.Mean
	case len(then.By) > 0:
		weight = slices.MaxFunc(then.By, byWeight).P
	case !then.Numeric:
		_, p = e.Rule.Answer()
	}
	return [4]float64{p, math.Abs(weight), orNaN(e.Rule.Worth), orNaN(e.Rule.Evidence.Covered)}
}

// byWeight orders the classes that a rule moves by how much.
func byWeight(a, b Share) int { return cmp.Compare(math.Abs(a.P), math.Abs(b.P)) }

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
