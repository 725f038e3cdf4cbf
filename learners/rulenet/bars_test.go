package rulenet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// long reports whether there is time for all seeds and large tables.
var long = os.Getenv("ACCRETE_LONG") != ""

// meanOf measures over seeds.
func meanOf(t *testing.T, seeds int, measure func(seed uint64) float64) float64 {
	t.Helper()
	total := 0.0
	for seed := range seeds {
		total += measure(uint64(seed) + 1)
	}
	return total / float64(seeds)
}

// The published network on the three sets of the paper, which prints 68.1,
// 94.7 and 90.0 % over ten runs. Accuracies vary over seeds by s = 2.0, 1.5 and
// 2.2 points; a mean over n seeds lies within 2·s/√n of the true one in 95 % of
// cases, and so much below the bar it may fall.
func TestPublishedAccuracy(t *testing.T) {
	seeds := 6
	if long {
		seeds = 40
	}
	for _, c := range []struct {
		name       string
		train      int
		bar, sigma float64
	}{{"led:rows=1000,seed=%d", 154, 0.680, 0.020}, {"votes", 200, 0.943, 0.015}, {"boolean:seed=%d", 640, 0.875, 0.022}} {
		got := meanOf(t, seeds, func(seed uint64) float64 {
			name := c.name
			if name != "votes" {
				name = fmt.Sprintf(name, seed)
			}
			rows, target := load(t, name)
			order := rand.New(rand.NewPCG(seed, 5)).Perm(rows.Rows())
			m := learnOrFail(t, rows.Select(order[:c.train]), target, map[string]string{"weights": "published"})
			return accuracy(t, m, rows.Select(order[c.train:]))
		})
		if got < c.bar-2*c.sigma/math.Sqrt(float64(seeds)) {
			t.Errorf("%s: %.4f over %d seeds, expected %.3f", c.name, got, seeds, c.bar)
		}
		t.Logf("%s: %.4f over %d seeds", c.name, got, seeds)
	}
}

// The Boolean function, every pattern ten times to learn from and ten times to
// test on: rules of batch learning, rules and accuracy of learning one row at
// a time. Deviations over seeds: 3 rules, 5 rules, 1.4 points.
func TestGrowthOnBoolean(t *testing.T) {
	seeds := 6
	if long {
		seeds = 40
	}
	slack := 2 / math.Sqrt(float64(seeds))
	settings := map[string]string{"weights": "published", "update": "published"}
	var batch, units float64
	right := meanOf(t, seeds, func(seed uint64) float64 {
		train, target := load(t, fmt.Sprintf("boolean:each=10,seed=%d", seed))
		test, _ := load(t, fmt.Sprintf("boolean:each=10,seed=%d", seed+1000))
		batch += float64(learnOrFail(t, train, target, settings).Size().Units) / float64(seeds)
		m := learnOrFail(t, train.Slice(0, 1), target, settings)
		fitted, _, err := table.Conform(train, m.Schema(), true)
		if err != nil {
			t.Fatal(err)
		}
		u, err := m.Begin(learn.Source{ID: "stream"})
		if err != nil {
			t.Fatal(err)
		}
		for r := 1; r < train.Rows(); r++ {
			if err := u.Add(background, fitted.Slice(r, r+1)); err != nil {
				t.Fatal(err)
			}
		}
		grown, err := u.Freeze(background)
		if err != nil {
			t.Fatal(err)
		}
		units += float64(grown.Size().Units) / float64(seeds)
		return accuracy(t, grown, test)
	})
	if batch < 28-3*slack || batch > 32+3*slack {
		t.Errorf("batch learning: %.1f rules, expected 28 to 32", batch)
	}
	if units < 36-5*slack || units > 41+5*slack {
		t.Errorf("one at a time: %.1f rules, expected 36 to 41", units)
	}
	if right < 0.885-0.014*slack {
		t.Errorf("one at a time: %.4f right, expected 0.885", right)
	}
	t.Logf("batch %.1f rules; one at a time %.1f rules, %.4f right", batch, units, right)
}

