package tree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Smallest is BFS-ID3 (Mitchell 1997, §3.6): of all trees over the nominal
// columns that classify every row rightly it looks at those of depth 0, 1, 2
// and so on, and returns at the first depth that has any the ones with the
// fewest nodes, in the form of Outline. A value that has no rows gets a leaf of
// its parent's most common class. The search is exponential in the number of
// columns: it is for small tables, to show what greedy growth leaves lying. As
// the setting search=bfs it learns the first of these trees.
func Smallest(t *table.Table, target int) (depth, nodes int, outlines []string, err error) {
	y := &t.Schema.Attributes[target]
	if y.Kind != table.Nominal {
		return 0, 0, nil, fmt.Errorf("target %q is numeric, expected classes", y.Name)
	}
	search := &breadthFirst{ctx: context.Background(), table: t, target: target, truth: t.Columns[target].Codes, all: true}
	var rows []int
	for r := range t.Rows() {
		if t.Columns[target].Codes[r] >= 0 {
			rows = append(rows, r)
		}
	}
	depth, nodes, trees, err := search.search(rows)
	for _, tree := range trees {
		outlines = append(outlines, search.outline(tree))
	}
	return depth, nodes, outlines, err
}

// breadthFirst is a search from simple to complex trees.
type breadthFirst struct {
	ctx    context.Context
	table  *table.Table
	target int
	truth  []int32 // the class that a tree must say of each row
	all    bool    // return every smallest tree, not the first alone
	looked int     // at collections of rows
}

// mostLooks bounds a search: some seconds.
const mostLooks = 2_000_000

// branching is a tree as the search finds it.
type branching struct {
	col   int // leaf: none
	label int32
	kids  []*branching // of each value
}

