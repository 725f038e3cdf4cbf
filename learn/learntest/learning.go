package learntest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// abilities: a model implements the interfaces that its learner declares, and
// no others; the registry's entry is complete.
func abilities(s *subject) error {
	i := s.info
	for what, text := range map[string]string{"Name": i.Name, "Summary": i.Summary, "Source": i.Source, "Keeps": i.Keeps} {
		if text == "" {
			return fmt.Errorf("the registry's Info.%s is empty", what)
		}
	}
	if !i.Can.Update && i.Contract != learn.None {
		return fmt.Errorf("contract %v without updates", i.Contract)
	}
	if len(s.variants()) == 0 {
		return errors.New("it takes no kind of target")
	}
	return each(s.variants(), func(v variant) error {
		t := s.table(v, 60, 1)
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		if m.Learner() != i.Name {
			return fmt.Errorf("its model says it is of learner %q, not %q", m.Learner(), i.Name)
		}
		task := task(v, t, "")
		if want, err := task.Column(); err != nil || m.Target() != want {
			return fmt.Errorf("the model's target is %d, expected %d", m.Target(), want)
		}
		if !slices.Equal(m.Schema().Names(), t.Schema.Names()) {
			return fmt.Errorf("the model's columns are %q, expected %q", m.Schema().Names(), t.Schema.Names())
		}
		if has := learn.CanOf(m); has != i.Can {
			return fmt.Errorf("the model can %s, declared is %s", strings.Join(has.Names(), ", "), strings.Join(i.Can.Names(), ", "))
		}
		p := learn.PromiseOf(m)
		if p.Contract == learn.Bounded && (p.Measure == "" || !(p.Bound > 0)) {
			return fmt.Errorf("the bounded contract does not say how close: %+v", p)
		}
		if len(s.options.Settings) == 0 && p.Contract != i.Contract {
			return fmt.Errorf("the model's contract is %v, declared is %v", p.Contract, i.Contract)
		}
		return nil
	})
}

// settings: every parameter has a key of its own, a description and a type
// that can be set; other keys and words are refused.
func settings(s *subject) error {
	seen := map[string]bool{}
	for _, o := range learn.Options(s.info.New()) {
		switch {
		case seen[o.Key]:
			return fmt.Errorf("two settings are named %q", o.Key)
		case o.Doc == "":
			return fmt.Errorf("setting %q lacks its description", o.Key)
		}
		seen[o.Key] = true
		accepted := slices.ContainsFunc(append(o.Choices, "1", "true"), func(value string) bool {
			return learn.Set(s.info.New(), o.Key, value) == nil
		})
		if !accepted {
			return fmt.Errorf("setting %q cannot be set: %w", o.Key, learn.Set(s.info.New(), o.Key, "1"))
		}
		if len(o.Choices) > 0 && learn.Set(s.info.New(), o.Key, "no such choice") == nil {
			return fmt.Errorf("setting %q takes a word that is none of its choices", o.Key)
		}
	}
	if learn.Set(s.info.New(), "no such setting", "1") == nil {
		return errors.New("an unknown setting is accepted")
	}
	return nil
}

// unsupportedTargets: a target of a kind that the learner does not take, or
// that is not a column, is refused with an error.
func unsupportedTargets(s *subject) error {
	for v, takes := range map[variant]bool{classes: s.info.Takes.Classes, regression: s.info.Takes.Regression, density: s.info.Takes.Density} {
		t := s.table(v, 60, 2)
		if _, err := s.learn(v, t, "a"); err == nil && !takes {
			return fmt.Errorf("a task of %s is accepted", v)
		}
		if v == density || !takes {
			continue
		}
		wrong := task(v, t, "a")
		wrong.Target, wrong.NoTarget = targetName+"s", false
		if _, err := s.learnIn(context.Background(), wrong); err == nil || !strings.Contains(err.Error(), strconv.Quote(targetName)) {
			return fmt.Errorf("the target %q of a table with %q gives the error %v, which does not name the nearest column", wrong.Target, targetName, err)
		}
		if _, err := s.learnIn(context.Background(), learn.Task{Table: t}); err == nil {
			return errors.New("a task that neither names a target nor says that there is none is accepted")
		}
	}
	return nil
}

