package knowledge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// coin answers each row with a probability that stands in its first column.
type coin struct {
	learn.Model
	schema *table.Schema
}

func (c *coin) Learner() string       { return "coin" }
func (c *coin) Schema() *table.Schema { return c.schema }
func (c *coin) Target() int           { return 2 }
func (c *coin) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	for r, p := range t.Columns[0].Floats {
		out.Row(r)[0], out.Row(r)[1] = p, 1-p
	}
	return ctx.Err()
}

// jury is a coin with ten members.
type jury struct{ coin }

func (j *jury) Ballots(_ context.Context, t *table.Table, votes []float64) error {
	for r, p := range t.Columns[0].Floats {
		votes[2*r], votes[2*r+1] = math.Round(10*p), 10-math.Round(10*p)
	}
	return nil
}

func coins(t *testing.T, p []float64, kinds []int32) (*coin, *table.Table, []int) {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "p", Kind: table.Numeric}, {Name: "kind", Values: []string{"a", "b", "c"}}, {Name: "face", Values: []string{"head", "tail"}},
	}}
	face := slices.Repeat([]int32{table.Missing}, len(p))
	rows, err := table.New(schema, []table.Column{{Floats: p}, {Codes: kinds}, {Codes: face}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(p))
	for i := range all {
		all[i] = i
	}
	return &coin{schema: schema}, rows, all
}

// The row that is least certain is asked for first, whatever it is measured by,
// and one whose answer is certain is not asked for.
func TestQuestionsByUse(t *testing.T) {
	m, rows, all := coins(t, []float64{0.9, 0.6, 1, 0.2}, []int32{0, 0, 0, 0})
	for use, want := range map[string]float64{"": 0.8, knowledge.Margin: 0.8, knowledge.ExpectedError: 0.4} {
		q, err := knowledge.Questions(ctx, m, rows, all, knowledge.QuestionOptions{N: 9, Use: use})
		if err != nil || len(q) != 3 {
			t.Fatalf("%q: %v, %v", use, q, err)
		}
		if q[0].Row != 1 || math.Abs(q[0].Gain-want) > 1e-12 || math.Abs(q[0].Cost-0.4) > 1e-12 || slices.ContainsFunc(q, func(q knowledge.Question) bool { return q.Row == 2 }) {
			t.Errorf("%q: %+v", use, q)
		}
	}
	q, err := knowledge.Questions(ctx, &jury{*m}, rows, all, knowledge.QuestionOptions{N: 1})
	// Six of ten and four of ten are 0.971 bits.
	if err != nil || len(q) != 1 || q[0].Row != 1 || q[0].Splits != [2]float64{6, 4} || math.Abs(q[0].Gain-0.9709506) > 1e-6 {
		t.Errorf("a jury asks %+v, %v", q, err)
	}
}

// Of rows that are alike one is asked for; the next is another kind of row,
// though it is a little less uncertain.
func TestQuestionsAreSpread(t *testing.T) {
	m, rows, all := coins(t, []float64{0.5, 0.5, 0.5, 0.45, 0.4}, []int32{0, 0, 0, 1, 2})
	q, err := knowledge.Questions(ctx, m, rows, all, knowledge.QuestionOptions{N: 3})
	if err != nil || len(q) != 3 || q[0].Row != 0 || q[1].Row != 4 || q[2].Row != 3 {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestQuestionsRefused(t *testing.T) {
	m, rows, all := coins(t, []float64{0.5}, []int32{0})
	for use, want := range map[string]string{"fun": "expected one of", knowledge.Disagreement: "no members that could disagree"} {
		if _, err := knowledge.Questions(ctx, m, rows, all, knowledge.QuestionOptions{N: 1, Use: use}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", use, err)
		}
	}
	over, stop := context.WithCancel(ctx)
	stop()
	if _, err := knowledge.Questions(over, m, rows, all, knowledge.QuestionOptions{N: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if q, err := knowledge.Questions(ctx, m, rows, nil, knowledge.QuestionOptions{N: 1}); err != nil || len(q) != 0 {
		t.Errorf("nothing to ask for: %v, %v", q, err)
	}
}

// Every learner of classes can be asked what it would like to know.
func TestEveryLearnerAsks(t *testing.T) {
	for _, info := range learn.All() {
		if !info.Takes.Classes || info.New == nil {
			continue
		}
		learner := info.New()
		rows := weather(t, rand.New(rand.NewPCG(1, 1)), 60, false)
		m, err := learner.Learn(ctx, learn.Task{Table: rows, Target: "play", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fitted, _, err := table.Conform(rows, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		some := []int{3, 5, 8, 13, 21, 34}
		q, err := knowledge.Questions(ctx, m, fitted, some, knowledge.QuestionOptions{N: 4})
		if err != nil || len(q) > 4 {
			t.Errorf("%s: %v, %v", info.Name, q, err)
		}
		for i, x := range q {
			if !slices.Contains(some, x.Row) || !(x.Gain > 0) || x.Cost < 0 || x.Cost > 1 || slices.ContainsFunc(q[:i], func(y knowledge.Question) bool { return y.Row == x.Row }) {
				t.Errorf("%s asks %+v", info.Name, q)
			}
		}
	}
}

// A tree, which has no members, disagrees with trees of the same rows drawn
// again; and any answer that can be learnt can be tried out: what it is expected
// to lower the error by is no more than the error.
func TestQuestionsByCommitteeAndReduction(t *testing.T) {
	rows := weather(t, rand.New(rand.NewPCG(2, 2)), 60, false)
	for _, learner := range []string{"tree", "bayes", "rulenet"} {
		info, err := learn.Lookup(learner)
		if err != nil {
			t.Fatal(err)
		}
		m, err := info.New().Learn(ctx, learn.Task{Table: rows, Target: "play", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fitted, _, err := table.Conform(rows, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		some := []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55}
		for _, use := range []string{knowledge.Disagreement, knowledge.Reduction} {
			if learner == "bayes" && use == knowledge.Disagreement {
				continue // it keeps no rows
			}
			o := knowledge.QuestionOptions{N: 3, Use: use}
			q, err := knowledge.Questions(ctx, m, fitted, some, o)
			if err != nil {
				t.Errorf("%s, %s: %v", learner, use, err)
			}
			again, err := knowledge.Questions(ctx, m, fitted, some, o)
			if err != nil || !slices.Equal(q, again) {
				t.Errorf("%s, %s: asked again %v, %v", learner, use, again, err)
			}
			for _, x := range q {
				if !slices.Contains(some, x.Row) || !(x.Gain > 0 && x.Gain <= 1) || use == knowledge.Disagreement && x.Splits[0]+x.Splits[1] < 19.99 {
					t.Errorf("%s, %s asks %+v", learner, use, q)
				}
			}
		}
	}
}
