package belief

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// network is a directed graph without cycles over the columns, and a table for
// each: the joint probability of a row is Π P(cell | cells of its parents).
type network struct {
	nodes    []node
	order    []int   // parents before children
	children [][]int // of each node
	lined    bool    // some number has a numeric parent
	width    float64 // see limit
}

// limit is how many numbers the tables of an exact answer may have.
func (n *network) limit() float64 {
	if n.width > 0 {
		return n.width
	}
	return maxWidth
}

// node is a column. A number is normal given the values of its parents, with a
// mean and a deviation for each combination of those that are nominal, and a slope
// along each of those that are numbers.
type node struct {
	states  int // of a nominal column; 0: a number, or a column that is not there yet
	numeric bool
	parents []int
	strides []int // of the parents' codes in the row of the table; the last one's is 1
	// table has a distribution over the states for each combination of the
	// parents' values.
	table []float64
	// of numbers, for each combination
	mean, deviation []float64
	lines           []int     // numeric parents
	slope           []float64 // combinations × numeric parents
	at              []float64 // where a numeric parent stands when the mean is as said
	reach           []float64 // how far from there it can be: see away
	unit            float64   // deviation of the whole column
}

// there reports whether anything is known of the column.
func (n *node) there() bool { return n.states > 0 || n.numeric }

// rows returns the number of combinations of the parents' values.
func (n *node) rows(nodes []node) int {
	rows := 1
	for _, p := range n.parents {
		rows *= nodes[p].states
	}
	return rows
}

// newNetwork returns the graph that parents make, without tables. The parents
// make no cycle.
func newNetwork(schema *table.Schema, parents [][]int) *network {
	n := &network{nodes: make([]node, len(schema.Attributes)), children: make([][]int, len(schema.Attributes))}
	for j := range n.nodes {
		a := &schema.Attributes[j]
		n.nodes[j] = node{numeric: a.Kind == table.Numeric}
		for _, p := range parents[j] {
			if schema.Attributes[p].Kind == table.Numeric {
				n.nodes[j].lines, n.lined = append(n.nodes[j].lines, p), true
			} else {
				n.nodes[j].parents = append(n.nodes[j].parents, p)
			}
		}
		if a.Kind == table.Nominal {
			n.nodes[j].states = len(a.Values)
		}
	}
	for j := range n.nodes {
		v := &n.nodes[j]
		v.strides = make([]int, len(v.parents))
		stride := 1
		for k := len(v.parents) - 1; k >= 0; k-- {
			v.strides[k] = stride
			stride *= n.nodes[v.parents[k]].states
			n.children[v.parents[k]] = append(n.children[v.parents[k]], j)
		}
		for _, p := range v.lines {
			n.children[p] = append(n.children[p], j)
		}
	}
	n.order = topological(parents)
	return n
}

