package knowledge_test

import (
	"testing"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// large returns an unpruned tree of about a thousand rules, and its rows.
func large(b *testing.B) (learn.Model, *table.Table) {
	b.Helper()
	t, _, err := table.ReadFile(ctx, "../bench/data/adult_test.csv.gz", table.Options{Target: "income"})
	if err != nil {
		b.Fatal(err)
	}
	t = t.Slice(0, 8000)
	l, err := learn.New("tree", map[string]string{"prune": "none"})
	if err != nil {
		b.Fatal(err)
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Target: "income", Source: learn.Source{ID: "a"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d rules", m.Size().Rules)
	return m, t
}

func BenchmarkProvenance(b *testing.B) {
	m, _ := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := knowledge.Provenance(ctx, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	m, t := large(b)
	other := updatedHalf(b, m, t)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := knowledge.Compare(m, other); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFlips(b *testing.B) {
	m, t := large(b)
	other := updatedHalf(b, m, t)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := knowledge.Flips(ctx, m, other, t); err != nil {
			b.Fatal(err)
		}
	}
}

// updatedHalf is the model after half of its rows have come once more.
func updatedHalf(b *testing.B, m learn.Model, t *table.Table) learn.Model {
	b.Helper()
	return updated(b, m, t.Slice(0, t.Rows()/2), "again")
}
