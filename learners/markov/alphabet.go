package markov

import (
	"github.com/accrete-ml/accrete/table"
)

// alphabet is the symbols of a nominal column, and what each state gives them.
// Values that rows of a weight of at most 1 have are the unknown symbol, which
// also stands for those that no row has: that a state brings forth new symbols is
// seen by how many it brought forth once (Good 1953, for tags Brants 2000).
type alphabet struct {
	n      int       // states
	symbol []int32   // of each value; one below the first for what says nothing
	never  int32     // the symbol of values that are not in the dictionary
	size   int       // symbols
	logs   []float64 // ln P(symbol|state), after a row of zeros for what says nothing
	counts []float64 // weight of the rows of each symbol in a state
	all    []float64 // of all symbols
}

// once is the weight of a symbol that was seen once; expected counts add up to 1
// but for rounding.
const once = 1 + 1e-6

// nothing is the symbol of a cell that says nothing.
const nothing int32 = -1

// row returns the logarithms of a code's symbol.
func (a *alphabet) row(code int32) []float64 {
	return a.of(a.symbolOf(code))
}

// symbolOf returns the symbol of a code.
func (a *alphabet) symbolOf(code int32) int32 {
	switch {
	case code >= 0:
		return a.symbol[code]
	case code == table.Unseen:
		return a.never
	}
	return nothing
}

// of returns the logarithms of a symbol.
func (a *alphabet) of(symbol int32) []float64 { return a.logs[int(symbol+1)*a.n:][:a.n] }

// spell finds a column's symbols and estimates them.
func (e *estimates) spell(at *table.Attribute, c *column) *alphabet {
	n, from := len(e.states), e.total.states()
	a := &alphabet{n: n, symbol: make([]int32, len(at.Values)), never: nothing}
	for v := range at.Values {
		weight := 0.0
		for _, s := range e.states {
			weight += c.counts[v*from+int(s)]
		}
		a.symbol[v] = int32(a.size)
		switch {
		case weight > once:
			a.size++
			continue
		case weight > 0 && a.never == nothing:
			a.never = int32(a.size)
			a.size++
		}
		a.symbol[v] = a.never
	}
	// Values that no row has may come before the first that one has.
	for v := range at.Values {
		if sum(c.counts[v*from:][:from]) == 0 {
			a.symbol[v] = a.never
		}
	}
	a.all = e.known(c.counts)
	a.counts = make([]float64, a.size*n)
	for v, symbol := range a.symbol {
		for i, s := range e.states {
			if w := c.counts[v*from+int(s)]; w > 0 {
				a.counts[int(symbol)*n+i] += w
			}
		}
	}
	a.logs = make([]float64, (a.size+1)*n)
	for k, w := range a.counts {
		a.logs[n+k] = logarithm(ratio(w, a.all[k%n], e.settings.M, 1/float64(a.size)))
	}
	return a
}
