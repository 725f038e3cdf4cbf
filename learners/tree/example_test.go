package tree_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/table"
)

// A tree from eight days, its rules, and its answer for a day on which the
// wind was not noted.
func Example() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sunny", "rain"}},
		{Name: "wind", Values: []string{"weak", "strong"}},
		{Name: "play", Values: []string{"no", "yes"}},
	}}
	days, err := table.New(schema, []table.Column{
		{Codes: []int32{0, 0, 0, 0, 1, 1, 1, 1}},
		{Codes: []int32{0, 0, 1, 1, 0, 0, 0, 1}},
		{Codes: []int32{1, 1, 1, 1, 1, 1, 1, 0}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	learner := &tree.Learner{Preset: "id3"}
	m, err := learner.Learn(ctx, learn.Task{Table: days}.At(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.(*tree.Model).Outline())

	day, err := table.New(m.Schema(), []table.Column{
		{Codes: []int32{m.Schema().Attributes[0].Code("rain")}},
		{Codes: []int32{table.Missing}},
		{Codes: []int32{table.Missing}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := learn.NewPredictions(m, 1)
	if err := m.Predict(ctx, day, answer); err != nil {
		fmt.Println(err)
		return
	}
	for c, p := range answer.Row(0) {
		fmt.Printf("%s %.2f\n", m.Schema().Attributes[2].Values[c], p)
	}
	// Output:
	// wind{strong→outlook{rain→no, sunny→yes}, weak→yes}
	// no 0.38
	// yes 0.62
}
