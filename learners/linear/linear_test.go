package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	limits "github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// fivePoints are those of Mitchell's figure 6.2, which has no numbers: these
// are a line with noise.
func fivePoints() *table.Table {
	t, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "d", Kind: table.Numeric}}},
		[]table.Column{{Floats: []float64{1, 2, 3, 4, 5}}, {Floats: []float64{2.1, 3.9, 6.2, 7.8, 10.1}}}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func Example() {
	m, err := (&Learner{Ridge: "0"}).Learn(context.Background(), learn.Task{Table: fivePoints(), Target: "d"})
	if err != nil {
		fmt.Println(err)
		return
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(base)
	// Output:
	// RULES weighed
	// # summary: d also adds 1.99 × (x − 3)
	// ELSE d ~ 6.02 ± 0.18885620632287503 [covered 5]
}

func learnt(t testing.TB, l *Learner, tab *table.Table, target, source string) learn.Model {
	t.Helper()
	m, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: target, Source: learn.Source{ID: source}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func answers(t testing.TB, m learn.Model, tab *table.Table) *learn.Predictions {
	t.Helper()
	tab, _, err := table.Conform(tab, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, tab.Rows())
	if err := m.Predict(context.Background(), tab, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// The line .05 + 1.99 x, its squared error .107 and the intervals of Student's t
// with 3 degrees of freedom: (x₀ − x̄)²/Σ(x − x̄)² is the leverage.
func TestFivePoints(t *testing.T) {
	m := learnt(t, &Learner{Ridge: "0"}, fivePoints(), "d", "a").(*Model)
	out := answers(t, m, fivePoints())
	sse := 0.0
	for r, d := range fivePoints().Columns[1].Floats {
		x := float64(r + 1)
		near(t, "the line", out.Mean[r], 0.05+1.99*x, 1e-12)
		sse += (d - out.Mean[r]) * (d - out.Mean[r])
		wide := 3.182446305284263 * math.Sqrt(0.107/3*(1+0.2+(x-3)*(x-3)/10))
		near(t, "low", out.Low[r], out.Mean[r]-wide, 1e-9)
		near(t, "high", out.High[r], out.Mean[r]+wide, 1e-9)
	}
	near(t, "the squared error", sse, 0.107, 1e-12)
}

// A polynomial whose points follow exactly is found again, far from the origin
// too, and where it is not, higher powers do no harm.
func TestPolynomials(t *testing.T) {
	for _, offset := range []float64{0, -40, 1e6} {
		b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}})
		of := func(x float64) float64 { return 3 - x + 0.5*x*x*x }
		for i := range 40 {
			x := float64(i)/8 - 2
			if err := b.Add(map[string]any{"x": offset + x, "y": of(x)}); err != nil {
				t.Fatal(err)
			}
		}
		tab, err := b.Table()
		if err != nil {
			t.Fatal(err)
		}
		for _, degree := range []int{3, 7, 10} {
			for _, ridge := range []string{"0", "auto"} {
				out := answers(t, learnt(t, &Learner{Degree: &degree, Ridge: ridge}, tab, "y", "a"), tab)
				for r, y := range tab.Columns[1].Floats {
					near(t, fmt.Sprintf("degree %d at %v", degree, tab.Columns[0].Floats[r]), out.Mean[r], y, 1e-8)
				}
			}
		}
	}
}

// mixed returns random rows of numbers, names, missing cells, a copy, a constant
// and a sum of columns, with a target that follows with noise.
func mixed(random *rand.Rand, rows int, classes int) *table.Table {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "name", Values: []string{"x", "y", "z"}},
		{Name: "copy", Kind: table.Numeric}, {Name: "one", Kind: table.Numeric}, {Name: "sum", Kind: table.Numeric}, {Name: "t", Kind: table.Numeric},
	}}
	if classes > 0 {
		schema.Attributes[6] = table.Attribute{Name: "t", Values: []string{"p", "q", "r", "s"}[:classes]}
	}
	columns := make([]table.Column, 7)
	weights := make([]float64, rows)
	for r := range rows {
		weights[r] = []float64{1, 1, 2, 0.5}[random.IntN(4)]
		a, b, name := 100+random.NormFloat64(), random.ExpFloat64()*1e-3, random.IntN(3)
		y := 3*a - 500*b + float64(name*name) + random.NormFloat64()
		if columns[2].Codes = append(columns[2].Codes, int32(name)); random.IntN(9) == 0 {
			columns[2].Codes[r] = table.Missing
		}
		for j, x := range map[int]float64{0: a, 1: b, 3: a, 4: 7, 5: a + 1000*b} {
			columns[j].Floats = append(columns[j].Floats, x)
		}
		if columns[6].Floats = append(columns[6].Floats, y); classes > 0 {
			columns[6].Floats = nil
			columns[6].Codes = append(columns[6].Codes, int32(min(classes-1, max(0, int(math.Round((y-300)/3+1))))))
		}
	}
	t, err := table.New(schema, columns, weights)
	if err != nil {
		panic(err)
	}
	return t
}

