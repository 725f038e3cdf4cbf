// Package prior is the learner that looks at nothing but the target: it
// predicts the frequencies of the classes or, for a number, the mean. It is
// what every other learner has to beat.
//
// The interval of a predicted number is the mean ± 1.96 deviations of a new
// observation from it. An infinite target has no mean and is refused.
//
// A model is the sum of its sources, each kept as the weights of its classes
// or the moments of its numbers. Learning more adds to a source, merging puts
// sources side by side, forgetting drops one; each equals learning from the
// rows themselves.
//
// Learning costs one pass over the target, an answer nothing. Memory is one number
// for each class, or three for a number, in each source.
package prior

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "prior"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "the frequencies of the classes, or the mean: what others have to beat",
		Source:   "the default rule of Witten & Frank 2000 (ZeroR)",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true, Stream: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true},
		Contract: learn.Exact,
		Keeps:    "statistics per source: weights of the classes, or moments of the target",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
		Waits:    sourceParts,
	})
}

// Learner makes models of the target alone. It has no parameters.
type Learner struct{}

var _ learn.Starter = (*Learner)(nil)

// Learn returns the model of the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	u, err := l.Start(task)
	if err != nil {
		return nil, err
	}
	if err := u.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}

// Start begins with no rows.
func (*Learner) Start(task learn.Task) (learn.Update, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target == learn.NoTarget {
		return nil, fmt.Errorf("prior predicts one column and needs a target")
	}
	if err := table.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	schema := table.CopySchema(task.Table.Schema)
	return &update{model: &Model{written: &bundle.Shelf[*block]{}}, block: newBlock(task.Source, schema, target), vocabulary: table.NewVocabulary(schema, schema)}, nil
}
