package gaussian_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/gaussian"
	"github.com/accrete-ml/accrete/table"
)

// Any column from any others: what a house costs, and what a house of that
// price is like.
func Example() {
	ctx := context.Background()
	boston, _, err := datasets.Load(ctx, "boston")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := (&gaussian.Learner{Units: 8}).Learn(ctx, learn.Task{Table: boston, NoTarget: true, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(known string, value float64, wanted string) {
		question := boston.Slice(0, 1)
		columns := make([]table.Column, len(question.Columns))
		for j, a := range question.Schema.Attributes {
			columns[j].Floats = []float64{table.NA}
			if a.Name == known {
				columns[j].Floats[0] = value
			}
		}
		row, _ := table.New(question.Schema, columns, nil)
		answer, err := m.(learn.Asker).Ask(row, 0, question.Schema.Index(wanted))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s = %v: %s is about %.0f\n", known, value, wanted, answer.Mean)
	}
	ask("lstat", 30, "medv")
	ask("medv", 45, "lstat")
	// Output:
	// lstat = 30: medv is about 14
	// medv = 45: lstat is about 9
}
