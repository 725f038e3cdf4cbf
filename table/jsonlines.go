package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// jsonLines reads one JSON object a line. Keys are columns, in the order in which
// they first come; a key that a line does not have is a missing cell. Strings,
// numbers, true and false are cells as if they stood in a CSV file; null is a
// missing cell. What is nested is flattened: plan.name is the name of the plan,
// tags.2 the second tag; a name that is to be ignored stands for all within it.
type jsonLines struct {
	plan *plan
}

func (*jsonLines) eol() byte { return '\n' }

func (*jsonLines) cut(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

func (*jsonLines) columns() []cells { return []cells{} }

func (s *reading) beginJSON() (source, error) {
	if err := s.beginText(); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(s.content.ahead), []byte{'['}) {
		return nil, fmt.Errorf("%s:1:1: is one JSON array; write its objects one a line, e.g. with jq -c '.[]'", s.plan.name)
	}
	return &jsonLines{s.plan}, nil
}

func (g *jsonLines) parse(b *batch) *problem {
	// Batches are used again, and meet the same keys again: a column stays
	// where it is, and is filled up with missing cells in the end.
	index := make(map[string]int, len(b.columns))
	for i := range b.columns {
		index[b.columns[i].field.name] = i
	}
	l := line{data: b.data, batch: b, plan: g.plan, index: index, budget: newBudget(g.plan.options.Memory, len(b.data))}
	for l.i < len(l.data) {
		l.space()
		if l.data[l.i] == '\n' {
			l.i++
			continue
		}
		before, start := len(b.columns), l.i
		if p := l.object(); p != nil {
			return p
		}
		if len(b.columns) > before || b.rows&1023 == 0 {
			if p := l.budget.check(b.rows+1, l.wanted(), start); p != nil {
				return p
			}
		}
		l.space()
		if l.data[l.i] != '\n' {
			return problemAt(l.i, "text follows the object; write one object a line")
		}
		l.i++
		b.rows++
	}
	for i := range b.columns {
		if c := &b.columns[i]; !c.idle {
			c.pad(b.rows)
		}
	}
	return nil
}

// wanted counts the columns that are not passed over.
func (l *line) wanted() int {
	n := 0
	for i := range l.batch.columns {
		if !l.batch.columns[i].idle {
			n++
		}
	}
	return n
}

// line is a parser of flat objects. The data end with a line end, at which
// every loop stops.
type line struct {
	data  []byte
	i     int
	batch *batch
	plan  *plan
	index map[string]int
	last  []int // the row + 1 in which each column was last met
	guess int   // the column that probably comes next
	// budget is checked before rows are filled up with missing cells.
	budget budget
	path   []byte // the key so far, with those around it
	deep   int
	hidden int // of what is around, how many are to be ignored
}

// mostDeep is how far objects may be nested.
const mostDeep = 32

func (l *line) space() {
	for c := l.data[l.i]; c == ' ' || c == '\t' || c == '\r'; c = l.data[l.i] {
		l.i++
	}
}

func (l *line) expect(c byte, what string) *problem {
	if l.data[l.i] != c {
		return problemAt(l.i, fmt.Sprintf("%s, expected %s; write one JSON object a line", found(l.data[l.i]), what))
	}
	l.i++
	return nil
}

func found(c byte) string {
	if c == '\n' {
		return "the line ends"
	}
	return fmt.Sprintf("%q found", rune(c))
}

func (l *line) object() *problem {
	if p := l.expect('{', "an object in braces"); p != nil {
		return p
	}
	if l.deep == 0 {
		l.guess = 0
	}
	if l.space(); l.data[l.i] == '}' {
		l.i++
		return nil
	}
	for {
		l.space()
		if p := l.member(); p != nil {
			return p
		}
		if l.space(); l.data[l.i] == '}' {
			l.i++
			return nil
		}
		if p := l.expect(',', "a comma or the closing brace"); p != nil {
			return p
		}
	}
}

// member reads a key and its value.
func (l *line) member() *problem {
	place := l.i
	if l.data[l.i] != '"' {
		return l.expect('"', "a key in quotes")
	}
	key, p := l.string()
	if p != nil {
		return p
	}
	l.space()
	if p := l.expect(':', "a colon after the key"); p != nil {
		return p
	}
	l.space()
	if l.deep == 0 && l.data[l.i] != '{' && l.data[l.i] != '[' {
		return l.cell(key, place)
	}
	return l.within(key, place)
}

