package bayes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Fever or not: four patients, and a fifth that comes later.
func Example() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "fever", Values: []string{"high", "low"}},
		{Name: "illness", Values: []string{"flu", "cold"}},
	}}
	patients, err := table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1}}, {Codes: []int32{0, 0, 0, 1}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	m, err := new(Learner).Learn(ctx, learn.Task{Table: patients, Source: learn.Source{ID: "monday"}}.At(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	out := learn.NewPredictions(m, 4)
	if err := m.Predict(ctx, patients, out); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("high fever: flu %.3f\n", out.Row(0)[0])

	u, err := m.(learn.Updater).Begin(learn.Source{ID: "tuesday"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := u.Add(ctx, patients.Slice(0, 1)); err != nil {
		fmt.Println(err)
		return
	}
	m, err = u.Freeze(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range base.Rules[:2] {
		fmt.Printf("%v, %.0f of %.0f rows\n", r.Then, *r.Evidence.Correct, *r.Evidence.Covered)
	}
	// Output:
	// high fever: flu 0.882
	// illness = flu, 4 of 5 rows
	// illness = cold, 1 of 5 rows
}

func TestErrors(t *testing.T) {
	tab := tennis(t)
	numeric := numbers(t, []float64{1, 2}, []int32{0, 1}, "a", "b")
	numeric.Schema.Attributes[0].Name = "price"
	heavy, err := table.New(tab.Schema, tab.Columns, slices.Repeat([]float64{1e308}, tab.Rows()))
	if err != nil {
		t.Fatal(err)
	}
	twice := &table.Schema{Attributes: slices.Clone(tab.Schema.Attributes)}
	twice.Attributes[0].Values = []string{"x", "x", "y"}
	double, err := table.New(twice, tab.Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	minus := -1.0
	for says, c := range map[string]struct {
		learner Learner
		task    learn.Task
	}{
		`target "price" is numeric; read it as nominal`: {task: learn.Task{Table: numeric}.At(0)},
		"needs a target column":                         {task: learn.Task{Table: tab, NoTarget: true}},
		`is not a column of the table; did you mean`:    {task: learn.Task{Table: tab, Target: tab.Schema.Attributes[4].Name + "s"}},
		"setting m=-1: expected a number from 0":        {learner: Learner{M: &minus}, task: learn.Task{Table: tab}.At(4)},
		"setting prior-m=-1":                            {learner: Learner{PriorM: -1}, task: learn.Task{Table: tab}.At(4)},
		"weights of the rows add up to":                 {task: learn.Task{Table: heavy}.At(4)},
		`the value "x" twice`:                           {task: learn.Task{Table: double}.At(4)},
	} {
		m, err := c.learner.Learn(context.Background(), c.task)
		if err == nil || m != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}

	m := fit(t, tab, 1)
	if err := m.Predict(context.Background(), tab, &learn.Predictions{}); err == nil {
		t.Error("predicts into no room")
	}
	if _, err := m.Merge(context.Background(), fit(t, tab, 2)); err == nil || !strings.Contains(err.Error(), "different settings") {
		t.Errorf("merged with other settings: %v", err)
	}
	if _, err := m.Merge(context.Background(), fit(t, numbers(t, []float64{1}, []int32{0}, "a"), 1)); err == nil || !strings.Contains(err.Error(), "different targets") {
		t.Errorf("merged with another target: %v", err)
	}
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), heavy); err == nil {
		t.Error("adds weights that overflow")
	}
	if frozen, err := u.Freeze(context.Background()); err != nil || frozen != learn.Model(m) {
		t.Errorf("an update without rows gives %v, %v", frozen, err)
	}
}

// A numeric target is refused with the names of those who take it.
func TestErrorNamesOthers(t *testing.T) {
	learn.Register(learn.Info{Name: "a learner of numbers", Takes: learn.Takes{Regression: true}, New: func() learn.Learner { return &Learner{} }})
	_, err := new(Learner).Learn(context.Background(), learn.Task{Table: numbers(t, []float64{1}, []int32{0}, "a")}.At(0))
	if err == nil || !strings.Contains(err.Error(), "or use a learner that takes it: a learner of numbers") {
		t.Errorf("error %v", err)
	}
}

// With m = 0, cells that rule out every class leave it to the classes that
// the fewest cells rule out.
func TestEveryClassImpossible(t *testing.T) {
	m := fit(t, nominal(t, "a b class", "x p yes\nx p yes\ny q no\nz q no", nil), 0)
	near(t, "P(yes), one zero each", ask(t, m, "x q ?", "yes"), 0.5, 1e-12) // 1·1/2 against 1·1/2
	near(t, "P(no), z is ruled out less", ask(t, m, "z q ?", "no"), 1, 0)
	if p := ask(t, m, "z p ?", "yes"); !(p > 0 && p < 1) {
		t.Errorf("P(yes | z p) = %v", p)
	}
}

// Classes and values that were declared and never came.
func TestDeclared(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Values: []string{"x", "y", "never"}},
		{Name: "class", Values: []string{"none", "yes", "no"}},
	}}
	tab, err := table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1, 2}}, {Codes: []int32{1, 1, 2, 1, -1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, mass := range []float64{0, 1} {
		m := fit(t, tab, mass)
		for r, p := range []float64{0, 0, 0, 0, 0} {
			out := learn.NewPredictions(m, tab.Rows())
			if err := m.Predict(context.Background(), tab, out); err != nil {
				t.Fatal(err)
			}
			near(t, "P(none)", out.Row(r)[0], p, 0)
			e, err := m.Explain(tab, r)
			if err != nil {
				t.Fatal(err)
			}
			if e.Prior[0] != zero {
				t.Errorf("prior of a class without rows is %v", e.Prior[0])
			}
		}
		base, err := m.Rules()
		if err != nil {
			t.Fatal(err)
		}
		if len(base.Rules) != m.Size().Rules || slices.ContainsFunc(base.Rules, func(r rule.Rule) bool { return r.Then.Value == "none" }) {
			t.Errorf("rules:\n%v", base)
		}
	}
	prior := 3.0
	model, err := (&Learner{PriorM: prior}).Learn(context.Background(), learn.Task{Table: tab}.At(1))
	if err != nil {
		t.Fatal(err)
	}
	model.(*Model).estimate()
	near(t, "smoothed prior", math.Exp(model.(*Model).logPrior[0]), 1./7, 1e-15) // (0 + 3/3)/(4 + 3)
}

// The weights of evidence of the query of section 6.9.1, and what knowing the
// wind could do.
func TestExplain(t *testing.T) {
	m := fit(t, tennis(t), 0)
	query := nominal(t, tennisNames, "Sunny Cool High ? ?", m.Schema())
	e, err := m.Explain(query, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Evidence) != 6 || e.Evidence[0].Text != "Outlook = Sunny" || !e.Additive {
		t.Fatalf("explanation %+v", e)
	}
	no := m.class().Code("No")
	// P(Sunny|No)/P(Sunny) = (3/5)/(5/14)
	for _, reason := range e.Evidence {
		if reason.Class == int(no) && reason.Text == "Outlook = Sunny" {
			near(t, "weight of Sunny for No", reason.Weight, math.Log(3./5/(5./14)), 1e-12)
		}
	}
	if len(e.Missing) != 1 || e.Missing[0].Column != "Wind" {
		t.Fatalf("missing %+v", e.Missing)
	}
	p := ask(t, m, "Sunny Cool High ? ?", "No")
	weak, strong := ask(t, m, "Sunny Cool High Weak ?", "No"), ask(t, m, "Sunny Cool High Strong ?", "No")
	near(t, "what Wind could move", e.Missing[0].CouldMove, max(math.Abs(weak-p), math.Abs(strong-p)), 1e-12)
	r := rule.Rule{If: []rule.Test{{Op: rule.Eq, Column: "Outlook", Value: "Sunny"}}, Then: rule.Conclusion{Column: "PlayTennis", Value: "No"}}
	if e.Evidence[0].ID != r.ID() && e.Evidence[1].ID != r.ID() {
		t.Errorf("evidence has the rules %q and %q, want %q", e.Evidence[0].ID, e.Evidence[1].ID, r.ID())
	}

	// A number that is missing could move the answer, but not beyond 1.
	n := fit(t, numbers(t, []float64{1, 2, 3, 11, 12, 14}, []int32{0, 0, 0, 1, 1, 1}, "a", "b"), 1)
	blind, err := table.New(n.Schema(), []table.Column{{Floats: []float64{math.NaN(), 2}}, {Codes: []int32{-1, -1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = n.Explain(blind, 0); err != nil || len(e.Missing) != 1 || !(e.Missing[0].CouldMove > 0.45 && e.Missing[0].CouldMove <= 0.5) {
		t.Errorf("explanation %+v, %v", e, err)
	}
	if e, err = n.Explain(blind, 1); err != nil || e.Evidence[0].Text != "x = 2" || e.Evidence[0].ID != "" {
		t.Errorf("explanation %+v, %v", e, err)
	}
}

// Rules of nominal columns: a prior for each class, then the values by the
// information they carry.
func TestRules(t *testing.T) {
	m := fit(t, tennis(t), 0)
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	if base.Kind != rule.Weighed || len(base.Rules) != 2+2*(3+3+2+2) || m.Size().Rules != len(base.Rules) {
		t.Fatalf("%d rules:\n%v", len(base.Rules), base)
	}
	if got := base.Rules[2].String(); !strings.HasPrefix(got, "IF Outlook = Overcast THEN PlayTennis = ") {
		t.Errorf("the first rule is %s", got)
	}
	for i, r := range base.Rules[3:] {
		if *r.Evidence.Bits > *base.Rules[i+2].Evidence.Bits {
			t.Errorf("rule %v has more bits than the one before", &r)
		}
	}
	for _, r := range base.Rules {
		if len(r.If) == 1 && r.If[0].Value == "Sunny" && r.Then.Value == "No" {
			near(t, "P(No | Sunny)", *r.With, 3./5, 1e-12)
			near(t, "covered", *r.Evidence.Covered, 5, 0)
			near(t, "correct", *r.Evidence.Correct, 3, 0)
			near(t, "weight", *r.Evidence.Weight, math.Log(3./5/(5./14)), 1e-12)
			near(t, "bits", *r.Evidence.Bits, 5./14*(3./5*math.Log2(3./5/(5./14))+2./5*math.Log2(2./5/(9./14))), 1e-12)
		}
	}
}

// Rules of numeric columns: a unit for each class.
func TestUnits(t *testing.T) {
	m := fit(t, numbers(t, []float64{1, 3, 10, 14}, []int32{0, 0, 1, 1}, "low", "high"), 0)
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	const want = "RULES mixture\n# m = 0: where these rules find every class impossible, the model names the least impossible one\nWHEN low (0.5) EXPECT class = {low 1} AND x ~ 2 ± 1\nWHEN high (0.5) EXPECT class = {high 1} AND x ~ 12 ± 2\n"
	if base.String() != want {
		t.Errorf("rules:\n%swant:\n%s", base, want)
	}
	if size := m.Size(); size.Rules != 2 || size.Units != 2 || size.Rows != 4 {
		t.Errorf("size %+v", size)
	}
}

func TestGraph(t *testing.T) {
	g, err := fit(t, tennis(t), 0).Graph()
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 5 || len(g.Edges) != 4 || !g.Layered() {
		t.Errorf("graph %+v", g)
	}
	// Information gains of section 3.4.2.
	for i, want := range []float64{0.246, 0.029, 0.151, 0.048} {
		near(t, "gain of "+g.Edges[i].To, g.Edges[i].Weight, want, 1e-3)
	}
}

// Unchanged sources are saved to the same bytes.
func TestPartsAreShared(t *testing.T) {
	m := fit(t, tennis(t), 1)
	before, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.Begin(learn.Source{ID: "b", Name: "b.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(context.Background(), nominal(t, tennisNames, "Foggy Hot High Weak Perhaps", m.Schema())); err != nil {
		t.Fatal(err)
	}
	more, err := u.Freeze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	after, err := more.Parts()
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != 3 || string(after[0].Data) != string(before[0].Data) || string(after[1].Data) != string(before[1].Data) {
		t.Error("parts of settings and the first source changed")
	}
}

func TestDecodeRefuses(t *testing.T) {
	m := fit(t, tennis(t), 1)
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(b *savedBlock)) []learn.Part {
		var b savedBlock
		if err := learn.Unmarshal(parts[1].Data, &b); err != nil {
			t.Fatal(err)
		}
		edit(&b)
		data, err := learn.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return []learn.Part{parts[0], {Name: parts[1].Name, Data: data}}
	}
	setting := func(s saved) []learn.Part {
		data, err := learn.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return []learn.Part{{Name: "settings", Data: data}, parts[1]}
	}
	for says, parts := range map[string][]learn.Part{
		"sources are missing":                   parts[:1],
		"settings or the sources":               parts[1:],
		"comes twice":                           {parts[0], parts[1], parts[1]},
		"is not one that bayes knows":           {parts[0], parts[0]},
		"this program reads format 2":           setting(saved{Format: 1}),
		"setting m=-1":                          setting(saved{Format: format, M: -1}),
		"target 9 is not a nominal one":         change(func(b *savedBlock) { b.Target = 9 }),
		"2 classes, or not weights":             change(func(b *savedBlock) { b.Classes[0] = -1 }),
		"3 weights of 2 classes":                change(func(b *savedBlock) { b.Classes = append(b.Classes, 1) }),
		"0 counts and 0 moments, expected 6":    change(func(b *savedBlock) { b.Columns[0].Counts = nil }),
		"6 counts and 0 moments, expected 0":    change(func(b *savedBlock) { b.Columns[0].Numeric = true }),
		"level 9":                               change(func(b *savedBlock) { b.Columns[0].Level = 9 }),
		`the value "Sunny" twice`:               change(func(b *savedBlock) { b.Columns[0].Values[1] = "Sunny" }),
		"not the one it is named after":         change(func(b *savedBlock) { b.ID = "z" }),
		"no row with a class":                   change(func(b *savedBlock) { b.Classes = []float64{0, 0} }),
		"two columns are named \"Temperature\"": change(func(b *savedBlock) { b.Columns[0].Name = "Temperature" }),
		"are not moments": change(func(b *savedBlock) {
			b.Columns[0] = savedColumn{Name: "x", Numeric: true, Moments: []float64{1, 2, -3, 0, 0, 0}}
		}),
	} {
		if _, err := decode(parts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

// Any bytes give an error or a model that answers.
func FuzzDecode(f *testing.F) {
	for _, m := range []*Model{fit(f, tennis(f), 1), fit(f, numbers(f, []float64{1, 3, 1e300, 14}, []int32{0, 0, 1, 1}, "low", "high"), 0)} {
		parts, err := m.Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parts[0].Data, parts[1].Data)
	}
	settings, of := fewSources(f)
	several, err := save(of.blocks)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(settings, several)
	f.Fuzz(func(t *testing.T, settings, source []byte) {
		defer bounded.Start(t, len(settings)+len(source))()
		var block savedBlock
		var many bundle.Packed
		name := bundlePart
		if learn.Unmarshal(source, &many) == nil && len(many.Sources) > 0 {
			name += many.Sources[0].ID
		} else if learn.Unmarshal(source, &block) == nil {
			name = sourcePart + block.ID
		}
		m, err := decode([]learn.Part{{Name: "settings", Data: settings}, {Name: name, Data: source}})
		if err != nil {
			return
		}
		columns := make([]table.Column, len(m.Schema().Attributes))
		for j, a := range m.Schema().Attributes {
			if a.Kind == table.Nominal {
				columns[j].Codes = []int32{table.Unseen, min(0, int32(len(a.Values))-1)}
			} else {
				columns[j].Floats = []float64{1e300, 0}
			}
		}
		tab, err := table.New(m.Schema(), columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, 2)
		if err := m.Predict(context.Background(), tab, out); err != nil {
			t.Fatal(err)
		}
		for _, p := range out.P {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("probability %v", p)
			}
		}
		if _, err := m.(learn.Explainer).Explain(tab, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := m.(learn.Ruler).Rules(); err != nil {
			t.Fatal(err)
		}
	})
}

// fewSources returns a model of three sources, and its settings.
func fewSources(t testing.TB) ([]byte, *Model) {
	parts := manySources(t, mixed(3), 3)
	m, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	return parts[0].Data, m.(*Model)
}

// Any bytes are no sum, or one that can be answered from and added to.
func FuzzDecodeSum(f *testing.F) {
	_, m := fewSources(f)
	data, err := m.tally().saved([]bundle.Listed{{Part: "source/0", Sources: []string{"0", "n"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		sum, list, err := decodeSum(data)
		if err != nil {
			return
		}
		all := sum.block()
		sum.in(sum.schema, sum.target).add(all, 1)
		if _, err := sum.saved(list); err != nil {
			t.Fatal(err)
		}
	})
}
