package learn

// CaseBased is a model that keeps cases and answers by the nearest of them. Its
// explanations name them (Explanation.Cases).
type CaseBased interface {
	Model
	// K returns how many rows answer.
	K() float64
}

// Case is a row that an answer was drawn from.
type Case struct {
	Row      int    // its place in its source, counted from 1
	Source   Source // who brought it
	Distance float64
	Columns  []CaseColumn // how far it is in each column that has a say
	Target   string       // what it says
}

// CaseColumn is how far two rows are from each other in one column.
type CaseColumn struct {
	Column   string
	Distance float64
}
