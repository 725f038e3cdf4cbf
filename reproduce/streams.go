package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Streams that change, each row answered before it is learnt: SEA (Street and Kim
// 2001, A streaming ensemble algorithm, KDD) and STAGGER (Schlimmer and Granger
// 1986, Incremental learning from noisy data, Machine Learning 1). Rows are drawn as
// these describe. The figures beside are those of a Hoeffding tree (Domingos and
// Hulten 2000, Mining high-speed data streams, KDD) that learns row by row, and what
// the best of all answers would have.

// stream is rows in time's order.
type stream struct {
	name, source string
	schema       table.Schema
	rows, turn   int // rows, and after how many of them the concept changes
	draw         func(random *rand.Rand, concept int, columns []table.Column)
	hoeffding    float64
}

var streams = []stream{
	{
		name: "stagger", source: "Schlimmer and Granger 1986, section 3", rows: 30_000, turn: 10_000, hoeffding: 94.44, draw: drawStagger,
		schema: table.Schema{Attributes: []table.Attribute{
			{Name: "size", Values: []string{"large", "medium", "small"}}, {Name: "colour", Values: []string{"blue", "green", "red"}},
			{Name: "shape", Values: []string{"circle", "square", "triangle"}}, {Name: "class", Values: []string{"false", "true"}},
		}},
	},
	{
		name: "sea", source: "Street and Kim 2001, section 4", rows: 60_000, turn: 15_000, hoeffding: 84.23, draw: drawSEA,
		schema: table.Schema{Attributes: []table.Attribute{
			{Name: "x1", Kind: table.Numeric}, {Name: "x2", Kind: table.Numeric}, {Name: "x3", Kind: table.Numeric}, {Name: "class", Values: []string{"no", "yes"}},
		}},
	},
}

// drawStagger draws a row of three concepts: small and red; green or a circle;
// medium or large.
func drawStagger(random *rand.Rand, concept int, columns []table.Column) {
	size, colour, shape := random.Int32N(3), random.Int32N(3), random.Int32N(3)
	is := []bool{size == 2 && colour == 2, colour == 1 || shape == 0, size != 2}[concept]
	for i, code := range []int32{size, colour, shape, code(is)} {
		columns[i].Codes = append(columns[i].Codes, code)
	}
}

// drawSEA draws a row whose first two numbers add up to no more than a threshold,
// one time in ten the other way round.
func drawSEA(random *rand.Rand, concept int, columns []table.Column) {
	var x [3]float64
	for i := range x {
		x[i] = 10 * random.Float64()
		columns[i].Floats = append(columns[i].Floats, x[i])
	}
	is := x[0]+x[1] <= []float64{8, 9, 7, 9.5}[concept]
	columns[3].Codes = append(columns[3].Codes, code(is != (random.Float64() < 0.1)))
}

func code(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

func livingStreams() []Experiment {
	var experiments []Experiment
	for _, s := range streams {
		experiments = append(experiments, Experiment{
			Name: "streams-" + s.name, Tags: []string{"streams"}, Source: s.source + "; the figure: a Hoeffding tree, by an independent program",
			Measure: fmt.Sprintf("right answers in %%, %d rows, each answered before it is learnt, a hundred at a time: rulenet with update=living", s.rows),
			Figure:  reference(s.hoeffding).percent().digits(2).higher(), Seeds: 1,
			Run: OverSeeds(s.lived),
		})
	}
	return experiments
}

// lived answers each row, then learns it, and returns the share of right answers in
// per cent.
func (s *stream) lived(ctx context.Context, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 33))
	columns := make([]table.Column, len(s.schema.Attributes))
	for r := range s.rows {
		s.draw(random, r/s.turn, columns)
	}
	all, err := table.New(&s.schema, columns, nil)
	if err != nil {
		return 0, err
	}
	l, err := learn.New("rulenet", map[string]string{"update": "living", "reservoir": "4096"})
	if err != nil {
		return 0, err
	}
	const chunk = 100
	m, err := l.Learn(ctx, learn.Task{Table: all.Slice(0, chunk), Target: "class", Seed: seed})
	if err != nil {
		return 0, err
	}
	update, err := m.(learn.Updater).Begin(learn.Source{ID: "stream"})
	if err != nil {
		return 0, err
	}
	right := 0.0
	for lo := chunk; lo < s.rows; lo += chunk {
		rows := all.Slice(lo, lo+chunk)
		share, err := percentRight(ctx, m, rows)
		if err != nil {
			return 0, err
		}
		right += share * chunk
		rows, _, err = table.Conform(rows, m.Schema(), true)
		if err != nil {
			return 0, err
		}
		if err := update.Add(ctx, rows); err != nil {
			return 0, err
		}
		if m, err = update.Freeze(ctx); err != nil {
			return 0, err
		}
	}
	return right / float64(s.rows-chunk), nil
}
