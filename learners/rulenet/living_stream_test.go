package rulenet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// still is rows of three classes, four numbers and a colour, that do not change.
func still(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 707))
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "c", Kind: table.Numeric},
		{Name: "class", Values: []string{"k0", "k1", "k2"}}, {Name: "d", Kind: table.Numeric}, {Name: "colour", Values: []string{"blue", "green", "red"}},
	}}
	means := [3][4]float64{{0, 0, 0, 0}, {1.5, 1, 0, -0.5}, {-0.5, 1.5, 1, 0.5}}
	scales := [3][4]float64{{1, 1, 1, 1}, {1, 0.7, 1.5, 1}, {0.8, 1.2, 1, 1.5}}
	colours := [3][3]float64{{0.1, 0.3, 0.6}, {0.3, 0.5, 0.2}, {0.6, 0.2, 0.2}}
	c := make([]table.Column, 6)
	for range rows {
		y := 0
		if u := random.Float64(); u > 0.8 {
			y = 2
		} else if u > 0.5 {
			y = 1
		}
		for at, col := range []int{0, 1, 2, 4} {
			c[col].Floats = append(c[col].Floats, math.Round(1e4*(means[y][at]+scales[y][at]*random.NormFloat64()))/1e4)
		}
		colour, u := 0, random.Float64()
		for ; colour < 2 && u >= colours[y][colour]; colour++ {
			u -= colours[y][colour]
		}
		c[3].Codes, c[5].Codes = append(c[3].Codes, int32(y)), append(c[5].Codes, int32(colour))
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// sea is three numbers of which two decide the class by a threshold that changes
// every so many rows, with 10 % noise (Street and Kim 2001).
func sea(rows, every int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 101))
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "x1", Kind: table.Numeric}, {Name: "x2", Kind: table.Numeric}, {Name: "x3", Kind: table.Numeric}, {Name: "class", Values: []string{"no", "yes"}},
	}}
	c := make([]table.Column, 4)
	for r := range rows {
		x := [3]float64{}
		for i := range x {
			x[i] = math.Round(1e4*10*random.Float64()) / 1e4
			c[i].Floats = append(c[i].Floats, x[i])
		}
		is := int32(0)
		if (x[0]+x[1] <= []float64{8, 9, 7, 9.5}[r/every%4]) != (random.Float64() < 0.1) {
			is = 1
		}
		c[3].Codes = append(c[3].Codes, is)
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// livedThrough answers each row, then learns it, a hundred at a time, and returns the
// share of right answers.
func livedThrough(t testing.TB, all *table.Table, settings map[string]string) (float64, *Living) {
	ctx := context.Background()
	const chunk = 100
	m := startLiving(t, all.Slice(0, chunk), settings)
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	right, n := 0, 0
	for lo := chunk; lo < all.Rows(); lo += chunk {
		batch := all.Slice(lo, min(lo+chunk, all.Rows()))
		p := answersOf(t, m, batch)
		k := len(p) / batch.Rows()
		for r, class := range batch.Columns[3].Codes {
			if best := learn.Best(p[r*k:(r+1)*k], m.Schema().Attributes[3].Values); best == int(class) {
				right++
			}
			n++
		}
		if err := u.Add(ctx, batch); err != nil {
			t.Fatal(err)
		}
		frozen, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m = frozen.(*Living)
	}
	return float64(right) / float64(n), m
}

// turning is ten numbers whose weighted sum decides the class; half of the weights move
// to and fro between 0 and 1, from end to end in 5,000 rows, with 5 % noise.
func turning(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 202))
	s := &table.Schema{}
	for i := range 11 {
		s.Attributes = append(s.Attributes, table.Attribute{Name: string(rune('a' + i)), Kind: table.Numeric})
	}
	s.Attributes[3] = table.Attribute{Name: "class", Values: []string{"below", "above"}}
	var weights, step [11]float64
	for i := range weights {
		weights[i] = random.Float64()
		if i > 5 {
			step[i] = 0.0002
		}
	}
	c := make([]table.Column, 11)
	for range rows {
		sum := 0.0
		for i := range c {
			if i == 3 {
				continue
			}
			x := math.Round(1e4*random.Float64()) / 1e4
			c[i].Floats = append(c[i].Floats, x)
			sum += weights[i] * (x - 0.5)
			if to := weights[i] + step[i]; to < 0 || to > 1 {
				step[i] = -step[i]
			}
			weights[i] += step[i]
		}
		is := int32(0)
		if (sum >= 0) != (random.Float64() < 0.05) {
			is = 1
		}
		c[3].Codes = append(c[3].Codes, is)
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Streams whose rows do not change raise no alarm: ten lives, each of which may
// raise a false one with a chance of a hundredth, all together with one of a
// tenth. What changes is followed: of SEA at most 90 % can be right, and a learner that
// does not forget has about 84; of a plane that turns at most 95, where a tree that is
// grown anew from the last thousand rows has 74.
func TestStreams(t *testing.T) {
	if !long {
		t.Skip("minutes: ACCRETE_LONG=1")
	}
	for seed := range uint64(10) {
		right, m := livedThrough(t, still(40_000, seed), map[string]string{"reservoir": "4096"})
		if m.s.alarms > 0 {
			t.Errorf("seed %d: %d alarms (%.4f right)", seed, m.s.alarms, right)
		}
	}
	right, m := livedThrough(t, sea(60_000, 15_000, 1), map[string]string{"reservoir": "4096"})
	if right < 0.875 || m.s.alarms < 2 {
		t.Errorf("SEA: %.4f right, %d alarms", right, m.s.alarms)
	}
	if right, m = livedThrough(t, turning(40_000, 1), map[string]string{"reservoir": "4096"}); right < 0.85 {
		t.Errorf("a plane that turns: %.4f right, %d alarms", right, m.s.alarms)
	}
}

// twenty is rows of twenty numbers and two classes.
func twenty(rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 20))
	s := &table.Schema{}
	c := make([]table.Column, 21)
	for i := range 21 {
		s.Attributes = append(s.Attributes, table.Attribute{Name: string(rune('a' + i)), Kind: table.Numeric})
	}
	s.Attributes[3] = table.Attribute{Name: "class", Values: []string{"no", "yes"}}
	for range rows {
		sum := 0.0
		for i := range c {
			if i == 3 {
				continue
			}
			x := math.Round(1e3*random.NormFloat64()) / 1e3
			if i < 8 {
				sum += x * float64(i%3)
			}
			c[i].Floats = append(c[i].Floats, x)
		}
		is := int32(0)
		if sum+random.NormFloat64() > 0 {
			is = 1
		}
		c[3].Codes = append(c[3].Codes, is)
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// BenchmarkLivingRow is what a row costs in updates of a thousand rows behind a
// million, all steps and consolidations included; and the longest of them.
func BenchmarkLivingRow(b *testing.B) {
	ctx := context.Background()
	history := 20_000
	if long {
		history = 1_000_000
	}
	for _, forget := range []string{"never", "auto"} {
		b.Run(forget, func(b *testing.B) {
			all := twenty(20_000, 1)
			m := startLiving(b, all, map[string]string{"forget": forget})
			u, err := m.Begin(learn.Source{ID: "b"})
			if err != nil {
				b.Fatal(err)
			}
			live := u.(*livingUpdate)
			add := func(seed uint64) (took time.Duration) {
				more := twenty(1000, seed)
				began := time.Now()
				if err := u.Add(ctx, more); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			seed := uint64(2)
			for ; int(live.living.rows) < history; seed++ {
				add(seed)
			}
			b.ReportAllocs()
			b.ResetTimer()
			longest, took := time.Duration(0), time.Duration(0)
			for done := 0; done < b.N; done, seed = done+1000, seed+1 {
				one := add(seed)
				longest, took = max(longest, one), took+one
			}
			b.StopTimer()
			parts, err := m.Parts()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(parts[1].Data)), "bytes/model")
			b.ReportMetric(longest.Seconds()*1000, "ms/longest")
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N)/1000, "µs/row")
			b.ReportMetric(float64(len(live.rules)), "rules")
			b.ReportMetric(float64(live.alarms), "alarms")
		})
	}
}

// BenchmarkPrequentialRow is a row that is answered, and then learnt by itself: 20
// numbers, two classes.
func BenchmarkPrequentialRow(b *testing.B) {
	for _, forget := range []string{"never", "auto"} {
		b.Run(forget, func(b *testing.B) {
			spec := evaluate.Spec{
				Data: "twenty", Table: twenty(b.N+1, 9), Target: 3, Seed: 1, Learner: Name,
				New: evaluate.Registered(Name, map[string]string{"update": "living", "forget": forget}),
			}
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := evaluate.Prequential(b.Context(), spec, evaluate.PrequentialOptions{Batch: 1}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
