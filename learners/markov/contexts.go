package markov

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

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
			c.share(next, before, c.order, p)
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

// share fills in the probability of a symbol in each state after so many others.
func (c *contexts) share(symbol int32, before past, length int, p []float64) {
	for s, l := range c.letters.of(symbol) {
		p[s] = math.Exp(l)
	}
	var known past
	for k := range length {
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

// recent is cells before a cell, in a state.
type recent struct {
	length, state int
	before        past
}

// listed returns the contexts that are rules, short ones first: of each length that
// has few, those whose cells are known, and nothing before the beginning.
func (c *contexts) listed() []recent {
	if c == nil {
		return nil
	}
	var list []recent
	for k := range c.order {
		var those []recent
		for before, all := range c.all[k] {
			if k > 0 && before[k-1] == beginning || slices.ContainsFunc(before[:k+1], func(cell int32) bool { return cell != beginning && !c.letters.word(cell) }) {
				continue
			}
			for s, w := range all {
				if w > 0 {
					those = append(those, recent{k + 1, s, before})
				}
			}
		}
		if len(those) > fewSymbols {
			break
		}
		slices.SortFunc(those, func(a, b recent) int {
			return cmp.Or(cmp.Compare(a.state, b.state), slices.Compare(a.before[:], b.before[:]))
		})
		list = append(list, those...)
	}
	return list
}

// shows is what a state shows in a column after the cells of a context.
func (c *contexts) shows(state []rule.Test, a *table.Attribute, x recent) rule.Rule {
	tests := slices.Clip(state)
	for k, cell := range x.before[:x.length] {
		test := rule.Test{Op: rule.Eq, Column: a.Name + " before", Value: "none"}
		if k > 0 {
			test.Column = fmt.Sprintf("%s %d before", a.Name, k+1)
		}
		if cell != beginning {
			test.Value = a.Values[slices.Index(c.letters.symbol, cell)]
		}
		tests = append(tests, test)
	}
	covered, p := c.all[x.length-1][x.before][x.state], make([]float64, c.letters.n)
	return rule.Rule{If: tests, Evidence: rule.Evidence{Covered: &covered}, Then: c.letters.conclusion(a, func(symbol int32) float64 {
		c.share(symbol, x.before, x.length, p)
		return p[x.state]
	})}
}
