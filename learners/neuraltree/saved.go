package neuraltree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "neuraltree"
	bodyPart = "units"
)

const format = 1

// savedBody is what was learnt. Where rows are kept it can be learnt again.
type savedBody struct {
	Columns      []table.SavedColumn `cbor:"columns"`
	Nodes        []savedNode         `cbor:"nodes"`
	Contradicted float64             `cbor:"contradicted"`
	Reach        []float64           `cbor:"reach"`
}

// savedNode is a node; offspring follow from the order: those of each unit, left
// and right, are the next two nodes that nobody has.
type savedNode struct {
	Counts   []float64  `cbor:"counts"`
	Patterns int        `cbor:"patterns"`
	Stop     Stop       `cbor:"stop,omitempty"`
	Unit     *savedUnit `cbor:"unit,omitempty"`
}

type savedUnit struct {
	Terms     []savedTerm   `cbor:"terms,omitempty"`
	Tables    []savedLookup `cbor:"tables,omitempty"`
	Threshold float64       `cbor:"threshold"`
	Positive  []bool        `cbor:"positive"`
	Value     float64       `cbor:"value"`
	Method    Method        `cbor:"method,omitempty"`
}

type savedTerm struct {
	Column  int32   `cbor:"column"`
	Factor  float64 `cbor:"factor"`
	Missing float64 `cbor:"missing"`
}

type savedLookup struct {
	Column  int32     `cbor:"column"`
	Weights []float64 `cbor:"weights"`
	Missing float64   `cbor:"missing"`
}

// Parts returns the settings, the rows of each source, and the tree, which can
// be learnt again from the others if rows are kept.
func (m *Model) Parts() ([]learn.Part, error) {
	lesson := &kept.Lesson[settings]{Format: format, Settings: m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	body := savedBody{Columns: table.SaveColumns(m.schema), Contradicted: m.contradicted, Reach: m.reach}
	for i := range m.nodes {
		n := &m.nodes[i]
		s := savedNode{Counts: n.counts, Patterns: n.patterns, Stop: n.stop}
		if u := n.unit; u != nil {
			s.Unit = &savedUnit{Threshold: u.threshold, Positive: n.positive, Value: n.value, Method: n.method}
			for _, t := range u.terms {
				s.Unit.Terms = append(s.Unit.Terms, savedTerm{t.column, t.factor, t.missing})
			}
			for _, t := range u.tables {
				s.Unit.Tables = append(s.Unit.Tables, savedLookup{t.column, t.weights, t.missing})
			}
		}
		body.Nodes = append(body.Nodes, s)
	}
	return lesson.Parts(headPart, m.rows, bodyPart, body)
}

// Shed returns the tree without the rows that it was learnt from.
func (m *Model) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows, bare.settings.Keep = nil, "nothing"
	return &bare, m.rows != nil, nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var lesson kept.Lesson[settings]
	var body savedBody
	rows, found, err := lesson.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRows(context.Background(), rows, lesson.Target, lesson.Seed, lesson.Settings)
	}
	m := &Model{settings: lesson.Settings, seed: lesson.Seed, rows: rows}
	if err := m.restore(&body, lesson.Target); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Model) restore(body *savedBody, target string) error {
	var err error
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(target)
	if m.target < 0 || len(m.classes()) == 0 {
		return fmt.Errorf("the target %q is no column with classes", target)
	}
	if !finite(body.Contradicted) {
		return fmt.Errorf("%v rows are contradicted", body.Contradicted)
	}
	if len(body.Reach) != len(body.Columns) || !finite(body.Reach...) {
		return fmt.Errorf("%d columns do not fit what is said of them", len(body.Columns))
	}
	m.contradicted, m.reach = body.Contradicted, body.Reach
	if err := m.restoreNodes(body.Nodes); err != nil {
		return err
	}
	m.derive()
	return nil
}

func (m *Model) restoreNodes(saved []savedNode) error {
	k := len(m.classes())
	next := 1
	parents := []int32{-1}
	for i, s := range saved {
		if i >= next {
			return fmt.Errorf("node %d has no parent", i)
		}
		n := node{parent: parents[i], counts: s.Counts, patterns: s.Patterns, stop: s.Stop}
		if n.parent >= 0 {
			n.depth = m.nodes[n.parent].depth + 1
		}
		if len(s.Counts) != k || s.Patterns < 0 || s.Stop >= stops {
			return fmt.Errorf("node %d does not fit its %d classes", i, k)
		}
		for _, w := range s.Counts {
			if !(w >= 0) || !finite(w) {
				return fmt.Errorf("node %d has a class of weight %v", i, w)
			}
		}
		if !finite(sum(s.Counts)) {
			return fmt.Errorf("node %d weighs too much", i)
		}
		if s.Unit != nil {
			n.left, n.right = int32(next), int32(next+1)
			next += 2
			parents = append(parents, int32(i), int32(i))
			u, err := m.restoreUnit(s.Unit)
			if err != nil {
				return fmt.Errorf("node %d: %v", i, err)
			}
			n.unit, n.positive, n.value, n.method = u, s.Unit.Positive, s.Unit.Value, s.Unit.Method
		}
		m.nodes = append(m.nodes, n)
	}
	if len(saved) != next {
		return fmt.Errorf("%d nodes, expected %d", len(saved), next)
	}
	return nil
}

func (m *Model) restoreUnit(s *savedUnit) (*perceptron, error) {
	if len(s.Positive) != len(m.classes()) || s.Method >= methods || !finite(s.Threshold, s.Value) {
		return nil, fmt.Errorf("the unit does not fit its classes")
	}
	u := &perceptron{threshold: s.Threshold}
	last := int32(-1)
	column := func(c int32, kind table.Kind) error {
		if c <= last || int(c) >= len(m.schema.Attributes) || int(c) == m.target || m.schema.Attributes[c].Kind != kind {
			return fmt.Errorf("the unit has no use for column %d", c+1)
		}
		last = c
		return nil
	}
	for _, t := range s.Terms {
		if err := column(t.Column, table.Numeric); err != nil {
			return nil, err
		}
		if !finite(t.Factor, t.Missing) {
			return nil, fmt.Errorf("weights of column %d are not finite", t.Column+1)
		}
		u.terms = append(u.terms, term{t.Column, t.Factor, t.Missing})
	}
	last = -1
	for _, t := range s.Tables {
		if err := column(t.Column, table.Nominal); err != nil {
			return nil, err
		}
		if len(t.Weights) != len(m.schema.Attributes[t.Column].Values) || !finite(t.Missing) || !whole(t.Weights) {
			return nil, fmt.Errorf("weights of column %d do not fit its values", t.Column+1)
		}
		if len(t.Weights) == 2 && t.Weights[0] != -t.Weights[1] {
			return nil, fmt.Errorf("weights of column %d, which is one input, are not opposite", t.Column+1)
		}
		u.tables = append(u.tables, lookup{t.Column, t.Weights, t.Missing})
	}
	return u, nil
}

// whole reports whether weights are whole numbers that add up exactly.
func whole(weights []float64) bool {
	return !slices.ContainsFunc(weights, func(w float64) bool { return w != math.Trunc(w) || math.Abs(w) > 1e9 })
}

func finite(xs ...float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
