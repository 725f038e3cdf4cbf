package reproduce

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// instances are the figures of Mitchell 1997, chapter 8: the nearest rows, fits
// around a question, radial basis functions, and the curse of dimensionality.
// The book's drawings have no numbers; the references were worked out by hand and
// by an independent program on the same points.
func instances() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "nearest-" + name, Tags: chapter(8), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	for _, c := range []struct {
		name, k, weight string
		share           float64
	}{
		{"1", "1", "uniform", 1}, {"3", "3", "uniform", 1. / 3}, {"5", "5", "uniform", 2. / 5},
		{"3-weighted", "3", "distance", 1 / 1.5}, {"5-weighted", "5", "distance", 1.111111 / 1.771111}, {"all-weighted", "all", "distance", 1.142361 / 1.802361},
	} {
		add("vote-"+c.name, "figure 8.1, equation 8.2", "share of the votes for + among "+c.k+" nearest of six points, weight="+c.weight, reference(c.share).digits(6),
			pointVote(map[string]string{"k": c.k, "weight": c.weight, "scale": "none", "m": "0.000000001"}))
	}
	squares := func(name, where, measure string, figure float64, digits int, learner string, settings map[string]string) {
		add(name, where, measure+" at 2.5, from the squares of 1 to 5", reference(figure).digits(digits), squareAt(learner, settings))
	}
	for _, c := range []struct {
		k, weight string
		y         float64
	}{{"2", "uniform", 6.5}, {"4", "uniform", 7.5}, {"5", "uniform", 11}, {"4", "distance", 6.7}, {"all", "distance", 7.023575638507}} {
		where := "equation 8.1"
		if c.weight == "distance" {
			where = "equation 8.4"
		}
		squares("mean-"+c.k+"-"+c.weight, where, "mean of "+c.k+" nearest, weight="+c.weight, c.y, 9, "nearest", map[string]string{"k": c.k, "weight": c.weight, "scale": "none"})
	}
	for _, c := range []struct {
		criterion, width string
		y                map[string]float64
	}{
		{"e1", "", map[string]float64{"constant": 7.5, "linear": 7.5, "quadratic": 6.25}},
		{"e2", "1", map[string]float64{"constant": 7.358926, "linear": 7.123386, "quadratic": 6.25}},
		{"e3", "1", map[string]float64{"constant": 7.037883, "linear": 7.037883, "quadratic": 6.25}},
		{"e2", "0.5", map[string]float64{"constant": 6.536028, "linear": 6.53599, "quadratic": 6.25}},
	} {
		for _, form := range []string{"constant", "linear", "quadratic"} {
			set := map[string]string{"k": "4", "criterion": c.criterion, "form": form, "scale": "none", "ridge": "0"}
			name := "lwr-" + c.criterion + "-" + form
			if c.width != "" {
				maps.Copy(set, map[string]string{"width": c.width, "kernel": "gaussian"})
				name += "-" + c.width
			}
			squares(name, "section 8.3.1", fmt.Sprintf("%s fit by %s, width %s", form, c.criterion, firstWord(c.width, "none")), c.y[form], 6, "lwr", set)
		}
	}
	return append(experiments,
		Experiment{
			Name: "nearest-curse", Tags: chapter(8), Source: mitchell("section 8.2.2"), Seeds: 5, Run: OverSeeds(curse("none")),
			Measure: "accuracy of the 5 nearest of 200 rows where 2 of 20 columns tell the class", Figure: reference(.760).fraction(),
		},
		Experiment{
			Name: "nearest-bound", Tags: chapter(8), Source: "Cover & Hart 1967; Mitchell 1997, section 8.7", Seeds: 5, Run: OverSeeds(bound),
			Measure: "error of the nearest of 4,000 rows where no rule errs less than 0.159: below twice that; the figure is that of endless rows, by integration", Figure: reference(.2248).fraction(),
		},
		Experiment{
			Name: "nearest-curse-lifted", Tags: chapter(8), Source: mitchell("section 8.2.2"), Seeds: 5, Run: OverSeeds(curse("eliminate")),
			Measure: "the same with columns chosen by leave-one-out; the figure is that of the two columns alone", Figure: reference(.962).fraction().higher(),
		})
}

func firstWord(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func learnInstances(ctx context.Context, learner string, settings map[string]string, t *table.Table) (learn.Model, error) {
	l, err := learn.New(learner, settings)
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: t, Seed: 1}.At(len(t.Columns)-1))
}

