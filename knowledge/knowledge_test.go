package knowledge_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

var ctx = context.Background()

// weather returns random rows of a world in which it is played if it is not
// raining, or, with turned, if it is.
func weather(t testing.TB, random *rand.Rand, rows int, turned bool) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sun", "rain", "fog"}},
		{Name: "wind", Values: []string{"no", "yes"}},
		{Name: "play", Values: []string{"no", "yes"}},
	}}
	columns := make([]table.Column, 3)
	for range rows {
		outlook, wind := int32(random.IntN(3)), int32(random.IntN(2))
		play := int32(0)
		if (outlook != 1) != turned != (random.Float64() < 0.1) {
			play = 1
		}
		columns[0].Codes = append(columns[0].Codes, outlook)
		columns[1].Codes = append(columns[1].Codes, wind)
		columns[2].Codes = append(columns[2].Codes, play)
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func fit(t testing.TB, learner string, tab *table.Table, source string) learn.Model {
	t.Helper()
	l, err := learn.New(learner, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: source, Name: source}, Seed: 1}.At(2))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func updated(t testing.TB, m learn.Model, tab *table.Table, source string) learn.Model {
	t.Helper()
	u, err := m.(learn.Updater).Begin(learn.Source{ID: source, Name: source})
	if err != nil {
		t.Fatal(err)
	}
	more, _, err := table.Conform(tab, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, more); err != nil {
		t.Fatal(err)
	}
	if m, err = u.Freeze(ctx); err != nil {
		t.Fatal(err)
	}
	return m
}

