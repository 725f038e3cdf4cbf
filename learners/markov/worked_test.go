package markov

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// given are the probabilities of a worked example.
type given struct {
	Name       string
	Start      map[string]float64
	Transition map[string]map[string]float64
	Emission   map[string]map[string]float64
	Worked     []struct {
		Observations string
		Log          float64   `json:"log_probability"`
		Path         string    `json:"viterbi_path"`
		Best         float64   `json:"viterbi_probability"`
		Hot          []float64 `json:"posterior_hot"`
	}
}

// model returns the model of given probabilities: as counts, of which m = 0 makes
// them again.
func (g *given) model(t testing.TB, states, symbols []string, s settings) *Model {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "symbol", Values: symbols}, {Name: "state", Values: states}}, Sequence: "sequence"}
	b := newBlock(learn.Source{ID: "given"}, schema, 1, &s)
	const rows = 1 << 20
	for i, from := range states {
		b.start[i], b.visits[i] = rows*g.Start[from], rows
		for k, to := range states {
			b.moves[i*len(states)+k] = rows * g.Transition[from][to]
		}
		for v, symbol := range symbols {
			b.columns[0].counts[v*len(states)+i] = rows * g.Emission[from][symbol]
		}
	}
	m, err := newModel(s, 1, []*block{b}, nil, &bundle.Shelf[*block]{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func settingsOf(t testing.TB, l *Learner) settings {
	t.Helper()
	s, err := l.settings()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func zeroM() *float64 { return new(float64) }

// rows returns one sequence of symbols in a model's schema.
func rows(t testing.TB, m *Model, symbols []string) *table.Table {
	t.Helper()
	codes, none, number := make([]int32, len(symbols)), make([]int32, len(symbols)), make([]int32, len(symbols))
	for i, s := range symbols {
		codes[i], none[i] = m.schema.Attributes[0].Code(s), table.Missing
	}
	rows, err := table.New(m.schema, []table.Column{{Codes: codes}, {Codes: none}}, nil)
	if err == nil {
		rows, err = rows.InSequence(m.schema.Sequence, number, []string{"1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// whole returns what a model says of a table's first sequence.
func whole(t testing.TB, m *Model, rows *table.Table) (of Whole) {
	t.Helper()
	err := m.Wholes(t.Context(), rows, func(from, to int, logLikelihood float64, path []int32, logProbability float64) {
		of = Whole{from, to, logLikelihood, path, logProbability}
	})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func near(x, y, tolerance float64) bool { return math.Abs(x-y) <= tolerance*max(1, math.Abs(y)) }

func readJSON(t testing.TB, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Ice cream and the weather (Eisner 2002; Jurafsky & Martin): probabilities, best
// paths and posteriors, as they were computed by plain sums over all paths.
func TestIceCream(t *testing.T) {
	var file struct{ Models []given }
	readJSON(t, "icecream.json", &file)
	for _, g := range file.Models {
		s := settingsOf(t, &Learner{M: zeroM(), Decode: "posterior"})
		m := g.model(t, []string{"cold", "hot"}, []string{"1", "2", "3"}, s)
		for _, w := range g.Worked {
			seen := rows(t, m, strings.Fields(w.Observations))
			of := whole(t, m, seen)
			var path []string
			for _, s := range of.Path {
				path = append(path, m.States()[s])
			}
			if !near(of.LogLikelihood, w.Log, 1e-11) || strings.Join(path, " ") != w.Path || !near(math.Exp(of.LogProbability), w.Best, 1e-11) {
				t.Errorf("%s, %s: %+v, want %+v", g.Name, w.Observations, of, w)
			}
			p := learn.NewPredictions(m, seen.Rows())
			if err := m.Predict(t.Context(), seen, p); err != nil {
				t.Fatal(err)
			}
			for i, want := range w.Hot {
				if !near(p.Row(i)[1], want, 1e-11) {
					t.Errorf("%s, %s: P(hot) of day %d is %v, want %v", g.Name, w.Observations, i+1, p.Row(i)[1], want)
				}
			}
		}
	}
}

// The occasionally dishonest casino (Durbin et al. 1998), 300 rolls, computed with
// exact fractions.
func TestCasino(t *testing.T) {
	var file struct {
		given
		First struct {
			Rolls string
			Log   float64 `json:"log_likelihood"`
			Best  float64 `json:"viterbi_log_probability"`
			Path  string  `json:"viterbi_path"`
			Fair  map[string]float64
			F     map[string]float64 `json:"posterior_fair"`
		} `json:"first_300_of_sequence_1"`
	}
	readJSON(t, "casino.json", &file)
	m := file.model(t, []string{"fair", "loaded"}, strings.Split("123456", ""), settingsOf(t, &Learner{M: zeroM(), Decode: "posterior"}))
	seen := rows(t, m, strings.Split(file.First.Rolls, ""))
	of := whole(t, m, seen)
	path := ""
	for _, s := range of.Path {
		path += string("FL"[s])
	}
	if !near(of.LogLikelihood, file.First.Log, 1e-11) || !near(of.LogProbability, file.First.Best, 1e-11) || path != file.First.Path {
		t.Errorf("%v %v %s, want %v %v %s", of.LogLikelihood, of.LogProbability, path, file.First.Log, file.First.Best, file.First.Path)
	}
	p := learn.NewPredictions(m, seen.Rows())
	if err := m.Predict(t.Context(), seen, p); err != nil {
		t.Fatal(err)
	}
	for at, want := range file.First.F {
		i := 0
		if _, err := fmt.Sscan(at, &i); err != nil || !near(p.Row(i - 1)[0], want, 1e-11) {
			t.Errorf("P(fair) of roll %s is %v, want %v", at, p.Row(i - 1)[0], want)
		}
	}
}

// One pass of Baum–Welch: A = (.7 .3; .4 .6), B = (.9 .1; .2 .8), π = (.6 .4),
// 0 1 0 0 seen; and the best path, 0 1 0 0 with .02939328.
func TestBaumWelchByHand(t *testing.T) {
	s := settingsOf(t, &Learner{M: zeroM(), States: ptr(2)})
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "symbol", Values: []string{"0", "1"}}}, Sequence: "sequence"}
	b := newBlock(learn.Source{}, schema, learn.NoTarget, &s)
	const n = 1 << 20
	b.start, b.visits, b.moves = []float64{.6 * n, .4 * n}, []float64{n, n}, []float64{.7 * n, .3 * n, .4 * n, .6 * n}
	b.columns[0].counts = []float64{.9 * n, .2 * n, .1 * n, .8 * n}
	seen, err := table.New(schema, []table.Column{{Codes: []int32{0, 1, 0, 0}}}, nil)
	if err == nil {
		seen, err = seen.InSequence("sequence", make([]int32, 4), []string{"1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	f := newSearch(&s, seen, b)
	e := estimate(&s, b)
	next, logLikelihood, err := f.expect(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	again := estimate(&s, scaled(next, n))
	_, after, err := f.expect(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	var r trellis
	r.room(4, 2)
	e.show(&reading{seen, make([][]int32, 1)}, 0, 4, r.logs)
	best := e.viterbi(&r)
	got := []float64{math.Exp(logLikelihood), next.start[0], next.start[1]}
	got = append(got, again.move...)
	for _, state := range []int{0, 1} {
		for _, symbol := range []int{0, 1} {
			got = append(got, math.Exp(again.columns[0].letters.logs[2+2*symbol+state]))
		}
	}
	got = append(got, math.Exp(after), math.Exp(best))
	want := []float64{.0704115, .8120534, .1879466, .6609799, .3390201, .6802403, .3197597, .9041456, .0958544, .3835395, .6164605, .1173838, .02939328}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 5.1e-8 {
			t.Errorf("figure %d is %v, want %v", i+1, got[i], want[i])
		}
	}
	if fmt.Sprint(r.path) != "[0 1 0 0]" {
		t.Error(r.path)
	}
}

func ptr(n int) *int { return &n }

// scaled returns a block's counts times a number: symbols seen once are unknown.
func scaled(b *block, by float64) *block {
	b = b.clone()
	for _, xs := range [][]float64{b.start, b.visits, b.moves, b.columns[0].counts} {
		for i := range xs {
			xs[i] *= by
		}
	}
	return b
}

// enumerated is what sums over all paths say.
type enumerated struct {
	likelihood, best float64
	posterior, most  [][]float64
}

// enumerate goes through all paths of a sequence.
func enumerate(e *estimates, logs []float64) enumerated {
	n := e.n
	length := len(logs) / n
	x := enumerated{}
	for range length {
		x.posterior, x.most = append(x.posterior, make([]float64, n)), append(x.most, make([]float64, n))
	}
	path := make([]int, length)
	for {
		p := 0.0
		for t, s := range path {
			if p += logs[t*n+s]; t == 0 {
				p += e.logStart[s]
			} else {
				p += e.logMove[path[t-1]*n+s]
			}
		}
		p = math.Exp(p)
		x.likelihood += p
		x.best = max(x.best, p)
		for t, s := range path {
			x.posterior[t][s] += p
			x.most[t][s] = max(x.most[t][s], p)
		}
		at := 0
		for ; at < length; at++ {
			if path[at]++; path[at] < n {
				break
			}
			path[at] = 0
		}
		if at == length {
			return x
		}
	}
}

// Forward, backward and Viterbi are the sums and the best of all paths, in plain
// numbers and in logarithms, also where some moves or symbols cannot be.
func TestTrellisEnumerates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, length := rapid.IntRange(1, 4).Draw(t, "states"), rapid.IntRange(1, 5).Draw(t, "length")
		e := &estimates{chain: newChain(n)}
		weight := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 1, 2, 5})
		fill := func(p, logs []float64) {
			total := 0.0
			for i := range p {
				p[i] = weight.Draw(t, "p")
				total += p[i]
			}
			for i := range p {
				if p[i] /= max(total, 1e-300); total == 0 {
					p[i] = 1 / float64(len(p))
				}
				logs[i] = logarithm(p[i])
			}
		}
		fill(e.start, e.logStart)
		for i := range n {
			fill(e.move[i*n:][:n], e.logMove[i*n:][:n])
		}
		var r trellis
		r.room(length, n)
		for i := range r.logs {
			r.logs[i] = rapid.SampledFrom([]float64{0, -0.5, -1, -3, -20, -400, 5}).Draw(t, "log")
		}
		x := enumerate(e, r.logs)
		if x.likelihood < 1e-200 {
			t.Skip("plain products of all paths are no reference below 1e-200")
		}
		logLikelihood, _ := e.forward(&r)
		if !near(logLikelihood, math.Log(x.likelihood), 1e-10) {
			t.Fatalf("log likelihood %v, want %v", logLikelihood, math.Log(x.likelihood))
		}
		check := func(what string, tolerance float64) {
			for k := range length {
				for s := range n {
					if got, want := r.ahead[k*n+s], x.posterior[k][s]/x.likelihood; math.Abs(got-want) > tolerance {
						t.Fatalf("%s: row %d, state %d: %v, want %v", what, k, s, got, want)
					}
				}
			}
		}
		e.posterior(&r)
		check("plain", 1e-10)
		e.blocked = true // has it done in logarithms
		e.posterior(&r)
		check("in logarithms", 1e-10)
		if best := e.viterbi(&r); !near(best, math.Log(x.best), 1e-10) {
			t.Fatalf("best path %v, want %v", best, math.Log(x.best))
		}
		e.best(&r)
		for k := range length {
			for s := range n {
				if got := math.Exp(r.ahead[k*n+s]); math.Abs(got-x.most[k][s]) > 1e-10*max(x.best, 1e-300)+1e-300 {
					t.Fatalf("best path through row %d, state %d: %v, want %v", k, s, got, x.most[k][s])
				}
			}
		}
	})
}

// A Markov chain has one state, of which there is nothing to say: its rules are what
// follows what, each as probable as the model has it.
func TestChainIsReadAsRules(t *testing.T) {
	rows := "walk,foot\n"
	for i := range 40 {
		rows += fmt.Sprintf("w%d,left\nw%d,right\nw%d,left\nw%d,%s\n", i, i, i, i, []string{"left", "right", "right", "right"}[i%4])
	}
	tab, _, err := table.Read(t.Context(), strings.NewReader(rows), table.Options{Name: "walks.csv", Sequence: "walk"})
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	learnt, err := (&Learner{Order: 2, M: &zero}).Learn(t.Context(), learn.Task{Table: tab, NoTarget: true})
	if err != nil {
		t.Fatal(err)
	}
	m := learnt.(*Model)
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range base.Rules {
		r := &base.Rules[i]
		text := ""
		for _, test := range r.If {
			text += test.Column + "=" + test.Value + " "
		}
		for _, s := range r.Then.Classes {
			text += fmt.Sprintf("%s %.4g ", s.Value, s.P)
		}
		got = append(got, fmt.Sprintf("%sof %v", text, *r.Evidence.Covered))
	}
	want := []string{
		"left 0.5625 right 0.4375 of 160",
		"foot before=none left 1 right 0 of 40",
		"foot before=left left 0.125 right 0.875 of 80",
		"foot before=right left 1 right 0 of 40",
		"foot before=left foot 2 before=none left 0 right 1 of 40",
		"foot before=left foot 2 before=right left 0.25 right 0.75 of 40",
		"foot before=right foot 2 before=left left 1 right 0 of 40",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := m.Size().Rules; n != len(want) {
		t.Errorf("%d rules are said to be, want %d", n, len(want))
	}
}
