package learntest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// updated adds tables, which have the model's columns, from one source.
func updated(m learn.Updater, source string, tables ...*table.Table) (learn.Model, error) {
	u, err := m.Begin(learn.Source{ID: source, Name: source + ".csv"})
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := u.Add(context.Background(), t); err != nil {
			return nil, err
		}
	}
	return u.Freeze(context.Background())
}

// equal checks that a model is what learning everything at once gives, if
// that was promised, and that it is sound in any case.
func (s *subject) equal(v variant, got learn.Model, all *table.Table) error {
	probe := s.table(v, 150, 60)
	if err := soundOn(got, probe); err != nil {
		return err
	}
	if learn.PromiseOf(got).Contract != learn.Exact {
		return nil
	}
	want, err := s.learn(v, all, "all")
	if err != nil {
		return err
	}
	if err := agree(got, want, probe, 1e-9); err != nil {
		return err
	}
	if !same(got.Size().Rows, want.Size().Rows, 1e-9) {
		return fmt.Errorf("rows of the weight %v, expected %v", got.Size().Rows, want.Size().Rows)
	}
	if s.info.Can.Rules {
		return sameRules(got, want)
	}
	return nil
}

// updatesApart: the old model does not change while an update is made, nor a
// frozen one when the update goes on.
func updatesApart(s *subject) error {
	if !s.info.Can.Update {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		old, err := s.learn(v, s.table(v, 200, 61), "a")
		if err != nil {
			return err
		}
		probe := s.table(v, 100, 62)
		oldIsSame, err := unchanged(old, "the old model", probe)
		if err != nil {
			return err
		}
		for _, source := range []string{"a", "b"} { // a known source, and a new one
			u, err := old.(learn.Updater).Begin(learn.Source{ID: source})
			if err != nil {
				return err
			}
			more := extend(s.table(v, 80, 63), old.Schema())
			if err := u.Add(context.Background(), more); err != nil {
				return err
			}
			if err := oldIsSame(); err != nil {
				return err
			}
			frozen, err := u.Freeze(context.Background())
			if err != nil {
				return err
			}
			frozenIsSame, err := unchanged(frozen, "the frozen model", probe)
			if err != nil {
				return err
			}
			rows := frozen.Size().Rows
			for r := range more.Rows() {
				if err := u.Add(context.Background(), more.Slice(r, r+1)); err != nil {
					return err
				}
			}
			again, err := u.Freeze(context.Background())
			if err != nil {
				return err
			}
			if err := soundOn(again, probe); err != nil {
				return err
			}
			if !same(again.Size().Rows, rows+rowsOf(v, more), 1e-9) {
				return fmt.Errorf("after Freeze and Add again: rows of the weight %v", again.Size().Rows)
			}
			if err := errors.Join(oldIsSame(), frozenIsSame()); err != nil {
				return err
			}
		}
		return nil
	})
}

// unchanged returns what tells whether a model still answers and is saved as it
// is now.
func unchanged(m learn.Model, what string, probe *table.Table) (func() error, error) {
	before, err := ask(m, probe)
	if err != nil {
		return nil, err
	}
	parts, err := m.Parts()
	if err != nil {
		return nil, err
	}
	return func() error {
		after, err := ask(m, probe)
		if err == nil {
			err = differ(after, before, 0)
		}
		if err != nil {
			return fmt.Errorf("%s changed: %w", what, err)
		}
		again, err := m.Parts()
		if err == nil {
			err = equalParts(again, parts)
		}
		if err != nil {
			return fmt.Errorf("%s changed: %w", what, err)
		}
		return nil
	}, nil
}

// rowsOf returns the weight of the rows that can be learnt from.
func rowsOf(v variant, t *table.Table) float64 {
	total := 0.0
	target := t.Schema.Index(targetName)
	for r := range t.Rows() {
		if v == density || t.Text(r, target) != "" {
			total += t.Weight(r)
		}
	}
	return total
}

