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
