package say

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rule says a rule: "When cp = asympt and ca is 1 or more, >50_1 in 72 of 77
// cases (94 %; usually 46 %)." A rule without tests says what is usual.
func (s *Speaker) Rule(r *rule.Rule) Sentence {
	if len(r.If) == 0 && r.Then.Line != nil {
		said := s.then(r)
		said[0].Text = "F" + said[0].Text[1:]
		return said.and(".")
	}
	if len(r.If) == 0 {
		return append(Sentence{{Text: "Usually "}}, s.then(r)...).and(".")
	}
	said := append(Sentence{{Text: "When "}}, s.Conditions(r.If)...)
	return append(said.and(", "), s.then(r)...).and(".")
}

// Else says what answers where no rule does.
func (s *Speaker) Else(r *rule.Rule) Sentence {
	return append(Sentence{{Text: "Otherwise, "}}, s.then(r)...).and(".")
}

// then says what a rule concludes.
func (s *Speaker) then(r *rule.Rule) Sentence {
	switch c := &r.Then; {
	case c.Adds:
		verb, to := "adds ", " to "
		if c.Mean < 0 {
			verb, to = "takes ", " from "
		}
		size := s.amount(c, math.Abs(c.Mean))
		if c.Deviation > 0 {
			size += " ± " + Rounded(c.Deviation, 2)
		}
		said := Sentence{{Text: verb + size + to}, s.part(c.Column, s.Label(c.Column))}
		if c.Line != nil {
			said = s.line(c.Line, said)
		}
		return said.and(s.in(r))
	case c.Numeric:
		text := " is about " + s.amount(c, c.Mean)
		if c.Deviation > 0 {
			text += ", give or take " + s.amount(c, c.Deviation)
		}
		return Sentence{s.part(c.Column, s.Label(c.Column))}.and(text + s.in(r))
	case len(c.By) > 0:
		return s.by(c.By)
	case len(c.Classes) > 0:
		return s.shares(r)
	}
	return s.class(r)
}

// line says for what a number is added, as in "for each 1 that area is above 90,
// adds 1.5 to price (area counts from 20 to 240)".
func (s *Speaker) line(l *rule.Line, adds Sentence) Sentence {
	said := Sentence{{Text: "for each 1 that "}, s.part(l.Column, s.Label(l.Column)), {Text: " is above " + Rounded(l.Centre, 4) + ", "}}
	said = append(said, adds...).and(", and the other way below")
	if l.Limited {
		said = said.and(fmt.Sprintf(" (counted from %s to %s)", Rounded(l.Low, 4), Rounded(l.High, 4)))
	}
	return said
}

// in is how many rows a rule covers.
func (s *Speaker) in(r *rule.Rule) string {
	if n := r.Evidence.Covered; n != nil && len(r.If) > 0 {
		return fmt.Sprintf(" (%s %s)", Count(*n), s.number(*n))
	}
	return ""
}

// number is "case" or "cases".
func (s *Speaker) number(n float64) string {
	if Count(n) == "1" { // weights that EM found are hardly ever 1
		return s.Case()
	}
	return s.Cases()
}

// amount writes a number that was estimated: with three digits.
func (s *Speaker) amount(c *rule.Conclusion, x float64) string {
	a := &table.Attribute{Name: c.Column}
	if s.Target >= 0 && !c.Adds {
		a = &s.Schema.Attributes[s.Target]
	}
	return s.measure(a, round(x, 3))
}

// class says how often a class is right, and whether that speaks for it.
func (s *Speaker) class(r *rule.Rule) Sentence {
	class := r.Then.Value
	rate, known := math.NaN(), false
	if r.With != nil {
		rate, known = *r.With, true
	}
	counts := ""
	if n, k := r.Evidence.Covered, r.Evidence.Correct; n != nil && k != nil && *n > 0 {
		rate, known = *k / *n, true
		switch {
		case *n == *k:
			counts = fmt.Sprintf("in all %s %s", Count(*n), s.number(*n))
			if *n == 1 {
				counts = "in the only " + s.Case()
			}
		case *k == 0:
			counts = fmt.Sprintf("in none of %s %s", Count(*n), s.number(*n))
		default:
			counts = fmt.Sprintf("in %s of %s %s", Count(*k), Count(*n), s.number(*n))
		}
	}
	if r.Worth != nil && r.With != nil { // somebody says so
		rate, known, counts = *r.With, true, ""
	}
	said := Sentence{s.classPart(class)}
	if !s.ofTarget(r) { // a step of a theory
		said = Sentence{s.other(r.Then.Column, class)}
	}
	if !known {
		return said
	}
	usual, hasUsual := s.usual(r, class)
	text := ""
	switch {
	case counts == "":
		text = " in " + Percent(rate)
		if hasUsual && len(r.If) > 0 {
			text += " (usually " + Percent(usual) + ")"
		}
	case (!hasUsual || len(r.If) == 0) && (rate == 0 || rate == 1):
		text = " " + counts
	case !hasUsual || len(r.If) == 0:
		text = " " + counts + " (" + Percent(rate) + ")"
	case rate == 1 || rate == 0:
		text = " " + counts + " (usually " + Percent(usual) + ")"
	default:
		text = " " + counts + " (" + Percent(rate) + "; usually " + Percent(usual) + ")"
	}
	if side := s.Side(r, rate); side != "" {
		return said.and(text + ": " + side)
	}
	return said.and(text)
}