// search looks at trees of growing depth.
func (s *breadthFirst) search(rows []int) (depth, nodes int, trees []*branching, err error) {
	var columns []int
	for col, a := range s.table.Schema.Attributes {
		if col != s.target && a.Kind == table.Nominal && slices.ContainsFunc(s.table.Columns[col].Codes, func(c int32) bool { return c >= 0 }) {
			columns = append(columns, col)
		}
	}
	for depth := range len(columns) + 1 {
		nodes, trees := s.trees(rows, columns, depth, 0)
		if err := s.ctx.Err(); err != nil {
			return 0, 0, nil, err
		}
		if s.looked > mostLooks {
			return 0, 0, nil, fmt.Errorf("setting search=bfs: no tree of fewer than %d tests on a path is right on all %d rows, and there are too many deeper ones to try; leave columns out, or grow with search=greedy", depth, len(rows))
		}
		if nodes > 0 {
			return depth, nodes, trees, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("rows that agree in every nominal column differ in %q: no tree classifies them all", s.table.Schema.Attributes[s.target].Name)
}

// trees returns the smallest consistent trees of at most a depth and their
// number of nodes; 0 if there is none.
func (s *breadthFirst) trees(rows, columns []int, depth int, parent int32) (nodes int, trees []*branching) {
	if s.looked++; s.looked > mostLooks || s.looked%1024 == 0 && s.ctx.Err() != nil {
		return 0, nil
	}
	y := &s.table.Schema.Attributes[s.target]
	nd := node{stat: make([]float64, len(y.Values)), label: parent}
	for _, r := range rows {
		nd.stat[s.truth[r]]++
	}
	if len(rows) > 0 {
		nd.elect(-1, y.Values)
	}
	if nd.most == float64(len(rows)) {
		return 1, []*branching{{col: leaf, label: nd.label}}
	}
	if depth == 0 {
		return 0, nil
	}
	for i, col := range columns {
		rest := slices.Delete(slices.Clone(columns), i, i+1)
		n, found := s.below(rows, rest, col, depth-1, nd.label)
		switch {
		case n == 0 || nodes > 0 && n > nodes:
		case nodes == 0 || n < nodes:
			nodes, trees = n, found
		case s.all:
			trees = append(trees, found...)
		}
	}
	return nodes, trees
}

// below returns the smallest trees that test a column first.
func (s *breadthFirst) below(rows, rest []int, col, depth int, label int32) (nodes int, trees []*branching) {
	nodes = 1
	heads := [][]*branching{nil} // branches chosen so far, in every way
	for v := range s.table.Schema.Attributes[col].Values {
		var there []int
		for _, r := range rows {
			if s.table.Columns[col].Codes[r] == int32(v) {
				there = append(there, r)
			}
		}
		n, found := s.trees(there, rest, depth, label)
		if n == 0 {
			return 0, nil
		}
		nodes += n
		var longer [][]*branching
		for _, head := range heads {
			for _, tree := range found {
				longer = append(longer, append(slices.Clone(head), tree))
			}
		}
		heads = longer
	}
	for _, head := range heads {
		trees = append(trees, &branching{col: col, label: label, kids: head})
	}
	return nodes, trees
}

// outline writes a tree in one line.
func (s *breadthFirst) outline(t *branching) string {
	if t.col == leaf {
		return s.table.Schema.Attributes[s.target].Values[t.label]
	}
	a := &s.table.Schema.Attributes[t.col]
	branches := make([]string, len(t.kids))
	for v, kid := range t.kids {
		branches[v] = a.Values[v] + "→" + s.outline(kid)
	}
	return a.Name + "{" + strings.Join(branches, ", ") + "}"
}

// simplest returns the first of the smallest trees that are right on all rows.
// Where rows that agree in every column differ in class, being right is saying
// the most common one.
func (g *grower) simplest(ctx context.Context, v *kept.View) (*node, error) {
	t, err := v.Table(ctx)
	if err != nil {
		return nil, err
	}
	if g.classes == 0 {
		return nil, fmt.Errorf("setting search=bfs: target %q is numeric, expected classes; grow with search=greedy", t.Schema.Attributes[g.target].Name)
	}
	for col := range t.Columns {
		a := &t.Schema.Attributes[col]
		if a.Kind != table.Nominal {
			return nil, fmt.Errorf("setting search=bfs: column %q is numeric, expected nominal ones; leave it out, read it as nominal, or grow with search=greedy", a.Name)
		}
		if col != g.target && slices.Contains(t.Columns[col].Codes, table.Missing) && slices.Max(t.Columns[col].Codes) >= 0 {
			return nil, fmt.Errorf("setting search=bfs: column %q has missing cells, expected none; fill them in, or grow with search=greedy", a.Name)
		}
	}
	if err := g.weigh(v.Weights); err != nil {
		return nil, err
	}
	search := &breadthFirst{ctx: ctx, table: t, target: g.target, truth: g.commonest(t)}
	rows := make([]int, t.Rows())
	for r := range rows {
		rows[r] = r
	}
	_, _, trees, err := search.search(rows)
	if err != nil {
		return nil, err
	}
	root := g.built(trees[0], t, rows, -1)
	root.known = root.n
	return root, nil
}

// commonest returns for each row the most common class of the rows that agree
// with it in every other column.
func (g *grower) commonest(t *table.Table) []int32 {
	groups := map[string]*node{}
	keys := make([]string, t.Rows())
	for r := range keys {
		var key strings.Builder
		for col := range t.Columns {
			if col != g.target {
				fmt.Fprint(&key, t.Columns[col].Codes[r], " ")
			}
		}
		keys[r] = key.String()
		if groups[keys[r]] == nil {
			groups[keys[r]] = &node{stat: make([]float64, g.classes)}
		}
		groups[keys[r]].stat[g.class(int32(r))] += g.weight(r)
	}
	for _, nd := range groups {
		nd.elect(-1, g.labels)
	}
	truth := make([]int32, t.Rows())
	for r, key := range keys {
		truth[r] = groups[key].label
	}
	return truth
}

// built makes a tree of the search, with the statistics of its rows. Values that
// no row has share a leaf.
func (g *grower) built(s *branching, t *table.Table, rows []int, parent int32) *node {
	nd := &node{col: leaf, stat: make([]float64, g.classes)}
	for _, r := range rows {
		g.add(nd.stat, nil, int32(r), g.weight(r))
	}
	if g.classes > fewClasses {
		nd.thin(nil)
	}
	g.finish(nd, parent)
	if s.col == leaf {
		return nd
	}
	nd.col, nd.choices = int32(s.col), int32(len(t.Columns)-1)
	nd.branch = make([]int32, len(s.kids))
	none := int32(-1)
	for v, kid := range s.kids {
		var there []int
		for _, r := range rows {
			if t.Columns[s.col].Codes[r] == int32(v) {
				there = append(there, r)
			}
		}
		if len(there) == 0 && none >= 0 {
			nd.branch[v] = none
			continue
		}
		nd.branch[v] = int32(len(nd.kids))
		if len(there) == 0 {
			none = nd.branch[v]
		}
		child := g.built(kid, t, there, nd.label)
		child.known = child.n
		nd.kids = append(nd.kids, child)
	}
	return nd
}
