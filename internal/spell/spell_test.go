package spell

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"tree", "tree", 0}, {"tree", "", 4}, {"tere", "tree", 1}, {"byes", "bayes", 1}, {"kitten", "sitting", 3}, {"größe", "grösse", 2},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsSymmetricAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 12, -1).Draw(t, "a"), rapid.StringN(0, 12, -1).Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || d > max(len([]rune(a)), len([]rune(b))) || (d == 0) != (string([]rune(a)) == string([]rune(b))) {
			t.Fatalf("Distance(%q, %q) = %d", a, b, d)
		}
	})
}

func ExampleHint() {
	fmt.Println("unknown learner tere" + Hint("tere", []string{"bayes", "prior", "tree"}))
	fmt.Println("unknown learner forest" + Hint("forest", []string{"bayes", "prior", "tree"}))
	// Output:
	// unknown learner tere; did you mean "tree"?
	// unknown learner forest; known are bayes, prior, tree
}