// Least squares by QR of the terms that can be told apart gives the same
// answers, copies, constants and sums being among the columns.
func TestAsQR(t *testing.T) {
	for seed := range uint64(3) {
		tab := mixed(rand.New(rand.NewPCG(seed, 1)), 200, 0)
		m := learnt(t, &Learner{Ridge: "0"}, tab, "t", "a")
		x, y := mat.NewDense(tab.Rows(), 6, nil), mat.NewDense(tab.Rows(), 1, nil)
		for r := range tab.Rows() {
			w := math.Sqrt(tab.Weight(r))
			row := []float64{1, tab.Columns[0].Floats[r] - 100, tab.Columns[1].Floats[r], 0, 0, 0}
			if code := tab.Columns[2].Codes[r]; code >= 0 {
				row[3+code] = 1
			}
			floats.Scale(w, row)
			x.SetRow(r, row)
			y.Set(r, 0, w*tab.Columns[6].Floats[r])
		}
		var qr mat.QR
		qr.Factorize(x)
		var weights, fitted mat.Dense
		if err := qr.SolveTo(&weights, false, y); err != nil {
			t.Fatal(err)
		}
		fitted.Mul(x, &weights)
		out := answers(t, m, tab)
		for r := range tab.Rows() {
			near(t, fmt.Sprintf("seed %d row %d", seed, r+1), out.Mean[r], fitted.At(r, 0)/math.Sqrt(tab.Weight(r)), 1e-10)
		}
		remarks, err := m.(learn.Remarker).Remarks()
		if err != nil || fmt.Sprint(remarks) != `[column "copy" is left out: it is a copy or a linear combination of what stands before it column "one" is left out: it never varies column "sum" is left out: it is a copy or a linear combination of what stands before it]` {
			t.Errorf("remarks %v, %v", remarks, err)
		}
	}
}

// However rows are spread over sources, and whatever comes and goes, answers and
// intervals are those of learning the rows that are left at once, to 1e-9.
func TestSourcesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		degree := rapid.IntRange(1, 3).Draw(t, "degree")
		l := &Learner{Degree: &degree, Ridge: rapid.SampledFrom([]string{"auto", "0", "2.5"}).Draw(t, "ridge")}
		model := func(tab *table.Table, source string) learn.Model {
			m, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: "t", Source: learn.Source{ID: source}})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		all := mixed(random, 60+random.IntN(60), 0)
		cut, more := 20+random.IntN(20), 45+random.IntN(10)
		m, err := model(all.Slice(0, cut), "a").(learn.Merger).Merge(context.Background(), model(all.Slice(cut, more), "b"))
		if err != nil {
			t.Fatal(err)
		}
		u, err := m.(learn.Updater).Begin(learn.Source{ID: rapid.SampledFrom([]string{"b", "c"}).Draw(t, "source")})
		if err != nil {
			t.Fatal(err)
		}
		for r := more; r < all.Rows(); r += 7 {
			if err := u.Add(context.Background(), all.Slice(r, min(r+7, all.Rows()))); err != nil {
				t.Fatal(err)
			}
		}
		if m, err = u.Freeze(context.Background()); err != nil {
			t.Fatal(err)
		}
		same := func(got, want learn.Model) {
			a, b := learn.NewPredictions(got, all.Rows()), learn.NewPredictions(want, all.Rows())
			if err := got.Predict(context.Background(), all, a); err != nil {
				t.Fatal(err)
			}
			if err := want.Predict(context.Background(), all, b); err != nil {
				t.Fatal(err)
			}
			for i, x := range slices.Concat(a.Mean, a.Low, a.High) {
				if y := slices.Concat(b.Mean, b.Low, b.High)[i]; !(math.Abs(x-y) <= 1e-9*max(1, math.Abs(y))) {
					t.Fatalf("answer %d of %d: %v, want %v", i, len(a.Mean), x, y)
				}
			}
		}
		same(m, model(all, "all"))
		left, err := m.(learn.Forgetter).Forget(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		same(left, model(all.Slice(cut, all.Rows()), "rest"))
	})
}

