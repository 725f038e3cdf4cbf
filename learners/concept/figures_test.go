package concept

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// hypothesisOf reads ⟨Sunny, ?, ?, Strong, ?, ?⟩.
func hypothesisOf(text string) term {
	h := enjoySport.top()
	for i, word := range strings.Fields(text) {
		if word != "?" {
			h[i] = constraint{node: day(strings.Repeat("x ", i) + word)[i].code}
		}
	}
	return h
}

// Figure 2.1: h2 is more general than h1 and than h3, which cannot be compared;
// x1 satisfies all three, x2 only h2.
func TestMoreGeneral(t *testing.T) {
	h1, h2, h3 := hypothesisOf("Sunny ? ? Strong ? ?"), hypothesisOf("Sunny ? ? ? ? ?"), hypothesisOf("Sunny ? ? ? Cool ?")
	x1, x2 := day("Sunny Warm High Strong Cool Same"), day("Sunny Warm High Light Warm Same")
	l := enjoySport
	if !l.moreGeneral(h2, h1) || !l.moreGeneral(h2, h3) || l.moreGeneral(h1, h2) || l.moreGeneral(h1, h3) || l.moreGeneral(h3, h1) {
		t.Error("the order of figure 2.1")
	}
	for i, h := range []term{h1, h2, h3} {
		if !l.covers(h, x1) || l.covers(h, x2) != (i == 1) {
			t.Errorf("h%d covers x1 %v, x2 %v", i+1, l.covers(h, x1), l.covers(h, x2))
		}
	}
	if !l.moreGeneral(h1, nil) || l.moreGeneral(nil, h1) || !l.moreGeneral(nil, nil) {
		t.Error("the empty concept is below all")
	}
}

// Table 2.3: h0 to h4.
func TestFindSTrace(t *testing.T) {
	var h term
	for i, want := range []string{"000000", "00?000", "00?000", "00?0??"} {
		if days[i].positive && !enjoySport.covers(h, days[i].x) {
			h = enjoySport.generalise(h, days[i].x)
		}
		if got := write(enjoySport, h); got != want {
			t.Errorf("h%d = %s, want %s", i+1, got, want)
		}
	}
}

// Exercise 2.1: with a column of three values more there are 288 days, 25,600
// ways to write a hypothesis and 3,889 hypotheses. The pairs of exercise 2.5:
// 15,876 and 147,457.
func TestSizes(t *testing.T) {
	schema := func(values ...int) *table.Schema {
		s := &table.Schema{}
		for i, k := range values {
			a := table.Attribute{Name: fmt.Sprint(i)}
			for v := range k {
				a.Values = append(a.Values, fmt.Sprint(v))
			}
			s.Attributes = append(s.Attributes, a)
		}
		return s
	}
	got, err := SizesOf(context.Background(), schema(3, 2, 2, 2, 2, 2, 3), -1, 1)
	if err != nil || got != (Sizes{288, 25600, 3889}) {
		t.Errorf("%+v, %v", got, err)
	}
	rows, concepts := 1, 1
	for _, k := range []int{2, 3, 3, 7, 2, 3, 3, 7} {
		rows, concepts = rows*k, concepts*(k+1)
	}
	if rows != 15_876 || concepts+1 != 147_457 {
		t.Errorf("%d pairs, %d hypotheses", rows, concepts+1)
	}
}

// trace eliminates examples one by one, and returns S, G and the size of the
// space after each.
func trace(t *testing.T, l *language, examples []example) []string {
	t.Helper()
	b := start(l, 0)
	var steps []string
	for i, d := range examples {
		if b.eliminate(d); b.collapsed() {
			return append(steps, "0")
		}
		size := math.NaN()
		if c := newCounter(l, b.s, negatives(examples[:i+1]), 0); c != nil {
			size = c.total
		}
		steps = append(steps, fmt.Sprintf("%s | %s | %v", write(l, b.s), write(l, b.g...), size))
	}
	return steps
}

