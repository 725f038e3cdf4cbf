package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Stream gives rows in batches; io.EOF follows the last. A table.Stream is
// one.
type Stream interface {
	Next() (*table.Table, error)
}

// Batches returns a stream of consecutive batches of a table, all of one size
// but the last.
func Batches(t *table.Table, size int) Stream { return &batches{t, max(size, 1), 0} }

type batches struct {
	table    *table.Table
	size, at int
}

func (b *batches) Next() (*table.Table, error) {
	if b.at >= b.table.Rows() {
		return nil, io.EOF
	}
	lo := b.at
	b.at = min(lo+b.size, b.table.Rows())
	return b.table.Slice(lo, b.at), nil
}

// PrequentialOptions says how rows come.
type PrequentialOptions struct {
	Batch  int     // rows that are tested, then learnt, together; 0 means a hundredth of the table
	Window int     // rows that the windowed measure looks back; 0 means 1000
	Fade   float64 // what a loss is worth one row later; 0 means 0.999
	// DriftRate is the probability of any false alarm that a rule's truth
	// moved, in 100,000 rows; 0 means the constant DriftRate.
	DriftRate float64
}

// Prequence is how a model did as it went: each row was first predicted, then
// learnt.
type Prequence struct {
	Measure string           `json:"measure"` // "accuracy" or "rmse"
	Batch   int              `json:"batch,omitempty"`
	Window  int              `json:"window"`
	Fade    float64          `json:"fade"`
	Points  []PrequencePoint `json:"points"`
	// Drifts are rules whose truth moved while rows came in. Any false
	// alarm in 100,000 rows has at most the probability DriftRate.
	Drifts    []Drift `json:"drifts,omitempty"`
	DriftRate float64 `json:"drift_rate,omitempty"`
}

