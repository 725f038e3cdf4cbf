package evaluate_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/table"
)

func querySpec(t *testing.T, data, learner string) evaluate.Spec {
	t.Helper()
	rows, set, err := datasets.Load(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.Spec{Data: data, Table: rows, Target: rows.Schema.Index(set.Target), Learner: learner, New: evaluate.Registered(learner, nil), Seed: 1}
}

// Both arms begin with the same answers and get as many; the same spec gives the
// same curve. On votes naive Bayes, whose mistakes are of one kind, gains by
// asking: its error with 40 answers is below that with as many at random, and no
// worse than with all 290.
func TestQueryCurve(t *testing.T) {
	spec := querySpec(t, "votes", "bayes")
	c, err := evaluate.Query(context.Background(), spec, evaluate.QueryOptions{Ask: asking("")})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Points) != 11 || c.Pool != 290 || c.Points[10].Rows != 145 || c.Points[0].Query != c.Points[0].Random || c.Points[0].Gain != 0 {
		t.Fatalf("%+v", c)
	}
	for i, p := range c.Points {
		if i > 0 && (p.Rows-c.Points[i-1].Rows)/13 != 1 || p.QueryLow > p.Query || p.Query > p.QueryHigh || p.Rows > c.Pool/2 {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	if p := c.Points[2]; !(p.Query > p.Random) || c.Enough == nil || *c.Enough > 40 {
		t.Errorf("asking gains nothing: %+v, enough %v", p, c.Enough)
	}
	again, err := evaluate.Query(context.Background(), spec, evaluate.QueryOptions{Ask: asking("")})
	if err != nil || !reflect.DeepEqual(c, again) {
		t.Errorf("the same spec gave another curve: %v", err)
	}
	var svg strings.Builder
	if err := c.Chart().SVG(&svg); err != nil || !strings.Contains(svg.String(), "learning by asking") {
		t.Errorf("drawn: %v", err)
	}
}

func TestQueryCurveOfNumbers(t *testing.T) {
	c, err := evaluate.Query(context.Background(), querySpec(t, "machine-cpu", "tree"), evaluate.QueryOptions{Seeds: 1, Steps: 2, Ask: asking("")})
	if err != nil || c.Measure != "rmse" || len(c.Points) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestQueryCurveRefused(t *testing.T) {
	spec := querySpec(t, "iris", "bayes")
	if _, err := evaluate.Query(context.Background(), spec, evaluate.QueryOptions{Start: 90, Steps: 5, Batch: 5, Ask: asking("")}); err == nil || !strings.Contains(err.Error(), "no more than the 100 rows") {
		t.Errorf("too many answers: %v", err)
	}
	if _, err := evaluate.Query(context.Background(), spec, evaluate.QueryOptions{Ask: asking("fun")}); err == nil || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("no such use: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := evaluate.Query(ctx, spec, evaluate.QueryOptions{Ask: asking("")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// asking asks as a model does, by a use of the answers.
func asking(use string) func(context.Context, learn.Model, *table.Table, int) ([]int, error) {
	return func(ctx context.Context, m learn.Model, rows *table.Table, n int) ([]int, error) {
		places := make([]int, rows.Rows())
		for i := range places {
			places[i] = i
		}
		questions, err := knowledge.Questions(ctx, m, rows, places, knowledge.QuestionOptions{N: n, Use: use})
		asked := make([]int, len(questions))
		for i, q := range questions {
			asked[i] = q.Row
		}
		return asked, err
	}
}
