package knowledge

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A model without members that could disagree gets some, where it keeps its
// rows: each is what its learner makes of rows drawn from them with
// replacement (query by bagging: Abe & Mamitsuka 1998). Where the rows drawn
// change the answer, more rows would.

// members is how many there are, mostDrawn how many rows each draws at most.
const (
	members   = 20
	mostDrawn = 5000
)

// bootstrap adds to votes the probabilities that the members give each class of
// each row. It reports whether the model could be learnt again.
func bootstrap(ctx context.Context, m learn.Model, t *table.Table, votes []float64) (bool, error) {
	if !relearns(m) {
		return false, nil
	}
	r, _ := learn.Ability[kept.Relearner](m)
	learning := r.Relearning()
	rows, err := learning.Rows.Table(ctx)
	if err != nil {
		return false, err
	}
	target := rows.Schema.Index(m.Schema().Attributes[m.Target()].Name)
	if target < 0 || rows.Rows() == 0 {
		return false, nil
	}
	random := rand.New(rand.NewPCG(1, uint64(rows.Rows())))
	for range members {
		gathering := (&kept.Rows{}).Gather(learn.Source{}, target, nil)
		if err := gathering.Add(ctx, drawn(rows, random)); err != nil {
			return false, err
		}
		sample, err := gathering.Rows(ctx)
		if err != nil {
			return false, err
		}
		member, err := learning.Learn(ctx, sample)
		if err != nil {
			return false, err
		}
		if err := addVotes(ctx, member, m, t, votes); err != nil {
			return false, err
		}
	}
	return true, nil
}

// relearns reports whether a model can be learnt again from rows that it keeps.
func relearns(m learn.Model) bool {
	r, ok := learn.Ability[kept.Relearner](m)
	return ok && r.Relearning().Rows != nil
}

// drawn returns as many rows of a table as it weighs, drawn with replacement.
func drawn(t *table.Table, random *rand.Rand) *table.Table {
	sums := make([]float64, t.Rows())
	sum := 0.0
	for r := range sums {
		sum += t.Weight(r)
		sums[r] = sum
	}
	places := make([]int, int(min(max(math.Round(sum), 1), mostDrawn)))
	for i := range places {
		places[i] = min(sort.SearchFloat64s(sums, random.Float64()*sum), len(sums)-1)
	}
	sort.Ints(places)
	sample := t.Select(places)
	sample.Weights = nil
	return sample
}

// addVotes adds what a member says of the rows of a table that has the columns
// of the whole model. A class that the member has not seen gets nothing.
func addVotes(ctx context.Context, member, whole learn.Model, t *table.Table, votes []float64) error {
	fitted, _, err := table.Conform(t, member.Schema(), false)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(member, t.Rows())
	if err := member.Predict(ctx, fitted, out); err != nil {
		return err
	}
	classes := &whole.Schema().Attributes[whole.Target()]
	for c, name := range member.Schema().Attributes[member.Target()].Values {
		to := classes.Code(name)
		if to < 0 {
			continue
		}
		for r := range t.Rows() {
			votes[r*len(classes.Values)+int(to)] += out.Row(r)[c]
		}
	}
	return nil
}
