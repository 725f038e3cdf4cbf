package policy

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// clinic is a log of states x, of actions and rewards, each row an episode.
func clinic(t *testing.T, x, action []int32, reward ...float64) *table.Table {
	t.Helper()
	log, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "act", Kind: table.Nominal, Values: []string{"cool", "drug", "leeches"}}, {Name: "r", Kind: table.Numeric}, {Name: "fever", Kind: table.Nominal, Values: []string{"no", "yes"}},
	}}, []table.Column{{Codes: action}, {Floats: reward}, {Codes: x}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// Advice on a log begins values that rows outvote: of WORTH 20 a third is left after
// two rows, all of it where no row is, above what the others came to. It is forgotten
// without a trace, stays with more rows, and goes along when models are merged.
func TestAdviceOnALog(t *testing.T) {
	ctx := context.Background()
	log := clinic(t, []int32{0, 0, 0, 1, 1}, []int32{0, 0, 1, 0, 1}, 1, 3, 5, 4, 2)
	l := &Learner{Reward: "r", Penalty: ptr(0.0), Values: "table"}
	learnt, err := l.Learn(ctx, learn.Task{Table: log, Target: "act", Seed: 1, Source: learn.Source{ID: "rows"}})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := rule.Parse("advice", []byte("IF fever = no THEN act = cool WORTH 20\nIF fever = yes THEN act = leeches WORTH 5"))
	if err != nil {
		t.Fatal(err)
	}
	m := learnt.(*Model)
	wants := func(what string, m learn.Model, no, yes []float64) {
		t.Helper()
		for fever, want := range [][]float64{no, yes} {
			q := make([]float64, 3)
			m.(*Model).Worth([]float64{float64(fever)}, q)
			for a := range q {
				if math.Abs(q[a]-want[a]) > 1e-9 || math.IsNaN(q[a]) != math.IsNaN(want[a]) {
					t.Errorf("%s: fever %d: %v, expected %v", what, fever, q, want)
					break
				}
			}
		}
	}
	nan := math.NaN()
	wants("as logged", m, []float64{2, 5, nan}, []float64{4, 2, nan})
	told, heard, err := m.Advised(advice, learn.Source{ID: "nurse"})
	if err != nil {
		t.Fatal(err)
	}
	wants("told", told, []float64{2 + 20/3.0, 5, nan}, []float64{4, 2, 3 + 5})
	if heard[0] != [3]int{1, 1, 1} || heard[1] != [3]int{1, 1, 1} {
		t.Errorf("heard %v", heard)
	}
	if s := told.(*Model).Sources(); len(s) != 2 || s[1].ID != "nurse" {
		t.Errorf("sources %v", s)
	}
	data, err := learn.Encode(told)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	wants("kept", again, []float64{2 + 20/3.0, 5, nan}, []float64{4, 2, 3 + 5})
	other, err := l.Learn(ctx, learn.Task{Table: clinic(t, []int32{0}, []int32{0}, 8), Target: "act", Seed: 1, Source: learn.Source{ID: "more"}})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := other.(*Model).Merge(ctx, again)
	if err != nil {
		t.Fatal(err)
	}
	wants("merged", merged, []float64{4 + 20/4.0, 5, nan}, []float64{4, 2, 3 + 5})
	for _, ids := range [][]string{{"more", "nurse"}, {"nurse", "more"}} {
		left, err := merged.(*Model).Forget(ctx, ids...)
		if err != nil {
			t.Fatal(err)
		}
		wants("without both", left, []float64{2, 5, nan}, []float64{4, 2, nan})
	}
	left, err := told.(*Model).Forget(ctx, "nurse")
	if err != nil {
		t.Fatal(err)
	}
	wants("without advice", left, []float64{2, 5, nan}, []float64{4, 2, nan})
	if _, err := told.(*Model).Forget(ctx, "nobody"); err == nil {
		t.Error("nobody is forgotten")
	}
	if imitates, err := (&Learner{}).Learn(ctx, learn.Task{Table: log, Target: "act"}); err != nil || imitates.(*Model).Advisable() {
		t.Errorf("who imitates takes advice: %v", err)
	}
}

// Values by a learner of numbers hear advice on their log too, less the more rows
// followed it, and keep it.
func TestAdviceOnAFittedLog(t *testing.T) {
	ctx := context.Background()
	var x, acts []int32
	var rewards []float64
	for i := range int32(40) {
		x, acts, rewards = append(x, i%2), append(acts, i/2%2), append(rewards, float64(i/2%2))
	}
	learnt, err := (&Learner{Reward: "r", Values: "tree"}).Learn(ctx, learn.Task{Table: clinic(t, x, acts, rewards...), Target: "act", Seed: 1, Source: learn.Source{ID: "rows"}})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := rule.Parse("advice", []byte("IF fever = yes THEN act = cool WORTH 22"))
	if err != nil {
		t.Fatal(err)
	}
	told, _, err := learnt.(*Model).Advised(advice, learn.Source{ID: "nurse"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := learn.Encode(told)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	before, after, kept := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	learnt.(*Model).Worth([]float64{1}, before)
	told.(*Model).Worth([]float64{1}, after)
	again.(*Model).Worth([]float64{1}, kept)
	if math.Abs(after[0]-before[0]-2) > 1e-9 || after[1] != before[1] || kept[0] != after[0] {
		t.Errorf("%v, told %v, kept %v", before, after, kept)
	}
}
