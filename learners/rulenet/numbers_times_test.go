package rulenet

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Six times, of which two go on: by hand (Kaplan and Meier 1958) five sixths are longer
// than 1, the row at 2 goes on, of the four left three are longer than 3, and so on.
func TestSurvival(t *testing.T) {
	s := newSurvival([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, 1, 1, 1, 1}, []bool{false, true, false, false, true, false})
	step := 5. / 6 / 4
	want := (3*step + 4*step + 6*2*step) / (4 * step)
	if got := s.mean(2); math.Abs(got-want) > 1e-12 {
		t.Errorf("beyond 2 the mean is %v, expected %v", got, want)
	}
	if got := s.mean(5); math.Abs(got-6) > 1e-12 {
		t.Errorf("beyond 5 the mean is %v, expected 6", got)
	}
	if got := s.mean(6); got != 6 {
		t.Errorf("beyond all the mean is %v, expected 6", got)
	}
}

// lives is times of two kinds, of 10 and 40 days on average, a part of which had not
// ended when they were looked at.
func lives(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 31))
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "kind", Values: []string{"long", "short"}}, {Name: "x", Kind: table.Numeric}, {Name: "days", Kind: table.Numeric}, {Name: "open", Values: []string{"no", "yes"}},
	}}
	c := make([]table.Column, 4)
	for range rows {
		kind, looked := random.Int32N(2), 60*random.Float64()
		days := []float64{40, 10}[kind] * random.ExpFloat64()
		open := int32(0)
		if days > looked {
			days, open = looked, 1
		}
		c[0].Codes, c[1].Floats = append(c[0].Codes, kind), append(c[1].Floats, math.Round(100*random.Float64()))
		c[2].Floats, c[3].Codes = append(c[2].Floats, math.Round(10*days)/10), append(c[3].Codes, open)
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Times that go on are not taken for their ends. What is longer than all rows were
// looked at for, nobody can know: of the longer kind the mean up to 60 days is 31.1.
// Times are taken to vary alike in both kinds, which costs a few days here.
func TestTimesThatGoOn(t *testing.T) {
	all := lives(700, 3)
	learnt := func(settings map[string]string, rows *table.Table) learn.Model {
		l, err := learn.New(Name, settings)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Target: "days", Source: learn.Source{ID: "a"}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	means := func(m learn.Model) (long, short float64) {
		out := learn.NewPredictions(m, all.Rows())
		if err := m.Predict(t.Context(), all, out); err != nil {
			t.Fatal(err)
		}
		var sums, n [2]float64
		for r, kind := range all.Columns[0].Codes {
			sums[kind] += out.Mean[r]
			n[kind]++
		}
		return sums[0] / n[0], sums[1] / n[1]
	}
	censored := map[string]string{"censored": "open"}
	m := learnt(censored, all)
	if long, short := means(m); math.Abs(long-31.1) > 4 || math.Abs(short-10) > 2 {
		t.Errorf("the kinds last %.1f and %.1f days, expected 31.1 and 10", long, short)
	}
	if long, short := means(learnt(map[string]string{"update": "exact"}, all)); long > 23 || short > 9 {
		t.Errorf("taken for their ends, they last %.1f and %.1f days", long, short)
	}
	if base, err := m.(*Numbers).Rules(); err != nil || strings.Contains(base.String(), "IF open") || !strings.Contains(base.String(), "had not ended") {
		t.Errorf("%v\n%v", err, base)
	}
	u, err := learnt(censored, all.Slice(0, 400)).(learn.Updater).Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), all.Slice(400, 700)); err != nil {
		t.Fatal(err)
	}
	grown, err := u.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, b := learn.NewPredictions(m, all.Rows()), learn.NewPredictions(grown, all.Rows())
	if err := m.Predict(t.Context(), all, a); err != nil {
		t.Fatal(err)
	}
	if err := grown.Predict(t.Context(), all, b); err != nil {
		t.Fatal(err)
	}
	if far := furthest(a.Mean, b.Mean); far > 1e-9 {
		t.Errorf("learnt in two parts answers differ by %v", far)
	}
}

func TestTimesThatMakeNoSense(t *testing.T) {
	rows := lives(50, 3)
	for column, want := range map[string]string{"gone": "no such column", "days": "no such column", "x": "had not ended", "kind": "expected yes"} {
		_, err := (&Learner{Censored: column}).Learn(t.Context(), learn.Task{Table: rows, Target: "days"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("censored=%s: %v", column, err)
		}
	}
	if _, err := (&Learner{Censored: "open"}).Learn(t.Context(), learn.Task{Table: rows, Target: "kind"}); err == nil {
		t.Error("classes go on")
	}
}
