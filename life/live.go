package life

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Live is a model of the store that learns rows as they come. Rows are in a
// journal before they are acknowledged (Commit), they are folded into a model
// in memory (Fold), and now and then that is kept as a version (Freeze), after
// which the journal lets them go. Whoever opens the journal after a crash finds
// every row that was acknowledged and is in no version yet.
//
// Each source's rows of a version are its own source, all under one path, so
// that they are forgotten together; a copy of them is kept, so that what was
// learnt live can be verified as what was learnt from files. Others may change
// the model meanwhile: then the rows that are in no version are folded into
// what they made.
//
// Commit may be called by anybody, at any time; Fold, Freeze and Rebase are
// called by one at a time.
type Live struct {
	home    *Home
	name    string
	journal *store.Journal

	mu      sync.Mutex
	id      string // of the journal, by which versions say what they hold
	next    int    // number of the entry that comes
	pending []liveEntry
	rows    int // of pending
	keys    map[string]int
	order   []string // of keys, the oldest first

	base    *Part       // the newest version
	model   learn.Model // with what was folded in
	folded  int         // entries of pending
	update  learn.Update
	source  string // of the update
	builder *table.Builder
	record  liveRecord
	watch   *evaluate.Watch
}

// liveEntry is rows that came together, as the journal keeps them.
type liveEntry struct {
	Number int              `json:"n"`
	Source string           `json:"s"`
	Key    string           `json:"k,omitempty"`
	Rows   []map[string]any `json:"r"`
}

// liveHead is the first record of a journal.
type liveHead struct {
	ID   string         `json:"id"`
	Next int            `json:"next"`
	Keys map[string]int `json:"keys,omitempty"` // of rows that are in versions, with their numbers
	// Record is how the model did on all rows up to the last version.
	Record *liveRecord `json:"record,omitempty"`
}

// mostKeys is how many keys are remembered.
const mostKeys = 10_000

// liveSetting says in a version which entries of a journal it holds: all of its
// source up to a number.
const liveSetting = reserved + "live"

// liveScheme is where rows are said to come from that no file has.
const liveScheme = "live:"

// OpenLive makes a model of the store live, with the rows that its journal
// still has.
func (h *Home) OpenLive(name string) (*Live, error) {
	l := &Live{home: h, name: name, keys: map[string]int{}}
	journal, records, err := h.Store.OpenJournal(name)
	if err != nil {
		return nil, err
	}
	l.journal = journal
	if err = l.read(records); err == nil {
		err = l.Rebase()
	}
	if err == nil {
		if _, ok := learn.Ability[learn.Updater](l.base.Model); !ok {
			err = cannot(l.base.Version.Learner, "learn more rows", func(c learn.Can) bool { return c.Update })
		}
	}
	if err != nil {
		journal.Close()
		return nil, err
	}
	return l, nil
}

// read takes in the records of the journal.
func (l *Live) read(records [][]byte) error {
	if len(records) == 0 {
		l.id = store.SourceID(l.name, "journal", l.home.now())
		head, err := json.Marshal(liveHead{ID: l.id})
		if err != nil {
			return err
		}
		return l.journal.Append(head)
	}
	var head liveHead
	if err := json.Unmarshal(records[0], &head); err != nil {
		return fmt.Errorf("the journal of %s cannot be read: %w", l.name, err)
	}
	l.id, l.next = head.ID, head.Next
	if head.Record != nil {
		l.record = *head.Record
	}
	for _, key := range slices.SortedFunc(maps.Keys(head.Keys), func(a, b string) int { return cmp.Compare(head.Keys[a], head.Keys[b]) }) {
		l.remember(key, head.Keys[key])
	}
	for _, record := range records[1:] {
		var e liveEntry
		d := json.NewDecoder(bytes.NewReader(record))
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("the journal of %s cannot be read: %w", l.name, err)
		}
		l.add(e)
	}
	return nil
}

// add takes an entry in that is in the journal.
func (l *Live) add(e liveEntry) {
	l.pending = append(l.pending, e)
	l.rows += len(e.Rows)
	l.next = max(l.next, e.Number+1)
	l.remember(e.Key, e.Number)
}

func (l *Live) remember(key string, number int) {
	if key == "" {
		return
	}
	if _, known := l.keys[key]; !known {
		l.order = append(l.order, key)
	}
	l.keys[key] = number
	for len(l.order) > mostKeys {
		delete(l.keys, l.order[0])
		l.order = l.order[1:]
	}
}

