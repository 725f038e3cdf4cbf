// Package foreign reads trees that other programs learnt, as rules: what does my old
// model know?
//
// XGBoost, LightGBM and scikit-learn write their trees; a leaf is a rule. Of a sum of
// trees each leaf adds its weight to the score of a class or to a number (RULES
// weighed), and leaves of several trees with the same tests are one rule. A single
// tree is an ordered base. Which way a missing cell goes is part of the tests.
//
// XGBoost and scikit-learn compare cells in single precision. The limits of rules are
// where rounding to it changes sides, so that every cell goes the same way here.
//
// Package rulebase makes a model of the base, in the language of package rule.
package foreign

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Formats are what is read.
var Formats = []string{"lightgbm", "sklearn-tree", "xgboost"}

// Parse reads a model that one of the other programs wrote.
func Parse(format string, text []byte) (*rule.Base, error) {
	switch format {
	case "xgboost":
		return parseXGBoost(text)
	case "lightgbm":
		return parseLightGBM(text)
	case "sklearn-tree":
		return parseSklearn(text)
	}
	return nil, fmt.Errorf("unknown format %q; expected %s", format, strings.Join(Formats, ", "))
}

// Call gives the target and the classes of a base the names that people know them
// by, the classes in the order in which the other program numbered them. What is
// empty stays as it is.
func Call(b *rule.Base, target string, classes []string) error {
	at := slices.IndexFunc(b.Header.Columns, func(c rule.HeaderColumn) bool { return c.Name == b.Header.Target })
	column := &b.Header.Columns[at].Attribute
	if target == "" {
		target = column.Name
	}
	for i := range b.Header.Columns {
		if i != at && b.Header.Columns[i].Name == target {
			return fmt.Errorf("the target cannot be called %q, as a column is that the trees look at", target)
		}
	}
	named := map[string]string{}
	switch {
	case len(classes) > 0 && column.Kind == table.Numeric:
		return fmt.Errorf("the model answers with a number, which has no classes to be named")
	case len(classes) > 0 && len(classes) != len(column.Values):
		return fmt.Errorf("%d classes were named where the model has %d: %s", len(classes), len(column.Values), strings.Join(column.Values, ", "))
	}
	for i, c := range classes {
		if c == "" || slices.Contains(classes[:i], c) {
			return fmt.Errorf("a class is called %q, which is no name or stands twice", c)
		}
		named[column.Values[i]] = c
	}
	if column.Name, b.Header.Target = target, target; len(classes) > 0 {
		column.Values = classes
	}
	called := func(class string) string {
		if c, ok := named[class]; ok {
			return c
		}
		return class
	}
	conclusions := []*rule.Conclusion{}
	for i := range b.Rules {
		conclusions = append(conclusions, &b.Rules[i].Then)
	}
	if b.Else != nil {
		conclusions = append(conclusions, &b.Else.Then)
	}
	for _, c := range conclusions {
		c.Column, c.Value = target, called(c.Value)
		for _, shares := range [][]rule.Share{c.Classes, c.By} {
			for i := range shares {
				shares[i].Value = called(shares[i].Value)
			}
		}
	}
	return nil
}

// node is one of a tree. Leaves have no column.
type node struct {
	column      int     // none: a leaf
	high        float64 // cells up to it go left
	values      []int   // or these do, of a column of whole numbers or of names
	missingLeft bool
	zeroMissing bool // 0 goes where missing cells go
	left, right int
	value       []float64
}

const none = -1

// tree is the nodes of one, the root first; value adds to output.
type tree struct {
	nodes  []node
	output int
}

// forest is trees that are added up.
type forest struct {
	columns []string
	names   []names   // of the categories of each column, or nil
	classes []string  // nil: a number
	start   []float64 // of each output
	trees   []tree
}

// names are what people call the categories 0, 1, … of a column.
type names struct {
	are     []string // none: they are numbers that were not given others
	numbers bool     // each is a number again
}

// named returns what the categories of a column are called.
func (f *forest) named(column int) names {
	if f.names == nil {
		return names{}
	}
	return f.names[column]
}

// mostNodes bounds a model's size, and mostDepth a tree's.
const (
	mostNodes = 1 << 20
	mostDepth = 1000
)

// check refuses what is no tree: children that are not there, or are met twice.
func (f *forest) check(t *tree) error {
	met := make([]bool, len(t.nodes))
	stack := []int{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if i < 0 || i >= len(t.nodes) || met[i] {
			return fmt.Errorf("node %d of %d is not there or stands twice", i, len(t.nodes))
		}
		met[i] = true
		n := &t.nodes[i]
		switch {
		case n.column == none:
		case n.column < 0 || n.column >= len(f.columns):
			return fmt.Errorf("node %d tests column %d of %d", i, n.column, len(f.columns))
		case f.named(n.column).are != nil && (n.values == nil || slices.Max(n.values) >= len(f.names[n.column].are)):
			return fmt.Errorf("node %d tests %s, which has %d categories, for a number or for one that it has not", i, f.columns[n.column], len(f.names[n.column].are))
		case n.values == nil && (math.IsNaN(n.high) || math.IsInf(n.high, 0)):
			return fmt.Errorf("node %d tests for %v", i, n.high)
		default:
			stack = append(stack, n.left, n.right)
		}
		for _, v := range n.value {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("node %d says %v", i, v)
			}
		}
	}
	return nil
}

