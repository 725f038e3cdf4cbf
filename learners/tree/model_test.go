package tree

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// failer is what testing and rapid tests have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// agreeWithRules checks that the rules of a model answer as it does, for rows
// for which they say they do.
func agreeWithRules(t failer, m *Model, tbl *table.Table) {
	t.Helper()
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	text := base.String()
	again, err := rule.Parse("printed", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	p, err := rule.NewPredictor(again, m.Schema(), m.Target())
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	c := conform(t, tbl, m)
	mine := learn.NewPredictions(m, c.Rows())
	if err := m.Predict(context.Background(), c, mine); err != nil {
		t.Fatal(err)
	}
	for r := range c.Rows() {
		if base.CompleteOnly && !complete(m, c, r) {
			continue
		}
		one := c.Slice(r, r+1)
		if m.schema.Attributes[m.target].Kind == table.Numeric {
			theirs := make([]float64, 1)
			if err := p.Predict(one, nil, theirs); err != nil {
				t.Fatal(err)
			}
			if math.Abs(theirs[0]-mine.Mean[r]) > 1e-12*(1+math.Abs(theirs[0])) {
				t.Fatalf("row %d: rules say %v, the tree %v", r+1, theirs[0], mine.Mean[r])
			}
			continue
		}
		theirs := make([]float64, mine.Classes)
		if err := p.Predict(one, theirs, nil); err != nil {
			t.Fatal(err)
		}
		for k, q := range mine.Row(r) {
			if math.Abs(theirs[k]-q) > 1e-12 {
				t.Fatalf("row %d: rules say %v, the tree %v in\n%s", r+1, theirs, mine.Row(r), text)
			}
		}
	}
}

func complete(m *Model, t *table.Table, row int) bool {
	for i, c := range t.Columns {
		if i == m.target {
			continue
		}
		if c.Codes != nil && c.Codes[row] < 0 || c.Floats != nil && table.IsMissing(c.Floats[row]) {
			return false
		}
	}
	return true
}

// drawTable draws a small table: a mix of columns, few distinct cells so that
// rows repeat, some missing, and weights of any kind. Its last column is the
// target.
func drawTable(t *rapid.T, schema *table.Schema) *table.Table {
	rows := rapid.IntRange(1, 40).Draw(t, "rows")
	columns := make([]table.Column, len(schema.Attributes))
	for i, a := range schema.Attributes {
		for range rows {
			missing := rapid.IntRange(0, 9).Draw(t, "missing") == 0 && (i < len(columns)-1 || rows > 5)
			if a.Kind == table.Nominal {
				code := rapid.Int32Range(0, int32(len(a.Values)-1)).Draw(t, "code")
				if missing {
					code = table.Missing
				}
				columns[i].Codes = append(columns[i].Codes, code)
				continue
			}
			x := rapid.SampledFrom([]float64{-1e300, -2, 0, 0.25, 1, 1, 3, 7, 1e-300}).Draw(t, "number")
			if missing {
				x = table.NA
			}
			columns[i].Floats = append(columns[i].Floats, x)
		}
	}
	var weights []float64
	switch rapid.IntRange(0, 3).Draw(t, "weights") {
	case 0:
		for range rows {
			weights = append(weights, rapid.SampledFrom([]float64{0, 0.1, 0.3, 1, 2.7}).Draw(t, "weight"))
		}
	case 1:
		for range rows {
			weights = append(weights, float64(rapid.IntRange(0, 3).Draw(t, "weight")))
		}
	}
	tbl, err := table.New(schema, columns, weights)
	if err != nil {
		t.Fatal(err)
	}
	return tbl
}

func drawSchema(t *rapid.T) *table.Schema {
	s := &table.Schema{}
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		a := table.Attribute{Name: string(rune('a' + i)), Kind: table.Numeric}
		if rapid.Bool().Draw(t, "nominal") {
			a.Kind = table.Nominal
			a.Values = []string{"w", "v", "10", "9"}[:rapid.IntRange(1, 4).Draw(t, "values")]
		}
		s.Attributes = append(s.Attributes, a)
	}
	y := table.Attribute{Name: "y", Kind: table.Numeric}
	if rapid.IntRange(0, 3).Draw(t, "classes") > 0 {
		y.Kind, y.Values = table.Nominal, []string{"r", "p", "q"}[:rapid.IntRange(1, 3).Draw(t, "classes")]
	}
	s.Attributes = append(s.Attributes, y)
	return s
}

