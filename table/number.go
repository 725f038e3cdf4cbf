package table

import (
	"math"
	"strconv"
)

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scanNumber reads the decimal number that begins at s[i] and returns it with
// the index of the first byte after it, or end = i if no number begins there.
//
// The grammar is that of plain decimals, 1 -1.5 +.5 6. 1e-9, and inf or
// infinity in any case: hexadecimal digits, underscores and decimal commas
// are no part of it. A number beyond the range of a float64 is ±Inf.
//
// Most numbers in files have few digits. If the digits, taken as an integer,
// and the power of ten are both exact as float64, one multiplication or
// division rounds correctly (Clinger 1990, the fast path); the rest is left
// to strconv.
func scanNumber(s []byte, i int) (x float64, end int) {
	start, negative := i, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	var mantissa uint64
	first := i
	for i < len(s) && s[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(s[i]-'0')
		i++
	}
	digits, exponent := i-first, 0
	if i < len(s) && s[i] == '.' {
		i++
		point := i
		for i < len(s) && s[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(s[i]-'0')
			i++
		}
		exponent = point - i
		digits += i - point
	}
	if digits == 0 {
		return scanInfinity(s, start)
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if power, after := scanExponent(s, i+1); after > i+1 {
			exponent += power
			i = after
		}
	}
	// 19 digits fit in 64 bits; what fits in 53 is exact as a float64.
	if digits <= 19 && mantissa <= 1<<53 && -22 <= exponent && exponent <= 22 {
		x = float64(mantissa)
		if exponent < 0 {
			x /= pow10[-exponent]
		} else {
			x *= pow10[exponent]
		}
		if negative {
			x = -x
		}
		return x, i
	}
	// The only error left is one of range, for which x is already ±Inf.
	x, _ = strconv.ParseFloat(string(s[start:i]), 64)
	return x, i
}

// scanExponent reads an optional sign and digits. The value is held within
// bounds that leave room for the digits of any number in memory.
func scanExponent(s []byte, i int) (power, end int) {
	start, negative := i, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	first := i
	for i < len(s) && s[i]-'0' <= 9 {
		if power < 1<<40 {
			power = power*10 + int(s[i]-'0')
		}
		i++
	}
	if i == first {
		return 0, start
	}
	if negative {
		power = -power
	}
	return power, i
}

// scanInfinity reads an optional sign and inf or infinity.
func scanInfinity(s []byte, i int) (x float64, end int) {
	start, x := i, math.Inf(1)
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		if s[i] == '-' {
			x = math.Inf(-1)
		}
		i++
	}
	for _, word := range [...]string{"infinity", "inf"} {
		if len(s)-i >= len(word) && equalFold(s[i:i+len(word)], word) {
			return x, i + len(word)
		}
	}
	return 0, start
}

// equalFold reports whether s is the lower-case ASCII word in any case.
func equalFold(s []byte, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range s {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// parseNumber returns the number that a cell holds, if it holds nothing else.
func parseNumber(text []byte) (x float64, ok bool) {
	x, end := scanNumber(text, 0)
	return x, end == len(text) && end > 0
}

// overflows reports whether the text of an infinite number is in digits: a
// finite number too large for a float64.
func overflows(text []byte) bool {
	for _, c := range text {
		if c-'0' <= 9 {
			return true
		}
	}
	return false
}

// isMissing reports whether a cell is one of the ways to write that nothing
// is known: empty, ?, NA, NaN, null (the last two in any case).
func isMissing(text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 1:
		return text[0] == '?'
	case 2:
		return text[0] == 'N' && text[1] == 'A'
	case 3:
		return text[0]|0x20 == 'n' && equalFold(text, "nan")
	case 4:
		return text[0]|0x20 == 'n' && equalFold(text, "null")
	}
	return false
}

// parseDate returns the days since 1970-01-01 of an ISO 8601 date, with the
// time of day as a fraction: 2024-03-01, 2024-03-01T12:30, 2024-03-01
// 12:30:15.25Z, 2024-03-01T12:30:15+02:00. Without a zone it is UTC.
func parseDate(text []byte) (days float64, ok bool) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	year, ok1 := digits(text[0:4])
	month, ok2 := digits(text[5:7])
	day, ok3 := digits(text[8:10])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	date := daysFromCivil(year, month, day)
	if len(text) == 10 {
		return float64(date), true
	}
	nanos, ok := parseTime(text[10:])
	if !ok {
		return 0, false
	}
	const nanosPerDay = 86400e9
	// A zone can move the instant to a neighbouring day.
	for nanos < 0 {
		nanos += nanosPerDay
		date--
	}
	return float64(date) + float64(nanos)/nanosPerDay, true
}

// parseTime returns the nanoseconds since midnight UTC of what follows the
// date: T or a space, hours and minutes, and maybe seconds and a zone.
func parseTime(text []byte) (nanos int64, ok bool) {
	if len(text) < 6 || text[0] != 'T' && text[0] != 't' && text[0] != ' ' || text[3] != ':' {
		return 0, false
	}
	hour, ok1 := digits(text[1:3])
	minute, ok2 := digits(text[4:6])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, false
	}
	nanos = int64(hour*3600+minute*60) * 1e9
	text = text[6:]
	if len(text) >= 3 && text[0] == ':' {
		second, ok := digits(text[1:3])
		if !ok || second > 59 {
			return 0, false
		}
		nanos += int64(second) * 1e9
		text = text[3:]
		if len(text) >= 2 && text[0] == '.' && text[1]-'0' <= 9 {
			unit := int64(1e8)
			for text = text[1:]; len(text) > 0 && text[0]-'0' <= 9; text = text[1:] {
				nanos += int64(text[0]-'0') * unit
				unit /= 10
			}
		}
	}
	if len(text) == 0 || len(text) == 1 && text[0]|0x20 == 'z' {
		return nanos, true
	}
	if text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	zone := text[1:]
	if len(zone) == 5 && zone[2] == ':' {
		zone = []byte{zone[0], zone[1], zone[3], zone[4]}
	}
	if len(zone) != 2 && len(zone) != 4 {
		return 0, false
	}
	hours, ok := digits(zone[:2])
	if !ok || hours > 23 {
		return 0, false
	}
	minutes, ok := digits(zone[2:])
	if !ok || minutes > 59 {
		return 0, false
	}
	offset := int64(hours*3600+minutes*60) * 1e9
	if text[0] == '+' {
		offset = -offset
	}
	return nanos + offset, true
}

// digits returns the value of a text that is all decimal digits.
func digits(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysFromCivil counts the days from 1970-01-01 in the proleptic Gregorian
// calendar. Years are taken to begin in March, so that the leap day is the
// last one and months have a regular length (Hinnant, "chrono-compatible
// low-level date algorithms").
func daysFromCivil(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146097 + dayOfEra - 719468
}
