package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"
)

// job is a measurement of speed.
type job struct {
	method method
	rows   int
}

func (j job) key(round int) string {
	return fmt.Sprintf("speed, %v, %d rows, round %d", j.method, j.rows, round)
}

// speedMethods returns ours and their peers, each once.
func (b *bench) speedMethods() []method {
	methods := b.ours()
	if slices.Contains(methods, method{Tool: accrete, Name: "tree"}) {
		methods = append(methods, method{Tool: accrete, Name: "tree " + shallow})
	}
	if slices.Contains(methods, method{Tool: accrete, Name: "rulenet"}) {
		methods = append(methods, method{Tool: accrete, Name: "rulenet " + living})
	}
	for _, m := range slices.Clone(methods) {
		for _, p := range peersOf(m) {
			if b.asked(p) && !slices.Contains(methods, p) {
				methods = append(methods, p)
			}
		}
	}
	return methods
}

// stages returns all that is to be measured, a stage for each size. The
// counting learners' large tables come before the largest of the others, which
// take longest.
func (b *bench) stages() [][]job {
	var stages, count [][]job
	for _, rows := range b.plan.Sizes {
		var stage []job
		for _, m := range b.speedMethods() {
			stage = append(stage, job{m, rows})
		}
		stages = append(stages, stage)
	}
	for _, rows := range b.plan.Count {
		var stage []job
		for _, m := range b.speedMethods() {
			if slices.Contains(counting, m.String()) {
				stage = append(stage, job{m, rows})
			}
		}
		if len(stage) > 0 {
			count = append(count, stage)
		}
	}
	return slices.Insert(stages, len(stages)-1, count...)
}

func (b *bench) table(rows int) string { return filepath.Join(b.work, fmt.Sprintf("mixed-%d", rows)) }

// measureSpeed measures every job once, stage by stage, and after each stage
// once more what is quick, until every job has had its rounds or there is no
// time: rounds lie minutes apart, so that their spread shows what the machine
// does besides.
func (b *bench) measureSpeed(ctx context.Context, deadline time.Time) error {
	r := &race{bench: b, deadline: deadline, pace: map[method]float64{}, over: map[method]over{}, rounds: map[job]int{}, took: map[job]float64{}}
	for _, stage := range b.stages() {
		t, err := mixed(ctx, stage[0].rows)
		if err != nil {
			return err
		}
		if err := export(b.table(stage[0].rows), t); err != nil {
			return err
		}
		// Those that were quick with fewer rows come first, so that what is
		// cut when time runs out is what takes longest.
		slices.SortStableFunc(stage, func(x, y job) int { return cmp.Compare(r.pace[x.method], r.pace[y.method]) })
		for _, j := range stage {
			if r.first(ctx, j); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := r.again(ctx, quickJob); err != nil {
			return err
		}
	}
	for range b.plan.Rounds {
		if err := r.again(ctx, math.Inf(1)); err != nil {
			return err
		}
	}
	return nil
}

// quickJob is how many seconds a job may take to be measured again before the
// larger ones have had their first round.
const quickJob = 2

// hopeless is the share of the limit that learning may take with some rows to
// be tried with ten times as many. It would have to grow with less than the
// square root of the rows to end in time.
const hopeless = 1.0 / 3

// race is the state of the measurement of speed.
type race struct {
	*bench
	deadline time.Time
	pace     map[method]float64 // seconds a row that learning took last
	over     map[method]over
	rounds   map[job]int // measured
	took     map[job]float64
}

// over says why a method is not tried with more rows than these.
type over struct {
	rows int
	why  string
}

// first measures a job for the first time, or records why not.
func (r *race) first(ctx context.Context, j job) {
	key, tool := j.key(1), r.tools[j.method.Tool]
	switch {
	case ctx.Err() != nil:
		return
	case tool.LeftOut != "":
		r.without(key, tool.LeftOut)
		return
	case r.over[j.method].why != "" && j.rows > r.over[j.method].rows:
		if _, ok := r.journal.get(key); !ok {
			r.journal.put(key, outcome{Stopped: partFit, Reason: r.over[j.method].why})
		}
		return
	case time.Now().After(r.deadline):
		r.without(key, timeSpent)
		return
	}
	o := r.measured(ctx, key, r.speedCommand(j), nil, true)
	if o.Stopped == partFit || o.Stopped == partLoaded {
		r.over[j.method] = over{j.rows, fmt.Sprintf("stopped at %v s with %s rows already", r.plan.Limit.Seconds(), thousands(j.rows))}
		return
	}
	if o.Failure == "" {
		r.rounds[j], r.took[j] = 1, o.Took
	}
	if fit := o.Parts[partFit]; len(fit.Seconds) > 0 {
		seconds := median(fit.Seconds)
		r.pace[j.method] = seconds / float64(j.rows)
		if seconds > hopeless*r.plan.Limit.Seconds() {
			r.over[j.method] = over{j.rows, fmt.Sprintf("not tried: it took over a third of %v s with %s rows", r.plan.Limit.Seconds(), thousands(j.rows))}
		}
	}
}

// again gives one round more to each job that takes at most so many seconds,
// the quickest first, as long as there is time.
func (r *race) again(ctx context.Context, atMost float64) error {
	jobs := slices.SortedFunc(maps.Keys(r.rounds), func(x, y job) int {
		return cmp.Or(cmp.Compare(r.took[x], r.took[y]), cmp.Compare(x.key(1), y.key(1)))
	})
	for _, j := range jobs {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case r.took[j] > atMost || time.Now().Add(time.Duration(r.took[j]*float64(time.Second))).After(r.deadline):
			return nil
		case r.rounds[j] < r.plan.Rounds:
			r.rounds[j]++
			r.measured(ctx, j.key(r.rounds[j]), r.speedCommand(j), nil, true)
		}
	}
	return nil
}

