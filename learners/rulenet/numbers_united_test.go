package rulenet

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// All rules of several draws, solved for the mean of what these answer, answer that
// mean, but for what their ridge takes of it: 4 of the weight of 400 rows.
func TestDrawsOfNumbersAnswerWithTheirMean(t *testing.T) {
	rows := sums(t, 400, 10, 1)
	s, err := (&Learner{}).settings()
	if err != nil {
		t.Fatal(err)
	}
	h, err := newSchool(t.Context(), rows, 3, 1, s)
	if err != nil {
		t.Fatal(err)
	}
	h.standardise(rows.Columns[3].Floats, 1)
	if err := h.layTracks(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, all, mean := *h, make([]*adder, numberDraws), make([]float64, rows.Rows())
	for i := range all {
		other.seed = otherDraw(other.seed)
		r := rehearsed{options: other.options(16, 5, columnShare), trees: 30, size: 8}
		if all[i], err = other.onceMore(t.Context(), r, false); err != nil {
			t.Fatal(err)
		}
		for at, x := range all[i].answers() {
			mean[at] += x / numberDraws
		}
	}
	u, err := h.meanOf(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	off := 0.0
	for at, x := range u.answers() {
		off += (x - mean[at]) * (x - mean[at]) / float64(len(mean))
	}
	if math.Sqrt(off) > 0.05 {
		t.Errorf("%d rules are off the mean by %.3f deviations", len(u.rules), math.Sqrt(off))
	}
}

// Few rows of numbers are united into as many rules as were asked for, whatever the
// rows' order, and each has a certificate.
func TestNumbersOfFewRowsAreUnited(t *testing.T) {
	rows := sums(t, 400, 10, 2)
	l := &Learner{Rules: "6"}
	var said [2][]float64
	for i, of := range [][]int{placesUpTo(400), reversed(400)} {
		m, err := l.Learn(t.Context(), learn.Task{Table: rows.Select(of), Target: "price", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		n := m.(*Numbers)
		if len(n.units) == 0 || len(n.units) > 6 || !strings.Contains(n.stopped, "of 3 draws") {
			t.Errorf("%d rules: %s", len(n.units), n.stopped)
		}
		for _, u := range n.units {
			if !(u.removed >= 0) || math.IsInf(u.removed, 0) {
				t.Errorf("a certificate of %v", u.removed)
			}
		}
		out := learn.NewPredictions(m, 400)
		if err := m.Predict(t.Context(), rows, out); err != nil {
			t.Fatal(err)
		}
		said[i] = out.Mean
	}
	if !slices.EqualFunc(said[0], said[1], near) {
		t.Error("rows in another order are answered otherwise")
	}
}