// emptyTable: no rows, no model; no columns but the target is no reason to
// panic.
func emptyTable(s *subject) error {
	return each(s.variants(), func(v variant) error {
		t := s.table(v, 60, 3)
		if err := refused(s.learn(v, t.Slice(0, 0), "a")); err != nil {
			return fmt.Errorf("a table without rows: %w", err)
		}
		if v == density {
			return nil
		}
		alone := t.Schema.Index(targetName)
		only := must(table.New(&table.Schema{Attributes: t.Schema.Attributes[alone : alone+1]}, t.Columns[alone:alone+1], nil))
		m, err := s.learn(v, only, "a")
		if err != nil {
			return nil // a clear refusal will do
		}
		return soundOn(m, only)
	})
}

// noTargets: a table whose targets are all missing, or whose rows weigh
// nothing, is refused.
func noTargets(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		t := copyTable(s.table(v, 60, 4))
		if err := refused(s.learn(v, weighted(t, 1, 0), "a")); err != nil {
			return fmt.Errorf("rows that all weigh 0: %w", err)
		}
		blank(&t.Columns[t.Schema.Index(targetName)])
		if err := refused(s.learn(v, t, "a")); err != nil {
			return fmt.Errorf("targets that are all missing: %w", err)
		}
		return nil
	})
}

// refused returns an error unless there was one, and no model.
func refused(m learn.Model, err error) error {
	switch {
	case err == nil:
		return errors.New("no error")
	case m != nil:
		return fmt.Errorf("a model (%T) next to the error %q", m, err)
	}
	return nil
}

// blank makes every cell of a column missing.
func blank(c *table.Column) {
	for r := range c.Codes {
		c.Codes[r] = table.Missing
	}
	for r := range c.Floats {
		c.Floats[r] = table.NA
	}
}

// determinism: the same task gives the same model and the same answers, bit
// for bit, on one core and on several.
func determinism(s *subject) error {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	return each(s.variants(), func(v variant) error {
		t := weighted(s.table(v, 9000, 5), 5, 1, 0.1, 0.7)
		probe := s.table(v, 9000, 6)
		var parts []learn.Part
		var first *answers
		for _, n := range []int{1, 3} {
			runtime.GOMAXPROCS(n)
			m, err := s.learn(v, t, "a")
			if err != nil {
				return err
			}
			p, err := m.Parts()
			if err != nil {
				return err
			}
			a, err := ask(m, probe)
			if err != nil {
				return err
			}
			if first == nil {
				parts, first = p, a
				continue
			}
			if err := differ(a, first, 0); err != nil {
				return fmt.Errorf("on %d cores: %w", n, err)
			}
			if err := equalParts(p, parts); err != nil {
				return fmt.Errorf("on %d cores: %w", n, err)
			}
		}
		return nil
	})
}

func equalParts(got, want []learn.Part) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d parts, expected %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Name != want[i].Name || got[i].Derived != want[i].Derived || !bytes.Equal(got[i].Data, want[i].Data) {
			return fmt.Errorf("part %q differs", want[i].Name)
		}
	}
	return nil
}

// inputUntouched: neither learning nor anything a model does changes a table.
func inputUntouched(s *subject) error {
	return each(s.variants(), func(v variant) error {
		t := weighted(s.table(v, 200, 7), 7, 1, 2)
		copied := copyTable(t)
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		if !equalTables(t, copied) {
			return errors.New("the table was changed by Learn")
		}
		fitted := recode(t, m.Schema())
		copied = copyTable(fitted)
		if _, err := askFitted(m, fitted); err != nil {
			return err
		}
		if !equalTables(fitted, copied) {
			return errors.New("the table was changed by Predict")
		}
		if e, ok := m.(learn.Explainer); ok {
			if _, err := e.Explain(fitted, 0); err != nil {
				return err
			}
			if !equalTables(fitted, copied) {
				return errors.New("the table was changed by Explain")
			}
		}
		if u, ok := m.(learn.Updater); ok {
			if _, err := updated(u, "b", fitted); err != nil {
				return err
			}
			if !equalTables(fitted, copied) {
				return errors.New("the table was changed by Add")
			}
		}
		return nil
	})
}

