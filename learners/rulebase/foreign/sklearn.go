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

// sklearnTree is the lists of tree_ of a DecisionTreeClassifier or -Regressor, as
// JSON, with the names of columns and classes beside them.
type sklearnTree struct {
	Names     []string  `json:"feature_names"`
	Classes   []any     `json:"classes"`
	Left      []int     `json:"children_left"`
	Right     []int     `json:"children_right"`
	Feature   []int     `json:"feature"`
	Threshold []float64 `json:"threshold"`
	Value     []any     `json:"value"`
	Impurity  []float64 `json:"impurity"`
	Missing   []truth   `json:"missing_go_to_left"`
}

// parseSklearn reads the lists, or what export_text writes.
func parseSklearn(text []byte) (*rule.Base, error) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return sklearnText(string(text))
	}
	var s sklearnTree
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("it is no tree of scikit-learn as JSON: %w", err)
	}
	n := len(s.Left)
	if n == 0 || len(s.Right) != n || len(s.Feature) != n || len(s.Threshold) != n || len(s.Value) != n || s.Impurity != nil && len(s.Impurity) != n || s.Missing != nil && len(s.Missing) != n {
		return nil, fmt.Errorf("its lists have different lengths; expected children_left, children_right, feature, threshold and value, a number a node each")
	}
	var classes []string
	for _, c := range s.Classes {
		classes = append(classes, label(c))
	}
	t := &tree{}
	for i := range n {
		value, err := flat(s.Value[i])
		if err != nil || len(value) != max(1, len(classes)) {
			return nil, fmt.Errorf("node %d says %v of %d classes", i, s.Value[i], len(classes))
		}
		if s.Left[i] < 0 {
			if classes == nil && s.Impurity != nil {
				value = append(value, math.Sqrt(max(s.Impurity[i], 0)))
			}
			t.nodes = append(t.nodes, node{column: none, value: value})
			continue
		}
		t.nodes = append(t.nodes, node{column: s.Feature[i], high: upTo(s.Threshold[i]), missingLeft: s.Missing != nil && bool(s.Missing[i]), left: s.Left[i], right: s.Right[i]})
	}
	return t.ordered(s.Names, classes, s.Missing != nil)
}

// label writes a class as its program does.
func label(c any) string {
	if x, ok := c.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(c)
}

