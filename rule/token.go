package rule

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Error is what is wrong with a rule file, and where. Lines and columns
// count from 1; columns count characters.
type Error struct {
	File         string
	Line, Column int
	Msg          string
}

// Error returns the message with its place, as file:line:column.
func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// keywords are upper case and never bare names.
var keywords = map[string]bool{
	"RULES": true, "IF": true, "THEN": true, "ELSE": true, "WITH": true, "WORTH": true,
	"WHEN": true, "EXPECT": true, "AND": true, "ALWAYS": true, "NOT": true, "IN": true,
	"IS": true, "MISSING": true, "KNOWN": true, "AT": true, "LEAST": true, "OF": true,
	"NORMAL": true, "SCHEMA": true, "TARGET": true, "BY": true, "CONTAINS": true,
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	keywordToken
	wordToken   // a bare name, value or number
	quotedToken // a name or value in quotes, text unescaped
	symbolToken
)

type token struct {
	kind         tokenKind
	text         string
	line, column int
}

// describe names a token in an error message.
func (t token) describe() string {
	switch t.kind {
	case endToken:
		return "the end of the file"
	case quotedToken:
		return quote(t.text)
	}
	return t.text
}

// lexer cuts a source into tokens. Names run as far as they can: a-b is one
// name, a - b is a difference.
type lexer struct {
	file         string
	src          string
	line, column int
}

func (l *lexer) fail(line, column int, format string, args ...any) {
	panic(&Error{l.file, line, column, fmt.Sprintf(format, args...)})
}

// skip consumes n bytes, which hold whole characters.
func (l *lexer) skip(n int) string {
	text := l.src[:n]
	l.src = l.src[n:]
	for _, r := range text {
		if r == '\n' {
			l.line++
			l.column = 1
		} else {
			l.column++
		}
	}
	return text
}

// symbols are tried in this order, longer ones first.
var symbols = []string{"+-", "±", "+=", "!=", "<=", ">=", "=", "<", ">", "~", "*", "+", "{", "}", "(", ")", "[", "]", ",", ";"}

func (l *lexer) next() token {
	for l.src != "" {
		switch c := l.src[0]; {
		case c == '#':
			n := strings.IndexByte(l.src, '\n')
			if n < 0 {
				n = len(l.src)
			}
			l.skip(n)
		case c == ' ', c == '\t', c == '\r', c == '\n':
			l.skip(1)
		default:
			return l.token()
		}
	}
	return token{line: l.line, column: l.column}
}

func (l *lexer) token() token {
	t := token{line: l.line, column: l.column}
	if l.src[0] == '"' {
		t.kind, t.text = quotedToken, l.quoted()
		return t
	}
	if n := bareLength(l.src); n > 0 {
		if exponent := l.src[n:]; len(exponent) > 1 && exponent[0] == '+' && isDigit(exponent[1]) && opensExponent(l.src[:n]) {
			n++
			for n < len(l.src) && isDigit(l.src[n]) {
				n++
			}
		}
		t.kind, t.text = wordToken, l.skip(n)
		switch {
		case keywords[t.text]:
			t.kind = keywordToken
		case !strings.ContainsFunc(t.text, isLetterOrDigit):
			t.kind = symbolToken // a lone minus
		}
		return t
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.src, s) {
			l.skip(len(s))
			if s == "+-" {
				s = "±"
			}
			t.kind, t.text = symbolToken, s
			return t
		}
	}
	r, size := utf8.DecodeRuneInString(l.src)
	if r == utf8.RuneError && size == 1 {
		l.fail(t.line, t.column, "byte 0x%02x is not UTF-8; save the file as UTF-8", l.src[0])
	}
	l.fail(t.line, t.column, "unexpected %q; put names with such characters in double quotes", r)
	return t
}

