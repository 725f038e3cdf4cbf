package store

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
)

// Erase takes sources, known by their IDs, out of every version and record,
// and makes a model that does without them the newest version. That version is
// all that is left to tell of them: of its source the name, the hash and the
// date stay. Versions that knew nothing else are gone, and so are copies of
// the files. The log is written anew, and takes the place of the old one whole
// or not at all.
//
// Versions whose models hold a source but cannot forget are a reason to
// refuse: delete them first.
func (tx *Tx) Erase(m learn.Model, v Version, ids ...string) (Version, error) {
	if tx.broken != nil {
		return Version{}, tx.broken
	}
	if err := first(tx.log.damage(), tx.ctx.Err()); err != nil {
		return Version{}, err
	}
	e := &erasure{tx: tx, ids: ids, known: map[partKey]uint64{}}
	if err := e.check(); err != nil {
		return Version{}, err
	}
	hashes := e.hashes()
	v.Kind, v.Source = Erase, Source{Name: v.Source.Name, Hash: v.Source.Hash, Rows: v.Source.Rows}
	if err := tx.complete(&v, m); err != nil {
		return Version{}, err
	}
	s, l := tx.store, tx.log
	// Copies go first: whoever is interrupted here can ask again, while a
	// log that has forgotten would not know of them any more.
	for _, hash := range hashes {
		if kept := s.KeptSource(tx.name, hash); kept != "" {
			if err := s.disk.Remove(kept); err != nil {
				return Version{}, s.writeError(err)
			}
			if err := s.disk.SyncDir(s.sourcesDir(tx.name)); err != nil {
				return Version{}, s.writeError(err)
			}
		}
	}
	err := s.writeFile(l.path, logFile, true, func(w *frameWriter) error {
		return first(e.write(w, m, v), tx.turn.lock.Check())
	})
	if err == nil {
		err = tx.open()
	}
	if err != nil {
		tx.broken = s.writeError(err)
		return Version{}, tx.broken
	}
	l.close()
	// Files must not go before the log that does without them is durable.
	err = s.disk.SyncDir(s.modelDir(tx.name))
	if err == nil {
		tx.note()
		err = first(tx.sweep(), s.disk.RemoveAll(s.damagedDir(tx.name)))
	}
	if err != nil {
		tx.broken = fail(s.writeError(err), "%v is erased from the log, but files of it may be left in %s: %v", v.Source.Name, s.modelDir(tx.name), err)
		return Version{}, tx.broken
	}
	return tx.Latest(), nil
}

// erasure is the log without some sources in the making.
type erasure struct {
	tx    *Tx
	ids   []string
	known map[partKey]uint64 // parts that were written
	last  uint64
}

func (e *erasure) erased(id string) bool { return id != "" && slices.Contains(e.ids, id) }

// check refuses if a version holds a source that it cannot forget.
func (e *erasure) check() error {
	holds := false
	for _, r := range e.tx.log.versions {
		if r.Kind == Learn {
			holds = false
		}
		holds = holds || e.erased(r.SourceID) || slices.ContainsFunc(r.History, func(h record) bool { return e.erased(h.SourceID) })
		if !holds || r.LetGo {
			continue
		}
		m, v, err := e.tx.log.load(r.Number)
		if err != nil {
			return err
		}
		if _, ok := learn.Ability[learn.Forgetter](m); !ok {
			return remedy.New(remedy.Remedy{Kind: remedy.DeleteFirst, What: v.String()}, "%v may hold it, and a %s model cannot forget", v, v.Learner)
		}
	}
	return nil
}

// hashes returns the hashes of the files that the sources came from, unless
// others brought the same.
func (e *erasure) hashes() []string {
	var gone, stay []string
	var look func(r *record)
	look = func(r *record) {
		if hash := r.version("").Source.Hash; e.erased(r.SourceID) {
			gone = append(gone, hash)
		} else {
			stay = append(stay, hash)
		}
		for i := range r.History {
			look(&r.History[i])
		}
	}
	for _, r := range e.tx.log.versions {
		look(r)
	}
	return slices.DeleteFunc(gone, func(hash string) bool { return hash == "" || slices.Contains(stay, hash) })
}

