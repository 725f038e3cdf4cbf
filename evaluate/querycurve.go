package evaluate

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// QueryCurve is how a measure grows with the number of answers, if the model
// says which it would like to know and if they come as they come.
type QueryCurve struct {
	Data    string       `json:"data,omitempty"`
	Target  *string      `json:"target"`
	Learner string       `json:"learner"`
	Seeds   int          `json:"seeds"`
	Seed    uint64       `json:"seed"`
	Measure string       `json:"measure"` // "accuracy" or "rmse"
	Pool    int          `json:"pool"`    // rows that there were to ask for
	Whole   float64      `json:"whole"`   // the measure with the answers of all
	Points  []QueryPoint `json:"points"`
	// Enough is after how many answers asking was as good as all of them and
	// stayed so: from there on the mean over the divisions, on the same test
	// rows, is never below that of all answers. Nil if it is so nowhere.
	Enough *int `json:"enough"`
	// Reached is after how many answers asking was as good as all of them for
	// the first time, though it may have fallen below again.
	Reached *int `json:"reached"`
}

// QueryPoint is the measure on unseen rows after some answers: the mean over
// the seeds, with its interval.
type QueryPoint struct {
	Rows       int     `json:"rows"`
	Query      float64 `json:"query"`
	QueryLow   float64 `json:"query_low"`
	QueryHigh  float64 `json:"query_high"`
	Random     float64 `json:"random"`
	RandomLow  float64 `json:"random_low"`
	RandomHigh float64 `json:"random_high"`
	// Gain is what asking is better by, over the same seeds.
	Gain     float64 `json:"gain"`
	GainLow  float64 `json:"gain_low"`
	GainHigh float64 `json:"gain_high"`
	// Short is what asking still lacks of all answers, over the same seeds.
	Short     float64 `json:"short"`
	ShortLow  float64 `json:"short_low"`
	ShortHigh float64 `json:"short_high"`
}

// QueryOptions say how asking is measured.
type QueryOptions struct {
	Seeds int // divisions of the rows; 0 means 10
	Start int // answers to begin with; 0 means a twentieth of the rows, at least 10
	Steps int // how many times is asked; 0 means 10
	Batch int // answers a step; 0 means as many as end at half of the rows
	end   int // answers after the last step
	// Ask returns the places of the n rows whose answers a model would like
	// to know, the first one most.
	Ask func(ctx context.Context, m learn.Model, rows *table.Table, n int) ([]int, error)
}

