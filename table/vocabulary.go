package table

import (
	"fmt"
	"slices"
)

// Vocabulary is the dictionaries of an update in the making: those of the
// model that it began with, and behind them the new values as tables bring
// them. It knows which values belong to the source of the update, so that
// they, and no others, can leave with it.
type Vocabulary struct {
	schema  *Schema
	whole   bool     // every value is the source's own
	brought [][]bool // otherwise, of each column and value: it is
	last    *Schema  // the last one found to be the same
}

// NewVocabulary begins with the values of a model's schema, which nobody
// changes. Those of the source's own schema, if the model knows the source
// already, belong to it.
func NewVocabulary(known, own *Schema) *Vocabulary {
	v := &Vocabulary{schema: known, last: known}
	if own == nil {
		return v
	}
	if v.whole = SameCodes(known, own); v.whole {
		return v
	}
	for j := range known.Attributes {
		if k := own.IndexNear(known.Attributes[j].Name, j); k >= 0 {
			for _, code := range Recoding(&own.Attributes[k], &known.Attributes[j]) {
				if code >= 0 {
					v.bring(j, int(code))
				}
			}
		}
	}
	return v
}

// Clone returns a copy that changes by itself.
func (v *Vocabulary) Clone() *Vocabulary {
	to := *v
	to.brought = slices.Clone(v.brought)
	for j := range to.brought {
		to.brought[j] = slices.Clone(to.brought[j])
	}
	return &to
}

// bring marks a value as the source's own.
func (v *Vocabulary) bring(column, value int) {
	if v.brought == nil {
		v.brought = make([][]bool, len(v.schema.Attributes))
	}
	if more := len(v.schema.Attributes[column].Values) - len(v.brought[column]); more > 0 {
		v.brought[column] = append(v.brought[column], make([]bool, more)...)
	}
	v.brought[column][value] = true
}

// owns reports whether a value is marked as the source's own.
func (v *Vocabulary) owns(column, value int) bool {
	return v.brought != nil && value < len(v.brought[column]) && v.brought[column][value]
}

// Schema returns the dictionaries so far. It is not changed by Admit, which
// makes a new one.
func (v *Vocabulary) Schema() *Schema { return v.schema }

// Same reports whether the codes of a schema are those of the vocabulary. It
// takes next to no time for a schema that was found to be the same before.
func (v *Vocabulary) Same(s *Schema) bool {
	if s == v.last {
		own := v.schema.Attributes
		for j := range own {
			if len(s.Attributes[j].Values) != len(own[j].Values) {
				return false
			}
		}
		return true
	}
	if !SameCodes(v.schema, s) {
		return false
	}
	v.last = s
	return true
}

// SameCodes reports whether two schemas have the same columns with the same
// dictionaries.
func SameCodes(a, b *Schema) bool {
	if a == b {
		return true
	}
	if a.Sequence != b.Sequence || len(a.Attributes) != len(b.Attributes) {
		return false
	}
	for j := range a.Attributes {
		x, y := &a.Attributes[j], &b.Attributes[j]
		if x.Name != y.Name || x.Kind != y.Kind || !slices.Equal(x.Values, y.Values) {
			return false
		}
	}
	return true
}

// Admit takes in the values that are new in a schema which Check accepts;
// they belong to the source.
func (v *Vocabulary) Admit(s *Schema) {
	v.schema, v.last = CopySchema(v.schema), nil
	for j := range s.Attributes {
		a := &v.schema.Attributes[j]
		if from := &s.Attributes[j]; a.Open() && from.Kind != Nominal {
			a.Kind, a.Date, a.Style = from.Kind, from.Date, from.Style // its first cells come
		}
		for value, code := range Recoding(&s.Attributes[j], a) {
			if code < 0 {
				a.Values = append(a.Values, s.Attributes[j].Values[value])
				if !v.whole {
					v.bring(j, len(a.Values)-1)
				}
			}
		}
	}
}

// Check returns an error unless a schema has the model's columns.
func (v *Vocabulary) Check(s *Schema) error {
	own := v.schema.Attributes
	if len(s.Attributes) != len(own) {
		return fmt.Errorf("the table has %d columns, the model %d; conform it to the model's schema first", len(s.Attributes), len(own))
	}
	for j := range own {
		if a := &s.Attributes[j]; a.Name != own[j].Name || a.Kind != own[j].Kind && !a.Open() && !own[j].Open() {
			return fmt.Errorf("column %d of the table is %q (%v), expected %q (%v); conform it to the model's schema first", j+1, a.Name, a.Kind, own[j].Name, own[j].Kind)
		}
	}
	return Distinct(s)
}

// See marks the values of a table's rows as the source's own; rows says which
// rows to look at. The table's schema was admitted before, or is the same.
func (v *Vocabulary) See(t *Table, rows func(row int) bool) {
	if v.whole {
		return
	}
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
			if bag := t.Columns[j].Words; bag != nil {
				words, _ := bag.Row(r)
				for _, code := range words {
					if codes != nil {
						code = codes[j][code]
					}
					v.bring(j, int(code))
				}
				continue
			}
			if t.Columns[j].Codes == nil || t.Columns[j].Codes[r] < 0 {
				continue
			}
			code := t.Columns[j].Codes[r]
			if codes != nil {
				code = codes[j][code]
			}
			v.bring(j, int(code))
		}
	}
}

// Own returns the source's own schema: the values that it declared, those
// that were seen, and those that occur as far as the caller knows, in the
// order of the vocabulary. It is the vocabulary's if it has all values.
func (v *Vocabulary) Own(occurs func(column, value int) bool) *Schema {
	if v.whole {
		return v.schema
	}
	own := &Schema{Attributes: slices.Clone(v.schema.Attributes), Sequence: v.schema.Sequence}
	all := true
	for j := range own.Attributes {
		a := &own.Attributes[j]
		values := a.Values
		start, end := 0, 0 // of those that can be shared, as they stand side by side
		a.Values = values[:0:0]
		for i, value := range values {
			switch {
			case (v.brought == nil || !v.owns(j, i)) && !occurs(j, i):
				all = false
			case len(a.Values) == 0:
				start, end = i, i+1
				a.Values = values[start:end:end]
			case end == i && len(a.Values) == end-start:
				end++
				a.Values = values[start:end:end]
			default:
				a.Values = append(a.Values, value)
			}
		}
	}
	if all {
		return v.schema
	}
	return own
}

// CopySchema returns a copy that shares nothing that can be changed.
func CopySchema(s *Schema) *Schema {
	to := &Schema{Attributes: slices.Clone(s.Attributes), Sequence: s.Sequence}
	for i := range to.Attributes {
		to.Attributes[i].Values = slices.Clone(to.Attributes[i].Values)
	}
	return to
}

// Distinct returns an error if two columns of a schema share a name, or two
// values of a column are the same.
func Distinct(s *Schema) error {
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
// another's, Unseen for those that it does not have.
func Recoding(from, to *Attribute) []int32 {
	return AppendRecoding(make([]int32, 0, len(from.Values)), from, to)
}

// AppendRecoding appends what Recoding returns to a list of codes.
func AppendRecoding(codes []int32, from, to *Attribute) []int32 {
	var index map[string]int32
	few := len(from.Values) <= 4 || len(to.Values) <= 8 // not worth an index
	for v, value := range from.Values {
		if v < len(to.Values) && to.Values[v] == value {
			codes = append(codes, int32(v))
			continue
		}
		if few {
			codes = append(codes, to.Code(value))
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
			code = Unseen
		}
		codes = append(codes, code)
	}
	return codes
}