// span is what a path leaves of a column.
type span struct {
	low, high float64 // low < x ≤ high
	missing   bool    // a missing cell comes along
	met       bool
	sets      []rule.Test
}

// leaves calls visit with the tests of each leaf of a tree that a row can come to, in
// order.
func (f *forest) leaves(t *tree, visit func(tests []rule.Test, value []float64) error) error {
	spans := make([]span, len(f.columns))
	for i := range spans {
		spans[i] = span{low: math.Inf(-1), high: math.Inf(1), missing: true}
	}
	var order []int // columns in the order in which the path meets them
	var walk func(i, depth int) error
	walk = func(i, depth int) error {
		n := &t.nodes[i]
		if n.column == none {
			tests, some := path(f.columns, spans, order)
			if !some {
				return nil
			}
			return visit(tests, n.value)
		}
		if depth > mostDepth {
			return fmt.Errorf("a tree is deeper than %d", mostDepth)
		}
		before, met := spans[n.column], len(order)
		if !before.met {
			order = append(order, n.column)
		}
		for side, to := range []int{n.left, n.right} {
			s := before
			s.met = true
			s.missing = before.missing && n.missingLeft == (side == 0)
			switch {
			case n.values != nil:
				s.sets = append(slices.Clip(before.sets), f.setTest(n.column, n.values, side == 0))
			case n.zeroMissing && (n.missingLeft != (leastNumber <= n.high) || n.missingLeft != (-leastNumber <= n.high)):
				s.zero(f.columns[n.column], n.high, side == 0, n.missingLeft)
			case side == 0:
				s.high = min(s.high, n.high)
			default:
				s.low = max(s.low, n.high)
			}
			spans[n.column] = s
			if err := walk(to, depth+1); err != nil {
				return err
			}
		}
		spans[n.column], order = before, order[:met]
		return nil
	}
	return walk(0, 0)
}

// leastNumber is the greatest that LightGBM takes for 0.
const leastNumber = float64(float32(1e-35))

// zero narrows a span by a test that takes 0 for missing, and sends it where numbers
// like it do not go: one side lacks it, to the other it comes along.
func (s *span) zero(column string, high float64, left, toLeft bool) {
	below, above := rule.Test{Op: rule.Le, Column: column, Number: math.Nextafter(-leastNumber, -1)}, rule.Test{Op: rule.Gt, Column: column, Number: leastNumber}
	if left != toLeft {
		if left {
			s.high = min(s.high, high)
		} else {
			s.low = max(s.low, high)
		}
		s.sets = append(slices.Clip(s.sets), rule.Test{Op: rule.AtLeast, Count: 1, Of: []rule.Test{below, above}})
		return
	}
	numbers := rule.Test{Op: rule.Gt, Column: column, Number: high}
	if left {
		numbers.Op = rule.Le
	}
	zero := rule.Test{Op: rule.Between, Column: column, Low: below.Number, High: leastNumber}
	s.sets = append(slices.Clip(s.sets), rule.Test{Op: rule.AtLeast, Count: 1, Of: []rule.Test{numbers, zero}})
}

// setTest is one of categories, by their names where the column has such.
func (f *forest) setTest(column int, values []int, in bool) rule.Test {
	t := rule.Test{Op: rule.NotIn, Column: f.columns[column]}
	if in {
		t.Op = rule.In
	}
	for _, v := range values {
		if are := f.named(column).are; are != nil {
			t.Values = append(t.Values, are[v])
		} else {
			t.Values = append(t.Values, strconv.Itoa(v))
		}
	}
	return t
}

// path returns one test a column; false if no cell satisfies them.
func path(columns []string, spans []span, order []int) (tests []rule.Test, some bool) {
	for _, j := range order {
		s, name := &spans[j], columns[j]
		var own []rule.Test
		open, closed := math.IsInf(s.low, -1), math.IsInf(s.high, 1)
		known := s.low < s.high
		switch {
		case open && closed:
		case closed:
			own = append(own, rule.Test{Op: rule.Gt, Column: name, Number: s.low})
		case open:
			own = append(own, rule.Test{Op: rule.Le, Column: name, Number: s.high})
		default:
			own = append(own, rule.Test{Op: rule.Between, Column: name, Low: s.low, High: s.high})
		}
		own = append(own, s.sets...)
		switch {
		case !known && !s.missing:
			return nil, false
		case !known:
			own = []rule.Test{{Op: rule.IsMissing, Column: name}}
		case s.missing && len(own) > 0:
			own = orMissing(name, own)
		case len(own) == 0:
			own = []rule.Test{{Op: rule.IsKnown, Column: name}}
		}
		tests = append(tests, own...)
	}
	return tests, true
}

