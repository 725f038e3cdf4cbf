package ensemble_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

// Rings 1, 3 and 5 are learnt first; ring 4 comes later, alone, and the old
// rows are gone but for a few.
func Example() {
	ctx := context.Background()
	l, err := learn.New(ensemble.Name, map[string]string{"base": "tree"})
	if err != nil {
		fmt.Println(err)
		return
	}
	old, _, err := datasets.Load(ctx, "circles:rows=300,classes=1,3,5")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := l.Learn(ctx, learn.Task{Table: old, Source: learn.Source{ID: "1", Name: "old"}, Seed: 1}.At(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	more, _, err := datasets.Load(ctx, "circles:rows=200,classes=4")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := m.(learn.Updater).Begin(learn.Source{ID: "2", Name: "new"})
	if err != nil {
		fmt.Println(err)
		return
	}
	grown, _, err := table.Conform(more, m.Schema(), true)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := u.Add(ctx, grown); err != nil {
		fmt.Println(err)
		return
	}
	if m, err = u.Freeze(ctx); err != nil {
		fmt.Println(err)
		return
	}
	remarks, err := m.(learn.Remarker).Remarks()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range remarks {
		fmt.Println(r)
	}
	// Output:
	// session 2, new: 200 rows, class 4 is new, all of class 4; 10 members of 10 tried (all members found); kept 43 rows: 23 hard, 20 as anchors
	// old: right on 96.6 % (90.3 to 99.3) of the 87 rows kept of it, then 100.0 % (95.8 to 100.0)
	// new: right on 100.0 % (91.8 to 100.0) of the 43 rows kept of it, then 100.0 % (91.8 to 100.0)
}

// Five predictors answer three rows; who is wrong loses half of its weight.
func ExampleMajority() {
	m := ensemble.Majority{Beta: 0.5, Mistakes: make([]float64, 5)}
	for _, row := range []struct {
		said  []int
		truth int
	}{{[]int{1, 1, 0, 0, 1}, 1}, {[]int{1, 0, 0, 1, 1}, 0}, {[]int{0, 1, 1, 1, 0}, 1}} {
		m.Learn(row.said, row.truth, 1, []string{"no", "yes"})
	}
	fmt.Println(m.Weights())
	fmt.Printf("%v mistake, at most %.1f\n", m.Made, m.Bound())
	// Output:
	// [0.25 1 0.5 0.25 0.25]
	// 1 mistake, at most 5.6
}
