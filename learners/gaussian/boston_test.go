package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func boston(t testing.TB) *table.Table {
	t.Helper()
	b, _, err := datasets.Load(context.Background(), "boston")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const folds = 10

// fold returns a tenth of the rows for testing and half of the others for
// training, as the published experiments do, in one of many divisions.
func fold(all *table.Table, fold int, division uint64) (training, test *table.Table) {
	order := rand.New(rand.NewPCG(division, 10)).Perm(all.Rows())
	var rest, held []int
	for i, r := range order {
		if i%10 == fold {
			held = append(held, r)
		} else {
			rest = append(rest, r)
		}
	}
	return all.Select(rest[:len(rest)/2]), all.Select(held)
}

// Units pruned from 30 to 1, procedure 1, floor 0.2. The bars, 9.3, 12.1 and
// 20.5 nats at 10, 3 and 1 units, lie above the reproduced 8.5, 11.6 and 20.1
// by about the standard error over ten folds. Both ways to begin reach them, on
// average over divisions, one of which lies about 0.2 from the next.
func TestUnitsCurve(t *testing.T) {
	for _, start := range []string{"random", "kmeans"} {
		t.Run(start, func(t *testing.T) { testUnitsCurve(t, start) })
	}
}

func testUnitsCurve(t *testing.T, start string) {
	all := boston(t)
	sum := map[int]float64{}
	divisions := uint64(2)
	if os.Getenv("ACCRETE_LONG") != "" {
		divisions = 8
	}
	for division := range divisions {
		for f := range folds {
			training, test := fold(all, f, division+1)
			points, err := (&Learner{Units: 30, StartAt: start, Reference: all}).Curve(context.Background(), learn.Task{Table: training, NoTarget: true, Seed: 10*division + uint64(f)}, test)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range points {
				sum[p.Left] += p.Held[0] / float64(folds) / float64(divisions)
				if p.Left != 30-i {
					t.Fatalf("point %d has %d units", i, p.Left)
				}
			}
		}
	}
	for units, bar := range map[int]float64{10: 9.3, 3: 12.1, 1: 20.5} {
		if !(sum[units] <= bar) {
			t.Errorf("%d units: %.2f nats, expected at most %v", units, sum[units], bar)
		}
	}
	t.Logf("test NLL at 30, 20, 10, 8, 5, 3, 2, 1 units: %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f", sum[30], sum[20], sum[10], sum[8], sum[5], sum[3], sum[2], sum[1])
}

// table4 is the published centres of three units; NaN is NORMAL.
var table4 = func() (c [3][]float64) {
	n := math.NaN()
	for _, row := range [][3]float64{
		{-.40, 1.20, -.28}, {n, -.49, -.41}, {-.84, 1.02, .61}, {-.25, -.27, .62}, {-.69, 1.02, n}, {n, n, n}, {-.65, .75, .63},
		{.66, -.83, -.58}, {-.59, 1.66, -.42}, {-.68, 1.53, -.10}, {n, .81, n}, {.37, -.83, n}, {-.62, .94, n}, {.47, -.82, n},
	} {
		for i := range c {
			c[i] = append(c[i], row[i])
		}
	}
	return c
}()

// farFromTable4 returns the mean difference of a mixture's centres from the
// published ones, units matched as well as can be.
func farFromTable4(m *mixture) float64 {
	least := math.Inf(1)
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		n, sum := 0.0, 0.0
		for i, column := range table4 {
			for j, c := range column {
				if !math.IsNaN(c) {
					n++
					sum += math.Abs(m.centre[p[i]*14+j] - c)
				}
			}
		}
		least = min(least, sum/n)
	}
	return least
}

