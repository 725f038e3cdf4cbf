package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Union returns the schema of rows that came under several schemas: every
// column and every value that one of them has, and no others. Models that
// keep their sources apart compute it anew from the sources that are left, so
// that forgetting a source takes its values with it.
//
// Columns stand in the order in which they first come. The values of a column
// keep the order of the dictionary that contains all the others in their own
// order, if there is one; otherwise they are sorted (numbers by value, then
// names by their bytes). So the union does not depend on the order of the
// schemas, but for the order of columns that only some of them have. A column
// that is open in some (see Attribute.Open) has the kind that it has elsewhere.
func Union(schemas ...*Schema) (*Schema, error) {
	index := map[string]int{} // of a column in the union
	seen := map[string]int{}  // the last schema that had the column
	var union Schema
	var dictionaries [][][]string // of each column
	for nth, s := range schemas {
		if nth > 0 && s.Sequence != union.Sequence {
			return nil, fmt.Errorf("rows are in sequences by %q in one source and by %q in another; read both the same way", union.Sequence, s.Sequence)
		}
		union.Sequence = s.Sequence
		if s.Linked != "" {
			union.Linked, union.Keys = s.Linked, s.Keys
		}
		for i := range s.Attributes {
			a := &s.Attributes[i]
			if last, known := seen[a.Name]; known && last == nth {
				return nil, fmt.Errorf("two columns are named %q; give each a name of its own", a.Name)
			}
			seen[a.Name] = nth
			at, known := index[a.Name]
			if !known {
				at = len(union.Attributes)
				index[a.Name] = at
				union.Attributes = append(union.Attributes, Attribute{Name: a.Name, Kind: a.Kind})
				dictionaries = append(dictionaries, nil)
			}
			u := &union.Attributes[at]
			if open := u.Open() && !slices.ContainsFunc(dictionaries[at], func(d []string) bool { return len(d) > 0 }); open && a.Kind != Nominal {
				u.Kind, dictionaries[at] = a.Kind, nil // nobody had a cell of it so far
			} else if a.Open() && u.Kind != Nominal {
				continue
			}
			if u.Kind != a.Kind {
				return nil, fmt.Errorf("column %q is %v in one source and %v in another; read it as the same kind in both", a.Name, u.Kind, a.Kind)
			}
			u.Date, u.Time, u.Style = u.Date || a.Date, u.Time || a.Time, u.Style.Joined(a.Style)
			dictionaries[at] = append(dictionaries[at], a.Values)
		}
	}
	for i := range union.Attributes {
		if union.Attributes[i].Kind != Numeric {
			union.Attributes[i].Values = unionValues(dictionaries[i])
		}
	}
	return &union, nil
}

// unionValues returns every value of the dictionaries once.
func unionValues(dictionaries [][]string) []string {
	longest := slices.MaxFunc(dictionaries, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	contained := func(d []string) bool { return isSubsequence(d, longest) }
	if !slices.ContainsFunc(dictionaries, func(d []string) bool { return !contained(d) }) {
		return slices.Clone(longest)
	}
	var all []string
	for _, d := range dictionaries {
		all = append(all, d...)
	}
	SortValues(all)
	return slices.Compact(all)
}

// isSubsequence reports whether the elements of short occur in long, in order.
func isSubsequence(short, long []string) bool {
	for _, v := range long {
		if len(short) > 0 && short[0] == v {
			short = short[1:]
		}
	}
	return len(short) == 0
}

// SortValues puts the values of a nominal column into canonical order: numbers
// by value, then names by their bytes.
func SortValues(values []string) {
	type parsed struct {
		text   string
		number float64
		isName int
	}
	all := make([]parsed, len(values))
	for i, v := range values {
		x, isNumber := finite(v)
		all[i] = parsed{v, x, 0}
		if !isNumber {
			all[i] = parsed{v, 0, 1}
		}
	}
	slices.SortFunc(all, func(a, b parsed) int {
		return cmp.Or(cmp.Compare(a.isName, b.isName), cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
	})
	for i := range all {
		values[i] = all[i].text
	}
}

// finite reads a value that is written as a finite number.
func finite(value string) (float64, bool) {
	x, err := strconv.ParseFloat(value, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Fits returns an error unless the table has the schema's columns, in order
// and of the same kinds, with dictionaries that are the beginning of the
// schema's: what a model needs so that it can trust the codes it reads.
func Fits(schema *Schema, t *Table) error {
	if t.Schema == schema {
		return nil
	}
	if len(t.Schema.Attributes) != len(schema.Attributes) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(t.Schema.Attributes), len(schema.Attributes))
	}
	for i := range schema.Attributes {
		want, have := &schema.Attributes[i], &t.Schema.Attributes[i]
		if have.Name != want.Name || have.Kind != want.Kind {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", i+1, have.Name, have.Kind, want.Name, want.Kind)
		}
		if len(have.Values) > len(want.Values) {
			return fmt.Errorf("column %q of the table has %d values, the model knows %d; conform it to the model's schema first", want.Name, len(have.Values), len(want.Values))
		}
		if len(have.Values) > 0 && &have.Values[0] != &want.Values[0] && !slices.Equal(have.Values, want.Values[:len(have.Values)]) {
			return fmt.Errorf("values of column %q are coded otherwise than the model's; conform the table to the model's schema first", want.Name)
		}
	}
	return nil
}

// Extends returns an error unless a table's schema has the model's columns, in
// order, and its dictionaries begin with the model's values: what an update
// needs. A column that is open in one of the two may be of any kind in the
// other.
func Extends(model, s *Schema) error {
	want, have := model.Attributes, s.Attributes
	if len(want) != len(have) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(have), len(want))
	}
	for i := range want {
		if want[i].Name == have[i].Name && (want[i].Open() || have[i].Open()) {
			continue
		}
		if want[i].Name != have[i].Name || want[i].Kind != have[i].Kind {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", i+1, have[i].Name, have[i].Kind, want[i].Name, want[i].Kind)
		}
		if n := len(want[i].Values); len(have[i].Values) < n || !slices.Equal(have[i].Values[:n], want[i].Values) {
			return fmt.Errorf("values of column %q do not begin with the model's; conform the table to the model's schema first", want[i].Name)
		}
	}
	return nil
}

// Open reports whether a column is there but has had no known cell so far: it
// is nominal and knows no value, and the first cells that come say of what kind
// it is.
func (a *Attribute) Open() bool { return a.Kind == Nominal && len(a.Values) == 0 }

// Opened returns the schema with those of its columns that are open of the
// kind that they have in another.
func (s *Schema) Opened(other *Schema) *Schema {
	opened := &Schema{Attributes: slices.Clone(s.Attributes), Sequence: s.Sequence, Linked: s.Linked, Keys: s.Keys}
	for i := range opened.Attributes {
		a := &opened.Attributes[i]
		if k := other.IndexNear(a.Name, i); a.Open() && k >= 0 && other.Attributes[k].Kind != Nominal {
			a.Kind, a.Date, a.Style = other.Attributes[k].Kind, other.Attributes[k].Date, other.Attributes[k].Style
		}
	}
	return opened
}

// HasOpen reports whether a column is open.
func (s *Schema) HasOpen() bool {
	return slices.ContainsFunc(s.Attributes, func(a Attribute) bool { return a.Open() })
}