// Query measures what asking saves: in each of several divisions a third of the
// rows is held out for testing, and two models begin with the same few answers
// and get the same number more at each step, one those that it asks for, the
// other random ones.
func Query(ctx context.Context, spec Spec, o QueryOptions) (*QueryCurve, error) {
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	if o.Ask == nil {
		return nil, fmt.Errorf("evaluate: nothing says which rows a model would ask for")
	}
	if spec.Target < 0 {
		return nil, fmt.Errorf("evaluate: a density of all columns has no answers to ask for")
	}
	if o.Seeds == 0 {
		o.Seeds = 10
	}
	splits, err := spec.holdOutSplits(1./3, o.Seeds)
	if err != nil {
		return nil, err
	}
	first, _ := splits[0].rows()
	if err := o.resolve(len(first)); err != nil {
		return nil, err
	}
	runs := make([]queryRun, len(splits))
	progress := newProgress(ctx, len(splits))
	err = parallel(ctx, len(splits), func(ctx context.Context, i int) error {
		var err error
		runs[i], err = spec.queryRun(progress.part(ctx, i), splits[i], o)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &QueryCurve{
		Data: spec.Data, Target: targetName(spec.Table.Schema, spec.Target), Learner: spec.Learner,
		Seeds: o.Seeds, Seed: spec.Seed, Measure: runs[0].measure, Pool: len(first),
	}
	c.sum(runs, o, spec.level())
	return c, nil
}

// resolve fills in what was left open, for a number of rows to ask for.
func (o *QueryOptions) resolve(pool int) error {
	if o.Start == 0 {
		o.Start = min(max(pool/20, 10), max(pool/2, 1))
	}
	if o.Steps == 0 {
		o.Steps = 10
	}
	o.end = o.Start + o.Steps*o.Batch
	if o.Batch == 0 {
		o.end = max(pool/2, o.Start)
		o.Steps = min(o.Steps, o.end-o.Start)
	}
	if o.Start < 1 || o.Steps < 0 || o.Batch < 0 || o.end > pool {
		return fmt.Errorf("evaluate: %d answers to begin with and %d steps of %d; expected no more than the %d rows that there are to ask for", o.Start, o.Steps, o.Batch, pool)
	}
	return nil
}

// at is how many answers there are after some steps.
func (o *QueryOptions) at(step int) int {
	if o.Steps == 0 {
		return o.Start
	}
	return o.Start + step*(o.end-o.Start)/o.Steps
}

// queryRun is one division: the measure after each step, by asking and at
// random, and with all answers.
type queryRun struct {
	measure       string
	asked, random []float64
	whole         float64
}

func (s *Spec) queryRun(ctx context.Context, division split, o QueryOptions) (queryRun, error) {
	var run queryRun
	pool, testRows := division.rows()
	test := s.Table.Select(testRows)
	order := proportional(s.Table, s.Target, pool, division.seed)
	begin, rest := order[:o.Start], slices.Clone(order[o.Start:])
	shuffle(rest, random(division.seed, 77))
	var err error
	for arm := range 2 {
		known, left := slices.Clone(begin), slices.Clone(rest)
		for step := range o.Steps + 1 {
			var value float64
			var next []int
			batch := o.at(min(step+1, o.Steps)) - o.at(step)
			ask := batch
			if arm == 1 {
				ask = 0
			}
			if value, next, err = s.queryStep(part(ctx, arm*(o.Steps+1)+step, 2*o.Steps+3), known, left, test, division.seed, o, ask, &run.measure); err != nil {
				return run, err
			}
			if arm == 0 {
				run.asked = append(run.asked, value)
			} else {
				run.random, next = append(run.random, value), nil
			}
			for _, r := range left { // what it does not ask for comes as it comes
				if len(next) < batch && !slices.Contains(next, r) {
					next = append(next, r)
				}
			}
			known = append(known, next...)
			left = slices.DeleteFunc(left, func(r int) bool { return slices.Contains(next, r) })
		}
	}
	run.whole, _, err = s.queryStep(ctx, pool, nil, test, division.seed, o, 0, &run.measure)
	return run, err
}

// queryStep learns from the rows that are known, tests, and says which of the
// others it would like to know, as many as are asked for.
func (s *Spec) queryStep(ctx context.Context, known, left []int, test *table.Table, seed uint64, o QueryOptions, ask int, name *string) (value float64, next []int, err error) {
	var t trial
	m, err := s.learn(ctx, s.Table.Select(sorted(known)), seed, &t)
	if err != nil {
		return 0, nil, err
	}
	names := classNames(s.Table, s.Target, dictionary(s.Table.Schema, s.Target))
	t.tally = newTally(s.Table.Schema, s.Target, names, middle(s.Table, s.Target), s.bins())
	if err := t.tally.test(ctx, m, test, s.Target, nil); err != nil {
		return 0, nil, err
	}
	var r Result
	r.judge(t.tally, s.level(), 1)
	*name = measure(t.tally.kind)
	figure, _, _ := r.figure(*name)
	if figure == nil {
		return 0, nil, errWeightless
	}
	if ask == 0 {
		return *figure, nil, nil
	}
	fitted, err := conform(s.Table.Select(left), m)
	if err != nil {
		return 0, nil, err
	}
	places, err := o.Ask(ctx, m, fitted, ask)
	for _, i := range places {
		next = append(next, left[i])
	}
	return *figure, next, err
}

// sum makes points of the runs.
func (c *QueryCurve) sum(runs []queryRun, o QueryOptions, level float64) {
	for _, r := range runs {
		c.Whole += r.whole / float64(len(runs))
	}
	for step := range o.Steps + 1 {
		var asked, random, gain, short []float64
		sign := 1.0
		if c.Measure != "accuracy" { // less is better
			sign = -1
		}
		for _, r := range runs {
			asked, random = append(asked, r.asked[step]), append(random, r.random[step])
			gain, short = append(gain, sign*(r.asked[step]-r.random[step])), append(short, sign*(r.whole-r.asked[step]))
		}
		p := QueryPoint{Rows: o.at(step)}
		p.Query, p.QueryLow, p.QueryHigh = around(asked, level)
		p.Random, p.RandomLow, p.RandomHigh = around(random, level)
		p.Gain, p.GainLow, p.GainHigh = around(gain, level)
		p.Short, p.ShortLow, p.ShortHigh = around(short, level)
		if c.Measure == "accuracy" {
			p.QueryHigh, p.RandomHigh = min(p.QueryHigh, 1), min(p.RandomHigh, 1)
		}
		p.QueryLow, p.RandomLow = max(p.QueryLow, 0), max(p.RandomLow, 0)
		c.Points = append(c.Points, p)
		const rounding = 1e-12 // of a mean
		switch {
		case p.Short > rounding:
			c.Enough = nil // not yet, or not any more
		case c.Enough == nil:
			c.Enough = &p.Rows
			if c.Reached == nil {
				c.Reached = &p.Rows
			}
		}
	}
}

// verdict says in words how far asking comes.
func (c *QueryCurve) verdict(write func(float64) string) string {
	text := fmt.Sprintf("all %d answers: %s; ", c.Pool, write(c.Whole))
	if c.Enough != nil {
		return text + fmt.Sprintf("asking is as good with %d, and stays so", *c.Enough)
	}
	come := "asking has not come as far"
	if c.Reached != nil {
		come = fmt.Sprintf("asking was as good with %d, but not for good", *c.Reached)
	}
	if last := c.Points[len(c.Points)-1]; c.Measure == "accuracy" {
		come += fmt.Sprintf(": with %d answers it lacks %.1f points (%.1f to %.1f)", last.Rows, 100*last.Short, 100*last.ShortLow, 100*last.ShortHigh)
	}
	return text + come
}

// around is the mean of some values and its interval; of one value, itself.
func around(values []float64, level float64) (mean, low, high float64) {
	e := stat.Mean(values)
	if len(values) < 2 {
		return e.Value, e.Value, e.Value
	}
	i := e.Interval(level, stat.TwoSided)
	return e.Value, i.Low, i.High
}

// Chart draws both curves, and where all answers lead.
func (c *QueryCurve) Chart() Picture {
	asked, random := draw.Series{Name: "asking"}, draw.Series{Name: "random"}
	whole := draw.Series{Name: "all answers", Kind: draw.Dashed}
	for _, p := range c.Points {
		x := float64(p.Rows)
		asked.X, asked.Y = append(asked.X, x), append(asked.Y, p.Query)
		asked.Low, asked.High = append(asked.Low, p.QueryLow), append(asked.High, p.QueryHigh)
		random.X, random.Y = append(random.X, x), append(random.Y, p.Random)
		random.Low, random.High = append(random.Low, p.RandomLow), append(random.High, p.RandomHigh)
		whole.X, whole.Y = append(whole.X, x), append(whole.Y, c.Whole)
	}
	return &draw.Chart{
		Title: heading("learning by asking", c.Learner, c.Data), XLabel: "answers", YLabel: c.Measure,
		Percent: c.Measure == "accuracy", Series: []draw.Series{asked, random, whole},
	}
}
