package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// parseLightGBM reads what Booster.save_model writes as text, or dump_model as JSON.
func parseLightGBM(text []byte) (*rule.Base, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		return lightGBMDump(text)
	}
	return lightGBMText(string(text))
}

// lightGBM says what the trees are added up to.
func lightGBM(columns []string, objective string, classes int, average bool) (*forest, float64, error) {
	f := &forest{columns: columns, start: []float64{0}}
	words := strings.Fields(objective)
	if average {
		return nil, 0, fmt.Errorf("the trees of a random forest (boosting=rf) are averaged, which is not read")
	}
	if len(words) == 0 {
		return nil, 0, fmt.Errorf("it does not say what its objective is")
	}
	slope := 1.0
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, ":")
		switch x, err := strconv.ParseFloat(value, 64); {
		case name == "sigmoid" && err == nil && x > 0 && x < 1e6:
			slope = x
		case w == "sqrt":
			return nil, 0, fmt.Errorf("the objective %q squares its sum, which is not read", objective)
		}
	}
	switch words[0] {
	case "binary":
		f.classes = numbered(2)
	case "multiclass", "softmax":
		if classes < 2 || classes > mostNodes {
			return nil, 0, fmt.Errorf("%s of %d classes", words[0], classes)
		}
		f.classes, f.start, slope = numbered(classes), make([]float64, classes), 1
	case "regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank":
		slope = 1
	default:
		return nil, 0, fmt.Errorf("the objective %q is not read; expected binary, multiclass or regression", words[0])
	}
	return f, slope, nil
}

// The bits of decision_type.
const (
	categorical = 1
	defaultLeft = 2
	missingNone = 0
	missingZero = 1
)

// decide makes a node of a test: what is missing goes as 0 does unless the training
// rows had missing cells.
func decide(column int, threshold float64, missing int, toLeft bool, left, right int) node {
	n := node{column: column, high: threshold, left: left, right: right, missingLeft: toLeft, zeroMissing: missing == missingZero}
	if missing == missingNone {
		n.missingLeft = 0 <= threshold
	}
	return n
}

// categoriesOf takes the names that pandas' categories had: in the order of those
// columns, which are the ones that LightGBM learnt as categories.
func (f *forest) categoriesOf(pandas []byte, listed ...[]int) error {
	var given [][]any
	if len(pandas) == 0 || json.Unmarshal(pandas, &given) != nil || len(given) == 0 {
		return nil
	}
	at := slices.IndexFunc(listed, func(l []int) bool { return len(l) == len(given) })
	if at < 0 {
		return fmt.Errorf("it names the categories of %d columns and does not say of which (pandas_categorical, feature_infos)", len(given))
	}
	f.names = make([]names, len(f.columns))
	for i, column := range listed[at] {
		if column < 0 || column >= len(f.columns) {
			return fmt.Errorf("it names the categories of column %d of %d", column, len(f.columns))
		}
		of := names{are: make([]string, len(given[i])), numbers: len(given[i]) > 0}
		for k, v := range given[i] {
			of.are[k] = label(v)
			if _, number := v.(float64); !number {
				of.numbers = false
			}
		}
		f.names[column] = of
	}
	return nil
}

type lightGBMModel struct {
	Names     []string `json:"feature_names"`
	Objective string   `json:"objective"`
	Classes   int      `json:"num_class"`
	Each      int      `json:"num_tree_per_iteration"`
	Average   bool     `json:"average_output"`
	Infos     map[string]struct {
		Values []float64 `json:"values"`
	} `json:"feature_infos"`
	Pandas json.RawMessage `json:"pandas_categorical"`
	Trees  []struct {
		Structure lightGBMNode `json:"tree_structure"`
	} `json:"tree_info"`
}

