package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// normalGiven is a normal distribution of some of its columns given others, by
// the book: with O known and M not, the mean of M is c_M + Σ_MO Σ_OO⁻¹ (x − c)_O
// and its covariance Σ_MM − Σ_MO Σ_OO⁻¹ Σ_OM. It also returns the log density
// of what is known.
func normalGiven(t interface {
	Helper()
	Fatal(...any)
}, c []float64, sigma *mat.SymDense, x []float64) (mean []float64, covariance *mat.Dense, log float64) {
	t.Helper()
	var known, missing []int
	for j, v := range x {
		if math.IsNaN(v) {
			missing = append(missing, j)
		} else {
			known = append(known, j)
		}
	}
	part := func(a, b []int) *mat.Dense {
		m := mat.NewDense(max(len(a), 1), max(len(b), 1), nil)
		for i := range a {
			for j := range b {
				m.Set(i, j, sigma.At(a[i], b[j]))
			}
		}
		return m
	}
	mean = append([]float64(nil), x...)
	covariance = mat.NewDense(len(c), len(c), nil)
	for _, j := range missing {
		mean[j] = c[j]
		for _, k := range missing {
			covariance.Set(j, k, sigma.At(j, k))
		}
	}
	if len(known) == 0 {
		return mean, covariance, 0
	}
	var inverse mat.Dense
	if err := inverse.Inverse(part(known, known)); err != nil {
		t.Fatal(err)
	}
	d := mat.NewVecDense(len(known), nil)
	for i, j := range known {
		d.SetVec(i, x[j]-c[j])
	}
	log = -0.5*mat.Inner(d, &inverse, d) - 0.5*math.Log(mat.Det(part(known, known))) - float64(len(known))*halfLog2Pi
	if len(missing) == 0 {
		return mean, covariance, log
	}
	var weights, step, less mat.Dense
	weights.Mul(part(missing, known), &inverse)
	step.Mul(&weights, d)
	less.Mul(&weights, part(known, missing))
	for i, j := range missing {
		mean[j] += step.At(i, 0)
		for k, l := range missing {
			covariance.Set(j, l, covariance.At(j, l)-less.At(i, k))
		}
	}
	return mean, covariance, log
}

func symmetric(a []float64, d int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			s.SetSym(i, j, a[tri(i, j)])
		}
	}
	return s
}

// correlated returns random rows of correlated numeric columns and a name, with
// missing cells and weights.
func correlated(random *rand.Rand, rows, columns int, missing float64) *table.Table {
	mixer := make([]float64, 2*columns*columns)
	for i := range mixer {
		mixer[i] = random.NormFloat64()
	}
	schema := &table.Schema{}
	cells := make([]table.Column, columns+1)
	for j := range columns {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: string(rune('a' + j)), Kind: table.Numeric})
		cells[j].Floats = make([]float64, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "n", Values: []string{"x", "y"}})
	cells[columns].Codes = make([]int32, rows)
	weights := make([]float64, rows)
	z := make([]float64, columns)
	for r := range rows {
		weights[r] = float64(1 + random.IntN(2))
		h := random.IntN(2)
		cells[columns].Codes[r] = int32((h + random.IntN(4)/3) % 2)
		for j := range z {
			z[j] = random.NormFloat64()
		}
		for j := range columns {
			x := 3 * float64(h)
			for k := range z {
				x += mixer[(h*columns+j)*columns+k] * z[k]
			}
			if random.Float64() < missing {
				x = table.NA
			}
			cells[j].Floats[r] = x
		}
	}
	t, err := table.New(schema, cells, weights)
	if err != nil {
		panic(err)
	}
	return t
}

// EM with full covariance, one row and unit at a time, by the book.
func TestFullEMEqualsReference(t *testing.T) {
	ctx := context.Background()
	const floor = 0.2
	for seed := range uint64(4) {
		rows := correlated(rand.New(rand.NewPCG(seed, 8)), 200, 4, []float64{0, 0.2, 0.4, 0.1}[seed])
		e, m := preparedAs(t, rows, 3, seed, true)
		want := m.clone()
		for range 12 {
			s, err := e.expect(ctx, m.kernel())
			if err != nil {
				t.Fatal(err)
			}
			s.add(e.pseudo)
			e.maximise(s, m)
			want = fullReference(t, e.sample, want, floor)
		}
		for what, pair := range map[string][2][]float64{
			"prior": {m.prior, want.prior}, "centre": {m.centre, want.centre}, "covariance": {m.covariance, want.covariance}, "share": {m.share, want.share},
		} {
			for i := range pair[0] {
				if math.Abs(pair[0][i]-pair[1][i]) > 1e-9 {
					t.Fatalf("seed %d: %s %d is %v, by brute force %v", seed, what, i, pair[0][i], pair[1][i])
				}
			}
		}
	}
}

