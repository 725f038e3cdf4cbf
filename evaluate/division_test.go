package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Groups are never divided, every labelled row is in a fold, no fold is empty,
// and folds are of about equal size where groups are small.
func TestGroupFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "rows")
		rows := samples(n, rapid.IntRange(1, 4).Draw(t, "classes"), .3, 1)
		groups := make([]int, n)
		for r := range groups {
			groups[r] = rapid.IntRange(-3, 40).Draw(t, "group")
		}
		different := slices.Compact(slices.Sorted(slices.Values(groups)))
		if len(different) < 2 {
			t.Skip("one group")
		}
		k := rapid.IntRange(2, len(different)).Draw(t, "folds")
		fold, err := GroupFolds(rows, 2, groups, k, 7)
		if err != nil {
			t.Fatal(err)
		}
		of := map[int]int{}
		sizes := make([]int, k)
		for r, f := range fold {
			if seen, ok := of[groups[r]]; ok && seen != f {
				t.Fatalf("group %d is in folds %d and %d", groups[r], seen, f)
			}
			of[groups[r]] = f
			sizes[f]++
		}
		if slices.Min(sizes) == 0 {
			t.Fatalf("empty fold: %v", sizes)
		}
		again, _ := GroupFolds(rows, 2, groups, k, 7)
		if !slices.Equal(fold, again) {
			t.Fatal("the same seed gives other folds")
		}
	})
	// Groups of one row are as good as rows: shares differ by little.
	rows := samples(300, 3, .3, 1)
	single := make([]int, 300)
	for r := range single {
		single[r] = r
	}
	fold, err := GroupFolds(rows, 2, single, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for r, f := range fold {
		counts[fmt.Sprint(rows.Columns[2].Codes[r], "/", f)]++
	}
	for class := range 3 {
		least, most := 300, 0
		for f := range 5 {
			n := counts[fmt.Sprint(class, "/", f)]
			least, most = min(least, n), max(most, n)
		}
		if most-least > 1 {
			t.Errorf("class %d: folds have from %d to %d rows", class, least, most)
		}
	}
}

// Learning never sees what it is tested on: the past ends before the future
// begins, whatever the order of the rows.
func TestTimeSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "rows")
		rows := samples(n, 2, .3, 1)
		times := make([]float64, n)
		for r := range times {
			times[r] = float64(rapid.IntRange(0, 50).Draw(t, "time"))
		}
		k := rapid.IntRange(1, 6).Draw(t, "splits")
		train, test, err := TimeSplits(rows, 2, times, k)
		if err != nil {
			if moments := len(slices.Compact(slices.Sorted(slices.Values(times)))); moments > 2*k+2 && n > 20*k {
				t.Fatalf("%d rows at %d moments: %v", n, moments, err)
			}
			return
		}
		seen := map[int]bool{}
		for i := range train {
			last, first := -1., 99.
			for _, r := range train[i] {
				last = max(last, times[r])
			}
			for _, r := range test[i] {
				first = min(first, times[r])
				if seen[r] {
					t.Fatalf("row %d is tested twice", r)
				}
				seen[r] = true
			}
			if !(last < first) {
				t.Fatalf("split %d learns up to %v and tests from %v", i, last, first)
			}
			if i > 0 && len(train[i]) != len(train[i-1])+len(test[i-1]) {
				t.Fatalf("split %d does not learn all of the past", i)
			}
		}
		if last := len(train) - 1; len(train[last])+len(test[last]) != n {
			t.Fatal("the last split leaves rows out")
		}
	})
	if train, test, err := TimeSplits(samples(12, 2, .3, 1), 2, []float64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 3); err != nil ||
		!slices.Equal(train[0], []int{9, 10, 11}) || !slices.Equal(test[0], []int{6, 7, 8}) || !slices.Equal(test[2], []int{0, 1, 2}) {
		t.Errorf("%v %v %v", train, test, err)
	}
}

