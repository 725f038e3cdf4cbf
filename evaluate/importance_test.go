package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// two answers yes where a and b are both x: it needs both, and not c.
type two struct {
	learn.Model
	schema *table.Schema
}

func (m *two) Learner() string       { return "two" }
func (m *two) Schema() *table.Schema { return m.schema }
func (m *two) Target() int           { return 3 }
func (m *two) Predict(_ context.Context, t *table.Table, out *learn.Predictions) error {
	for r := range t.Rows() {
		yes := 0.1
		if t.Columns[0].Codes[r] == 0 && t.Columns[1].Codes[r] == 0 {
			yes = 0.9
		}
		out.Row(r)[0], out.Row(r)[1] = 1-yes, yes
	}
	return nil
}

// The exact importance is the mean over all permutations, counted out.
func TestImportanceIsThatOfAllPermutations(t *testing.T) {
	values := []string{"x", "o"}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "a", Values: values}, {Name: "b", Values: values}, {Name: "c", Values: values}, {Name: "y", Values: []string{"no", "yes"}}}}
	tab, err := table.New(schema, []table.Column{
		{Codes: []int32{0, 0, 1, 1, 0}}, {Codes: []int32{0, 1, 0, 1, 0}}, {Codes: []int32{0, 0, 1, 1, 0}}, {Codes: []int32{1, 0, 0, 0, 0}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &two{schema: schema}
	x, err := ImportanceOf(context.Background(), m, tab, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if x.Value != 0.8 || len(x.Columns) != 3 || x.Columns[2].Column != "c" || x.Columns[2].Importance != 0 || *x.Columns[2].LogLoss != 0 {
		t.Errorf("%+v", x)
	}
	for _, c := range x.Columns {
		col := schema.Index(c.Column)
		sum, n := 0.0, 0
		orders(5, func(order []int) {
			losses, _, err := rowLosses(context.Background(), m, handed(tab, col, func(r int) int { return order[r] }))
			if err != nil {
				t.Fatal(err)
			}
			sum += mean(tab, losses)
			n++
		})
		if want := sum/float64(n) - 0.2; n != 120 || math.Abs(c.Importance-want) > 1e-12 || !c.Exact || c.Low > c.Importance || c.High < c.Importance {
			t.Errorf("%+v over %d permutations, expected %v", c, n, want)
		}
	}
}

// orders visits all permutations of n things.
func orders(n int, visit func([]int)) {
	var place func(order []int)
	place = func(order []int) {
		if len(order) == n {
			visit(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				place(append(slices.Clip(order), i))
			}
		}
	}
	place(nil)
}

// luck is a learner whose answers are drawn by its seed and number: each guess
// is right by luck.
type luck struct{ number uint64 }

func (c luck) Learn(_ context.Context, task learn.Task) (learn.Model, error) {
	return &guesser{schema: task.Table.Schema, seed: task.Seed ^ c.number<<32}, nil
}

type guesser struct {
	learn.Model
	schema *table.Schema
	seed   uint64
}

func (m *guesser) Learner() string       { return "coins" }
func (m *guesser) Schema() *table.Schema { return m.schema }
func (m *guesser) Target() int           { return 1 }
func (m *guesser) Size() learn.Size      { return learn.Size{} }
func (m *guesser) Predict(_ context.Context, t *table.Table, out *learn.Predictions) error {
	for r := range t.Rows() {
		p := random(m.seed, math.Float64bits(t.Columns[0].Floats[r])).Float64()
		out.Row(r)[0], out.Row(r)[1] = p, 1-p
	}
	return nil
}

// The best of forty ways to guess looks better than guessing; the honest
// estimate does not: over seeds its mean is 1/2, within 3 standard errors of
// √(1/4/(60·8)).
func TestTuningIsNotFlattered(t *testing.T) {
	const rows, seeds, ways = 60, 8, 40
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Values: []string{"no", "yes"}}}}
	x, y := make([]float64, rows), make([]int32, rows)
	for r := range x {
		x[r], y[r] = float64(r), int32(r%2)
	}
	tab, err := table.New(schema, []table.Column{{Floats: x}, {Codes: y}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var candidates []Candidate
	for i := range ways {
		candidates = append(candidates, Candidate{Settings: map[string]string{"way": fmt.Sprint(i)}, New: Fixed(luck{uint64(i)})})
	}
	best, honest := 0.0, 0.0
	for seed := range uint64(seeds) {
		tuned, err := Tune(context.Background(), Spec{Table: tab, Target: 1, Learner: "coins", Seed: seed}, candidates, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		chosen := 0
		for _, c := range tuned.Trials {
			chosen += c.Chosen
		}
		if chosen != 3 || len(tuned.Trials) != ways {
			t.Errorf("chosen %d times of %d", chosen, len(tuned.Trials))
		}
		best += *tuned.Trials[0].Value / seeds
		honest += tuned.Estimate / seeds
	}
	if best < 0.58 || math.Abs(honest-0.5) > 3*math.Sqrt(0.25/rows/seeds) {
		t.Errorf("best %v, honest %v", best, honest)
	}
}

// cutting answers yes above a half, and says so in a rule.
type cutting struct{ two }

func (m *cutting) Target() int { return 1 }
func (m *cutting) Rules() (*rule.Base, error) {
	return rule.Parse("", []byte("RULES ordered\nIF x > 0.5 THEN y = yes WITH 0.9\nELSE y = no WITH 0.8\n"))
}
func (m *cutting) Predict(_ context.Context, t *table.Table, out *learn.Predictions) error {
	for r, x := range t.Columns[0].Floats {
		yes := 0.2
		if x > 0.5 {
			yes = 0.9
		}
		out.Row(r)[0], out.Row(r)[1] = 1-yes, yes
	}
	return nil
}

// Names that rules do not tell apart count as one value, missing ones by themselves.
func TestImportanceOfNamesInRules(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Values: []string{"a", "b", "c", "d"}}, {Name: "y", Values: []string{"no", "yes"}}}}
	tab, err := table.New(schema, []table.Column{{Codes: []int32{0, 1, 2, 3, table.Missing, 2}}, {Codes: []int32{0, 1, 0, 1, 0, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	values, _ := valuesOf(tab, 0)
	marks, err := marksOf([]rule.Test{{Op: rule.Eq, Column: "x", Value: "b"}, {Op: rule.NotIn, Column: "x", Values: []string{"b", "d"}}}, tab, 0, values)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string][]string{}
	for k, v := range values {
		at[string(marks[k])] = append(at[string(marks[k])], tab.Text(v.row, 0))
	}
	if len(at) != 4 || len(at["\x00\x02"]) != 2 { // a and c; b; d; unknown
		t.Errorf("%q", at)
	}
}

// Numbers that rules do not tell apart count as one value, and the mean over all
// permutations is the same.
func TestImportanceOfRules(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Values: []string{"no", "yes"}}}}
	const n = 600 // whose square is more than mostAnswers
	x, y := make([]float64, n), make([]int32, n)
	for r := range x {
		x[r] = float64(r*7%n) / n
		if x[r] > 0.4 {
			y[r] = 1
		}
	}
	tab, err := table.New(schema, []table.Column{{Floats: x}, {Codes: y}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &cutting{two{schema: schema}}
	values, _ := valuesOf(tab, 0)
	together, _, err := alike(context.Background(), m, tab, 0, values)
	if err != nil || len(together) != 2 { // on either side of the cut
		t.Fatalf("%d values: %v", len(together), err)
	}
	got, err := ImportanceOf(context.Background(), m, tab, Spec{})
	if err != nil || !got.Columns[0].Exact {
		t.Fatalf("%+v: %v", got, err)
	}
	// Half of the cells and one are at most the cut, 241 of the rows are no: a row
	// is answered rightly with its own share of the cells.
	low, no := 301.0/n, 241.0/n
	if want := got.Value - (no*low + (1-no)*(1-low)); math.Abs(got.Columns[0].Importance-want) > 1e-9 {
		t.Errorf("importance %v, expected %v", got.Columns[0].Importance, want)
	}
}
