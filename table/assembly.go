package table

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// assembly puts batches together, in order, into columns.
type assembly struct {
	plan    *plan
	columns []*column // in the order in which their fields first came
	rows    int
	total   int // rows, with those that were handed out before
	lines   int
	bytes   int64     // of text
	weights []float64 // nil as long as nothing says what rows weigh
	expect  int       // rows that there will probably be in all
	extra   []string  // columns that the schema does not have
	survey  bool      // only kinds and values are wanted, no cells
	again   bool      // some columns are mixed: a second reading must get them
	locale  locale    // what the beginning of the input tells
	alone   bool      // there is but one column to learn from
	grown   bool      // dictionaries have grown since the schema was last made
	schema  *Schema   // the last schema made for a model's one
	order   sequenceOrder
}

// column is a column in the making.
type column struct {
	field  *field
	state  state
	known  int
	beyond int
	floats []float64
	codes  []int32
	bag    *Bag
	names  dictionary
	tally  *tally // of names that are not kept, nil as long as they are
	looked int    // how many names there are before it is asked again if they are
	form   Style  // how its cells turned out to be written
	marked int    // cells that were taken as missing and may be names
	gone   []string
	serial serial
	// Of numbers like 1.234 the first, and whether one tells what divides it.
	grouped float64
	telling bool
	rows    []int // in a survey, where the first names first stand, from 1
	counts  []int // in a survey, how often each name came, while there are few
	length  int   // in a survey, rows up to the last name
	few     few   // of a target, in a survey
	clock   bool  // some dates have a time of day
	// byValue: the dictionary came with the schema and all its values are
	// numbers in their shortest form, so that 1.0 finds 1.
	byValue bool
	recode  []int32 // code in the batch + 1 to code here; room that is used again
}

// column returns the column that a field's cells go to.
func (a *assembly) column(f *field) *column {
	if f.slot >= 0 {
		return a.columns[f.slot]
	}
	f.slot = len(a.columns)
	c := &column{field: f}
	switch f.how {
	case asWords:
		c.state, c.bag = bag, newBag()
		c.names.load(f.values)
	case asNames:
		c.state = text
	case asNumbers:
		c.state = number
	case asDates:
		c.state = date
	}
	if c.state == text {
		c.names.load(f.values)
		c.byValue = f.attr >= 0 && shortNumbers(f.values)
	}
	a.columns = append(a.columns, c)
	return c
}

// shortNumbers reports whether all values are numbers in their shortest form,
// as classes are that were read from a column of numbers.
func shortNumbers(values []string) bool {
	for _, v := range values {
		if s, ok := shortNumber([]byte(v)); !ok || s != v {
			return false
		}
	}
	return len(values) > 0
}

// shortNumber returns the shortest text of the number that a text is.
func shortNumber(text []byte) (string, bool) {
	x, ok := parseNumber(text)
	if !ok {
		return "", false
	}
	return classText(x), true
}

// short is shortNumber in the style of the column.
func (f *field) short(text []byte) (string, bool) {
	if f.decimal == "" {
		return shortNumber(text)
	}
	x, ok := f.number(text)
	return classText(x), ok
}

