package markov

import (
	"strings"
	"unicode"

	"github.com/accrete-ml/accrete/table"
)

// alphabet is the symbols of a nominal column, and what each state gives them.
// Values that rows of a weight of at most 1 have are the unknown symbol, which
// also stands for those that no row has: that a state brings forth new symbols is
// seen by how many it brought forth once (Good 1953, for tags Brants 2000).
//
// With unknown=shape, and by default where many symbols are of this kind, the unknown
// symbol is divided by what a word looks like, as taggers do: has it a digit, a capital, no letter at all; then by its last letter,
// its last two, and so on to five. Each division is an m-estimate for each state,
// whose p is the share that all states together give it. A word that no row has
// goes as far down as words that were seen once went.
type alphabet struct {
	n      int              // states
	symbol []int32          // of each value
	words  int              // symbols of values that were seen more often than once
	never  int32            // the unknown symbol, which follows them; nothing if no value was seen once
	shapes map[string]int32 // symbols of what unknown words look like, which follow it
	logs   []float64        // ln P(symbol|state), after a row of zeros for what says nothing
	counts []float64        // weight of the rows of each symbol in a state
	all    []float64        // of all symbols
}

// once is the weight of a symbol that was seen once; expected counts add up to 1
// but for rounding.
const once = 1 + 1e-6

// manySeenOnce is how many symbols of a column are seen once where they are words, by
// default. Chosen on the development part of the English Web Treebank (tags right in 91.4 %,
// as one symbol in 89.0 %) and on the words of CoNLL-2000 (parts of speech 96.5 and 93.5 %, chunk
// tags 89.3 and 89.1 %); letters, codes and diaries stay far below.
const manySeenOnce = 100

// nothing is the symbol of a cell that says nothing.
const nothing int32 = -1

// longestEnding is how many of its last letters an unknown word is told by.
const longestEnding = 5

// symbolOf returns the symbol of a code; extra are those of values behind the
// dictionary.
func (a *alphabet) symbolOf(code int32, extra []int32) int32 {
	switch {
	case code >= 0 && int(code) < len(a.symbol):
		return a.symbol[code]
	case code >= 0:
		return extra[int(code)-len(a.symbol)]
	case code == table.Unseen:
		return a.never
	}
	return nothing
}

// of returns the logarithms of a symbol.
func (a *alphabet) of(symbol int32) []float64 { return a.logs[int(symbol+1)*a.n:][:a.n] }

// word reports whether a symbol is one value.
func (a *alphabet) word(symbol int32) bool { return symbol >= 0 && int(symbol) < a.words }

// size is the number of symbols between which a state chooses.
func (a *alphabet) size() int {
	if a.never >= 0 {
		return a.words + 1
	}
	return a.words
}

// spell finds a column's symbols and estimates them.
func (e *estimates) spell(at *table.Attribute, c *column) *alphabet {
	n, from := len(e.states), e.total.states()
	a := &alphabet{n: n, symbol: make([]int32, len(at.Values)), never: nothing, all: e.known(c.counts)}
	weights, seenOnce := make([]float64, len(at.Values)), 0
	for v := range at.Values {
		for _, s := range e.states {
			weights[v] += c.counts[v*from+int(s)]
		}
		if weights[v] > once {
			a.symbol[v] = int32(a.words)
			a.words++
		} else if weights[v] > 0 {
			a.never = 0
			seenOnce++
		}
	}
	if a.never >= 0 {
		a.never = int32(a.words)
	}
	a.counts = make([]float64, a.size()*n)
	for v, w := range weights {
		if w <= once {
			a.symbol[v] = a.never
		}
		a.count(a.symbol[v], e.states, c.counts[v*from:][:from])
	}
	a.logs = make([]float64, n+len(a.counts))
	for k, w := range a.counts {
		a.logs[n+k] = logarithm(ratio(w, a.all[k%n], e.settings.M, 1/float64(a.size())))
	}
	if u := e.settings.Unknown; a.never >= 0 && (u == "shape" || u == "" && seenOnce >= manySeenOnce) {
		a.shape(e, at, c, weights)
	}
	return a
}