func (b *bench) speedCommand(j job) []string {
	return append(b.tools[j.method.Tool].command(b), workSpeed, b.table(j.rows), j.method.Name, fmt.Sprintf("budget=%g", b.plan.Repeat))
}

// figure returns what was measured of one part: seconds, or bytes. The value
// of a process is the median of its repeats, that of the figure the median of
// the processes; the spread goes from the lowest to the highest process or,
// where there were fewer than three, repeat (see spread).
func (b *bench) figure(j job, name string) figure {
	var values, repeats []float64
	f := figure{}
	for round := 1; round <= b.plan.Rounds; round++ {
		o, ok := b.journal.get(j.key(round))
		if !ok {
			continue
		}
		if round == 1 {
			f.Reason, f.Stopped = firstOf(o.Failure, o.Reason), o.Stopped == name
		}
		p, ok := o.Parts[name]
		switch {
		case !ok:
		case p.Bytes > 0:
			values = append(values, p.Bytes)
		case len(p.Seconds) > 0:
			values, repeats = append(values, median(p.Seconds)), append(repeats, p.Seconds...)
		}
	}
	if f.Stopped {
		f.Value = b.plan.Limit.Seconds()
		return f
	}
	if len(values) == 0 {
		return f
	}
	f.Processes = len(values)
	f.Value, f.Low, f.High = spread(values)
	if len(values) < 3 && len(repeats) > 0 && name != partSingle {
		f.Low, f.High = min(f.Low, slices.Min(repeats)), max(f.High, slices.Max(repeats))
	}
	return f
}

// ratio sets a peer's figure against ours. Where the peer cannot update, its
// fit is what learning one row more costs.
func (b *bench) ratio(ours, theirs method, rows int, name string) ratio {
	mine, their := b.figure(job{ours, rows}, name), b.figure(job{theirs, rows}, name)
	again := false
	if name == partUpdate {
		if their.Value == 0 {
			their, again = b.figure(job{theirs, rows}, partFit), true
		}
		if mine.Value == 0 && mine.Reason == "" {
			mine.Reason = "it keeps no rows"
		}
	}
	r := divide(their, mine)
	r.Again = again
	return r
}

// growth returns the exponent e of the fit's seconds ~ rows^e, from ten
// thousand rows on, where what a start costs weighs little.
func (b *bench) growth(m method) (float64, bool) {
	var rows, seconds []float64
	for _, n := range slices.Concat(b.plan.Sizes, b.plan.Count) {
		if f := b.figure(job{m, n}, partFit); n >= 10_000 && f.Value > 0 && !f.Stopped {
			rows, seconds = append(rows, float64(n)), append(seconds, f.Value)
		}
	}
	return exponent(rows, seconds)
}
