package belief_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/learners/belief"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// cases are rows of b, which hangs on a, and of c, which hangs on b.
func cases(t *testing.T, text string, of *table.Schema) *table.Table {
	t.Helper()
	rows, _, err := table.Read(context.Background(), strings.NewReader("a,b,c\n"+text), table.Options{Name: "rows.csv", Schema: of, Extend: of != nil})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func chain(t *testing.T, rows *table.Table, source, keep string) learn.Model {
	t.Helper()
	l := &belief.Learner{Structure: "given", Require: "a->b,b->c", Keep: keep}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "", Source: learn.Source{ID: source, Name: source}}.At(learn.NoTarget))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func say(t *testing.T, m learn.Model, who, text string) learn.Model {
	t.Helper()
	base, err := rule.ParseFor(who, []byte(text), m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if !expert.Supposes(m, base) {
		t.Fatalf("%s is not for a network to suppose", text)
	}
	told, err := expert.Suppose(context.Background(), m, base, learn.Source{ID: who, Name: who})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// probability asks for a value of a column, given a row with ? for what is not known.
func probability(t *testing.T, m learn.Model, row, column, value string) float64 {
	t.Helper()
	asked := cases(t, row+"\n", m.Schema())
	j := m.Schema().Index(column)
	answer, err := m.(learn.Asker).Ask(asked, 0, j)
	if err != nil {
		t.Fatal(err)
	}
	return answer.P[m.Schema().Attributes[j].Code(value)]
}

const rows = "x,p,u\nx,p,v\nx,q,v\ny,q,v\ny,q,u\ny,p,u\ny,q,v\n"

// A rule that tests the parents of what it concludes counts as so many rows would,
// in that table alone; others are shared out as the network expects.
func TestRulesAreVirtualCases(t *testing.T) {
	for _, keep := range []string{"", "counts"} {
		m := chain(t, cases(t, rows, nil), "rows", keep)
		told := say(t, m, "ann", "IF a = x THEN b = p WITH 0.75 WORTH 8")
		// Three rows with a = x, two of them p; m = 1 over two values.
		if got, want := probability(t, told, "x,?,?", "b", "p"), (2+.5+6)/(3+1+8.); math.Abs(got-want) > 1e-12 {
			t.Errorf("keep=%s: P(p|x) = %v, want %v", keep, got, want)
		}
		for _, same := range [][3]string{{"?,?,?", "a", "x"}, {"y,?,?", "b", "p"}, {"?,p,?", "c", "u"}} {
			if got, want := probability(t, told, same[0], same[1], same[2]), probability(t, m, same[0], same[1], same[2]); math.Abs(got-want) > 1e-12 {
				t.Errorf("keep=%s: P(%s = %s | %s) moved from %v to %v", keep, same[1], same[2], same[0], want, got)
			}
		}
		// Given a = x alone, the cases of c are shared by P(b|x).
		p := probability(t, m, "x,?,?", "b", "p")
		far := say(t, m, "ann", "IF a = x THEN c = u WITH 1 WORTH 10")
		if got, want := probability(t, far, "?,p,?", "c", "u"), (2+.5+10*p)/(3+1+10*p); math.Abs(got-want) > 1e-12 {
			t.Errorf("keep=%s: P(u|p) = %v, want %v", keep, got, want)
		}
		// What was told stays, whatever rows come, and goes when it is forgotten.
		ctx := context.Background()
		u, err := told.(learn.Updater).Begin(learn.Source{ID: "more", Name: "more"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(ctx, cases(t, "x,q,u\n", told.Schema())); err != nil {
			t.Fatal(err)
		}
		later, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := probability(t, later, "x,?,?", "b", "p"), (2+.5+6)/(4+1+8.); math.Abs(got-want) > 1e-12 {
			t.Errorf("keep=%s: P(p|x) = %v after an update, want %v", keep, got, want)
		}
		data, err := learn.Encode(later)
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := probability(t, again, "x,?,?", "b", "p"), probability(t, later, "x,?,?", "b", "p"); a != b {
			t.Errorf("keep=%s: a saved network says %v, not %v", keep, a, b)
		}
		left, err := again.(learn.Forgetter).Forget(ctx, "ann", "more")
		if err != nil {
			t.Fatal(err)
		}
		if a, b := probability(t, left, "x,?,?", "b", "p"), probability(t, m, "x,?,?", "b", "p"); a != b {
			t.Errorf("keep=%s: what was told is not forgotten: %v, not %v", keep, a, b)
		}
		// Merged networks were told what either was, once.
		other := say(t, say(t, chain(t, cases(t, "x,p,u\ny,p,u\n", m.Schema()), "other", keep), "ann", "IF a = x THEN b = p WITH 0.75 WORTH 8"), "bob", "IF b = q THEN c = v WITH 1 WORTH 3")
		both, err := told.(learn.Merger).Merge(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := probability(t, both, "x,?,?", "b", "p"), (3+.5+6)/(4+1+8.); math.Abs(got-want) > 1e-12 {
			t.Errorf("keep=%s: P(p|x) = %v after merging, want %v", keep, got, want)
		}
		if experts := both.(expert.Supposer).Experts(); len(experts) != 2 {
			t.Errorf("keep=%s: merged networks were told by %v", keep, experts)
		}
	}
}

// What a network cannot suppose is said.
func TestWrongRulesAreNotSupposed(t *testing.T) {
	m := chain(t, cases(t, rows, nil), "rows", "")
	for text, want := range map[string]string{
		"IF a = x THEN b = p":                   "rule 1: it does not say how many cases it is worth",
		"IF a != x THEN b = p WORTH 3":          "expected column = value",
		"IF a = x AND b = p THEN b = p WORTH 3": "it tests the column",
	} {
		base, err := rule.ParseFor("ann", []byte(text), m.Schema())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := expert.Suppose(context.Background(), m, base, learn.Source{ID: "ann"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}
