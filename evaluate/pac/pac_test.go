package pac

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near fails unless two figures agree to the digits that the source gives.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Worked figures of Mitchell 1997, chapter 7, and its exercises.
func TestWorkedFigures(t *testing.T) {
	usual := Demand{0.1, 0.95}
	for _, w := range []struct {
		what      string
		got, want float64
	}{
		{"EnjoySport", usual.Rows(Finite(973).LogSize), 98.76},
		{"EnjoySport, ε = .05", Demand{0.05, 0.95}.Rows(Finite(973).LogSize), 197.52},
		{"conjunctions of 10 (published 140)", usual.Rows(Conjunctions(10).LogSize), 139.82},
		{"agnostic, conjunctions of 10", usual.RowsAgnostic(Conjunctions(10).LogSize), 699.09},
		{"unbiased, 3", usual.Rows(Unbiased(3).LogSize), 85.41},
		{"unbiased, 5", usual.Rows(Unbiased(5).LogSize), 251.76},
		{"unbiased, 10", usual.Rows(Unbiased(10).LogSize), 7127.78},
		{"3-term DNF of 10", usual.Rows(KTermDNF(10, 3).LogSize), 359.54},
		{"2-CNF of 10", usual.Rows(KCNF(10, 2).LogSize), 1416.25},
		{"perceptron of two inputs (exercise 7.1)", Demand{0.05, 0.9}.RowsByVC(Perceptron(2).VC), 4196.49},
		{"integer rectangles (exercise 7.2a)", Demand{0.15, 0.95}.Rows(math.Log(25_502_500)), 133.67},
		{"rectangles (exercise 7.2b)", Demand{0.15, 0.95}.RowsByVC(Rectangles(2).VC), 1515.23},
		{"intervals (exercise 7.4)", usual.RowsByVC(Rectangles(1).VC), 1336.46},
		{"layered networks", usual.RowsByVC(Layered(2, 3).VC), 30829.18},
		{"depth-2 trees (exercise 7.7)", usual.Rows(DepthTwoTrees(10).LogSize), 102.68},
		{"relative error (exercise 7.3)", RowsRelative(Conjunctions(10).LogSize, 0.1, 0.5, 0.95), 2516.73},
	} {
		near(t, w.what, w.got, w.want, 0.005)
	}
	near(t, "layered VC", Layered(2, 3).VC, 54.4978, 5e-5)
	near(t, "not exhausted, 140", NotExhausted(Conjunctions(10).LogSize, 0.1, 140), 0.049101, 5e-7)
	near(t, "not exhausted, 139", NotExhausted(Conjunctions(10).LogSize, 0.1, 139), 0.054265, 5e-7)
	near(t, "Hoeffding", Hoeffding(100, 0.1), 0.1353353, 5e-8)
	above, below := Chernoff(100, 0.3, 0.5)
	near(t, "Chernoff above", above, 0.0820850, 5e-8)
	near(t, "Chernoff below", below, 0.0235177, 5e-8)
	for k, want := range map[float64]float64{0.1: 23.895, 0.25: 20.647, 0.5: 21.685, 0.75: 31.536, 0.9: 64.324} {
		near(t, "Weighted-Majority", Mistakes(5, 16, k), want, 5e-4)
	}
	near(t, "depth-2 trees as predictors", Mistakes(5, 1440, 0.5), 37.326, 5e-4)
	least, ok := Demand{0.05, 0.991}.RowsNeeded(3)
	near(t, "rows needed", least, 94.21, 0.005)
	if _, elsewhere := (Demand{0.2, 0.991}).RowsNeeded(3); !ok || elsewhere {
		t.Error("theorem 7.3 speaks of ε < 1/8 and δ < 1/100")
	}
	for n, want := range map[int]float64{5: 0.0849, 10: 0.1398, 20: 0.2497, 25: 0.3046, 88: 0.9967, 89: 1} {
		got, err := ErrorAfter(Conjunctions(n).LogSize, 0.95, 100)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "error after 100 rows (exercise 7.8)", got, want, 5e-5)
	}
	for _, c := range []struct {
		n, k int
		want float64
	}{{3, 2, 18}, {4, 2, 32}, {10, 2, 200}, {10, 3, 1160}} {
		near(t, "clauses", Clauses(c.n, c.k), c.want, 0)
	}
}