// within reads the value of a key that is in another one, or that others are in.
func (l *line) within(key []byte, place int) *problem {
	outer := len(l.path)
	defer func() { l.path = l.path[:outer] }()
	if outer > 0 {
		l.path = append(l.path, '.')
	}
	l.path = append(l.path, key...)
	opens := l.data[l.i]
	if opens != '{' && opens != '[' {
		return l.cell(l.path, place)
	}
	if l.deep++; l.deep > mostDeep {
		return problemAt(place, fmt.Sprintf("values are nested more than %d deep; write them flat", mostDeep))
	}
	defer func() { l.deep-- }()
	if l.plan.ignore[string(l.path)] {
		l.plan.field(string(l.path))
		l.hidden++
		defer func() { l.hidden-- }()
	}
	if opens == '{' {
		return l.object()
	}
	return l.array()
}

// array reads a list, whose values are called by their number.
func (l *line) array() *problem {
	l.i++
	if l.space(); l.data[l.i] == ']' {
		l.i++
		return nil
	}
	for n := 1; ; n++ {
		l.space()
		if p := l.within(strconv.AppendInt(nil, int64(n), 10), l.i); p != nil {
			return p
		}
		if l.space(); l.data[l.i] == ']' {
			l.i++
			return nil
		}
		if p := l.expect(',', "a comma or the closing bracket"); p != nil {
			return p
		}
	}
}

// cell reads a value that is a cell of the column of a key.
func (l *line) cell(key []byte, place int) *problem {
	if l.hidden > 0 {
		_, p := l.value(key)
		return p
	}
	column, p := l.column(key, place)
	if p != nil {
		return p
	}
	place = l.i
	cell, p := l.value(key)
	if p != nil {
		return p
	}
	c := &l.batch.columns[column]
	if c.idle {
		return nil
	}
	c.pad(l.batch.rows)
	if f := c.add(cell, place); f != fine {
		return &problem{place, f.say(c.field.name, cell), c.field.name}
	}
	return nil
}

// column finds the column of a key, which is new in this line.
func (l *line) column(key []byte, place int) (int, *problem) {
	columns := l.batch.columns
	n := l.guess
	if n >= len(columns) || columns[n].field.name != string(key) {
		known, ok := l.index[string(key)]
		if n = known; !ok {
			if !goodText(key) {
				return 0, problemAt(place, "a key is not UTF-8 text; name its encoding, or convert the file to UTF-8")
			}
			n = len(columns)
			c := cells{field: l.plan.field(string(key))}
			c.reset()
			l.batch.columns = append(columns, c)
			l.index[string(key)] = n
		}
	}
	l.guess = n + 1
	for len(l.last) <= n {
		l.last = append(l.last, 0)
	}
	if l.last[n] == l.batch.rows+1 {
		return 0, problemAt(place, fmt.Sprintf("the key %s comes twice in one object; give each value its own key", quote(key)))
	}
	l.last[n] = l.batch.rows + 1
	return n, nil
}

// value reads a value as the text of a cell, nil for null.
func (l *line) value(key []byte) ([]byte, *problem) {
	start := l.i
	switch c := l.data[l.i]; {
	case c == '"':
		return l.string()
	case c == '-' || c-'0' <= 9:
		return l.number()
	}
	for l.data[l.i]-'a' < 26 {
		l.i++
	}
	switch word := l.data[start:l.i]; string(word) {
	case "true", "false":
		return word, nil
	case "null":
		return nil, nil
	}
	return nil, problemAt(start, fmt.Sprintf("key %q: no JSON value; expected a string in quotes, a number, true, false or null", key))
}

// number reads a number in JSON's grammar, a part of that of scanNumber.
func (l *line) number() ([]byte, *problem) {
	start := l.i
	_, end := scanNumber(l.data, l.i)
	text := l.data[start:max(end, start+1)]
	if end == start || !json.Valid(text) {
		return nil, problemAt(start, fmt.Sprintf("%s is no JSON number; write it as -1.5e3, or in quotes if it is a name", quote(text)))
	}
	l.i = end
	return text, nil
}

// string reads a string. One without escapes is a part of the block.
func (l *line) string() ([]byte, *problem) {
	start := l.i
	l.i++
	plain := true
	for {
		switch c := l.data[l.i]; {
		case c == '"':
			l.i++
			if plain {
				return l.data[start+1 : l.i-1], nil
			}
			return unescapeJSON(l.data[start:l.i], start)
		case c == '\n':
			return nil, problemAt(start, "the quote that opens here is not closed in its line; close it, and write a line end as \\n")
		case c < ' ':
			return nil, problemAt(l.i, "a control character in a string; write it as \\u and four digits")
		case c == '\\':
			plain = false
			if l.i++; l.data[l.i] != '\n' {
				l.i++
			}
		default:
			l.i++
		}
	}
}

func unescapeJSON(quoted []byte, place int) ([]byte, *problem) {
	var s string
	if !utf8.Valid(quoted) {
		return nil, problemAt(place, "a string is not UTF-8 text; name its encoding, or convert the file to UTF-8")
	}
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, problemAt(place, fmt.Sprintf("a string has a wrong escape (%v); write a backslash as \\\\", err))
	}
	return []byte(s), nil
}
