package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/crew"
)

func TestPageEscapes(t *testing.T) {
	for text, want := range map[string]string{
		"plain ünï\tand\n":        "plain ünï\tand\n",
		"red \x1b[31m\a":          `red \x1b[31m\x07`,
		"c1 \u009b31m":            `c1 \u009b31m`,
		"turned \u202eround":      `turned \u202eround`,
		"not text \xff\xfe.":      `not text \xff\xfe.`,
		"back\rover":              `back\rover`,
		"hidden\u200b and \u2028": `hidden\u200b and \u2028`,
	} {
		for cut := range len(text) + 1 { // in two writes
			var b bytes.Buffer
			p := &Page{W: &b}
			fmt.Fprint(p, text[:cut])
			fmt.Fprint(p, text[cut:])
			if b.String() != want {
				t.Errorf("%q cut at %d became %q, want %q", text, cut, b.String(), want)
			}
		}
	}
	if got := Shown("a\n"+strings.Repeat("ü", 1000), 20); len([]rune(got)) != 20 || !strings.HasPrefix(got, `a\nü`) || !strings.HasSuffix(got, "…") {
		t.Errorf("shown as %q", got)
	}
}

// A panic, also one in a goroutine, is a line that says where and what to do.
func TestGuarded(t *testing.T) {
	var list []int
	for _, do := range []func() error{
		func() error { return fmt.Errorf("never %d", list[3]) },
		func() error {
			var group crew.Group
			group.Go(func() { _ = list[3] })
			group.Wait()
			return nil
		},
	} {
		err := Guarded("0", do)
		if err == nil || !strings.Contains(err.Error(), "index out of range") || !strings.Contains(err.Error(), "page_test.go:") || !strings.Contains(err.Error(), "report") {
			t.Error(err)
		}
	}
	if err := Guarded("0", func() error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestSizes(t *testing.T) {
	var n int64
	for text, want := range map[string]int64{"2GiB": 2 << 30, "500MB": 500e6, "64m": 64 << 20, "1.5 GiB": 3 << 29, "20000000": 20000000} {
		if err := (SizeFlag{&n}).Set(text); err != nil || n != want {
			t.Errorf("%s is %d (%v), want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "much", "-1GiB", "1kB", "NaN", "1e300TiB", "9223372036854775807"} {
		if (SizeFlag{&n}).Set(text) == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
}

// Files and pipes keep every byte; a terminal is not made to move.
func TestShielded(t *testing.T) {
	var b bytes.Buffer
	if Shielded(&b) != io.Writer(&b) {
		t.Error("what is no terminal is shielded")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if Shielded(w) != io.Writer(w) {
		t.Error("a pipe is shielded")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here")
	}
	defer terminal.Close()
	if _, ok := Shielded(terminal).(*Page); !ok {
		t.Error("a terminal is written to as it is")
	}
}
