package concept

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FIND-S with branches finds the S of the written-out space: of the four days
// (exercise 2.3), and of any rows.
func TestBranchesAreTheBoundaryS(t *testing.T) {
	b, cause, err := newBranches(context.Background(), enjoySport, 2, 1000, days)
	if err != nil || cause >= 0 || len(b.members) != 1 || write(enjoySport, b.members[0]...) != "001011 00?000" {
		t.Fatalf("%v, cause %d, %v", b, cause, err)
	}
	random := rand.New(rand.NewPCG(9, 9))
	l := flat(3, 2, 2)
	rows, err := l.instances()
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for trial := range 150 {
		var examples []example
		for range 2 + random.IntN(6) {
			examples = append(examples, example{x: rows[random.IntN(len(rows))], positive: random.IntN(3) > 0, weight: 1})
		}
		v, err := list(context.Background(), l, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range examples {
			v.eliminate(d, 1)
		}
		v.consistent(0)
		b, cause, err := newBranches(context.Background(), l, 2, 1000, examples)
		if err != nil || (cause >= 0) != (len(v.members) == 0) {
			t.Fatalf("trial %d: cause %d, %d members, %v", trial, cause, len(v.members), err)
		}
		if cause >= 0 {
			continue
		}
		extents := func(all []hypothesis) []string {
			var keys []string
			for _, h := range all {
				extent := make([]uint64, 1)
				for i, x := range rows {
					if l.satisfies(h, x) {
						extent[0] |= 1 << i
					}
				}
				keys = append(keys, keyOf(extent))
			}
			slices.Sort(keys)
			return slices.Compact(keys)
		}
		want, got := extents(v.boundary(false)), extents(b.members)
		for _, k := range want {
			if !slices.Contains(got, k) {
				t.Fatalf("trial %d: a member of S is not among %d branches", trial, len(got))
			}
		}
		if len(want) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no space had several most specific hypotheses")
	}
	if _, _, err := newBranches(context.Background(), flat(9, 9, 9), 3, 1, many(9)); err == nil || !strings.Contains(err.Error(), "more than 1 branches") {
		t.Errorf("too many branches: %v", err)
	}
}

// many returns n rows that have nothing in common.
func many(n int) []example {
	var all []example
	for i := range n {
		v := value{code: int32(i)}
		all = append(all, example{x: []value{v, v, v}, positive: true, weight: 1})
	}
	return all
}

// Haussler's rows with near misses beside them: G, given up at 2^12 members, is
// one again, and answers are those of the rows (Smith & Rosenbloom 1990).
func TestNearMisses(t *testing.T) {
	const n = 12
	l := flat(slices.Repeat([]int{2}, 2*n)...)
	examples := []example{{x: make([]value, 2*n), positive: true, weight: 1}}
	for i := range n {
		far := example{x: make([]value, 2*n), weight: 1}
		far.x[2*i].code, far.x[2*i+1].code = 1, 1
		near := example{x: make([]value, 2*n), weight: 1}
		near.x[2*i].code = 1
		examples = append(examples, far, near)
	}
	m := &Model{settings: settings{Algorithm: "candidate", Space: "conjunctions", Most: 10}, language: l, examples: examples}
	if err := m.eliminate(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := m.space.(*bounded)
	if b.without || len(b.g) != 1 || strings.Count(write(l, b.g...), "0") != n || m.counter.total != math.Pow(2, n) {
		t.Errorf("without %v, G %s, %v members", b.without, write(l, b.g...), m.counter.total)
	}
	// On random rows the bound never keeps out what a member covers.
	random := rand.New(rand.NewPCG(1, 2))
	small := flat(3, 2, 3, 2)
	rows, err := small.instances()
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var some []example
		for range 1 + random.IntN(8) {
			some = append(some, example{x: rows[random.IntN(len(rows))], positive: random.IntN(3) > 0, weight: 1})
		}
		whole := start(small, 0)
		if at, _ := whole.eliminateAll(context.Background(), some); at >= 0 || whole.s == nil {
			continue
		}
		v := &bounded{boundaries: whole, negatives: negatives(some)}
		bound, all := v.upper()
		if slices.ContainsFunc(whole.g, func(g term) bool { return !small.moreGeneral(bound, g) }) || all && (len(whole.g) != 1 || !equal(whole.g[0], bound)) {
			t.Fatalf("bound %s (all %v), G %s", write(small, bound), all, write(small, whole.g...))
		}
	}
}

// EnjoySport's six hypotheses are three of sky and temperature times two of
// wind; a first pair of people (exercise 2.5) leaves eight factors of two.
func TestFactors(t *testing.T) {
	b := start(enjoySport, 0)
	if _, err := b.eliminateAll(context.Background(), days); err != nil {
		t.Fatal(err)
	}
	c := newCounter(enjoySport, b.s, negatives(days), 0)
	if sizes := c.sizes(); !slices.Equal(sizes, []float64{3, 2}) && !slices.Equal(sizes, []float64{2, 3}) || c.total != 6 {
		t.Errorf("factors %v of %v", sizes, c.total)
	}
	people := flat(2, 3, 3, 7, 2, 3, 3, 7)
	c = newCounter(people, people.generalise(nil, make([]value, 8)), nil, 0)
	if sizes := c.sizes(); !slices.Equal(sizes, slices.Repeat([]float64{2}, 8)) || c.total != 256 {
		t.Errorf("factors %v of %v", sizes, c.total)
	}
}

// Of two classes on a line the rows of each are told from the other's by a
// threshold; a name that no other class has makes a neighbour.
func TestDisjunctive(t *testing.T) {
	l := wholeNumbers(1, 0, 9)
	all := points("++--", 1, 2, 7, 8)
	for i := range all {
		if !all[i].positive {
			all[i].class = 1
		}
	}
	v := newDisjunctive(l, all, 2, 0, 1)
	for x, want := range map[float64][]float64{0: {2, 0}, 4: {2, 2}, 6: {2, 2}, 9: {0, 2}} {
		votes := make([]float64, 2)
		v.vote([]value{{number: x}}, votes)
		if !slices.Equal(votes, want) {
			t.Errorf("%v: votes %v, want %v", x, votes, want)
		}
	}
	// A wrong row amid the others has no neighbours left for the others to
	// have; with a third of the other rows excepted they are there again.
	wrong := append(slices.Clone(all), example{x: []value{{number: 1}}, class: 1, weight: 1})
	strict, lenient := newDisjunctive(l, wrong, 2, 0, 1), newDisjunctive(l, wrong, 2, 0.4, 1)
	a, b := make([]float64, 2), make([]float64, 2)
	strict.vote([]value{{number: 0}}, a)
	lenient.vote([]value{{number: 0}}, b)
	if a[0] != 0 || b[0] != 2 {
		t.Errorf("strict %v, lenient %v", a, b)
	}
}

// A space of many columns of many values is halved by its factors: rows with one
// or two cells changed leave half or a quarter, whatever is tried first.
func TestFactoredQuestion(t *testing.T) {
	l := flat(slices.Repeat([]int{2}, 30)...)
	m := &Model{settings: settings{Algorithm: "candidate", Space: "conjunctions", Most: 10}, language: l, columns: make([]int, 30)}
	first := example{x: make([]value, 30), positive: true, weight: 1}
	far := example{x: slices.Clone(first.x), weight: 1}
	for i := range 3 { // one of three columns is needed: seven of eight are left
		far.x[i].code = 1
	}
	m.examples = []example{first, far}
	if err := m.eliminate(context.Background()); err != nil {
		t.Fatal(err)
	}
	x := m.factoredRow(m.counter.total)
	yes, of := m.votes(x)
	if of != 7*math.Pow(2, 27) || math.Abs(yes/of-0.5) > 1e-12 {
		t.Errorf("%v of %v by %v", yes, of, x)
	}
}
