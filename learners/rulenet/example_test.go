package rulenet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/rulenet"
	"github.com/accrete-ml/accrete/rule"
)

// What one rule says of a congressman's party, by the votes of 1984.
func Example() {
	ctx := context.Background()
	votes, set, err := datasets.Load(ctx, "votes")
	if err != nil {
		log.Fatal(err)
	}
	l := &rulenet.Learner{Teacher: "none"}
	m, err := l.Learn(ctx, learn.Task{Table: votes, Seed: 1, Target: set.Target})
	if err != nil {
		log.Fatal(err)
	}
	e, err := m.(*rulenet.Model).Excerpt(ctx, rule.Budget{Top: 1})
	if err != nil {
		log.Fatal(err)
	}
	for i, words := range e.Base.Words() {
		if words != "" {
			fmt.Printf("%v %s\n", e.Base.Rules[i].If[0], words)
		}
	}
	fmt.Printf("%.0f %% of the bits, accuracy %.1f %%\n", 100*e.Share, 100*e.Accuracy)
	// Output:
	// physician-fee-freeze = y speaks for republican: 92 %, usually 39 %
	// 81 % of the bits, accuracy 95.6 %
}
