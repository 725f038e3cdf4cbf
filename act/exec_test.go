package act

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

// TestMain lets the tests be programs that speak: ACT_SPEAKS says what.
func TestMain(m *testing.M) {
	if script := os.Getenv("ACT_SPEAKS"); script != "" {
		speak(script)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// speak answers each line with the next of a script; "hang" waits, "die" ends.
func speak(script string) {
	in := make([]byte, 1<<16)
	for _, line := range strings.Split(script, "\n") {
		if line != "wrap" {
			if _, err := os.Stdin.Read(in); err != nil {
				return
			}
		}
		switch line {
		case "hang":
			time.Sleep(time.Minute)
		case "wrap": // another program holds the pipes, and hangs
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "ACT_SPEAKS=hang")
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			_ = c.Run() // it is killed
		case "die":
			_, _ = os.Stderr.WriteString("Traceback\nZeroDivisionError: division by zero\n")
			os.Exit(3)
		}
		_, _ = os.Stdout.WriteString(line + "\n")
	}
}

// started waits for a second where the script hangs, and long enough for a machine
// that is busy where it does not.
func started(t *testing.T, script string) (*Program, error) {
	t.Helper()
	t.Setenv("ACT_SPEAKS", script)
	wait := time.Minute
	if strings.HasSuffix(script, "hang") || strings.HasSuffix(script, "wrap") {
		wait = time.Second
	}
	p, err := Start(context.Background(), []string{os.Args[0]}, wait)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

// A program's states are rows of a schema that grows with its names.
func TestProgram(t *testing.T) {
	p, err := started(t, `{"state":{"x":1,"light":"red","open":true},"actions":["go","stop"]}
{"state":{"light":"green","open":null,"x":-2.5},"reward":3,"end":false}
{"state":{"x":0,"light":"red","open":false},"actions":["turn"],"reward":-1,"end":true,"cut":true}`)
	if err != nil {
		t.Fatal(err)
	}
	cells := make([]float64, 3)
	if r, end, err := p.Step(0); r != 3 || end || err != nil {
		t.Fatal(r, end, err)
	}
	if p.State(cells); cells[0] != -2.5 || cells[1] != 1 || cells[2] == cells[2] || len(p.Legal()) != 2 {
		t.Error(cells, p.Legal())
	}
	if r, end, err := p.Step(1); r != -1 || !end || err != nil || !p.Cut() {
		t.Fatal(r, end, err, p.Cut())
	}
	if names := strings.Join(p.Actions(), " "); names != "go stop turn" || len(p.Legal()) != 0 {
		t.Error(names, p.Legal())
	}
}

// A program that dies, hangs or speaks nonsense is an error that says so.
func TestProgramsThatFail(t *testing.T) {
	const good = `{"state":{"x":1},"actions":["a"]}` + "\n"
	for script, want := range map[string]string{
		"die":                                   "line 1: it ended in the middle of an episode (exit status 3); it said: ZeroDivisionError: division by zero",
		"hang":                                  "line 1: it says nothing for 1s",
		"hello":                                 `it says "hello"; expected a line of JSON`,
		`{"state":{},"actions":["a"]}`:          "the state has no columns",
		`{"state":{"x":1}}`:                     "it has no legal actions",
		`{"state":{"x":[1]},"actions":["a"]}`:   `"x" is neither a number nor a name`,
		good + "die":                            "line 2: it ended in the middle of an episode (exit status 3); it said: ZeroDivisionError: division by zero",
		good + "wrap":                           "line 2: it says nothing for 1s",
		good + `{"state":{"x":2},"end":false}`:  "it gives no reward",
		good + `{"state":{"x":2},"reward":NaN}`: "NaN is no number",
		good + `{"state":{"x":"two"},"reward":1}`: `"x" is a name, and was a number before`,
		good + `{"state":{"y":2},"reward":1}`:     `"y" is not one of the columns that states had so far: x`,
		good + `{"state":{"x":1e999},"reward":1}`: "it says",
	} {
		p, err := started(t, script)
		if err == nil {
			_, _, err = p.Step(0)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", script, err, want)
		}
	}
	if _, err := Start(context.Background(), []string{"./there-is-none"}, time.Second); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Error(err)
	}
}

// Blanks within quotes are part of a word.
func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                nil,
		" ./simulator  --fast\t1 ":        {"./simulator", "--fast", "1"},
		`python3 'my sims/one.py' "it's"`: {"python3", "my sims/one.py", "it's"},
		`a"b c"'d' ''`:                    {"ab cd", ""},
		`C:\sim.exe x`:                    {`C:\sim.exe`, "x"},
	} {
		if got, err := Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	if _, err := Words(`python3 'my sim.py`); err == nil || !strings.Contains(err.Error(), "expected another '") {
		t.Error(err)
	}
}

// Whatever a program says is taken in or refused.
func FuzzProgram(f *testing.F) {
	f.Add([]byte(`{"state":{"x":1,"light":"red"},"actions":["a"],"reward":1}`))
	f.Add([]byte(`{"state":{"x":null,"x":true},"actions":[],"end":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		p := &Program{schema: &table.Schema{}}
		for range 2 {
			if _, err := p.read(text); err != nil {
				return
			}
		}
		for i, a := range p.schema.Attributes {
			if x := p.cells[i]; a.Kind == table.Nominal && x == x && (x < 0 || int(x) >= len(a.Values)) {
				t.Errorf("code %v of %d", x, len(a.Values))
			}
		}
	})
}
