package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

var background = context.Background()

// steady takes out what depends on the clock.
func steady(r *Result) *Result {
	c := *r
	c.TrainSeconds, c.PredictSeconds = 0, 0
	return &c
}

func TestFoldsPartitionAndStratify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "rows")
		k := rapid.IntRange(2, n).Draw(t, "folds")
		classes := rapid.IntRange(1, 5).Draw(t, "classes")
		seed := rapid.Uint64().Draw(t, "seed")
		rows := samples(n, classes, .3, seed)
		fold, err := Folds(rows, 2, k, seed)
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]int, k)
		counts := make([][]int, classes)
		for c := range counts {
			counts[c] = make([]int, k)
		}
		for r, f := range fold { // an index out of range is a row in no fold
			sizes[f]++
			counts[rows.Columns[2].Codes[r]][f]++
		}
		for _, count := range append(counts, sizes) {
			if slices.Max(count)-slices.Min(count) > 1 {
				t.Fatalf("folds of unequal shares: %v", count)
			}
		}
		again, _ := Folds(rows, 2, k, seed)
		if !slices.Equal(fold, again) {
			t.Fatal("the same seed gives other folds")
		}
		s := spec(rows, 2, &lookup{})
		s.Repeats = 2
		splits, err := s.crossSplits(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range splits {
			train, test := split.rows()
			all := slices.Concat(train, test)
			slices.Sort(all)
			if len(all) != n || len(slices.Compact(all)) != n {
				t.Fatalf("%d training and %d test rows of %d", len(train), len(test), n)
			}
		}
	})
}

func TestProportionalPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "rows")
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		rows := samples(n, classes, .5, 3)
		order := proportional(rows, 2, labelled(rows, 2), rapid.Uint64().Draw(t, "seed"))
		whole := make([]float64, classes)
		for _, c := range rows.Columns[2].Codes {
			whole[c]++
		}
		prefix := make([]float64, classes)
		for i, r := range order {
			prefix[rows.Columns[2].Codes[r]]++
			for c := range prefix {
				// Each class is off by less than one row on its own,
				// and the others' rounding shifts the prefix by less
				// than a row each.
				if want := whole[c] * float64(i+1) / float64(n); math.Abs(prefix[c]-want) > float64(classes)+1 {
					t.Fatalf("%d rows hold %v of class %d, its share is %v", i+1, prefix[c], c, want)
				}
			}
		}
		slices.Sort(order)
		if len(slices.Compact(order)) != n {
			t.Fatal("not all rows, or some twice")
		}
	})
}

func TestFoldsRefusals(t *testing.T) {
	rows := samples(5, 2, 0, 1)
	for _, k := range []int{1, 0, -3, 6} {
		if _, err := Folds(rows, 2, k, 1); err == nil {
			t.Errorf("%d folds of 5 rows are refused", k)
		}
	}
	rows.Columns[2].Codes = []int32{-1, -1, -1, -1, -1}
	if _, err := Folds(rows, 2, 2, 1); err == nil || !strings.Contains(err.Error(), "class") {
		t.Errorf("no target: %v", err)
	}
}

// Figures of predictions worked out by hand.
func TestMeasures(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Nominal, Values: []string{"p", "q"}},
		{Name: "class", Kind: table.Nominal, Values: []string{"no", "yes"}},
	}}
	train := must(table.New(schema, []table.Column{{Codes: []int32{0, 0, 0, 0, 1, 1, 1, 1}}, {Codes: []int32{0, 0, 0, 1, 1, 1, 1, 1}}}, nil))
	// p: no 3/4; q: yes 1. Tests: p no (right, .75), p yes (wrong, .25),
	// q yes (right, 1), q no (wrong, 0 and so clipped).
	test := must(table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1, 0}}, {Codes: []int32{0, 1, 1, 0, -1}}}, nil))
	r, err := TrainTest(background, spec(train, 1, &lookup{}), test)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"accuracy", *r.Accuracy, .5},
		{"log loss", *r.LogLoss, -(math.Log(.75) + math.Log(.25) + math.Log(1) + math.Log(1e-15)) / 4},
		{"Brier", *r.Brier, (2*.0625 + 2*.5625 + 0 + 2) / 4},
		// .75 confident, half right; 1 confident, half right.
		{"ECE", *r.ECE, .5*.25 + .5*.5},
		{"low", *r.AccuracyLow, 1 - stat.ErrorRate{Errors: 2, Cases: 4}.Exact(.95, stat.TwoSided).High},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s = %v, expected %v", c.what, c.got, c.want)
		}
	}
	if !reflect.DeepEqual(r.Confusion, [][]float64{{1, 1}, {1, 1}}) {
		t.Errorf("confusion %v", r.Confusion)
	}
	if len(r.Reliability) != 2 || r.Reliability[0].Confidence != .75 || r.Reliability[1].High != 1 {
		t.Errorf("reliability %+v", r.Reliability)
	}
	if r.Interval != "exact" || r.TestRows != 4 || r.TrainRows != 8 || *r.Rules != 2 {
		t.Errorf("%+v", r)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "1e-15") || !strings.Contains(notes, "exact") || !strings.Contains(notes, "1 rows without") {
		t.Errorf("notes: %s", notes)
	}
}

