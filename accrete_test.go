package accrete_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete"
)

func learn(t testing.TB, data, target string, opts ...accrete.Option) *accrete.Model {
	t.Helper()
	m, err := accrete.LearnFile(context.Background(), data, target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAskIsConcurrent: many goroutines get the answers that one gets.
func TestAskIsConcurrent(t *testing.T) {
	m := learn(t, "monks1", "")
	rows := []map[string]any{{"a1": 1, "a2": 1}, {"a5": 1}, {"a1": "2", "a2": "3", "a5": 4}, {}}
	want := make([]accrete.Answer, len(rows))
	for i, row := range rows {
		var err error
		if want[i], err = m.Ask(row); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for k := range 400 {
				i := k % len(rows)
				got, err := m.Ask(rows[i])
				if err != nil || got.Class != want[i].Class || got.Probability != want[i].Probability || len(got.Reasons) != len(want[i].Reasons) {
					t.Errorf("row %d: %+v, %v; expected %+v", i, got, err, want[i])
					return
				}
			}
		})
	}
	group.Wait()
}

// TestAnswers: classes, numbers, unseen values, and what is refused.
func TestAnswers(t *testing.T) {
	m := learn(t, "votes", "class")
	a, err := m.Ask(map[string]string{"physician-fee-freeze": "n"})
	if err != nil || a.Class != "democrat" || math.Abs(a.Probabilities["democrat"]+a.Probabilities["republican"]-1) > 1e-12 || len(a.Reasons) == 0 || a.Reasons[0].Class != "democrat" {
		t.Errorf("%+v, %v", a, err)
	}
	if b, err := m.Ask(map[string]string{"physician-fee-freeze": "perhaps"}); err != nil || b.Probability == a.Probability {
		t.Errorf("a value that no row has: %+v, %v", b, err)
	}
	if _, err := m.Ask(map[string]any{"physician-fee-freez": "n"}); err == nil || !strings.Contains(err.Error(), `did you mean "physician-fee-freeze"`) {
		t.Errorf("an unknown column: %v", err)
	}
	if _, err := m.Ask(7); err == nil {
		t.Error("a number is taken for a row")
	}
	house := learn(t, "boston", "medv")
	n, err := house.Ask(struct {
		RM    float64 `accrete:"rm"`
		LSTAT float64 `accrete:"lstat"`
	}{7, 4})
	if err != nil || n.Number < 25 || n.Low > n.Number || n.High < n.Number || n.Class != "" {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := learn(t, "boston", "", accrete.Learner("gaussian"), accrete.Set("units", "2")).Ask(map[string]any{"rm": 6}); err == nil {
		t.Error("a density answers for a target that it has not")
	}
	if _, err := accrete.LearnFile(context.Background(), "no-such-file.csv", "x"); err == nil || strings.Contains(err.Error(), "--") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestKept: what is saved answers as before, and can be told, since it knows
// where its rows are.
func TestKept(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	data := filepath.Join(dir, "play.csv")
	if err := os.WriteFile(data, []byte("outlook,humid,play\nsunny,85,no\nsunny,70,yes\nrain,90,yes\nrain,60,yes\nsunny,95,no\nrain,75,yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := learn(t, data, "play", accrete.Learner("bayes"), accrete.Seed(3))
	m, err := m.Update(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "play.accrete")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := accrete.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	row := map[string]any{"outlook": "rain", "humid": 80}
	one, err := m.Ask(row)
	if err != nil {
		t.Fatal(err)
	}
	two, err := again.Ask(row)
	if err != nil || one.Probability != two.Probability {
		t.Errorf("%v after loading, %v before: %v", two.Probability, one.Probability, err)
	}
	told, err := again.Tell(ctx, "IF outlook = rain THEN play = no WITH 1 WORTH 6")
	if err != nil {
		t.Fatal(err)
	}
	three, err := told.Ask(row)
	if want := one.Probabilities["yes"] / 2; err != nil || math.Abs(three.Probabilities["yes"]-want) > 1e-12 {
		t.Errorf("%v, expected %v as 6 rows and 6 cases are worth the same: %v", three.Probabilities["yes"], want, err)
	}
	if len(told.Rules()) != len(m.Rules())+1 {
		t.Errorf("%d rules, %d before", len(told.Rules()), len(m.Rules()))
	}
}

func BenchmarkAsk(b *testing.B) {
	m := learn(b, "monks1", "")
	row := map[string]any{"a1": "1", "a2": "1", "a3": "2", "a4": "3", "a5": "2", "a6": "1"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Ask(row); err != nil {
			b.Fatal(err)
		}
	}
}
