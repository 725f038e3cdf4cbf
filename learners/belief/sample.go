package belief

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// sampled fills in the distribution of a nominal column by likelihood weighting
// or Gibbs sampling, the same for the same question. It returns the log of the
// probability of what is known, as weighting estimates it.
func (m *Model) sampled(f *findings, column int, p []float64) float64 {
	clear(p)
	return m.draw(f, func(at *findings, w float64) { p[at.codes[column]] += w }, p)
}

// sampledNormal does the same for a number: a mixture of a normal a sample, which is
// that given its parents if nothing below it is known, and else as narrow as a tenth.
func (m *Model) sampledNormal(f *findings, column int) (mixture, float64) {
	var x mixture
	n, barren := &m.net.nodes[column], m.net.barren(column, f)
	log := m.draw(f, func(at *findings, w float64) {
		row := n.row(at.codes)
		mean, deviation := n.centre(row, at.floats), n.deviation[row]
		if !barren {
			mean, deviation = at.floats[column], deviation/10
		}
		x.p, x.mean, x.deviation = append(x.p, w), append(x.mean, mean), append(x.deviation, deviation)
	}, nil)
	sum := 0.0
	for _, w := range x.p {
		sum += w
	}
	for k := range x.p {
		x.p[k] /= sum
	}
	return x, log
}

// draw draws the samples of a question, and divides what they add up to by
// their weight.
func (m *Model) draw(f *findings, each func(at *findings, w float64), p []float64) float64 {
	random := rand.New(rand.NewPCG(m.lesson.Seed, 0x5a3b1e))
	samples := max(m.lesson.Settings.Samples, 1)
	f.drawn = samples
	way := m.net.weighting
	if m.lesson.Settings.Inference == "gibbs" {
		way = m.net.gibbs
	}
	total := way(f, random, samples, each)
	if !(total > 0) {
		return math.Inf(-1)
	}
	for k := range p {
		p[k] /= total
	}
	return math.Log(total / float64(samples))
}

// pick returns a state of a distribution.
func pick(p []float64, random *rand.Rand) int32 {
	u := random.Float64()
	last := 0
	for k, q := range p {
		if u -= q; q > 0 {
			if last = k; u < 0 {
				break
			}
		}
	}
	return int32(last)
}

// weighting is likelihood weighting (Fung & Chang 1989; Shachter & Peot 1989):
// columns are drawn parents first, those that are known weigh the sample by their
// probability. It returns the weight of all samples.
func (n *network) weighting(f *findings, random *rand.Rand, samples int, each func(at *findings, w float64)) float64 {
	at := newFindings(len(n.nodes))
	total := 0.0
	for range samples {
		w := 1.0
		for _, v := range n.order {
			node := &n.nodes[v]
			if !node.there() {
				continue
			}
			row := node.row(at.codes)
			switch {
			case node.numeric && f.floats[v] == f.floats[v]:
				at.floats[v] = f.floats[v]
				w *= math.Exp(node.logNormal(row, f.floats[v], at.floats))
			case node.numeric:
				at.floats[v] = node.centre(row, at.floats) + node.deviation[row]*random.NormFloat64()
			case f.codes[v] >= 0:
				at.codes[v] = f.codes[v]
				w *= node.table[row*node.states+int(at.codes[v])]
			default:
				at.codes[v] = pick(node.table[row*node.states:][:node.states], random)
				if l := f.likelihood[v]; l != nil {
					w *= l[at.codes[v]]
				}
			}
		}
		if w > 0 {
			each(at, w)
			total += w
		}
	}
	return total
}

// chains is how many walks Gibbs sampling goes.
const chains = 100

// gibbs is Gibbs sampling (Geman & Geman 1984; Pearl 1987): each unknown column
// in turn is drawn given its Markov blanket. A walk of it may never leave a corner
// that zeros of the tables close: columns that they bind are drawn in pairs too
// (see bound), and there are many walks, each begun at a sample of weighting that
// is drawn by its weight, whose first tenth is thrown away. All samples weigh alike, together
// what those of weighting do: 0 if none was found to begin with.
func (n *network) gibbs(f *findings, random *rand.Rand, samples int, each func(at *findings, w float64)) float64 {
	walks := make([]*findings, min(chains, samples))
	for c := range walks {
		walks[c] = newFindings(len(n.nodes))
	}
	seen := 0.0
	total := n.weighting(f, random, samples, func(drawn *findings, w float64) {
		seen += w
		for _, at := range walks {
			if random.Float64()*seen < w {
				copy(at.codes, drawn.codes)
				copy(at.floats, drawn.floats)
			}
		}
	})
	if total == 0 {
		return 0
	}
	pairs := n.bound(f)
	for c, at := range walks {
		length := samples*(c+1)/len(walks) - samples*c/len(walks)
		for s := -length / 10; s < length; s++ {
			n.sweep(f, at, pairs, random)
			if s >= 0 {
				each(at, total/float64(samples))
			}
		}
	}
	return total
}

// sweep draws each column that is not known, and then the pairs.
func (n *network) sweep(f, at *findings, pairs []pair, random *rand.Rand) {
	for _, v := range n.order {
		switch node := &n.nodes[v]; {
		case node.numeric && f.floats[v] != f.floats[v]:
			n.redraw(at, v, random)
		case node.states > 0 && f.codes[v] < 0:
			n.repick(f, at, v, random)
		}
	}
	for i := range pairs {
		n.repickPair(f, at, &pairs[i], random)
	}
}

