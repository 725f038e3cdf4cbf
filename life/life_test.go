package life_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// find resolves data or fails the test.
func find(t *testing.T, h *life.Home, arg string) *life.Data {
	t.Helper()
	d, err := h.Find(arg, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestInterruptedEstimateKeepsTheModel: a model that was learnt is kept before
// its accuracy is estimated, and an interruption then loses nothing.
func TestInterruptedEstimateKeepsTheModel(t *testing.T) {
	h := newHome(t)
	ctx, cancel := context.WithCancel(context.Background())
	h.Progress = func(what string) (func(float64), func()) {
		if what == "estimating accuracy" {
			cancel()
		}
		return func(float64) {}, func() {}
	}
	l, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, "votes"), Choice: life.Choice{Learner: "bayes"}, Folds: 5})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "votes@1 is kept") {
		t.Fatalf("%v, expected an interruption that says what is kept", err)
	}
	if l == nil || l.Version != 1 || l.Accuracy != nil {
		t.Errorf("%+v, expected version 1 without an accuracy", l)
	}
	if _, err := h.Load("votes@1"); err != nil {
		t.Error(err)
	}
}

// rows is a reader of many rows that counts what was read of it. A reader of
// blocks may be one ahead of who takes them.
type rows struct {
	left int
	open string
	read atomic.Int64
}

func (r *rows) Read(p []byte) (int, error) {
	if r.open == "" {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.open = strings.Repeat("sunny,70\nrain,90\n", 500)
	}
	n := copy(p, r.open)
	r.open = r.open[n:]
	r.read.Add(int64(n))
	return n, nil
}

// TestExplainReadsWhatIsAsked: of a long table only what is needed is read, and
// of a batch only the rows asked for are predicted.
func TestExplainReadsWhatIsAsked(t *testing.T) {
	h := newHome(t)
	h.In = strings.NewReader("outlook,humid,play\nsunny,85,no\nsunny,70,yes\nrain,90,yes\nrain,60,yes\n")
	if _, err := h.Learn(context.Background(), life.LearnOptions{Data: find(t, h, "-"), Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: "m"}); err != nil {
		t.Fatal(err)
	}
	p, err := h.Load("m")
	if err != nil {
		t.Fatal(err)
	}
	in := &rows{left: 20000, open: "outlook,humid\n"} // 160 MB
	h.In = in
	var seen []int
	err = h.Explain(context.Background(), p, find(t, h, "-"), []int{7, 3}, func(x *life.Explained) error {
		seen = append(seen, x.Row)
		return nil
	})
	if err != nil || fmt.Sprint(seen) != "[3 7]" {
		t.Errorf("explained %v: %v", seen, err)
	}
	if read := in.read.Load(); read > 64<<20 {
		t.Errorf("%d MB were read for row 7", read>>20)
	}
}

