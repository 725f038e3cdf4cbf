package life

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Edit says how somebody corrects a model: who and why, for the record, and by
// which rows the correction is judged.
type Edit struct {
	Preview bool    // only say what it would do: nothing is changed
	Who     string  // makes the change
	Note    string  // why
	Version int     // that it is a change of, rows that came live since apart; 0 is whichever is the newest
	On      []*Data // that it is judged on; none is the rows that the model learnt
	Groups  string  // column by whose values it is judged too
	At      Elsewhere
}

// onTable is data that a change is judged on.
type onTable struct {
	EffectTable
	table *table.Table
	// pieces are the sources of rows that were learnt, in their order.
	pieces []piece
	by     Division // of rows held out
}

// piece is a source among others: its name, and how many of the rows are its.
type piece struct {
	data string
	rows int
}

// edit is change of somebody who wants to know, or know beforehand, what it does
// to the answers. What is to be judged on is read before anything is changed; the
// judging itself holds up nobody.
func (h *Home) edit(ctx context.Context, name string, e Edit, make func(h *Home, p *Part) (*step, error)) (*Learnt, error) {
	var before *Part
	var after learn.Model
	var on []onTable
	prepare := func(h *Home, p *Part) (*step, error) {
		if err := Unchanged(p.Versions, e.Version); err != nil {
			return nil, err
		}
		s, err := make(h, p)
		if err != nil {
			return nil, err
		}
		s.record.By, s.record.Note = e.Who, e.Note
		before, after = p, s.model
		on, err = h.readOn(ctx, p, s.model, &e)
		return s, err
	}
	var l *Learnt
	var err error
	if e.Preview {
		l, err = h.preview(name, prepare)
	} else {
		l, err = h.change(ctx, name, prepare)
	}
	if err != nil {
		return nil, err
	}
	l.Part.Words = before.Words
	l.Effect, err = h.effect(ctx, before, after, on, &e)
	switch {
	case err != nil && (e.Preview || errors.Is(err, context.Canceled)):
		return nil, err
	case err != nil:
		h.note(fmt.Sprintf("%v is kept, but what it does to answers is not known: %v", l.Part.Version, err))
	}
	return l, nil
}

// Unchanged is an error if somebody decided anything since a version that a change
// is about: nothing may have come after it but rows that were learnt live. 0 is
// whichever version is the newest.
func Unchanged(versions []store.Version, number int) error {
	at := slices.IndexFunc(versions, func(v store.Version) bool { return v.Number == number })
	if number == 0 || at >= 0 && !slices.ContainsFunc(versions[at+1:], func(v store.Version) bool { return !cameLive(v) }) {
		return nil
	}
	if len(versions) == 0 {
		return fmt.Errorf("%w: there is no version %d yet", store.ErrConflict, number)
	}
	newest := versions[len(versions)-1]
	return fmt.Errorf("%w: %s is at version %d by now, this was a change of version %d; look at its effect again", store.ErrConflict, newest.Model, newest.Number, number)
}

// preview makes the next version of a model, which nobody keeps.
func (h *Home) preview(name string, make func(h *Home, p *Part) (*step, error)) (*Learnt, error) {
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	before, err := h.Load(name)
	if err != nil {
		return nil, err
	}
	s, err := make(h, before)
	if err != nil {
		return nil, err
	}
	after := h.unkept(s.model, name, s.record, before.Versions)
	after.Version.Number = before.Version.Number + 1
	l := h.newLearnt(after, before.Version)
	l.Preview = true
	return l, nil
}

// readOn reads the data that a change is judged on, with the columns of both
// models and the one that rows are grouped by.
func (h *Home) readOn(ctx context.Context, before *Part, after learn.Model, e *Edit) ([]onTable, error) {
	if len(e.On) > 0 && before.Target() == learn.NoTarget {
		return nil, fmt.Errorf("%s is a density of all columns; it has no answers to be judged by", before.Name)
	}
	var tables []onTable
	for _, d := range e.On {
		t, learnt, err := h.readJudged(ctx, d, before, after, e.Groups)
		if err != nil {
			return nil, err
		}
		tables = append(tables, onTable{EffectTable: EffectTable{Data: d.called(), Learnt: learnt}, table: t})
	}
	return tables, nil
}

