// Package console is what a command line needs that knows nothing of models:
// text that is safe to show, aligned tables and figures, bars of progress,
// flags whose numbers have a range, how much memory there is, and panics told
// in one line. Its neighbours are the commands that use it.
//
// cmd/accrete prints through it.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Page is text for people. Data, names and settings may carry characters that
// move a terminal's cursor, change its colours or turn its writing round:
// these are shown escaped. What programs read (JSON, CSV, pictures) goes past
// it, and keeps every byte, but on a terminal (Shielded).
type Page struct {
	W    io.Writer
	rest []byte // the beginning of a character
}

// Write shows what it can and escapes the rest.
func (p *Page) Write(b []byte) (int, error) {
	text := b
	if len(p.rest) > 0 {
		text = append(p.rest, b...)
		p.rest = nil
	}
	if n := cutOff(text); n > 0 {
		p.rest = append([]byte(nil), text[len(text)-n:]...)
		text = text[:len(text)-n]
	}
	if _, err := io.WriteString(p.W, Escaped(string(text), "\n\t")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Shielded returns where to write what programs read: as it is, unless people
// read it on a terminal, which gets a Page. Files and pipes keep every byte.
func Shielded(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Page{W: w}
	}
	return w
}

// cutOff is how many bytes at the end begin a character that is not whole.
func cutOff(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// unsafe reports whether a character is more than a mark on the page.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Escaped writes what would not show as \n, \x1b or \u202e, but for a few.
func Escaped(s, but string) string {
	sound := func(r rune, width int) bool {
		return !(r == utf8.RuneError && width == 1) && (!unsafe(r) || strings.ContainsRune(but, r))
	}
	i := 0
	for i < len(s) {
		r, width := utf8.DecodeRuneInString(s[i:])
		if !sound(r, width) {
			break
		}
		i += width
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case sound(r, width):
			b.WriteString(s[i : i+width])
		case r == utf8.RuneError && width == 1, r < 0x80 && !strings.ContainsRune("\n\r\t", r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += width
	}
	return b.String()
}

// What is shown of a cell, of the last cell of a line, and of an error.
const (
	LongestCell  = 80
	LongestLast  = 400
	LongestError = 1000
)

// Shown is a text on one line, cut at a length that can be read.
func Shown(s string, most int) string {
	if len(s) > 8*most { // before anything is done with all of it
		s = s[:8*most]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		s = s[:max(0, len(s)-1)] + "…"
	}
	s = Escaped(s, "")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}