// concepts writes a class out from a test of which concept has which point.
func concepts(t *testing.T, points, hypotheses int, has func(h, p int) bool) *Concepts {
	t.Helper()
	var sets []uint64
	for h := range hypotheses {
		var set uint64
		for p := range points {
			if has(h, p) {
				set |= 1 << p
			}
		}
		sets = append(sets, set)
	}
	c, err := NewConcepts(points, sets)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// conjunctionsOf writes out the conjunctions over n Boolean columns: a digit
// of h in base 3 says what a column must be, 2 anything.
func conjunctionsOf(t *testing.T, n int) *Concepts {
	size := int(math.Pow(3, float64(n)))
	return concepts(t, 1<<n, size, func(h, p int) bool {
		for i := range n {
			if want := h % 3; want != 2 && want != p>>i&1 {
				return false
			}
			h /= 3
		}
		return true
	})
}

// The values of sections 7.G, 7.K and 7.L: VC ≤ Opt ≤ Halving ≤ log₂|C|.
func TestSmallClasses(t *testing.T) {
	thresholds := func(points int) *Concepts {
		return concepts(t, points, points+1, func(h, p int) bool { return p >= h })
	}
	intervals := concepts(t, 5, 36, func(h, p int) bool { return h/6 <= p && p < h%6 })
	for _, w := range []struct {
		what                       string
		class                      *Concepts
		size, vc, optimal, halving int
	}{
		{"all sets of 3 points", concepts(t, 3, 8, func(h, p int) bool { return h>>p&1 == 1 }), 8, 3, 3, 3},
		{"thresholds on 7 points", thresholds(7), 8, 1, 3, 3},
		{"thresholds on 6 points", thresholds(6), 7, 1, 2, 2},
		{"single points of 7", concepts(t, 7, 7, func(h, p int) bool { return h == p }), 7, 1, 1, 1},
		{"intervals on 5 points", intervals, 16, 2, 3, 4},
		{"conjunctions of 1", conjunctionsOf(t, 1), 3, 1, 1, 1},
		{"conjunctions of 2", conjunctionsOf(t, 2), 9, 2, 3, 3},
	} {
		vc, shattered := w.class.VC()
		if w.class.Size() != w.size || vc != w.vc || w.class.Optimal() != w.optimal || w.class.Halving() != w.halving {
			t.Errorf("%s: %d concepts, VC %d, optimal %d, Halving %d; want %d, %d, %d, %d", w.what,
				w.class.Size(), vc, w.class.Optimal(), w.class.Halving(), w.size, w.vc, w.optimal, w.halving)
		}
		if !w.class.Shatters(shattered) {
			t.Errorf("%s: %b is not shattered", w.what, shattered)
		}
	}
	for n := 3; n <= 4; n++ {
		if vc, _ := conjunctionsOf(t, n).VC(); vc != n {
			t.Errorf("conjunctions of %d have VC %d", n, vc)
		}
	}
	rectangles := concepts(t, 16, 256, func(h, p int) bool {
		a, b, c, d := h>>6&3, h>>4&3, h>>2&3, h&3
		return a <= p%4 && p%4 <= b && c <= p/4 && p/4 <= d
	})
	if vc, _ := rectangles.VC(); rectangles.Size() != 101 || vc != 4 {
		t.Errorf("rectangles on a grid: %d with VC %d, want 101 with 4", rectangles.Size(), vc)
	}
}

// Random classes keep the order of the bounds.
func TestBoundsAreInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		points := 1 + random.IntN(6)
		sets := make([]uint64, 1+random.IntN(14))
		for i := range sets {
			sets[i] = random.Uint64N(1 << points)
		}
		c, err := NewConcepts(points, sets)
		if err != nil {
			t.Fatal(err)
		}
		vc, _ := c.VC()
		if o, h := c.Optimal(), c.Halving(); vc > o || o > h || float64(h) > math.Log2(float64(c.Size())) {
			t.Fatalf("%b: VC %d, optimal %d, Halving %d, %d concepts", c.sets, vc, o, h, c.Size())
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, d := range []Demand{{0, 0.95}, {1, 0.95}, {0.1, 0}, {0.1, 1}, {math.NaN(), 0.5}, {-1, 0.5}, {0.1, 95}} {
		if d.Check() == nil {
			t.Errorf("%v is accepted", d)
		}
	}
	for _, text := range []string{"", "conjunction:n=3", "conjunctions", "conjunctions:n=0", "conjunctions:n=x", "kcnf:n=3", "layered:r=2,s=1", "rectangles:q=1", "conjunctions:n=99999999"} {
		if _, err := ParseClass(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if c, err := ParseClass("kcnf:n=10,k=2"); err != nil || c != KCNF(10, 2) {
		t.Errorf("kcnf:n=10,k=2 is %v, %v", c, err)
	}
}

func BenchmarkOptimal(b *testing.B) {
	sets := make([]uint64, 0, 136)
	for from := range uint64(16) {
		for to := from; to < 16; to++ {
			sets = append(sets, 1<<to-1<<from)
		}
	}
	c, err := NewConcepts(16, sets)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Optimal()
	}
}
