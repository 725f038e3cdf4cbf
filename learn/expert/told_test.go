package expert_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

var ctx = context.Background()

// patients is a table of fever, age and illness; a row is "high 40 flu".
func patients(t testing.TB, rows ...string) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "fever", Values: []string{"high", "none"}},
		{Name: "age", Kind: table.Numeric},
		{Name: "illness", Values: []string{"flu", "cold", "none"}},
	}}
	columns := make([]table.Column, 3)
	for _, row := range rows {
		var fever, illness string
		var age float64
		if _, err := fmt.Sscanf(row, "%s %g %s", &fever, &age, &illness); err != nil {
			t.Fatal(row, err)
		}
		columns[0].Codes = append(columns[0].Codes, schema.Attributes[0].Code(fever))
		columns[1].Floats = append(columns[1].Floats, age)
		columns[2].Codes = append(columns[2].Codes, schema.Attributes[2].Code(illness))
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func parse(t testing.TB, text string) *rule.Base {
	t.Helper()
	base, err := rule.Parse("expert", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func advised(t testing.TB, learner string, advice learn.Advice) learn.Learner {
	t.Helper()
	info, err := learn.Lookup(learner)
	if err != nil {
		t.Fatal(err)
	}
	l, err := expert.Advised(info, info.New(), advice)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func told(t testing.TB, learner string, tab *table.Table, source, rules string) *expert.Told {
	t.Helper()
	m, err := advised(t, learner, learn.Advice{Rules: parse(t, rules), Expert: learn.Source{ID: "expert"}}).Learn(ctx, learn.Task{Table: tab, Target: "illness", Source: learn.Source{ID: source}})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*expert.Told)
}

func answers(t testing.TB, m learn.Model, tab *table.Table) *learn.Predictions {
	t.Helper()
	fitted, _, err := table.Conform(tab, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, tab.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func near(t interface{ Errorf(string, ...any) }, what string, got, want []float64, tolerance float64) {
	if !slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) <= tolerance }) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

func ExampleTell() {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "fever", Values: []string{"high", "none"}}, {Name: "illness", Values: []string{"flu", "cold"}}}}
	rows, _ := table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1}}, {Codes: []int32{0, 1, 1, 1}}}, nil)
	l, _ := learn.New("prior", nil)
	m, _ := l.Learn(ctx, learn.Task{Table: rows}.At(1))
	said, _ := rule.Parse("expert", []byte("IF fever = high THEN illness = flu WITH 0.9 WORTH 6"))
	told, err := expert.Tell(ctx, m, learn.Advice{Rules: said, Expert: learn.Source{ID: "expert"}}, learn.Learnt{Table: rows})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := learn.NewPredictions(told, rows.Rows())
	if err := told.Predict(ctx, rows, out); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("with fever: flu %.4f = (2·0.25 + 6·0.9)/8\nwithout:    flu %.4f\n", out.Row(0)[0], out.Row(2)[0])
	fmt.Println(told.(*expert.Told).Standings()[0])
	// Output:
	// with fever: flu 0.7375 = (2·0.25 + 6·0.9)/8
	// without:    flu 0.2500
	// IF fever = high THEN illness = flu WITH 0.9 WORTH 6: confirmed: the rows say 0.5 (0.0945 to 0.905), 1 of 2
}

// TestBlend checks the formula by hand: prior probabilities 1/2, 1/4, 1/4.
func TestBlend(t *testing.T) {
	tab := patients(t, "high 40 flu", "high 20 flu", "none 50 cold", "none 10 none")
	m := told(t, "prior", tab, "a", "IF fever = high THEN illness = cold WITH 0.8 WORTH 8\nIF age > 30 THEN illness = flu WITH 0.6 WORTH 3\n")
	out := answers(t, m, tab)
	// Row 2 fires the first rule alone: N = 2, of P(cold) = 1/4.
	cold := (2*0.25 + 8*0.8) / 10
	near(t, "one rule", out.Row(1), []float64{(1 - cold) * 2 / 3, cold, (1 - cold) / 3}, 1e-15)
	// Row 1 fires both: N = 1 row satisfies both.
	flu := (1*0.5 + 8*0.2*2/3 + 3*0.6) / 12
	cold = (1*0.25 + 8*0.8 + 3*0.4/2) / 12
	near(t, "two rules", out.Row(0), []float64{flu, cold, 1 - flu - cold}, 1e-15)
	// Row 4 fires none.
	near(t, "no rule", out.Row(3), []float64{0.5, 0.25, 0.25}, 0)
	if got := *parse(t, "IF age > 1 THEN illness = flu WORTH 8").Rules[0].Worth; got != 8 {
		t.Fatal(got)
	}
	sure := told(t, "prior", tab, "a", "IF age > 1 THEN illness = flu WORTH 8")
	if p := *sure.Standings()[0].Rule.With; p != 0.9 { // 1 − 1/(8+2)
		t.Errorf("a rule without WITH says %v", p)
	}
}