// updateContract: however rows are spread over a first table, updates and
// sources, and in whatever order they come, the model is what was promised.
func updateContract(s *subject) error {
	if !s.info.Can.Update {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		all := weighted(s.table(v, 240, 64), 64, 1, 1, 0.5, 2)
		random := rand.New(rand.NewPCG(64, s.options.Seed))
		for round := range 3 {
			order := random.Perm(all.Rows())
			first, second := 20+random.IntN(100), 140+random.IntN(80)
			m, err := s.learn(v, all.Select(order[:first]), "a")
			if err != nil {
				return err
			}
			// The second source comes in two tables and an empty one, the
			// third row by row, half of it as rows of the first source.
			rest := extend(all.Select(order[first:]), m.Schema())
			second -= first
			m, err = updated(m.(learn.Updater), "b", rest.Slice(0, second/2), rest.Slice(0, 0), rest.Slice(second/2, second))
			if err != nil {
				return err
			}
			rest = extend(rest.Slice(second, rest.Rows()), m.Schema())
			for i, source := range []string{"c", "a"} {
				var rows []*table.Table
				for r := i; r < rest.Rows(); r += 2 {
					rows = append(rows, extend(rest.Slice(r, r+1), m.Schema()))
				}
				if m, err = updated(m.(learn.Updater), source, rows...); err != nil {
					return err
				}
			}
			if err := s.equal(v, m, sequence(m, all, order, first, first+second)); err != nil {
				return fmt.Errorf("split %d: %w", round+1, err)
			}
		}
		return nil
	})
}

// ordered is a model to which the order of rows is known: it is what was promised
// of its rows source by source, in the order in which those came.
type ordered interface{ Ordered() bool }

func inOrder(m learn.Model) bool {
	o, ok := m.(ordered)
	return ok && o.Ordered()
}

// sequence returns the rows of updateContract as a model knows them: first, every
// other row behind the second source, the second source, the rest.
func sequence(m learn.Model, all *table.Table, order []int, first, second int) *table.Table {
	if !inOrder(m) {
		return all
	}
	rows := slices.Clone(order[:first])
	var third []int
	for i, r := range order[second:] {
		if i%2 == 1 {
			rows = append(rows, r)
		} else {
			third = append(third, r)
		}
	}
	return all.Select(slices.Concat(rows, order[first:second], third))
}

// updateValues: values and classes that updates bring extend the schema, also
// in the middle of an update.
func updateValues(s *subject) error {
	if !s.info.Can.Update {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		all := s.table(v, 600, 65)
		early, middle, late := stages(all)
		m, err := s.learn(v, early, "a")
		if err != nil {
			return err
		}
		more := extend(middle, m.Schema())
		last := extend(late, more.Schema) // its dictionaries grew meanwhile
		m, err = updated(m.(learn.Updater), "b", more, last)
		if err != nil {
			return err
		}
		if err := hasValues(m.Schema(), all.Schema); err != nil {
			return err
		}
		return s.equal(v, m, join(early, middle, late))
	})
}

// openColumns: columns in which no row has a known cell at first, so that
// nobody knows of what kind they are, count as soon as their first cells come,
// by an update or a merge, and no longer when the source that brought them is
// forgotten.
func openColumns(s *subject) error {
	if !s.info.Can.Update || !s.info.Takes.Missing {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		all := s.table(v, 400, 67)
		for _, blank := range []func(column int) bool{
			func(column int) bool { return true },
			func(column int) bool { return column%2 == 0 },
			func(column int) bool { return column%2 == 1 },
		} {
			early := blanked(all.Slice(0, 150), blank)
			more := shrink(all.Slice(150, 400))
			m, err := s.learn(v, early, "a")
			if err != nil {
				return err
			}
			if learn.PromiseOf(m).Contract != s.info.Contract {
				return nil // settings have it do less: such columns are not given to it
			}
			exact := s.info.Contract == learn.Exact
			opened := extend(more, m.Schema().Opened(more.Schema))
			if m, err = updated(m.(learn.Updater), "b", opened.Slice(0, 1), opened.Slice(1, 100), opened.Slice(100, 250)); err != nil {
				return err
			}
			if err := s.equal(v, m, join(early, more)); err != nil {
				return fmt.Errorf("after an update: %w", err)
			}
			for _, a := range m.Schema().Attributes {
				if a.Open() || a.Kind != more.Schema.Attributes[more.Schema.Index(a.Name)].Kind {
					return fmt.Errorf("after an update column %q is %s with %d values: its first cells did not bring it to life", a.Name, a.Shown(), len(a.Values))
				}
			}
			if f, ok := m.(learn.Forgetter); ok && exact {
				left, err := f.Forget(context.Background(), "b")
				if err != nil {
					return err
				}
				if err := s.equal(v, left, early); err != nil {
					return fmt.Errorf("after forgetting: %w", err)
				}
			}
			if err := s.mergesOpen(v, early, more); err != nil {
				return fmt.Errorf("merged: %w", err)
			}
		}
		return nil
	})
}

