package all

import (
	"context"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// TestStruck: what was struck stays struck, whatever happens to the model, and is
// the same when it is read again; all else is as it was.
func TestStruck(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		learner, data, target string
		settings              map[string]string
	}{
		{"rulenet", "labor", "class", nil},
		{"rulenet", "labor", "class", map[string]string{"weights": "published"}},
		{"rulenet", "iris", "target", map[string]string{"update": "living"}},
		{"rulenet", "auto-mpg", "mpg", nil},
		{"cover", "iris", "target", nil},
	} {
		rows, _, err := datasets.Load(ctx, c.data)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learn.New(c.learner, c.settings)
		if err != nil {
			t.Fatal(err)
		}
		half := rows.Slice(0, rows.Rows()/2)
		if c.data == "iris" {
			half = rows
		}
		m, err := l.Learn(ctx, learn.Task{Table: half, Target: c.target, Source: learn.Source{ID: "a"}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(base.Rules, func(r rule.Rule) bool { return len(r.If) > 0 })
		struck, err := expert.Strike(ctx, m, &base.Rules[at])
		if err != nil {
			t.Fatal(err)
		}
		id := base.Rules[at].ID()
		check := func(what string, m learn.Model) {
			t.Helper()
			left, err := m.(learn.Ruler).Rules()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(left.Rules, func(r rule.Rule) bool { return r.ID() == id }) {
				t.Errorf("%s %v of %s, %s: the rule is back", c.learner, c.settings, c.data, what)
			}
		}
		check("struck", struck)
		if got, want := learn.PromiseOf(struck), learn.PromiseOf(m); got != want {
			t.Errorf("%s promises %v, before %v", c.learner, got, want)
		}
		data, err := learn.Encode(struck)
		if err != nil {
			t.Fatal(err)
		}
		again, err := learn.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		check("read again", again)
		if x, y := says(t, struck, rows), says(t, again, rows); !slices.Equal(x, y) {
			t.Errorf("%s %v answers otherwise when it is read again", c.learner, c.settings)
		}
		cut, err := expert.Cut(ctx, again, 2)
		if err != nil {
			t.Fatalf("%s %v: %v", c.learner, c.settings, err)
		}
		if left, err := cut.(learn.Ruler).Rules(); err != nil || len(left.Rules) > 2+3 {
			t.Errorf("%s: %d rules are left of a cut to 2 (%v)", c.learner, len(left.Rules), err)
		}
		if c.settings != nil {
			continue
		}
		u, err := again.(learn.Updater).Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(ctx, half.Slice(0, 20)); err != nil {
			t.Fatal(err)
		}
		more, err := u.Freeze(ctx)
		if err != nil {
			t.Fatal(err)
		}
		check("updated", more)
		less, err := more.(learn.Forgetter).Forget(ctx, "b")
		if err != nil {
			t.Fatal(err)
		}
		if x, y := says(t, struck, rows), says(t, less, rows); !slices.Equal(x, y) {
			t.Errorf("%s is not what it was after learning more and forgetting it", c.learner)
		}
	}
}

func says(t *testing.T, m learn.Model, rows *table.Table) []float64 {
	t.Helper()
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(context.Background(), fitted, out); err != nil {
		t.Fatal(err)
	}
	return append(out.P, out.Mean...)
}