// without returns a table less a column, and the target's place.
func without(t *testing.T, rows *table.Table, target int, column string) (*table.Table, int) {
	t.Helper()
	name := rows.Schema.Attributes[target].Name
	at := rows.Schema.Index(column)
	schema := &table.Schema{Attributes: slices.Delete(slices.Clone(rows.Schema.Attributes), at, at+1)}
	left, err := table.New(schema, slices.Delete(slices.Clone(rows.Columns), at, at+1), nil)
	if err != nil {
		t.Fatal(err)
	}
	return left, schema.Index(name)
}

// Ten-fold cross-validation of the defaults, in the short run once: the bars
// are met as they stand (by 0.8754, 0.9149 and 1 in the one repeat).
func TestDefaultAccuracy(t *testing.T) {
	for _, c := range []struct {
		name, without string
		bar           float64
		repeats       int
	}{{"credit-a", "", 0.855, 5}, {"votes", "physician-fee-freeze", 0.90, 5}, {"mushroom", "", 0.999, 1}} {
		rows, target := load(t, c.name)
		if c.without != "" {
			rows, target = without(t, rows, target, c.without)
		}
		repeats := 1
		if long {
			repeats = c.repeats
		}
		r, err := evaluate.CrossValidate(background, evaluate.Spec{
			Data: c.name, Table: rows, Target: target, Seed: 1, Repeats: repeats, Learner: Name, New: evaluate.Registered(Name, nil),
		}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if *r.Accuracy < c.bar {
			t.Errorf("%s without %q: %.4f, expected %.3f", c.name, c.without, *r.Accuracy, c.bar)
		}
		t.Logf("%s without %q: accuracy %.4f, log loss %.4f, ECE %.4f, %d rules", c.name, c.without, *r.Accuracy, *r.LogLoss, *r.ECE, *r.Rules)
	}
}

// Splice junctions: the first 2000 rows to learn from, the others to test on.
func TestDNA(t *testing.T) {
	if !long {
		return
	}
	rows, _, err := table.ReadFile(background, "../../bench/data/dna_binary.csv.gz", table.Options{Target: "Class"})
	if err != nil {
		t.Fatal(err)
	}
	m := learnOrFail(t, rows.Slice(0, 2000), rows.Schema.Index("Class"), nil)
	if got := accuracy(t, m, rows.Slice(2000, rows.Rows())); got < 0.93 {
		t.Errorf("%.4f with %d rules, expected 0.93", got, m.Size().Rules)
	}
}

// Census incomes: at least 86 % on the test file with at most 150 rules.
func TestAdult(t *testing.T) {
	if !long {
		return
	}
	train, _, err := table.ReadFile(background, "../../bench/data/adult_train.csv.gz", table.Options{Target: "income"})
	if err != nil {
		t.Fatal(err)
	}
	test, _, err := table.ReadFile(background, "../../bench/data/adult_test.csv.gz", table.Options{Target: "income"})
	if err != nil {
		t.Fatal(err)
	}
	m := learnOrFail(t, train, train.Schema.Index("income"), nil)
	if got := accuracy(t, m, test); got < 0.86 || m.Size().Rules > 150 {
		t.Errorf("%.4f with %d rules, expected 0.86 with 150", got, m.Size().Rules)
	} else {
		t.Logf("%.4f with %d rules", got, m.Size().Rules)
	}
}

// On a noisy display nobody can have a log loss below 0.7687; two thousand
// rows should come within 0.06 of it. Over seeds it varies by 0.01.
func TestCalibrationOnLED(t *testing.T) {
	seeds := 2
	if long {
		seeds = 10
	}
	got := meanOf(t, seeds, func(seed uint64) float64 {
		train, target := load(t, fmt.Sprintf("led:rows=2000,seed=%d", seed))
		test, _, err := datasets.Load(background, fmt.Sprintf("led:rows=20000,seed=%d", seed+100))
		if err != nil {
			t.Fatal(err)
		}
		m := learnOrFail(t, train, target, nil)
		out := learn.NewPredictions(m, test.Rows())
		if err := m.Predict(background, test, out); err != nil {
			t.Fatal(err)
		}
		loss := 0.0
		for r, c := range test.Columns[target].Codes {
			loss -= math.Log(out.Row(r)[c]) / float64(test.Rows())
		}
		return loss
	})
	if got > 0.7687+0.06 {
		t.Errorf("log loss %.4f over %d seeds, expected at most %.4f", got, seeds, 0.7687+0.06)
	}
	t.Logf("log loss %.4f over %d seeds", got, seeds)
}