// add appends a batch. The grammar reads a column of the block again if it
// turns out to be names only here.
func (a *assembly) add(b *batch, g grammar) error {
	b.before = a.lines
	a.lines += b.lines
	late := func(c *cells) bool {
		return (c.known > 0 || c.marked > 0) && c.state != text && c.field.slot >= 0 && a.columns[c.field.slot].state == text
	}
	again := false
	for i := range b.columns {
		again = again || late(&b.columns[i])
	}
	if again && b.problem == nil {
		b.reread(g, late)
	}
	// Of several things that are wrong, the first one is reported.
	p := b.problem
	for i := range b.columns {
		c := &b.columns[i]
		if c.field.how == skip {
			a.meet(c.field)
		} else if q := a.contradiction(a.column(c.field), c); q != nil && (p == nil || q.place <= p.place) {
			p = q
		}
	}
	if p != nil {
		said := fmt.Sprintf("%s:%s %s", a.plan.name, b.position(p.place, g.eol()), p.text)
		if p.column == "" {
			return errors.New(said)
		}
		e := &CellError{Column: p.column, text: said}
		if p == b.problem && !again { // the rows before it were read
			e.Row = a.total + b.rows + 1
		}
		return e
	}
	for i := range b.columns {
		if c := &b.columns[i]; c.field.how != skip {
			a.merge(a.column(c.field), c)
		}
	}
	if err := a.afford(b); err != nil {
		return err
	}
	if len(b.weights) > 0 && a.weights == nil && !a.survey {
		a.weights = make([]float64, 0, a.capacity(0, b.rows))
		for range a.rows {
			a.weights = append(a.weights, 1)
		}
	}
	if a.weights != nil {
		for len(b.weights) < b.rows {
			b.weights = append(b.weights, 1)
		}
		a.weights = append(a.weights, b.weights...)
	}
	a.rows += b.rows
	a.total += b.rows
	return nil
}

// meet takes note of a column that is passed over though nobody said so.
func (a *assembly) meet(f *field) {
	if f.slot == -1 && a.plan.options.Schema != nil && !slices.Contains(a.plan.options.Ignore, f.name) {
		f.slot = -2
		a.extra = append(a.extra, f.name)
	}
}

// contradiction returns what in a batch cannot follow what a column holds.
func (a *assembly) contradiction(col *column, c *cells) *problem {
	switch {
	case c.known == 0 || col.state == unknown:
	case c.field.how == asQuantity && col.state != c.state && col.state != mixed && col.state != text && c.state != text:
		f := dateAmongNumbers
		if c.state == number {
			f = numberAmongDates
		}
		return &problem{c.first, f.say(c.field.name, nil), c.field.name}
	case c.field.closed:
		for code := range int32(c.names.len()) {
			if name := c.names.value(code); col.names.find(name, c.names.hashes[code]) < 0 {
				return problemAt(c.names.places[code], fmt.Sprintf("column %q: %s is not one of its declared values%s", c.field.name, quote(name), hint(string(name), c.field.values)))
			}
		}
	}
	return nil
}

// merge appends a batch's cells to a column.
func (a *assembly) merge(col *column, c *cells) {
	col.marked += c.marked
	for _, text := range c.gone {
		col.mark([]byte(text))
	}
	switch {
	case col.state == mixed, c.known == 0:
		return // missing cells are filled in when others follow
	case col.state == unknown:
		col.state = c.state
	case col.state != c.state:
		col.state, col.floats, a.again = mixed, nil, true
		c.field.text.Store(true)
		return
	}
	col.known += c.known
	col.beyond += c.beyond
	if c.field.grouped && c.state == number && !col.telling {
		col.group(c.floats)
	}
	if c.state == number && !col.serial.over {
		col.serial.add(c.field.name, c.floats)
	}
	if c.state == date && !col.clock && !col.field.seconds {
		col.clock = slices.ContainsFunc(c.floats, func(x float64) bool { return !IsMissing(x) && x != math.Floor(x) })
	}
	if a.survey {
		a.look(col, c)
		return
	}
	if c.state != text && c.state != bag {
		a.pad(col, a.rows)
		if need := len(col.floats) + len(c.floats); need > cap(col.floats) {
			col.floats = enlarge(col.floats, a.capacity(len(col.floats), need))
		}
		col.floats = append(col.floats, c.floats...)
		return
	}
	if c.state == bag {
		a.resolve(col, c)
		a.pad(col, a.rows)
		a.addWords(col, c.bag)
		return
	}
	c.field.text.Store(true)
	a.resolve(col, c)
	a.pad(col, a.rows)
	if need := len(col.codes) + len(c.codes); need > cap(col.codes) {
		col.codes = enlarge(col.codes, a.capacity(len(col.codes), need))
	}
	n := len(col.codes)
	col.codes = col.codes[:n+len(c.codes)]
	recode := col.recode
	for i, code := range c.codes {
		col.codes[n+i] = recode[code+1]
	}
}

