package rulenet

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// repeating makes rows at places that repeat: the class is the place's own, drawn
// freely, so that no rule of few tests tells it, and one in ten is wrong.
func repeating(t *testing.T, rows int, seed uint64) *table.Table {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, 7))
	x, y, class := make([]float64, rows), make([]float64, rows), make([]int32, rows)
	for r := range rows {
		place := draw.IntN(200)
		own := rand.New(rand.NewPCG(uint64(place), 3))
		x[r], y[r], class[r] = own.Float64(), own.Float64(), int32(own.IntN(3))
		if draw.IntN(10) == 0 {
			class[r] = int32(draw.IntN(3))
		}
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "t", Values: []string{"a", "b", "c"}}}}
	made, err := table.New(schema, []table.Column{{Floats: x}, {Floats: y}, {Codes: class}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func learnRepeating(t *testing.T, settings map[string]string, rows *table.Table) learn.Model {
	t.Helper()
	l, err := learn.New(Name, settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Source: learn.Source{ID: "1"}, Seed: 1, Target: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func askOf(t *testing.T, m learn.Model, probe *table.Table) []float64 {
	t.Helper()
	out := learn.NewPredictions(m, probe.Rows())
	if err := m.Predict(context.Background(), probe, out); err != nil {
		t.Fatal(err)
	}
	return out.P
}

var remembering = map[string]string{"repeats": "auto"}

// What a network remembers helps where rows repeat, is explained, and is said to be
// more than the rules say.
func TestRepeats(t *testing.T) {
	rows, probe := repeating(t, 900, 1), repeating(t, 300, 2)
	plain, m := learnRepeating(t, map[string]string{"teacher": "trees"}, rows), learnRepeating(t, remembering, rows)
	right := func(p []float64) (n int) {
		for r, class := range probe.Columns[2].Codes {
			if own := p[r*3:][:3]; own[class] == slices.Max(own) {
				n++
			}
		}
		return n
	}
	answers := askOf(t, m, probe)
	if without, with := right(askOf(t, plain, probe)), right(answers); with <= without {
		t.Errorf("%d of 300 right with memory, %d without", with, without)
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil || !slices.ContainsFunc(base.Notes, func(n string) bool { return strings.HasPrefix(n, "summary: rows that equal learnt ones") }) {
		t.Errorf("notes %q, %v", base.Notes, err)
	}
	for row := range 20 {
		e, err := m.(learn.Explainer).Explain(probe, row)
		if err != nil {
			t.Fatal(err)
		}
		scores := slices.Clone(e.Prior)
		for _, of := range e.Evidence {
			scores[of.Class] += of.Weight
		}
		for c, s := range scores {
			if p := math.Exp(s - e.Normaliser); math.Abs(p-answers[row*3+c]) > 1e-9 {
				t.Fatalf("row %d, class %d: the explanation adds up to %v, the answer is %v", row, c, p, answers[row*3+c])
			}
		}
	}
}

// What is remembered is a function of the rows, and is kept with them or without.
func TestRepeatsAreKept(t *testing.T) {
	ctx := context.Background()
	rows, probe := repeating(t, 900, 1), repeating(t, 300, 2)
	m := learnRepeating(t, remembering, rows)
	want := askOf(t, m, probe)
	same := func(how string, m learn.Model) {
		t.Helper()
		for i, p := range askOf(t, m, probe) {
			if math.Abs(p-want[i]) > 1e-12 {
				t.Fatalf("%s answers %v, expected %v", how, p, want[i])
			}
		}
	}
	same("without rows it", learnRepeating(t, map[string]string{"repeats": "auto", "update": "none"}, rows))
	bare, _, err := m.(*Model).Shed()
	if err != nil {
		t.Fatal(err)
	}
	same("what shed its rows", bare)
	for _, of := range []learn.Model{m, bare} {
		parts, err := of.Parts()
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.DecodeParts(Name, parts)
		if err != nil {
			t.Fatal(err)
		}
		same("read back, it", again)
	}
	var half [2][]int
	for row := range rows.Rows() {
		half[row%2] = append(half[row%2], row)
	}
	u, err := learnRepeating(t, remembering, rows.Select(half[0])).(learn.Updater).Begin(learn.Source{ID: "2"})
	if err == nil {
		err = u.Add(ctx, rows.Select(half[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	both, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	same("learnt in two parts, it", both)
}

func TestRepeatsThatMakeNoSense(t *testing.T) {
	for _, settings := range []map[string]string{{"repeats": "auto", "update": "living"}, {"repeats": "auto", "teacher": "none"}, {"repeats": "auto", "weights": "published"}, {"repeats": "perhaps"}} {
		l, err := learn.New(Name, settings)
		if err == nil {
			_, err = l.Learn(context.Background(), learn.Task{Table: repeating(t, 60, 1), Source: learn.Source{ID: "1"}, Target: "t"})
		}
		if err == nil {
			t.Errorf("%v is learnt", settings)
		}
	}
}
