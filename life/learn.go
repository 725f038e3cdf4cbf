package life

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Learnt is what became of a model: what is said of a new version.
type Learnt struct {
	Model    string   `json:"model"`
	Version  int      `json:"version"`
	Learner  string   `json:"learner"`
	Target   *string  `json:"target"`
	Rows     float64  `json:"rows"`
	Rules    int      `json:"rules"`
	Units    int      `json:"units"`
	Seconds  float64  `json:"seconds"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Low      *float64 `json:"accuracy_low,omitempty"`
	High     *float64 `json:"accuracy_high,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	// K is how many rows answer, where a model answers by the nearest ones.
	K float64 `json:"k,omitempty"`
	// Drifts are rules whose truth moved with the rows of an update.
	Drifts []evaluate.Drift `json:"drifts,omitempty"`
	// Remarks are what the model says of the rows that it learnt last.
	Remarks []fmt.Stringer `json:"remarks,omitempty"`

	// Preview says that nothing was changed, and Effect what the change does,
	// or would do, to answers.
	Preview bool    `json:"preview,omitempty"`
	Effect  *Effect `json:"effect,omitempty"`

	// Part is the model itself, and Before the version that it was made of.
	Part   *Part         `json:"-"`
	Before store.Version `json:"-"`
}

func (h *Home) newLearnt(p *Part, before store.Version) *Learnt {
	v := p.Version
	l := &Learnt{
		Model: v.Model, Version: v.Number, Learner: v.Learner,
		Rows: v.Rows, Rules: v.Rules, Units: v.Units, Seconds: h.now().Sub(v.At).Seconds(),
		Part: p, Before: before,
	}
	if p.Target() != learn.NoTarget {
		l.Target = &p.Schema().Attributes[p.Target()].Name
	}
	if c, ok := learn.Ability[learn.CaseBased](p.Model); ok {
		l.K = c.K()
	}
	l.Remarks, _ = Remarks(p.Model) // a model that cannot tell says nothing
	return l
}

// Remarks returns what a model has to say of the rows that it learnt last.
func Remarks(m learn.Model) ([]fmt.Stringer, error) {
	if r, ok := learn.Ability[learn.Remarker](m); ok {
		return r.Remarks()
	}
	return nil, nil
}

// LearnOptions say what to learn, from what.
type LearnOptions struct {
	Data   *Data
	Target string
	Choice Choice
	Rules  *Rules // what an expert knows, or nil
	Name   string // of the model; "" is the data's
	Folds  int    // of the estimate of accuracy; 0 for none, below 0 for what suits the table
	// Replace lets a model of another learner or target have more versions.
	Replace bool
	// Division is how rows are kept together or in time for the estimate; none
	// is what the columns say (FindDivision).
	Division Division
	Keep     bool // a copy of the data, so that it can be read again
	Version  int  // that it is a change of, as in an Edit
}

