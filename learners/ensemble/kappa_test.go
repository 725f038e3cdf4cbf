package ensemble

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/table"
)

// κ = (Θ1 − Θ2)/(1 − Θ2) of 50 rows: both say yes of 20, both no of 15, the
// first alone yes of 5 and the second alone of 10; Θ1 = .7, Θ2 = .5.
func TestKappa(t *testing.T) {
	var a, b []int32
	for _, of := range []struct{ n, a, b int }{{20, 1, 1}, {15, 0, 0}, {5, 1, 0}, {10, 0, 1}} {
		for range of.n {
			a, b = append(a, int32(of.a)), append(b, int32(of.b))
		}
	}
	one := func(int) float64 { return 1 }
	if k := kappa(a, b, one, 2); math.Abs(k-0.4) > 1e-12 {
		t.Errorf("κ = %v, expected .4", k)
	}
	same := make([]int32, 10)
	if k := kappa(same, same, one, 2); k != 1 {
		t.Errorf("κ of two constants is %v", k)
	}
	opposite := []int32{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}
	not := []int32{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	if k := kappa(opposite, not, one, 2); k != -1 {
		t.Errorf("κ of opposites is %v", k)
	}
	// The same table in four rows that weigh as much.
	weights := []float64{20, 15, 5, 10}
	if k := kappa([]int32{1, 0, 1, 0}, []int32{1, 0, 0, 1}, func(r int) float64 { return weights[r] }, 2); math.Abs(k-0.4) > 1e-12 {
		t.Errorf("κ of weighed rows is %v, expected .4", k)
	}
}

// The distribution moves to the rows that are wrong: they get half of it.
func TestDistribution(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "c", Values: []string{"a", "b"}}}}
	rows, err := table.New(schema, []table.Column{{Codes: []int32{0, 0, 0, 0, 0, 0, 0, 0, 1, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := newDistribution(rows, 0, 0)
	wrong := make([]bool, 10)
	wrong[3], wrong[9] = true, true
	d.update(wrong)
	if e := d.error(wrong); math.Abs(e-0.5) > 1e-12 {
		t.Errorf("rows that were wrong have the weight %v, expected a half", e)
	}
	before := d.d[0]
	d.update(make([]bool, 10))
	if d.d[0] != before {
		t.Error("rows that are all right move the distribution")
	}
	random := rand.New(rand.NewPCG(1, 1))
	times := d.draw(random, true)
	count := 0.0
	for r := range 8 {
		count += times[r]
	}
	if count != 5 || times[8]+times[9] != 5 {
		t.Errorf("drawn %v, expected five of each class", times)
	}
	for _, balanced := range []bool{false, true} {
		count = 0
		for _, n := range newDistribution(rows, 0, 4).draw(random, balanced) {
			count += n
		}
		if count != 4 {
			t.Errorf("a sample of 4 has %v rows", count)
		}
	}
	if few, many := usualSample(10_000), usualSample(80_000); few != 5000 || many != 10_000 {
		t.Errorf("samples of %d and %d rows", few, many)
	}
}

// Any bytes give a sound model or an error.
func FuzzDecode(f *testing.F) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "c", Values: []string{"a", "b"}}}}
	rows, err := table.New(schema, []table.Column{{Floats: []float64{1, 2, 3, 4, 5, 6}}, {Codes: []int32{0, 0, 0, 1, 1, 0}}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	ctx := f.Context()
	for _, l := range []learn.Learner{&Learner{Base: "tree", Members: 2}, &MajorityLearner{Members: "tree"}} {
		m, err := l.Learn(ctx, learn.Task{Table: rows, Seed: 1}.At(1))
		if err != nil {
			f.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.Learner() == Name, parts[0].Data, parts[1].Data)
	}
	f.Fuzz(func(t *testing.T, sessions bool, head, body []byte) {
		defer bounded.Start(t, len(head)+len(body))()
		read, name := decodePool, poolPart
		parts := []learn.Part{{Name: poolPart, Data: head}, {Name: memberPart + " 1", Data: body}}
		if sessions {
			read, name = decode, headPart
			parts = []learn.Part{{Name: headPart, Data: head}, {Name: sessionName(1), Data: body}}
		}
		m, err := read(parts)
		if err != nil {
			return
		}
		one, _, err := table.Conform(rows, m.Schema(), false)
		if err != nil {
			return
		}
		out := learn.NewPredictions(m, one.Rows())
		if err := m.Predict(t.Context(), one, out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for r := range one.Rows() {
			sum := 0.0
			for _, p := range out.Row(r) {
				sum += p
			}
			if out.Classes > 0 && math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: probabilities add up to %v", name, sum)
			}
		}
	})
}
