package experts_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/experts"
	_ "github.com/accrete-ml/accrete/learners/linear"
	_ "github.com/accrete-ml/accrete/learners/neural"
	_ "github.com/accrete-ml/accrete/learners/prior"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) {
	learntest.RunWith(t, experts.Name, learntest.Options{Settings: map[string]string{"base": "prior"}})
}

// Experts that are networks, lines or mixtures themselves keep what depends on them.
func TestContractOfBases(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"linear":    {"experts": "2", "iterations": "3"},
		"hierarchy": {"base": "experts", "experts": "2", "iterations": "2", "base.base": "prior", "base.experts": "2"},
	} {
		t.Run(name, func(t *testing.T) {
			laws := []string{"missing cells", "unseen values", "one class only", "constant and duplicate columns", "save and load", "updates bring new values and classes", "explanations add up"}
			learntest.RunWith(t, experts.Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

// bent is y = |x| with noise of .1: two lines, one on each side.
func bent(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = 6*random.Float64() - 3
		y[r] = math.Abs(x[r]) + .1*random.NormFloat64()
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}
	t, err := table.New(schema, []table.Column{{Floats: x}, {Floats: y}}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func rmse(t *testing.T, name string, settings map[string]string) float64 {
	t.Helper()
	l, err := learn.New(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	m, err := l.Learn(ctx, learn.Task{Table: bent(400, 1), Target: "y", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	unseen := bent(1000, 2)
	out := learn.NewPredictions(m, unseen.Rows())
	if err := m.Predict(ctx, unseen, out); err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for r, y := range unseen.Columns[1].Floats {
		squares += (y - out.Mean[r]) * (y - out.Mean[r])
	}
	return math.Sqrt(squares / float64(unseen.Rows()))
}

// Two lines behind gates follow a bend that one line cannot: one line errs by
// sd(|x|) = 3/√12 = .866, the noise alone by .1, and gates that open gradually
// over the floor of .2 deviations (.35 of x, where the lines differ by up to .7)
// add less than another .1. Constants are steps of 3/2 each: with six the error of
// a step 1 wide is 1/√12 = .29. A hierarchy of two by two does as well as two.
func TestLinesFollowABend(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]string
		from, to float64
	}{
		{"linear", map[string]string{"keep": "nothing"}, .8, .95},
		{experts.Name, map[string]string{"experts": "2"}, .09, .2},
		{experts.Name, map[string]string{"experts": "6", "base": "prior"}, .09, .35},
		{experts.Name, map[string]string{"experts": "2", "base": "mlp", "iterations": "3", "base.epochs": "50"}, .09, .2},
		{experts.Name, map[string]string{"experts": "2", "base": "experts", "base.experts": "2"}, .09, .2},
	} {
		if got := rmse(t, c.name, c.settings); !(got >= c.from && got <= c.to) {
			t.Errorf("%s %v errs by %.3f, expected %v to %v", c.name, c.settings, got, c.from, c.to)
		}
	}
}
