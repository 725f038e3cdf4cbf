package table

import (
	"fmt"
	"slices"
)

// SavedColumn is an attribute as models save it.
type SavedColumn struct {
	Name    string   `cbor:"name"`
	Numeric bool     `cbor:"numeric,omitempty"`
	Date    bool     `cbor:"date,omitempty"`
	Values  []string `cbor:"values,omitempty"`
	Time    bool     `cbor:"time,omitempty"`
	Text    bool     `cbor:"text,omitempty"`
	// Sequence marks what is no attribute but the column that groups rows.
	Sequence bool `cbor:"sequence,omitempty"`
}

// SaveColumns returns a schema as models save it.
func SaveColumns(s *Schema) []SavedColumn {
	var columns []SavedColumn
	for _, a := range s.Attributes {
		columns = append(columns, SavedColumn{Name: a.Name, Numeric: a.Kind == Numeric, Date: a.Date, Values: a.Values, Time: a.Time, Text: a.Kind == Text})
	}
	if s.Sequence != "" {
		columns = append(columns, SavedColumn{Name: s.Sequence, Sequence: true})
	}
	return columns
}

// LoadColumns returns the schema that was saved, or what is wrong with it.
func LoadColumns(columns []SavedColumn) (*Schema, error) {
	s := &Schema{}
	for _, c := range columns {
		if c.Sequence {
			if s.Sequence != "" || c.Name == "" {
				return nil, fmt.Errorf("two columns group rows, or one without a name")
			}
			s.Sequence = c.Name
			continue
		}
		a := Attribute{Name: c.Name, Values: c.Values, Date: c.Date, Time: c.Time}
		if c.Text {
			a.Kind = Text
			if c.Numeric {
				return nil, fmt.Errorf("column %q is numeric and text", c.Name)
			}
		}
		if c.Numeric {
			a.Kind = Numeric
			if len(c.Values) > 0 {
				return nil, fmt.Errorf("column %q is numeric and lists values", c.Name)
			}
		}
		s.Attributes = append(s.Attributes, a)
	}
	return s, Distinct(s)
}

// SavedDate says whether a numeric column is a date or a time. Models that save
// their columns as lists have one place for it: false, true for a date, and 2
// for a time, which there was none of at first.
type SavedDate uint8

// SaveDate returns how an attribute is saved.
func SaveDate(a *Attribute) SavedDate {
	switch {
	case a.Date:
		return 1
	case a.Time:
		return 2
	}
	return 0
}

// Load makes the attribute what was saved.
func (d SavedDate) Load(a *Attribute) { a.Date, a.Time = d == 1, d == 2 }

var savedDates = [...]byte{0xf4, 0xf5, 0x02} // false, true, 2

// MarshalCBOR writes false, true or 2.
func (d SavedDate) MarshalCBOR() ([]byte, error) {
	if int(d) >= len(savedDates) {
		return nil, fmt.Errorf("a date is saved as 0 to 2, not as %d", uint8(d))
	}
	return []byte{savedDates[d]}, nil
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (d *SavedDate) UnmarshalCBOR(data []byte) error {
	i := slices.Index(savedDates[:], slices.Concat(data, []byte{0xff})[0])
	if len(data) != 1 || i < 0 {
		return fmt.Errorf("expected false, true or 2")
	}
	*d = SavedDate(i)
	return nil
}
