package xlsx

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// sheet is a sheet being read as comma-separated text.
type sheet struct {
	*part
	merges []area // in the first rows
	ahead  []row  // read, and not yet given
	width  int
	line   int // of the last row given
	out    bytes.Buffer
	given  int64
	ended  bool
	err    error
	row    int // number of the last row read
}

// row is the cells of a row.
type row struct {
	number int // from 1
	cells  []string
}

// area is merged cells, from 0, the last ones included.
type area struct{ top, left, bottom, right int }

const (
	lookAhead  = 100 // rows, to find the width and the header
	mostLevels = 4   // rows of a header
)

// open opens the part of a sheet.
func (b *book) open(name string) (*sheet, error) {
	merges, err := b.findMerges(name)
	if err != nil {
		return nil, err
	}
	p, err := b.part(name)
	if err != nil {
		return nil, err
	}
	s := &sheet{part: p, merges: merges}
	for len(s.ahead) < lookAhead && !s.ended {
		r, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.width = max(s.width, len(r.cells))
		s.ahead = append(s.ahead, r)
	}
	if s.width == 0 {
		return nil, errors.New("the sheet is empty; expected a header and rows of data")
	}
	s.header()
	return s, nil
}

// findMerges looks for merged cells of the first rows. They stand behind all
// rows, which are passed over.
func (b *book) findMerges(name string) ([]area, error) {
	p, err := b.part(name)
	if err != nil {
		return nil, err
	}
	defer p.r.Close()
	before := b.left
	in := bufio.NewReaderSize(p, 1<<16)
	var found []area
	for len(found) < mostColumns {
		tag, err := in.ReadSlice('>')
		if err == io.EOF {
			break
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, p.damaged(err)
		}
		_, ref, ok := bytes.Cut(tag, []byte("mergeCell ref=\""))
		if !ok {
			continue
		}
		ref, _, _ = bytes.Cut(ref, []byte{'"'})
		from, to, _ := strings.Cut(string(ref), ":")
		top, left, ok1 := place(from)
		bottom, right, ok2 := place(to)
		if ok1 && ok2 && top <= lookAhead && top <= bottom && left <= right {
			found = append(found, area{top, left, bottom, right})
		}
	}
	b.left = before // it is unpacked once more, and may be
	return found, nil
}

// place reads a reference such as B12 as row and column, from 0.
func place(ref string) (row, column int, ok bool) {
	i := 0
	for ; i < len(ref) && ref[i]-'A' < 26; i++ {
		if column = 26*column + int(ref[i]-'A') + 1; column > mostColumns {
			return 0, 0, false
		}
	}
	row, err := strconv.Atoi(ref[i:])
	return row - 1, column - 1, err == nil && column > 0 && row > 0 && row <= mostRows
}

