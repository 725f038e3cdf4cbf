package neural

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// accuracies are what ten folds should give: ours less two standard errors of
// an accuracy on so many rows.
func TestAccuracy(t *testing.T) {
	for name, least := range map[string]float64{"iris": .92, "breast-cancer": .95, "votes": .93, "wine": .95} {
		data, set, err := datasets.Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := evaluate.CrossValidate(context.Background(), evaluate.Spec{
			Data: name, Table: data, Target: data.Schema.Index(set.Target), Seed: 1, Learner: Name, New: evaluate.Registered(Name, nil),
		}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if *r.Accuracy < least {
			t.Errorf("%s: accuracy %.3f, want %.3f", name, *r.Accuracy, least)
		}
	}
}

// function returns rows of y = sin 3x + z² + noise, and a column that says
// nothing.
func function(tb testing.TB, rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 9))
	columns := make([]table.Column, 4)
	for range rows {
		x, z := 2*random.Float64()-1, 2*random.Float64()-1
		y := math.Sin(3*x) + z*z + .2*random.NormFloat64()
		for j, v := range []float64{x, z, y, random.Float64()} {
			columns[j].Floats = append(columns[j].Floats, v)
		}
	}
	schema := &table.Schema{}
	for _, name := range []string{"x", "z", "y", "idle"} {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// errorAndCoverage returns the root mean squared error on a table, and how
// many targets fall into their intervals.
func errorAndCoverage(tb testing.TB, m learn.Model, t *table.Table) (rmse, covered float64) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(context.Background(), t, out); err != nil {
		tb.Fatal(err)
	}
	n := float64(t.Rows())
	for r, y := range t.Columns[m.Target()].Floats {
		rmse += (y - out.Mean[r]) * (y - out.Mean[r]) / n
		if y >= out.Low[r] && y <= out.High[r] {
			covered += 1 / n
		}
	}
	return math.Sqrt(rmse), covered
}

// A number is predicted to within the noise, which is .2, and intervals hold
// what they promise. With 150 held-out rows a width is known to 6 %, which is
// 1.3 points of the 95 %: over five seeds 0.6, and three times that is allowed.
func TestRegression(t *testing.T) {
	for _, l := range []*Learner{{}, {Committee: 3}, {Activation: "tanh", Hidden: "20,10"}} {
		worst, mean := 0.0, 0.0
		for seed := range uint64(5) {
			m, err := l.Learn(context.Background(), learn.Task{Table: function(t, 1000, 10+seed), Seed: seed}.At(2))
			if err != nil {
				t.Fatal(err)
			}
			rmse, covered := errorAndCoverage(t, m, function(t, 1000, 20+seed))
			worst = max(worst, rmse)
			mean += covered / 5
		}
		t.Logf("%+v: error at most %.3f, %.1f %% in their intervals", *l, worst, 100*mean)
		if worst > .23 || math.Abs(mean-.95) > .018 {
			t.Errorf("%+v: error at most %.3f, %.1f %% in their intervals", *l, worst, 100*mean)
		}
	}
}

