package shards

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// Results that a runner repeats count once; what it lost is found out.
func TestRepeatedShardsCountOnce(t *testing.T) {
	p := &Plan{Shards: 6}
	part := func(n int) *Partial {
		body, _ := learn.Marshal(float64(int(1) << n))
		return &Partial{Shards: [][2]int{{n, n}}, Body: body}
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := &Partial{}
		order := r.Perm(6)
		for _, n := range append(order, order[:r.IntN(6)]...) { // some come again
			var err error
			if all, err = p.join(context.Background(), "predict", all, part(n)); err != nil {
				t.Fatal(err)
			}
		}
		var sum float64
		if err := learn.Unmarshal(all.Body, &sum); err != nil || sum != 63 || p.whole(all) != nil {
			t.Fatalf("sum %v of %v: %v", sum, all.Shards, err)
		}
	}
	some, err := p.join(context.Background(), "predict", part(0), part(2))
	if err != nil || p.whole(some) == nil || !slices.Equal(some.Shards, [][2]int{{0, 0}, {2, 2}}) {
		t.Errorf("%v: %v", some, err)
	}
	if _, err := p.join(context.Background(), "predict", some, &Partial{Shards: [][2]int{{1, 2}}}); err == nil {
		t.Error("parts that overlap are added up")
	}
}

// The formula agrees with the simulation, up to 10¹² rows; more workers are
// never slower, and money follows cores.
func TestCost(t *testing.T) {
	before := math.Inf(1)
	for _, workers := range []int{10, 100, 1000} {
		for _, rows := range []float64{1e9, 1e10, 1e11, 1e12} {
			c := Cost{Rows: rows, Columns: 20, Shards: 20000, Workers: workers, Cores: 4, CellNanos: 110, ShardMs: 20, ModelBytes: 50e3, MergeMBs: 20, StartupS: 90, Passes: 2, Spread: 0.3, Failures: 0.01, Price: 0.06, Seed: 1}
			e, err := c.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			// The tail of the slowest shard is the formula's guess: within a quarter.
			if r := e.Seconds / e.Simulated; r < 0.75 || r > 1.25 {
				t.Errorf("%g rows on %d workers: %v by the formula, %v simulated", rows, workers, e.Seconds, e.Simulated)
			}
			if rows == 1e12 {
				if e.Simulated > before {
					t.Errorf("%d workers take longer: %v s", workers, e.Simulated)
				}
				before = e.Simulated
				t.Logf("10¹² rows, %d workers: %v", workers, e)
			}
		}
	}
	if _, err := (&Cost{}).Estimate(); err == nil {
		t.Error("a job of nothing is estimated")
	}
}
