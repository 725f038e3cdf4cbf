package table

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// arff reads the data section of a file in the attribute-relation format of
// Weka (Witten, Frank 1999). Its header declares the columns: numbers, dates,
// strings, or names out of a list, which stays as declared even if some do
// not occur. Rows are dense (1,x,?) or sparse ({0 1, 2 x}, the cells left out
// being 0 or the first name), and may end with a weight in braces.
//
// The numbers of sparse rows with very many attributes stay sparse: they
// become one bag, whose words are the attributes' names (see Features).
type arff struct {
	fields []*field // of the attributes
	blanks []string // the cells that sparse rows leave out
	bag    *field   // of the attributes that are kept sparse, or nil
	place  []int    // the column of each attribute; that of the bag is the last one
	own    []int    // the attributes with a column of their own
	memory int64
}

func (*arff) eol() byte { return '\n' }

func (*arff) cut(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

func (g *arff) columns() []cells {
	columns := make([]cells, len(g.own), len(g.own)+1)
	for i, n := range g.own {
		columns[i].field = g.fields[n]
	}
	if g.bag != nil {
		columns = append(columns, cells{field: g.bag})
	}
	return columns
}

// Features is the name of the bag column that holds the numbers of sparse
// rows: those of a libsvm file, and of an ARFF file with over a thousand
// numeric attributes. A word is an attribute's name or number, its count the
// cell.
const Features = "features"

// manyNumbers is how many numeric attributes of sparse rows stay columns.
const manyNumbers = 1000

// arrange gives attributes their columns: one for each, or the bag.
func (g *arff) arrange(s *reading, declared []declaration) {
	o := &s.plan.options
	numbers := 0
	for i, f := range g.fields {
		if declared[i].kind == "numeric" && f.how == auto {
			numbers++
		}
	}
	sparse := numbers > manyNumbers
	if o.Schema != nil {
		i, known := s.plan.attrs[Features]
		sparse = known && o.Schema.Attributes[i].Kind == Text
	}
	if sparse && s.startsSparse() {
		g.bag = s.plan.field(Features)
		if g.bag.how == auto {
			g.bag.how = asWords
		}
		if o.Schema == nil {
			s.notes.add("%d numeric attributes of sparse rows are kept as one text column %q, whose words are their names", numbers, Features)
		}
	}
	g.place = make([]int, len(g.fields))
	for i, f := range g.fields {
		if g.bag != nil && declared[i].kind == "numeric" && (f.how == auto || f.how == skip && o.Schema != nil && !s.plan.ignore[f.name]) && f.name != o.Target {
			f.how, g.place[i] = skip, -1
			f.slot, f.bagged = -2, true
			continue
		}
		g.place[i] = len(g.own)
		g.own = append(g.own, i)
	}
}

// startsSparse reports whether the first row is in braces.
func (s *reading) startsSparse() bool {
	head, err := s.content.look(glance)
	if err != nil {
		return false
	}
	for _, line := range bytes.Split(head, []byte{'\n'}) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '%' {
			return line[0] == '{'
		}
	}
	return false
}

// declaration is an @attribute line.
type declaration struct {
	name   string
	kind   string // numeric, string, date or nominal
	values []string
}

// beginARFF reads the header.
func (s *reading) beginARFF() (source, error) {
	if err := s.beginText(); err != nil {
		return nil, err
	}
	var declared []declaration
	for {
		text, err := s.headerLine()
		if err != nil {
			return nil, err
		}
		if text == nil {
			return nil, fmt.Errorf("%s:%d:1: the file ends without an @data line; add it, and rows below it", s.plan.name, s.assembly.lines)
		}
		h := arffText{data: append(bytes.TrimRight(text, " \t\r\n"), '\n')}
		h.space()
		if h.end() {
			continue
		}
		at := h.i
		word := h.word()
		switch {
		case equalFold(word, "@relation"):
		case equalFold(word, "@attribute"):
			var d declaration
			if d, err = h.attribute(); err == nil {
				declared = append(declared, d)
			}
		case equalFold(word, "@data"):
			return s.declare(declared)
		default:
			h.i = at
			err = fmt.Errorf("%s is not a line of an ARFF header; expected @relation, @attribute or @data", quote(word))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d:%d: %w", s.plan.name, s.assembly.lines, h.i+1, err)
		}
	}
}

