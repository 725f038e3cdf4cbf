package relation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// surroundings is what rows point at, by source: the rows of every table, and
// programs. As relations are sets, a row that comes twice counts once.
type surroundings struct {
	of, target string
	tables     []tableRows // in order of names
	links      []table.Link
	programs   []sourceProgram
}

type tableRows struct {
	name    string
	primary []string
	rows    *kept.Rows
}

// sourceProgram is the program that a source brought.
type sourceProgram struct {
	ID      string `cbor:"id"`
	Name    string `cbor:"name"`
	Program string `cbor:"program"`
	Bias    string `cbor:"bias"`
}

// with returns the surroundings with those of a source more.
func (s *surroundings) with(ctx context.Context, source learn.Source, l *table.Linked) (*surroundings, error) {
	if l == nil {
		return s, nil
	}
	if s.of != "" && s.of != l.Of {
		return nil, fmt.Errorf("the rows are of %q, and those that were learnt of %q", l.Of, s.of)
	}
	more := &surroundings{of: l.Of, target: cmp.Or(s.target, l.Target), tables: slices.Clone(s.tables), links: slices.Clone(s.links), programs: slices.Clone(s.programs)}
	for _, link := range l.Links {
		if !slices.ContainsFunc(more.links, func(have table.Link) bool { return sameLink(have, link) }) {
			more.links = append(more.links, link)
		}
	}
	for _, t := range l.Tables {
		i := slices.IndexFunc(more.tables, func(have tableRows) bool { return have.name == t.Name })
		if i < 0 {
			i = len(more.tables)
			more.tables = append(more.tables, tableRows{t.Name, t.Primary, &kept.Rows{}})
		}
		if t.Table.Rows() == 0 {
			continue
		}
		g := more.tables[i].rows.Gather(source, learn.NoTarget, nil)
		if err := g.Add(ctx, more.known(t.Name, t.Table)); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		rows, err := g.Rows(ctx)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		more.tables[i].rows = rows
	}
	slices.SortFunc(more.tables, func(a, b tableRows) int { return cmpStrings(a.name, b.name) })
	if l.Program != "" || l.Bias != "" {
		more.programs = append(more.programs, sourceProgram{source.ID, source.Name, l.Program, l.Bias})
	}
	return more, nil
}

// known is a table without what is to be predicted, which a folder that is read again may
// have.
func (s *surroundings) known(name string, t *table.Table) *table.Table {
	at := t.Schema.Index(s.target)
	if name != s.of || at < 0 {
		return t
	}
	var others []int
	for i := range t.Schema.Attributes {
		if i != at {
			others = append(others, i)
		}
	}
	return t.Project(others)
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sameLink(a, b table.Link) bool {
	return a.Table == b.Table && a.To == b.To && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.ToColumns, b.ToColumns)
}

// linked returns what all sources brought together; nil if there is nothing.
func (s *surroundings) linked(ctx context.Context) (*table.Linked, error) {
	if s.of == "" {
		return nil, nil
	}
	l := &table.Linked{Of: s.of, Target: s.target, Links: s.links}
	for _, t := range s.tables {
		rows, err := t.rows.Table(ctx)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		if len(t.rows.Sources()) > 1 {
			if err := t.clash(rows, s.links); err != nil {
				return nil, err
			}
		}
		if len(rows.Schema.Attributes) > 0 {
			l.Tables = append(l.Tables, table.NamedTable{Name: t.name, Primary: t.primary, Table: s.known(t.name, rows)})
		}
	}
	programs := slices.Clone(s.programs)
	slices.SortFunc(programs, func(a, b sourceProgram) int { return cmpStrings(a.Program, b.Program) })
	for i, p := range programs {
		if i > 0 && p.Program == programs[i-1].Program {
			continue
		}
		l.Program += p.Program + "\n"
		if l.Bias == "" {
			l.Bias = p.Bias
		}
	}
	return l, nil
}

// fewestClashes is how many rows must point elsewhere for it to be no correction.
const fewestClashes = 5

// clash returns an error if most rows of a table that have come before, by their keys,
// point elsewhere now: then they are not the same things, and what one points at would be
// said of the other.
func (t *tableRows) clash(rows *table.Table, links []table.Link) error {
	var out []string
	for _, l := range links {
		if l.Table == t.name {
			out = append(out, l.Columns...)
		}
	}
	if len(out) == 0 || len(t.primary) == 0 {
		return nil
	}
	key, points := namer(rows, t.primary), namer(rows, out)
	before := make(map[string]int, rows.Rows())
	again, elsewhere, example := 0, 0, ""
	for r := range rows.Rows() {
		k := key(r)
		at, known := before[k]
		if !known || k == "" {
			before[k] = r
			continue
		}
		again++
		if points(r) != points(at) {
			elsewhere++
			example = fmt.Sprintf("%s, with %s %s before and %s now", k, strings.Join(out, " and "), points(at), points(r))
		}
	}
	if elsewhere < fewestClashes || 2*elsewhere < again {
		return nil
	}
	return fmt.Errorf("table %s: %d of %d rows whose %s came before point elsewhere now (%s); they are other things: give them keys of their own, or learn a model of their own", t.name, elsewhere, again, strings.Join(t.primary, " and "), example)
}

