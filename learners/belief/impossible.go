package belief

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Impossible returns the rows of a table that cannot be under the network: what they
// say of the columns, but for the one that is wanted (learn.NoTarget: of all), has the
// probability 0. They are answered as if nothing were known of them.
func (m *Model) Impossible(t *table.Table, wanted int) []int {
	if table.Fits(m.schema, t) != nil || !m.certain() {
		return nil
	}
	m.compiled()
	d, p := m.desk(), make([]float64, m.room())
	defer m.desks.Put(d)
	var rows []int
	for row := range t.Rows() {
		d.read(t, row, wanted)
		var log float64
		if wanted == learn.NoTarget {
			log, _ = m.collect(d, -1)
		} else {
			log = m.find(d, p[:m.net.nodes[wanted].states])
		}
		if math.IsInf(log, -1) {
			rows = append(rows, row)
		}
	}
	return rows
}

// certain reports whether some table rules something out.
func (m *Model) certain() bool {
	return slices.ContainsFunc(m.net.nodes, func(n node) bool { return slices.Contains(n.table, 0) })
}
