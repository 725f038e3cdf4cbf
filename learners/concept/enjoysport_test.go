package concept

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// flat returns a language of names without taxonomies, given how many each
// column has.
func flat(values ...int) *language {
	l := &language{}
	for _, k := range values {
		c := column{values: k, root: int32(k), known: -1, parent: make([]int32, k+1)}
		for i := range k {
			c.parent[i] = int32(k)
		}
		c.parent[k] = -1
		l.columns = append(l.columns, c)
	}
	return l
}

var enjoySport = flat(3, 2, 2, 2, 2, 2)

// day reads ⟨Sunny, Warm, Normal, Strong, Warm, Same⟩ by first letters.
func day(text string) []value {
	names := [][]string{{"Sunny", "Cloudy", "Rainy"}, {"Warm", "Cold"}, {"Normal", "High"}, {"Strong", "Light"}, {"Warm", "Cool"}, {"Same", "Change"}}
	var x []value
	for i, word := range strings.Fields(text) {
		x = append(x, value{code: int32(slices.Index(names[i], word))})
	}
	return x
}

// The four days of table 2.1.
var days = []example{
	{x: day("Sunny Warm Normal Strong Warm Same"), positive: true, weight: 1},
	{x: day("Sunny Warm High Strong Warm Same"), positive: true, weight: 1},
	{x: day("Rainy Cold High Strong Warm Change"), positive: false, weight: 1},
	{x: day("Sunny Warm High Strong Cool Change"), positive: true, weight: 1},
}

