package life_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/life"
)

// Any model that says what to do is judged by a log: acts that it does not know, it
// does not take.
func TestModelsAreJudgedByLogs(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h := &life.Home{Seed: 1}
	d := find(t, h, file("wise.csv", "light,do\n"+strings.Repeat("green,go\nred,stop\n", 20)))
	p, err := h.LearnInMemory(ctx, life.LearnOptions{Data: d, Target: "do", Choice: life.Choice{Learner: "tree"}})
	if err != nil {
		t.Fatal(err)
	}
	log := file("log.csv", "light,do,earned\n"+strings.Repeat("green,go,1\ngreen,stop,0\ngreen,turn,0\nred,go,-5\nred,stop,3\nred,turn,1\nred,,7\n", 20))
	o, err := h.OffPolicy(ctx, p, log, life.LogJudging{Reward: "earned", Level: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(o.Value-2) > 0.3 || !o.Tells || o.Rows != 120 || math.Abs(o.Log.Value) > 1e-9 {
		t.Errorf("%+v, expected 2 of 120 rows, as logged 0", o)
	}
	if _, err := h.OffPolicy(ctx, p, log, life.LogJudging{}); err == nil || !strings.Contains(err.Error(), "which column they are in") {
		t.Error(err)
	}
	if _, err := h.OffPolicy(ctx, p, log, life.LogJudging{Reward: "light"}); err == nil || !strings.Contains(err.Error(), "before it acts") {
		t.Error(err)
	}
}

// A log with a column that no two rows share tells what a policy earns that does not
// look at it: on the lake the best one is worth 0.542.
func TestPoliciesAreJudgedByWhatTheyLookAt(t *testing.T) {
	ctx, h := context.Background(), &life.Home{Seed: 1}
	write := func(name string, seed uint64) string {
		e, err := act.Lookup("frozenlake")
		if err != nil {
			t.Fatal(err)
		}
		log, err := act.LogRows(ctx, e, 10_000, 1000, seed)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		text.WriteString("episode,warmth,row,col,action,reward\n")
		for row := range log.Rows() {
			fmt.Fprintf(&text, "%d,%d.5", log.Sequence[row], row)
			for column := range log.Columns {
				text.WriteString("," + log.Text(row, column))
			}
			text.WriteString("\n")
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d, err := h.Find(write("lake.csv", 41), life.Reading{Sequence: "episode"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.LearnInMemory(ctx, life.LearnOptions{Data: d, Target: "action", Choice: life.Choice{Learner: "q", Settings: map[string]string{"reward": "reward"}}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.OffPolicy(ctx, p, write("later.csv", 42), life.LogJudging{Level: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	if !o.Tells || o.Gamma != 0.99 || o.Low > 0.542 || o.High < 0.542 {
		t.Errorf("%+v", o)
	}
}
