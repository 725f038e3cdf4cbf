package cover

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
)

var (
	_ expert.Striker = (*Model)(nil)
	_ expert.Cutter  = (*Model)(nil)
)

// Strike returns the list without some rules: the rows that they answered for
// fall to the rules behind them, which count them where rows are kept.
func (m *Model) Strike(ctx context.Context, ids ...string) (learn.Model, error) {
	base, err := m.Rules()
	if err != nil {
		return nil, err
	}
	return m.only(ctx, func(i int) bool { return !slices.Contains(ids, base.Rules[i].ID()) })
}

// Cut returns the list of so many rules, those that decide most: the weight of
// the rows that would be answered otherwise without a rule, or, where rows are
// not kept, of those that it is the first to cover.
func (m *Model) Cut(ctx context.Context, top int) (learn.Model, error) {
	if top < 1 {
		return nil, fmt.Errorf("%d rules: expected at least 1", top)
	}
	decides, err := m.decides(ctx)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(m.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(decides[a], decides[b]), -cmp.Compare(sum(m.list[a].first), sum(m.list[b].first)))
	})
	stay := order[:min(top, len(order))]
	return m.only(ctx, func(i int) bool { return slices.Contains(stay, i) })
}

// decides returns the weight of the rows that each rule decides.
func (m *Model) decides(ctx context.Context) ([]float64, error) {
	weight := make([]float64, len(m.list))
	if m.rows == nil {
		for i := range weight {
			weight[i] = sum(m.list[i].first)
		}
		return weight, nil
	}
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	rest := *m
	for r := range t.Rows() {
		i := m.match(t.Columns, r)
		if i == len(m.list) {
			continue
		}
		rest.list = m.list[i+1:]
		j := i + 1 + rest.match(t.Columns, r)
		if learn.Best(m.answerOf(i), m.classes()) != learn.Best(m.answerOf(j), m.classes()) {
			weight[i] += t.Weight(r)
		}
	}
	return weight, nil
}

// only returns the list with some of its rules, counted again where rows are kept.
func (m *Model) only(ctx context.Context, stays func(i int) bool) (learn.Model, error) {
	left := &Model{settings: m.settings, seed: m.seed, rows: m.rows, schema: m.schema, target: m.target, all: m.all, rest: m.rest, why: m.why}
	var list []learnt
	for i, l := range m.list {
		if stays(i) {
			list = append(list, learnt{tests: l.tests, class: l.class})
			left.list = append(left.list, l)
		}
	}
	if m.rows != nil {
		t, err := m.rows.Table(ctx)
		if err != nil {
			return nil, err
		}
		x, err := newExamples(ctx, t, m.target)
		if err != nil {
			return nil, err
		}
		left.list = nil
		if err := left.assemble(ctx, newCovering(x, m.settings, m.seed), list); err != nil {
			return nil, err
		}
	}
	left.derive()
	return left, nil
}
