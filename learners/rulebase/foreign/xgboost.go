package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// xgboostModel is what save_model writes as JSON (the format since version 1.0,
// doc/model.schema in XGBoost's sources).
type xgboostModel struct {
	Learner struct {
		Names   []string `json:"feature_names"`
		Booster struct {
			Name   string       `json:"name"`
			Model  xgboostTrees `json:"model"`
			Nested struct {
				Model xgboostTrees `json:"model"`
			} `json:"gbtree"`
			Drop []float64 `json:"weight_drop"`
		} `json:"gradient_booster"`
		Param struct {
			Base     string `json:"base_score"`
			Classes  string `json:"num_class"`
			Features string `json:"num_feature"`
			Targets  string `json:"num_target"`
		} `json:"learner_model_param"`
		Objective struct {
			Name string `json:"name"`
		} `json:"objective"`
	} `json:"learner"`
}

type xgboostTrees struct {
	Output []int         `json:"tree_info"`
	Trees  []xgboostTree `json:"trees"`
}

type xgboostTree struct {
	Default   []truth   `json:"default_left"`
	Left      []int     `json:"left_children"`
	Right     []int     `json:"right_children"`
	Condition []float64 `json:"split_conditions"`
	Index     []int     `json:"split_indices"`
	Type      []int     `json:"split_type"`
	// Tests of categories: for each of these nodes, where its set begins among all
	// categories, and how many it has.
	SetNodes []int `json:"categories_nodes"`
	SetStart []int `json:"categories_segments"`
	SetSize  []int `json:"categories_sizes"`
	Sets     []int `json:"categories"`
}

// sets finds the categories that nodes test.
func (x *xgboostTree) sets() (map[int][]int, error) {
	if len(x.SetNodes) != len(x.SetStart) || len(x.SetNodes) != len(x.SetSize) {
		return nil, fmt.Errorf("its lists of categories have different lengths")
	}
	sets := make(map[int][]int, len(x.SetNodes))
	for i, k := range x.SetNodes {
		from, n := x.SetStart[i], x.SetSize[i]
		if from < 0 || n < 1 || from > len(x.Sets) || n > len(x.Sets)-from {
			return nil, fmt.Errorf("the categories of node %d are not there", k)
		}
		sets[k] = x.Sets[from : from+n]
	}
	return sets, nil
}

// withoutNaN writes null for NaN, which XGBoost puts where a node tests categories
// and no JSON knows.
func withoutNaN(text []byte) []byte {
	var out []byte
	quoted, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == 'N' && bytes.HasPrefix(text[i:], []byte("NaN")):
			out = append(append(out, text[from:i]...), "null"...)
			from = i + len("NaN")
			i = from - 1
		}
	}
	return append(out, text[from:]...)
}

// truth is written as true or as 1.
type truth bool

// UnmarshalJSON reads either.
func (t *truth) UnmarshalJSON(text []byte) error {
	*t = string(text) == "true" || string(text) == "1"
	return nil
}

func parseXGBoost(text []byte) (*rule.Base, error) {
	var m xgboostModel
	if err := json.Unmarshal(withoutNaN(text), &m); err != nil {
		hint := ""
		switch {
		case bytes.HasPrefix(text, []byte("{L")):
			hint = " (it looks like XGBoost's binary form; save_model(\"old.json\") writes JSON)"
		case bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")):
			hint = " (dump_model leaves out what the trees are for; save_model(\"old.json\") does not)"
		}
		return nil, fmt.Errorf("it is no model that XGBoost's save_model wrote as JSON: %w%s", err, hint)
	}
	l := &m.Learner
	trees := l.Booster.Model
	if l.Booster.Name == "dart" {
		trees = l.Booster.Nested.Model
	}
	if len(trees.Trees) == 0 {
		return nil, fmt.Errorf("it has no trees (booster %q); expected what XGBoost's save_model wrote as JSON, of a gbtree or dart booster", l.Booster.Name)
	}
	start, err := strconv.ParseFloat(strings.Trim(l.Param.Base, "[]"), 64)
	if err != nil || len(trees.Output) != len(trees.Trees) {
		return nil, fmt.Errorf("the base score %q is no number, or %d trees have %d outputs", l.Param.Base, len(trees.Trees), len(trees.Output))
	}
	f := &forest{columns: l.Names, start: []float64{start}}
	if len(f.columns) == 0 {
		features, err := strconv.Atoi(l.Param.Features)
		if err != nil || features < 1 || features > len(text) {
			return nil, fmt.Errorf("it has neither names nor a number of columns")
		}
		for i := range features {
			f.columns = append(f.columns, fmt.Sprintf("f%d", i))
		}
	}
	switch name := l.Objective.Name; name {
	case "binary:logistic", "binary:logitraw":
		if !(start > 0 && start < 1) {
			return nil, fmt.Errorf("the base score is %v; expected a probability between 0 and 1", start)
		}
		f.start[0] = math.Log(start / (1 - start))
		if name == "binary:logistic" {
			f.classes = numbered(2)
		}
	case "multi:softprob", "multi:softmax":
		n, err := strconv.Atoi(l.Param.Classes)
		if err != nil || n < 2 || n > len(text) {
			return nil, fmt.Errorf("%s of %q classes", name, l.Param.Classes)
		}
		f.classes, f.start = numbered(n), make([]float64, n)
	case "reg:squarederror", "reg:linear", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror", "rank:pairwise", "rank:ndcg", "rank:map":
	default:
		return nil, fmt.Errorf("the objective %q is not read, since its answers are no sum of trees, nor shares of such sums; those are: binary:logistic, binary:logitraw, multi:softprob, multi:softmax, reg:squarederror, reg:absoluteerror, reg:pseudohubererror, reg:quantileerror and rank:pairwise, rank:ndcg, rank:map", name)
	}
	return f.xgboost(trees, l.Booster.Drop)
}

// xgboost adds the trees.
func (f *forest) xgboost(trees xgboostTrees, drop []float64) (*rule.Base, error) {
	total := 0
	for i := range trees.Trees {
		x := &trees.Trees[i]
		n := len(x.Left)
		if n == 0 || len(x.Right) != n || len(x.Condition) != n || len(x.Index) != n || len(x.Default) != n {
			return nil, fmt.Errorf("tree %d: its lists have different lengths", i)
		}
		if total += n; total > mostNodes {
			return nil, fmt.Errorf("the trees have more than %d nodes", mostNodes)
		}
		if trees.Output[i] < 0 || trees.Output[i] >= len(f.start) {
			return nil, fmt.Errorf("tree %d adds to output %d of %d", i, trees.Output[i], len(f.start))
		}
		weight := 1.0
		if i < len(drop) {
			weight = drop[i]
		}
		sets, err := x.sets()
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
		t := tree{nodes: make([]node, n), output: trees.Output[i]}
		for k := range n {
			if x.Left[k] < 0 {
				t.nodes[k] = node{column: none, value: []float64{weight * float64(float32(x.Condition[k]))}}
				continue
			}
			if k < len(x.Type) && x.Type[k] != 0 { // categories of the set go right
				if sets[k] == nil {
					return nil, fmt.Errorf("tree %d: the categories of node %d are not there", i, k)
				}
				t.nodes[k] = node{column: x.Index[k], values: sets[k], missingLeft: !bool(x.Default[k]), left: x.Right[k], right: x.Left[k]}
				continue
			}
			t.nodes[k] = node{column: x.Index[k], high: below(float64(float32(x.Condition[k]))), missingLeft: bool(x.Default[k]), left: x.Left[k], right: x.Right[k]}
		}
		f.trees = append(f.trees, t)
	}
	return f.base()
}
