package tree

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learn"
)

func TestTmpBig(t *testing.T) {
	n := 200000
	tb := mixed(n + 50_000)
	train, test := tb.Slice(0, n), tb.Slice(n, n+50_000)
	for _, l := range []Learner{{MaxDepth: 10, MinRows: ptr(1.0), Prune: "none", Binary: ptr(true)}, {Binary: ptr(true)}, {Binary: ptr(true), CF: 0.05}, {Binary: ptr(true), CF: 0.01}, {Binary: ptr(true), CF: 0.001}, {Binary: ptr(true), Prune: "cost"}, {Prune: "cost"}} {
		start := time.Now()
		m, err := l.Learn(context.Background(), learn.Task{Table: train, Target: 20, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		el := time.Since(start)
		c := conform(t, test, m)
		out := learn.NewPredictions(m, 50_000)
		m.Predict(context.Background(), c, out)
		right := 0
		for r := range 50_000 {
			if learn.Best(out.Row(r), []string{"no", "yes"}) == int(c.Columns[20].Codes[r]) {
				right++
			}
		}
		fmt.Printf("%v %s: fit %v acc %.4f size %+v\n", l.CF, l.Prune, el, float64(right)/5e4, m.Size())
	}
}
