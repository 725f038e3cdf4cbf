package rulenet

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// tellVotes learns the votes with an expert's rules as units of the network.
func tellVotes(t *testing.T, rows *table.Table, target int, text string) *expert.Told {
	t.Helper()
	m := learnOrFail(t, rows, target, map[string]string{"knowledge": "units"})
	base, err := rule.Parse("expert", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	told, err := expert.Tell(background, m, learn.Advice{Rules: base, Expert: learn.Source{ID: "expert", Name: "expert"}}, learn.Learnt{Source: learn.Source{ID: "a"}, Table: fitted})
	if err != nil {
		t.Fatal(err)
	}
	return told.(*expert.Told)
}

var _ expert.Listener = (*Model)(nil)

func predictAll(t *testing.T, m learn.Model, rows *table.Table) *learn.Predictions {
	t.Helper()
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(background, fitted, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestToldUnits(t *testing.T) {
	votes, target := load(t, "votes")
	const condition = "IF immigration = y AND education-spending = n THEN class = republican"
	plain := predictAll(t, learnOrFail(t, votes, target, nil), votes)

	// Worth nothing, it changes nothing.
	for i, p := range predictAll(t, tellVotes(t, votes, target, condition+" WITH 0.9 WORTH 0"), votes).P {
		if math.Abs(p-plain.P[i]) > 1e-12 {
			t.Fatalf("a rule worth nothing moves an answer from %v to %v", plain.P[i], p)
		}
	}

	// Worth very much, it decides; what the network knows still counts.
	told := tellVotes(t, votes, target, condition+" WORTH 1e12")
	if !told.Listened() {
		t.Fatal("the rule is not a unit")
	}
	after := predictAll(t, told, votes)
	matcher, err := rule.NewMatcher(told.Standings()[0].Rule.If, votes.Schema)
	if err != nil {
		t.Fatal(err)
	}
	republican := int(told.Schema().Attributes[target].Code("republican"))
	for r := range votes.Rows() {
		switch p := after.Row(r)[republican]; {
		case matcher.MatchRow(votes, r) && p < 0.999:
			t.Errorf("row %d: %v against a rule that is worth all", r+1, p)
		case !matcher.MatchRow(votes, r) && math.Abs(p-plain.Row(r)[republican]) > 1e-12:
			t.Errorf("row %d does not satisfy the rule, and moves", r+1)
		}
	}

	// The printed rules are the whole model, and reasons add up.
	told = tellVotes(t, votes, target, condition+" WITH 0.7 WORTH 40\nIF crime = n THEN class = democrat WITH 0.8 WORTH 10")
	after = predictAll(t, told, votes)
	base, err := told.Rules()
	if err != nil {
		t.Fatal(err)
	}
	again, err := rule.Parse("printed", []byte(base.String()))
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := table.Conform(votes, told.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	by, err := rule.NewPredictor(again, fitted.Schema, target)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(told, votes.Rows())
	if err := by.Predict(fitted, out.P, nil); err != nil {
		t.Fatal(err)
	}
	for i, p := range after.P {
		if math.Abs(p-out.P[i]) > 1e-12 {
			t.Fatalf("the printed rules say %v, the model %v", out.P[i], p)
		}
	}
	for r := range votes.Rows() {
		e, err := told.Explain(fitted, r)
		if err != nil {
			t.Fatal(err)
		}
		for c, p := range after.Row(r) {
			sum := e.Prior[c] - e.Normaliser
			for _, v := range e.Evidence {
				if v.Class == c {
					sum += v.Weight
				}
			}
			if math.Abs(sum-math.Log(p)) > 1e-9 {
				t.Fatalf("row %d class %d: reasons add up to %v, expected %v", r+1, c, sum, math.Log(p))
			}
		}
	}
}

// Learning in two parts, and forgetting one, keeps the weights of units true.
func TestToldUnitsThroughLife(t *testing.T) {
	votes, target := load(t, "votes")
	const text = "IF immigration = y THEN class = republican WITH 0.9 WORTH 25"
	whole := tellVotes(t, votes, target, text)
	half := tellVotes(t, votes.Slice(0, 200), target, text)
	more, _, err := table.Conform(votes.Slice(200, votes.Rows()), half.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	u, err := half.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(background, more); err != nil {
		t.Fatal(err)
	}
	both, err := u.Freeze(background)
	if err != nil {
		t.Fatal(err)
	}
	left, err := both.(learn.Forgetter).Forget(background, "b")
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]learn.Model{"updated": {both, whole}, "forgotten": {left, half}} {
		got, want := predictAll(t, pair[0], votes), predictAll(t, pair[1], votes)
		for i := range want.P {
			if math.Abs(got.P[i]-want.P[i]) > 1e-9 {
				t.Fatalf("%s: %v, expected %v", what, got.P[i], want.P[i])
			}
		}
	}
}
