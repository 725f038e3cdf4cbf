package learn

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Vocabulary is the dictionaries of an update in the making: those of the
// model that it began with, and behind them the new values as tables bring
// them. It knows which values belong to the source of the update, so that
// they, and no others, can leave with it.
type Vocabulary struct {
	schema  *table.Schema
	brought [][]bool      // of each column and value: it is the source's own
	last    *table.Schema // the last one found to be the same
}

// NewVocabulary begins with the values of a model's schema. Those of the
// source's own schema, if the model knows the source already, belong to it.
func NewVocabulary(known, own *table.Schema) *Vocabulary {
	v := &Vocabulary{schema: CopySchema(known), brought: make([][]bool, len(known.Attributes))}
	for j := range known.Attributes {
		v.brought[j] = make([]bool, len(known.Attributes[j].Values))
		if own == nil {
			continue
		}
		if k := own.Index(known.Attributes[j].Name); k >= 0 {
			for _, code := range Recoding(&own.Attributes[k], &known.Attributes[j]) {
				if code >= 0 {
					v.brought[j][code] = true
				}
			}
		}
	}
	return v
}

// Schema returns the dictionaries so far. It is not changed by Admit, which
// makes a new one.
func (v *Vocabulary) Schema() *table.Schema { return v.schema }

// Same reports whether the codes of a schema are those of the vocabulary. It
// takes next to no time for a schema that was found to be the same before.
func (v *Vocabulary) Same(s *table.Schema) bool {
	own := v.schema.Attributes
	if s == v.last {
		for j := range own {
			if len(s.Attributes[j].Values) != len(own[j].Values) {
				return false
			}
		}
		return true
	}
	if len(s.Attributes) != len(own) {
		return false
	}
	for j := range own {
		a := &s.Attributes[j]
		if a.Name != own[j].Name || a.Kind != own[j].Kind || !slices.Equal(a.Values, own[j].Values) {
			return false
		}
	}
	v.last = s
	return true
}

// Admit takes in the values that are new in a schema which Check accepts;
// they belong to the source.
func (v *Vocabulary) Admit(s *table.Schema) {
	wider := CopySchema(v.schema)
	for j := range s.Attributes {
		a := &wider.Attributes[j]
		for value, code := range Recoding(&s.Attributes[j], a) {
			if code < 0 {
				a.Values = append(a.Values, s.Attributes[j].Values[value])
				v.brought[j] = append(v.brought[j], true)
			}
		}
	}
	v.schema, v.last = wider, nil
}

// Check returns an error unless a schema has the model's columns.
func (v *Vocabulary) Check(s *table.Schema) error {
	own := v.schema.Attributes
	if len(s.Attributes) != len(own) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(s.Attributes), len(own))
	}
	for j := range own {
		if a := &s.Attributes[j]; a.Name != own[j].Name || a.Kind != own[j].Kind {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", j+1, a.Name, a.Kind, own[j].Name, own[j].Kind)
		}
	}
	return Distinct(s)
}

// See marks the values of a table's rows as the source's own; rows says which
// rows to look at. The table's schema was admitted before, or is the same.
func (v *Vocabulary) See(t *table.Table, rows func(row int) bool) {
	var codes [][]int32
	if !v.Same(t.Schema) {
		codes = make([][]int32, len(t.Columns))
		for j := range codes {
			codes[j] = Recoding(&t.Schema.Attributes[j], &v.schema.Attributes[j])
		}
	}
	for r := range t.Rows() {
		if !rows(r) {
			continue
		}
		for j := range t.Columns {
			if t.Columns[j].Codes == nil || t.Columns[j].Codes[r] < 0 {
				continue
			}
			code := t.Columns[j].Codes[r]
			if codes != nil {
				code = codes[j][code]
			}
			v.brought[j][code] = true
		}
	}
}

// Own returns the source's own schema: the values that it declared, those
// that were seen, and those that occur as far as the caller knows.
func (v *Vocabulary) Own(occurs func(column, value int) bool) *table.Schema {
	own := CopySchema(v.schema)
	for j := range own.Attributes {
		a := &own.Attributes[j]
		values := a.Values[:0]
		for i, value := range v.schema.Attributes[j].Values {
			if v.brought[j][i] || occurs(j, i) {
				values = append(values, value)
			}
		}
		a.Values = values
	}
	return own
}

// CopySchema returns a copy that shares nothing that can be changed.
func CopySchema(s *table.Schema) *table.Schema {
	to := &table.Schema{Attributes: slices.Clone(s.Attributes)}
	for i := range to.Attributes {
		to.Attributes[i].Values = slices.Clone(to.Attributes[i].Values)
	}
	return to
}

// Distinct returns an error if two columns of a schema share a name, or two
// values of a column are the same.
func Distinct(s *table.Schema) error {
	columns := make(map[string]bool, len(s.Attributes))
	for i := range s.Attributes {
		a := &s.Attributes[i]
		if columns[a.Name] {
			return fmt.Errorf("two columns are named %q; give each a name of its own", a.Name)
		}
		columns[a.Name] = true
		values := make(map[string]bool, len(a.Values))
		for _, value := range a.Values {
			if values[value] {
				return fmt.Errorf("column %q has the value %q twice in its dictionary", a.Name, value)
			}
			values[value] = true
		}
	}
	return nil
}

// Recoding returns the code in one attribute's dictionary of each value of
// another's, table.Unseen for those that it does not have.
func Recoding(from, to *table.Attribute) []int32 {
	codes := make([]int32, len(from.Values))
	var index map[string]int32
	for v, value := range from.Values {
		if v < len(to.Values) && to.Values[v] == value {
			codes[v] = int32(v)
			continue
		}
		if index == nil {
			index = make(map[string]int32, len(to.Values))
			for code, value := range to.Values {
				index[value] = int32(code)
			}
		}
		code, known := index[value]
		if !known {
			code = table.Unseen
		}
		codes[v] = code
	}
	return codes
}

// Without returns what is left of blocks, each of one source, when some
// sources are forgotten. It refuses sources that are not there.
func Without[B any](blocks []B, source func(B) Source, ids ...string) ([]B, error) {
	known := make([]string, len(blocks))
	for i, b := range blocks {
		known[i] = source(b).ID
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("unknown source %q%s", id, spell.Hint(id, known))
		}
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b B) bool { return slices.Contains(ids, source(b).ID) }), nil
}
