package neural_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// The error of rows that are learnt from falls from epoch to epoch, that of
// rows held out has its least one on the way, and both begin where a network
// that knows the classes' frequencies alone does.
func TestCurve(t *testing.T) {
	rows, set, err := datasets.Load(context.Background(), "iris")
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn.New("mlp", map[string]string{"epochs": "30", "hidden": "10"})
	if err != nil {
		t.Fatal(err)
	}
	task := learn.Task{Table: rows, Seed: 1}.At(rows.Schema.Index(set.Target))
	chart, err := l.(learn.Curver).CurveInFolds(context.Background(), "epochs", task, 3)
	if err != nil {
		t.Fatal(err)
	}
	learnt, held, least := chart.Series[0], chart.Series[1], chart.Series[2]
	if len(learnt.Y) != 31 || len(held.Y) != 31 {
		t.Fatalf("%d and %d points, expected one before the first of 30 epochs and one after each", len(learnt.Y), len(held.Y))
	}
	if !(learnt.Y[30] < learnt.Y[0]/2) || !(least.Y[0] <= held.Y[0]) {
		t.Errorf("learnt %v → %v, held out %v, least %v", learnt.Y[0], learnt.Y[30], held.Y[0], least.Y[0])
	}
	if _, err := l.(learn.Curver).CurveInFolds(context.Background(), "unit", task, 3); err == nil || !strings.Contains(err.Error(), "no curve is called") {
		t.Errorf("%v", err)
	}
}

// Figure 4.8: of the network of eight inputs, three hidden units and eight outputs the
// error of each output falls, the hidden units begin near each other and end with a code
// for the first row, and weights begin near 0 and go apart.
func TestCurvesOfOneNetwork(t *testing.T) {
	var text strings.Builder
	text.WriteString("x1,x2,x3,x4,x5,x6,x7,x8,d\n")
	for i := range 8 {
		for j := range 8 {
			fmt.Fprintf(&text, "%d,", map[bool]int{true: 1}[i == j])
		}
		fmt.Fprintf(&text, "d%d\n", i+1)
	}
	rows, _, err := table.Read(t.Context(), strings.NewReader(text.String()), table.Options{Numeric: strings.Split("x1,x2,x3,x4,x5,x6,x7,x8", ",")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn.New("mlp", map[string]string{"hidden": "3", "activation": "sigmoid", "validation": "0", "epochs": "2000", "loss": "squared"})
	if err != nil {
		t.Fatal(err)
	}
	task := learn.Task{Table: rows, Seed: 1}.At(8)
	for what, lines := range map[string]int{"outputs": 8, "hidden": 3, "weights": 8} { // of nine weights, the bias among them, those that move most
		chart, err := l.(learn.Curver).CurveInFolds(t.Context(), what, task, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(chart.Series) != lines {
			t.Errorf("%s: %d lines, want %d", what, len(chart.Series), lines)
		}
		for _, line := range chart.Series {
			first, last := line.Y[0], line.Y[len(line.Y)-1]
			if len(line.Y) != 2001 || line.X[2000] != 2000 {
				t.Errorf("%s, %s: %d points", what, line.Name, len(line.Y))
			}
			switch {
			case what == "outputs" && !(last < 0.2 && last < first/4),
				what == "hidden" && !(math.Abs(last-0.5) > 0.3),
				what == "weights" && !(math.Abs(last-first) > 0.3):
				t.Errorf("%s, %s: from %.3f to %.3f", what, line.Name, first, last)
			}
		}
	}
	flat, err := learn.New("mlp", map[string]string{"hidden": "0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flat.(learn.Curver).CurveInFolds(t.Context(), "hidden", task, 5); err == nil || !strings.Contains(err.Error(), "hidden=3") {
		t.Error(err)
	}
}
