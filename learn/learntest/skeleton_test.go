package learntest_test

// The skeleton of a learner that CONTRIBUTING shows, between the two lines
// below; it conforms.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

// -- skeleton --

const Name = "frequency"

func init() {
	learn.Register(learn.Info{
		Name: Name, Summary: "how frequent each class is, whatever the row", Source: "Laplace 1774",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Merge: true, Forget: true, Keep: true},
		Contract: learn.Exact, Keeps: "the rows, by source",
		New:    func() learn.Learner { return &Learner{} },
		Decode: decode,
	})
}

// Learner counts classes.
type Learner struct {
	Cases float64 `set:"cases" default:"0" doc:"cases of each class before any row came"`
}

// Learn gathers the task's rows, and learns them.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target == learn.NoTarget || task.Table.Schema.Attributes[target].Kind != table.Nominal {
		return nil, errors.New("frequency predicts classes; name a nominal column to predict")
	}
	gathering := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: *l, Seed: task.Seed, Target: task.Target})
}

// learnRows is the algorithm: a function of the rows, the settings and the seed.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx) // distinct rows in canonical order
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, schema: t.Schema, target: t.Schema.Index(l.Target)}
	m.p = make([]float64, len(t.Schema.Attributes[m.target].Values))
	for r, class := range t.Columns[m.target].Codes {
		m.p[class] += t.Weight(r)
		m.weight += t.Weight(r)
	}
	if !(m.weight > 0) {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", l.Target)
	}
	for c := range m.p {
		m.p[c] = (m.p[c] + l.Settings.Cases) / (m.weight + l.Settings.Cases*float64(len(m.p)))
	}
	return m, nil
}

// Model is the frequencies. It is immutable.
type Model struct {
	lesson lesson
	rows   *kept.Rows
	schema *table.Schema
	target int
	weight float64
	p      []float64
}

func (m *Model) Learner() string       { return Name }
func (m *Model) Schema() *table.Schema { return m.schema }
func (m *Model) Target() int           { return m.target }
func (m *Model) Size() learn.Size      { return learn.Size{Rows: m.weight} }

// Predict answers whole tables, on all cores, and allocates nothing per row.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if out.Classes != len(m.p) || len(out.P) < t.Rows()*len(m.p) {
		return fmt.Errorf("room for %d probabilities, expected %d", len(out.P), t.Rows()*len(m.p))
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			copy(out.Row(row), m.p)
		}
	})
}

// A model that keeps its rows says how it learns them again; updating, merging
// and forgetting follow.
func (m *Model) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: Name, Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) { return learnRows(ctx, rows, m.lesson) },
	}
}

func (m *Model) Begin(s learn.Source) (learn.Update, error) { return kept.Begin(m, s) }
func (m *Model) Sources() []learn.Source                    { return kept.Sources(m) }
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// The saved form is the lesson, the rows of each source, and what was learnt,
// which can be computed again.
type lesson = kept.Lesson[Learner]

const format = 1

func (m *Model) Parts() ([]learn.Part, error) {
	return m.lesson.Parts("frequency", m.rows, "learnt", nil)
}

// decode checks what it reads: any bytes give a sound model or an error.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	keeps := func(s *Learner) (bool, error) {
		if !(s.Cases >= 0 && s.Cases <= math.MaxFloat64) {
			return false, fmt.Errorf("cases=%v: expected a number from 0", s.Cases)
		}
		return true, nil
	}
	rows, _, err := l.Load(parts, "frequency", format, keeps, "learnt", new(any))
	if err != nil {
		return nil, err
	}
	t, err := rows.Table(context.Background())
	if err != nil {
		return nil, err
	}
	if target := t.Schema.Index(l.Target); target < 0 || t.Schema.Attributes[target].Kind != table.Nominal {
		return nil, fmt.Errorf("the rows have no classes %q", l.Target)
	}
	for _, class := range t.Columns[t.Schema.Index(l.Target)].Codes {
		if class < 0 {
			return nil, fmt.Errorf("a row without a class was kept")
		}
	}
	return learnRows(context.Background(), rows, l)
}

// -- end of the skeleton --

func TestSkeleton(t *testing.T) { learntest.Run(t, Name) }

// TestSkeletonIsShown: what CONTRIBUTING shows is this skeleton.
func TestSkeletonIsShown(t *testing.T) {
	here, err := os.ReadFile("skeleton_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, skeleton, _ := strings.Cut(string(here), "// -- skeleton --\n")
	skeleton, _, _ = strings.Cut(skeleton, "\n// -- end of the skeleton --")
	if !strings.Contains(string(page), strings.TrimSpace(skeleton)) {
		t.Error("CONTRIBUTING.md shows another skeleton than skeleton_test.go has")
	}
}