// The biased space of section 2.7.1, the noise of section 2.6.1, and the pairs of
// people of exercise 2.5.
func TestTraces(t *testing.T) {
	biased := []example{
		{x: day("Sunny Warm Normal Strong Cool Change"), positive: true}, {x: day("Cloudy Warm Normal Strong Cool Change"), positive: true}, {x: day("Rainy Warm Normal Strong Cool Change")},
	}
	noisy := slices.Clone(days)
	noisy[1].positive = false
	people := flat(2, 3, 3, 7, 2, 3, 3, 7)
	var pairs []example
	for i, codes := range [][]int32{{0, 1, 0, 0, 1, 0, 2, 0}, {0, 1, 2, 1, 1, 0, 2, 0}, {1, 1, 0, 2, 1, 0, 2, 4}, {0, 1, 0, 3, 1, 1, 2, 3}} {
		d := example{positive: i != 2}
		for _, c := range codes {
			d.x = append(d.x, value{code: c})
		}
		pairs = append(pairs, d)
	}
	for name, w := range map[string]struct {
		l        *language
		examples []example
		want     []string
	}{
		"biased": {enjoySport, biased, []string{"000011 | ?????? | 64", "?00011 | ?????? | 32", "0"}},
		"noisy":  {enjoySport, noisy, []string{"000000 | ?????? | 64", "000000 | ??0??? | 32", "000000 | ??0??? | 32", "0"}},
		"pairs": {people, pairs, []string{
			"01001020 | ???????? | 256", "01??1020 | ???????? | 64", "01??1020 | 0??????? ???????0 | 48", "01??1?2? | 0??????? | 8"}},
	} {
		if got := trace(t, w.l, w.examples); !slices.Equal(got, w.want) {
			t.Errorf("%s: %q, want %q", name, got, w.want)
		}
	}
	// After a lone negative day G has seven members and 909 hypotheses are left.
	b := start(enjoySport, 0)
	b.eliminate(days[2])
	v, err := list(context.Background(), enjoySport, 1)
	if err != nil {
		t.Fatal(err)
	}
	v.eliminate(days[2], 1)
	if v.consistent(0); len(b.g) != 7 || len(v.members) != 909 {
		t.Errorf("G has %d members, %d are left", len(b.g), len(v.members))
	}
}

// Exercise 2.2: members of S and G summed over four days: 11 in the book's order,
// 12 backwards, 9 with the positive ones first, 20 at worst.
func TestOrders(t *testing.T) {
	for text, want := range map[string]int{"0123": 11, "3210": 12, "0132": 9, "2013": 20} {
		b, sum := start(enjoySport, 0), 0
		for _, at := range text {
			b.eliminate(days[at-'0'])
			sum += 1 + len(b.g)
		}
		if sum != want {
			t.Errorf("order %s: %d, want %d", text, sum, want)
		}
	}
}

// Exercise 2.5c: eight questions, each with one cell changed, find any of the 256
// hypotheses that a first pair leaves; that is log₂ 256.
func TestEightQuestions(t *testing.T) {
	people := flat(2, 3, 3, 7, 2, 3, 3, 7)
	first := make([]value, 8)
	random := rand.New(rand.NewPCG(2, 5))
	for range 40 {
		truth := people.generalise(nil, first)
		for i := range truth {
			if random.IntN(2) == 0 {
				truth[i] = people.columns[i].top()
			}
		}
		b := start(people, 0)
		b.eliminate(example{x: first, positive: true})
		for i := range first {
			x := slices.Clone(first)
			x[i].code++
			b.eliminate(example{x: x, positive: people.covers(truth, x)})
		}
		if !b.converged() || !equal(b.s, truth) {
			t.Fatalf("after eight questions S %s, G %s", write(people, b.s), write(people, b.g...))
		}
	}
}

// Exercise 2.4d: six points teach the rectangle 3 ≤ x ≤ 5, 2 ≤ y ≤ 9: two corners
// and a point just outside each side. Points inside S or outside of G divide
// nothing (2.4b).
func TestTeachingARectangle(t *testing.T) {
	l := wholeNumbers(2, 0, 12)
	b := start(l, 0)
	at, err := b.eliminateAll(context.Background(), points("++----", 3, 2, 5, 9, 2, 5, 6, 5, 4, 1, 4, 10))
	if err != nil || at >= 0 || !b.converged() || write(l, b.s) != "[3 5][2 9]" {
		t.Errorf("S %s, G %s", write(l, b.s), write(l, b.g...))
	}
	examples := points("+++-----", 4, 4, 5, 3, 6, 5, 1, 3, 2, 6, 5, 1, 5, 8, 9, 4)
	b = start(l, 0)
	if _, err := b.eliminateAll(context.Background(), examples); err != nil {
		t.Fatal(err)
	}
	c := newCounter(l, b.s, negatives(examples), 0)
	if inside, outside := c.count(c.places([]value{{number: 5}, {number: 4}})), c.count(c.places([]value{{number: 0}, {number: 0}})); inside != 42 || outside != 0 {
		t.Errorf("%v and %v of 42", inside, outside)
	}
}

