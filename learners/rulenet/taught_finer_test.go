package rulenet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// jumps returns rows without noise whose number jumps by 8 where x passes 0.504, for one
// of three kinds, and has a slope for another.
func jumps(t *testing.T, rows int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "u", Kind: table.Numeric},
		{Name: "kind", Kind: table.Nominal, Values: []string{"a", "b", "c"}}, {Name: "y", Kind: table.Numeric},
	}}
	columns := []table.Column{{Floats: make([]float64, rows)}, {Floats: make([]float64, rows)}, {Codes: make([]int32, rows)}, {Floats: make([]float64, rows)}}
	for r := range rows {
		x, u, kind, y := rng.Float64(), rng.Float64(), int32(rng.IntN(3)), 0.0
		switch {
		case kind == 0 && x > 0.504:
			y = 8
		case kind == 1:
			y = 6 * u
		}
		columns[0].Floats[r], columns[1].Floats[r], columns[2].Codes[r], columns[3].Floats[r] = x, u, kind, y
	}
	all, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A jump inside a bin is found. With one of 62 equal bins about it, a quarter of whose
// rows lie below the jump, the best answers would be off by 8·√(¼·¾/62/3) = 0.25, slopes
// and all else being right; with bins of an eighth of that by 0.09.
func TestNumbersThatJump(t *testing.T) {
	ctx := context.Background()
	m, err := (&Learner{}).Learn(ctx, learn.Task{Table: jumps(t, 4000, 1), Target: "y", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	new := jumps(t, 4000, 2)
	out := learn.NewPredictions(m, 4000)
	if err := m.Predict(ctx, new, out); err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for r, y := range new.Columns[3].Floats {
		squares += (y - out.Mean[r]) * (y - out.Mean[r])
	}
	if off := math.Sqrt(squares / 4000); off > 0.2 {
		t.Errorf("root mean square error %.3f", off)
	}
}

func TestLastBelow(t *testing.T) {
	c := &boost.Column{Ordered: true, Bins: 6} // missing, and five more
	for left, end := range map[uint64]int{0b000110: 2, 0b000111: 2, 0b111000: 2, 0b000010: 1, 0b111110: 0, 0b000001: 0, 0b100000: 4} {
		if got := lastBelow(c, left); got != end {
			t.Errorf("%06b: bin %d, expected %d", left, got, end)
		}
	}
}

// Half of what rows weigh is spread evenly, the other half beside the cuts that part them.
func TestNearCuts(t *testing.T) {
	c := &boost.Column{Ordered: true, Bins: 5, Cells: []uint8{0, 1, 1, 2, 2, 3, 3, 4, 4}}
	near := nearCuts(c, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, []float64{0, 0, 3, 0, 0})
	sums := make([]float64, 5)
	for r, bin := range c.Cells[1:] {
		sums[bin] += near[r+1]
	}
	for bin, want := range []float64{0, 0.125, 0.125 + 0.25, 0.125 + 0.25, 0.125} {
		if math.Abs(sums[bin]-want) > 1e-12 {
			t.Errorf("bin %d weighs %v, expected %v", bin, sums[bin], want)
		}
	}
}
