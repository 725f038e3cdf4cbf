package kept

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// remembering is the least model that keeps its rows: it answers nothing.
type remembering struct {
	rows     *Rows
	schema   *table.Schema
	settings string
	name     string
}

func remember(ctx context.Context, rows *Rows, settings string) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	return &remembering{rows, t.Schema, settings, "remembering"}, nil
}

func (m *remembering) Learner() string                                                 { return m.name }
func (m *remembering) Schema() *table.Schema                                           { return m.schema }
func (m *remembering) Target() int                                                     { return 2 }
func (m *remembering) Predict(context.Context, *table.Table, *learn.Predictions) error { return nil }
func (m *remembering) Size() learn.Size                                                { return learn.Size{} }
func (m *remembering) Parts() ([]learn.Part, error)                                    { return m.rows.Parts() }
func (m *remembering) Begin(s learn.Source) (learn.Update, error)                      { return Begin(m, s) }
func (m *remembering) Kept(ctx context.Context) ([]learn.Learnt, error)                { return Kept(ctx, m) }
func (m *remembering) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return Forget(ctx, m, ids...)
}
func (m *remembering) Merge(ctx context.Context, o ...learn.Model) (learn.Model, error) {
	return Merge(ctx, m, o...)
}
func (m *remembering) Relearning() Relearning {
	return Relearning{Rows: m.rows, Noun: "memory", Without: "it keeps no rows, so it cannot %s; learn it again", Settings: m.settings,
		Learn: func(ctx context.Context, rows *Rows) (learn.Model, error) { return remember(ctx, rows, m.settings) }}
}

// TestRelearning: updating, merging and forgetting are learning what rows there
// are then, of which models show each source's; what cannot be done is refused.
func TestRelearning(t *testing.T) {
	ctx := context.Background()
	a := kept([]string{"red", "blue"}, []int32{0, 1}, []float64{1, 2}, []int32{0, 1}, nil)
	b := kept([]string{"blue", "grey"}, []int32{1, 0}, []float64{3, 2}, []int32{0, 1}, nil)
	one, err := remember(ctx, gather(t, &Rows{}, "a", nil, a), "")
	if err != nil {
		t.Fatal(err)
	}
	m := one.(*remembering)
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, b.Project([]int{0, 1})); err == nil {
		t.Error("rows of other columns were added")
	}
	more, _, err := table.Conform(b, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(ctx, more); err != nil {
		t.Fatal(err)
	}
	updated, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := "blue,2,a ×2; grey,3,b ×1; red,1,b ×1"
	if got := show(t, updated.(*remembering).rows); got != want {
		t.Errorf("updated: %s", got)
	}
	other, err := remember(ctx, gather(t, &Rows{}, "b", nil, b), "")
	if err != nil {
		t.Fatal(err)
	}
	merged, err := m.Merge(ctx, other)
	if err != nil || show(t, merged.(*remembering).rows) != want {
		t.Errorf("merged: %v, %v", merged, err)
	}
	if s := Sources(merged.(*remembering)); len(s) != 2 || s[0].ID != "a" || s[1].ID != "b" {
		t.Errorf("sources %v", s)
	}
	left, err := merged.(*remembering).Forget(ctx, "a")
	if err != nil || show(t, left.(*remembering).rows) != "blue,2,a ×1; grey,3,b ×1" || slices.Contains(left.Schema().Attributes[0].Values, "red") {
		t.Errorf("left: %v, %v", left, err)
	}
	learnt, err := merged.(*remembering).Kept(ctx)
	if err != nil || len(learnt) != 2 || learnt[1].Table.Rows() != 2 || learnt[1].Source.ID != "b" || learnt[1].Table.Schema.Attributes[0].Values[0] != "blue" {
		t.Errorf("%+v, %v", learnt, err)
	}
	if _, held, err := Shed(m); !held || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a memory is its rows: %v, %v", held, err)
	}

	bare := &remembering{schema: m.schema, name: "remembering"}
	_, begun := bare.Begin(learn.Source{})
	_, forgot := bare.Forget(ctx, "a")
	_, joined := bare.Merge(ctx, m)
	for what, err := range map[string]error{"learn more rows": begun, "forget": forgot, "be merged": joined} {
		if err == nil || err.Error() != fmt.Sprintf("it keeps no rows, so it cannot %s; learn it again", what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s, p := Sources(bare), Promise(bare); len(s) != 0 || p.Contract != learn.None || Promise(m).Contract != learn.Exact {
		t.Errorf("sources %v and the promise %v of nothing", s, p)
	}
	stranger := *m
	stranger.name = "another"
	moody := *m
	moody.settings = "moody"
	elsewhere, cancel := context.WithCancel(ctx)
	cancel()
	for text, try := range map[string]func() error{
		"merge models of one learner":    func() error { _, err := m.Merge(ctx, &stranger); return err },
		"learnt with different settings": func() error { _, err := m.Merge(ctx, &moody); return err },
		"it keeps no rows":               func() error { _, err := m.Merge(ctx, bare); return err },
		"unknown source":                 func() error { _, err := m.Forget(ctx, "z"); return err },
		"canceled":                       func() error { _, err := m.Merge(elsewhere, m); return err },
		"context":                        func() error { _, err := m.Forget(elsewhere, "a"); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, expected %q", err, text)
		}
	}
}

// TestWith: blocks of one source are joined, others follow.
func TestWith(t *testing.T) {
	type block struct {
		id string
		n  int
	}
	of := func(b block) learn.Source { return learn.Source{ID: b.id} }
	join := func(a, b block) (block, error) {
		if a.n+b.n > 100 {
			return block{}, errors.New("too many")
		}
		return block{a.id, a.n + b.n}, nil
	}
	blocks := []block{{"a", 1}, {"b", 2}}
	got, err := With(blocks, of, join, block{"b", 3}, block{"c", 4}, block{"c", 5})
	if err != nil || !slices.Equal(got, []block{{"a", 1}, {"b", 5}, {"c", 9}}) || blocks[1].n != 2 {
		t.Errorf("%v of %v, %v", got, blocks, err)
	}
	if _, err := With(blocks, of, join, block{"b", 99}); err == nil {
		t.Error("an error of joining is lost")
	}
}