func fullReference(t *testing.T, s *sample, m *mixture, floor float64) *mixture {
	k, d := len(m.prior), len(m.numeric)
	next := m.clone()
	n := make([]float64, k)
	mean, square := make([][]float64, k), make([]*mat.Dense, k)
	counts := make([]float64, len(m.share))
	for i := range k {
		mean[i], square[i] = make([]float64, d), mat.NewDense(d, d, nil)
		for v := range m.total {
			counts[v*k+i] = 1 / float64(m.total)
		}
	}
	for row := range s.rows {
		x := append([]float64(nil), s.x[row*d:(row+1)*d]...)
		for _, c := range s.missingOf(row) {
			x[c] = math.NaN()
		}
		shares, filled, uncertain := make([]float64, k), make([][]float64, k), make([]*mat.Dense, k)
		for i := range k {
			var l float64
			filled[i], uncertain[i], l = normalGiven(t, m.centre[i*d:(i+1)*d], symmetric(m.covariance[i*triangle(d):], d), x)
			shares[i] = m.prior[i] * math.Exp(l) * m.share[int(s.codes[row])*k+i]
		}
		total := weight(shares)
		for i := range k {
			r := shares[i] / total * s.weightOf(row)
			n[i] += r
			counts[int(s.codes[row])*k+i] += r
			for a := range d {
				mean[i][a] += r * filled[i][a]
				for b := range d {
					square[i].Set(a, b, square[i].At(a, b)+r*(filled[i][a]*filled[i][b]+uncertain[i].At(a, b)))
				}
			}
		}
	}
	for i := range k {
		next.prior[i] = n[i] / weight(n)
		sigma := mat.NewSymDense(d, nil)
		for a := range d {
			next.centre[i*d+a] = mean[i][a] / n[i]
			for b := range a + 1 {
				sigma.SetSym(a, b, square[i].At(a, b)/n[i]-mean[i][a]/n[i]*mean[i][b]/n[i])
			}
		}
		var e mat.EigenSym
		if !e.Factorize(sigma, true) {
			t.Fatal("no eigenvalues")
		}
		var vectors, scaled, again mat.Dense
		e.VectorsTo(&vectors)
		values := e.Values(nil)
		for j := range values {
			values[j] = max(values[j], floor*floor)
		}
		scaled.Mul(&vectors, mat.NewDiagDense(d, values))
		again.Mul(&scaled, vectors.T())
		for a := range d {
			next.width[i*d+a] = math.Sqrt(again.At(a, a))
			for b := range a + 1 {
				next.covariance[i*triangle(d)+tri(a, b)] = again.At(a, b)
			}
		}
		for v := range m.total {
			next.share[v*k+i] = counts[v*k+i] / (n[i] + 1)
		}
	}
	return next
}

// A model with one unit is a normal distribution: what it answers given some
// cells is what the book says.
func TestFullConditioning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		rows := correlated(random, 60, columns, 0)
		rows, err := table.New(rows.Schema, rows.Columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&Learner{Units: 1, Covariance: "full", Floor: new(1e-6)}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		c, sigma := make([]float64, columns), mat.NewSymDense(columns, nil)
		for r := range rows.Rows() {
			for j := range columns {
				c[j] += rows.Columns[j].Floats[r] / 60
			}
		}
		for r := range rows.Rows() {
			for j := range columns {
				for k := range j + 1 {
					sigma.SetSym(j, k, sigma.At(j, k)+(rows.Columns[j].Floats[r]-c[j])*(rows.Columns[k].Floats[r]-c[k])/60)
				}
			}
		}
		asked := rapid.IntRange(0, columns-1).Draw(t, "asked")
		x := make([]float64, columns)
		question := make([]table.Column, columns+1)
		question[columns].Codes = []int32{table.Missing}
		spread := 0.0
		for j := range x {
			x[j] = c[j] + 2*random.NormFloat64()
			if j == asked || rapid.Bool().Draw(t, "missing") {
				x[j] = table.NA
			} else {
				spread += math.Log(math.Sqrt(sigma.At(j, j)))
			}
			question[j].Floats = []float64{x[j]}
		}
		row, err := table.New(rows.Schema, question, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.(learn.Asker).Ask(row, 0, asked)
		if err != nil {
			t.Fatal(err)
		}
		mean, covariance, log := normalGiven(t, c, sigma, x)
		deviation := math.Sqrt(covariance.At(asked, asked))
		near := func(what string, got, want, size float64) {
			if !(math.Abs(got-want) <= 1e-6*max(1, size)) {
				t.Fatalf("%s is %v, expected %v", what, got, want)
			}
		}
		size := math.Abs(mean[asked]) + 10*deviation
		near("the mean", a.Mean, mean[asked], size)
		near("the median", a.Median, mean[asked], size)
		near("the upper end", a.High, mean[asked]+1.959963984540054*deviation, size)
		near("the log density", a.LogDensity, log+spread, math.Abs(log))
		if len(a.Modes) != 1 {
			t.Fatalf("peaks at %v", a.Modes)
		}
		filled, err := m.(learn.Imputer).Impute(context.Background(), row)
		if err != nil {
			t.Fatal(err)
		}
		for j := range x {
			near("a filled cell", filled.Columns[j].Floats[0], mean[j], size+math.Abs(mean[j]))
		}
	})
}

