package life

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Budget is how well a model answers rows that it has not learnt, by how many of
// its rules it may use: how often it is right, of numbers how far off it is.
type Budget struct {
	Points []BudgetPoint `json:"points"`
	// AsGood is the fewest rules within one standard error of the best of Points.
	AsGood int `json:"as_good"`
	// Usual is how often the most frequent class is right; of numbers how far
	// the mean is off. Whole is the same of the models themselves, uncut.
	Usual float64 `json:"usual"`
	Whole float64 `json:"whole"`
	// WholeRules is how many rules these have, on average; then the fewest and the
	// most.
	WholeRules  float64 `json:"whole_rules"`
	FewestRules int     `json:"fewest_rules"`
	MostRules   int     `json:"most_rules"`
	On          string  `json:"on"`
	Rules       int     `json:"rules"` // that the model has
	// Refitted says that what is left of a cut model was fitted again.
	Refitted bool `json:"refitted"`
	// Alike says which settings the folds took over from the model, which had
	// chosen them by its rows: then Whole is not learn's own estimate, whose folds
	// choose for themselves.
	Alike map[string]string `json:"alike,omitempty"`

	numeric bool
}

// BudgetPoint is what so many rules are worth.
type BudgetPoint struct {
	Rules    int      `json:"rules"`
	Bits     float64  `json:"bits"` // the share of the information that they carry
	Accuracy *float64 `json:"accuracy,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"` // of numbers, instead of accuracy
}

// Budget learns the rows that a model was learnt from again, in folds, cuts each
// model to fewer rules, and tries what is left on the fold.
func (h *Home) Budget(ctx context.Context, p *Part) (*Budget, error) {
	if p.Target() == learn.NoTarget {
		return nil, remedy.Misusef("a budget of rules is judged by answers; a density of all columns has none")
	}
	rows, err := h.again(ctx, p, nil, mostJudged)
	if err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, fmt.Errorf("the rows that %s learnt are not there, or too many to learn again", p.Name)
	}
	whole, err := newCutting(ctx, plain(p.Model), rows.table)
	if err != nil {
		return nil, err
	}
	if whole == nil {
		return nil, remedy.Misusef("%s is no rules that answer as it does; read out as a tree, any model is", modelOf(p.Version.Learner))
	}
	t := &budgetTrial{sizes: budgetSizes(whole.of), target: p.Target(), numeric: rows.table.Columns[p.Target()].Floats != nil}
	t.sums, t.squares, t.shares = make([]float64, len(t.sizes)), make([]float64, len(t.sizes)), make([]float64, len(t.sizes))
	settings, alike := alikeSettings(p)
	if err := h.inFolds(ctx, p, rows, settings, func(m learn.Model, train, test *table.Table) error { return t.fold(ctx, m, train, test) }); err != nil {
		return nil, err
	}
	b := &Budget{Rules: whole.of, Refitted: whole.refitted, On: fmt.Sprintf("%d folds of the rows that %s learnt%s", calibrationFolds, p.Name, rows.by.Apart()), Alike: alike, numeric: t.numeric}
	t.settle(b)
	return b, nil
}

// alikeSettings are those by which other rows are learnt to a model of the same kind
// and size, and those of them that the learner would else choose by the rows.
func alikeSettings(p *Part) (settings, alike map[string]string) {
	settings, alike = learnerSettings(p.Version), map[string]string{}
	if m, ok := learn.Ability[interface{ Alike() map[string]string }](plain(p.Model)); ok {
		for key, value := range m.Alike() {
			if settings[key] == "" {
				settings[key], alike[key] = value, value
			}
		}
	}
	return settings, alike
}

// budgetSizes are the numbers of rules that are tried: all of few, and ever
// fewer of many.
func budgetSizes(of int) []int {
	var sizes []int
	for n := 1; n < of; n += max(1, n/5) {
		sizes = append(sizes, n)
	}
	return append(sizes, max(of, 1))
}

// cutting cuts a model to n rules, and says which share of the information they
// carry.
type cutting struct {
	of       int
	refitted bool
	at       func(n int) (*rule.Base, float64, error)
}

