package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// trial is what came of one learner on one split.
type trial struct {
	tally     *tally
	training  *tally    // the same on the rows learnt from, where asked for
	test      []int     // rows tested
	losses    []float64 // for classes: 1 for each that was wrong
	trainRows int
	rules     int
	units     int
	readable  bool // rules means something
	train     time.Duration
	predict   time.Duration
}

// try learns and tests on every split, splits in parallel. Trials come back
// in the order of splits.
func (s *Spec) try(ctx context.Context, splits []split, training bool) ([]trial, error) {
	trials, err := tryAll(ctx, []Spec{*s}, splits, training)
	if err != nil {
		return nil, err
	}
	return trials[0], nil
}

// tryAll tries specs that differ only in their learners on the same splits.
// trials[i] are those of specs[i].
func tryAll(ctx context.Context, specs []Spec, splits []split, training bool) ([][]trial, error) {
	trials := make([][]trial, len(specs))
	for i := range trials {
		trials[i] = make([]trial, len(splits))
	}
	progress := newProgress(ctx, len(splits)*len(specs))
	s := &specs[0]
	names := classNames(s.Table, s.Target, dictionary(s.Table.Schema, s.Target))
	origin := middle(s.Table, s.Target)
	err := parallel(ctx, len(splits), func(ctx context.Context, i int) error {
		trainRows, testRows := splits[i].rows()
		train, test := s.Table.Select(trainRows), s.Table.Select(testRows)
		for c := range specs {
			ctx := progress.part(ctx, i*len(specs)+c)
			t := &trials[c][i]
			t.test, t.trainRows = testRows, len(trainRows)
			t.tally = newTally(s.Table.Schema, s.Target, names, origin, s.bins())
			t.tally.costs = s.Costs
			if training {
				t.training = newTally(s.Table.Schema, s.Target, names, origin, s.bins())
			}
			if err := specs[c].run(ctx, train, test, splits[i].seed, t); err != nil {
				return fmt.Errorf("%s, split %d of %d: %w", specs[c].Learner, i+1, len(splits), err)
			}
			learn.Report(ctx, 1)
		}
		return nil
	})
	return trials, err
}

// run fills a trial in: it learns from some rows and tests on others.
func (s *Spec) run(ctx context.Context, train, test *table.Table, seed uint64, t *trial) error {
	m, err := s.learn(ctx, train, seed, t)
	if err != nil {
		return err
	}
	if t.tally.kind == classes {
		t.losses = make([]float64, test.Rows())
	}
	start := s.now()
	if err := t.tally.test(ctx, m, test, s.Target, t.losses); err != nil {
		return err
	}
	t.predict = s.now().Sub(start)
	if t.tally.weight == 0 {
		return errWeightless
	}
	if t.training != nil {
		return t.training.test(ctx, m, train, s.Target, nil)
	}
	return nil
}

var errWeightless = errors.New("the weights of the test rows are all 0")

// learn makes a model and notes what it cost.
func (s *Spec) learn(ctx context.Context, rows *table.Table, seed uint64, t *trial) (learn.Model, error) {
	l, err := s.New()
	if err != nil {
		return nil, err
	}
	start := s.now()
	m, err := l.Learn(ctx, learn.Task{Table: rows, Source: learn.Source{Name: s.Data}, Seed: seed}.At(s.Target))
	if err != nil {
		return nil, err
	}
	t.train = s.now().Sub(start)
	t.rules, t.units = m.Size().Rules, m.Size().Units
	_, ruler := learn.Ability[learn.Ruler](m)
	t.readable = ruler || t.rules > 0
	return m, nil
}

func dictionary(schema *table.Schema, target int) []string {
	if target == learn.NoTarget {
		return nil
	}
	return schema.Attributes[target].Values
}

// parallel calls work for 0 ≤ i < n on all cores. The first error in the
// order of i, not of time, is returned; an error stops what has not begun.
func parallel(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, n)
	var next atomic.Int64
	var group crew.Group
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for inner.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if errs[i] = work(inner, i); errs[i] != nil {
					stop()
					return
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	// What failed because another part had failed is not the reason.
	var stopped error
	for _, err := range errs {
		if err != nil && inner.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			stopped = err
			continue
		}
		if err != nil {
			return err
		}
	}
	return stopped
}