// Of 20 restarts, the one nearest to the published table is within 0.05.
func TestThreeUnits(t *testing.T) {
	e, _ := prepared(t, boston(t), 3, 1)
	nearest := math.Inf(1)
	s, err := (&Learner{Starts: 1}).settings()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		m, err := e.best(context.Background(), 3, &s, rand.New(rand.NewPCG(seed, 1)), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		nearest = min(nearest, farFromTable4(m))
	}
	if nearest > 0.05 {
		t.Errorf("centres of the nearest restart differ by %.3f on average from table 4", nearest)
	}
	t.Logf("mean difference from table 4: %.3f", nearest)
}

// wealthy is the prior rules of table 8.
func wealthy(worth float64) *rule.Base {
	names := strings.Fields("crim zn indus chas nox rm age dis rad tax ptratio b lstat medv")
	const signs = "-+-+-+-+-+---+"
	base := &rule.Base{}
	for i, name := range []string{"usual", "wealthy", "poor"} {
		u := rule.Unit{Name: name, Prior: 1. / 3, Worth: &worth}
		for j, column := range names {
			mean := [...]float64{0, 1, -1}[i]
			if signs[j] == '-' {
				mean = 0 - mean
			}
			u.Expect = append(u.Expect, rule.Expectation{Column: column, Mean: mean, MeanSD: true, Deviation: 1, DeviationSD: true})
		}
		base.Units = append(base.Units, u)
	}
	return base
}

// densityOf returns the mean negative log density of a table's rows.
func densityOf(t testing.TB, m learn.Model, rows *table.Table) float64 {
	t.Helper()
	out := make([]float64, rows.Rows())
	if err := m.(learn.Density).LogDensity(context.Background(), rows, out); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for r, l := range out {
		sum -= l * rows.Weight(r)
	}
	return sum / float64(rows.Rows())
}

// Prior rules help with few rows, in the published order: MAP before the
// incremental mixture before the teacher before data only (reproduced at 10
// rows: 16.3, 18.7, 19.1, 93.0).
func TestKnowledgeWithFewRows(t *testing.T) {
	all := boston(t)
	for _, rows := range []int{10, 25} {
		nll := map[string]float64{}
		for f := range 10 {
			training, test := fold(all, f, 1)
			training = training.Slice(0, rows)
			for knowledge, worth := range map[string]float64{"map": 9, "mixture": 50, "teacher": 100, "": 0} {
				task := learn.Task{Table: training, NoTarget: true, Seed: uint64(f)}
				if worth > 0 {
					task.Advice.Rules = wealthy(worth)
				}
				m, err := (&Learner{Knowledge: knowledge, Reference: all}).Learn(context.Background(), task)
				if err != nil {
					t.Fatal(err)
				}
				nll[knowledge] += densityOf(t, m, test) / 10
			}
		}
		t.Logf("%d rows: MAP %.1f, mixture %.1f, teacher %.1f, data only %.1f", rows, nll["map"], nll["mixture"], nll["teacher"], nll[""])
		if !(nll["map"] < nll["mixture"] && nll["mixture"] < nll["teacher"] && nll["teacher"] < nll[""]) {
			t.Errorf("%d rows: expected MAP < mixture < teacher < data only, got %v", rows, nll)
		}
	}
}

// 10 of 42 conclusions set to NORMAL cost 0.21 ± 0.19 nats; lstat is the last
// input of medv to go in 80 to 98 % of folds.
func TestSimplerRules(t *testing.T) {
	all := boston(t)
	target := all.Schema.Index("medv")
	cost, last := 0.0, 0
	for f := range folds {
		training, test := fold(all, f, 1)
		l := &Learner{Units: 3, Reference: all}
		points, err := l.NormalCurve(context.Background(), learn.Task{Table: training, NoTarget: true, Seed: uint64(f)}, UnitFromNormal, test)
		if err != nil {
			t.Fatal(err)
		}
		if len(points) != 43 {
			t.Fatalf("%d points for 42 conclusions", len(points))
		}
		cost += (points[10].Held[0] - points[0].Held[0]) / float64(folds)
		points, err = l.InputCurve(context.Background(), learn.Task{Table: training, Seed: uint64(f)}.At(target), test)
		if err != nil {
			t.Fatal(err)
		}
		if all.Schema.Attributes[points[len(points)-1].Removed].Name == "lstat" {
			last++
		}
	}
	t.Logf("10 conclusions NORMAL cost %.2f nats; lstat last in %d of %d folds", cost, last, folds)
	if !(cost < 0.21+2*0.19) {
		t.Errorf("10 conclusions set to NORMAL cost %.2f nats", cost)
	}
	if float64(last) < 0.8*float64(folds) {
		t.Errorf("lstat is the last input in %d of %d folds", last, folds)
	}
}

