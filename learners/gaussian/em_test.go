package gaussian

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// clustered returns random rows of three numeric columns and a nominal one, of
// three hidden clusters, with missing cells and weights.
func clustered(random *rand.Rand, rows int, missing float64) *table.Table {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "n", Values: []string{"x", "y", "z"}}, {Name: "c", Kind: table.Numeric},
	}}
	columns := make([]table.Column, 4)
	weights := make([]float64, rows)
	for r := range rows {
		h := random.IntN(3)
		weights[r] = float64(1 + random.IntN(3))
		for j := range columns {
			if schema.Attributes[j].Kind == table.Nominal {
				code := int32((h + random.IntN(2)*random.IntN(3)) % 3)
				if random.Float64() < missing {
					code = table.Missing
				}
				columns[j].Codes = append(columns[j].Codes, code)
				continue
			}
			x := float64(2*h*(j+1)) + random.NormFloat64()
			if random.Float64() < missing {
				x = table.NA
			}
			columns[j].Floats = append(columns[j].Floats, x)
		}
	}
	t, err := table.New(schema, columns, weights)
	if err != nil {
		panic(err)
	}
	return t
}

// prepared returns EM on a table and a start of so many units.
func prepared(t interface{ Fatal(...any) }, rows *table.Table, units int, seed uint64) (*em, *mixture) {
	return preparedAs(t, rows, units, seed, false)
}

func preparedAs(t interface{ Fatal(...any) }, rows *table.Table, units int, seed uint64, full bool) (*em, *mixture) {
	ctx := context.Background()
	index := (&examples{rows}).all()
	columns, err := measure(ctx, rows, index)
	if err != nil {
		t.Fatal(err)
	}
	shape := newShape(rows.Schema, columns, -1)
	shape.full = full
	s, err := newSample(ctx, shape, columns, rows, index)
	if err != nil {
		t.Fatal(err)
	}
	e := newEM(s, units, 0.2, 1)
	at, err := e.spreadRows(ctx, units, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	e.resize(len(at))
	return e, e.start(at)
}

// reference is EM as it stands in the book, one cell at a time, from the cells
// themselves: equations 15 to 17, with densities and not their logs.
func reference(rows *table.Table, m *mixture, floor, pseudo float64) *mixture {
	k, d := len(m.prior), len(m.numeric)
	z := make([][]float64, d)
	for j, column := range m.numeric {
		n, mean, variance := 0.0, 0.0, 0.0
		for r, x := range rows.Columns[column].Floats {
			if !math.IsNaN(x) {
				n += rows.Weights[r]
				mean += rows.Weights[r] * x
			}
		}
		mean /= n
		for r, x := range rows.Columns[column].Floats {
			if !math.IsNaN(x) {
				variance += rows.Weights[r] * (x - mean) * (x - mean) / n
			}
		}
		for _, x := range rows.Columns[column].Floats {
			z[j] = append(z[j], (x-mean)/math.Sqrt(variance))
		}
	}
	r := make([][]float64, rows.Rows())
	for row := range r {
		r[row] = make([]float64, k)
		total := 0.0
		for i := range k {
			p := m.prior[i]
			for j := range d {
				if x, c, w := z[j][row], m.centre[i*d+j], m.width[i*d+j]; !math.IsNaN(x) {
					p *= math.Exp(-(x-c)*(x-c)/(2*w*w)) / (w * math.Sqrt(2*math.Pi))
				}
			}
			for c, column := range m.nominal {
				if code := rows.Columns[column].Codes[row]; code >= 0 {
					p *= m.share[(m.offset[c]+int(code))*k+i]
				}
			}
			r[row][i] = p
			total += p
		}
		for i := range k {
			r[row][i] *= rows.Weights[row] / total
		}
	}
	next := m.clone()
	all := weight(rows.Weights)
	for i := range k {
		n := 0.0
		for row := range r {
			n += r[row][i]
		}
		next.prior[i] = n / all
		for j := range d {
			n, sum := 0.0, 0.0
			for row := range r {
				if x := z[j][row]; !math.IsNaN(x) {
					n += r[row][i]
					sum += r[row][i] * x
				}
			}
			c, square := sum/n, 0.0
			for row := range r {
				if x := z[j][row]; !math.IsNaN(x) {
					square += r[row][i] * (x - c) * (x - c)
				}
			}
			next.centre[i*d+j], next.width[i*d+j] = c, max(floor, math.Sqrt(square/n))
		}
		for c, column := range m.nominal {
			n := pseudo
			counts := make([]float64, m.values[c])
			for v := range counts {
				counts[v] = pseudo / float64(len(counts))
			}
			for row := range r {
				if code := rows.Columns[column].Codes[row]; code >= 0 {
					n += r[row][i]
					counts[code] += r[row][i]
				}
			}
			for v := range counts {
				next.share[(m.offset[c]+v)*k+i] = counts[v] / n
			}
		}
	}
	return next
}

func TestEMEqualsReference(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(5) {
		rows := clustered(rand.New(rand.NewPCG(seed, 7)), 300, 0.15)
		e, m := prepared(t, rows, 4, seed)
		want := m.clone()
		for range 25 {
			s, err := e.expect(ctx, m.kernel())
			if err != nil {
				t.Fatal(err)
			}
			s.add(e.pseudo)
			e.maximise(s, m)
			want = reference(rows, want, 0.2, 1)
		}
		for what, pair := range map[string][2][]float64{
			"prior": {m.prior, want.prior}, "centre": {m.centre, want.centre}, "width": {m.width, want.width}, "share": {m.share, want.share},
		} {
			for i := range pair[0] {
				if math.Abs(pair[0][i]-pair[1][i]) > 1e-9 {
					t.Fatalf("seed %d: %s %d is %v, by brute force %v", seed, what, i, pair[0][i], pair[1][i])
				}
			}
		}
	}
}

// The likelihood, with that of pseudo cases, never falls: EM's theorem, which
// holds with missing cells, a floor, NORMAL conclusions and weights too. What
// is allowed is rounding.
func TestObjectiveNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		random := rand.New(rand.NewPCG(seed, 3))
		rows := clustered(random, rapid.IntRange(1, 120).Draw(t, "rows"), rapid.SampledFrom([]float64{0, 0.3, 0.9}).Draw(t, "missing"))
		full := rapid.Bool().Draw(t, "full")
		e, m := preparedAs(t, rows, min(rows.Rows(), rapid.IntRange(1, 6).Draw(t, "units")), seed, full)
		if !full {
			for range rapid.IntRange(0, 3).Draw(t, "normal") {
				m.simplify(e.overall, UnitFromNormal)
			}
		} else if rapid.Bool().Draw(t, "expert") { // cases that are just as the start, as of MAP
			e.pseudo.add(m.statistics(5))
		}
		last := math.Inf(-1)
		for step := range 20 {
			s, err := e.expect(context.Background(), m.kernel())
			if err != nil {
				t.Fatal(err)
			}
			now := e.objective(m, m.kernel(), s.likelihood[0])
			if math.IsNaN(now) || now < last-1e-9*(1+math.Abs(last)) {
				t.Fatalf("step %d: from %v to %v", step, last, now)
			}
			last = now
			s.add(e.pseudo)
			e.maximise(s, m)
		}
	})
}

