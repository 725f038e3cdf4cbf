package pac

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The worst rows for FIND-S over four columns: where everything is the
// concept, the first row leaves four of eight literals and each other drops
// one.
func TestFindSMistakes(t *testing.T) {
	f := NewFindS(4)
	if n := Run(f, []uint64{0, 1, 2, 4, 8}, func(uint64) bool { return true }); n != 5 || f.Literals() != 0 {
		t.Errorf("%d mistakes, %d literals left", n, f.Literals())
	}
	random := rand.New(rand.NewPCG(1, 7))
	for range 500 {
		set, unset := random.Uint64N(64), random.Uint64N(64)
		unset &^= set
		truth := func(x uint64) bool { return set&^x == 0 && unset&x == 0 }
		rows := make([]uint64, 60)
		for i := range rows {
			rows[i] = random.Uint64N(64)
		}
		if n := Run(NewFindS(6), rows, truth); n > 7 {
			t.Fatalf("%d mistakes over 6 columns", n)
		}
	}
}

// Weights, mistakes and the bound of section 7.M, row by row.
func TestWeightedMajorityTrace(t *testing.T) {
	m := NewMajority(5, 0.5)
	for i, row := range []struct {
		said    string
		truth   bool
		no, yes float64
		weights []float64
	}{
		{"11001", true, 2, 3, []float64{1, 1, .5, .5, 1}},
		{"10011", false, 1.5, 2.5, []float64{.5, 1, .5, .25, .5}},
		{"01110", true, 1, 1.75, []float64{.25, 1, .5, .25, .25}},
		{"10010", true, 1.75, .5, []float64{.25, .5, .25, .25, .125}},
		{"00110", false, .875, .5, []float64{.25, .5, .125, .125, .125}},
		{"11000", false, .375, .75, []float64{.125, .25, .125, .125, .125}},
	} {
		answers := make([]bool, 5)
		for j := range answers {
			answers[j] = row.said[j] == '1'
		}
		if no, yes := m.See(answers, row.truth); no != row.no || yes != row.yes || !slices.Equal(m.Weights, row.weights) {
			t.Errorf("row %d: %v against %v, weights %v", i+1, no, yes, m.Weights)
		}
	}
	if m.Mistakes != 3 || !slices.Equal(m.Of, []int{3, 2, 3, 3, 3}) {
		t.Errorf("%d mistakes, of the predictors %v", m.Mistakes, m.Of)
	}
	near(t, "bound", m.Bound(), 10.4133, 5e-5)
}

// Weighted-Majority keeps its bound on any answers, a tie counted as a mistake.
func TestWeightedMajorityBound(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 7))
	for range 500 {
		n := 1 + random.IntN(8)
		m := NewMajority(n, 0.05+0.9*random.Float64())
		answers := make([]bool, n)
		for range random.IntN(80) {
			for i := range answers {
				answers[i] = random.IntN(2) == 0
			}
			m.See(answers, random.IntN(2) == 0)
		}
		if float64(m.Mistakes) > m.Bound()+1e-9 {
			t.Fatalf("%d mistakes, bound %v, factor %v", m.Mistakes, m.Bound(), m.Beta)
		}
	}
}

// Halving never makes more mistakes than the game says at worst, nor more than
// the logarithm of the class's size; some sequence makes it make that many.
func TestHalvingKeepsItsBound(t *testing.T) {
	class := IntervalsOn(5)
	random := rand.New(rand.NewPCG(3, 7))
	most := 0
	for range 20_000 {
		truth := class.sets[random.IntN(len(class.sets))]
		rows := make([]uint64, 8)
		for i := range rows {
			rows[i] = random.Uint64N(5)
		}
		most = max(most, Run(NewHalved(class), rows, func(x uint64) bool { return truth>>x&1 == 1 }))
	}
	if worst := class.Halving(); most != worst || worst != 4 {
		t.Errorf("%d mistakes at most, %d by the game", most, worst)
	}
}

// (x1 and x2) or (x3 and x4) is (x1 or x3)(x1 or x4)(x2 or x3)(x2 or x4).
func TestCNF(t *testing.T) {
	clauses := CNF([][]int{{1, 2}, {3, 4}})
	if len(clauses) != 4 || !slices.Equal(clauses[0], []int{1, 3}) || !slices.Equal(clauses[3], []int{2, 4}) {
		t.Errorf("%v", clauses)
	}
	holds := func(l int, x uint64) bool { return (x>>(max(l, -l)-1)&1 == 1) == (l > 0) }
	random := rand.New(rand.NewPCG(4, 7))
	for range 200 {
		dnf := make([][]int, 1+random.IntN(3))
		for i := range dnf {
			for range 1 + random.IntN(3) {
				dnf[i] = append(dnf[i], (1+random.IntN(5))*(2*random.IntN(2)-1))
			}
		}
		cnf := CNF(dnf)
		for x := range uint64(32) {
			some := slices.ContainsFunc(dnf, func(term []int) bool {
				return !slices.ContainsFunc(term, func(l int) bool { return !holds(l, x) })
			})
			all := !slices.ContainsFunc(cnf, func(clause []int) bool {
				return !slices.ContainsFunc(clause, func(l int) bool { return holds(l, x) })
			})
			if some != all {
				t.Fatalf("%v is not %v at %05b", dnf, cnf, x)
			}
		}
	}
}