// look takes note of a batch's values without keeping its cells.
func (a *assembly) look(col *column, c *cells) {
	switch {
	case c.state == text:
		c.field.text.Store(true)
		if col.tally != nil {
			col.tally.add(c.names.hashes)
			return
		}
		known := col.names.len()
		a.resolve(col, c)
		a.place(col, c.codes, known)
		a.count(col, c.codes)
		a.letGo(col)
	case c.state == bag:
		a.resolve(col, c)
	case col.field.name == a.plan.options.Target:
		col.few.add(c.floats)
	}
}

// addWords appends a batch's texts, with the codes that resolve found, in any
// order: the words of a row are sorted when all codes are known. Words that the
// dictionary does not have are left out.
func (a *assembly) addWords(col *column, from *Bag) {
	to := col.bag
	if need := len(to.Codes) + len(from.Codes); need > cap(to.Codes) {
		// As many words a row as there were so far.
		all := int(float64(a.expect) * float64(need) / float64(max(1, to.Rows()+from.Rows())))
		room := max(need, min(all+all/32, 8*need), len(to.Codes)+len(to.Codes)/4)
		to.Codes, to.Counts = enlarge(to.Codes, room), enlarge(to.Counts, room)
	}
	for r := range from.Rows() {
		if from.Missing(r) {
			to.addMissing()
			continue
		}
		codes, counts := from.Row(r)
		for i, code := range codes {
			if code := col.recode[code+1]; code >= 0 {
				to.Codes = append(to.Codes, code)
				to.Counts = append(to.Counts, counts[i])
			}
		}
		to.end()
	}
}

// resolve finds the column's codes for the names of a batch.
func (a *assembly) resolve(col *column, c *cells) {
	col.recode = append(col.recode[:0], Missing)
	names := c.names
	if names == nil {
		return // texts without a word
	}
	for local := range int32(names.len()) {
		name := names.value(local)
		code := col.names.find(name, names.hashes[local])
		if code < 0 {
			hash := names.hashes[local]
			if col.byValue {
				if short, ok := col.field.short(name); ok && short != string(name) {
					name, hash = []byte(short), maphash.String(hashSeed, short)
					code = col.names.find(name, hash)
				}
			}
			switch {
			case code >= 0:
			case col.field.attr >= 0 && !a.plan.options.Extend:
				code = Unseen
			default:
				code = col.names.add(name, hash)
				a.grown = true
			}
		}
		col.recode = append(col.recode, code)
	}
}

// pad appends missing cells to a column up to a number of rows.
func (a *assembly) pad(col *column, rows int) {
	if col.state == bag {
		for col.bag.Rows() < rows {
			col.bag.addMissing()
		}
		return
	}
	if col.state == text {
		if rows > cap(col.codes) {
			col.codes = enlarge(col.codes, a.capacity(len(col.codes), rows))
		}
		for len(col.codes) < rows {
			col.codes = append(col.codes, Missing)
		}
		return
	}
	if rows > cap(col.floats) {
		col.floats = enlarge(col.floats, a.capacity(len(col.floats), rows))
	}
	for len(col.floats) < rows {
		col.floats = append(col.floats, NA)
	}
}

// capacity returns how much room to make for a column that has some rows and
// needs more: what the input will probably need, so that no column is copied
// twice, but not so much that a strange beginning can ask for absurd amounts.
func (a *assembly) capacity(have, need int) int {
	return max(need, min(a.expect+a.expect/32, 8*max(have, need)), have+have/4)
}

func enlarge[T any](s []T, capacity int) []T {
	return append(make([]T, 0, capacity), s...)
}

