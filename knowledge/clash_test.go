package knowledge_test

import (
	"testing"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/rule"
)

func units(t *testing.T, text string) []rule.Unit {
	t.Helper()
	base, err := rule.Parse("rules", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return base.Units
}

// Units clash if they agree on all but one of the columns that both speak of.
func TestClashes(t *testing.T) {
	for name, c := range map[string]struct {
		a, b  string
		clash string // the column, "" for none
	}{
		"one situation, two prices":   {"lstat ~ 20 ± 4 AND medv ~ 60 ± 3", "lstat ~ 18 ± 5 AND medv ~ 15 ± 6 AND rm ~ 6 ± 1", "medv"},
		"two situations":              {"lstat ~ 20 ± 1 AND medv ~ 60 ± 3", "lstat ~ 5 ± 1 AND medv ~ 15 ± 3", ""},
		"nothing in common":           {"medv ~ 60 ± 3", "medv ~ 15 ± 3", ""},
		"the same":                    {"lstat ~ 20 ± 4 AND medv ~ 14 ± 3", "lstat ~ 18 ± 5 AND medv ~ 15 ± 6", ""},
		"not far enough":              {"lstat ~ 20 ± 4 AND medv ~ 30 ± 5", "lstat ~ 20 ± 5 AND medv ~ 15 ± 5", ""},
		"what is NORMAL is not meant": {"lstat ~ 20 ± 4 AND medv ~ 60 ± 3 AND rm NORMAL", "lstat NORMAL AND medv ~ 15 ± 6", ""},
		"names":                       {"petal ~ 1 ± 1 AND class = {a 1}", "petal ~ 2 ± 1 AND class = {b 1}", "class"},
		"names that overlap":          {"petal ~ 1 ± 1 AND class = {a 0.6, b 0.4}", "petal ~ 2 ± 1 AND class = {b 1}", ""},
	} {
		found := knowledge.Clashes(units(t, "WHEN a (1) EXPECT "+c.a), units(t, "WHEN b (1) EXPECT "+c.b))
		switch {
		case c.clash == "" && len(found) > 0:
			t.Errorf("%s: clash in %s", name, found[0].Says.Column)
		case c.clash != "" && (len(found) != 1 || found[0].Says.Column != c.clash || found[0].Other.Column != c.clash || len(found[0].Where) != 1):
			t.Errorf("%s: %+v, expected a clash in %s", name, found, c.clash)
		}
	}
}
