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
			for _, p := range slices.Concat(e.net.nodes[v].parents, e.net.nodes[v].lines) {
				say[p] = true
			}
		}
	}
	var all []factor
	for v := range e.net.nodes {
		if n := &e.net.nodes[v]; say[v] && n.states > 0 {
			all = append(all, e.factor([]int{v}, n.parents, func(codes []int32) float64 { return n.table[n.row(codes)*n.states+int(codes[v])] }))
			if l := e.findings.likelihood[v]; len(l) == n.states && e.findings.codes[v] < 0 {
				all = append(all, factor{[]int{v}, slices.Clone(l)})
			}
		}
	}
	known := func(v int) bool { return e.findings.floats[v] == e.findings.floats[v] }
	for _, g := range e.net.groups(known, -1) {
		if slices.ContainsFunc(g.members, known) {
			all = append(all, e.density(g))
		}
	}
	return all
}

// factor returns a table without the columns that are known.
func (e *elimination) factor(own, parents []int, cell func(codes []int32) float64) factor {
	var open factor
	size := 1
	for _, c := range slices.Concat(parents, own) {
		if e.findings.codes[c] < 0 {
			open.columns = append(open.columns, c)
			size *= e.net.nodes[c].states
		}
	}
	open.cells = make([]float64, size)
	codes := slices.Clone(e.findings.codes)
	for at := range open.cells {
		rest := at
		for k := len(open.columns) - 1; k >= 0; k-- {
			r := e.net.nodes[open.columns[k]].states
			codes[open.columns[k]] = int32(rest % r)
			rest /= r
		}
		open.cells[at] = cell(codes)
	}
	return open
}

// density returns the factor of a group's numbers, scaled to at most 1.
func (e *elimination) density(g group) factor {
	g.size = 1
	for _, c := range g.columns {
		g.size *= e.net.nodes[c].states
	}
	g.combine(e.net)
	f := newFilter(len(g.members))
	open := e.factor(nil, g.columns, func(codes []int32) float64 {
		at := 0
		for _, c := range g.columns {
			at = at*e.net.nodes[c].states + int(codes[c])
		}
		return f.run(e.net, &g, at, e.findings.floats)
	})
	most := math.Inf(-1)
	for _, log := range open.cells {
		most = max(most, log)
	}
	e.log += most
	for at, log := range open.cells {
		open.cells[at] = math.Exp(log - most)
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
// and the log of that probability: all others are summed out, then these are
// maximised out one by one, and found again from the last to the first.
func (e *elimination) most(wanted []int) ([]int32, float64, error) {
	left, err := e.eliminate(e.factors(wanted), wanted, e.sumOut)
	if err != nil {
		return nil, 0, err
	}
	type step struct {
		column int
		of     factor
	}
	var steps []step
	left, err = e.eliminate(left, nil, func(f factor, v int) factor {
		steps = append(steps, step{v, f})
		return e.fold(f, v, math.Max)
	})
	if err != nil {
		return nil, 0, err
	}
	of := make([]int32, len(e.net.nodes))
	for _, s := range slices.Backward(steps) {
		best, most := int32(0), math.Inf(-1)
		for k := range int32(e.net.nodes[s.column].states) {
			of[s.column] = k
			at := 0
			for _, c := range s.of.columns {
				at = at*e.net.nodes[c].states + int(of[c])
			}
			if s.of.cells[at] > most {
				best, most = k, s.of.cells[at]
			}
		}
		of[s.column] = best
	}
	codes := make([]int32, len(wanted))
	for i, c := range wanted {
		codes[i] = of[c]
	}
	log := math.Log(e.multiply(left).cells[0])
	return codes, e.log + log, nil
}

// reduce sums out all columns but those that are wanted, and multiplies the rest.
func (e *elimination) reduce(all []factor, wanted []int) (factor, error) {
	left, err := e.eliminate(all, wanted, e.sumOut)
	if err != nil {
		return factor{}, err
	}
	if size := e.joint(left, -1); size > e.net.limit() {
		return factor{}, errWide{size, e.net.limit()}
	}
	return e.multiply(left), nil
}

// eliminate takes all columns but some out of the factors, that of the smallest
// product first.
func (e *elimination) eliminate(all []factor, but []int, out func(product factor, v int) factor) ([]factor, error) {
	for {
		best, least := -1, math.Inf(1)
		for v := range e.net.nodes {
			if slices.Contains(but, v) || !slices.ContainsFunc(all, func(f factor) bool { return slices.Contains(f.columns, v) }) {
				continue
			}
			if size := e.joint(all, v); size < least {
				best, least = v, size
			}
		}
		if best < 0 {
			return all, nil
		}
		if least > e.net.limit() {
			return nil, errWide{least, e.net.limit()}
		}
		var with, without []factor
		for _, f := range all {
			if slices.Contains(f.columns, best) {
				with = append(with, f)
			} else {
				without = append(without, f)
			}
		}
		all = append(without, out(e.multiply(with), best))
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
	return e.fold(f, v, func(a, b float64) float64 { return a + b })
}

// fold puts the cells of a factor together that differ in one of its columns alone.
func (e *elimination) fold(f factor, v int, together func(a, b float64) float64) factor {
	c := clique{columns: f.columns, base: f.cells}
	rest := slices.DeleteFunc(slices.Clone(f.columns), func(c int) bool { return c == v })
	places, size := c.places(e.net, rest)
	to := factor{rest, make([]float64, size)}
	for i, at := range places {
		to.cells[at] = together(to.cells[at], f.cells[i])
	}
	return to
}
