package rulenet

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// prototypes returns rows of 20 columns of four values: one of twelve
// prototypes, three to a class, each cell another value with probability 0.35.
// Nearly all rows are distinct.
func prototypes(rows int, seed uint64) *table.Table {
	const columns, values, classes, each = 20, 4, 4, 3
	fixed := rand.New(rand.NewPCG(1, 2))
	var cells [classes * each][columns]int32
	for p := range cells {
		for c := range cells[p] {
			cells[p][c] = fixed.Int32N(values)
		}
	}
	random := rand.New(rand.NewPCG(seed, 3))
	schema := &table.Schema{}
	made := make([]table.Column, columns+1)
	for c := range columns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("c%02d", c), Values: []string{"a", "b", "c", "d"}})
		made[c].Codes = make([]int32, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"0", "1", "2", "3"}})
	made[columns].Codes = make([]int32, rows)
	for r := range rows {
		p := random.IntN(len(cells))
		for c, v := range cells[p] {
			if random.Float64() < 0.35 {
				v = random.Int32N(values)
			}
			made[c].Codes[r] = v
		}
		made[columns].Codes[r] = int32(p / each)
	}
	t, err := table.New(schema, made, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// exactly adds to settings that a network is learnt again from all its rows, unless
// they say something else.
func exactly(settings map[string]string) map[string]string {
	all := map[string]string{"update": "exact"}
	maps.Copy(all, settings)
	return all
}

func learnOrFail(tb testing.TB, t *table.Table, target int, settings map[string]string) *Model {
	tb.Helper()
	l, err := learn.New(Name, exactly(settings))
	if err != nil {
		tb.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: t, Source: learn.Source{ID: "a"}, Seed: 1}.At(target))
	if err != nil {
		tb.Fatal(err)
	}
	return m.(*Model)
}

func BenchmarkLearn(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 1_000_000} {
		t := prototypes(rows, 1)
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				learnOrFail(b, t, 20, nil)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		})
	}
}

func load(tb testing.TB, name string) (*table.Table, int) {
	tb.Helper()
	t, set, err := datasets.Load(context.Background(), name)
	if err != nil {
		tb.Fatal(err)
	}
	return t, t.Schema.Index(set.Target)
}

func BenchmarkLearnVotes(b *testing.B) {
	t, target := load(b, "votes")
	b.ReportAllocs()
	for b.Loop() {
		learnOrFail(b, t, target, nil)
	}
}

// BenchmarkPredict is a row with about forty rules.
func BenchmarkPredict(b *testing.B) {
	t, target := load(b, "boolean:rows=100000")
	m := learnOrFail(b, t.Slice(0, 640), target, map[string]string{"weights": "published"})
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		b.Fatal(err)
	}
	out := learn.NewPredictions(m, t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(context.Background(), fitted, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(t.Rows()), "ns/row")
	b.ReportMetric(float64(m.Size().Rules), "rules")
}

// BenchmarkUpdate is one row of the Boolean stream, on average over the first
// 640.
func BenchmarkUpdate(b *testing.B) {
	ctx := context.Background()
	t, target := load(b, "boolean:each=10")
	m := learnOrFail(b, t.Slice(0, 1), target, map[string]string{"weights": "published", "update": "published"})
	fitted, _, err := table.Conform(t, m.Schema(), true)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]*table.Table, t.Rows())
	for r := range rows {
		rows[r] = fitted.Slice(r, r+1)
	}
	b.ReportAllocs()
	for b.Loop() {
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			b.Fatal(err)
		}
		for _, row := range rows[1:] {
			if err := u.Add(ctx, row); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(rows)-1), "µs/row")
}

// BenchmarkCount is the counting loop: one rule and its children over a million
// rows. Reading the same bitmaps, and counting their bits, says how close to
// memory it runs.
func BenchmarkCount(b *testing.B) {
	t := prototypes(1_000_000, 1)
	c := coding{t.Schema, 20, make([]*encode.Cuts, 21)}
	s, err := newExamples(context.Background(), c, t)
	if err != nil {
		b.Fatal(err)
	}
	x := newSearch(s, newCounter(s, s.weights), 0, byInformation, 1)
	climber := climber{search: x}
	for _, order := range []int{20, 10, 5, 2} {
		climber.rule = s.initialRule(0)[:order]
		b.Run(fmt.Sprintf("order=%d", order), func(b *testing.B) {
			b.SetBytes(int64(order * len(s.valid) * 8))
			b.ReportAllocs()
			for b.Loop() {
				climber.count()
			}
		})
		b.Run(fmt.Sprintf("order=%d/reading", order), func(b *testing.B) {
			b.SetBytes(int64(order * len(s.valid) * 8))
			for b.Loop() {
				for _, t := range climber.rule {
					set, _ := s.bitmapsOf(t)
					set.Count()
				}
			}
		})
	}
}

// BenchmarkUpdateOfMany is a batch of a thousand new rows on top of many.
func BenchmarkUpdateOfMany(b *testing.B) {
	ctx := context.Background()
	for _, rows := range []int{100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			m := learnOrFail(b, prototypes(rows, 1), 20, map[string]string{"weights": "published", "update": "published"})
			u, err := m.Begin(learn.Source{ID: "b"})
			if err != nil {
				b.Fatal(err)
			}
			more, _, err := table.Conform(prototypes(100_000, 2), m.Schema(), true)
			if err != nil {
				b.Fatal(err)
			}
			next := 0
			add := func() {
				if err := u.Add(ctx, more.Slice(next, next+1000)); err != nil {
					b.Fatal(err)
				}
				next = (next + 1000) % more.Rows()
			}
			add() // counts all rows, once
			b.ReportAllocs()
			for b.Loop() {
				add()
			}
			b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(len(u.(*incrementalUpdate).generated)), "rules")
		})
	}
}

// wide returns rows of many columns of two values, whose class says whether
// the first two are as they should be, nine times in ten.
func wide(rows, columns int) *table.Table {
	random := rand.New(rand.NewPCG(1, 5))
	schema, made := &table.Schema{}, make([]table.Column, columns+1)
	for c := range made {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("c%05d", c), Values: []string{"a", "b"}})
		made[c].Codes = make([]int32, rows)
		for r := range rows {
			made[c].Codes[r] = random.Int32N(2)
		}
	}
	for r := range rows {
		if random.Float64() < 0.9 {
			made[columns].Codes[r] = made[0].Codes[r] & made[1].Codes[r]
		}
	}
	t, err := table.New(schema, made, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// BenchmarkLearnWide shows how the cost grows with the columns.
func BenchmarkLearnWide(b *testing.B) {
	for _, size := range [][2]int{{20, 1000}, {20, 2000}, {1500, 100}, {1500, 200}, {1500, 400}} {
		t := wide(size[0], size[1])
		b.Run(fmt.Sprintf("rows=%d/columns=%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				learnOrFail(b, t, size[1], nil)
			}
		})
	}
}
