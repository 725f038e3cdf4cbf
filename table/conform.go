package table

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Conform returns the table's rows as the columns of a schema, in its order,
// by the rules by which files are read against a model's schema: a column
// that is absent is missing cells, others are left out (each noted), and a
// cell of the wrong type is an error. Names that the schema does not know
// become Unseen or, with extend, new values that follow the schema's own in
// order of appearance. Weights are kept. Cells are shared where they are the
// same.
func Conform(t *Table, schema *Schema, extend bool) (out *Table, notes []string, err error) {
	return conform(t, schema, func(int) bool { return extend })
}

// ConformNovel is Conform for a model that looks at names which it has not seen:
// in the columns that novel lists they are new values, elsewhere Unseen.
func ConformNovel(t *Table, schema *Schema, novel []int) (out *Table, notes []string, err error) {
	return conform(t, schema, func(column int) bool { return slices.Contains(novel, column) })
}

func conform(t *Table, schema *Schema, extend func(column int) bool) (out *Table, notes []string, err error) {
	if len(schema.Attributes) == 0 {
		return nil, nil, errors.New("table: the schema has no columns to conform to")
	}
	if t.Schema == schema || sameCells(t.Schema, schema) {
		same := *t
		same.Schema = schema
		return &same, nil, nil
	}
	to := &Schema{Attributes: slices.Clone(schema.Attributes), Sequence: schema.Sequence, Linked: schema.Linked, Keys: schema.Keys}
	if to.Sequence != "" && t.Schema.Sequence != to.Sequence {
		return nil, nil, fmt.Errorf("table: the rows are not in sequences by %q, as the model expects", to.Sequence)
	}
	columns := make([]Column, len(to.Attributes))
	from := make(map[string]int, len(t.Columns))
	for i := range t.Schema.Attributes {
		from[t.Schema.Attributes[i].Name] = i
	}
	var absent, extra []string
	for i := range to.Attributes {
		a := &to.Attributes[i]
		c, ok := from[a.Name]
		if !ok {
			absent = append(absent, a.Name)
			columns[i] = missingColumn(a.Kind, t.Rows())
			continue
		}
		delete(from, a.Name)
		if columns[i], err = conformColumn(t, c, a, extend(i)); err != nil {
			return nil, nil, err
		}
	}
	if len(absent) == len(to.Attributes) {
		return nil, nil, fmt.Errorf("table: there is none of the model's %s%s", columnList(absent), hint(absent[0], t.Schema.Names()))
	}
	for _, i := range slices.Sorted(maps.Values(from)) {
		extra = append(extra, t.Schema.Attributes[i].Name)
	}
	if len(extra) > 0 {
		notes = append(notes, extraNote(extra))
	}
	if len(absent) > 0 {
		notes = append(notes, absentNote(absent, " there"))
	}
	if out, err = New(to, columns, t.Weights); err == nil {
		out.Sequence, out.SequenceNames, out.Linked = t.Sequence, t.SequenceNames, t.Linked
	}
	return out, notes, err
}

// sameCells reports whether cells of one schema are cells of another as they stand.
func sameCells(a, b *Schema) bool {
	return SameCodes(a, b) && slices.EqualFunc(a.Attributes, b.Attributes, func(x, y Attribute) bool {
		return x.Date == y.Date && x.Time == y.Time
	})
}

// extraNote remarks on columns that a schema does not have.
func extraNote(names []string) string {
	if len(names) == 1 {
		return columnList(names) + " ignored: the model does not know it"
	}
	return columnList(names) + " ignored: the model does not know them"
}

// absentNote remarks on columns that only a schema has.
func absentNote(names []string, where string) string {
	if len(names) == 1 {
		return columnList(names) + " not" + where + ": its cells are taken as missing"
	}
	return columnList(names) + " not" + where + ": their cells are taken as missing"
}

func missingColumn(kind Kind, rows int) Column {
	if kind == Text {
		return Column{Words: missingBag(rows)}
	}
	if kind == Numeric {
		floats := make([]float64, rows)
		for r := range floats {
			floats[r] = NA
		}
		return Column{Floats: floats}
	}
	codes := make([]int32, rows)
	for r := range codes {
		codes[r] = Missing
	}
	return Column{Codes: codes}
}

// conformColumn returns a column's cells as those of the attribute a, whose
// dictionary it may extend.
func conformColumn(t *Table, col int, a *Attribute, extend bool) (Column, error) {
	have, cells := &t.Schema.Attributes[col], t.Columns[col]
	switch {
	case a.Kind == Text:
		return toText(t, col, a, extend), nil
	case have.Kind == Text:
		return Column{}, fmt.Errorf("table: column %q is text, and the model expects %s cells; read it as %s", a.Name, a.Shown(), a.Shown())
	case have.Kind == Numeric && a.Kind == Numeric:
		if (have.Date || have.Time) && (a.Date || a.Time) {
			return Column{Floats: convertTimes(cells.Floats, have, a)}, nil
		}
		if have.Shown() != a.Shown() {
			for r, x := range cells.Floats {
				if !IsMissing(x) {
					return Column{}, wrongType(t, r, col, a)
				}
			}
		}
		return cells, nil
	case have.Kind == Nominal && a.Kind == Numeric:
		return namesToNumbers(t, col, a)
	case have.Kind == Numeric:
		return numbersToNames(t, col, a, extend), nil
	}
	if slices.Equal(have.Values, a.Values) {
		return cells, nil
	}
	known := newLexicon(a, extend)
	recode := make([]int32, len(have.Values))
	for i := range recode {
		recode[i] = Missing
	}
	codes := make([]int32, len(cells.Codes))
	for r, code := range cells.Codes {
		// Names are looked up as they occur, so that new ones come in order
		// of appearance, and declared ones that do not occur not at all.
		if codes[r] = code; code >= 0 {
			if recode[code] == Missing {
				recode[code] = known.code(have.Values[code])
			}
			codes[r] = recode[code]
		}
	}
	return Column{Codes: codes}, nil
}

