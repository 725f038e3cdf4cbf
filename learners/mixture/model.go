package mixture

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is components with their shares of the rows. It is immutable.
type Model struct {
	settings   settings
	components []learn.Density
	sources    []source
	logs       []float64 // ln π of each component
	weight     float64
}

// source is what a source brought: the weight that each component has of it.
type source struct {
	of     learn.Source
	shares []float64
}

var (
	_ learn.Density   = (*Model)(nil)
	_ learn.Updater   = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Asker     = (*Model)(nil)
	_ learn.Remarker  = (*Model)(nil)
)

// enlist takes a component in.
func (m *Model) enlist(of learn.Model) error {
	d, ok := of.(learn.Density)
	if !ok || of.Target() != learn.NoTarget {
		return fmt.Errorf("component %d is no density", len(m.components)+1)
	}
	m.components = append(m.components, d)
	return nil
}

// weigh works out the components' shares of all rows.
func (m *Model) weigh() error {
	total := make([]float64, len(m.components))
	m.weight = 0
	for _, s := range m.sources {
		for c, w := range s.shares {
			total[c] += w
			m.weight += w
		}
	}
	if !(m.weight > 0 && m.weight <= 1e18) {
		return fmt.Errorf("no rows are left to learn from, or they weigh too much (%v)", m.weight)
	}
	m.logs = make([]float64, len(total))
	for c, w := range total {
		m.logs[c] = math.Log(max(w, least) / m.weight)
	}
	return nil
}

// Learner returns the name of the learner.
func (m *Model) Learner() string { return Name }

// Schema returns the columns.
func (m *Model) Schema() *table.Schema { return m.components[0].Schema() }

// Target returns learn.NoTarget.
func (m *Model) Target() int { return learn.NoTarget }

// Size counts the components as units.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: math.Round(m.weight*1e6) / 1e6, Units: len(m.components)} // shares of a row add up to it, but for rounding
}

// Predict has nothing to predict; Decode tells the components of rows.
func (m *Model) Predict(_ context.Context, t *table.Table, _ *learn.Predictions) error {
	return table.Fits(m.Schema(), t)
}

// LogDensity fills out with the log of the density of each row, in a sequence
// given those before it.
func (m *Model) LogDensity(ctx context.Context, t *table.Table, out []float64) error {
	if err := m.fits(t, len(out), 1); err != nil {
		return err
	}
	logs, err := m.share(ctx, t, make([]float64, t.Rows()*len(m.components)))
	copy(out, logs)
	return err
}

func (m *Model) fits(t *table.Table, room, each int) error {
	if err := table.Fits(m.Schema(), t); err != nil {
		return err
	}
	if room < t.Rows()*each {
		return fmt.Errorf("room for %d numbers, expected %d", room, t.Rows()*each)
	}
	return nil
}

// States names the components.
func (m *Model) States() []string {
	names := make([]string, len(m.components))
	for c := range names {
		names[c] = fmt.Sprint(c + 1)
	}
	return names
}

// Decode fills in the probability of each component for each row.
func (m *Model) Decode(ctx context.Context, t *table.Table, p []float64) error {
	if err := m.fits(t, len(p), len(m.components)); err != nil {
		return err
	}
	_, err := m.share(ctx, t, p)
	return err
}

// Wholes calls each for every sequence, in order: its log likelihood, and the
// component that it is of, with the log of the probability of both.
func (m *Model) Wholes(ctx context.Context, t *table.Table, each func(from, to int, logLikelihood float64, path []int32, logProbability float64)) error {
	k := len(m.components)
	shares := make([]float64, t.Rows()*k)
	if err := m.fits(t, len(shares), k); err != nil {
		return err
	}
	logs, err := m.share(ctx, t, shares)
	if err != nil {
		return err
	}
	t.Groups(func(from, to int) {
		if from == to {
			return
		}
		sum := 0.0
		for _, l := range logs[from:to] {
			sum += l
		}
		p := shares[from*k:][:k]
		best := learn.Best(p, m.States())
		each(from, to, sum, []int32{int32(best)}, sum+math.Log(p[best]))
	})
	return nil
}

// OfWholes says that a sequence is of one component.
func (m *Model) OfWholes() bool { return true }

// Remark is a component's share of the rows, of a sub-state of those of its state.
type Remark struct {
	Component string // 2, or 2.1 of its first sub-state
	Share     float64
	Of        string
}