// readJudged reads data with the columns of two models, and says whether the
// first has learnt them.
func (h *Home) readJudged(ctx context.Context, d *Data, before *Part, after learn.Model, by string) (*table.Table, bool, error) {
	schema, err := table.Union(before.Schema(), after.Schema())
	if err != nil {
		return nil, false, err
	}
	if by != "" && schema.Index(by) < 0 {
		schema = table.CopySchema(schema)
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: by, Kind: table.Nominal})
	}
	o := d.options()
	o.Schema, o.Extend = schema, true
	t, report, err := d.Read(ctx, o)
	if err != nil {
		return nil, false, err
	}
	h.note(report.Notes...)
	learnt := false
	for _, v := range live(before.Model, before.Versions) {
		learnt = learnt || report.Hash != "" && v.Source.Hash == report.Hash
	}
	return t, learnt, nil
}

// mostJudged is how many learnt rows a change is judged on at most.
const mostJudged = 500_000

// effect judges a change: by the data that were named, else by the rows that the
// model learnt, held out where that can be done.
func (h *Home) effect(ctx context.Context, before *Part, after learn.Model, on []onTable, e *Edit) (*Effect, error) {
	if _, acts := learn.Ability[policy](before.Model); acts || before.Target() == learn.NoTarget || after.Target() == learn.NoTarget {
		return nil, nil
	}
	if len(on) > 0 {
		return judge(ctx, before, after, append(on, h.learntTable(ctx, before, on, e)...), e.Groups)
	}
	held, answers, err := h.heldOut(ctx, before, after, e)
	if err != nil {
		return nil, err
	}
	if answers == nil {
		return judge(ctx, before, after, h.learntTable(ctx, before, nil, e), e.Groups)
	}
	effect := newEffect(before, e.Groups)
	if err := effect.add(*held, answers); err != nil {
		return nil, err
	}
	return effect, effect.judge(ctx, before.Model, after, h.learntTable(ctx, before, nil, e))
}

// judge is the effect of a change on some tables.
func judge(ctx context.Context, before *Part, after learn.Model, tables []onTable, by string) (*Effect, error) {
	effect := newEffect(before, by)
	return effect, effect.judge(ctx, before.Model, after, tables)
}

// learntTable returns the rows that a model learnt: those of its files as they
// stand there, else as the model keeps them. It is none where they are not there,
// are among what is judged already, or are too many.
func (h *Home) learntTable(ctx context.Context, p *Part, on []onTable, e *Edit) []onTable {
	quiet := *h
	quiet.Note = nil
	rows := 0.0
	for _, v := range live(p.Model, p.Versions) {
		rows += v.Source.Rows
	}
	if rows > mostJudged || slices.ContainsFunc(on, func(t onTable) bool { return t.Learnt }) {
		return nil
	}
	var kept []learn.Learnt
	if k, ok := learn.Ability[learn.Keeper](p.Model); ok {
		kept, _ = k.Kept(ctx) // without them there are files
	}
	all := onTable{EffectTable: EffectTable{Learnt: true}}
	var parts []learn.Learnt
	var names []string
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind == store.Tell {
			continue
		}
		part := learn.Learnt{}
		if isFile(v.Source) || e.At.find(v.Source) != "" {
			part.Table, _, _ = quiet.readAgain(ctx, p, v, e.At, table.Options{Schema: p.Schema()})
		}
		if at := slices.IndexFunc(kept, func(l learn.Learnt) bool { return l.Source.ID == v.Source.ID }); part.Table == nil && at >= 0 {
			all.Kept = true
			part.Table, _, _ = table.Conform(kept[at].Table, p.Schema(), false)
		}
		if part.Table != nil {
			parts, names = append(parts, part), append(names, v.Source.Name)
			all.pieces = append(all.pieces, piece{v.Source.Name, part.Table.Rows()})
		}
	}
	var err error
	if len(parts) == 0 {
		return nil
	}
	if all.table, err = knowledge.Join(p.Schema(), parts); err != nil {
		return nil
	}
	all.Data = strings.Join(names, ", ")
	return []onTable{all}
}

// isFile reports whether a source is a file, or a set that is built in.
func isFile(s store.Source) bool {
	if info, err := os.Stat(s.Path); err == nil {
		return info.Mode().IsRegular()
	}
	_, err := datasets.Lookup(filepath.Base(s.Path))
	return err == nil
}

const (
	heldOutFolds = 5
	// previewRows is how many rows are learnt again for a preview at most:
	// somebody waits for it, and tries one thing after the other.
	previewRows = 2000
)