// What the book says of dimensions: three points in general position are
// shattered by lines, three on a line are not; the four intervals of 3.1 and
// 5.7; the middle of three numbers cannot be left out; with the empty concept
// the conjunctions over one column shatter both rows.
func TestShattering(t *testing.T) {
	lines := func(points ...[]float64) bool {
		return Shattered(len(points), func(positive uint64) bool { return ByHalfSpace(points, positive) })
	}
	if !lines([]float64{0, 0}, []float64{1, 0}, []float64{0, 1}) || lines([]float64{0, 0}, []float64{1, 1}, []float64{2, 2}) {
		t.Error("lines shatter three points unless they lie on one")
	}
	if lines([]float64{0, 0}, []float64{1, 0}, []float64{0, 1}, []float64{1, 1}) {
		t.Error("lines cannot do exclusive or")
	}
	if !Shattered(2, func(p uint64) bool { return ByInterval([]float64{3.1, 5.7}, p) }) || ByInterval([]float64{1, 2, 3}, 0b101) {
		t.Error("intervals shatter two numbers, not three")
	}
	if n := len(ConjunctionsOf(1).Sets()); n != 3 {
		t.Errorf("%d conjunctions over one column", n)
	}
	false1, err := NewConcepts(2, append(ConjunctionsOf(1).Sets(), 0))
	if err != nil {
		t.Fatal(err)
	}
	if vc, _ := false1.VC(); vc != 2 {
		t.Errorf("with the empty concept the dimension is %d", vc)
	}
	for n := 2; n <= 3; n++ {
		withFalse, err := NewConcepts(1<<n, append(ConjunctionsOf(n).Sets(), 0))
		if err != nil {
			t.Fatal(err)
		}
		if vc, _ := withFalse.VC(); vc != n {
			t.Errorf("with the empty concept, %d columns: %d", n, vc)
		}
	}
	// Keep only the second of 100, 010, 001 (columns are bits): not l1, not l3.
	if !ConjunctionsOf(3).Shatters(1<<1 | 1<<2 | 1<<4) {
		t.Error("the single bits are shattered")
	}
	if !ByTriangle(OnCircle(7), 0b0101010) || ByTriangle(OnCircle(8), 0b01010101) {
		t.Error("triangles cut three corners off")
	}
	if VC := Finite(973).VC; math.Abs(VC-math.Log2(973)) > 1e-12 {
		t.Errorf("a class of 973 has a dimension of at most %v", VC)
	}
}

// Half-spaces by elimination agree with the perceptron, which ends where they
// exist.
func TestHalfSpacesAgreeWithThePerceptron(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for range 200 {
		points := make([][]float64, 5)
		for i := range points {
			points[i] = []float64{math.Round(random.NormFloat64() * 4), math.Round(random.NormFloat64() * 4)}
		}
		labels := random.Uint64N(32)
		w := []float64{0, 0, 0}
		separated := false
		for round := 0; round < 20_000 && !separated; round++ {
			separated = true
			for i, p := range points {
				sign := 2*float64(labels>>i&1) - 1
				if sign*(w[0]*p[0]+w[1]*p[1]+w[2]) <= 0 {
					separated = false
					w[0], w[1], w[2] = w[0]+sign*p[0], w[1]+sign*p[1], w[2]+sign
				}
			}
		}
		if got := ByHalfSpace(points, labels); got != separated {
			t.Fatalf("%v %05b: %v, the perceptron says %v", points, labels, got, separated)
		}
	}
}

// Figures of exercises 7.4 and 7.6, and eq. 7.2 by (1 − ε)^m.
func TestBoxes(t *testing.T) {
	usual := Demand{0.1, 0.95}
	near(t, "intervals, directly", usual.BoxRows(1), 71.92, 0.005)
	near(t, "rectangles, directly", math.Ceil(Demand{0.15, 0.95}.BoxRows(2)), 115, 0)
	near(t, "intervals fail", BoxFails(1, 0.1, 100), 0.0118411, 5e-8)
	near(t, "intervals fail by the dimension", FailsByVC(2, 0.1, 2000)*1e7, 5.07, 0.005)
	if f := FailsByVC(2, 0.1, 100); f < 0.95e8 || f > 1.05e8 {
		t.Errorf("the dimension says nothing of 100 rows: %v", f)
	}
	for m, e := range map[float64]float64{50: .33564, 100: .17150, 200: .08669, 500: .03490, 1000: .01749} {
		near(t, "rectangle", BoxError(2, 0.95, m), e, 5e-6)
	}
	for m, e := range map[float64]float64{100: 1, 500: .37096, 1000: .21144, 2000: .11899, 5000: .05476} {
		near(t, "rectangle by the dimension", ErrorByVC(4, 0.95, m), e, 5e-6)
	}
	near(t, "conjunctions, exactly", usual.RowsExactly(Conjunctions(10).LogSize), 132.70, 0.005)
	for n, want := range map[int]float64{2: 32, 3: 96, 10: 1440} {
		near(t, "depth-2 trees", math.Exp(DepthTwoTrees(n).LogSize), want, 1e-9*want)
	}
	near(t, "needed by dimension 100", max(0, (100-1)/(32*0.05)), 61.875, 1e-9)
	second, _ := Demand{0.001, 0.991}.RowsNeeded(1000)
	near(t, "needed by the dimension", second, 999/0.032, 1e-6)
}

// The agnostic learner finds the concept that is least wrong.
func TestBest(t *testing.T) {
	set, errors := IntervalsOn(4).Best([]int{0, 1, 1, 2, 2, 3}, []bool{false, true, true, true, false, false})
	if set != 0b0010 || errors != 1 {
		t.Errorf("%04b with %d errors", set, errors)
	}
}
