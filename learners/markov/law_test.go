package markov

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// drawSequences draws sequences of states and symbols and numbers, some cells
// missing.
func drawSequences(t *rapid.T, name string) *table.Table {
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "state", Values: []string{"hot", "cold", "mild"}}, {Name: "shown", Values: []string{"a", "b", "c", "d"}}, {Name: "n", Kind: table.Numeric},
	}}
	columns := make([]table.Column, 3)
	var of []int32
	var names []string
	for g := range rapid.IntRange(1, 4).Draw(t, "sequences") {
		names = append(names, fmt.Sprint(name, g))
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			columns[0].Codes = append(columns[0].Codes, rapid.Int32Range(0, 2).Draw(t, "state"))
			shown := rapid.Int32Range(-1, 3).Draw(t, "shown")
			if shown < 0 {
				shown = table.Missing
			}
			columns[1].Codes = append(columns[1].Codes, shown)
			x := float64(rapid.IntRange(-5, 5).Draw(t, "n"))
			if x == 5 {
				x = math.NaN()
			}
			columns[2].Floats = append(columns[2].Floats, x)
			of = append(of, int32(g))
		}
	}
	rows, err := table.New(s, columns, nil)
	if err == nil {
		rows, err = rows.InSequence("who", of, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Counting in pieces, from several sources, merged, or with one more that is
// forgotten, is counting everything at once.
func TestCountsAreExact(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		l := Learner{Emission: "mixed", Order: rapid.IntRange(0, 2).Draw(rt, "order"), Decode: rapid.SampledFrom([]string{"viterbi", "posterior"}).Draw(rt, "decode")}
		one, two, three := drawSequences(rt, "one"), drawSequences(rt, "two"), drawSequences(rt, "three")
		fresh := func(id string, tab *table.Table) learn.Model {
			m, err := l.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: id}}.At(0))
			if err != nil {
				rt.Fatal(err)
			}
			return m
		}
		more := func(m learn.Model, id string, tabs ...*table.Table) learn.Model {
			u, err := m.(*Model).Begin(learn.Source{ID: id})
			if err != nil {
				rt.Fatal(err)
			}
			for _, tab := range tabs {
				if err := u.Add(ctx, tab); err != nil {
					rt.Fatal(err)
				}
			}
			m, err = u.Freeze(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			return m
		}
		want := answersOf(rt, more(fresh("s", one), "s", two), three)
		apart := more(fresh("a", one), "b", two)
		merged, err := fresh("a", one).(*Model).Merge(ctx, fresh("b", two))
		if err != nil {
			rt.Fatal(err)
		}
		without, err := more(apart, "c", three).(*Model).Forget(ctx, "c")
		if err != nil {
			rt.Fatal(err)
		}
		for what, m := range map[string]learn.Model{"two sources": apart, "merged": merged, "forgotten": without} {
			for i, p := range answersOf(rt, m, three) {
				if math.Abs(p-want[i]) > 1e-9 {
					rt.Fatalf("%s: probability %d is %v, want %v", what, i, p, want[i])
				}
			}
		}
	})
}

func answersOf(rt *rapid.T, m learn.Model, rows *table.Table) []float64 {
	asked, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		rt.Fatal(err)
	}
	out := learn.NewPredictions(m, asked.Rows())
	if err := m.Predict(context.Background(), asked, out); err != nil {
		rt.Fatal(err)
	}
	var all []float64
	classes := &m.Schema().Attributes[m.Target()]
	for r := range asked.Rows() {
		for _, name := range []string{"hot", "cold", "mild"} {
			p := 0.0
			if c := classes.Code(name); c >= 0 {
				p = out.Row(r)[c]
			}
			all = append(all, p)
		}
	}
	return all
}
