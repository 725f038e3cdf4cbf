package kept

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
)

// Nested are settings of a learner inside of another, which are given as
// base.hidden=20: key=value, a line each, sorted, so that settings that have
// them can be compared and saved.
type Nested string

// NestedOf takes settings that begin with a prefix and a dot; whose says whose
// they are.
func NestedOf(given map[string]string, prefix, whose string) (Nested, error) {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		of, own, _ := strings.Cut(key, ".")
		if of != prefix {
			return "", fmt.Errorf("unknown setting %q; settings of %s are written %s.%s", key, whose, prefix, cmp.Or(own, key))
		}
		lines = append(lines, own+"="+given[key])
	}
	return Nested(strings.Join(lines, "\n")), nil
}

// Settings returns them by key.
func (n Nested) Settings() map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(string(n)) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			own[key] = value
		}
	}
	return own
}

// Base returns a new learner with these settings that keeps no rows, if it
// learns classes or, where numbers are asked for, numbers.
func (n Nested) Base(name string, classes, numbers bool) (learn.Learner, error) {
	info, err := learn.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("base=%s: %w", name, err)
	}
	if !(classes && info.Takes.Classes || numbers && info.Takes.Regression) {
		what := "classes"
		if !classes {
			what = "numbers"
		}
		return nil, fmt.Errorf("base=%s does not learn %s", name, what)
	}
	own := n.Settings()
	l, err := learn.New(name, own)
	if err != nil {
		return nil, err
	}
	return l, Rowless(l, own)
}
