package table

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema is the attributes of a table, in order. It is never changed once a
// table or a model holds it: what extends it is a new schema.
type Schema struct {
	Attributes []Attribute
	// Sequence is the column that says which rows belong together, in order;
	// "" if rows stand alone. It is none of the attributes.
	Sequence string
	// Linked is the table of a folder, or the predicate of a logic program, that
	// the rows are of; "" if they are of a table that stands alone.
	Linked string
	// Keys is how the tables around the rows point at each other; nil if there are none, or
	// if nobody has said it.
	Keys *Keys
}

// Index returns the position of the attribute with this name, or -1.
func (s *Schema) Index(name string) int {
	for j := range s.Attributes {
		if s.Attributes[j].Name == name {
			return j
		}
	}
	return -1
}

// IndexNear is Index for who has a guess, which is looked at first: of schemas of many
// columns that stand in one order.
func (s *Schema) IndexNear(name string, guess int) int {
	if guess < len(s.Attributes) && s.Attributes[guess].Name == name {
		return guess
	}
	return s.Index(name)
}

// Names returns the attributes' names, in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Attributes))
	for i := range s.Attributes {
		names[i] = s.Attributes[i].Name
	}
	return names
}

// Code returns the code of a nominal value, or Unseen.
func (a *Attribute) Code(value string) int32 {
	if i := slices.Index(a.Values, value); i >= 0 {
		return int32(i)
	}
	return Unseen
}

// Format writes a number of this attribute as files have it: the shortest
// decimal text that reads back to the same number, an ISO date for a date
// (with the time of day if there is one), "" for a missing cell.
func (a *Attribute) Format(x float64) string {
	switch {
	case IsMissing(x):
		return ""
	case a.Date && firstDay <= x && x < lastDay:
		return dateText(x)
	case a.Time && a.Style.Form() == Clock && 0 <= x && x < 86400:
		return strings.TrimSuffix(timeText(x)[len("1970-01-01T"):], ":00")
	case a.Time && firstDay*86400 <= x && x < lastDay*86400:
		return timeText(x)
	}
	return numberText(x)
}

// Parse reads a number of this attribute as it stands in files, and of a date
// or a time also the plain number that it is kept as.
func (a *Attribute) Parse(text string) (float64, bool) {
	if days, ok := a.Style.ParseDate(text); ok && (a.Date || a.Time) {
		if a.Time {
			days = secondsOf(days)
		}
		return days, true
	}
	return parseNumber([]byte(text))
}

// ParseCell reads a number of this attribute as Parse does, or else in the style
// of its files.
func (a *Attribute) ParseCell(text string) (float64, bool) {
	x, ok := a.Parse(text)
	if !ok && a.what() == "number" {
		return a.Style.ParseNumber(text)
	}
	return x, ok
}

// secondsOf returns days as seconds, to the microsecond: as far as either is
// told apart by a float64 of today.
func secondsOf(days float64) float64 { return math.Round(days*86400e6) / 1e6 }

// timeText writes seconds since 1970, to the microsecond.
func timeText(x float64) string {
	second := math.Floor(x)
	micros := int64(math.Round((x - second) * 1e6))
	return time.Unix(int64(second), micros*1000).UTC().Format("2006-01-02T15:04:05.999999")
}

// numberText writes numbers of ordinary size without an exponent.
func numberText(x float64) string {
	if size := math.Abs(x); size < 1e21 && (size >= 1e-6 || size == 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// The days that ISO dates with four digits for the year can write.
const (
	firstDay = -719528 // 0000-01-01
	lastDay  = 2932897 // 10000-01-01
)

// dateText writes days since 1970, to the nanosecond at most.
func dateText(x float64) string {
	day := math.Floor(x)
	if x == day {
		return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly)
	}
	nanos := int64(math.Round((x - day) * 86400e9))
	for _, unit := range []int64{1e9, 1e6, 1e3, 1} {
		// A float64 of days is good to a microsecond or so: the text with
		// the fewest digits is the one that was probably meant.
		rounded := (nanos + unit/2) / unit * unit
		at := time.Unix(int64(day)*86400, rounded).UTC()
		text := at.Format("2006-01-02T15:04:05.999999999")
		if back, ok := parseDate([]byte(text)); ok && back == x || unit == 1 {
			return text
		}
	}
	return numberText(x)
}