// quoted reads a name in double quotes with JSON's escapes.
func (l *lexer) quoted() string {
	line, column := l.line, l.column
	unclosed := func() {
		l.fail(line, column, "this quote is not closed on its line; write a line break inside a name as \\n")
	}
	l.skip(1)
	var text strings.Builder
	for {
		r, size := utf8.DecodeRuneInString(l.src)
		switch {
		case size == 0 || r == '\n' || r == '\r':
			unclosed()
		case r == utf8.RuneError && size == 1:
			l.fail(l.line, l.column, "byte 0x%02x is not UTF-8; save the file as UTF-8", l.src[0])
		case r == '"':
			l.skip(1)
			return text.String()
		case r < ' ':
			l.fail(l.line, l.column, "control character %U in quotes; write it as \\u%04x", r, r)
		case r == '\\':
			text.WriteRune(l.escape())
			continue
		default:
			text.WriteRune(r)
		}
		l.skip(size)
	}
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape, two for the halves of a surrogate pair.
func (l *lexer) escape() rune {
	line, column := l.line, l.column
	if len(l.src) > 1 {
		if r, ok := escapes[l.src[1]]; ok {
			l.skip(2)
			return r
		}
	}
	r, ok := l.hex()
	if ok && utf16.IsSurrogate(r) {
		low, both := l.hex()
		r = utf16.DecodeRune(r, low)
		ok = both && r != unicode.ReplacementChar
	}
	if !ok {
		l.fail(line, column, `unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u with four hex digits`)
	}
	return r
}

// hex reads \uXXXX.
func (l *lexer) hex() (rune, bool) {
	if len(l.src) < 6 || l.src[:2] != `\u` {
		return 0, false
	}
	x, err := strconv.ParseUint(l.src[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	l.skip(6)
	return rune(x), true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// bareLength returns the number of bytes at the start of s that can stand in
// a bare name.
func bareLength(s string) int {
	for i, r := range s {
		if !isLetterOrDigit(r) && r != '_' && r != '-' && r != '.' {
			return i
		}
	}
	return len(s)
}

// isBare reports whether a value reads back when it is written without
// quotes.
func isBare(s string) bool {
	return s != "" && bareLength(s) == len(s) && !keywords[s] && strings.ContainsFunc(s, isLetterOrDigit)
}

// decimal returns the length of the sign, digits and point that s begins
// with, or 0 if it does not begin with a number.
func decimal(s string) int {
	n, digits := 0, 0
	if n < len(s) && s[n] == '-' {
		n++
	}
	for ; n < len(s) && isDigit(s[n]); n++ {
		digits++
	}
	if n < len(s) && s[n] == '.' {
		n++
		for ; n < len(s) && isDigit(s[n]); n++ {
			digits++
		}
	}
	if digits == 0 {
		return 0
	}
	return n
}

// opensExponent reports whether s is a number that ends in its e, so that a
// plus sign and digits may follow.
func opensExponent(s string) bool {
	n := decimal(s)
	return n > 0 && n == len(s)-1 && (s[n] == 'e' || s[n] == 'E')
}

// isNumber reports whether s is written as a number: a decimal number with
// an optional exponent, or an ISO date.
func isNumber(s string) bool {
	n := decimal(s)
	if n == len(s) {
		return n > 0
	}
	if n == 0 {
		return false
	}
	if s[n] == 'e' || s[n] == 'E' {
		exponent := s[n+1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		return exponent != "" && strings.Trim(exponent, "0123456789") == ""
	}
	_, ok := parseDate(s)
	return ok
}

// parseDate reads an ISO date as days since 1970-01-01, which is how tables
// keep dates.
func parseDate(s string) (float64, bool) {
	if len(s) != len(time.DateOnly) {
		return 0, false
	}
	day, err := time.Parse(time.DateOnly, s)
	return float64(day.Unix() / 86400), err == nil
}

// parseNumber reads a finite number or an ISO date.
func parseNumber(s string) (float64, bool) {
	if !isNumber(s) {
		return 0, false
	}
	if day, ok := parseDate(s); ok {
		return day, true
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && !math.IsInf(x, 0)
}
