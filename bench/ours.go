package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
	_ "github.com/accrete-ml/accrete/table/arrow"
	_ "github.com/accrete-ml/accrete/table/parquet"
)

// batch is how many rows are predicted at once, singles how many one by one,
// and repeats how often the rest is done at most. Peers do the same, but for
// fewer singles where they are a hundred times slower: a microsecond repeats
// only when caches and branch predictors have seen it a few hundred times.
const (
	batch   = 100_000
	singles = 5000
	repeats = 25
)

// measureOurs is the measuring process of Accrete itself: the protocol's
// side of the tool, as the scripts under peers are for theirs.
func measureOurs(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("expected: work folder method [key=value …]")
	}
	work, folder, method := args[0], args[1], args[2]
	keys := map[string]string{}
	for _, a := range args[3:] {
		key, value, _ := strings.Cut(a, "=")
		keys[key] = value
	}
	budget, _ := strconv.ParseFloat(keys["budget"], 64)
	switch work {
	case workSpeed:
		return speedOfOurs(ctx, folder, method, budget)
	case workFolds:
		return foldsOfOurs(ctx, folder, method, keys["out"])
	case workNeighbours:
		return neighboursOfOurs(ctx, folder, method)
	case workNumbers:
		return numbersOfOurs(ctx, folder, method, keys["out"])
	case workTexts:
		return textsOfOurs(ctx, folder, method)
	case workGraphs:
		return graphOfOurs(ctx, folder, method, budget)
	case workRead:
		return readByOurs(ctx, folder, budget)
	}
	return fmt.Errorf("unknown work %q", work)
}

func say(p part) {
	line, _ := json.Marshal(p)
	fmt.Println(string(line))
}

// learnerOf makes the learner of a method, "tree" or "tree max-depth=10 …".
func learnerOf(method string) (learn.Learner, error) {
	words := strings.Fields(method)
	settings := map[string]string{}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		settings[key] = value
	}
	return learn.New(words[0], settings)
}

// repeat does a work again and again for the budget's seconds, at least once
// and at most times, and returns the seconds of each.
func repeat(budget float64, times int, work func() error) ([]float64, error) {
	var seconds []float64
	for total := 0.0; len(seconds) == 0 || total < budget && len(seconds) < times; {
		start := time.Now()
		if err := work(); err != nil {
			return nil, err
		}
		s := time.Since(start).Seconds()
		seconds, total = append(seconds, s), total+s
	}
	return seconds, nil
}

func speedOfOurs(ctx context.Context, folder, method string, budget float64) error {
	t, err := importTable(folder)
	if err != nil {
		return err
	}
	l, err := learnerOf(method)
	if err != nil {
		return err
	}
	runtime.GC()
	say(part{Part: partLoaded})

	var m learn.Model
	task := learn.Task{Table: t, Source: learn.Source{ID: "1"}, Seed: 1}.At(len(t.Columns) - 1)
	seconds, err := repeat(budget, repeats, func() (err error) {
		m, err = l.Learn(ctx, task)
		return err
	})
	if err != nil {
		return err
	}
	say(part{Part: partFit, Seconds: seconds})

	saved, err := learn.Encode(m)
	if err != nil {
		return err
	}
	say(part{Part: partSize, Bytes: float64(len(saved))})

	all, _, err := table.Conform(t.Slice(0, min(batch, t.Rows())), m.Schema(), false)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(m, all.Rows())
	if seconds, err = repeat(budget, repeats, func() error { return m.Predict(ctx, all, out) }); err != nil {
		return err
	}
	say(part{Part: partPredict, Seconds: seconds, Rows: all.Rows()})

	row := 0
	out = learn.NewPredictions(m, 1)
	if seconds, err = repeat(budget, singles, func() error {
		row = (row + 1) % all.Rows()
		return m.Predict(ctx, all.Slice(row, row+1), out)
	}); err != nil {
		return err
	}
	say(part{Part: partSingle, Seconds: seconds, Rows: 1})

	if seconds, err = updateOurs(ctx, m, all.Slice(0, 1), budget); err != nil {
		return err
	}
	if seconds != nil {
		say(part{Part: partUpdate, Seconds: seconds, Rows: 1})
	}
	return sayMemory()
}

