package portable

import (
	"math"
	"strconv"
	"strings"
)

// number writes a number so that it reads back as it is.
func number(x float64) string { return strconv.FormatFloat(x+0, 'g', -1, 64) }

// bound writes a closed limit as people would: what was an open limit at a shorter
// number is written as that. Every float64 lies on the same side of both.
func bound(x float64, low bool) (relation, limit string) {
	if low {
		if open := math.Nextafter(x, math.Inf(-1)); len(number(open)) < len(number(x)) {
			return ">", number(open)
		}
		return ">=", number(x)
	}
	if open := math.Nextafter(x, math.Inf(1)); len(number(open)) < len(number(x)) {
		return "<", number(open)
	}
	return "<=", number(x)
}

// relations writes a test of a number as comparisons.
func (t *Test) relations() (list [][2]string) {
	add := func(relation, limit string) { list = append(list, [2]string{relation, limit}) }
	if t.Low != nil && t.High != nil && *t.Low == *t.High {
		add("=", number(*t.Low))
		return list
	}
	if t.Low != nil {
		add(bound(*t.Low, true))
	}
	if t.High != nil {
		add(bound(*t.High, false))
	}
	return list
}

// comment writes lines behind a mark.
func comment(mark string, lines ...string) string {
	var text strings.Builder
	for _, l := range lines {
		for _, part := range strings.Split(strings.NewReplacer("\r", " ", "\u2028", " ", "\u2029", " ").Replace(l), "\n") {
			text.WriteString(mark + " " + strings.TrimSpace(part) + "\n")
		}
	}
	return text.String()
}
