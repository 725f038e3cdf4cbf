package relation

import (
	"context"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// FuzzDecodeClauses reads clauses and what is around the rows from any bytes: a model that
// answers, prints and explains, or an error.
func FuzzDecodeClauses(f *testing.F) {
	task, err := logic.ReadTask("parent(a,b). parent(b,c). parent(b,d). male(a). male(c).", "pos(q(a,c)). pos(q(a,d)). neg(q(b,c)). neg(q(c,a)). neg(q(a,b)).",
		"enable_recursion. head_pred(q,2). body_pred(parent,2).")
	if err != nil {
		f.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		f.Fatal(err)
	}
	m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target})
	if err != nil {
		f.Fatal(err)
	}
	parts, err := m.(*Model).Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(learn.FindPart(parts, bodyPart), learn.FindPart(parts, aroundPart))
	f.Add([]byte{}, learn.FindPart(parts, aroundPart))
	f.Fuzz(func(t *testing.T, body, around []byte) {
		defer bounded.Start(t, len(body)+len(around))()
		own := make([]learn.Part, len(parts))
		copy(own, parts)
		for i := range own {
			switch own[i].Name {
			case bodyPart:
				own[i].Data = body
			case aroundPart:
				own[i].Data = around
			}
		}
		decoded, err := decode(own)
		if err != nil {
			return
		}
		m := decoded.(*Model)
		m.Clauses()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		out := &learn.Predictions{Classes: len(m.classes()), P: make([]float64, rows.Rows()*len(m.classes()))}
		_ = m.Predict(ctx, rows, out)
		_ = m.Predict(ctx, rows.WithLinked(nil), out)
	})
}
