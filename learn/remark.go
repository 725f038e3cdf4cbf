package learn

import "fmt"

// Remarker is a model that can say what became of the rows that it learnt
// last, and what it still knows of those before.
type Remarker interface {
	Model
	// Remarks returns what there is to say, the most important first: the
	// text of a remark is a line for people, its exported fields are for
	// programs.
	Remarks() ([]fmt.Stringer, error)
}

// Checker is a learner that can tell, before it learns, that its settings do
// not go together. New asks it.
type Checker interface {
	Learner
	Check() error
}