// newCutting returns how a model is cut, by itself or else by what its rules
// decide of rows; nil if it is no base of rules that answers.
func newCutting(ctx context.Context, m learn.Model, rows *table.Table) (*cutting, error) {
	if e, ok := learn.Ability[learn.Excerpter](m); ok {
		all, err := e.Excerpt(ctx, rule.Budget{Top: math.MaxInt32})
		if err != nil {
			return nil, err
		}
		return &cutting{all.Of, true, func(n int) (*rule.Base, float64, error) {
			x, err := e.Excerpt(ctx, rule.Budget{Top: n})
			if err != nil {
				return nil, 0, err
			}
			return x.Base, x.Share, nil
		}}, nil
	}
	r, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return nil, nil
	}
	base, err := r.Rules()
	if err == nil && base.Kind == rule.Weighed && slices.ContainsFunc(base.Notes, isSummary) {
		return nil, nil // what counts besides is not in the rules
	}
	if err != nil || len(base.Units) > 0 || base.Kind != rule.Ordered && base.Kind != rule.Weighed || !concludes(base, say.New(m.Schema(), m.Target(), say.Words{})) {
		return nil, err
	}
	c := &leavingOut{model: m, base: base}
	if c.rows, _, err = table.Conform(rows, m.Schema(), false); err != nil {
		return nil, err
	}
	if c.effect, err = newInfluence(ctx, c.fallingBack(base, c.usual(nil)), c.rows, m.Target(), nil); err != nil {
		return nil, err
	}
	c.rank()
	return &cutting{of: len(c.ranked), at: c.at}, nil
}

// isSummary reports whether a note says that rules are not all of a model.
func isSummary(note string) bool { return strings.HasPrefix(note, "summary: ") }

// leavingOut cuts a base of rules: those that decide most of some rows stay, and
// where none of an ordered base is left to answer, the rest of the rows does.
type leavingOut struct {
	model  learn.Model
	base   *rule.Base
	rows   *table.Table
	effect *influence
	ranked []int // rules, but for what is usual, those that decide most first
}

func (c *leavingOut) rank() {
	for i := range c.base.Rules {
		if c.base.Kind == rule.Ordered || !isUsual(&c.base.Rules[i]) {
			c.ranked = append(c.ranked, i)
		}
	}
	slices.SortStableFunc(c.ranked, func(i, j int) int {
		di, si := c.effect.counts(c.base, i)
		dj, sj := c.effect.counts(c.base, j)
		return cmp.Or(cmp.Compare(dj, di), cmp.Compare(sj, si))
	})
}

// at keeps n rules.
func (c *leavingOut) at(n int) (*rule.Base, float64, error) {
	if n >= len(c.ranked) {
		return c.fallingBack(c.base, c.usual(nil)), 1, nil
	}
	keep := make([]bool, len(c.base.Rules))
	for i := range keep {
		keep[i] = c.base.Kind == rule.Weighed && isUsual(&c.base.Rules[i])
	}
	carried, all := 0.0, 0.0
	for k, i := range c.ranked {
		if keep[i] = k < n; keep[i] {
			carried += says(&c.base.Rules[i])
		}
		all += says(&c.base.Rules[i])
	}
	cut := *c.base
	cut.Rules = nil
	for i, kept := range keep {
		if kept {
			cut.Rules = append(cut.Rules, c.base.Rules[i])
		}
	}
	if cut.Kind == rule.Ordered {
		cut.Else = nil
	}
	return c.fallingBack(&cut, c.usual(keep)), carried / max(all, math.SmallestNonzeroFloat64), nil
}

// says is what a rule tells, over all rows.
func says(r *rule.Rule) float64 {
	switch {
	case r.Evidence.Bits != nil:
		return math.Abs(*r.Evidence.Bits)
	case r.Evidence.Weight != nil:
		return math.Abs(*r.Evidence.Weight)
	}
	return 1
}

// fallingBack is a base with an answer for what no rule of it speaks of.
func (c *leavingOut) fallingBack(b *rule.Base, otherwise *rule.Rule) *rule.Base {
	if b.Kind != rule.Ordered || b.Else != nil {
		return b
	}
	with := *b
	with.Else = otherwise
	return &with
}