// progress turns the progress of parts into that of the whole.
type progress struct {
	sync.Mutex
	ctx   context.Context // of the whole
	parts []float64
	sum   float64
}

func newProgress(ctx context.Context, parts int) *progress {
	return &progress{ctx: ctx, parts: make([]float64, parts)}
}

// part returns a context whose reports are those of the i-th of n parts that
// come one after the other.
func part(ctx context.Context, i, n int) context.Context {
	return learn.WithProgress(ctx, func(fraction float64) {
		learn.Report(ctx, (float64(i)+fraction)/float64(n))
	})
}

// part returns a context whose reports are those of one part.
func (p *progress) part(ctx context.Context, i int) context.Context {
	return learn.WithProgress(ctx, func(fraction float64) {
		p.Lock()
		defer p.Unlock()
		if fraction = min(fraction, 1); fraction > p.parts[i] {
			p.sum += fraction - p.parts[i]
			p.parts[i] = fraction
			learn.Report(p.ctx, min(p.sum/float64(len(p.parts)), 1))
		}
	})
}

// result sums up trials in which every tested row was tested so many times on
// average.
func (s *Spec) result(trials []trial, times float64) *Result {
	r := &Result{Data: s.Data, Target: targetName(s.Table.Schema, s.Target), Learner: s.Learner, Seed: s.Seed}
	r.Rows = s.Table.Rows()
	sum := newTally(s.Table.Schema, s.Target, trials[0].tally.names, trials[0].tally.origin, s.bins())
	sum.costs = s.Costs
	tested := make([]bool, s.Table.Rows())
	rules, readable := 0, false
	r.TrainRows = math.MaxInt
	for i := range trials {
		t := &trials[i]
		sum.merge(t.tally)
		r.TrainRows = min(r.TrainRows, t.trainRows)
		r.TrainSeconds += t.train.Seconds() / float64(len(trials))
		r.PredictSeconds += t.predict.Seconds() / float64(len(trials))
		rules += t.rules
		readable = readable || t.readable
		for _, row := range t.test {
			tested[row] = true
		}
		switch sum.kind {
		case classes:
			r.FoldAccuracies = append(r.FoldAccuracies, 1-t.tally.loss())
		case numbers:
			r.FoldRMSE = append(r.FoldRMSE, t.tally.loss())
		}
	}
	var rows []int
	for row, t := range tested {
		if t {
			rows = append(rows, row)
		}
	}
	r.TestRows = len(rows)
	r.setBaseline(s.Table, s.Target, s.Table, s.Target, rows)
	if readable {
		mean := int(math.Round(float64(rules) / float64(len(trials))))
		r.Rules = &mean
	}
	if n := s.ofOneClass(rows); n > 0 {
		times *= float64(len(rows)) / float64(n)
		r.note("the rows of a sequence have one class: intervals are those of %d sequences, not of %d rows", n, len(rows))
	}
	r.judge(sum, s.level(), times)
	if missing := s.Table.Rows() - len(labelled(s.Table, s.Target)); missing > 0 {
		r.Rows -= missing
		r.note("%d rows without a known %s were left out", missing, *r.Target)
	}
	r.Framework = framework(s.Table.Schema, s.Target)
	r.Framework.Experience = experience(r.Rows, s.Data)
	return r
}

// ofOneClass returns of how many sequences some rows are, if the rows of each have one
// class: they are one case then, however many they are. 0 where they have several.
func (s *Spec) ofOneClass(rows []int) int {
	if s.Table.Sequence == nil || s.Target == learn.NoTarget || s.Table.Schema.Attributes[s.Target].Kind != table.Nominal {
		return 0
	}
	class, codes := map[int32]int32{}, s.Table.Columns[s.Target].Codes
	for _, r := range rows {
		of := s.Table.Sequence[r]
		if known, ok := class[of]; ok && known != codes[r] {
			return 0
		}
		class[of] = codes[r]
	}
	if len(class) == len(rows) {
		return 0
	}
	return len(class)
}
