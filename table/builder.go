package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Builder makes a table of rows that a program has: cell by cell, or from maps
// and structs. Cells that a row does not set are missing. Names that the
// schema does not know extend its dictionaries, or are Unseen with Closed.
//
//	b := table.NewBuilder(schema)
//	b.Add(map[string]any{"age": 54, "sex": "f"})
//	b.Add(&patient)
//	t, err := b.Table()
type Builder struct {
	// Closed makes unknown names Unseen, and leaves unknown words out.
	Closed bool

	schema  *Schema
	columns []Column
	index   map[string]int
	known   []*lexicon
	rows    int
	set     []int // the row, from 1, in which each column was last set
	row     words
	tokens  tokeniser
	weights []float64
	layouts map[reflect.Type]*layout
	last    *layout // of the struct that came last
	only    Table   // what Only returns
}

// NewBuilder returns a builder of rows with the columns of a schema, which it
// leaves as it is.
func NewBuilder(schema *Schema) *Builder {
	b := &Builder{
		schema: &Schema{Attributes: slices.Clone(schema.Attributes)}, columns: make([]Column, len(schema.Attributes)),
		index: make(map[string]int, len(schema.Attributes)), known: make([]*lexicon, len(schema.Attributes)),
		set: make([]int, len(schema.Attributes)), layouts: map[reflect.Type]*layout{},
	}
	for i := range b.schema.Attributes {
		a := &b.schema.Attributes[i]
		b.index[a.Name] = i
		if a.Kind != Numeric {
			b.known[i] = newLexicon(a, true)
			b.known[i].byValue = b.known[i].byValue && a.Kind == Nominal
		}
		if a.Kind == Text {
			b.columns[i].Words = newBag()
		}
	}
	return b
}

// Rows returns the number of rows so far.
func (b *Builder) Rows() int { return b.rows }

// Reset forgets the rows; dictionaries stay. Tables made before keep theirs.
func (b *Builder) Reset() {
	for i := range b.columns {
		b.columns[i] = Column{}
		if b.schema.Attributes[i].Kind == Text {
			b.columns[i].Words = newBag()
		}
	}
	clear(b.set)
	b.rows, b.weights = 0, nil
}

// Float sets a cell of the row that is being made. NaN is missing.
func (b *Builder) Float(col int, x float64) error {
	a := &b.schema.Attributes[col]
	if a.Kind == Numeric {
		if err := b.next(col); err != nil {
			return err
		}
		if IsMissing(x) {
			x = NA
		}
		b.columns[col].Floats = append(b.columns[col].Floats, x)
		return nil
	}
	if IsMissing(x) {
		return nil
	}
	return b.String(col, classText(x))
}

// String sets a cell as it would stand in a file: a name, the text of a number
// or of a date, or a text. "" and ? are missing.
func (b *Builder) String(col int, text string) error {
	a := &b.schema.Attributes[col]
	if text == "" || text == "?" {
		return nil
	}
	if !goodText([]byte(text)) {
		return fmt.Errorf("%s", badText.say(a.Name, []byte(text)))
	}
	if a.Kind == Numeric {
		x, ok := a.ParseCell(text)
		if !ok {
			return fmt.Errorf("column %q: %s is not a %s; give a %s, or leave the cell out if it is not known", a.Name, quote([]byte(text)), a.what(), a.what())
		}
		return b.Float(col, x)
	}
	if err := b.next(col); err != nil {
		return err
	}
	known := b.known[col]
	known.extend = !b.Closed
	if a.Kind == Nominal {
		b.columns[col].Codes = append(b.columns[col].Codes, known.code(text))
		return nil
	}
	b.row.reset()
	b.tokens.grams = known.grams
	b.tokens.each([]byte(text), func(token []byte) {
		if code := known.code(string(token)); code >= 0 {
			b.row.add(code, 1)
		}
	})
	b.row.into(b.columns[col].Words)
	return nil
}

// next says that the cell of a column is set in this row.
func (b *Builder) next(col int) error {
	if b.set[col] == b.rows+1 {
		return fmt.Errorf("column %q is set twice in one row", b.schema.Attributes[col].Name)
	}
	b.pad(col, b.rows)
	b.set[col] = b.rows + 1
	return nil
}

