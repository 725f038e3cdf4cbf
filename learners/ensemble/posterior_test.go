package ensemble_test

import (
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

func committee(t *testing.T, rows *table.Table, settings map[string]string) learn.Model {
	t.Helper()
	l, err := learn.New(ensemble.CommitteeName, settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(background, learn.Task{Table: rows, Source: source(1), Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func predicted(t *testing.T, m learn.Model, rows *table.Table) *learn.Predictions {
	t.Helper()
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(background, rows, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The Bayes optimal answer is the mean of the members' answers by their
// probabilities, which sum to 1; a Gibbs answer is one member's, each as often as
// it is probable, and the same for the same row. Both survive being saved, and
// more rows are evidence too.
func TestPosteriorVotes(t *testing.T) {
	rows, test := load(t, "circles:rows=200"), load(t, "circles:rows=400,seed=2")
	members := map[string]string{"members": "prior,prior", "vote": "bayes"}
	m := committee(t, rows, members)
	said, err := m.(learn.Remarker).Remarks()
	if err != nil || len(said) != 2 {
		t.Fatalf("%v, %v", said, err)
	}
	for _, r := range said { // which are alike
		if h := r.(ensemble.Heard); h.P != 0.5 || h.Log >= 0 {
			t.Errorf("%v", h)
		}
	}
	m = committee(t, rows, map[string]string{"members": "prior,tree", "vote": "bayes"})
	said, _ = m.(learn.Remarker).Remarks()
	prior, tree := said[0].(ensemble.Heard), said[1].(ensemble.Heard)
	if odds := math.Exp(prior.Log - tree.Log); math.Abs(prior.P-odds/(1+odds)) > 1e-12 || prior.P+tree.P != 1 || accuracy(t, m, test) < 80 {
		t.Errorf("%v, %v", prior, tree)
	}
	before := tree.Log
	m = next(t, m, 2, load(t, "circles:rows=50,seed=3"))
	if said, _ = m.(learn.Remarker).Remarks(); said[1].(ensemble.Heard).Log >= before {
		t.Errorf("more rows are no evidence: %v after %v", said[1], before)
	}

	// Draws of one learner are heard alike: of 400 rows, about 40 by each of 10.
	drawn := committee(t, rows, map[string]string{"members": "tree", "draws": "10", "vote": "gibbs"})
	heard := map[string]int{}
	for r := range test.Rows() {
		e, err := drawn.(learn.Explainer).Explain(test, r)
		if err != nil || len(e.Evidence) != 1 {
			t.Fatalf("%v, %v", e, err)
		}
		who, _, _ := strings.Cut(e.Evidence[0].Text, "=")
		heard[who]++
	}
	for who, n := range heard {
		if n < 40-24 || n > 40+24 { // four standard deviations, √(400·0.1·0.9) = 6
			t.Errorf("%s is heard %d times of 400", who, n)
		}
	}
	if len(heard) != 10 {
		t.Errorf("%d members are heard", len(heard))
	}
	data, err := learn.Encode(drawn)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	first, second := predicted(t, drawn, test), predicted(t, again, test)
	for i, p := range first.P {
		if second.P[i] != p {
			t.Fatal("a saved committee draws otherwise")
		}
	}
	// The members differ, or drawing them would be for nothing.
	mean := committee(t, rows, map[string]string{"members": "tree", "draws": "10"})
	one := committee(t, rows, map[string]string{"members": "tree"})
	if a, b := predicted(t, mean, test), predicted(t, one, test); math.Abs(a.P[0]-b.P[0])+math.Abs(a.P[1]-b.P[1]) == 0 {
		t.Error("ten draws answer as one tree")
	}
	for _, bad := range []map[string]string{{"vote": "loud"}, {"draws": "-1"}, {"draws": "2000"}} {
		if l, err := learn.New(ensemble.CommitteeName, bad); err == nil && l.(learn.Checker).Check() == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
