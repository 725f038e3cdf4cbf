package say

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/digits"
	"github.com/accrete-ml/accrete/table"
)

// Percent is a share as people say it: whole, with a decimal below 1 % and above
// 99 %, and never 0 or 100 unless it is.
func Percent(p float64) string { return figures(p) + " %" }

// Between is an interval of shares: 68–84 %.
func Between(low, high float64) string { return end(low) + "–" + end(high) + " %" }

// end is an end of an interval, which may be 0 or 100 as far as is shown.
func end(p float64) string {
	switch {
	case p < 0.0005:
		return "0"
	case p == 1 || p > 0.99995:
		return "100"
	case p > 0.999:
		return strconv.FormatFloat(math.Floor(1e4*p)/100, 'f', -1, 64)
	}
	return figures(p)
}

func figures(p float64) string {
	switch {
	case p <= 0:
		return "0"
	case p >= 1:
		return "100"
	case p < 0.001:
		return "under 0.1"
	case p > 0.999:
		return "over 99.9"
	case p < 0.00995 || p > 0.99:
		return strconv.FormatFloat(100*p, 'f', 1, 64)
	}
	return strconv.FormatFloat(100*p, 'f', 0, 64)
}

// Count is a number of rows: whole, or with a decimal where rows have weights.
func Count(n float64) string {
	if r := math.Round(n); math.Abs(r-n) < 0.05 {
		return digits.Commas(strconv.FormatFloat(r, 'f', 0, 64), 1000, math.Abs(r))
	}
	return digits.Commas(strconv.FormatFloat(n, 'f', 1, 64), 1000, math.Abs(n))
}

// Times is the ratio that a weight, the natural log of one, stands for.
func Times(weight float64) string {
	x := math.Exp(math.Abs(weight))
	switch {
	case x > 1000:
		return "over 1,000"
	case x >= 99.5:
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// Number writes a number as it is, without an exponent while it is of ordinary
// size, and with commas from 10,000 on: years have none.
func Number(x float64) string {
	size := math.Abs(x)
	if size >= 1e15 || size > 0 && size < 1e-6 || math.IsInf(x, 0) || math.IsNaN(x) {
		return powerOfTen(strconv.FormatFloat(x, 'g', 4, 64))
	}
	text := digits.Commas(strconv.FormatFloat(x, 'f', -1, 64), 10000, size)
	return strings.Replace(text, "-", "−", 1)
}

// powerOfTen writes an exponent as people do: 4e-07 is 4 × 10⁻⁷.
func powerOfTen(text string) string {
	text = strings.Replace(text, "-", "−", 1)
	factor, exponent, ok := strings.Cut(text, "e")
	n, err := strconv.Atoi(strings.Replace(exponent, "−", "-", 1))
	if !ok || err != nil {
		return text
	}
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return factor + " × 10" + raised.Replace(strconv.Itoa(n))
}

// Rounded writes a number with so many significant digits, and whole where it
// has more before the point.
func Rounded(x float64, digits int) string { return Number(round(x, digits)) }

func round(x float64, digits int) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	place := digits - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	return toPlace(x, min(place, 15), math.Round)
}

// toPlace rounds to a decimal place, exactly as the decimal text of it reads.
func toPlace(x float64, place int, how func(float64) float64) float64 {
	if place >= 0 {
		scale := math.Pow10(place)
		return how(x*scale) / scale
	}
	scale := math.Pow10(-place)
	return how(x/scale) * scale
}

// measure writes a number of a column, with its unit; dates as dates.
func (s *Speaker) measure(a *table.Attribute, x float64) string {
	if a.Date || a.Time {
		if text := a.Format(x); text != "" {
			text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), " 00:00:00")
			if date, clock, ok := strings.Cut(text, " "); ok { // 10:18:00 is 10:18
				text = date + " " + strings.TrimSuffix(clock, ":00")
			}
			return text
		}
	}
	if unit := s.Words.Columns[a.Name].Unit; unit != "" {
		return Number(x) + " " + unit
	}
	return Number(x)
}

// Spread says a mean and a deviation; of dates a day, and days.
func Spread(a *table.Attribute, mean, deviation float64) string {
	day := table.Attribute{Kind: table.Numeric, Date: true}
	switch {
	case a.Date:
		return day.Format(math.Round(mean)) + " ± " + Rounded(deviation, 3) + " d"
	case a.Time && a.Style.IsDay():
		return day.Format(math.Round(mean/86400)) + " ± " + Rounded(deviation/86400, 3) + " d"
	case a.Time:
		return a.Format(60*math.Round(mean/60)) + " ± " + Rounded(deviation/3600, 3) + " h"
	}
	return Rounded(mean, 4) + " ± " + Rounded(deviation, 3)
}

