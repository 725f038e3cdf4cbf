package life_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

// wideColumns is how many numbers a row of writeWide has.
const wideColumns = 16

// writeWide writes rows of small numbers, of which the first one tells the class
// in five of six rows.
func writeWide(w io.Writer, rows int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	random := rand.New(rand.NewPCG(1, 2))
	for j := range wideColumns {
		fmt.Fprintf(out, "x%d,", j)
	}
	out.WriteString("class\n")
	for range rows {
		class := random.IntN(2)
		first := class
		if random.IntN(6) == 0 {
			first = 1 - class
		}
		out.WriteByte('0' + byte(first))
		out.WriteString(".5")
		for range wideColumns - 1 {
			out.WriteByte(',')
			out.WriteByte('0' + byte(random.IntN(10)))
			out.WriteString(".5")
		}
		out.WriteString([]string{",no\n", ",yes\n"}[class])
	}
	return out.Flush()
}

// peak hears the progress of a home and measures the heap while it goes on.
func peak(h *life.Home) func() float64 {
	var most, before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	h.Progress = func(string) (func(float64), func()) {
		look := func() {
			var now runtime.MemStats
			if runtime.ReadMemStats(&now); now.HeapAlloc > most.HeapAlloc {
				most = now
			}
		}
		return func(float64) { look() }, look
	}
	return func() float64 { return max(0, float64(most.HeapAlloc)-float64(before.HeapAlloc)) / (1 << 20) }
}

// TestLearningStreams: a learner that can begin with no rows learns many rows in
// memory that does not grow with them, from a file and from standard input, and
// is judged by a sample; the model is that of all rows.
//
// The table alone would take 400,000 × 16 × 8 bytes = 49 MiB. Of 100,000 rows
// it takes a quarter, and so the peak of 400,000 rows may not be larger by even
// one such quarter; it was 16 to 18 MiB for both.
func TestLearningStreams(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	ctx := context.Background()
	dir := t.TempDir()
	learnt := map[string]*life.NewLearnt{}
	peaks := map[string]float64{}
	var h *life.Home
	for _, rows := range []int{100_000, 400_000} {
		path := filepath.Join(dir, fmt.Sprintf("rows%d.csv", rows))
		f, err := os.Create(path)
		if err == nil {
			err = writeWide(f, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, from := range []string{path, "-"} {
			h = newHome(t)
			if from == "-" {
				r, w := io.Pipe()
				h.In = r
				go func() { w.CloseWithError(writeWide(w, rows)) }()
			}
			key := fmt.Sprint(from == "-", rows)
			heap := peak(h)
			if learnt[key], err = h.Learn(ctx, life.LearnOptions{Data: find(t, h, from), Target: "class", Choice: life.Choice{Learner: "bayes"}, Name: "m", Folds: -1}); err != nil {
				t.Fatal(err)
			}
			peaks[key] = heap()
			l := learnt[key]
			if l.Read != rows || l.Rows != float64(rows) || l.Table != nil || l.Columns != wideColumns+1 {
				t.Errorf("%s: %d rows, %v learnt, %d columns", from, l.Read, l.Rows, l.Columns)
			}
			// 10,000 rows or more are held out; three standard errors of 5/6 are 1.1 points.
			if l.Accuracy == nil || math.Abs(*l.Accuracy-5./6) > 0.0112 || l.Estimate.TestRows < 10000 || l.Estimate.TestRows > 20000 {
				t.Errorf("%s: estimate %+v", from, l.Estimate)
			}
		}
	}
	for _, from := range []bool{false, true} {
		few, many := peaks[fmt.Sprint(from, 100_000)], peaks[fmt.Sprint(from, 400_000)]
		t.Logf("standard input %v: %.0f MiB for 100,000 rows, %.0f MiB for 400,000", from, few, many)
		if many > few+49./4 {
			t.Errorf("memory grows with the rows (standard input: %v): %.0f MiB for 100,000, %.0f MiB for 400,000", from, few, many)
		}
	}
	whole, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, filepath.Join(dir, "rows100000.csv")), Target: "class", Choice: life.Choice{Learner: "bayes"}, Name: "whole", Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Table == nil {
		t.Error("folds were asked for, and rows were not kept for them")
	}
	a, b := learn.NewPredictions(whole.Part.Model, 1000), learn.NewPredictions(whole.Part.Model, 1000)
	rows := whole.Table.Slice(0, 1000)
	if err := whole.Part.Model.Predict(ctx, rows, a); err != nil {
		t.Fatal(err)
	}
	if err := learnt["false 100000"].Part.Model.Predict(ctx, rows, b); err != nil {
		t.Fatal(err)
	}
	for i := range a.P {
		if math.Abs(a.P[i]-b.P[i]) > 1e-9 {
			t.Fatalf("answer %d of rows that came one after another is %v, of all at once %v", i, b.P[i], a.P[i])
		}
	}
}

// A learner that takes rows as they come, and holds those of classes all the same,
// learns as many of them as there is memory for.
func TestHeldRowsAreSampled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	f, err := os.Create(path)
	if err == nil {
		err = writeWide(f, 50_000)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for target, sampled := range map[string]bool{"class": true, "x1": false} {
		h := newHome(t)
		h.Memory = 24 << 20 // the table needs 6.5 of them, more than a quarter
		var notes strings.Builder
		h.Note = func(n life.Note) { notes.WriteString(n.String()) }
		l, err := h.LearnInMemory(t.Context(), life.LearnOptions{Data: find(t, h, path), Target: target, Choice: life.Choice{Learner: "linear"}})
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if got := strings.Contains(notes.String(), "50000 rows do not fit"); got != sampled || (l.Model.Size().Rows < 50_000) != sampled {
			t.Errorf("%s: %v rows are learnt, and said is %q", target, l.Model.Size().Rows, notes.String())
		}
	}
}