// Exercise 2.7: closed intervals have S = [least, largest] of the positive ones.
func TestClosedIntervals(t *testing.T) {
	l := &language{columns: []column{numbersColumn([]float64{1.5, 2.25, 4.75, 9})}}
	b := start(l, 0)
	if at, err := b.eliminateAll(context.Background(), points("++-", 2.25, 4.75, 9)); at >= 0 || err != nil || write(l, b.s) != "[2.25 4.75]" {
		t.Errorf("S %s, %v", write(l, b.s), err)
	}
}

// Exercise 2.3, the disjunctions of two: G after four days by what they hold for.
func TestPairsG(t *testing.T) {
	v, err := list(context.Background(), enjoySport, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		v.eliminate(d, 1)
	}
	v.consistent(0)
	extent := func(h hypothesis) string {
		set := make([]uint64, len(v.extent[0]))
		for _, t := range h {
			for w, bits := range v.extentOf(t) {
				set[w] |= bits
			}
		}
		return keyOf(set)
	}
	var got, want []string
	for _, h := range v.boundary(true) {
		got = append(got, extent(h))
	}
	for _, pair := range []string{
		"Sunny ? ? ? ? ?|Cloudy ? ? ? ? ?", "? Warm ? ? ? ?|Cloudy Cold ? ? ? ?", "? Warm ? ? ? ?|Sunny Cold ? ? ? ?",
		"? Warm ? Strong ? ?|? ? ? Light ? ?", "Sunny ? ? Strong ? ?|? ? ? Light ? ?", "? Warm High ? ? ?|? ? Normal ? ? ?",
		"Sunny ? High ? ? ?|? ? Normal ? ? ?", "? Warm ? ? Warm ?|? ? ? ? Cool ?", "Sunny ? ? ? Warm ?|? ? ? ? Cool ?",
		"? ? ? ? Warm Same|? ? ? ? Cool ?", "? Warm ? ? ? Change|? ? ? ? ? Same", "Sunny ? ? ? ? Change|? ? ? ? ? Same",
	} {
		var h hypothesis
		for _, text := range strings.Split(pair, "|") {
			h = append(h, hypothesisOf(text))
		}
		want = append(want, extent(h))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("G has %d members, not the twelve expected", len(got))
	}
}

// Section 2.7.2, exercise 2.8: of all sets of rows, m examples leave 2^(|X|−m),
// and every row not seen gets half of the votes. 2^96 is the power set of days.
func TestUnbiasedLearner(t *testing.T) {
	const rows = 8
	seen := map[int]bool{1: true, 4: false, 6: true}
	left, votes := 0, make([]int, rows)
	for set := range 1 << rows {
		agrees := true
		for x, positive := range seen {
			agrees = agrees && (set>>x&1 == 1) == positive
		}
		if !agrees {
			continue
		}
		left++
		for x := range rows {
			votes[x] += set >> x & 1
		}
	}
	for x, n := range votes {
		if _, known := seen[x]; !known && 2*n != left {
			t.Errorf("row %d: %d of %d", x, n, left)
		}
	}
	if left != 1<<(rows-len(seen)) || fmt.Sprintf("%.0f", math.Exp2(96)) != "79228162514264337593543950336" {
		t.Errorf("%d are left", left)
	}
}

// Exercise 2.9: a disjunction of literals keeps those that are true in no
// negative row, and says where no disjunction agrees; it agrees whenever one does.
func TestDisjunctionOfLiterals(t *testing.T) {
	l := flat(2, 2, 2, 2)
	rows, err := l.instances()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 9))
	for range 200 {
		var examples []example
		for range 1 + random.IntN(8) {
			examples = append(examples, example{x: rows[random.IntN(len(rows))], positive: random.IntN(2) == 0, weight: 1})
		}
		c, cause, err := newClauses(context.Background(), l, 1, false, examples)
		if err != nil {
			t.Fatal(err)
		}
		some := false
		for set := range 1 << 8 { // all disjunctions of the eight literals
			h := &clauses{}
			for i := range 8 {
				if set>>i&1 == 1 {
					h.parts = append(h.parts, []literal{{column: i / 2, code: int32(i % 2)}})
				}
			}
			if !slices.ContainsFunc(examples, func(d example) bool { return h.boundary(d.x) != d.positive }) {
				some = true
				for _, x := range rows {
					if cause < 0 && h.boundary(x) && !c.boundary(x) {
						t.Fatal("a more general disjunction agrees")
					}
				}
			}
		}
		if some != (cause < 0) {
			t.Fatalf("a disjunction agrees: %v; found: %v", some, cause < 0)
		}
	}
}

