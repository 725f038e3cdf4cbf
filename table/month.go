package table

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// monthNames are the names of the months, without accents: in English, German,
// French, Spanish, Italian, Dutch and Portuguese, in Swedish, Danish and
// Norwegian, in Polish, Czech and Turkish, in Russian and Ukrainian.
var monthNames = [12]string{
	"january januar janner janvier enero gennaio januari janeiro stycznia styczen ledna leden ocak января январь сiчня січня",
	"february februar feber fevrier febrero febbraio februari fevereiro lutego luty unora unor subat февраля февраль лютого",
	"march marz maerz mars marzo maart mrt marco marts marca marzec brezna brezen mart марта март березня",
	"april avril abril aprile kwietnia kwiecien dubna duben nisan апреля апрель квiтня квітня",
	"may mai mayo maggio mei maio maj maja kvetna kveten mayis мая май травня",
	"june juni juin junio giugno junho czerwca czerwiec cervna cerven haziran июня июнь червня",
	"july juli juillet julio luglio julho lipca lipiec cervence cervenec temmuz июля июль липня",
	"august aout agosto augustus augusti sierpnia sierpien srpna srpen agustos августа август серпня",
	"september septembre septiembre setiembre settembre setembro wrzesnia wrzesien zari eylul сентября сентябрь вересня",
	"october oktober octobre octubre ottobre outubro pazdziernika pazdziernik rijna rijen ekim октября октябрь жовтня",
	"november novembre noviembre novembro listopada listopad listopadu kasim ноября ноябрь листопада",
	"december dezember decembre diciembre dicembre dezembro desember grudnia grudzien prosince prosinec aralik декабря декабрь грудня",
}

// plainLetters are letters without their accents.
var plainLetters = strings.NewReplacer("ä", "a", "á", "a", "é", "e", "è", "e", "û", "u", "ç", "c", "ń", "n", "ś", "s", "ź", "z",
	"ú", "u", "ů", "u", "ř", "r", "ě", "e", "č", "c", "í", "i", "ž", "z", "ş", "s", "ğ", "g", "ü", "u", "ı", "i")

// plainly is a name in lower case, without accents.
func plainly(name []byte) string { return plainLetters.Replace(strings.ToLower(string(name))) }

// monthOf returns the number of the month that a name, or at least three letters
// of its beginning, means; 0 for none, and where it may mean several.
func monthOf(name []byte) int {
	const longest = 24
	if len(name) < 3 || len(name) > longest {
		return 0
	}
	begin := plainly(name)
	month := 0
	for i, names := range monthNames {
		for len(names) > 0 {
			var one string
			one, names, _ = strings.Cut(names, " ")
			if one == begin {
				return i + 1
			}
			if utf8.RuneCountInString(begin) < 3 || !strings.HasPrefix(one, begin) {
				continue
			}
			if month != 0 && month != i+1 {
				month = len(monthNames) + 1 // several
				continue
			}
			month = i + 1
		}
	}
	if month > len(monthNames) {
		return 0
	}
	return month
}

// weekdays are the names of the days of the week in most of these languages,
// without accents.
const weekdays = " monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag" +
	" lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo" +
	" lunedi martedi mercoledi giovedi venerdi sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag" +
	" segunda terca quarta quinta sexta mandag tirsdag onsdag torsdag fredag lordag sondag poniedzialek wtorek sroda czwartek piatek sobota niedziela" +
	" понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс"

// weekday returns how long the name of a weekday, or at least two letters of its
// beginning, is at the beginning of a text, with what stands behind it; 0 if
// there is none.
func weekday(text []byte) int {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	if n < 2 || n == len(text) || !strings.Contains(weekdays, " "+plainly(text[:n])) {
		return 0
	}
	from := n
	for n < len(text) && strings.IndexByte("., ", text[n]) >= 0 {
		n++
	}
	if n == from {
		return 0
	}
	return n
}

// dayMark returns how long what people put behind the number of a day is: 1st,
// 1er.
func dayMark(text []byte) int {
	if len(text) < 3 || isLetter(text[2]) || !isOneOf(text[:2], []string{"st", "nd", "rd", "th", "er"}) {
		return 0
	}
	return 2
}

// dateEnd returns how long what people put behind a date is.
func dateEnd(text []byte) int {
	for _, end := range []string{".", "日", "일", "月", "월", " г.", " г", "г."} {
		if bytes.HasPrefix(text, []byte(end)) && (len(text) == len(end) || text[len(end)] == ' ') {
			return len(end)
		}
	}
	return 0
}

// dateGap returns how long what divides two parts of a date is: a sign or two,
// and of in the languages that have it there (12 de marzo de 2024).
func dateGap(text []byte) (n int, dot bool) {
	for n < len(text) && n < 2 && strings.IndexByte("./- ,", text[n]) >= 0 {
		dot = dot || text[n] == '.'
		n++
	}
	if n == 0 {
		for _, unit := range []string{"年", "月", "년", "월"} {
			if bytes.HasPrefix(text, []byte(unit)) {
				n = len(unit)
				return n + len(text[n:]) - len(bytes.TrimLeft(text[n:], " ")), false
			}
		}
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
