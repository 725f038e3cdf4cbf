package knowledge_test

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
)

// A tree read out of a tree is as faithful as can be; one read out of a network
// agrees with it on nearly all rows that it has not seen, and is small.
func TestTreeOf(t *testing.T) {
	for name, least := range map[string]float64{"tree": .97, "mlp": .9} {
		rows, set, err := datasets.Load(context.Background(), "votes")
		if err != nil {
			t.Fatal(err)
		}
		l, err := learn.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(rows.Schema.Index(set.Target)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := knowledge.TreeOf(context.Background(), m, rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fidelity < least || r.Fidelity > 1 || math.IsNaN(r.Deviation) || r.Held != rows.Rows()/3 {
			t.Errorf("%s: %v", name, r)
		}
		if n := r.Tree.Size().Rules; n > 40 {
			t.Errorf("%s: %d rules", name, n)
		}
		again, err := knowledge.TreeOf(context.Background(), m, rows, 1)
		if err != nil || again.Fidelity != r.Fidelity || again.Tree.Size() != r.Tree.Size() {
			t.Errorf("%s: %v, then %v (%v)", name, r, again, err)
		}
	}
}