// next reads the next row that has cells.
func (s *sheet) next() (row, error) {
	var r row
	for {
		t, err := s.x.RawToken()
		if err != nil {
			s.ended = true
			if err == io.EOF {
				return r, err
			}
			return r, s.damaged(err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Local != "row" {
				continue
			}
			s.row++
			if n, err := strconv.Atoi(attribute(&e, "r")); err == nil {
				if n < s.row || n > mostRows {
					return r, s.damaged(fmt.Errorf("row %d follows row %d", n, s.row-1))
				}
				s.row = n
			}
			r = row{number: s.row}
			if err := s.cells(&r); err != nil {
				return r, err
			}
			if len(r.cells) > 0 {
				return r, nil
			}
		case xml.EndElement:
			if e.Name.Local == "sheetData" {
				s.ended = true
				return r, io.EOF
			}
		}
	}
}

// cells reads the cells of a row; empty ones at its end are left out.
func (s *sheet) cells(r *row) error {
	at := -1
	var kind, style, text string
	inText, phonetic := false, 0
	var value strings.Builder
	for {
		t, err := s.x.RawToken()
		if err != nil {
			return s.damaged(err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "c":
				at++
				if _, column, ok := place(attribute(&e, "r")); ok {
					if column < at {
						return s.damaged(fmt.Errorf("row %d has cells in disorder", r.number))
					}
					at = column
				}
				kind, style = attribute(&e, "t"), attribute(&e, "s")
				value.Reset()
			case "v", "t":
				inText = true
			case "rPh":
				phonetic++
			}
		case xml.CharData:
			if inText && phonetic == 0 {
				value.Write(e)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "v", "t":
				inText = false
			case "rPh":
				phonetic--
			case "c":
				if text, err = s.text(kind, style, value.String()); err != nil {
					return s.damaged(fmt.Errorf("row %d: %w", r.number, err))
				}
				if text != "" && at < mostColumns && (s.width == 0 || len(s.ahead) < lookAhead || at < s.width) {
					for len(r.cells) <= at {
						r.cells = append(r.cells, "")
					}
					r.cells[at] = text
				}
			case "row":
				return nil
			}
		}
	}
}

// text returns the content of a cell as a file of text would have it.
func (s *sheet) text(kind, style, value string) (string, error) {
	switch kind {
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(s.book.shared) {
			return "", fmt.Errorf("text %q is none of the %d that there are", value, len(s.book.shared))
		}
		return s.book.shared[n], nil
	case "b":
		if value == "1" {
			return "true", nil
		}
		return "false", nil
	case "e":
		return "", nil
	case "", "n":
	default: // texts, and dates as such
		return value, nil
	}
	f := plain
	if n, err := strconv.Atoi(style); err == nil && n >= 0 && n < len(s.book.formats) {
		f = s.book.formats[n]
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || f == plain {
		return value, nil
	}
	if f == percent {
		return strconv.FormatFloat(100*x, 'g', 15, 64), nil
	}
	return s.book.date(x, f), nil
}

// date writes a number of days as a date, or as a time of day.
func (b *book) date(x float64, f format) string {
	if !(x >= 0 && x < 2958466) { // the year 10000
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	day, seconds := math.Floor(x), math.Round((x-math.Floor(x))*86400)
	var at time.Time
	switch {
	case b.since04:
		at = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case day < 61: // the year 1900 has a leap day here, which it had not
		at = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	default:
		at = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	}
	at = at.AddDate(0, 0, int(day)).Add(time.Duration(seconds) * time.Second)
	switch {
	case f == clocked && day == 0:
		return at.Format(time.TimeOnly)
	case seconds == 0:
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04:05")
}

// header leaves out titles above the table, and joins the rows of a header whose
// cells are merged.
func (s *sheet) header() {
	filled := func(r *row) (n int) {
		for _, c := range r.cells {
			if c != "" {
				n++
			}
		}
		return n
	}
	first := 0
	for s.width > 1 && first+1 < len(s.ahead) && filled(&s.ahead[first]) == 1 && !s.spans(s.ahead[first].number-1, s.width) {
		first++
	}
	s.ahead = s.ahead[first:]
	levels := 1
	for levels < mostLevels && levels < len(s.ahead) && s.spans(s.ahead[levels-1].number-1, s.width) {
		levels++
	}
	if levels == 1 {
		return
	}
	names := make([]string, s.width)
	for k := range levels {
		for column := range names {
			name := s.covered(&s.ahead[k], column)
			if name != "" && !strings.HasSuffix(names[column], name) {
				names[column] = strings.TrimSpace(names[column] + " " + name)
			}
		}
	}
	s.ahead[levels-1].cells = names
	s.ahead = s.ahead[levels-1:]
}

// spans reports whether cells of a row are merged sideways, but not all of them.
func (s *sheet) spans(number, width int) bool {
	for _, m := range s.merges {
		if m.top == number && m.right > m.left && m.right-m.left+1 < width {
			return true
		}
	}
	return false
}

// covered returns a cell of a row, that of the merged cells that it is a part of.
func (s *sheet) covered(r *row, column int) string {
	for _, m := range s.merges {
		if m.top == r.number-1 && m.left <= column && column <= m.right {
			column = m.left
			break
		}
	}
	if column < len(r.cells) {
		return r.cells[column]
	}
	return ""
}

// Read gives the text.
func (s *sheet) Read(to []byte) (int, error) {
	for s.out.Len() == 0 && s.err == nil {
		s.err = s.write()
	}
	if s.out.Len() > 0 {
		return s.out.Read(to)
	}
	return 0, s.err
}

// write adds the next row.
func (s *sheet) write() error {
	var r row
	if len(s.ahead) > 0 {
		r, s.ahead = s.ahead[0], s.ahead[1:]
	} else if s.ended {
		s.r.Close()
		return io.EOF
	} else {
		var err error
		if r, err = s.next(); err != nil {
			s.r.Close()
			return err
		}
	}
	s.out.Reset()
	for s.line++; s.line < r.number; s.line++ {
		s.out.WriteByte('\n')
	}
	for column := range s.width {
		text := ""
		if column < len(r.cells) {
			text = r.cells[column]
		}
		if column > 0 {
			s.out.WriteByte(',')
		}
		writeCell(&s.out, text)
	}
	if s.width == 1 && len(r.cells) == 0 {
		s.out.WriteString(`""`)
	}
	s.out.WriteByte('\n')
	if s.given += int64(s.out.Len()); s.given > max(leastUnpacked, mostText*s.bytes) {
		return errors.New("the sheet is nearly empty and very wide; keep the table in a sheet of its own")
	}
	return nil
}

// writeCell writes a cell in one line, in quotes if need be.
func writeCell(out *bytes.Buffer, text string) {
	if strings.ContainsAny(text, "\r\n") {
		text = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
	}
	if !strings.ContainsAny(text, "\",") && strings.TrimSpace(text) == text {
		out.WriteString(text)
		return
	}
	out.WriteByte('"')
	out.WriteString(strings.ReplaceAll(text, `"`, `""`))
	out.WriteByte('"')
}