// toText returns a column's cells as texts with the words of the attribute a,
// which it may extend.
func toText(t *Table, col int, a *Attribute, extend bool) Column {
	have := &t.Schema.Attributes[col]
	if have.Kind == Text && slices.Equal(have.Values, a.Values) {
		return t.Columns[col]
	}
	known := newLexicon(a, extend)
	known.byValue = false
	if have.Kind == Text {
		recode := make([]int32, len(have.Values))
		for i := range recode {
			recode[i] = Missing
		}
		for _, code := range t.Columns[col].Words.occurring() {
			if recode[code] == Missing {
				recode[code] = known.code(have.Values[code])
			}
		}
		return Column{Words: t.Columns[col].Words.recode(recode)}
	}
	to := newBag()
	var row words
	tokens := tokeniser{grams: known.grams}
	for r := range t.Rows() {
		text := t.Text(r, col)
		if text == "" {
			to.addMissing()
			continue
		}
		row.reset()
		tokens.each([]byte(text), func(token []byte) {
			if code := known.code(string(token)); code >= 0 {
				row.add(code, 1)
			}
		})
		row.into(to)
	}
	return Column{Words: to}
}

// convertTimes returns days as seconds, or seconds as days.
func convertTimes(cells []float64, have, want *Attribute) []float64 {
	if have.Date == want.Date {
		return cells
	}
	to := make([]float64, len(cells))
	for r, x := range cells {
		if to[r] = secondsOf(x); want.Date {
			to[r] = x / 86400
		}
	}
	return to
}

func namesToNumbers(t *Table, col int, a *Attribute) (Column, error) {
	values := t.Schema.Attributes[col].Values
	numbers := make([]float64, len(values))
	good := make([]bool, len(values))
	for i, v := range values {
		numbers[i], good[i] = a.ParseCell(v)
		if _, number := parseNumber([]byte(v)); number && a.what() != "number" {
			good[i] = false
		}
	}
	floats := make([]float64, t.Rows())
	for r, code := range t.Columns[col].Codes {
		switch {
		case code == Missing:
			floats[r] = NA
		case code == Unseen || !good[code]:
			return Column{}, wrongType(t, r, col, a)
		default:
			floats[r] = numbers[code]
		}
	}
	return Column{Floats: floats}, nil
}

func numbersToNames(t *Table, col int, a *Attribute, extend bool) Column {
	have := &t.Schema.Attributes[col]
	known := newLexicon(a, extend)
	seen := map[float64]int32{}
	codes := make([]int32, t.Rows())
	for r, x := range t.Columns[col].Floats {
		codes[r] = Missing
		if IsMissing(x) {
			continue
		}
		code, ok := seen[x]
		if !ok {
			text := classText(x)
			if have.what() != "number" {
				text = have.Format(x)
			}
			code = known.code(text)
			seen[x] = code
		}
		codes[r] = code
	}
	return Column{Codes: codes}
}

func wrongType(t *Table, row, col int, a *Attribute) error {
	return fmt.Errorf("table: row %d, column %q: %s is not a %s, as the model expects; correct the cell, or leave it empty if it is not known", row+1, a.Name, quote([]byte(t.Text(row, col))), a.what())
}

// lexicon finds the codes of names in an attribute's dictionary.
type lexicon struct {
	attribute *Attribute
	codes     map[string]int32
	byValue   bool
	extend    bool
	grams     int // of a text's words, see tokeniser
}

func newLexicon(a *Attribute, extend bool) *lexicon {
	l := &lexicon{attribute: a, codes: make(map[string]int32, len(a.Values)), byValue: shortNumbers(a.Values), extend: extend}
	for i, v := range a.Values {
		l.codes[v] = int32(i)
	}
	if a.Kind == Text {
		l.grams = gramsOf(a.Values)
	}
	// What is appended must not be written behind somebody else's slice.
	a.Values = slices.Clip(a.Values)
	return l
}

func (l *lexicon) code(name string) int32 {
	code, ok := l.codes[name]
	if !ok && l.byValue {
		if short, is := shortNumber([]byte(name)); is {
			name = short
			code, ok = l.codes[name]
		}
	}
	switch {
	case ok:
		return code
	case !l.extend:
		return Unseen
	}
	code = int32(len(l.attribute.Values))
	l.attribute.Values = append(l.attribute.Values, name)
	l.codes[name] = code
	return code
}