// TestSlowInputHoldsUpNobody: while rows trickle in for one update, another one
// is made.
func TestSlowInputHoldsUpNobody(t *testing.T) {
	h := newHome(t)
	h.In = strings.NewReader("outlook,play\nsunny,no\nrain,yes\n")
	if _, err := h.Learn(context.Background(), life.LearnOptions{Data: find(t, h, "-"), Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: "m"}); err != nil {
		t.Fatal(err)
	}
	slow := *h
	r, w := io.Pipe()
	slow.In = r
	done := make(chan error, 1)
	d := find(t, &slow, "-")
	go func() {
		_, err := slow.Update(context.Background(), "m", d, false)
		done <- err
	}()
	if _, err := io.WriteString(w, "outlook,play\nsunny,no\n"); err != nil { // it has begun to read
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	h.In = strings.NewReader("outlook,play\nrain,yes\n")
	if _, err := h.Update(ctx, "m", find(t, h, "-"), false); err != nil {
		t.Fatalf("another update waits for the slow one: %v", err)
	}
	if _, err := io.WriteString(w, "rain,no\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p, err := h.Load("m")
	if err != nil || p.Version.Number != 3 || p.Version.Rows != 5 {
		t.Errorf("version %d with %v rows: %v", p.Version.Number, p.Version.Rows, err)
	}
}

// TestRemedies: errors say what to do as a value.
func TestRemedies(t *testing.T) {
	h := newHome(t)
	h.In = strings.NewReader("a,b\n1,2\n")
	_, err := h.Learn(context.Background(), life.LearnOptions{Data: find(t, h, "-")})
	if r, ok := life.RemedyOf(err); !ok || r.Kind != "give-target" || fmt.Sprint(r.Names) != "[a b]" || !life.IsMisuse(err) {
		t.Errorf("%v: remedy %+v", err, r)
	}
	if strings.Contains(err.Error(), "--") {
		t.Errorf("%v names a flag", err)
	}
}

// TestLearningHoldsUpNobody: while one change of a model reads and learns a
// file, an update is made; what both learnt is there in the end, and remarks
// are heard once.
func TestLearningHoldsUpNobody(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, more := write("first.csv", "outlook,play\nsunny,no\nrain,yes\n"), write("more.csv", "outlook,play\nsunny,no\nsunny,?\n")
	fast, rules := write("fast.csv", "outlook,play\nrain,yes\n"), write("expert.rules", "IF outlook = sunny THEN play = no WITH 0.9 WORTH 3\n")
	for what, c := range map[string]struct {
		work string // of the slow change, during which the other one is made
		rows float64
		slow func(h *life.Home) (*life.Learnt, error)
	}{
		"update": {"learning", 4, func(h *life.Home) (*life.Learnt, error) {
			u, err := h.Update(ctx, "m", find(t, h, more), true)
			if err != nil {
				return nil, err
			}
			return &u.Learnt, nil
		}},
		"forget": {"forgetting", 3, func(h *life.Home) (*life.Learnt, error) {
			f, err := h.Forget(ctx, "m", "again.csv", false, life.Edit{})
			if err != nil {
				return nil, err
			}
			return &f.Learnt, nil
		}},
		"merge": {"merging", 5, func(h *life.Home) (*life.Learnt, error) {
			m, err := h.Merge(ctx, "m", "other", "m", nil)
			if err != nil {
				return nil, err
			}
			return &m.Learnt, nil
		}},
		"tell": {"weighing rules", 3, func(h *life.Home) (*life.Learnt, error) {
			told, err := h.Tell(ctx, "m", life.Rules{File: rules}, life.Edit{})
			if err != nil {
				return nil, err
			}
			return &told.Learnt, nil
		}},
	} {
		h := newHome(t)
		for _, name := range []string{"m", "other"} {
			if _, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, first), Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		versions := 3
		if what == "forget" {
			again := write("again.csv", "outlook,play\nsunny,yes\nsunny,yes\n")
			if _, err := h.Update(ctx, "m", find(t, h, again), false); err != nil {
				t.Fatal(err)
			}
			versions++
		}
		slow, times := *h, 0
		slow.Progress = func(work string) (func(float64), func()) {
			if work != c.work {
				return func(float64) {}, func() {}
			}
			if times++; times == 1 {
				if _, err := h.Update(ctx, "m", find(t, h, fast), false); err != nil {
					t.Errorf("an update waits for %s: %v", what, err)
				}
			}
			return func(float64) {}, func() {}
		}
		heard := 0
		slow.Note = func(n life.Note) { heard++ }
		l, err := c.slow(&slow)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if l.Version != versions || l.Rows != c.rows || l.Before.Number != versions-1 || times != 2 {
			t.Errorf("%s: version %d of %d with %v rows, made %d times; expected version %d with %v rows, made twice", what, l.Version, l.Before.Number, l.Rows, times, versions, c.rows)
		}
		if heard > 1 {
			t.Errorf("%s: %d remarks were heard", what, heard)
		}
		if p, err := h.Load("m"); err != nil || p.Version.Number != versions || len(p.Versions) != versions {
			t.Errorf("%s: %d versions, the newest is %d: %v", what, len(p.Versions), p.Version.Number, err)
		}
	}
}

// TestManyWritersLoseNothing: twenty updates at once are all acknowledged, and
// all of them are in the newest version.
func TestManyWritersLoseNothing(t *testing.T) {
	h := newHome(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("outlook,play\nsunny,no\nrain,yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, path), Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: "m"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			own := *h
			own.Now = time.Now
			d, err := own.Find(path, life.Reading{})
			if err == nil {
				_, err = own.Update(ctx, "m", d, false)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	p, err := h.Load("m")
	if err != nil || p.Version.Number != 21 || p.Version.Rows != 42 {
		t.Errorf("version %d with %v rows: %v; expected version 21 with 42 rows", p.Version.Number, p.Version.Rows, err)
	}
}

// TestDataFromAnyScheme: what a program registers with table is data here too,
// to learn from, update with, predict, and read again.
func TestDataFromAnyScheme(t *testing.T) {
	table.RegisterScheme(table.Scheme{Name: "diary", Open: func(ctx context.Context, address string, o table.Options) (table.Source, error) {
		return table.NewSource(ctx, strings.NewReader("outlook,humid,play\nsunny,85,no\nsunny,70,yes\nrain,90,yes\nrain,60,yes\n"), o)
	}})
	ctx := context.Background()
	for _, learner := range []string{"bayes", "tree"} { // with a stream, and whole
		h := newHome(t)
		d := find(t, h, "diary://me:secret@host/days")
		if _, err := h.Learn(ctx, life.LearnOptions{Data: d, Target: "play", Choice: life.Choice{Learner: learner}, Name: "m"}); err != nil {
			t.Fatal(err)
		}
		u, err := h.Update(ctx, "m", d, false)
		if err != nil {
			t.Fatal(err)
		}
		if path := u.Part.Version.Source.Path; strings.Contains(path, "secret") || !strings.HasPrefix(path, "diary://me:") {
			t.Errorf("%s is recorded", path)
		}
		if v, err := h.Verify(ctx, "m", nil); err != nil || !v.Holds || v.Sources != 2 {
			t.Errorf("%+v: %v", v, err)
		}
		if score, err := h.Predict(ctx, u.Part, d, func(int, *table.Table, *learn.Predictions) error { return nil }); err != nil || score.Known != 4 {
			t.Errorf("%+v: %v", score, err)
		}
	}
	h := newHome(t)
	if _, err := h.Find("dairy://host", life.Reading{}); err == nil || !strings.Contains(err.Error(), "diary") || !life.IsMisuse(err) {
		t.Errorf("%v, expected a hint", err)
	}
	if d, err := h.Find("builtin:votes", life.Reading{}); err != nil || d.Base() != "votes" || d.Target("") != "class" {
		t.Errorf("%+v: %v", d, err)
	}
}