// weightColumn takes out the column that holds the weights of the rows.
func (a *assembly) weightColumn() []float64 {
	for _, col := range a.columns {
		if col.field.weight {
			a.pad(col, a.rows)
			return col.floats
		}
	}
	return a.weights
}

// conformed returns the rows so far as a table of the model's schema, and
// goes on without them.
func (a *assembly) conformed() (*Table, error) {
	schema := a.plan.options.Schema
	if a.schema == nil {
		a.schema = schema
	}
	byAttr := make([]*column, len(schema.Attributes))
	for _, col := range a.columns {
		if col.field.attr >= 0 {
			byAttr[col.field.attr] = col
		}
	}
	if a.grown {
		grown := &Schema{Attributes: slices.Clone(a.schema.Attributes), Sequence: a.schema.Sequence}
		for i, col := range byAttr {
			if col == nil || col.state != text && col.state != bag {
				continue
			}
			// The values so far may be shared: what follows them is appended to a copy.
			at := &grown.Attributes[i]
			at.Values = slices.Concat(at.Values, col.names.values(len(at.Values)))
		}
		a.schema, a.grown = grown, false
	}
	columns := make([]Column, len(schema.Attributes))
	for i := range columns {
		col := byAttr[i]
		if col == nil {
			col = &column{state: number}
			switch schema.Attributes[i].Kind {
			case Nominal:
				col.state = text
			case Text:
				col.state, col.bag = bag, newBag()
			}
		}
		a.pad(col, a.rows)
		columns[i] = Column{Codes: col.codes, Floats: col.floats, Words: col.bag}
		col.codes, col.floats = nil, nil
		if col.bag != nil {
			col.bag.sortRows(col.names.len())
			col.bag = newBag()
		}
	}
	weights := a.weightColumn()
	for _, col := range a.columns {
		if col.field.weight {
			col.floats = nil
		}
	}
	first := a.total - a.rows
	rows := a.rows
	a.weights, a.rows = nil, 0
	t, err := New(a.schema, columns, weights)
	if err != nil {
		return nil, err
	}
	return a.inSequence(t, first, rows)
}

// inSequence groups the rows of a table, the first of which is a row of the
// input, by the column that says their sequence.
func (a *assembly) inSequence(t *Table, first, rows int) (*Table, error) {
	name := a.plan.options.Sequence
	if name == "" {
		return t, nil
	}
	i := slices.IndexFunc(a.columns, func(c *column) bool { return c.field.group })
	col := a.columns[i]
	a.pad(col, rows)
	number, names := col.codes, col.names.values(0)
	col.codes = nil
	if row := a.order.add(number, len(names)); row >= 0 {
		return nil, fmt.Errorf("%s: row %d: %s", a.plan.name, first+row+1, a.order.say(name, number[row], names))
	}
	t.Sequence, t.SequenceNames = number, names
	if t.Schema.Sequence != name {
		t.Schema = &Schema{Attributes: t.Schema.Attributes, Sequence: name}
	}
	return t, nil
}

// table returns the table of all columns, whose kinds are now settled.
func (a *assembly) table(notes *notes) (*Table, error) {
	o := &a.plan.options
	weights := a.weightColumn()
	schema := &Schema{}
	if err := a.recognise(notes); err != nil {
		return nil, err
	}
	a.alone = a.others() < 2
	var columns []Column
	target := -1
	for _, col := range a.columns {
		f := col.field
		if f.weight || f.group {
			continue
		}
		isTarget := f.name == o.Target
		at, used := a.settle(col, isTarget, notes)
		if !used {
			continue
		}
		col.names = dictionary{}
		if isTarget {
			target = len(columns)
		}
		schema.Attributes = append(schema.Attributes, at)
		columns = append(columns, Column{Codes: col.codes, Floats: col.floats, Words: col.bag})
		col.codes, col.floats, col.bag = nil, nil, nil
	}
	if len(columns) == 0 {
		return nil, remedy.New(remedy.Remedy{Kind: remedy.ChooseColumns}, "%s", strings.Join(append([]string{a.plan.name + ": no column is left to learn from"}, notes.list()...), "; "))
	}
	t, err := New(schema, columns, weights)
	if err != nil {
		return nil, err
	}
	if t, err = a.inSequence(t, 0, a.rows); err != nil {
		return nil, err
	}
	if target >= 0 && !slices.Contains(o.Numeric, o.Target) {
		if a.survey {
			t = a.surveyedTarget(t, target)
		}
		if n, ok := fewIntegers(t, target); ok {
			notes.add("target %q has %d distinct integers: they are read as classes; %v", o.Target, n, remedy.Remedy{Kind: remedy.ReadNumbers, What: o.Target})
			return AsClasses(t, target)
		}
	}
	if a.survey && target >= 0 {
		t = t.Slice(0, 0)
	}
	return t, nil
}

