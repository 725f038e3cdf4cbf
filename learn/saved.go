package learn

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// SavedColumn is an attribute as models save it.
type SavedColumn struct {
	Name    string   `cbor:"name"`
	Numeric bool     `cbor:"numeric,omitempty"`
	Date    bool     `cbor:"date,omitempty"`
	Values  []string `cbor:"values,omitempty"`
}

// SaveColumns returns a schema as models save it.
func SaveColumns(s *table.Schema) []SavedColumn {
	var columns []SavedColumn
	for _, a := range s.Attributes {
		columns = append(columns, SavedColumn{a.Name, a.Kind == table.Numeric, a.Date, a.Values})
	}
	return columns
}

// LoadColumns returns the schema that was saved, or what is wrong with it.
func LoadColumns(columns []SavedColumn) (*table.Schema, error) {
	s := &table.Schema{}
	for _, c := range columns {
		a := table.Attribute{Name: c.Name, Values: c.Values, Date: c.Date}
		if c.Numeric {
			a.Kind = table.Numeric
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric and lists values", c.Name)
			}
		}
		s.Attributes = append(s.Attributes, a)
	}
	return s, Distinct(s)
}

// FindPart returns the data of the part with a name, nil if there is none.
func FindPart(parts []Part, name string) []byte {
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == name }); i >= 0 {
		return parts[i].Data
	}
	return nil
}

// Lesson is what a model that may keep its rows is learnt by: with the rows, it
// can be learnt again. S is the learner's settings.
type Lesson[S any] struct {
	Format   int    `cbor:"format"`
	Settings S      `cbor:"settings"`
	Seed     uint64 `cbor:"seed"`
	Target   string `cbor:"target"`
}

// Parts saves a lesson, the rows of each source, unless they are nil, and the
// body, which is what was learnt: derived where there are rows.
func (l *Lesson[S]) Parts(name string, rows *Rows, bodyName string, body any) ([]Part, error) {
	head, err := Marshal(l)
	if err != nil {
		return nil, err
	}
	parts := []Part{{Name: name, Data: head}}
	if rows != nil {
		kept, err := rows.Parts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, kept...)
	}
	data, err := Marshal(body)
	if err != nil {
		return nil, err
	}
	return append(parts, Part{Name: bodyName, Derived: rows != nil, Data: data}), nil
}

// Load reads what Parts wrote: the lesson, the rows, nil if none are kept, and
// the body, into what is pointed to. It reports whether there was a body; if
// not, there are rows to learn again from. Whether rows are kept is for keeps
// to tell, which also checks the settings.
func (l *Lesson[S]) Load(parts []Part, name string, format int, keeps func(*S) (bool, error), bodyName string, body any) (rows *Rows, found bool, err error) {
	if err := Unmarshal(FindPart(parts, name), l); err != nil {
		return nil, false, fmt.Errorf("part %q: %v", name, err)
	}
	if l.Format != format {
		return nil, false, fmt.Errorf("the model is saved in format %d, this program reads %d", l.Format, format)
	}
	keep, err := keeps(&l.Settings)
	if err != nil {
		return nil, false, err
	}
	if rows, err = DecodeRows(parts); err != nil {
		return nil, false, err
	}
	if n := len(rows.Sources()); keep != (n > 0) {
		return nil, false, fmt.Errorf("the rows of %d sources do not fit a model that keeps rows (%v)", n, keep)
	}
	if !keep {
		rows = nil
	}
	data := FindPart(parts, bodyName)
	if data == nil {
		if keep {
			return rows, false, nil
		}
		return nil, false, fmt.Errorf("part %q is not there", bodyName)
	}
	if err := Unmarshal(data, body); err != nil {
		return nil, false, fmt.Errorf("part %q: %v", bodyName, err)
	}
	return rows, true, nil
}