// flat takes the brackets off numbers.
func flat(v any) ([]float64, error) {
	switch v := v.(type) {
	case float64:
		return []float64{v}, nil
	case []any:
		var all []float64
		for _, x := range v {
			part, err := flat(x)
			if err != nil {
				return nil, err
			}
			all = append(all, part...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%v is no number", v)
}

// ordered makes a rule of each leaf. Where the tree does not say what becomes of
// missing cells, no rule speaks of rows in which it meets one.
func (t *tree) ordered(columns, classes []string, missing bool) (*rule.Base, error) {
	f := &forest{columns: columns, classes: classes}
	if err := f.check(t); err != nil {
		return nil, err
	}
	h, target, err := f.header()
	if err != nil {
		return nil, err
	}
	b := &rule.Base{Header: h, Kind: rule.Ordered}
	err = f.leaves(t, func(tests []rule.Test, value []float64) error {
		r := rule.Rule{If: tests, Then: rule.Conclusion{Column: target}}
		if !missing {
			r.If = known(tests)
		}
		total, best := 0.0, 0
		for i, v := range value {
			if total += v; v > value[best] {
				best = i
			}
			if classes != nil && v < 0 {
				return fmt.Errorf("a leaf has %v of a class", v)
			}
		}
		switch {
		case classes == nil:
			r.Then.Numeric, r.Then.Mean = true, value[0]
			if len(value) > 1 {
				r.Then.Deviation = value[1]
			}
		case !(total > 0):
			return fmt.Errorf("a leaf has no rows of any class")
		case value[best] == total:
			r.Then.Value = classes[best]
		default:
			for i, v := range value {
				r.Then.Classes = append(r.Then.Classes, rule.Share{Value: classes[i], P: v / total})
			}
		}
		b.Rules = append(b.Rules, r)
		return nil
	})
	return b, err
}

// known takes back that a missing cell passes.
func known(tests []rule.Test) []rule.Test {
	for i := range tests {
		if tests[i].Op == rule.AtLeast {
			tests[i] = tests[i].Of[0]
		}
	}
	return slices.DeleteFunc(tests, func(t rule.Test) bool { return t.Op == rule.IsMissing })
}

// sklearnText reads what export_text writes: a line a test, a side of which is
// indented below it.
func sklearnText(text string) (*rule.Base, error) {
	s := &textTree{names: map[string]int{}}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			s.lines = append(s.lines, line)
		}
	}
	if len(s.lines) == 0 || !strings.Contains(s.lines[0], "|---") {
		return nil, fmt.Errorf("it is no tree of scikit-learn; expected what export_text wrote, or the lists of tree_ as JSON")
	}
	if _, err := s.read(0); err != nil {
		return nil, fmt.Errorf("line %d: %w", min(s.at+1, len(s.lines)), err)
	}
	if s.at < len(s.lines) {
		return nil, fmt.Errorf("line %d: something follows the tree", s.at+1)
	}
	classes := s.classes
	for i := range s.tree.nodes {
		n := &s.tree.nodes[i]
		switch {
		case n.column != none || s.numeric:
		case s.weights > 0: // a number for each class, in their order
			if len(n.value) != s.weights || len(classes) > s.weights {
				return nil, fmt.Errorf("leaves have numbers of %d and of %d classes", len(n.value), s.weights)
			}
		default:
			value := make([]float64, len(classes))
			value[int(n.value[0])] = 1
			n.value = value
		}
	}
	if s.weights > 0 {
		var err error
		if classes, err = s.named(); err != nil {
			return nil, err
		}
	}
	return s.tree.ordered(s.columns, classes, false)
}

// textTree is a tree that is read line by line.
type textTree struct {
	tree    tree
	lines   []string
	at      int
	names   map[string]int
	columns []string
	classes []string
	largest []string // by place: the class of a leaf whose greatest weight is there
	weights int
	numeric bool
}

// named puts classes where their weights stand.
func (s *textTree) named() ([]string, error) {
	names := make([]string, s.weights)
	copy(names, s.largest)
	for i := range names {
		if names[i] == "" {
			names[i] = fmt.Sprintf("class %d", i)
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("the class %q has two weights", names[i])
		}
	}
	return names, nil
}

// read reads a node at a depth, and returns its place.
func (s *textTree) read(depth int) (int, error) {
	if depth > mostDepth || s.at >= len(s.lines) {
		return 0, fmt.Errorf("the tree ends too early, or is deeper than %d", mostDepth)
	}
	said, ok := strings.CutPrefix(s.lines[s.at], strings.Repeat("|   ", depth)+"|--- ")
	if !ok {
		return 0, fmt.Errorf("%q does not stand at depth %d", s.lines[s.at], depth)
	}
	place := len(s.tree.nodes)
	name, limit, test := cutLast(said, " <= ")
	if !test {
		s.at++
		value, err := s.leaf(said)
		s.tree.nodes = append(s.tree.nodes, node{column: none, value: value})
		return place, err
	}
	threshold, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return 0, fmt.Errorf("the limit %q is no number", limit)
	}
	column, met := s.names[name]
	if !met {
		column = len(s.columns)
		s.names[name], s.columns = column, append(s.columns, name)
	}
	s.tree.nodes = append(s.tree.nodes, node{column: column, high: upTo(threshold)})
	s.at++
	left, err := s.read(depth + 1)
	if err != nil {
		return 0, err
	}
	if s.at >= len(s.lines) {
		return 0, fmt.Errorf("the test %q has one side", said)
	}
	other, ok := strings.CutPrefix(s.lines[s.at], strings.Repeat("|   ", depth)+"|--- ")
	if back, again, above := cutLast(other, " >  "); !ok || !above || back != name || again != limit {
		return 0, fmt.Errorf("%q is not the other side of %q", s.lines[s.at], said)
	}
	s.at++
	right, err := s.read(depth + 1)
	s.tree.nodes[place].left, s.tree.nodes[place].right = left, right
	return place, err
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// leaf reads "class: a", "weights: [1.00, 2.00] class: b" or "value: [1.50]".
func (s *textTree) leaf(said string) ([]float64, error) {
	if value, ok := strings.CutPrefix(said, "value: ["); ok {
		x, err := strconv.ParseFloat(strings.TrimSuffix(value, "]"), 64)
		s.numeric = true
		return []float64{x}, err
	}
	if s.numeric {
		return nil, fmt.Errorf("%q among leaves that say numbers", said)
	}
	if rest, ok := strings.CutPrefix(said, "weights: ["); ok {
		list, class, ok := strings.Cut(rest, "] class: ")
		value, err := numbers(strings.ReplaceAll(list, ",", " "))
		if err != nil || !ok || len(value) == 0 || s.weights > 0 && s.weights != len(value) {
			return nil, fmt.Errorf("the weights %q are none, or are not as many as others", said)
		}
		s.weights = len(value)
		s.largest = append(s.largest, make([]string, max(0, s.weights-len(s.largest)))...)
		best := 0
		for i, v := range value {
			if v > value[best] {
				best = i
			}
		}
		s.largest[best] = class
		return value, nil
	}
	class, ok := strings.CutPrefix(said, "class: ")
	if !ok || s.weights > 0 {
		return nil, fmt.Errorf("%q is neither a test nor a leaf; export the whole tree (max_depth)", said)
	}
	at := slices.Index(s.classes, class)
	if at < 0 {
		at = len(s.classes)
		s.classes = append(s.classes, class)
	}
	return []float64{float64(at)}, nil
}