// headerLine reads a line, nil after the last one.
func (s *reading) headerLine() ([]byte, error) {
	c := s.content
	for size := 4096; ; size *= 2 {
		data, err := c.look(size)
		if err != nil {
			return nil, s.named(err)
		}
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 && c.ended {
			n = len(data)
		}
		if n == 0 && size < s.plan.options.tuning.record {
			continue
		}
		if n == 0 {
			n = len(data)
		}
		if n == 0 {
			return nil, nil
		}
		c.drop(n)
		s.assembly.lines++
		return data[:n:n], nil
	}
}

// declare makes fields of the declared attributes.
func (s *reading) declare(declared []declaration) (source, error) {
	if len(declared) == 0 {
		return nil, fmt.Errorf("%s:%d:1: @data comes before any @attribute; declare the columns first", s.plan.name, s.assembly.lines)
	}
	names := make([]string, len(declared))
	for i, d := range declared {
		names[i] = d.name
	}
	fields, err := s.nameFields(names)
	if err != nil {
		return nil, err
	}
	g := &arff{fields: fields, blanks: make([]string, len(fields)), memory: s.plan.options.Memory}
	g.arrange(s, declared)
	for i, d := range declared {
		f := fields[i]
		g.blanks[i] = "0"
		if d.kind == "nominal" && len(d.values) > 0 {
			g.blanks[i] = d.values[0]
		}
		nominal := f.how == asNames && f.attr < 0
		if d.kind == "nominal" && (nominal || f.how == auto) {
			f.how, f.closed, f.keepID = asNames, true, true
			f.startFrom(d.values)
		}
		if f.how != auto {
			continue
		}
		switch d.kind {
		case "numeric":
			f.how = asNumbers
		case "date":
			f.how = asDates
		case "string":
			f.how = asNames
		}
	}
	return g, nil
}

// arffText is a line or a block of ARFF text, read from the left. The data
// end with a line end, at which every loop stops.
type arffText struct {
	data []byte
	i    int
}

func (t *arffText) space() {
	for c := t.data[t.i]; c == ' ' || c == '\t' || c == '\r'; c = t.data[t.i] {
		t.i++
	}
}

// end reports whether nothing but a comment is left of the line.
func (t *arffText) end() bool { return t.data[t.i] == '\n' || t.data[t.i] == '%' }

// word reads up to a space, a brace, a comma or the end of the line.
func (t *arffText) word() []byte {
	start := t.i
	for !strings.ContainsRune(" \t\r\n,{}", rune(t.data[t.i])) {
		t.i++
	}
	return t.data[start:t.i]
}

// name reads a word, or a text in single or double quotes in which a
// backslash takes the next character as it is.
func (t *arffText) name(scratch []byte) (text []byte, quoted bool, err error) {
	q := t.data[t.i]
	if q != '\'' && q != '"' {
		return t.word(), false, nil
	}
	start := t.i
	t.i++
	text = scratch[:0]
	for {
		switch c := t.data[t.i]; c {
		case q:
			t.i++
			return text, true, nil
		case '\n':
			t.i = start
			return nil, true, fmt.Errorf("the quote that opens here is not closed in its line; close it, or write it as \\%c", q)
		case '\\':
			if t.i++; t.data[t.i] == '\n' {
				continue
			}
			text = append(text, escaped(t.data[t.i]))
			t.i++
		default:
			text = append(text, c)
			t.i++
		}
	}
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}

