package rulenet

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// lossOn is the mean log loss of answers.
func lossOn(t *testing.T, m learn.Model, rows *table.Table) float64 {
	t.Helper()
	p := answersOf(t, m, rows)
	k, loss := len(p)/rows.Rows(), 0.0
	for r, class := range rows.Columns[3].Codes {
		loss -= math.Log(max(p[r*k+int(class)], 1e-9))
	}
	return loss / float64(rows.Rows())
}

// Networks whose rows are gone are merged by what they know of them: the whole answers
// better than either half, which has another part of what there is to learn, and about
// as one that saw all rows. Which is merged with which makes no difference, nor that
// their classes are in another order.
func TestNetworksAreMergedByWhatTheyKnow(t *testing.T) {
	all, fresh := concept(5000, 0, 21), concept(2000, 0, 22)
	set := map[string]string{"reservoir": "300", "forget": "never"}
	one := startLiving(t, all.Slice(0, 2500), set)
	two := learnTo(t, all.Slice(2500, 5000), "other", map[string]string{"update": "living", "reservoir": "300", "forget": "never"})
	merged, err := one.Merge(t.Context(), two)
	if err != nil {
		t.Fatal(err)
	}
	other, err := two.(*Living).Merge(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := answersOf(t, other, fresh), answersOf(t, merged, fresh); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
		t.Error("merged the other way round, they answer otherwise")
	}
	s := merged.(*Living).state()
	if s.whole || len(s.drawn) != 300 || s.ever != 5000 || s.n != 5000 || len(s.origins) != 2 {
		t.Errorf("%v rows of %v, %d in the reservoir", s.n, s.ever, len(s.drawn))
	}
	halves := max(lossOn(t, one, fresh), lossOn(t, two, fresh))
	if got := lossOn(t, merged, fresh); got > halves {
		t.Errorf("merged, the loss is %.4f; the worse half has %.4f", got, halves)
	}
	if net, err := merged.(*Living).written(); err != nil || !slices.EqualFunc(answersOf(t, net, fresh), answersOf(t, merged, fresh), near) {
		t.Errorf("what is printed answers otherwise (%v)", err)
	}
	// One of three classes, in another order, of which one half knows two.
	third := concept(2500, 0, 23)
	third.Schema = table.CopySchema(third.Schema)
	third.Schema.Attributes[3].Values = []string{"yes", "maybe", "no"}
	third.Columns[3].Codes = slices.Clone(third.Columns[3].Codes)
	for r, c := range third.Columns[3].Codes {
		third.Columns[3].Codes[r] = []int32{2, 0}[c]
		if r%10 == 0 {
			third.Columns[3].Codes[r] = 1
		}
	}
	three := learnTo(t, third, "third", map[string]string{"update": "living", "reservoir": "300", "forget": "never"})
	wide, err := one.Merge(t.Context(), three)
	if err != nil {
		t.Fatal(err)
	}
	if got := lossOn(t, wide, relabelled(t, fresh, wide)); got > lossOn(t, one, fresh)+0.15 { // a class that none has takes 0.05 of each answer
		t.Errorf("with a class more, the loss is %.4f; %.4f before", got, lossOn(t, one, fresh))
	}
}

// relabelled is rows in the codes of a model.
func relabelled(t *testing.T, rows *table.Table, m learn.Model) *table.Table {
	t.Helper()
	own, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	return own
}