// With full covariance a few units predict as least squares does, and holes
// are filled in better.
func TestFullOnBoston(t *testing.T) {
	ctx := context.Background()
	all := boston(t)
	target := all.Schema.Index("medv")
	rmse := func(l *Learner) float64 {
		m, err := l.Learn(ctx, learn.Task{Table: all, Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, all.Rows())
		if err := m.Predict(ctx, all, out); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for r, y := range all.Columns[target].Floats {
			if !(out.Low[r] < out.Mean[r] && out.Mean[r] < out.High[r]) {
				t.Fatalf("row %d: %v from %v to %v", r+1, out.Mean[r], out.Low[r], out.High[r])
			}
			sum += (y - out.Mean[r]) * (y - out.Mean[r])
		}
		return math.Sqrt(sum / float64(all.Rows()))
	}
	// One unit is the regression line, whose error over these rows is known to
	// be 4.679; the floor only makes it a little less steep.
	if one := rmse(&Learner{Units: 1, Covariance: "full", Floor: new(1e-4)}); math.Abs(one-4.679) > 1e-3 {
		t.Errorf("one unit: RMSE %v, expected that of least squares, 4.679", one)
	}
	if five := rmse(&Learner{Units: 3, Covariance: "full"}); five > 4.679 {
		t.Errorf("three units: RMSE %v, more than a line leaves", five)
	}
}

// Sources are kept apart with their products: merging and forgetting are
// exact, online updates fill in what is missing.
func TestFullSources(t *testing.T) {
	ctx := context.Background()
	rows := correlated(rand.New(rand.NewPCG(3, 3)), 600, 4, 0.1)
	l := &Learner{Units: 2, Covariance: "full"}
	learnt := func(from *table.Table, source string) learn.Model {
		m, err := l.Learn(ctx, learn.Task{Table: from, NoTarget: true, Seed: 1, Source: learn.Source{ID: source}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := learnt(rows.Slice(0, 300), "a"), learnt(rows.Slice(300, 600), "b")
	both, err := a.(learn.Merger).Merge(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]learn.Model{"b": a, "a": b} {
		left, err := both.(learn.Forgetter).Forget(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if d := densityOf(t, left, rows) - densityOf(t, want, rows); math.Abs(d) > 1e-9 {
			t.Errorf("forgetting %s after merging leaves %v nats of difference", id, d)
		}
	}
	u, err := a.(learn.Updater).Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, rows.Slice(300, 600)); err != nil {
		t.Fatal(err)
	}
	updated, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// Both halves come from the same two clusters: all at once is at most a
	// tenth of a nat better.
	if d := densityOf(t, updated, rows) - densityOf(t, learnt(rows, "all"), rows); math.Abs(d) > 0.1 {
		t.Errorf("an update costs %v nats", d)
	}
	parts, err := updated.Parts()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	if densityOf(t, loaded, rows) != densityOf(t, updated, rows) {
		t.Error("the model differs after loading")
	}
	if _, err := a.(learn.Merger).Merge(ctx, mustLearn(t, &Learner{Units: 2}, rows)); err == nil {
		t.Error("models of different covariance are merged")
	}
}

func mustLearn(t *testing.T, l *Learner, rows *table.Table) learn.Model {
	t.Helper()
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
