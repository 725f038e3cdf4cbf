package learn

import (
	"context"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Voter is a model of many hypotheses that may not agree on a row, and that
// may say so instead of an answer.
type Voter interface {
	Model
	// Votes returns how many hypotheses say each class of a row, nil where
	// they cannot be counted.
	Votes(t *table.Table, row int) []float64
	// Decides reports whether the model answers for a row. What Predict gives
	// where it does not is how likely each class is for all that is known.
	Decides(t *table.Table, row int) bool
}

// Committee is a model of several members whose answers may differ.
type Committee interface {
	Model
	// Ballots adds to votes, a number for each row and class, what the
	// members give each class: one vote a member, weighed as the model does.
	Ballots(ctx context.Context, t *table.Table, votes []float64) error
}

// Questioner is a model that can name rows of its own whose classes it would
// learn most from.
type Questioner interface {
	Model
	// Questions returns up to n of them, the best first; none if nothing is
	// left to ask.
	Questions(ctx context.Context, n int) ([]Question, error)
}

// Question is a row whose class would divide the hypotheses of a model.
type Question struct {
	Row     *table.Table // one row; its target is missing
	Yes, No float64      // hypotheses that say each
}

// Lister is a model whose hypotheses can be listed.
type Lister interface {
	Model
	// Members returns the rules of each hypothesis, nil if there are too many
	// to list.
	Members() [][]rule.Rule
}
