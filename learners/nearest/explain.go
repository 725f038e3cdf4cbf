package nearest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// mostShown is how many of the nearest rows an explanation names.
const mostShown = 20

// Explain names the nearest cases. Each is evidence: for classes, worth the
// change of the log probabilities when its votes come to those of the nearer
// ones, before which all classes were equal; for a number, its share of the
// difference from the mean of all rows. Cases beyond those named count
// together.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	t = t.Slice(row, row+1)
	s := newSearch(m.metric)
	s.ask(t.Columns, 0, m.chosen.K)
	m.find(s)
	near := slices.Clone(s.found())
	e := &learn.Explanation{Additive: true}
	if m.cases.classes != nil {
		m.explainClasses(s, near, e)
	} else {
		m.explainNumber(near, e)
	}
	for i := 0; i < len(near) && len(e.Cases) < mostShown; i++ {
		showCases(s, &near[i], e)
	}
	for j := range m.cases.schema.Attributes {
		if j != m.cases.target && t.Text(0, j) == "" {
			e.Missing = append(e.Missing, learn.MissingCell{Column: m.cases.schema.Attributes[j].Name, CouldMove: m.couldMove(s, t, j)})
		}
	}
	return e, nil
}

// explainClasses adds the votes up, case by case.
func (m *Model) explainClasses(s *search, near []neighbour, e *learn.Explanation) {
	c, classes := m.cases, m.cases.classCount()
	p := make([]float64, classes)
	m.vote(s, near, p)
	total, sum := 0.0, 0.0
	for i := range near {
		total += near[i].used
	}
	votes, before := make([]float64, classes), make([]float64, classes)
	e.Prior = make([]float64, classes)
	for class := range classes {
		before[class] = -math.Log(float64(classes))
		e.Prior[class] = before[class]
	}
	shown := 0
	m.shares(near, func(n *neighbour, share float64) {
		shown++
		sum += share
		for r := c.starts[n.at]; r < c.starts[n.at+1]; r++ {
			votes[c.classes[r]] += share * c.table.Weights[r] / c.worth[n.at]
		}
		if shown > mostShown && shown < len(near) {
			return
		}
		text := caseText(c, int(c.starts[n.at]))
		if shown > mostShown {
			text = "ALWAYS"
		}
		for class := range classes {
			log := math.Log((total*votes[class] + m.chosen.M/float64(classes)) / (total*sum + m.chosen.M))
			if shown == len(near) {
				log = math.Log(p[class]) // with the edge in a tie
			}
			e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: class, Weight: log - before[class]})
			before[class] = log
		}
	})
}

// explainNumber shares the difference from the mean of all rows out.
func (m *Model) explainNumber(near []neighbour, e *learn.Explanation) {
	c := m.cases
	mean := 0.0
	for r, y := range c.numbers {
		mean += c.table.Weights[r] / c.weight * y
	}
	e.Prior = []float64{c.number(mean)}
	shown, rest := 0, 0.0
	m.shares(near, func(n *neighbour, share float64) {
		weight := c.number(share * (c.means[n.at] - mean))
		if shown++; shown > mostShown {
			rest += weight
			return
		}
		e.Evidence = append(e.Evidence, learn.Evidence{Text: caseText(c, int(c.starts[n.at])), Weight: weight})
	})
	if shown > mostShown {
		e.Evidence = append(e.Evidence, learn.Evidence{Text: "ALWAYS", Weight: rest})
	}
}

// caseText writes the cells of a row as tests.
func caseText(c *cases, row int) string {
	var tests []string
	for j := range c.schema.Attributes {
		if j == c.target {
			continue
		}
		test := rule.Test{Op: rule.Eq, Column: c.schema.Attributes[j].Name, Value: c.table.Text(row, j)}
		if test.Value == "" {
			test = rule.Test{Op: rule.IsMissing, Column: test.Column}
		}
		tests = append(tests, test.String())
	}
	if len(tests) == 0 {
		return "ALWAYS"
	}
	return strings.Join(tests, " AND ")
}

// showCases appends the rows of a case, with their distance by column.
func showCases(s *search, n *neighbour, e *learn.Explanation) {
	m, c := s.m, s.m.cases
	var columns []learn.CaseColumn
	width, names := len(m.numbers), len(m.names)
	factor := func(d int) float64 {
		if s.stretch == nil {
			return 1
		}
		return s.stretch[d]
	}
	for d := range m.numbers {
		gap := math.Abs(s.point[d] - m.points[int(n.at)*width+d])
		if math.IsNaN(gap) {
			gap = math.Sqrt(m.numbers[d].missing)
		}
		columns = append(columns, learn.CaseColumn{Column: c.schema.Attributes[m.numbers[d].column].Name, Distance: gap * math.Sqrt(factor(d))})
	}
	for d := range m.names {
		gap := m.distance(factor(width+d) * s.near[d][m.codes[int(n.at)*names+d]])
		columns = append(columns, learn.CaseColumn{Column: c.schema.Attributes[m.names[d].column].Name, Distance: gap})
	}
	for r := c.starts[n.at]; r < c.starts[n.at+1] && len(e.Cases) < mostShown; r++ {
		e.Cases = append(e.Cases, learn.Case{
			Row: int(c.place[r]), Source: c.named[c.source[r]], Distance: m.distance(n.sum),
			Columns: columns, Target: c.table.Text(int(r), c.target),
		})
	}
}

// mostTried is how many values of a missing cell are tried.
const mostTried = 32

// couldMove returns how far knowing a missing cell of a one-row table could
// move the probability of the answer, or the number: at most, over the values
// that the cell has in the cases, or some of them if there are many.
func (m *Model) couldMove(s *search, t *table.Table, column int) float64 {
	c := m.cases
	columns := slices.Clone(t.Columns)
	p := make([]float64, c.classCount())
	best, now := 0, 0.0
	answer := func() float64 {
		s.ask(columns, 0, m.chosen.K)
		m.find(s)
		if near := s.found(); len(p) == 0 {
			return c.number(m.mean(near))
		} else {
			m.vote(s, near, p)
		}
		return p[best]
	}
	if now = answer(); len(p) > 0 {
		best = learn.Best(p, m.classes())
		now = p[best]
	}
	moves := 0.0
	tryCells(c, columns, column, func() { moves = max(moves, min(math.Abs(answer()-now), math.MaxFloat64)) })
	return moves
}

// tryCells puts values that a column has in the cases into a row, one after the
// other.
func tryCells(c *cases, columns []table.Column, column int, try func()) {
	rows := c.table.Rows()
	for i := range min(rows, mostTried) {
		at := i * rows / min(rows, mostTried)
		if c.table.Text(at, column) == "" {
			continue
		}
		columns[column] = table.Column{}
		if c.schema.Attributes[column].Kind == table.Numeric {
			columns[column].Floats = c.table.Columns[column].Floats[at : at+1]
		} else {
			columns[column].Codes = c.table.Columns[column].Codes[at : at+1]
		}
		try()
	}
}
