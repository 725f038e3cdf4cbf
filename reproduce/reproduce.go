// Package reproduce runs published experiments again and sets the published
// value beside ours.
//
// An experiment is a figure that somebody printed, how it is measured here,
// and how far the two may lie apart. What is random is measured over several
// seeds and comes with the 95 % interval of its mean; what is not has one
// seed. Register adds an experiment, Run runs some or all of them.
//
// Most experiments need nothing but the program. Some read larger data sets
// from a folder (Options.Data), and say so where that is not there.
package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// Experiment is a published figure and how it is measured here.
type Experiment struct {
	Name      string  // experiments that belong together begin alike
	Source    string  // author, year, where
	Measure   string  // what the figure is, and how ours is measured
	Published float64 // as printed
	Bound     Bound   // how far ours may be off
	Seeds     int     // seeds that Run is called with unless told otherwise; 1 if nothing is random
	// Run measures our value over the seeds 1 … seeds. See Fixed and
	// OverSeeds.
	Run func(ctx context.Context, seeds int) (Result, error)
}

// Result is a measured value and the ends of its interval, which are the
// value itself where nothing is random.
type Result struct {
	Ours, Low, High float64
}

// Bound says when a result agrees with the published value.
type Bound struct {
	Relation Relation
	Within   float64 // allowed on top; see Digits
}

// Relation is what is expected of our value.
type Relation uint8

// The relations.
const (
	Equal   Relation = iota // the published value lies in our interval, or within Within of it
	AtLeast                 // ours is at least the published value less Within
	AtMost                  // ours is at most the published value plus Within
)

// Digits is the bound for a figure rounded to so many decimals.
func Digits(n int) Bound { return Bound{Within: 0.5 * math.Pow10(-n) * (1 + 1e-9)} }

// Within is the bound for a figure that may be off by so much.
func Within(x float64) Bound { return Bound{Within: x} }

// Holds reports whether a result agrees with a published value.
func (b Bound) Holds(published float64, r Result) bool {
	switch b.Relation {
	case AtLeast:
		return r.Ours >= published-b.Within
	case AtMost:
		return r.Ours <= published+b.Within
	}
	return r.Low-b.Within <= published && published <= r.High+b.Within
}

// String says the bound in a few words.
func (b Bound) String() string {
	switch {
	case b.Relation == AtLeast && b.Within > 0:
		return fmt.Sprintf("at least the published value less %.3g", b.Within)
	case b.Relation == AtLeast:
		return "at least the published value"
	case b.Relation == AtMost && b.Within > 0:
		return fmt.Sprintf("at most the published value plus %.3g", b.Within)
	case b.Relation == AtMost:
		return "at most the published value"
	case b.Within > 0:
		return fmt.Sprintf("within %.3g", b.Within)
	}
	return "equal"
}

