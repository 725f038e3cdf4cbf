//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processors is how long processors have worked for this process.
func processors(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Learning a table of very many columns ends soon after it is interrupted, whatever it
// is doing then: reading, learning, packing the model, looking for what may be wrong with
// columns, printing. Times are those of processors, and the best of some tries counts: on
// a machine that has other things to do they only ever grow.
func TestWideLearningIsInterruptedSoon(t *testing.T) {
	const (
		columns = 12_000
		moments = 12
		soon    = 100 * time.Millisecond
		tries   = 4
	)
	dir := t.TempDir()
	file := filepath.Join(dir, "wide.csv")
	var text strings.Builder
	random := rand.New(rand.NewPCG(1, 12))
	for c := range columns {
		fmt.Fprintf(&text, "c%d,", c)
	}
	text.WriteString("class\n")
	for r := range 40 {
		for c := range columns {
			fmt.Fprintf(&text, "%.3f,", random.NormFloat64()+float64(r%2*(c%100/99)))
		}
		fmt.Fprintf(&text, "k%d\n", r%2)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	learning := func(ctx context.Context) int {
		return execute(ctx, []string{"learn", file, "--target", "class", "--folds", "0", "--replace", "--store", filepath.Join(dir, "store")}, strings.NewReader(""), io.Discard, io.Discard)
	}
	began := processors(t)
	if status := learning(t.Context()); status != 0 {
		t.Fatalf("status %d", status)
	}
	whole := processors(t) - began
	for moment := range moments {
		at := whole * time.Duration(moment) / moments
		least := time.Hour
		for range tries {
			ctx, cancel := context.WithCancel(t.Context())
			began, ended := processors(t), make(chan struct{})
			var rang time.Duration
			go func() {
				defer close(ended)
				for ctx.Err() == nil && processors(t)-began < at {
					time.Sleep(time.Millisecond)
				}
				rang = processors(t)
				cancel()
			}()
			learning(ctx)
			took := processors(t)
			cancel()
			<-ended
			if least = min(least, took-rang); least <= soon {
				break
			}
		}
		if least > soon {
			t.Errorf("interrupted after %v of %v, it went on for %v of processors' time", at, whole, least)
		}
	}
}
