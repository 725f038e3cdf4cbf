// Package charset reads text that is no UTF-8: it finds out in which of the
// encodings that spreadsheets and older systems write, one byte a letter, a text
// is, or takes the one that somebody names. table reads files with it.
//
// All of them mean something by nearly every byte, so that a wrong one gives no
// error but wrong letters. What tells is the language: read rightly, the letters
// beyond ASCII are those of one language, about as frequent as there, within words
// and in the middle of them small; read wrongly, there are signs between letters and
// capitals within words. Each encoding is judged by the likelihood of the letters
// that it gives, in the language that explains them best.
package charset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Charset is an encoding of text.
type Charset struct {
	Name    string
	Letters string // whose letters it was found by; "" of Western Europe, or if it was named

	encoding encoding.Encoding
}

// one is an encoding of one byte a letter that is looked for.
type one struct {
	name    string
	table   *charmap.Charmap
	doubt   float64 // how much rarer it is, as a logarithm
	letters string
	writing []*language
}

var found = []one{
	{"Windows-1252", charmap.Windows1252, 0, "", western},
	{"Windows-1250", charmap.Windows1250, 0.1, "Central European", central},
	{"Windows-1251", charmap.Windows1251, 0.1, "Cyrillic", cyrillic},
	{"Windows-1253", charmap.Windows1253, 0.1, "Greek", greek},
	{"Windows-1254", charmap.Windows1254, 0.2, "Turkish", turkish},
	{"Windows-1257", charmap.Windows1257, 0.2, "Baltic", baltic},
	{"Windows-1255", charmap.Windows1255, 0.2, "Hebrew", hebrew},
	{"Windows-1256", charmap.Windows1256, 0.2, "Arabic", arabic},
	{"ISO-8859-2", charmap.ISO8859_2, 1, "Central European", central},
	{"ISO-8859-5", charmap.ISO8859_5, 3, "Cyrillic", cyrillic},
	{"ISO-8859-7", charmap.ISO8859_7, 1, "Greek", greek},
	{"KOI8-R", charmap.KOI8R, 2, "Cyrillic", cyrillic},
	{"KOI8-U", charmap.KOI8U, 3, "Cyrillic", cyrillic},
	{"IBM866", charmap.CodePage866, 3, "Cyrillic", cyrillic},
	{"IBM850", charmap.CodePage850, 4, "", western},
	{"IBM852", charmap.CodePage852, 4, "Central European", central},
	{"Macintosh", charmap.Macintosh, 4, "", western},
}

// named are encodings by names that the Web does not know.
var named = map[string]encoding.Encoding{
	"cp437": charmap.CodePage437, "ibm437": charmap.CodePage437,
	"cp850": charmap.CodePage850, "ibm850": charmap.CodePage850,
	"cp852": charmap.CodePage852, "ibm852": charmap.CodePage852,
	"cp855": charmap.CodePage855, "ibm855": charmap.CodePage855,
	"cp858": charmap.CodePage858, "ibm858": charmap.CodePage858,
	"cp865": charmap.CodePage865, "ibm865": charmap.CodePage865,
	"macroman": charmap.Macintosh, "mac-roman": charmap.Macintosh, "latin9": charmap.ISO8859_15, "latin-9": charmap.ISO8859_15,
	"iso-8859-9": charmap.ISO8859_9, "iso-8859-1": charmap.Windows1252,
}

// Named is the encoding of a name, as in windows-1250, cp1250, latin2, koi8-r or
// shift_jis. A name of UTF-8 gives one that leaves text as it is.
func Named(name string) (Charset, error) {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	if e, ok := named[key]; ok {
		return Charset{Name: name, encoding: e}, nil
	}
	for _, try := range []string{key, strings.ReplaceAll(key, "-", "_"), "windows-" + key, "iso-8859-" + strings.TrimPrefix(key, "iso8859-"), strings.Replace(key, "latin-", "latin", 1)} {
		if e, err := htmlindex.Get(try); err == nil {
			return Charset{Name: name, encoding: e}, nil
		}
	}
	var known []string
	for i := range found {
		known = append(known, strings.ToLower(found[i].name))
	}
	known = append(known, "utf-8", "utf-16le", "utf-16be", "iso-8859-1", "iso-8859-15", "ibm437", "shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr")
	return Charset{}, fmt.Errorf("encoding %q is not known%s", name, spell.Hint(key, known))
}

// Words are its name, with whose letters it was found by.
func (c Charset) Words() string {
	if c.Letters == "" {
		return c.Name
	}
	return fmt.Sprintf("%s (%s letters)", c.Name, c.Letters)
}

// IsUTF8 reports whether a text in it is read as it stands.
func (c Charset) IsUTF8() bool {
	name, err := htmlindex.Name(c.encoding)
	return err == nil && name == "utf-8"
}

