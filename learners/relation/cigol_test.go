package relation_test

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/relation"
	"github.com/accrete-ml/accrete/logic"
)

const threeGenerations = `parent(ann,bob). parent(bob,cid). parent(bob,dot). parent(ann,eve). parent(eve,fay). parent(gus,bob).
female(ann). female(dot). female(eve). female(fay). male(bob). male(cid). male(gus).`

func asked(t *testing.T, l learn.Learner, examples string) *relation.Model {
	t.Helper()
	task, err := logic.ReadTask(threeGenerations, examples, "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*relation.Model)
}

// From two examples cigol learns a clause that is too general, and asks about somebody who
// is no woman; with the answer it learns the clause.
func TestCigolAsks(t *testing.T) {
	m := asked(t, &relation.Cigol{}, "pos(grandmother(ann,cid)). neg(grandmother(ann,bob)).")
	questions, err := m.Questions(context.Background(), 3)
	if err != nil || len(questions) != 3 {
		t.Fatalf("%d questions, %v", len(questions), err)
	}
	first := questions[0]
	if got := first.Row.Text(0, 0); got != "gus" || first.Yes == 0 || first.No == 0 || first.Row.Text(0, m.Target()) != "" {
		t.Errorf("it asks of %s, %v against %v", got, first.Yes, first.No)
	}
	m = asked(t, &relation.Cigol{}, "pos(grandmother(ann,cid)). neg(grandmother(ann,bob)). neg(grandmother(gus,cid)). pos(grandmother(ann,fay)).")
	if got := m.Clauses()[0].Text; got != "grandmother(A,B) :- female(A), parent(A,C), parent(C,B)." {
		t.Errorf("learnt %s", got)
	}
	if g, err := m.Graph(); err != nil || len(g.Nodes) != 7 {
		t.Errorf("%+v, %v", g, err)
	}
}

// Numbers of a program are cut where nothing else tells the examples apart.
func TestNumbersOfProgramsAreCut(t *testing.T) {
	task, err := logic.ReadTask(`age(a,3). age(b,17). age(c,20). age(d,31). age(e,45). age(f,12). age(g,70). age(h,15).`,
		"neg(adult(a)). neg(adult(b)). pos(adult(c)). pos(adult(d)). pos(adult(e)). neg(adult(f)). pos(adult(g)). neg(adult(h)).", "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&relation.Learner{}).Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*relation.Model).Clauses()[0].Text; got != "adult(A) :- age(A,B), B > 17." {
		t.Errorf("learnt %s", got)
	}
}