// Rows learnt where they stand, by class, one after the other, give the weights of
// those that were put in order first: many of them, so that some stand for all.
func TestRowsInAnyOrder(t *testing.T) {
	for _, cuts := range [][]float64{{0}, {-1, 1}} {
		anyOrder(t, twenty(80_000, cuts...), len(cuts)+1)
	}
}

func anyOrder(t *testing.T, all *table.Table, classes int) {
	t.Helper()
	byClass := make([]int, 0, all.Rows())
	for class := range int32(classes) {
		for r, code := range all.Columns[20].Codes {
			if code == class {
				byClass = append(byClass, r)
			}
		}
	}
	want := learnt(t, &Learner{}, all, "target", "a")
	keep := (&kept.Rows{}).Gather(learn.Source{ID: "a"}, 20, nil)
	if err := keep.Add(context.Background(), all); err != nil {
		t.Fatal(err)
	}
	rows, err := keep.Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ordered, err := learnRows(context.Background(), rows, "target", want.(*Classes).settings)
	if err != nil {
		t.Fatal(err)
	}
	sorted := learnt(t, &Learner{Keep: "nothing"}, all.Select(byClass), "target", "a")
	probe := all.Slice(0, 1000)
	a := answers(t, want, probe)
	for name, m := range map[string]learn.Model{"put in order": ordered, "by class": sorted} {
		for i, p := range answers(t, m, probe).P {
			if !(math.Abs(p-a.P[i]) <= 1e-9) {
				t.Fatalf("%s: %v, want %v", name, p, a.P[i])
			}
		}
	}
}

