package neural_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural"
	"github.com/accrete-ml/accrete/table"
)

// The learner on a table: a class from two numbers, one of them missing in
// the question.
func ExampleLearner() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "length", Kind: table.Numeric}, {Name: "width", Kind: table.Numeric},
		{Name: "kind", Values: []string{"bolt", "nut"}},
	}}
	columns := make([]table.Column, 3)
	random := rand.New(rand.NewPCG(1, 1))
	for row := range 200 {
		kind := int32(row % 2)
		columns[0].Floats = append(columns[0].Floats, 40-30*float64(kind)+5*random.NormFloat64())
		columns[1].Floats = append(columns[1].Floats, 10+random.NormFloat64())
		columns[2].Codes = append(columns[2].Codes, kind)
	}
	parts, err := table.New(schema, columns, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := (&neural.Learner{Hidden: "10"}).Learn(context.Background(), learn.Task{Table: parts, Seed: 1}.At(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := table.New(m.Schema(), []table.Column{{Floats: []float64{12}}, {Floats: []float64{table.NA}}, {Codes: []int32{table.Missing}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(context.Background(), question, out); err != nil {
		fmt.Println(err)
		return
	}
	best := learn.Best(out.Row(0), schema.Attributes[2].Values)
	fmt.Println(schema.Attributes[2].Values[best], out.Row(0)[best] > .95)
	// Output: nut true
}
