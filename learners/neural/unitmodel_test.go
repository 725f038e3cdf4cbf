package neural

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// plane returns points and on which side of a line they lie; with three
// classes, in which of three sectors.
func plane(t testing.TB, rows, classes int) *table.Table {
	random := rand.New(rand.NewPCG(1, 4))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "side", Kind: table.Nominal, Values: []string{"a", "b", "c"}[:classes]},
	}}
	columns := make([]table.Column, 3)
	for len(columns[2].Codes) < rows {
		x, y := random.NormFloat64(), random.NormFloat64()
		angle := math.Atan2(y, x)/(2*math.Pi) + 0.5
		if part := angle * float64(classes); math.Abs(part-math.Round(part)) < 0.05 {
			continue // a gap between the classes
		}
		columns[0].Floats, columns[1].Floats = append(columns[0].Floats, x), append(columns[1].Floats, y)
		columns[2].Codes = append(columns[2].Codes, int32(angle*float64(classes)))
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// truth returns the truth table of "at least two of three".
func truth(t testing.TB) *table.Table {
	schema := &table.Schema{Attributes: make([]table.Attribute, 4)}
	columns := make([]table.Column, 4)
	for j := range columns {
		schema.Attributes[j] = table.Attribute{Name: string(rune('a' + j)), Kind: table.Nominal, Values: []string{"no", "yes"}}
	}
	for row := range int32(8) {
		ones := int32(0)
		for j := range 3 {
			columns[j].Codes = append(columns[j].Codes, row>>j&1)
			ones += row >> j & 1
		}
		columns[3].Codes = append(columns[3].Codes, ones/2)
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Every algorithm learns what it can, keeps it when it is saved, and explains
// its answers.
func TestAlgorithms(t *testing.T) {
	two, three := plane(t, 60, 2), plane(t, 60, 3)
	for name, c := range map[string]struct {
		learner Learner
		rows    *table.Table
		least   float64 // right of the rows learnt
	}{
		"perceptron":   {Learner{Algorithm: "perceptron"}, two, 1},
		"perceptrons":  {Learner{Algorithm: "perceptron"}, three, 0.8},
		"pocket":       {Learner{Algorithm: "pocket"}, two, 1},
		"delta":        {Learner{Algorithm: "delta", Epochs: 50}, two, 0.9},
		"separate":     {Learner{Algorithm: "separate"}, two, 1},
		"truth table":  {Learner{Algorithm: "truth-table"}, truth(t), 1},
		"cascade":      {Learner{Algorithm: "cascade"}, three, 0.95},
		"graph":        {Learner{Algorithm: "graph", Graph: "h = tanh(x, y); g = tanh(x, y); out = sigmoid(h, g)"}, two, 1},
		"graph of 2/3": {Learner{Algorithm: "graph", Graph: `out = atleast(2, "a = yes", "b = yes", "c = yes")`}, truth(t), 1},
		"elman":        {Learner{Algorithm: "elman", Epochs: 50}, two, 1},
		"jordan":       {Learner{Algorithm: "jordan", Epochs: 50}, two, 1},
		"evolved":      {Learner{Algorithm: "evolve", Epochs: 60}, three, 0.9},
		"by steps":     {Learner{Algorithm: "evolve", Evolution: "strategy", Epochs: 60}, two, 0.95},
		"by mutants":   {Learner{Algorithm: "evolve", Evolution: "program", Epochs: 60}, two, 0.95},
		"climbed":      {Learner{Algorithm: "evolve", Evolution: "climb", Epochs: 60}, two, 0.95},
		"annealed":     {Learner{Algorithm: "evolve", Evolution: "anneal", Epochs: 60}, two, 0.9},
		"inherited":    {Learner{Algorithm: "evolve", Learning: "lamarck", Epochs: 15, Population: 20}, two, 0.95},
		"only judged":  {Learner{Algorithm: "evolve", Learning: "baldwin", Epochs: 15, Population: 20}, two, 0.9},
		"rectangle":    {Learner{Algorithm: "rectangle", Epochs: 300}, two, 0.9},
	} {
		target := len(c.rows.Columns) - 1
		task := learn.Task{Table: c.rows, Target: c.rows.Schema.Attributes[target].Name, Seed: 1}
		m, err := c.learner.Learn(context.Background(), task)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out := learn.NewPredictions(m, c.rows.Rows())
		if err := m.Predict(context.Background(), c.rows, out); err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for r := range c.rows.Rows() {
			sum := 0.0
			for _, p := range out.Row(r) {
				if sum += p; !(p > 0) {
					t.Fatalf("%s: probabilities %v", name, out.Row(r))
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: probabilities %v", name, out.Row(r))
			}
			if learn.Best(out.Row(r), c.rows.Schema.Attributes[target].Values) == int(c.rows.Columns[target].Codes[r]) {
				right++
			}
		}
		if right /= float64(c.rows.Rows()); right < c.least {
			t.Errorf("%s is right on %.2f of the rows, expected %.2f", name, right, c.least)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(parts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same := learn.NewPredictions(again, c.rows.Rows())
		if err := again.Predict(context.Background(), c.rows, same); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.P, same.P) {
			t.Errorf("%s answers otherwise when it was saved", name)
		}
		first, _ := m.(learn.Grower).Grown()
		second, _ := again.(learn.Grower).Grown()
		if len(first) != len(second) {
			t.Errorf("%s remembers %d epochs, and %d when it was saved", name, len(first), len(second))
		}
		e, err := m.(learn.Explainer).Explain(c.rows, 0)
		if err != nil {
			t.Fatal(err)
		}
		sums := slices.Clone(e.Prior)
		for _, v := range e.Evidence {
			sums[v.Class] += v.Weight
		}
		for class, p := range out.Row(0) {
			if math.Abs(sums[class]-math.Log(p)) > 1e-9 {
				t.Errorf("%s: reasons add up to %v of class %d, not %v", name, sums[class], class, math.Log(p))
			}
		}
		if _, err := m.(learn.Drawer).Graph(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The delta rule on numbers is linear regression, which it approaches.
func TestDeltaRuleOnNumbers(t *testing.T) {
	rows := function(t, 200, 5)
	m, err := (&Learner{Algorithm: "delta", Rate: 0.01, Schedule: "falling", Epochs: 200}).Learn(context.Background(), learn.Task{Table: rows, Target: rows.Schema.Attributes[2].Name, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(context.Background(), rows, out); err != nil {
		t.Fatal(err)
	}
	mean, inside := 0.0, 0
	for r, y := range rows.Columns[2].Floats {
		mean += (y - out.Mean[r]) / 200
		if out.Low[r] <= y && y <= out.High[r] {
			inside++
		}
	}
	if math.Abs(mean) > 0.05 || inside < 170 {
		t.Errorf("residuals of %v in the mean, %d of 200 in their intervals", mean, inside)
	}
}

// What the algorithms cannot learn they refuse.
func TestAlgorithmsRefuse(t *testing.T) {
	two, three := plane(t, 20, 2), plane(t, 20, 3)
	for name, c := range map[string]struct {
		learner Learner
		rows    *table.Table
		target  int
	}{
		"an unknown algorithm":         {Learner{Algorithm: "cascad"}, two, 2},
		"a number for a perceptron":    {Learner{Algorithm: "perceptron"}, two, 0},
		"three classes, one rectangle": {Learner{Algorithm: "rectangle"}, three, 2},
		"a truth table of numbers":     {Learner{Algorithm: "truth-table"}, two, 2},
		"a cycle":                      {Learner{Algorithm: "graph", Graph: "a = tanh(x, b); b = tanh(a); out = sigmoid(b)"}, two, 2},
		"no graph":                     {Learner{Algorithm: "graph"}, two, 2},
		"a graph without outputs":      {Learner{Algorithm: "graph", Graph: "a = tanh(x); b = tanh(y)"}, two, 2},
		"a threshold to be trained":    {Learner{Algorithm: "graph", Graph: "a = sign(x, y)"}, two, 2},
		"a column that is not there":   {Learner{Algorithm: "elman", Sequence: "run"}, two, 2},
		"cosine":                       {Learner{Algorithm: "delta", Schedule: "cosine"}, two, 2},
	} {
		if _, err := c.learner.Learn(context.Background(), learn.Task{Table: c.rows, Target: c.rows.Schema.Attributes[c.target].Name}); err == nil {
			t.Errorf("%s is learnt", name)
		}
	}
}

// A truth table of numbers, of which a row is missing, says so and answers the
// others as they are; gates over numbers of two values are right, however many
// rows have either.
func TestTruthTableWithGaps(t *testing.T) {
	rows, _, err := table.Read(context.Background(), strings.NewReader("a,b,c,out\n0,0,5,no\n0,1,5,yes\n1,1,5,no\n1,0,7,yes\n1,1,7,no\n"), table.Options{Numeric: []string{"a", "b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]Learner{
		"table": {Algorithm: "truth-table"},
		"graph": {Algorithm: "graph", Graph: "# either\nd = and(a, -b); e = and(-a, b)\nout = or(d, e)"},
	} {
		learnt, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "out"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out := learn.NewPredictions(learnt, rows.Rows())
		if err := learnt.Predict(context.Background(), rows, out); err != nil {
			t.Fatal(err)
		}
		for r, class := range rows.Columns[3].Codes {
			if out.P[2*r+int(class)] < 0.5 {
				t.Errorf("%s: row %d has the probability %v", name, r+1, out.P[2*r+int(class)])
			}
		}
		said, err := learnt.(learn.Remarker).Remarks()
		if want := "the truth table has no row for 3 of 8 patterns, which get the answer no"; err != nil || (name == "table") != (len(said) == 1 && said[0].String() == want) {
			t.Errorf("%s: remarks %v, %v", name, said, err)
		}
	}
}

func FuzzDecodeUnits(f *testing.F) {
	for _, l := range []Learner{{Algorithm: "perceptron"}, {Algorithm: "elman", Epochs: 2}, {Algorithm: "rectangle", Epochs: 2}, {Algorithm: "graph", Graph: "out = tanh(x*w, y*w)", Epochs: 2}} {
		m, err := l.Learn(context.Background(), learn.Task{Table: plane(f, 10, 2), Target: "side"})
		if err != nil {
			f.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parts[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		m, err := decode([]learn.Part{{Name: unitsPart, Data: data}})
		if err != nil {
			return
		}
		columns := make([]table.Column, len(m.Schema().Attributes))
		for j, a := range m.Schema().Attributes {
			if a.Kind == table.Nominal {
				columns[j].Codes = []int32{table.Missing}
			} else {
				columns[j].Floats = []float64{table.NA}
			}
		}
		row, err := table.New(m.Schema(), columns, nil)
		if err != nil {
			return
		}
		out := learn.NewPredictions(m, 1)
		if err := m.Predict(context.Background(), row, out); err != nil {
			t.Fatal(err)
		}
		for _, p := range out.P {
			if !(p >= 0 && p <= 1) {
				t.Errorf("probability %v", p)
			}
		}
		if _, err := m.(*UnitModel).AsNetwork(); err != nil {
			t.Error(err)
		}
	})
}