// write writes terms as the book does: ⟨Sunny, ?, …⟩ by codes.
func write(l *language, terms ...term) string {
	var all []string
	for _, t := range terms {
		text := ""
		for i, k := range t {
			switch c := &l.columns[i]; {
			case c.isTop(k):
				text += "?"
			case c.numeric:
				text += fmt.Sprintf("[%v %v]", k.low, k.high)
			default:
				text += fmt.Sprint(k.node)
			}
		}
		if t == nil {
			text = "∅"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// negatives returns the rows that are not the concept's.
func negatives(examples []example) [][]value {
	var all [][]value
	for _, d := range examples {
		if !d.positive {
			all = append(all, d.x)
		}
	}
	return all
}

// The trace of figures 2.4 to 2.7, and of exercise 2.2 backwards, with the
// sizes of the space.
func TestCandidateEliminationTrace(t *testing.T) {
	type step struct {
		s, g string
		size float64
	}
	for name, trace := range map[string]struct {
		order []int
		steps []step
	}{
		"forwards": {[]int{0, 1, 2, 3}, []step{
			{"000000", "??????", 64},
			{"00?000", "??????", 32},
			{"00?000", "0????? ?0???? ?????0", 28},
			{"00?0??", "0????? ?0????", 6},
		}},
		"backwards": {[]int{3, 2, 1, 0}, []step{
			{"001011", "??????", 64},
			{"001011", "0????? ?0???? ????1?", 56},
			{"0010??", "0????? ?0????", 12},
			{"00?0??", "0????? ?0????", 6},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(enjoySport, 0)
			var seen []example
			for i, want := range trace.steps {
				d := days[trace.order[i]]
				b.eliminate(d)
				seen = append(seen, d)
				size := newCounter(enjoySport, b.s, negatives(seen), 0).count(nil)
				if s, g := write(enjoySport, b.s), write(enjoySport, b.g...); s != want.s || g != want.g || size != want.size {
					t.Errorf("step %d: S %s, G %s, %v members; want %v", i+1, s, g, size, want)
				}
			}
		})
	}
}

// Sizes of LIST-THEN-ELIMINATE: 973, 64, 32, 28, 6; the six members.
func TestListThenEliminate(t *testing.T) {
	v, err := list(context.Background(), enjoySport, 1)
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{len(v.members)}
	for _, d := range days {
		v.eliminate(d, 1)
		v.consistent(0)
		sizes = append(sizes, len(v.members))
	}
	if !slices.Equal(sizes, []int{973, 64, 32, 28, 6}) || len(v.rows) != 96 {
		t.Errorf("sizes %v of %d rows", sizes, len(v.rows))
	}
	var members []term
	for _, h := range v.members {
		members = append(members, h[0])
	}
	if got := write(enjoySport, members...); got != "00?0?? 00???? 0??0?? 0????? ?0?0?? ?0????" {
		t.Errorf("members %s", got)
	}
}

// Table 2.6: votes 6, 0, 3 and 2 of 6, and over all 96 days.
func TestVotes(t *testing.T) {
	b := start(enjoySport, 0)
	for _, d := range days {
		b.eliminate(d)
	}
	c := newCounter(enjoySport, b.s, negatives(days), 0)
	for text, want := range map[string]float64{
		"Sunny Warm Normal Strong Cool Change": 6,
		"Rainy Cold Normal Light Warm Same":    0,
		"Sunny Warm Normal Light Warm Same":    3,
		"Sunny Cold Normal Strong Warm Same":   2,
	} {
		if got := c.count(c.places(day(text))); got != want {
			t.Errorf("%s: %v votes, want %v", text, got, want)
		}
	}
	rows, err := enjoySport.instances()
	if err != nil {
		t.Fatal(err)
	}
	tally := map[float64]int{}
	for _, x := range rows {
		tally[c.count(c.places(x))]++
	}
	if fmt.Sprint(tally) != "map[0:32 1:24 2:24 3:8 6:8]" {
		t.Errorf("votes over all days %v", tally)
	}
	drawn := map[string]int{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 6000 {
		drawn[write(enjoySport, c.draw(random))]++
	}
	// Each of six is drawn 1000 times on average, with a deviation of 29;
	// five of these are 144.
	for h, n := range drawn {
		if len(drawn) != 6 || n < 850 || n > 1150 {
			t.Errorf("%s was drawn %d times of 6000, of %d members", h, n, len(drawn))
		}
	}
}

// Pairwise disjunctions (exercise 2.3).
func TestPairsOfConjunctions(t *testing.T) {
	v, err := list(context.Background(), enjoySport, 2)
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{len(v.members)}
	var g []int
	for _, d := range days {
		v.eliminate(d, 1)
		v.consistent(0)
		sizes = append(sizes, len(v.members))
		g = append(g, len(v.boundary(true)))
	}
	if !slices.Equal(sizes, []int{409846, 47681, 23270, 20455, 4844}) || !slices.Equal(g, []int{1, 1, 15, 12}) {
		t.Errorf("sizes %v, of G %v", sizes, g)
	}
	s := v.boundary(false)
	if len(s) != 1 || write(enjoySport, s[0]...) != "001011 00?000" {
		t.Errorf("S = %v", s)
	}
}

// whole returns a language of whole numbers from low to high.
func wholeNumbers(columns, low, high int) *language {
	l := &language{}
	for range columns {
		c := column{numeric: true, whole: true}
		for x := low; x <= high; x++ {
			c.ends = append(c.ends, float64(x))
		}
		l.columns = append(l.columns, c)
	}
	return l
}

// Rectangles (exercise 2.4).
func TestRectangles(t *testing.T) {
	l := wholeNumbers(2, 0, 10)
	var examples []example
	point := func(x, y float64, positive bool) {
		examples = append(examples, example{x: []value{{number: x}, {number: y}}, positive: positive, weight: 1})
	}
	point(4, 4, true)
	point(5, 3, true)
	point(6, 5, true)
	point(1, 3, false)
	point(2, 6, false)
	point(5, 1, false)
	point(5, 8, false)
	point(9, 4, false)
	b := start(l, 0)
	if at, err := b.eliminateAll(context.Background(), examples); at >= 0 || err != nil {
		t.Fatal(at, err)
	}
	if s, g := write(l, b.s), write(l, b.g...); s != "[4 6][3 5]" || g != "[2 8][2 5] [3 8][2 7]" {
		t.Errorf("S %s, G %s", s, g)
	}
	c := newCounter(l, b.s, negatives(examples), 0)
	if n := c.count(nil); n != 42 {
		t.Errorf("%v members, want 42", n)
	}
	for x, want := range map[float64]float64{4: 21, 5: 21, 6: 21} {
		if n := c.count(c.places([]value{{number: x}, {number: 2}})); n != want {
			t.Errorf("(%v, 2) splits off %v of 42", x, n)
		}
	}
}

// A labelled row is a version space of its own: merging those of the four days
// gives the space of all (Hirsh 1990).
func TestMergingOfSpaces(t *testing.T) {
	merged := start(enjoySport, 0)
	for _, d := range days {
		one := start(enjoySport, 0)
		one.eliminate(d)
		merged = merge(merged, one)
	}
	if s, g := write(enjoySport, merged.s), write(enjoySport, merged.g...); s != "00?0??" || g != "0????? ?0????" {
		t.Errorf("S %s, G %s", s, g)
	}
}

// The boundaries have between them just what the list is left with
// (theorem 2.1), whatever the examples, and counting agrees.
func TestRepresentationTheorem(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 7))
	l := flat(3, 2, 3)
	for trial := range 300 {
		v, err := list(context.Background(), l, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := start(l, 0)
		all := slices.Clone(v.members)
		var examples []example
		for range 1 + random.IntN(5) {
			d := example{x: []value{{code: random.Int32N(3)}, {code: random.Int32N(2)}, {code: random.Int32N(3)}}, positive: random.IntN(2) == 0, weight: 1}
			examples = append(examples, d)
			b.eliminate(d)
			v.eliminate(d, 1)
		}
		v.consistent(0)
		between := 0
		for _, h := range all {
			var one term
			if len(h) > 0 {
				one = h[0]
			}
			if !b.collapsed() && l.moreGeneral(one, b.s) && slices.ContainsFunc(b.g, func(g term) bool { return l.moreGeneral(g, one) }) {
				between++
			}
		}
		if between != len(v.members) {
			t.Fatalf("trial %d: %d between the boundaries, %d left of the list, examples %v", trial, between, len(v.members), examples)
		}
		if c := newCounter(l, b.s, negatives(examples), 0); c != nil && !b.collapsed() && c.count(nil) != float64(len(v.members)) {
			t.Fatalf("trial %d: counted %v, left %d", trial, c.count(nil), len(v.members))
		}
	}
}