// pad appends missing cells up to a number of rows.
func (b *Builder) pad(col, rows int) {
	c := &b.columns[col]
	switch b.schema.Attributes[col].Kind {
	case Nominal:
		for len(c.Codes) < rows {
			c.Codes = append(c.Codes, Missing)
		}
	case Numeric:
		for len(c.Floats) < rows {
			c.Floats = append(c.Floats, NA)
		}
	case Text:
		for c.Words.Rows() < rows {
			c.Words.addMissing()
		}
	}
}

// End ends the row that is being made.
func (b *Builder) End() {
	b.rows++
	if b.weights != nil {
		b.weights = append(b.weights, 1)
	}
}

// EndWeighing ends the row and says what it weighs.
func (b *Builder) EndWeighing(weight float64) {
	for len(b.weights) < b.rows {
		b.weights = append(b.weights, 1)
	}
	b.rows++
	b.weights = append(b.weights, weight)
}

// Table returns the rows so far. The builder can go on; what it adds then is
// not in the table.
func (b *Builder) Table() (*Table, error) {
	columns := slices.Clone(b.columns)
	for i := range columns {
		b.pad(i, b.rows)
		c := b.columns[i]
		columns[i] = Column{Codes: slices.Clip(c.Codes), Floats: slices.Clip(c.Floats)}
		if w := c.Words; w != nil {
			columns[i].Words = &Bag{slices.Clip(w.Starts), slices.Clip(w.Codes), slices.Clip(w.Counts), slices.Clip(w.Gone)}
		}
	}
	return New(&Schema{Attributes: slices.Clone(b.schema.Attributes)}, columns, slices.Clip(b.weights))
}

// Only returns a table of this row alone, in the memory of the one that it
// returned before: it is good until the next call. Rows added before are
// dropped, and names that the schema does not know are Unseen.
func (b *Builder) Only(row any) (*Table, error) {
	b.Closed = true
	for i := range b.columns {
		c := &b.columns[i]
		c.Codes, c.Floats = c.Codes[:0], c.Floats[:0]
		if c.Words != nil {
			c.Words = newBag()
		}
	}
	clear(b.set)
	b.rows, b.weights = 0, nil
	if err := b.Add(row); err != nil {
		return nil, err
	}
	for i := range b.columns {
		b.pad(i, 1)
	}
	b.only = Table{Schema: b.schema, Columns: b.columns, rows: 1}
	return &b.only, nil
}

// Add appends a row that is a map from names of columns to cells, or a struct
// or a pointer to one, whose fields are columns of the same name, in any case,
// or of the name in the tag `accrete:"name"`. Cells are numbers, strings,
// bools, times, pointers to these (nil is missing), or nil. A key that is no
// column is an error with the nearest name; so is a tag. A row that fails is
// not added.
func (b *Builder) Add(row any) error {
	err := b.addCells(row)
	if err != nil {
		b.undo()
		return err
	}
	b.End()
	return nil
}

// undo takes back the cells of the row that is being made.
func (b *Builder) undo() {
	for col, row := range b.set {
		if row != b.rows+1 {
			continue
		}
		c := &b.columns[col]
		switch b.schema.Attributes[col].Kind {
		case Nominal:
			c.Codes = c.Codes[:b.rows]
		case Numeric:
			c.Floats = c.Floats[:b.rows]
		case Text:
			w := c.Words
			w.Starts = w.Starts[:b.rows+1]
			end := w.Starts[b.rows]
			w.Codes, w.Counts = w.Codes[:end], w.Counts[:end]
			if w.Gone != nil {
				w.Gone = w.Gone[:b.rows]
			}
		}
		b.set[col] = 0
	}
}

func (b *Builder) addCells(row any) error {
	switch row := row.(type) {
	case map[string]any:
		for name, cell := range row {
			if err := b.named(name, func(col int) error { return b.cell(col, cell) }); err != nil {
				return err
			}
		}
		return nil
	case map[string]string:
		for name, cell := range row {
			if err := b.named(name, func(col int) error { return b.String(col, cell) }); err != nil {
				return err
			}
		}
		return nil
	case map[string]float64:
		for name, cell := range row {
			if err := b.named(name, func(col int) error { return b.Float(col, cell) }); err != nil {
				return err
			}
		}
		return nil
	}
	v := reflect.ValueOf(row)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("a row is a map with names of columns as keys, or a struct; found %T", row)
	}
	l, err := b.layout(v.Type())
	if err != nil {
		return err
	}
	for i := range l.fields {
		f := &l.fields[i]
		field, err := v.FieldByIndexErr(f.index)
		if err != nil {
			continue // within a nil pointer
		}
		if err := b.value(f.column, field); err != nil {
			return err
		}
	}
	return nil
}

