package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// weightSetting is where a version keeps its --weight: what a source is read
// with again.
const weightSetting = "--weight"

// learnerSettings are a version's settings without those that are no
// learner's.
func learnerSettings(v store.Version) map[string]string {
	settings := map[string]string{}
	for key, value := range v.Settings {
		if !strings.HasPrefix(key, "--") {
			settings[key] = value
		}
	}
	return settings
}

// withWeight returns settings that say which column weighs the rows.
func withWeight(settings map[string]string, column string) map[string]string {
	all := map[string]string{}
	for key, value := range settings {
		all[key] = value
	}
	delete(all, weightSetting)
	if column != "" {
		all[weightSetting] = column
	}
	return all
}

// chain returns the records, oldest first, of all that the last of these
// versions has learnt and was told, also in other models and stores. Some of
// it may have been forgotten since.
func chain(versions []store.Version) []store.Version {
	if len(versions) == 0 {
		return nil
	}
	before, v := versions[:len(versions)-1], versions[len(versions)-1]
	switch v.Kind {
	case store.Learn:
		return append([]store.Version{v}, v.History...) // and the expert's rules
	case store.Merge:
		return v.History
	case store.Import:
		return chain(v.History)
	case store.Restore:
		_, number, _ := store.ParseRef(v.Source.Name) // as Restore wrote it
		at := slices.IndexFunc(before, func(w store.Version) bool { return w.Number == number })
		return chain(before[:at+1])
	case store.Forget, store.Erase:
		return chain(before)
	}
	return append(slices.Clip(chain(before)), v)
}

// live returns the records of what a model still knows.
func live(m learn.Model, versions []store.Version) []store.Version {
	records := chain(versions)
	f, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return records
	}
	sources := f.Sources()
	_, rowsApart := learn.Ability[learn.Forgetter](plain(m))
	return slices.DeleteFunc(slices.Clone(records), func(v store.Version) bool {
		return (v.Kind == store.Tell || rowsApart) && !slices.ContainsFunc(sources, func(s learn.Source) bool { return s.ID == v.Source.ID })
	})
}

// plain is the model without the rules that it was told.
func plain(m learn.Model) learn.Model {
	if t, ok := m.(*expert.Told); ok {
		return t.Unwrap()
	}
	return m
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
		return nil, fmt.Errorf("the model knows no source %q%s; its sources: %s", source, spell.Hint(source, known), list(slices.Compact(known), 20))
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

const withoutUsage = "answer as if this source had never been learnt or told"

// loadWithout loads a model, and if a source is named forgets it, in memory
// only.
func (a *app) loadWithout(ctx context.Context, s *store.Store, ref, without string) (learn.Model, store.Version, error) {
	m, v, err := s.Load(ref)
	if err != nil || without == "" {
		return m, v, err
	}
	f, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return nil, v, cannot(v.Learner, "forget", func(c learn.Can) bool { return c.Forget })
	}
	versions, err := s.Log(ref)
	if err != nil {
		return nil, v, err
	}
	found, err := findSource(versions, live(m, versions), without)
	if err != nil {
		return nil, v, err
	}
	var ids []string
	for _, r := range found {
		if !slices.Contains(ids, r.Source.ID) {
			ids = append(ids, r.Source.ID)
		}
	}
	m, err = f.Forget(ctx, ids...)
	return m, v, err
}

// sourceFlags say where sources are that are no longer where they were.
type sourceFlags struct{ at []string }

const sourceUsage = "where a recorded source is now, as NAME=PATH"

// find returns the path that was given for a source, or "".
func (f *sourceFlags) find(s store.Source) (string, error) {
	for _, given := range f.at {
		name, path, ok := strings.Cut(given, "=")
		if !ok {
			return "", usagef("--source %s: expected NAME=PATH", given)
		}
		if name == s.Name || name == s.Path || name == filepath.Base(s.Name) {
			return path, nil
		}
	}
	return "", nil
}

// learntRows returns the rows that a model learnt from, by source: those it
// keeps, or else those of its recorded sources, as long as they are what they
// were.
func (a *app) learntRows(ctx context.Context, s *store.Store, m learn.Model, name string, versions []store.Version, flags *sourceFlags) ([]learn.Learnt, error) {
	if k, ok := learn.Ability[learn.Keeper](m); ok {
		if kept, err := k.Kept(ctx); kept != nil || err != nil {
			return kept, err
		}
	}
	if err := recorded(m, name, versions); err != nil {
		return nil, err
	}
	var learnt []learn.Learnt
	for _, v := range live(m, versions) {
		if v.Kind == store.Tell {
			continue
		}
		t, err := a.readAgain(ctx, s, name, v, m.Schema(), flags)
		if err != nil {
			return nil, err
		}
		learnt = append(learnt, learn.Learnt{Source: learn.Source{ID: v.Source.ID, Name: v.Source.Name}, Table: t})
	}
	return learnt, nil
}

// recorded returns an error unless there is a record of all that a model has
// learnt: deleting a version takes its record away.
func recorded(m learn.Model, name string, versions []store.Version) error {
	records := chain(versions)
	rows, apart := plain(m).(learn.Forgetter)
	if !apart {
		if len(records) == 0 || records[0].Kind != store.Learn {
			return fmt.Errorf("%s keeps no rows, and the record of what it first learnt was deleted", name)
		}
		return nil
	}
	for _, s := range rows.Sources() {
		if !slices.ContainsFunc(records, func(v store.Version) bool { return v.Source.ID == s.ID }) {
			return fmt.Errorf("%s keeps no rows, and the record of %s was deleted", name, s.Name)
		}
	}
	return nil
}

// readAgain reads a recorded source: a copy that was kept, the recorded path
// or built-in set, or what --source names.
func (a *app) readAgain(ctx context.Context, s *store.Store, name string, v store.Version, schema *table.Schema, flags *sourceFlags) (*table.Table, error) {
	read := func(arg string) (*table.Table, string, error) {
		d, err := a.find(arg, &dataFlags{weight: v.Settings[weightSetting]})
		if err != nil {
			return nil, "", err
		}
		o := d.options()
		o.Schema = schema
		t, report, err := d.read(ctx, o)
		if err != nil {
			return nil, "", err
		}
		return t, report.Hash, nil
	}
	elsewhere := "say where it is with --source " + filepath.Base(v.Source.Name) + "=PATH"
	if given, err := flags.find(v.Source); err != nil {
		return nil, err
	} else if given != "" {
		t, hash, err := read(given)
		if err == nil && hash != v.Source.Hash {
			return nil, fmt.Errorf("%s is not what version %d learnt: its hash is %s, expected %s", given, v.Number, short(hash), short(v.Source.Hash))
		}
		return t, err
	}
	if copied := s.KeptSource(name, v.Source.Hash); copied != "" {
		t, _, err := read(copied)
		return t, err
	}
	if v.Source.Path == "-" {
		return nil, fmt.Errorf("version %d learnt from standard input, and no copy was kept; %s", v.Number, elsewhere)
	}
	if _, err := os.Stat(v.Source.Path); errors.Is(err, fs.ErrNotExist) {
		if _, err := datasets.Lookup(v.Source.Path); err != nil {
			return nil, fmt.Errorf("%s, which version %d learnt, is no longer there; %s", v.Source.Path, v.Number, elsewhere)
		}
	}
	t, hash, err := read(v.Source.Path)
	if err == nil && hash != v.Source.Hash {
		return nil, fmt.Errorf("%s has changed since version %d learnt it; %s", v.Source.Path, v.Number, elsewhere)
	}
	return t, err
}