func drawLearner(t *rapid.T, target *table.Attribute) Learner {
	l := Learner{
		Measure: rapid.SampledFrom([]string{"", "gain", "ratio", "distance", "gini", "kearns"}).Draw(t, "measure"),
		Missing: rapid.SampledFrom([]string{"", "count", "known", "common", "class"}).Draw(t, "strategy"),
		Prune:   rapid.SampledFrom([]string{"", "none", "error", "cost"}).Draw(t, "prune"),
		Binary:  ptr(rapid.Bool().Draw(t, "binary")),
		MinRows: ptr(rapid.SampledFrom([]float64{0.1, 1, 2}).Draw(t, "min-rows")),
		M:       ptr(rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "m")),
		Splits:  rapid.SampledFrom([]string{"", "oblique"}).Draw(t, "splits"),
	}
	if target.Kind == table.Nominal && rapid.Bool().Draw(t, "for classes") {
		l.Stop = rapid.SampledFrom([]string{"", "chi2", "mdl"}).Draw(t, "stop")
		l.Prune = rapid.SampledFrom([]string{"mdl", "rules"}).Draw(t, "prune")
		l.Estimate = rapid.SampledFrom([]string{"", "normal", "m", "validation"}).Draw(t, "estimate")
	}
	return l
}

// learnt returns the model of a table, or nil where there is nothing to learn.
func learnt(t *rapid.T, l Learner, tbl *table.Table, source string) *Model {
	m, err := l.Learn(context.Background(), learn.Task{Table: tbl, Seed: 5, Source: learn.Source{ID: source, Name: source}}.At(len(tbl.Columns)-1))
	if err != nil {
		return nil
	}
	return m.(*Model)
}

// body returns the bytes of what was learnt.
func body(t *rapid.T, m learn.Model) []byte {
	parts, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	return parts[len(parts)-1].Data
}

// concat returns the rows of both tables.
func concat(a, b *table.Table) *table.Table {
	columns := make([]table.Column, len(a.Columns))
	for i := range columns {
		columns[i].Codes = slices.Concat(a.Columns[i].Codes, b.Columns[i].Codes)
		columns[i].Floats = slices.Concat(a.Columns[i].Floats, b.Columns[i].Floats)
	}
	var weights []float64
	if a.Weights != nil || b.Weights != nil {
		for r := range a.Rows() {
			weights = append(weights, a.Weight(r))
		}
		for r := range b.Rows() {
			weights = append(weights, b.Weight(r))
		}
	}
	t, err := table.New(a.Schema, columns, weights)
	if err != nil {
		panic(err)
	}
	return t
}

// shuffled returns the table with rows in another order and values coded in
// another way.
func shuffled(t *rapid.T, tbl *table.Table) *table.Table {
	order := make([]int, tbl.Rows())
	for i := range order {
		order[i] = i
	}
	out := tbl.Select(rapid.Permutation(order).Draw(t, "order"))
	schema := &table.Schema{Attributes: slices.Clone(tbl.Schema.Attributes)}
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		if a.Kind != table.Nominal {
			continue
		}
		old := a.Values
		a.Values = rapid.Permutation(old).Draw(t, "values")
		for r, c := range out.Columns[i].Codes {
			if c >= 0 {
				out.Columns[i].Codes[r] = a.Code(old[c])
			}
		}
	}
	out.Schema = schema
	return out
}