// named calls set with the column of a name.
func (b *Builder) named(name string, set func(col int) error) error {
	col, ok := b.index[name]
	if !ok {
		return fmt.Errorf("there is no column %q%s", name, spell.Hint(name, b.schema.Names()))
	}
	return set(col)
}

// cell sets a cell of a map.
func (b *Builder) cell(col int, cell any) error {
	switch x := cell.(type) {
	case nil:
		return nil
	case float64:
		return b.Float(col, x)
	case int:
		return b.Float(col, float64(x))
	case string:
		return b.String(col, x)
	}
	return b.value(col, reflect.ValueOf(cell))
}

var timeType = reflect.TypeFor[time.Time]()

// value sets a cell from a value of any kind that can be one.
func (b *Builder) value(col int, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return b.value(col, v.Elem())
	case reflect.Float64, reflect.Float32:
		return b.Float(col, v.Float())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return b.Float(col, float64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return b.Float(col, float64(v.Uint()))
	case reflect.String:
		return b.String(col, v.String())
	case reflect.Bool:
		return b.bool(col, v.Bool())
	}
	if v.Type() == timeType && v.CanInterface() {
		return b.time(col, v.Interface().(time.Time))
	}
	return fmt.Errorf("column %q: a cell is a number, a string, a bool or a time; found %v", b.schema.Attributes[col].Name, v.Type())
}

func (b *Builder) bool(col int, x bool) error {
	switch {
	case b.schema.Attributes[col].Kind != Numeric && x:
		return b.String(col, "true")
	case b.schema.Attributes[col].Kind != Numeric:
		return b.String(col, "false")
	case x:
		return b.Float(col, 1)
	}
	return b.Float(col, 0)
}

func (b *Builder) time(col int, x time.Time) error {
	a := &b.schema.Attributes[col]
	seconds := float64(x.Unix()) + float64(x.Nanosecond())/1e9
	switch {
	case x.IsZero():
		return nil
	case a.Kind == Numeric && a.Date:
		return b.Float(col, seconds/86400)
	case a.Kind == Numeric:
		return b.Float(col, seconds)
	}
	return b.String(col, x.UTC().Format(time.RFC3339))
}

// layout is where the fields of a struct go.
type layout struct {
	of     reflect.Type
	fields []layoutField
}

type layoutField struct {
	index  []int
	column int
}

// layout compiles a struct's fields against the columns, once.
func (b *Builder) layout(t reflect.Type) (*layout, error) {
	if b.last != nil && b.last.of == t {
		return b.last, nil
	}
	if l, ok := b.layouts[t]; ok {
		b.last = l
		return l, nil
	}
	folded := make(map[string]int, len(b.index))
	for name, col := range b.index {
		folded[strings.ToLower(name)] = col
	}
	l := &layout{of: t}
	taken := map[int]string{}
	for _, f := range reflect.VisibleFields(t) {
		name, tagged := f.Tag.Lookup("accrete")
		if !f.IsExported() || name == "-" || f.Anonymous && !tagged {
			continue
		}
		if !tagged {
			name = f.Name
		}
		col, ok := b.index[name]
		if !ok && !tagged {
			col, ok = folded[strings.ToLower(name)]
		}
		if !ok {
			if tagged {
				return nil, fmt.Errorf("field %s of %v is for the column %q, which there is not%s", f.Name, t, name, spell.Hint(name, b.schema.Names()))
			}
			continue
		}
		if other := taken[col]; other != "" {
			return nil, fmt.Errorf("fields %s and %s of %v are both for the column %q", other, f.Name, t, b.schema.Attributes[col].Name)
		}
		taken[col] = f.Name
		l.fields = append(l.fields, layoutField{f.Index, col})
	}
	if len(l.fields) == 0 {
		return nil, fmt.Errorf("no field of %v has the name of a column (%s); give its fields tags such as `accrete:\"age\"`", t, strings.Join(b.schema.Names()[:min(5, len(b.index))], ", "))
	}
	b.layouts[t] = l
	b.last = l
	return l, nil
}

// what names what a number of this attribute is.
func (a *Attribute) what() string {
	switch a.Shown() {
	case "date", "time":
		return a.Shown()
	}
	return "number"
}
