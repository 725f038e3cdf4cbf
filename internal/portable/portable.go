// Package portable holds a model as arithmetic, so that it runs where there is no
// Accrete: in a database, in a browser, in another program.
//
// A Program is a list of steps, each a vector of numbers made of the cells of a row
// and of steps before it: a number of a column, a row of a table looked up by a
// name, the rows of rules that fire added up, a walk down a tree, sums of products,
// a softmax. The last of them are the answer. One printer for each target writes
// the same program: SQL, Go, JavaScript, ONNX, JSON; Run computes it here.
//
// Models compile themselves (Compiler), learners without knowing of one another and
// package rule for whatever is read as rules; package life asks them and writes the
// files.
package portable

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Version is that of the format. Readers refuse a later one.
const Version = 1

// Compiler is a model that can be computed elsewhere. Where it has members that
// cannot, or columns of a kind that no target has, the error says so.
type Compiler interface {
	Portable(b *Builder) (Answer, error)
}

// Program is a model as arithmetic.
type Program struct {
	Format  string   `json:"format"` // "accrete program"
	Version int      `json:"version"`
	Learner string   `json:"learner,omitempty"`
	Target  Target   `json:"target"`
	Columns []Column `json:"columns"` // that steps look at
	Steps   []Step   `json:"steps"`
	Answer  Answer   `json:"answer"`
	Notes   []string `json:"notes,omitempty"`
	// Words are what people call rows, columns and values: {"row","columns"}.
	Words json.RawMessage `json:"words,omitempty"`
}

// Target is the column that is answered: classes, or a number if there are none.
type Target struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes,omitempty"`
	Kind    string   `json:"kind,omitempty"` // date or time, of a number that is one
	Style   string   `json:"style,omitempty"`
}

// Column is a column of rows. Cells of a nominal one are names, of others numbers.
type Column struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"` // nominal, numeric, date or time
	Values []string `json:"values,omitempty"`
	// Style is how cells are written in files, as a table.Style says it.
	Style string `json:"style,omitempty"`
}

// Nominal reports whether cells are names.
func (c *Column) Nominal() bool { return c.Kind == "nominal" }

// Answer says which steps are the answer: the probabilities of the classes, or a
// number and, where they are known, the ends of its interval.
type Answer struct {
	Probabilities *Ref `json:"probabilities,omitempty"`
	Number        *Ref `json:"number,omitempty"`
	Low           *Ref `json:"low,omitempty"`
	High          *Ref `json:"high,omitempty"`
}

// Ref is the number of a step, from 0.
type Ref int

// Op is what a step does.
type Op string

// The steps. Width is how many numbers a step gives; rows are Width numbers each.
const (
	Constant Op = "constant" // its Numbers
	Cell     Op = "cell"     // a number of Column; Numbers[0] where it is missing
	Lookup   Op = "lookup"   // a row by Column's value: unseen, missing, then the values
	First    Op = "first"    // the row of the first of Tests that holds; the last row if none does
	Sum      Op = "sum"      // row 0, and row i+1 for each of Tests that holds
	Walk     Op = "walk"     // the rows of the leaves of Nodes that a row comes to, times the share of it that does
	Affine   Op = "affine"   // Numbers: Width rows of a start and a factor for each number of Of[0]
	Join     Op = "join"     // the numbers of all of Of
	Take     Op = "take"     // number Index of Of[0]
	Choose   Op = "choose"   // Of[0] where Tests[0] holds, else Of[1]
	Softmax  Op = "softmax"  // e^x over the sum of all; 0 for those more than Numbers[0] below the greatest, if given
	Best     Op = "best"     // 1 at the greatest number of Of[0], the first of Order among equals, else 0
	Exp      Op = "exp"
	Log      Op = "log"
	Sqrt     Op = "sqrt"
	Tanh     Op = "tanh"
	Logistic Op = "logistic"
	Rectify  Op = "rectify" // max(x, 0)
	Add      Op = "add"     // of two; one of them may be a single number
	Subtract Op = "subtract"
	Multiply Op = "multiply"
	Divide   Op = "divide"
	Least    Op = "min"
	Greatest Op = "max"
)

