// Command speed sets Accrete's counting learners beside scikit-learn's on the
// same table in one run: a million rows, ten numeric and ten nominal columns,
// two classes. It prints ratios, because machines differ.
//
//	go run ./bench/speed [-rows N] [-depth D]
//
// The peer needs python3 with scikit-learn (Debian: python3-sklearn).
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learn/all"
	"github.com/accrete-ml/accrete/table"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "rows of the table")
	depth := flag.Int("depth", 10, "depth of trees, ours and theirs")
	script := flag.String("peer", "bench/speed/peer.py", "script that times scikit-learn")
	python := flag.String("python", "/usr/bin/python3", "Python that has scikit-learn")
	memory := flag.String("memory", "", "only learn with this learner, and print the peak memory (used by the command itself)")
	flag.Parse()
	if *memory != "" {
		exit(printPeak(*rows, *depth, *memory))
	}
	exit(run(*rows, *depth, *script, *python))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(rows, depth int, script, python string) error {
	ctx := context.Background()
	t, target, err := load(ctx, rows)
	if err != nil {
		return err
	}
	ours := map[string]float64{}
	for _, name := range []string{"bayes", "tree"} {
		if err := timeLearner(ctx, name, depth, t, target, ours); err != nil {
			return err
		}
	}
	for _, name := range []string{"bayes", "tree"} {
		if ours[name+" memory"], err = peak(rows, depth, name); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := dump(folder, t, target); err != nil {
		return err
	}
	theirs, err := peer(python, script, folder, depth)
	if err != nil {
		return fmt.Errorf("scikit-learn could not be measured: %w", err)
	}
	fmt.Printf("%d rows × %d columns, depth %d, %d cores\n\n", rows, len(t.Columns)-1, depth, runtime.GOMAXPROCS(0))
	fmt.Println("work                 scikit-learn / accrete")
	for _, work := range []string{"bayes fit", "bayes predict", "tree fit", "tree predict"} {
		fmt.Printf("%-20s %.1f×\n", work, theirs[work]/ours[work])
	}
	fmt.Printf("\ntree accuracy on the other half: accrete %.2f %%, scikit-learn %.2f %%\n", 100*ours["tree accuracy"], 100*theirs["tree accuracy"])
	size := tableBytes(t)
	for _, name := range []string{"bayes", "tree"} {
		fmt.Printf("%s fit, peak memory: %.2f × the table\n", name, ours[name+" memory"]/size)
	}
	return nil
}

func load(ctx context.Context, rows int) (*table.Table, int, error) {
	t, set, err := datasets.Load(ctx, fmt.Sprintf("mixed:rows=%d", rows))
	if err != nil {
		return nil, 0, err
	}
	return t, t.Schema.Index(set.Target), nil
}

func newLearner(name string, depth int) (learn.Learner, error) {
	settings := map[string]string{}
	if name == "tree" { // what the peer does: grow to a depth, keep no rows
		settings = map[string]string{"max-depth": strconv.Itoa(depth), "prune": "none", "binary": "true", "keep": "nothing"}
	}
	return learn.New(name, settings)
}

// timeLearner measures fitting and predicting all rows, best of three, and
// the accuracy of a model of one half on the other.
func timeLearner(ctx context.Context, name string, depth int, t *table.Table, target int, into map[string]float64) error {
	l, err := newLearner(name, depth)
	if err != nil {
		return err
	}
	var m learn.Model
	fit, err := bestOf(3, func() (err error) {
		m, err = l.Learn(ctx, learn.Task{Table: t, Target: target, Seed: 1})
		return err
	})
	if err != nil {
		return err
	}
	all, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(m, all.Rows())
	predict, err := bestOf(3, func() error { return m.Predict(ctx, all, out) })
	if err != nil {
		return err
	}
	into[name+" fit"], into[name+" predict"] = fit, predict

	half := t.Rows() / 2
	m, err = l.Learn(ctx, learn.Task{Table: t.Slice(0, half), Target: target, Seed: 1})
	if err != nil {
		return err
	}
	test, _, err := table.Conform(t.Slice(half, t.Rows()), m.Schema(), false)
	if err != nil {
		return err
	}
	out = learn.NewPredictions(m, test.Rows())
	if err := m.Predict(ctx, test, out); err != nil {
		return err
	}
	right := 0
	for r, class := range test.Columns[target].Codes {
		if learn.Best(out.Row(r), m.Schema().Attributes[target].Values) == int(class) {
			right++
		}
	}
	into[name+" accuracy"] = float64(right) / float64(test.Rows())
	return nil
}

func bestOf(times int, work func() error) (float64, error) {
	best := 0.0
	for i := range times {
		runtime.GC()
		start := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		if s := time.Since(start).Seconds(); i == 0 || s < best {
			best = s
		}
	}
	return best, nil
}

// peak runs a process of its own that learns once, and returns the most
// memory that it held.
func peak(rows, depth int, learner string) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	out, err := exec.Command(self, "-rows", strconv.Itoa(rows), "-depth", strconv.Itoa(depth), "-memory", learner).Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

func printPeak(rows, depth int, learner string) error {
	ctx := context.Background()
	t, target, err := load(ctx, rows)
	if err != nil {
		return err
	}
	l, err := newLearner(learner, depth)
	if err != nil {
		return err
	}
	if _, err := l.Learn(ctx, learn.Task{Table: t, Target: target, Seed: 1}); err != nil {
		return err
	}
	runtime.KeepAlive(t)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			fmt.Println(kib * 1024)
			return err
		}
	}
	return fmt.Errorf("the system does not tell the peak memory")
}