func (r Remark) String() string {
	rows := "the rows"
	if at := strings.LastIndexByte(r.Component, '.'); at >= 0 {
		rows = "those of component " + r.Component[:at]
	}
	return fmt.Sprintf("component %s (%s) has %.1f %% of %s", r.Component, r.Of, 100*r.Share, rows)
}

// Remarks says how the rows are shared, layer within layer.
func (m *Model) Remarks() ([]fmt.Stringer, error) { return m.remarks(""), nil }

func (m *Model) remarks(within string) (all []fmt.Stringer) {
	for c, l := range m.logs {
		name := fmt.Sprint(within, c+1)
		all = append(all, Remark{name, math.Exp(l), m.settings.Of})
		if below, ok := m.components[c].(*Model); ok {
			all = append(all, below.remarks(name+".")...)
		}
	}
	return all
}

// Component returns the model of one component, from 1.
func (m *Model) Component(number int) (learn.Model, error) {
	if number < 1 || number > len(m.components) {
		return nil, fmt.Errorf("component %d of %d", number, len(m.components))
	}
	return m.components[number-1], nil
}

// Sources lists the sources in the order in which they came.
func (m *Model) Sources() []learn.Source {
	return kept.SourcesOf(m.sources, func(s source) learn.Source { return s.of })
}

// Forget drops sources from every component.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	left, err := kept.Without(m.sources, func(s source) learn.Source { return s.of }, ids...)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("without %s no rows are left; delete the model instead", strings.Join(ids, ", "))
	}
	next := &Model{settings: m.settings, sources: left}
	for _, of := range m.components {
		f, ok := of.(learn.Forgetter)
		if !ok {
			return nil, fmt.Errorf("components of learner %s cannot forget", m.settings.Of)
		}
		without, err := f.Forget(learn.WithProgress(ctx, func(float64) {}), ids...)
		if err != nil {
			return nil, err
		}
		if err := next.enlist(without); err != nil {
			return nil, err
		}
	}
	if err := next.weigh(); err != nil {
		return nil, err
	}
	return next, nil
}

// Begin starts to learn more rows.
func (m *Model) Begin(of learn.Source) (learn.Update, error) {
	u := &update{model: m, source: of, updates: make([]learn.Update, len(m.components)), shares: make([]float64, len(m.components))}
	for c, of := range m.components {
		able, ok := of.(learn.Updater)
		if !ok {
			return nil, fmt.Errorf("components of learner %s cannot learn more rows", m.settings.Of)
		}
		var err error
		if u.updates[c], err = able.Begin(u.source); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// update shares rows out as they come.
type update struct {
	model   *Model
	source  learn.Source
	updates []learn.Update
	shares  []float64
	broken  error // some components have rows that others have not
}

func (u *update) Add(ctx context.Context, t *table.Table) error {
	if u.broken != nil {
		return u.broken
	}
	t, _ = t.WithoutText(learn.NoTarget)
	k := len(u.updates)
	shares := make([]float64, t.Rows()*k)
	if _, err := u.model.share(ctx, t, shares); err != nil {
		return err
	}
	for c, of := range u.updates {
		rows, total := weighed(t, shares, k, c)
		if err := of.Add(ctx, rows); err != nil {
			if c > 0 {
				u.broken = err
			}
			return err
		}
		u.shares[c] += total
	}
	return nil
}

func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if u.broken != nil {
		return nil, u.broken
	}
	next := &Model{settings: u.model.settings}
	for _, of := range u.updates {
		m, err := of.Freeze(learn.WithProgress(ctx, func(float64) {}))
		if err != nil {
			return nil, err
		}
		if err := next.enlist(m); err != nil {
			return nil, err
		}
	}
	next.sources = slices.Clone(u.model.sources)
	at := slices.IndexFunc(next.sources, func(s source) bool { return s.of.ID == u.source.ID })
	if at < 0 {
		at = len(next.sources)
		next.sources = append(next.sources, source{of: u.source, shares: make([]float64, len(u.shares))})
	}
	grown := slices.Clone(next.sources[at].shares)
	for c, w := range u.shares {
		grown[c] += w
	}
	next.sources[at].shares = grown
	if err := next.weigh(); err != nil {
		return nil, err
	}
	return next, nil
}