// What is learnt is a function of the multiset of rows: their order, the codes
// of values, and how they came (at once, by update, by merging, with others
// that were forgotten) do not show, to the bit.
func TestExact(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		a, b := drawTable(t, schema), drawTable(t, schema)
		l := drawLearner(t, &schema.Attributes[len(schema.Attributes)-1])
		whole := learnt(t, l, concat(a, b), "all")
		first, second := learnt(t, l, a, "a"), learnt(t, l, b, "b")
		if first == nil || second == nil || whole == nil {
			return
		}
		want := body(t, whole)
		if got := body(t, learnt(t, l, shuffled(t, concat(a, b)), "all")); !bytes.Equal(got, want) {
			t.Fatal("the order of rows or values shows")
		}
		merged, err := first.Merge(ctx, second)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body(t, merged), want) {
			t.Fatal("merging differs from learning at once")
		}
		extended, _, err := table.Conform(b, first.Schema(), true)
		if err != nil {
			t.Fatal(err)
		}
		u, err := first.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		half := extended.Rows() / 2
		for _, part := range []*table.Table{extended.Slice(0, half), extended.Slice(half, extended.Rows())} {
			if err := u.Add(ctx, part); err != nil {
				t.Fatal(err)
			}
		}
		updated, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body(t, updated), want) {
			t.Fatal("updating differs from learning at once")
		}
		back, err := merged.(*Model).Forget(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body(t, back), body(t, second)) {
			t.Fatal("forgetting a differs from learning b")
		}
		if got := merged.(*Model).Sources(); len(got) != 2 || got[1].ID != "b" {
			t.Fatalf("sources %v", got)
		}
	})
}

// For any model: probabilities are probabilities, rules agree, explanations
// add up, and saving loses nothing, with and without the part that can be
// computed again.
func TestModels(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		tbl := drawTable(t, schema)
		l := drawLearner(t, &schema.Attributes[len(schema.Attributes)-1])
		m := learnt(t, l, tbl, "s")
		if m == nil {
			return
		}
		rows := conform(t, drawTable(t, schema), m)
		agreeWithRules(t, m, rows)
		mine := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(ctx, rows, mine); err != nil {
			t.Fatal(err)
		}
		for r := range rows.Rows() {
			checkRow(t, m, rows, r, mine)
		}
		if _, err := m.Graph(); err != nil {
			t.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for _, kept := range [][]learn.Part{parts, parts[:len(parts)-1]} {
			again, err := learn.DecodeParts("tree", kept)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(body(t, again), parts[len(parts)-1].Data) {
				t.Fatal("saving and loading changes the tree")
			}
			theirs := learn.NewPredictions(again, rows.Rows())
			if err := again.Predict(ctx, conform(t, rows, again), theirs); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(mine.P, theirs.P) || !slices.Equal(mine.Mean, theirs.Mean) || !slices.Equal(mine.High, theirs.High) {
				t.Fatal("saving and loading changes predictions")
			}
		}
	})
}

func checkRow(t *rapid.T, m *Model, rows *table.Table, r int, mine *learn.Predictions) {
	e, err := m.Explain(rows, r)
	if err != nil {
		t.Fatal(err)
	}
	sums := slices.Clone(e.Prior)
	for _, ev := range e.Evidence {
		sums[ev.Class] += ev.Weight
	}
	for _, miss := range e.Missing {
		if !(miss.CouldMove >= 0) {
			t.Fatalf("%s could move the answer by %v", miss.Column, miss.CouldMove)
		}
	}
	if mine.Classes == 0 {
		mean, low, high := mine.Mean[r], mine.Low[r], mine.High[r]
		if !(low <= mean && mean <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
			t.Fatalf("%v ≤ %v ≤ %v", low, mean, high)
		}
		if scale := math.Abs(mean) + math.Abs(e.Prior[0]); math.Abs(sums[0]-mean) > 1e-9*scale+1e-12 {
			t.Fatalf("evidence adds up to %v, the answer is %v", sums[0], mean)
		}
		return
	}
	total := 0.0
	for k, p := range mine.Row(r) {
		total += p
		if want := logarithm(p); math.Abs(sums[k]-want) > 1e-12*max(1, math.Abs(want)) {
			t.Fatalf("evidence adds up to %v, log probability is %v", sums[k], want)
		}
		if !(p >= 0 && p <= 1+1e-12) || m.settings.M > 0 && p == 0 {
			t.Fatalf("probability %v", p)
		}
	}
	if math.Abs(total-1) > 1e-12 {
		t.Fatalf("probabilities add up to %v", total)
	}
}

