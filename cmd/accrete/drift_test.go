package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestDrift: an update names the rules whose truth moved with its rows, and
// says nothing while nothing moves.
func TestDrift(t *testing.T) {
	t.Chdir(t.TempDir())
	const header = "fever,age,ill\n"
	stable := strings.Repeat("high,old,yes\nnone,old,no\nhigh,young,yes\nnone,young,no\nhigh,old,no\n", 40)
	turned := strings.Repeat("high,old,no\nnone,old,no\nhigh,young,no\nnone,young,no\nhigh,old,no\n", 20)
	for name, rows := range map[string]string{"first.csv": stable, "same.csv": stable, "half.csv": stable + turned} {
		if err := os.WriteFile(name, []byte(header+rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := execute(context.Background(), args, strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs.String())
		}
		return out.String()
	}
	for _, learner := range []string{"bayes", "tree"} {
		run("learn", "first.csv", "--target", "ill", "--learner", learner, "--name", learner, "--folds", "0")
		if text := run("update", learner, "same.csv"); strings.Contains(text, "moved") {
			t.Errorf("%s: nothing moved, but: %s", learner, text)
		}
		text := run("update", learner, "half.csv")
		if !strings.Contains(text, "moved (false alarms: 5.0 % of models in 100,000 rows)") || !strings.Contains(text, "of half.csv: When fever = high, yes") {
			t.Errorf("%s: fever moved, but: %s", learner, text)
		}
		run("restore", learner+"@2")
		var answer struct {
			Drifts []struct {
				ID, Text    string
				From, To    float64
				Since, Seen int
			}
		}
		if err := json.Unmarshal([]byte(run("update", learner, "half.csv", "--json")), &answer); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range answer.Drifts {
			found = found || strings.HasPrefix(d.Text, "IF fever = high THEN ill = yes") && d.From > 0.6 && d.To < 0.4 && d.Since > 180 && d.Since < 230 && d.Seen <= 300
		}
		if !found {
			t.Errorf("%s: %+v", learner, answer)
		}
	}
	if text := run("evaluate", "half.csv", "--target", "ill", "--learner", "bayes", "--prequential", "--batch", "20"); !strings.Contains(text, "since row 2") {
		t.Errorf("prequential: %s", text)
	}
}
