package rule

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format returns the text of a rule file as it is written by convention, which is
// how a base prints: each statement begins a line, words stand one space apart,
// braces and commas close up, ± is one sign. Names, values and numbers stay as
// they are spelled. Comments stay where they are; breaks inside a statement are
// the author's, with four spaces after them, and several blank lines become one.
//
// The result reads as the same base, and formatting it again changes nothing. An
// error is that of Parse.
func Format(name string, src []byte) ([]byte, error) {
	if _, err := Parse(name, src); err != nil {
		return nil, err
	}
	f := formatter{pieces: pieces(name, src)}
	for i := range f.pieces {
		f.put(i)
	}
	if f.out.Len() > 0 {
		f.out.WriteByte('\n')
	}
	return f.out.Bytes(), nil
}

// piece is a token or a comment as it is written, and the line breaks before it.
type piece struct {
	token
	comment bool
	breaks  int
}

// opens reports whether a statement begins here: its keywords stand nowhere else.
func (p *piece) opens() bool {
	return p.kind == keywordToken && slices.Contains([]string{"RULES", "SCHEMA", "IF", "ELSE", "WHEN"}, p.text)
}

// pieces cuts a text that parses. A plus before a number that needs none goes.
func pieces(name string, src []byte) []piece {
	l := lexer{file: name, src: strings.TrimPrefix(string(src), "\ufeff"), line: 1, column: 1}
	var cut []piece
	var before token
	breaks := 0
	for l.src != "" {
		p := piece{breaks: breaks}
		switch c := l.src[0]; c {
		case '\n':
			breaks++
			fallthrough
		case ' ', '\t', '\r':
			l.skip(1)
			continue
		case '#':
			text, _, _ := strings.Cut(l.src, "\n")
			l.skip(len(text))
			p.comment, p.text = true, remark(text)
		default:
			p.token = l.token()
			sign := p.kind == symbolToken && p.text == "+" && (before.kind == keywordToken || before.kind == symbolToken)
			if sign {
				continue
			}
			if before = p.token; p.kind == quotedToken {
				p.text = quote(p.text)
			}
		}
		cut = append(cut, p)
		breaks = 0
	}
	return cut
}

// remark is a comment with a space before its first word, and none after its last.
func remark(text string) string {
	text = strings.TrimRight(text, " \t\r")
	if r, _ := utf8.DecodeRuneInString(text[1:]); isLetterOrDigit(r) {
		return "# " + text[1:]
	}
	return text
}

// formatter lays pieces out. Within says that a statement has begun.
type formatter struct {
	pieces []piece
	out    bytes.Buffer
	within bool
}

func (f *formatter) put(i int) {
	p := &f.pieces[i]
	if !p.comment && p.opens() {
		f.within = false
	}
	if i > 0 {
		before := &f.pieces[i-1]
		inside := f.within && f.goesOn(i)
		switch {
		case p.breaks == 0 && p.comment:
			f.out.WriteByte(' ')
		case p.breaks > 0 || before.comment || p.opens():
			f.out.WriteByte('\n')
			if p.breaks > 1 && !inside {
				f.out.WriteByte('\n')
			}
			if inside {
				f.out.WriteString("    ")
			}
		case !closeUp(before, p):
			f.out.WriteByte(' ')
		}
	}
	f.out.WriteString(p.text)
	f.within = f.within || !p.comment
}

// goesOn reports whether piece i, or the token after a comment there, belongs to
// the statement that has begun.
func (f *formatter) goesOn(i int) bool {
	for ; i < len(f.pieces); i++ {
		if !f.pieces[i].comment {
			return !f.pieces[i].opens()
		}
	}
	return false
}

// closeUp reports whether nothing stands between two tokens.
func closeUp(a, b *piece) bool {
	in := func(p *piece, marks string) bool { return p.kind == symbolToken && strings.Contains(marks, p.text) }
	return in(a, "([{*") || in(b, ")]},;*")
}
