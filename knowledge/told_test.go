package knowledge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

func answers(t testing.TB, m learn.Model, tab *table.Table) *learn.Predictions {
	t.Helper()
	same, _, err := table.Conform(tab, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, tab.Rows())
	if err := m.Predict(ctx, same, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// class returns the probabilities of one class, by its name.
func class(t testing.TB, m learn.Model, tab *table.Table, name string) []float64 {
	t.Helper()
	out := answers(t, m, tab)
	code := m.Schema().Attributes[m.Target()].Code(name)
	p := make([]float64, tab.Rows())
	for row := range p {
		p[row] = out.Row(row)[code]
	}
	return p
}

func near(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: row %d: %v, expected %v", what, i+1, got[i], want[i])
			return
		}
	}
}

// TestToldEveryLearner: whatever the learner, a rule worth nothing changes
// nothing and one worth very much decides; what was told is saved, loaded,
// updated, merged and forgotten with the model.
func TestToldEveryLearner(t *testing.T) {
	for _, info := range classifiers() {
		t.Run(info.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 1))
			a, b := weather(t, random, 80, false), weather(t, random, 60, false)
			tell := func(tab *table.Table, source string, with, worth float64) *expert.Told {
				t.Helper()
				l, err := learn.New(info.Name, nil)
				if err != nil {
					t.Fatal(err)
				}
				advised, err := expert.Advised(info, l, advice(t, fmt.Sprintf("IF wind = yes THEN play = no WITH %v WORTH %v", with, worth)))
				if err != nil {
					t.Fatal(err)
				}
				m, err := advised.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: source, Name: source}, Seed: 1}.At(2))
				if err != nil {
					t.Fatal(err)
				}
				return m.(*expert.Told)
			}
			idle := tell(a, "a", 0.9, 0)
			near(t, "worth 0", answers(t, idle, a).P, answers(t, idle.Unwrap(), a).P, 1e-12)
			sure := tell(a, "a", 0.9, 1e14)
			plain := class(t, sure.Unwrap(), a, "no")
			for row, p := range class(t, sure, a, "no") {
				want := plain[row]
				if a.Text(row, 1) == "yes" {
					want = 0.9
				}
				near(t, "worth 1e14", []float64{p}, []float64{want}, 1e-12)
			}

			m := tell(a, "a", 0.9, 30)
			data, err := learn.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			back, err := learn.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "loaded", answers(t, back, a).P, answers(t, m, a).P, 0)

			all := joined(t, a, b)
			if info.Can.Update && info.Contract == learn.Exact {
				near(t, "updated", class(t, updated(t, m, b, "b"), a, "no"), class(t, tell(all, "all", 0.9, 30), a, "no"), 1e-9)
			}
			if !info.Can.Merge || !info.Can.Forget || info.Contract != learn.Exact {
				return
			}
			merged, err := m.Merge(ctx, tell(b, "b", 0.9, 30))
			if err != nil {
				t.Fatal(err)
			}
			near(t, "merged", class(t, merged, a, "no"), class(t, tell(all, "all", 0.9, 30), a, "no"), 1e-9)
			left, err := merged.(*expert.Told).Forget(ctx, "b")
			if err != nil {
				t.Fatal(err)
			}
			near(t, "forgotten", class(t, left, a, "no"), class(t, m, a, "no"), 1e-9)
		})
	}
}

// joined returns the rows of both tables.
func joined(t testing.TB, a, b *table.Table) *table.Table {
	t.Helper()
	columns := make([]table.Column, len(a.Columns))
	for j := range columns {
		columns[j].Codes = append(append(columns[j].Codes, a.Columns[j].Codes...), b.Columns[j].Codes...)
	}
	all, err := table.New(a.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestToldAsked: a model of the joint distribution that was told rules about
// the class answers and fills in the class as it predicts it, and the rest as
// before.
func TestToldAsked(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	rows := weather(t, random, 80, false)
	m := fit(t, "gaussian", rows, "a")
	after, err := expert.Tell(ctx, m, advice(t, "IF wind = yes THEN play = no WITH 0.95 WORTH 500"), fitted(t, m, []learn.Learnt{{Source: learn.Source{ID: "a"}, Table: rows}})...)
	if err != nil {
		t.Fatal(err)
	}
	told := after.(*expert.Told)
	asked, err := table.New(rows.Schema, []table.Column{rows.Columns[0], rows.Columns[1], {Codes: make([]int32, rows.Rows())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for row := range asked.Columns[2].Codes {
		asked.Columns[2].Codes[row] = table.Missing
	}
	asker, ok := learn.Ability[learn.Asker](told)
	if !ok {
		t.Fatal("it cannot be asked any more")
	}
	out := answers(t, told, asked)
	full, err := told.Impute(ctx, asked)
	if err != nil {
		t.Fatal(err)
	}
	names := told.Schema().Attributes[2].Values
	for row := range asked.Rows() {
		answer, err := asker.Ask(asked, row, 2)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "asked", answer.P, out.Row(row), 1e-9)
		if got := int(full.Columns[2].Codes[row]); got != learn.Best(out.Row(row), names) {
			t.Errorf("row %d: filled in %d", row+1, got)
		}
	}
	same, err := asker.Ask(asked, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := m.(learn.Asker).Ask(asked, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "another column", same.P, plain.P, 0)
	if told.Size().Rules != m.Size().Rules+1 || len(told.Sources()) != len(m.(learn.Forgetter).Sources())+1 {
		t.Errorf("%+v, sources %v", told.Size(), told.Sources())
	}
}
