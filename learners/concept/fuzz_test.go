package concept_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	limits "github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/concept"
)

// What is decoded from any bytes is an error or a model that answers.
func FuzzDecode(f *testing.F) {
	rows, set, err := datasets.Load(context.Background(), "enjoy-sport")
	if err != nil {
		f.Fatal(err)
	}
	for _, l := range []concept.Learner{{}, {Algorithm: "rote"}, {Space: "kdnf"}, {Answer: "gibbs"}} {
		m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: set.Target})
		if err != nil {
			f.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil || len(parts) < 2 {
			f.Fatal(parts, err)
		}
		f.Add(parts[0].Data, parts[1].Data)
	}
	info, err := learn.Lookup(concept.Name)
	if err != nil {
		f.Fatal(err)
	}
	whole, err := (&concept.Learner{}).Learn(context.Background(), learn.Task{Table: rows, Target: set.Target})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, head, body []byte) {
		defer limits.Start(t, len(head)+len(body))()
		parts, err := whole.Parts()
		if err != nil {
			t.Fatal(err)
		}
		parts[0].Data, parts[1].Data = bytes.Clone(head), bytes.Clone(body)
		m, err := info.Decode(parts)
		if err != nil {
			return
		}
		if _, err := m.(learn.Ruler).Rules(); err != nil {
			t.Error(err)
		}
		if q, err := m.(learn.Questioner).Questions(context.Background(), 2); err == nil && len(q) > 2 {
			t.Errorf("%d questions, want 2 at most", len(q))
		}
	})
}
