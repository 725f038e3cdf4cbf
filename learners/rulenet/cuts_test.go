package rulenet

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// Cuts are those of the kind that is best on rows held out, and are chosen again when
// rows join: learnt in parts, the network is that of all rows.
func TestCutsAreChosen(t *testing.T) {
	rows := concept(240, 0, 31)
	set := map[string]string{"cuts": "auto"}
	chosen := learnOrFail(t, rows, 3, set)
	least := 0.0
	for _, way := range []string{"both", "mdl", "frequency"} {
		if m := learnOrFail(t, rows, 3, map[string]string{"cuts": way}); least == 0 || m.rehearsed < least {
			least = m.rehearsed
		}
	}
	if !(chosen.rehearsed <= least/(1-leastGain)+1e-12) {
		t.Errorf("the loss on rows held out is %v, and %v with other cuts", chosen.rehearsed, least)
	}
	u, err := learnOrFail(t, rows.Slice(0, 150), 3, set).Begin(learn.Source{ID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), rows.Slice(150, 240)); err != nil {
		t.Fatal(err)
	}
	grown, err := u.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(answersOf(t, grown, rows), answersOf(t, chosen, rows), near) {
		t.Error("in parts, other answers")
	}
	if l, err := learn.New(Name, map[string]string{"cuts": "auto", "grow": "none"}); err == nil {
		if _, err := l.Learn(t.Context(), learn.Task{Table: rows}.At(3)); err == nil {
			t.Error("cuts are chosen without rows held out")
		}
	}
}
