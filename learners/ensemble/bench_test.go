package ensemble_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

// Six sessions of rings.
func BenchmarkRings(b *testing.B) {
	tables := rings(b, 1)
	for _, base := range []string{"mlp", "tree"} {
		b.Run(base, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				learnAll(b, tables, 1, map[string]string{"base": base})
			}
		})
	}
}

// A session of many rows, of which each member draws a sample.
func BenchmarkSession(b *testing.B) {
	rows := load(b, "circles:rows=50000")
	b.ReportAllocs()
	for b.Loop() {
		first(b, rows, 1, nil)
	}
}

// Rows a second, by pools of three learners.
func BenchmarkPool(b *testing.B) {
	rows := load(b, "circles:rows=10000")
	for _, name := range []string{ensemble.MajorityName, ensemble.CommitteeName} {
		l, err := learn.New(name, nil)
		if err != nil {
			b.Fatal(err)
		}
		m, err := l.Learn(background, learn.Task{Table: rows.Slice(0, 500), Seed: 1}.At(2))
		if err != nil {
			b.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Predict(background, rows, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// Rows a second, by all members of six sessions.
func BenchmarkPredict(b *testing.B) {
	tables := rings(b, 1)
	rows := load(b, "circles:rows=100000")
	for _, base := range []string{"mlp", "tree"} {
		m := learnAll(b, tables, 1, map[string]string{"base": base})
		fitted, _, err := table.Conform(rows, m.Schema(), false)
		if err != nil {
			b.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		b.Run(base, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Predict(background, fitted, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