// count adds the weights of a value to a symbol.
func (a *alphabet) count(symbol int32, states []int32, counts []float64) {
	for i, s := range states {
		if w := counts[s]; w > 0 {
			a.counts[int(symbol)*a.n+i] += w
		}
	}
}

// shape divides the unknown symbol.
func (a *alphabet) shape(e *estimates, at *table.Attribute, c *column, weights []float64) {
	a.shapes = map[string]int32{}
	next, from := a.never+1, e.total.states()
	var parent []int32 // of each new symbol
	for v, value := range at.Values {
		if weights[v] > once || weights[v] == 0 {
			continue
		}
		above := a.never
		for _, look := range looks(value) {
			symbol, known := a.shapes[look]
			if !known {
				symbol = next
				next++
				a.shapes[look] = symbol
				parent = append(parent, above)
				a.counts = append(a.counts, make([]float64, a.n)...)
			}
			a.count(symbol, e.states, c.counts[v*from:][:from])
			above = symbol
		}
		a.symbol[v] = above
	}
	a.logs = append(a.logs, make([]float64, len(parent)*a.n)...)
	for i, above := range parent {
		symbol := a.never + 1 + int32(i)
		own, whole := a.counts[int(symbol)*a.n:][:a.n], a.counts[int(above)*a.n:][:a.n]
		share := sum(own) / sum(whole)
		to, of := a.of(symbol), a.of(above)
		for s := range to {
			to[s] = of[s] + logarithm(ratio(own[s], whole[s], e.settings.M, share))
		}
	}
	for v, value := range at.Values {
		if weights[v] == 0 {
			a.symbol[v] = a.guess(value)
		}
	}
}

// guess returns the symbol of a value that no row has.
func (a *alphabet) guess(value string) int32 {
	symbol := a.never
	if a.shapes == nil {
		return symbol
	}
	for _, look := range looks(value) {
		next, known := a.shapes[look]
		if !known {
			break
		}
		symbol = next
	}
	return symbol
}

// looks returns what a word looks like, ever more closely.
func looks(word string) []string {
	kind := "none"
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			kind = "digit"
		case i == 0 && unicode.IsUpper(r):
			kind = "capital"
		case kind == "none" && unicode.IsLetter(r):
			kind = "letters"
		}
		if kind == "digit" {
			break
		}
	}
	all := []string{kind}
	letters := []rune(strings.ToLower(word))
	for k := 1; k <= min(longestEnding, len(letters)); k++ {
		all = append(all, kind+" "+string(letters[len(letters)-k:]))
	}
	return all
}

// reading is a table with the symbols of values that a model's dictionaries do not
// have, in columns whose names it looks at.
type reading struct {
	*table.Table
	extra [][]int32
}

// read checks that a table has the model's columns, and that its rows are in
// sequences if the model's are.
func (m *Model) read(t *table.Table) (*reading, error) {
	r := &reading{t, make([][]int32, len(m.schema.Attributes))}
	schema := t.Schema
	for _, j := range m.Novel() {
		if known := len(m.schema.Attributes[j].Values); j < len(schema.Attributes) && len(schema.Attributes[j].Values) > known {
			if schema == t.Schema {
				schema = &table.Schema{Attributes: append([]table.Attribute(nil), schema.Attributes...), Sequence: schema.Sequence}
			}
			more := schema.Attributes[j].Values
			schema.Attributes[j].Values = more[:known:known]
			r.extra[j] = make([]int32, len(more)-known)
			for i, value := range more[known:] {
				r.extra[j][i] = m.estimate().columns[j].letters.guess(value)
			}
		}
	}
	if err := table.Fits(m.schema, &table.Table{Schema: schema}); err != nil {
		return nil, err
	}
	if m.schema.Sequence != "" && t.Sequence == nil && t.Rows() > 0 {
		return nil, errNoSequences(m.schema.Sequence)
	}
	return r, nil
}

// Novel returns the columns whose names the model looks at although it has not
// seen them: tables may have values there behind those of the model's schema.
func (m *Model) Novel() []int {
	if m.settings.Unknown == "one" {
		return nil
	}
	var columns []int
	for j := range m.schema.Attributes {
		if a := &m.schema.Attributes[j]; j != m.target && a.Kind == table.Nominal && len(a.Values) > 0 {
			columns = append(columns, j)
		}
	}
	return columns
}
