package shards

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
)

// Cost is a job before it runs: how many rows, in how many shards, on how many
// workers, and what a cell, a shard, a merge and a start take. The defaults of the
// last four are measured on prism (docs/how-to/beam.md says how); those of a
// cluster are to be measured there with a thousandth of the rows.
type Cost struct {
	Rows       float64
	Columns    int
	Shards     int
	Workers    int     // machines
	Cores      int     // of each
	CellNanos  float64 // to read and learn a cell on one core, both passes
	ShardMs    float64 // of each shard and pass, besides its cells
	ModelBytes float64 // of a partial result
	MergeMBs   float64 // of partial results merged, a second and core
	StartupS   float64 // of each pass, until workers work
	Passes     int
	Spread     float64 // standard deviation of the logarithm of a shard's time
	Failures   float64 // share of shards' attempts that fail halfway
	Price      float64 // of a core and hour
	Seed       uint64
}

// Register gives the model flags.
func (c *Cost) Register(f *pflag.FlagSet) {
	f.Float64Var(&c.Rows, "rows", 1e9, "rows of all shards")
	f.IntVar(&c.Columns, "columns", 20, "columns")
	f.IntVar(&c.Shards, "shards", 1000, "shards")
	f.IntVar(&c.Workers, "workers", 10, "machines")
	f.IntVar(&c.Cores, "cores", 4, "cores of each")
	f.Float64Var(&c.CellNanos, "cell-ns", 110, "nanoseconds of one core for a cell, all passes together")
	f.Float64Var(&c.ShardMs, "shard-ms", 20, "milliseconds for each shard and pass, besides its cells")
	f.Float64Var(&c.ModelBytes, "model-bytes", 50e3, "bytes of a partial result")
	f.Float64Var(&c.MergeMBs, "merge-mbs", 20, "megabytes of partial results merged a second and core")
	f.Float64Var(&c.StartupS, "startup-s", 90, "seconds until the workers of a pass work")
	f.IntVar(&c.Passes, "passes", 2, "passes over the shards")
	f.Float64Var(&c.Spread, "spread", 0.3, "how much shards differ: standard deviation of the logarithm of their time")
	f.Float64Var(&c.Failures, "failures", 0.01, "share of attempts at a shard that fail halfway")
	f.Float64Var(&c.Price, "price", 0.06, "price of a core and hour")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the simulation")
}

func (c *Cost) check() error {
	switch {
	case !(c.Rows >= 1 && c.Rows <= 1e18) || c.Columns < 1 || c.Shards < 1 || c.Workers < 1 || c.Cores < 1 || c.Passes < 1:
		return errors.New("rows, columns, shards, workers, cores and passes are numbers from 1")
	case c.Shards > 1e7 || c.Workers > 1e6 || c.Cores > 1e4:
		return errors.New("more than ten million shards, a million workers or ten thousand cores are not simulated")
	case !(c.CellNanos >= 0 && c.ShardMs >= 0 && c.ModelBytes >= 0 && c.MergeMBs > 0 && c.StartupS >= 0 && c.Spread >= 0 && c.Spread <= 3 && c.Failures >= 0 && c.Failures < 0.9 && c.Price >= 0):
		return errors.New("times, sizes and prices are not negative; spread is at most 3, failures are below 0.9")
	}
	return nil
}

// Estimated is what a job would take.
type Estimated struct {
	Seconds   float64 `json:"seconds"`   // by the formula
	Simulated float64 `json:"simulated"` // by dealing shards out to cores, one by one
	CoreHours float64 `json:"core_hours"`
	Money     float64 `json:"money"`
	Advice    string  `json:"advice,omitempty"`
}

// String says it in words.
func (e *Estimated) String() string {
	text := fmt.Sprintf("about %v by the formula, %v simulated; %.1f core hours, %.2f to pay", duration(e.Seconds), duration(e.Simulated), e.CoreHours, e.Money)
	if e.Advice != "" {
		text += "\n" + e.Advice
	}
	return text
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second / 10)
}

// shard is the mean time of a shard in one pass, failures included.
func (c *Cost) shard() float64 {
	again := 1 + c.Failures/(1-c.Failures)/2 // half of an attempt is lost
	return again * (c.Rows*float64(c.Columns)/float64(c.Shards)*c.CellNanos/1e9/float64(c.Passes) + c.ShardMs/1e3)
}

// merging is the time of merging in one pass: each core merges its shards'
// results, and one machine those of all cores.
func (c *Cost) merging(slots float64) float64 {
	one := c.ModelBytes / (c.MergeMBs * 1e6)
	return one * (math.Ceil(float64(c.Shards)/slots) + math.Min(slots, float64(c.Shards)))
}

// Estimate computes and simulates.
func (c *Cost) Estimate() (*Estimated, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	slots := float64(c.Workers) * float64(c.Cores)
	// Work evenly spread, and about half a shard that the last core has more.
	rounds := math.Max(float64(c.Shards)/slots, 1)
	tail := c.shard() * (math.Exp(c.Spread) - 0.5)
	if float64(c.Shards) <= slots {
		tail = c.shard() * (math.Exp(c.Spread*math.Sqrt(2*math.Log(math.Max(2, float64(c.Shards))))-c.Spread*c.Spread/2) - 1)
	}
	e := &Estimated{Seconds: float64(c.Passes) * (c.StartupS + rounds*c.shard() + tail + c.merging(slots))}
	for pass := range c.Passes {
		e.Simulated += c.simulate(uint64(pass))
	}
	e.CoreHours = e.Simulated * slots / 3600
	e.Money = e.CoreHours * c.Price
	switch per := c.Rows / float64(c.Shards); {
	case c.shard() < 1 && rounds > 8:
		e.Advice = fmt.Sprintf("shards of %.0f rows are small: fewer, larger ones would lose less on each", per)
	case rounds < 3 && c.shard() > 60:
		e.Advice = fmt.Sprintf("%d shards on %.0f cores: the slowest one decides; three or more a core would be steadier", c.Shards, slots)
	case c.StartupS*float64(c.Passes) > e.Simulated/2:
		e.Advice = "most of it is waiting for workers: one machine would do"
	}
	return e, nil
}

// simulate deals shards out to cores as they become free. Each takes its time,
// which varies, and some fail halfway and are dealt out again.
func (c *Cost) simulate(pass uint64) float64 {
	random := rand.New(rand.NewPCG(c.Seed, pass))
	slots := min(c.Workers*c.Cores, c.Shards)
	free := make(times, slots)
	base := (c.Rows*float64(c.Columns)/float64(c.Shards)*c.CellNanos/1e9/float64(c.Passes) + c.ShardMs/1e3)
	end := 0.0
	for range c.Shards {
		took := base * math.Exp(c.Spread*random.NormFloat64()-c.Spread*c.Spread/2)
		for random.Float64() < c.Failures {
			free[0] += took / 2
			heap.Fix(&free, 0)
		}
		free[0] += took
		end = max(end, free[0])
		heap.Fix(&free, 0)
	}
	return c.StartupS + end + c.merging(float64(c.Workers*c.Cores))
}

// times is a heap of when cores are free.
type times []float64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any          { panic("no core leaves") }