// write writes every version without the sources, and the new one.
func (e *erasure) write(w *frameWriter, m learn.Model, v Version) error {
	l := e.tx.log
	if err := w.frame(contents{Name: e.tx.name}, nil); err != nil {
		return err
	}
	for _, r := range l.versions {
		if err := e.tx.ctx.Err(); err != nil {
			return err
		}
		if r.LetGo {
			if err := w.frame(contents{Versions: []record{e.clean(*r)}}, nil); err != nil {
				return err
			}
			continue
		}
		old, _, err := l.load(r.Number)
		if err != nil {
			return err
		}
		left, err := e.without(old)
		if err != nil {
			return fmt.Errorf("%v: %w", l.version(r), err)
		}
		if left == nil {
			continue
		}
		clean := e.clean(*r)
		size := left.Size()
		clean.Rows, clean.Rules, clean.Units = size.Rows, size.Rules, size.Units
		if err := e.save(w, left, clean, false); err != nil {
			return err
		}
	}
	return e.save(w, m, newRecord(v), true)
}

// without returns what is left of a model, nil if nothing is.
func (e *erasure) without(m learn.Model) (learn.Model, error) {
	f, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return m, nil // check made sure that it holds nothing of them
	}
	var here []string
	for _, s := range f.Sources() {
		if e.erased(s.ID) {
			here = append(here, s.ID)
		}
	}
	if len(here) == 0 {
		return m, nil
	}
	rows := m
	if t, ok := m.(*expert.Told); ok {
		rows = t.Unwrap()
	}
	if f, ok := rows.(learn.Forgetter); ok && !slices.ContainsFunc(f.Sources(), func(s learn.Source) bool { return !e.erased(s.ID) }) {
		return nil, nil
	}
	return f.Forget(e.tx.ctx, here...)
}

// clean returns a record that does not tell of the sources.
func (e *erasure) clean(r record) record {
	if e.erased(r.SourceID) {
		r.SourceID, r.SourceName, r.SourcePath, r.Hash, r.HashText, r.SourceRows, r.Note = "", "", "", nil, "", 0, ""
	}
	history := r.History
	r.History = nil
	for _, h := range history {
		if !e.erased(h.SourceID) {
			r.History = append(r.History, e.clean(h))
		}
	}
	return r
}

// save writes a version with the parts that were not written yet. Only the
// newest keeps its derived ones.
func (e *erasure) save(w *frameWriter, m learn.Model, r record, newest bool) error {
	s := e.tx.store
	parts, err := m.Parts()
	if err != nil {
		return err
	}
	var fresh []*part
	var blob []byte
	var ids, derived []uint64
	var keys []partKey
	for _, given := range parts {
		if given.Derived && !newest {
			continue
		}
		if given.Data, err = given.Load(); err != nil {
			return err
		}
		key := partKey{given.Name, given.Derived, sha256.Sum256(given.Data)}
		id := e.known[key]
		if id == 0 {
			e.last++
			id = e.last
			e.known[key] = id
			p := &part{id: id, key: key, size: int64(len(given.Data))}
			p.inFile = len(given.Data) > s.largePart || given.Derived && len(given.Data) > s.largeDerived
			fresh = append(fresh, p)
			if p.inFile {
				if err := s.makeDir(s.partsDir(e.tx.name)); err != nil {
					return err
				}
				if err := s.writePartFile(s.partsDir(e.tx.name), p, given.Data); err != nil {
					return err
				}
			} else {
				blob = append(blob, given.Data...)
			}
		}
		ids, keys = append(ids, id), append(keys, key)
		if given.Derived {
			derived = append(derived, id)
		}
	}
	r.Parts, r.Derived, r.Sum = packIDs(ids), packIDs(derived), sumKeys(keys)
	if slices.ContainsFunc(fresh, func(p *part) bool { return p.inFile }) {
		if err := s.disk.SyncDir(s.partsDir(e.tx.name)); err != nil {
			return err
		}
	}
	if len(fresh) > 0 {
		if err := w.parts(fresh, blob); err != nil {
			return err
		}
	}
	return w.frame(contents{Versions: []record{r}}, nil)
}
