package learn

import "github.com/accrete-ml/accrete/table"

// Predictions are a model's answers for the rows of a table, in columns that
// belong to the caller and can be used again. For a nominal target, P has a
// row of Classes probabilities for each row of the table. For a numeric
// target there are the mean and the ends of a 95 % interval for a new
// observation.
type Predictions struct {
	Classes         int
	P               []float64
	Mean, Low, High []float64
}

// NewPredictions returns room for the model's answers to a number of rows.
func NewPredictions(m Model, rows int) *Predictions {
	if m.Target() == NoTarget {
		return &Predictions{}
	}
	a := &m.Schema().Attributes[m.Target()]
	if a.Kind == table.Nominal {
		return &Predictions{Classes: len(a.Values), P: make([]float64, rows*len(a.Values))}
	}
	cells := make([]float64, 3*rows)
	return &Predictions{Mean: cells[:rows:rows], Low: cells[rows : 2*rows : 2*rows], High: cells[2*rows:]}
}

// Row returns the class probabilities of one row.
func (p *Predictions) Row(row int) []float64 {
	return p.P[row*p.Classes : (row+1)*p.Classes]
}

// Best returns the index of the most probable class. Of equally probable
// ones the first by name wins, so that the answer does not depend on the
// order in which classes were first seen.
func Best(p []float64, classes []string) int {
	best := 0
	for c := 1; c < len(p); c++ {
		if p[c] > p[best] || p[c] == p[best] && classes[c] < classes[best] {
			best = c
		}
	}
	return best
}
