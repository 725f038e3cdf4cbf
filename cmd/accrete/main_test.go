package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"accrete": main,
	})
}

// TestScripts runs the command line as people and scripts do. Each script in
// testdata/script tells one story.
func TestScripts(t *testing.T) {
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Setup: func(e *testscript.Env) error {
			e.Setenv("TOP", top)
			return nil
		},
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"jsonkeys": jsonKeys,
			"lines":    lines,
			"once":     once,
		},
	})
}

// jsonKeys FILE KEY… checks that each line of the file is a JSON object that
// has these keys (a.b for a key within the object, or within the first
// element of the array, under a).
func jsonKeys(ts *testscript.TestScript, neg bool, args []string) {
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var doc any
		ts.Check(json.Unmarshal([]byte(line), &doc))
		for _, path := range args[1:] {
			at := doc
			for _, key := range strings.Split(path, ".") {
				if list, ok := at.([]any); ok && len(list) > 0 {
					at = list[0]
				}
				object, ok := at.(map[string]any)
				value, has := object[key]
				if (!ok || !has) != neg {
					ts.Fatalf("%s: key %s (negated: %v) in %s", args[0], path, neg, line)
				}
				at = value
			}
		}
	}
}

// lines FILE N checks the number of lines of a file.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if got := fmt.Sprint(strings.Count(ts.ReadFile(args[0]), "\n")); (got == args[1]) == neg {
		ts.Fatalf("%s has %s lines, expected %s (negated: %v)", args[0], got, args[1], neg)
	}
}

// once FILE TEXT checks that the text occurs exactly once.
func once(ts *testscript.TestScript, neg bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[0]), args[1]); (n == 1) == neg {
		ts.Fatalf("%s contains %q %d times", args[0], args[1], n)
	}
}

// TestEveryCommandHasHelpWithAnExample keeps help useful.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr}
	for _, c := range a.root().Commands() {
		if c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		if c.Example == "" || c.Short == "" || !strings.Contains(c.Example, "accrete "+c.Name()) {
			t.Errorf("%s: help needs a short text and an example", c.Name())
		}
	}
}
