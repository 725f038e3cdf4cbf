package nearest

import (
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

var _ learn.Remarker = (*Model)(nil)

// Searched says how the nearest rows are found where that is not exact.
type Searched struct {
	Index  string  `json:"index"`
	Recall float64 `json:"recall"` // the share of the nearest that is found
	Effort int     `json:"effort"` // cases that a search keeps in view
	Held   int     `json:"held"`   // rows that were held out to measure it
}

func (s Searched) String() string {
	return fmt.Sprintf("the nearest rows are found by a graph: %.1f %% of them, measured with %d rows held out; index=kd finds all", 100*s.Recall, s.Held)
}

// Remarks says what is not exact, and what was left out.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	remarks := searched(m.index.index)
	if m.chosen.Condensed != nil {
		remarks = append(remarks, *m.chosen.Condensed)
	}
	return remarks, nil
}

// Remarks says what is not exact.
func (m *LocalModel) Remarks() ([]fmt.Stringer, error) { return searched(m.index), nil }

func searched(i index) (remarks []fmt.Stringer) {
	if g, ok := i.(*graph); ok {
		remarks = append(remarks, Searched{"graph", g.recall, g.effort, g.held})
	}
	return remarks
}