// mergesOpen merges models of two tables, the first with open columns.
func (s *subject) mergesOpen(v variant, early, more *table.Table) error {
	a, err := s.learn(v, early, "a")
	if err != nil {
		return err
	}
	j, ok := a.(learn.Merger)
	if !ok {
		return nil
	}
	b, err := s.learn(v, more, "b")
	if err != nil {
		return err
	}
	m, err := j.Merge(context.Background(), b)
	if err != nil {
		return err
	}
	return s.equal(v, m, join(early, more))
}

// blanked returns a table in which some columns, but never the target, have no
// known cell, and so no kind.
func blanked(t *table.Table, blank func(column int) bool) *table.Table {
	schema := table.CopySchema(t.Schema)
	columns := slices.Clone(t.Columns)
	for j := range columns {
		if a := &schema.Attributes[j]; a.Name != targetName && blank(j) {
			*a = table.Attribute{Name: a.Name}
			columns[j] = table.Column{Codes: slices.Repeat([]int32{table.Missing}, t.Rows())}
		}
	}
	return shrink(must(table.New(schema, columns, t.Weights)))
}

// stages splits a table by the last nominal value of each column: late rows
// alone have those, middle rows alone those before, as far as the number of
// values goes. Dictionaries hold what occurs.
func stages(t *table.Table) (early, middle, late *table.Table) {
	stage := make([]int, t.Rows())
	for j, c := range t.Columns {
		last := int32(len(t.Schema.Attributes[j].Values) - 1)
		for r, code := range c.Codes {
			switch {
			case code == last:
				stage[r] = 2
			case code == last-1 && code > 0:
				stage[r] = max(stage[r], 1)
			}
		}
	}
	at := func(n int) *table.Table {
		return shrink(filter(t, func(row int) bool { return stage[row] == n || row%17 == n && stage[row] < n }))
	}
	return at(0), at(1), at(2)
}

// hasValues returns an error unless the dictionaries of two schemas hold the
// same values.
func hasValues(got, want *table.Schema) error {
	for i := range want.Attributes {
		a := &want.Attributes[i]
		j := got.Index(a.Name)
		if j < 0 {
			return fmt.Errorf("column %q is not in the schema", a.Name)
		}
		x, y := slices.Sorted(slices.Values(got.Attributes[j].Values)), slices.Sorted(slices.Values(a.Values))
		if !slices.Equal(x, y) {
			return fmt.Errorf("column %q has the values %q, expected %q", a.Name, x, y)
		}
	}
	return nil
}

