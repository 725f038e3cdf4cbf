package tree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// manyClasses returns rows of which two share a class, with numbers and names
// that know something of it.
func manyClasses(rows int) *table.Table {
	random := rand.New(rand.NewPCG(1, 1))
	classes := rows / 2
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "n"}, {Name: "class"},
	}}
	columns := make([]table.Column, 4)
	for v := range 10 {
		schema.Attributes[2].Values = append(schema.Attributes[2].Values, fmt.Sprint("v", v))
	}
	for c := range classes {
		schema.Attributes[3].Values = append(schema.Attributes[3].Values, fmt.Sprintf("c%06d", c))
	}
	for r := range rows {
		c := r % classes
		columns[0].Floats = append(columns[0].Floats, float64(c)+random.NormFloat64())
		columns[1].Floats = append(columns[1].Floats, random.NormFloat64())
		columns[2].Codes = append(columns[2].Codes, int32((c+random.IntN(3))%10))
		columns[3].Codes = append(columns[3].Codes, int32(c))
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Growing takes a time that rises a little faster than the rows, however many
// classes they have.
func BenchmarkManyClasses(b *testing.B) {
	for _, rows := range []int{2500, 5000, 10000, 20000, 40000} {
		t := manyClasses(rows)
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: t, Seed: 1}.At(3))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := m.Parts(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// With 5,000 classes in 10,000 rows what is kept grows with the rows and the
// depth, not with nodes times classes, and is read back as it was.
func TestManyClasses(t *testing.T) {
	rows := manyClasses(10_000)
	learnt, err := (&Learner{Keep: "nothing"}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(3))
	if err != nil {
		t.Fatal(err)
	}
	m := learnt.(*Model)
	if most := (m.Depth() + 1) * rows.Rows(); len(m.tree.stat) > most {
		t.Errorf("%d weights for %d nodes, expected at most %d", len(m.tree.stat), m.Nodes(), most)
	}
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	some := rows.Slice(0, 50)
	some.Columns[0].Floats = append([]float64{table.NA}, some.Columns[0].Floats[1:]...)
	a, b := learn.NewPredictions(m, 50), learn.NewPredictions(read, 50)
	for model, out := range map[learn.Model]*learn.Predictions{m: a, read: b} {
		if err := model.Predict(context.Background(), some, out); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(a.P, b.P) {
		t.Error("a tree answers otherwise when it was saved and read")
	}
	for r := range 50 {
		if s := sum(a.Row(r)); math.Abs(s-1) > 1e-9 {
			t.Errorf("probabilities of row %d add up to %v", r+1, s)
		}
	}
}

// Nodes that know the classes of their rows alone make the same tree, with the
// same answers, as nodes that know all classes.
func TestFewClasses(t *testing.T) {
	usual := fewClasses
	defer func() { fewClasses = usual }()
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 6).Draw(t, "classes")
		schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "n", Values: []string{"a", "b", "c"}}, {Name: "class"}}}
		for c := range classes {
			schema.Attributes[2].Values = append(schema.Attributes[2].Values, fmt.Sprint(c))
		}
		columns := make([]table.Column, 3)
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			x := float64(rapid.IntRange(0, 12).Draw(t, "x"))
			if x == 0 {
				x = table.NA
			}
			columns[0].Floats = append(columns[0].Floats, x)
			columns[1].Codes = append(columns[1].Codes, int32(rapid.IntRange(-1, 2).Draw(t, "n")))
			columns[2].Codes = append(columns[2].Codes, int32(rapid.IntRange(0, classes-1).Draw(t, "class")))
		}
		rows, err := table.New(schema, columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := &Learner{
			Binary: ptr(false), MinRows: ptr(1.0),
			Measure: rapid.SampledFrom([]string{"gain", "ratio", "gini", "kearns"}).Draw(t, "measure"),
			Missing: rapid.SampledFrom([]string{"fractions", "known", "common", "class"}).Draw(t, "missing"),
			Prune:   rapid.SampledFrom([]string{"none", "pessimistic", "error", "cost", "mdl"}).Draw(t, "prune"),
		}
		answers := func(few int) (*Model, *learn.Predictions) {
			fewClasses = few
			m, err := l.Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(2))
			if err != nil {
				t.Fatal(err)
			}
			fitted, _, err := table.Conform(rows, m.Schema(), false)
			if err != nil {
				t.Fatal(err)
			}
			out := learn.NewPredictions(m, rows.Rows())
			if err := m.Predict(context.Background(), fitted, out); err != nil {
				t.Fatal(err)
			}
			return m.(*Model), out
		}
		all, want := answers(usual)
		few, got := answers(1)
		if all.Outline() != few.Outline() {
			t.Fatalf("%s became %s", all.Outline(), few.Outline())
		}
		for i, p := range want.P {
			if math.Abs(p-got.P[i]) > 1e-12 {
				t.Fatalf("probability %v became %v", p, got.P[i])
			}
		}
	})
}

// The best rules are those of all rules, and making them does not make all:
// with thousands of classes that would be rules times classes.
func TestTopRules(t *testing.T) {
	for _, rows := range []int{200, 600} {
		m, err := (&Learner{Prune: "none"}).Learn(context.Background(), learn.Task{Table: manyClasses(rows), Seed: 1}.At(3))
		if err != nil {
			t.Fatal(err)
		}
		tree := m.(*Model)
		all, err := tree.Rules()
		if err != nil {
			t.Fatal(err)
		}
		top, left, err := tree.TopRules(10)
		if err != nil || len(top.Rules) != 10 || left != len(all.Rules)-10 || !slices.Equal(top.Notes, all.Notes) {
			t.Fatalf("%d rules, %d left of %d, %v", len(top.Rules), left, len(all.Rules), err)
		}
		least, most := math.Inf(1), 0
		for i := range top.Rules {
			least = min(least, *top.Rules[i].Evidence.Bits)
			if !slices.ContainsFunc(all.Rules, func(r rule.Rule) bool { return r.String() == top.Rules[i].String() }) {
				t.Errorf("%v is no rule of the tree", &top.Rules[i])
			}
		}
		for i := range all.Rules {
			if *all.Rules[i].Evidence.Bits > least {
				most++
			}
		}
		if most > 9 {
			t.Errorf("%d rules tell more than one of the best ten", most)
		}
		if whole, left, err := tree.TopRules(len(all.Rules)); err != nil || left != 0 || len(whole.Rules) != len(all.Rules) {
			t.Errorf("%d rules of %d, %v", len(whole.Rules), len(all.Rules), err)
		}
	}
	// What ten rules allocate: their own classes, not those of all.
	m, err := (&Learner{Prune: "none"}).Learn(context.Background(), learn.Task{Table: manyClasses(10_000), Seed: 1}.At(3))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1, func() { _, _, err = m.(*Model).TopRules(10) }); err != nil || n > 2*float64(m.(*Model).Nodes())+10_000 {
		t.Errorf("%v allocations for ten rules of %d nodes, %v", n, m.(*Model).Nodes(), err)
	}
}
