package linear

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Classes predicts a class. It is immutable.
type Classes struct {
	settings settings
	rows     *kept.Later // nil: not kept
	schema   *table.Schema
	target   int
	counts   []float64 // weight of each class
	seen     []int     // classes that have some, which the plane's outputs are
	fates    []fate
	spread   []float64 // deviation of each term
	plane    *plane
}

var (
	_ learn.Updater   = (*Classes)(nil)
	_ learn.Ruler     = (*Classes)(nil)
	_ learn.Explainer = (*Classes)(nil)
	_ learn.Merger    = (*Classes)(nil)
	_ learn.Forgetter = (*Classes)(nil)
	_ learn.Drawer    = (*Classes)(nil)
	_ learn.Remarker  = (*Classes)(nil)
	_ learn.Keeper    = (*Classes)(nil)
	_ kept.Shedder    = (*Classes)(nil)
)

// learnRows learns classes from rows that were gathered: a function of the
// multiset of rows and the settings.
func learnRows(ctx context.Context, rows *kept.Rows, target string, s settings) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m, err := learnTable(ctx, t, target, s)
	if err != nil {
		return nil, err
	}
	if s.Keep == "rows" {
		m.rows = kept.Now(rows)
	}
	learn.Report(ctx, 1)
	return m, nil
}

// learnTable learns classes from the rows of a table in canonical form.
func learnTable(ctx context.Context, t *table.Table, target string, s settings) (*Classes, error) {
	m := &Classes{settings: s, schema: t.Schema, target: t.Schema.Index(target)}
	if m.target < 0 || t.Schema.Attributes[m.target].Kind != table.Nominal {
		return nil, fmt.Errorf("no source has the target %q with classes", target)
	}
	if err := checkTerms(t.Schema, m.target, s.Degree); err != nil {
		return nil, err
	}
	m.counts = make([]float64, len(m.classes()))
	for r, class := range t.Columns[m.target].Codes {
		if class < 0 {
			return nil, fmt.Errorf("a row without a class was kept")
		}
		m.counts[class] += t.Weight(r)
	}
	for c, w := range m.counts {
		if w > 0 {
			m.seen = append(m.seen, c)
		}
	}
	if len(m.seen) == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	of := newBlock(learn.Source{}, newLayout(t.Schema, m.target, s.Degree))
	if err := of.learn(ctx, t); err != nil {
		return nil, err
	}
	if err := m.fit(ctx, t, of); err != nil {
		return nil, err
	}
	return m, nil
}

// fit finds the weights.
func (m *Classes) fit(ctx context.Context, t *table.Table, of *block) error {
	c, err := of.choose(ctx)
	if err != nil {
		return err
	}
	m.fates, m.spread = c.fates, c.deviation
	m.plane = newPlane(of.layout, of.frames, of.mean, len(m.seen))
	if len(m.seen) == 1 {
		return nil
	}
	l := newLogit(t, of, c, m)
	if err := l.minimise(ctx); err != nil {
		return err
	}
	m.plane.weigh(l.spread(m.plane))
	return nil
}

func (m *Classes) classes() []string { return m.schema.Attributes[m.target].Values }

// Learner returns "linear".
func (m *Classes) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Classes) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted column.
func (m *Classes) Target() int { return m.target }

// Size counts the rows and the rules.
func (m *Classes) Size() learn.Size {
	total := 0.0
	for _, w := range m.counts {
		total += w
	}
	return learn.Size{Rows: total, Rules: m.plane.ruleCount() + len(m.seen)}
}

// Predict answers with the softmax of the classes' scores. A class without rows
// has the probability 0.
func (m *Classes) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.classes())
	if out.Classes != k || len(out.P) < rows*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*k, k)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		scores := make([]float64, len(m.seen))
		for r := lo; r < hi; r++ {
			m.plane.scores(t.Columns, r, scores)
			logsum.Normalise(scores)
			p := out.Row(r)
			clear(p)
			for i, c := range m.seen {
				p[c] = scores[i]
			}
		}
	})
}

