package knowledge

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Expected error reduction (Roy & McCallum 2001) asks what an answer would do:
// for each class that it might be, the model learns it, and its own estimate of
// how often it is wrong on the other rows is compared with that of before. That
// takes a model for each row and class, so that only the rows whose answers are
// least certain are tried.

const (
	mostTried   = 24  // rows
	mostJudged  = 200 // rows that errors are expected on
	leastChance = 0.01
)

// reductions replaces the gains of some questions, rows of a table, by how much
// the answer is expected to lower the share of wrong answers over the table.
func reductions(ctx context.Context, m learn.Model, t *table.Table, all []Question) ([]Question, error) {
	u, ok := learn.Ability[learn.Updater](m)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot try an answer out, because it does not learn more rows; expected %s or %s", m.Learner(), Margin, ExpectedError)
	}
	judged := make([]int, min(t.Rows(), mostJudged))
	for i := range judged {
		judged[i] = i * t.Rows() / len(judged)
	}
	rest := t.Select(judged)
	before, err := expectedError(ctx, m, rest)
	if err != nil {
		return nil, err
	}
	all = all[:min(len(all), mostTried)]
	out := learn.NewPredictions(m, 1)
	for i := range all {
		row := t.Select([]int{all[i].Row})
		if err := m.Predict(ctx, row, out); err != nil {
			return nil, err
		}
		all[i].Gain = before
		for class, p := range out.Row(0) {
			if p < leastChance {
				all[i].Gain -= p * before
				continue
			}
			after, err := expectedAfter(ctx, u, row, int32(class), rest)
			if err != nil {
				return nil, err
			}
			all[i].Gain -= p * after
		}
		learn.Report(ctx, float64(i+1)/float64(len(all)))
	}
	return all, nil
}

// expectedAfter is the error that is expected once a row has turned out to have
// a class.
func expectedAfter(ctx context.Context, m learn.Updater, row *table.Table, class int32, rest *table.Table) (float64, error) {
	columns := append([]table.Column(nil), row.Columns...)
	columns[m.Target()].Codes = []int32{class}
	answered, err := table.New(row.Schema, columns, nil)
	if err != nil {
		return 0, err
	}
	update, err := m.Begin(learn.Source{ID: "an answer that is tried out"})
	if err != nil {
		return 0, err
	}
	if err := update.Add(ctx, answered); err != nil {
		return 0, err
	}
	next, err := update.Freeze(ctx)
	if err != nil {
		return 0, err
	}
	return expectedError(ctx, next, rest)
}

// expectedError is how often a model expects to be wrong on some rows.
func expectedError(ctx context.Context, m learn.Model, t *table.Table) (float64, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		return 0, err
	}
	sum := 0.0
	for r := range t.Rows() {
		first, _ := foremost(out.Row(r))
		sum += 1 - first
	}
	return sum / float64(max(t.Rows(), 1)), nil
}