// updateOurs learns one row more. A model that cannot, such as one that was
// told to keep no rows, has no seconds.
func updateOurs(ctx context.Context, m learn.Model, one *table.Table, budget float64) ([]float64, error) {
	u, ok := m.(learn.Updater)
	if !ok {
		return nil, nil
	}
	source := learn.Source{ID: "2"}
	if _, err := u.Begin(source); err != nil {
		return nil, nil
	}
	return repeat(budget, repeats, func() error {
		update, err := u.Begin(source)
		if err != nil {
			return err
		}
		if err := update.Add(ctx, one); err != nil {
			return err
		}
		_, err = update.Freeze(ctx)
		return err
	})
}

// sayMemory tells the most memory that the process held, where the system
// says so.
func sayMemory() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		say(part{Part: partReason, Text: "the system does not tell the peak memory"})
		return nil
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return err
			}
			say(part{Part: partMemory, Bytes: 1024 * kib})
		}
	}
	return nil
}

func foldsOfOurs(ctx context.Context, folder, method, path string) error {
	t, err := importTable(folder)
	if err != nil {
		return err
	}
	of, err := readInt32s(filepath.Join(folder, foldsFile))
	if err != nil {
		return err
	}
	target := len(t.Columns) - 1
	classes := len(t.Schema.Attributes[target].Values)
	probabilities := make([]float64, t.Rows()*classes)
	rules, tests, readable := 0.0, 0.0, true
	for fold := range int32(folds) {
		var train, test []int
		for r, f := range of {
			if f == fold {
				test = append(test, r)
			} else {
				train = append(train, r)
			}
		}
		l, err := learnerOf(method)
		if err != nil {
			return err
		}
		m, err := l.Learn(ctx, learn.Task{Table: t.Select(train), Seed: 1}.At(target))
		if err != nil {
			return err
		}
		rows, _, err := table.Conform(t.Select(test), m.Schema(), false)
		if err != nil {
			return err
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(ctx, rows, out); err != nil {
			return err
		}
		values := m.Schema().Attributes[m.Target()].Values
		for i, r := range test {
			for c, p := range out.Row(i) {
				probabilities[r*classes+int(t.Schema.Attributes[target].Code(values[c]))] = p
			}
		}
		if r, n, ok := size(m); ok {
			rules, tests = rules+r/folds, tests+n/folds
		} else {
			readable = false
		}
	}
	if err := writeFloats(path, probabilities); err != nil {
		return err
	}
	p := part{Part: partFolds}
	if readable {
		p.Rules, p.Tests = rules, tests
	}
	say(p)
	return nil
}

// size counts what a reader of the model's rules has to read: the distinct
// conjunctions, and the tests in all of them. A rule with several classes is
// read once, so conjunctions count, not conclusions; a half-space counts each
// of its terms, a unit of a mixture each of its expectations.
func size(m learn.Model) (rules, tests float64, ok bool) {
	ruler, ok := learn.Ability[learn.Ruler](m)
	if !ok {
		return 0, 0, false
	}
	base, err := ruler.Rules()
	if err != nil {
		return 0, 0, false
	}
	seen := map[string]bool{}
	for _, r := range base.Rules {
		key := (&rule.Rule{If: rule.Canonical(r.If)}).String()
		if seen[key] {
			continue
		}
		seen[key] = true
		rules++
		tests += countTests(r.If)
	}
	for _, u := range base.Units {
		rules++
		tests += float64(len(u.Expect))
	}
	return rules, tests, true
}

func countTests(tests []rule.Test) float64 {
	n := 0.0
	for _, t := range tests {
		switch t.Op {
		case rule.HalfSpace:
			n += float64(len(t.Terms))
		case rule.AtLeast:
			n += countTests(t.Of)
		default:
			n++
		}
	}
	return n
}

func writeFloats(path string, numbers []float64) error {
	return writeFile(path, func(w io.Writer) error {
		var cell [8]byte
		for _, x := range numbers {
			binary.LittleEndian.PutUint64(cell[:], math.Float64bits(x))
			if _, err := w.Write(cell[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

func readFloats(path string) ([]float64, error) {
	data, err := os.ReadFile(path)
	numbers := make([]float64, len(data)/8)
	for i := range numbers {
		numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return numbers, err
}

// readByOurs reads a file as the program does.
func readByOurs(ctx context.Context, path string, budget float64) error {
	rows := 0 // not the table: nothing is to be held while the next is read
	seconds, err := repeat(budget, repeats, func() error {
		t, _, err := table.ReadFile(ctx, path, table.Options{Target: "class"})
		if err == nil {
			rows = t.Rows()
		}
		return err
	})
	if err != nil {
		return err
	}
	say(part{Part: partRead, Seconds: slices.Clip(seconds), Rows: rows})
	return sayMemory()
}