// tableBytes is the size of the columns themselves.
func tableBytes(t *table.Table) float64 {
	bytes := 0
	for _, c := range t.Columns {
		bytes += 4*len(c.Codes) + 8*len(c.Floats)
	}
	return float64(bytes)
}

// dump writes the table as raw arrays, which is what the peer reads fastest.
func dump(folder string, t *table.Table, target int) error {
	var numeric, nominal []int
	for c := range t.Columns {
		switch {
		case c == target:
		case t.Columns[c].Floats != nil:
			numeric = append(numeric, c)
		default:
			nominal = append(nominal, c)
		}
	}
	files := []struct {
		name  string
		write func(w io.Writer, row int) error
	}{
		{"numbers.f64", func(w io.Writer, row int) error {
			for _, c := range numeric {
				if err := binary.Write(w, binary.LittleEndian, t.Columns[c].Floats[row]); err != nil {
					return err
				}
			}
			return nil
		}},
		{"codes.i32", func(w io.Writer, row int) error {
			for _, c := range nominal {
				if err := binary.Write(w, binary.LittleEndian, t.Columns[c].Codes[row]); err != nil {
					return err
				}
			}
			return nil
		}},
		{"classes.i32", func(w io.Writer, row int) error {
			return binary.Write(w, binary.LittleEndian, t.Columns[target].Codes[row])
		}},
	}
	for _, f := range files {
		if err := writeRows(filepath.Join(folder, f.name), t.Rows(), f.write); err != nil {
			return err
		}
	}
	return nil
}

func writeRows(path string, rows int, write func(w io.Writer, row int) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	for r := range rows {
		if err := write(w, r); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// peer runs the script and returns its seconds by name of the work.
func peer(python, script, folder string, depth int) (map[string]float64, error) {
	out, err := exec.Command(python, script, folder, strconv.Itoa(depth)).Output()
	if err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			return nil, fmt.Errorf("%v: %s (install python3-sklearn, or name another Python with -python)", err, failed.Stderr)
		}
		return nil, err
	}
	theirs := map[string]float64{}
	return theirs, json.Unmarshal(out, &theirs)
}
