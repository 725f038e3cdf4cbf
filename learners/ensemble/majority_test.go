package ensemble_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

var binary = []string{"0", "1"}

// A trace worked out by hand: five predictors, β = ½.
func TestMajorityTrace(t *testing.T) {
	m := ensemble.Majority{Beta: 0.5, Mistakes: make([]float64, 5)}
	for i, step := range []struct {
		said    string
		truth   int
		answer  int
		weights []float64
	}{
		{"11001", 1, 1, []float64{1, 1, .5, .5, 1}},
		{"10011", 0, 1, []float64{.5, 1, .5, .25, .5}},
		{"01110", 1, 1, []float64{.25, 1, .5, .25, .25}},
		{"10010", 1, 0, []float64{.25, .5, .25, .25, .125}},
		{"00110", 0, 0, []float64{.25, .5, .125, .125, .125}},
		{"11000", 0, 1, []float64{.125, .25, .125, .125, .125}},
	} {
		said := make([]int, 5)
		for k := range said {
			said[k] = int(step.said[k] - '0')
		}
		if got := m.Answer(said, binary); got != step.answer {
			t.Errorf("step %d: answer %d, expected %d", i+1, got, step.answer)
		}
		m.Learn(said, step.truth, 1, binary)
		// Weights are relative to the largest.
		want, most := step.weights, slices.Max(step.weights)
		for k, w := range m.Weights() {
			if w != want[k]/most {
				t.Errorf("step %d: weight %d is %v, expected %v", i+1, k+1, w, want[k]/most)
			}
		}
	}
	if m.Made != 3 || !slices.Equal(m.Mistakes, []float64{3, 2, 3, 3, 3}) || math.Abs(m.Bound()-10.4133) > 5e-5 || m.Best() != 1 {
		t.Errorf("made %v mistakes, members %v, bound %v", m.Made, m.Mistakes, m.Bound())
	}
}

func TestBound(t *testing.T) {
	for beta, want := range map[float64]float64{.1: 23.895, .25: 20.647, .5: 21.685, .75: 31.536, .9: 64.324} {
		m := ensemble.Majority{Beta: beta, Mistakes: slices.Repeat([]float64{5}, 16)}
		if got := m.Bound(); math.Abs(got-want) > 5e-4 {
			t.Errorf("β %v: %v, expected %v", beta, got, want)
		}
	}
	// All trees of depth 2 over ten attributes, 16·n(n−1) of them.
	m := ensemble.Majority{Beta: 0.5, Mistakes: slices.Repeat([]float64{5}, 1440)}
	if got := m.Bound(); math.Abs(got-37.326) > 5e-4 {
		t.Errorf("1440 trees: %v", got)
	}
}

// Thresholds on six points, seven concepts: Halving makes two mistakes at
// worst, its bound. Seven singletons: one.
func TestHalving(t *testing.T) {
	worst := func(concepts [][]int) float64 {
		most := 0.0
		var try func(m ensemble.Majority, of []int)
		try = func(m ensemble.Majority, of []int) {
			most = max(most, m.Made)
			if m.Made > 0 && m.Made > m.Bound() {
				t.Errorf("%v mistakes, bound %v", m.Made, m.Bound())
			}
			for x := range concepts[0] {
				var said []int
				for _, c := range concepts {
					said = append(said, c[x])
				}
				if m.Answer(said, binary) == of[x] {
					continue // the worst sequence asks what is answered wrongly
				}
				after := ensemble.Majority{Mistakes: slices.Clone(m.Mistakes), Made: m.Made}
				after.Learn(said, of[x], 1, binary)
				try(after, of)
			}
		}
		for _, of := range concepts {
			try(ensemble.Majority{Mistakes: make([]float64, len(concepts))}, of)
		}
		return most
	}
	var thresholds, singletons [][]int
	for c := range 7 {
		threshold, single := make([]int, 6), make([]int, 7)
		for x := range threshold {
			if x >= c {
				threshold[x] = 1
			}
		}
		single[c] = 1
		thresholds, singletons = append(thresholds, threshold), append(singletons, single)
	}
	if got := worst(thresholds); got != 2 {
		t.Errorf("thresholds: %v mistakes at worst", got)
	}
	if got := worst(singletons); got != 1 {
		t.Errorf("singletons: %v mistakes at worst", got)
	}
}

// Whatever is said and true, the bound holds, for any number of classes and
// rows that count for more or less than one.
func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "predictors")
		classes := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "classes")]
		m := ensemble.Majority{Beta: rapid.SampledFrom([]float64{0, 0.01, 0.3, 0.5, 0.9, 0.99}).Draw(t, "beta"), Mistakes: make([]float64, n)}
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			said := make([]int, n)
			for i := range said {
				said[i] = rapid.IntRange(0, len(classes)-1).Draw(t, "says")
			}
			m.Learn(said, rapid.IntRange(0, len(classes)-1).Draw(t, "is"), rapid.SampledFrom([]float64{0.2, 1, 1, 2, 3.5}).Draw(t, "weight"), classes)
			if m.Made > m.Bound()+1e-9 {
				t.Fatalf("%v mistakes, those of the members %v, bound %v", m.Made, m.Mistakes, m.Bound())
			}
		}
	})
}