// tablesNotKept: what happens to a table after it was learnt does not matter.
func tablesNotKept(s *subject) error {
	return each(s.variants(), func(v variant) error {
		probe := s.table(v, 100, 9)
		t := copyTable(weighted(s.table(v, 200, 8), 8, 1, 2))
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		before, err := ask(m, probe)
		if err != nil {
			return err
		}
		schema := table.CopySchema(m.Schema())
		scramble(t)
		if !equalSchemas(m.Schema(), schema) {
			return errors.New("the model's schema changes with the table that it was learnt from")
		}
		after, err := ask(m, probe)
		if err != nil {
			return err
		}
		if err := differ(after, before, 0); err != nil {
			return fmt.Errorf("the model changes with the table that it was learnt from: %w", err)
		}
		u, ok := m.(learn.Updater)
		if !ok {
			return nil
		}
		more := s.table(v, 100, 10)
		kept := extend(more, m.Schema())
		want, err := updated(u, "b", extend(more, m.Schema()))
		if err != nil {
			return err
		}
		b, err := u.Begin(learn.Source{ID: "b"})
		if err != nil {
			return err
		}
		if err := b.Add(context.Background(), kept); err != nil {
			return err
		}
		scramble(kept)
		got, err := b.Freeze(context.Background())
		if err != nil {
			return err
		}
		if err := agree(got, want, probe, 0); err != nil {
			return fmt.Errorf("the update changes with the table that was added: %w", err)
		}
		return nil
	})
}

// missingCells: a learner that takes missing cells copes with columns of
// nothing else; any model copes with rows of nothing else.
func missingCells(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		t := copyTable(s.table(v, 150, 11))
		blind := copyTable(t)
		for j := range blind.Columns {
			blank(&blind.Columns[j])
		}
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		if err := soundOn(m, blind); err != nil {
			return fmt.Errorf("rows without a known cell: %w", err)
		}
		if !s.info.Takes.Missing {
			return nil
		}
		for j := range t.Columns {
			if t.Schema.Attributes[j].Name == targetName {
				continue
			}
			half := copyTable(t)
			blank(&half.Columns[j])
			m, err := s.learn(v, half, "a")
			if err != nil {
				return fmt.Errorf("column %q all missing: %w", t.Schema.Attributes[j].Name, err)
			}
			if err := soundOn(m, t); err != nil {
				return fmt.Errorf("column %q all missing: %w", t.Schema.Attributes[j].Name, err)
			}
		}
		return nil
	})
}

// oneClass: a target that never varies is learnt.
func oneClass(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		t := copyTable(s.table(v, 100, 13))
		target := t.Schema.Index(targetName)
		clear(t.Columns[target].Codes)
		for r := range t.Columns[target].Floats {
			t.Columns[target].Floats[r] = 0.1
		}
		for _, t := range []*table.Table{t, shrink(t)} {
			m, err := s.learn(v, t, "a")
			if err != nil {
				return err
			}
			a, err := ask(m, t)
			if err != nil {
				return err
			}
			if err := a.sound(); err != nil {
				return err
			}
			for r := range a.rows {
				if v == classes && a.classes[learn.Best(a.Row(r), a.classes)] != "yes" {
					return fmt.Errorf("row %d: a class that never occurred is predicted", r+1)
				}
				if v == regression && !same(a.Mean[r], 0.1, 1e-9) {
					return fmt.Errorf("row %d: %v is predicted, though every target is 0.1", r+1, a.Mean[r])
				}
			}
		}
		return nil
	})
}

