package belief

import (
	"math"
	"slices"
)

// factor is a table over some nominal columns, the last of which changes
// fastest.
type factor struct {
	columns []int
	cells   []float64
}

// elimination answers one question by variable elimination (Zhang & Poole 1994):
// columns are summed or maximised out one by one, that of the smallest table
// first. What has no say, having no known or wanted descendant, is left out.
type elimination struct {
	net      *network
	findings *findings
	log      float64 // of what was taken out of the factors
}

// factors returns the tables of the columns that have a say, as the findings
// leave them.
func (e *elimination) factors(wanted []int) []factor {
	e.log = 0
	say := make([]bool, len(e.net.nodes))
	for i := len(e.net.order) - 1; i >= 0; i-- {
		v := e.net.order[i]
		f := e.findings
		say[v] = say[v] || slices.Contains(wanted, v) || f.codes[v] >= 0 || f.floats[v] == f.floats[v] || f.likelihood[v] != nil
		if say[v] {
			for _, p := range e.net.nodes[v].parents {
				say[p] = true
			}
		}
	}
	var all []factor
	for v := range e.net.nodes {
		if n := &e.net.nodes[v]; say[v] && n.there() {
			all = append(all, e.factor(v))
			if l := e.findings.likelihood[v]; len(l) == n.states && n.states > 0 && e.findings.codes[v] < 0 {
				all = append(all, factor{[]int{v}, slices.Clone(l)})
			}
		}
	}
	return all
}

// factor returns a column's table without the columns that are known.
func (e *elimination) factor(v int) factor {
	n := &e.net.nodes[v]
	columns := slices.Clone(n.parents)
	if n.states > 0 {
		columns = append(columns, v)
	}
	var open factor
	size := 1
	for _, c := range columns {
		if e.findings.codes[c] < 0 {
			open.columns = append(open.columns, c)
			size *= e.net.nodes[c].states
		}
	}
	open.cells = make([]float64, size)
	codes := slices.Clone(e.findings.codes)
	most := 0.0
	if n.numeric {
		most = math.Inf(-1)
		for row := range n.mean {
			most = max(most, n.logNormal(row, e.findings.floats[v]))
		}
		e.log += most
	}
	for at := range open.cells {
		rest := at
		for k := len(open.columns) - 1; k >= 0; k-- {
			r := e.net.nodes[open.columns[k]].states
			codes[open.columns[k]] = int32(rest % r)
			rest /= r
		}
		if row := n.row(codes); n.numeric {
			open.cells[at] = math.Exp(n.logNormal(row, e.findings.floats[v]) - most)
		} else {
			open.cells[at] = n.table[row*n.states+int(codes[v])]
		}
	}
	return open
}

// sum returns the log of the probability of the findings. With a column it
// returns its distribution too, unnormalised.
func (e *elimination) sum(p []float64, wanted ...int) (float64, error) {
	left, err := e.reduce(e.factors(wanted), wanted)
	if err != nil {
		return 0, err
	}
	total := 0.0
	if len(wanted) > 0 {
		copy(p, left.cells)
	}
	for _, x := range left.cells {
		total += x
	}
	return e.log + math.Log(total), nil
}

// most returns the most probable values of columns together with the findings,
// and the log of that probability.
func (e *elimination) most(wanted []int) ([]int32, float64, error) {
	left, err := e.reduce(e.factors(wanted), wanted)
	if err != nil {
		return nil, 0, err
	}
	best := 0
	for i, x := range left.cells {
		if x > left.cells[best] {
			best = i
		}
	}
	of := make(map[int]int32, len(wanted))
	rest := best
	for k := len(left.columns) - 1; k >= 0; k-- {
		r := e.net.nodes[left.columns[k]].states
		of[left.columns[k]] = int32(rest % r)
		rest /= r
	}
	codes := make([]int32, len(wanted))
	for i, c := range wanted {
		codes[i] = of[c]
	}
	return codes, e.log + math.Log(left.cells[best]), nil
}

// reduce sums out all columns but those that are wanted, and multiplies the rest.
func (e *elimination) reduce(all []factor, wanted []int) (factor, error) {
	for {
		best, least := -1, math.Inf(1)
		for v := range e.net.nodes {
			if slices.Contains(wanted, v) || !slices.ContainsFunc(all, func(f factor) bool { return slices.Contains(f.columns, v) }) {
				continue
			}
			if size := e.joint(all, v); size < least {
				best, least = v, size
			}
		}
		var with, without []factor
		for _, f := range all {
			if best < 0 || slices.Contains(f.columns, best) {
				with = append(with, f)
			} else {
				without = append(without, f)
			}
		}
		if best < 0 {
			least = e.joint(all, -1)
		}
		if least > maxWidth {
			return factor{}, errWide{least}
		}
		product := e.multiply(with)
		if best < 0 {
			return product, nil
		}
		all = append(without, e.sumOut(product, best))
	}
}

// joint returns the size of the product of the factors with a column; of all
// factors if it is −1.
func (e *elimination) joint(all []factor, v int) float64 {
	size := 1.0
	seen := map[int]bool{}
	for _, f := range all {
		if v >= 0 && !slices.Contains(f.columns, v) {
			continue
		}
		for _, c := range f.columns {
			if !seen[c] {
				seen[c] = true
				size *= float64(e.net.nodes[c].states)
			}
		}
	}
	return size
}

// multiply returns the product of factors, scaled to at most 1.
func (e *elimination) multiply(all []factor) factor {
	var to factor
	for _, f := range all {
		for _, c := range f.columns {
			if !slices.Contains(to.columns, c) {
				to.columns = append(to.columns, c)
			}
		}
	}
	slices.Sort(to.columns)
	size := 1
	for _, c := range to.columns {
		size *= e.net.nodes[c].states
	}
	to.cells = make([]float64, size)
	for i := range to.cells {
		to.cells[i] = 1
	}
	c := clique{columns: to.columns, base: to.cells}
	most := 0.0
	for _, f := range all {
		places, _ := c.places(e.net, f.columns)
		most = 0
		for i, at := range places {
			to.cells[i] *= f.cells[at]
			most = max(most, to.cells[i])
		}
	}
	if most > 0 && len(all) > 0 {
		e.log += math.Log(most)
		for i := range to.cells {
			to.cells[i] /= most
		}
	}
	return to
}

// sumOut adds up a factor over one of its columns.
func (e *elimination) sumOut(f factor, v int) factor {
	c := clique{columns: f.columns, base: f.cells}
	rest := slices.DeleteFunc(slices.Clone(f.columns), func(c int) bool { return c == v })
	places, size := c.places(e.net, rest)
	to := factor{rest, make([]float64, size)}
	for i, at := range places {
		to.cells[at] += f.cells[i]
	}
	return to
}
