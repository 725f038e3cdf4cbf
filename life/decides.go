package life

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Decides is what a rule decides: the rows learnt from whose answer would be
// another without it, and how many of them it makes right and wrong.
type Decides struct {
	Rows  float64 `json:"rows"`
	Right float64 `json:"right"`
	Wrong float64 `json:"wrong"`
}

// mostWork bounds how many rows times rules what rules decide is found for; more
// are put in order by weight and coverage.
const mostWork = 200_000_000

// influence is what the rules of a base do to the rows that a model keeps.
type influence struct {
	matched []bits.Set // by rule; nil where rows are not kept
	decides []*Decides // nil where it is not known
}

// newInfluence tries each rule on rows. Without rows nothing is known.
func newInfluence(ctx context.Context, base *rule.Base, rows *table.Table, target int, told *expert.Told) (*influence, error) {
	f := &influence{matched: make([]bits.Set, len(base.Rules)), decides: make([]*Decides, len(base.Rules))}
	if rows == nil || target == learn.NoTarget || len(base.Rules) == 0 || rows.Rows()*len(base.Rules) > mostWork {
		return f, nil
	}
	for i := range base.Rules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := rule.NewMatcher(base.Rules[i].If, rows.Schema)
		if err != nil {
			return &influence{matched: make([]bits.Set, len(base.Rules)), decides: f.decides}, nil
		}
		f.matched[i] = bits.New(rows.Rows())
		m.Match(rows, f.matched[i])
	}
	switch a := &rows.Schema.Attributes[target]; {
	case slices.ContainsFunc(base.Rules, func(r rule.Rule) bool { return r.Then.Column != a.Name }):
		// a model of all columns together: one rule after the other answers nothing
	case base.Kind == rule.Ordered:
		f.ordered(base, rows, target)
	case base.Kind == rule.Weighed && a.Kind == table.Nominal && base.Else == nil:
		return f, f.weighed(ctx, base, rows, target, told)
	}
	return f, nil
}

// ordered: the first rule that matches answers, and without it the next does.
func (f *influence) ordered(base *rule.Base, rows *table.Table, target int) {
	answer := func(r *rule.Rule) string {
		if r.Then.Numeric {
			return r.Then.String()
		}
		class, _ := r.Answer()
		return class
	}
	answers := make([]string, len(base.Rules)+1)
	for i := range base.Rules {
		answers[i] = answer(&base.Rules[i])
		f.decides[i] = &Decides{}
	}
	if base.Else != nil {
		answers[len(base.Rules)] = answer(base.Else)
	} else {
		answers[len(base.Rules)] = "\x00no answer"
	}
	for row := range rows.Rows() {
		first, next := -1, len(base.Rules)
		for i := range base.Rules {
			if !f.matched[i].Get(row) {
				continue
			}
			if first >= 0 {
				next = i
				break
			}
			first = i
		}
		if first < 0 || answers[first] == answers[next] {
			continue
		}
		d, w := f.decides[first], rows.Weight(row)
		d.Rows += w
		switch truth, known := truthOf(rows, target, row); {
		case !known:
		case truth == answers[first] || base.Rules[first].Then.Numeric && within(&base.Rules[first].Then, rows, target, row):
			d.Right += w
		default:
			d.Wrong += w
		}
	}
}

// within reports whether a number is within what a rule gives or takes.
func within(c *rule.Conclusion, rows *table.Table, target, row int) bool {
	return math.Abs(rows.Columns[target].Floats[row]-c.Mean) <= c.Deviation
}

// truthOf returns the class of a row.
func truthOf(rows *table.Table, target, row int) (string, bool) {
	c := &rows.Columns[target]
	switch {
	case c.Floats != nil:
		return "", !table.IsMissing(c.Floats[row])
	case c.Codes == nil || c.Codes[row] < 0:
		return "", false
	}
	return rows.Schema.Attributes[target].Values[c.Codes[row]], true
}

// weights returns what a rule adds to the score of each class, and whether it
// says so itself.
func weights(r *rule.Rule, a *table.Attribute, to []float64) bool {
	clear(to)
	add := func(class string, w float64) bool {
		c := a.Code(class)
		if c < 0 || int(c) >= len(to) {
			return false
		}
		to[c] += w
		return true
	}
	switch {
	case len(r.Then.By) > 0:
		for _, share := range r.Then.By {
			if !add(share.Value, share.P) {
				return false
			}
		}
		return true
	case r.Then.Numeric || len(r.Then.Classes) > 0:
		return false
	case r.Evidence.Weight != nil:
		return add(r.Then.Value, *r.Evidence.Weight)
	case len(r.If) == 0 && r.With != nil:
		return add(r.Then.Value, math.Log(*r.With))
	}
	return false
}

// weighed: every rule that matches adds to scores; without it, it does not.
func (f *influence) weighed(ctx context.Context, base *rule.Base, rows *table.Table, target int, told *expert.Told) error {
	a := &rows.Schema.Attributes[target]
	k := len(a.Values)
	adds := make([][]float64, len(base.Rules))
	scores := make([]float64, rows.Rows()*k)
	for i := range base.Rules {
		adds[i] = make([]float64, k)
		if !weights(&base.Rules[i], a, adds[i]) {
			return nil
		}
		for row := range f.matched[i].All {
			for c, w := range adds[i] {
				scores[row*k+c] += w
			}
		}
	}
	answers := make([]int, rows.Rows())
	answer := newAnswerer(rows, told, a.Values)
	for row := range answers {
		answers[row] = answer(row, scores[row*k:(row+1)*k])
	}
	without := make([]float64, k)
	for i := range base.Rules {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.decides[i] = &Decides{}
		if len(base.Rules[i].If) == 0 {
			continue
		}
		for row := range f.matched[i].All {
			for c, w := range adds[i] {
				without[c] = scores[row*k+c] - w
			}
			if answer(row, without) == answers[row] {
				continue
			}
			d, w := f.decides[i], rows.Weight(row)
			d.Rows += w
			switch truth := rows.Columns[target].Codes[row]; {
			case truth < 0:
			case int(truth) == answers[row]:
				d.Right += w
			default:
				d.Wrong += w
			}
		}
	}
	return nil
}

