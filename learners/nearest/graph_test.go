package nearest

import (
	"context"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// A graph finds the share of the nearest that it says, of rows that it has not
// seen, and says at least what is asked for. The bound: with 300 questions for
// the 5 nearest, a share of 0.99 has a standard error of at most 0.006 (misses
// that come five at a time), so that 0.97 is over three of them below.
func TestGraphRecall(t *testing.T) {
	rows, asked := clusters(3968, 30, 1), clusters(300, 30, 2)
	m := learnt(t, Name, rows, "k=5", "scale=sd", "index=graph").(*Model)
	g := m.index.index.(*graph)
	if g.recall < 0.99 {
		t.Errorf("it says %v, with an effort of %d", g.recall, g.effort)
	}
	asked, _, err := table.Conform(asked, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	one, other := newSearch(m.metric), newSearch(m.metric)
	found := 0
	for row := range asked.Rows() {
		one.ask(asked.Columns, row, 5)
		g.find(one)
		other.ask(asked.Columns, row, 5)
		brute{to: 3968}.find(other)
		for _, a := range one.found() {
			for _, b := range other.found() {
				if a.at == b.at {
					found++
				}
			}
		}
	}
	if recall := float64(found) / float64(5*asked.Rows()); recall < 0.97 {
		t.Errorf("%v of the nearest are found, and it says %v", recall, g.recall)
	}
	again := learnt(t, Name, rows, "k=5", "scale=sd", "index=graph").(*Model).index.index.(*graph)
	if again.effort != g.effort || again.recall != g.recall || len(again.links) != len(g.links) {
		t.Error("it is not the same twice")
	}
	for i := range g.links {
		if g.links[i] != again.links[i] {
			t.Fatal("its links are not the same twice")
		}
	}
}

// A graph is read as it was saved, and not built again; one of other rows is.
func TestGraphSaved(t *testing.T) {
	m := learnt(t, Name, clusters(2048, 30, 1), "k=5", "scale=sd", "index=graph").(*Model)
	g := m.index.index.(*graph)
	data, err := g.saved()
	if err != nil {
		t.Fatal(err)
	}
	read, err := readGraph(context.Background(), g.space, 5, data)
	if err != nil || !slices.Equal(read.links, g.links) || read.effort != g.effort || read.recall != g.recall {
		t.Fatalf("read back otherwise: %v", err)
	}
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	again, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	if same, _ := again.(*Model).index.index.(*graph).saved(); &same[0] != &data[0] {
		t.Error("it was built again")
	}
	other := learnt(t, Name, clusters(2048, 30, 2), "k=5", "scale=sd", "index=graph").(*Model)
	if read, err := readGraph(context.Background(), other.index.index.(*graph).space, 5, data); read != nil || err != nil {
		t.Errorf("that of other rows is taken: %v", err)
	}
	for cut := range 40 {
		if read, _ := readGraph(context.Background(), g.space, 5, data[:len(data)*cut/40]); read != nil {
			t.Errorf("%d 40ths are taken for all", cut)
		}
	}
}
