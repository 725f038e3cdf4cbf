package bayes

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// Updates share what they can with the model that they began with. The model
// is still the one that its blocks make from scratch, and neither a further
// update nor rows added after Freeze change a model that is out already.
func TestUpdatesShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := learnRows(t, append(rapid.SliceOfN(rowGen, 0, 20).Draw(t, "first"), row{a: "p", class: "yes", weight: 1}), "0", 1)
		for range rapid.IntRange(1, 6).Draw(t, "updates") {
			u, err := m.Begin(learn.Source{ID: rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "source")})
			if err != nil {
				t.Fatal(err)
			}
			before, was := m, partsOf(t, m)
			for range 2 {
				rows := rapid.SliceOfN(rowGen, 1, 3).Draw(t, "rows")
				if err := u.Add(context.Background(), tabulate(rows, m.Schema())); err != nil {
					t.Fatal(err)
				}
				frozen, err := u.Freeze(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(partsOf(t, before), was) {
					t.Fatal("an update changed the model before it")
				}
				before = frozen.(*Model)
				was = partsOf(t, before)
				scratch, err := decode(was)
				if err != nil {
					t.Fatal(err)
				}
				if !learn.SameCodes(before.Schema(), scratch.Schema()) {
					t.Fatalf("the schema is %v, from scratch %v", before.Schema(), scratch.Schema())
				}
				sameAnswers(t, "from scratch", before, scratch.(*Model), rows, 0)
			}
			m = before
		}
	})
}

func partsOf(t *rapid.T, m *Model) []learn.Part {
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// The first to predict makes the tables: many may be the first, while others
// learn on.
func TestFirstPredictions(t *testing.T) {
	tab := mixed(100)
	base := fit(t, tab, 1)
	row, _, err := table.Conform(tab.Slice(0, 1), base.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"a", "b"} {
		learnt, err := updated(base, source, row)
		if err != nil {
			t.Fatal(err)
		}
		next := learnt.(*Model)
		answers := make([]*learn.Predictions, 8)
		var group sync.WaitGroup
		for i := range answers {
			answers[i] = learn.NewPredictions(next, 1)
			group.Go(func() {
				if i%2 == 0 {
					if _, err := updated(next, source, row); err != nil {
						t.Error(err)
					}
				}
				if err := next.Predict(context.Background(), row, answers[i]); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for i, a := range answers {
			if fmt.Sprint(a.P) != fmt.Sprint(answers[0].P) || a.P[0] == 0 {
				t.Errorf("answer %d is %v, the first %v", i, a.P, answers[0].P)
			}
		}
	}
}