// At the weights that are learnt the slope of the loss is nothing, for two
// classes and for more; probabilities then have the classes' frequencies.
func TestLogisticSlope(t *testing.T) {
	for _, classes := range []int{2, 3, 4} {
		rows := 400
		if classes == 2 { // enough to begin with some of them
			rows = 16*spanRows + 100
		}
		tab := mixed(rand.New(rand.NewPCG(7, uint64(classes))), rows, classes)
		m := learnt(t, &Learner{}, tab, "t", "a").(*Classes)
		kept, err := m.Relearning().Rows.Table(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		of := newBlock(learn.Source{}, newLayout(kept.Schema, m.target, 1))
		if err := of.learn(context.Background(), kept); err != nil {
			t.Fatal(err)
		}
		c, err := of.choose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		l := newLogit(kept, of, c, m)
		if err := l.minimise(context.Background()); err != nil {
			t.Fatal(err)
		}
		_, slope, curvature, err := l.pass(context.Background(), l.at, 1, true)
		if err != nil {
			t.Fatal(err)
		}
		bends(t, l, curvature)
		for i, s := range slope {
			if !(math.Abs(s) < 1e-7*l.total) {
				t.Errorf("%d classes: slope %d is %v", classes, i, s)
			}
		}
		out := answers(t, m, tab)
		sums := make([]float64, classes)
		for r := range tab.Rows() {
			for k, p := range out.Row(r) {
				sums[k] += tab.Weight(r) * p
			}
		}
		for k := range sums {
			near(t, "the classes' weight", sums[k], m.counts[k], 1e-6)
		}
	}
}

// bends checks a curvature: how the slope moves with the weights, in a direction in which
// classes do not move alike.
func bends(t *testing.T, l *logit, curvature []float64) {
	const small = 1e-5
	n := len(l.at)
	random := rand.New(rand.NewPCG(3, uint64(n)))
	way := make([]float64, n)
	for i := range n / l.outputs {
		own := way[i*l.outputs:][:l.outputs]
		for k := range own {
			own[k] = random.NormFloat64()
		}
		if l.outputs > 1 {
			floats.AddConst(-floats.Sum(own)/float64(len(own)), own)
		}
	}
	at := func(step float64) []float64 {
		moved := make([]float64, n)
		_, slope, _, err := l.pass(context.Background(), floats.AddScaledTo(moved, l.at, step, way), 1, false)
		if err != nil {
			t.Fatal(err)
		}
		return slope
	}
	before, after := at(-small), at(small)
	for i := range n {
		want := (after[i] - before[i]) / (2 * small)
		got := 0.0
		for j := range n {
			got += curvature[max(i, j)*n+min(i, j)] * way[j]
		}
		if !(math.Abs(got-want) <= 1e-6*l.total) {
			t.Errorf("%d outputs: the slope by weight %d moves by %v, expected %v", l.outputs, i, got, want)
		}
	}
}

// Rules of nominal columns alone say all but the intervals.
func TestRulesAddUp(t *testing.T) {
	for _, classes := range []int{0, 2, 3} {
		tab := mixed(rand.New(rand.NewPCG(3, 3)), 150, classes)
		tab = tab.Project([]int{2, 6})
		m := learnt(t, &Learner{}, tab, "t", "a")
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		base, err = rule.Parse("again", []byte(base.String()))
		if err != nil {
			t.Fatal(err)
		}
		predictor, err := rule.NewPredictor(base, m.Schema(), m.Target())
		if err != nil {
			t.Fatal(err)
		}
		fitted, _, err := table.Conform(tab, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		want, got := answers(t, m, tab), learn.NewPredictions(m, tab.Rows())
		if err := predictor.Predict(fitted, got.P, got.Mean); err != nil {
			t.Fatal(err)
		}
		for i, x := range slices.Concat(want.P, want.Mean) {
			near(t, "a rule's answer", slices.Concat(got.P, got.Mean)[i], x, 1e-12)
		}
	}
}

func TestErrors(t *testing.T) {
	numbers, names := mixed(rand.New(rand.NewPCG(1, 1)), 30, 0), mixed(rand.New(rand.NewPCG(1, 1)), 30, 2)
	degree := func(d int) *int { return &d }
	heavy, err := table.New(numbers.Schema, numbers.Columns, slices.Repeat([]float64{1e308}, 30))
	if err != nil {
		t.Fatal(err)
	}
	wide := &table.Schema{Attributes: []table.Attribute{{Name: "id"}, {Name: "y", Kind: table.Numeric}}}
	for i := range 1001 {
		wide.Attributes[0].Values = append(wide.Attributes[0].Values, fmt.Sprint(i))
	}
	ids, err := table.New(wide, []table.Column{{Codes: []int32{0, 1}}, {Floats: []float64{1, 2}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for says, of := range map[string]struct {
		learner Learner
		task    learn.Task
	}{
		"setting degree=0: expected 1 to 10":        {Learner{Degree: degree(0)}, learn.Task{Table: numbers, Target: "t"}},
		"setting degree=11: expected 1 to 10":       {Learner{Degree: degree(11)}, learn.Task{Table: numbers, Target: "t"}},
		"setting ridge=-1: expected auto or":        {Learner{Ridge: "-1"}, learn.Task{Table: numbers, Target: "t"}},
		"setting ridge=NaN: expected auto or":       {Learner{Ridge: "NaN"}, learn.Task{Table: numbers, Target: "t"}},
		"setting ridge=much: expected auto or":      {Learner{Ridge: "much"}, learn.Task{Table: numbers, Target: "t"}},
		"setting link=probit: expected identity":    {Learner{Link: "probit"}, learn.Task{Table: numbers, Target: "t"}},
		"setting keep=all: expected rows or nothin": {Learner{Keep: "all"}, learn.Task{Table: names, Target: "t"}},
		"is a number, and link=logit":               {Learner{Link: "logit"}, learn.Task{Table: numbers, Target: "t"}},
		"has classes, which link=identity":          {Learner{Link: "identity"}, learn.Task{Table: names, Target: "t"}},
		"needs a target":                            {Learner{}, learn.Task{Table: numbers, NoTarget: true}},
		"the weights of the rows add up to":         {Learner{}, learn.Task{Table: heavy, Target: "t"}},
		"give 1002 terms, of which \"id\"":          {Learner{}, learn.Task{Table: ids, Target: "y"}},
	} {
		if m, err := of.learner.Learn(context.Background(), of.task); err == nil || m != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	a := learnt(t, &Learner{}, numbers, "t", "a").(*Model)
	for says, other := range map[string]learn.Model{
		"one of classes":     learnt(t, &Learner{}, names, "t", "b"),
		"different settings": learnt(t, &Learner{Degree: degree(2)}, numbers, "t", "b"),
		"different targets":  learnt(t, &Learner{}, numbers, "b", "b"),
	} {
		if _, err := a.Merge(context.Background(), other); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

// Any bytes give an error or a model that answers.
func FuzzDecode(f *testing.F) {
	for _, classes := range []int{0, 2, 3} {
		tab := mixed(rand.New(rand.NewPCG(1, 1)), 30, classes)
		parts, err := learnt(f, &Learner{}, tab, "t", "s").Parts()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parts[0].Data, parts[1].Data, parts[len(parts)-1].Data)
	}
	probe := mixed(rand.New(rand.NewPCG(2, 2)), 5, 0)
	f.Fuzz(func(t *testing.T, head, source, last []byte) {
		defer limits.Start(t, len(head)+len(source)+len(last))()
		m, err := decode([]learn.Part{{Name: settingsPart, Data: head}, {Name: sourcePart + "s", Data: source}})
		if err != nil {
			m, err = decode([]learn.Part{{Name: lessonPart, Data: head}, {Name: "rows/s", Data: source}, {Name: weightsPart, Data: last}})
		}
		if err != nil {
			return
		}
		rows, _, err := table.Conform(probe, m.Schema(), false)
		if err != nil {
			return
		}
		out := answers(t, m, rows)
		for _, x := range slices.Concat(out.P, out.Mean, out.Low, out.High) {
			if !finite(x) {
				t.Fatalf("an answer of %v", x)
			}
		}
		if _, err := m.(learn.Ruler).Rules(); err != nil {
			t.Fatal(err)
		}
	})
}

// Rows that are put in order when somebody asks for them are those that stood
// there when they were learnt, whatever became of the table since.
func TestLaterRows(t *testing.T) {
	tab, again := twenty(2000, 0), twenty(2000, 0)
	m := learnt(t, &Learner{}, tab, "target", "a").(*Classes)
	for _, c := range tab.Columns {
		clear(c.Floats)
		clear(c.Codes)
	}
	gathering := (&kept.Rows{}).Gather(learn.Source{ID: "a"}, 20, nil)
	if err := gathering.Add(context.Background(), again); err != nil {
		t.Fatal(err)
	}
	rows, err := gathering.Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want, err := rows.Learnt(context.Background(), m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := m.Kept(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range want[0].Table.Columns {
			if g := got[0].Table.Columns[i]; !slices.Equal(g.Floats, c.Floats) || !slices.Equal(g.Codes, c.Codes) {
				t.Fatalf("column %d is not what was learnt", i)
			}
		}
	}
}