// usual is what the rows say that no rule of those that are kept matches; of no
// such row, what all rows say.
func (c *leavingOut) usual(keep []bool) *rule.Rule {
	a := &c.model.Schema().Attributes[c.model.Target()]
	column := &c.rows.Columns[c.model.Target()]
	counts := make([]float64, max(1, len(a.Values)))
	total, sum := 0.0, 0.0
	count := func(open func(row int) bool) {
		for row := range c.rows.Rows() {
			w := c.rows.Weight(row)
			switch {
			case !open(row):
			case column.Codes != nil && column.Codes[row] >= 0:
				counts[column.Codes[row]] += w
				total += w
			case column.Floats != nil && !table.IsMissing(column.Floats[row]):
				sum += w * column.Floats[row]
				total += w
			}
		}
	}
	count(func(row int) bool {
		for i, kept := range keep {
			if kept && (c.effect.matched[i] == nil || c.effect.matched[i].Get(row)) {
				return false
			}
		}
		return true
	})
	if total == 0 {
		count(func(int) bool { return true })
	}
	if total = max(total, math.SmallestNonzeroFloat64); column.Floats != nil {
		return &rule.Rule{Then: rule.Conclusion{Column: a.Name, Numeric: true, Mean: sum / total}}
	}
	best := learn.Best(counts, a.Values)
	p := counts[best] / total
	return &rule.Rule{Then: rule.Conclusion{Column: a.Name, Value: a.Values[best]}, With: &p}
}

// budgetTrial gathers what cut models answer for rows that they have not learnt:
// how many are right, or the squares of how far they are off.
type budgetTrial struct {
	sizes                 []int
	target                int
	numeric               bool
	sums, squares, shares []float64
	whole, usual, rules   float64
	total, models         float64
	fewest, most          int // rules
}

// fold cuts a model and tries it.
func (t *budgetTrial) fold(ctx context.Context, m learn.Model, train, test *table.Table) error {
	c, err := newCutting(ctx, m, train)
	if err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("%s cannot be cut to a budget of rules", modelOf(m.Learner()))
	}
	if t.models++; t.models == 1 {
		t.fewest = c.of
	}
	t.rules += float64(c.of)
	t.fewest, t.most = min(t.fewest, c.of), max(t.most, c.of)
	out := learn.NewPredictions(m, test.Rows())
	if err := m.Predict(ctx, test, out); err != nil {
		return err
	}
	sum, _, weight := t.score(m, test, out.P, out.Mean)
	t.whole += sum
	t.total += weight
	fitted, _, err := table.Conform(train, m.Schema(), false)
	if err != nil {
		return err
	}
	usual := (&leavingOut{model: m, rows: fitted}).usual(nil)
	if sum, _, err = t.answer(&rule.Base{Kind: rule.Ordered, Else: usual}, m, test, out); err != nil {
		return err
	}
	t.usual += sum
	for i, n := range t.sizes {
		base, share, err := c.at(max(min(n, c.of), 1))
		if err != nil {
			return err
		}
		sum, square, err := t.answer(base, m, test, out)
		if err != nil {
			return err
		}
		t.sums[i] += sum
		t.squares[i] += square
		t.shares[i] += share
	}
	return ctx.Err()
}

// answer scores a base on rows.
func (t *budgetTrial) answer(base *rule.Base, m learn.Model, test *table.Table, out *learn.Predictions) (sum, square float64, err error) {
	p, err := rule.NewPredictor(base, m.Schema(), m.Target())
	if err != nil {
		return 0, 0, err
	}
	if err := p.Predict(test, out.P, out.Mean); err != nil {
		return 0, 0, err
	}
	sum, square, _ = t.score(m, test, out.P, out.Mean)
	return sum, square, nil
}

// score is the weight of right answers; of numbers the squared errors, and their
// squares.
func (t *budgetTrial) score(m learn.Model, test *table.Table, probs, means []float64) (sum, square, weight float64) {
	if c := &test.Columns[m.Target()]; t.numeric {
		for row, truth := range c.Floats {
			if w := test.Weight(row); !table.IsMissing(truth) {
				e := (means[row] - truth) * (means[row] - truth)
				sum += w * e
				square += w * e * e
				weight += w
			}
		}
		return sum, square, weight
	}
	classes := m.Schema().Attributes[m.Target()].Values
	for row, truth := range test.Columns[m.Target()].Codes {
		w := test.Weight(row)
		if truth < 0 {
			continue
		}
		if weight += w; learn.Best(probs[row*len(classes):(row+1)*len(classes)], classes) == int(truth) {
			sum += w
		}
	}
	return sum, sum, weight
}

