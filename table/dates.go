package table

import (
	"bytes"
	"slices"
	"strconv"
)

// dates are the days that a text means by the orders of its parts, NaN where it
// is no such date, and whether it has a time of day.
type dates struct {
	days  [3]float64 // by orderOf
	dots  bool       // points divide its parts
	clock bool
}

// orderOf returns the place of an order of dates.
func orderOf(s Style) int { return max(0, slices.Index(orders[:], s)) }

var orders = [...]Style{DayFirst, MonthFirst, YearFirst}

// lookDate looks at a text as a date: three numbers, or two and the name of a
// month, with points, slashes, hyphens or spaces between them, maybe a weekday
// before and a time of day behind them; or a month of a year, which is its first
// day.
func lookDate(text []byte) dates {
	const longest = 48
	none := dates{days: [3]float64{NA, NA, NA}}
	if text = trimSpaces(text); len(text) < 6 || len(text) > longest {
		return none
	}
	if d, ok := lookDay(text); ok {
		return d
	}
	if n := weekday(text); n > 0 {
		if d, ok := lookDay(text[n:]); ok {
			return d
		}
	}
	if day, ok := lookMonth(text); ok {
		return dates{days: [3]float64{day, day, day}}
	}
	return none
}

// datePart is a number of a date, or the name of its month.
type datePart struct {
	value, size int // digits
	named       bool
}

// cutPart reads the part of a date that a text begins with.
func cutPart(text []byte) (p datePart, rest []byte, ok bool) {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	if n > 0 {
		p.size = n
		p.value, _ = digits(text[:min(n, 4)])
		return p, text[n:], n <= 4 && n != 3
	}
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	p.value, p.named = monthOf(text[:n]), true
	return p, text[n:], p.value > 0
}

// lookDay looks at a text as a day.
func lookDay(text []byte) (d dates, ok bool) {
	var part [3]datePart
	names := 0
	for k := range part {
		if k > 0 {
			gap, dot := dateGap(text)
			if gap == 0 {
				return d, false
			}
			d.dots, text = d.dots || dot, text[gap:]
		}
		if part[k], text, ok = cutPart(text); !ok {
			return d, false
		}
		if part[k].named {
			names++
		} else {
			text = text[dayMark(text):]
		}
	}
	fraction := 0.0
	if text = text[dateEnd(text):]; len(text) > 0 {
		nanos, ok := parseHours(bytes.TrimLeft(text, " T,"))
		if !ok || text[0]-'0' <= 9 {
			return d, false
		}
		d.clock, fraction = true, float64(nanos)/86400e9
	}
	return d.ordered(part, fraction), names <= 1
}

// ordered is the days that three parts mean by each order.
func (d dates) ordered(part [3]datePart, fraction float64) dates {
	for k, order := range [3][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} { // where day, month and year are
		d.days[k] = NA
		day, month, year := part[order[0]], part[order[1]], part[order[2]]
		if day.size > 2 || month.size > 2 || year.named || year.size == 2 && k == 2 || year.size < 2 {
			continue
		}
		if day.named && k < 2 { // the name says which part the month is
			day, month = month, day
		}
		if day.named {
			continue
		}
		if year.size == 2 { // 69 is 1969, 68 is 2068
			if year.value += 1900; year.value < 1969 {
				year.value += 100
			}
		}
		if m := month.value; m >= 1 && m <= 12 && day.value >= 1 && day.value <= daysIn(year.value, m) {
			d.days[k] = float64(daysFromCivil(year.value, m, day.value)) + fraction
		}
	}
	return d
}

// lookMonth looks at a text as a month of a year: May 2024, Dec-2023, 2024-05,
// 05/2024.
func lookMonth(text []byte) (day float64, ok bool) {
	first, rest, ok := cutPart(text)
	if !ok {
		return 0, false
	}
	gap, _ := dateGap(rest)
	if gap == 0 {
		return 0, false
	}
	by := rest[0]
	second, rest, ok := cutPart(rest[gap:])
	if !ok || len(rest) > dateEnd(rest) {
		return 0, false
	}
	month, year := first, second
	if first.size == 4 {
		month, year = second, first
	}
	switch {
	case year.named || year.size != 4 || month.size > 2 || month.value < 1 || month.value > 12:
		return 0, false
	case !month.named && !(first.size == 4 && (by == '-' || by >= 0x80)) && !(second.size == 4 && by == '/'):
		return 0, false
	}
	return float64(daysFromCivil(year.value, month.value, 1)), true
}

// lookDigits reads a date of eight digits in an order: 20240301.
func lookDigits(text []byte, order Style) (days float64, ok bool) {
	n, ok := digits(text)
	if !ok || len(text) != 8 {
		return 0, false
	}
	year, month, day := n/10000, n/100%100, n%100
	switch order {
	case DayFirst:
		day, month, year = n/1000000, n/10000%100, n%10000
	case MonthFirst:
		month, day, year = n/1000000, n/10000%100, n%10000
	case YearFirst:
	default:
		return 0, false
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return float64(daysFromCivil(year, month, day)), true
}

// DaysOfDigits returns the day that a number such as 20240301 means, as days since
// 1970, if it means one of the last or the next hundred years.
func DaysOfDigits(x float64) (days float64, ok bool) {
	if !isInteger(x) || x < 19000000 || x > 21000000 {
		return 0, false
	}
	return lookDigits(strconv.AppendInt(nil, int64(x), 10), YearFirst)
}

// parseClock reads a time of day as a fraction of it: 9:05, 14:30:15, 2:30 pm.
func parseClock(text []byte) (float64, bool) {
	nanos, ok := parseHours(text)
	return float64(nanos) / 86400e9, ok && nanos >= 0 && nanos < 86400e9
}

// parseHours reads a time of day in nanoseconds of the first of its days, or of
// one beside it where a zone says so: 9:05, 22h30, 14:30:15 +0200, 2:30 p.m.,
// 16:48 Uhr.
func parseHours(text []byte) (nanos int64, ok bool) {
	const hour = 3600e9
	text = trimSpaces(text)
	for _, half := range halves {
		n := len(text) - len(half.name)
		if n <= 0 || !equalFold(text[n:], half.name) {
			continue
		}
		nanos, ok = parseHours(text[:n])
		if !ok || half.of == 0 {
			return nanos, ok
		}
		if nanos < 1*hour || nanos >= 13*hour {
			return 0, false
		}
		return nanos%(12*hour) + int64(half.of-1)*12*hour, true
	}
	if n := bytes.IndexByte(text, ':'); n == 1 || n < 0 && len(text) > 1 && text[1] == 'h' {
		text = append([]byte{'0'}, text...)
	}
	if len(text) < 5 {
		return 0, false
	}
	time := append([]byte{'T'}, text...)
	if time[3] == 'h' {
		time[3] = ':'
	}
	if at := bytes.LastIndexByte(time, ' '); at > 0 && at+1 < len(time) && (time[at+1] == '+' || time[at+1] == '-') {
		time = append(time[:at], time[at+1:]...)
	}
	return parseTime(time)
}

// halves are what stands behind a time of day, and the half of the day that it
// names.
var halves = []struct {
	name string
	of   int
}{{"am", 1}, {"pm", 2}, {"a.m.", 1}, {"p.m.", 2}, {"a. m.", 1}, {"p. m.", 2}, {"uhr", 0}, {" gmt", 0}, {" utc", 0}}
