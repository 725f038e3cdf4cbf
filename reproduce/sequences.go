package reproduce

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/markov"
	"github.com/accrete-ml/accrete/table"
)

// The weather by ice cream cones, as in later drafts of the third edition of
// Jurafsky & Martin, and the occasionally dishonest casino of Durbin et al.
var (
	iceCream = markov.Given{
		States: []string{"hot", "cold"}, Symbols: []string{"1", "2", "3"}, Start: []float64{.8, .2},
		To: [][]float64{{.6, .4}, {.5, .5}}, Shows: [][]float64{{.2, .4, .4}, {.5, .4, .1}},
	}
	dishonest = markov.Given{
		States: []string{"fair", "loaded"}, Symbols: []string{"1", "2", "3", "4", "5", "6"}, Start: []float64{.5, .5},
		To: [][]float64{{.95, .05}, {.1, .9}}, Shows: [][]float64{{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}, {.1, .1, .1, .1, .1, .5}},
	}
)

// sequences are figures of hidden Markov models, which section 6.12 names among
// the users of EM.
func sequences() []Experiment {
	tags := []string{"ch06", "rabiner"}
	forward := func(state int) Runner {
		return Fixed(func(ctx context.Context) (float64, error) { return forwardCones(ctx, state) })
	}
	casino := func(what func(*found) float64) Runner {
		return OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			f, err := findCasino(ctx, seed)
			if err != nil {
				return 0, err
			}
			return what(f), nil
		})
	}
	const drawn = "Durbin et al. 1998, section 3.2, rolls drawn anew"
	return []Experiment{
		{Name: "markov-cones-hot", Tags: tags, Source: "Jurafsky & Martin, third edition, hidden Markov models", Measure: "P(3 cones, then 1, on a hot day)", Figure: printed(.0404).digits(4), Seeds: 1, Run: forward(0)},
		{Name: "markov-cones-cold", Tags: tags, Source: "Jurafsky & Martin, third edition, hidden Markov models", Measure: "P(3 cones, then 1, on a cold day)", Figure: printed(.069).digits(3), Seeds: 1, Run: forward(1)},
		{Name: "markov-four", Tags: tags, Source: "Rabiner 1989, section III.A", Measure: "P(the symbols 0 1 0 0) of two states", Figure: reference(.0704115).digits(7), Seeds: 1, Run: Fixed(fourSymbols(0))},
		{Name: "markov-four-second", Tags: tags, Source: "Rabiner 1989, section III.B", Measure: "P(the first state at the second symbol), from both sides", Figure: reference(.2698920).digits(7), Seeds: 1, Run: Fixed(fourSymbols(2))},
		{Name: "markov-casino-fair", Tags: tags, Source: drawn, Measure: "P(fair stays fair), by Baum–Welch from 10,000 rolls", Figure: reference(.95), Seeds: 3, Run: casino(func(f *found) float64 { return f.fair })},
		{Name: "markov-casino-loaded", Tags: tags, Source: drawn, Measure: "P(loaded stays loaded), by Baum–Welch from 10,000 rolls", Figure: reference(.9), Seeds: 3, Run: casino(func(f *found) float64 { return f.loaded })},
		{Name: "markov-casino-six", Tags: tags, Source: drawn, Measure: "P(6 of the loaded die), by Baum–Welch from 10,000 rolls", Figure: reference(.5), Seeds: 3, Run: casino(func(f *found) float64 { return f.six })},
	}
}

// forwardCones is the probability of 3 and 1 cones and a state on the second day.
func forwardCones(ctx context.Context, state int) (float64, error) {
	m, err := iceCream.Model("posterior")
	if err != nil {
		return 0, err
	}
	rows, err := rolled(m.Schema(), []int32{2, 0}, 1)
	if err != nil {
		return 0, err
	}
	p, logs := make([]float64, 4), make([]float64, 2)
	if err := m.Decode(ctx, rows, p); err != nil {
		return 0, err
	}
	if err := m.LogDensity(ctx, rows, logs); err != nil {
		return 0, err
	}
	return math.Exp(logs[0]+logs[1]) * p[2+state], nil
}

// fourSymbols returns the probability of four symbols or, from 1 on, that of the first
// state at each.
func fourSymbols(at int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		m, err := (&markov.Given{
			States: []string{"0", "1"}, Symbols: []string{"0", "1"}, Start: []float64{.6, .4},
			To: [][]float64{{.7, .3}, {.4, .6}}, Shows: [][]float64{{.9, .1}, {.2, .8}},
		}).Model("posterior")
		if err != nil {
			return 0, err
		}
		rows, err := rolled(m.Schema(), []int32{0, 1, 0, 0}, 1)
		if err != nil {
			return 0, err
		}
		p, logs := make([]float64, 8), make([]float64, 4)
		if err := m.Decode(ctx, rows, p); err != nil {
			return 0, err
		}
		if at > 0 {
			return p[2*(at-1)], nil
		}
		if err := m.LogDensity(ctx, rows, logs); err != nil {
			return 0, err
		}
		return math.Exp(logs[0] + logs[1] + logs[2] + logs[3]), nil
	}
}

// rolled returns sequences of a symbol, of the same length each.
func rolled(schema *table.Schema, codes []int32, sequences int) (*table.Table, error) {
	columns := []table.Column{{Codes: codes}}
	number, names := make([]int32, len(codes)), make([]string, sequences)
	none := make([]int32, len(codes))
	for i := range codes {
		none[i] = table.Missing
		number[i] = int32(i * sequences / len(codes))
	}
	if len(schema.Attributes) > 1 {
		columns = append(columns, table.Column{Codes: none})
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		return nil, err
	}
	return rows.InSequence("sequence", number, names)
}

// found is what Baum–Welch finds of the casino.
type found struct{ fair, loaded, six float64 }

// findCasino draws ten games of 1,000 rolls and finds two states in them.
func findCasino(ctx context.Context, seed uint64) (*found, error) {
	casino, err := dishonest.Model("posterior")
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1998))
	var rolls []int32
	for range 10 {
		_, shown := casino.Sample(random, 1000)
		rolls = append(rolls, shown[0]...)
	}
	rows, err := rolled(&table.Schema{Attributes: casino.Schema().Attributes[:1]}, rolls, 10)
	if err != nil {
		return nil, err
	}
	l, err := learn.New(markov.Name, map[string]string{"states": "2", "restarts": "5"})
	if err != nil {
		return nil, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: rows, NoTarget: true, Seed: seed})
	if err != nil {
		return nil, err
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		return nil, err
	}
	// The start, the moves of two states, and what they show; loaded is the one
	// with more sixes.
	share := func(rule, value int) float64 { return base.Rules[rule].Then.Classes[value].P }
	loaded := 0
	if share(4, 5) > share(3, 5) {
		loaded = 1
	}
	return &found{fair: share(2-loaded, 1-loaded), loaded: share(1+loaded, loaded), six: share(3+loaded, 5)}, nil
}