// pair is a column and a child of it, neither of them known, that a zero of the child's
// table binds: one may not be able to move without the other.
type pair struct {
	parent, child int
	others        []int // children of the parent alone
}

// bound returns the pairs of a question.
func (n *network) bound(f *findings) []pair {
	var pairs []pair
	for child := range n.nodes {
		node := &n.nodes[child]
		if f.codes[child] >= 0 || !slices.Contains(node.table, 0) {
			continue
		}
		for _, parent := range node.parents {
			if f.codes[parent] < 0 {
				others := slices.DeleteFunc(slices.Clone(n.children[parent]), func(c int) bool { return c == child || slices.Contains(n.children[child], c) })
				pairs = append(pairs, pair{parent, child, others})
			}
		}
	}
	return pairs
}

// repick draws a name given all others.
func (n *network) repick(f, at *findings, v int, random *rand.Rand) {
	p := n.weigh(f, at, v, n.children[v], make([]float64, n.nodes[v].states))
	if !math.IsInf(normaliseLogs(p), -1) {
		at.codes[v] = pick(p, random)
	}
}

// repickPair draws two names given all others.
func (n *network) repickPair(f, at *findings, of *pair, random *rand.Rand) {
	a, b := at.codes[of.parent], at.codes[of.child]
	own := n.weigh(f, at, of.parent, of.others, make([]float64, n.nodes[of.parent].states))
	states := n.nodes[of.child].states
	p := make([]float64, len(own)*states)
	for k, log := range own {
		at.codes[of.parent] = int32(k)
		to := n.weigh(f, at, of.child, n.children[of.child], p[k*states:][:states])
		for j := range to {
			to[j] += log
		}
	}
	if !math.IsInf(normaliseLogs(p), -1) {
		k := int(pick(p, random))
		a, b = int32(k/states), int32(k%states)
	}
	at.codes[of.parent], at.codes[of.child] = a, b
}

// weigh fills in the log of how probable each value of a column is given its parents,
// what is heard of it, and some children.
func (n *network) weigh(f, at *findings, v int, children []int, p []float64) []float64 {
	node := &n.nodes[v]
	row := node.row(at.codes)
	for k := range p {
		p[k] = math.Log(node.table[row*node.states+k])
		if l := f.likelihood[v]; l != nil {
			p[k] += math.Log(l[k])
		}
	}
	for _, c := range children {
		n.weighChild(at, v, c, p)
	}
	return p
}

// redraw draws a number given all others, which is normal: its own mean and those
// that its children speak for, weighed by their precisions.
func (n *network) redraw(at *findings, v int, random *rand.Rand) {
	node := &n.nodes[v]
	row := node.row(at.codes)
	d := node.deviation[row]
	mean := node.centre(row, at.floats)
	precision := 1 / d / d
	sum := 0.0 // of what children say, less the mean
	for _, c := range n.children[v] {
		child := &n.nodes[c]
		own := child.row(at.codes)
		for l, p := range child.lines {
			if p != v {
				continue
			}
			slope, noise := child.slope[own*len(child.lines)+l], child.deviation[own]
			rest := at.floats[c] - child.centre(own, at.floats) + slope*(at.floats[v]-mean)
			precision += slope / noise * slope / noise
			sum += slope / noise * rest / noise
		}
	}
	at.floats[v] = mean + sum/precision + random.NormFloat64()/math.Sqrt(precision)
}

// draw draws a row, parents first.
func (n *network) draw(to *findings, random *rand.Rand) {
	for _, v := range n.order {
		node := &n.nodes[v]
		to.codes[v], to.floats[v] = -1, math.NaN()
		switch row := node.row(to.codes); {
		case node.states > 0:
			to.codes[v] = pick(node.table[row*node.states:][:node.states], random)
		case node.numeric:
			to.floats[v] = node.centre(row, to.floats) + node.deviation[row]*random.NormFloat64()
		}
	}
}

// Sample draws rows from the network, parents first.
func (m *Model) Sample(rows int, seed uint64) (*table.Table, error) {
	if rows < 1 {
		return nil, fmt.Errorf("%d rows: expected at least 1", rows)
	}
	random := rand.New(rand.NewPCG(seed, 0x70e5))
	columns := make([]table.Column, len(m.net.nodes))
	for v := range columns {
		if m.schema.Attributes[v].Kind == table.Nominal {
			columns[v].Codes = make([]int32, rows)
		} else {
			columns[v].Floats = make([]float64, rows)
		}
	}
	drawn := newFindings(len(m.net.nodes))
	for r := range rows {
		m.net.draw(drawn, random)
		for v := range columns {
			switch {
			case columns[v].Codes == nil:
				columns[v].Floats[r] = drawn.floats[v]
			case drawn.codes[v] < 0:
				columns[v].Codes[r] = table.Missing
			default:
				columns[v].Codes[r] = drawn.codes[v]
			}
		}
	}
	return table.New(m.schema, columns, nil)
}

// SampleRows draws rows; they stand alone, whatever the length of sequences.
func (m *Model) SampleRows(rows, _ int, seed uint64) (*table.Table, error) {
	return m.Sample(rows, seed)
}