// Statistics of parts add up to those of the whole.
func TestStatisticsAddUp(t *testing.T) {
	rows := clustered(rand.New(rand.NewPCG(1, 1)), 9000, 0.1)
	e, m := prepared(t, rows, 3, 1)
	whole, err := e.expect(context.Background(), m.kernel())
	if err != nil {
		t.Fatal(err)
	}
	sum := newStatistics(e.shape, 3)
	for lo := 0; lo < e.rows; lo += 2500 {
		var part []int
		for r := lo; r < min(lo+2500, e.rows); r++ {
			part = append(part, r)
		}
		s, err := (&em{sample: e.pick(part)}).expect(context.Background(), m.kernel())
		if err != nil {
			t.Fatal(err)
		}
		sum.add(s)
	}
	for i := range whole.all {
		if math.Abs(whole.all[i]-sum.all[i]) > 1e-9*(1+math.Abs(whole.all[i])) {
			t.Fatalf("sum %d is %v, of parts %v", i, whole.all[i], sum.all[i])
		}
	}
}

// Procedure 1 in one pass equals computing the likelihood without each unit.
func TestRemovalLoss(t *testing.T) {
	ctx := context.Background()
	e, m := prepared(t, clustered(rand.New(rand.NewPCG(2, 1)), 400, 0.1), 5, 2)
	if _, err := e.run(ctx, m, 30, 0); err != nil {
		t.Fatal(err)
	}
	loss, err := e.removalLoss(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range loss {
		l, err := e.likelihood(ctx, m.without(i))
		if err != nil {
			t.Fatal(err)
		}
		if want := -l * e.weight; math.Abs(loss[i]-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("without unit %d: %v, expected %v", i, loss[i], want)
		}
	}
}

func TestDivergence(t *testing.T) {
	// Both distances by numerical integration.
	c, w := 0.7, 0.4
	normal := func(x, c, w float64) float64 {
		return math.Exp(-(x-c)*(x-c)/(2*w*w)) / (w * math.Sqrt(2*math.Pi))
	}
	forward, backward := 0.0, 0.0
	for x := -8.0; x < 8; x += 1e-3 {
		p, q := normal(x, c, w), normal(x, 0, 1)
		if p > 0 {
			forward += 1e-3 * p * math.Log(p/q)
			backward += 1e-3 * q * math.Log(q/p)
		}
	}
	if got := UnitFromNormal.normal(c, w); math.Abs(got-forward) > 1e-6 {
		t.Errorf("KL(unit, normal) = %v, expected %v", got, forward)
	}
	if got := NormalFromUnit.normal(c, w); math.Abs(got-backward) > 1e-3 {
		t.Errorf("KL(normal, unit) = %v, expected %v", got, backward)
	}
}

// Fine-tuning follows the gradient, and never raises the error.
func TestTuning(t *testing.T) {
	rows := clustered(rand.New(rand.NewPCG(5, 1)), 200, 0)
	e, m := prepared(t, rows, 4, 5)
	if _, err := e.run(context.Background(), m, 20, 0); err != nil {
		t.Fatal(err)
	}
	n := newTuner(e.sample, m, 0, 0.2)
	g, e0 := n.gradient()
	if math.Abs(e0-n.error(m)) > 1e-12 {
		t.Errorf("the gradient's error is %v, the error %v", e0, n.error(m))
	}
	d := len(m.numeric)
	for i := range m.centre {
		h := 1e-6
		up, down := m.clone(), m.clone()
		up.centre[i] += h
		down.centre[i] -= h
		if want := (n.error(up) - n.error(down)) / (2 * h); math.Abs(g[i]-want) > 1e-5 {
			t.Errorf("by centre %d: %v, expected %v", i, g[i], want)
		}
		if i%d == 0 {
			continue
		}
		up, down = m.clone(), m.clone()
		up.width[i] *= math.Exp(h)
		down.width[i] *= math.Exp(-h)
		if want := (n.error(up) - n.error(down)) / (2 * h); math.Abs(g[len(m.centre)+i]-want) > 1e-5 {
			t.Errorf("by width %d: %v, expected %v", i, g[len(m.centre)+i], want)
		}
	}
	before := n.error(m)
	if err := tune(context.Background(), e.sample, m, 0, 100, 0.2); err != nil {
		t.Fatal(err)
	}
	if after := n.error(m); !(after < before) {
		t.Errorf("error %v before and %v after tuning", before, after)
	}
}

// clusters returns numeric rows around ten centres.
func clusters(rows, columns int) *table.Table {
	random := rand.New(rand.NewPCG(1, 1))
	centres := make([]float64, 10*columns)
	for i := range centres {
		centres[i] = 1.5 * random.NormFloat64()
	}
	schema := &table.Schema{}
	cells := make([]table.Column, columns)
	for j := range columns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a' + j)), Kind: table.Numeric})
		cells[j].Floats = make([]float64, rows)
	}
	for r := range rows {
		c := random.IntN(10)
		for j := range columns {
			cells[j].Floats[r] = centres[c*columns+j] + 0.7*random.NormFloat64()
		}
	}
	t, err := table.New(schema, cells, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func benchmarkEM(b *testing.B, rows int, full bool) {
	e, m := preparedAs(b, clusters(rows, 14), 10, 1, full)
	if _, err := e.expect(context.Background(), m.kernel()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s, err := e.expect(context.Background(), m.kernel())
		if err != nil {
			b.Fatal(err)
		}
		e.maximise(s, m)
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkEM10k(b *testing.B)      { benchmarkEM(b, 10_000, false) }
func BenchmarkEM100k(b *testing.B)     { benchmarkEM(b, 100_000, false) }
func BenchmarkEM1M(b *testing.B)       { benchmarkEM(b, 1_000_000, false) }
func BenchmarkEMFull100k(b *testing.B) { benchmarkEM(b, 100_000, true) }

func BenchmarkPredict(b *testing.B)     { benchmarkPredict(b, "diagonal") }
func BenchmarkPredictFull(b *testing.B) { benchmarkPredict(b, "full") }

// benchmarkPredict predicts one of 14 columns, which is missing, from the
// others.
func benchmarkPredict(b *testing.B, covariance string) {
	rows := clusters(200_000, 14)
	m, err := (&Learner{Starts: 1, Iterations: 5, Covariance: covariance}).Learn(context.Background(), learn.Task{Table: rows.Slice(0, 20000), Seed: 1}.At(13))
	if err != nil {
		b.Fatal(err)
	}
	seen, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		b.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := m.Predict(context.Background(), seen, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkUpdateRow(b *testing.B) {
	rows := clusters(20_000, 14)
	m, err := (&Learner{Starts: 1, Iterations: 5}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	u, err := m.(learn.Updater).Begin(learn.Source{ID: "b"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r := i % rows.Rows()
		if err := u.Add(context.Background(), rows.Slice(r, r+1)); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkLearn learns all that it takes to classify rows of ten numbers and
// ten names.
func benchmarkLearn(b *testing.B, rows int) {
	ctx := context.Background()
	t, info, err := datasets.Load(ctx, fmt.Sprintf("mixed:rows=%d", rows))
	if err != nil {
		b.Fatal(err)
	}
	task := learn.Task{Table: t, Seed: 1, Target: info.Target}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := (&Learner{}).Learn(ctx, task); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLearn1k(b *testing.B)   { benchmarkLearn(b, 1000) }
func BenchmarkLearn10k(b *testing.B)  { benchmarkLearn(b, 10_000) }
func BenchmarkLearn100k(b *testing.B) { benchmarkLearn(b, 100_000) }

// Nominal columns taken together say what they say one by one.
func TestPacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		rows := clustered(random, rapid.IntRange(400, 3000).Draw(t, "rows"), 0.1)
		for c, values := range rapid.SliceOfN(rapid.IntRange(1, 9), 1, 6).Draw(t, "values") {
			a := table.Attribute{Name: fmt.Sprint(c)}
			for v := range values {
				a.Values = append(a.Values, fmt.Sprint(v))
			}
			column := table.Column{Codes: make([]int32, rows.Rows())}
			for r := range column.Codes {
				column.Codes[r] = int32(random.IntN(values))
				if c%2 == 0 && random.IntN(5) == 0 {
					column.Codes[r] = table.Missing
				}
			}
			rows.Schema.Attributes = append(rows.Schema.Attributes, a)
			rows.Columns = append(rows.Columns, column)
		}
		e, m := prepared(t, rows, 3, 1)
		if e.packs == nil || len(e.packs.nominal) >= len(e.nominal) {
			t.Fatalf("%d columns of %d rows are not packed", len(e.nominal), e.rows)
		}
		for range 3 {
			got, err := e.expect(context.Background(), m.kernel())
			if err != nil {
				t.Fatal(err)
			}
			want, err := (&em{sample: e.sample}).expect(context.Background(), m.kernel())
			if err != nil {
				t.Fatal(err)
			}
			for i := range want.all {
				if math.Abs(got.all[i]-want.all[i]) > 1e-9*(1+math.Abs(want.all[i])) {
					t.Fatalf("sum %d is %v, by columns %v", i, got.all[i], want.all[i])
				}
			}
			got.add(e.pseudo)
			e.maximise(got, m)
		}
	})
}

func TestExp(t *testing.T) {
	for x := -40.0; x <= 0; x += 1.0 / 1024 {
		if got, want := exp(x), math.Exp(x); math.Abs(got/want-1) > 1e-14 {
			t.Fatalf("exp(%v) = %v, expected %v", x, got, want)
		}
	}
}

// Rows that a sample of them is likely to miss are units to begin at too.
func TestRareRows(t *testing.T) {
	const rows = 20_000
	x := make([]float64, rows)
	x[10], x[9000], x[19_999] = 1, 2, 3
	one, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}, []table.Column{{Floats: x}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := prepared(t, one, 5, 1)
	s, err := (&Learner{}).settings()
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.best(context.Background(), 5, &s, rand.New(rand.NewPCG(1, 1)), func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.prior) != 4 {
		t.Errorf("%d units of four different rows", len(m.prior))
	}
}

// Models are the same to the bit on any number of cores, whether classes are
// learnt side by side or their rows are shared out.
func TestCores(t *testing.T) {
	ctx := context.Background()
	learnt := func(size, cores int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		rows, info, err := datasets.Load(ctx, fmt.Sprintf("mixed:rows=%d", size))
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&Learner{Iterations: 3}).Learn(ctx, learn.Task{Table: rows, Seed: 1, Target: info.Target})
		if err != nil {
			t.Fatal(err)
		}
		saved, err := learn.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		return saved
	}
	for _, size := range []int{12_000, 2*manyRows + 10_000} {
		if one, four := learnt(size, 1), learnt(size, 4); !bytes.Equal(one, four) {
			t.Errorf("of %d rows, one core and four learn different models", size)
		}
	}
}
