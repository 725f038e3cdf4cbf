package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
)

// edge are values that numbers, times and sizes are tried with; no number is
// among the last five.
var edge = []string{"-1", "0", "9223372036854775807", "NaN", "1e400", "", "٣", "-1s\x1b[31m"}

const noNumbers = 3 // of edge: what is no number begins here

// internals are words of what Accrete is made of, which nobody should read.
var internals = []string{"strconv", "parse error", "runtime", "panic", "goroutine", "a fault in accrete", "invalid syntax", "out of range", "%!", "pflag", "bare \"", "reflect", "\x1b"}

// numberKinds are the kinds of flags that take numbers.
var numberKinds = []string{"int", "uint", "float", "duration", "size", "ints", "floats"}

// ownKinds are the kinds that are read in words for people: those of the
// console, and those for which console.FlagError has the words.
var ownKinds = append([]string{"bool", "string", "stringSlice", "stringArray"}, numberKinds...)

// words are arguments as the usage of commands calls them. Any other is taken
// for a model.
var words = map[string]string{
	"MODEL@N": "m@1", "BEFORE": "m@1", "DATA": "d.csv", "QUESTION": "a=1, y=?", "SOURCE": "d.csv", "FILE": "m.accrete", "RULES": "r.rules", "FILE.rules…": "r.rules", "B": "n", "new|list|revoke": "new",
}

// along is what commands need besides, to come to their work and to end soon.
var along = map[string][]string{
	"learn": {"--target", "y", "--learner", "prior"}, "evaluate": {"--target", "y", "--learner", "prior"}, "compare": {"--target", "y", "--learners", "prior,bayes"},
	"tune":  {"--target", "y", "--learner", "bayes", "--try", "m=1,2", "--folds", "2", "--inner", "2"},
	"merge": {"--name", "k"}, "need": {"--hypotheses", "973"}, "reproduce": {"play-tennis"},
	"serve": {"--stdio"}, "token": {"--name", "clinic"},
}

// inSweep prepares a folder with data, rules and models.
func inSweep(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	data := "a,b,y\n" + strings.Repeat("1,p,x\n2,q,z\n3,p,x\n4,q,z\n", 4)
	for name, text := range map[string]string{"d.csv": data, "r.rules": "IF b = p THEN y = x WITH 0.9 WORTH 5\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"learn", "d.csv", "--target", "y", "--learner", "bayes", "--name", "m", "--folds", "0"},
		{"learn", "d.csv", "--target", "y", "--learner", "bayes", "--name", "n", "--folds", "0"},
		{"export", "m", "m.accrete"},
	} {
		if status, text := try(t, args...); status != 0 {
			t.Fatal(text)
		}
	}
}

// try runs a command line, for a moment at most.
func try(t *testing.T, args ...string) (status int, text string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	status = execute(ctx, args, strings.NewReader("a,b,y\n1,p,x\n"), &out, &errs)
	return status, out.String() + errs.String()
}

// Every flag of every command is tried with values at the edge: it is taken,
// or refused with status 2; nothing panics, and nobody reads of what is inside.
func TestFlagsAtTheEdge(t *testing.T) {
	inSweep(t)
	home := os.DirFS(".accrete")
	for i, c := range (&app{}).root().Commands() {
		if c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		flags := c.LocalNonPersistentFlags()
		if i%8 == 0 { // what is common to all is read in one place
			flags = pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.AddFlagSet(c.LocalNonPersistentFlags())
			flags.AddFlagSet(c.InheritedFlags())
			flags.AddFlagSet((&app{}).root().PersistentFlags())
		}
		os.RemoveAll("fresh")
		if err := os.CopyFS("fresh", home); err != nil {
			t.Fatal(err)
		}
		flags.VisitAll(func(f *pflag.Flag) { tryFlag(t, c, f) })
	}
}

func tryFlag(t *testing.T, c *cobra.Command, f *pflag.Flag) {
	kind := f.Value.Type()
	if !slices.Contains(ownKinds, kind) {
		t.Errorf("%s --%s is of kind %s, whose errors are not in words for people: see internal/console", c.Name(), f.Name, kind)
	}
	for k, value := range edge {
		if !slices.Contains(numberKinds, kind) && k%3 != 2 {
			continue // names and paths may be anything
		}
		args := []string{c.Name()}
		for _, word := range strings.Fields(c.Use)[1:] {
			if word == "|" || strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[") {
				break
			}
			argument, known := words[word]
			if !known {
				argument = "m"
			}
			args = append(args, argument)
		}
		if c.Name() == "export" {
			args[2] = "out.accrete"
		}
		if f.Name != "store" {
			args = append(args, "--store", "fresh")
		}
		args = append(args, along[c.Name()]...)
		args = append(args, "--"+f.Name+"="+value)
		status, text := try(t, args...)
		checkWords(t, fmt.Sprintf("%q", args), status, text)
		if slices.Contains(numberKinds, kind) && k >= noNumbers && status != exitUsage {
			t.Errorf("%q: status %d: %s", args, status, text)
		}
	}
}

// checkWords: a failure is one line, and speaks of nothing inside.
func checkWords(t *testing.T, what string, status int, text string) {
	t.Helper()
	if status < 0 || status > exitUsage {
		t.Errorf("%s: status %d", what, status)
	}
	if status != 0 && strings.Count(text, "accrete: ") != 1 {
		t.Errorf("%s: not one line: %s", what, text)
	}
	for _, word := range internals {
		if strings.Contains(text, word) {
			t.Errorf("%s: %q in %s", what, word, text)
		}
	}
}

// Every setting of every learner is tried likewise, with two of the values in turn;
// the long run takes all of them.
func TestSettingsAtTheEdge(t *testing.T) {
	inSweep(t)
	all, turn := os.Getenv("ACCRETE_LONG") != "", 0
	for _, info := range learn.All() {
		for _, o := range setting.Options(info.New()) {
			turn++
			for i, value := range edge {
				if at := (i + turn) % len(edge); !all && at != 0 && at != len(edge)/2 {
					continue
				}
				key := strings.ReplaceAll(o.Key, "*", "k") // settings that are handed on
				args := []string{"learn", "d.csv", "--target", "y", "--folds", "0", "--name", "s", "--learner", info.Name, "--set", key + "=" + value}
				status, text := try(t, args...)
				checkWords(t, fmt.Sprintf("%q", args), status, text)
				os.RemoveAll(".accrete/models/s")
			}
		}
	}
}
