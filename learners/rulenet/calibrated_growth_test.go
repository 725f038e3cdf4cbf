package rulenet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Every certificate is of a rule that is printed.
func TestCertificatesNamePrintedRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, target := drawTable(t)
		m := learnDrawn(t, all, target, "a", map[string]string{"weights": rapid.SampledFrom([]string{"calibrated", "published", "all"}).Draw(t, "weights")})
		base, err := m.Rules()
		if err != nil {
			t.Fatal(err)
		}
		printed := map[string]bool{}
		for i := range base.Rules {
			printed[base.Rules[i].ID()] = true
		}
		certificates := m.Certificates()
		for _, c := range certificates {
			if !printed[c.ID] {
				t.Fatalf("%v is of no rule of\n%v", c, base)
			}
		}
		if len(certificates) != len(m.units) {
			t.Fatalf("%d certificates of %d units", len(certificates), len(m.units))
		}
	})
}

// A row that weighs as much as a million does not make growth blind to the
// others.
func TestGrowthBesideAHeavyRow(t *testing.T) {
	rows := prototypes(342, 1)
	weights := make([]float64, rows.Rows())
	for r := range weights {
		weights[r] = 1
	}
	weights[17] = 1e6
	heavy, err := table.New(rows.Schema, rows.Columns, weights)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newTraining(background, heavy, 20, 1, settings{Weights: "calibrated", Grow: "residual", Ties: "information", Update: "exact", Cuts: "both", Penalty: 0.1, Rounds: 30})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.startGrowth(background, w.weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	for a := range s.fitted.present {
		off, furthest := s.residuals(a)
		l := newResidualCounter(s.examples, off, furthest*s.typical)
		for i, x := range off {
			// Half a unit of what a typical row can be off by, with eight bits.
			if least := furthest * s.typical / (1 << 8); x > least && l.units(x) == 0 {
				t.Fatalf("row %d of the class %d is off by %v and weighs nothing", i, s.class[i], x)
			}
		}
	}
}

// The penalty is chosen for the networks of the best round, not of the last.
func TestPenaltyIsChosenForTheBestRound(t *testing.T) {
	votes, target := load(t, "votes")
	set := settings{Weights: "calibrated", Grow: "residual", Ties: "information", Update: "exact", Cuts: "both", Penalty: 0.1, Rounds: 30, Templates: automatic}
	w, err := newTraining(background, votes, target, 1, set)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{}
	best, relaxed, err := w.chooseRounds(background, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if best >= len(m.steps)-1 {
		t.Fatalf("the best round %d is the last of %d; nothing to tell apart", best, len(m.steps))
	}
	networks, err := w.holdOut(background)
	if err != nil {
		t.Fatal(err)
	}
	for round := range best + 1 {
		if err := growAll(background, networks, round); err != nil {
			t.Fatal(err)
		}
	}
	want, _, err := relax(background, networks)
	if err != nil {
		t.Fatal(err)
	}
	if relaxed != want {
		t.Errorf("%v of the penalty after round %d, expected %v", relaxed, best, want)
	}
}

// Rows that are held out do not move the cuts that they are judged by.
func TestCutsDoNotSeeRowsHeldOut(t *testing.T) {
	pima, target := load(t, "pima")
	set := settings{Weights: "calibrated", Grow: "residual", Ties: "information", Update: "exact", Cuts: "mdl", Penalty: 0.1, Rounds: 30, Templates: automatic}
	w, err := newTraining(background, pima, target, 1, set)
	if err != nil {
		t.Fatal(err)
	}
	networks, err := w.holdOut(background)
	if err != nil {
		t.Fatal(err)
	}
	dealt, err := w.folds(background, heldOutParts)
	if err != nil {
		t.Fatal(err)
	}
	differ := false
	for p, s := range networks {
		var rows []int
		for r, held := range dealt[p] {
			if held < pima.Weight(r) {
				rows = append(rows, r)
			}
		}
		want, err := findCuts(background, pima.Select(rows), target, "mdl", true)
		if err != nil {
			t.Fatal(err)
		}
		for col := range want {
			if (want[col] == nil) != (s.cuts[col] == nil) || want[col] != nil && !slices.Equal(want[col].At, s.cuts[col].At) {
				t.Errorf("part %d: column %d is cut at %v, by the rest alone at %v", p, col, s.cuts[col], want[col])
			}
			differ = differ || want[col] != nil && !slices.Equal(want[col].At, w.cuts[col].At)
		}
		if got := sum(s.weights) + sum(s.heldOut); got != sum(w.weights) {
			t.Errorf("part %d: rows of the weight %v, expected %v", p, got, sum(w.weights))
		}
	}
	if !differ {
		t.Error("cuts are the same with and without rows held out; the test shows nothing")
	}
}

// More classes than can be told apart are refused, in one line.
func TestTooManyClasses(t *testing.T) {
	const n = 1<<16 + 1
	class := make([]int32, n)
	values := make([]string, n)
	for i := range class {
		class[i], values[i] = int32(i), fmt.Sprint("c", i)
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "a", Values: []string{"u"}}, {Name: "name", Values: values}}}
	rows, err := table.New(schema, []table.Column{{Codes: make([]int32, n)}, {Codes: class}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn.New(Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Learn(background, learn.Task{Table: rows, Target: "name"}); err == nil || !strings.Contains(err.Error(), "65537 classes") {
		t.Errorf("%d classes: %v", n, err)
	}
}
