package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func mixedTable(t testing.TB) *table.Table {
	t.Helper()
	rows := clustered(rand.New(rand.NewPCG(4, 4)), 300, 0)
	without, err := table.New(rows.Schema, rows.Columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return without
}

// numbers returns a table of numeric columns.
func numbers(t testing.TB, columns ...[]float64) *table.Table {
	t.Helper()
	schema := &table.Schema{}
	cells := make([]table.Column, len(columns))
	for j := range columns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", j), Kind: table.Numeric})
		cells[j].Floats = columns[j]
	}
	rows, err := table.New(schema, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Odd tables give sound models.
func TestOddTables(t *testing.T) {
	inf, na := math.Inf(1), table.NA
	for name, rows := range map[string]*table.Table{
		"one row":                numbers(t, []float64{3}, []float64{5}),
		"equal rows":             numbers(t, []float64{3, 3, 3, 3}, []float64{5, 5, 5, 5}),
		"fewer rows than units":  numbers(t, []float64{1, 2, 3}, []float64{5, 5.5, 7}),
		"a constant column":      numbers(t, []float64{1, 2, 3, 4, 5}, []float64{7, 7, 7, 7, 7}),
		"a column twice":         numbers(t, []float64{1, 2, 3, 4, 9}, []float64{1, 2, 3, 4, 9}),
		"nothing known":          numbers(t, []float64{na, na, na}, []float64{na, na, na}),
		"one column unknown":     numbers(t, []float64{1, 2, 5}, []float64{na, na, na}),
		"infinities":             numbers(t, []float64{inf, 1, -inf, 2}, []float64{1, inf, 2, 3}),
		"huge and tiny":          numbers(t, []float64{1e308, -1e308, 1e-308, 0}, []float64{1e-300, 2e-300, 3e-300, 0}),
		"a far outlier":          numbers(t, []float64{0, 1, 0, 1, 1e12}, []float64{0, 1, 2, 3, 4}),
		"a unit that no row has": numbers(t, []float64{0, 0, 0, 0, 0, 1e6}, []float64{0, 0, 0, 0, 0, 1e6}),
	} {
		for kind, l := range []*Learner{{}, {Covariance: "full"}, {StartAt: "kmeans", Default: 2}, {Units: 3, From: 6, Size: "validation"}} {
			for _, target := range []int{learn.NoTarget, 0} {
				t.Run(fmt.Sprintf("%s, learner %d, target %d", name, kind, target), func(t *testing.T) { testOddTable(t, name, rows, l, target) })
			}
		}
	}
}

func testOddTable(t *testing.T, name string, rows *table.Table, l *Learner, target int) {
	ctx := context.Background()
	m, err := l.Learn(ctx, learn.Task{Table: rows, Seed: 1}.At(target))
	if err != nil {
		if target == 0 && name == "nothing known" && strings.Contains(err.Error(), "no row has a target") {
			return
		}
		t.Fatalf("%s: %v", name, err)
	}
	out := make([]float64, rows.Rows())
	if err := m.(learn.Density).LogDensity(ctx, rows, out); err != nil {
		t.Fatal(err)
	}
	for r, l := range out {
		if math.IsNaN(l) || math.IsInf(l, 0) {
			t.Errorf("%s: log density of row %d is %v", name, r+1, l)
		}
	}
	for column := range rows.Columns {
		a, err := m.(learn.Asker).Ask(rows, 0, column)
		if err != nil {
			t.Fatal(err)
		}
		if !(a.Low <= a.Median && a.Median <= a.High) || math.IsNaN(a.Mean) || math.IsInf(a.Mean, 0) || !(a.Experience >= 0 && a.Experience <= 1) {
			t.Errorf("%s: column %d is answered with %+v", name, column, a)
		}
	}
	full, err := m.(learn.Imputer).Impute(ctx, rows)
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range full.Columns {
		for r, x := range c.Floats {
			if math.IsNaN(x) && !m.(*Model).unknown(j) {
				t.Errorf("%s: row %d, column %d is still missing", name, r+1, j+1)
			}
		}
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		t.Fatal(err)
	}
	if err := base.Check(m.Schema()); err != nil && !m.(*Model).unknown(0) {
		t.Errorf("%s: %v", name, err)
	}
}

func TestWrongSettings(t *testing.T) {
	rows := mixedTable(t)
	for want, l := range map[string]*Learner{
		"units=-1": {Units: -1}, "floor=-1": {Floor: new(-1.0)}, "m=-1": {M: new(-1.0)}, "start=x": {StartAt: "x"}, "knowledge=x": {Knowledge: "x"},
		"inputs=2: without a target": {Inputs: 2}, "tune=5: only the error": {Tune: 5}, "default=-2": {Default: -2}, "iterations=-3": {Iterations: -3},
	} {
		_, err := l.Learn(context.Background(), learn.Task{Table: rows, NoTarget: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected one with %q", err, want)
		}
	}
}

// A number that can be one of two things has two peaks, and quantiles that
// hold what they say.
func TestAskTwoPeaks(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	var x, y []float64
	for range 1000 {
		h := random.IntN(2)
		x = append(x, random.NormFloat64())
		y = append(y, float64(10*h)+random.NormFloat64())
	}
	rows := numbers(t, x, y)
	m, err := (&Learner{Units: 2, Floor: new(0.01)}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	question := numbers(t, []float64{0}, []float64{table.NA})
	a, err := m.(learn.Asker).Ask(question, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// 500 rows a peak: standard errors of the mean of a peak are 0.045.
	if len(a.Modes) != 2 || math.Abs(a.Modes[0]+a.Modes[1]-10) > 0.3 || math.Abs(a.Mean-5) > 0.7 {
		t.Errorf("peaks %v, mean %v", a.Modes, a.Mean)
	}
	// 2.5 % of two peaks of one half each are 5 % of one: 1.645 deviations.
	if math.Abs(a.Low+1.645) > 0.3 || math.Abs(a.High-11.645) > 0.3 {
		t.Errorf("95 %% from %v to %v", a.Low, a.High)
	}
	if far, err := m.(learn.Asker).Ask(numbers(t, []float64{50}, []float64{table.NA}), 0, 1); err != nil || far.Experience > 0.01 || a.Experience < 0.5 {
		t.Errorf("experience of %v at 0 and %v at 50 (%v)", a.Experience, far.Experience, err)
	}
	if _, err := m.(learn.Asker).Ask(question, 1, 1); err == nil {
		t.Error("a row that is not there is asked for")
	}
}

func TestPictures(t *testing.T) {
	all := boston(t)
	m, err := (&Learner{Units: 3}).Learn(context.Background(), learn.Task{Table: all, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := m.(*Model).Ovals(12, 13, all)
	if err != nil {
		t.Fatal(err)
	}
	var picture strings.Builder
	if err := chart.SVG(&picture); err != nil || len(chart.Series) != 4 || !strings.Contains(picture.String(), "lstat") {
		t.Errorf("%d series, %v", len(chart.Series), err)
	}
	if _, err := m.(*Model).Ovals(0, 14, nil); err == nil {
		t.Error("a column that is not there is drawn")
	}
	points, err := (&Learner{Units: 5}).Curve(context.Background(), learn.Task{Table: all, NoTarget: true, Seed: 1}, all)
	if err != nil {
		t.Fatal(err)
	}
	if c := CurveChart("Boston", "units", points); len(c.Series) != 2 || c.SVG(&picture) != nil {
		t.Errorf("%d series, and a picture of %d bytes", len(c.Series), picture.Len())
	}
	sizes, err := (&Learner{Units: 2, Starts: 1}).CurveInFolds(context.Background(), "units", learn.Task{Table: all.Slice(0, 60), NoTarget: true, Seed: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if unseen := sizes.Series[1]; len(unseen.X) != 6 || !(unseen.Low[0] < unseen.Y[0]) {
		t.Errorf("unseen rows: %+v", unseen)
	}
	if _, err := (&Learner{}).CurveInFolds(context.Background(), "units", learn.Task{Table: all.Slice(0, 5), NoTarget: true}, 3); err == nil {
		t.Error("five rows are cut into three folds")
	}
}

// A column more or less in hundreds does not overflow.
func TestHundredsOfColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	columns := make([][]float64, 400)
	for j := range columns {
		for r := range 60 {
			columns[j] = append(columns[j], float64(r%3)+0.01*random.NormFloat64())
		}
	}
	columns[0][7] = 1e9
	rows := numbers(t, columns...)
	m, err := (&Learner{Units: 5}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(5))
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(context.Background(), rows, out); err != nil {
		t.Fatal(err)
	}
	for r := range rows.Rows() {
		if r != 7 && !(math.Abs(out.Mean[r]-float64(r%3)) < 0.1) {
			t.Fatalf("row %d: %v, expected %d", r+1, out.Mean[r], r%3)
		}
	}
}

func FuzzDecode(f *testing.F) {
	rows := clustered(rand.New(rand.NewPCG(4, 4)), 60, 0.1)
	m, err := (&Learner{Units: 3}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1, Source: learn.Source{ID: "a"}}.At(2))
	if err != nil {
		f.Fatal(err)
	}
	parts, err := m.Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	m, err = (&Learner{Units: 2, Covariance: "full", Default: 3}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1, Source: learn.Source{ID: "a"}}.At(1))
	if err != nil {
		f.Fatal(err)
	}
	if parts, err = m.Parts(); err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, settings, source []byte) {
		defer bounded.Start(t, len(settings)+len(source))()
		m, err := decode([]learn.Part{{Name: settingsPart, Data: settings}, {Name: sourcePart + "a", Data: source}})
		if err != nil {
			return
		}
		cells := make([]table.Column, len(m.Schema().Attributes))
		for j := range cells {
			if m.Schema().Attributes[j].Kind == table.Nominal {
				cells[j].Codes = []int32{table.Missing}
			} else {
				cells[j].Floats = []float64{1}
			}
		}
		row, err := table.New(m.Schema(), cells, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, 1)
		if err := m.Predict(context.Background(), row, out); err != nil {
			t.Fatal(err)
		}
		for _, x := range append(append([]float64(nil), out.P...), out.Mean...) {
			if math.IsNaN(x) {
				t.Fatal("a damaged model predicts NaN")
			}
		}
		if _, err := m.(learn.Ruler).Rules(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestStartsOfDifferentSizes learns a table of few distinct rows from many
// seeds: starts then find different numbers of distinct rows to begin with,
// and the best of them need not be the last.
func TestStartsOfDifferentSizes(t *testing.T) {
	votes, set, err := datasets.Load(t.Context(), "votes")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for seed := range uint64(60) {
		some := votes.Select(random.Perm(votes.Rows())[:150])
		task := learn.Task{Table: some, Target: set.Target, Seed: seed}
		if _, err := (&Learner{}).Learn(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
}

// What is as common as anything else is not outside experience: of three
// values that a third of the rows have each, and of one that a tenth has.
func TestExperienceOfNames(t *testing.T) {
	var a, b []int32
	for r := range 300 {
		a = append(a, int32(r%3))
		b = append(b, int32(min(r%10, 1)))
	}
	rows, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Nominal, Values: []string{"x", "y", "z"}}, {Name: "b", Kind: table.Nominal, Values: []string{"rare", "common"}},
	}}, []table.Column{{Codes: a}, {Codes: b}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&Learner{Units: 1}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(a, b int32, column int) float64 {
		asked, err := table.New(rows.Schema, []table.Column{{Codes: []int32{a}}, {Codes: []int32{b}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.(learn.Asker).Ask(asked, 0, column)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Experience
	}
	// The bounds are four deviations of a share among the 2000 probes.
	if e := ask(0, table.Missing, 1); e < 1.0/3-0.043 {
		t.Errorf("a value of a third of the rows has an experience of %v", e)
	}
	if e := ask(table.Missing, 0, 0); math.Abs(e-0.1) > 0.027 {
		t.Errorf("a value of a tenth of the rows has an experience of %v", e)
	}
	if e := ask(table.Missing, 1, 0); e != 1 {
		t.Errorf("the commonest value has an experience of %v", e)
	}
}

// The cost of an update does not grow with the number of sources before it.
func TestUpdatesOfManySources(t *testing.T) {
	rows := clusters(40_000, 6)
	ctx := context.Background()
	m, err := (&Learner{Starts: 1, Iterations: 5}).Learn(ctx, learn.Task{Table: rows.Slice(0, 1000), NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const updates = 2000
	allocated := func(run func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	var tenth uint64
	start := time.Now()
	for i := range updates {
		from := i * 100 % 39_000
		count := allocated(func() {
			u, err := m.(learn.Updater).Begin(learn.Source{ID: fmt.Sprint(i)})
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Add(ctx, rows.Slice(from, from+100)); err != nil {
				t.Fatal(err)
			}
			if m, err = u.Freeze(ctx); err != nil {
				t.Fatal(err)
			}
		})
		switch {
		case i == 9:
			tenth = count
		case i == updates-1 && count > 3*tenth:
			t.Errorf("update %d allocates %d times, the tenth %d times", i+1, count, tenth)
		}
	}
	t.Logf("%d updates of 100 rows: %v", updates, time.Since(start))
	g := m.(*Model)
	again, err := newModel(g.settings, false, g.blocks)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.columns, g.columns) || !reflect.DeepEqual(again.logPrior, g.logPrior) {
		t.Error("the model of the updates is not the sum of its sources")
	}
}

// Many sources are saved in few parts, of which an update writes what is new,
// and are read as they were: of densities, classes and experts alike.
func TestManySourcesSaved(t *testing.T) {
	ctx := context.Background()
	rows := mixedTable(t)
	for _, task := range []learn.Task{{Table: rows, NoTarget: true}, {Table: rows, Target: rows.Schema.Attributes[len(rows.Schema.Attributes)-1].Name}} {
		for _, covariance := range []string{"diagonal", "full"} {
			learnt, err := (&Learner{Units: 4, Starts: 1, Iterations: 5, Covariance: covariance}).Learn(ctx, task)
			if err != nil {
				t.Fatal(err)
			}
			m := learnt
			for i := range bundle.Fan + 8 {
				u, err := m.(learn.Updater).Begin(learn.Source{ID: fmt.Sprintf("s%d", i)})
				if err != nil {
					t.Fatal(err)
				}
				if err := u.Add(ctx, rows.Slice(i, i+3)); err != nil {
					t.Fatal(err)
				}
				if m, err = u.Freeze(ctx); err != nil {
					t.Fatal(err)
				}
			}
			before, err := m.Parts()
			if err != nil {
				t.Fatal(err)
			}
			if len(before) != 12 { // the settings, a bundle, nine sources, and the sum
				t.Errorf("%d parts of %d sources", len(before), bundle.Fan+9)
			}
			again, err := decode(before)
			if err != nil {
				t.Fatal(err)
			}
			after, err := again.Parts()
			if err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("a model that was read is written otherwise: %v", err)
			}
			a, b := m.(*Model), again.(*Model)
			if !reflect.DeepEqual(a.columns, b.columns) || !reflect.DeepEqual(a.logPrior, b.logPrior) || !reflect.DeepEqual(a.Sources(), b.Sources()) {
				t.Error("a model that was read answers otherwise")
			}
			checkPacked(t, a, before)
			again.(*Model).written = &bundle.Shelf[*block]{} // nothing is remembered
			if after, err = again.Parts(); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("a model that was read is written otherwise: %v", err)
			}
		}
	}
}

// checkPacked compares a model with what its parts are read as: with the sum of
// its sources, whose numbers are left packed, and without.
func checkPacked(t *testing.T, m *Model, parts []learn.Part) {
	t.Helper()
	ctx := context.Background()
	rows := mixedTable(t)
	change := func(m learn.Model) *Model {
		m, err := m.(learn.Forgetter).Forget(ctx, "s3", "s20")
		for _, id := range []string{"s5", fmt.Sprintf("s%d", bundle.Fan+7), "new"} { // in a bundle, the last, and none so far
			var u learn.Update
			if err == nil {
				u, err = m.(learn.Updater).Begin(learn.Source{ID: id})
			}
			if err == nil {
				err = u.Add(ctx, rows.Slice(7, 12))
			}
			if err == nil {
				m, err = u.Freeze(ctx)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Model)
	}
	want := change(m)
	for what, from := range map[string][]learn.Part{"with": parts, "without": parts[:len(parts)-1]} {
		read, err := decode(from)
		if err != nil {
			t.Fatal(err)
		}
		if packed := read.(*Model).blocks[0].packed != nil; packed != (what == "with") {
			t.Errorf("%s the sum: packed is %t", what, packed)
		}
		got := change(read)
		if !reflect.DeepEqual(got.columns, want.columns) || !reflect.DeepEqual(got.logPrior, want.logPrior) {
			t.Errorf("%s the sum: a model that was read changes otherwise", what)
		}
	}
	damaged := slices.Clone(parts)
	var s savedBundle
	if err := learn.Unmarshal(parts[1].Data, &s); err != nil {
		t.Fatal(err)
	}
	numbers := slices.Clone(s.Packed.Sources[4].Numbers) // they are still those of the part
	numbers[0] = 3                                       // no number begins like this
	s.Packed.Sources[4].Numbers = numbers
	damaged[1].Data, _ = learn.Marshal(s)
	read, err := decode(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.(learn.Forgetter).Forget(ctx, "s20"); err == nil {
		t.Error("the sum of numbers that cannot be read is known")
	}
	damaged = damaged[:len(damaged)-1]
	if _, err := decode(damaged); err == nil {
		t.Error("numbers that cannot be read are accepted")
	}
}

// BenchmarkReadManySources reads a model of 2,000 sources.
func BenchmarkReadManySources(b *testing.B) {
	rows := clusters(40_000, 6)
	ctx := context.Background()
	m, err := (&Learner{Starts: 1, Iterations: 5}).Learn(ctx, learn.Task{Table: rows.Slice(0, 1000), NoTarget: true, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 2000 {
		u, err := m.(learn.Updater).Begin(learn.Source{ID: fmt.Sprint(i)})
		if err != nil {
			b.Fatal(err)
		}
		if err := u.Add(ctx, rows.Slice(i, i+100)); err != nil {
			b.Fatal(err)
		}
		if m, err = u.Freeze(ctx); err != nil {
			b.Fatal(err)
		}
	}
	parts, err := m.Parts()
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if _, err := decode(parts); err != nil {
			b.Fatal(err)
		}
	}
}
