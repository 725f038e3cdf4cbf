package nearest_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/nearest"
)

// Rows are their own nearest cases, by the number of cells in which days differ.
func Example() {
	ctx := context.Background()
	t, set, err := datasets.Load(ctx, "play-tennis")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := (&nearest.Learner{K: "1", Distance: "hamming"}).Learn(ctx, learn.Task{Table: t, Target: set.Target, Source: learn.Source{Name: "play-tennis"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := m.(learn.Explainer).Explain(t, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range e.Cases {
		fmt.Printf("row %d of %s, %v cells away: %s\n", c.Row, c.Source.Name, c.Distance, c.Target)
	}
	// Output:
	// row 6 of play-tennis, 0 cells away: No
}
