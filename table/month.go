package table

import "strings"

// monthNames are the names of the months, in English, German, French, Spanish,
// Italian, Dutch and Portuguese, without accents.
var monthNames = [12]string{
	"january januar janner janvier enero gennaio januari janeiro",
	"february februar feber fevrier febrero febbraio februari fevereiro",
	"march marz maerz mars marzo maart mrt marco",
	"april avril abril aprile",
	"may mai mayo maggio mei maio",
	"june juni juin junio giugno junho",
	"july juli juillet julio luglio julho",
	"august aout agosto augustus",
	"september septembre septiembre setiembre settembre setembro",
	"october oktober octobre octubre ottobre outubro",
	"november novembre noviembre novembro",
	"december dezember decembre diciembre dicembre dezembro",
}

// plainLetters are letters without their accents.
var plainLetters = strings.NewReplacer("ä", "a", "á", "a", "é", "e", "è", "e", "û", "u", "ç", "c")

// monthOf returns the number of the month that a name, or at least three letters
// of its beginning, means; 0 for none, and where it may mean several.
func monthOf(name []byte) int {
	const longest = 12
	if len(name) < 3 || len(name) > longest {
		return 0
	}
	begin := plainLetters.Replace(strings.ToLower(string(name)))
	month := 0
	for i, names := range monthNames {
		for len(names) > 0 {
			var one string
			one, names, _ = strings.Cut(names, " ")
			if !strings.HasPrefix(one, begin) {
				continue
			}
			if month != 0 && month != i+1 {
				return 0
			}
			month = i + 1
		}
	}
	return month
}

// dayMark returns how long what people put behind the number of a day is: 1st,
// 1er.
func dayMark(text []byte) int {
	if len(text) < 3 || isLetter(text[2]) || !isOneOf(text[:2], []string{"st", "nd", "rd", "th", "er"}) {
		return 0
	}
	return 2
}

// dateGap returns how long what divides two parts of a date is: a sign or two,
// and of in the languages that have it there (12 de marzo de 2024).
func dateGap(text []byte) (n int, dot bool) {
	for n < len(text) && n < 2 && strings.IndexByte("./- ,", text[n]) >= 0 {
		dot = dot || text[n] == '.'
		n++
	}
	if n == 0 {
		return 0, false
	}
	for _, of := range []string{"de ", "del ", "of "} {
		if len(text) >= n+len(of) && text[n-1] == ' ' && equalFold(text[n:n+len(of)], of) {
			return n + len(of), dot
		}
	}
	return n, dot
}

// isLetter reports whether a byte is one of a letter.
func isLetter(b byte) bool { return (b|0x20)-'a' < 26 || b >= 0x80 }
