package table

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// plainTokens cuts a text character by character.
func plainTokens(text string) []string {
	var all []string
	token := ""
	for _, r := range text {
		if token != "" && r == '\u00ad' {
			continue
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || token != "" && r >= 0x80 && unicode.IsMark(r) {
			token += string(unicode.ToLower(r))
			continue
		}
		if token != "" {
			all = append(all, norm.NFC.String(token))
		}
		token = ""
	}
	if token != "" {
		all = append(all, norm.NFC.String(token))
	}
	return all
}

// Words are those that looking at each character finds, and runs of them follow
// the word that ends them, the shortest first.
func TestTokensOneByOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "B", "zz", "_", "9", "é", "É", "日本", "ß", "\u0301", "\u00ad", "\u200b", " ", ", ", "—", "\n", "\x80", "x"})).Draw(rt, "text"), "")
		words := plainTokens(strings.ToValidUTF8(text, "—"))
		grams := rapid.IntRange(1, 3).Draw(rt, "grams")
		var want, got []string
		for i := range words {
			for n := range min(grams, i+1) {
				want = append(want, strings.Join(words[i-n:i+1], " "))
			}
		}
		cut := tokeniser{grams: grams}
		for range 2 { // its room is used again
			got = nil
			cut.each([]byte(text), func(token []byte) { got = append(got, string(token)) })
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%q: %q, want %q", text, got, want)
		}
		if seen := gramsOf(want); seen != min(grams, max(1, len(words))) { // the dictionary tells how it was read
			rt.Fatalf("runs of %d of %d words are seen as %d", grams, len(words), seen)
		}
	})
}

// A word is one word however it is written.
func TestTokensAreSpeltOneWay(t *testing.T) {
	for text, want := range map[string]string{
		"cafe\u0301 CAFE\u0301 caf\u00e9":         "café café café",
		"inter\u00adnational INTERNATIONAL":       "international international",
		"\u0915\u094d\u200d\u0937 x\u200by":       "\u0915\u094d\u0937 x y",
		"ΟΔΟΣ οδος ΣΟΦΟΣ σ":                       "οδος οδος σοφος σ",
		"STRA\u1e9eE straße":                      "straße straße",
		"\u1112\u1161\u11ab \ud55c \u00ad\u0301a": "한 한 a",
	} {
		var got []string
		Tokens([]byte(text), func(token []byte) { got = append(got, string(token)) })
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
}

// Rows are sorted, together or one by one, as words go through a sorted list.
func TestSortRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SampledFrom([]int{8, 400}).Draw(rt, "words")
		b := newBag()
		var want [][]int32
		for range rapid.IntRange(0, 6).Draw(rt, "rows") {
			codes := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(words-1)), 0, 8, rapid.ID[int32]).Draw(rt, "codes")
			b.Codes = append(b.Codes, codes...)
			for _, c := range codes {
				b.Counts = append(b.Counts, float64(c)/2)
			}
			b.end()
			want = append(want, slices.Sorted(slices.Values(codes)))
		}
		b.sortRows(words)
		for r := range want {
			codes, counts := b.Row(r)
			if !slices.Equal(codes, want[r]) {
				rt.Fatalf("row %d is %v, want %v", r, codes, want[r])
			}
			for i, c := range codes {
				if counts[i] != float64(c)/2 {
					rt.Fatalf("row %d: word %d occurs %v times", r, c, counts[i])
				}
			}
		}
		if err := b.check(words); err != nil {
			rt.Fatal(err)
		}
	})
}
