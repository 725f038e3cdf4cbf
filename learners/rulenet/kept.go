package rulenet

import "github.com/accrete-ml/accrete/learn"

var _ learn.Keeper = (*Model)(nil)

// Kept returns the rows that the network was learnt from, nil if it keeps none.
func (m *Model) Kept() *learn.Rows { return m.rows }
