package theory

import (
	"context"
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/table"
)

// TestTrust is equation 12.3 worked out, with c the greatest difference and 1.
func TestTrust(t *testing.T) {
	a, f := []float64{.8, .7, .2, .5}, []float64{.8, .8, .8, .2}
	for i, want := range []struct{ most, one float64 }{{1, 1}, {.8333, .9}, {0, .4}, {.5, .7}} {
		near(t, "trust by the greatest difference", Trust(a[i:i+1], f[i:i+1], .6), want.most, 5e-5)
		near(t, "trust by 1", Trust(a[i:i+1], f[i:i+1], 1), want.one, 5e-5)
	}
	near(t, "trust where all are right", Trust(a[:1], f[:1], 0), 1, 0)
}

// TestSlopesOfCups: how the answer of the network of cups, W = 4, changes with each
// feature, where all five of the theory hold, and without a handle.
func TestSlopesOfCups(t *testing.T) {
	_, _, theory := builtIn(t, "cup")
	features := strings.Split(cupFeatures, ",")
	rows := truths(5, features, "cup")
	m := learnt(t, rows, "cup", theory, untrained(4))
	fitted, _, err := table.Conform(rows, m.schema, false)
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[int][]float64{
		31:     {.408718, .240251, .572061, .408718, .408718},
		31 - 2: {.146358, .086032, .204849, .146358, .146358},
	} {
		got := m.Slopes(fitted, row, int(m.schema.Attributes[m.target].Code("yes")))
		for j, name := range features {
			near(t, name, got[m.schema.Index(name)], want[j], 5e-7)
		}
	}
}

// TestTangentsDescend: the slope of the error by each weight is that of
// differences.
func TestTangentsDescend(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, kind := range []table.Kind{table.Nominal, table.Numeric} {
		m := &Explained{schema: &table.Schema{Attributes: []table.Attribute{{Name: "a", Kind: table.Nominal, Values: []string{"x", "y", "z"}}, {Name: "b", Kind: table.Numeric}, {Name: "t", Kind: kind, Values: []string{"n", "y"}}}}, target: 2}
		if kind == table.Numeric {
			m.schema.Attributes[2].Values = nil
		}
		m.found, m.lesson.Settings.Hidden = make([]savedInput, 3), 4
		m.lay()
		m.initialise(1)
		for i := range m.weights {
			m.weights[i] *= 8
		}
		want := func() []float64 {
			all := make([]float64, m.outputs())
			for k := range all {
				all[k] = random.Float64()
			}
			return all
		}
		row := &explainedRow{example: example{at: []int32{1, 3}, x: []float64{1, .7}, times: 1.5}, want: want(), mu: .6,
			slopes: []slope{{0, 1, want()}, {2, 1, want()}, {3, none, want()}}}
		pass := m.newTangentPass()
		gradient, ignored := make([]float64, len(m.weights)), make([]float64, len(m.weights))
		pass.learn(m.weights, row, gradient)
		for i := range m.weights {
			const h = 1e-5
			was := m.weights[i]
			m.weights[i] = was + h
			up := pass.learn(m.weights, row, ignored)
			m.weights[i] = was - h
			down := pass.learn(m.weights, row, ignored)
			m.weights[i] = was
			near(t, "a slope", gradient[i], (up-down)/(2*h), 1e-8*max(1, math.Abs(gradient[i])))
		}
	}
}