// orMissing lets a missing cell pass tests of its column.
func orMissing(column string, own []rule.Test) []rule.Test {
	gone := rule.Test{Op: rule.IsMissing, Column: column}
	for i := range own {
		of := []rule.Test{own[i]}
		if own[i].Op == rule.AtLeast {
			of = slices.Clip(own[i].Of)
		}
		own[i] = rule.Test{Op: rule.AtLeast, Count: 1, Of: append(of, gone)}
	}
	return own
}

// header names the columns and the target, which must be none of them.
func (f *forest) header() (*rule.Header, string, error) {
	target := "class"
	if f.classes == nil {
		target = "target"
	}
	for slices.Contains(f.columns, target) {
		target += "_"
	}
	h := &rule.Header{Target: target}
	for i, c := range f.columns {
		if c == "" || slices.Contains(f.columns[:i], c) {
			return nil, "", fmt.Errorf("column %d is called %q, which is no name or stands twice", i+1, c)
		}
		a := table.Attribute{Name: c, Kind: table.Numeric}
		if of := f.named(i); of.are != nil && !of.numbers {
			a.Kind, a.Values = table.Nominal, of.are
		}
		h.Columns = append(h.Columns, rule.HeaderColumn{Attribute: a})
	}
	last := table.Attribute{Name: target, Kind: table.Numeric}
	if f.classes != nil {
		last.Kind, last.Values = table.Nominal, f.classes
	}
	h.Columns = append(h.Columns, rule.HeaderColumn{Attribute: last})
	return h, target, nil
}

// base makes rules of the leaves: those with the same tests are one.
func (f *forest) base() (*rule.Base, error) {
	h, target, err := f.header()
	if err != nil {
		return nil, err
	}
	b := &rule.Base{Header: h, Kind: rule.Weighed}
	start := append([]float64(nil), f.start...)
	type leaf struct {
		tests []rule.Test
		adds  []float64
	}
	var all []*leaf
	known := map[string]*leaf{}
	for i := range f.trees {
		t := &f.trees[i]
		if err := f.check(t); err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
		err := f.leaves(t, func(tests []rule.Test, value []float64) error {
			if len(tests) == 0 {
				start[t.output] += value[0]
				return nil
			}
			r := rule.Rule{If: tests, Then: rule.Conclusion{Column: target, Value: "x"}}
			key := r.String()
			if known[key] == nil {
				known[key] = &leaf{tests, make([]float64, len(start))}
				all = append(all, known[key])
			}
			known[key].adds[t.output] += value[0]
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
	}
	if f.classes == nil {
		b.Else = &rule.Rule{Then: rule.Conclusion{Column: target, Numeric: true, Mean: start[0]}}
	} else {
		b.Rules = append(b.Rules, rule.Rule{Then: f.by(target, start, true)})
	}
	for _, l := range all {
		r := rule.Rule{If: l.tests, Then: rule.Conclusion{Column: target, Numeric: true, Adds: true, Mean: l.adds[0]}}
		if f.classes != nil {
			if r.Then = f.by(target, l.adds, false); len(r.Then.By) == 0 {
				continue
			}
		}
		b.Rules = append(b.Rules, r)
	}
	return b, nil
}

// by is what is added to the scores of classes: of two, the one output is that of the
// second.
func (f *forest) by(target string, adds []float64, all bool) rule.Conclusion {
	c := rule.Conclusion{Column: target}
	if len(adds) == 1 {
		adds = []float64{0, adds[0]}
	}
	for i, x := range adds {
		if x != 0 || all {
			c.By = append(c.By, rule.Share{Value: f.classes[i], P: x})
		}
	}
	return c
}

// numbered are classes without names.
func numbered(n int) []string {
	classes := make([]string, n)
	for i := range classes {
		classes[i] = strconv.Itoa(i)
	}
	return classes
}

// below returns the greatest number that is below t when both are rounded to single
// precision, t being a number of it.
func below(t float64) float64 {
	return upTo(float64(math.Nextafter32(float32(t), float32(math.Inf(-1)))))
}

// upTo returns the greatest number that is at most t when rounded to single
// precision: halfway to the next one, which rounds to the even of both.
func upTo(t float64) float64 {
	s := float32(t)
	if float64(s) > t {
		s = math.Nextafter32(s, float32(math.Inf(-1)))
	}
	half := float64(s)/2 + float64(math.Nextafter32(s, float32(math.Inf(1))))/2
	if math.Float32bits(s)&1 == 0 {
		return half
	}
	return math.Nextafter(half, math.Inf(-1))
}
