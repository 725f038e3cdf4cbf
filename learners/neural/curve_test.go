package neural_test

import (
	"context"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
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