// With 30 % of the cells gone, the model's guesses beat the columns' means by
// at least 25 % in root mean square, in z-scores.
func TestImpute(t *testing.T) {
	all := boston(t)
	overall := rule.OverallOf(all)
	seeds := 3
	if os.Getenv("ACCRETE_LONG") != "" {
		seeds = 10
	}
	ours, means := 0.0, 0.0
	for seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 30))
		columns := make([]table.Column, len(all.Columns))
		for j := range columns {
			columns[j].Floats = append([]float64(nil), all.Columns[j].Floats...)
			for r := range columns[j].Floats {
				if random.Float64() < 0.3 {
					columns[j].Floats[r] = table.NA
				}
			}
		}
		holes, err := table.New(all.Schema, columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: holes, NoTarget: true, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		filled, err := m.(learn.Imputer).Impute(context.Background(), holes)
		if err != nil {
			t.Fatal(err)
		}
		known := rule.OverallOf(holes)
		for j := range columns {
			for r, x := range columns[j].Floats {
				truth := all.Columns[j].Floats[r]
				if !table.IsMissing(x) {
					if filled.Columns[j].Floats[r] != x {
						t.Fatal("a known cell was changed")
					}
					continue
				}
				ours += math.Pow((filled.Columns[j].Floats[r]-truth)/overall[j].Deviation, 2)
				means += math.Pow((known[j].Mean-truth)/overall[j].Deviation, 2)
			}
		}
	}
	better := 1 - math.Sqrt(ours/means)
	t.Logf("root mean square error %.1f %% below that of column means", 100*better)
	if better < 0.25 {
		t.Errorf("root mean square error is only %.1f %% below that of column means", 100*better)
	}
}

// Updating with half of the rows stays near learning all: measured, the mean
// density of all rows is within 0.6 nats for any of ten orders; merging keeps
// the weighted mean of densities, and forgetting gives the first model back.
func TestUpdateIsBounded(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	worst := 0.0
	for seed := range uint64(5) {
		rows := all.Select(rand.New(rand.NewPCG(seed, 6)).Perm(all.Rows()))
		learnt := func(from *table.Table, source string) learn.Model {
			m, err := (&Learner{}).Learn(ctx, learn.Task{Table: from, NoTarget: true, Seed: seed, Source: learn.Source{ID: source}})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		first, whole := learnt(rows.Slice(0, 253), "a"), learnt(rows, "all")
		u, err := first.(learn.Updater).Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(ctx, rows.Slice(253, 506)); err != nil {
			t.Fatal(err)
		}
		m, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, densityOf(t, m, rows)-densityOf(t, whole, rows))
		left, err := m.(learn.Forgetter).Forget(ctx, "b")
		if err != nil {
			t.Fatal(err)
		}
		if d := densityOf(t, left, rows) - densityOf(t, first, rows); math.Abs(d) > 1e-9 {
			t.Errorf("forgetting the update leaves %v nats of difference", d)
		}
	}
	t.Logf("an update costs at most %.2f nats a row", worst)
	if worst > 1 {
		t.Errorf("an update costs %.2f nats a row", worst)
	}
}

