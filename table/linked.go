package table

import (
	"slices"
	"sync"
)

// Linked is what the rows of a table point at: the other tables of a folder, with
// the keys by which rows of one name rows of another, or a logic program. A table
// that is linked stands for the rows of one of those tables, with the column to
// predict, which the others do not show. It is never changed.
type Linked struct {
	Of     string // the table, or the predicate, that the rows are of
	Target string // the column of the rows that is to be predicted
	Tables []NamedTable
	Links  []Link
	// Program is facts and clauses in Prolog, and Bias what may be used of them,
	// as Popper writes it; "" if the tables say it all.
	Program, Bias string

	once     sync.Once
	compiled any
}

// NamedTable is a table of a folder. Primary is the columns that name its rows.
type NamedTable struct {
	Name    string
	Primary []string
	Table   *Table
}

// Link says that columns of one table name rows of another.
type Link struct {
	Table     string   `json:"table"`
	Columns   []string `json:"columns"`
	To        string   `json:"references"`
	ToColumns []string `json:"ref_columns"`
}

// Keys is how tables point at each other: their names, the columns that name their rows,
// and those that name rows of others.
type Keys struct {
	Tables  []string
	Primary map[string][]string
	Links   []Link
}

// Keys returns the keys of the tables; nil if there are none.
func (l *Linked) Keys() *Keys {
	if len(l.Tables) == 0 {
		return nil
	}
	k := &Keys{Primary: map[string][]string{}, Links: l.Links}
	for _, t := range l.Tables {
		k.Tables = append(k.Tables, t.Name)
		if len(t.Primary) > 0 {
			k.Primary[t.Name] = t.Primary
		}
	}
	return k
}

// Compiled returns what make makes of the tables, which is done once for all who
// ask.
func (l *Linked) Compiled(make func() any) any {
	l.once.Do(func() { l.compiled = make() })
	return l.compiled
}

// Table returns the table of this name, nil if there is none.
func (l *Linked) Table(name string) *NamedTable {
	if i := slices.IndexFunc(l.Tables, func(t NamedTable) bool { return t.Name == name }); i >= 0 {
		return &l.Tables[i]
	}
	return nil
}

// WithLinked returns the table with what its rows point at.
func (t *Table) WithLinked(l *Linked) *Table {
	s := *t
	s.Linked = l
	if l != nil && s.Schema.Linked != l.Of {
		schema := *t.Schema
		schema.Linked = l.Of
		s.Schema = &schema
	}
	return &s
}
