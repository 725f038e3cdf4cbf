package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Settings of a version that are no learner's begin with reserved: what a
// source is read with again. The words are those of files that are there.
const (
	reserved      = "--"
	weightSetting = reserved + "weight"
	worthSetting  = reserved + "worth"
	ignoreSetting = reserved + "ignore" // a JSON list: columns may have any name

	writtenSetting = reserved + "written" // JSON: how cells are written

	snapshotSetting = reserved + "snapshot" // of a database, which state of it the rows are
)

// learnerSettings are a version's settings without those that are no
// learner's.
func learnerSettings(v store.Version) map[string]string {
	settings := map[string]string{}
	for key, value := range v.Settings {
		if !strings.HasPrefix(key, reserved) {
			settings[key] = value
		}
	}
	return settings
}

// withReading returns settings that say which column weighs the rows, and which
// were left out on purpose.
func withReading(settings map[string]string, r Reading) map[string]string {
	all := map[string]string{}
	for key, value := range settings {
		all[key] = value
	}
	delete(all, weightSetting)
	delete(all, followSetting)
	if r.Weight != "" {
		all[weightSetting] = r.Weight
	}
	if len(r.Ignore) > 0 {
		list, _ := json.Marshal(r.Ignore) // strings can always be written
		all[ignoreSetting] = string(list)
	}
	delete(all, writtenSetting)
	if w := (cellsWritten{r.Missing, r.Decimal, r.Date, r.Delimiter, r.Encoding, r.Sheet, r.NoHeader}); len(w.Missing) > 0 || w.Decimal+w.Date+w.Delimiter+w.Encoding+w.Sheet != "" || w.NoHeader != nil {
		how, _ := json.Marshal(w)
		all[writtenSetting] = string(how)
	}
	return all
}

// withSnapshot returns settings that say which state of a database was read.
func withSnapshot(settings map[string]string, r *table.Report) map[string]string {
	delete(settings, snapshotSetting) // that of the version before
	if r != nil && r.Snapshot != "" {
		settings[snapshotSetting] = r.Snapshot
	}
	return settings
}

// cellsWritten is how a source was said to be written.
type cellsWritten struct {
	Missing   []string `json:"missing,omitempty"`
	Decimal   string   `json:"decimal,omitempty"`
	Date      string   `json:"date,omitempty"`
	Delimiter string   `json:"delimiter,omitempty"`
	Encoding  string   `json:"encoding,omitempty"`
	Sheet     string   `json:"sheet,omitempty"`
	NoHeader  *bool    `json:"no_header,omitempty"`
}

// readingOf is how the source of a version was read.
func readingOf(v store.Version) Reading {
	var w cellsWritten
	_ = json.Unmarshal([]byte(v.Settings[writtenSetting]), &w) // without the setting nothing was said
	return Reading{Weight: v.Settings[weightSetting], Missing: w.Missing, Decimal: w.Decimal, Date: w.Date, Delimiter: w.Delimiter, Encoding: w.Encoding, Sheet: w.Sheet, NoHeader: w.NoHeader}
}

// newSource is the record of where rows came from.
func (h *Home) newSource(d *Data, hash string, rows float64) store.Source {
	return store.Source{
		ID:   store.SourceID(d.Path(), hash, h.now()),
		Name: d.called(), Path: d.Path(), Hash: hash, Rows: rows,
	}
}

// chain returns the records, oldest first, of all that the last of these
// versions has learnt and was told, also in other models and stores. Some of
// it may have been forgotten since.
func chain(versions []store.Version) []store.Version {
	var since []store.Version // what came after the beginning, the newest first
	from := func(beginning []store.Version) []store.Version {
		slices.Reverse(since)
		return append(slices.Clip(beginning), since...)
	}
	for len(versions) > 0 {
		before, v := versions[:len(versions)-1], versions[len(versions)-1]
		versions = before
		switch v.Kind {
		case store.Learn:
			return from(append([]store.Version{v}, v.History...)) // and the expert's rules
		case store.Merge:
			return from(v.History)
		case store.Import:
			return from(chain(v.History))
		case store.Restore, store.Undo:
			for _, n := range slices.Backward(staying(v)) {
				if i := slices.IndexFunc(before, func(w store.Version) bool { return w.Number == n }); i >= 0 {
					since = append(since, before[i])
				}
			}
			_, number, _ := store.ParseRef(v.Source.Name) // as Restore wrote it
			at := slices.IndexFunc(before, func(w store.Version) bool { return w.Number == number })
			versions = before[:at+1]
		case store.Forget, store.Erase, store.Strike, store.Cut:
		default:
			since = append(since, v)
		}
	}
	return from(nil)
}