// Relearning says how the weights are learnt again from the rows that are kept.
func (m *Classes) Relearning() kept.Relearning {
	rows, err := m.rows.Rows(context.Background())
	return kept.Relearning{
		Rows: rows, Failed: err, Noun: "linear model", Settings: m.settings,
		Without: "this linear model kept no rows (keep=nothing), so it cannot %s; learn it again with keep=rows",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.schema.Attributes[m.target].Name, m.settings)
		},
	}
}

// Begin starts to learn more rows.
func (m *Classes) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the model of all models' rows.
func (m *Classes) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the weights were learnt from, nil if none are kept.
func (m *Classes) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Classes) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the model of the other sources' rows.
func (m *Classes) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Promise is exact as long as the rows are kept.
func (m *Classes) Promise() learn.Promise { return kept.Promise(m) }

// Shed returns the weights without the rows that they were learnt from.
func (m *Classes) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows, bare.settings.Keep = nil, "nothing"
	return &bare, m.rows != nil, nil
}

// classesUpdate gathers the first rows of a model of classes.
type classesUpdate struct {
	schema    *table.Schema
	target    string
	settings  settings
	gathering *kept.Gathering
}

// KeepsRows says that rows are held until they are learnt (kept.Holder).
func (u *classesUpdate) KeepsRows() {}

// learn returns the model of a whole table. Rows that are told apart, of classes that
// Newton's method tells, are learnt where they stand, and a copy is kept that is put in
// order when somebody first asks for it: that method finds the same weights, in whatever
// order rows are summed up. Other rows are put in order first.
func (u *classesUpdate) learn(ctx context.Context, t *table.Table) (learn.Model, error) {
	target := t.Schema.Index(u.target)
	if !toldApart(t, target) || !curvable(len(t.Schema.Attributes[target].Values), varied(t, target, u.settings.Degree)) {
		if err := u.Add(ctx, t); err != nil {
			return nil, err
		}
		return u.Freeze(ctx)
	}
	stand, err := kept.Canonical(t)
	if err != nil {
		return nil, err
	}
	m, err := learnTable(ctx, stand, u.target, u.settings)
	if err != nil {
		return nil, err
	}
	if u.settings.Keep == "rows" {
		m.rows = u.gathering.Later(t)
	}
	learn.Report(ctx, 1)
	return m, nil
}

// varied is how many terms of a table's cells can vary.
func varied(t *table.Table, target, degree int) int {
	l := newLayout(t.Schema, target, degree)
	for j, c := range t.Columns {
		if l.count(j) > 0 && c.Floats != nil && !slices.ContainsFunc(c.Floats, table.IsMissing) {
			l.terms-- // that it is missing
		}
	}
	return l.terms
}

// toldApart reports whether few rows of a table can be equal, as a column of
// numbers differs in most of the first ones, and all of them count once.
func toldApart(t *table.Table, target int) bool {
	if t.Weights != nil || t.Rows() < firstRows || slices.Contains(t.Columns[target].Codes, table.Missing) {
		return false
	}
	some := make([]float64, firstRows)
	return slices.ContainsFunc(t.Columns, func(c table.Column) bool {
		if c.Floats == nil {
			return false
		}
		copy(some, c.Floats)
		slices.Sort(some)
		return len(slices.Compact(some)) > firstRows/2
	})
}

// firstRows are looked at to see whether rows are told apart.
const firstRows = 256

// Add takes in the table's rows.
func (u *classesUpdate) Add(ctx context.Context, t *table.Table) error {
	if !slices.Equal(u.schema.Names(), t.Schema.Names()) {
		return fmt.Errorf("the table's columns are not those that learning started with")
	}
	return u.gathering.Add(ctx, t)
}

// Freeze learns the rows so far.
func (u *classesUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, u.target, u.settings)
}
