package markov

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// casino is Durbin's occasionally dishonest casino.
func casino(t testing.TB) *Model {
	t.Helper()
	fair, loaded := make([]float64, 6), []float64{.1, .1, .1, .1, .1, .5}
	for i := range fair {
		fair[i] = 1. / 6
	}
	g := Given{States: []string{"fair", "loaded"}, Symbols: []string{"1", "2", "3", "4", "5", "6"}, Start: []float64{.5, .5}, To: [][]float64{{.95, .05}, {.1, .9}}, Shows: [][]float64{fair, loaded}}
	m, err := g.Model("posterior")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// games draws sequences of rolls.
func games(t testing.TB, m *Model, number, length int, seed uint64) *table.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	var rolls, of []int32
	var names []string
	for i := range number {
		_, shown := m.Sample(random, length)
		rolls = append(rolls, shown[0]...)
		names = append(names, string(rune('a'+i)))
		for range length {
			of = append(of, int32(i))
		}
	}
	rows, err := table.New(&table.Schema{Attributes: m.schema.Attributes[:1]}, []table.Column{{Codes: rolls}}, nil)
	if err == nil {
		rows, err = rows.InSequence("game", of, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Baum–Welch finds the casino's dice again. Of 12,000 rolls 8,000 are fair and 4,000
// loaded. If the states were known, the standard errors would be √(p(1−p)/n): .0024
// of a move from the fair die, .0047 from the loaded one, .0079 of a loaded six and
// .0042 of a fair one. They are not known and overlap: an error of three times that
// is assumed, and three of those are allowed.
func TestCasinoIsFoundAgain(t *testing.T) {
	rows := games(t, casino(t), 4, 3000, 7)
	m, err := (&Learner{States: ptr(2)}).Learn(t.Context(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := m.(*Model).estimate()
	for _, c := range []struct {
		what       string
		got, want  float64
		rollsOfDie float64
	}{
		{"fair stays", e.move[0], .95, 8000}, {"loaded stays", e.move[3], .9, 4000},
		{"a fair six", math.Exp(e.columns[0].letters.of(5)[0]), 1. / 6, 8000}, {"a loaded six", math.Exp(e.columns[0].letters.of(5)[1]), .5, 4000},
	} {
		if most := 9 * math.Sqrt(c.want*(1-c.want)/c.rollsOfDie); math.Abs(c.got-c.want) > most {
			t.Errorf("%s with %v, want %v ± %v", c.what, c.got, c.want, most)
		}
	}
}

// Two learn the casino's dice apart, the other also with its states numbered the
// other way round; merged, they know the dice as one that saw all rolls does, within
// the errors of TestCasinoIsFoundAgain.
func TestHiddenStatesAreMerged(t *testing.T) {
	found := func(id string, seed uint64) *Model {
		m, err := (&Learner{States: ptr(2), Restarts: 5}).Learn(t.Context(), learn.Task{Table: games(t, casino(t), 2, 3000, seed), NoTarget: true, Seed: 1, Source: learn.Source{ID: id}})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Model)
	}
	one, two := found("one", 7), found("two", 11)
	turned := two.blocks[0].clone()
	turned.reorder([]int{1, 0})
	other, err := newModel(two.settings, two.seed, []*block{turned}, nil, two.written)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Model{two, other} {
		both, err := one.Merge(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		e := both.(*Model).estimate()
		for what, x := range map[string][3]float64{
			"fair stays": {e.move[0], .95, 8000}, "loaded stays": {e.move[3], .9, 4000},
			"a fair six": {math.Exp(e.columns[0].letters.of(5)[0]), 1. / 6, 8000}, "a loaded six": {math.Exp(e.columns[0].letters.of(5)[1]), .5, 4000},
		} {
			if most := 9 * math.Sqrt(x[1]*(1-x[1])/x[2]); math.Abs(x[0]-x[1]) > most {
				t.Errorf("%s with %v, want %v ± %v", what, x[0], x[1], most)
			}
		}
	}
}

// The assignment is the best of all.
func TestAssignment(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 5; n++ {
		cost := make([][]float64, n)
		for i := range cost {
			cost[i] = make([]float64, n)
			for j := range cost[i] {
				cost[i][j] = random.NormFloat64()
			}
		}
		best, used := math.Inf(1), make([]bool, n)
		var try func(i int, sum float64)
		try = func(i int, sum float64) {
			if i == n {
				best = min(best, sum)
				return
			}
			for j := range n {
				if !used[j] {
					used[j] = true
					try(i+1, sum+cost[i][j])
					used[j] = false
				}
			}
		}
		try(0, 0)
		got := 0.0
		for i, j := range assignment(cost) {
			got += cost[i][j]
		}
		if math.Abs(got-best) > 1e-12 {
			t.Errorf("%d rows: %v, the best is %v", n, got, best)
		}
	}
}

// The likelihood never falls from pass to pass, as m = 0 has nothing besides it.
func TestLikelihoodRises(t *testing.T) {
	rows := games(t, casino(t), 3, 200, 3)
	s := settingsOf(t, &Learner{M: zeroM(), States: ptr(3)})
	like := newBlock(learn.Source{}, rows.Schema, learn.NoTarget, &s)
	f := newSearch(&s, rows, like)
	for seed := range uint64(5) {
		at, err := f.begin(f.counted(), rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		last := math.Inf(-1)
		for range 40 {
			next, logLikelihood, err := f.expect(t.Context(), estimate(&s, at))
			if err != nil {
				t.Fatal(err)
			}
			if logLikelihood < last-1e-9 {
				t.Fatalf("seed %d: from %v to %v", seed, last, logLikelihood)
			}
			at, last = next, logLikelihood
		}
	}
}

func FuzzDecode(f *testing.F) {
	m := casino(f)
	m.settings.Unknown = "shape"
	hidden, err := (&Learner{States: ptr(2), Iterations: 2, Restarts: 1}).Learn(f.Context(), learn.Task{Table: games(f, m, 1, 30, 1), NoTarget: true})
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range []learn.Model{m, hidden} {
		parts, err := m.Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parts[0].Data, parts[1].Data)
	}
	f.Fuzz(func(t *testing.T, settings, source []byte) {
		defer bounded.Start(t, len(settings)+len(source))()
		name := sourcesPart
		var many bundle.Packed
		if learn.Unmarshal(source, &many) == nil && len(many.Sources) > 0 {
			name += many.Sources[0].ID
		}
		m, err := decode([]learn.Part{{Name: settingsPart, Data: settings}, {Name: name, Data: source}})
		if err != nil {
			return
		}
		columns := make([]table.Column, len(m.Schema().Attributes))
		for j, a := range m.Schema().Attributes {
			if a.Kind == table.Nominal {
				columns[j].Codes = []int32{table.Unseen, min(0, int32(len(a.Values))-1)}
			} else {
				columns[j].Floats = []float64{1e300, 0}
			}
		}
		rows, err := table.New(m.Schema(), columns, nil)
		if err == nil && m.Schema().Sequence != "" {
			rows, err = rows.InSequence(m.Schema().Sequence, []int32{0, 0}, []string{"a"})
		}
		if err != nil {
			return
		}
		p := make([]float64, 2*len(m.(*Model).States()))
		if err := m.(*Model).Decode(t.Context(), rows, p); err != nil {
			t.Fatal(err)
		}
		for _, x := range p {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("a probability of %v", x)
			}
		}
	})
}

// One symbol of a long sequence, of 2 and of 20 states.
func benchmark(b *testing.B, states int, work func(m *Model, rows *table.Table, p []float64) error) {
	random := rand.New(rand.NewPCG(1, 1))
	g := Given{Symbols: []string{"a", "b", "c", "d"}}
	share := func(n int) []float64 {
		p := make([]float64, n)
		for i := range p {
			p[i] = random.Float64()
		}
		total := sum(p)
		for i := range p {
			p[i] /= total
		}
		return p
	}
	g.Start = share(states)
	for i := range states {
		g.States, g.To, g.Shows = append(g.States, string(rune('A'+i))), append(g.To, share(states)), append(g.Shows, share(4))
	}
	m, err := g.Model("posterior")
	if err != nil {
		b.Fatal(err)
	}
	_, shown := m.Sample(random, 1000)
	rows := rowsOf(b, m, shown[0])
	p := make([]float64, 1000*states)
	b.ReportAllocs()
	for b.Loop() {
		if err := work(m, rows, p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/symbol")
}

func rowsOf(t testing.TB, m *Model, codes []int32) *table.Table {
	none := make([]int32, len(codes))
	for i := range none {
		none[i] = table.Missing
	}
	rows, err := table.New(m.schema, []table.Column{{Codes: codes}, {Codes: none}}, nil)
	if err == nil {
		rows, err = rows.InSequence("sequence", make([]int32, len(codes)), []string{"1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func BenchmarkForwardBackward(b *testing.B) {
	for name, states := range map[string]int{"2": 2, "20": 20} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, states, func(m *Model, rows *table.Table, p []float64) error { return m.Decode(b.Context(), rows, p) })
		})
	}
}

func BenchmarkViterbi(b *testing.B) {
	for name, states := range map[string]int{"2": 2, "20": 20} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, states, func(m *Model, rows *table.Table, p []float64) error {
				return m.Wholes(b.Context(), rows, func(int, int, float64, []int32, float64) {})
			})
		})
	}
}