// newAnswerer returns what class scores of a row come to, experts' rules heard.
func newAnswerer(rows *table.Table, told *expert.Told, classes []string) func(row int, scores []float64) int {
	if told == nil {
		return func(_ int, scores []float64) int { return learn.Best(scores, classes) }
	}
	names := told.Schema().Attributes[told.Target()].Values
	p := make([]float64, len(names))
	revise := told.Reviser()
	return func(row int, scores []float64) int {
		most, sum := slices.Max(scores), 0.0
		clear(p)
		for c, s := range scores {
			p[c] = math.Exp(s - most)
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
		revise(rows, row, p)
		return learn.Best(p, names)
	}
}

// counts is how much a rule is worth showing: what it decides, then how much it
// says of how many rows.
func (f *influence) counts(base *rule.Base, i int) (decides, says float64) {
	r := &base.Rules[i]
	if f.decides[i] != nil {
		decides = f.decides[i].Rows
	}
	covered, weight := 1.0, 0.0
	if r.Evidence.Covered != nil {
		covered = *r.Evidence.Covered
	}
	switch {
	case r.Then.Adds:
		weight = math.Abs(r.Then.Mean)
		if l := r.Then.Line; l != nil && l.Limited {
			weight *= (l.High - l.Low) / 4 // a deviation, or so
		}
	case len(r.Then.By) > 0:
		for _, share := range r.Then.By {
			weight = max(weight, math.Abs(share.P))
		}
	case r.Evidence.Weight != nil:
		weight = math.Abs(*r.Evidence.Weight)
	case r.Evidence.Bits != nil:
		return decides, *r.Evidence.Bits
	}
	return decides, weight * covered
}

// isUsual reports whether a rule says what is usual, and not what a column adds.
func isUsual(r *rule.Rule) bool { return len(r.If) == 0 && r.Then.Line == nil }

// order returns the rules in the order of what they decide: those without tests
// first, and of an ordered base, whose order is what it says, none moved unless
// no two of them can meet.
func (f *influence) order(base *rule.Base, schema *table.Schema) []int {
	order := make([]int, len(base.Rules))
	for i := range order {
		order[i] = i
	}
	if base.Kind == rule.Ordered && !apart(base, schema) {
		return order
	}
	slices.SortStableFunc(order, func(i, j int) int {
		pi, pj := isUsual(&base.Rules[i]), isUsual(&base.Rules[j])
		if pi != pj {
			if pi {
				return -1
			}
			return 1
		}
		if pi {
			return 0
		}
		di, si := f.counts(base, i)
		dj, sj := f.counts(base, j)
		return cmp.Or(cmp.Compare(dj, di), cmp.Compare(sj, si))
	})
	return order
}

// mostApart is how many rules are looked at in pairs.
const mostApart = 300

// apart reports whether no two rules of a base can speak of one row, as with the
// leaves of a tree.
func apart(base *rule.Base, schema *table.Schema) bool {
	if len(base.Rules) > mostApart || base.Else != nil {
		return false
	}
	for i := range base.Rules {
		for j := range i {
			if _, some := rule.Overlap(base.Rules[i].If, base.Rules[j].If, schema); some {
				return false
			}
		}
	}
	return true
}

// alike is the share of rows that two rules have to have in common to be nearly
// the same.
const alike = 0.95

// near returns for each rule in this order the earlier one that it is nearly the
// same as, or −1: the same class of nearly the same rows.
func (f *influence) near(base *rule.Base, order []int) []int {
	near := make([]int, len(base.Rules))
	for at, i := range order {
		near[i] = -1
		for _, j := range order[:at] {
			if near[j] < 0 && base.Kind == rule.Weighed && f.like(&base.Rules[i], &base.Rules[j], i, j) {
				near[i] = j
				break
			}
		}
	}
	return near
}

func (f *influence) like(a, b *rule.Rule, i, j int) bool {
	if f.matched[i] == nil || f.matched[j] == nil || len(a.If) == 0 || len(b.If) == 0 || len(a.Then.By) > 0 || a.Then.Adds != b.Then.Adds || a.Then.Line != nil || b.Then.Line != nil {
		return false
	}
	if a.Then.Value != b.Then.Value || a.Then.Adds && (a.Then.Mean < 0) != (b.Then.Mean < 0) || against(a) != against(b) {
		return false
	}
	ni, nj := f.matched[i].Count(), f.matched[j].Count()
	if min(ni, nj) == 0 || float64(min(ni, nj)) < alike*float64(max(ni, nj)) {
		return false
	}
	n := bits.AndCount(f.matched[i], f.matched[j])
	return float64(n) >= alike*float64(ni+nj-n)
}

func against(r *rule.Rule) bool { return r.Evidence.Weight != nil && *r.Evidence.Weight < 0 }
