package life_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/life"
)

// TestVerifyAsAStranger: a column that looks like an id in the first of many
// sources, and not over all of them, is one that a stranger who learns
// everything at once has; verify says so, and counts the difference. One that
// the user left out, or that looks like an id over all sources too, is not.
func TestVerifyAsAStranger(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for part := range 5 {
		var text strings.Builder
		text.WriteString("town,key,wind,play\n")
		for r := range 60 { // the town says what the answer is
			fmt.Fprintf(&text, "town%d,k%d,%s,%s\n", r, 60*part+r, []string{"low", "high"}[(r/2+part)%2], []string{"yes", "no"}[r%2])
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part%d.csv", part)), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ignore []string
		holds  bool
	}{{nil, false}, {[]string{"town"}, true}} {
		h := newHome(t)
		d, err := h.Find(filepath.Join(dir, "part0.csv"), life.Reading{Ignore: c.ignore})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Learn(ctx, life.LearnOptions{Data: d, Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: "m"}); err != nil {
			t.Fatal(err)
		}
		for part := 1; part < 5; part++ {
			if _, err := h.Update(ctx, "m", find(t, h, filepath.Join(dir, fmt.Sprintf("part%d.csv", part))), false); err != nil {
				t.Fatal(err)
			}
		}
		v, err := h.Verify(ctx, "m", nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Holds != c.holds || (v.MaxDifference > 0.3) == c.holds || (v.RulesDiffer > 0) == c.holds {
			t.Errorf("without %q: %+v", c.ignore, v)
		}
		if notes := strings.Join(v.Notes, "\n"); strings.Contains(notes, `column "town" looked like an id in`) == c.holds || strings.Contains(notes, `"key"`) {
			t.Errorf("without %q: notes %q", c.ignore, notes)
		}
	}
}
