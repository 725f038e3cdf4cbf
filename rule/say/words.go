package say

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Words are the names that people use: what a row is, and what columns and
// values are called.
type Words struct {
	Row     string            `json:"row,omitempty"` // patient
	Columns map[string]Column `json:"columns,omitempty"`
}

// Column is how people speak of a column.
type Column struct {
	Label string `json:"label,omitempty"` // ST depression
	Unit  string `json:"unit,omitempty"`  // mm
	Group string `json:"group,omitempty"` // of columns that stand together: On exercise
	// Count says that the numbers count the label: "1 or more coloured vessels".
	Count  bool              `json:"count,omitempty"`
	Values map[string]string `json:"values,omitempty"` // of a nominal column
}

// longest is how long a name may be.
const longest = 200

// ParseWords reads words for the columns of a schema, as JSON. Names of columns
// and values that are not there are errors, so that nothing is passed over.
func ParseWords(text []byte, schema *table.Schema) (Words, error) {
	var w Words
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return Words{}, fmt.Errorf("words are an object {\"row\":…,\"columns\":{…}}: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Words{}, errors.New("words are one JSON object; there is more behind it")
	}
	return w, w.check(schema)
}

func (w *Words) check(schema *table.Schema) error {
	if err := sound("the row", w.Row); err != nil {
		return err
	}
	for name, c := range w.Columns {
		j := schema.Index(name)
		if j < 0 {
			return fmt.Errorf("words for a column %q that the model does not have%s", name, spell.Hint(name, schema.Names()))
		}
		a := &schema.Attributes[j]
		for what, text := range map[string]string{"its label": c.Label, "its unit": c.Unit, "its group": c.Group} {
			if err := sound(fmt.Sprintf("column %q, %s", name, what), text); err != nil {
				return err
			}
		}
		if len(c.Values) > 0 && a.Kind != table.Nominal {
			return fmt.Errorf("column %q has words for values, but it is a number", name)
		}
		if (c.Unit != "" || c.Count) && a.Kind != table.Numeric {
			return fmt.Errorf("column %q has a unit or a count, but no numbers", name)
		}
		for v, text := range c.Values {
			if !slices.Contains(a.Values, v) {
				return fmt.Errorf("column %q: words for a value %q that it does not have%s", name, v, spell.Hint(v, a.Values))
			}
			if err := sound(fmt.Sprintf("column %q, value %q", name, v), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// sound checks a name.
func sound(what, name string) error {
	if len(name) > longest || strings.ContainsAny(name, "\n\r") {
		return fmt.Errorf("%s: expected a name of one line, at most %d bytes", what, longest)
	}
	return nil
}

// Template returns words with a place for every column and value, for people to
// fill in: what is known already, and elsewhere the names as they are.
func (w Words) Template(schema *table.Schema) Words {
	all := Words{Row: first(w.Row, "case"), Columns: map[string]Column{}}
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		c := w.Columns[a.Name]
		c.Label = first(c.Label, a.Name)
		if a.Kind == table.Nominal && len(a.Values) <= mostValues {
			values := map[string]string{}
			for _, v := range a.Values {
				values[v] = first(c.Values[v], v)
			}
			c.Values = values
		}
		all.Columns[a.Name] = c
	}
	return all
}

// mostValues is how many values of a column a template lists.
const mostValues = 50

// Empty reports whether there are no words.
func (w Words) Empty() bool { return w.Row == "" && len(w.Columns) == 0 }

// Label is what people call a column.
func (s *Speaker) Label(column string) string { return first(s.Words.Columns[column].Label, column) }

// Value is what people call a value of a column.
func (s *Speaker) Value(column, value string) string {
	return first(s.Words.Columns[column].Values[value], value)
}

// named reports whether people gave a column or the value of it a name.
func (s *Speaker) named(column string) bool {
	c, ok := s.Words.Columns[column]
	return ok && (c.Label != "" && c.Label != column || c.Unit != "" || len(c.Values) > 0)
}
