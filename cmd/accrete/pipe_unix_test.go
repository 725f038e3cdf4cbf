//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whoever waits for a pipe stops when asked to, and what is read again later
// is no pipe.
func TestPipes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("d.csv", []byte("a,class\n1,yes\n2,no\n3,yes\n4,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p", "w", "p.rules", "p.bif", "p.cases", "p.pl", "p.svg"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skipf("no pipes with names can be made here: %v", err)
		}
	}
	silent, speak := io.Pipe()
	defer speak.Close()
	run := func(ctx context.Context, line string) string {
		var out bytes.Buffer
		done := make(chan struct{})
		go func() {
			execute(ctx, strings.Fields(line), silent, &out, &out)
			close(done)
		}()
		select {
		case <-done:
			return out.String()
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still waits", line)
			return ""
		}
	}
	run(t.Context(), "learn d.csv --target class --learner bayes --name m")
	run(t.Context(), "learn d.csv --target class --learner bayes --name t")
	for _, line := range []string{
		"describe p", "describe -", "learn p --target class", "learn - --target class", "update m p", "predict m p", "predict m -",
		"evaluate p --target class", "tell m p", "tell m -", "learn d.csv --target class --rules p", "learn d.csv --learner belief --set network=@p",
		"diff m p", "diff m t --on p", "export m w", "predict m d.csv --out w", "draw m --out p.svg",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		if got := run(ctx, line); !strings.HasSuffix(got, "accrete: interrupted; nothing was changed\n") {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{
		"verify m --source d.csv=p", "learn d.csv --target class --learner belief --set network=p",
		"import p", "import p.rules", "import p.bif", "import p.cases", "import p.pl",
	} {
		if got := run(t.Context(), line); !strings.Contains(got, "is not a regular file") {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{"tell m /dev/zero", "learn d.csv --target class --learner bayes --set m=@/dev/zero", "diff m /dev/zero"} {
		if got := run(t.Context(), line); !strings.Contains(got, "/dev/zero has more than the 64.0 MiB") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %s", line, got)
		}
	}
}