// legible is a number of a cell without the digits of a computation, which nobody
// reads: 11.1100256612761 is said as 11.11.
func legible(a *table.Attribute, x float64) float64 {
	const most, enough = 9, 6
	if a.Date || a.Time || digitsOf(x) <= most {
		return x
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', enough, 64), 64)
	return short
}

// distinct returns the known values of a column, ascending, each once.
func distinct(rows []*table.Table, column int) []float64 {
	var all []float64
	for _, t := range rows {
		if column < len(t.Columns) {
			for _, x := range t.Columns[column].Floats {
				if !table.IsMissing(x) && !math.IsInf(x, 0) {
					all = append(all, x)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Clip(slices.Compact(all))
}

// shortest returns the number with the fewest digits in (low, high], or where
// upper is not set in [low, high). Of several it is the one nearest to the end
// that belongs to it, and that end itself if nothing is shorter: a value that
// occurs.
func shortest(low, high float64, upper bool) float64 {
	end, towards := high, math.Floor
	if !upper {
		end, towards = low, math.Ceil
	}
	if !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return end
	}
	first := -int(math.Ceil(math.Log10(max(math.Abs(low), math.Abs(high), 1e-300)))) - 1
	for place := first; place <= first+17; place++ {
		x := toPlace(end, place, towards)
		if upper && x > low && x <= high || !upper && x >= low && x < high {
			if digitsOf(x) < digitsOf(end) {
				return x
			}
			return end
		}
	}
	return end
}

// digitsOf counts the significant digits of a number.
func digitsOf(x float64) int {
	text := strconv.FormatFloat(math.Abs(x), 'e', -1, 64)
	mantissa, _, _ := strings.Cut(text, "e")
	return len(strings.ReplaceAll(mantissa, ".", ""))
}

// Cell is a cell of a row as people say it: "cp = asympt", "ST depression 2 mm".
func (s *Speaker) Cell(t *table.Table, row, column int) Part {
	a := &s.Schema.Attributes[column]
	switch c := &t.Columns[column]; {
	case c.Codes != nil && c.Codes[row] == table.Missing, c.Floats != nil && table.IsMissing(c.Floats[row]):
		return s.part(a.Name, s.Label(a.Name)+" is not known")
	case c.Codes != nil && (c.Codes[row] < 0 || int(c.Codes[row]) >= len(a.Values)):
		return s.part(a.Name, s.Label(a.Name)+" has a value not seen before")
	case c.Codes != nil:
		return s.part(a.Name, s.is(a, a.Values[c.Codes[row]]))
	case c.Floats != nil:
		return s.part(a.Name, s.numeral(a, legible(a, c.Floats[row])))
	}
	return s.part(a.Name, s.Label(a.Name))
}

// Amount writes the cell of a row as it is said after its column: "not known",
// a number with its unit, a value by its name.
func (s *Speaker) Amount(t *table.Table, row, column int) string {
	a := &s.Schema.Attributes[column]
	if f := t.Columns[column].Floats; f != nil && !table.IsMissing(f[row]) {
		return s.measure(a, legible(a, f[row]))
	}
	if text := t.Text(row, column); text != "" {
		return s.Value(a.Name, text)
	}
	return "not known"
}

// Row is who a row is, in a few words: a sex and an age where there are such
// columns ("woman, 63"), else the first cells that are known ("fever, age = 31").
func (s *Speaker) Row(t *table.Table, row int) string {
	var sex, age string
	var others []string
	for j := range t.Schema.Attributes {
		a, c := &t.Schema.Attributes[j], &t.Columns[j]
		label := strings.ToLower(s.Label(a.Name))
		switch {
		case s.Target >= 0 && a.Name == s.Schema.Attributes[s.Target].Name:
		case c.Codes != nil && (c.Codes[row] < 0 || int(c.Codes[row]) >= len(a.Values)), c.Floats != nil && table.IsMissing(c.Floats[row]):
		case c.Codes != nil && sex == "" && (label == "sex" || label == "gender"):
			sex = s.Value(a.Name, a.Values[c.Codes[row]])
		case c.Floats != nil && age == "" && label == "age":
			age = Number(c.Floats[row])
		case c.Codes != nil && len(others) < 2:
			others = append(others, s.is(a, a.Values[c.Codes[row]]))
		case c.Floats != nil && len(others) < 2:
			others = append(others, s.numeral(a, legible(a, c.Floats[row])))
		}
	}
	switch {
	case sex != "" && age != "":
		return sex + ", " + age
	case sex != "":
		others = append([]string{sex}, others...)
	case age != "":
		others = append([]string{"age " + age}, others...)
	}
	return strings.Join(others[:min(2, len(others))], ", ")
}

// numeral is a number in a column.
func (s *Speaker) numeral(a *table.Attribute, x float64) string {
	switch {
	case s.Words.Columns[a.Name].Count:
		return s.exactly(a, x)
	case s.named(a.Name):
		return s.Label(a.Name) + " is " + s.measure(a, x)
	}
	return a.Name + " = " + s.measure(a, x)
}

func (s *Speaker) part(column, text string) Part { return Part{Text: text, Column: column} }

// Cut returns a number between two neighbouring values that divides them with
// the fewest digits: the lower belongs to what is at most the cut.
func Cut(low, high float64) float64 { return shortest(low, high, false) }

// Limit is as Cut, but the upper value belongs to what is at least the limit.
func Limit(low, high float64) float64 { return shortest(low, high, true) }