// live returns the records of what a model still knows.
func live(m learn.Model, versions []store.Version) []store.Version {
	records := chain(versions)
	f, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return records
	}
	sources := map[string]bool{}
	for _, s := range f.Sources() {
		sources[s.ID] = true
	}
	rowsApart := keepsApart(m)
	return slices.DeleteFunc(slices.Clone(records), func(v store.Version) bool {
		return (v.Kind == store.Tell || rowsApart) && !sources[v.Source.ID]
	})
}

// Known returns the numbers of the versions of which a model still has what they
// brought: what was forgotten, or left behind by going back, is not among them.
func Known(p *Part) []int {
	ids := map[int]string{}
	for _, v := range p.Versions {
		ids[v.Number] = v.Source.ID
	}
	numbers := []int{}
	for _, v := range live(p.Model, p.Versions) {
		if id, ok := ids[v.Number]; ok && id == v.Source.ID {
			numbers = append(numbers, v.Number)
		}
	}
	return numbers
}

// keepsApart reports whether a model knows which rows came from which source.
func keepsApart(m learn.Model) bool {
	f, ok := plain(m).(learn.Forgetter)
	if a, acts := plain(m).(policy); acts && a.World() != "" {
		return false // its sources are those who gave advice
	}
	return ok && len(f.Sources()) > 0
}

// plain is the model without the rules that it was told.
func plain(m learn.Model) learn.Model {
	if t, ok := m.(*expert.Told); ok {
		return t.Unwrap()
	}
	return m
}

func hasSource(sources []learn.Source, id string) bool {
	return slices.ContainsFunc(sources, func(s learn.Source) bool { return s.ID == id })
}

// leastPrefix is how much of a hash names it, so that no version number is
// taken for one.
const leastPrefix = 6

