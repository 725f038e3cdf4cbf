package relation

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
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
