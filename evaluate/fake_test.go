package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// lookup is a small learner to evaluate: the frequency of classes for each
// value of one nominal column, or the mean of a numeric target for each.
type lookup struct {
	Column int     `set:"column" default:"0" doc:"which column it looks at"`
	Prior  float64 `set:"prior" default:"0" doc:"cases added to every class"`
	// What can go wrong, for tests of that.
	fail     error
	noisy    bool    // answers depend on the seed
	stubborn bool    // models cannot be updated
	broken   float64 // a probability or number to answer instead
	reports  bool
}

type lookupModel struct {
	lookup
	schema *table.Schema
	target int
	counts map[int32][]float64 // by value: classes, or {n, Σy, Σy²}
	rows   float64
	jitter float64
}

// fixedModel is a lookup whose models cannot be updated.
type fixedModel struct{ *lookupModel }

func (l *lookup) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	m := &lookupModel{lookup: *l, schema: task.Table.Schema, target: target, counts: map[int32][]float64{}}
	if l.noisy {
		m.jitter = rand.New(rand.NewPCG(task.Seed, 0)).Float64()
	}
	if l.reports {
		learn.Report(ctx, 0.5)
	}
	m.add(task.Table)
	if m.stubborn {
		return fixedModel{m}, nil
	}
	return updatable{m}, nil
}

func (m *lookupModel) add(t *table.Table) {
	for r := range t.Rows() {
		m.rows += t.Weight(r)
		if m.target == learn.NoTarget {
			continue
		}
		key := t.Columns[m.Column].Codes[r]
		for len(m.counts[key]) < max(3, len(m.schema.Attributes[m.target].Values)) {
			m.counts[key] = append(m.counts[key], 0)
		}
		w := t.Weight(r)
		if y := t.Columns[m.target].Floats; y != nil {
			if !table.IsMissing(y[r]) {
				for k, x := range []float64{1, y[r], y[r] * y[r]} {
					m.counts[key][k] += w * x
				}
			}
		} else if c := t.Columns[m.target].Codes[r]; c >= 0 {
			m.counts[key][c] += w
		}
	}
}

func (m *lookupModel) Learner() string              { return "lookup" }
func (m *lookupModel) Schema() *table.Schema        { return m.schema }
func (m *lookupModel) Target() int                  { return m.target }
func (m *lookupModel) Size() learn.Size             { return learn.Size{Rows: m.rows, Rules: len(m.counts)} }
func (m *lookupModel) Parts() ([]learn.Part, error) { return nil, nil }

func (m *lookupModel) Predict(_ context.Context, t *table.Table, out *learn.Predictions) error {
	for r := range t.Rows() {
		counts := m.counts[t.Columns[m.Column].Codes[r]]
		if out.Mean != nil {
			out.Mean[r], out.Low[r], out.High[r] = 0, math.Inf(-1), math.Inf(1)
			if len(counts) > 0 && counts[0] > 0 {
				mean := counts[1] / counts[0]
				sd := math.Sqrt(max(counts[2]/counts[0]-mean*mean, 0))
				out.Mean[r], out.Low[r], out.High[r] = mean, mean-1.96*sd, mean+1.96*sd
			}
			if m.broken != 0 {
				out.Mean[r] = m.broken
			}
			continue
		}
		p := out.Row(r)
		sum := 0.0
		for c := range p {
			p[c] = m.Prior + m.jitter
			if c < len(counts) {
				p[c] += counts[c]
			}
			sum += p[c]
		}
		for c := range p {
			if sum == 0 {
				p[c] = 1 / float64(len(p))
			} else {
				p[c] /= sum
			}
			if m.broken != 0 {
				p[c] = m.broken
			}
		}
	}
	return nil
}

// LogDensity is that of a standard normal in column 0.
func (m *lookupModel) LogDensity(_ context.Context, t *table.Table, out []float64) error {
	if m.fail != nil {
		return m.fail
	}
	for r := range out {
		x := t.Columns[0].Floats[r]
		out[r] = -x*x/2 - math.Log(2*math.Pi)/2
		if m.broken != 0 {
			out[r] = m.broken
		}
	}
	return nil
}

// updatable is a lookup whose models can be updated.
type updatable struct{ *lookupModel }

func (m updatable) Begin(learn.Source) (learn.Update, error) {
	if m.broken == -1 {
		return nil, errors.New("cannot begin")
	}
	return &lookupUpdate{m.copied()}, nil
}

func (m *lookupModel) copied() *lookupModel {
	c := *m
	c.counts = map[int32][]float64{}
	for k, v := range m.counts {
		c.counts[k] = append([]float64(nil), v...)
	}
	return &c
}

type lookupUpdate struct{ m *lookupModel }

func (u *lookupUpdate) Add(_ context.Context, t *table.Table) error {
	u.m.schema = t.Schema
	u.m.add(t)
	return nil
}

func (u *lookupUpdate) Freeze(context.Context) (learn.Model, error) {
	return updatable{u.m.copied()}, nil
}

func init() {
	learn.Register(learn.Info{Name: "lookup", New: func() learn.Learner { return &lookup{} }})
}

// samples returns n rows of a class that agrees with column x except for
// noise, and a column z that says nothing. Classes have unequal shares.
func samples(n, classes int, noise float64, seed uint64) *table.Table {
	r := rand.New(rand.NewPCG(seed, 9))
	var names []string
	for c := range classes {
		names = append(names, fmt.Sprintf("c%d", c))
	}
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Nominal, Values: names},
		{Name: "z", Kind: table.Nominal, Values: []string{"a", "b"}},
		{Name: "class", Kind: table.Nominal, Values: names},
	}}
	columns := []table.Column{{Codes: make([]int32, n)}, {Codes: make([]int32, n)}, {Codes: make([]int32, n)}}
	for i := range n {
		c := min(r.IntN(classes), r.IntN(classes))
		columns[0].Codes[i], columns[2].Codes[i] = int32(c), int32(c)
		if r.Float64() < noise {
			columns[2].Codes[i] = int32(r.IntN(classes))
		}
		columns[1].Codes[i] = int32(r.IntN(2))
	}
	return must(table.New(schema, columns, nil))
}

// measured returns n rows of a number y = value of x + noise.
func measured(n int, noise float64, seed uint64) *table.Table {
	r := rand.New(rand.NewPCG(seed, 10))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Nominal, Values: []string{"a", "b", "c", "d"}},
		{Name: "y", Kind: table.Numeric},
	}}
	columns := []table.Column{{Codes: make([]int32, n)}, {Floats: make([]float64, n)}}
	for i := range n {
		c := r.IntN(4)
		columns[0].Codes[i] = int32(c)
		columns[1].Floats[i] = 100 + float64(c) + noise*r.NormFloat64()
	}
	return must(table.New(schema, columns, nil))
}

func must(t *table.Table, err error) *table.Table {
	if err != nil {
		panic(err)
	}
	return t
}

func spec(t *table.Table, target int, l *lookup) Spec {
	return Spec{Data: "made up", Table: t, Target: target, Learner: "lookup", New: Fixed(l), Seed: 1}
}

// rival is one of several specs that are compared.
func rival(t *table.Table, target int, name string, l *lookup) Spec {
	s := spec(t, target, l)
	s.Learner = name
	return s
}
