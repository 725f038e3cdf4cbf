// Package spell finds the known name that was probably meant by a mistyped
// one, by edit distance (Damerau 1964, adjacent transpositions included).
//
// Everything that looks a name up uses it: table, rule, learn, datasets.
package spell

import (
	"fmt"
	"strings"
)

// Nearest returns the known name closest to the given one, if any is close
// enough to be a likely slip: at most a third of its letters differ. Names that
// nobody types are near to none.
func Nearest(name string, known []string) (string, bool) {
	if len(name) > longest {
		return "", false
	}
	best, least := "", (len([]rune(name))+2)/3
	for _, k := range known {
		if len(k) > longest {
			continue
		}
		d := Distance(strings.ToLower(name), strings.ToLower(k))
		if d >= len([]rune(name)) && d > 0 {
			continue // nothing of the name is left
		}
		if d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	return best, best != ""
}

// longest is how many bytes a name may have that somebody types.
const longest = 200

// Hint returns what to add to an error about an unknown name: the nearest
// known one, or else a list of the first few.
func Hint(name string, known []string) string {
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	switch {
	case len(known) == 0:
		return ""
	case len(known) > 12:
		return fmt.Sprintf("; known are %s and %d more", strings.Join(known[:12], ", "), len(known)-12)
	}
	return "; known are " + strings.Join(known, ", ")
}

// Distance returns the number of insertions, deletions, substitutions and
// transpositions of neighbours that turn a into b.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before := make([]int, len(t)+1)
	prev := make([]int, len(t)+1)
	row := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(t)]
}
