package rulenet

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// votesOfTwo returns the network of the votes learnt as two sources.
func votesOfTwo(t *testing.T) *Model {
	t.Helper()
	votes, target := load(t, "votes")
	half := votes.Rows() / 2
	m := learnOrFail(t, votes.Slice(0, half), target, map[string]string{"teacher": "none"})
	more, _, err := table.Conform(votes.Slice(half, votes.Rows()), m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), more); err != nil {
		t.Fatal(err)
	}
	both, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return both.(*Model)
}

// Without a source the rules are the network's own, their counts are those of
// the other rows, and their weights are those that the other rows fit.
func TestWithout(t *testing.T) {
	ctx := context.Background()
	m := votesOfTwo(t)
	left, again, err := m.Without(ctx, "b")
	if err != nil || again {
		t.Fatalf("again %v, %v", again, err)
	}
	n := left.(*Model)
	if len(n.Sources()) != 1 || n.Size().Rows >= m.Size().Rows {
		t.Errorf("%v rows of %d sources are left", n.Size().Rows, len(n.Sources()))
	}
	known := map[key]bool{}
	var rules []foundRule
	for _, u := range m.units {
		known[u.rule.key()] = true
		rules = append(rules, foundRule{class: u.class, rule: u.rule})
	}
	rest, err := n.trainingRows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fitted := &Model{settings: m.settings}
	if err := rest.fitWeights(ctx, fitted, rules, m.share, nil); err != nil {
		t.Fatal(err)
	}
	want := map[key]unit{}
	for _, u := range fitted.units {
		want[u.rule.key()] = u
	}
	for _, u := range n.units {
		if !known[u.rule.key()] {
			t.Errorf("%v is no rule of the network", u.rule)
		}
		for c, got := range u.counts {
			if _, k := rest.covers(u.rule, c); got != k {
				t.Errorf("%v covers %v rows of class %d, expected %v", u.rule, got, c, k)
			}
			// Both fits stop where derivatives are within a millionth of the
			// rows; the loss curves by a case or so along each weight.
			if from := want[u.rule.key()].weights; from == nil || math.Abs(u.weights[c]-from[c]) > 0.01 {
				t.Errorf("%v weighs %v, expected %v", u.rule, u.weights, from)
			}
		}
	}
	if len(n.units) != len(fitted.units) {
		t.Errorf("%d rules are left, expected %d", len(n.units), len(fitted.units))
	}
	if _, err := n.Excerpt(ctx, rule.Budget{Top: 2}); err != nil {
		t.Errorf("it cannot be cut: %v", err)
	}
}

// What was saved is weighed again as what was learnt, and nothing is left
// without the last source.
func TestWithoutOfSaved(t *testing.T) {
	ctx := context.Background()
	m := votesOfTwo(t)
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	one, _, err := m.Without(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	two, again, err := saved.(*Model).Without(ctx, "a")
	if err != nil || again || one.(*Model).base.String() != two.(*Model).base.String() {
		t.Errorf("again %v, %v; the rules are others", again, err)
	}
	if _, _, err := m.Without(ctx, "a", "b"); err == nil {
		t.Error("nothing is left, and no error")
	}
	if _, _, err := m.Without(ctx, "nobody"); err == nil {
		t.Error("an unknown source, and no error")
	}
	plain := learnOrFail(t, prototypes(200, 1), 20, map[string]string{"weights": "published"})
	if _, _, err := plain.Without(ctx, "a"); err == nil {
		t.Error("nothing is left of published weights, and no error")
	}
}