// Step is a vector of numbers.
type Step struct {
	Op      Op        `json:"op"`
	Width   int       `json:"width"`
	Of      []Ref     `json:"of,omitempty"`
	Column  int       `json:"column,omitempty"`
	Index   int       `json:"index,omitempty"`
	Order   []int     `json:"order,omitempty"`
	Tests   []Test    `json:"tests,omitempty"`
	Nodes   []Node    `json:"nodes,omitempty"`
	Numbers []float64 `json:"numbers,omitempty"`
}

// row returns a row of the step's numbers.
func (s *Step) row(i int) []float64 { return s.Numbers[i*s.Width : (i+1)*s.Width] }

// rows counts them.
func (s *Step) rows() int { return len(s.Numbers) / s.Width }

// Node is one of a tree. A row goes to the first of Branches whose test holds; if
// none does, in shares to all of them. Without branches it is a leaf.
type Node struct {
	Branches []Branch `json:"branches,omitempty"`
	Row      int      `json:"row,omitempty"` // of a leaf: its numbers
}

// Branch leads to a later node.
type Branch struct {
	Test  Test    `json:"test"`
	To    int     `json:"to"`
	Share float64 `json:"share,omitempty"` // of a row of which no test holds
}

// TestOp is what a test asks.
type TestOp string

// The tests. One on a missing cell is false; only Missing is true.
const (
	Between TestOp = "between" // Low ≤ number ≤ High, either of which may be left out
	Among   TestOp = "among"   // the number is one of Points
	In      TestOp = "in"      // the name is one of Values, by their places
	NotIn   TestOp = "not in"  // it is known and none of them
	Missing TestOp = "missing"
	Known   TestOp = "known"
	Above   TestOp = "above"    // the one number of step Of > Low
	AtMost  TestOp = "at most"  // … ≤ High
	AtLeast TestOp = "at least" // Count of Tests hold
	All     TestOp = "all"
	Not     TestOp = "not"
)

// Test holds for a row or does not.
type Test struct {
	Op     TestOp    `json:"op"`
	Column int       `json:"column,omitempty"`
	Of     Ref       `json:"of,omitempty"`
	Low    *float64  `json:"low,omitempty"`
	High   *float64  `json:"high,omitempty"`
	Points []float64 `json:"points,omitempty"`
	Values []int     `json:"values,omitempty"`
	Count  int       `json:"count,omitempty"`
	Tests  []Test    `json:"tests,omitempty"`
}

// onColumn reports whether the test looks at a column of its own.
func (t *Test) onColumn() bool {
	switch t.Op {
	case Between, Among, In, NotIn, Missing, Known:
		return true
	}
	return false
}

// nameOrder returns the places of names in the order of the names.
func nameOrder(names []string) []int {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if names[a] < names[b] {
			return -1
		}
		return 1
	})
	return order
}

// Classes returns the classes of a target; nil for a number.
func classesOf(a *table.Attribute) []string {
	if a.Kind == table.Nominal {
		return slices.Clone(a.Values)
	}
	return nil
}

// Compile returns a model's program.
func Compile(m Compiler, learner string, schema *table.Schema, target int) (*Program, error) {
	if target < 0 || target >= len(schema.Attributes) {
		return nil, fmt.Errorf("the model has no target: it is a density of all columns, and answers no one of them")
	}
	a := &schema.Attributes[target]
	p := &Program{Format: formatName, Version: Version, Learner: learner, Target: Target{Name: a.Name, Classes: classesOf(a), Style: string(a.Style)}}
	if a.Kind == table.Numeric && (a.Date || a.Time) {
		p.Target.Kind = a.Shown()
	}
	b := &Builder{program: p, schema: schema, target: target, columns: make([]int, len(schema.Attributes))}
	for j := range b.columns {
		b.columns[j] = -1
	}
	answer, err := m.Portable(b)
	if err != nil {
		return nil, err
	}
	p.Answer = answer
	p.sweep()
	if err := p.Check(); err != nil {
		return nil, err
	}
	return p, nil
}

const formatName = "accrete program"
