package gaussian

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	told "github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func parse(t *testing.T, text string) *rule.Base {
	t.Helper()
	base, err := rule.Parse("rules", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// P(data) = K/(K + K_E): the incremental mixture's density is the weighted
// mean of the data's and the expert's.
func TestIncrementalMixture(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	task := learn.Task{Table: all, NoTarget: true, Seed: 1, Source: learn.Source{ID: "a"}}
	data, err := (&Learner{}).Learn(ctx, task)
	if err != nil {
		t.Fatal(err)
	}
	task.Advice = learn.Advice{Rules: wealthy(50), Expert: learn.Source{ID: "e", Name: "expert.rules"}}
	both, err := (&Learner{}).Learn(ctx, task)
	if err != nil {
		t.Fatal(err)
	}
	told, err := data.(*Model).Tell(ctx, task.Advice)
	if err != nil {
		t.Fatal(err)
	}
	logs := func(m learn.Model) []float64 {
		out := make([]float64, all.Rows())
		if err := m.(learn.Density).LogDensity(ctx, all, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	alone, mixed, tell := logs(data), logs(both), logs(told)
	overall := rule.OverallOf(all)
	for r := range all.Rows() {
		expert := 0.0
		for _, u := range wealthy(50).Units {
			p := u.Prior
			for j, e := range u.Expect {
				z := (all.Columns[j].Floats[r] - overall[j].Mean) / overall[j].Deviation
				p *= math.Exp(-(z-e.Mean)*(z-e.Mean)/2) / math.Sqrt(2*math.Pi)
			}
			expert += p
		}
		want := math.Log(506./556*math.Exp(alone[r]) + 50./556*expert)
		if math.Abs(mixed[r]-want) > 1e-9 || math.Abs(tell[r]-want) > 1e-9 {
			t.Fatalf("row %d: learnt with rules %v, told %v, expected %v", r+1, mixed[r], tell[r], want)
		}
	}
	left, err := both.(learn.Forgetter).Forget(ctx, "e")
	if err != nil {
		t.Fatal(err)
	}
	for r, l := range logs(left) {
		if math.Abs(l-alone[r]) > 1e-12*math.Abs(l) {
			t.Fatalf("row %d: without the expert %v, expected %v", r+1, l, alone[r])
		}
	}
	if _, err := told.(*Model).Tell(ctx, task.Advice); err == nil {
		t.Error("the same expert is told twice")
	}
}

// Merging is the weighted mean of the densities too, in the same z-scores,
// and is undone by forgetting.
func TestMerge(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	learnt := func(rows *table.Table, source string) learn.Model {
		m, err := (&Learner{Floor: new(1e-6)}).Learn(ctx, learn.Task{Table: rows, NoTarget: true, Seed: 1, Source: learn.Source{ID: source}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := learnt(all.Slice(0, 200), "a"), learnt(all.Slice(200, 506), "b")
	both, err := a.(learn.Merger).Merge(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := both.Size().Units, a.Size().Units+b.Size().Units; got != want {
		t.Errorf("%d units, expected %d", got, want)
	}
	for id, want := range map[string]learn.Model{"b": a, "a": b} {
		left, err := both.(learn.Forgetter).Forget(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if d := densityOf(t, left, all) - densityOf(t, want, all); math.Abs(d) > 1e-9 {
			t.Errorf("forgetting %s after merging leaves %v nats of difference", id, d)
		}
	}
	// An update with units of its own is the merge.
	first, err := (&Learner{Update: "add"}).Learn(ctx, learn.Task{Table: all.Slice(0, 200), NoTarget: true, Seed: 1, Source: learn.Source{ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	u, err := first.(learn.Updater).Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, all.Slice(200, 506)); err != nil {
		t.Fatal(err)
	}
	added, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if added.Size().Rows != 506 || added.Size().Units != 20 {
		t.Errorf("size after adding %+v", added.Size())
	}
	second, err := added.(learn.Forgetter).Forget(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	again, err := first.(learn.Merger).Merge(ctx, second)
	if err != nil {
		t.Fatal(err)
	}
	if d := densityOf(t, again, all) - densityOf(t, added, all); math.Abs(d) > 1e-9 {
		t.Errorf("adding differs from merging by %v nats", d)
	}
}

// What becomes of an expert's rules is told rule by rule, however they were
// taken in.
func TestStanding(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	rules := parse(t, `
WHEN usual (0.5) WORTH 40 EXPECT lstat ~ 0 sd ± 1 sd AND medv ~ 22 ± 8
WHEN odd (0.5) WORTH 40 EXPECT lstat ~ 6 sd ± 0.1 sd AND medv ~ 90 ± 1
`)
	for _, c := range []struct {
		l       *Learner
		worth   float64
		sources int
	}{
		{&Learner{Units: 5}, 20, 2}, {&Learner{Knowledge: "map", Copies: 1}, 20, 2}, {&Learner{Knowledge: "map"}, 20, 2},
		{&Learner{Knowledge: "teacher"}, 20, 2}, {&Learner{Knowledge: "start", Iterations: 5}, 0, 1},
		{&Learner{Units: 3, Covariance: "full"}, 20, 2}, {&Learner{Knowledge: "map", Covariance: "full"}, 20, 2}, {&Learner{Units: 3, Knowledge: "teacher", Covariance: "full", Default: 3}, 20, 2},
	} {
		m, err := c.l.Learn(ctx, learn.Task{Table: all, NoTarget: true, Seed: 1, Advice: learn.Advice{Rules: rules, Expert: learn.Source{ID: "e", Name: "e.rules"}}})
		if err != nil {
			t.Fatal(err)
		}
		name := c.l.Knowledge + " " + c.l.Covariance
		standing := m.(told.Stander).UnitStandings()
		if len(standing) != 2 {
			t.Fatalf("%s: %d rules fare: %v", name, len(standing), standing)
		}
		for i, want := range []told.UnitStanding{
			{Unit: "usual", State: told.Confirmed}, {Unit: "odd", State: told.Outvoted},
		} {
			s := standing[i]
			if s.Unit != want.Unit || s.State != want.State || s.Worth != c.worth || s.Of != 506 || !strings.Contains(s.String(), "e.rules") {
				t.Errorf("%s: %v, expected %s to be %s", name, s, want.Unit, want.State)
			}
		}
		// Half of all rows or more are usual, within a width.
		if s := standing[0]; !(s.Rows > 253 && s.Moved < 1 && (s.Column == "lstat" || s.Column == "medv")) {
			t.Errorf("%s: %+v", name, s)
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(base.String(), standing[1].String()) {
			t.Errorf("%s: the rules do not say how the expert fares", name)
		}
		if sources := m.(learn.Forgetter).Sources(); len(sources) != c.sources || sources[len(sources)-1].ID == "" != (c.sources == 1) {
			t.Errorf("%s: sources %v", name, sources)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := decode(parts)
		if err != nil {
			t.Fatal(err)
		}
		if densityOf(t, loaded, all) != densityOf(t, m, all) || !slices.Equal(loaded.(told.Stander).UnitStandings(), standing) {
			t.Errorf("%s: the model differs after loading", name)
		}
	}
}

// Rows that come in later can make a rule that nobody met a disputed one.
func TestStandingMoves(t *testing.T) {
	ctx := context.Background()
	few := numbers(t, []float64{1, 2})
	rules := parse(t, "WHEN a (1) WORTH 30 EXPECT x0 ~ 100 ± 1")
	m, err := (&Learner{Floor: new(1e-3)}).Learn(ctx, learn.Task{Table: few, NoTarget: true, Source: learn.Source{ID: "rows"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.(learn.Teller).Tell(ctx, learn.Advice{Rules: rules, Expert: learn.Source{ID: "e"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows int
		want told.State
	}{{0, told.Unmet}, {3, told.Disputed}, {30, told.Outvoted}} {
		more := make([]float64, c.rows)
		u, err := m.(learn.Updater).Begin(learn.Source{ID: "more"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(ctx, numbers(t, more)); err != nil {
			t.Fatal(err)
		}
		now, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s := now.(told.Stander).UnitStandings()[0]; s.State != c.want {
			t.Errorf("with %d rows more: %v, expected %s", c.rows, s, c.want)
		}
	}
}

// With a nominal target, rules may speak of the class.
func TestRulesAboutClasses(t *testing.T) {
	rows := mixedTable(t)
	rules := parse(t, `
WHEN low (0.5) WORTH 30 EXPECT n = {x 0.9, y 0.1} AND a ~ 0 ± 1
WHEN high (0.5) WORTH 30 EXPECT n = {z 1} AND a ~ 4 ± 1
`)
	for _, knowledge := range []string{"mixture", "map", "teacher", "start"} {
		m, err := (&Learner{Units: 6, Knowledge: knowledge}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1, Advice: learn.Advice{Rules: rules, Expert: learn.Source{ID: "e"}}}.At(2))
		if err != nil {
			t.Fatalf("%s: %v", knowledge, err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(context.Background(), rows, out); err != nil {
			t.Fatal(err)
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		predictor, err := rule.NewPredictor(parse(t, base.String()), m.Schema(), 2, m.(*Model).Overall()...)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]float64, len(out.P))
		if err := predictor.Predict(rows, p, nil); err != nil {
			t.Fatal(err)
		}
		for i := range p {
			if math.Abs(p[i]-out.P[i]) > 1e-12 {
				t.Fatalf("%s: row %d: the rules say %v, the model %v", knowledge, i/3+1, p[i], out.P[i])
			}
		}
		right := 0
		for r, code := range rows.Columns[2].Codes {
			if learn.Best(out.Row(r), rows.Schema.Attributes[2].Values) == int(code) {
				right++
			}
		}
		if right < rows.Rows()/2 {
			t.Errorf("%s: %d of %d rows right", knowledge, right, rows.Rows())
		}
	}
}

func TestWrongRules(t *testing.T) {
	all := boston(t)
	worth := 10.0
	narrow := &rule.Base{Units: []rule.Unit{{Name: "x", Prior: 1, Worth: &worth, Expect: []rule.Expectation{{Column: "rm", Mean: 6, Deviation: -1}}}}}
	for want, base := range map[string]*rule.Base{
		"does not say what it is WORTH": parse(t, "WHEN x (1) EXPECT rm ~ 6 ± 1"),
		"room":                          parse(t, "WHEN x (1) WORTH 5 EXPECT room ~ 6 ± 1"),
		"another kind":                  parse(t, "IF rm > 6 THEN medv ~ 30 ± 5 WORTH 5"),
		"empty":                         {},
		"-1":                            narrow,
		"worth 0 cases":                 parse(t, "WHEN x (1) WORTH 0 EXPECT rm ~ 6 ± 1"),
	} {
		_, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: all, NoTarget: true, Advice: learn.Advice{Rules: base}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, expected one line with %q", err, want)
		}
	}
}