// merging: models learnt apart become the model of all their rows, in either
// order, and stay as they are; a model of another learner is refused.
func merging(s *subject) error {
	if !s.info.Can.Merge {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		early, middle, _ := stages(s.table(v, 600, 66))
		a, err := s.learn(v, early, "a")
		if err != nil {
			return err
		}
		before, err := a.Parts()
		if err != nil {
			return err
		}
		for _, source := range []string{"b", "a"} { // the same source counts twice
			b, err := s.learn(v, middle, source)
			if err != nil {
				return err
			}
			for i, pair := range [][2]learn.Model{{a, b}, {b, a}} {
				m, err := pair[0].(learn.Merger).Merge(context.Background(), pair[1])
				if err != nil {
					return err
				}
				all := join(early, middle)
				if i == 1 && inOrder(m) {
					all = join(middle, early)
				}
				if err := s.equal(v, m, all); err != nil {
					return err
				}
			}
		}
		if _, err := a.(learn.Merger).Merge(context.Background(), stranger{a}); err == nil {
			return errors.New("a model of another learner is merged")
		}
		after, err := a.Parts()
		if err != nil {
			return err
		}
		return equalParts(after, before)
	})
}

// stranger is a model of another learner.
type stranger struct{ learn.Model }

func (stranger) Learner() string { return "a stranger" }

// forgetting: what is left after forgetting is what learning the rest gives;
// sources are listed as they came, and unknown ones are refused.
func forgetting(s *subject) error {
	if !s.info.Can.Forget {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		sources := []string{"a", "b", "c"}
		tables := make([]*table.Table, len(sources))
		for i := range tables {
			tables[i] = weighted(s.table(v, 80, uint64(70+i)), uint64(70+i), 1, 2)
		}
		m, err := s.learnSources(v, sources, tables)
		if err != nil {
			return err
		}
		f := m.(learn.Forgetter)
		var ids []string
		for _, source := range f.Sources() {
			ids = append(ids, source.ID)
		}
		if !slices.Equal(ids, sources) {
			return fmt.Errorf("its sources are %q, expected %q", ids, sources)
		}
		if _, err := f.Forget(context.Background(), "no such source"); err == nil {
			return errors.New("an unknown source is forgotten")
		}
		if _, err := f.Forget(context.Background(), sources...); err == nil {
			return errors.New("a model that forgot everything is still a model")
		}
		for i := range sources {
			left, err := f.Forget(context.Background(), sources[i])
			if err != nil {
				return err
			}
			if err := s.equal(v, left, join(slices.Delete(slices.Clone(tables), i, i+1)...)); err != nil {
				return fmt.Errorf("without %q: %w", sources[i], err)
			}
		}
		one, err := f.Forget(context.Background(), "a", "c")
		if err != nil {
			return err
		}
		return s.equal(v, one, tables[1])
	})
}

// learnSources learns the first table and updates with or merges the others.
func (s *subject) learnSources(v variant, sources []string, tables []*table.Table) (learn.Model, error) {
	m, err := s.learn(v, tables[0], sources[0])
	for i := 1; i < len(tables) && err == nil; i++ {
		if u, ok := m.(learn.Updater); ok {
			m, err = updated(u, sources[i], extend(tables[i], m.Schema()))
			continue
		}
		var other learn.Model
		if other, err = s.learn(v, tables[i], sources[i]); err == nil {
			j, ok := m.(learn.Merger)
			if !ok {
				return nil, errors.New("a model that can forget can neither update nor merge")
			}
			m, err = j.Merge(context.Background(), other)
		}
	}
	return m, err
}

// forgettingValues: values and classes that only forgotten sources brought
// leave the schema, the others stay.
func forgettingValues(s *subject) error {
	if !s.info.Can.Forget {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		early, middle, late := stages(s.table(v, 600, 74))
		m, err := s.learnSources(v, []string{"a", "b", "c"}, []*table.Table{early, middle, late})
		if err != nil {
			return err
		}
		for id, rest := range map[string]*table.Table{"a": join(middle, late), "b": join(early, late), "c": join(early, middle)} {
			left, err := m.(learn.Forgetter).Forget(context.Background(), id)
			if err != nil {
				return err
			}
			if err := hasValues(left.Schema(), shrink(rest).Schema); err != nil {
				return fmt.Errorf("without %q: %w", id, err)
			}
			if err := s.equal(v, left, rest); err != nil {
				return fmt.Errorf("without %q: %w", id, err)
			}
		}
		return nil
	})
}
