package rocchio

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Model is the prototypes, and the rows that they are of. It is immutable.
type Model struct {
	lesson    lesson
	rows      *kept.Rows
	schema    *table.Schema
	target    int
	weight    float64
	words     []words // of each column
	length    []float64
	sharpness float64
}

// words are those of a column: ln(N/df) of each, and its part of the prototypes, of
// word v and class c at v·classes + c.
type words struct{ rarity, centres []float64 }

var (
	_ kept.Relearner  = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
)

// Learner returns the name of the learner.
func (m *Model) Learner() string { return Name }

// Schema returns the columns.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the column that is predicted.
func (m *Model) Target() int { return m.target }

// Size counts the prototypes as units.
func (m *Model) Size() learn.Size { return learn.Size{Rows: m.weight, Units: len(m.length)} }

func (m *Model) class() *table.Attribute { return &m.schema.Attributes[m.target] }

// cell yields the words of a cell, and how often they occur.
func cell(t *table.Table, j, row int) iter.Seq2[int32, float64] {
	return func(yield func(int32, float64) bool) {
		if bag := t.Columns[j].Words; bag != nil {
			codes, counts := bag.Row(row)
			for i, v := range codes {
				if !yield(v, counts[i]) {
					return
				}
			}
		} else if codes := t.Columns[j].Codes; codes != nil && codes[row] >= 0 {
			yield(codes[row], 1)
		}
	}
}

// each calls add with the words of a row, as a vector of length 1.
func (m *Model) each(t *table.Table, row int, add func(column int, word int32, x float64)) {
	length := 0.0
	for j := range m.words {
		rarity := m.words[j].rarity
		if rarity == nil {
			continue
		}
		for v, n := range cell(t, j, row) {
			x := m.lesson.Settings.times(n) * rarity[v]
			length += float64(x * x)
		}
	}
	if length = math.Sqrt(length); !(length > 0 && length <= math.MaxFloat64) {
		return
	}
	for j := range m.words {
		rarity := m.words[j].rarity
		if rarity == nil {
			continue
		}
		for v, n := range cell(t, j, row) {
			if x := m.lesson.Settings.times(n) * rarity[v]; x != 0 {
				add(j, v, x/length)
			}
		}
	}
}

// Similarities fills in the cosine of a row and each class's prototype.
func (m *Model) Similarities(t *table.Table, row int, out []float64) {
	clear(out)
	m.each(t, row, func(j int, v int32, x float64) {
		for c, y := range m.words[j].centres[int(v)*len(out):][:len(out)] {
			out[c] += float64(x * y)
		}
	})
}

// shares turns cosines into probabilities.
func shares(cosines []float64, sharpness float64, p []float64) {
	for c, cos := range cosines {
		p[c] = sharpness * cos
	}
	logsum.Normalise(p)
}

// Predict fills in the probabilities of the classes.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if classes := len(m.length); out.Classes != classes || len(out.P) < t.Rows()*classes {
		return fmt.Errorf("room for %d probabilities, expected %d", len(out.P), t.Rows()*classes)
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			p := out.Row(row)
			m.Similarities(t, row, p)
			shares(p, m.sharpness, p)
		}
	})
}

// Explain returns what each word adds: sharpness · its part of the cosine.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	classes := len(m.length)
	e := &learn.Explanation{Prior: make([]float64, classes), Additive: true}
	logs := make([]float64, classes)
	for c := range e.Prior {
		e.Prior[c] = -math.Log(float64(classes))
		logs[c] = e.Prior[c]
	}
	m.each(t, row, func(j int, v int32, x float64) {
		test := m.test(j, v)
		r := rule.Rule{If: []rule.Test{test}, Then: rule.Conclusion{Column: m.class().Name, By: []rule.Share{{}}}}
		id, text := r.ID(), test.String()
		for c, y := range m.words[j].centres[int(v)*classes:][:classes] {
			w := float64(m.sharpness * x * y)
			logs[c] += w
			e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: w})
		}
	})
	p := append([]float64(nil), logs...)
	most, total := logsum.Normalise(p)
	e.Normaliser = most + math.Log(total)
	best := learn.Best(p, m.class().Values)
	for j := range m.words {
		gone := t.Columns[j].Words != nil && t.Columns[j].Words.Missing(row) || t.Columns[j].Codes != nil && t.Columns[j].Codes[row] < 0
		if gone && j != m.target && len(m.words[j].rarity) > 0 {
			e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[j].Name, CouldMove: max(p[best], 1-p[best])})
		}
	}
	return e, nil
}

// test is that a cell has a word.
func (m *Model) test(j int, v int32) rule.Test {
	a := &m.schema.Attributes[j]
	if a.Kind == table.Text {
		return rule.Test{Op: rule.Contains, Column: a.Name, Value: a.Values[v]}
	}
	return rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[v]}
}

// Relearning says how the prototypes are learnt again from the rows.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "set of prototypes", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) { return learnRows(ctx, rows, m.lesson) },
	}
}

// Begin starts to learn more rows.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	return &update{m.schema, m.rows.Gather(source, m.target, m.schema).Texts(), m.lesson}, nil
}

// update gathers rows; freezing learns them again.
type update struct {
	schema    *table.Schema
	gathering *kept.Gathering
	lesson    lesson
}

func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(u.schema, t.Schema); err != nil {
		return err
	}
	if err := checkColumns(t.Schema, t.Schema.Index(u.lesson.Target)); err != nil {
		return err
	}
	return u.gathering.Add(ctx, t)
}

func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, u.lesson)
}

// Merge returns the prototypes of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Sources lists the sources of the rows.
func (m *Model) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the prototypes of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Kept returns the rows that the prototypes are of.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

const format = 1

// Parts returns the settings and the rows of each source; the prototypes are
// learnt again from them, which costs less than to write them.
func (m *Model) Parts() ([]learn.Part, error) {
	head, err := learn.Marshal(&m.lesson)
	if err != nil {
		return nil, err
	}
	rows, err := m.rows.Parts()
	if err != nil {
		return nil, err
	}
	return append([]learn.Part{{Name: Name, Data: head}}, rows...), nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	keeps := func(s *settings) (bool, error) { return true, s.check() }
	rows, _, err := l.Load(parts, Name, format, keeps, "prototypes", new(any))
	if err != nil {
		return nil, err
	}
	return learnRows(context.Background(), rows, l)
}