// Outcome is an experiment that was run.
type Outcome struct {
	Name      string  `json:"name"`
	Source    string  `json:"source"`
	Measure   string  `json:"measure"`
	Published float64 `json:"published"`
	Ours      float64 `json:"ours"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Seeds     int     `json:"seeds"`
	Bound     string  `json:"bound"`
	Holds     bool    `json:"holds"`
}

// Options says how experiments are run.
type Options struct {
	Seeds int    // of experiments that have more than one; 0 means their own number
	Data  string // the folder with the larger data sets; "" means Folder
	// Missing, if not nil, hears of the experiments whose data are not
	// there, which are then left out. Else they are an error.
	Missing func(experiment string, err *MissingData)
}

var registry struct {
	sync.RWMutex
	experiments []Experiment // sorted by name
}

// Register adds an experiment. It is called from init functions and panics if
// the name is taken or there is nothing to run.
func Register(e Experiment) {
	registry.Lock()
	defer registry.Unlock()
	i, taken := slices.BinarySearchFunc(registry.experiments, e.Name, func(e Experiment, name string) int { return cmp.Compare(e.Name, name) })
	if taken || e.Name == "" || e.Run == nil || e.Seeds < 1 {
		panic(fmt.Sprintf("reproduce: experiment %q is registered twice, or has no name, run or seeds", e.Name))
	}
	registry.experiments = slices.Insert(registry.experiments, i, e)
}

// All returns every experiment, sorted by name.
func All() []Experiment {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Clone(registry.experiments)
}

// Select returns the experiments with these names, or that begin with them.
// No names means all.
func Select(names []string) ([]Experiment, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	known := make([]string, len(all))
	for i, e := range all {
		known[i] = e.Name
	}
	for _, name := range names {
		found := false
		for i, k := range known {
			if k == name || name != "" && strings.HasPrefix(k, name) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown experiment %q%s", name, spell.Hint(name, known))
		}
	}
	var selected []Experiment
	for i, e := range all {
		if chosen[i] {
			selected = append(selected, e)
		}
	}
	return selected, nil
}

// Run runs the experiments that Select gives for the names, one after the
// other. An experiment that does not hold is no error; one that cannot be run
// is.
func Run(ctx context.Context, names []string, options Options) ([]Outcome, error) {
	experiments, err := Select(names)
	if err != nil {
		return nil, err
	}
	if options.Seeds < 0 {
		return nil, fmt.Errorf("%d seeds; expected at least 1", options.Seeds)
	}
	ctx = context.WithValue(ctx, folderKey{}, options.Data)
	var outcomes []Outcome
	for i, e := range experiments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outcome, err := e.run(part(ctx, i, len(experiments)), options)
		var missing *MissingData
		switch {
		case err == nil:
			outcomes = append(outcomes, outcome)
		case options.Missing != nil && errors.As(err, &missing):
			options.Missing(e.Name, missing)
		default:
			return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		learn.Report(ctx, float64(i+1)/float64(len(experiments)))
	}
	return outcomes, nil
}

// part returns a context whose progress is the i-th of n parts.
func part(ctx context.Context, i, n int) context.Context {
	return learn.WithProgress(ctx, func(fraction float64) {
		learn.Report(ctx, (float64(i)+fraction)/float64(n))
	})
}

func (e Experiment) run(ctx context.Context, options Options) (Outcome, error) {
	seeds := e.Seeds
	if seeds > 1 && options.Seeds > 0 {
		seeds = options.Seeds
	}
	r, err := e.Run(ctx, seeds)
	if err != nil {
		return Outcome{}, err
	}
	if math.IsNaN(r.Ours+r.Low+r.High) || math.IsInf(r.Ours, 0) || math.IsInf(r.Low, 0) || math.IsInf(r.High, 0) {
		return Outcome{}, fmt.Errorf("measured %v, from %v to %v; expected finite numbers", r.Ours, r.Low, r.High)
	}
	return Outcome{
		Name: e.Name, Source: e.Source, Measure: e.Measure, Published: e.Published,
		Ours: r.Ours, Low: r.Low, High: r.High, Seeds: seeds,
		Bound: e.Bound.String(), Holds: e.Bound.Holds(e.Published, r),
	}, nil
}

// Fixed is the Run of an experiment in which nothing is random.
func Fixed(measure func(ctx context.Context) (float64, error)) func(context.Context, int) (Result, error) {
	return func(ctx context.Context, _ int) (Result, error) {
		x, err := measure(ctx)
		return Result{x, x, x}, err
	}
}

// OverSeeds is the Run of a random experiment: the mean over the seeds, with
// its 95 % interval by Student's t. Seeds run on all cores. A single seed has
// no interval.
func OverSeeds(measure func(ctx context.Context, seed uint64) (float64, error)) func(context.Context, int) (Result, error) {
	return func(ctx context.Context, seeds int) (Result, error) {
		values := make([]float64, seeds)
		errs := make([]error, seeds)
		var next, done atomic.Int64
		var group sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), seeds) {
			group.Go(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1) - 1)
					if i >= seeds {
						return
					}
					values[i], errs[i] = measure(quiet(ctx), uint64(i)+1)
					learn.Report(ctx, float64(done.Add(1))/float64(seeds))
				}
			})
		}
		group.Wait()
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		for i, err := range errs {
			if err != nil {
				return Result{}, fmt.Errorf("seed %d: %w", i+1, err)
			}
		}
		e := stat.Mean(values)
		if seeds == 1 {
			return Result{e.Value, e.Value, e.Value}, nil
		}
		i := e.Interval(0.95, stat.TwoSided)
		return Result{e.Value, i.Low, i.High}, nil
	}
}

// quiet keeps the progress of one seed from being taken for the whole's.
func quiet(ctx context.Context) context.Context { return learn.WithProgress(ctx, func(float64) {}) }
