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
type arff struct {
	fields []*field
	blanks []string // the cells that sparse rows leave out
}

func (*arff) eol() byte { return '\n' }

func (*arff) cut(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

func (g *arff) columns() []cells {
	columns := make([]cells, len(g.fields))
	for i, f := range g.fields {
		columns[i].field = f
	}
	return columns
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
	g := &arff{fields: fields, blanks: make([]string, len(fields))}
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
			return nil, fmt.Errorf("a declared value is not UTF-8 text; convert the file to UTF-8, e.g. with iconv")
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
	for t.i < len(t.data) {
		t.space()
		if t.end() {
			t.i += bytes.IndexByte(t.data[t.i:], '\n') + 1
			continue
		}
		var p *problem
		if t.data[t.i] == '{' {
			if cellsOf == nil {
				cellsOf = make([][]byte, len(g.fields))
			}
			p = g.sparse(&t, b, cellsOf)
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

func (g *arff) add(b *batch, n int, cell []byte, place int) *problem {
	c := &b.columns[n]
	if c.idle {
		return nil
	}
	if f := c.add(cell, place); f != fine {
		return &problem{place, f.say(c.field.name, cell)}
	}
	return nil
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
			return &problem{place, err.Error()}
		}
		if p := g.add(b, n, cell, place); p != nil {
			return p
		}
		t.space()
	}
	return nil
}

func (g *arff) ragged(place, cells int) *problem {
	return &problem{place, fmt.Sprintf("the row has %s where %s are declared; add the missing cells as ?", count(cells, "cell"), count(len(g.fields), "attribute"))}
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
		if err != nil || n < 0 || n >= len(row) {
			return &problem{place, fmt.Sprintf("no index of a cell in a sparse row; expected a number from 0 to %d before the value", len(row)-1)}
		}
		if row[n] != nil {
			return &problem{place, fmt.Sprintf("cell %d comes twice in a sparse row; leave one out", n)}
		}
		t.space()
		cell, err := t.listed()
		if err != nil {
			return &problem{t.i, err.Error()}
		}
		// An empty cell is not one that was left out.
		row[n] = append([]byte{}, cell...)
		t.space()
		if t.data[t.i] == ',' {
			t.i++
		} else if t.data[t.i] != '}' {
			return &problem{start, "the sparse row is not closed; write {index value, index value}"}
		}
	}
	for n, cell := range row {
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
			return &problem{place, fmt.Sprintf("the row has more cells than the %s declared; quote text that contains a comma", count(len(g.fields), "attribute"))}
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
			return &problem{place, "no weight in the braces that end a row; expected a finite number ≥ 0, as in {2}"}
		}
		t.i++
		for len(b.weights) < b.rows {
			b.weights = append(b.weights, 1)
		}
		b.weights = append(b.weights, x)
		t.space()
	}
	if !t.end() {
		return &problem{t.i, "text follows the row; write one row a line, and commas between cells"}
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