// The fast search for cuts and the general one find the same tree: doubling
// the weight of every row changes nothing but the counts.
func TestWeightsScale(t *testing.T) {
	one := mixed(3000)
	two := mixed(3000)
	two.Weights = make([]float64, 3000)
	for r := range two.Weights {
		two.Weights[r] = 2
	}
	a := learnTable(t, one, Learner{Prune: "none", MinRows: ptr(2.0), M: ptr(2.0)})
	b := learnTable(t, two, Learner{Prune: "none", MinRows: ptr(4.0), M: ptr(4.0)})
	if a.Outline() != b.Outline() || a.Nodes() < 100 {
		t.Errorf("%d and %d nodes", a.Nodes(), b.Nodes())
	}
}

// The tree does not depend on the number of cores.
func TestCores(t *testing.T) {
	tbl := mixed(30_000)
	for r := range 3000 {
		tbl.Columns[r%20] = blank(tbl.Columns[r%20], r*7)
	}
	for _, l := range []Learner{{MaxDepth: 8}, {MaxDepth: 2, Splits: "oblique"}} {
		want, err := learn.Encode(learnTable(t, tbl, l))
		if err != nil {
			t.Fatal(err)
		}
		for _, cores := range []int{1, 3, 8} {
			before := runtime.GOMAXPROCS(cores)
			got, err := learn.Encode(learnTable(t, tbl, l))
			runtime.GOMAXPROCS(before)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d cores: another tree (%v)", cores, err)
			}
		}
	}
}

func blank(c table.Column, row int) table.Column {
	if c.Codes != nil {
		c.Codes[row] = table.Missing
	} else {
		c.Floats[row] = table.NA
	}
	return c
}

// Growing to the end fits every row, as long as no two rows contradict each
// other.
func TestFitsAllRows(t *testing.T) {
	tbl := mixed(2000)
	for _, l := range []Learner{{Preset: "id3"}, {Preset: "id3", Measure: "gini", Binary: ptr(true)}, {Preset: "id3", Measure: "ratio"}, {Preset: "id3", Measure: "distance"}, {Preset: "id3", Measure: "kearns"}} {
		for r, p := range predict(t, learnTable(t, tbl, l), tbl) {
			if learn.Best(p, []string{"no", "yes"}) != int(tbl.Columns[20].Codes[r]) {
				t.Fatalf("%+v: row %d is answered %v", l, r+1, p)
			}
		}
	}
	// Parity: no single column tells anything, and yet all rows fit.
	m := learnTable(t, tableOf("a b y\nT T n\nT F p\nF T p\nF F n"), Learner{Preset: "id3"})
	if got := m.Outline(); got != "a{F→b{F→n, T→p}, T→b{F→p, T→n}}" {
		t.Error(got)
	}
}

func TestRegression(t *testing.T) {
	tbl := tableOf("x c y\n1 u 10\n2 u 11\n3 u 12\n4 v 30\n5 v 31\n6 v 32\n7 w 50\n8 w 52")
	m := learnTable(t, tbl, Learner{Prune: "none", MaxDepth: 1, Binary: ptr(false)})
	if got := m.Outline(); got != "c{u→11, v→31, w→51}" {
		t.Error(got)
	}
	c := conform(t, tbl, m)
	out := learn.NewPredictions(m, 8)
	if err := m.Predict(context.Background(), c, out); err != nil {
		t.Fatal(err)
	}
	for r, want := range []float64{11, 11, 11, 31, 31, 31, 51, 51} {
		near(t, "mean", out.Mean[r], want, 1e-12)
		if y := tbl.Columns[2].Floats[r]; !(out.Low[r] < y && y < out.High[r]) {
			t.Errorf("%v is not between %v and %v", y, out.Low[r], out.High[r])
		}
	}
	agreeWithRules(t, m, tbl)
	if _, err := m.DNF("u"); err == nil {
		t.Error("a regression tree is no disjunction")
	}
	// Targets near the largest number: sums of squares would overflow.
	huge := tableOf("x y\n1 1.7e308\n2 1.7e308\n3 -1.7e308\n4 -1.7e308\n5 -1.6e308")
	m = learnTable(t, huge, Learner{Prune: "none"})
	out = learn.NewPredictions(m, 5)
	if err := m.Predict(context.Background(), conform(t, huge, m), out); err != nil {
		t.Fatal(err)
	}
	if m.Nodes() < 3 || math.Abs(out.Mean[0]/1.7e308-1) > 1e-12 || math.IsInf(out.High[0], 0) || math.IsNaN(out.Low[4]) {
		t.Errorf("%s: %v", m.Outline(), out)
	}
	// One number for all: a leaf that is sure of it.
	m = learnTable(t, tableOf("x y\n1 5.1\n2 5.1\n3 5.1"), Learner{})
	out = learn.NewPredictions(m, 3)
	if err := m.Predict(context.Background(), conform(t, tableOf("x y\n1 ?\n2 ?\n? ?"), m), out); err != nil || out.Mean[2] != 5.1 || out.Low[0] != 5.1 {
		t.Errorf("%v, %v", out, err)
	}
}