func TestRegressionMeasures(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Nominal, Values: []string{"a", "b"}}, {Name: "y", Kind: table.Numeric}}}
	train := must(table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1}}, {Floats: []float64{0, 2, 9, 11}}}, nil))
	test := must(table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1, 1}}, {Floats: []float64{0, 3, 10, 14, math.NaN()}}}, nil))
	r, err := TrainTest(background, spec(train, 1, &lookup{}), test)
	if err != nil {
		t.Fatal(err)
	}
	// Errors −1, 2, 0, 4.
	mean := (0.0 + 3 + 10 + 14) / 4
	total := 0.0
	for _, y := range []float64{0, 3, 10, 14} {
		total += (y - mean) * (y - mean)
	}
	if math.Abs(*r.RMSE-math.Sqrt(21./4)) > 1e-12 || math.Abs(*r.MAE-7./4) > 1e-12 || math.Abs(*r.R2-(1-21/total)) > 1e-12 {
		t.Errorf("RMSE %v, MAE %v, R² %v", *r.RMSE, *r.MAE, *r.R2)
	}
	if r.Accuracy != nil || r.Confusion != nil || !(*r.RMSELow <= *r.RMSE && *r.RMSE <= *r.RMSEHigh) {
		t.Errorf("%+v", r)
	}
	// Within mean ± 1.96 deviations (1): 0 of class a, 10 of b; 3 and 14 are not.
	if *r.Coverage != .5 {
		t.Errorf("coverage %v", *r.Coverage)
	}
}

// The intervals of regression measures cover the true values. The model is
// y = x + N(0,1), and a lookup learnt from 4·10⁵ rows is right to 1/300, so
// that RMSE = 1, MAE = sqrt(2/π), R² = 1 − 1/(1.25+1) to three digits. Of 400
// runs the count of covering intervals is binomial; the bound is five standard
// deviations, 5·sqrt(.95·.05/400) = .054, plus .01 for the skew of squares in
// samples of 200.
func TestRegressionCoverage(t *testing.T) {
	m, err := (&lookup{}).Learn(background, learn.Task{Table: measured(400000, 1, 77)}.At(1))
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string]float64{}
	const runs = 400
	for run := range runs {
		r, err := TestModel(background, m, measured(200, 1, uint64(run)), Spec{})
		if err != nil {
			t.Fatal(err)
		}
		for what, i := range map[string][3]float64{
			"RMSE": {*r.RMSELow, *r.RMSEHigh, 1}, "MAE": {*r.MAELow, *r.MAEHigh, math.Sqrt(2 / math.Pi)},
			"R2": {*r.R2Low, *r.R2High, 1 - 1/2.25},
		} {
			if (stat.Interval{Low: i[0], High: i[1]}).Contains(i[2]) {
				hits[what] += 1. / runs
			}
		}
	}
	for _, what := range []string{"RMSE", "MAE", "R2"} {
		if math.Abs(hits[what]-.95) > .064 {
			t.Errorf("the interval of %s covers %.3f", what, hits[what])
		}
	}
}