// PrequencePoint is the measure after so many tested rows: over all of them
// with its interval, over the last window, and with fading memory.
type PrequencePoint struct {
	Rows   int     `json:"rows"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Window float64 `json:"window"`
	Faded  float64 `json:"faded"`
	Units  int     `json:"units,omitempty"` // of the model that was tested last
}

// mostPoints bounds the points of a curve: when there are more, every second
// is dropped and from then on half as many are taken.
const mostPoints = 1024

// Prequential tests, then trains (Dawid 1984; fading and windows after Gama,
// Sebastião and Rodrigues 2013): the first batch is learnt, and every later
// row is predicted by the model of the rows before its batch, then learnt.
// The learner's models must be learn.Updaters. The table's rows are taken in
// their order.
func Prequential(ctx context.Context, spec Spec, options PrequentialOptions) (*Result, error) {
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	if spec.Groups != nil {
		return nil, fmt.Errorf("evaluate: rows that are learnt as they come do not wait for their group; expected folds or held-out rows")
	}
	if spec.Times != nil {
		order, err := inTime(spec.Table, spec.Target, spec.Times)
		if err != nil {
			return nil, err
		}
		spec.Table, spec.Times = spec.Table.Select(order), nil
	}
	if options.Batch == 0 {
		options.Batch = max(spec.Table.Rows()/100, 1)
	}
	r, err := PrequentialStream(ctx, spec, &reported{ctx, Batches(spec.Table, options.Batch), 0, spec.Table.Rows()}, options)
	if err != nil {
		return nil, err
	}
	r.Prequential.Batch = options.Batch
	return r, nil
}

// reported tells how far a stream of a known number of rows has come.
type reported struct {
	ctx      context.Context
	stream   Stream
	done, of int
}

func (s *reported) Next() (*table.Table, error) {
	t, err := s.stream.Next()
	if err == nil {
		s.done += t.Rows()
		learn.Report(s.ctx, float64(s.done)/float64(s.of))
	}
	return t, err
}

// PrequentialStream is Prequential over batches that need not be in memory
// together. The batches' size is the stream's own; later batches may bring
// new values and classes. Spec.Target is the column of the first batch, and
// Spec.Table is not used.
func PrequentialStream(ctx context.Context, spec Spec, stream Stream, options PrequentialOptions) (*Result, error) {
	if options.Window == 0 {
		options.Window = 1000
	}
	if options.Fade == 0 {
		options.Fade = 0.999
	}
	if options.DriftRate == 0 {
		options.DriftRate = DriftRate
	}
	if !(options.DriftRate > 0 && options.DriftRate < 1) {
		return nil, fmt.Errorf("evaluate: a false-alarm rate of %v; expected one between 0 and 1", options.DriftRate)
	}
	if options.Window < 0 || !(options.Fade > 0 && options.Fade <= 1) {
		return nil, fmt.Errorf("evaluate: window %d, fade %v; expected a window of at least 1 row and a fade between 0 and 1", options.Window, options.Fade)
	}
	first, err := next(ctx, stream)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("evaluate: the stream has no rows")
	}
	if err != nil {
		return nil, err
	}
	spec.Table = first
	if err := spec.checkLearner(); err != nil {
		return nil, err
	}
	if spec.Target == learn.NoTarget {
		return nil, errors.New("evaluate: prequential evaluation needs a target to predict")
	}
	var cost trial
	m, err := spec.learn(quiet(ctx), first, spec.Seed, &cost)
	if err != nil {
		return nil, fmt.Errorf("%s, first batch: %w", spec.Learner, err)
	}
	run, err := newPrequent(&spec, m, options)
	if err != nil {
		return nil, err
	}
	run.cost = cost
	run.learnt = first.Rows()
	run.watch.rows = run.learnt // rows are counted from the first of the stream
	if err := run.follow(); err != nil {
		return nil, err
	}
	for {
		batch, err := next(ctx, stream)
		if errors.Is(err, io.EOF) {
			return run.result()
		}
		if err != nil {
			return nil, err
		}
		if err := run.step(quiet(ctx), batch); err != nil {
			return nil, fmt.Errorf("%s, after %d rows: %w", spec.Learner, run.learnt, err)
		}
	}
}

// next returns the next batch that has rows.
func next(ctx context.Context, s Stream) (*table.Table, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := s.Next()
		if err != nil || t.Rows() > 0 {
			return t, err
		}
	}
}

// quiet keeps a learner's own progress from being taken for the whole's.
func quiet(ctx context.Context) context.Context { return learn.WithProgress(ctx, func(float64) {}) }

// prequent is a prequential run under way.
type prequent struct {
	spec    *Spec
	options PrequentialOptions
	model   learn.Model
	update  learn.Update
	tally   *tally
	cost    trial
	learnt  int
	tested  int

	window              []weighed // ring of the last losses
	at                  int
	windowLoss, windowN float64
	fadedLoss, fadedN   float64

	points []PrequencePoint
	stride int // steps between points
	steps  int

	watch     *Watch         // of the rules of the models so far
	followed  int            // rows learnt when rules were last taken up
	unwatched []*table.Table // batches that it has yet to see: rules are looked up for many rows at once
	waiting   int            // rows of these
}

// weighed is a row's loss: 1 or 0 for classes, the squared error for numbers.
type weighed struct{ loss, weight float64 }

func newPrequent(spec *Spec, m learn.Model, options PrequentialOptions) (*prequent, error) {
	u, ok := learn.Ability[learn.Updater](m)
	if !ok {
		return nil, fmt.Errorf("evaluate: models of %s cannot be updated; prequential evaluation needs a learner that can", m.Learner())
	}
	update, err := u.Begin(learn.Source{ID: "prequential", Name: spec.Data})
	if err != nil {
		return nil, err
	}
	p := &prequent{spec: spec, options: options, model: m, update: update, stride: 1, watch: NewWatch(options.DriftRate)}
	names := classNames(spec.Table, spec.Target, dictionary(m.Schema(), m.Target()))
	p.tally = newTally(spec.Table.Schema, spec.Target, names, middle(spec.Table, spec.Target), spec.bins())
	p.tally.costs = spec.Costs
	return p, nil
}

// step tests a batch, then learns it.
func (p *prequent) step(ctx context.Context, batch *table.Table) error {
	start := p.spec.now()
	if err := p.test(ctx, batch); err != nil {
		return err
	}
	learning := p.spec.now()
	p.cost.predict += learning.Sub(start)
	p.show(batch)
	grown := batch
	if batch.Schema != p.model.Schema() {
		var err error
		if grown, _, err = table.Conform(batch, p.model.Schema(), true); err != nil {
			return err
		}
	}
	if err := p.update.Add(ctx, grown); err != nil {
		return err
	}
	m, err := p.update.Freeze(ctx)
	if err != nil {
		return err
	}
	p.model = m
	p.learnt += batch.Rows()
	p.cost.train += p.spec.now().Sub(learning)
	if p.learnt >= 2*p.followed {
		return p.follow()
	}
	return nil
}

// watchRows are the rows that rules are looked up for at once, where they come one by one.
const watchRows = 256

// show gives a batch to the watch, at the latest when there are enough rows.
func (p *prequent) show(batch *table.Table) {
	if len(p.unwatched) > 0 && p.unwatched[0].Schema != batch.Schema {
		p.showAll()
	}
	p.unwatched, p.waiting = append(p.unwatched, batch), p.waiting+batch.Rows()
	if p.waiting >= watchRows {
		p.showAll()
	}
}

// showAll gives the watch what it has yet to see.
func (p *prequent) showAll() {
	if len(p.unwatched) > 0 {
		p.watch.Add(table.Together(p.unwatched))
	}
	p.unwatched, p.waiting = p.unwatched[:0], 0
}

// follow takes up the rules that the model has now. What they were learnt from
// does not count: they were chosen because they look good on it.
func (p *prequent) follow() error {
	p.showAll()
	p.followed = p.learnt
	r, ok := learn.Ability[learn.Ruler](p.model)
	if !ok {
		return nil
	}
	base, err := r.Rules()
	if err != nil {
		return err
	}
	p.watch.Follow(base, p.model.Schema().Attributes[p.model.Target()].Name, false)
	return nil
}

// test predicts a batch and takes its losses in, row by row.
func (p *prequent) test(ctx context.Context, batch *table.Table) error {
	target := p.spec.Target
	if batch.Schema != p.spec.Table.Schema {
		name := p.spec.Table.Schema.Attributes[target].Name
		if target = batch.Schema.Index(name); target < 0 {
			return fmt.Errorf("a batch has no column %q", name)
		}
	}
	if p.tally.kind == classes {
		p.tally.extend(classNames(batch, target, p.tally.names, dictionary(p.model.Schema(), p.model.Target()), dictionary(batch.Schema, target)))
	}
	losses := make([]float64, batch.Rows())
	if err := p.tally.test(ctx, p.model, batch, target, losses); err != nil {
		return err
	}
	for r, loss := range losses {
		if !unlabelled(batch, target, r) {
			p.take(weighed{loss, batch.Weight(r)})
		}
	}
	p.steps++
	if p.steps%p.stride == 0 && p.tally.weight > 0 {
		p.record()
	}
	return nil
}

// take moves the window and the fading sums on by a row.
func (p *prequent) take(x weighed) {
	p.tested++
	p.fadedLoss = p.options.Fade*p.fadedLoss + x.weight*x.loss
	p.fadedN = p.options.Fade*p.fadedN + x.weight
	if len(p.window) < p.options.Window {
		p.window = append(p.window, x)
	} else {
		old := p.window[p.at]
		p.windowLoss -= old.weight * old.loss
		p.windowN -= old.weight
		p.window[p.at] = x
		p.at = (p.at + 1) % p.options.Window
		if p.at == 0 { // what was taken off again leaves rounding errors behind
			p.windowLoss, p.windowN = 0, 0
			for _, w := range p.window[:len(p.window)-1] {
				p.windowLoss += w.weight * w.loss
				p.windowN += w.weight
			}
			x = p.window[len(p.window)-1]
		}
	}
	p.windowLoss += x.weight * x.loss
	p.windowN += x.weight
}

// record adds a point to the curve.
func (p *prequent) record() {
	var r Result
	r.judge(p.tally, p.spec.level(), 1)
	value, low, high := r.figure(measure(p.tally.kind))
	if value == nil { // errors too large to be squared
		return
	}
	point := PrequencePoint{Rows: p.tested, Value: *value, Low: *value, High: *value, Units: p.model.Size().Units}
	if low != nil && high != nil {
		point.Low, point.High = *low, *high
	}
	point.Window = p.figure(p.windowLoss, p.windowN, point.Value)
	point.Faded = p.figure(p.fadedLoss, p.fadedN, point.Value)
	p.points = append(p.points, point)
	if len(p.points) > mostPoints {
		kept := p.points[:0]
		for i := 1; i < len(p.points); i += 2 {
			kept = append(kept, p.points[i])
		}
		p.points = kept
		p.stride *= 2
	}
}

// figure turns a mean loss into the measure; where nothing weighs anything it
// is the value over all rows.
func (p *prequent) figure(loss, n, otherwise float64) float64 {
	if !(n > 0) {
		return otherwise
	}
	if p.tally.kind == classes {
		return 1 - loss/n
	}
	return math.Sqrt(max(loss/n, 0))
}

// result sums up the run.
func (p *prequent) result() (*Result, error) {
	p.showAll()
	if p.tally.weight == 0 {
		return nil, fmt.Errorf("evaluate: all %d rows came in the first batch; prequential evaluation needs some to test: use smaller batches", p.learnt)
	}
	if n := len(p.points); n == 0 || p.points[n-1].Rows != p.tested {
		p.record()
	}
	s := p.spec
	r := &Result{
		Data: s.Data, Target: targetName(s.Table.Schema, s.Target), Learner: s.Learner, Seed: s.Seed,
		Rows: p.learnt, TrainRows: p.learnt, TestRows: p.tested,
		TrainSeconds: p.cost.train.Seconds(), PredictSeconds: p.cost.predict.Seconds(),
	}
	if _, ok := learn.Ability[learn.Ruler](p.model); ok || p.model.Size().Rules > 0 {
		rules := p.model.Size().Rules
		r.Rules = &rules
	}
	r.judge(p.tally, s.level(), 1)
	r.Framework = framework(s.Table.Schema, s.Target)
	r.Framework.Experience = experience(p.learnt, s.Data)
	r.constantInHindsight(p.tally)
	r.note("each row was predicted before it was learnt; the interval takes the %d tests as independent, though the model changed on the way", p.tested)
	if said, ok := learn.Ability[learn.Remarker](p.model); ok {
		remarks, err := said.Remarks()
		if err != nil {
			return nil, err
		}
		if len(remarks) > 0 { // the first is about the whole
			r.note("%s", remarks[0])
		}
	}
	r.Prequential = &Prequence{Measure: measure(p.tally.kind), Window: p.options.Window, Fade: p.options.Fade, Points: p.points, Drifts: p.watch.Drifts(), DriftRate: p.options.DriftRate}
	return r, nil
}

// extend makes room for more classes.
func (t *tally) extend(names []string) {
	if len(names) == len(t.names) {
		return
	}
	counts := make([]float64, len(names)*len(names))
	for i := range t.names {
		copy(counts[i*len(names):], t.counts[i*len(t.names):(i+1)*len(t.names)])
	}
	t.names, t.counts = names, counts
}
