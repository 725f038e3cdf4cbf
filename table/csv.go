package table

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// dialect is how a file of delimited text is written. Fields may stand in
// double quotes, in which delimiters and line ends are text and "" is a
// quote (RFC 4180); spaces around fields do not count. A quote inside a field
// that does not begin with one is text.
type dialect struct {
	delimiter byte
	newline   byte // '\n', or '\r' in files that have no '\n'
}

// csv reads delimited text with a known dialect and columns.
type csv struct {
	dialect
	fields []*field
}

func (d dialect) eol() byte { return d.newline }

// blank reports whether a byte may stand around a field.
func (d dialect) blank(c byte) bool { return (c == ' ' || c == '\t') && c != d.delimiter }

// opens reports whether the quote at data[q] begins a field that begins at or
// after data[from].
func (d dialect) opens(data []byte, from, q int) bool {
	for q > from && d.blank(data[q-1]) {
		q--
	}
	return q == 0 || data[q-1] == d.delimiter || data[q-1] == d.newline
}

// closes returns the index after the quote that ends the field whose content
// begins at data[p], or -1 if the data end before that is known.
func closes(data []byte, p int) int {
	for {
		q := bytes.IndexByte(data[p:], '"')
		if q < 0 || p+q+1 == len(data) {
			return -1
		}
		p += q + 1
		if data[p] != '"' {
			return p
		}
		p++
	}
}

// cut jumps from quote to quote: what lies between quoted fields is searched
// for line ends, and quoted fields are not.
func (d dialect) cut(data []byte) int {
	end, from := 0, 0
	for at := 0; ; {
		q := bytes.IndexByte(data[at:], '"')
		if q < 0 {
			q = len(data)
		} else {
			q += at
		}
		if n := bytes.LastIndexByte(data[from:q], d.newline); n >= 0 {
			end = from + n + 1
		}
		if q == len(data) {
			return end
		}
		if !d.opens(data, from, q) {
			from, at = q, q+1
			continue
		}
		p := closes(data, q+1)
		if p < 0 {
			return end
		}
		from, at = p, p
	}
}

// record returns the index after the first record, or 0 if the data end
// before that is known.
func (d dialect) record(data []byte) int {
	end := -1 // of the line at from, found once however many quotes it has
	for from, at := 0, 0; ; {
		if end < from {
			n := bytes.IndexByte(data[from:], d.newline)
			if n < 0 {
				return 0
			}
			end = from + n
		}
		q := bytes.IndexByte(data[at:max(at, end)], '"')
		if q < 0 {
			return end + 1
		}
		q += at
		if !d.opens(data, from, q) {
			at = q + 1
			continue
		}
		p := closes(data, q+1)
		if p < 0 {
			return 0
		}
		from, at = p, p
	}
}

// unescape appends the content of a quoted field with its doubled quotes
// made single.
func unescape(to, content []byte) []byte {
	for {
		q := bytes.IndexByte(content, '"')
		if q < 0 {
			return append(to, content...)
		}
		to = append(to, content[:q+1]...)
		content = content[q+2:]
	}
}

// cell reads the field that begins at data[i]. The data end with a line end.
// It returns the field's text, for which scratch is used if need be, and the
// index of the delimiter or line end after it.
func (d dialect) cell(data []byte, i int, scratch *[]byte) (text []byte, end int, p *problem) {
	for d.blank(data[i]) {
		i++
	}
	if data[i] != '"' {
		j := i
		for data[j] != d.delimiter && data[j] != d.newline {
			j++
		}
		end = j
		for j > i && (d.blank(data[j-1]) || data[j-1] == '\r') {
			j--
		}
		return data[i:j], end, nil
	}
	after := closes(data, i+1)
	if after < 0 {
		return nil, i, problemAt(i, "the quote that opens here is never closed; close it, or double it if it is part of the text")
	}
	text = data[i+1 : after-1]
	if bytes.IndexByte(text, '"') >= 0 {
		*scratch = unescape((*scratch)[:0], text)
		text = *scratch
	}
	end = after
	for d.blank(data[end]) || data[end] == '\r' && data[end] != d.newline {
		end++
	}
	if data[end] != d.delimiter && data[end] != d.newline {
		return nil, i, problemAt(end, "text follows a closing quote; double the quotes that are part of the text")
	}
	return text, end, nil
}