// cups are objects of which some are cups by what the theory of cups should have
// been: no handle is needed, but one on top is in the way.
func cups(seed uint64, rows int) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0x637570))
	names := append(strings.Split(cupFeatures, ","), "handle_on_top", "expensive", "fragile", "made_of_paper")
	schema := &table.Schema{}
	columns := make([]table.Column, len(names)+1)
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "cup", Kind: table.Nominal, Values: []string{"no", "yes"}})
	for range rows {
		x := make([]float64, len(names))
		for j := range x {
			p := .5
			if j < 5 {
				p = .85
			}
			if random.Float64() < p {
				x[j] = 1
			}
		}
		x[5] *= x[1] // a handle on top is a handle
		for j, v := range x {
			columns[j].Floats = append(columns[j].Floats, v)
		}
		is := int32(0)
		if x[0]*x[2]*x[3]*x[4]*(1-x[5]) == 1 {
			is = 1
		}
		columns[len(names)].Codes = append(columns[len(names)].Codes, is)
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// rms is the root of the mean squared error of the probability of a cup.
func rms(t *testing.T, m learn.Model, rows *table.Table) float64 {
	t.Helper()
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	p := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(context.Background(), fitted, p); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	yes := m.Schema().Attributes[m.Target()].Code("yes")
	for r, class := range rows.Columns[len(rows.Columns)-1].Codes {
		off := p.Row(r)[yes] - float64(class)
		sum += off * off
	}
	return math.Sqrt(sum / float64(rows.Rows()))
}

// TestExplanationsHelp: from 30 objects, explained by a theory that is partly
// wrong, errors on others are smaller than without, in the mean of six samples.
func TestExplanationsHelp(t *testing.T) {
	_, _, theory := builtIn(t, "cup")
	test := cups(99, 500)
	with, without := 0.0, 0.0
	for seed := range uint64(6) {
		rows := cups(seed+1, 30)
		base, err := logicRules(theory, rows.Schema, "cup")
		if err != nil {
			t.Fatal(err)
		}
		task := learn.Task{Table: rows, Target: "cup", Seed: seed}
		plain, err := (&EBNN{}).Learn(context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		task.Advice.Theory = base
		m, err := (&EBNN{}).Learn(context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		a, b := rms(t, m, test), rms(t, plain, test)
		t.Logf("with %.3f, without %.3f", a, b)
		with, without = with+a/6, without+b/6
	}
	if with >= without {
		t.Errorf("explained %.3f, unexplained %.3f", with, without)
	}
}

// TestModelsChain: an earlier model of what the rows do not have and one that reads
// it explain together; the model is saved with them, and learns more with them.
func TestModelsChain(t *testing.T) {
	ctx := context.Background()
	rows := cups(5, 400)
	yes := []string{"no", "yes"}
	with := func(name string, of ...string) *table.Table {
		codes := make([]int32, rows.Rows())
		for r := range codes {
			codes[r] = 1
			for _, column := range of {
				codes[r] *= int32(rows.Columns[rows.Schema.Index(column)].Floats[r])
			}
		}
		schema := &table.Schema{Attributes: append(append([]table.Attribute(nil), rows.Schema.Attributes[:9]...), table.Attribute{Name: name, Kind: table.Nominal, Values: yes})}
		made, err := table.New(schema, append(append([]table.Column(nil), rows.Columns[:9]...), table.Column{Codes: codes}), nil)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	open := with("open_vessel", "has_concavity", "concavity_points_up")
	first, err := (&EBNN{}).Learn(ctx, learn.Task{Table: open, Target: "open_vessel", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// The other one has seen open vessels, and no concavity.
	schema := &table.Schema{Attributes: []table.Attribute{rows.Schema.Attributes[0], rows.Schema.Attributes[2], open.Schema.Attributes[9], rows.Schema.Attributes[9]}}
	last, err := table.New(schema, []table.Column{rows.Columns[0], rows.Columns[2], open.Columns[9], rows.Columns[9]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := (&EBNN{}).Learn(ctx, learn.Task{Table: last, Target: "cup", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	setting := "open,cup"
	for _, m := range []learn.Model{second, first} {
		data, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		setting += "\n" + base64.StdEncoding.EncodeToString(data)
	}
	few := cups(6, 12)
	made, err := (&EBNN{Theory: setting}).Learn(ctx, learn.Task{Table: few, Target: "cup", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := made.(*Explained)
	if m.right < 0.7 || !m.explained {
		t.Errorf("the chain is right on %v", m.right)
	}
	plain, err := (&EBNN{}).Learn(ctx, learn.Task{Table: few, Target: "cup", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	test := cups(99, 500)
	if a, b := rms(t, m, test), rms(t, plain, test); a >= b {
		t.Errorf("explained %v, unexplained %v", a, b)
	}
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the error of the model that was read", rms(t, again, test), rms(t, m, test), 0)
	if _, err := (&EBNN{Theory: setting}).Learn(ctx, learn.Task{Table: open, Target: "open_vessel", Seed: 1}); err != nil {
		t.Errorf("one of the models suffices: %v", err)
	}
	if _, err := (&EBNN{Theory: setting}).Learn(ctx, learn.Task{Table: rows, Target: "light", Seed: 1}); err == nil || !strings.Contains(err.Error(), "none of the earlier models predicts the target") {
		t.Errorf("error %v", err)
	}
}

// TestStepsExplain: what goes up and down in steps, as trees do, has slopes over a
// longer way: explained by a tree, 25 rows of a hard function tell not much less than
// alone, where slopes at a point more than triple the error.
func TestStepsExplain(t *testing.T) {
	ctx := context.Background()
	waves := func(rows int, seed uint64, times float64) *table.Table {
		r := rand.New(rand.NewPCG(seed, 25))
		cells := make([]table.Column, 6)
		for range rows {
			var x [5]float64
			for j := range x {
				x[j] = 4*r.Float64() - 2
				cells[j].Floats = append(cells[j].Floats, x[j])
			}
			cells[5].Floats = append(cells[5].Floats, times*(2*math.Tanh(x[0]+.5*x[1])+x[2]*x[3])+.05*r.NormFloat64())
		}
		schema := &table.Schema{}
		for _, name := range []string{"a", "b", "c", "d", "e", "y"} {
			schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
		}
		made, err := table.New(schema, cells, nil)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	grower, err := learn.New("tree", nil)
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := grower.Learn(ctx, learn.Task{Table: waves(2000, 1, .85), Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := learn.Encode(earlier)
	if err != nil {
		t.Fatal(err)
	}
	test := waves(500, 2, 1)
	off := func(l *EBNN, seed uint64) float64 {
		m, err := l.Learn(ctx, learn.Task{Table: waves(25, 100+seed, 1), Target: "y", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		p := learn.NewPredictions(m, test.Rows())
		if err := m.Predict(ctx, test, p); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for r, y := range test.Columns[5].Floats {
			sum += (p.Mean[r] - y) * (p.Mean[r] - y)
		}
		return math.Sqrt(sum / float64(test.Rows()))
	}
	with, without := 0.0, 0.0
	for seed := range uint64(3) {
		with += off(&EBNN{Theory: "tree\n" + base64.StdEncoding.EncodeToString(data)}, seed)
		without += off(&EBNN{}, seed)
	}
	if !(with < 1.5*without) {
		t.Errorf("explained by a tree %.3f, unexplained %.3f", with/3, without/3)
	}
}
