package bayes

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
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
				if !table.SameCodes(before.Schema(), scratch.Schema()) {
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

// Many sources are saved in few parts, of which an update writes few again,
// and each can still be forgotten to the digit.
func TestManySources(t *testing.T) {
	rows := mixed(100)
	parts := manySources(t, rows, 300)
	if len(parts) != 1+300/bundle.Fan+300%bundle.Fan+1 { // the settings, bundles, sources, and the sum
		t.Errorf("300 sources are saved in %d parts", len(parts))
	}
	m, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Parts()
	if err != nil || !reflect.DeepEqual(again, parts) {
		t.Errorf("a model that was read is written otherwise: %v", err)
	}
	more, err := updated(m.(learn.Updater), "one more", rows)
	if err != nil {
		t.Fatal(err)
	}
	written, err := more.Parts()
	if err != nil {
		t.Fatal(err)
	}
	fresh := 0
	for _, p := range written {
		if !slices.ContainsFunc(parts, func(old learn.Part) bool { return reflect.DeepEqual(old, p) }) {
			fresh++
		}
	}
	if fresh != 2 || !written[len(written)-1].Derived {
		t.Errorf("an update writes %d parts, expected one and the sum", fresh)
	}
	var gone []string
	for i := 1; i < 300; i++ {
		gone = append(gone, fmt.Sprintf("source %d", i))
	}
	left, err := more.(learn.Forgetter).Forget(context.Background(), append(gone, "one more")...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fit(t, rows, 1).Parts()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := left.Parts(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("what is left is not what was there first: %v", err)
	}
}

// A column of times is one when it was saved and read, alone or in a bundle.
func TestTimesAreSaved(t *testing.T) {
	rows := mixed(10)
	rows.Schema.Attributes[0].Time = true
	for _, sources := range []int{1, 2, 70} {
		m, err := decode(manySources(t, rows, sources))
		if err != nil {
			t.Fatal(err)
		}
		if a := &m.Schema().Attributes[0]; a.Shown() != "time" {
			t.Errorf("%d sources: a column of times is read as %s", sources, a.Shown())
		}
	}
}

// TestStreamToTheBit: rows that come in whole chunks are summed in the order in
// which Learn sums them.
func TestStreamToTheBit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "class", Kind: table.Nominal, Values: []string{"a", "b"}}}}
	rows := 5*chunk + 100
	x, class := make([]float64, rows), make([]int32, rows)
	for r := range x {
		class[r] = int32(random.IntN(2))
		x[r] = random.NormFloat64()*1e3 + float64(class[r])
	}
	all, err := table.New(schema, []table.Column{{Floats: x}, {Codes: class}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	task := learn.Task{Table: all, Source: learn.Source{ID: "a"}}.At(1)
	want, err := (&Learner{}).Learn(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	u, err := (&Learner{}).Start(task)
	if err != nil {
		t.Fatal(err)
	}
	for at, batches := 0, []int{2 * chunk, chunk, 2*chunk + 100}; len(batches) > 0; at, batches = at+batches[0], batches[1:] {
		if err := u.Add(context.Background(), all.Slice(at, at+batches[0])); err != nil {
			t.Fatal(err)
		}
	}
	got, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := learn.Encode(want)
	b, _ := learn.Encode(got)
	if !bytes.Equal(a, b) {
		t.Error("the streamed model is not the same to the bit")
	}
}
