package markov

import "math"

// contexts are the estimates of cells given the cells before them: an m-estimate
// for each context, whose p is the estimate of the context that is one shorter.
type contexts struct {
	letters *alphabet
	order   int
	m       float64
	// By context, the cells before it beyond a length left out (0): the weight
	// of a symbol in each state, and of all symbols.
	counts []map[spelt][]float64
	all    []map[past][]float64
}

// spelt is a symbol in a context of symbols.
type spelt struct {
	symbol int32
	before past
}

// contexts sums up grams for all lengths of contexts, in symbols.
func (e *estimates) contexts(a *alphabet, c *column) *contexts {
	to := &contexts{letters: a, order: e.settings.Order, m: e.settings.M}
	place := make([]int32, e.total.states())
	for s := range place {
		place[s] = -1
	}
	for i, s := range e.states {
		place[s] = int32(i)
	}
	for range to.order {
		to.counts, to.all = append(to.counts, map[spelt][]float64{}), append(to.all, map[past][]float64{})
	}
	for _, g := range c.sortedGrams() {
		i, w := place[g.state], c.grams[g]
		if i < 0 || w == 0 {
			continue
		}
		var before past
		for k := range to.order {
			before[k] = to.spell(g.before[k])
			add(to.counts[k], spelt{a.symbolOf(g.value, nil), before}, a.n, int(i), w)
			add(to.all[k], before, a.n, int(i), w)
		}
	}
	return to
}

// spell turns a cell of a context into its symbol.
func (c *contexts) spell(code int32) int32 {
	if code < 0 {
		return code
	}
	return c.letters.symbolOf(code, nil)
}

func add[K comparable](to map[K][]float64, key K, n, i int, w float64) {
	if to[key] == nil {
		to[key] = make([]float64, n)
	}
	to[key][i] += w
}

// show adds the logarithms of what states show to logs.
func (c *contexts) show(codes, extra []int32, logs []float64) {
	n := c.letters.n
	before := opening(c.order)
	var few [64]float64
	p := few[:min(n, len(few))]
	if n > len(few) {
		p = make([]float64, n)
	}
	for i, code := range codes {
		next := c.letters.symbolOf(code, extra)
		if next >= 0 {
			c.share(next, before, p)
			for s, x := range p {
				logs[i*n+s] += max(zero, math.Log(x))
			}
		}
		if next < 0 {
			next = unknown
		}
		before = before.then(next, c.order)
	}
}

// share fills in the probability of a symbol in each state after others.
func (c *contexts) share(symbol int32, before past, p []float64) {
	for s, l := range c.letters.of(symbol) {
		p[s] = math.Exp(l)
	}
	var known past
	for k := range c.order {
		known[k] = before[k]
		all := c.all[k][known]
		if all == nil {
			return // longer contexts were not seen either
		}
		counts := c.counts[k][spelt{symbol, known}]
		for s := range p {
			switch w := all[s] + c.m; {
			case w == 0:
			case counts == nil:
				p[s] = c.m * p[s] / w
			default:
				p[s] = (counts[s] + c.m*p[s]) / w
			}
		}
	}
}
