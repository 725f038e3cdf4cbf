package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"
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
	Sequence bool  `cbor:"sequence,omitempty"`
	Style    Style `cbor:"style,omitempty"`
}

// SaveColumns returns a schema as models save it.
func SaveColumns(s *Schema) []SavedColumn {
	var columns []SavedColumn
	for _, a := range s.Attributes {
		columns = append(columns, SavedColumn{Name: a.Name, Numeric: a.Kind == Numeric, Date: a.Date, Values: a.Values, Time: a.Time, Text: a.Kind == Text, Style: a.Style})
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
		a := Attribute{Name: c.Name, Values: c.Values, Date: c.Date, Time: c.Time, Style: c.Style}
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

// SavedDate says whether a numeric column is a date or a time, and how its cells
// are written. Models that save their columns as lists have one place for it:
// false, true for a date, 2 for a time, which there was none of at first; and
// where there is a style, a text of one of n, d and t, and the style.
type SavedDate struct {
	kind  uint8
	style Style
}

// SaveDate returns how an attribute is saved.
func SaveDate(a *Attribute) SavedDate {
	switch {
	case a.Date:
		return SavedDate{1, a.Style}
	case a.Time:
		return SavedDate{2, a.Style}
	}
	return SavedDate{0, a.Style}
}

// Load makes the attribute what was saved.
func (d SavedDate) Load(a *Attribute) { a.Date, a.Time, a.Style = d.kind == 1, d.kind == 2, d.style }

var savedDates = [...]byte{0xf4, 0xf5, 0x02} // false, true, 2

const styledDates = "ndt"

// MarshalCBOR writes false, true, 2 or a text.
func (d SavedDate) MarshalCBOR() ([]byte, error) {
	if int(d.kind) >= len(savedDates) {
		return nil, fmt.Errorf("a date is saved as 0 to 2, not as %d", d.kind)
	}
	if d.style == "" {
		return []byte{savedDates[d.kind]}, nil
	}
	return cbor.Marshal(styledDates[d.kind:d.kind+1] + string(d.style))
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (d *SavedDate) UnmarshalCBOR(data []byte) error {
	if len(data) == 1 {
		if i := slices.Index(savedDates[:], data[0]); i >= 0 {
			*d = SavedDate{kind: uint8(i)}
			return nil
		}
	}
	var text string
	if len(data) > 0 && data[0]>>5 == 3 && cbor.Unmarshal(data, &text) == nil && len(text) > 1 {
		if i := strings.IndexByte(styledDates, text[0]); i >= 0 {
			*d = SavedDate{uint8(i), Style(text[1:])}
			return nil
		}
	}
	return fmt.Errorf("expected false, true, 2, or a text of a style")
}