type lightGBMNode struct {
	Feature   *int            `json:"split_feature"`
	Threshold json.RawMessage `json:"threshold"`
	Decision  string          `json:"decision_type"`
	Default   bool            `json:"default_left"`
	Missing   string          `json:"missing_type"`
	Left      *lightGBMNode   `json:"left_child"`
	Right     *lightGBMNode   `json:"right_child"`
	Leaf      float64         `json:"leaf_value"`
}

func lightGBMDump(text []byte) (*rule.Base, error) {
	var m lightGBMModel
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("it is no model that LightGBM's dump_model wrote: %w", err)
	}
	if len(m.Trees) == 0 {
		return nil, fmt.Errorf("it has no trees; expected what LightGBM's dump_model wrote as JSON, or save_model as text")
	}
	f, slope, err := lightGBM(m.Names, m.Objective, m.Classes, m.Average)
	if err != nil {
		return nil, err
	}
	var named []int
	for i, name := range m.Names {
		if len(m.Infos[name].Values) > 0 {
			named = append(named, i)
		}
	}
	if err := f.categoriesOf(m.Pandas, named); err != nil {
		return nil, err
	}
	for i := range m.Trees {
		t := tree{output: i % len(f.start)}
		if err := t.dump(&m.Trees[i].Structure, slope, 0); err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
		f.trees = append(f.trees, t)
	}
	return f.base()
}

// dump adds a node and what is below it.
func (t *tree) dump(x *lightGBMNode, slope float64, depth int) error {
	at := len(t.nodes)
	if x.Feature == nil {
		t.nodes = append(t.nodes, node{column: none, value: []float64{slope * x.Leaf}})
		return nil
	}
	if x.Left == nil || x.Right == nil || depth > mostDepth {
		return fmt.Errorf("a test lacks a side, or the tree is deeper than %d", mostDepth)
	}
	missing := map[string]int{"None": missingNone, "Zero": missingZero}
	kind, ok := missing[x.Missing]
	if !ok {
		kind = 2
	}
	n := node{column: *x.Feature}
	var err error
	switch x.Decision {
	case "<=":
		var threshold float64
		if err := json.Unmarshal(x.Threshold, &threshold); err != nil {
			return fmt.Errorf("the threshold %s is no number", x.Threshold)
		}
		n = decide(*x.Feature, threshold, kind, x.Default, 0, 0)
	case "==":
		var list string
		if err := json.Unmarshal(x.Threshold, &list); err != nil {
			list = string(x.Threshold)
		}
		for _, v := range strings.Split(list, "||") {
			k, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("the category %q is no whole number", v)
			}
			n.values = append(n.values, k)
		}
	default:
		err = fmt.Errorf("the decision %q is not read; expected <= or ==", x.Decision)
	}
	if err != nil {
		return err
	}
	t.nodes = append(t.nodes, n)
	t.nodes[at].left = len(t.nodes)
	if err := t.dump(x.Left, slope, depth+1); err != nil {
		return err
	}
	t.nodes[at].right = len(t.nodes)
	return t.dump(x.Right, slope, depth+1)
}

// lightGBMText reads blocks of key=value, one for the model and one for each tree.
func lightGBMText(text string) (*rule.Base, error) {
	text, tail, _ := strings.Cut(text, "end of trees")
	blocks := strings.Split(text, "\nTree=")
	head := pairs(blocks[0])
	if len(blocks) == 1 || !strings.HasPrefix(strings.TrimSpace(text), "tree") {
		return nil, fmt.Errorf("it has no trees; expected what LightGBM's save_model wrote as text, or dump_model as JSON")
	}
	classes, _ := strconv.Atoi(head["num_class"])
	_, average := head["average_output"]
	f, slope, err := lightGBM(strings.Fields(head["feature_names"]), head["objective"], classes, average)
	if err != nil {
		return nil, err
	}
	if err := f.categoriesOf(listedCategories(head, tail)); err != nil {
		return nil, err
	}
	for i, block := range blocks[1:] {
		t := tree{output: i % len(f.start)}
		if err := t.text(pairs(block), slope); err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
		f.trees = append(f.trees, t)
	}
	return f.base()
}

