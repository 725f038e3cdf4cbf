package table

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style says how the cells of a column are written where they are no plain
// decimals or ISO dates: with a decimal comma, with the day first, with texts of
// their own for what is not known. It stands in the attribute, and so in the
// model, so that later rows are read in the same way though their file alone
// might look otherwise. "" is the plain style.
//
// The first line is a comma or a point, which divides decimals and allows the
// other one between thousands; or dmy, mdy, ymd, the order of dates; or clock,
// for times of day. Each further line is a text that means a missing cell; an
// empty one among them, that the usual texts do not.
type Style string

// The styles of numbers and dates.
const (
	Comma      Style = ","
	Point      Style = "."
	DayFirst   Style = "dmy"
	MonthFirst Style = "mdy"
	YearFirst  Style = "ymd"
	Clock      Style = "clock"
)

// Form returns the style without texts for missing cells.
func (s Style) Form() Style {
	form, _, _ := strings.Cut(string(s), "\n")
	return Style(form)
}

// Missing returns the texts that mean a missing cell.
func (s Style) Missing() []string {
	_, list, ok := strings.Cut(string(s), "\n")
	if !ok {
		return nil
	}
	return strings.Split(list, "\n")
}

// NewStyle returns the style of a form and texts for missing cells. A text of
// several lines cannot be one.
func NewStyle(form Style, missing []string) Style {
	for _, m := range missing {
		if !strings.Contains(m, "\n") {
			form += Style("\n" + m)
		}
	}
	return form
}

// Forms are the styles of numbers, dates and times by name.
var Forms = []Style{Comma, Point, DayFirst, MonthFirst, YearFirst, Clock}

// Fits reports whether cells of an attribute may be written so.
func (s Style) Fits(a *Attribute) bool {
	switch form := s.Form(); form {
	case "":
		return true
	case Comma, Point:
		return a.Kind == Numeric && !a.Date && !a.Time
	case Clock:
		return a.Time
	default:
		return (a.Date || a.Time) && slices.Contains(Forms, form)
	}
}

// Joined returns one style for rows of two sources: the one that says
// something; of two that do, always the same.
func (s Style) Joined(other Style) Style {
	if s == "" || other != "" && other < s {
		return other
	}
	return s
}

// IsDay reports whether dates of this style are days, not times of every day.
func (s Style) IsDay() bool { return s.Form() != Clock }

// isNumber reports whether the style is one of numbers.
func (s Style) isNumber() bool { return s == Comma || s == Point }

// ParseNumber reads a number in a style of numbers: with a sign of currency or
// per cent, with thousands apart. In the plain style a comma stands between
// thousands where it can mean nothing else.
func (s Style) ParseNumber(text string) (float64, bool) {
	v := lookNumber([]byte(text), nil)
	switch s.Form() {
	case Comma:
		return v.comma, v.asComma
	case Point:
		return v.point, v.asPoint
	}
	return v.point, v.asPoint && (!v.asComma || v.comma == v.point)
}

// ParseDate reads a date of this order, or an ISO date, as days since 1970.
func (s Style) ParseDate(text string) (float64, bool) {
	b := []byte(text)
	if days, ok := parseDate(b); ok {
		return days, true
	}
	form := s.Form()
	if form == Clock {
		return parseClock(b)
	}
	if days, ok := lookDigits(b, form); ok {
		return days, true
	}
	days, ok := lookDate(b).days[orderOf(form)], false
	if form == DayFirst || form == MonthFirst || form == YearFirst {
		ok = days == days
	}
	return days, ok
}

// written is a text as a number: with a decimal point, and with a decimal comma.
type written struct {
	asPoint, asComma bool
	point, comma     float64
	sign             string // of currency, or %
}

// telling reports which of both ways the text allows alone.
func (w *written) telling() (comma, point bool) {
	return w.asComma && !w.asPoint, w.asPoint && !w.asComma
}