// dullColumns: columns that never vary or repeat another do no harm.
func dullColumns(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		t := copyTable(s.table(v, 150, 14))
		schema, columns := t.Schema, t.Columns
		for j, a := range schema.Attributes {
			if a.Name == targetName {
				continue
			}
			a.Name += " again"
			schema.Attributes = append(schema.Attributes, a)
			columns = append(columns, columns[j])
			a.Name += " and constant"
			constant := table.Column{}
			if a.Kind == table.Nominal {
				constant.Codes = make([]int32, t.Rows())
			} else {
				constant.Floats = slices.Repeat([]float64{0.1}, t.Rows())
			}
			schema.Attributes = append(schema.Attributes, a)
			columns = append(columns, constant)
		}
		t = must(table.New(schema, columns, nil))
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		for j, a := range schema.Attributes {
			if a.Kind == table.Numeric && a.Name != targetName {
				columns[j].Floats[0] = 77 // not the constant
			}
		}
		return soundOn(m, t)
	})
}

// extremeNumbers: numbers at the ends of the range give sound models.
func extremeNumbers(s *subject) error {
	huge := []float64{1e300, -1e300, math.MaxFloat64, -math.MaxFloat64}
	tiny := []float64{1e-300, -1e-300, math.SmallestNonzeroFloat64, 0}
	all := slices.Concat(huge, tiny, []float64{1, -1})
	return withNumbers(s, [][]float64{huge, tiny, all, {1e15, 1e15 + 0.125, 1e15 + 0.25}})
}

// infiniteNumbers: infinite cells give sound models; an infinite target does
// too, or is refused.
func infiniteNumbers(s *subject) error {
	inf := math.Inf(1)
	lists := [][]float64{{inf, 1, 2}, {-inf, 1, 2}, {inf, -inf, 0}, {inf, -inf, 1e300, 1e-300}}
	if err := withNumbers(s, lists); err != nil {
		return err
	}
	if !s.info.Takes.Regression {
		return nil
	}
	t := copyTable(s.table(regression, 120, 16))
	t.Columns[t.Schema.Index(targetName)].Floats[7] = inf
	m, err := s.learn(regression, t, "a")
	if err != nil {
		return nil
	}
	return soundOn(m, t)
}

// withNumbers learns tables whose numbers are drawn from lists, and asks
// about all numbers of all lists. Infinite targets are left out.
func withNumbers(s *subject, lists [][]float64) error {
	numbers := slices.Concat(lists...)
	fill := func(t *table.Table, list []float64) {
		target := t.Schema.Index(targetName)
		for j := range t.Columns {
			for r := range t.Columns[j].Floats {
				x := list[(r*(j+1)+r/7)%len(list)]
				if j == target && math.IsInf(x, 0) {
					x = table.NA
				}
				t.Columns[j].Floats[r] = x
			}
		}
	}
	return each(s.predicted(), func(v variant) error {
		probe := copyTable(s.table(v, 20*len(numbers), 15))
		fill(probe, numbers)
		for _, list := range lists {
			t := copyTable(s.table(v, 120, 16))
			fill(t, list)
			m, err := s.learn(v, t, "a")
			if err != nil {
				return fmt.Errorf("numbers %v: %w", list, err)
			}
			if err := soundOn(m, probe); err != nil {
				return fmt.Errorf("numbers %v: %w", list, err)
			}
		}
		return nil
	})
}

// cancellation: whatever takes a context returns its error when it has ended,
// and no model.
func cancellation(s *subject) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	returned := func(what string, m learn.Model, err error) error {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s returned the error %v, expected the context's", what, err)
		}
		if m != nil {
			return fmt.Errorf("%s returned a model (%T) next to the context's error", what, m)
		}
		return nil
	}
	return each(s.variants(), func(v variant) error {
		t := s.table(v, 300, 17)
		m, err := s.learnIn(ended, task(v, t, "a"))
		if err := returned("Learn", m, err); err != nil {
			return err
		}
		if err := cancelHalfway(s, v); err != nil {
			return err
		}
		if m, err = s.learn(v, t, "a"); err != nil {
			return err
		}
		fitted := recode(t, m.Schema())
		if v != density {
			err = m.Predict(ended, fitted, learn.NewPredictions(m, t.Rows()))
			if err := returned("Predict", nil, err); err != nil {
				return err
			}
		}
		if u, ok := m.(learn.Updater); ok {
			b, err := u.Begin(learn.Source{ID: "b"})
			if err != nil {
				return err
			}
			if err := returned("Add", nil, b.Add(ended, fitted)); err != nil {
				return err
			}
			if err := b.Add(context.Background(), fitted); err != nil {
				return err
			}
			frozen, err := b.Freeze(ended)
			if err := returned("Freeze", frozen, err); err != nil {
				return err
			}
		}
		if j, ok := m.(learn.Merger); ok {
			merged, err := j.Merge(ended, m)
			if err := returned("Merge", merged, err); err != nil {
				return err
			}
		}
		if f, ok := m.(learn.Forgetter); ok {
			left, err := f.Forget(ended, "a")
			return returned("Forget", left, err)
		}
		return nil
	})
}

