package ensemble_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// The rules of an ensemble of trees answer as it does, and are the reasons
// that it gives.
func TestRulesOfTrees(t *testing.T) {
	tables := rings(t, 1)
	m := learnAll(t, tables, 1, trees)
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		t.Fatal(err)
	}
	if m.Size().Rules != len(base.Rules) || base.Kind != rule.Weighed || !strings.HasPrefix(base.Notes[0], "summary: agrees with the model on 100.0 %") {
		t.Fatalf("%d rules, %d counted, %v, notes %q", len(base.Rules), m.Size().Rules, base.Kind, base.Notes)
	}
	predictor, err := rule.NewPredictor(base, m.Schema(), m.Target())
	if err != nil {
		t.Fatal(err)
	}
	test := tables[6]
	want, got := answers(t, m, test), learn.NewPredictions(m, test.Rows())
	if err := predictor.Predict(test, got.P, nil); err != nil {
		t.Fatal(err)
	}
	for i := range want.P {
		if math.Abs(want.P[i]-got.P[i]) > 1e-12 {
			t.Fatalf("a rule base says %v, the model %v", got.P[i], want.P[i])
		}
	}
	ids := map[string]bool{}
	for i := range base.Rules {
		ids[base.Rules[i].ID()] = true
	}
	e, err := m.(learn.Explainer).Explain(test, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Evidence) == 0 || !e.Additive {
		t.Fatalf("explained by %v", e)
	}
	for _, v := range e.Evidence {
		if !ids[v.ID] {
			t.Errorf("the reason %q is none of the rules", v.Text)
		}
	}
}

// Rules of members that weigh them are a summary.
func TestRulesOfRuleNetworks(t *testing.T) {
	rows := load(t, "votes")
	l, err := learn.New(ensemble.Name, map[string]string{"base": "rulenet", "members": "2"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(background, learn.Task{Table: rows, Target: "class", Source: source(1), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil || len(base.Rules) < 5 || !strings.HasPrefix(base.Notes[0], "summary: ") {
		t.Fatalf("%v, %v", base, err)
	}
	e, err := m.(learn.Explainer).Explain(rows, 0)
	if err != nil || !slices.ContainsFunc(e.Evidence, func(v learn.Evidence) bool { return v.ID != "" }) {
		t.Errorf("explained by %v, %v", e, err)
	}
}

// Members without rules speak by their votes, session by session.
func TestVotes(t *testing.T) {
	tables := rings(t, 1)
	m := learnAll(t, []*table.Table{tables[0], tables[2], nil}, 1, map[string]string{"members": "2", "alpha": "0", "base.epochs": "100"})
	if _, ok := m.(learn.Ruler); ok {
		t.Error("networks have rules")
	}
	fitted, _, err := table.Conform(tables[6], m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.(learn.Explainer).Explain(fitted, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(e.Evidence, func(v learn.Evidence) bool { return strings.Contains(v.Text, "members of s1.csv") })
	if !found {
		t.Errorf("explained by %v", e.Evidence)
	}
}