// ambiguous reports whether both ways are possible and differ.
func (w *written) ambiguous() bool { return w.asPoint && w.asComma && w.point != w.comma }

// lookNumber looks at a text as a number; scratch may be used.
func lookNumber(text, scratch []byte) (w written) {
	const longest = 64
	if len(text) == 0 || len(text) > longest {
		return w
	}
	core, negative, sign := bare(text)
	if len(core) == 0 || core[0]-'0' > 9 && core[0] != '.' && core[0] != ',' {
		return w
	}
	w.sign = sign
	w.point, w.asPoint = parseWritten(core, '.', scratch)
	w.comma, w.asComma = parseWritten(core, ',', scratch)
	if negative {
		w.point, w.comma = -w.point, -w.comma
	}
	return w
}

// bare takes signs and spaces off the text of a number: of currency and per cent,
// a minus before or behind it, parentheses, as accountants write debts, and the
// dash that stands for no cents.
func bare(text []byte) (core []byte, negative bool, sign string) {
	core = trimSpaces(text)
	signed, enclosed := false, false
	for before := 0; len(core) > 0 && len(core) != before; core = trimSpaces(core) {
		n := len(core)
		before = n
		switch {
		case n > 2 && core[0] == '(' && core[n-1] == ')':
			if signed {
				return nil, false, ""
			}
			core, signed, enclosed, negative = core[1:n-1], true, true, true
		case !signed && (core[0] == '-' || core[0] == '+'):
			core, signed, negative = core[1:], true, core[0] == '-'
		case !signed && bytes.HasPrefix(core, []byte("−")):
			core, signed, negative = core[len("−"):], true, true
		case sign == "" && core[n-1] == '%':
			core, sign = core[:n-1], "%"
		case noCents(core) > 0:
			core = core[:n-noCents(core)]
		case !signed && core[n-1] == '-' && bytes.ContainsAny(core, ".,"):
			core, signed, negative = core[:n-1], true, true
		case sign == "":
			core, sign = withoutCurrency(core)
		}
	}
	if enclosed && sign == "" && !bytes.ContainsAny(core, ".,") {
		return nil, false, ""
	}
	return core, negative, sign
}

// noCents returns how long what stands for no cents is: 200.–, 200,-, 200,--.
func noCents(core []byte) int {
	for _, end := range []string{".–", ",–", ".—", ",—", ".-", ",-", ".--", ",--"} {
		if n := len(core) - len(end); n > 0 && core[n-1]-'0' <= 9 && bytes.HasSuffix(core, []byte(end)) {
			return len(end)
		}
	}
	return 0
}

// trimSpaces takes off spaces, also those that do not break a line.
func trimSpaces(text []byte) []byte { return bytes.Trim(text, " \t\u00a0\u202f\u2009") }

// parseWritten reads digits with thousands apart, always in the same way and
// never by what divides decimals. In India hundreds of thousands are: 1,23,456.
func parseWritten(core []byte, decimal byte, scratch []byte) (float64, bool) {
	plain := scratch[:0]
	group, run, groups := "", 0, 0
	i := 0
	for i < len(core) {
		if c := core[i]; c-'0' <= 9 {
			plain = append(plain, c)
			run++
			i++
			continue
		}
		by := grouping(core[i:])
		if by == "" || by[0] == decimal || core[i]|0x20 == 'e' {
			break
		}
		if groups == 0 && (run == 0 || run > 3 || core[0] == '0') || groups > 0 && (by != group || run != 3 && (run != 2 || by != ",")) {
			return 0, false
		}
		group, run = by, 0
		groups++
		i += len(by)
	}
	if groups > 0 && (run != 3 || i < len(core) && core[i]|0x20 == 'e') {
		return 0, false
	}
	if i < len(core) && core[i] == decimal {
		plain = append(plain, '.')
		from := i + 1
		for i++; i < len(core) && core[i]-'0' <= 9; i++ {
			plain = append(plain, core[i])
		}
		if i == from {
			return 0, false
		}
	}
	plain = append(plain, core[i:]...)
	if len(plain) == 0 || plain[0]-'0' > 9 && plain[0] != '.' {
		return 0, false
	}
	return parseNumber(plain)
}

