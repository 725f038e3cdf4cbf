package theory

import (
	"context"
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// explainedBy is a network of kbann whose rows an earlier model explains.
func explainedBy(t *testing.T, m learn.Model) *Learner {
	t.Helper()
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return &Learner{Explained: "earlier\n" + base64.StdEncoding.EncodeToString(data)}
}

// TestSlopesDescend: the slope of a row's error by each weight, its explanation
// included, is that of differences.
func TestSlopesDescend(t *testing.T) {
	rows, target, theory := builtIn(t, "promoters")
	m := learnt(t, rows, target, theory, &Learner{Epochs: of(2)})
	random := rand.New(rand.NewPCG(5, 1))
	examples, err := m.examples(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	e := &examples[3]
	e.mu, e.times = .7, 1.5
	for i := range 4 {
		e.shifts = append(e.shifts, shift{changes: []change{{e.at[i], 0}, {e.at[i] ^ 1, 1}}, want: []float64{random.Float64() - .5, random.Float64() - .5}})
	}
	e.shifts = append(e.shifts, shift{changes: []change{{e.at[9], 1.5}}, want: []float64{.1, -.1}})
	w, gradient := m.net.weights, m.newRoom()
	gradient.gradient = make([]float64, len(w))
	m.learnFrom(w, e, gradient)
	ignored := m.newRoom()
	ignored.gradient = make([]float64, len(w))
	for range 200 {
		const h = 1e-5
		i := random.IntN(len(w))
		was := w[i]
		w[i] = was + h
		up := m.learnFrom(w, e, ignored)
		w[i] = was - h
		down := m.learnFrom(w, e, ignored)
		w[i] = was
		near(t, "a slope", gradient.gradient[i], (up-down)/(2*h), 1e-6*max(1, math.Abs(gradient.gradient[i])))
	}
}

// TestTheoryAndExplanations: from twelve objects, a network that begins as a theory
// which is partly wrong and learns the slopes of an earlier model errs less than
// without these, and less than a network of slopes that does not begin as the theory,
// in the mean of six samples; it is saved with the model, and learns on with it.
func TestTheoryAndExplanations(t *testing.T) {
	ctx := context.Background()
	_, _, clauses := builtIn(t, "cup")
	test := cups(98, 500)
	rough, err := (&Learner{}).Learn(ctx, learn.Task{Table: cups(41, 150), Target: "cup", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	joined := explainedBy(t, rough)
	var both, theory, slopes float64
	for seed := range uint64(6) {
		rows := cups(seed+20, 12)
		base, err := logicRules(clauses, rows.Schema, "cup")
		if err != nil {
			t.Fatal(err)
		}
		of := func(l learn.Learner, base *rule.Base) float64 {
			m, err := l.Learn(ctx, learn.Task{Table: rows, Target: "cup", Seed: seed, Advice: learn.Advice{Theory: base}})
			if err != nil {
				t.Fatal(err)
			}
			return rms(t, m, test)
		}
		a, b, c := of(joined, base), of(&Learner{}, base), of(&EBNN{Theory: joined.Explained}, nil)
		t.Logf("both %.3f, theory %.3f, slopes %.3f", a, b, c)
		both, theory, slopes = both+a/6, theory+b/6, slopes+c/6
	}
	if both >= theory || both >= slopes {
		t.Errorf("joined %.3f, the theory alone %.3f, slopes alone %.3f", both, theory, slopes)
	}
	m, err := joined.Learn(ctx, learn.Task{Table: cups(7, 30), Target: "cup", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.(*Model).Remarks()
	if err != nil || len(said) != 1 || !strings.Contains(said[0].String(), "the explanations were right on") {
		t.Errorf("remarks %v, %v", said, err)
	}
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := rms(t, m, test), rms(t, back, test); a != b {
		t.Errorf("saved, it errs by %v instead of %v", b, a)
	}
	if key, value := back.(*Model).Earlier(); key != "explained" || value != joined.Explained {
		t.Errorf("earlier models are kept by %s", key)
	}
	both2 := *joined
	both2.From = joined.Explained
	if _, err := both2.Learn(ctx, learn.Task{Table: cups(7, 30), Target: "cup"}); err == nil || !strings.Contains(err.Error(), "give one of the two") {
		t.Errorf("from and explained: %v", err)
	}
}
