package bayes

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

// withGaps is four rows of class a, of which one lacks its colour and none its size,
// and six of class b, of which five lack the colour and three the size.
func withGaps(t *testing.T) *table.Table {
	t.Helper()
	no := table.Missing
	of, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "colour", Values: []string{"blue", "red"}}, {Name: "size", Kind: table.Numeric}, {Name: "class", Values: []string{"a", "b"}},
	}}, []table.Column{
		{Codes: []int32{0, 0, 1, no, 1, no, no, no, no, no}},
		{Floats: []float64{1, 2, 3, 4, 5, 6, 7, table.NA, table.NA, table.NA}},
		{Codes: []int32{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// A missing cell is as likely in a class as it is missing there, one case of m=1
// shared out between known and missing.
func TestMissingCellsCount(t *testing.T) {
	rows := withGaps(t)
	said := func(l *Learner, row int) float64 {
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Target: "class"})
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(t.Context(), rows, out); err != nil {
			t.Fatal(err)
		}
		return math.Log(out.Row(row)[1] / out.Row(row)[0])
	}
	if got, want := said(&Learner{}, 9), math.Log(6./4); math.Abs(got-want) > 1e-12 {
		t.Errorf("skipped, nothing known says %v, expected the prior's %v", got, want)
	}
	want := math.Log(6./4) + math.Log(5.5/7/(1.5/5)) + math.Log(3.5/7/(0.5/5))
	if got := said(&Learner{Missing: "count"}, 9); math.Abs(got-want) > 1e-12 {
		t.Errorf("counted, it says %v, expected %v", got, want)
	}
	// What is known counts as being known, too.
	is := said(&Learner{Missing: "count"}, 4) - said(&Learner{}, 4)
	if want := math.Log(1.5/7/(3.5/5)) + math.Log(3.5/7/(4.5/5)); math.Abs(is-want) > 1e-12 {
		t.Errorf("a known row is moved by %v, expected %v", is, want)
	}
}

// Such models keep all laws: they learn more, merge and forget exactly, print and
// explain what they answer.
func TestContractOfMissingCells(t *testing.T) {
	for _, m := range []string{"1", "0"} {
		t.Run("m="+m, func(t *testing.T) {
			learntest.RunWith(t, Name, learntest.Options{Seed: 7, Settings: map[string]string{"missing": "count", "m": m}})
		})
	}
}