// LiveRows are rows of one source that came together: cells by column. Key, if
// not empty, has them learnt once, however often they come.
type LiveRows struct {
	Source string
	Key    string
	Rows   []map[string]any
}

// Commit puts rows into the journal, all of them with one sync of the disk.
// Once it returns nil they are there, also after a crash.
func (l *Live) Commit(batches ...LiveRows) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var entries []liveEntry
	var records [][]byte
	for _, b := range batches {
		_, known := l.keys[b.Key]
		if b.Key != "" && (known || slices.ContainsFunc(entries, func(e liveEntry) bool { return e.Key == b.Key })) {
			continue
		}
		e := liveEntry{l.next + len(entries), b.Source, b.Key, b.Rows}
		record, err := json.Marshal(e)
		if err != nil {
			return err
		}
		entries, records = append(entries, e), append(records, record)
	}
	if len(records) == 0 {
		return nil
	}
	if err := l.journal.Append(records...); err != nil {
		return err
	}
	for _, e := range entries {
		l.add(e)
	}
	return nil
}

// Check returns rows as the journal keeps them, or says which cell is wrong: as
// a row, counted from 1, and its column.
func (l *Live) Check(schema *table.Schema, rows []map[string]any) ([]map[string]any, error) {
	checked := make([]map[string]any, len(rows))
	b := table.NewBuilder(schema)
	for i, row := range rows {
		known := 0
		checked[i] = map[string]any{}
		for name, cell := range row {
			col := schema.Index(name)
			if col < 0 || cell == nil {
				continue
			}
			if err := b.Add(map[string]any{name: cell}); err != nil {
				return nil, &CellError{i + 1, name, err}
			}
			checked[i][name] = cell
			known++
		}
		if known == 0 {
			return nil, &CellError{i + 1, "", errors.New("no cell of the row is a known cell of a column of the model")}
		}
	}
	return checked, nil
}

// CellError is a cell that cannot be learnt.
type CellError struct {
	Row    int // counted from 1
	Column string
	Err    error
}

func (e *CellError) Error() string { return fmt.Sprintf("row %d: %v", e.Row, e.Err) }
func (e *CellError) Unwrap() error { return e.Err }

// Waiting returns how many rows are in no version yet.
func (l *Live) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows
}

// Unfolded reports whether rows came that are not in the model in memory.
func (l *Live) Unfolded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folded < len(l.pending)
}

// Now returns the model with all that was folded in, its newest version, and how
// many rows were learnt after it.
func (l *Live) Now() (p *Part, since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.pending[:l.folded] {
		since += len(e.Rows)
	}
	part := *l.base
	part.Model = l.model
	return &part, since
}

// Rebase begins anew from the newest version, which others may have made: what
// no version holds is to be folded in again.
func (l *Live) Rebase() error {
	p, err := l.home.Load(l.name)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(p.Versions)
	l.base, l.model, l.folded, l.update = p, p.Model, 0, nil
	if l.watch == nil {
		if l.watch, err = newWatch(p.Model); err != nil {
			l.watch = evaluate.NewWatch(0) // what cannot be read as rules has no rules to follow
		}
		l.record.Before = l.record.Watched
	}
	return nil
}

// drop lets go of entries that versions hold. The caller holds the lock.
func (l *Live) drop(versions []store.Version) {
	upTo := map[string]int{}
	for _, v := range versions {
		id, rest, _ := strings.Cut(v.Settings[liveSetting], ":")
		text, source, ok := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(text); ok && err == nil && id == l.id {
			upTo[source] = max(upTo[source], n+1)
		}
	}
	l.pending = slices.DeleteFunc(l.pending, func(e liveEntry) bool { return e.Number < upTo[e.Source] })
	l.rows = 0
	for _, e := range l.pending {
		l.rows += len(e.Rows)
	}
}