// split returns the fields of a record that ends with a line end.
func (d dialect) split(record []byte) (cells [][]byte, p *problem) {
	var scratch []byte
	for i := 0; ; i++ {
		text, end, p := d.cell(record, i, &scratch)
		if p != nil {
			return nil, p
		}
		cells = append(cells, bytes.Clone(text))
		if i = end; record[i] == d.newline {
			return cells, nil
		}
	}
}

// blankLine returns the index after the empty line at data[i], or i.
func (d dialect) blankLine(data []byte, i int) int {
	if data[i] == d.newline {
		return i + 1
	}
	if data[i] == '\r' && i+1 < len(data) && data[i+1] == d.newline {
		return i + 2
	}
	return i
}

func (s *csv) columns() []cells {
	columns := make([]cells, len(s.fields))
	for i, f := range s.fields {
		columns[i].field = f
	}
	return columns
}

// parse reads the block's records. In a column that is numbers so far, the
// number is read straight from the block, which finds the end of the field at
// the same time; everything else takes the longer way.
func (s *csv) parse(b *batch) *problem {
	data, columns := b.data, b.columns
	delimiter, newline := s.delimiter, s.newline
	for i := 0; i < len(data); {
		if next := s.blankLine(data, i); next > i {
			i = next
			continue
		}
		start := i
		for n := 0; ; n++ {
			if n == len(columns) {
				return s.ragged(data, start, i)
			}
			c := &columns[n]
			if c.fast && !c.idle {
				x, end := scanNumber(data, i)
				if end > i && (data[end] == delimiter || data[end] == newline) && x-x == 0 {
					c.floats = append(c.floats, x)
					c.known++
					if i = end + 1; data[end] == newline {
						if n+1 < len(columns) {
							return s.ragged(data, start, end)
						}
						break
					}
					continue
				}
			}
			text, end, p := s.cell(data, i, &b.scratch)
			if p != nil {
				return p
			}
			if !c.idle {
				if f := c.add(text, i); f != fine {
					return &problem{i, f.say(c.field.name, text), c.field.name}
				}
			}
			if i = end + 1; data[end] == newline {
				if n+1 < len(columns) {
					return s.ragged(data, start, end)
				}
				break
			}
		}
		b.rows++
	}
	return nil
}

// ragged says that the record at data[start] has not as many cells as there
// are columns, which shows at a place in it.
func (s *csv) ragged(data []byte, start, place int) *problem {
	cells, p := s.split(data[start:])
	if p != nil {
		return problemAt(start+p.place, p.text)
	}
	return problemAt(place, fmt.Sprintf("the row has %s where there are %s; add or remove cells, or quote text that contains %q", count(len(cells), "cell"), count(len(s.fields), "column"), s.delimiter))
}

// beginCSV finds the dialect and the header.
func (s *reading) beginCSV() (source, error) {
	if err := s.beginText(); err != nil {
		return nil, err
	}
	c := s.content
	d, err := s.dialect()
	if err == nil {
		err = s.passTitles(d)
	}
	if err == nil {
		d, err = s.dialect()
	}
	if err != nil {
		return nil, err
	}
	switch d.delimiter {
	case '\t':
		s.format = "tsv"
	case ',': // also of a sheet
	default:
		s.format = "csv with " + string(d.delimiter)
	}
	for len(c.ahead) > 0 && d.blankLine(c.ahead, 0) > 0 {
		c.drop(d.blankLine(c.ahead, 0))
		s.assembly.lines++
	}
	first, err := s.firstRecord(d)
	if err != nil {
		return nil, err
	}
	cells, p := d.split(first)
	if p != nil {
		b := &batch{data: first, before: s.assembly.lines}
		return nil, fmt.Errorf("%s:%s %s", s.plan.name, b.position(p.place, d.newline), p.text)
	}
	sample, err := c.look(len(first) + glance)
	if err != nil {
		return nil, s.named(err)
	}
	var names []string
	rows := d.sample(sample[min(len(first), len(sample)):], c.ended, len(cells))
	if s.hasHeader(cells, rows) {
		c.drop(min(len(first), len(c.ahead)))
		at := s.assembly.lines + 1
		s.assembly.lines += bytes.Count(first, []byte{d.newline})
		cells, rows = s.readHeading(d, cells, rows)
		for i, cell := range cells {
			if !goodText(cell) {
				return nil, fmt.Errorf("%s:%d:1: the name of column %d is not UTF-8 text; name its encoding, or convert the file to UTF-8", s.plan.name, at, i+1)
			}
			names = append(names, string(cell))
		}
	} else {
		names = make([]string, len(cells))
		for i := range names {
			names[i] = "c" + strconv.Itoa(i+1)
		}
		s.notes.add("no header line: the columns are called c1 to c%d", len(names))
	}
	fields, err := s.nameFields(names)
	if err == nil {
		s.lookAround(d, fields, rows)
	}
	return &csv{d, fields}, err
}

