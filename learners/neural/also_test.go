package neural

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// steering returns rows of a road: where it bends and how steep it is say how to
// steer, whether to brake, and how fast it goes; every seventh speed is missing.
func steering(t *testing.T, rows int, seed uint64) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "bend", Kind: table.Numeric}, {Name: "slope", Kind: table.Numeric},
		{Name: "steer", Kind: table.Numeric}, {Name: "brake", Kind: table.Nominal, Values: []string{"no", "yes"}},
		{Name: "speed", Kind: table.Numeric},
	}}
	random := rand.New(rand.NewPCG(seed, 1))
	columns := make([]table.Column, 5)
	for r := range rows {
		bend, slope := random.NormFloat64(), random.NormFloat64()
		brake, speed := int32(0), 50-5*math.Abs(bend)+3*slope
		if bend*bend+slope > 1 {
			brake = 1
		}
		if r%7 == 0 {
			speed = math.NaN()
		}
		for j, x := range []float64{bend, slope, math.Tanh(bend), 0, speed} {
			if j != 3 {
				columns[j].Floats = append(columns[j].Floats, x)
			}
		}
		columns[3].Codes = append(columns[3].Codes, brake)
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// several learns to steer, to brake and how fast to go by one network.
func several(t *testing.T, rows *table.Table) *Model {
	t.Helper()
	m, err := (&Learner{Also: "brake, speed", Epochs: 60, Hidden: "20"}).Learn(context.Background(), learn.Task{Table: rows, Target: "steer", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func answersOf(t *testing.T, m learn.Model, rows *table.Table) *learn.Predictions {
	t.Helper()
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(context.Background(), rows, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// One network learns three targets at once: each is told far better than by its mean
// or its more frequent class, targets are no inputs, and all share the hidden units.
func TestSeveralTargets(t *testing.T) {
	m := several(t, steering(t, 600, 1))
	fresh := steering(t, 400, 2)
	others := m.Companions()
	if len(others) != 2 || len(m.matrix.Inputs) != 2 {
		t.Fatalf("%d further targets and %d inputs; expected 2 and 2", len(others), len(m.matrix.Inputs))
	}
	explained := func(of learn.Model) float64 {
		out := answersOf(t, of, fresh)
		truth, left, sum, squares, n := fresh.Columns[of.Target()].Floats, 0.0, 0.0, 0.0, 0.0
		for r, y := range truth {
			if y == y {
				left += (y - out.Mean[r]) * (y - out.Mean[r])
				sum, squares, n = sum+y, squares+y*y, n+1
			}
		}
		return 1 - left/(squares-sum*sum/n)
	}
	// A network that had learnt one of them alone explains .99 of each.
	for _, of := range []learn.Model{m, others[1]} {
		if r2 := explained(of); r2 < 0.9 {
			t.Errorf("%s: R² %.3f, expected .9 or more", of.Schema().Attributes[of.Target()].Name, r2)
		}
	}
	right, out := 0, answersOf(t, others[0], fresh)
	for r, c := range fresh.Columns[3].Codes {
		if (out.Row(r)[1] > 0.5) == (c == 1) {
			right++
		}
	}
	if right < 360 {
		t.Errorf("brakes rightly in %d of 400 rows, expected 360 or more", right)
	}
	net := m.members[0].net
	for _, other := range m.also {
		if &other.members[0].net.layers[0].w[0] != &net.layers[0].w[0] {
			t.Error("hidden units are not shared")
		}
	}
	if remarks, err := m.Remarks(); err != nil || len(remarks) != 2 {
		t.Errorf("remarks %v, %v; expected one on each further target", remarks, err)
	}
}

// A saved network is the same for all targets; new rows teach all of them, also
// where a further target gets a class that it never had.
func TestSeveralTargetsLive(t *testing.T) {
	m := several(t, steering(t, 300, 1))
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := loaded.(*Model).Parts()
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		if !bytes.Equal(parts[i].Data, again[i].Data) {
			t.Errorf("part %q changed when it was read", parts[i].Name)
		}
	}
	rows := steering(t, 200, 3)
	rows.Schema.Attributes[3].Values = []string{"no", "yes", "hard"}
	for r := range 80 {
		rows.Columns[3].Codes[r] = 2
	}
	u, err := loaded.(*Model).Begin(learn.Source{ID: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	frozen, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	brake := frozen.(*Model).Companions()[0]
	out, sum := answersOf(t, brake, rows), 0.0
	if out.Classes != 3 {
		t.Fatalf("%d classes, expected 3", out.Classes)
	}
	for r := range rows.Rows() {
		sum += out.Row(r)[2]
	}
	// 80 of 500 rows were braked hard; a class that was only added has 1/500.
	if sum < 5 {
		t.Errorf("200 rows are braked hard %.2f times in the mean of the answers, expected 5 or more", sum)
	}
}

// What cannot be a further target is refused by name.
func TestSeveralTargetsRefused(t *testing.T) {
	rows := steering(t, 50, 1)
	for also, l := range map[string]*Learner{
		"sped":        {Also: "sped"},
		"steer":       {Also: "steer"},
		"brake,brake": {Also: "brake,brake"},
		"speed":       {Also: "speed", Prune: 0.5},
	} {
		if _, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "steer", Seed: 1}); err == nil {
			t.Errorf("also=%s with %+v was learnt", also, *l)
		}
	}
}
