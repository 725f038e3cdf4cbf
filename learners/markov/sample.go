package markov

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// SampleRows draws sequences of a length until there are so many rows: states along
// the chain, and what they show. Symbols are those that were seen; a column of which
// none was seen often enough is missing.
func (m *Model) SampleRows(rows, length int, seed uint64) (*table.Table, error) {
	if rows < 1 || length < 1 {
		return nil, fmt.Errorf("%d rows in sequences of %d: expected both from 1 on", rows, length)
	}
	e, random := m.estimate(), rand.New(rand.NewPCG(seed, 0x3a4c0f))
	columns := make([]table.Column, len(m.schema.Attributes))
	for j := range columns {
		if m.schema.Attributes[j].Kind == table.Numeric {
			columns[j].Floats = make([]float64, rows)
		} else {
			columns[j].Codes = make([]int32, rows)
		}
	}
	number, names := make([]int32, rows), []string{}
	for from := 0; from < rows; from += length {
		names = append(names, strconv.Itoa(len(names)+1))
		at := -1
		before := make([]past, len(columns))
		for j := range before {
			before[j] = opening(m.settings.Order)
		}
		for row := from; row < min(from+length, rows); row++ {
			p := e.chain.start
			if at >= 0 {
				p = e.move[at*e.n:][:e.n]
			}
			at, number[row] = pick(random, p), int32(len(names)-1)
			for j := range columns {
				if j == m.target {
					columns[j].Codes[row] = e.name(at)
				} else {
					e.columns[j].draw(&columns[j], row, at, &before[j], random)
				}
			}
		}
	}
	t, err := table.New(m.schema, columns, nil)
	if err != nil || m.schema.Sequence == "" {
		return t, err
	}
	return t.InSequence(m.schema.Sequence, number, names)
}

// draw fills in the cell that a state shows.
func (m *emission) draw(to *table.Column, row, state int, before *past, random *rand.Rand) {
	switch {
	case m.normals != nil:
		n := &m.normals[state]
		to.Floats[row] = (n.mean + n.deviation*random.NormFloat64()) / m.scale
	case m.letters == nil && to.Codes == nil:
		to.Floats[row] = table.NA
	case m.letters == nil:
		to.Codes[row] = table.Missing
	default:
		to.Codes[row] = m.spell(state, before, random)
	}
}

// spell draws a symbol.
func (m *emission) spell(state int, before *past, random *rand.Rand) int32 {
	shares := make([]float64, len(m.letters.symbol))
	p := make([]float64, m.letters.n)
	for v, symbol := range m.letters.symbol {
		switch {
		case !m.letters.word(symbol):
		case m.grams != nil:
			m.grams.share(symbol, *before, m.grams.order, p)
			shares[v] = p[state]
		default:
			shares[v] = m.letters.counts[int(symbol)*m.letters.n+state]
		}
	}
	if !(sum(shares) > 0) {
		return table.Missing
	}
	code := int32(pick(random, shares))
	if m.grams != nil {
		*before = before.then(m.letters.symbolOf(code, nil), m.grams.order)
	}
	return code
}
