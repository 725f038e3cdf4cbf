package boost

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// generated returns rows whose class is whether two cells are alike, or as
// many classes as there are sums of them.
func generated(n, classes int, seed uint64) *Rows {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := &Rows{Columns: make([]Column, 4), Hash: make([]uint64, n), Class: make([]int32, n), Scores: classes}
	if classes == 2 {
		rows.Scores = 1
	}
	for c := range rows.Columns {
		rows.Columns[c] = Column{Cells: make([]uint8, n), Bins: 9, Ordered: c < 2, Missing: c == 1, Salt: Scramble(uint64(c))}
		for i := range n {
			rows.Columns[c].Cells[i] = uint8(1 + rng.IntN(8))
			if c == 1 && rng.IntN(8) == 0 {
				rows.Columns[c].Cells[i] = 0
			}
		}
	}
	for i := range n {
		rows.Hash[i] = rng.Uint64()
		a, b := rows.Columns[0].Cells[i], rows.Columns[1].Cells[i]
		if classes == 2 && (a > 4) != (b > 4) {
			rows.Class[i] = 1
		} else if classes > 2 {
			rows.Class[i] = int32(int(a+b) * classes / 18)
		}
	}
	return rows
}

func all(n int, w float64) []float64 { return slices.Repeat([]float64{w}, n) }

func numbers(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

var usual = Options{Leaves: 16, Depth: 5, Rate: 0.1, RowShare: 0.7, ColumnShare: 0.5, Seed: 1}

func TestTeacherLearns(t *testing.T) {
	for _, classes := range []int{2, 5} {
		rows := generated(600, classes, 3)
		learn, held := all(600, 1), make([]float64, 600)
		for i := 0; i < 600; i += 3 {
			learn[i], held[i] = 0, 1
		}
		teacher := New(rows, learn, held, nil, usual)
		if err := teacher.Grow(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		before := teacher.Loss
		if err := teacher.Grow(context.Background(), 100); err != nil {
			t.Fatal(err)
		}
		// A fit of 0.3 of the loss of the prior on rows that it has not seen
		// is far from what no rule could reach by chance.
		if !(teacher.Loss < 0.3*before) {
			t.Errorf("%d classes: loss %v of %v", classes, teacher.Loss, before)
		}
	}
}

func TestTestsLeadToTheirRows(t *testing.T) {
	rows := generated(300, 3, 5)
	teacher := New(rows, all(300, 1), nil, numbers(300), usual)
	if err := teacher.Grow(context.Background(), 10); err != nil {
		t.Fatal(err)
	}
	for n, tree := range teacher.Trees {
		for node := int32(1); int(node) < len(tree.Nodes); node++ {
			tests := tree.Tests(rows.Columns, node)
			for i := range 300 {
				within := false
				for at := int32(teacher.LeafOf[n][i]); ; at = tree.Nodes[at].Parent {
					within = within || at == node
					if at == 0 {
						break
					}
				}
				holds := !slices.ContainsFunc(tests, func(x Test) bool { return x.Set>>rows.Columns[x.Column].Cells[i]&1 == 0 })
				if holds != within {
					t.Fatalf("tree %d, node %d, row %d: in it %v, tests hold %v", n, node, i, within, holds)
				}
			}
		}
	}
}

// The trees are a function of the set of rows: their order and the number of
// equal ones put together do not matter.
func TestRowsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, classes := rapid.IntRange(20, 80).Draw(t, "rows"), rapid.IntRange(2, 4).Draw(t, "classes")
		rows := generated(n, classes, rapid.Uint64().Draw(t, "seed"))
		order := rapid.Permutation(numbers(n)).Draw(t, "order")
		other := &Rows{Columns: slices.Clone(rows.Columns), Hash: make([]uint64, n), Class: make([]int32, n), Scores: rows.Scores}
		for c := range other.Columns {
			other.Columns[c].Cells = make([]uint8, n)
		}
		for to, from := range order {
			other.Hash[to], other.Class[to] = rows.Hash[from], rows.Class[from]
			for c := range other.Columns {
				other.Columns[c].Cells[to] = rows.Columns[c].Cells[from]
			}
		}
		a, b := New(rows, all(n, 1), nil, nil, usual), New(other, all(n, 1), nil, nil, usual)
		for _, teacher := range []*Teacher{a, b} {
			if err := teacher.Grow(context.Background(), 5); err != nil {
				t.Fatal(err)
			}
		}
		for n := range a.Trees {
			if !slices.Equal(a.Trees[n].Nodes, b.Trees[n].Nodes) {
				t.Fatalf("tree %d: %v and %v", n, a.Trees[n].Nodes, b.Trees[n].Nodes)
			}
		}
	})
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum int64
		var slope, curve float64
		for range rapid.IntRange(1, 50).Draw(t, "n") {
			g, h := rapid.Float64Range(-1e6, 1e6).Draw(t, "g"), rapid.Float64Range(0, 1e6).Draw(t, "h")
			sum += Pack(g, h)
			slope += g
			curve += h
		}
		g, h := Unpack(sum)
		if math.Abs(g-slope) > 26 || math.Abs(h-curve) > 26 { // half a unit each
			t.Fatalf("%v, %v, expected %v, %v", g, h, slope, curve)
		}
	})
}

func TestNumbers(t *testing.T) {
	rows := generated(500, 2, 9)
	rows.Class = nil
	rows.Number = make([]float64, 500)
	for i := range rows.Number {
		rows.Number[i] = float64(rows.Columns[0].Cells[i])
	}
	teacher := New(rows, all(500, 1), all(500, 1), nil, usual)
	if err := teacher.Grow(context.Background(), 100); err != nil {
		t.Fatal(err)
	}
	if mean := 2 * teacher.Loss / 500; mean > 0.05 { // a hundredth of its variance
		t.Errorf("mean square error %v of a column that is there", mean)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	rows := generated(100, 2, 1)
	if err := New(rows, all(100, 1), nil, nil, usual).Grow(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
