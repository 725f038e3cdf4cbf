package cover

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// impossible stands for the logarithm of 0, so that sums stay finite.
const impossible = -1000

// Explain names the rule that answers: it moves the log probabilities from
// those of all rows to its own. Cells are missing that would have had to be
// known for an earlier rule to match.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	matched := m.match(t.Columns, row)
	id, text := "", "ALWAYS"
	if matched < len(m.list) {
		r := m.rule(m.tests(m.list[matched].tests), matched, m.list[matched].first)
		words := make([]string, len(r.If))
		for i := range r.If {
			words[i] = r.If[i].String()
		}
		id, text = r.ID(), strings.Join(words, " AND ")
	}
	e := &learn.Explanation{Prior: logs(m.appendAnswer(nil, m.all)), Additive: true}
	for c, l := range logs(m.answerOf(matched)) {
		e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: l - e.Prior[c]})
	}
	for _, col := range m.unknown(t.Columns, row, matched) {
		moves := m.couldMove(t, row, col, learn.Best(m.answerOf(matched), m.classes()))
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[col].Name, CouldMove: moves})
	}
	return e, nil
}

func logs(p []float64) []float64 {
	l := make([]float64, len(p))
	for c, q := range p {
		if l[c] = impossible; q > 0 {
			l[c] = math.Log(q)
		}
	}
	return l
}

// unknown returns the columns whose cells are missing in a row and are tested
// by rules before the one that matched.
func (m *Model) unknown(columns []table.Column, row, matched int) []int {
	var missing []int
	for i := range m.list[:matched] {
		for _, c := range m.list[i].tests {
			col := columns[c.col]
			gone := col.Codes != nil && col.Codes[row] == table.Missing || col.Floats != nil && table.IsMissing(col.Floats[row])
			if gone && !slices.Contains(missing, int(c.col)) {
				missing = append(missing, int(c.col))
			}
		}
	}
	return missing
}

// couldMove returns how far knowing a missing cell could move the probability
// of a class.
func (m *Model) couldMove(t *table.Table, row, col, class int) float64 {
	one := t.Slice(row, row+1)
	columns := slices.Clone(one.Columns)
	now, moves := m.answerOf(m.match(columns, 0))[class], 0.0
	try := func() { moves = max(moves, math.Abs(m.answerOf(m.match(columns, 0))[class]-now)) }
	if m.schema.Attributes[col].Kind == table.Nominal {
		for v := range m.schema.Attributes[col].Values {
			columns[col].Codes = []int32{int32(v)}
			try()
		}
		return moves
	}
	for i := range m.list {
		for _, c := range m.list[i].tests {
			if int(c.col) == col {
				for _, x := range []float64{c.threshold, math.Nextafter(c.threshold, math.Inf(1))} {
					columns[col].Floats = []float64{x}
					try()
				}
			}
		}
	}
	return moves
}