// attribute reads what follows @attribute.
func (t *arffText) attribute() (d declaration, err error) {
	t.space()
	name, _, err := t.name(nil)
	if err != nil {
		return d, err
	}
	if d.name = string(name); d.name == "" || !goodText(name) {
		return d, fmt.Errorf("an attribute without a name in UTF-8; write @attribute name type")
	}
	t.space()
	if t.data[t.i] == '{' {
		d.kind = "nominal"
		d.values, err = t.list()
		return d, err
	}
	switch kind := strings.ToLower(string(t.word())); kind {
	case "numeric", "real", "integer":
		d.kind = "numeric"
	case "string", "date":
		d.kind = kind
	case "relational":
		return d, fmt.Errorf("attribute %q holds tables, which are not read; write one row an example", d.name)
	default:
		return d, fmt.Errorf("attribute %q has the type %s; expected numeric, real, integer, string, date or a list of names in braces", d.name, quote([]byte(kind)))
	}
	return d, nil
}

// list reads names in braces.
func (t *arffText) list() ([]string, error) {
	var values []string
	seen := map[string]bool{}
	t.i++
	for {
		t.space()
		if t.data[t.i] == '}' && len(values) == 0 {
			return values, nil
		}
		name, err := t.listed()
		if err != nil {
			return nil, err
		}
		if !goodText(name) {
			return nil, fmt.Errorf("a declared value is not UTF-8 text; name its encoding, or convert the file to UTF-8")
		}
		if value := string(name); !seen[value] {
			seen[value] = true
			values = append(values, value)
		}
		t.space()
		switch t.data[t.i] {
		case '}':
			return values, nil
		case ',':
			t.i++
		default:
			return nil, fmt.Errorf("the list of names is not closed; write {a, b, c}, with quotes around names that have spaces")
		}
	}
}

// listed reads a name of a list or a cell of a row, which without quotes may
// have spaces inside, as Weka's own writer never does but people do.
func (t *arffText) listed() ([]byte, error) {
	if c := t.data[t.i]; c == '\'' || c == '"' {
		text, _, err := t.name(nil)
		return text, err
	}
	start := t.i
	for c := t.data[t.i]; c != ',' && c != '}' && c != '\n' && c != '{'; c = t.data[t.i] {
		// A comment stands apart; 50% is a value.
		if c == '%' && t.i > start && (t.data[t.i-1] == ' ' || t.data[t.i-1] == '\t') {
			break
		}
		t.i++
	}
	return bytes.TrimRight(t.data[start:t.i], " \t\r"), nil
}

func (g *arff) parse(b *batch) *problem {
	t := arffText{data: b.data}
	var cellsOf [][]byte
	budget := newBudget(g.memory, len(b.data))
	for t.i < len(t.data) {
		t.space()
		if t.end() {
			t.i += bytes.IndexByte(t.data[t.i:], '\n') + 1
			continue
		}
		var p *problem
		if t.data[t.i] == '{' {
			if cellsOf == nil {
				cellsOf = make([][]byte, len(g.own))
			}
			if p = budget.check(b.rows+1, len(g.own), t.i); p == nil {
				p = g.sparse(&t, b, cellsOf)
			}
		} else {
			p = g.dense(&t, b)
		}
		if p == nil {
			p = g.weight(&t, b)
		}
		if p != nil {
			return p
		}
		b.rows++
		t.i++
	}
	return nil
}

// add gives a cell to the column of its attribute.
func (g *arff) add(b *batch, n int, cell []byte, place int) *problem {
	if g.place[n] < 0 {
		return g.addNumber(b, n, cell, place)
	}
	c := &b.columns[g.place[n]]
	if c.idle {
		return nil
	}
	if f := c.add(cell, place); f != fine {
		return &problem{place, f.say(c.field.name, cell), c.field.name}
	}
	return nil
}

// addNumber adds a number to the bag's row.
func (g *arff) addNumber(b *batch, n int, cell []byte, place int) *problem {
	c := &b.columns[len(b.columns)-1]
	if c.idle {
		return nil
	}
	x, ok := parseNumber(cell)
	switch {
	case isMissing(cell):
		return problemAt(place, fmt.Sprintf("attribute %q: a missing cell in rows that are kept sparse; write its value, or leave it out if it is 0", g.fields[n].name))
	case !ok || x-x != 0:
		return &problem{place, notNumber.say(g.fields[n].name, cell), g.fields[n].name}
	case x != 0:
		c.row.add(c.word([]byte(g.fields[n].name), place), x)
	}
	return nil
}