func rules(t testing.TB, text string) *rule.Base {
	t.Helper()
	base, err := rule.Parse("expert", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func ExampleConflicts() {
	north, _ := rule.Parse("north", []byte("RULES ordered\nIF sky = red THEN rain = yes WITH 0.8\nELSE rain = no"))
	south, _ := rule.Parse("south", []byte("RULES ordered\nIF wind = west AND sky != grey THEN rain = no WITH 0.9\nELSE rain = no"))
	for _, c := range knowledge.Conflicts(north, south, nil) {
		fmt.Println(c.A.String())
		fmt.Println(c.B.String())
		fmt.Println("where", c.Region)
	}
	// Output:
	// IF sky = red THEN rain = yes WITH 0.8
	// IF wind = west AND sky != grey THEN rain = no WITH 0.9
	// where [sky = red wind = west]
}

// classifiers are the learners that can learn the weather.
func classifiers() []learn.Info {
	return slices.DeleteFunc(learn.All(), func(i learn.Info) bool { return !i.Takes.Classes || !i.Takes.Nominal })
}

// TestVerify: what every learner's models are after an update is what they
// promise, told rules or not; and a model that learnt in one go is learnt again
// to the same, whatever is promised.
func TestVerify(t *testing.T) {
	for _, info := range classifiers() {
		t.Run(info.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			a, b := weather(t, random, 60, false), weather(t, random, 40, false)
			learnt := []learn.Learnt{{Source: learn.Source{ID: "a", Name: "a"}, Table: a}}
			m := fit(t, info.Name, a, "a")
			verify(t, m, learnt)
			if info.Can.Update {
				m = updated(t, m, b, "b")
				learnt = append(learnt, learn.Learnt{Source: learn.Source{ID: "b", Name: "b"}, Table: b})
				verify(t, m, learnt)
			}
			told, err := expert.Tell(ctx, m, advice(t, "IF wind = yes THEN play = no WITH 0.8 WORTH 20"), fitted(t, m, learnt)...)
			if err != nil {
				t.Fatal(err)
			}
			verify(t, told, learnt)
		})
	}
}

func advice(t testing.TB, text string) learn.Advice {
	t.Helper()
	return learn.Advice{Rules: rules(t, text), Expert: learn.Source{ID: "expert"}}
}

func fitted(t testing.TB, m learn.Model, learnt []learn.Learnt) []learn.Learnt {
	t.Helper()
	all := slices.Clone(learnt)
	for i := range all {
		var err error
		if all[i].Table, _, err = table.Conform(all[i].Table, m.Schema(), false); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func verify(t *testing.T, m learn.Model, learnt []learn.Learnt) {
	t.Helper()
	l, err := learn.New(m.Learner(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := knowledge.Verify(ctx, m, l, fitted(t, m, learnt), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Holds {
		t.Errorf("%+v", p)
	}
}

// TestVerifyFinds: a model that is not what its sources make is found out.
func TestVerifyFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	a, b := weather(t, random, 60, false), weather(t, random, 60, true)
	m := fit(t, "bayes", a, "a")
	l, err := learn.New("bayes", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := knowledge.Verify(ctx, m, l, []learn.Learnt{{Source: learn.Source{ID: "a"}, Table: b}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Holds || p.MaxDifference < 0.1 || p.RulesDiffer == 0 {
		t.Errorf("%+v", p)
	}
}

// tight is a model that promises more than it keeps.
type tight struct {
	learn.Model
	bound float64
}

func (m tight) Unwrap() learn.Model { return m.Model }
func (m tight) Adds(any) bool       { return true }
func (m tight) Promise() learn.Promise {
	return learn.Promise{Contract: learn.Bounded, Measure: learn.LogLoss, Bound: m.bound}
}

// TestVerifyBounded: a bounded contract is measured, and can fail.
func TestVerifyBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	a, b := weather(t, random, 60, false), weather(t, random, 60, true)
	m := updated(t, fit(t, "gaussian", a, "a"), b, "b")
	learnt := fitted(t, m, []learn.Learnt{{Source: learn.Source{ID: "a"}, Table: a}, {Source: learn.Source{ID: "b"}, Table: b}})
	l, err := learn.New("gaussian", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := knowledge.Verify(ctx, m, l, learnt, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Holds || p.Measure != learn.LogLoss || p.Bound != 0.3 || p.Value == 0 || !(p.SE > 0) {
		t.Errorf("%+v", p)
	}
	for bound, holds := range map[float64]bool{p.Value - 2.1*p.SE: false, p.Value - 1.9*p.SE: true} {
		if p, err := knowledge.Verify(ctx, tight{m, bound}, l, learnt, 1); err != nil || p.Holds != holds {
			t.Errorf("bound %v: %+v, %v", bound, p, err)
		}
	}
}

// TestConflictsOverlap: a told rule is in conflict with a learnt one wherever a
// row may satisfy both, not only if they are about the same rows.
func TestConflictsOverlap(t *testing.T) {
	learnt := rules(t, "RULES weighed\nIF ALWAYS THEN play = no WITH 0.6\nIF wind = yes THEN play = no WITH 0.9\nIF wind = no THEN play = yes WITH 0.8")
	told := rules(t, "IF wind = yes AND sky = grey THEN play = yes WITH 0.9 WORTH 5")
	found := knowledge.Conflicts(told, learnt, nil)
	if len(found) != 1 || len(found[0].Region) != 2 || *found[0].B.With != 0.9 {
		t.Errorf("%+v", found)
	}
	other := rules(t, "RULES weighed\nIF wind = yes AND sky = grey THEN play = yes WITH 0.9\nIF sky = grey THEN play = yes WITH 0.7")
	if found := knowledge.Conflicts(other, learnt, nil); len(found) != 1 || len(found[0].Region) != 2 {
		t.Errorf("%+v", found)
	}
}

// TestManyConflicts: of very many the heaviest are listed, without looking at
// all pairs.
func TestManyConflicts(t *testing.T) {
	var all []rule.Rule
	for i := range 4000 {
		class, n := "yes", float64(i)
		if i%2 == 0 {
			class = "no"
		}
		all = append(all, rule.Rule{If: []rule.Test{{Op: rule.Gt, Column: "heat", Number: n}}, Then: rule.Conclusion{Column: "play", Value: class}, Evidence: rule.Evidence{Covered: &n}})
	}
	found := knowledge.Among(all, nil)
	if len(found) != knowledge.MostConflicts || found[0].Weight != 3998 {
		t.Errorf("%d conflicts, the first with a weight of %v", len(found), found[0].Weight)
	}
}

// TestCompare: equal models do not differ, however they came to be; and a
// comparison the other way round tells the same with before and after
// exchanged.
func TestCompare(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		learner := rapid.SampledFrom([]string{"prior", "bayes", "tree"}).Draw(rt, "learner")
		a, b := weather(t, random, 30, false), weather(t, random, 30, true)
		x, y := fit(t, learner, a, "a"), fit(t, learner, b, "b")
		merged, err := x.(learn.Merger).Merge(ctx, y)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := merged.(learn.Forgetter).Forget(ctx, "b")
		if err != nil {
			rt.Fatal(err)
		}
		d, err := knowledge.Compare(x, back)
		if err != nil || !d.Empty() {
			rt.Fatalf("equal models differ (%v):\n%v", err, d)
		}
		if flips, err := knowledge.Flips(ctx, x, back, a); err != nil || len(flips) > 0 {
			rt.Fatalf("equal models flip (%v): %v", err, flips)
		}
		there, err := knowledge.Compare(x, merged)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := knowledge.Compare(merged, x)
		if err != nil {
			rt.Fatal(err)
		}
		for _, pair := range [][2]int{
			{len(there.Added), len(again.Dropped)}, {len(there.Dropped), len(again.Added)}, {len(there.Stronger), len(again.Weaker)},
			{len(there.Weaker), len(again.Stronger)}, {len(there.Moved), len(again.Moved)},
		} {
			if pair[0] != pair[1] {
				rt.Errorf("there\n%vand back\n%v", there, again)
			}
		}
	})
}

// TestFlips: rows whose answer changes are found, with the rules that did it.
func TestFlips(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	stable, turned := weather(t, random, 200, false), weather(t, random, 200, true)
	probe := weather(t, random, 50, false)
	for _, learner := range []string{"bayes", "tree"} {
		flips, err := knowledge.Flips(ctx, fit(t, learner, stable, "a"), fit(t, learner, turned, "b"), probe)
		if err != nil {
			t.Fatal(err)
		}
		if len(flips) != probe.Rows() {
			t.Fatalf("%s: %d of %d answers flip", learner, len(flips), probe.Rows())
		}
		for _, f := range flips {
			if len(f.Because) == 0 || f.Before == f.After || !(f.P > 0.5 && f.Q > 0.5) {
				t.Errorf("%s: %+v", learner, f)
			}
		}
	}
	// An expert's rule alone.
	m := fit(t, "tree", stable, "a")
	told, err := expert.Tell(ctx, m, advice(t, "IF wind = yes THEN play = no WITH 0.99 WORTH 1e6"), fitted(t, m, []learn.Learnt{{Source: learn.Source{ID: "a"}, Table: stable}})...)
	if err != nil {
		t.Fatal(err)
	}
	flips, err := knowledge.Flips(ctx, m, told, probe)
	if err != nil {
		t.Fatal(err)
	}
	if len(flips) == 0 {
		t.Error("no answer flips")
	}
	for _, f := range flips {
		if probe.Text(f.Row, 1) != "yes" || len(f.Because) == 0 || f.Because[0].Rule.Rule.Worth == nil || f.Because[0].Was {
			t.Errorf("%+v", f)
		}
	}
	d, err := knowledge.Compare(m, told)
	if err != nil || len(d.Added) != 1 || len(d.Dropped)+len(d.Stronger)+len(d.Weaker)+len(d.Moved) > 0 {
		t.Errorf("%v (%v)", d, err)
	}
}

// TestProvenance: what sources say of a rule adds up to what the model says.
func TestProvenance(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for _, learner := range []string{"prior", "bayes", "tree"} {
		m := fit(t, learner, weather(t, random, 50, false), "a")
		m = updated(t, m, weather(t, random, 30, false), "b")
		m = updated(t, m, weather(t, random, 20, true), "c")
		behind, err := knowledge.Provenance(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		for i := range base.Rules {
			r := &base.Rules[i]
			n, k := 0.0, 0.0
			for _, b := range behind[r.ID()] {
				n, k = n+b.Covered, k+b.Correct
			}
			if len(behind[r.ID()]) != 3 || math.Abs(n-*r.Evidence.Covered) > 1e-9 || math.Abs(k-*r.Evidence.Correct) > 1e-9 {
				t.Errorf("%s: %v: %v", learner, r, behind[r.ID()])
			}
		}
	}
}

func TestAmong(t *testing.T) {
	base := rules(t, "IF a = x THEN c = yes WITH 0.9 WORTH 5\nIF b > 3 THEN c = no WITH 0.8 WORTH 5\nIF a = y THEN c = no WORTH 5\nIF a = x AND b < 2 THEN c = yes WITH 0.7 WORTH 5\n")
	conflicts := knowledge.Among(base.Rules, nil)
	if len(conflicts) != 1 || fmt.Sprint(conflicts[0].Region) != "[a = x b > 3]" {
		t.Errorf("conflicts %v", conflicts)
	}
	overlaps := knowledge.Overlaps(base.Rules, nil)
	if len(overlaps) != 2 { // both on x; and no where a = y and b > 3
		t.Errorf("overlaps %v", overlaps)
	}
}