// Every way to train learns what there is to learn, to within half as much
// again of the noise, which is .2.
func TestSettingsLearn(t *testing.T) {
	train, test := function(t, 600, 31), function(t, 1000, 32)
	for _, l := range []*Learner{
		{Optimiser: "lbfgs"}, {Optimiser: "cg"}, {Optimiser: "momentum"}, {Schedule: "cosine"}, {Folds: 4}, {Prune: .5},
		{Optimiser: "lbfgs", Folds: 3, Prune: .3}, {Optimiser: "cg", Validation: new(float64), Epochs: 100},
	} {
		m, err := l.Learn(context.Background(), learn.Task{Table: train, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		if rmse, covered := errorAndCoverage(t, m, test); rmse > .3 || covered < .8 {
			t.Errorf("%+v: error %.3f, %.1f %% in their intervals", *l, rmse, 100*covered)
		}
	}
}

func TestSchedule(t *testing.T) {
	for word, want := range map[string][]float64{"constant": {.3, .3, .3, .3}, "falling": {.3, .15, .1, .075}, "cosine": {.3, .2560660, .15, .0439340}} {
		var got []float64
		for i := range 4 {
			got = append(got, (&settings{Rate: .3, Schedule: word}).rate(i, 4))
		}
		near(t, word, got, want, 1e-7)
	}
}

// Pruning drops the share that was asked for, of weights that hardly matter:
// those of the column that says nothing go first. Updates leave them dropped.
func TestPrune(t *testing.T) {
	l := &Learner{Hidden: "8", Activation: "tanh", Prune: .5}
	learnt, err := l.Learn(context.Background(), learn.Task{Table: function(t, 600, 33), Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	u, err := learnt.(learn.Updater).Begin(learn.Source{ID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), function(t, 300, 34)); err != nil {
		t.Fatal(err)
	}
	updated, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []learn.Model{learnt, updated} {
		net := m.(*Model).members[0].net
		left, total := 0, 0
		perInput := make([]int, 3)
		for i, l := range net.layers {
			total += l.in * l.out
			for k, kept := range net.mask()[i] {
				left += int(kept)
				if i == 0 {
					perInput[k/l.stride] += int(kept)
				}
			}
		}
		if left*2 != total || perInput[2] > perInput[0] || perInput[2] > perInput[1] {
			t.Errorf("%d of %d weights are left, by input %d", left, total, perInput)
		}
	}
}

// Of a linear network the saliences are what dropping a weight adds to the
// error, others as they are, at the least error.
func TestSaliencesOfDense(t *testing.T) {
	nothing := 0.0
	m, err := (&Learner{Hidden: "0", Optimiser: "lbfgs", Decay: &nothing, Validation: &nothing}).Learn(context.Background(), learn.Task{Table: function(t, 200, 35), Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	model := m.(*Model)
	fitted, err := recoded(function(t, 200, 35), m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.sample(context.Background(), fitted)
	if err != nil {
		t.Fatal(err)
	}
	ones := slices.Repeat([]float64{1}, 200)
	net := model.members[0].net
	judge := newJudge(net, s, ones, false, 1)
	least := judge.loss(net)
	l := &net.layers[0]
	saliences := net.saliences(s, ones)
	for from := range l.in {
		was := l.w[from*l.stride]
		l.w[from*l.stride] = 0
		if grew := (judge.loss(net) - least) * 200 / 2; math.Abs(grew-saliences[0][from*l.stride]) > 1e-3 {
			t.Errorf("input %d: salience %v, the error grows by %v", from, saliences[0][from*l.stride], grew)
		}
		l.w[from*l.stride] = was
	}
}

// What units look for and what they say can be drawn.
func TestPortraits(t *testing.T) {
	data := function(t, 100, 36)
	m, err := (&Learner{Hidden: "3", Activation: "sigmoid"}).Learn(context.Background(), learn.Task{Table: data, Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	model := m.(*Model)
	tables, err := model.Weights(0)
	if err != nil || len(tables.Panels) != 2 || len(tables.Panels[0].Rows) != 4 || tables.Panels[1].Columns[0] != "y" {
		t.Errorf("weights as tables: %+v, %v", tables, err)
	}
	pictures, err := model.Weights(3)
	if err != nil || len(pictures.Panels) != 3 || pictures.Panels[1].Cells[0][2] != float64(model.members[0].net.layers[0].w[2*model.members[0].net.layers[0].stride+1]) {
		t.Errorf("weights as pictures: %+v, %v", pictures, err)
	}
	if _, err := model.Weights(2); err == nil {
		t.Error("three inputs fill rows of two")
	}
	hidden, err := model.Hidden(context.Background(), data)
	if err != nil || len(hidden.Panels[0].Cells) != 100 || len(hidden.Panels[0].Columns) != 3 {
		t.Fatalf("hidden values: %v", err)
	}
	for _, row := range hidden.Panels[0].Cells {
		for _, v := range row {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("a sigmoid unit says %v", v)
			}
		}
	}
	for _, s := range []*draw.Shades{tables, pictures, hidden} {
		if err := s.SVG(io.Discard); err != nil {
			t.Error(err)
		}
	}
	flat, err := (&Learner{Hidden: "0"}).Learn(context.Background(), learn.Task{Table: data, Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flat.(*Model).Hidden(context.Background(), data); err == nil {
		t.Error("a network without hidden units shows their values")
	}
}

// Updating is further training on new rows only: no promise, but better than
// not updating, and nearly as good as learning everything at once.
func TestUpdateHelps(t *testing.T) {
	all, test := function(t, 1200, 3), function(t, 1000, 4)
	learnt := func(rows *table.Table) learn.Model {
		m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := learnt(all.Slice(0, 200))
	u, err := first.(learn.Updater).Begin(learn.Source{ID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), all.Slice(200, 1200)); err != nil {
		t.Fatal(err)
	}
	second, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	before, _ := errorAndCoverage(t, first, test)
	after, covered := errorAndCoverage(t, second, test)
	once, _ := errorAndCoverage(t, learnt(all), test)
	t.Logf("error with 200 rows %.3f, updated with 1000 more %.3f, all at once %.3f", before, after, once)
	if after >= before || after > once*1.1 || covered < .9 {
		t.Errorf("error with 200 rows %.3f, updated with 1000 more %.3f (%.1f %% in their intervals), all at once %.3f", before, after, 100*covered, once)
	}
}

// A few rows at a time fine-tune: each is answered better than before, and what
// is not among them is not forgotten, even if they are all of one class: of
// 150 answers at most 3 more are wrong, a deviation and a half of their number.
func TestFewRowsNudge(t *testing.T) {
	data, set, err := datasets.Load(context.Background(), "iris")
	if err != nil {
		t.Fatal(err)
	}
	target := data.Schema.Index(set.Target)
	var learnt, all, first []int
	for r, c := range data.Columns[target].Codes {
		switch {
		case r%2 == 0:
			learnt = append(learnt, r)
		case c == 0:
			first = append(first, r)
			fallthrough
		default:
			all = append(all, r)
		}
	}
	for _, optimiser := range []string{"adam", "momentum", "lbfgs"} {
		before, err := (&Learner{Optimiser: optimiser}).Learn(context.Background(), learn.Task{Table: data.Select(learnt), Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		answers := func(m learn.Model, rows *table.Table) (right int, likelihood float64) {
			out := learn.NewPredictions(m, rows.Rows())
			if err := m.Predict(context.Background(), rows, out); err != nil {
				t.Fatal(err)
			}
			likelihood = 1
			for r, c := range rows.Columns[target].Codes {
				if learn.Best(out.Row(r), data.Schema.Attributes[target].Values) == int(c) {
					right++
				}
				likelihood *= out.Row(r)[c]
			}
			return right, likelihood
		}
		for what, rows := range map[string][]int{"all classes": all, "one class": first} {
			for _, n := range []int{1, 5} {
				m := before
				for some := range slices.Chunk(rows, n) {
					u, err := m.(learn.Updater).Begin(learn.Source{ID: "more"})
					if err != nil {
						t.Fatal(err)
					}
					tab := data.Select(some)
					if err := u.Add(context.Background(), tab); err != nil {
						t.Fatal(err)
					}
					next, err := u.Freeze(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					_, p := answers(m, tab)
					if _, q := answers(next, tab); q <= p {
						t.Errorf("%s, %s: rows of likelihood %v had %v after they were learnt", optimiser, what, p, q)
					}
					m = next
				}
				was, _ := answers(before, data)
				is, _ := answers(m, data)
				t.Logf("%s: of 150 %d are right, after %s by %d %d", optimiser, was, what, n, is)
				if is < was-3 {
					t.Errorf("%s: of 150 %d were right, after %s by %d %d", optimiser, was, what, n, is)
				}
			}
		}
	}
}

// Neither rows far out, nor wide networks, nor old rows that outweigh any new
// one make a step leap. A leap to the targets far out, which count as 20
// deviations away, would be that large; half a deviation is a long way from it.
// Rows like the old ones leave the error within 5 %, two deviations of a root
// mean square of 1000 rows; old rows of weight 1e20 leave nothing to move.
func TestNudgesStaySmall(t *testing.T) {
	data, test := function(t, 400, 5), function(t, 1000, 6)
	for _, c := range []struct {
		hidden        string
		worth         float64 // of each old row
		farOut        int     // of 100 rows
		factor, bound float64
	}{
		{"50", 1, 0, 1.05, 0}, {"500", 1, 0, 1.05, 0},
		{"0", 1, 4, 1, 0.5}, {"50", 1, 4, 1, 0.5}, {"500", 1, 4, 1, 0.5}, {"50", 1e20, 4, 1, 0},
	} {
		first := data.Slice(0, 300)
		first.Weights = slices.Repeat([]float64{c.worth}, 300)
		m, err := (&Learner{Hidden: c.hidden, Epochs: 10}).Learn(context.Background(), learn.Task{Table: first, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := errorAndCoverage(t, m, test)
		for r := range 100 {
			one := data.Select([]int{300 + r})
			if c.farOut > 0 && r%(100/c.farOut) == 0 {
				one.Columns[0].Floats[0], one.Columns[2].Floats[0] = 1e9, -1e12
			}
			u, err := m.(learn.Updater).Begin(learn.Source{ID: "more"})
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Add(context.Background(), one); err != nil {
				t.Fatal(err)
			}
			if m, err = u.Freeze(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		after, _ := errorAndCoverage(t, m, test)
		t.Logf("%+v: error %.3f, then %.3f", c, before, after)
		if !(after <= c.factor*before+c.bound) {
			t.Errorf("%+v: an error of %.3f became %.3f", c, before, after)
		}
	}
}

// A class that never came before is learnt from an update, and the old ones
// are not forgotten for a few rows.
func TestUpdateWithNewClass(t *testing.T) {
	data, set, err := datasets.Load(context.Background(), "iris")
	if err != nil {
		t.Fatal(err)
	}
	target := data.Schema.Index(set.Target)
	var two, third []int
	for r, c := range data.Columns[target].Codes {
		if c == 2 {
			third = append(third, r)
		} else {
			two = append(two, r)
		}
	}
	known := table.CopySchema(data.Schema)
	known.Attributes[target].Values = known.Attributes[target].Values[:2]
	first := data.Select(two)
	first.Schema = known
	m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: first, Seed: 1}.At(target))
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.(learn.Updater).Begin(learn.Source{ID: "third"})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(two); i += 2 { // what is never seen again is soon forgotten
		third = append(third, two[i])
	}
	rows := data.Select(third)
	if err := u.Add(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	if m, err = u.Freeze(context.Background()); err != nil {
		t.Fatal(err)
	}
	fitted, err := recoded(data, m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, data.Rows())
	if err := m.Predict(context.Background(), fitted, out); err != nil {
		t.Fatal(err)
	}
	right := 0
	for r, c := range fitted.Columns[target].Codes {
		if learn.Best(out.Row(r), m.Schema().Attributes[target].Values) == int(c) {
			right++
		}
	}
	if right < 120 {
		t.Errorf("%d of 150 are right after the third class came", right)
	}
}

func TestSettingsRefused(t *testing.T) {
	t1 := function(t, 20, 5)
	more, less := 2.0, -1.0
	for says, l := range map[string]*Learner{
		"as in 100":        {Hidden: "many"},
		"hidden layer of":  {Hidden: "5,0"},
		"rate -1":          {Rate: -1},
		"momentum 2":       {Momentum: &more},
		"decay -1":         {Decay: &less},
		"validation 2":     {Validation: &more},
		"batch -1":         {Batch: -1},
		"committee 100000": {Committee: 100000},
		"activation=cos":   {Activation: "cos"},
		"optimiser=cos":    {Optimiser: "cos"},
		"loss=cos":         {Loss: "cos"},
		"schedule=cos":     {Schedule: "cos"},
		"folds 1":          {Folds: 1},
		"restarts 2 with":  {Folds: 3, Restarts: 2},
		"prune 2":          {Prune: 2},
	} {
		if _, err := l.Learn(context.Background(), learn.Task{Table: t1}.At(2)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: error %v, want one that says %q", *l, err, says)
		}
	}
	t1.Columns[2].Floats[3] = math.Inf(1)
	if _, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: t1}.At(2)); err == nil || !strings.Contains(err.Error(), "row 4") {
		t.Errorf("an infinite target: %v", err)
	}
}

// A rate that throws weights to infinity leaves the start, not a ruin.
func TestDivergence(t *testing.T) {
	data := function(t, 200, 6)
	for _, validation := range []float64{0, .2} {
		l := &Learner{Optimiser: "momentum", Rate: 1e6, Epochs: 20, Validation: &validation}
		m, err := l.Learn(context.Background(), learn.Task{Table: data, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		if rmse, _ := errorAndCoverage(t, m, data); !(rmse < 10) {
			t.Errorf("validation %v: error %v", validation, rmse)
		}
	}
}

// The drawing has the columns, units and classes that people know.
func TestGraph(t *testing.T) {
	m, err := (&Learner{Hidden: "3"}).Learn(context.Background(), learn.Task{Table: function(t, 100, 7), Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.(learn.Drawer).Graph()
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, n := range g.Nodes {
		text = append(text, fmt.Sprint(n.Layer, n.Lines))
	}
	want := "0 [x] 0 [z] 0 [idle] 1 [unit 1 − x − z + idle] 1 [unit 2 + x + z − idle] 1 [unit 3 − x − z + idle] 2 [y]"
	if got := strings.Join(text, " "); got != want || len(g.Edges) != 12 {
		t.Errorf("nodes %s with %d edges, want %s", got, len(g.Edges), want)
	}
	one, err := m.(*Model).GraphTop(1)
	if err != nil || len(one.Nodes) != 5 || !strings.Contains(one.Title, "1 of 3 units") {
		t.Errorf("%v, %+v", err, one)
	}
}

func FuzzDecode(f *testing.F) {
	m, err := (&Learner{Hidden: "2", Epochs: 1}).Learn(context.Background(), learn.Task{Table: function(f, 20, 8)}.At(2))
	if err != nil {
		f.Fatal(err)
	}
	parts, err := m.Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, head, weights []byte) {
		defer bounded.Start(t, len(head)+len(weights))()
		m, err := decode([]learn.Part{{Name: headPart, Data: head}, {Name: weightsPart + " 1", Data: weights}})
		if err != nil {
			return
		}
		row := m.(*Model)
		pass := row.newForwardPass(1)
		q, err := row.newQuestion(learn.NewPredictions(row, 1), func(t *table.Table, out *learn.Predictions) { pass.answer(t, 0, 1, out) })
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range q.ask() {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("answer %v", x)
			}
		}
	})
}
