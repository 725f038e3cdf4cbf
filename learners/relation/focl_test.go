package relation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

const cupTheory = `cup(X) :- stable(X), liftable(X), open_vessel(X).
stable(X) :- bottom_is_flat(X).
liftable(X) :- graspable(X), light(X).
graspable(X) :- has_handle(X).
open_vessel(X) :- has_concavity(X), concavity_points_up(X).`

// Mitchell 1997, figure 12.8 and exercise 12.6: what the theory proposes for cups, pruned,
// wins over every literal; after ¬HasHandle it loses that literal, too.
func TestTheoryProposes(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "cup")
	if err != nil {
		t.Fatal(err)
	}
	propose := func(zero ...string) (Proposal, error) {
		return Propose(context.Background(), &Focl{Theory: "cup.pl\n" + cupTheory}, learn.Task{Table: rows, Target: set.Target}, "1", zero...)
	}
	want := []string{"bottom_is_flat", "light", "has_concavity", "concavity_points_up"}
	first, err := propose()
	if err != nil || !first.Wins || !slices.Equal(first.Columns, want) || math.Abs(first.Gain-2.9479) > 5e-5 || first.Positive != 4 || first.Negative != 2 {
		t.Errorf("the first step is %+v, %v", first, err)
	}
	without, err := propose("has_handle")
	if err != nil || !slices.Equal(without.Columns, want) || without.Positive != 2 || without.Negative != 0 {
		t.Errorf("without a handle it is %+v, %v", without, err)
	}
	if _, err := propose("a_lid"); err == nil || !strings.Contains(err.Error(), `no column "a_lid"`) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// A theory that concludes a class of every row proposes nothing, which is said; one that
// proposes something is not spoken of.
func TestTheoryUnheard(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "cup")
	if err != nil {
		t.Fatal(err)
	}
	for theory, unheard := range map[string]bool{"cup(X).": true, "cup(X) :- nowhere(X).": true, cupTheory: false} {
		m, err := (&Focl{Theory: "cup.pl\n" + theory}).Learn(context.Background(), learn.Task{Table: rows, Target: set.Target, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		remarks, err := m.(*Model).Remarks()
		if said := strings.Contains(fmt.Sprint(remarks), "proposes no condition"); err != nil || said != unheard {
			t.Errorf("%.30s…: %v, %v", theory, remarks, err)
		}
	}
}

// A theory about plain rows is propositional; it matches none of the promoters, and how
// far its concepts are met tells most of them all the same.
func TestTheoryMetInPart(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "promoters")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := datasets.Theory("promoters")
	m, err := (&Focl{Theory: "promoters.pl\n" + string(text)}).Learn(context.Background(), learn.Task{Table: rows, Target: set.Target, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if text := m.(*Model).Clauses()[0].Text; !strings.Contains(text, "_met") {
		t.Errorf("the first clause asks for no concept: %s", text)
	}
	if _, err := (&Focl{Theory: "p.pl\npromoter :- nowhere=a."}).Learn(context.Background(), learn.Task{Table: rows, Target: set.Target, Seed: 1}); err != nil && !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a column that is not there: %v", err)
	}
}

// Columns with the same values are compared: chess positions from the plain table, of
// which the clauses leave out only kings that stand between (Quinlan 1990: 99.4 %).
func TestColumnsCompared(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "krk")
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: rows, Target: set.Target, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	test, _, err := datasets.Load(context.Background(), "krk-test")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []*table.Table{test, test.Slice(0, 1), test.Slice(1, 2)} { // one row has no values to tell that columns are alike
		fitted, _, err := table.Conform(part, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, part.Rows())
		if err := m.Predict(context.Background(), fitted, out); err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for r, c := range fitted.Columns[m.Target()].Codes {
			if out.Row(r)[c] > .5 {
				right++
			}
		}
		if right/float64(part.Rows()) < .99 {
			t.Errorf("of %d positions %v are told right", part.Rows(), right)
		}
	}
}
