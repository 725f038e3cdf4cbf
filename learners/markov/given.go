package markov

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Given is probabilities that are known: of how sequences start, of the moves from
// each state (a row of To for each), and of what each shows (a row of Shows).
type Given struct {
	States, Symbols []string
	Start           []float64
	To, Shows       [][]float64
}

// givenRows is how many rows of each state the probabilities are taken to be of.
const givenRows = 1 << 20

// Model returns the model of given probabilities, with the columns symbol, state
// (the target) and, for sequences, sequence. Rows that it learns count beside a
// million of each state.
func (g *Given) Model(decode string) (*Model, error) {
	s, err := (&Learner{M: new(float64), Decode: decode}).settings()
	if err != nil {
		return nil, err
	}
	n := len(g.States)
	if len(g.Start) != n || len(g.To) != n || len(g.Shows) != n {
		return nil, fmt.Errorf("%d states with %d starts, moves of %d and symbols of %d", n, len(g.Start), len(g.To), len(g.Shows))
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "symbol", Values: slices.Clone(g.Symbols)}, {Name: "state", Values: slices.Clone(g.States)}}, Sequence: "sequence"}
	b := newBlock(learn.Source{ID: "given", Name: "given"}, schema, 1, &s)
	for i := range n {
		if len(g.To[i]) != n || len(g.Shows[i]) != len(g.Symbols) {
			return nil, fmt.Errorf("state %q has %d moves and %d symbols, expected %d and %d", g.States[i], len(g.To[i]), len(g.Shows[i]), n, len(g.Symbols))
		}
		b.start[i], b.visits[i] = givenRows*g.Start[i], givenRows
		for k, p := range g.To[i] {
			b.moves[i*n+k] = givenRows * p
		}
		for v, p := range g.Shows[i] {
			b.columns[0].counts[v*n+i] = givenRows * p
		}
	}
	return newModel(s, 0, []*block{b}, nil, &bundle.Shelf[*block]{})
}

// Sample draws a sequence: its states, of those that States names, and for each
// nominal column that does not depend on cells before it the codes that they show;
// unknown symbols and other columns are missing.
func (m *Model) Sample(random *rand.Rand, length int) (states []int32, shown [][]int32) {
	e := m.estimate()
	shown = make([][]int32, len(e.columns))
	for j := range shown {
		shown[j] = slices.Repeat([]int32{table.Missing}, length)
	}
	at := 0
	for t := range length {
		p := e.chain.start
		if t > 0 {
			p = e.move[at*e.n:][:e.n]
		}
		at = pick(random, p)
		states = append(states, e.name(at))
		for j := range e.columns {
			letters := e.columns[j].letters
			if letters == nil || e.columns[j].grams != nil {
				continue
			}
			shares := make([]float64, len(letters.symbol))
			for v, symbol := range letters.symbol {
				if letters.word(symbol) {
					shares[v] = letters.counts[int(symbol)*e.n+at]
				}
			}
			if sum(shares) > 0 {
				shown[j][t] = int32(pick(random, shares))
			}
		}
	}
	return states, shown
}

// pick returns an index by weight.
func pick(random *rand.Rand, weights []float64) int {
	left := random.Float64() * sum(weights)
	for i, w := range weights {
		if left -= w; left < 0 {
			return i
		}
	}
	return len(weights) - 1
}
