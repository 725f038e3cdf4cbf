package evaluate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A known small ranking: probabilities .1 .4 .35 .8 of rows − − + + have an
// area of 3/4 (three of four pairs are in order) and an average precision of
// (1/1 + 2/3)/2 = 5/6; saying + from .35 on gives the greatest F1, 4/5.
func TestRanking(t *testing.T) {
	auc, precision, threshold, positives, negatives := ranking([]scored{{.1, 1, false}, {.4, 1, false}, {.35, 1, true}, {.8, 1, true}})
	if auc != .75 || math.Abs(precision-5./6) > 1e-15 || threshold != .35 || positives != 2 || negatives != 2 {
		t.Errorf("area %v, precision %v, threshold %v", auc, precision, threshold)
	}
	// All alike: half of the pairs, the share of positives.
	auc, precision, threshold, _, _ = ranking([]scored{{.5, 1, true}, {.5, 3, false}})
	if auc != .5 || precision != .25 || threshold != .5 {
		t.Errorf("area %v, precision %v, threshold %v", auc, precision, threshold)
	}
}

// The area is the share of pairs in order, and turning the classes round turns
// it round; a weight of 2 is the row twice.
func TestRankingLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) scored {
			return scored{float64(rapid.IntRange(0, 6).Draw(t, "p")) / 6, float64(rapid.IntRange(1, 3).Draw(t, "weight")), rapid.Bool().Draw(t, "positive")}
		}), 2, 30).Draw(t, "rows")
		pairs, right := 0.0, 0.0
		var twice, turned []scored
		for _, a := range rows {
			for range int(a.weight) {
				twice = append(twice, scored{a.p, 1, a.positive})
			}
			turned = append(turned, scored{1 - a.p, a.weight, !a.positive})
			for _, b := range rows {
				if a.positive && !b.positive {
					w := a.weight * b.weight
					pairs += w
					if a.p > b.p {
						right += w
					} else if a.p == b.p {
						right += w / 2
					}
				}
			}
		}
		if pairs == 0 {
			t.Skip("one class")
		}
		auc, precision, threshold, _, _ := ranking(rows)
		again, precision2, threshold2, _, _ := ranking(twice)
		same, _, _, _, _ := ranking(turned)
		if math.Abs(auc-right/pairs) > 1e-12 || math.Abs(auc-same) > 1e-12 || math.Abs(auc-again) > 1e-12 || math.Abs(precision-precision2) > 1e-12 || threshold != threshold2 {
			t.Fatalf("area %v, pairs %v, doubled %v, turned %v", auc, right/pairs, again, same)
		}
	})
}

// Hanley and McNeil 1982: an area of .893 with 51 abnormal and 58 normal
// pictures has a standard error of .032.
func TestAUCInterval(t *testing.T) {
	if sd := stat.AUC(.893, 51, 58).SD; math.Abs(sd-.0325) > .0005 {
		t.Errorf("standard error %v", sd)
	}
}

