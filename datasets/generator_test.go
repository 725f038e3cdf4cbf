package datasets

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

// within fails unless the share of hits in n independent trials lies within
// five standard deviations of p: with correct code one seed in 1.7 million
// would fail (normal approximation; n·p·(1−p) is above 100 throughout).
func within(t *testing.T, what string, hits, n int, p float64) {
	t.Helper()
	got := float64(hits) / float64(n)
	if bound := 5 * math.Sqrt(p*(1-p)/float64(n)); math.Abs(got-p) > bound {
		t.Errorf("%s: %.5f of %d, expected %.5f ± %.5f", what, got, n, p, bound)
	}
}

// patternsOf returns P(digit, pattern) for the 128 patterns of segments.
func patternsOf(noise float64) (joint [128][10]float64) {
	for pattern := range joint {
		for d, lit := range digits {
			p := 0.1
			for s, on := range lit {
				if int32(pattern>>s&1) == on {
					p *= 1 - noise
				} else {
					p *= noise
				}
			}
			joint[pattern][d] = p
		}
	}
	return joint
}

// The figures that the literature and our own enumeration agree on say that
// the digits are drawn as published.
func TestLEDBestPossible(t *testing.T) {
	var accuracy, loss, brier float64
	for _, joint := range patternsOf(0.1) {
		sum, best := 0.0, 0.0
		for _, p := range joint {
			sum += p
			best = max(best, p)
		}
		accuracy += best
		for d, p := range joint {
			loss -= p * math.Log(p/sum)
			for other, q := range joint {
				miss := q / sum
				if other == d {
					miss--
				}
				brier += p * miss * miss
			}
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"accuracy", accuracy, 0.740022}, {"log loss", loss, 0.768725}, {"Brier", brier, 0.367459}} {
		if math.Abs(c.got-c.want) > 5e-7 {
			t.Errorf("best possible %s is %.6f, expected %.6f", c.name, c.got, c.want)
		}
	}
}

func TestLEDRows(t *testing.T) {
	const rows = 100_000
	cells, _ := load(t, fmt.Sprintf("led:rows=%d,noise=0.1,seed=7", rows))
	joint := patternsOf(0.1)
	var wrong, right int
	var count [10]int
	for row := range rows {
		d := cells.Columns[7].Codes[row]
		count[d]++
		pattern := 0
		for s := range segments {
			lit := cells.Columns[s].Codes[row]
			pattern |= int(lit) << s
			if lit != digits[d][s] {
				wrong++
			}
		}
		best := 0
		for c := range digits {
			if joint[pattern][c] > joint[pattern][best] {
				best = c
			}
		}
		if best == int(d) {
			right++
		}
	}
	within(t, "wrong segments", wrong, 7*rows, 0.1)
	within(t, "Bayes accuracy", right, rows, 0.740022)
	for d, n := range count {
		within(t, fmt.Sprint("digit ", d), n, rows, 0.1)
	}
	clean, _ := load(t, "led:noise=0")
	for row := range clean.Rows() {
		for s := range segments {
			if clean.Columns[s].Codes[row] != digits[clean.Columns[7].Codes[row]][s] {
				t.Fatalf("row %d: segment %d is wrong without noise", row+1, s)
			}
		}
	}
}

// x is true for 23/32 of all patterns: 1 − 1/2 · 3/4 · 3/4.
func booleanFunction(c []table.Column, row int) int32 {
	y := func(i int) int32 { return c[i-1].Codes[row] }
	if y(1) != y(2) || y(3) == 1 && y(4) == 1 || y(5) == 1 && y(6) == 1 {
		return 1
	}
	return 0
}

func TestBooleanRows(t *testing.T) {
	const rows = 100_000
	cells, _ := load(t, fmt.Sprintf("boolean:rows=%d,noise=0.1", rows))
	var wrong, yes, set int
	for row := range rows {
		x := cells.Columns[6].Codes[row]
		yes += int(x)
		if x != booleanFunction(cells.Columns, row) {
			wrong++
		}
		for i := range 6 {
			set += int(cells.Columns[i].Codes[row])
		}
	}
	within(t, "wrong x", wrong, rows, 0.1)
	within(t, "x", yes, rows, 23.0/32*0.9+9.0/32*0.1)
	within(t, "inputs", set, 6*rows, 0.5)
}

func TestBooleanEachPattern(t *testing.T) {
	cells, set := load(t, "boolean:each=20,noise=0,seed=5")
	if cells.Rows() != 1280 || set.Rows != 1280 {
		t.Fatalf("%d rows, expected 1280", cells.Rows())
	}
	var count [64]int
	sorted := true
	last := 0
	for row := range cells.Rows() {
		pattern := 0
		for i := range 6 {
			pattern = pattern<<1 | int(cells.Columns[i].Codes[row])
		}
		count[pattern]++
		sorted = sorted && pattern >= last
		last = pattern
		if cells.Columns[6].Codes[row] != booleanFunction(cells.Columns, row) {
			t.Fatalf("row %d is wrong without noise", row+1)
		}
	}
	for pattern, n := range count {
		if n != 20 {
			t.Errorf("pattern %06b occurs %d times, expected 20", pattern, n)
		}
	}
	if sorted {
		t.Error("patterns are not shuffled")
	}
}