func TestStates(t *testing.T) {
	rows := slices.Repeat([]string{"high 40 flu"}, 60)
	tab := patients(t, append(rows, slices.Repeat([]string{"none 20 none"}, 50)...)...)
	for rules, want := range map[string]expert.State{
		"IF fever = high THEN illness = flu WITH 0.97 WORTH 5":   expert.Confirmed,
		"IF fever = high THEN illness = flu WITH 0.7 WORTH 5":    expert.Disputed, // in degree: both say flu
		"IF fever = high THEN illness = cold WITH 0.9 WORTH 500": expert.Disputed, // and stands
		"IF fever = high THEN illness = cold WITH 0.9 WORTH 5":   expert.Outvoted,
		"IF fever = none THEN illness = none WITH 0.1 WORTH 5":   expert.Outvoted,
		"IF age > 60 THEN illness = flu WITH 0.9 WORTH 5":        expert.Unmet,
	} {
		s := told(t, "bayes", tab, "a", rules).Standings()[0]
		if s.State != want {
			t.Errorf("%v, expected %s", s, want)
		}
	}
}

func TestRefused(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold")
	l, _ := learn.New("tree", nil)
	for rules, want := range map[string]string{
		"IF fevr = high THEN illness = flu WORTH 1":                  `did you mean "fever"`,
		"IF fever = high THEN illness = flu":                         "WORTH",
		"IF fever = high THEN age ~ 3 ± 1 WORTH 2":                   "target",
		"IF illness = cold THEN illness = flu WORTH 2":               "that it concludes",
		"IF fever = high THEN illness = {flu 0.5, cold 0.5} WORTH 2": "distribution",
		"IF age > 3 THEN illness = flu WORTH 1e301":                  "at most",
		"ELSE illness = flu":                                         "ELSE",
		"":                                                           "no rules",
	} {
		_, err := advised(t, "tree", learn.Advice{Rules: parse(t, rules)}).Learn(ctx, learn.Task{Table: tab}.At(2))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected one with %q", rules, err, want)
		}
	}
	m, _ := l.Learn(ctx, learn.Task{Table: tab, Source: learn.Source{ID: "a", Name: "a.csv"}}.At(2))
	if _, err := expert.Tell(ctx, m, learn.Advice{Rules: parse(t, "IF age > 3 THEN illness = flu WORTH 1")}); err == nil || !strings.Contains(err.Error(), "rows of a.csv") {
		t.Errorf("rules weighed against no rows: %v", err)
	}
}

// TestAbility: a told model can do what it could before, and says so.
func TestAbility(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold", "none 30 none")
	m := told(t, "prior", tab, "a", "IF fever = high THEN illness = flu WORTH 2")
	if _, ok := learn.Ability[learn.Drawer](m); ok {
		t.Error("prior cannot be drawn, told or not")
	}
	if _, err := m.Ask(tab, 0, 0); err == nil || err.Error() != "a prior model cannot be asked for any column" {
		t.Error(err)
	}
	if _, ok := learn.Ability[learn.Updater](m); !ok {
		t.Error("prior can be updated, told or not")
	}
	if _, ok := learn.Ability[learn.Asker](m); ok {
		t.Error("prior cannot be asked")
	}
	if _, ok := learn.Ability[learn.Forgetter](m); !ok {
		t.Error("what was told can be forgotten")
	}
	if _, ok := learn.Ability[learn.Drawer](told(t, "tree", tab, "a", "IF fever = high THEN illness = flu WORTH 2")); !ok {
		t.Error("a tree can be drawn, told or not")
	}
}