// without returns the surroundings without those of some sources.
func (s *surroundings) without(ids ...string) (*surroundings, error) {
	less := &surroundings{of: s.of, target: s.target, links: s.links}
	for _, t := range s.tables {
		known := t.rows.Sources()
		var here []string
		for _, id := range ids {
			if slices.ContainsFunc(known, func(k learn.Source) bool { return k.ID == id }) {
				here = append(here, id)
			}
		}
		rows := t.rows
		if len(here) > 0 {
			var err error
			if rows, err = t.rows.Forget(here...); err != nil {
				return nil, err
			}
		}
		less.tables = append(less.tables, tableRows{t.name, t.primary, rows})
	}
	for _, p := range s.programs {
		if !slices.Contains(ids, p.ID) {
			less.programs = append(less.programs, p)
		}
	}
	return less, nil
}

// merged returns the surroundings of several models.
func merged(ctx context.Context, all []*surroundings) (*surroundings, error) {
	whole := &surroundings{}
	for _, s := range all {
		if s.of == "" {
			continue
		}
		if whole.of != "" && whole.of != s.of {
			return nil, fmt.Errorf("one model is of rows of %q and the other of %q", whole.of, s.of)
		}
		whole.of, whole.target = s.of, s.target
		for _, link := range s.links {
			if !slices.ContainsFunc(whole.links, func(have table.Link) bool { return sameLink(have, link) }) {
				whole.links = append(whole.links, link)
			}
		}
		for _, t := range s.tables {
			i := slices.IndexFunc(whole.tables, func(have tableRows) bool { return have.name == t.name })
			if i < 0 {
				whole.tables = append(whole.tables, t)
				continue
			}
			rows, err := kept.MergeRows(ctx, whole.tables[i].rows, t.rows)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", t.name, err)
			}
			whole.tables[i].rows = rows
		}
		for _, p := range s.programs {
			if !slices.Contains(whole.programs, p) {
				whole.programs = append(whole.programs, p)
			}
		}
	}
	slices.SortFunc(whole.tables, func(a, b tableRows) int { return cmpStrings(a.name, b.name) })
	return whole, nil
}

// Relearning says how the clauses are learnt again from the rows that are kept.
func (m *Model) Relearning() kept.Relearning { return m.relearning(m.around) }

func (m *Model) relearning(around *surroundings) kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "list of clauses", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learned(learnRows(ctx, rows, around, m.lesson))
		},
	}
}

// amid is the model with other surroundings, for learning again.
type amid struct {
	*Model
	surroundings *surroundings
}

func (a amid) Relearning() kept.Relearning { return a.relearning(a.surroundings) }

// Begin starts to learn more rows, and what they point at.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	return &update{model: m, source: source, gathering: m.rows.Gather(source, m.target, m.schema), around: m.around}, nil
}

type update struct {
	model     *Model
	source    learn.Source
	gathering *kept.Gathering
	around    *surroundings
	last      *table.Linked
}

func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := table.Extends(u.model.schema, t.Schema); err != nil {
		return err
	}
	if t.Linked != nil && t.Linked != u.last { // batches of one source share it
		around, err := u.around.with(ctx, u.source, t.Linked)
		if err != nil {
			return err
		}
		u.around, u.last = around, t.Linked
	}
	return u.gathering.Add(ctx, t)
}

func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learned(learnRows(ctx, rows, u.around, u.model.lesson))
}

// Merge returns the clauses of all models' rows.
func (m *Model) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	all := []*surroundings{m.around}
	for _, o := range others {
		if o, ok := o.(*Model); ok {
			all = append(all, o.around)
		}
	}
	around, err := merged(ctx, all)
	if err != nil {
		return nil, err
	}
	return kept.Merge(ctx, amid{m, around}, others...)
}

// Forget returns the clauses of the other sources' rows.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	m, ids, err := m.unsaid(ctx, ids)
	if err != nil || len(ids) == 0 {
		return m, err
	}
	around, err := m.around.without(ids...)
	if err != nil {
		return nil, err
	}
	return kept.Forget(ctx, amid{m, around}, ids...)
}

// Sources lists the sources of the rows that are kept.
func (m *Model) Sources() []learn.Source { return append(kept.Sources(m), m.experts()...) }

// Kept returns the rows that the clauses were learnt from, with all that they point at.
func (m *Model) Kept(ctx context.Context) ([]learn.Learnt, error) {
	all, err := kept.Kept(ctx, m)
	if err != nil || m.linked == nil {
		return all, err
	}
	for i := range all {
		all[i].Table = all[i].Table.WithLinked(m.linked)
	}
	return all, nil
}