// settle finds the points, and the fewest rules that are as good as the best.
func (t *budgetTrial) settle(b *Budget) {
	total := max(t.total, math.SmallestNonzeroFloat64)
	best, better := 0, 1.0
	if t.numeric {
		better = -1
	}
	for i, n := range t.sizes {
		point := BudgetPoint{Rules: n, Bits: t.shares[i] / max(t.models, 1)}
		if t.numeric {
			rmse := math.Sqrt(t.sums[i] / total)
			point.RMSE = &rmse
		} else {
			in := stat.ErrorRate{Errors: min(t.sums[i], total), Cases: total}.Wilson(0.95, stat.TwoSided)
			point.Accuracy, point.Low, point.High = pointer(t.sums[i]/total), &in.Low, &in.High
		}
		b.Points = append(b.Points, point)
		if better*t.sums[i] > better*t.sums[best] {
			best = i
		}
	}
	mean := t.sums[best] / total
	error := math.Sqrt(max(0, t.squares[best]/total-mean*mean) / total)
	for i, p := range b.Points {
		if better*t.sums[i]/total >= better*mean-error {
			b.AsGood = p.Rules
			break
		}
	}
	b.WholeRules, b.FewestRules, b.MostRules = t.rules/max(t.models, 1), t.fewest, t.most
	if b.Whole, b.Usual = t.whole/total, t.usual/total; t.numeric {
		b.Whole, b.Usual = math.Sqrt(b.Whole), math.Sqrt(b.Usual)
	}
}

// Lines say the budget for people: what each number of rules is worth, and what
// is lost with it.
func (b *Budget) Lines() []string {
	lines := []string{fmt.Sprintf("%s as well as all %d: the fewest within one standard error of the best, on %s", suffice(b.AsGood), b.Rules, b.On)}
	switch {
	case b.Rules < 2:
		lines[0] = fmt.Sprintf("the model has no more than one rule; on %s", b.On)
	case b.AsGood == b.Rules:
		lines[0] = fmt.Sprintf("all %d are needed: fewer lose more than one standard error of the best, on %s", b.Rules, b.On)
	}
	for _, p := range b.Points {
		mark := ""
		if p.Rules == b.AsGood {
			mark = "  ← as good"
		}
		if b.numeric {
			lines = append(lines, fmt.Sprintf("%4d  off by %s%s%s", p.Rules, say.Rounded(*p.RMSE, 4), b.lost(*p.RMSE-b.Whole), mark))
			continue
		}
		lines = append(lines, fmt.Sprintf("%4d  %s right (%s)%s%s", p.Rules, say.Percent(*p.Accuracy), say.Between(*p.Low, *p.High), b.lost(100*(b.Whole-*p.Accuracy)), mark))
	}
	what := "what is left is the model's own rules, those that decide most; what none of them speaks of is answered as most such rows are"
	if b.Refitted {
		what = "what is left is fitted again"
	}
	whole := fmt.Sprintf("the models uncut, %d to %d rules,", b.FewestRules, b.MostRules)
	if b.FewestRules == b.MostRules {
		whole = fmt.Sprintf("the models uncut, %d rules,", b.MostRules)
	}
	usual := fmt.Sprintf("%s are right in %s, always the most frequent class in %s", whole, say.Percent(b.Whole), say.Percent(b.Usual))
	if b.numeric {
		usual = fmt.Sprintf("%s are off by %s, always the mean by %s (root of the mean squared error)", whole, say.Rounded(b.Whole, 4), say.Rounded(b.Usual, 4))
	}
	lines = append(lines, what, usual)
	if len(b.Alike) > 0 {
		var settings []string
		for _, key := range slices.Sorted(maps.Keys(b.Alike)) {
			settings = append(settings, key+"="+b.Alike[key])
		}
		lines = append(lines, fmt.Sprintf("the folds learn as this model came out (%s); those of learn's own estimate choose for themselves, so that it may differ", strings.Join(settings, ", ")))
	}
	if b.MostRules > 2*b.FewestRules || b.FewestRules > 2*b.Rules { // of the order of what chance does
		lines = append(lines, fmt.Sprintf("how many rules are needed these rows do not settle: learnt without some of them it takes %d to %d", b.FewestRules, b.MostRules))
	}
	return lines
}

// lost says what is lost beside the whole model.
func (b *Budget) lost(x float64) string {
	switch least := 0.05; {
	case b.numeric && x <= b.Whole/1000, !b.numeric && x < least:
		return ""
	case b.numeric:
		return ", " + say.Rounded(x, 2) + " more"
	}
	return fmt.Sprintf(", %.1f points lost", x)
}

func suffice(n int) string {
	if n == 1 {
		return "1 rule does"
	}
	return fmt.Sprintf("%d rules do", n)
}