// withoutAge is patients for learners of names alone.
func withoutAge(t testing.TB, of *table.Table) *table.Table {
	t.Helper()
	a := of.Schema.Attributes
	names, err := table.New(&table.Schema{Attributes: []table.Attribute{a[0], a[2]}}, []table.Column{of.Columns[0], of.Columns[2]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestToldPassesOnEverything: whatever a model can do it can do after it was
// told rules, and what was told can be forgotten.
func TestToldPassesOnEverything(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold", "none 30 none", "high 44 flu", "none 21 cold", "none 60 none")
	for _, info := range learn.All() {
		if !info.Takes.Classes {
			continue
		}
		rows := tab
		if !info.Takes.Numeric {
			rows = withoutAge(t, tab)
		}
		m := told(t, info.Name, rows, "a", "IF fever = high THEN illness = flu WORTH 2")
		for _, a := range learn.Abilities {
			if before, after := a.Has(m.Unwrap()), a.Has(m); after != before && a.Name != "forget" {
				t.Errorf("%s: it can %s: %v before it was told a rule and %v after", info.Name, a.Words, before, after)
			}
		}
		if !learn.CanOf(m).Forget {
			t.Errorf("%s: what was told cannot be forgotten", info.Name)
		}
		if before, after := learn.PromiseOf(m.Unwrap()), learn.PromiseOf(m); before != after {
			t.Errorf("%s: it promises %+v before and %+v after", info.Name, before, after)
		}
	}
}

// draw returns a random table of patients, and rules about them.
func drawPatients(t *rapid.T, tb testing.TB, label string) *table.Table {
	rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%s %d %s", rapid.SampledFrom([]string{"high", "none"}).Draw(t, "fever"), rapid.IntRange(0, 9).Draw(t, "age"), rapid.SampledFrom([]string{"flu", "cold", "none"}).Draw(t, "illness"))
	}), 1, 12).Draw(t, label)
	return patients(tb, rows...)
}

func drawRules(t *rapid.T, worth float64) string {
	tests := rapid.SampledFrom([]string{"fever = high", "fever != high", "age > 4", "age <= 6 AND fever = none", "AT LEAST 1 OF {age > 7, fever = high}"})
	classes := rapid.SampledFrom([]string{"flu", "cold", "none"})
	var text strings.Builder
	for range rapid.IntRange(1, 10).Draw(t, "rules") {
		w := worth
		if w < 0 {
			w = rapid.Float64Range(0, 50).Draw(t, "worth")
		}
		fmt.Fprintf(&text, "IF %s THEN illness = %s WITH %v WORTH %v\n", tests.Draw(t, "tests"), classes.Draw(t, "class"), rapid.Float64Range(0, 1).Draw(t, "with"), w)
	}
	return text.String()
}

var learners = []string{"prior", "bayes", "tree"}

// TestWorth: a rule worth nothing changes nothing, one worth very much
// decides.
func TestWorth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tab := drawPatients(rt, t, "rows")
		name := rapid.SampledFrom(learners).Draw(rt, "learner")
		idle := told(t, name, tab, "a", drawRules(rt, 0))
		near(rt, "worth 0", answers(t, idle, tab).P, answers(t, idle.Unwrap(), tab).P, 1e-12)

		with := rapid.Float64Range(0, 1).Draw(rt, "with")
		sure := told(t, name, tab, "a", fmt.Sprintf("IF age > 4 THEN illness = cold WITH %v WORTH 1e14", with))
		got, plain := answers(t, sure, tab), answers(t, sure.Unwrap(), tab)
		cold := int(sure.Schema().Attributes[2].Code("cold"))
		for row, age := range tab.Columns[1].Floats {
			if age > 4 {
				near(rt, "worth 1e14", got.Row(row)[cold:cold+1], []float64{with}, 1e-12)
			} else {
				near(rt, "not its business", got.Row(row), plain.Row(row), 0)
			}
		}
	})
}

