package belief

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// many returns a million rows of twenty columns.
func many(rows int) *table.Table {
	random := rand.New(rand.NewPCG(1, 1))
	s := &table.Schema{}
	columns := make([]table.Column, 20)
	for j := range columns {
		s.Attributes = append(s.Attributes, table.Attribute{Name: fmt.Sprint("c", j), Values: []string{"a", "b", "c"}})
		columns[j].Codes = make([]int32, rows)
		for r := range columns[j].Codes {
			columns[j].Codes[r] = int32(random.IntN(3))
		}
	}
	t, err := table.New(s, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Tables of a given graph: each column has two parents.
func BenchmarkParameters(b *testing.B) {
	t := many(1_000_000)
	d := &data{settings: &settings{M: 1}, schema: t.Schema, rows: t.Rows(), codes: make([][]uint16, 20), gapped: make([]bool, 20), numbers: make([]numbers, 20)}
	parents := make([][]int, 20)
	for j := range 20 {
		d.codes[j] = make([]uint16, d.rows)
		for r, c := range t.Columns[j].Codes {
			d.codes[j][r] = uint16(c)
		}
		if j > 1 {
			parents[j] = []int{j - 2, j - 1}
		}
	}
	for b.Loop() {
		m := &Model{net: newNetwork(t.Schema, parents)}
		if err := d.fit(context.Background(), m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(20*float64(d.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
}

// Learning as a whole, with rows that are gathered and kept, and without.
func BenchmarkLearnGiven(b *testing.B) {
	for _, keep := range []string{"rows", "counts", "nothing"} {
		b.Run(keep, func(b *testing.B) { learnGiven(b, keep) })
	}
}

func learnGiven(b *testing.B, keep string) {
	t := many(1_000_000)
	l := &Learner{Structure: "given", Require: "c0->c1,c1->c2,c0->c3", Keep: keep}
	for b.Loop() {
		if _, err := l.Learn(context.Background(), learn.Task{Table: t, NoTarget: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(20*float64(t.Rows())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
}