// NewLearnt is a model that was learnt, and what it learnt from.
type NewLearnt struct {
	Learnt
	Read    int          `json:"-"` // rows
	Columns int          `json:"-"`
	Shares  []ClassShare `json:"-"` // of a nominal target
	// Table has the rows; nil if they were many, and learnt as they came.
	Table    *table.Table     `json:"-"`
	Estimate *evaluate.Result `json:"-"`               // nil where it makes no sense
	Group    string           `json:"group,omitempty"` // column by which the estimate keeps rows together,
	Time     string           `json:"time,omitempty"`  // or in time
	// Dropped rows have no answer; Warnings are of the data.
	Dropped  int       `json:"dropped,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// Learn learns a model and keeps it; then it judges the learner on rows that it
// has not seen. If that fails or is interrupted, the model is kept all the
// same, and returned with the error.
func (h *Home) Learn(ctx context.Context, o LearnOptions) (*NewLearnt, error) {
	name := cmp.Or(o.Name, o.Data.Base())
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	o.Choice.Rules = o.Rules
	o.Choice = h.withTheory(ctx, o.Choice)
	o.Rules, o.Choice.Rules = o.Choice.Rules, nil // what is told is recorded
	if o.Keep {
		defer o.Data.Release()
		if err := o.Data.Stage(ctx); err != nil {
			return nil, err
		}
	}
	versions, _ := h.Store.Log(name) // a model that does not exist yet has learnt nothing
	if err := Unchanged(versions, o.Version); err != nil {
		return nil, err
	}
	made, err := h.learn(ctx, o, versions)
	if err != nil {
		return nil, err
	}
	var v store.Version
	err = h.Store.Write(ctx, name, func(tx *store.Tx) error {
		if since, _ := h.Store.Log(name); o.Version != 0 {
			if err := Unchanged(since, o.Version); err != nil {
				return err
			}
		}
		if o.Keep {
			if err := h.keep(tx, o.Data, made.record.Source.Hash); err != nil {
				return err
			}
		}
		v, err = tx.Save(made.model, made.record)
		return err
	})
	if err != nil {
		return nil, err
	}
	learnt := &NewLearnt{
		Learnt: *h.newLearnt(&Part{Model: made.model, Name: name, Version: v, Versions: []store.Version{v}}, store.Version{}),
		Read:   made.rows, Columns: made.columns, Shares: shares(made.classes, made.weights), Table: made.table,
	}
	if err := h.warn(ctx, learnt, made, o.Data); err != nil {
		return learnt, err
	}
	if _, acts := learn.Ability[policy](made.model); acts || made.estimate == nil {
		return learnt, nil // how often a policy does as the log did says nothing of it
	}
	var by Division
	learnt.Estimate, by, err = made.estimate(ctx)
	learnt.Group, learnt.Time = by.Group, by.Time
	if err != nil {
		return learnt, fmt.Errorf("%v is kept, but its accuracy was not estimated: %w", v, err)
	}
	if e := learnt.Estimate; e != nil {
		learnt.Accuracy, learnt.Low, learnt.High, learnt.RMSE = e.Accuracy, e.AccuracyLow, e.AccuracyHigh, e.RMSE
	}
	return learnt, nil
}

// LearnInMemory learns a model that no store keeps.
func (h *Home) LearnInMemory(ctx context.Context, o LearnOptions) (*Part, error) {
	o.Folds = 0
	made, err := h.learn(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	return h.unkept(made.model, cmp.Or(o.Name, o.Data.Base()), made.record, nil), nil
}

// unkept is a part whose newest version no store has numbered.
func (h *Home) unkept(m learn.Model, name string, v store.Version, before []store.Version) *Part {
	v.Model, v.Number, v.Learner = name, len(before)+1, m.Learner()
	if m.Target() != learn.NoTarget {
		v.Target = m.Schema().Attributes[m.Target()].Name
	}
	size := m.Size()
	v.Rows, v.Rules, v.Units = size.Rows, size.Rules, size.Units
	return &Part{Model: m, Name: name, Version: v, Versions: append(slices.Clip(before), v)}
}

// lectured is a model that was made, and of what.
type lectured struct {
	model    learn.Model
	record   store.Version
	estimate func(ctx context.Context) (*evaluate.Result, Division, error) // nil if there is to be none

	table   *table.Table // nil if rows were learnt as they came
	report  *table.Report
	target  int
	dropped int // rows without an answer
	rows    int
	columns int
	classes []string // of a nominal target
	weights []float64
}

// count adds up the rows of a batch.
func (m *lectured) count(t *table.Table, target int) {
	m.rows += t.Rows()
	m.columns = len(t.Columns)
	if target != learn.NoTarget {
		m.dropped += unanswered(t, target)
	}
	if target == learn.NoTarget || t.Schema.Attributes[target].Kind == table.Numeric {
		return
	}
	m.classes = t.Schema.Attributes[target].Values
	m.weights = append(m.weights, make([]float64, len(m.classes)-len(m.weights))...)
	for r, c := range t.Columns[target].Codes {
		if c >= 0 {
			m.weights[c] += t.Weight(r)
		}
	}
}

// learn makes a model of data, the record of it, and what judges it.
func (h *Home) learn(ctx context.Context, o LearnOptions, versions []store.Version) (*lectured, error) {
	l, rest, err := h.attend(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := l.replaces(versions, o.Replace); err != nil {
		if rest != nil {
			rest.Close()
		}
		return nil, err
	}
	h.warnLearntBefore(versions, l.Report.Hash, o.Data.Arg)
	var made *lectured
	if rest != nil {
		defer rest.Close()
		made, err = h.learnStream(ctx, l, rest, o)
	} else {
		err = h.within(ctx, l, func(ctx context.Context) (err error) {
			made, err = h.learnTable(ctx, l, o)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if all := shares(made.classes, made.weights); len(all) > 0 && all[0].Share == 1 {
		h.note(fmt.Sprintf("every row has the class %s = %s: there is nothing to tell apart", l.Table.Schema.Attributes[l.Target].Name, all[0].Class))
	}
	return made, nil
}

// replaces returns an error if a model of this name does something else, and
// nobody said that it is to be replaced.
func (l *Lesson) replaces(versions []store.Version, replace bool) error {
	if len(versions) == 0 || replace {
		return nil
	}
	is, target := versions[len(versions)-1], ""
	if l.Target != learn.NoTarget {
		target = l.Table.Schema.Attributes[l.Target].Name
	}
	if is.Learner == l.Info.Name && is.Target == target {
		return nil
	}
	return &remedy.Error{Err: fmt.Errorf("the model %s is %s; this would make it %s", is.Model, does(is.Learner, is.Target), does(l.Info.Name, target)), Remedy: Remedy{Kind: remedy.ReplaceModel}, Misuse: true}
}

// does says what a model is.
func does(learner, target string) string {
	if target == "" {
		return learner + " of all columns together"
	}
	return fmt.Sprintf("%s for %q", learner, target)
}

// learnTable makes the model of a lesson that has all rows.
func (h *Home) learnTable(ctx context.Context, l *Lesson, o LearnOptions) (*lectured, error) {
	at := h.now()
	if err := h.hear(ctx, l, o.Rules); err != nil {
		return nil, err
	}
	made := &lectured{table: l.Table, estimate: func(ctx context.Context) (r *evaluate.Result, by Division, err error) {
		judged := *l
		err = h.within(ctx, &judged, func(ctx context.Context) error {
			r, by, err = h.estimate(ctx, &judged, o)
			return err
		})
		return r, by, err
	}}
	made.count(l.Table, l.Target)
	made.report, made.target = l.Report, l.Target
	source := h.newSource(o.Data, l.Report.Hash, float64(made.rows))
	bar, done := h.progress("learning")
	defer done()
	made.record = store.Version{
		Kind: store.Learn, Source: source, At: at, Seed: h.Seed, Settings: withSnapshot(withReading(withoutModels(l.Info, l.Settings), o.Data.Reading), l.Report), History: l.told, By: h.Who,
	}
	made.record.Settings = withDivision(made.record.Settings, o.Division, leftOut(l.Report, o.Data.Reading))
	var err error
	made.model, err = l.learner.Learn(learn.WithProgress(ctx, bar), learn.Task{
		Table: l.Table, Source: learn.Source{ID: source.ID, Name: source.Name}, Seed: h.Seed}.At(l.Target))
	return made, err
}

// ClassShare is how much of a table a class makes up.
type ClassShare struct {
	Class         string
	Weight, Share float64
}

// shares returns what share of the rows each class is, the most frequent first.
func shares(classes []string, weights []float64) []ClassShare {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	all := make([]ClassShare, len(classes))
	for c, name := range classes {
		all[c] = ClassShare{name, weights[c], weights[c] / total}
	}
	slices.SortStableFunc(all, func(a, b ClassShare) int { return cmp.Compare(b.Weight, a.Weight) })
	return all
}

// manyRows is where folds give way to a held-out third: the interval is
// narrow enough, and waiting ten times as long is not worth it.
const manyRows = 20000

// estimate judges the learner on rows that it has not seen. It returns nil
// where that makes no sense: not asked for, a density, or too few rows. Rows are
// kept together or in time by the division that it returns.
func (h *Home) estimate(ctx context.Context, l *Lesson, o LearnOptions) (*evaluate.Result, Division, error) {
	folds := o.Folds
	rows, units := l.Table.Rows(), 0 // units are never divided: rows, or sequences
	l.Table.Groups(func(int, int) { units++ })
	if folds == 0 || l.Target == learn.NoTarget || rows < 10 || folds < 0 && units < 2 {
		return nil, Division{}, nil
	}
	bar, done := h.progress("estimating accuracy")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	spec := h.Spec("", l)
	by, err := h.divideEstimate(ctx, o.Data, l, o.Division, &spec)
	if err != nil {
		return nil, by, err
	}
	judge := func() (*evaluate.Result, error) {
		if folds < 0 && rows > manyRows {
			return evaluate.HoldOut(ctx, spec, evaluate.HoldOutOptions{TestShare: 1. / 3, Repeats: 1})
		}
		if folds < 0 {
			return evaluate.CrossValidate(ctx, spec, min(5, units))
		}
		return evaluate.CrossValidate(ctx, spec, folds)
	}
	r, err := judge()
	if err != nil && ctx.Err() == nil && by != o.Division { // nobody asked for what cannot be done
		h.note(fmt.Sprintf("rows are not kept apart by %q in the estimate: %v", by.Group+by.Time, err))
		spec.Groups, spec.Times, by = nil, nil, Division{}
		r, err = judge()
	}
	return r, by, err
}
