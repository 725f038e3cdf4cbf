package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// next returns the model after one more session.
func (m *Model) next(ctx context.Context, source learn.Source, own *table.Table) (*Model, error) {
	number := 1
	if n := len(m.sessions); n > 0 {
		number = m.sessions[n-1].number + 1
	}
	if m.settings.Boost == automaticBoost {
		calm, err := m.calmer(ctx, source, own)
		if err != nil {
			return nil, err
		}
		m = m.boosting(calm, m.settings.Members)
	}
	study, err := newStudy(m, source, number, own)
	if err != nil {
		return nil, err
	}
	s := &session{number: number, source: source, weight: weightOf(own, nil)}
	if err := s.meet(ctx, m, own); err != nil {
		return nil, err
	}
	if s.facts.knewAll(m.settings) {
		err = study.recognise(ctx, m, own)
	} else {
		err = study.boost(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.enrol(study.members)
	if s.losses, err = study.judge(ctx, m, own); err != nil {
		return nil, err
	}
	if s.kept, s.facts.Hard, s.facts.Anchors, err = study.keep(ctx, own); err != nil {
		return nil, err
	}
	if s.rows, err = s.kept.Table(ctx); err != nil {
		return nil, err
	}
	s.facts.Members, s.facts.Tried, s.facts.Weak, s.facts.Alike, s.facts.Stopped = len(s.members), study.tried, study.weak, study.alike, study.stopped
	next, err := m.with(append(slices.Clone(m.sessions), s))
	if err != nil {
		return nil, err
	}
	if next, err = next.retire(ctx, s); err != nil {
		return nil, err
	}
	right, err := next.right(ctx, s.rows)
	if err != nil {
		return nil, err
	}
	s.then = weightOf(s.rows, right)
	learn.Report(ctx, 1)
	return next, nil
}

// recognise ends a session before it begins, as the model knows its rows
// already: no member is trained, and the rows that it gets wrong are kept.
func (s *study) recognise(ctx context.Context, m *Model, own *table.Table) error {
	right, err := m.right(ctx, own)
	if err != nil {
		return err
	}
	for r := range right {
		s.hard[r] = !right[r]
	}
	s.stopped = "nothing in it was new"
	return nil
}

// retire drops members if there are more than the limit: those that are right
// least often on the kept rows of classes that they have seen. Of equals the
// older goes first. The newest session keeps its members.
func (m *Model) retire(ctx context.Context, newest *session) (*Model, error) {
	var all []*member
	for _, s := range m.sessions[:len(m.sessions)-1] {
		for i := range s.members {
			all = append(all, &s.members[i])
		}
	}
	surplus := len(all) + len(newest.members) - m.settings.Limit
	if surplus <= 0 {
		return m, nil
	}
	kept, err := m.keptRows()
	if err != nil {
		return nil, err
	}
	merit := map[*member]float64{}
	truth := kept.Columns[m.target].Codes
	err = m.ask(ctx, kept, func(g *group, of *member, out *learn.Predictions) {
		seen := make([]bool, len(m.classes()))
		for c, name := range m.classes() {
			seen[c] = slices.Contains(of.seen, name)
		}
		names := g.schema.Attributes[m.target].Values
		right, all := 0.0, 0.0
		for r, c := range truth {
			if !seen[c] {
				continue
			}
			all += kept.Weight(r)
			if g.classes[learn.Best(out.Row(r), names)] == int(c) {
				right += kept.Weight(r)
			}
		}
		merit[of] = share(right, all)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *member) int { return cmp.Compare(merit[a], merit[b]) })
	gone := map[*member]bool{}
	for _, of := range all[:min(surplus, len(all))] {
		gone[of] = true
	}
	newest.facts.Retired = len(gone)
	sessions := slices.Clone(m.sessions)
	for i, s := range sessions {
		thinned := *s
		thinned.members = nil
		for k := range s.members {
			if !gone[&s.members[k]] {
				thinned.members = append(thinned.members, s.members[k])
			}
		}
		if len(thinned.members) < len(s.members) {
			sessions[i] = &thinned
		}
	}
	return m.with(sessions)
}

// update is a session in the making. What is added between two calls of
// Freeze is one session.
type update struct {
	model   *Model
	source  learn.Source
	pending *kept.Gathering // nil: nothing was added
}

// Begin returns a private copy to add rows to.
func (m *Model) Begin(source learn.Source) (learn.Update, error) {
	return &update{model: m, source: source}, nil
}

// Add keeps the rows until the session is learnt by Freeze.
func (u *update) Add(ctx context.Context, t *table.Table) error {
	if err := table.NewVocabulary(u.model.schema, nil).Check(t.Schema); err != nil {
		return err
	}
	if t.Rows() == 0 {
		return ctx.Err()
	}
	g := u.pending
	if g == nil {
		g = (&kept.Rows{}).Gather(u.source, u.model.target, u.model.schema)
	}
	if err := g.Add(ctx, t); err != nil {
		return err
	}
	u.pending = g
	return nil
}

// Freeze learns what was added as one session. Rows that are added later
// belong to the next one.
func (u *update) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if u.pending == nil {
		return u.model.able(), nil
	}
	rows, err := u.pending.Rows(ctx)
	if err != nil {
		return nil, err
	}
	own, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	next := u.model
	if own.Rows() > 0 { // or none had a class
		if next, err = u.model.next(ctx, u.source, own); err != nil {
			return nil, err
		}
	}
	u.model, u.pending = next, nil
	return next.able(), nil
}

// Sources lists the sources in the order in which they came.
func (m *Model) Sources() []learn.Source {
	var sources []learn.Source
	for _, s := range m.sessions {
		if !slices.ContainsFunc(sources, func(known learn.Source) bool { return known.ID == s.source.ID }) {
			sources = append(sources, s.source)
		}
	}
	return sources
}

// Forget returns the model without the sessions of some sources: their members
// and their kept rows go. Where rows of them were kept, members of later
// sessions have learnt from these, too; such a session is learnt again from its
// own kept rows and those kept of the sources that stay or, if it kept none,
// loses its members, so that no row of the forgotten is in any member.
func (m *Model) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stay, err := kept.Without(m.sessions, func(s *session) learn.Source { return s.source }, ids...)
	if err != nil {
		return nil, err
	}
	if len(stay) == 0 {
		return nil, fmt.Errorf("nothing is left when all sources are forgotten")
	}
	first := slices.IndexFunc(m.sessions, func(s *session) bool { return slices.Contains(ids, s.source.ID) })
	left := &Model{settings: m.settings, seed: m.seed, crowd: crowd{target: m.target}}
	if first > 0 {
		if left, err = left.with(m.sessions[:first]); err != nil {
			return nil, err
		}
	}
	for i, s := range stay[first:] {
		switch tainted, err := m.tainted(s, ids, stay); {
		case err != nil:
			return nil, err
		case tainted && s.rows.Rows() == 0:
			s = s.dropped()
		case tainted:
			part := learn.WithProgress(ctx, func(fraction float64) {
				learn.Report(ctx, (float64(i)+fraction)/float64(len(stay)-first))
			})
			if s, err = left.again(part, s); err != nil {
				return nil, err
			}
		}
		if left, err = left.with(append(slices.Clone(left.sessions), s)); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(left.sessions, func(s *session) bool { return len(s.members) > 0 }) {
		return nil, fmt.Errorf("all members have learnt from the forgotten rows, and no row of the others was kept to learn them again; learn the sources that stay anew")
	}
	return left.able(), nil
}

// tainted reports whether the members of a session have something of forgotten
// sources: rows that were kept of them earlier, or classes that nobody else
// has.
func (m *Model) tainted(s *session, ids []string, stay []*session) (bool, error) {
	schemas := make([]*table.Schema, len(stay))
	for i, other := range stay {
		schemas[i] = other.rows.Schema
	}
	left, err := table.Union(schemas...)
	if err != nil {
		return false, err
	}
	for _, of := range s.members {
		classes := &of.model.Schema().Attributes[m.target]
		if slices.Contains(table.Recoding(classes, &left.Attributes[m.target]), table.Unseen) {
			return true, nil
		}
	}
	return slices.ContainsFunc(m.sessions, func(before *session) bool {
		return before.number < s.number && before.rows.Rows() > 0 && slices.Contains(ids, before.source.ID)
	}), nil
}

// dropped is a session whose members had to go.
func (s *session) dropped() *session {
	bare := *s
	bare.members = nil
	bare.facts.Members, bare.facts.Again = 0, false
	bare.facts.Stopped = "its members had learnt from rows that were forgotten since, and no row of it was kept to learn it again"
	return &bare
}

// again learns a session from its kept rows.
func (m *Model) again(ctx context.Context, s *session) (*session, error) {
	study, err := newStudy(m, s.source, s.number, s.rows)
	if err != nil {
		return nil, err
	}
	if err := study.boost(ctx); err != nil {
		return nil, err
	}
	same := *s
	same.enrol(study.members)
	same.facts.Members, same.facts.Tried, same.facts.Weak, same.facts.Alike, same.facts.Stopped = len(study.members), study.tried, study.weak, study.alike, study.stopped
	same.facts.Again, same.facts.Retired = true, 0
	same.losses, err = study.judge(ctx, m, s.rows)
	learn.Report(ctx, 1)
	return &same, err
}
