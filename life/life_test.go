package life_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
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

// rows is a reader of many rows that counts what was read of it.
type rows struct {
	left, read int
	open       string
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
	r.read += n
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
	if in.read > 64<<20 {
		t.Errorf("%d MB were read for row 7", in.read>>20)
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
