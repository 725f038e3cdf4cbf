package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// Smallest is BFS-ID3 (Mitchell 1997, §3.6): of all trees over the nominal
// columns that classify every row rightly it looks at those of depth 0, 1, 2
// and so on, and returns at the first depth that has any the ones with the
// fewest nodes, in the form of Outline. A value that has no rows gets a leaf of
// its parent's most common class. The search is exponential in the number of
// columns: it is for small tables, to show what greedy growth leaves lying.
func Smallest(t *table.Table, target int) (depth, nodes int, outlines []string, err error) {
	y := &t.Schema.Attributes[target]
	if y.Kind != table.Nominal {
		return 0, 0, nil, fmt.Errorf("target %q is numeric, expected classes", y.Name)
	}
	search := &breadthFirst{table: t, target: target}
	for col, a := range t.Schema.Attributes {
		if col != target && a.Kind == table.Nominal {
			search.columns = append(search.columns, col)
		}
	}
	var rows []int
	for r := range t.Rows() {
		if t.Columns[target].Codes[r] >= 0 {
			rows = append(rows, r)
		}
	}
	for depth := range len(search.columns) + 1 {
		if nodes, outlines := search.trees(rows, search.columns, depth, 0); nodes > 0 {
			return depth, nodes, outlines, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("rows that agree in every nominal column differ in %q: no tree classifies them all", y.Name)
}

type breadthFirst struct {
	table   *table.Table
	target  int
	columns []int
}

// trees returns the smallest consistent trees of at most a depth and their
// number of nodes; 0 if there is none.
func (s *breadthFirst) trees(rows, columns []int, depth int, parent int32) (nodes int, outlines []string) {
	y := &s.table.Schema.Attributes[s.target]
	counts := make([]float64, len(y.Values))
	for _, r := range rows {
		counts[s.table.Columns[s.target].Codes[r]]++
	}
	label := parent
	if len(rows) > 0 {
		nd := node{stat: counts}
		nd.elect(-1, y.Values)
		label = nd.label
	}
	if counts[label] == float64(len(rows)) {
		return 1, []string{y.Values[label]}
	}
	if depth == 0 {
		return 0, nil
	}
	for i, col := range columns {
		rest := slices.Delete(slices.Clone(columns), i, i+1)
		n, trees := s.below(rows, rest, col, depth-1, label)
		switch {
		case n == 0 || nodes > 0 && n > nodes:
		case nodes == 0 || n < nodes:
			nodes, outlines = n, trees
		default:
			outlines = append(outlines, trees...)
		}
	}
	return nodes, outlines
}

// below returns the smallest trees that test a column first.
func (s *breadthFirst) below(rows, rest []int, col, depth int, label int32) (nodes int, outlines []string) {
	a := &s.table.Schema.Attributes[col]
	nodes = 1
	heads := [][]string{nil} // branches chosen so far, in every way
	for v, name := range a.Values {
		var there []int
		for _, r := range rows {
			if s.table.Columns[col].Codes[r] == int32(v) {
				there = append(there, r)
			}
		}
		n, trees := s.trees(there, rest, depth, label)
		if n == 0 {
			return 0, nil
		}
		nodes += n
		var longer [][]string
		for _, head := range heads {
			for _, tree := range trees {
				longer = append(longer, append(slices.Clone(head), name+"→"+tree))
			}
		}
		heads = longer
	}
	for _, head := range heads {
		outlines = append(outlines, a.Name+"{"+strings.Join(head, ", ")+"}")
	}
	return nodes, outlines
}
