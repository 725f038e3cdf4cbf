package theory

import (
	"context"
	"encoding/base64"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// TestTransfer: a network that begins as one of another target answers, before it
// learns, as that did; then it learns.
func TestTransfer(t *testing.T) {
	ctx := context.Background()
	rows, target, theory := builtIn(t, "promoters")
	old := learnt(t, rows, target, theory, &Learner{Epochs: of(20)})
	data, err := learn.Encode(old)
	if err != nil {
		t.Fatal(err)
	}
	schema := table.CopySchema(rows.Schema)
	schema.Attributes[schema.Index(target)].Name = "starts"
	renamed, err := table.New(schema, rows.Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &Learner{From: "old\n" + base64.StdEncoding.EncodeToString(data), Epochs: of(0)}
	made, err := l.Learn(ctx, learn.Task{Table: renamed, Target: "starts", Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	a, b := learn.NewPredictions(old, rows.Rows()), learn.NewPredictions(made, rows.Rows())
	for m, p := range map[learn.Model]*learn.Predictions{old: a, made: b} {
		from := rows
		if m == made {
			from = renamed
		}
		fitted, _, err := table.Conform(from, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Predict(ctx, fitted, p); err != nil {
			t.Fatal(err)
		}
	}
	for i := range a.P {
		if math.Abs(a.P[i]-b.P[i]) > 1e-12 {
			t.Fatalf("probability %d is %v, was %v", i, b.P[i], a.P[i])
		}
	}
	if _, err := (&Learner{From: "nobody"}).Learn(ctx, learn.Task{Table: renamed, Target: "starts"}); err == nil {
		t.Error("a model that is not there is refused")
	}
}