// Recoder returns what turns bytes into UTF-8: it appends what some mean, and says
// how many of them it took; others wait for what follows.
func (c Charset) Recoder() func(to, from []byte, ended bool) ([]byte, int) {
	decoder := c.encoding.NewDecoder()
	var room [3 * 4096]byte
	return func(to, from []byte, ended bool) ([]byte, int) {
		taken := 0
		for {
			n, m, err := decoder.Transform(room[:], from[taken:], ended)
			to, taken = append(to, room[:n]...), taken+m
			if n == 0 && m == 0 || err == nil {
				return to, taken
			}
		}
	}
}

// Find says in which encoding the beginning of a text is that is no UTF-8. It
// finds none where none fits, as in what is no text, or in UTF-8 that is damaged.
func Find(head []byte, ended bool) (Charset, bool) {
	high := newSample(head, ended)
	if high == nil {
		return Charset{}, false
	}
	best, which := math.Inf(-1), -1
	for i := range found {
		tried := high.read(found[i].table)
		for _, l := range found[i].writing {
			if score := tried.score(l) - found[i].doubt; score > best {
				best, which = score, i
			}
		}
	}
	if which < 0 || best < leastLikely*float64(len(high.at)) {
		return Charset{}, false
	}
	return Charset{found[which].name, found[which].letters, found[which].table}, true
}

// leastLikely is the mean likelihood of letters, as a logarithm, below which a
// text is none in any language that is known here.
const leastLikely = -4.7

// sample is where a text has bytes beyond ASCII.
type sample struct {
	text []byte
	at   []int
}

// mostSampled is how many bytes beyond ASCII are looked at.
const mostSampled = 4000

// newSample finds the bytes beyond ASCII of a text, none if it is UTF-8, even
// damaged.
func newSample(head []byte, ended bool) *sample {
	s := &sample{text: head}
	whole, broken := 0, 0
	for i := 0; i < len(head); {
		if head[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(head[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			whole += size
		case ended || len(head)-i >= utf8.UTFMax || utf8.FullRune(head[i:]):
			broken++
		}
		for range size {
			if len(s.at) < mostSampled {
				s.at = append(s.at, i)
			}
			i++
		}
	}
	if broken == 0 || whole > broken {
		return nil
	}
	return s
}

// letters are the characters that an encoding gives, each with how often it
// occurs, and how unlikely the places are in which they stand.
type letters struct {
	counts map[rune]int
	placed float64
}

// What a place that no character of its kind has makes of it, as factors.
const (
	glued  = 0.01 // a sign between letters, a capital after a small letter, Latin beside another alphabet
	alone  = 0.05 // a letter by itself
	priced = 10   // a sign of money beside a number
)

// read is what a sample says in an encoding; nil if some byte means nothing there.
func (s *sample) read(table *charmap.Charmap) *letters {
	l := &letters{counts: map[rune]int{}}
	for _, i := range s.at {
		r := table.DecodeByte(s.text[i])
		if r == utf8.RuneError || unicode.IsControl(r) {
			return nil
		}
		l.counts[r]++
		before, after := ' ', ' '
		if i > 0 {
			before = table.DecodeByte(s.text[i-1])
		}
		if i+1 < len(s.text) {
			after = table.DecodeByte(s.text[i+1])
		}
		l.placed += math.Log(place(before, r, after))
	}
	return l
}

// place is how likely it is that a character stands between two others.
func place(before, r, after rune) float64 {
	left, right := isLetter(before), isLetter(after)
	switch {
	case unicode.Is(unicode.Sc, r) && (isDigit(before) || isDigit(after) || isSpace(before) || isSpace(after)):
		return priced
	case !isLetter(r):
		if left && right && r != '’' && r != '·' && r != '\u00a0' && r != '–' && r != '\u00ad' {
			return glued
		}
		return 1
	case unicode.IsLower(before) && unicode.IsUpper(r), unicode.IsLower(r) && unicode.IsUpper(after):
		return glued
	case left && alien(before, r), right && alien(r, after):
		return glued
	case !left && !right:
		return alone
	}
	return 1
}

func isLetter(r rune) bool { return unicode.IsLetter(r) && r != 'ª' && r != 'º' && r != 'ƒ' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isSpace(r rune) bool  { return r == ' ' || r == '\u00a0' }

// alien reports whether two letters are of different alphabets.
func alien(a, b rune) bool {
	return unicode.Is(unicode.Latin, a) != unicode.Is(unicode.Latin, b)
}

// score is the likelihood of letters in a language, as a logarithm.
func (l *letters) score(in *language) float64 {
	if l == nil {
		return math.Inf(-1)
	}
	score := l.placed
	runes := make([]rune, 0, len(l.counts))
	for r := range l.counts {
		runes = append(runes, r)
	}
	slices.Sort(runes) // sums in a fixed order
	for _, r := range runes {
		score += float64(l.counts[r]) * math.Log(in.likely(r))
	}
	return score
}
