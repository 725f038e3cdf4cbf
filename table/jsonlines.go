package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// jsonLines reads one flat JSON object a line. Keys are columns, in the order
// in which they first come; a key that a line does not have is a missing
// cell. Strings, numbers, true and false are cells as if they stood in a CSV
// file; null is a missing cell.
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
			return &problem{l.i, "text follows the object; write one object a line"}
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
}

func (l *line) space() {
	for c := l.data[l.i]; c == ' ' || c == '\t' || c == '\r'; c = l.data[l.i] {
		l.i++
	}
}

func (l *line) expect(c byte, what string) *problem {
	if l.data[l.i] != c {
		return &problem{l.i, fmt.Sprintf("%s, expected %s; write one flat JSON object a line", found(l.data[l.i]), what)}
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
	l.guess = 0
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
	column, p := l.column(key, place)
	if p != nil {
		return p
	}
	l.space()
	if p := l.expect(':', "a colon after the key"); p != nil {
		return p
	}
	l.space()
	place = l.i
	cell, p := l.value(column)
	if p != nil {
		return p
	}
	c := &l.batch.columns[column]
	if c.idle {
		return nil
	}
	c.pad(l.batch.rows)
	if f := c.add(cell, place); f != fine {
		return &problem{place, f.say(c.field.name, cell)}
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
				return 0, &problem{place, "a key is not UTF-8 text; convert the file to UTF-8, e.g. with iconv"}
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
		return 0, &problem{place, fmt.Sprintf("the key %s comes twice in one object; give each value its own key", quote(key))}
	}
	l.last[n] = l.batch.rows + 1
	return n, nil
}

// value reads a value as the text of a cell, nil for null.
func (l *line) value(column int) ([]byte, *problem) {
	start := l.i
	switch c := l.data[l.i]; {
	case c == '"':
		return l.string()
	case c == '{' || c == '[':
		return nil, &problem{start, fmt.Sprintf("key %q: its value is nested; give every value a key of its own on the top level", l.batch.columns[column].field.name)}
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
	return nil, &problem{start, fmt.Sprintf("key %q: no JSON value; expected a string in quotes, a number, true, false or null", l.batch.columns[column].field.name)}
}

// number reads a number in JSON's grammar, a part of that of scanNumber.
func (l *line) number() ([]byte, *problem) {
	start := l.i
	_, end := scanNumber(l.data, l.i)
	text := l.data[start:max(end, start+1)]
	if end == start || !json.Valid(text) {
		return nil, &problem{start, fmt.Sprintf("%s is no JSON number; write it as -1.5e3, or in quotes if it is a name", quote(text))}
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
			return nil, &problem{start, "the quote that opens here is not closed in its line; close it, and write a line end as \\n"}
		case c < ' ':
			return nil, &problem{l.i, "a control character in a string; write it as \\u and four digits"}
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
		return nil, &problem{place, "a string is not UTF-8 text; convert the file to UTF-8, e.g. with iconv"}
	}
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, &problem{place, fmt.Sprintf("a string has a wrong escape (%v); write a backslash as \\\\", err)}
	}
	return []byte(s), nil
}