// findSource resolves SOURCE, which is a base name, a path, a version number or
// a hash prefix, among the records of what a model knows. Records of one path
// go together, a version number names its own alone; of different paths none
// is chosen.
func findSource(versions, records []store.Version, source string) ([]store.Version, error) {
	path, err := filepath.Abs(source)
	if err != nil {
		path = source
	}
	number, _ := strconv.Atoi(source)
	own := slices.IndexFunc(versions, func(v store.Version) bool { return v.Number == number && v.Source.ID != "" })
	var found []store.Version
	var known []string
	for _, v := range records {
		s := v.Source
		base := filepath.Base(s.Name)
		known = append(known, base)
		switch {
		case own >= 0 && s.ID == versions[own].Source.ID:
			return []store.Version{v}, nil
		case source == s.Name, source == s.Path, path == s.Path, source == base, source == strings.TrimSuffix(base, filepath.Ext(base)):
		case len(source) >= leastPrefix && strings.HasPrefix(s.Hash, strings.ToLower(source)):
		default:
			continue
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		slices.Sort(known)
		return nil, remedy.Misusef("the model knows no source %q%s; its sources: %s", source, spell.Hint(source, known), remedy.List(slices.Compact(known), 20))
	}
	for _, v := range found[1:] {
		if v.Source.Path != found[0].Source.Path {
			var names []string
			for _, v := range found {
				names = append(names, fmt.Sprintf("%s (version %d, hash %s)", v.Source.Path, v.Number, short(v.Source.Hash)))
			}
			return nil, fmt.Errorf("%q could be any of %s; nothing was done: name one by its path, version or hash", source, strings.Join(names, ", "))
		}
	}
	return found, nil
}

// LoadWithout loads a model, and if a source is named forgets it, in memory
// only.
func (h *Home) LoadWithout(ctx context.Context, ref, without string) (*Part, error) {
	p, ids, err := h.loadWithout(ref, without)
	if err != nil || without == "" {
		return p, err
	}
	f, _ := learn.Ability[learn.Forgetter](p.Model)
	p.Model, err = f.Forget(ctx, ids...)
	return p, err
}

// RulesWithout loads a model to read its rules, without a source if one is
// named. Where a model can, they are its own rules, weighed again, which takes
// a moment; it is said so.
func (h *Home) RulesWithout(ctx context.Context, ref, without string) (*Part, error) {
	p, ids, err := h.loadWithout(ref, without)
	if err != nil || without == "" {
		return p, err
	}
	r, ok := p.Model.(learn.Reweigher)
	if !ok {
		f, _ := learn.Ability[learn.Forgetter](p.Model)
		p.Model, err = f.Forget(ctx, ids...)
		return p, err
	}
	var again bool
	if p.Model, again, err = r.Without(ctx, ids...); err == nil && !again {
		h.note(fmt.Sprintf("these are the rules of %s, counted and weighed again without %s; to forget it searches for rules again", p.Name, without))
	}
	return p, err
}

// loadWithout loads a model, and returns the sources that are to be left out.
func (h *Home) loadWithout(ref, without string) (*Part, []string, error) {
	p, err := h.Load(ref)
	if err != nil || without == "" {
		return p, nil, err
	}
	if _, ok := learn.Ability[learn.Forgetter](p.Model); !ok {
		return nil, nil, cannot(p.Version.Learner, "forget", func(c learn.Can) bool { return c.Forget })
	}
	found, err := findSource(p.Versions, live(p.Model, p.Versions), without)
	if err != nil {
		return nil, nil, err
	}
	var ids []string
	for _, r := range found {
		if !slices.Contains(ids, r.Source.ID) {
			ids = append(ids, r.Source.ID)
		}
	}
	return p, ids, nil
}

// Elsewhere says where recorded sources are that are no longer where they
// were, by name.
type Elsewhere map[string]string

// find returns the path that was given for a source, or "".
func (e Elsewhere) find(s store.Source) string {
	for _, name := range []string{s.Name, s.Path, filepath.Base(s.Name)} {
		if path, ok := e[name]; ok {
			return path
		}
	}
	return ""
}

// LearntRows returns the rows that a model learnt from, by source: those it
// keeps, or else those of its recorded sources, as long as they are what they
// were.
func (h *Home) LearntRows(ctx context.Context, p *Part, at Elsewhere) ([]learn.Learnt, error) {
	if m, ok := learn.Ability[policy](p.Model); ok && m.World() != "" {
		return nil, fmt.Errorf("%s was learnt by acting in %s, and there are no rows to go back to; learn it again, with rules from the beginning", p.Name, m.World())
	}
	if k, ok := learn.Ability[learn.Keeper](p.Model); ok {
		if kept, err := k.Kept(ctx); kept != nil || err != nil {
			return kept, err
		}
	}
	if v := p.Versions; len(v) > 0 && v[0].Kind == store.Import && v[0].History == nil && plain(p.Model).Size().Rows == 0 {
		return nil, nil // a text that was imported has learnt no rows
	}
	if err := recorded(p); err != nil {
		return nil, err
	}
	var learnt []learn.Learnt
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind == store.Tell {
			continue
		}
		t, _, err := h.readAgain(ctx, p, v, at, table.Options{Schema: p.Schema()})
		if err != nil {
			return nil, err
		}
		learnt = append(learnt, learn.Learnt{Source: learn.Source{ID: v.Source.ID, Name: v.Source.Name}, Table: t})
	}
	return learnt, nil
}

// HasRows reports whether LearntRows will find rows, as far as can be told
// without reading them.
func (h *Home) HasRows(ctx context.Context, p *Part) bool {
	if k, ok := learn.Ability[learn.Keeper](p.Model); ok {
		if kept, err := k.Kept(ctx); kept != nil || err != nil {
			return err == nil
		}
	}
	if recorded(p) != nil {
		return false
	}
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind != store.Tell && h.kept(p.Name, v) == "" && h.moved(v) != nil {
			return false
		}
	}
	return true
}

// recorded returns an error unless there is a record of all that a model has
// learnt: deleting a version takes its record away.
func recorded(p *Part) error {
	records := chain(p.Versions)
	rows, apart := plain(p.Model).(learn.Forgetter)
	if !apart || !keepsApart(p.Model) {
		if len(records) == 0 || records[0].Kind != store.Learn {
			return fmt.Errorf("%s keeps no rows, and the record of what it first learnt was deleted", p.Name)
		}
		return nil
	}
	for _, s := range rows.Sources() {
		if !slices.ContainsFunc(records, func(v store.Version) bool { return v.Source.ID == s.ID }) {
			return fmt.Errorf("%s keeps no rows, and the record of %s was deleted", p.Name, s.Name)
		}
	}
	return nil
}

// kept is the path of the copy that the store has of a source, or "".
func (h *Home) kept(name string, v store.Version) string {
	if h.Store == nil {
		return ""
	}
	return h.Store.KeptSource(name, v.Source.Hash)
}