// Fold learns the rows that came since. The model that it makes is whole before
// anybody sees it.
func (l *Live) Fold(ctx context.Context) error {
	l.mu.Lock()
	came := slices.Clone(l.pending[l.folded:])
	l.mu.Unlock()
	for at := 0; at < len(came); {
		end := at + 1
		judged := came[at].Number < l.record.Next
		for end < len(came) && came[end].Source == came[at].Source && came[end].Number < l.record.Next == judged {
			end++
		}
		if err := l.foldSource(ctx, came[at:end]); err != nil {
			return err
		}
		at = end
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.folded += len(came)
	return nil
}

// foldSource learns entries of one source.
func (l *Live) foldSource(ctx context.Context, entries []liveEntry) error {
	if l.update == nil || l.source != entries[0].Source {
		u, err := begin(l.model, l.sourceOf(entries))
		if err != nil {
			return err
		}
		l.update, l.source, l.builder = u, entries[0].Source, table.NewBuilder(l.model.Schema())
	}
	t, err := entryTable(l.builder, entries)
	if err != nil {
		return err
	}
	// What was folded in before others made a version was judged then.
	if n := entries[0].Number; n >= l.record.Next {
		if err := l.record.Score.add(ctx, l.model, t); err != nil {
			return err
		}
		l.record.Curve.Add(&l.record.Score, l.Base().Number)
		l.watch.Add(t)
		l.record.Next, l.record.Watched = entries[len(entries)-1].Number+1, l.record.Watched+t.Rows()
	}
	if err := l.update.Add(ctx, t); err != nil {
		l.update = nil
		return err
	}
	m, err := l.update.Freeze(ctx)
	if err != nil {
		l.update = nil
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model = m
	return nil
}

// begin begins an update of a model.
func begin(m learn.Model, source store.Source) (learn.Update, error) {
	updater, ok := learn.Ability[learn.Updater](m)
	if !ok {
		return nil, cannot(m.Learner(), "learn more rows", func(c learn.Can) bool { return c.Update })
	}
	return updater.Begin(learn.Source{ID: source.ID, Name: source.Name})
}

// sourceOf is the source of entries that will be one version.
func (l *Live) sourceOf(entries []liveEntry) store.Source {
	s := store.Source{ID: fmt.Sprintf("live-%s-%d", l.id, entries[0].Number), Name: entries[0].Source, Path: liveScheme + entries[0].Source}
	for _, e := range entries {
		s.Rows += float64(len(e.Rows))
	}
	return s
}

// entryTable makes a table of entries. Columns that the model does not have (any
// more) are left out.
func entryTable(b *table.Builder, entries []liveEntry) (*table.Table, error) {
	b.Reset()
	empty, err := b.Table()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, row := range e.Rows {
			if slices.ContainsFunc(slices.Collect(maps.Keys(row)), func(name string) bool { return empty.Schema.Index(name) < 0 }) {
				row = maps.Clone(row)
				maps.DeleteFunc(row, func(name string, _ any) bool { return empty.Schema.Index(name) < 0 })
			}
			if err := b.Add(row); err != nil {
				return nil, err
			}
		}
	}
	return b.Table()
}

// Freeze keeps all rows that were committed so far as versions, one for each
// source, and lets the journal go of them. It returns the newest version, and
// how many were made.
func (l *Live) Freeze(ctx context.Context) (v store.Version, made int, err error) {
	if err := l.Fold(ctx); err != nil {
		return v, 0, err
	}
	l.mu.Lock()
	entries, model, base := slices.Clone(l.pending[:l.folded]), l.model, l.base
	l.mu.Unlock()
	if len(entries) == 0 {
		return base.Version, 0, nil
	}
	err = l.home.Store.Write(ctx, l.name, func(tx *store.Tx) error {
		if !sameVersion(tx.Latest(), base.Version) { // somebody was quicker
			if base, err = l.home.Load(l.name); err != nil {
				return err
			}
			model = nil
		}
		bySource := groupEntries(entries)
		if len(bySource) > 1 {
			model = nil
		}
		from := base.Model
		for _, of := range bySource {
			if model == nil || len(bySource) > 1 {
				if model, err = learnEntries(ctx, from, l.sourceOf(of), of); err != nil {
					return err
				}
			}
			if v, err = l.saveEntries(tx, base, model, of); err != nil {
				return err
			}
			from = model
			made++
		}
		return nil
	})
	if err != nil {
		return v, made, err
	}
	l.settle(base, model, v, made)
	return v, made, l.rewrite()
}

// settle goes on from a version that was just made of a model.
func (l *Live) settle(before *Part, m learn.Model, v store.Version, made int) {
	versions := slices.Clip(before.Versions)
	if made == 1 {
		versions = append(versions, v)
	} else if all, err := l.home.Store.Log(l.name); err == nil {
		versions = all
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(versions)
	part := *before
	part.Model, part.Version, part.Versions = m, v, versions
	l.base, l.model, l.folded, l.update = &part, m, 0, nil
}

// Base returns the newest version that is known.
func (l *Live) Base() store.Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.base.Version
}

// Moved reports whether the store has another newest version by now.
func (l *Live) Moved() (bool, error) {
	versions, err := l.home.Store.Log(l.name)
	if len(versions) == 0 {
		return false, err
	}
	return !sameVersion(versions[len(versions)-1], l.Base()), nil
}

// groupEntries puts the entries of each source together, in the order in which
// sources came.
func groupEntries(entries []liveEntry) [][]liveEntry {
	var groups [][]liveEntry
	at := map[string]int{}
	for _, e := range entries {
		i, ok := at[e.Source]
		if !ok {
			i = len(groups)
			at[e.Source] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// learnEntries learns entries of one source.
func learnEntries(ctx context.Context, from learn.Model, source store.Source, entries []liveEntry) (learn.Model, error) {
	u, err := begin(from, source)
	if err != nil {
		return nil, err
	}
	t, err := entryTable(table.NewBuilder(from.Schema()), entries)
	if err != nil {
		return nil, err
	}
	if err := u.Add(ctx, t); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}

// saveEntries keeps a model that has learnt entries as a version, and a copy of
// them.
func (l *Live) saveEntries(tx *store.Tx, base *Part, m learn.Model, entries []liveEntry) (store.Version, error) {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false)
	for _, entry := range entries {
		for _, row := range entry.Rows {
			if err := e.Encode(row); err != nil {
				return store.Version{}, err
			}
		}
	}
	sum := sha256.Sum256(lines.Bytes())
	source := l.sourceOf(entries)
	source.Hash = hex.EncodeToString(sum[:])
	settings := withReading(base.Version.Settings, Reading{})
	settings[liveSetting] = fmt.Sprintf("%s:%d:%s", l.id, entries[len(entries)-1].Number, source.Name)
	if err := tx.Keep(source.Hash, ".jsonl", &lines); err != nil {
		return store.Version{}, err
	}
	return tx.Save(m, store.Version{Kind: store.Update, Source: source, At: l.home.now(), Seed: base.Version.Seed, Settings: settings, By: source.Name})
}

// cameLive reports whether a version is rows that came one by one.
func cameLive(v store.Version) bool {
	return v.Kind == store.Update && strings.HasPrefix(v.Source.Path, liveScheme)
}

// learnLiveAgain learns the rows of a live version on top of a model, from the copy
// that was kept of them.
func (h *Home) learnLiveAgain(ctx context.Context, m learn.Model, v store.Version) (learn.Model, error) {
	f, err := os.Open(h.Store.KeptSource(v.Model, v.Source.Hash))
	if err != nil {
		return nil, remedy.New(Remedy{Kind: remedy.SeeVersions, What: v.Model}, "the rows of %v are not there to be learnt again: %v", v, err)
	}
	defer f.Close()
	e := liveEntry{Source: v.Source.Name}
	for d := json.NewDecoder(f); ; {
		var row map[string]any
		if err := d.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the rows of %v cannot be read: %w", v, err)
		}
		e.Rows = append(e.Rows, row)
	}
	return learnEntries(ctx, m, v.Source, []liveEntry{e})
}

// rewrite leaves in the journal what no version holds.
func (l *Live) rewrite() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, drifts := l.Score()
	record := l.record
	record.Drifts = drifts
	head, err := json.Marshal(liveHead{l.id, l.next, l.keys, &record})
	if err != nil {
		return err
	}
	records := [][]byte{head}
	for _, e := range l.pending {
		record, err := json.Marshal(e)
		if err != nil {
			return err
		}
		records = append(records, record)
	}
	return l.journal.Replace(records...)
}

// Close lets others have the journal. Rows that are in no version stay in it.
func (l *Live) Close() error { return l.journal.Close() }

// Freezing says when rows become a version.
type Freezing struct {
	Rows int
	Age  time.Duration
}

// ParseFreezing reads when rows become a version, as in 1000rows,1m: so many of
// them, or so long after the first.
func ParseFreezing(text string) (f Freezing, err error) {
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		n, isRows := strings.CutSuffix(part, "rows")
		if isRows {
			f.Rows, err = strconv.Atoi(n)
		} else {
			f.Age, err = time.ParseDuration(part)
		}
		if err != nil || f.Rows < 0 || f.Age < 0 {
			return f, fmt.Errorf("%q says not when rows become a version; expected rows and time, as in 1000rows,1m", text)
		}
	}
	if f == (Freezing{}) {
		return f, fmt.Errorf("%q would never make a version of rows; expected rows or time above 0, as in 1000rows,1m", text)
	}
	return f, nil
}
