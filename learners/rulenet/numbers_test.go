package rulenet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// sums returns rows whose number is a sum of steps, and noise.
func sums(t *testing.T, rows int, noise float64, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "area", Kind: table.Numeric}, {Name: "age", Kind: table.Numeric},
		{Name: "town", Kind: table.Nominal, Values: []string{"a", "b", "c"}}, {Name: "price", Kind: table.Numeric},
	}}
	columns := []table.Column{{Floats: make([]float64, rows)}, {Floats: make([]float64, rows)}, {Codes: make([]int32, rows)}, {Floats: make([]float64, rows)}}
	for r := range rows {
		area, age, town := 20+10*float64(rng.IntN(18)), float64(rng.IntN(60)), int32(rng.IntN(3))
		price := 100 + noise*rng.NormFloat64()
		if area > 120 {
			price += 31
		}
		if age > 30 && town == 1 {
			price -= 12
		}
		columns[0].Floats[r], columns[1].Floats[r], columns[2].Codes[r], columns[3].Floats[r] = area, age, town, price
	}
	all, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Rules that add find the steps that made the numbers; intervals cover what they say: of
// 600 rows 95 % ± 3·√(0.95·0.05/600) = 92.3 to 97.7 %, and as much again for the
// quantile itself, which comes from as many rows.
func TestNumbersOfSteps(t *testing.T) {
	ctx := context.Background()
	m, err := (&Learner{}).Learn(ctx, learn.Task{Table: sums(t, 900, 4, 1), Target: "price", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	new := sums(t, 600, 4, 2)
	out := learn.NewPredictions(m, 600)
	if err := m.Predict(ctx, new, out); err != nil {
		t.Fatal(err)
	}
	squares, within := 0.0, 0.0
	for r, y := range new.Columns[3].Floats {
		squares += (y - out.Mean[r]) * (y - out.Mean[r])
		if out.Low[r] <= y && y <= out.High[r] {
			within++
		}
	}
	if off := math.Sqrt(squares / 600); off > 4.4 { // noise 4, known to 3·4/√1200 = 0.35
		t.Errorf("root mean square error %.2f", off)
	}
	if within /= 600; within < 0.91 || within > 0.985 {
		t.Errorf("intervals cover %.3f", within)
	}
	cut, err := m.(learn.Excerpter).Excerpt(ctx, rule.Budget{Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	if cut.Rules != 2 || cut.Accuracy < 0.85 {
		t.Errorf("two rules explain %.2f of the squares", cut.Accuracy)
	}
	if first := cut.Base.Rules[0]; len(first.If) != 1 || first.If[0].Column != "area" || math.Abs(math.Abs(first.Then.Mean)-31) > 3 {
		t.Errorf("the first of two rules is %v", first)
	}
}

func TestNumbersRefuseClimbs(t *testing.T) {
	for _, l := range []*Learner{{Weights: "published"}, {Ties: "first"}, {Update: "published"}} {
		if _, err := l.Learn(context.Background(), learn.Task{Table: sums(t, 30, 1, 1), Target: "price"}); err == nil {
			t.Errorf("%+v learns a number", l)
		}
	}
}

// A frequent number has a bin of its own and uses up none of the others.
func TestShareOut(t *testing.T) {
	weight := slices.Repeat([]float64{1}, 200)
	weight[0] = 5000
	ends := shareOut(weight, 62)
	if len(ends) < 55 || ends[0] != 0 {
		t.Errorf("%d bins, the first ends at %d", len(ends), ends[0])
	}
}

// A slope is found as a line, with its factor, and not as a staircase.
func TestNumbersOfLines(t *testing.T) {
	ctx := context.Background()
	rows := sums(t, 600, 1, 1)
	for r := range rows.Rows() { // 0.5 for each unit of area, no steps in it
		rows.Columns[3].Floats[r] += 0.5 * rows.Columns[0].Floats[r]
		if rows.Columns[0].Floats[r] > 120 {
			rows.Columns[3].Floats[r] -= 31
		}
	}
	m, err := (&Learner{}).Learn(ctx, learn.Task{Table: rows, Target: "price", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		t.Fatal(err)
	}
	first := base.Rules[0]
	if first.Then.Line == nil || first.Then.Line.Column != "area" || math.Abs(first.Then.Mean-0.5) > 0.02 || len(base.Rules) > 20 {
		t.Errorf("%d rules, the first is %v", len(base.Rules), &first)
	}
	rows.Columns[0].Floats[0] = math.NaN()
	e, err := m.(learn.Explainer).Explain(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Missing) != 1 || e.Missing[0].CouldMove < 0.45*(190-105) || e.Missing[0].CouldMove > 0.55*(190-105)+5 {
		t.Errorf("an area that is missing could move the price: %+v", e.Missing)
	}
}

// Errors that lie to one side tell losses apart: of rows that were not learnt, as many
// lie below a quantile as was asked for, to 3·√(p(1−p)/800), and as much again for the
// rows held out that it was set by.
func TestLosses(t *testing.T) {
	ctx := context.Background()
	skewed := func(seed uint64) *table.Table {
		rows, rng := sums(t, 800, 0, seed), rand.New(rand.NewPCG(seed, 9))
		for r := range rows.Rows() {
			rows.Columns[3].Floats[r] += 10 * rng.ExpFloat64()
		}
		return rows
	}
	train, test := skewed(1), skewed(2)
	for _, l := range []struct {
		learner Learner
		below   float64
	}{{Learner{Loss: "absolute"}, 0.5}, {Learner{Loss: "quantile", Quantile: 0.9}, 0.9}, {Learner{}, 1 - math.Exp(-1)}, {Learner{Loss: "poisson"}, 1 - math.Exp(-1)}} {
		m, err := l.learner.Learn(ctx, learn.Task{Table: train, Target: "price", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(fmt.Sprint(base.Notes), "the answer is"); said != (l.learner.Loss != "") {
			t.Errorf("%+v: notes %q", l.learner, base.Notes)
		}
		out := learn.NewPredictions(m, test.Rows())
		if err := m.Predict(ctx, test, out); err != nil {
			t.Fatal(err)
		}
		below := 0.0
		for r, y := range test.Columns[3].Floats {
			if y < out.Mean[r] {
				below += 1.0 / 800
			}
		}
		if room := 6 * math.Sqrt(l.below*(1-l.below)/800); math.Abs(below-l.below) > room {
			t.Errorf("%+v: %.3f lie below, expected %.3f ± %.3f", l.learner, below, l.below, room)
		}
	}
	for _, l := range []Learner{{Quantile: 0.9}, {Cover: 1}, {Loss: "none"}, {Loss: "absolute", Update: "living"}} {
		if _, err := l.Learn(ctx, learn.Task{Table: train, Target: "price"}); err == nil {
			t.Errorf("%+v learns", l)
		}
	}
	if _, err := (&Learner{Loss: "absolute"}).Learn(ctx, learn.Task{Table: train, Target: "town"}); err == nil {
		t.Error("names have medians")
	}
}
