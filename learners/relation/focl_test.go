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
	m := &Model{lesson: lesson{Settings: (&Focl{Theory: "cup.pl\n" + cupTheory}).settings(), Target: set.Target}, arity: 1}
	if err := m.prepare(rows.Schema, nil); err != nil {
		t.Fatal(err)
	}
	db, x := alone().over(rows, m.target)
	f := &search{ctx: context.Background(), db: db, examples: x, options: options{lookahead: 1, news: 1, literals: 12, variables: 64, beam: 1, negation: true, exact: true}}
	class := slices.Index(m.classes(), "1")
	for _, c := range rows.Columns[m.target].Codes {
		f.positive, f.weight = append(f.positive, int(c) == class), append(f.weight, 1)
	}
	f.proposed = m.proposals(db, class)
	names := func(s *step) (all []string) {
		for _, l := range s.literals {
			all = append(all, l.relation.name)
		}
		return all
	}
	want := []string{"bottom_is_flat", "light", "has_concavity", "concavity_points_up"}
	start := f.begin(everything(rows.Rows()))
	steps, _ := f.steps(start, 3)
	if s := &steps[0]; !slices.Equal(names(s), want) || math.Abs(s.gain-2.9479) > 5e-5 || s.counts.ep != 4 || s.counts.en != 2 {
		t.Errorf("the first step is %v, gain %.4f, %v+ %v−", names(s), s.gain, s.counts.ep, s.counts.en)
	}
	without := f.extend(start, literal{relation: db.byName["has_handle"], args: []int{0}, op: atMost}, false)
	c := &chosen{search: f, from: without, most: 1}
	f.propose(without, c)
	if s := &c.steps[0]; !slices.Equal(names(s), want) || s.counts.ep != 2 || s.counts.en != 0 {
		t.Errorf("without a handle it is %v, %v+ %v−", names(s), s.counts.ep, s.counts.en)
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
