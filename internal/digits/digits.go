// Package digits writes the digits of numbers as people read them.
//
// Sentences (rule/say) and tables on terminals (internal/console) use it.
package digits

import "strings"

// Commas puts commas into the digits before the point of a number's text, if its
// size is not below least.
func Commas(text string, least, size float64) string {
	if size < least {
		return text
	}
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	var b strings.Builder
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	if rest != "" {
		return sign + b.String() + "." + rest
	}
	return sign + b.String()
}
