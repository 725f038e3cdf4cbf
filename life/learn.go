package life

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/evaluate"
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
	Keep   bool   // a copy of the data, so that it can be read again
}

// NewLearnt is a model that was learnt, with the table that it learnt from.
type NewLearnt struct {
	Learnt
	Table    *table.Table     `json:"-"`
	Estimate *evaluate.Result `json:"-"` // nil where it makes no sense
}

// Learn learns a model and keeps it; then it judges the learner on rows that it
// has not seen. If that fails or is interrupted, the model is kept all the
// same, and returned with the error.
func (h *Home) Learn(ctx context.Context, o LearnOptions) (*NewLearnt, error) {
	name := cmp.Or(o.Name, o.Data.Base())
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	if o.Keep {
		defer o.Data.Release()
		if err := o.Data.Stage(ctx); err != nil {
			return nil, err
		}
	}
	l, err := h.Lesson(ctx, o.Data, o.Target, o.Choice)
	if err != nil {
		return nil, err
	}
	versions, _ := h.Store.Log(name) // a model that does not exist yet has learnt nothing
	h.warnLearntBefore(versions, l.Report.Hash, o.Data.Arg)
	m, record, err := h.learn(ctx, l, o)
	if err != nil {
		return nil, err
	}
	var v store.Version
	err = h.Store.Write(ctx, name, func(tx *store.Tx) error {
		if o.Keep {
			if err := h.keep(tx, o.Data, l.Report.Hash); err != nil {
				return err
			}
		}
		v, err = tx.Save(m, record)
		return err
	})
	if err != nil {
		return nil, err
	}
	learnt := &NewLearnt{Learnt: *h.newLearnt(&Part{m, name, v, []store.Version{v}}, store.Version{}), Table: l.Table}
	if learnt.Estimate, err = h.estimate(ctx, l, o.Folds); err != nil {
		return learnt, fmt.Errorf("%v is kept, but its accuracy was not estimated: %w", v, err)
	}
	if e := learnt.Estimate; e != nil {
		learnt.Accuracy, learnt.Low, learnt.High, learnt.RMSE = e.Accuracy, e.AccuracyLow, e.AccuracyHigh, e.RMSE
	}
	return learnt, nil
}

// LearnInMemory learns a model that no store keeps.
func (h *Home) LearnInMemory(ctx context.Context, o LearnOptions) (*Part, error) {
	l, err := h.Lesson(ctx, o.Data, o.Target, o.Choice)
	if err != nil {
		return nil, err
	}
	m, v, err := h.learn(ctx, l, o)
	if err != nil {
		return nil, err
	}
	return h.unkept(m, cmp.Or(o.Name, o.Data.Base()), v, nil), nil
}

// unkept is a part whose newest version no store has numbered.
func (h *Home) unkept(m learn.Model, name string, v store.Version, before []store.Version) *Part {
	v.Model, v.Number, v.Learner = name, len(before)+1, m.Learner()
	if m.Target() != learn.NoTarget {
		v.Target = m.Schema().Attributes[m.Target()].Name
	}
	size := m.Size()
	v.Rows, v.Rules, v.Units = size.Rows, size.Rules, size.Units
	return &Part{m, name, v, append(slices.Clip(before), v)}
}

// learn makes the model of a lesson, and the record of it.
func (h *Home) learn(ctx context.Context, l *Lesson, o LearnOptions) (learn.Model, store.Version, error) {
	h.warnOneClass(l.Table, l.Target)
	at := h.now()
	if err := h.hear(l, o.Rules); err != nil {
		return nil, store.Version{}, err
	}
	source := h.newSource(o.Data, l.Report.Hash, float64(l.Table.Rows()))
	bar, done := h.progress("learning")
	defer done()
	m, err := l.learner.Learn(learn.WithProgress(ctx, bar), learn.Task{
		Table: l.Table, Source: learn.Source{ID: source.ID, Name: source.Name}, Seed: h.Seed}.At(l.Target))
	return m, store.Version{
		Kind: store.Learn, Source: source, At: at, Seed: h.Seed, Settings: withWeight(l.Settings, o.Data.Reading.Weight), History: l.told,
	}, err
}

// warnOneClass says when there is nothing to tell apart.
func (h *Home) warnOneClass(t *table.Table, target int) {
	if target == learn.NoTarget || t.Schema.Attributes[target].Kind == table.Numeric {
		return
	}
	if shares := ClassShares(t, target); len(shares) > 0 && shares[0].Share == 1 {
		at := &t.Schema.Attributes[target]
		h.note(fmt.Sprintf("every row has the class %s = %s: there is nothing to tell apart", at.Name, shares[0].Class))
	}
}

// ClassShare is how much of a table a class makes up.
type ClassShare struct {
	Class         string
	Weight, Share float64
}

// ClassShares returns the classes of a nominal target, the most frequent one
// first.
func ClassShares(t *table.Table, target int) []ClassShare {
	values := t.Schema.Attributes[target].Values
	shares := make([]ClassShare, len(values))
	total := 0.0
	for c := range shares {
		shares[c].Class = values[c]
	}
	for r, c := range t.Columns[target].Codes {
		if c >= 0 {
			shares[c].Weight += t.Weight(r)
			total += t.Weight(r)
		}
	}
	for c := range shares {
		shares[c].Share = shares[c].Weight / total
	}
	slices.SortStableFunc(shares, func(a, b ClassShare) int { return cmp.Compare(b.Weight, a.Weight) })
	return shares
}

// manyRows is where folds give way to a held-out third: the interval is
// narrow enough, and waiting ten times as long is not worth it.
const manyRows = 20000

// estimate judges the learner on rows that it has not seen. It returns nil
// where that makes no sense: not asked for, a density, or too few rows.
func (h *Home) estimate(ctx context.Context, l *Lesson, folds int) (*evaluate.Result, error) {
	rows := l.Table.Rows()
	if folds == 0 || l.Target == learn.NoTarget || rows < 10 {
		return nil, nil
	}
	bar, done := h.progress("estimating accuracy")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	if folds < 0 && rows > manyRows {
		return evaluate.HoldOut(ctx, h.Spec("", l), evaluate.HoldOutOptions{TestShare: 1. / 3, Repeats: 1})
	}
	if folds < 0 {
		folds = 5
	}
	return evaluate.CrossValidate(ctx, h.Spec("", l), folds)
}