// moved returns an error unless there is still something where a source was.
func (h *Home) moved(v store.Version) error {
	elsewhere := Remedy{Kind: remedy.SayWhere, What: filepath.Base(v.Source.Name)}
	if v.Source.Path == "-" {
		return remedy.New(elsewhere, "version %d learnt from standard input, and no copy was kept", v.Number)
	}
	file, _ := table.SplitSheet(v.Source.Path)
	info, err := os.Stat(file)
	if err == nil && info.IsDir() && table.IsFolderOfFiles(file) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return remedy.New(elsewhere, "%s, which version %d learnt, is not a regular file any more", v.Source.Path, v.Number)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if scheme, err := table.SchemeOf(v.Source.Path); err != nil || scheme == fileScheme {
			return remedy.New(elsewhere, "%s, which version %d learnt, is no longer there", v.Source.Path, v.Number)
		}
	}
	return nil
}

// waits reports whether a path leads to what may keep its reader waiting.
func waits(path string) bool {
	path, _ = table.SplitSheet(path)
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// foreign reports whether a source came with an import: then its path is the
// word of a stranger, and nothing is opened by it.
func foreign(versions []store.Version, id string) bool {
	here, there := false, false
	for _, v := range versions {
		here = here || v.Source.ID == id
		there = there || v.Kind == store.Import && knows(v.History, id)
	}
	return there && !here
}

func knows(history []store.Version, id string) bool {
	return slices.ContainsFunc(history, func(v store.Version) bool { return v.Source.ID == id || knows(v.History, id) })
}

// readAgain reads a recorded source: from where it is said to be, a copy that
// was kept, or the recorded path or built-in set.
// The options say as which columns.
func (h *Home) readAgain(ctx context.Context, p *Part, v store.Version, at Elsewhere, as table.Options) (*table.Table, *table.Report, error) {
	read := func(arg string) (*table.Table, *table.Report, error) {
		if waits(arg) {
			return nil, nil, fmt.Errorf("%s is not a regular file, as version %d learnt one", arg, v.Number)
		}
		d, err := h.Find(arg, readingOf(v))
		if err != nil {
			return nil, nil, err
		}
		o := d.options()
		o.Schema, o.Extend, o.Target = as.Schema, as.Extend, as.Target
		o.Ignore = slices.DeleteFunc(slices.Clone(o.Ignore), func(name string) bool { return as.Schema != nil && as.Schema.Index(name) >= 0 })
		t, report, err := d.Read(ctx, o)
		if err == nil && as.Schema == p.Schema() {
			h.note(report.Notes...)
		}
		return t, report, err
	}
	if given := at.find(v.Source); given != "" {
		t, report, err := read(given)
		if err == nil && report.Hash != v.Source.Hash {
			return nil, nil, fmt.Errorf("%s is not what version %d learnt: its hash is %s, expected %s", given, v.Number, short(report.Hash), short(v.Source.Hash))
		}
		return t, report, err
	}
	elsewhere := Remedy{Kind: remedy.SayWhere, What: filepath.Base(v.Source.Name)}
	if copied := h.kept(p.Name, v); copied != "" {
		if err := h.Store.CheckKept(p.Name, v.Source.Hash); err != nil {
			return nil, nil, remedy.New(elsewhere, "%v", err)
		}
		return read(copied)
	}
	if foreign(p.Versions, v.Source.ID) {
		return nil, nil, remedy.New(elsewhere, "%s was learnt elsewhere, before the model was imported", v.Source.Name)
	}
	if err := h.moved(v); err != nil {
		return nil, nil, err
	}
	t, report, err := read(v.Source.Path)
	if err == nil && report.Hash != v.Source.Hash {
		return nil, nil, remedy.New(elsewhere, "%s has changed since version %d learnt it", v.Source.Path, v.Number)
	}
	return t, report, err
}

// warnLearntBefore warns when a model knows the same bytes already, or was made
// to forget them.
func (h *Home) warnLearntBefore(versions []store.Version, hash, arg string) {
	note := ""
	for _, v := range versions {
		if hash == "" || v.Source.Hash != hash {
			continue
		}
		did := "learnt"
		if v.Kind == store.Forget || v.Kind == store.Erase {
			did = "was made to forget"
		}
		note = fmt.Sprintf("%s has the same content as %s, which version %d %s", arg, v.Source.Name, v.Number, did)
	}
	if note != "" {
		h.note(note)
	}
}

// NameOfSource is how the newest source of a model is named: by its base name,
// unless others share it; then by its version.
func NameOfSource(p *Part) string {
	base := filepath.Base(p.Version.Source.Name)
	if found, err := findSource(p.Versions, live(p.Model, p.Versions), base); err != nil || found[len(found)-1].Source.Path != p.Version.Source.Path {
		return strconv.Itoa(p.Version.Number)
	}
	return base
}