// grouping returns what stands between thousands at the beginning of a text.
func grouping(text []byte) string {
	for _, by := range []string{",", ".", " ", "'", "\u00a0", "\u202f", "\u2009", "’"} {
		if bytes.HasPrefix(text, []byte(by)) {
			return by
		}
	}
	return ""
}

// grouped counts cells by whether a sign that may stand between thousands or
// before decimals does so in them: 1.234.
type grouped struct {
	like, below, others int  // 1.234, up to three plain digits, anything else
	hundreds, round     bool // 850 is among those below, 1.250 among those alike
}

func (g *grouped) add(text []byte, by byte) {
	n, plain := digits(text)
	switch {
	case isGrouped(text, by):
		g.like++
		g.round = g.round || text[len(text)-1] == '0'
	case plain && len(text) <= 3:
		g.below++
		g.hundreds = g.hundreds || n >= 100
	default:
		g.others++
	}
}

// may reports whether all cells can be numbers with thousands apart.
func (g *grouped) may() bool { return g.like >= 2 && g.others == 0 }

// tell reports whether they must be: nobody who writes 850 without decimals writes
// 1.250 with a zero behind them.
func (g *grouped) tell() bool { return g.may() && g.hundreds && g.round }

// isGrouped reports whether a text is digits with a sign between thousands, which
// may be meant as decimals: 1.234.
func isGrouped(text []byte, by byte) bool {
	if len(text) < 5 || text[0] == '0' {
		return false
	}
	text = bytes.TrimPrefix(text, []byte("-"))
	whole, rest, ok := bytes.Cut(text, []byte{by})
	_, digitsBefore := digits(whole)
	_, digitsAfter := digits(rest)
	return ok && len(whole) >= 1 && len(whole) <= 3 && len(rest) == 3 && digitsBefore && digitsAfter
}

// markers are the texts that mean that nothing is known, in lower case. In a
// column of numbers or dates all of them do. In a column of names those that are
// strong do; the others may be names, as none is in a column of garages. They are
// of the languages whose months are known, as people write them into tables.
var (
	strongMarkers = []string{"?", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "nan", "null", "(null)", "<na>", `\n`, "-", "--", "---", "–", "—", "#null!", "#value!", "#div/0!"}
	weakMarkers   = wordSet(`none|nil|missing|unknown|.|..|...|not available|not known|not applicable|not recorded|not given|not stated|no data|no answer|blank|empty|refused|withheld|n/k|n/s|tbd|tba|#ref!|#name?|#num!
k.a.|k. a.|k.a|o.a.|n.b.|n.v.|unbekannt|unbek.|keine angabe|keine|ohne angabe|fehlt|entfällt|nicht bekannt
n.d.|n.d|n/d|n.c.|inconnu|inconnue|non disponible|non renseigné|aucun|aucune|néant|manquant
s/d|sin datos|sin dato|desconocido|desconocida|no disponible|no consta|ninguno|sem dados|desconhecido|não informado|nenhum
sconosciuto|sconosciuta|non noto|nessuno|mancante|onbekend|nvt|n.v.t.|geen|geen gegevens
okänd|okänt|saknas|ukendt|mangler|ukjent|ikke oppgitt|uppgift saknas
brak|brak danych|b.d.|bd.|nie dotyczy|nieznany|nieznana|neznámý|neznámo|chybí|neuvedeno|není
yok|bilinmiyor|нет|нет данных|н/д|неизвестно|немає|немає даних|невідомо|не указано`)
	// What sums a column up below it is no case either.
	totals = wordSet(`total|totals|grand total|subtotal|sub-total|sum|sums|average|avg|mean|summe|gesamt|gesamtsumme|zwischensumme|mittelwert|durchschnitt|somme|moyenne|total général|suma|razem|promedio|media|soma|média|totale|somma|totaal|som|gemiddelde|summa|i alt|genomsnitt|celkem|součet|toplam|ortalama|итого|всего|сумма|среднее|разом|всього`)
)