// cancelHalfway ends the context at the first progress below a half.
func cancelHalfway(s *subject, v variant) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reporting := learn.WithProgress(ctx, func(fraction float64) {
		if fraction < 0.5 {
			cancel()
		}
	})
	m, err := s.learnIn(reporting, task(v, s.table(v, 5000, 18), "a"))
	if ctx.Err() == nil {
		return nil // no progress was reported
	}
	if err := refused(m, err); err != nil {
		return fmt.Errorf("learning, when its context ended halfway: %w", err)
	}
	return nil
}

// progress: reported fractions lie in [0, 1], never fall and, if there are
// any, end at 1.
func progress(s *subject) error {
	return each(s.variants(), func(v variant) error {
		var mutex sync.Mutex
		var fractions []float64
		ctx := learn.WithProgress(context.Background(), func(fraction float64) {
			mutex.Lock()
			defer mutex.Unlock()
			fractions = append(fractions, fraction)
		})
		if _, err := s.learnIn(ctx, task(v, s.table(v, 5000, 19), "a")); err != nil {
			return err
		}
		last := 0.0
		for _, f := range fractions {
			if !(f >= last && f <= 1) {
				return fmt.Errorf("progress went from %v to %v", last, f)
			}
			last = f
		}
		if len(fractions) > 0 && last < 0.99 {
			return fmt.Errorf("progress ended at %v", last)
		}
		return nil
	})
}

// size: Size counts the weight of the rows that have a target.
func size(s *subject) error {
	return each(s.variants(), func(v variant) error {
		t := weighted(s.table(v, 200, 20), 20, 1, 0.5, 3)
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		want := rowsOf(v, t)
		size := m.Size()
		if !same(size.Rows, want, 1e-9) || size.Rules < 0 || size.Units < 0 {
			return fmt.Errorf("size %+v, expected rows of the weight %v", size, want)
		}
		return nil
	})
}

// rowWeights: a row of weight n is worth n rows.
func rowWeights(s *subject) error {
	return each(s.variants(), func(v variant) error {
		t := weighted(s.table(v, 150, 21), 21, 1, 2, 3)
		var repeated []int
		for r := range t.Rows() {
			for range int(t.Weights[r]) {
				repeated = append(repeated, r)
			}
		}
		single := must(table.New(t.Schema, t.Columns, nil))
		return sameModels(s, v, t, single.Select(repeated))
	})
}

// weightZero: a row of weight 0 is not there.
func weightZero(s *subject) error {
	return each(s.variants(), func(v variant) error {
		t := weighted(s.table(v, 150, 22), 22, 0, 1, 1)
		return sameModels(s, v, t, filter(t, func(row int) bool { return t.Weights[row] > 0 }))
	})
}

// sameModels learns two tables that should give the same model.
func sameModels(s *subject, v variant, got, want *table.Table) error {
	a, err := s.learn(v, got, "a")
	if err != nil {
		return err
	}
	b, err := s.learn(v, want, "a")
	if err != nil {
		return err
	}
	if err := agree(a, b, s.table(v, 100, 23), 1e-9); err != nil {
		return err
	}
	if s.info.Can.Rules {
		return sameRules(a, b)
	}
	return nil
}