// TestLife: however the rows came in and went, a told model is the model of
// its rows, told the same.
func TestLife(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawPatients(rt, t, "a"), drawPatients(rt, t, "b")
		rules := drawRules(rt, -1)
		name := rapid.SampledFrom(learners).Draw(rt, "learner")
		one, other := told(t, name, a, "a", rules), told(t, name, b, "b", rules)

		both := append(texts(a), texts(b)...)
		all := patients(t, both...)
		want := told(t, name, all, "all", rules)
		same := func(what string, got learn.Model, want *expert.Told) {
			rt.Helper()
			near(rt, what, answers(t, got, all).P, answers(t, want, all).P, 1e-9)
			if fmt.Sprint(got.(*expert.Told).Standings()) != fmt.Sprint(want.Standings()) {
				rt.Errorf("%s: %v, expected %v", what, got.(*expert.Told).Standings(), want.Standings())
			}
		}
		merged, err := one.Merge(ctx, other)
		if err != nil {
			rt.Fatal(err)
		}
		same("merged", merged, want)
		more, _, err := table.Conform(b, one.Schema(), true)
		if err != nil {
			rt.Fatal(err)
		}
		u, err := one.Begin(learn.Source{ID: "b"})
		if err != nil {
			rt.Fatal(err)
		}
		for row := range more.Rows() {
			if err := u.Add(ctx, more.Slice(row, row+1)); err != nil {
				rt.Fatal(err)
			}
		}
		updated, err := u.Freeze(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		same("updated", updated, want)
		left, err := updated.(*expert.Told).Forget(ctx, "b")
		if err != nil {
			rt.Fatal(err)
		}
		same("forgotten", left, one)
		plain, err := left.(*expert.Told).Forget(ctx, "expert")
		if err != nil {
			rt.Fatal(err)
		}
		near(rt, "the expert forgotten", answers(t, plain, all).P, answers(t, one.Unwrap(), all).P, 0)

		data, err := learn.Encode(updated)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := learn.Decode(data)
		if err != nil {
			rt.Fatal(err)
		}
		near(rt, "loaded", answers(t, back, all).P, answers(t, updated, all).P, 0)
		again, err := learn.Encode(back)
		if err != nil || !slices.Equal(again, data) {
			rt.Errorf("saved again it is another: %v", err)
		}
	})
}

// texts returns the rows of a table as patients takes them.
func texts(t *table.Table) []string {
	var rows []string
	for r := range t.Rows() {
		rows = append(rows, t.Text(r, 0)+" "+t.Text(r, 1)+" "+t.Text(r, 2))
	}
	return rows
}

// TestExplainTold: prior, evidence and rules add up to the log posterior.
func TestExplainTold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tab := drawPatients(rt, t, "rows")
		m := told(t, rapid.SampledFrom([]string{"prior", "bayes"}).Draw(rt, "learner"), tab, "a", drawRules(rt, -1))
		out := answers(t, m, tab)
		for row := range tab.Rows() {
			e, err := m.Explain(tab, row)
			if err != nil {
				rt.Fatal(err)
			}
			logs := slices.Clone(e.Prior)
			for _, v := range e.Evidence {
				logs[v.Class] += v.Weight
			}
			for c, p := range out.Row(row) {
				if got := math.Exp(logs[c] - e.Normaliser); math.Abs(got-p) > 1e-12 {
					rt.Errorf("row %d: reasons for class %d add up to %v, expected %v", row+1, c, got, p)
				}
			}
		}
	})
}

