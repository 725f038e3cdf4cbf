package kept

import (
	"context"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/table"
)

// Later are rows that are put in order when somebody first asks for them: who
// learns only to answer never pays for it. Nil stands for no rows.
type Later struct {
	mutex     sync.Mutex
	rows      *Rows
	gathering *Gathering
	laid      *table.Table // what it has yet to take in; nil: nothing
}

// Now returns rows that are in order; of none nil.
func Now(rows *Rows) *Later {
	if rows == nil {
		return nil
	}
	return &Later{rows: rows}
}

// Later returns what is gathered so far and a table's rows, of which a copy is
// made as they stand, without texts. The gathering is used up.
func (g *Gathering) Later(t *table.Table) *Later {
	t, g.target = t.WithoutText(g.target)
	laid := *t
	laid.Schema, laid.Columns, laid.Weights = table.CopySchema(t.Schema), make([]table.Column, len(t.Columns)), slices.Clone(t.Weights)
	for i, c := range t.Columns {
		laid.Columns[i] = table.Column{Codes: slices.Clone(c.Codes), Floats: slices.Clone(c.Floats)}
	}
	return &Later{gathering: g, laid: &laid}
}

// Rows returns the rows in order. It is safe for concurrent use.
func (l *Later) Rows(ctx context.Context) (*Rows, error) {
	if l == nil {
		return nil, nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.rows != nil {
		return l.rows, nil
	}
	if l.laid != nil {
		if err := l.gathering.Add(ctx, l.laid); err != nil {
			return nil, err
		}
		l.laid = nil
	}
	rows, err := l.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	l.rows, l.gathering = rows, nil
	return rows, nil
}