// ofTarget reports whether a rule concludes something of what the model predicts.
func (s *Speaker) ofTarget(r *rule.Rule) bool {
	return s.Target >= 0 && r.Then.Column == s.Schema.Attributes[s.Target].Name
}

// other says a value of another column.
func (s *Speaker) other(column, value string) Part {
	return s.part(column, s.Label(column)+" = "+s.Value(column, value))
}

// Side says where a rule of a weighed base does not do what its rate suggests:
// it speaks against its class, or for it though it is rarer there.
func (s *Speaker) Side(r *rule.Rule, rate float64) string {
	w := r.Evidence.Weight
	usual, known := s.usual(r, r.Then.Value)
	if w == nil || len(r.If) == 0 {
		return ""
	}
	class := s.Class(r.Then.Value)
	switch {
	case *w < 0 && (!known || rate < usual):
		return "it speaks against " + class
	case *w < 0:
		return "beside the other rules it still takes from " + class
	case known && rate < usual && *w > 0:
		return "it speaks for " + class + " where others speak against it"
	}
	return ""
}

// by says what a rule adds to the scores of classes.
func (s *Speaker) by(shares []rule.Share) Sentence {
	order := slices.SortedStableFunc(slices.Values(shares), func(a, b rule.Share) int { return cmp.Compare(b.P, a.P) })
	if len(order) == 2 {
		times := Times(order[0].P - order[1].P)
		return Sentence{s.classPart(order[0].Value)}.and(" is " + times + " times as likely beside ").more(s.classPart(order[1].Value))
	}
	order = foremost(order)
	said := Sentence{}
	for i, share := range order {
		if i > 0 {
			said = said.and(", ")
		}
		sign := "× "
		if share.P < 0 {
			sign = "÷ "
		}
		said = append(said, s.classPart(share.Value)).and(" " + sign + Times(share.P))
	}
	if len(order) < len(shares) {
		said = said.and(", others less")
	}
	return said
}

// foremost returns the classes that are moved most, at least one, those that gain
// most first.
func foremost(shares []rule.Share) []rule.Share {
	most := slices.SortedStableFunc(slices.Values(shares), func(a, b rule.Share) int { return cmp.Compare(math.Abs(b.P), math.Abs(a.P)) })
	if len(most) > mostShown+1 {
		most = most[:mostShown]
	}
	told := 1
	for told < len(most) && math.Abs(most[told].P) >= leastTold {
		told++
	}
	most = most[:told]
	slices.SortStableFunc(most, func(a, b rule.Share) int { return cmp.Compare(b.P, a.P) })
	return most
}

// leastTold is the weight from which on a class is said to be moved: what is below
// would be written as × 1.
const leastTold = 0.05

func (s Sentence) more(p ...Part) Sentence { return append(s, p...) }

// mostShown is how many classes, values or columns a sentence lists.
const mostShown = 4

// shares says a distribution.
func (s *Speaker) shares(r *rule.Rule) Sentence {
	order := slices.SortedStableFunc(slices.Values(r.Then.Classes), func(a, b rule.Share) int { return cmp.Compare(b.P, a.P) })
	said, rest := Sentence{}, 1.0
	for i, share := range order {
		if i > 0 && share.P < 0.005 {
			break
		}
		if i == mostShown && i+1 < len(order) {
			said = said.and(", others in " + Percent(max(rest, 0)))
			break
		}
		rest -= share.P
		if i > 0 {
			said = said.and(", ")
		}
		value := s.classPart(share.Value)
		if !s.ofTarget(r) {
			value = s.part(r.Then.Column, s.Value(r.Then.Column, share.Value))
			if i == 0 {
				value = s.other(r.Then.Column, share.Value)
			}
		}
		said = append(said, value).and(" in " + Percent(share.P))
		if usual, ok := s.usual(r, share.Value); ok && i == 0 && len(r.If) > 0 {
			said = said.and(" (usually " + Percent(usual) + ")")
		}
	}
	return said.and(s.in(r))
}

