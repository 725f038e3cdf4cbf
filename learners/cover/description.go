package cover

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
)

// Description lengths (Quinlan 1995, MDL and categorical theories; Cohen 1995):
// the bits of the rules, and of the rows for which they are wrong.

// covered is what a rule is the first to cover.
type covered struct{ rows, correct float64 }

// description is what a set of rules covers.
type description struct {
	each       []covered
	expected   float64
	rows       float64 // covered by some rule
	rest       float64 // by none
	wrong      float64 // covered, but not of the class
	overlooked float64 // of the class, but not covered
}

// describe counts what rules cover.
func (r *ripper) describe(rules []ruleOf) *description {
	d := &description{expected: r.expected, each: make([]covered, len(rules))}
	left, of := slices.Clone(r.data), bits.New(r.rows)
	for i := range rules {
		bits.And(of, left, rules[i].rows)
		bits.AndNot(left, left, rules[i].rows)
		d.each[i].rows = r.weigh(of)
		bits.And(of, of, r.positive)
		d.each[i].correct = r.weigh(of)
		d.rows += d.each[i].rows
		d.wrong += d.each[i].rows - d.each[i].correct
	}
	d.rest = r.weigh(left)
	bits.And(of, left, r.positive)
	d.overlooked = r.weigh(of)
	return d
}

// bits returns the length of the exceptions: which of the covered rows are
// wrong, and which of the others are overlooked.
func (d *description) bits() float64 {
	all := math.Log2(d.rows + d.rest + 1)
	errors := d.wrong + d.overlooked
	if d.rows > d.rest {
		length := all + subset(d.rows, d.wrong, d.expected*errors/d.rows)
		if d.rest > 0 {
			length += subset(d.rest, d.overlooked, d.overlooked/d.rest)
		}
		return length
	}
	length := all
	if d.rows > 0 {
		length += subset(d.rows, d.wrong, d.wrong/d.rows)
	}
	if d.rest > 0 {
		length += subset(d.rest, d.overlooked, (1-d.expected)*errors/d.rest)
	}
	return length
}

// subset returns the bits that say which k of n rows are meant, if each is with
// probability p.
func subset(n, k, p float64) float64 {
	p = min(max(p, 1e-12), 1-1e-12)
	length := 0.0
	if k > 0 {
		length -= k * math.Log2(p)
	}
	if n > k {
		length -= (n - k) * math.Log2(1-p)
	}
	return length
}

// theory returns the bits of a rule with k of all tests, halved because tests
// are not independent (Cohen 1995).
func (r *ripper) theory(k int) float64 {
	if k == 0 {
		return 0
	}
	length := math.Log2(float64(k))
	if k > 1 {
		length += 2 * math.Log2(length)
	}
	n := max(r.tests, float64(k))
	return 0.5 * (length + subset(n, float64(k), float64(k)/n))
}

// without returns by how much the description is shorter without a rule, and
// whether the rule should go; then it is no longer in the description.
func (d *description) without(c *covered, theory float64) (saved float64, goes bool) {
	less := *d
	less.rows -= c.rows
	less.rest += c.rows
	less.wrong -= c.rows - c.correct
	less.overlooked += c.correct
	saved = d.bits() + theory - less.bits()
	if goes = saved >= 0 || (c.rows-c.correct) >= 0.5*c.rows; goes {
		*d = less
	}
	return saved, goes
}

// relative returns by how much a rule lengthens the description, if rules after
// it that do not pay for themselves are left out in both cases.
func (r *ripper) relative(rules []ruleOf, i int) float64 {
	with := r.reduced(rules, i+1)
	others := slices.Delete(slices.Clone(rules), i, i+1)
	return with + r.theory(len(rules[i].tests)) - r.reduced(others, i)
}

// reduced returns the length of the description without rules from one on that
// do not pay for themselves.
func (r *ripper) reduced(rules []ruleOf, from int) float64 {
	d := r.describe(rules)
	length := d.bits()
	for k := from; k < len(rules); k++ {
		if saved, goes := d.without(&d.each[k], r.theory(len(rules[k].tests))); goes {
			length -= saved
		}
	}
	return length
}
