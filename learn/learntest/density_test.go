package learntest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/bayes"
	"github.com/accrete-ml/accrete/table"
)

// counter is a learner without a target: all it knows is how many rows there
// were.
type counter struct{}

type count struct {
	rows   float64
	schema *table.Schema
}

func (counter) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !task.NoTarget:
		return nil, errors.New("counter takes no target")
	case task.Table.Rows() == 0:
		return nil, errors.New("there are no rows")
	}
	known, _ := task.Table.WithoutText(learn.NoTarget)
	c := &count{schema: table.CopySchema(known.Schema)}
	for r := range task.Table.Rows() {
		c.rows += task.Table.Weight(r)
	}
	return c, nil
}

func (*count) Learner() string         { return "counter" }
func (c *count) Schema() *table.Schema { return c.schema }
func (*count) Target() int             { return learn.NoTarget }
func (c *count) Size() learn.Size      { return learn.Size{Rows: c.rows} }
func (*count) Predict(ctx context.Context, _ *table.Table, _ *learn.Predictions) error {
	return ctx.Err()
}

// savedCount is what a count is saved as.
type savedCount struct {
	Rows   float64
	Schema table.Schema
}

func (c *count) Parts() ([]learn.Part, error) {
	data, err := learn.Marshal(savedCount{c.rows, *c.schema})
	return []learn.Part{{Name: "count", Data: data}}, err
}

func decodeCount(parts []learn.Part) (learn.Model, error) {
	if len(parts) != 1 {
		return nil, fmt.Errorf("%d parts", len(parts))
	}
	var s savedCount
	if err := learn.Unmarshal(parts[0].Data, &s); err != nil {
		return nil, err
	}
	return &count{s.Rows, &s.Schema}, nil
}

// A learner of densities has no column to predict, and keeps the other laws.
func TestDensity(t *testing.T) {
	info := learn.Info{
		Name: "counter", Summary: "counts rows", Source: "this test", Keeps: "a number",
		Takes:  learn.Takes{Nominal: true, Numeric: true, Missing: true, Density: true},
		New:    func() learn.Learner { return &struct{ counter }{} },
		Decode: decodeCount,
	}
	if err := Check(info, Options{}); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	Run(t, bayes.Name)
	t.Run("with settings", func(t *testing.T) {
		RunWith(t, bayes.Name, Options{Seed: 3, Settings: map[string]string{"m": "2"}, Laws: []string{"settings can be listed and set"}})
	})
	if err := Check(lookup(t, bayes.Name), Options{Settings: map[string]string{"no such": "1"}}); err == nil {
		t.Error("settings that the learner does not have are accepted")
	}
	if err := Check(lookup(t, bayes.Name), Options{Laws: []string{"cancelation"}}); err == nil || err.Error() != `there is no law "cancelation"; did you mean "cancellation"?` {
		t.Errorf("an unknown law: %v", err)
	}
}

func ExampleCheck() {
	info, err := learn.Lookup(bayes.Name)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(Check(info, Options{}))
	info.Can.Draw = false // not what its models do
	fmt.Println(Check(info, Options{Laws: []string{"abilities are those declared"}}))
	// Output:
	// <nil>
	// abilities are those declared: classes: the model can update, rules, explain, merge, forget, draw, declared is update, rules, explain, merge, forget
}
