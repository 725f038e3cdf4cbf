package table

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
)

// byColumn is what was said of how cells are written: for all columns, and for
// some of them otherwise.
type byColumn struct {
	all  Style
	some map[string]Style
}

// newByColumn reads lines: what holds for all columns, or NAME=… for one.
func newByColumn(lines string, read func(text string) (Style, error)) (b byColumn, err error) {
	if lines == "" {
		return b, nil
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		name, text := "", line
		at := strings.LastIndexByte(line, '=')
		if at >= 0 {
			name, text = line[:at], line[at+1:]
		}
		s, err := read(text)
		if err != nil {
			return b, remedy.Misuse(err)
		}
		switch {
		case at < 0:
			b.all = s
		case b.some == nil:
			b.some = map[string]Style{name: s}
		default:
			b.some[name] = s
		}
	}
	return b, nil
}

// of returns what holds for a column, "" if nothing was said.
func (b *byColumn) of(name string) Style {
	if s, ok := b.some[name]; ok {
		return s
	}
	return b.all
}

// orderStyle reads an order of dates.
func orderStyle(text string) (Style, error) {
	if order, ok := ParseOrder(text); ok {
		return order, nil
	}
	return "", fmt.Errorf("%q is no order of dates; expected dmy, mdy, ymd, iso, or a pattern such as dd.mm.yyyy, or COLUMN= before it", text)
}

// decimalStyle reads what divides decimals.
func decimalStyle(text string) (Style, error) {
	if s := Style(text); s.isNumber() {
		return s, nil
	}
	return "", fmt.Errorf("%q does not divide decimals; expected a comma or a point, or COLUMN= before it", text)
}
