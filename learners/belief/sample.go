package belief

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/table"
)

// sampled fills in the distribution of a nominal column by likelihood weighting
// or Gibbs sampling, the same for the same question. It returns the log of the
// probability of what is known, as weighting estimates it; Gibbs sampling does
// not know it and says 0.
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
	var total float64
	if m.lesson.Settings.Inference == "gibbs" {
		total = m.net.gibbs(f, random, samples, each)
	} else {
		total = m.net.weighting(f, random, samples, each)
	}
	if !(total > 0) {
		return math.Inf(-1)
	}
	for k := range p {
		p[k] /= total
	}
	if m.lesson.Settings.Inference == "gibbs" {
		return 0
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

// gibbs is Gibbs sampling (Geman & Geman 1984; Pearl 1987): each unknown column
// in turn is drawn given its Markov blanket; a tenth more is drawn at first and
// thrown away. It begins at a sample of weighting, and returns the number of
// samples, 0 if none was found to begin with.
func (n *network) gibbs(f *findings, random *rand.Rand, samples int, each func(at *findings, w float64)) float64 {
	at := newFindings(len(n.nodes))
	if n.weighting(f, random, 1000, func(drawn *findings, _ float64) {
		copy(at.codes, drawn.codes)
		copy(at.floats, drawn.floats)
	}) == 0 {
		return 0
	}
	most := 1
	for v := range n.nodes {
		most = max(most, n.nodes[v].states)
	}
	room := make([]float64, most)
	for s := -samples / 10; s < samples; s++ {
		for _, v := range n.order {
			switch node := &n.nodes[v]; {
			case node.numeric && f.floats[v] != f.floats[v]:
				n.redraw(at, v, random)
			case node.states > 0 && f.codes[v] < 0:
				n.repick(f, at, v, room[:node.states], random)
			}
		}
		if s >= 0 {
			each(at, 1)
		}
	}
	return float64(samples)
}

// repick draws a name given all others.
func (n *network) repick(f, at *findings, v int, p []float64, random *rand.Rand) {
	node := &n.nodes[v]
	row := node.row(at.codes)
	for k := range p {
		p[k] = math.Log(node.table[row*node.states+k])
		if l := f.likelihood[v]; l != nil {
			p[k] += math.Log(l[k])
		}
	}
	for _, c := range n.children[v] {
		n.weighChild(at, v, c, p)
	}
	if !math.IsInf(normaliseLogs(p), -1) {
		at.codes[v] = pick(p, random)
	}
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