// listedCategories finds the names that pandas' categories had, and two lists of the
// columns that are categories: the parameters', and those whose infos are no range.
func listedCategories(head map[string]string, tail string) (pandas []byte, parameters, infos []int) {
	for line := range strings.Lines(tail) {
		line = strings.TrimSpace(line)
		if of, ok := strings.CutPrefix(line, "pandas_categorical:"); ok {
			pandas = []byte(of)
		}
		if of, ok := strings.CutPrefix(line, "[categorical_feature:"); ok {
			for _, word := range strings.Split(strings.TrimSuffix(of, "]"), ",") {
				if column, err := strconv.Atoi(strings.TrimSpace(word)); err == nil {
					parameters = append(parameters, column)
				}
			}
		}
	}
	for i, info := range strings.Fields(head["feature_infos"]) {
		if info != "none" && !strings.HasPrefix(info, "[") {
			infos = append(infos, i)
		}
	}
	return pandas, parameters, infos
}

func pairs(block string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(block) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all[key] = value
	}
	return all
}

// text adds the nodes: tests first, then leaves, which children below 0 count from
// the end of.
func (t *tree) text(p map[string]string, slope float64) error {
	values, err := numbers(p["leaf_value"])
	if err != nil {
		return err
	}
	if p["is_linear"] == "1" {
		return fmt.Errorf("its leaves are linear models, which are not read")
	}
	lists := map[string][]float64{}
	for _, key := range []string{"split_feature", "threshold", "decision_type", "left_child", "right_child"} {
		if lists[key], err = numbers(p[key]); err != nil {
			return err
		}
		if len(lists[key]) != len(values)-1 {
			return fmt.Errorf("%d leaves with %d of %s", len(values), len(lists[key]), key)
		}
	}
	tests := len(values) - 1
	child := func(x float64) int {
		if x < 0 {
			return tests - 1 - int(max(x, -mostNodes))
		}
		return int(min(x, mostNodes))
	}
	for i := range tests {
		kind := int(lists["decision_type"][i])
		left, right := child(lists["left_child"][i]), child(lists["right_child"][i])
		column := int(max(min(lists["split_feature"][i], mostNodes), 0))
		if kind&categorical != 0 {
			set, err := categories(p, int(lists["threshold"][i]))
			if err != nil {
				return err
			}
			t.nodes = append(t.nodes, node{column: column, values: set, left: left, right: right})
			continue
		}
		t.nodes = append(t.nodes, decide(column, lists["threshold"][i], kind>>2&3, kind&defaultLeft != 0, left, right))
	}
	for _, v := range values {
		t.nodes = append(t.nodes, node{column: none, value: []float64{slope * v}})
	}
	return nil
}

// categories reads the bits of a set.
func categories(p map[string]string, at int) ([]int, error) {
	limits, err := numbers(p["cat_boundaries"])
	if err != nil {
		return nil, err
	}
	words, err := numbers(p["cat_threshold"])
	if err != nil {
		return nil, err
	}
	if at < 0 || at+1 >= len(limits) || !(limits[at] >= 0 && limits[at] <= limits[at+1] && limits[at+1] <= float64(len(words))) {
		return nil, fmt.Errorf("set %d of categories is not there", at)
	}
	var set []int
	for i, w := range words[int(limits[at]):int(limits[at+1])] {
		for bit := range 32 {
			if uint32(w)>>bit&1 != 0 {
				set = append(set, 32*i+bit)
			}
		}
	}
	if set == nil {
		return nil, fmt.Errorf("set %d of categories is empty", at)
	}
	return slices.Clip(set), nil
}

func numbers(text string) ([]float64, error) {
	var all []float64
	for _, word := range strings.Fields(text) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(x) {
			return nil, fmt.Errorf("%q is no number", word)
		}
		all = append(all, x)
	}
	return all, nil
}
