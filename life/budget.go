package life

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Budget is how accurate a model is on rows that it has not learnt, by how many
// of its rules it may use.
type Budget struct {
	Points []BudgetPoint `json:"points"`
	// AsGood is the fewest rules within one standard error of the best.
	AsGood int     `json:"as_good"`
	Usual  float64 `json:"usual"` // always the most frequent class
	On     string  `json:"on"`
	Rules  int     `json:"rules"` // that the model has
}

// BudgetPoint is the accuracy of so many rules.
type BudgetPoint struct {
	Rules    int     `json:"rules"`
	Bits     float64 `json:"bits"` // the share of the information that they carry
	Accuracy float64 `json:"accuracy"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Budget learns the rows that a model keeps again, in folds, cuts each model to
// fewer rules, and counts how many rows of the fold are answered rightly.
func (h *Home) Budget(ctx context.Context, p *Part) (*Budget, error) {
	if p.Target() == learn.NoTarget || p.Schema().Attributes[p.Target()].Kind != table.Nominal {
		return nil, remedy.Misusef("a budget of rules is judged by how many answers are right; this model does not answer with classes")
	}
	if _, ok := learn.Ability[learn.Excerpter](plain(p.Model)); !ok {
		return nil, cannot(p.Version.Learner, "be cut to a budget of rules", func(c learn.Can) bool { return c.Excerpt })
	}
	rows, err := keptTable(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, fmt.Errorf("%s keeps no rows to learn again", p.Name)
	}
	whole, err := plainExcerpt(ctx, plain(p.Model), math.MaxInt32)
	if err != nil {
		return nil, err
	}
	b := &Budget{Rules: whole.Of, On: fmt.Sprintf("%d folds of the rows that %s keeps", calibrationFolds, p.Name)}
	sizes := budgetSizes(whole.Of)
	right, shares, total := make([]float64, len(sizes)), make([]float64, len(sizes)), 0.0
	models := 0.0
	err = h.inFolds(ctx, p, rows, func(m learn.Model, test *table.Table) error {
		models++
		for row, truth := range test.Columns[m.Target()].Codes {
			if truth >= 0 {
				total += test.Weight(row)
			}
		}
		for i, n := range sizes {
			x, err := plainExcerpt(ctx, m, n)
			if err != nil {
				return err
			}
			k, err := rightOf(x.Base, m, test)
			if err != nil {
				return err
			}
			right[i] += k
			shares[i] += x.Share
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.settle(sizes, right, shares, total, models)
	s, err := Speaker(ctx, p)
	if err == nil && s.Usual != nil {
		b.Usual = slices.Max(s.Usual)
	}
	return b, err
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

// plainExcerpt cuts a model to n rules.
func plainExcerpt(ctx context.Context, m learn.Model, n int) (*rule.Excerpt, error) {
	e, ok := learn.Ability[learn.Excerpter](m)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot be cut to a budget of rules", m.Learner())
	}
	return e.Excerpt(ctx, rule.Budget{Top: n})
}

// rightOf is the weight of the rows that a base answers rightly.
func rightOf(base *rule.Base, m learn.Model, test *table.Table) (float64, error) {
	p, err := rule.NewPredictor(base, m.Schema(), m.Target())
	if err != nil {
		return 0, err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	probs := make([]float64, test.Rows()*len(classes))
	if err := p.Predict(test, probs, nil); err != nil {
		return 0, err
	}
	sum := 0.0
	for row, truth := range test.Columns[m.Target()].Codes {
		if truth >= 0 && learn.Best(probs[row*len(classes):(row+1)*len(classes)], classes) == int(truth) {
			sum += test.Weight(row)
		}
	}
	return sum, nil
}

// settle finds the points, and the fewest rules that are as good as the best.
func (b *Budget) settle(sizes []int, right, shares []float64, total, models float64) {
	best := 0
	for i, n := range sizes {
		in := stat.ErrorRate{Errors: min(right[i], total), Cases: total}.Wilson(0.95, stat.TwoSided)
		b.Points = append(b.Points, BudgetPoint{n, shares[i] / max(models, 1), right[i] / total, in.Low, in.High})
		if right[i] > right[best] {
			best = i
		}
	}
	a := right[best] / total
	least := a - math.Sqrt(a*(1-a)/total)
	for _, p := range b.Points {
		if p.Accuracy >= least {
			b.AsGood = p.Rules
			return
		}
	}
}

// Lines say the budget for people.
func (b *Budget) Lines() []string {
	lines := []string{fmt.Sprintf("%s as well as all %d: the fewest within one standard error of the best, on %s", suffice(b.AsGood), b.Rules, b.On)}
	for _, p := range b.Points {
		mark := ""
		if p.Rules == b.AsGood {
			mark = "  ← as good"
		}
		lines = append(lines, fmt.Sprintf("%4d  %s right (%s)%s", p.Rules, say.Percent(p.Accuracy), say.Between(p.Low, p.High), mark))
	}
	return append(lines, fmt.Sprintf("always the most frequent class is right in %s", say.Percent(b.Usual)))
}

func suffice(n int) string {
	if n == 1 {
		return "1 rule does"
	}
	return fmt.Sprintf("%d rules do", n)
}
