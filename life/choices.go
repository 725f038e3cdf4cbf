package life

import (
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// choices are the values that the columns of a model could have, as far as they
// can make a difference: every name, and of numbers one between any two cuts of
// the model's rules. Where a model is not made of rules, numbers that occur,
// evenly.
type choices struct {
	schema *table.Schema
	known  [][]float64
	cuts   map[string][]float64 // by column, ascending; nil if the model has no rules
	lines  map[string]bool      // columns of which every number counts, as along a line
	exact  bool                 // the model answers alike between cuts
	tested map[string]bool      // columns that rules look at; nil if there are no rules
	leaves []rule.Rule          // the rules, where no two can meet, as those of a tree
	weighs []rule.Rule          // the rules, where they are weighed together
}

// mostChoices is how many numbers of a column are tried where there are no cuts.
const mostChoices = 32

func newChoices(p *Part, s *say.Speaker) *choices {
	c := &choices{schema: p.Schema(), known: s.Known}
	r, ok := learn.Ability[learn.Ruler](plain(p.Model))
	if !ok || plain(p.Model).Size().Rules > mostRead {
		return c
	}
	base, err := r.Rules()
	if err != nil || base == nil || len(base.Units) > 0 || len(base.Rules) == 0 {
		return c
	}
	cuts, tested, lines := map[string][]float64{}, map[string]bool{}, map[string]bool{}
	plainTests := true
	var look func(tests []rule.Test)
	look = func(tests []rule.Test) {
		for i := range tests {
			t := &tests[i]
			look(t.Of)
			tested[t.Column] = true
			switch t.Op {
			case rule.HalfSpace:
				plainTests = false
			default:
				cuts[t.Column] = append(cuts[t.Column], cutsOf(t)...)
			}
		}
	}
	if base.Kind == rule.Weighed {
		c.weighs = base.Rules
	}
	for i := range base.Rules {
		look(base.Rules[i].If)
		if l := base.Rules[i].Then.Line; l != nil {
			tested[l.Column], lines[l.Column] = true, true
			if l.Limited {
				cuts[l.Column] = append(cuts[l.Column], l.Low, l.High)
			}
		}
	}
	if told, ok := p.Model.(*expert.Told); ok {
		for _, standing := range told.Standings() {
			look(standing.Rule.If)
		}
	}
	for name := range cuts {
		slices.Sort(cuts[name])
		cuts[name] = slices.Compact(cuts[name])
	}
	if !plainTests || len(base.Notes) > 0 && !base.CompleteOnly && base.Kind == rule.Weighed && summarises(base) {
		return c
	}
	c.cuts, c.lines, c.exact, c.tested = cuts, lines, true, tested
	if base.Kind == rule.Ordered && apart(base, p.Schema()) {
		c.leaves = base.Rules
	}
	return c
}

// cutsOf returns the numbers at which a test of a column changes its mind: each
// belongs to what is below.
func cutsOf(t *rule.Test) []float64 {
	below := func(x float64, itself bool) float64 {
		if itself {
			return x
		}
		return math.Nextafter(x, math.Inf(-1))
	}
	switch t.Op {
	case rule.Le, rule.Gt:
		return []float64{t.Number}
	case rule.Lt, rule.Ge:
		return []float64{below(t.Number, false)}
	case rule.Between:
		return []float64{below(t.Low, !t.LowClosed), below(t.High, !t.HighOpen)}
	}
	var cuts []float64
	for _, value := range append(slices.Clone(t.Values), t.Value) {
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			cuts = append(cuts, below(x, false), x)
		}
	}
	return cuts
}

// summarises reports whether a base says of itself that it is not the whole model.
func summarises(base *rule.Base) bool {
	return slices.ContainsFunc(base.Notes, func(n string) bool { return len(n) > 8 && n[:8] == "summary:" })
}

// choice is a value of a column: a code, or a number.
type choice struct {
	code   int32
	number float64
}

// of returns the values of a column that could make a difference.
func (c *choices) of(column int) []choice {
	a := &c.schema.Attributes[column]
	var all []choice
	switch a.Kind {
	case table.Nominal:
		for v := range a.Values {
			all = append(all, choice{code: int32(v)})
		}
	case table.Numeric:
		for _, x := range c.numbers(column, math.NaN()) {
			all = append(all, choice{number: x})
		}
	}
	return all
}

// numbers returns one number of each range between cuts, that which is nearest
// to where a row is now: a number that occurs if there is one.
func (c *choices) numbers(column int, now float64) []float64 {
	a := &c.schema.Attributes[column]
	var known []float64
	if column < len(c.known) {
		known = c.known[column]
	}
	if c.cuts == nil {
		if len(known) <= mostChoices {
			return known
		}
		some := make([]float64, mostChoices)
		for i := range some {
			some[i] = known[i*(len(known)-1)/(mostChoices-1)]
		}
		return some
	}
	if !c.tested[a.Name] {
		return nil // no rule looks at it
	}
	if c.lines[a.Name] {
		return known
	}
	cuts := c.cuts[a.Name]
	var all []float64
	for i := 0; i <= len(cuts); i++ {
		low, high := math.Inf(-1), math.Inf(1)
		if i > 0 {
			low = cuts[i-1]
		}
		if i < len(cuts) {
			high = cuts[i]
		}
		if x, ok := nearest(known, low, high, now); ok {
			all = append(all, x)
		}
	}
	return all
}

// nearest returns the known number in (low, high] that is nearest to now, or
// without known numbers one that lies between.
func nearest(known []float64, low, high, now float64) (float64, bool) {
	if known == nil {
		switch {
		case math.IsInf(low, -1):
			return high, true
		case math.IsInf(high, 1):
			return math.Nextafter(low, high), true
		}
		return low + (high-low)/2, true
	}
	from, _ := slices.BinarySearch(known, math.Nextafter(low, math.Inf(1)))
	to, found := slices.BinarySearch(known, high)
	if found {
		to++
	}
	if from >= to {
		return 0, false
	}
	at := known[from:to]
	if math.IsNaN(now) {
		return at[len(at)/2], true
	}
	i, _ := slices.BinarySearch(at, now)
	switch {
	case i == len(at):
		return at[i-1], true
	case i > 0 && now-at[i-1] < at[i]-now:
		return at[i-1], true
	}
	return at[i], true
}

// trial is copies of a row in which cells are changed.
type trial struct{ table *table.Table }

// newTrial copies a row n times.
func newTrial(t *table.Table, row, n int) *trial {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = row
	}
	return &trial{t.Select(rows)}
}

func (t *trial) set(i, column int, v choice) {
	c := &t.table.Columns[column]
	if c.Codes != nil {
		c.Codes[i] = v.code
	} else if c.Floats != nil {
		c.Floats[i] = v.number
	}
}