// The interval of accuracy covers the true accuracy. A lookup of x is right
// with probability 1 − noise·(1 − 1/classes) = .8 for two classes and noise
// .4. 1,000 test sets of 100: five deviations are 5·sqrt(.95·.05/1000) = .034,
// and the normal approximation's own coverage for n = 100, p = .2, summed over
// the binomial, is taken as the truth.
func TestAccuracyCoverage(t *testing.T) {
	m, err := (&lookup{}).Learn(background, learn.Task{Table: samples(10000, 2, .4, 5)}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for k := range 101 {
		e := stat.ErrorRate{Errors: float64(k), Cases: 100}
		if i, _ := e.Interval(.95, stat.TwoSided); i.Contains(.2) {
			want += stat.BinomialPMF(float64(k), 100, .2)
		}
	}
	hits := 0.0
	for run := range 1000 {
		r, err := TestModel(background, m, samples(100, 2, .4, uint64(run)+100), Spec{})
		if err != nil {
			t.Fatal(err)
		}
		if *r.AccuracyLow <= .8 && .8 <= *r.AccuracyHigh {
			hits += .001
		}
	}
	if math.Abs(hits-want) > .034 {
		t.Errorf("covers %.3f, by enumeration %.3f", hits, want)
	}
}

func TestCrossValidate(t *testing.T) {
	rows := samples(400, 3, .2, 2)
	r, err := CrossValidate(background, spec(rows, 2, &lookup{Prior: 1}), 10)
	if err != nil {
		t.Fatal(err)
	}
	// Noise .2 draws among 3 classes: right with probability 1 − .2·2/3.
	// 400 rows: five standard deviations are 5·sqrt(.867·.133/400) = .085.
	if math.Abs(*r.Accuracy-.8667) > .085 || *r.AccuracyLow >= *r.Accuracy || *r.AccuracyHigh <= *r.Accuracy {
		t.Errorf("accuracy %v [%v, %v]", *r.Accuracy, *r.AccuracyLow, *r.AccuracyHigh)
	}
	if r.TestRows != 400 || r.TrainRows != 360 || r.Folds != 10 || len(r.FoldAccuracies) != 10 || r.Rows != 400 {
		t.Errorf("%+v", r)
	}
	if mean := stat.Mean(r.FoldAccuracies).Value; math.Abs(mean-*r.Accuracy) > 1e-12 {
		t.Errorf("folds of equal size: mean %v, pooled %v", mean, *r.Accuracy)
	}
	again, _ := CrossValidate(background, spec(rows, 2, &lookup{Prior: 1}), 10)
	if !reflect.DeepEqual(steady(r), steady(again)) {
		t.Error("the same evaluation gives other figures")
	}
	five := spec(rows, 2, &lookup{Prior: 1})
	five.Repeats = 5
	rr, err := CrossValidate(background, five, 10)
	if err != nil {
		t.Fatal(err)
	}
	if rr.Repeats != 5 || len(rr.FoldAccuracies) != 50 || rr.TestRows != 400 {
		t.Errorf("%+v", rr)
	}
	if w, ww := *r.AccuracyHigh-*r.AccuracyLow, *rr.AccuracyHigh-*rr.AccuracyLow; math.Abs(w-ww) > .2*w {
		t.Errorf("repeats change the width of the interval from %v to %v", w, ww)
	}
}

func TestLeaveOneOut(t *testing.T) {
	rows := samples(30, 2, .2, 2)
	r, err := CrossValidate(background, spec(rows, 2, &lookup{}), 30)
	if err != nil {
		t.Fatal(err)
	}
	if r.TrainRows != 29 || len(r.FoldAccuracies) != 30 {
		t.Errorf("%+v", r)
	}
}

func TestSameOnAnyNumberOfCores(t *testing.T) {
	numbers := measured(300, 2, 4)
	rows := samples(300, 4, .3, 4)
	run := func(cores int) []any {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		a, err := CrossValidate(background, spec(rows, 2, &lookup{noisy: true}), 7)
		if err != nil {
			t.Fatal(err)
		}
		b, err := CrossValidate(background, spec(numbers, 1, &lookup{}), 7)
		if err != nil {
			t.Fatal(err)
		}
		c, err := LearningCurve(background, spec(rows, 2, &lookup{noisy: true}), CurveOptions{Folds: 3})
		if err != nil {
			t.Fatal(err)
		}
		return []any{steady(a), steady(b), c}
	}
	if one, two := run(1), run(2); !reflect.DeepEqual(one, two) {
		t.Error("one core and two give different figures")
	}
}

// A class with a single row is in no model that is tested on it.
func TestClassOnlyInTestFold(t *testing.T) {
	rows := samples(40, 2, 0, 1)
	rows.Schema.Attributes[2].Values = []string{"c0", "c1", "rare"}
	rows.Columns[2].Codes[7] = 2
	r, err := CrossValidate(background, spec(rows, 2, &lookup{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	if sum := r.Confusion[2]; sum[0]+sum[1] != 1 || sum[2] != 0 {
		t.Errorf("the rare row: %v", sum)
	}
	if *r.LogLoss < -math.Log(1e-15)/40-1 || math.IsInf(*r.LogLoss, 0) {
		t.Errorf("log loss %v", *r.LogLoss)
	}
}

func TestUnseenTarget(t *testing.T) {
	train := samples(40, 2, 0, 1)
	m, err := (&lookup{}).Learn(background, learn.Task{Table: train}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	test := samples(10, 2, 0, 2)
	test = must(table.New(train.Schema, test.Columns, nil))
	test.Columns[2].Codes[0] = table.Unseen
	r, err := TestModel(background, m, test, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Learner != "lookup" || *r.Accuracy != .9 || r.Classes[2] != unseenClass {
		t.Errorf("%+v", r)
	}
	// The same with a dictionary of its own, in another order.
	other := samples(10, 3, 0, 2)
	slices.Reverse(other.Schema.Attributes[2].Values)
	if _, err := TestModel(background, m, other, Spec{}); err != nil {
		t.Error(err)
	}
	// A column of another name or kind is refused.
	other.Schema.Attributes[2].Name = "klass"
	if _, err := TestModel(background, m, other, Spec{}); err == nil || !strings.Contains(err.Error(), `"class"`) {
		t.Errorf("no target: %v", err)
	}
	number := measured(5, 1, 1)
	number.Schema.Attributes[1].Name = "class"
	if _, err := TestModel(background, m, number, Spec{}); err == nil || !strings.Contains(err.Error(), "numeric") {
		t.Errorf("a numeric target: %v", err)
	}
}

// A row of weight 2 counts as the row twice.
func TestWeightsCountCases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		numeric := rapid.Bool().Draw(t, "numeric")
		once, target := samples(30, 3, .4, seed), 2
		if numeric {
			once, target = measured(30, 1, seed), 1
		}
		weights := make([]float64, 30)
		var rows []int
		for r := range weights {
			w := rapid.IntRange(0, 3).Draw(t, "weight")
			if r == 0 {
				w = 1
			}
			weights[r] = float64(w)
			for range w {
				rows = append(rows, r)
			}
		}
		m, err := (&lookup{Prior: 1}).Learn(background, learn.Task{Table: once}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		weighted := must(table.New(once.Schema, once.Columns, weights))
		a, err := TestModel(background, m, weighted, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := TestModel(background, m, once.Select(rows), Spec{})
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, x, y *float64) {
			if (x == nil) != (y == nil) || x != nil && math.Abs(*x-*y) > 1e-9*(1+math.Abs(*y)) {
				t.Fatalf("%s: weighted %v, repeated %v", what, show(x), show(y))
			}
		}
		same("accuracy", a.Accuracy, b.Accuracy)
		same("low", a.AccuracyLow, b.AccuracyLow)
		same("log loss", a.LogLoss, b.LogLoss)
		same("Brier", a.Brier, b.Brier)
		same("ECE", a.ECE, b.ECE)
		same("RMSE", a.RMSE, b.RMSE)
		same("RMSE low", a.RMSELow, b.RMSELow)
		same("R2", a.R2, b.R2)
		same("R2 low", a.R2Low, b.R2Low)
	})
}

func show(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func TestMeasureLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 120).Draw(t, "rows")
		rows := samples(n, rapid.IntRange(1, 4).Draw(t, "classes"), rapid.Float64Range(0, 1).Draw(t, "noise"), rapid.Uint64().Draw(t, "seed"))
		r, err := CrossValidate(background, spec(rows, 2, &lookup{Prior: rapid.Float64Range(0, 2).Draw(t, "prior")}), 3)
		if err != nil {
			t.Fatal(err)
		}
		trace, sum := 0.0, 0.0
		for i, row := range r.Confusion {
			for j, x := range row {
				sum += x
				if i == j {
					trace += x
				}
			}
		}
		inBins := 0.0
		for _, b := range r.Reliability {
			inBins += b.Weight
			if b.Confidence < b.Low-1e-12 || b.Confidence > b.High+1e-12 {
				t.Fatalf("bin %+v", b)
			}
		}
		switch {
		case sum != float64(n) || inBins != float64(n):
			t.Fatalf("%v rows counted, %v in bins, of %d", sum, inBins, n)
		case math.Abs(trace/sum-*r.Accuracy) > 1e-12:
			t.Fatalf("diagonal %v, accuracy %v", trace/sum, *r.Accuracy)
		case *r.AccuracyLow < 0 || *r.AccuracyHigh > 1 || *r.AccuracyLow > *r.Accuracy+1e-12 || *r.AccuracyHigh < *r.Accuracy-1e-12:
			t.Fatalf("%v not in [%v, %v]", *r.Accuracy, *r.AccuracyLow, *r.AccuracyHigh)
		case *r.Brier < 0 || *r.Brier > 2 || *r.ECE < 0 || *r.ECE > 1 || *r.LogLoss < 0 || *r.LogLoss > 35:
			t.Fatalf("Brier %v, ECE %v, log loss %v", *r.Brier, *r.ECE, *r.LogLoss)
		}
	})
}

func TestHoldOut(t *testing.T) {
	rows := samples(300, 2, .2, 2)
	one, err := HoldOut(background, spec(rows, 2, &lookup{}), HoldOutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if one.TestRows != 100 || one.TrainRows != 200 || one.Folds != 0 {
		t.Errorf("%+v", one)
	}
	many, err := HoldOut(background, spec(rows, 2, &lookup{}), HoldOutOptions{TestShare: 1. / 3, Repeats: 20})
	if err != nil {
		t.Fatal(err)
	}
	if many.Repeats != 20 || !strings.Contains(strings.Join(many.Notes, " "), "overlap") {
		t.Errorf("%+v", many)
	}
	if w, ww := *one.AccuracyHigh-*one.AccuracyLow, *many.AccuracyHigh-*many.AccuracyLow; ww < .6*w {
		t.Errorf("repeats narrow the interval from %v to %v", w, ww)
	}
	for _, share := range []float64{-1, 1, 2, .0001, math.NaN()} {
		if _, err := HoldOut(background, spec(rows, 2, &lookup{}), HoldOutOptions{TestShare: share}); err == nil {
			t.Errorf("a share of %v is refused", share)
		}
	}
	few, err := HoldOut(background, spec(samples(20, 2, 0, 1), 2, &lookup{}), HoldOutOptions{})
	if err != nil || !strings.Contains(strings.Join(few.Notes, " "), "advised") {
		t.Errorf("%+v %v", few, err)
	}
}

func TestDensity(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}
	xs := make([]float64, 50)
	for i := range xs {
		xs[i] = float64(i%5) - 2
	}
	rows := must(table.New(schema, []table.Column{{Floats: xs}}, nil))
	r, err := CrossValidate(background, spec(rows, learn.NoTarget, &lookup{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(*r.NLL-(1+math.Log(2*math.Pi)/2)) > 1e-12 || r.Target != nil || r.Accuracy != nil || *r.NLLLow >= *r.NLL {
		t.Errorf("%+v", r)
	}
	doc, _ := json.Marshal(r)
	if !strings.Contains(string(doc), `"target":null`) || strings.Contains(string(doc), "accuracy") {
		t.Errorf("%s", doc)
	}
	r, err = CrossValidate(background, spec(rows, learn.NoTarget, &lookup{broken: math.Inf(-1)}), 5)
	if err != nil || r.NLL != nil || !strings.Contains(strings.Join(r.Notes, " "), "infinite") {
		t.Errorf("density 0: %+v, %v", r, err)
	}
	if _, err := CrossValidate(background, spec(rows, learn.NoTarget, &lookup{broken: math.NaN()}), 5); err == nil {
		t.Error("a density of NaN is refused")
	}
	rival := func(name string, l *lookup) Spec { return rival(rows, learn.NoTarget, name, l) }
	impossible, normal, flat := rival("impossible", &lookup{broken: math.Inf(-1)}), rival("normal", &lookup{}), rival("flat", &lookup{broken: -9})
	if _, err := Compare(background, []Spec{impossible, normal}, 5); err == nil {
		t.Error("a density of 0 cannot be compared")
	}
	c, err := Compare(background, []Spec{flat, normal}, 5)
	if err != nil || c.Measure != "nll" || c.Differences[0].Better != "normal" {
		t.Errorf("%+v %v", c, err)
	}
}

func TestJSONKeys(t *testing.T) {
	r, err := CrossValidate(background, spec(samples(60, 2, .2, 1), 2, &lookup{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(doc, &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range strings.Split("data,target,learner,rows,train_rows,test_rows,folds,seed,accuracy,accuracy_low,accuracy_high,log_loss,brier,ece,rules,train_seconds,predict_seconds", ",") {
		if _, ok := keys[k]; !ok {
			t.Errorf("no key %q in %s", k, doc)
		}
	}
	for _, k := range []string{"rmse", "nll", "r2", "prequential"} {
		if _, ok := keys[k]; ok {
			t.Errorf("key %q does not apply", k)
		}
	}
}

func TestErrors(t *testing.T) {
	rows := samples(40, 2, .2, 1)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := CrossValidate(ctx, spec(rows, 2, &lookup{}), 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	bad := errors.New("cannot learn that")
	if _, err := CrossValidate(background, spec(rows, 2, &lookup{fail: bad}), 5); !errors.Is(err, bad) || !strings.Contains(err.Error(), "split 1 of 5") {
		t.Errorf("%v", err)
	}
	for _, p := range []float64{math.NaN(), -1, 2} {
		if _, err := CrossValidate(background, spec(rows, 2, &lookup{broken: p}), 5); err == nil || !strings.Contains(err.Error(), "probability") {
			t.Errorf("probability %v: %v", p, err)
		}
	}
	if _, err := CrossValidate(background, spec(measured(20, 1, 1), 1, &lookup{broken: math.Inf(1)}), 5); err == nil {
		t.Error("a prediction of Inf is refused")
	}
	weightless := must(table.New(rows.Schema, rows.Columns, make([]float64, 40)))
	if _, err := CrossValidate(background, spec(weightless, 2, &lookup{}), 5); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Errorf("weightless: %v", err)
	}
	for what, change := range map[string]func(*Spec){
		"no table":  func(s *Spec) { s.Table = nil },
		"target":    func(s *Spec) { s.Target = 9 },
		"level":     func(s *Spec) { s.Level = 95 },
		"bins":      func(s *Spec) { s.Bins = -1 },
		"no New":    func(s *Spec) { s.New = nil },
		"bad New":   func(s *Spec) { s.New = Registered("lookupp", nil) },
		"setting":   func(s *Spec) { s.New = Registered("lookup", map[string]string{"colum": "1"}) },
		"bad value": func(s *Spec) { s.New = Registered("lookup", map[string]string{"column": "x"}) },
	} {
		s := spec(rows, 2, &lookup{})
		change(&s)
		for name, call := range map[string]func() error{
			"CrossValidate": func() error { _, err := CrossValidate(background, s, 5); return err },
			"HoldOut":       func() error { _, err := HoldOut(background, s, HoldOutOptions{}); return err },
			"TrainTest":     func() error { _, err := TrainTest(background, s, rows); return err },
			"LearningCurve": func() error { _, err := LearningCurve(background, s, CurveOptions{}); return err },
			"Prequential":   func() error { _, err := Prequential(background, s, PrequentialOptions{}); return err },
			"FiveByTwo":     func() error { _, err := CompareFiveByTwo(background, []Spec{s, s}); return err },
			"Compare": func() error {
				_, err := Compare(background, []Spec{s, s}, 5)
				return err
			},
		} {
			err := call()
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s with %s: %v", name, what, err)
			}
		}
	}
	good := spec(rows, 2, nil)
	good.New = Registered("lookup", map[string]string{"column": "1", "prior": "1"})
	if _, err := CrossValidate(background, good, 5); err != nil {
		t.Error(err)
	}
	missing := must(table.New(rows.Schema, rows.Columns, nil))
	missing.Columns = slices.Clone(missing.Columns)
	missing.Columns[2].Codes = slices.Repeat([]int32{table.Missing}, 40)
	m, _ := (&lookup{}).Learn(background, learn.Task{Table: rows}.At(2))
	if _, err := TestModel(background, m, missing, Spec{}); err == nil {
		t.Error("no test row has a target")
	}
	if _, err := TestModel(background, m, weightless, Spec{}); err == nil {
		t.Error("no test row weighs anything")
	}
}

func TestProgress(t *testing.T) {
	var lock sync.Mutex
	var seen []float64
	ctx := learn.WithProgress(background, func(f float64) {
		lock.Lock()
		defer lock.Unlock()
		seen = append(seen, f)
	})
	if _, err := CrossValidate(ctx, spec(samples(60, 2, 0, 1), 2, &lookup{reports: true}), 5); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 10 || !slices.IsSorted(seen) || math.Abs(seen[9]-1) > 1e-9 {
		t.Errorf("progress %v", seen)
	}
	seen = nil
	if _, err := Prequential(ctx, spec(samples(60, 2, 0, 1), 2, &lookup{reports: true}), PrequentialOptions{Batch: 20}); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(seen) != fmt.Sprint([]float64{1. / 3, 2. / 3, 1}) {
		t.Errorf("progress %v", seen)
	}
}

func TestLearningCurve(t *testing.T) {
	rows := samples(500, 3, .1, 8)
	c, err := LearningCurve(background, spec(rows, 2, &lookup{Prior: 1}), CurveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Measure != "accuracy" || len(c.Points) != 6 || c.Points[0].Rows != 12 || c.Points[5].Rows != 400 {
		t.Fatalf("%+v", c)
	}
	for _, p := range c.Points {
		if !(p.Low <= p.Value && p.Value <= p.High) || p.Training == 0 {
			t.Errorf("%+v", p)
		}
	}
	last, err := CrossValidate(background, spec(rows, 2, &lookup{Prior: 1}), 5)
	if err != nil || c.Points[5].Value != *last.Accuracy {
		t.Errorf("all rows: %v on the curve, %v by cross-validation", c.Points[5].Value, *last.Accuracy)
	}
	c, err = LearningCurve(background, spec(measured(100, 1, 3), 1, &lookup{}), CurveOptions{Folds: 4, Sizes: []int{75, 10, 10}})
	if err != nil || len(c.Points) != 2 || c.Measure != "rmse" || c.Points[0].Rows != 10 {
		t.Errorf("%+v %v", c, err)
	}
	for _, size := range []int{0, 401} {
		if _, err := LearningCurve(background, spec(rows, 2, &lookup{}), CurveOptions{Sizes: []int{size}}); err == nil {
			t.Errorf("%d rows are refused", size)
		}
	}
	if _, err := LearningCurve(background, spec(rows, 2, &lookup{}), CurveOptions{Folds: 1}); err == nil {
		t.Error("one fold is refused")
	}
	if c, err := LearningCurve(background, spec(samples(6, 2, 0, 1), 2, &lookup{}), CurveOptions{Folds: 3}); err != nil || len(c.Points) != 1 {
		t.Errorf("six rows: %+v %v", c, err)
	}
}

func TestCompare(t *testing.T) {
	rows := samples(600, 2, .2, 3)
	specs := []Spec{rival(rows, 2, "knows", &lookup{}), rival(rows, 2, "guesses", &lookup{Column: 1}), rival(rows, 2, "knows too", &lookup{Prior: .5})}
	c, err := Compare(background, specs, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Learners) != 3 || len(c.Differences) != 3 || c.Measure != "accuracy" || len(c.Notes) != 0 {
		t.Fatalf("%+v", c)
	}
	d := c.Differences[0]
	if !d.Significant || d.Better != "knows" || d.Low <= 0 || d.Difference <= d.Low || d.PHolm < d.P || d.McNemar.OnlyB <= d.McNemar.OnlyA || d.McNemar.P > 1e-6 {
		t.Errorf("%+v %+v", d, d.McNemar)
	}
	if same := c.Differences[1]; same.Significant || same.Difference != 0 || same.P != 1 || same.McNemar.P != 1 {
		t.Errorf("%+v", same)
	}
	if c.Differences[2].Better != "knows too" {
		t.Errorf("%+v", c.Differences[2])
	}
	if want := *c.Learners[0].Accuracy - *c.Learners[1].Accuracy; math.Abs(d.Difference-want) > 1e-12 {
		t.Errorf("difference %v, of accuracies %v", d.Difference, want)
	}
	again := slices.Clone(specs[:2])
	again[0].Repeats = 3
	r, err := Compare(background, again, 30)
	if err != nil {
		t.Fatal(err)
	}
	if r.Learners[0].Repeats != 3 || len(r.Notes) != 2 {
		t.Errorf("%+v", r.Notes)
	}
	y := measured(200, 1, 1)
	numbers, err := Compare(background, []Spec{rival(y, 1, "bad", &lookup{broken: 50}), rival(y, 1, "good", &lookup{})}, 5)
	if err != nil || numbers.Measure != "rmse" || numbers.Differences[0].Better != "good" || numbers.Differences[0].Difference < 0 || numbers.Differences[0].McNemar != nil {
		t.Errorf("%+v %v", numbers, err)
	}
	if _, err := Compare(background, specs[:1], 10); err == nil {
		t.Error("one learner cannot be compared")
	}
	if _, err := Compare(background, []Spec{specs[0], rival(rows, 1, "other target", &lookup{})}, 10); err == nil {
		t.Error("different targets cannot be compared")
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestCompareOn(t *testing.T) {
	train, test := samples(300, 2, .2, 3), samples(200, 2, .2, 4)
	test.Columns[2].Codes[3] = table.Missing
	specs := []Spec{rival(train, 2, "knows", &lookup{}), rival(train, 2, "guesses", &lookup{Column: 1}), rival(train, 2, "knows too", &lookup{Prior: .5})}
	c, err := CompareOn(background, specs, test)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Differences[0]
	want := stat.Difference(
		stat.ErrorRate{Errors: 199 - math.Round(199**c.Learners[1].Accuracy), Cases: 199},
		stat.ErrorRate{Errors: 199 - math.Round(199**c.Learners[0].Accuracy), Cases: 199})
	if math.Abs(d.Difference-want.Value) > 1e-12 || math.Abs(d.P-want.P()) > 1e-12 || d.Better != "knows" || d.McNemar.P > .01 || len(c.Notes) != 0 {
		t.Errorf("%+v, expected %+v", d, want)
	}
	if disagree := d.McNemar.OnlyB - d.McNemar.OnlyA; math.Abs(disagree/199-d.Difference) > 1e-12 {
		t.Errorf("McNemar counts %v more errors of guesses, the difference is %v", disagree, d.Difference)
	}
	if same := c.Differences[1]; same.Significant || same.Difference != 0 {
		t.Errorf("%+v", same)
	}
	ps := stat.Holm([]float64{c.Differences[0].McNemar.P, c.Differences[1].McNemar.P, c.Differences[2].McNemar.P})
	for i, p := range ps {
		if c.Differences[i].McNemar.PHolm != p {
			t.Errorf("pair %d: McNemar's p %v, corrected %v", i, c.Differences[i].McNemar.P, c.Differences[i].McNemar.PHolm)
		}
	}
	if few, err := CompareOn(background, specs[:2], test.Slice(0, 20)); err != nil || len(few.Notes) != 1 {
		t.Errorf("%+v %v", few, err)
	}
	y := measured(50, 1, 1)
	if _, err := CompareOn(background, []Spec{rival(y, 1, "a", &lookup{}), rival(y, 1, "b", &lookup{})}, y); err == nil || !strings.Contains(err.Error(), "folds") {
		t.Errorf("numbers: %v", err)
	}
	if _, err := CompareOn(background, specs[:1], test); err == nil {
		t.Error("one learner cannot be compared")
	}
	if _, err := CompareOn(background, specs, y); err == nil {
		t.Error("the test rows have no class")
	}
}

// Chance is called a difference about as often as the level says. The two
// candidates look at columns that say nothing, drawn apart, with classes of
// equal shares, so neither is better; 200 comparisons at .05 give 10 on
// average. The paired t over folds errs somewhat more often than it says
// (Dietterich 1998 found up to .1), so the bound is .1 plus five standard
// deviations, .1 + 5·sqrt(.1·.9/200) = .206.
func TestChanceIsRarelySignificant(t *testing.T) {
	significant := 0.0
	for run := range 200 {
		rows := samples(120, 2, 1, uint64(run))
		rows.Columns[0].Codes = samples(120, 2, 1, uint64(run)+1000).Columns[1].Codes
		c, err := Compare(background, []Spec{rival(rows, 2, "a", &lookup{}), rival(rows, 2, "b", &lookup{Column: 1})}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if c.Differences[0].Significant {
			significant++
		}
	}
	if significant/200 > .206 {
		t.Errorf("%v of 200 differences by chance are called significant", significant)
	}
}

func TestCompareFiveByTwo(t *testing.T) {
	rows := samples(600, 2, .2, 3)
	knows, guesses := rival(rows, 2, "knows", &lookup{}), rival(rows, 2, "guesses", &lookup{Column: 1})
	c, err := CompareFiveByTwo(background, []Spec{knows, guesses, knows})
	if err != nil {
		t.Fatal(err)
	}
	d := c.Differences[0]
	want := stat.FiveByTwoT(d.FiveByTwo.Differences)
	if !d.Significant || d.Better != "knows" || d.Difference <= 0 || !(d.Low < d.Difference && d.Difference < d.High) || d.FiveByTwo.T != want.Statistic() || d.P != want.P() {
		t.Errorf("%+v", d)
	}
	if len(c.Differences) != 3 || len(c.Learners) != 3 || c.Learners[0].Repeats != 5 || c.Learners[0].Folds != 2 {
		t.Errorf("%+v", c)
	}
	if same := c.Differences[1]; same.Significant || same.P != 1 {
		t.Errorf("%+v", same)
	}
	// Differences that never vary: infinitely significant, and still JSON.
	clear := samples(100, 2, 0, 1)
	for r := range 100 { // a tie goes to the first name, c0
		clear.Columns[2].Codes[r], clear.Columns[0].Codes[r] = 1, 1
	}
	sure, err := CompareFiveByTwo(background, []Spec{rival(clear, 2, "knows", &lookup{}), rival(clear, 2, "never", &lookup{broken: .5})})
	if err != nil || !sure.Differences[0].Significant || sure.Differences[0].P != 0 {
		t.Errorf("%+v %v", sure, err)
	}
	if _, err := json.Marshal(sure); err != nil {
		t.Error(err)
	}
	single := rival(samples(1, 2, 0, 1), 2, "single", &lookup{})
	if _, err := CompareFiveByTwo(background, []Spec{single, single}); err == nil {
		t.Error("one row cannot be halved")
	}
	if _, err := CompareFiveByTwo(background, []Spec{single}); err == nil {
		t.Error("one learner cannot be compared")
	}
	knows.Times = make([]float64, 600)
	if _, err := CompareFiveByTwo(background, []Spec{knows, guesses}); err == nil || !strings.Contains(err.Error(), "future") {
		t.Errorf("in time: %v", err)
	}
}

func ExampleCrossValidate() {
	rows := samples(200, 2, 0.2, 1)
	r, err := CrossValidate(context.Background(), Spec{
		Data: "made up", Table: rows, Target: 2, Seed: 1,
		Learner: "lookup", New: Registered("lookup", nil),
	}, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy %.3f, between %.3f and %.3f\n", *r.Accuracy, *r.AccuracyLow, *r.AccuracyHigh)
	// Output: accuracy 0.910, between 0.870 and 0.950
}

func BenchmarkTally(b *testing.B) {
	rows := samples(10000, 3, .2, 1)
	m, err := (&lookup{}).Learn(background, learn.Task{Table: rows}.At(2))
	if err != nil {
		b.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(background, rows, out); err != nil {
		b.Fatal(err)
	}
	names := rows.Schema.Attributes[2].Values
	b.ReportAllocs()
	for b.Loop() {
		t := newTally(rows.Schema, 2, names, 0, 15)
		if err := t.addClasses(rows, 2, out, names, nil); err != nil {
			b.Fatal(err)
		}
	}
}