// dialect is the one that was asked for, or that the beginning shows.
func (s *reading) dialect() (dialect, error) {
	if s.format == "xlsx" {
		return dialect{',', '\n'}, nil
	}
	d := sniff(s.content.ahead, s.content.ended)
	asked := s.plan.options.Delimiter
	switch strings.ToLower(asked) {
	case "":
		return d, nil
	case "tab", `\t`:
		asked = "\t"
	case "space":
		asked = " "
	}
	if len(asked) != 1 || asked[0] >= 0x80 || strings.ContainsAny(asked, "\"\r\n") {
		return d, s.named(fmt.Errorf("%q cannot divide cells; expected one character, or tab", asked))
	}
	d.delimiter = asked[0]
	return d, nil
}

// hasHeader reports whether the first record names the columns: as was said, or
// as it looks.
func (s *reading) hasHeader(first [][]byte, rows [][][]byte) bool {
	if no := s.plan.options.NoHeader; no != nil {
		return !*no
	}
	return s.plan.below(first, rows) != ordinary || s.isHeader(first, rows)
}

// lookAround takes note of what the first rows tell of how numbers are written.
func (s *reading) lookAround(d dialect, fields []*field, rows [][][]byte) {
	s.assembly.locale.semicolons = d.delimiter == ';'
	for i, f := range fields {
		var g grouped
		for _, row := range rows {
			cell := row[i]
			if isNoAmount(cell) {
				continue
			}
			g.add(cell, '.')
			if _, ok := parseNumber(cell); ok && !isGrouped(cell, '.') && bytes.IndexByte(cell, '.') >= 0 {
				s.assembly.locale.points = true
			}
		}
		f.grouped, f.mayGroup, f.groups = g.may() && g.below == 0, g.may(), g.tell()
	}
}

// firstRecord looks at the first record, however long it is. It ends with a
// line end, if need be one that the file lacks.
func (s *reading) firstRecord(d dialect) ([]byte, error) {
	c := s.content
	for size := glance; ; size *= 2 {
		data, err := c.look(size)
		if err != nil {
			return nil, s.named(err)
		}
		if n := d.record(data); n > 0 {
			return data[:n:n], nil
		}
		if c.ended {
			return append(bytes.Clone(data), d.newline), nil
		}
		if size >= s.plan.options.tuning.record {
			return nil, fmt.Errorf("%s:%d:1: the record that begins here has more than %d MB; is a quote not closed?", s.plan.name, s.assembly.lines+1, s.plan.options.tuning.record>>20)
		}
	}
}

// nameFields gives every column a name of its own, and a field.
func (s *reading) nameFields(names []string) ([]*field, error) {
	var unnamed, doubled []string
	taken := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" {
			names[i] = "c" + strconv.Itoa(i+1)
			unnamed = append(unnamed, names[i])
		}
	}
	for _, name := range names {
		taken[name] = true
	}
	if len(taken) < len(names) {
		doubled = rename(names, taken)
	}
	if len(unnamed) > 0 {
		s.notes.add("%s had no name in the header", columnList(unnamed))
	}
	if len(doubled) > 0 {
		s.notes.add("%s had the name of an earlier column", columnList(doubled))
	}
	if len(names) >= manyColumns {
		s.notes.add("%d columns are many; %v", len(names), remedy.Remedy{Kind: remedy.LeaveOut})
	}
	known := names
	for _, p := range s.parts {
		known = append(slices.Clip(known), p.name)
	}
	if err := s.plan.check(known); err != nil {
		return nil, err
	}
	return s.plan.all(names), nil
}

// rename numbers names that stand there before, and returns them as they are then.
// What is taken is known.
func rename(names []string, taken map[string]bool) (doubled []string) {
	next := make(map[string]int)
	for i, name := range names {
		if next[name] == 0 {
			next[name] = 2
			continue
		}
		unique := name
		for taken[unique] {
			unique = name + "." + strconv.Itoa(next[name])
			next[name]++
		}
		taken[unique] = true
		names[i] = unique
		doubled = append(doubled, unique)
	}
	return doubled
}

// manyColumns is the number of columns that is worth a remark.
const manyColumns = 10000