func TestScoreModel(t *testing.T) {
	train, test := samples(400, 2, .2, 3), samples(300, 2, .2, 4)
	test.Columns[2].Codes[0] = table.Missing
	m, err := (&lookup{}).Learn(background, learn.Task{Table: train}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ScoreModel(background, m, test, Spec{Data: "test"}, ScoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := TestModel(background, m, test, Spec{Data: "test"})
	if err != nil || *plain.Accuracy != *s.Accuracy || s.TestRows != 299 {
		t.Errorf("%v %v %v", *plain.Accuracy, *s.Accuracy, err)
	}
	// What the matrix says, said again by class.
	for c, name := range s.Classes {
		is, said := 0.0, 0.0
		for o := range s.Classes {
			is += s.Result.Confusion[c][o]
			said += s.Result.Confusion[o][c]
		}
		right := s.Result.Confusion[c][c]
		p, r := right/said, right/is
		if s.Recall[name] != r || s.Precision[name] != p || math.Abs(s.F1[name]-2*p*r/(p+r)) > 1e-12 || s.Confusion[name][name] != right {
			t.Errorf("%s: recall %v, precision %v, f1 %v, of %v", name, s.Recall[name], s.Precision[name], s.F1[name], s.Result.Confusion)
		}
	}
	rarer := s.Classes[0]
	if is := func(c int) float64 { return s.Result.Confusion[c][0] + s.Result.Confusion[c][1] }; is(1) <= is(0) {
		rarer = s.Classes[1]
	}
	if s.Positive != rarer || *s.AUC < .6 || !(*s.AUCLow < *s.AUC && *s.AUC < *s.AUCHigh) || *s.AveragePrecision <= 0 || *s.Threshold <= 0 {
		t.Errorf("positive %s, expected %s: %+v", s.Positive, rarer, s)
	}
	doc, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(doc, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"recall", "precision", "f1", "auc", "average_precision", "confusion", "threshold", "positive", "accuracy", "baseline"} {
		if keys[key] == nil {
			t.Errorf("no key %q in %s", key, doc)
		}
	}
	if said, ok := keys["confusion"].(map[string]any); !ok || len(said) != 2 {
		t.Errorf("confusion %v", keys["confusion"])
	}
	other, err := ScoreModel(background, m, test, Spec{}, ScoreOptions{Positive: "c0"})
	if err != nil || other.Positive != "c0" || math.Abs(*other.AUC-*s.AUC) > 1e-12 {
		t.Errorf("two classes have one area: %v %v %v", other.Positive, *other.AUC, *s.AUC)
	}
	if _, err := ScoreModel(background, m, test, Spec{}, ScoreOptions{Positive: "c00"}); err == nil || !strings.Contains(err.Error(), `"c0"`) {
		t.Errorf("a typo: %v", err)
	}
	// One class alone can be found, but not ranked against another.
	only := test.Select(labelledAs(test, 1))
	if s, err := ScoreModel(background, m, only, Spec{}, ScoreOptions{}); err != nil || s.AUC != nil || *s.AveragePrecision != 1 || s.Recall["c0"] != 0 || len(s.Recall) != 1 {
		t.Errorf("%+v %v", s, err)
	}
	y := measured(50, 1, 1)
	n, err := (&lookup{}).Learn(background, learn.Task{Table: y}.At(1))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ScoreModel(background, n, y, Spec{}, ScoreOptions{}); err != nil || s.MAE == nil || s.R2 == nil || s.Coverage == nil || s.AUC != nil || s.Recall != nil {
		t.Errorf("%+v %v", s, err)
	}
}

func labelledAs(t *table.Table, class int32) []int {
	var rows []int
	for r, c := range t.Columns[2].Codes {
		if c == class {
			rows = append(rows, r)
		}
	}
	return rows
}

func TestBaselineAndFramework(t *testing.T) {
	rows := samples(300, 2, .2, 3)
	for r := range 300 {
		if r%3 > 0 {
			rows.Columns[2].Codes[r] = 1
		}
	}
	r, err := CrossValidate(background, spec(rows, 2, &lookup{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	share := float64(len(labelledAs(rows, 1))) / 300
	if *r.Baseline != share || r.BaselineClass != "c1" || !strings.Contains(r.Framework.String(), "task T: tell 2 classes of") || !strings.Contains(r.Framework.Experience, "300 rows") {
		t.Errorf("baseline %v of %q, expected %v; %v", *r.Baseline, r.BaselineClass, share, r.Framework)
	}
	if !(*r.AccuracyLow < *r.AccuracyAtLeast && *r.AccuracyAtLeast < *r.Accuracy) || r.Level != .95 {
		t.Errorf("at least %v, from %v", *r.AccuracyAtLeast, *r.AccuracyLow)
	}
	// Always what was most frequent in the rows learnt from, though it is rare
	// in the test rows.
	rare := rows.Select(labelledAs(rows, 0))
	if r, err = TrainTest(background, spec(rows, 2, &lookup{}), rare); err != nil || *r.Baseline != 0 || r.BaselineClass != "c1" {
		t.Errorf("%+v %v", r, err)
	}
	p, err := Prequential(background, spec(rows, 2, &lookup{}), PrequentialOptions{Batch: 1})
	if err != nil || math.Abs(*p.Baseline-share) > .005 || p.BaselineClass != "c1" || p.Framework.Experience == "" {
		t.Errorf("%+v %v", p, err)
	}
	y := measured(50, 1, 1)
	p, err = Prequential(background, spec(y, 1, &lookup{}), PrequentialOptions{Batch: 1})
	if err != nil || p.Baseline == nil || *p.Baseline <= 0 {
		t.Errorf("%+v %v", p, err)
	}
	n, err := CrossValidate(background, spec(y, 1, &lookup{}), 5)
	var m stat.Moments
	for _, v := range y.Columns[1].Floats {
		m.Add(v, 1)
	}
	if err != nil || math.Abs(*n.Baseline-math.Sqrt(m.M2/50)) > 1e-12 || !(*n.RMSE < *n.RMSEAtMost && *n.RMSEAtMost < *n.RMSEHigh) {
		t.Errorf("%+v %v", n, err)
	}
}

// Mitchell 1997, exercise 5.4: 385 rows.
func TestRowsForWidth(t *testing.T) {
	if n, err := RowsForWidth(.2, .6, .1, .95); err != nil || n != 385 {
		t.Errorf("%d %v", n, err)
	}
	for _, c := range [][4]float64{{.6, .2, .1, .95}, {.2, .6, 0, .95}, {.2, .6, 2, .95}, {.2, .6, .1, 1}, {-1, .6, .1, .95}, {.2, .6, 1e-30, .95}} {
		if n, err := RowsForWidth(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("%v: %d", c, n)
		}
	}
}
