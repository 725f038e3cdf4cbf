package belief

import (
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
	return m.draw(f, func(codes []int32, w float64) { p[codes[column]] += w }, p)
}

// sampledRows does the same for the rows of a number's table.
func (m *Model) sampledRows(f *findings, column int, p []float64) float64 {
	clear(p)
	n := &m.net.nodes[column]
	return m.draw(f, func(codes []int32, w float64) { p[n.row(codes)] += w }, p)
}

// draw draws the samples of a question, and divides what they add up to by
// their weight.
func (m *Model) draw(f *findings, each func(codes []int32, w float64), p []float64) float64 {
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
func (n *network) weighting(f *findings, random *rand.Rand, samples int, each func(codes []int32, w float64)) float64 {
	codes := make([]int32, len(n.nodes))
	total := 0.0
	for range samples {
		w := 1.0
		for _, v := range n.order {
			node := &n.nodes[v]
			if !node.there() {
				continue
			}
			row := node.row(codes)
			switch {
			case node.numeric && f.floats[v] == f.floats[v]:
				w *= math.Exp(node.logNormal(row, f.floats[v]))
			case node.numeric:
			case f.codes[v] >= 0:
				codes[v] = f.codes[v]
				w *= node.table[row*node.states+int(codes[v])]
			default:
				codes[v] = pick(node.table[row*node.states:][:node.states], random)
				if l := f.likelihood[v]; l != nil {
					w *= l[codes[v]]
				}
			}
		}
		if w > 0 {
			each(codes, w)
			total += w
		}
	}
	return total
}

// gibbs is Gibbs sampling (Geman & Geman 1984; Pearl 1987): each unknown column
// in turn is drawn given its Markov blanket; a tenth more is drawn at first and
// thrown away. It begins at a sample of weighting, and returns the number of
// samples, 0 if none was found to begin with.
func (n *network) gibbs(f *findings, random *rand.Rand, samples int, each func(codes []int32, w float64)) float64 {
	at := &findings{codes: make([]int32, len(n.nodes)), floats: f.floats}
	if n.weighting(f, random, 1000, func(codes []int32, _ float64) { copy(at.codes, codes) }) == 0 {
		return 0
	}
	most := 1
	for v := range n.nodes {
		most = max(most, n.nodes[v].states)
	}
	room := make([]float64, most)
	for s := -samples / 10; s < samples; s++ {
		for _, v := range n.order {
			node := &n.nodes[v]
			if node.states == 0 || f.codes[v] >= 0 {
				continue
			}
			p := room[:node.states]
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
			if math.IsInf(normaliseLogs(p), -1) {
				continue
			}
			at.codes[v] = pick(p, random)
		}
		if s >= 0 {
			each(at.codes, 1)
		}
	}
	return float64(samples)
}

// Sample draws rows from the network, parents first.
func (m *Model) Sample(rows int, seed uint64) (*table.Table, error) {
	random := rand.New(rand.NewPCG(seed, 0x70e5))
	columns := make([]table.Column, len(m.net.nodes))
	for v := range columns {
		if m.schema.Attributes[v].Kind == table.Nominal {
			columns[v].Codes = make([]int32, rows)
		} else {
			columns[v].Floats = make([]float64, rows)
		}
	}
	codes := make([]int32, len(m.net.nodes))
	for r := range rows {
		for _, v := range m.net.order {
			n := &m.net.nodes[v]
			codes[v] = table.Missing
			switch row := n.row(codes); {
			case n.states > 0:
				codes[v] = pick(n.table[row*n.states:][:n.states], random)
				columns[v].Codes[r] = codes[v]
			case n.numeric:
				columns[v].Floats[r] = n.mean[row] + n.deviation[row]*random.NormFloat64()
			case columns[v].Codes != nil:
				columns[v].Codes[r] = table.Missing
			default:
				columns[v].Floats[r] = table.NA
			}
		}
	}
	return table.New(m.schema, columns, nil)
}