// pointVote returns the share of + for the origin among six points.
func pointVote(settings map[string]string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "class"}}})
		for i, p := range [][2]float64{{1, 0}, {0, 2}, {-2, 0}, {0, -2.5}, {3, 0}, {4, 4}, {0, 0}} {
			b.Float(0, p[0])
			b.Float(1, p[1])
			if i < 6 {
				b.String(2, []string{"+", "-", "-", "-", "+", "+"}[i])
			}
			b.End()
		}
		t, err := b.Table()
		if err != nil {
			return 0, err
		}
		m, err := learnInstances(ctx, "nearest", settings, t)
		if err != nil {
			return 0, err
		}
		q, _, err := table.Conform(t.Slice(6, 7), m.Schema(), false)
		if err != nil {
			return 0, err
		}
		out := learn.NewPredictions(m, 1)
		if err := m.Predict(ctx, q, out); err != nil {
			return 0, err
		}
		return out.P[m.Schema().Attributes[2].Code("+")], nil
	}
}

// squareAt returns what is said of 2.5 after the squares of 1 to 5.
func squareAt(learner string, settings map[string]string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "f", Kind: table.Numeric}}})
		for _, x := range []float64{1, 2, 3, 4, 5, 2.5} {
			b.Float(0, x)
			if x != 2.5 {
				b.Float(1, x*x)
			}
			b.End()
		}
		t, err := b.Table()
		if err != nil {
			return 0, err
		}
		m, err := learnInstances(ctx, learner, settings, t)
		if err != nil {
			return 0, err
		}
		out := learn.NewPredictions(m, 1)
		if err := m.Predict(ctx, t.Slice(5, 6), out); err != nil {
			return 0, err
		}
		return out.Mean[0], nil
	}
}

// bound draws rows of two classes, normal around -1 and 1, and returns the error of
// the nearest of some on others.
func bound(ctx context.Context, seed uint64) (float64, error) {
	const train, test = 4000, 4000
	random := rand.New(rand.NewPCG(seed, 87))
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "class", Values: []string{"no", "yes"}}}})
	for range train + test {
		class := random.IntN(2)
		b.Float(0, random.NormFloat64()+float64(2*class-1))
		b.String(1, []string{"no", "yes"}[class])
		b.End()
	}
	t, err := b.Table()
	if err != nil {
		return 0, err
	}
	m, err := learnInstances(ctx, "nearest", map[string]string{"k": "1", "scale": "none", "m": "1"}, t.Slice(0, train))
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, test)
	if err := m.Predict(ctx, t.Slice(train, train+test), out); err != nil {
		return 0, err
	}
	values, wrong := m.Schema().Attributes[1].Values, 0.0
	for r := range test {
		if values[learn.Best(out.Row(r), values)] != t.Text(train+r, 1) {
			wrong++
		}
	}
	return wrong / test, nil
}

// curse draws rows of twenty columns, of which two tell the class, and returns
// the accuracy on others.
func curse(stretch string) func(context.Context, uint64) (float64, error) {
	return func(ctx context.Context, seed uint64) (float64, error) {
		const columns, train, test = 20, 200, 500
		random := rand.New(rand.NewPCG(seed, 82))
		schema := &table.Schema{}
		for j := range columns {
			schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("c%02d", j), Kind: table.Numeric})
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"no", "yes"}})
		b := table.NewBuilder(schema)
		for range train + test {
			var x [2]float64
			for j := range columns {
				v := random.Float64()
				if j < 2 {
					x[j] = v
				}
				b.Float(j, v)
			}
			b.String(columns, map[bool]string{true: "yes", false: "no"}[x[0]+x[1] > 1])
			b.End()
		}
		t, err := b.Table()
		if err != nil {
			return 0, err
		}
		m, err := learnInstances(ctx, "nearest", map[string]string{"k": "5", "scale": "none", "stretch": stretch}, t.Slice(0, train))
		if err != nil {
			return 0, err
		}
		out := learn.NewPredictions(m, test)
		if err := m.Predict(ctx, t.Slice(train, train+test), out); err != nil {
			return 0, err
		}
		values := m.Schema().Attributes[columns].Values
		if len(values) != 2 {
			return 0, errors.New("one class only")
		}
		right := 0.0
		for r := range test {
			if values[learn.Best(out.Row(r), values)] == t.Text(train+r, columns) {
				right++
			}
		}
		return right / test, nil
	}
}