// settle returns a column's attribute, and gives its cells their last form. A
// column that is not used is noted.
func (a *assembly) settle(col *column, isTarget bool, notes *notes) (at Attribute, used bool) {
	f := col.field
	at = Attribute{Name: f.name, Kind: Numeric, Date: col.state == date && !col.clock, Time: col.state == date && col.clock}
	at.Style = NewStyle(f.formOf(col), a.plan.options.missing(f.name))
	switch {
	case col.state == number && f.how == auto && f.attr < 0 && !isTarget && !a.alone && col.known > 50 && col.serial.is():
		notes.serial(f.name)
		*col = column{field: f}
		return at, false
	case col.known == 0 && f.how == auto && !isTarget && !a.plan.options.Open:
		notes.empty = append(notes.empty, f.name)
		return at, false
	case col.state == text && col.tally != nil:
		notes.id(f.name, fmt.Sprintf("more than half of its %d values are distinct", col.known))
		*col = column{field: f}
		return at, false
	case col.state == text && a.mayBeID(f) && IsID(col.names.len(), col.known):
		notes.id(f.name, fmt.Sprintf("%d of its %d values are distinct", col.names.len(), col.known))
		*col = column{field: f}
		return at, false
	case col.state == text, col.known == 0 && f.how == auto:
		col.state = text
		at.Kind = Nominal
		notes.knows(f.name, col.known, a.plan.options.IDs)
		a.pad(col, a.rows)
		if f.closed {
			at.Values = f.values
		} else {
			var recode []int32
			at.Values, recode = a.judge(col, notes)
			for i, code := range col.codes {
				if code >= 0 {
					col.codes[i] = recode[code]
				}
			}
		}
		notes.text(f.name, at.Values)
	case col.state == bag:
		at.Kind = Text
		a.pad(col, a.rows)
		var recode []int32
		at.Values, recode = col.names.sorted()
		for i, code := range col.bag.Codes {
			col.bag.Codes[i] = recode[code]
		}
		col.bag.sortRows(len(recode))
	default:
		a.pad(col, a.rows)
		if at.Time {
			for r, x := range col.floats {
				col.floats[r] = secondsOf(x)
			}
		}
		notes.beyond(f.name, col.beyond)
	}
	return at, true
}

// surveyedTarget returns a table without rows with those that the target's
// distinct numbers make, so that they can be judged as classes.
func (a *assembly) surveyedTarget(t *Table, target int) *Table {
	name := t.Schema.Attributes[target].Name
	i := slices.IndexFunc(a.columns, func(c *column) bool { return c.field.name == name })
	numbers := a.columns[i].few.seen
	if t.Schema.Attributes[target].Kind != Numeric || len(numbers) == 0 {
		return t
	}
	columns := make([]Column, len(t.Columns))
	for i := range columns {
		columns[i] = missingColumn(t.Schema.Attributes[i].Kind, len(numbers))
	}
	columns[target].Floats = numbers
	return &Table{Schema: t.Schema, Columns: columns, rows: len(numbers)}
}

