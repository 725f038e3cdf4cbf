package netfile

import (
	"fmt"
	"strings"
)

// token is a word, a text in quotes or a mark of a file; the zero kind is its
// end.
type token struct {
	text   string
	line   int
	kind   kind
	broken bool // quotes that do not end
}

type kind uint8

const (
	end kind = iota
	word
	quoted
	mark
)

func (t token) String() string {
	if t.kind == end {
		return "the end of the file"
	}
	text := t.text
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Sprintf("%q", text)
}

// lexer cuts a text into tokens. Words are runs of anything that is no space,
// quote or mark: states are called <7.5, 12+ or Asy/Patch.
type lexer struct {
	file  string
	text  string
	at    int
	line  int
	marks string
	// arrows says that -> and <- are marks too, and that # begins a comment.
	arrows bool
	next   *token
}

func newLexer(file string, text []byte) *lexer {
	return &lexer{file: file, text: strings.TrimPrefix(string(text), "\xef\xbb\xbf"), line: 1, marks: "{}()[],;|"}
}

func (l *lexer) fail(line int, format string, args ...any) error {
	return &Error{l.file, line, fmt.Sprintf(format, args...)}
}

func (l *lexer) peek() token {
	if l.next == nil {
		t := l.scan()
		l.next = &t
	}
	return *l.next
}

func (l *lexer) take() token {
	t := l.peek()
	l.next = nil
	return t
}

// skip passes over spaces and comments.
func (l *lexer) skip() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\f':
			l.at++
		case strings.HasPrefix(rest, "//") || rest[0] == '#' && l.arrows || rest[0] == '%' && strings.Contains(l.marks, "="):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest) - 4
			}
			l.line += strings.Count(rest[:n+4], "\n")
			l.at += n + 4
		default:
			return
		}
	}
}

func (l *lexer) scan() token {
	l.skip()
	if l.at >= len(l.text) {
		return token{line: l.line}
	}
	t := token{line: l.line}
	switch c := l.text[l.at]; {
	case c == '"':
		t.kind = quoted
		t.text, t.broken = l.quote()
	case l.arrow():
		t.kind, t.text = mark, l.text[l.at:l.at+2]
		l.at += 2
	case strings.IndexByte(l.marks, c) >= 0:
		t.kind, t.text = mark, l.text[l.at:l.at+1]
		l.at++
	default:
		from := l.at
		for stops := l.marks + "\" \t\r\n\f"; l.at < len(l.text) && strings.IndexByte(stops, l.text[l.at]) < 0 && !l.arrow(); {
			l.at++
		}
		t.kind, t.text = word, l.text[from:l.at]
	}
	return t
}

// arrow reports whether an arrow comes next.
func (l *lexer) arrow() bool {
	rest := l.text[l.at:]
	return l.arrows && (strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "<-"))
}

// quote reads a text in quotes, in which a backslash stands before a quote or
// another one.
func (l *lexer) quote() (text string, broken bool) {
	var b strings.Builder
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == '"':
			l.at++
			return b.String(), false
		case c == '\\' && l.at+1 < len(l.text) && (l.text[l.at+1] == '"' || l.text[l.at+1] == '\\'):
			l.at++
			b.WriteByte(l.text[l.at])
		default:
			if c == '\n' {
				l.line++
			}
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// name takes a word or a text in quotes.
func (l *lexer) name(what string) (token, error) {
	t := l.take()
	if t.kind != word && t.kind != quoted || t.broken {
		return t, l.fail(t.line, "%v: expected %s", t, what)
	}
	return t, nil
}

// mark takes one of the marks, or says what was expected.
func (l *lexer) expect(text string) error {
	if t := l.take(); t.kind == end || t.kind == quoted || t.text != text {
		return l.fail(t.line, "%v: expected %q", t, text)
	}
	return nil
}

// is reports whether the next token is this mark or word.
func (l *lexer) is(text string) bool {
	t := l.peek()
	return (t.kind == mark || t.kind == word) && t.text == text
}

// statement passes over everything to the next semicolon.
func (l *lexer) statement() error {
	for {
		switch t := l.take(); {
		case t.kind == end || t.broken:
			return l.fail(t.line, "%v: expected \";\"", t)
		case t.kind == mark && t.text == ";":
			return nil
		}
	}
}
