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
	return s, table.Distinct(s)
}

// FindPart returns the data of the part with a name, nil if there is none.
func FindPart(parts []Part, name string) []byte {
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == name }); i >= 0 {
		return parts[i].Data
	}
	return nil
}