// topological returns an order in which parents come before children, those of
// lower numbers first; shorter than the parents if there is a cycle.
func topological(parents [][]int) []int {
	open := make([]int, len(parents))
	children := make([][]int, len(parents))
	var ready, order []int
	for v, ps := range parents {
		if open[v] = len(ps); len(ps) == 0 {
			ready = append(ready, v)
		}
		for _, p := range ps {
			children[p] = append(children[p], v)
		}
	}
	for len(ready) > 0 {
		least := 0
		for i, v := range ready {
			if v < ready[least] {
				least = i
			}
		}
		v := ready[least]
		ready = slices.Delete(ready, least, least+1)
		order = append(order, v)
		for _, c := range children[v] {
			if open[c]--; open[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
	return order
}

// findings are what is known of a row: codes and numbers by column, −1 and NaN
// where nothing is. A likelihood says of a nominal column how probable what was
// seen is under each of its values.
type findings struct {
	codes      []int32
	floats     []float64
	likelihood map[int][]float64
	drawn      int // samples of the last answer; 0: it was worked out
}

func newFindings(n int) *findings {
	f := &findings{codes: make([]int32, n), floats: make([]float64, n)}
	for j := range n {
		f.codes[j], f.floats[j] = -1, math.NaN()
	}
	return f
}

// read takes the cells of a row but for one column. Values that were never
// seen, and infinite numbers, say nothing.
func (f *findings) read(t *table.Table, row, except int) {
	for j := range t.Columns {
		f.codes[j], f.floats[j] = -1, math.NaN()
		if j == except {
			continue
		}
		if c := &t.Columns[j]; c.Codes != nil {
			f.codes[j] = max(c.Codes[row], -1)
		} else if c.Floats != nil && !math.IsInf(c.Floats[row], 0) {
			f.floats[j] = c.Floats[row]
		}
	}
}

// row returns the row of a node's table that the parents' codes choose, −1 if
// one of them is unknown.
func (n *node) row(codes []int32) int {
	row := 0
	for k, p := range n.parents {
		if codes[p] < 0 {
			return -1
		}
		row += int(codes[p]) * n.strides[k]
	}
	return row
}

// logNormal is the log density of a number given a row of parents' values, and
// the numbers of its numeric parents.
func (n *node) logNormal(row int, x float64, floats []float64) float64 {
	return logNormal(x, n.centre(row, floats), n.deviation[row])
}

// blanket fills in the posterior of a column whose Markov blanket is known: its
// parents, its children and their other parents. It returns false where that is
// not so, and the log of the sum.
func (n *network) blanket(f *findings, column int, p []float64) (known bool, logSum float64) {
	v := &n.nodes[column]
	row := v.row(f.codes)
	if row < 0 {
		return false, 0
	}
	for _, c := range n.children[column] {
		child := &n.nodes[c]
		for _, other := range child.parents {
			if other != column && f.codes[other] < 0 {
				return false, 0
			}
		}
		switch seen := f.codes[c] >= 0 || f.floats[c] == f.floats[c]; {
		case !seen && !n.barren(c, f), seen && !child.known(f.floats):
			return false, 0
		}
	}
	for s := range p {
		p[s] = math.Log(v.table[row*v.states+s])
	}
	for _, c := range n.children[column] {
		n.weighChild(f, column, c, p)
	}
	return true, normaliseLogs(p)
}

// barren reports whether a column that is unknown has no known descendants, so
// that it says nothing of its parents.
func (n *network) barren(column int, f *findings) bool {
	for _, c := range n.children[column] {
		if f.codes[c] >= 0 || f.floats[c] == f.floats[c] || f.likelihood[c] != nil || !n.barren(c, f) {
			return false
		}
	}
	return true
}

// weighChild adds to the logs of a column's states what a child says of them.
func (n *network) weighChild(f *findings, column, c int, p []float64) {
	child := &n.nodes[c]
	x := f.floats[c]
	if child.numeric && math.IsNaN(x) || !child.numeric && f.codes[c] < 0 {
		return
	}
	base, stride := 0, 0
	for k, parent := range child.parents {
		if parent == column {
			stride = child.strides[k]
		} else {
			base += int(f.codes[parent]) * child.strides[k]
		}
	}
	for s := range p {
		at := base + s*stride
		if child.numeric {
			p[s] += child.logNormal(at, x, f.floats)
		} else {
			p[s] += math.Log(child.table[at*child.states+int(f.codes[c])])
		}
	}
}

// normaliseLogs turns logs into probabilities, and returns the log of their
// sum; −Inf, and zeros, if all were impossible.
func normaliseLogs(p []float64) float64 {
	most := math.Inf(-1)
	for _, x := range p {
		most = max(most, x)
	}
	if math.IsInf(most, -1) {
		clear(p)
		return most
	}
	sum := 0.0
	for s := range p {
		p[s] = math.Exp(p[s] - most)
		sum += p[s]
	}
	for s := range p {
		p[s] /= sum
	}
	return most + math.Log(sum)
}

// Separated reports whether two sets of columns are independent given a third
// in every network of this graph: no path between them is active (d-separation,
// Pearl 1988; the reachability of Shachter 1998).
func (n *network) separated(a, b, given []int) bool {
	known, above := make([]bool, len(n.nodes)), make([]bool, len(n.nodes))
	for _, v := range given {
		known[v] = true
	}
	for stack := slices.Clone(given); len(stack) > 0; { // above: the known and their ancestors
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !above[v] {
			above[v] = true
			stack = append(append(stack, n.nodes[v].parents...), n.nodes[v].lines...)
		}
	}
	type visit struct {
		at int
		up bool // came from a child
	}
	seen := map[visit]bool{}
	var stack []visit
	for _, v := range a {
		stack = append(stack, visit{v, true})
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		if !known[v.at] && slices.Contains(b, v.at) {
			return false
		}
		if v.up && !known[v.at] || !v.up && above[v.at] {
			for _, p := range slices.Concat(n.nodes[v.at].parents, n.nodes[v.at].lines) {
				stack = append(stack, visit{p, true})
			}
		}
		if !known[v.at] {
			for _, c := range n.children[v.at] {
				stack = append(stack, visit{c, false})
			}
		}
	}
	return true
}
