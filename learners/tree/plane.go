package tree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// plane is the sum that an oblique test compares with its threshold. A row
// goes right where the sum is above it, else left: it is never in both
// branches. A missing cell counts as the mean of the known ones of the node.
type plane struct {
	terms []term // at least two, the weightiest first
	bits  float64
}

// term is a column's part of the sum.
type term struct {
	col    int32
	factor float64
	mean   float64
}

// add returns the sum with a term for a cell. The conversion keeps the product
// from being fused with the sum on some processors, which would round
// differently from rules.
func (t *term) add(sum, cell float64) float64 {
	if table.IsMissing(cell) {
		cell = t.mean
	}
	return sum + float64(t.factor*cell)
}

// sum returns a row's.
func (p *plane) sum(columns []table.Column, row int) float64 {
	sum := 0.0
	for i := range p.terms {
		t := &p.terms[i]
		sum = t.add(sum, columns[t.col].Floats[row])
	}
	return sum
}

// crossing returns the cell of a column at which a row would lie on the plane
// if its other cells stayed as they are; false if the column is no part of it.
func (p *plane) crossing(columns []table.Column, row int, col int32, threshold float64) (cell float64, ok bool) {
	rest, factor := 0.0, 0.0
	for i := range p.terms {
		if t := &p.terms[i]; t.col == col {
			factor = t.factor
		} else {
			rest = t.add(rest, columns[t.col].Floats[row])
		}
	}
	cell = (threshold - rest) / factor
	return cell, factor != 0 && !math.IsNaN(cell) && !math.IsInf(cell, 0)
}

func (p *plane) equal(q *plane) bool {
	return p == q || p != nil && q != nil && slices.Equal(p.terms, q.terms)
}

// test is a half-space of the rule language.
func (p *plane) test(schema *table.Schema, threshold float64, above bool) rule.Test {
	t := rule.Test{Op: rule.HalfSpace, Number: threshold, Below: !above}
	for _, term := range p.terms {
		t.Terms = append(t.Terms, rule.Term{Factor: term.factor, Column: schema.Attributes[term.col].Name})
	}
	return t
}

// lines writes the sum, a term a line.
func (p *plane) lines(schema *table.Schema) []string {
	lines := make([]string, len(p.terms))
	for i, t := range p.terms {
		lines[i] = fmt.Sprintf("%.4g*%s", t.factor, schema.Attributes[t.col].Name)
		if i > 0 {
			sign := "+ "
			if t.factor < 0 {
				sign = "- "
			}
			lines[i] = sign + fmt.Sprintf("%.4g*%s", math.Abs(t.factor), schema.Attributes[t.col].Name)
		}
	}
	return lines
}

// asked says what a test of the tree asks about: a column, or a sum of columns.
func (m *Model) asked(i int) string {
	st := &m.tree.nodes[i]
	if p := m.tree.plane(st); p != nil {
		return strings.Join(p.lines(m.schema), " ")
	}
	return m.schema.Attributes[st.col].Name
}

// savedPlane is a plane, of a node or a condition.
type savedPlane struct {
	Node    int32     `cbor:"node,omitempty"`
	Columns []int32   `cbor:"columns"`
	Factors []float64 `cbor:"factors"`
	Means   []float64 `cbor:"means"`
}

func (p *plane) save(node int) savedPlane {
	s := savedPlane{Node: int32(node)}
	for _, t := range p.terms {
		s.Columns = append(s.Columns, t.col)
		s.Factors = append(s.Factors, t.factor)
		s.Means = append(s.Means, t.mean)
	}
	return s
}

func (s *savedPlane) load(schema *table.Schema, target int) (*plane, error) {
	n := len(s.Columns)
	if n < 2 || len(s.Factors) != n || len(s.Means) != n || !finite(s.Factors) || !finite(s.Means) {
		return nil, fmt.Errorf("a plane of %d columns with %d factors and %d means, or one of these is not finite", n, len(s.Factors), len(s.Means))
	}
	p := &plane{}
	for i, col := range s.Columns {
		if col < 0 || int(col) >= len(schema.Attributes) || int(col) == target || schema.Attributes[col].Kind != table.Numeric || slices.Contains(s.Columns[:i], col) {
			return nil, fmt.Errorf("a plane has column %d, or has it twice", col)
		}
		p.terms = append(p.terms, term{col, s.Factors[i], s.Means[i]})
	}
	return p, nil
}
