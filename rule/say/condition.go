package say

import (
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Conditions says tests: "cp = asympt and oldpeak is 0.6 or more". No tests are
// no words.
func (s *Speaker) Conditions(tests []rule.Test) Sentence {
	var said Sentence
	for i := range tests {
		if i > 0 {
			said = said.and(" and ")
		}
		said = append(said, s.test(&tests[i])...)
	}
	return said
}

func (s *Speaker) test(t *rule.Test) Sentence {
	switch t.Op {
	case rule.HalfSpace:
		return s.halfSpace(t)
	case rule.AtLeast:
		if one := unless(t); one != nil {
			said := s.test(one)
			said[len(said)-1].Text += " (or not known)"
			return said
		}
		return s.atLeast(t)
	}
	return Sentence{s.part(t.Column, s.one(t))}
}

// atLeast says how many of some tests are to hold. A test that stands there several
// times counts so often, and limits of one sum are said together.
func (s *Speaker) atLeast(t *rule.Test) Sentence {
	said := Sentence{{Text: "at least " + Number(float64(t.Count)) + " of ("}}
	done := make([]bool, len(t.Of))
	for i := range t.Of {
		if done[i] {
			continue
		}
		if i > 0 {
			said = said.and(", ")
		}
		one := s.test(&t.Of[i])
		said = append(said, one...)
		times, limits := 1, 1
		for j := i + 1; j < len(t.Of); j++ {
			switch other := &t.Of[j]; {
			case done[j] || other.Op != t.Of[i].Op:
			case other.Op == rule.HalfSpace && other.Below == t.Of[i].Below && slices.Equal(other.Terms, t.Of[i].Terms):
				done[j] = true
				limits++
				said = said.and(", " + Rounded(other.Number, 3))
			case other.Op != rule.HalfSpace && s.test(other).String() == one.String():
				done[j] = true
				times++
			}
		}
		if times > 1 {
			said = said.and(" (counts " + Number(float64(times)) + ")")
		}
		if limits > 1 {
			said = said.and(" (each counts)")
		}
	}
	return said.and(")")
}

// unless returns the test of "at least 1 of {test, the same column IS MISSING}",
// which is how a test is written that a missing cell meets; nil if it is none.
func unless(t *rule.Test) *rule.Test {
	if t.Count != 1 || len(t.Of) != 2 || t.Of[0].Column == "" || t.Of[0].Column != t.Of[1].Column {
		return nil
	}
	for i := range t.Of {
		if t.Of[i].Op == rule.IsMissing && t.Of[1-i].Op != rule.IsMissing {
			return &t.Of[1-i]
		}
	}
	return nil
}

// one says a test of one column.
func (s *Speaker) one(t *rule.Test) string {
	label := s.Label(t.Column)
	a := &table.Attribute{Name: t.Column}
	if j := s.Schema.Index(t.Column); j >= 0 {
		a = &s.Schema.Attributes[j]
	}
	switch t.Op {
	case rule.IsMissing:
		return label + " is not known"
	case rule.IsKnown:
		return label + " is known"
	case rule.Contains:
		return label + " has the word “" + t.Value + "”"
	case rule.NotContains:
		return label + " has no word “" + t.Value + "”"
	case rule.Eq:
		return s.is(a, t.Value)
	case rule.Ne:
		if s.flag(a) {
			if other := a.Values[1-slices.Index(a.Values, t.Value)]; slices.Contains(a.Values, t.Value) {
				return s.is(a, other)
			}
		}
		return label + " is not " + s.Value(t.Column, t.Value)
	case rule.In:
		return label + " is " + s.list(t, " or ")
	case rule.NotIn:
		return label + " is neither " + s.list(t, " nor ")
	}
	return s.range_(a, t)
}

// is says that a column has a value. A column that people named and that is
// either so or not loses the value: "no angina on exercise".
func (s *Speaker) is(a *table.Attribute, value string) string {
	switch {
	case !s.named(a.Name):
		return a.Name + " = " + value
	case s.flag(a) && len(s.Words.Columns[a.Name].Values) == 0:
		if affirmative(value) {
			return s.Label(a.Name)
		}
		return "no " + s.Label(a.Name)
	}
	return s.Label(a.Name) + " is " + s.Value(a.Name, value)
}

// flag reports whether a column says yes or no.
func (s *Speaker) flag(a *table.Attribute) bool {
	return a.Kind == table.Nominal && len(a.Values) == 2 &&
		(affirmative(a.Values[0]) && negative(a.Values[1]) || affirmative(a.Values[1]) && negative(a.Values[0]))
}

func affirmative(v string) bool {
	return slices.Contains([]string{"yes", "y", "true", "t", "1"}, strings.ToLower(v))
}

func negative(v string) bool {
	return slices.Contains([]string{"no", "n", "false", "f", "0"}, strings.ToLower(v))
}

func (s *Speaker) list(t *rule.Test, last string) string {
	text := ""
	for i, v := range t.Values {
		switch {
		case i == 0:
		case i == len(t.Values)-1 || last == " nor ":
			text += last
		default:
			text += ", "
		}
		text += s.Value(t.Column, v)
	}
	return text
}

// span is the numbers that a test admits, and whether its ends belong to it.
type span struct {
	low, high         float64
	lowOpen, highOpen bool
}

func spanOf(t *rule.Test) span {
	low, high := math.Inf(-1), math.Inf(1)
	switch t.Op {
	case rule.Lt:
		return span{low, t.Number, false, true}
	case rule.Le:
		return span{low, t.Number, false, false}
	case rule.Gt:
		return span{t.Number, high, true, false}
	case rule.Ge:
		return span{t.Number, high, false, false}
	}
	return span{t.Low, t.High, !t.LowClosed, t.HighOpen}
}

func (p span) has(x float64) bool {
	return (x > p.low || x == p.low && !p.lowOpen) && (x < p.high || x == p.high && !p.highOpen)
}

// range_ says a test of numbers. Where it is known which values occur, ends are
// the shortest numbers that divide them in the same way.
// Nowhere reports whether tests ask of a column for a value between two limits where
// none is among those that occur.
func (s *Speaker) Nowhere(tests []rule.Test) bool {
	return slices.ContainsFunc(tests, func(t rule.Test) bool {
		j := s.Schema.Index(t.Column)
		if t.Op != rule.Between || j < 0 || j >= len(s.Known) {
			return false
		}
		return !slices.ContainsFunc(s.Known[j], spanOf(&t).has)
	})
}

func (s *Speaker) range_(a *table.Attribute, t *rule.Test) string {
	p := spanOf(t)
	var known []float64
	if j := s.Schema.Index(a.Name); j >= 0 && j < len(s.Known) {
		known = s.Known[j]
	}
	lowest := slices.IndexFunc(known, p.has)
	if lowest < 0 {
		return s.plain(a, p)
	}
	highest := lowest
	for highest+1 < len(known) && p.has(known[highest+1]) {
		highest++
	}
	c := s.Words.Columns[a.Name]
	if len(known) == 2 && lowest == highest || known[0] == 0 && highest == 0 && math.IsInf(p.low, -1) || lowest == highest && !math.IsInf(p.low, 0) && !math.IsInf(p.high, 0) {
		return s.exactly(a, known[lowest])
	}
	e := s.edges(a, known, lowest, highest)
	e.below, e.above = math.IsInf(p.low, -1), math.IsInf(p.high, 1)
	return s.ends(a, c, e)
}

// edges are where a range begins and ends. A cut is one number, which belongs to
// what is above it: what it divides is "less than 26" and "26 or more". A range
// that ends with the last value that occurs, ends there and has it.
type edges struct {
	low, high    float64
	last         bool // nothing occurs above high
	whole        bool // the column counts: what is less than 26 is 25 or less
	below, above bool // it has no lower, no upper end
}

func (s *Speaker) edges(a *table.Attribute, known []float64, lowest, highest int) edges {
	cut := func(i int) float64 {
		switch {
		case a.Time:
			return moment(known[i-1], known[i])
		case a.Date:
			return known[i]
		}
		return shortest(known[i-1], known[i], true)
	}
	e := edges{low: known[lowest], high: known[highest], last: highest+1 == len(known)}
	if lowest > 0 {
		e.low = cut(lowest)
	}
	if !e.last {
		e.high = cut(highest + 1)
	}
	e.whole = !a.Time && !slices.ContainsFunc(known, func(x float64) bool { return x != math.Trunc(x) })
	return e
}

// moment is the last beginning of a day, an hour or a minute, whichever is longest,
// that lies between two moments, and the second of them if there is none.
func moment(low, high float64) float64 {
	for _, unit := range []float64{86400, 3600, 60} {
		if x := math.Floor(high/unit) * unit; x > low {
			return x
		}
	}
	return high
}

// exactly says that a column has one number.
func (s *Speaker) exactly(a *table.Attribute, x float64) string {
	switch {
	case s.Words.Columns[a.Name].Count && x == 0:
		return "no " + s.Label(a.Name)
	case s.Words.Columns[a.Name].Count && x == 1:
		return "1 " + strings.TrimSuffix(s.Label(a.Name), "s")
	case s.Words.Columns[a.Name].Count:
		return Number(x) + " " + s.Label(a.Name)
	case a.Date || a.Time:
		return s.Label(a.Name) + " is " + s.measure(a, x)
	case s.named(a.Name):
		return s.Label(a.Name) + " is " + s.measure(a, x)
	}
	return a.Name + " = " + s.measure(a, x)
}

// ends says from where to where.
func (s *Speaker) ends(a *table.Attribute, c Column, e edges) string {
	is := s.Label(a.Name) + " is "
	when := a.Date || a.Time
	switch {
	case c.Count:
		return s.counted(a, e)
	case e.below && e.last && when:
		return is + s.measure(a, e.high) + " or before"
	case e.below && e.last:
		return is + s.measure(a, e.high) + " or less"
	case e.below && when:
		return is + "before " + s.measure(a, e.high)
	case e.below:
		return is + "less than " + s.measure(a, e.high)
	case e.above && when:
		return is + s.measure(a, e.low) + " or later"
	case e.above:
		return is + s.measure(a, e.low) + " or more"
	case e.closed() && when:
		return is + "from " + s.measure(a, e.low) + " to " + s.measure(a, e.greatest())
	case e.closed():
		return is + Number(e.low) + " to " + s.measure(a, e.greatest())
	case when:
		return is + s.measure(a, e.low) + " or later and before " + s.measure(a, e.high)
	}
	return is + "at least " + Number(e.low) + " and less than " + s.measure(a, e.high)
}

// closed reports whether the range has a greatest number, and greatest is it.
func (e *edges) closed() bool { return e.last || e.whole }

func (e *edges) greatest() float64 {
	if e.last {
		return e.high
	}
	return e.high - 1
}

// counted says how many there are: "fewer than 3 coloured vessels".
func (s *Speaker) counted(a *table.Attribute, e edges) string {
	label := s.Label(a.Name)
	switch {
	case e.below && e.last:
		return Number(e.high) + " or fewer " + label
	case e.below:
		return "fewer than " + Number(e.high) + " " + label
	case e.above:
		return Number(e.low) + " or more " + label
	case e.closed():
		return Number(e.low) + " to " + Number(e.greatest()) + " " + label
	}
	return "at least " + Number(e.low) + " and fewer than " + Number(e.high) + " " + label
}

// plain says a range of which it is not known which values occur.
func (s *Speaker) plain(a *table.Attribute, p span) string {
	label, low, high := s.Label(a.Name), "", ""
	switch {
	case a.Date: // is a whole day
		return label + " is " + s.days(a, p)
	case !a.Time:
		p.low, p.high = round(p.low, 5), round(p.high, 5)
	}
	if !math.IsInf(p.low, -1) {
		low = "at least " + s.measure(a, p.low)
		if p.lowOpen {
			low = "more than " + s.measure(a, p.low)
		}
	}
	if !math.IsInf(p.high, 1) {
		high = "at most " + s.measure(a, p.high)
		if p.highOpen {
			high = "less than " + s.measure(a, p.high)
		}
	}
	if low != "" && high != "" {
		low += " and "
	}
	return label + " is " + low + high
}

// days says which days a range has.
func (s *Speaker) days(a *table.Attribute, p span) string {
	first, last := math.Ceil(p.low), math.Floor(p.high)
	if p.lowOpen && first == p.low {
		first++
	}
	if p.highOpen && last == p.high {
		last--
	}
	switch {
	case math.IsInf(first, -1):
		return s.measure(a, last) + " or earlier"
	case math.IsInf(last, 1):
		return s.measure(a, first) + " or later"
	case first == last:
		return s.measure(a, first)
	}
	return "from " + s.measure(a, first) + " to " + s.measure(a, last)
}

// halfSpace says a weighed sum, with three digits a factor.
func (s *Speaker) halfSpace(t *rule.Test) Sentence {
	var said Sentence
	for i, term := range t.Terms {
		sign := " + "
		switch {
		case term.Factor < 0 && i == 0:
			sign = "−"
		case term.Factor < 0:
			sign = " − "
		case i == 0:
			sign = ""
		}
		said = append(said.and(sign+Rounded(math.Abs(term.Factor), 3)+" × "), s.part(term.Column, s.Label(term.Column)))
	}
	if t.Below {
		return said.and(" is at most " + Rounded(t.Number, 3))
	}
	return said.and(" is more than " + Rounded(t.Number, 3))
}