// notes are the remarks for the user. Those about columns are gathered, one
// line a kind, for there may be many columns.
type notes struct {
	lines []string
	empty []string // columns without a known cell
	ids   []string // columns with too many distinct values
	first string   // what there is to say of the first of them
	huge  []string // columns with a huge cell
	inf   []string // columns with numbers beyond range

	remarks  []Remark // about one column each
	numbered []string // columns of numbers that were left out as ids
	known    map[string]int
}

// Remark is something worth knowing of a column.
type Remark struct {
	Kind   string // style, marker, odd, id or encoding
	Column string
	Row    int    // of the first cell that it is about, from 1; 0 for none
	What   string // what is so, to follow the column's name
	Do     remedy.Remedy
	Silent bool // it is in no note
}

// String says it in a line.
func (r Remark) String() string {
	line := fmt.Sprintf("column %s: %s", quote([]byte(r.Column)), r.What)
	if r.Column == "" {
		line = r.What
	} else if strings.HasPrefix(r.What, "is ") {
		line = fmt.Sprintf("column %s %s", quote([]byte(r.Column)), r.What)
	}
	if do := r.Do.String(); do != "" {
		line += "; " + do
	}
	return line
}

func (n *notes) remark(r Remark) { n.remarks = append(n.remarks, r) }

func (n *notes) add(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// knows takes note of how many cells of a column of names are known.
func (n *notes) knows(name string, known int, asked bool) {
	if asked && n.known == nil {
		n.known = map[string]int{}
	}
	if asked {
		n.known[name] = known
	}
}

func (n *notes) id(name, why string) {
	n.ids = append(n.ids, name)
	n.first = why
}

// serial takes note of a column of numbers that only number the rows.
func (n *notes) serial(name string) {
	n.numbered = append(n.numbered, name)
	n.remark(Remark{Kind: "id", Column: name, What: "is left out: its numbers only tell the rows apart", Do: remedy.Remedy{Kind: remedy.ReadNumbers, What: name}})
}

func (n *notes) beyond(name string, count int) {
	if count > 0 {
		n.inf = append(n.inf, name)
	}
}

// hugeCell is the size from which a cell is worth a remark.
const hugeCell = 1 << 20

func (n *notes) text(name string, values []string) {
	if slices.ContainsFunc(values, func(v string) bool { return len(v) >= hugeCell }) {
		n.huge = append(n.huge, name)
	}
}

// list returns the remarks in a fixed order.
func (n *notes) list() []string {
	list := slices.Clone(n.lines)
	kinds := map[string]int{}
	for _, r := range n.remarks {
		if r.Silent {
			continue
		}
		if kinds[r.Kind]++; kinds[r.Kind] <= mostRemarks {
			list = append(list, r.String())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if more := kinds[kind] - mostRemarks; more > 0 {
			list = append(list, fmt.Sprintf("and %d columns more of which the like can be said", more))
		}
	}
	say := func(names []string, format string) {
		if len(names) > 0 {
			list = append(list, fmt.Sprintf(format, columnList(names)))
		}
	}
	say(n.empty, "%s ignored: no cell is known")
	keep := remedy.Remedy{Kind: remedy.KeepNominal}.String()
	if len(n.ids) == 1 {
		say(n.ids, "%s ignored: "+n.first+", as in ids or text; "+keep)
	} else {
		say(n.ids, "%s ignored: more than half of their values are distinct, as in ids or text; "+keep)
	}
	say(n.inf, "%s: numbers beyond the range of a float64 are read as infinite")
	say(n.huge, "%s: a cell has more than a megabyte of text")
	return list
}

// mostRemarks is how many lines there are of a kind.
const mostRemarks = 12

// columnList names columns, the first few of many.
func columnList(names []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, quote([]byte(name)))
	}
	list := strings.Join(quoted, ", ")
	switch {
	case len(names) == 1:
		return "column " + list
	case len(names) > most:
		return fmt.Sprintf("columns %s and %d more", list, len(names)-most)
	}
	return "columns " + list
}
