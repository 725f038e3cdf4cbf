package foreign_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/rulebase"
	"github.com/accrete-ml/accrete/learners/rulebase/foreign"
	"github.com/accrete-ml/accrete/table"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func model(t testing.TB, format string, text []byte) learn.Model {
	t.Helper()
	base, err := foreign.Parse(format, text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rulebase.New(base)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer asks a model for rows of numbers, whose columns are named.
func answer(t testing.TB, m learn.Model, columns []string, rows [][]*float64) [][]float64 {
	t.Helper()
	cells := make([]table.Column, len(m.Schema().Attributes))
	for j := range cells {
		if j == m.Target() && m.Schema().Attributes[j].Kind == table.Nominal {
			cells[j].Codes = make([]int32, len(rows))
			continue
		}
		cells[j].Floats = make([]float64, len(rows))
		for r := range rows {
			cells[j].Floats[r] = math.NaN()
			for k, name := range columns {
				if name == m.Schema().Attributes[j].Name && rows[r][k] != nil {
					cells[j].Floats[r] = *rows[r][k]
				}
			}
		}
	}
	given, err := table.New(m.Schema(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, len(rows))
	if err := m.Predict(context.Background(), given, out); err != nil {
		t.Fatal(err)
	}
	all := make([][]float64, len(rows))
	for r := range all {
		if all[r] = []float64{0}; out.Classes > 0 {
			all[r] = out.Row(r)
		} else {
			all[r][0] = out.Mean[r]
		}
	}
	return all
}

// What was read predicts what the program that wrote it predicted.
func TestModelsPredictTheSame(t *testing.T) {
	for _, c := range []struct{ format, file string }{
		{"xgboost", "xgboost-binary.json"}, {"xgboost", "xgboost-classes.json"}, {"xgboost", "xgboost-number.json"},
		{"sklearn-tree", "sklearn-classes.json"}, {"sklearn-tree", "sklearn-number.json"}, {"sklearn-tree", "sklearn-text.txt"},
	} {
		name := strings.TrimSuffix(strings.TrimSuffix(c.file, ".json"), ".txt")
		var rows struct {
			Columns []string     `json:"columns"`
			Rows    [][]*float64 `json:"rows"`
			Answers []any        `json:"answers"`
		}
		if err := json.Unmarshal(read(t, name+".rows.json"), &rows); err != nil {
			t.Fatal(err)
		}
		m := model(t, c.format, read(t, c.file))
		worst := 0.0
		for r, got := range answer(t, m, rows.Columns, rows.Rows) {
			var want []float64
			switch a := rows.Answers[r].(type) {
			case float64:
				want = []float64{a}
				if len(got) == 2 {
					got = got[1:]
				}
			case []any:
				for _, x := range a {
					want = append(want, x.(float64))
				}
			}
			for k := range want {
				d := math.Abs(got[k]-want[k]) / max(1, math.Abs(want[k]))
				if worst = max(worst, d); !(d <= 1e-6) {
					t.Fatalf("%s: row %d is %v, expected %v", name, r+1, got, want)
				}
			}
		}
		t.Logf("%s: %d rules, %d rows, largest difference %.2g", name, m.Size().Rules, len(rows.Rows), worst)
	}
}

// Rounding to single precision changes sides where the rules say.
func TestSidesOfSinglePrecision(t *testing.T) {
	limit := 2.45
	text := fmt.Sprintf(`{"feature_names": ["x"], "classes": ["a", "b"], "children_left": [1, -1, -1], "children_right": [2, -1, -1], "feature": [0, -2, -2], "threshold": [%v, -2, -2], "value": [[1, 1], [1, 0], [0, 1]]}`, limit)
	m := model(t, "sklearn-tree", []byte(text))
	x := float64(math.Nextafter32(float32(limit), 0))
	for range 2000 {
		if got, left := answer(t, m, []string{"x"}, [][]*float64{{&x}})[0][0], float64(float32(x)) <= limit; (got == 1) != left {
			t.Fatalf("%v goes left: %v, expected %v", x, got == 1, left)
		}
		x += 1.7e-10
	}
}

// These two are written by hand after LightGBM's documentation, there being no package of it to make them with.
const lightGBMTree = `tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=1
objective=binary sigmoid:1
feature_names=age kind
feature_infos=[1:90] 0:1:2:3

Tree=0
num_leaves=3
num_cat=1
split_feature=0 1
threshold=40.5 0
decision_type=10 1
left_child=-1 -2
right_child=1 -3
leaf_value=-0.5 0.25 0.75
cat_boundaries=0 1
cat_threshold=5
shrinkage=1

Tree=1
num_leaves=2
num_cat=0
split_feature=0
threshold=60
decision_type=0
left_child=-1
right_child=-2
leaf_value=0.125 -1
shrinkage=0.1

end of trees
`

const lightGBMDump = `{"feature_names": ["age", "kind"], "objective": "binary sigmoid:1", "num_class": 1, "num_tree_per_iteration": 1, "tree_info": [
{"tree_structure": {"split_feature": 0, "threshold": 40.5, "decision_type": "<=", "default_left": true, "missing_type": "NaN", "left_child": {"leaf_value": -0.5},
 "right_child": {"split_feature": 1, "threshold": "0||2", "decision_type": "==", "default_left": false, "missing_type": "None", "left_child": {"leaf_value": 0.25}, "right_child": {"leaf_value": 0.75}}}},
{"tree_structure": {"split_feature": 0, "threshold": 60, "decision_type": "<=", "default_left": false, "missing_type": "None", "left_child": {"leaf_value": 0.125}, "right_child": {"leaf_value": -1}}}]}`

func TestLightGBM(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	rows := [][]*float64{{number(30), number(1)}, {number(50), number(2)}, {number(70), number(1)}, {nil, number(0)}, {number(70), nil}}
	sums := []float64{-0.5 + 0.125, 0.25 + 0.125, 0.75 - 1, -0.5 + 0.125, 0.75 - 1}
	for _, text := range []string{lightGBMTree, lightGBMDump} {
		for r, got := range answer(t, model(t, "lightgbm", []byte(text)), []string{"age", "kind"}, rows) {
			if want := 1 / (1 + math.Exp(-sums[r])); math.Abs(got[1]-want) > 1e-12 {
				t.Errorf("row %d is %v, expected %v", r+1, got[1], want)
			}
		}
	}
}

// Where 0 is taken for missing, it goes where missing cells go, whatever the limit.
func TestLightGBMZeroMissing(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	rows := [][]*float64{{number(-3)}, {number(-1e-36)}, {number(0)}, {number(2)}, {number(7)}, {nil}}
	for kind, decision := range map[string]int{"right": 4, "left": 6} {
		for _, limit := range []float64{-1, -1e-36, 0, 1e-36, 5} {
			text := fmt.Sprintf("tree\nobjective=regression\nfeature_names=x\n\nTree=0\nsplit_feature=0\nthreshold=%v\ndecision_type=%d\nleft_child=-1\nright_child=-2\nleaf_value=1 2\n", limit, decision)
			for r, got := range answer(t, model(t, "lightgbm", []byte(text)), []string{"x"}, rows) {
				left := decision == 6
				if x := rows[r][0]; x != nil && math.Abs(*x) > 1e-35 {
					left = *x <= limit
				}
				if (got[0] == 1) != left {
					t.Errorf("limit %v, missing cells to the %s: row %d is %v", limit, kind, r+1, got)
				}
			}
		}
	}
}

// Categories that had names in pandas are called by them; those that were numbers are
// these numbers.
func TestLightGBMNamesOfCategories(t *testing.T) {
	infos := "feature_infos=[1:90] 0:1:2:3"
	for _, c := range []struct{ tail, want string }{
		{"end of trees\n\npandas_categorical:[[\"old\", \"it's new\", \"red\", true]]\n", "kind IN {old, red}"},
		{"end of trees\n\npandas_categorical:[[10, 20.5, 30, 40]]\n", "kind IN {10, 30}"},
		{"end of trees\n\nparameters:\n[categorical_feature: 1]\nend of parameters\n\npandas_categorical:null\n", "kind IN {0, 2}"},
	} {
		base, err := foreign.Parse("lightgbm", []byte(strings.Replace(strings.Replace(lightGBMTree, "feature_infos=[1:90] 0:1:2:3", infos, 1), "end of trees\n", c.tail, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(base.Rules); !strings.Contains(text, c.want) {
			t.Errorf("%s is not in %s", c.want, text)
		}
	}
	dump := strings.Replace(lightGBMDump, `"num_class"`, `"feature_infos": {"age": {"values": []}, "kind": {"values": [0, 1, 2]}}, "pandas_categorical": [["a", "b", "c"]], "num_class"`, 1)
	base, err := foreign.Parse("lightgbm", []byte(dump))
	if err != nil || !strings.Contains(fmt.Sprint(base.Rules), "kind IN {a, c}") {
		t.Error(err, base)
	}
	_, err = foreign.Parse("lightgbm", []byte(lightGBMTree+"pandas_categorical:[[\"a\"], [\"b\"]]\n"))
	if err == nil || !strings.Contains(err.Error(), "does not say of which") {
		t.Error(err)
	}
}

// People name what a model predicts, and its classes, which changes no answer.
func TestNamesOfTargetAndClasses(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	rows := [][]*float64{{number(30), number(1)}, {number(70), nil}}
	want := answer(t, model(t, "lightgbm", []byte(lightGBMTree)), []string{"age", "kind"}, rows)
	base, err := foreign.Parse("lightgbm", []byte(lightGBMTree))
	if err != nil {
		t.Fatal(err)
	}
	if err := foreign.Call(base, "ill", []string{"no", "yes"}); err != nil {
		t.Fatal(err)
	}
	m, err := rulebase.New(base)
	if err != nil {
		t.Fatal(err)
	}
	if a := m.Schema().Attributes[m.Target()]; a.Name != "ill" || a.Values[1] != "yes" {
		t.Errorf("the target is %q, of %q", a.Name, a.Values)
	}
	if got := answer(t, m, []string{"age", "kind"}, rows); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers are %v, expected %v", got, want)
	}
	for _, c := range []struct {
		target  string
		classes []string
		want    string
	}{{"age", nil, "as a column is"}, {"", []string{"a"}, "1 classes were named where the model has 2: no, yes"}, {"", []string{"a", "a"}, "stands twice"}} {
		if err := foreign.Call(base, c.target, c.classes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
	}
}

func TestErrorsSayWhatIsRead(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"xgboost", "{}", "it has no trees"},
		{"xgboost", "nothing", "save_model"},
		{"xgboost", strings.Replace(string(read(t, "xgboost-number.json")), "reg:squarederror", "count:poisson", 1), "those are: binary:logistic"},
		{"lightgbm", "tree\nnum_class=1\n", "save_model"},
		{"lightgbm", strings.Replace(lightGBMTree, "objective=binary", "objective=poisson", 1), "expected binary, multiclass or regression"},
		{"lightgbm", strings.Replace(lightGBMTree, "left_child=-1 -2", "left_child=0 -2", 1), "stands twice"},
		{"sklearn-tree", "hello", "export_text"},
		{"sklearn-tree", `{"children_left": [1]}`, "different lengths"},
		{"catboost", "", "expected lightgbm, sklearn-tree, xgboost"},
	} {
		if _, err := foreign.Parse(c.format, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.format, err, c.want)
		}
	}
}

// Any bytes give a base that is a model, or an error.
func FuzzParse(f *testing.F) {
	for i, name := range []string{"xgboost-number.json", "sklearn-classes.json", "sklearn-text.txt"} {
		f.Add(byte(2-min(i, 1)), read(f, name))
	}
	f.Add(byte(0), []byte(lightGBMTree))
	f.Add(byte(0), []byte(lightGBMDump))
	f.Fuzz(func(t *testing.T, format byte, text []byte) {
		defer bounded.Start(t, len(text))()
		base, err := foreign.Parse(foreign.Formats[int(format)%len(foreign.Formats)], text)
		if err != nil {
			return
		}
		_, _ = rulebase.New(base)
	})
}

// foreign.Parse takes time in proportion to the text.
func TestParseGrows(t *testing.T) {
	grown := func(head, each, tail string) func(size int) []byte {
		return func(size int) []byte {
			return []byte(head + strings.Repeat(each, max(1, (size-len(head)-len(tail))/len(each))) + tail)
		}
	}
	for format, inputs := range map[string][]func(size int) []byte{
		"xgboost":      {grown(`{"learner": {"feature_names": ["a"`, `, "a"`, `]}}`), grown(`{"learner": `, `[`, ``)},
		"lightgbm":     {grown("tree\nobjective=binary\nfeature_names=a\n", "\nTree=0\nnum_leaves=1\nleaf_value=1\n", ""), grown(lightGBMTree[:200], "x=1 ", "")},
		"sklearn-tree": {grown("|--- x <= 1\n", "|   |--- x <= 1\n", ""), grown(`{"value": [`, "[", "")},
	} {
		for _, input := range inputs {
			bounded.Worst(t, input, func(text []byte) { _, _ = foreign.Parse(format, text) })
		}
	}
}
