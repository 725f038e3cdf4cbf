package rulenet

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// A union answers with the mean of the log-odds of its networks, before rules are
// dropped, whatever cuts each has; and what is printed is what answers.
func TestUnitedNetworksAnswerWithTheirMean(t *testing.T) {
	for _, name := range []string{"glass", "votes", "labor"} {
		rows, target := load(t, name)
		climbed := learnOrFail(t, rows, target, map[string]string{"teacher": "none"})
		taught := learnOrFail(t, rows, target, map[string]string{"teacher": "trees", "rules": "30"})
		m := pooled([]*Model{climbed, taught})
		if err := m.compile(t.Context()); err != nil {
			t.Fatal(err)
		}
		a, b, mean := answersOf(t, climbed, rows), answersOf(t, taught, rows), answersOf(t, m, rows)
		k := len(m.bias)
		for r := range rows.Rows() {
			want := make([]float64, k)
			for c := range want {
				want[c] = (math.Log(a[r*k+c]) + math.Log(b[r*k+c])) / 2
			}
			logsum.Normalise(want)
			if !slices.EqualFunc(want, mean[r*k:][:k], near) {
				t.Fatalf("%s, row %d: %v, expected %v", name, r+1, mean[r*k:][:k], want)
			}
		}
	}
}

// Of few rows networks of several draws are one: fewer rules than all had, which still
// answer as all did, to a quarter of a nat over all rows; and each has a certificate.
func TestFewRowsAreUnited(t *testing.T) {
	rows, target := load(t, "votes")
	m := learnOrFail(t, rows, target, nil)
	if !m.taught || len(m.units) == 0 || len(m.units) > 60 {
		t.Fatalf("%d rules, taught %v", len(m.units), m.taught)
	}
	for _, c := range m.Certificates() {
		if c.Rule == "" || math.IsNaN(c.Removed) {
			t.Errorf("no certificate: %v", c)
		}
	}
	other := learnOrFail(t, rows.Select(reversed(rows.Rows())), target, nil)
	if !slices.EqualFunc(answersOf(t, m, rows), answersOf(t, other, rows), near) {
		t.Error("rows in another order are answered otherwise")
	}
}

func reversed(n int) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = n - 1 - i
	}
	return of
}