// Unit says a unit of a mixture: what is expected of the columns, first those in
// which it differs most from all rows.
func (s *Speaker) Unit(u *rule.Unit) Sentence {
	order := slices.Clone(u.Expect)
	said := Sentence{{Text: fmt.Sprintf("A group of %s of the %s (%s): ", Percent(u.Prior), s.Cases(), u.Name)}}
	if class := s.only(u); class != "" {
		said = Sentence{{Text: fmt.Sprintf("Of the %s of %s with ", Percent(u.Prior), s.Cases())}, {Text: s.is(&s.Schema.Attributes[s.Target], class), Class: class}, {Text: ": "}}
		order = slices.DeleteFunc(order, func(e rule.Expectation) bool { return e.Column == s.Schema.Attributes[s.Target].Name })
	}
	order = slices.DeleteFunc(order, func(e rule.Expectation) bool { return e.Normal })
	slices.SortStableFunc(order, func(a, b rule.Expectation) int { return cmp.Compare(s.odd(&b), s.odd(&a)) })
	for i := range order {
		if i == mostExpected && len(order) > mostExpected+1 {
			return said.and(fmt.Sprintf(", and %d more columns.", len(order)-i))
		}
		if i > 0 {
			said = said.and(", ")
		}
		said = append(said, s.part(order[i].Column, s.Expectation(&order[i])))
	}
	if len(order) == 0 {
		said = said.and("as all others")
	}
	return said.and(".")
}

const mostExpected = 6

// only is the class of a unit that has no other, or "".
func (s *Speaker) only(u *rule.Unit) string {
	if s.Target < 0 {
		return ""
	}
	for _, e := range u.Expect {
		for _, share := range e.Shares {
			if e.Column == s.Schema.Attributes[s.Target].Name && share.P >= 0.999 {
				return share.Value
			}
		}
	}
	return ""
}

// OverallOf is what all units of a mixture expect together.
func OverallOf(schema *table.Schema, units []rule.Unit) []rule.Overall {
	all := make([]rule.Overall, len(schema.Attributes))
	for j := range all {
		if schema.Attributes[j].Kind == table.Nominal {
			all[j].Shares = make([]float64, len(schema.Attributes[j].Values))
		}
	}
	each := func(do func(u *rule.Unit, e *rule.Expectation, o *rule.Overall, a *table.Attribute)) {
		for i := range units {
			for k := range units[i].Expect {
				if j := schema.Index(units[i].Expect[k].Column); j >= 0 {
					do(&units[i], &units[i].Expect[k], &all[j], &schema.Attributes[j])
				}
			}
		}
	}
	each(func(u *rule.Unit, e *rule.Expectation, o *rule.Overall, a *table.Attribute) {
		o.Mean += u.Prior * e.Mean
		for _, share := range e.Shares {
			if v := a.Code(share.Value); v >= 0 && int(v) < len(o.Shares) {
				o.Shares[v] += u.Prior * share.P
			}
		}
	})
	each(func(u *rule.Unit, e *rule.Expectation, o *rule.Overall, _ *table.Attribute) {
		o.Deviation += u.Prior * (e.Deviation*e.Deviation + (e.Mean-o.Mean)*(e.Mean-o.Mean))
	})
	for j := range all {
		all[j].Deviation = math.Sqrt(all[j].Deviation)
	}
	return all
}

// odd is how far an expectation is from what is so overall.
func (s *Speaker) odd(e *rule.Expectation) float64 {
	j := s.Schema.Index(e.Column)
	switch {
	case j >= 0 && j == s.Target:
		return math.Inf(1) // what it is about stands first
	case j < 0 || j >= len(s.Overall):
		return 0
	}
	o := &s.Overall[j]
	if len(e.Shares) > 0 {
		most := 0.0
		for _, share := range e.Shares {
			if v := s.Schema.Attributes[j].Code(share.Value); v >= 0 && int(v) < len(o.Shares) {
				most += math.Abs(share.P - o.Shares[v])
			}
		}
		return most
	}
	if e.MeanSD {
		return math.Abs(e.Mean)
	}
	if o.Deviation > 0 {
		return math.Abs(e.Mean-o.Mean) / o.Deviation
	}
	return 0
}

// Expectation says what is expected of a column.
func (s *Speaker) Expectation(e *rule.Expectation) string {
	label := s.Label(e.Column)
	a := &table.Attribute{Name: e.Column}
	if j := s.Schema.Index(e.Column); j >= 0 {
		a = &s.Schema.Attributes[j]
	}
	switch {
	case len(e.Shares) > 0:
		likely := slices.MaxFunc(e.Shares, func(a, b rule.Share) int { return cmp.Compare(a.P, b.P) })
		if likely.P >= 0.995 {
			return s.is(a, likely.Value)
		}
		return s.is(a, likely.Value) + " in " + Percent(likely.P)
	case e.MeanSD:
		return fmt.Sprintf("%s %s deviations from its mean", label, Rounded(e.Mean, 2))
	}
	return label + " about " + s.measure(a, finer(e.Mean, e.Deviation)) + " ± " + s.measure(&table.Attribute{Name: ""}, round(e.Deviation, 2))
}

// finer rounds a mean to a tenth of its deviation.
func finer(mean, deviation float64) float64 {
	if !(deviation > 0) || math.IsInf(deviation, 0) {
		return round(mean, 4)
	}
	return toPlace(mean, min(max(1-int(math.Floor(math.Log10(deviation))), -15), 15), math.Round)
}