// TestForgottenValue: a rule about a value, class or column that left with its
// source stays, silent, and speaks again when it comes back.
func TestForgottenValue(t *testing.T) {
	m := told(t, "tree", patients(t, "high 40 flu", "none 20 cold", "none 22 cold", "high 41 flu"), "a", "IF fever = high THEN illness = flu WITH 0.9 WORTH 9")
	tab := patients(t, "none 20 cold", "none 25 none")
	tab.Schema.Attributes[0].Values[0] = "low" // so that only the first source brings high
	more, _, err := table.Conform(tab, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, more); err != nil {
		t.Fatal(err)
	}
	both, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	left, err := both.(*expert.Told).Forget(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if s := left.(*expert.Told).Standings()[0]; s.State != expert.Unmet {
		t.Errorf("%v, expected unmet", s)
	}
	// No row has flu any more, but the expert still knows of it.
	silent, plain := answers(t, left, tab), answers(t, left.(*expert.Told).Unwrap(), tab)
	for row := range tab.Rows() {
		near(t, "silent", silent.Row(row), append(slices.Clone(plain.Row(row)), 0), 0)
	}
	data, err := learn.Encode(left)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := learn.Decode(data); err != nil {
		t.Fatal(err)
	}
}

func TestMergeOthers(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold")
	a := told(t, "bayes", tab, "a", "IF fever = high THEN illness = flu WORTH 9")
	b := told(t, "bayes", tab, "b", "IF fever = high THEN illness = flu WORTH 8")
	if _, err := a.Merge(ctx, b); !errors.Is(err, expert.ErrToldOthers) {
		t.Error(err)
	}
	if _, err := a.Merge(ctx, b.Unwrap()); !errors.Is(err, expert.ErrToldOthers) {
		t.Error(err)
	}
}

// FuzzDecodeTold: any bytes give a sound model or an error.
func FuzzDecodeTold(f *testing.F) {
	tab := patients(f, "high 40 flu", "none 20 cold", "none 30 none")
	m := told(f, "prior", tab, "a", "IF fever = high THEN illness = flu WORTH 2\nIF age > 25 THEN illness = none WORTH 3")
	parts, err := m.Parts()
	if err != nil {
		f.Fatal(err)
	}
	own := parts[:len(parts)-2]
	f.Add(parts[len(parts)-2].Data, parts[len(parts)-1].Data)
	f.Fuzz(func(t *testing.T, rules, tally []byte) {
		defer bounded.Start(t, len(rules)+len(tally))()
		m, err := learn.DecodeParts("prior", append(slices.Clone(own), learn.Part{Name: "told", Data: rules}, learn.Part{Name: "told/a", Data: tally}))
		if err != nil {
			return
		}
		for _, p := range answers(t, m, tab).P {
			if !(p >= 0 && p <= 1+1e-9) {
				t.Errorf("probability %v", p)
			}
		}
		m.(*expert.Told).Standings()
	})
}

// BenchmarkToldPredict: what ten rules cost a row.
func BenchmarkToldPredict(b *testing.B) {
	var rows []string
	for i := range 10_000 {
		rows = append(rows, fmt.Sprintf("%s %d %s", []string{"high", "none"}[i%2], i%90, []string{"flu", "cold", "none"}[i%3]))
	}
	tab := patients(b, rows...)
	m := told(b, "prior", tab, "a", strings.Repeat("IF age > 40 AND fever = high THEN illness = flu WITH 0.9 WORTH 10\n", 10))
	out := learn.NewPredictions(m, tab.Rows())
	fitted, _, err := table.Conform(tab, m.Schema(), false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Predict(ctx, fitted, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tab.Rows()), "ns/row")
}

// TestToldUnmet: an expert may know values and classes that no row has had, and
// they count until rows say more of them.
func TestToldUnmet(t *testing.T) {
	tab := patients(t, "high 40 flu", "none 20 cold", "none 30 none", "high 44 flu", "none 21 cold", "none 60 none")
	m := told(t, "bayes", tab, "a", "IF fever = extreme THEN illness = plague WITH 0.9 WORTH 8")
	classes := m.Schema().Attributes[2].Values
	if got := m.Schema().Attributes[0].Values; !slices.Contains(got, "extreme") || !slices.Contains(classes, "plague") {
		t.Fatalf("values %q, classes %q", got, classes)
	}
	fevers := m.Schema().Attributes[0].Values
	ill, err := table.New(m.Schema(), []table.Column{
		{Codes: []int32{int32(slices.Index(fevers, "extreme")), int32(slices.Index(fevers, "high"))}},
		{Floats: []float64{50, 40}},
		{Codes: []int32{int32(slices.Index(classes, "plague")), int32(slices.Index(classes, "flu"))}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := answers(t, m, ill)
	if got := p.Row(0)[slices.Index(classes, "plague")]; math.Abs(got-0.9) > 1e-12 {
		t.Errorf("of no rows and 8 cases, of which 0.9: %v", got)
	}
	if got := p.Row(1)[slices.Index(classes, "plague")]; got != 0 {
		t.Errorf("no rule fires, and plague has the probability %v", got)
	}
	e, err := m.Explain(ill, 0)
	if err != nil || len(e.Prior) != len(classes) {
		t.Errorf("%+v, %v", e, err)
	}
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.DecodeParts("bayes", parts)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "loaded", answers(t, again, ill).P, p.P, 0)

	// Rows that bring the value and the class are learnt as they are.
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, ill); err != nil {
		t.Fatal(err)
	}
	more, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s := more.(*expert.Told).Standings()[0]; s.State != expert.Confirmed || *s.Rule.Evidence.Covered != 1 {
		t.Errorf("%v", s)
	}
	inner := more.(*expert.Told).Unwrap().Schema()
	if got := inner.Attributes[2].Values; !slices.Contains(got, "plague") {
		t.Errorf("the rows' class is not learnt: %q", got)
	}
}