// heldOut judges what people tell or strike by rows that the model learnt: it is
// learnt again without a part of them, corrected in the same way, and asked for
// that part. A rule that the other rows do not bring cannot be struck, and then
// that part says nothing. Nothing is returned where the rows that were learnt
// are others, or where it makes no sense.
func (h *Home) heldOut(ctx context.Context, p *Part, after learn.Model, e *Edit) (*onTable, []changedAnswer, error) {
	if !sameWithin(p.Model, after) || p.Schema().Attributes[p.Target()].Kind == table.Numeric {
		return nil, nil, nil
	}
	quiet := *h
	quiet.Note = nil
	most := mostJudged
	if e.Preview {
		most = previewRows
	}
	rows, err := quiet.again(ctx, p, e.At, most)
	if err != nil || rows == nil || rows.table.Rows() < 10 {
		return nil, nil, nil // there are none to hold out
	}
	learner, err := quiet.learnerAgain(ctx, p, e.At)
	if err != nil {
		return nil, nil, nil // it cannot be learnt again
	}
	splits, err := rows.splits(p, heldOutFolds)
	if err != nil {
		return nil, nil, nil // too few rows
	}
	if rows.table.Rows() > manyRows {
		splits = splits[len(splits)-1:] // a part tells enough, and waiting five times as long is not worth it
	}
	bar, done := h.progress("judging on rows held out")
	defer done()
	var places []int
	var answers []changedAnswer
	folds := 0
	for k, s := range splits {
		bar(float64(k) / float64(len(splits)))
		train, test := s.Rows()
		said, err := foldAnswers(ctx, p, after, learner, rows.table.Select(train), rows.table.Select(test), s.Seed)
		if err != nil && ctx.Err() == nil {
			return nil, nil, nil // the rest alone cannot be learnt, as a class is gone
		}
		if err != nil {
			return nil, nil, err
		}
		if said == nil {
			continue // these rows did not bring the rule
		}
		folds++
		places, answers = append(places, test...), append(answers, said...)
	}
	if answers == nil {
		return nil, nil, nil
	}
	return &onTable{EffectTable: EffectTable{Data: "rows held out", HeldOut: true, Folds: folds}, table: rows.table.Select(places), by: rows.by}, answers, nil
}

// foldAnswers learns some rows, corrects the result as two models were, and has
// both answer other rows; nil if the second correction is about a rule that these
// rows do not bring.
func foldAnswers(ctx context.Context, p *Part, after learn.Model, learner learn.Learner, train, test *table.Table, seed uint64) ([]changedAnswer, error) {
	source := learn.Source{ID: "train", Name: "train"}
	m, err := learner.Learn(ctx, learn.Task{Table: train, Source: source, Seed: seed}.At(p.Target()))
	if err != nil {
		return nil, err
	}
	fitted, _, err := table.Conform(train, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	rows := learn.Learnt{Source: source, Table: fitted}
	x, had, err := correctedLike(ctx, m, p.Model, rows)
	if err != nil {
		return nil, err
	}
	y, has, err := correctedLike(ctx, m, after, rows)
	if err != nil || has > had {
		return nil, err
	}
	return changedAnswers(ctx, x, y, test)
}

// correctedLike strikes rules of a model as was done with another one, and tells
// it what that was told. It says how many rules there were not to strike.
func correctedLike(ctx context.Context, m, like learn.Model, rows learn.Learnt) (learn.Model, int, error) {
	m, missed, err := expert.Amended(ctx, m, like)
	if err != nil {
		return nil, 0, err
	}
	told, ok := like.(*expert.Told)
	if !ok {
		return m, missed, nil
	}
	experts, bases := told.Experts()
	for i := range experts {
		if m, err = expert.Tell(ctx, m, learn.Advice{Rules: bases[i], Expert: experts[i]}, rows); err != nil {
			return nil, 0, err
		}
	}
	return m, missed, nil
}

// sameWithin reports whether two models learnt the same, and differ in what
// people told and struck at most.
func sameWithin(x, y learn.Model) bool {
	x, y = expert.Whole(x), expert.Whole(y)
	if x == y {
		return true
	}
	a, err := learn.Encode(x)
	if err != nil {
		return false
	}
	b, err := learn.Encode(y)
	return err == nil && bytes.Equal(a, b)
}
