package rulenet

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// drawWide draws a table that is wider than long rules are: columns of two
// values, some of them mostly the same, and numbers, with missing cells.
func drawWide(t *rapid.T) *examples {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	rows, columns := rapid.IntRange(2, 90).Draw(t, "rows"), rapid.IntRange(longRule, 3*longRule).Draw(t, "columns")
	rare := rapid.SampledFrom([]float64{0.02, 0.1, 0.5}).Draw(t, "rare")
	numeric := rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "numeric")
	schema, made, cuts := &table.Schema{}, make([]table.Column, columns+1), make([]*encode.Cuts, columns+1)
	for col := range columns {
		a := table.Attribute{Name: string(rune('A' + col)), Values: []string{"u", "v"}}
		if random.Float64() < numeric {
			a.Kind, a.Values, cuts[col] = table.Numeric, nil, &encode.Cuts{At: []float64{0.3, 0.5, 0.9}}
		}
		for range rows {
			x := random.Float64()
			switch {
			case cuts[col] != nil:
				made[col].Floats = append(made[col].Floats, x)
			case x > 0.99:
				made[col].Codes = append(made[col].Codes, table.Missing)
			case x < rare:
				made[col].Codes = append(made[col].Codes, 1)
			default:
				made[col].Codes = append(made[col].Codes, 0)
			}
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"x", "y"}})
	var weights []float64
	for range rows {
		made[columns].Codes = append(made[columns].Codes, random.Int32N(2))
		weights = append(weights, float64(random.IntN(4)))
	}
	weighed, err := table.New(schema, made, weights)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newExamples(context.Background(), coding{schema, columns, cuts}, weighed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Steps taken at once end where steps taken one by one end.
func TestEqualStepsAtOnce(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawWide(t)
		l := newCounter(s, s.weights)
		ties := rapid.SampledFrom([]tieBreak{byInformation, byPosition}).Draw(t, "ties")
		for row, class := range s.class {
			if l.class[class] == 0 || l.class[class] == l.total {
				continue
			}
			c := climber{search: newSearch(s, l, int(class), ties, 1)}
			c.rule = s.initialRule(row)
			for c.count(); c.step(); c.count() {
			}
			want := c.rule
			c.rule = s.initialRule(row)
			if c.count(); c.dropEqual() {
				taken++
			}
			if got := c.climb(context.Background(), s.initialRule(row)); !got.equal(want) {
				t.Fatalf("row %d: at once %v, one by one %v", row, got, want)
			}
		}
	})
	if taken == 0 {
		t.Error("no steps were taken at once")
	}
}

// A climb costs as much as its tests, not as their square: the steps that are
// counted do not grow with the columns.
func TestClimbOfWideRows(t *testing.T) {
	for _, columns := range []int{100, 3000} {
		made := wide(40, columns)
		s, err := newExamples(context.Background(), coding{made.Schema, columns, make([]*encode.Cuts, columns+1)}, made)
		if err != nil {
			t.Fatal(err)
		}
		c := climber{search: newSearch(s, newCounter(s, s.weights), int(s.class[0]), byInformation, 1)}
		c.climb(context.Background(), s.initialRule(0))
		if len(c.path) > 40 {
			t.Errorf("%d columns: %d steps counted, expected about as many as tests tell 40 rows apart", columns, len(c.path))
		}
	}
}

// Learning ends soon after its context does, in the middle of a search.
func TestLearningIsCancelled(t *testing.T) {
	// Ties by chance take every step by itself, so that this goes on for long.
	made := wide(300, 1500)
	l, err := learn.New(Name, map[string]string{"ties": "random"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended time.Time
	time.AfterFunc(300*time.Millisecond, func() { ended = time.Now(); cancel() })
	_, err = l.Learn(ctx, learn.Task{Table: made, Source: learn.Source{ID: "a"}, Seed: 1}.At(1500))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, expected that it was cancelled", err)
	}
	// A step takes well below a millisecond; the bound leaves room for a machine
	// that has other things to do.
	if took := time.Since(ended); took > 2*time.Second {
		t.Errorf("it went on for %v", took)
	}
}

// Rows that are added to many do not copy the many.
func TestAddingCopiesNothing(t *testing.T) {
	m := learnOrFail(t, prototypes(20_000, 1), 20, map[string]string{"weights": "published", "update": "published", "templates": "50"})
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	more, _, err := table.Conform(prototypes(300, 2), m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	add := func(lo int) {
		if err := u.Add(context.Background(), more.Slice(lo, lo+100)); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	add(0)
	runtime.ReadMemStats(&after)
	// The codes of the rows that are there are 20 × 20,000 × 4 bytes.
	if took := after.TotalAlloc - before.TotalAlloc; took > 800_000 {
		t.Errorf("a hundred rows on top of 20,000 allocate %d bytes", took)
	}
}
