package life

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// mostExpected is how many columns of a unit fit on a page.
const mostExpected = 12

// Brief is a statement with rounded figures.
func Brief(s rule.Statement) string {
	if s.Unit != nil {
		u := *s.Unit
		RoundUnit(&u)
		return u.String()
	}
	r := *s.Rule
	RoundRule(&r)
	return rule.Statement{Rule: &r, Else: s.Else}.String()
}

// RoundRule rounds figures to four decimals, and of a distribution leaves the
// most probable class.
func RoundRule(r *rule.Rule) {
	e := &r.Evidence
	e.Covered, e.Correct, e.Bits, e.Templates = decimals(e.Covered), decimals(e.Correct), decimals(e.Bits), decimals(e.Templates)
	e.Weight, r.With = decimals(e.Weight), decimals(r.With)
	r.Then.Mean, r.Then.Deviation = around(r.Then.Mean, r.Then.Deviation), digits(r.Then.Deviation)
	if l := r.Then.Line; l != nil {
		brief := *l
		brief.Centre, brief.Low, brief.High = digits(l.Centre), digits(l.Low), digits(l.High)
		r.Then.Line = &brief
	}
	if len(r.Then.By) > 0 {
		r.Then.By = slices.Clone(r.Then.By)
		for i := range r.Then.By {
			r.Then.By[i].P = *decimals(&r.Then.By[i].P)
		}
	}
	if len(r.Then.Classes) > 0 {
		likely := Likeliest(r.Then.Classes)
		r.Then.Value, r.With, r.Then.Classes = likely.Value, decimals(&likely.P), nil
	}
}

// Likeliest returns the most probable value of a distribution.
func Likeliest(shares []rule.Share) rule.Share {
	return slices.MaxFunc(shares, func(a, b rule.Share) int { return cmp.Compare(a.P, b.P) })
}

// RoundUnit rounds what a unit expects, and of many columns keeps the first.
func RoundUnit(u *rule.Unit) {
	u.Prior = digits(u.Prior)
	u.Expect = slices.Clone(u.Expect)
	if len(u.Expect) > mostExpected { // what is NORMAL tells least
		u.Expect = slices.DeleteFunc(u.Expect, func(e rule.Expectation) bool { return e.Normal })
		u.Expect = u.Expect[:min(len(u.Expect), mostExpected)]
	}
	for i := range u.Expect {
		e := &u.Expect[i]
		e.Mean, e.Deviation = around(e.Mean, e.Deviation), digits(e.Deviation)
		e.Shares = slices.Clone(e.Shares)
		for j := range e.Shares {
			e.Shares[j].P = digits(e.Shares[j].P)
		}
	}
}

// decimals rounds to four decimals; nil stays nil.
func decimals(x *float64) *float64 {
	if x == nil || math.Abs(*x) > 1e11 {
		return x
	}
	y := math.Round(*x*1e4) / 1e4
	return &y
}

// around rounds a mean to four significant digits, or to more where that would
// be coarse beside its deviation: a date is a large number of days.
func around(mean, deviation float64) float64 {
	if rounded := digits(mean); deviation <= 0 || math.Abs(rounded-mean) < deviation/100 {
		return rounded
	}
	if scale := math.Pow(10, 2-math.Floor(math.Log10(deviation))); scale < 1e300 && math.Abs(mean)*scale < 1<<53 {
		return math.Round(mean*scale) / scale
	}
	return mean
}

// digits rounds to four significant digits.
func digits(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return x
	}
	return math.Round(x*scale) / scale
}

// ExpectationCell is what a unit expects of a column, as it fits in a table.
func ExpectationCell(a *table.Attribute, e *rule.Expectation) string {
	switch {
	case e.Normal:
		return "NORMAL"
	case len(e.Shares) > 0:
		likely := Likeliest(e.Shares)
		return fmt.Sprintf("%s %.0f %%", likely.Value, 100*likely.P)
	case e.MeanSD:
		return fmt.Sprintf("%.2f ± %.2f", e.Mean+0, e.Deviation)
	}
	return say.Spread(a, e.Mean, e.Deviation)
}

// OverallCell is what a column is like over all rows, as it fits in a table.
func OverallCell(a *table.Attribute, o *rule.Overall) string {
	if len(o.Shares) == 0 {
		return say.Spread(a, o.Mean, o.Deviation)
	}
	best := 0
	for v, p := range o.Shares {
		if p > o.Shares[best] {
			best = v
		}
	}
	return fmt.Sprintf("%s %.0f %%", a.Values[best], 100*o.Shares[best])
}
