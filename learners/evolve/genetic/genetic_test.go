package genetic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Table 9.2, with the mask rule of the text; of two points the table has the
// offspring in the other order.
func TestMaskOperators(t *testing.T) {
	a, b := BitsOf("11101001000"), BitsOf("00001010101")
	for _, w := range []struct{ mask, first, second string }{
		{SinglePointMask(11, 5).String(), "11101010101", "00001001000"},
		{TwoPointMask(11, 2, 5).String(), "00101000101", "11001011000"},
		{"10011010011", "10001000100", "01101011001"},
	} {
		c, d := CrossByMask(a, b, BitsOf(w.mask))
		if c.String() != w.first || d.String() != w.second {
			t.Errorf("mask %s gives %s and %s, want %s and %s", w.mask, c, d, w.first, w.second)
		}
	}
	if mask := SinglePointMask(11, 5).String(); mask != "11111000000" {
		t.Error(mask)
	}
	if mask := TwoPointMask(11, 2, 5).String(); mask != "00111110000" {
		t.Error(mask)
	}
	flipped := FlipOne(rand.New(rand.NewPCG(1, 1)), a)
	if Hamming(a, flipped) != 1 {
		t.Errorf("%s became %s", a, flipped)
	}
}

// Section 9.3: points after bits 1 and 8 of the first parent.
func TestVariableLengthCrossover(t *testing.T) {
	a, b := BitsOf("10 01 1 11 10 0"), BitsOf("01 11 0 10 01 0")
	legal := LegalPoints(len(b), 5, 1, 8)
	if !slices.Equal(legal, [][2]int{{1, 3}, {1, 8}, {6, 8}}) {
		t.Errorf("legal points %v", legal)
	}
	for i, want := range [][2]string{
		{"11100", "000111111010010"}, {"1111010000", "0001111110"}, {"10000", "011101001111110"},
	} {
		c, d := SwapBetween(a, b, 1, 8, legal[i][0], legal[i][1])
		if c.String() != want[0] || d.String() != want[1] {
			t.Errorf("points %v give %s and %s, want %v", legal[i], c, d, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		length := rapid.IntRange(1, 9).Draw(r, "length")
		a, b := RandomBits(random, length*rapid.IntRange(1, 5).Draw(r, "a")), RandomBits(random, length*rapid.IntRange(1, 5).Draw(r, "b"))
		c, d := CrossRules(random, a, b, length, 6)
		if len(c)+len(d) != len(a)+len(b) || len(c)%length != 0 || len(c) == 0 || len(d) == 0 || len(c) > 6*length || len(d) > 6*length {
			r.Errorf("%v × %v gave %v and %v", a, b, c, d)
		}
	})
}

// Fitness 1 to 4 (section 9.2.3); tournaments draw with replacement.
func TestSelection(t *testing.T) {
	fitness := []float64{1, 2, 3, 4}
	for _, w := range []struct {
		s    Selection
		want []float64
	}{
		{Selection{}, []float64{.1, .2, .3, .4}},
		{Selection{Method: Rank}, []float64{.1, .2, .3, .4}},
		{Selection{Method: Tournament, Fitter: .8}, []float64{.1375, .2125, .2875, .3625}},
		{Selection{Method: Tournament}, []float64{.0625, .1875, .3125, .4375}},
	} {
		p := w.s.Probabilities(fitness)
		counts := make([]float64, 4)
		choose, r := w.s.chooser(fitness), rand.New(rand.NewPCG(3, 4))
		const draws = 40_000
		for range draws {
			counts[choose(r)]++
		}
		for i := range p {
			near(t, fmt.Sprintf("%+v: probability %d", w.s, i), p[i], w.want[i], 1e-12)
			near(t, fmt.Sprintf("%+v: share %d", w.s, i), counts[i]/draws, p[i], 5*math.Sqrt(p[i]*(1-p[i])/draws)) // five standard errors
		}
	}
	for i, p := range (Selection{}).Probabilities([]float64{0, 0}) {
		near(t, fmt.Sprint(i), p, .5, 0) // nothing is fit: uniform
	}
}

// The population of the worked example and its schemas (section 9.4.1).
func TestSchemaTheorem(t *testing.T) {
	p := &Population[Bits]{
		Members: []Bits{BitsOf("01101"), BitsOf("11000"), BitsOf("01000"), BitsOf("10011")},
		Fitness: []float64{169, 576, 64, 361},
	}
	near(t, "mean fitness", p.Mean(), 292.5, 1e-12)
	for i, want := range []float64{.144444, .492308, .054701, .308547} {
		near(t, fmt.Sprint("roulette ", i), (Selection{}).Probabilities(p.Fitness)[i], want, 5e-7)
	}
	for _, w := range []struct {
		s                 Schema
		m, u, expected    float64
		order, span       int
		bound, allCrossed float64
	}{
		{"1****", 2, 468.5, 3.203419, 1, 0, 3.200215, 3.200215},
		{"*10**", 2, 320, 2.188034, 2, 1, 1.856111, 1.637745},
		{"1***0", 1, 576, 1.969231, 2, 4, 0.786118, 0},
		{"0*1*1", 1, 169, 0.577778, 3, 4, 0.230418, 0},
		{"*****", 4, 292.5, 4, 0, 0, 4, 4},
	} {
		m, u := w.s.Count(p)
		if m != w.m || u != w.u || w.s.Order() != w.order || w.s.Span() != w.span {
			t.Errorf("%s: m %v, u %v, o %d, d %d", w.s, m, u, w.s.Order(), w.s.Span())
		}
		near(t, string(w.s)+" expected", w.s.Expected(p), w.expected, 5e-7)
		near(t, string(w.s)+" bound", w.s.Bound(p, .6, .001), w.bound, 5e-7)
		near(t, string(w.s)+" bound, all crossed", w.s.Bound(p, 1, .001), w.allCrossed, 5e-7)
	}
	if s := Schema("0*10"); !s.Matches(BitsOf("0010")) || !s.Matches(BitsOf("0110")) || s.Matches(BitsOf("1110")) || s.Order() != 3 || s.Span() != 3 {
		t.Error("0*10")
	}
}

// ones is a species whose fitness counts ones.
func ones(length int) Species[Bits] {
	return Species[Bits]{
		Random:  func(r *rand.Rand) Bits { return RandomBits(r, length) },
		Fitness: func(b Bits) float64 { return float64(length) - Hamming(b, slices.Repeat(Bits{1}, length)) },
		Cross:   SinglePoint, Mutate: FlipOne, Distance: Hamming,
	}
}

func TestGAOfTable91(t *testing.T) {
	ga := &GA[Bits]{Species: ones(30), Size: 100, Replaced: .6, Mutation: .2, Threshold: 30, Generations: 200, Selection: Selection{Method: Tournament}}
	for _, niche := range []Niche{{}, {Sharing: 3}, {Mating: 3}, {Crowding: true}, {Grid: 10}} {
		ga.Niche = niche
		ga.Species.Fitness = ones(30).Fitness
		r, err := ga.Evolve(context.Background(), 1)
		if err != nil || r.Fitness < 29 {
			t.Errorf("%+v: %v after %d generations (%v)", niche, r.Fitness, r.Generations, err)
		}
	}
}

func TestIslandsDependOnTheSeedAlone(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	ga := &GA[Bits]{Species: ones(40), Size: 20, Replaced: .6, Mutation: .1, Generations: 30, Islands: Islands{Count: 4, Every: 5}}
	var first string
	for _, n := range []int{1, 4} {
		runtime.GOMAXPROCS(n)
		r, err := ga.Evolve(context.Background(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = r.Best.String()
		}
		if r.Best.String() != first || r.Generations != 30 {
			t.Errorf("%s after %d generations, want %s", r.Best, r.Generations, first)
		}
	}
}

// Evolution that is stopped gives the best so far.
func TestStoppedKeepsTheBest(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ga := &GA[Bits]{Species: ones(200), Size: 20, Replaced: .6, Mutation: .1, Generations: 1000}
	seen := 0.0
	ga.Watch = func(generation int, p *Population[Bits]) {
		seen = max(seen, p.Fitness[p.Fittest()])
		if generation == 7 {
			cancel()
		}
	}
	r, err := ga.Evolve(ctx, 1)
	if !errors.Is(err, context.Canceled) || r == nil || r.Fitness != seen || r.Generations != 7 {
		t.Errorf("%+v (%v), want fitness %v", r, err, seen)
	}
	if _, err := (&GA[Bits]{Size: 3}).Evolve(ctx, 1); err == nil {
		t.Error("evolved without a species")
	}
}

func TestRivals(t *testing.T) {
	s := ones(20)
	r, err := Climb(context.Background(), &s, 3000, 300, 20, 1)
	if err != nil || r.Fitness != 20 {
		t.Errorf("climbing: %+v (%v)", r, err)
	}
	if r, err = Anneal(context.Background(), &s, 3000, 2, .05, 20, 1); err != nil || r.Fitness != 20 {
		t.Errorf("annealing: %+v (%v)", r, err)
	}
}

// Lamarck keeps what was learnt, Baldwin judges by it and inherits nothing.
func TestLearningInLife(t *testing.T) {
	s := ones(20)
	s.Learn = func(_ *rand.Rand, b Bits) Bits {
		c := slices.Clone(b)
		if i := slices.Index(c, 0); i >= 0 {
			c[i] = 1
		}
		return c
	}
	for _, lamarck := range []bool{true, false} {
		ga := &GA[Bits]{Species: s, Size: 2, Generations: 5, Lamarckian: lamarck, First: []Bits{make(Bits, 20), make(Bits, 20)}}
		r, err := ga.Evolve(context.Background(), 1)
		want := 1.0
		if lamarck {
			want = 6
		}
		if err != nil || r.Fitness != want {
			t.Errorf("Lamarckian %v: %v (%v), want %v", lamarck, r.Fitness, err, want)
		}
	}
}

func TestSharedFitness(t *testing.T) {
	all := []Bits{BitsOf("0000"), BitsOf("0000"), BitsOf("1111")}
	got := Shared(all, []float64{6, 6, 6}, 2, Hamming)
	if !slices.Equal(got, []float64{3, 3, 6}) {
		t.Errorf("%v", got)
	}
}