// The three readings of a model answer alike: mixture, rules, network.
func TestThreeViews(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	target := all.Schema.Index("medv")
	half := wealthy(50)
	for i := range half.Units {
		half.Units[i].Expect = half.Units[i].Expect[7:]
	}
	for _, c := range []struct {
		l     *Learner
		rules *rule.Base
	}{
		{&Learner{}, nil}, {&Learner{Units: 3, Normal: 10}, nil}, {&Learner{Units: 40}, nil}, {&Learner{Units: 3, Inputs: 4}, nil}, {&Learner{Tune: 20}, nil},
		{&Learner{Default: 4}, half}, {&Learner{Knowledge: "map"}, half}, {&Learner{Knowledge: "teacher"}, half}, {&Learner{Knowledge: "start", Iterations: 3}, half},
	} {
		m, err := c.l.Learn(ctx, learn.Task{Table: all, Seed: 1, Advice: learn.Advice{Rules: c.rules}}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		model := m.(*Model)
		rows, _, err := table.Conform(all, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(ctx, rows, out); err != nil {
			t.Fatal(err)
		}
		base, err := model.Rules()
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := rule.Parse("rules", []byte(base.String()))
		if err != nil {
			t.Fatal(err)
		}
		predictor, err := rule.NewPredictor(parsed, m.Schema(), target, model.Overall()...)
		if err != nil {
			t.Fatal(err)
		}
		means := make([]float64, rows.Rows())
		if err := predictor.Predict(rows, nil, means); err != nil {
			t.Fatal(err)
		}
		network, err := model.Network(target)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, len(network.Inputs))
		for r := range rows.Rows() {
			for i, j := range network.Inputs {
				x[i] = rows.Columns[j].Floats[r]
			}
			want := out.Mean[r]
			for view, got := range map[string]float64{"rules": means[r], "network": network.Output(x), "mixture": mixtureMean(model, rows, r, target)} {
				if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
					t.Fatalf("row %d: the %s say %v, the model %v", r+1, view, got, want)
				}
			}
		}
	}
}

// mixtureMean is equation 12 from densities of single cells.
func mixtureMean(m *Model, t *table.Table, row, target int) float64 {
	var logs []float64
	most := math.Inf(-1)
	for i := range m.logPrior {
		l := m.logPrior[i]
		for j := range m.columns {
			if c := &m.columns[j]; j != target {
				z := (t.Columns[j].Floats[row] - c.mean[i]) / c.deviation[i]
				l += -z*z/2 - math.Log(c.deviation[i])
			}
		}
		logs = append(logs, l)
		most = max(most, l)
	}
	up, down := 0.0, 0.0
	for i, l := range logs {
		up += math.Exp(l-most) * m.columns[target].mean[i]
		down += math.Exp(l - most)
	}
	return up / down
}

// Inputs, sizes, tuning and pruning as settings.
func TestSettings(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	target := all.Schema.Index("medv")
	for _, l := range []*Learner{
		{Units: 3, Inputs: 3}, {Units: 12, Size: "validation"}, {Units: 10, From: 16, Pruning: "centres"}, {Units: 10, From: 16},
		{Units: 6, Tune: 50}, {StartAt: "kmeans"}, {Default: 5},
	} {
		m, err := l.Learn(ctx, learn.Task{Table: all, Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		if units := m.Size().Units; units > max(l.Units, 10)+1 {
			t.Errorf("%+v gives %d units", l, units)
		}
		out := learn.NewPredictions(m, all.Rows())
		rows, _, err := table.Conform(all, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Predict(ctx, rows, out); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for r, y := range all.Columns[target].Floats {
			sum += (y - out.Mean[r]) * (y - out.Mean[r])
		}
		rmse := math.Sqrt(sum / float64(all.Rows()))
		if rmse > 6.5 { // the deviation of medv is 9.2, what least squares leaves 4.7
			t.Errorf("%+v: RMSE %.2f", l, rmse)
		}
	}
}

func BenchmarkLearnBoston(b *testing.B) {
	all := boston(b)
	b.ReportAllocs()
	for range b.N {
		if _, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: all, NoTarget: true, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
