package table

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MostGrams is how many words that follow one another can be counted as one.
const MostGrams = 5

// Tokens calls word for each word of a text: its lower-cased runs of letters,
// digits and _, in order. However a letter with a mark is written, it is one
// character (NFC), and what only says how a word is set, such as where it may be
// hyphenated, is left out. The slice is good until the next call.
func Tokens(text []byte, word func(token []byte)) { (&tokeniser{}).each(text, word) }

// tokeniser cuts texts into words, in room that it uses again.
type tokeniser struct {
	// grams makes runs of up to so many words, with a space between them,
	// words as well.
	grams  int
	token  []byte // the last one, where it does not stand in the text as it is
	run    []byte // of a text's words, a space before each
	starts []int  // of the words of the run
}

// kinds says what a byte of a text is.
var kinds = func() (kinds [256]byteKind) {
	for b := range kinds {
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '_':
			kinds[b] = asItIs
		case 'A' <= b && b <= 'Z':
			kinds[b] = capital
		case b >= utf8.RuneSelf:
			kinds[b] = beyond
		}
	}
	return kinds
}()

type byteKind uint8

const (
	between byteKind = iota // no part of a word
	asItIs                  // of a word, as it is
	capital                 // of a word, once it is lower-cased
	beyond                  // of a character that is not ASCII
)

// each calls word for each word of a text and, where they are asked for, for
// each run of words.
func (t *tokeniser) each(text []byte, word func(token []byte)) {
	t.run, t.starts = t.run[:0], t.starts[:0]
	for at := 0; ; {
		var token []byte
		if token, at = t.next(text, at); token == nil {
			return
		}
		word(token)
		if t.grams > 1 {
			t.runs(token, word)
		}
	}
}

// runs calls word for the runs that a word ends.
func (t *tokeniser) runs(token []byte, word func(token []byte)) {
	t.run = append(append(t.run, ' '), token...)
	for i := range min(t.grams-1, len(t.starts)) {
		word(t.run[t.starts[len(t.starts)-1-i]:])
	}
	t.starts = append(t.starts, len(t.run)-len(token))
}

// next returns the first word of a text from a place on, and where it ends; nil
// if there is none.
func (t *tokeniser) next(text []byte, at int) (token []byte, end int) {
	for ; at < len(text); at++ {
		from := at
		for at < len(text) && kinds[text[at]] == asItIs {
			at++
		}
		if at == len(text) || kinds[text[at]] == between {
			if at > from {
				return text[from:at:at], at
			}
			continue
		}
		// Some characters are to be lower-cased, or are looked at one by one.
		t.token = append(t.token[:0], text[from:at]...)
		if at = t.rest(text, at); len(t.token) > 0 {
			t.compose()
			return t.token, at
		}
		at--
	}
	return nil, at
}

// rest appends what belongs to the token from a place on, and returns where
// that ends: after a character at least.
func (t *tokeniser) rest(text []byte, at int) int {
	for at < len(text) {
		b := text[at]
		switch kinds[b] {
		case asItIs:
			t.token = append(t.token, b)
			at++
		case capital:
			t.token = append(t.token, b+'a'-'A')
			at++
		case between:
			return at
		default:
			r, size := utf8.DecodeRune(text[at:])
			at += size
			switch inside := len(t.token) > 0; {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || inside && unicode.IsMark(r):
				t.token = utf8.AppendRune(t.token, unicode.ToLower(r))
			case !inside || !unicode.Is(unicode.Cf, r) || r == zeroWidthSpace:
				return at
			}
		}
	}
	return at
}

// zeroWidthSpace is the only format character that divides words.
const zeroWidthSpace = '\u200b'

// compose gives the token the one spelling of its characters, and a sigma at its
// end the form of the end.
func (t *tokeniser) compose() {
	if !norm.NFC.IsNormal(t.token) {
		t.token = norm.NFC.Append(nil, t.token...)
	}
	if at := len(t.token) - len("σ"); at > 0 && bytes.HasSuffix(t.token, []byte("σ")) {
		t.token = append(t.token[:at], "ς"...)
	}
}

// gramsOf returns of how many words the longest values of a dictionary are made:
// words of their own have no spaces.
func gramsOf(values []string) int {
	grams := 1
	for _, v := range values {
		grams = max(grams, 1+strings.Count(v, " "))
	}
	return min(grams, MostGrams)
}

// isRun reports whether a value of a dictionary is several words.
func isRun(value string) bool { return strings.IndexByte(value, ' ') >= 0 }