// wordSet are the texts between bars, in lower case.
func wordSet(texts string) map[string]bool {
	set := map[string]bool{}
	for _, text := range strings.FieldsFunc(texts, func(r rune) bool { return r == '|' || r == '\n' }) {
		set[text] = true
	}
	return set
}

// longestMarker is how many bytes a text that means a missing cell has at most.
const longestMarker = 32

// isMarker reports whether a text usually means a missing cell.
func isMarker(text []byte) bool {
	if isStrong(text) {
		return true
	}
	if len(text) > longestMarker || text[0]-'0' <= 9 {
		return false
	}
	return weakMarkers[strings.ToLower(string(text))]
}

// isNoAmount reports whether a text means a missing cell in a column of numbers or
// dates: also the word that stands before a sum.
func isNoAmount(text []byte) bool {
	return isMarker(text) || len(text) <= longestMarker && totals[strings.ToLower(strings.TrimRight(string(text), " :"))]
}

// isStrong reports whether a text means a missing cell also among names. Most
// names are told by their first bytes.
func isStrong(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch text[0] {
	case '?', '#', '(', '<', '\\', '-', 0xe2:
	case 'n', 'N':
		if len(text) < 2 || strings.IndexByte("aA/.uU", text[1]) < 0 {
			return false
		}
	default:
		return false
	}
	return isOneOf(text, strongMarkers)
}

func isOneOf(text []byte, words []string) bool {
	for _, w := range words {
		if equalFold(text, w) {
			return true
		}
	}
	return false
}

// namesLike tells of a column of names which of the texts that usually mean a
// missing cell are names like the others.
type namesLike struct {
	codes bool // nine of ten are two capital letters: NA is Namibia, or North America
	signs bool // + stands there, or nothing but one name: - is a name, too
	any   bool // the usual texts mean nothing
}

// likeThese looks at the names of a column.
func likeThese(values []string) (l namesLike) {
	others, codes, weak := 0, 0, 0
	for _, v := range values {
		if isStrong([]byte(v)) {
			continue
		}
		if others++; len(v) == 2 && v[0]-'A' < 26 && v[1]-'A' < 26 {
			codes++
		} else if isMarker([]byte(v)) {
			weak++
		}
		l.signs = l.signs || v == "+" || v == "++"
	}
	l.codes = codes >= 2 && 10*codes >= 9*(others-weak)
	l.signs = l.signs || others <= 1
	return l
}

// isMissing reports whether a text means a missing cell in such a column.
func (l namesLike) isMissing(text []byte) bool {
	switch {
	case len(text) == 0:
		return true
	case l.any, l.codes && string(text) == "NA", l.signs && (text[0] == '-' || text[0] == 0xe2):
		return false
	}
	return isStrong(text)
}

// ParseOrder reads how people say the order of a date: dmy, dd.mm.yyyy, %m/%d/%Y;
// iso stands for ISO dates alone.
func ParseOrder(text string) (Style, bool) {
	lower := strings.ToLower(text)
	if lower == "iso" || lower == "none" {
		return "iso", true
	}
	var order []byte
	for i := range len(lower) {
		switch c := lower[i]; c {
		case 'd', 'm', 'y':
			if !bytes.Contains(order, []byte{c}) {
				order = append(order, c)
			}
		case 'j', 't', 'a': // Jahr, Tag, année are not English
			return "", false
		}
	}
	if s := Style(order); slices.Contains(orders[:], s) && utf8.ValidString(text) {
		return s, true
	}
	return "", false
}
