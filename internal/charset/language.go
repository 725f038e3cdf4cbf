package charset

import (
	"strings"
	"unicode"
)

// language is the letters beyond ASCII of a language, with how frequent each is
// among them.
type language struct{ share map[rune]float64 }

// The shares of characters that are letters of the language, in small and in
// capitals, of signs that tables have, of other letters, and of anything else.
const (
	small, capital = 0.9, 0.09
	signs          = 0.02
	foreign        = 1e-4
	strange        = 1e-6
)

// usual are the signs that people write in tables, in any language.
const usual = "€£¥§°“”„‘’‚–—…«»²³½¼¾µ±×·©®™№†•‰¿¡ªº¹\u00a0\u00ad"

// newLanguage makes a language of its letters, the most frequent first: each as
// frequent as its place in the order says (Zipf 1949).
func newLanguage(order string) *language {
	return spread(order, func(rank int) float64 { return 1 / float64(rank+2) })
}

// newAlphabet makes a language of letters that are about as frequent as each other
// in the order, as those of whole alphabets are.
func newAlphabet(order string) *language {
	n := float64(len([]rune(order)))
	return spread(order, func(rank int) float64 { return (n - float64(rank)) * (n - float64(rank)) })
}

func spread(order string, weight func(rank int) float64) *language {
	l := &language{map[rune]float64{}}
	total := 0.0
	for rank := range []rune(order) {
		total += weight(rank)
	}
	for rank, r := range []rune(order) {
		p := weight(rank) / total
		l.share[r] += small * p
		if up := unicode.ToUpper(r); up != r {
			l.share[up] += capital * p
		}
	}
	return l
}

// likely is the share of a character in a language.
func (l *language) likely(r rune) float64 {
	if p, ok := l.share[r]; ok {
		return p
	}
	switch {
	case strings.ContainsRune(usual, r):
		return signs
	case unicode.IsLetter(r):
		return foreign
	}
	return strange
}

// The languages of each encoding, letters from the most frequent to the rarest.
// The first has all letters of the encoding alike: names from many countries.
var (
	western = []*language{
		spread("àáâãäåæçèéêëìíîïðñòóôõöøùúûüýßœšž", func(int) float64 { return 1 }),
		newLanguage("üäöß"), newLanguage("éèàêçôâùîûëïœ"), newLanguage("óíáéñúü"),
		newLanguage("ãçáéóíêõúâàô"), newLanguage("èàùòìé"), newLanguage("äåöé"), newLanguage("åøæé"),
		newLanguage("äöå"), newLanguage("ëéïüöè"), newLanguage("áðíéóþæúýö"), newLanguage("àéóèíçòúïü"),
	}
	central = []*language{
		newLanguage("ęłąóżśćńź"), newLanguage("íáěéýřžčšůúťňóď"), newLanguage("áíéýčžúšťľôňäďóĺŕ"),
		newLanguage("éáőöóüíúű"), newLanguage("ăîâşţșț"), newLanguage("čšžćđ"),
	}
	cyrillic = []*language{
		newAlphabet("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"), newAlphabet("оаинівтерскулдмпязьбгйчхцїжєюшщфґ"),
		newAlphabet("аиоентрсвлкдпмзгяъубчцжщхшюйьф"), newAlphabet("аиоенрсјтувкдпмлгзбчшцжћхњфљђџ"),
	}
	greek   = []*language{newAlphabet("αοιεντηστυρςπκμλώίάόέδγήχύθφβξζψϊϋΐΰ")}
	turkish = []*language{newLanguage("ıüşçğöâîİ")}
	baltic  = []*language{newLanguage("ėšųžūįąčę"), newLanguage("āīēšūņļžķčģ"), newLanguage("äõüöšž")}
	hebrew  = []*language{newAlphabet("יוהלאתמרבשנםעדחפקגטכסצןזךףץ")}
	arabic  = []*language{newAlphabet("الينمرتوبعهدفسكقحةجشصطخىذءأضإزغثئظؤآ")}
)