// A pool of learners: the better ones get the say, and the score shows it.
func TestPools(t *testing.T) {
	rows := load(t, "circles:rows=300")
	test := load(t, "circles:rows=300,seed=2")
	for _, name := range []string{ensemble.MajorityName, ensemble.HalvingName, ensemble.CommitteeName} {
		l, err := learn.New(name, map[string]string{"members": "prior,tree,bayes"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(background, learn.Task{Table: rows, Source: source(1), Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		if at := accuracy(t, m, test); name != ensemble.CommitteeName && at < 80 {
			t.Errorf("%s: right on %.1f %%", name, at)
		}
		m = next(t, m, 2, test)
		said, err := m.(learn.Remarker).Remarks()
		if err != nil || len(said) == 0 && name != ensemble.CommitteeName {
			t.Fatalf("%s: remarks %v, %v", name, said, err)
		}
		if name == ensemble.CommitteeName {
			continue
		}
		s := said[0].(ensemble.Score)
		if s.Rows != 600 || s.Bound != nil && s.Mistakes > *s.Bound || s.Best == "prior" || len(s.Members) != 3 {
			t.Errorf("%s: %v", name, s)
		}
		if (s.Bound == nil) != (name == ensemble.HalvingName) {
			t.Errorf("%s: %v", name, s)
		}
		e, err := m.(learn.Explainer).Explain(rows, 0)
		if err != nil || len(e.Evidence) != 3 {
			t.Errorf("%s: explained by %v, %v", name, e, err)
		}
	}
}

// The vote decides, and what the members find probable says how surely: the
// class with most votes is the most probable, and the log loss on rows that
// nobody learnt is that of a committee or better, where shares of votes alone
// are far worse. On pima they have 1.5 (cross-validated), and a committee 0.49.
func TestPoolsAreHonest(t *testing.T) {
	all := load(t, "pima")
	var even, odd []int
	for r := range all.Rows() {
		if r%2 == 0 {
			even = append(even, r)
		} else {
			odd = append(odd, r)
		}
	}
	rows, test, target := all.Select(even), all.Select(odd), len(all.Columns)-1
	losses := map[string]float64{}
	for _, name := range []string{ensemble.MajorityName, ensemble.HalvingName, ensemble.CommitteeName} {
		l, err := learn.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(background, learn.Task{Table: rows, Source: source(1), Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		if name != ensemble.CommitteeName {
			m = next(t, m, 2, rows.Slice(0, 20))
		}
		fitted, _, err := table.Conform(test, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		out, names := answers(t, m, test), m.Schema().Attributes[target].Values
		for r, truth := range fitted.Columns[target].Codes {
			losses[name] -= math.Log(out.Row(r)[truth]) / float64(test.Rows())
			e, err := m.(learn.Explainer).Explain(fitted, r)
			if err != nil {
				t.Fatal(err)
			}
			votes := make([]float64, len(names))
			for _, v := range e.Evidence {
				votes[v.Class] += v.Weight
			}
			if said := learn.Best(out.Row(r), names); name != ensemble.CommitteeName && said != learn.Best(votes, names) {
				t.Fatalf("%s, row %d: votes %v, answer %v", name, r+1, votes, out.Row(r))
			}
		}
	}
	for name, loss := range losses {
		if loss > losses[ensemble.CommitteeName]+0.01 {
			t.Errorf("%s has a log loss of %.3f, a committee %.3f", name, loss, losses[ensemble.CommitteeName])
		}
	}
}

// Any models of the same columns can be pooled.
func TestOf(t *testing.T) {
	rows := load(t, "circles:rows=200")
	var models []learn.Model
	for _, name := range []string{"tree", "bayes", ensemble.Name} {
		l, err := learn.New(name, map[string]string{"base": "tree"})
		if name != ensemble.Name {
			l, err = learn.New(name, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(background, learn.Task{Table: rows, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	pool, err := ensemble.Of(ensemble.MajorityName, 0.5, models...)
	if err != nil {
		t.Fatal(err)
	}
	if at := accuracy(t, pool, rows); at < 90 {
		t.Errorf("right on %.1f %%", at)
	}
	for says, of := range map[string]func() (*ensemble.Pool, error){
		"there are no models": func() (*ensemble.Pool, error) { return ensemble.Of(ensemble.CommitteeName, 0) },
		"unknown pool":        func() (*ensemble.Pool, error) { return ensemble.Of("jury", 0, models...) },
		"beta=1":              func() (*ensemble.Pool, error) { return ensemble.Of(ensemble.MajorityName, 1, models...) },
	} {
		if _, err := of(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

func TestPoolSettings(t *testing.T) {
	for _, c := range []struct{ learner, key, value, says string }{
		{ensemble.MajorityName, "members", "tree,bays", `did you mean "bayes"`},
		{ensemble.MajorityName, "members", "tree,halving", "a pool of pools"},
		{ensemble.MajorityName, "beta", "1", "less than 1"},
		{ensemble.HalvingName, "folds", "-2", "1 to 1000"},
		{ensemble.CommitteeName, "mpl.hidden", "3", "none of the members"},
		{ensemble.CommitteeName, "mlp.hiden", "3", `did you mean "hidden"`},
	} {
		if _, err := learn.New(c.learner, map[string]string{c.key: c.value}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s=%s: error %v, want one that says %q", c.learner, c.key, c.value, err, c.says)
		}
	}
}
