package table

import (
	"bytes"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// mostTitles is how many lines may stand above a table: a report has a few.
const mostTitles = 9

// passTitles leaves out what stands above the table, as exports of reports have it:
// "Sales 2024", the day on which it was written, an empty line. Whoever says whether
// the first line names the columns says that there is nothing above it.
func (s *reading) passTitles(d dialect) error {
	c := s.content
	if s.format == "xlsx" || s.plan.options.NoHeader != nil {
		return nil
	}
	head, err := c.look(glance)
	if err != nil {
		return s.named(err)
	}
	if widest, _ := d.leading(head, c.ended, 1); widest > 1 {
		return nil
	}
	delimiters := []byte{',', '\t', ';', '|'}
	if s.plan.options.Delimiter != "" {
		delimiters = []byte{d.delimiter}
	}
	for _, by := range delimiters {
		_, titles := dialect{by, d.newline}.leading(head, c.ended, 100)
		if titles == 0 {
			continue
		}
		above := bytes.Clone(head[:titles])
		c.drop(titles)
		s.assembly.lines += bytes.Count(above, []byte{d.newline})
		s.notes.add("what stands above the table is passed over: %s; %v", quote(bytes.TrimRight(bytes.SplitN(bytes.TrimSpace(above), []byte{d.newline}, 2)[0], string([]byte{by, '\r'}))), remedy.Remedy{Kind: remedy.SayHeader})
		return nil
	}
	return nil
}

// leading returns how many cells of the first records are filled at most, and how
// long those are above a table of three columns or more: each has one cell at most
// that is filled; then comes a record of names alone, and as wide ones below it.
func (d dialect) leading(head []byte, whole bool, most int) (widest, above int) {
	width, at := 0, 0
	records, titles := 0, 0
	for rest := head; len(rest) > 0 && records < most; records++ {
		if n := d.blankLine(rest, 0); n > 0 {
			rest, at, records = rest[n:], at+n, records-1
			continue
		}
		n := d.record(rest)
		if n == 0 {
			break
		}
		cells, _ := d.split(rest[:n])
		filled := 0
		for _, cell := range cells {
			if len(cell) > 0 {
				filled++
			}
		}
		widest = max(widest, filled)
		switch {
		case width == 0 && filled <= 1:
			titles++
		case width == 0:
			if width, above = len(cells), at; filled < width || anyQuantity(cells) {
				return widest, 0
			}
		case len(cells) != width:
			return widest, 0
		}
		rest, at = rest[n:], at+n
	}
	if titles == 0 || titles > mostTitles || width < 3 || records < titles+3 {
		return widest, 0
	}
	return widest, above
}

func anyQuantity(cells [][]byte) bool {
	for _, cell := range cells {
		if isQuantity(cell) {
			return true
		}
	}
	return false
}