// sniff finds the dialect in the beginning of a file: the delimiter that
// splits the first line into several fields and most of the others into as
// many; of two such, the one that splits more.
func sniff(head []byte, whole bool) dialect {
	best := dialect{',', '\n'}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		best.newline = '\r'
	}
	var bestShare float64
	bestWidth := 1
	for _, delimiter := range []byte{',', '\t', ';', '|'} {
		d := dialect{delimiter, best.newline}
		width, same, records := 0, 0, 0
		for rest := head; len(rest) > 0 && records < 100; {
			n := d.record(rest)
			if n == 0 {
				if !whole && records > 0 {
					break
				}
				rest, n = append(bytes.Clone(rest), d.newline), len(rest)+1
			}
			if d.blankLine(rest, 0) == 0 {
				cells, _ := d.split(rest[:n])
				if records == 0 {
					width = len(cells)
				}
				if len(cells) == width {
					same++
				}
				records++
			}
			rest = rest[n:]
		}
		if width < 2 {
			continue
		}
		share := float64(same) / float64(records)
		if delimiter == ';' && share == 1 && decimalCommas(head) {
			best.delimiter, bestShare, bestWidth = ';', 2, width
		}
		if share > bestShare || share == bestShare && width > bestWidth {
			best.delimiter, bestShare, bestWidth = delimiter, share, width
		}
	}
	return best
}

// decimalCommas reports whether every comma stands between digits, as it does
// where semicolons divide cells.
func decimalCommas(head []byte) bool {
	commas := 0
	for i := 1; i+1 < len(head); i++ {
		if head[i] != ',' {
			continue
		}
		if commas++; head[i-1]-'0' > 9 || head[i+1]-'0' > 9 {
			return false
		}
	}
	return commas > 0
}

// sample splits the first records of some data.
func (d dialect) sample(data []byte, whole bool, width int) [][][]byte {
	var rows [][][]byte
	for len(data) > 0 && len(rows) < 100 {
		n := d.record(data)
		if n == 0 {
			if !whole {
				break
			}
			data, n = append(bytes.Clone(data), d.newline), len(data)+1
		}
		if d.blankLine(data, 0) == 0 {
			if cells, p := d.split(data[:n]); p == nil && len(cells) == width {
				rows = append(rows, cells)
			}
		}
		data = data[n:]
	}
	return rows
}

// isHeader reports whether the first record names the columns. It does if it
// holds no number, or has a name above a column of numbers. Otherwise it is a
// row like the others, unless the numbers in it are years above figures that
// are none, among names. Without any number it is a row if most of its cells
// stand in their columns again.
func (s *reading) isHeader(first [][]byte, rows [][][]byte) bool {
	numbers, names, years, again := 0, 0, 0, 0
	for i, cell := range first {
		if _, ok := s.plan.attrs[string(cell)]; ok {
			return true
		}
		below := quantities(rows, i)
		switch {
		case isMarker(cell):
		case !isQuantity(cell):
			names++
			if comesAgain(cell, rows, i) {
				again++
			}
			if below == len(rows) && below > 0 {
				return true
			}
		default:
			numbers++
			if isYear(cell) && !yearsBelow(rows, i) {
				years++
			}
		}
	}
	if numbers == 0 {
		return 2*again <= names || names < 2
	}
	return names > 0 && years == numbers
}

// comesAgain reports whether the first row's cell of a column, which the rows do
// not hold, is one of a few names that the column repeats.
func comesAgain(first []byte, rows [][][]byte, column int) bool {
	for _, row := range rows {
		if bytes.Equal(row[column], first) {
			return true
		}
	}
	return false
}

// quantities counts the cells of a column that are numbers, dates or missing;
// 0 if all are missing.
func quantities(rows [][][]byte, column int) int {
	n, known := 0, 0
	for _, row := range rows {
		if isNoAmount(row[column]) {
			n++
		} else if isQuantity(row[column]) {
			n++
			known++
		}
	}
	if known == 0 {
		return 0
	}
	return n
}

func isQuantity(cell []byte) bool {
	if _, ok := parseNumber(cell); ok {
		return true
	}
	if _, ok := parseDate(cell); ok {
		return true
	}
	return isLoose(cell)
}

func isYear(cell []byte) bool {
	year, ok := digits(cell)
	return ok && len(cell) == 4 && 1800 <= year && year < 2200
}

func yearsBelow(rows [][][]byte, column int) bool {
	for _, row := range rows {
		if !isMarker(row[column]) && !isYear(row[column]) {
			return false
		}
	}
	return true
}
