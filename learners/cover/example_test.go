package cover_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/cover"
)

// One test tells most members of Congress apart; the certificate says what
// the rule is there for.
func Example() {
	ctx := context.Background()
	t, set, err := datasets.Load(ctx, "votes")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := (&cover.Learner{}).Learn(ctx, learn.Task{Table: t, Seed: 1, Target: set.Target})
	if err != nil {
		fmt.Println(err)
		return
	}
	list := m.(*cover.Model)
	for _, c := range list.Growth() {
		fmt.Println(c)
	}
	fmt.Println(list.Size().Rules, "rules, the default among them")
	// Output:
	// rule 1 (republican): covers 177 of 435 rows, 163 right, removes 149 of 168 errors  IF physician-fee-freeze = y
	// 2 rules, the default among them
}