// Exercise 2.10: expected positive days until q irrelevant binary columns are
// generalised, E[K] = Σ (1 − F(k)), F(k) = (1 − 2^(1−k))^q; six days are drawn
// for a positive one.
func TestFindSSampleSize(t *testing.T) {
	for q, want := range map[int]float64{0: 1, 1: 3, 2: 3.6667, 3: 4.142857, 4: 4.504762} {
		sum := 1.0 // k = 0: nothing is learnt yet
		for k := 1; k < 200; k++ {
			sum += 1 - math.Pow(1-math.Exp2(float64(1-k)), float64(q))
		}
		if math.Abs(sum-want) > 5e-5 {
			t.Errorf("q = %d: %v, want %v", q, sum, want)
		}
	}
	random := rand.New(rand.NewPCG(2, 10))
	days, truth := 0, hypothesisOf("Sunny Warm ? ? ? ?")
	const runs = 4000
	for range runs {
		for h := term(nil); !equal(h, truth); days++ {
			x := make([]value, 6)
			for i := range x {
				x[i].code = random.Int32N(int32(enjoySport.columns[i].values))
			}
			if enjoySport.covers(truth, x) && !enjoySport.covers(h, x) {
				h = enjoySport.generalise(h, x)
			}
		}
	}
	// A run's deviation is near 16, that of 4000 near 0.25; the figure's own
	// tolerance of 1 is four of them.
	if mean := float64(days) / runs; math.Abs(mean-27.03) > 1 {
		t.Errorf("%v days on average, want 27.03", mean)
	}
}

// Figure 2.3: the lattice's arrows. Positive and negative days decided (section
// 2.7.3): 8 and 32 by candidate elimination, 8 and 88 by FIND-S.
func TestLatticeAndLadder(t *testing.T) {
	schema := &table.Schema{}
	names := [][]string{{"Sunny", "Cloudy", "Rainy"}, {"Warm", "Cold"}, {"Normal", "High"}, {"Strong", "Light"}, {"Warm", "Cool"}, {"Same", "Change"}}
	columns := make([]table.Column, 7)
	for i, values := range names {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprint("c", i), Values: values})
		for _, d := range days {
			columns[i].Codes = append(columns[i].Codes, d.x[i].code)
		}
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "enjoy", Values: []string{"Yes", "No"}})
	columns[6].Codes = []int32{0, 0, 1, 0}
	four, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, want := range map[string][2]int{"candidate": {8, 32}, "find-s": {8, 88}} {
		learnt, err := (&Learner{Algorithm: algorithm, Domains: "c0=Sunny|Cloudy|Rainy;c1=Warm|Cold;c3=Strong|Light"}).Learn(context.Background(), learn.Task{Table: four, Target: "enjoy"})
		if err != nil {
			t.Fatal(err)
		}
		m := learnt.(*Model)
		rows, err := m.language.instances()
		if err != nil {
			t.Fatal(err)
		}
		var got [2]int
		for _, x := range rows {
			if p, decided := m.probability(x); decided && p == 1 {
				got[0]++
			} else if decided {
				got[1]++
			}
		}
		if len(rows) != 96 || got != want {
			t.Errorf("%s: %v of %d days, want %v", algorithm, got, len(rows), want)
		}
		if algorithm != "candidate" {
			continue
		}
		g, err := m.Graph()
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{}
		for _, n := range g.Nodes {
			name[n.ID] = strings.Join(n.Lines, " AND ")
		}
		var arrows []string
		for _, e := range g.Edges {
			arrows = append(arrows, name[e.From]+" > "+name[e.To])
		}
		slices.Sort(arrows)
		sky, warm, strong := "c0 = Sunny", "c1 = Warm", "c3 = Strong"
		all := sky + " AND " + warm + " AND " + strong
		expected := []string{
			sky + " > " + sky + " AND " + warm, sky + " > " + sky + " AND " + strong, warm + " > " + sky + " AND " + warm, warm + " > " + warm + " AND " + strong,
			sky + " AND " + warm + " > " + all, sky + " AND " + strong + " > " + all, warm + " AND " + strong + " > " + all,
		}
		slices.Sort(expected)
		if len(g.Nodes) != 6 || !slices.Equal(arrows, expected) {
			t.Errorf("%d hypotheses, arrows %q", len(g.Nodes), arrows)
		}
	}
}
