package all

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// What was kept can be read for ever. testdata/golden has exports of every
// learner, LEARNER-FORMAT.accrete or LEARNER_SETTING-FORMAT.accrete, as they
// were written at the time: each learnt the first 30 rows of labor, then the
// other 27 as an update (tree_many: three rows, and 18 updates of three; rulenet_bounded: four times all rows in other orders besides, more than its reservoir has). Next to an export stand its answers then for labor,
// as predict --json gave them. Files are added, under the next number when
// what a learner writes has changed; none is ever replaced.
func TestGoldenExports(t *testing.T) {
	exports, err := filepath.Glob("testdata/golden/*.accrete")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, info := range learn.All() {
		missing[info.Name] = true
	}
	for _, path := range exports {
		name := strings.TrimSuffix(filepath.Base(path), ".accrete")
		learner, _, _ := strings.Cut(name, "-")
		learner, _, _ = strings.Cut(learner, "_")
		delete(missing, learner)
		t.Run(name, func(t *testing.T) {
			m, _, err := store.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if m.Learner() != learner {
				t.Errorf("a model of %s, want %s", m.Learner(), learner)
			}
			checkAnswers(t, m, strings.TrimSuffix(path, ".accrete")+".jsonl.gz")
		})
	}
	for name := range missing {
		t.Errorf("there is no golden export of %s: learn from the first 30 rows of labor, update with the others, export to testdata/golden/%s-1.accrete, and keep its answers", name, name)
	}
}

// golden is a line of predict --json.
type golden struct {
	Row           int
	Prediction    any
	Probabilities map[string]float64
	Low, High     float64
}

// checkAnswers compares a model's answers with those that were kept.
func checkAnswers(t *testing.T, m learn.Model, path string) {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && m.Target() == learn.NoTarget {
		return // a density has no answers of its own
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	labor, _, err := datasets.Load(ctx, "labor")
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := table.Conform(labor, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(ctx, rows, out); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for scan := bufio.NewScanner(lines); scan.Scan(); seen++ {
		var want golden
		if err := json.Unmarshal(scan.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if err := compare(m, out, want); err != nil {
			t.Errorf("row %d: %v", want.Row, err)
		}
	}
	if seen != rows.Rows() {
		t.Errorf("%d answers were kept, want %d", seen, rows.Rows())
	}
}

// compare returns how an answer differs from the one that was kept, or nil.
func compare(m learn.Model, out *learn.Predictions, want golden) error {
	row := want.Row - 1
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
	if out.Classes == 0 {
		if !near(out.Mean[row], want.Prediction.(float64)) || !near(out.Low[row], want.Low) || !near(out.High[row], want.High) {
			return fmt.Errorf("%v (%v to %v), want %v (%v to %v)", out.Mean[row], out.Low[row], out.High[row], want.Prediction, want.Low, want.High)
		}
		return nil
	}
	for c, class := range m.Schema().Attributes[m.Target()].Values {
		if !near(out.Row(row)[c], want.Probabilities[class]) {
			return fmt.Errorf("%s has probability %v, want %v", class, out.Row(row)[c], want.Probabilities[class])
		}
	}
	return nil
}