// endBag closes the bag's row.
func (g *arff) endBag(b *batch) {
	if g.bag == nil {
		return
	}
	if c := &b.columns[len(b.columns)-1]; !c.idle {
		c.row.into(c.bag)
		c.row.reset()
		c.known++
	}
}

func (g *arff) dense(t *arffText, b *batch) *problem {
	for n := range g.fields {
		t.space()
		place := t.i
		if n > 0 {
			if t.data[t.i] != ',' {
				return g.ragged(t.i, n)
			}
			t.i++
			t.space()
			place = t.i
		}
		cell, err := t.listed()
		if err != nil {
			return problemAt(place, err.Error())
		}
		if p := g.add(b, n, cell, place); p != nil {
			return p
		}
		t.space()
	}
	g.endBag(b)
	return nil
}

func (g *arff) ragged(place, cells int) *problem {
	return problemAt(place, fmt.Sprintf("the row has %s where %s are declared; add the missing cells as ?", count(cells, "cell"), count(len(g.fields), "attribute")))
}

// sparse reads {index value, …}.
func (g *arff) sparse(t *arffText, b *batch, row [][]byte) *problem {
	start := t.i
	clear(row)
	for t.i++; ; {
		t.space()
		if t.data[t.i] == '}' {
			t.i++
			break
		}
		place := t.i
		n, err := strconv.Atoi(string(t.word()))
		if err != nil || n < 0 || n >= len(g.fields) {
			return problemAt(place, fmt.Sprintf("no index of a cell in a sparse row; expected a number from 0 to %d before the value", len(g.fields)-1))
		}
		own := g.place[n]
		if own >= 0 && row[own] != nil {
			return problemAt(place, fmt.Sprintf("cell %d comes twice in a sparse row; leave one out", n))
		}
		t.space()
		cell, err := t.listed()
		if err != nil {
			return problemAt(t.i, err.Error())
		}
		if own < 0 {
			if p := g.addNumber(b, n, cell, place); p != nil {
				return p
			}
		} else {
			// An empty cell is not one that was left out.
			row[own] = append([]byte{}, cell...)
		}
		t.space()
		if t.data[t.i] == ',' {
			t.i++
		} else if t.data[t.i] != '}' {
			return problemAt(start, "the sparse row is not closed; write {index value, index value}")
		}
	}
	g.endBag(b)
	for i, cell := range row {
		n := g.own[i]
		if cell == nil {
			cell = []byte(g.blanks[n])
		}
		if p := g.add(b, n, cell, start); p != nil {
			return p
		}
	}
	return nil
}

// weight reads the end of a row: nothing, or the row's weight in braces.
func (g *arff) weight(t *arffText, b *batch) *problem {
	t.space()
	if t.data[t.i] == ',' {
		place := t.i
		t.i++
		if t.space(); t.data[t.i] != '{' {
			return problemAt(place, fmt.Sprintf("the row has more cells than the %s declared; quote text that contains a comma", count(len(g.fields), "attribute")))
		}
	}
	if t.data[t.i] == '{' {
		place := t.i
		t.i++
		t.space()
		x, end := scanNumber(t.data, t.i)
		ok := end > t.i && x >= 0 && x-x == 0
		t.i = end
		t.space()
		if !ok || t.data[t.i] != '}' {
			return problemAt(place, "no weight in the braces that end a row; expected a finite number ≥ 0, as in {2}")
		}
		t.i++
		for len(b.weights) < b.rows {
			b.weights = append(b.weights, 1)
		}
		b.weights = append(b.weights, x)
		t.space()
	}
	if !t.end() {
		return problemAt(t.i, "text follows the row; write one row a line, and commas between cells")
	}
	t.i += bytes.IndexByte(t.data[t.i:], '\n')
	return nil
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