// Of new rows drawn as the rows learnt from were, 95 % should lie in the
// intervals. With 4000 tests the standard deviation of the share is
// sqrt(.95·.05/4000) = 0.0034; the tree is fitted, so it may also be off by
// what pruning leaves: ± 0.03 in all.
func TestIntervalsCover(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	draw := func(n int) *table.Table {
		cols := make([]table.Column, 2)
		for range n {
			x := random.Float64()
			cols[0].Floats = append(cols[0].Floats, x)
			cols[1].Floats = append(cols[1].Floats, math.Floor(4*x)+0.5*random.NormFloat64())
		}
		tbl, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tbl
	}
	m := learnTable(t, draw(2000), Learner{})
	test := conform(t, draw(4000), m)
	out := learn.NewPredictions(m, 4000)
	if err := m.Predict(context.Background(), test, out); err != nil {
		t.Fatal(err)
	}
	inside := 0
	for r, y := range test.Columns[1].Floats {
		if out.Low[r] <= y && y <= out.High[r] {
			inside++
		}
	}
	if share := float64(inside) / 4000; share < 0.92 || share > 0.98 {
		t.Errorf("%v of new rows lie in their intervals", share)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	pt := playTennis()
	numbers := tableOf("x y\n1 1\n2 2")
	for _, c := range []struct {
		l      Learner
		table  *table.Table
		target int
		want   string
	}{
		{Learner{}, pt, learn.NoTarget, "name one of Outlook"},
		{Learner{Measure: "gian"}, pt, 4, "expected one of gain"},
		{Learner{Preset: "c5"}, pt, 4, "expected none, id3"},
		{Learner{MinRows: ptr(0.0)}, pt, 4, "min-rows"},
		{Learner{MaxDepth: -1}, pt, 4, "max-depth"},
		{Learner{MinGain: -1}, pt, 4, "min-gain"},
		{Learner{Significance: 2}, pt, 4, "significance"},
		{Learner{CF: 1.5}, pt, 4, "cf"},
		{Learner{Z: -1}, pt, 4, "z="},
		{Learner{M: ptr(-1.0)}, pt, 4, "m=-1"},
		{Learner{CostWeight: ptr(2.0)}, pt, 4, "cost-weight"},
		{Learner{Prune: "pessimistic", Estimate: "validation"}, pt, 4, "prune=error"},
		{Learner{Costs: "Outlok:3"}, pt, 4, `did you mean "Outlook"?`},
		{Learner{Costs: "Outlook"}, pt, 4, "has no cost"},
		{Learner{Costs: "Outlook:-1"}, pt, 4, "above 0"},
		{Learner{Stop: "chi2"}, numbers, 1, "is numeric"},
		{Learner{Measure: "variance"}, pt, 4, "is nominal"},
		{Learner{}, tableOf("x y\n1 Inf\n2 2"), 1, "infinite"},
		{Learner{}, tableOf("x y\n1 ?\n2 ?"), 1, "missing in all rows"},
	} {
		_, err := c.l.Learn(ctx, learn.Task{Table: c.table}.At(c.target))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", c.l, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (&Learner{}).Learn(stopped, learn.Task{Table: pt}.At(4)); err == nil {
		t.Error("a learner that was told to stop went on")
	}

	m := learnTable(t, pt, Learner{})
	bare := learnTable(t, pt, Learner{Keep: "nothing"})
	if _, err := bare.Begin(learn.Source{}); err == nil || !strings.Contains(err.Error(), "keep=rows") {
		t.Error(err)
	}
	if _, err := bare.Merge(ctx, m); err == nil {
		t.Error("merged without rows")
	}
	if _, err := m.Merge(ctx, bare); err == nil {
		t.Error("merged with one without rows")
	}
	if _, err := bare.Forget(ctx, ""); err == nil || bare.Sources() != nil {
		t.Error("forgot without rows")
	}
	if _, err := m.Forget(ctx, ""); err == nil || !strings.Contains(err.Error(), "delete the model") {
		t.Error(err)
	}
	if _, err := m.Forget(ctx, "other"); err == nil || !strings.Contains(err.Error(), "unknown source") {
		t.Error(err)
	}
	if _, err := m.Merge(ctx, learnTable(t, pt, Learner{Measure: "gini"})); err == nil || !strings.Contains(err.Error(), "settings") {
		t.Error(err)
	}
	if _, err := m.Merge(ctx, learnTable(t, tableOf("x z\n1 a\n2 b"), Learner{})); err == nil || !strings.Contains(err.Error(), "one target") {
		t.Error(err)
	}
	if _, err := m.DNF("Perhaps"); err == nil {
		t.Error("DNF of an unknown class")
	}
	out := learn.NewPredictions(m, 14)
	if err := m.Predict(ctx, pt, out); err == nil || !strings.Contains(err.Error(), "conform") {
		t.Errorf("codes of another dictionary: %v", err)
	}
	if err := m.Predict(ctx, numbers, out); err == nil {
		t.Error("another table")
	}
	c := conform(t, pt, m)
	if err := m.Predict(ctx, c, &learn.Predictions{}); err == nil {
		t.Error("no room")
	}
	r := learnTable(t, numbers, Learner{})
	if err := r.Predict(ctx, conform(t, numbers, r), &learn.Predictions{}); err == nil {
		t.Error("no room for numbers")
	}
	if _, err := m.Explain(c, 99); err == nil {
		t.Error("explained row 100 of 14")
	}
	u, err := m.Begin(learn.Source{ID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []*table.Table{numbers, pt, tableOf("a b c d e\n1 2 3 4 5")} {
		if err := u.Add(ctx, wrong); err == nil || !strings.Contains(err.Error(), "conform") {
			t.Errorf("added %v: %v", wrong.Schema.Names(), err)
		}
	}
}

func TestExplainPlayTennis(t *testing.T) {
	m := learnTable(t, playTennis(), Learner{Preset: "id3"})
	rows := conform(t, tableOf("Outlook Temperature Humidity Wind PlayTennis\n? Hot High Weak ?"), m)
	e, err := m.Explain(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	if e.Evidence[0].Text != "Outlook IS MISSING" || len(e.Missing) != 1 || e.Missing[0].Column != "Outlook" {
		t.Errorf("%+v", e)
	}
	// Known to be sunny, the answer would go from 9/14 for Yes to 0.
	near(t, "could move", e.Missing[0].CouldMove, 9.0/14, 1e-12)

	list := learnTable(t, playTennis(), Learner{Preset: "id3", Prune: "rules", Estimate: "normal"})
	e, err = list.Explain(conform(t, playTennis(), list), 0)
	if err != nil || e.Evidence[0].ID == "" || !strings.Contains(e.Evidence[0].Text, "Outlook = Sunny") {
		t.Errorf("%+v, %v", e, err)
	}
	g, err := list.Graph()
	if err != nil || len(g.Nodes) != 2*len(list.list.rules)+1 {
		t.Errorf("%v, %v", g, err)
	}
}

func TestGraph(t *testing.T) {
	g, err := learnTable(t, playTennis(), Learner{Preset: "id3"}).Graph()
	if err != nil || len(g.Nodes) != 8 || len(g.Edges) != 7 {
		t.Fatalf("%+v, %v", g, err)
	}
	if g.Nodes[0].Lines[0] != "Outlook" || g.Edges[0].Label != "Overcast" || !g.Nodes[1].Leaf || !slices.Equal(g.Nodes[1].Lines, []string{"Yes", "100.0 %", "n = 4"}) {
		t.Errorf("%+v", g)
	}
}

// Columns with more values than a byte counts are tallied another way; the
// tree is the same.
func TestWideColumns(t *testing.T) {
	narrow, wide := mixed(2000), mixed(2000)
	for i := 10; i < 20; i++ {
		a := &wide.Schema.Attributes[i]
		for v := range 300 {
			a.Values = append(a.Values, fmt.Sprintf("z%03d", v))
		}
	}
	for _, l := range []Learner{{Prune: "none"}, {Prune: "none", Binary: ptr(false)}} {
		a, b := learnTable(t, narrow, l), learnTable(t, wide, l)
		if a.tree.tests() < 50 || a.tree.tests() != b.tree.tests() {
			t.Errorf("%d and %d tests", a.tree.tests(), b.tree.tests())
		}
	}
	// More than 256 classes take wider cells too.
	many := &strings.Builder{}
	many.WriteString("x y\n")
	for i := range 600 {
		fmt.Fprintf(many, "%d c%d\n", i, i%300)
	}
	tbl := tableOf(many.String())
	m := learnTable(t, tbl, Learner{Preset: "id3"})
	for r, p := range predict(t, m, tbl) {
		if p[m.Schema().Attributes[1].Code(tbl.Text(r, 1))] != 1 {
			t.Fatalf("row %d: %v", r+1, p)
		}
	}
}

func TestProgress(t *testing.T) {
	var last atomic.Uint64
	ctx := learn.WithProgress(context.Background(), func(f float64) {
		if f < 0 || f > 1 {
			t.Errorf("progress %v", f)
		}
		last.Store(math.Float64bits(f))
	})
	if _, err := (&Learner{}).Learn(ctx, learn.Task{Table: mixed(5000)}.At(20)); err != nil {
		t.Fatal(err)
	}
	if got := math.Float64frombits(last.Load()); got < 0.9 {
		t.Errorf("the last report was %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, l := range []Learner{{}, {Prune: "rules"}, {Keep: "nothing"}, {Keep: "nothing", Prune: "rules"}} {
		for _, tbl := range []*table.Table{playTennis(), tableOf("x y\n1 a\n2 b\n3 a\n4 c")} {
			data, err := learn.Encode(learnTable(f, tbl, l))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	data, err := learn.Encode(learnTable(f, tableOf("x c y\n1 u 1\n2 u 2\n3 v 9\n4 v 9"), Learner{Prune: "none"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	if data, err = learn.Encode(learnTable(f, manyClasses(140), Learner{Keep: "nothing"})); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, l := range []Learner{{Splits: "oblique"}, {Splits: "oblique", Prune: "rules", Keep: "nothing"}} {
		if data, err = learn.Encode(learnTable(f, diagonal(60, 1), l)); err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		m, err := learn.Decode(data)
		if err != nil || m.Learner() != "tree" {
			return
		}
		// Whatever was read, it answers.
		columns := make([]table.Column, len(m.Schema().Attributes))
		for i, a := range m.Schema().Attributes {
			if a.Kind == table.Nominal {
				columns[i].Codes = []int32{table.Missing, int32(len(a.Values)) - 1}
			} else {
				columns[i].Floats = []float64{table.NA, 1}
			}
		}
		rows, err := table.New(m.Schema(), columns, nil)
		if err != nil {
			return
		}
		if err := m.Predict(context.Background(), rows, learn.NewPredictions(m, 2)); err != nil {
			t.Fatal(err)
		}
		m.Size()
		if _, err := m.(*Model).Explain(rows, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := m.(*Model).Rules(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Parts(); err != nil {
			t.Fatal(err)
		}
	})
}