// An id that gives the class away is found out: with rows of one group kept
// together, a table of ids is worth nothing.
func TestCrossValidateByGroup(t *testing.T) {
	rows := samples(200, 2, 1, 5) // column 0 says nothing of the class
	schema := *rows.Schema
	schema.Attributes = slices.Clone(schema.Attributes)
	schema.Attributes[0].Values = nil
	for g := range 50 {
		schema.Attributes[0].Values = append(schema.Attributes[0].Values, fmt.Sprint("patient", g))
	}
	for r := range 200 {
		rows.Columns[0].Codes[r] = int32(r % 50)
		rows.Columns[2].Codes[r] = int32(r % 50 % 2)
	}
	patients, err := table.New(&schema, rows.Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := spec(patients, 2, &lookup{})
	if s.Groups, err = Groups(patients, 0); err != nil {
		t.Fatal(err)
	}
	kept, err := CrossValidate(background, s, 5)
	if err != nil {
		t.Fatal(err)
	}
	held, err := HoldOut(background, s, HoldOutOptions{Repeats: 3})
	if err != nil {
		t.Fatal(err)
	}
	s.Groups = nil
	divided, err := CrossValidate(background, s, 5)
	if err != nil || *divided.Accuracy < .99 || *kept.Accuracy > .7 || *held.Accuracy > .7 {
		t.Errorf("divided %v, kept together %v, held out %v, %v", *divided.Accuracy, *kept.Accuracy, *held.Accuracy, err)
	}
}

// Sequences are never divided, without being told.
func TestSequencesStayWhole(t *testing.T) {
	rows := samples(200, 2, .2, 5)
	number, names := make([]int32, 200), make([]string, 25)
	for r := range number {
		number[r] = int32(r / 8)
	}
	for i := range names {
		names[i] = fmt.Sprint("s", i)
	}
	sequences, err := rows.InSequence("patient", number, names)
	if err != nil {
		t.Fatal(err)
	}
	s := spec(sequences, 2, &lookup{})
	cross, err := s.crossSplits(5)
	if err != nil {
		t.Fatal(err)
	}
	held, err := s.holdOutSplits(.3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range append(cross, held...) {
		train, test := split.rows()
		seen := map[int32]bool{}
		for _, r := range train {
			seen[number[r]] = true
		}
		for _, r := range test {
			if seen[number[r]] {
				t.Fatalf("sequence %d is divided", number[r])
			}
		}
		if len(train)+len(test) != 200 || len(test) == 0 || len(train) == 0 {
			t.Fatalf("%d and %d rows", len(train), len(test))
		}
	}
	if rest := Without(sequences, 0); rest.Schema.Sequence != "patient" || !slices.Equal(rest.Sequence, number) {
		t.Errorf("%+v", rest.Schema)
	}
}

func TestInTime(t *testing.T) {
	rows := samples(300, 2, .2, 5)
	s := spec(rows, 2, &lookup{})
	s.Times = make([]float64, 300)
	for r := range s.Times {
		s.Times[r] = float64(299-r) / 3 // backwards
	}
	r, err := CrossValidate(background, s, 4)
	if err != nil || r.TestRows != 240 || r.TrainRows != 60 {
		t.Fatalf("%+v %v", r, err)
	}
	h, err := HoldOut(background, s, HoldOutOptions{TestShare: .25})
	if err != nil || h.TestRows != 75 || h.TrainRows != 225 {
		t.Errorf("%+v %v", h, err)
	}
	p, err := Prequential(background, s, PrequentialOptions{Batch: 10})
	if err != nil || p.Rows != 300 {
		t.Errorf("%+v %v", p, err)
	}
	c, err := Compare(background, []Spec{s, s}, 4)
	if err != nil || c.Differences[0].Significant {
		t.Errorf("%+v %v", c, err)
	}
}

func TestDivisionRefusals(t *testing.T) {
	rows := samples(20, 2, .2, 5)
	s := spec(rows, 2, &lookup{})
	with := func(groups []int, times []float64, repeats int) Spec {
		s := s
		s.Groups, s.Times, s.Repeats = groups, times, repeats
		return s
	}
	one := make([]int, 20)
	for what, c := range map[string]struct {
		run  func() error
		says string
	}{
		"groups of a wrong length": {func() error { _, err := CrossValidate(background, with(one[:3], nil, 1), 2); return err }, "3 rows"},
		"one fold":                 {func() error { _, err := CrossValidate(background, with(one, nil, 1), 1); return err }, "at least 2"},
		"one group":                {func() error { _, err := CrossValidate(background, with(one, nil, 1), 2); return err }, "of one group, which is never divided"},
		"one group held out":       {func() error { _, err := HoldOut(background, with(one, nil, 1), HoldOutOptions{}); return err }, "one group"},
		"held-out length":          {func() error { _, err := HoldOut(background, with(one[:3], nil, 1), HoldOutOptions{}); return err }, "3 rows"},
		"one moment":               {func() error { _, err := CrossValidate(background, with(nil, make([]float64, 20), 1), 2); return err }, "share a moment"},
		"one moment held out": {func() error {
			_, err := HoldOut(background, with(nil, make([]float64, 20), 1), HoldOutOptions{})
			return err
		}, "share a moment"},
		"times of a wrong length": {func() error { _, err := CrossValidate(background, with(nil, make([]float64, 3), 1), 2); return err }, "3 rows"},
		"held-out times' length": {func() error {
			_, err := HoldOut(background, with(nil, make([]float64, 3), 1), HoldOutOptions{})
			return err
		}, "3 rows"},
		"no split":        {func() error { _, err := CrossValidate(background, with(nil, make([]float64, 20), 1), 0); return err }, "at least 1"},
		"repeats in time": {func() error { _, err := CrossValidate(background, with(nil, make([]float64, 20), 3), 2); return err }, "one way"},
		"groups in time": {func() error {
			_, err := HoldOut(background, with(one, make([]float64, 20), 1), HoldOutOptions{})
			return err
		}, "one way"},
		"groups row by row": {func() error { _, err := Prequential(background, with(one, nil, 1), PrequentialOptions{}); return err }, "group"},
		"prequential length": {func() error {
			_, err := Prequential(background, with(nil, make([]float64, 3), 1), PrequentialOptions{})
			return err
		}, "3 rows"},
	} {
		if err := c.run(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestGroupsAndTimes(t *testing.T) {
	rows := measured(4, 1, 1)
	y := rows.Columns[1].Floats
	y[0], y[1], y[2], y[3] = 2, 2, math.NaN(), 5
	groups, err := Groups(rows, 1)
	if err != nil || !slices.Equal(groups, []int{0, 0, 1, 2}) {
		t.Errorf("%v %v", groups, err)
	}
	if _, err := Times(rows, 1); err == nil || !strings.Contains(err.Error(), "row 3") {
		t.Errorf("%v", err)
	}
	y[2] = 1
	if times, err := Times(rows, 1); err != nil || !slices.Equal(times, y) {
		t.Errorf("%v %v", times, err)
	}
	if _, err := Times(rows, 0); err == nil {
		t.Error("names are no times")
	}
	if rest := Without(rows, 0); len(rest.Columns) != 1 || rest.Rows() != 4 || rest.Schema.Attributes[0].Name != rows.Schema.Attributes[1].Name || len(rows.Columns) != 2 {
		t.Errorf("%+v", rest)
	}
	codes := samples(3, 2, .2, 1)
	codes.Columns[0].Codes[0], codes.Columns[0].Codes[1], codes.Columns[0].Codes[2] = table.Missing, 1, table.Missing
	if groups, err := Groups(codes, 0); err != nil || !slices.Equal(groups, []int{0, 1, 2}) {
		t.Errorf("%v %v", groups, err)
	}
	if fold, err := GroupFolds(rows, learn.NoTarget, groups, 2, 1); err != nil || slices.Contains(fold, -1) {
		t.Errorf("%v %v", fold, err)
	}
}