func TestParity(t *testing.T) {
	for n := 1; n <= 9; n++ {
		cells, _ := load(t, fmt.Sprintf("parity:bits=%d", n))
		if cells.Rows() != 1<<n {
			t.Fatalf("%d bits: %d rows", n, cells.Rows())
		}
		for row := range cells.Rows() {
			odd, pattern := int32(0), 0
			for i := range n {
				odd ^= cells.Columns[i].Codes[row]
				pattern = pattern<<1 | int(cells.Columns[i].Codes[row])
			}
			if pattern != row || odd != cells.Columns[n].Codes[row] {
				t.Fatalf("%d bits: row %d is pattern %b, odd %d", n, row, pattern, cells.Columns[n].Codes[row])
			}
		}
	}
	const rows = 50_000
	noisy, _ := load(t, fmt.Sprintf("parity:bits=4,rows=%d,noise=0.2", rows))
	wrong, set := 0, 0
	for row := range rows {
		odd := noisy.Columns[4].Codes[row]
		for i := range 4 {
			odd ^= noisy.Columns[i].Codes[row]
			set += int(noisy.Columns[i].Codes[row])
		}
		wrong += int(odd)
	}
	within(t, "wrong parity", wrong, rows, 0.2)
	within(t, "bits", set, 4*rows, 0.5)
}

func TestRandomBoolean(t *testing.T) {
	cells, _ := load(t, "random-boolean:bits=16,seed=3")
	yes := 0
	for _, f := range cells.Columns[16].Codes {
		yes += int(f)
	}
	within(t, "f", yes, 1<<16, 0.5)
	a, _ := load(t, "random-boolean:seed=1")
	b, _ := load(t, "random-boolean:seed=2")
	if reflect.DeepEqual(a.Columns[6], b.Columns[6]) {
		t.Error("two seeds give one function")
	}
}

func TestCircles(t *testing.T) {
	const rows = 30_000
	cells, _ := load(t, fmt.Sprintf("circles:rows=%d,classes=1,3,5", rows))
	x, y, ring := cells.Columns[0].Floats, cells.Columns[1].Floats, cells.Columns[2].Codes
	bounds := [3][2]float64{{0, 0.9}, {2.1, 2.9}, {4.1, 5}}
	var count [3]int
	inner, right := 0, 0
	for row := range rows {
		r, b := math.Hypot(x[row], y[row]), bounds[ring[row]]
		if r < b[0]-1e-12 || r > b[1]+1e-12 {
			t.Fatalf("row %d: radius %g is not in ring %v", row+1, r, b)
		}
		count[ring[row]]++
		if 2*r*r < b[0]*b[0]+b[1]*b[1] { // half of a ring's area lies inside this radius
			inner++
		}
		if x[row] > 0 {
			right++
		}
	}
	if count != [3]int{rows / 3, rows / 3, rows / 3} {
		t.Errorf("rows a class: %v", count)
	}
	within(t, "inner half", inner, rows, 0.5)
	within(t, "right half", right, rows, 0.5)
}

func TestMixed(t *testing.T) {
	const rows = 50_000
	cells, set := load(t, fmt.Sprintf("mixed:rows=%d,noise=0.1,missing=0.05", rows))
	if set.Columns != 21 {
		t.Fatalf("%d columns, expected 20 and a class", set.Columns)
	}
	missing, yes := 0, 0
	for c := range 20 {
		for row := range rows {
			if cells.Text(row, c) == "" {
				missing++
			}
		}
	}
	for _, class := range cells.Columns[20].Codes {
		yes += int(class)
	}
	within(t, "missing cells", missing, 20*rows, 0.05)
	if share := float64(yes) / rows; share < 0.4 || share > 0.6 {
		t.Errorf("class yes has a share of %.3f, expected about half", share)
	}
	whole, _ := load(t, fmt.Sprintf("mixed:rows=%d,noise=0.1", rows))
	right := 0
	for row := range rows {
		if (mixedScore(whole.Columns, row) > 0) == (whole.Columns[20].Codes[row] == 1) {
			right++
		}
	}
	within(t, "classes that follow the score", right, rows, 0.9)
}

// A name is the same rows every time; another seed is other rows.
func TestGeneratorsAreDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"led:rows=%d,noise=%g,seed=%d", "boolean:rows=%d,noise=%g,seed=%d", "parity:rows=%d,noise=%g,seed=%d", "circles:rows=%d,gap=%g,seed=%d", "mixed:rows=%d,noise=%g,seed=%d"}).Draw(t, "name")
		rows, seed := rapid.IntRange(50, 200).Draw(t, "rows"), rapid.Uint64Range(0, math.MaxUint64-1).Draw(t, "seed")
		noise := rapid.Float64Range(0, 0.49).Draw(t, "noise")
		make := func(seed uint64) *table.Table {
			cells, set, err := Load(t.Context(), fmt.Sprintf(name, rows, noise, seed))
			if err != nil {
				t.Fatal(err)
			}
			if cells.Rows() != rows || set.Rows != rows {
				t.Fatalf("%d rows, expected %d", cells.Rows(), rows)
			}
			return cells
		}
		a, b, c := make(seed), make(seed), make(seed+1)
		if !reflect.DeepEqual(a, b) {
			t.Fatal("not the same rows again")
		}
		if reflect.DeepEqual(a.Columns, c.Columns) {
			t.Fatal("another seed gives the same rows")
		}
	})
}

func BenchmarkMixed(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(b, "mixed:rows=100000")
	}
}

func BenchmarkLoadMushroom(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(b, "mushroom")
	}
}
