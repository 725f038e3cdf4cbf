package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
)

// Tx is a change of one model, made by the only writer (see Store.Write).
type Tx struct {
	store  *Store
	ctx    context.Context
	name   string
	log    *log // log.file is nil if the model does not exist yet
	turn   *turn
	synced bool            // the log's folder is on the disk as we see it
	kept   map[string]bool // copies of sources that a version to come will tell of
	broken error
}

func (s *Store) begin(ctx context.Context, name string, turn *turn) (*Tx, error) {
	tx := &Tx{store: s, ctx: ctx, name: name, turn: turn, kept: map[string]bool{}}
	if err := tx.open(); err != nil {
		return nil, err
	}
	if tx.Latest().Kind == Erase { // whoever erased may have died before all files were gone
		if err := tx.sweep(); err != nil {
			s.warnf("files of what was erased may be left in %s: %v", s.partsDir(name), err)
		}
	}
	return tx, nil
}

// open reads the log as it is now.
func (tx *Tx) open() error {
	s, path := tx.store, tx.store.logPath(tx.name)
	f, err := s.disk.Append(path)
	if errors.Is(err, fs.ErrNotExist) {
		tx.log = &log{index: newIndex(), store: s, name: tx.name, path: path}
		if noted := s.noted(path); noted > 0 {
			tx.log.lost = []int{1, noted}
		}
		return nil
	}
	if err != nil {
		return s.writeError(err)
	}
	l, err := s.readLog(f, path, tx.name, s.noted(path))
	if err != nil {
		f.Close()
		return err
	}
	tx.log = l
	return nil
}

// reopen reads whichever log there is after a compaction that failed.
func (tx *Tx) reopen() error {
	l := tx.log
	if err := tx.open(); err != nil {
		return err
	}
	l.close()
	return nil
}

func (tx *Tx) end() { tx.log.close() }

// Exists reports whether the model has a version yet.
func (tx *Tx) Exists() bool { return len(tx.log.versions) > 0 }

// Latest returns the newest version, or one with number 0 if there is none.
func (tx *Tx) Latest() Version {
	if r := tx.log.latest(); r != nil {
		return tx.log.version(r)
	}
	return Version{Model: tx.name}
}

// Load returns the newest version.
func (tx *Tx) Load() (learn.Model, Version, error) { return tx.LoadVersion(0) }

// LoadVersion returns a certain version.
func (tx *Tx) LoadVersion(number int) (learn.Model, Version, error) {
	if tx.log.file == nil && tx.log.lost != nil {
		return nil, Version{}, tx.store.gone(tx.log.path, tx.name)
	}
	if tx.log.file == nil {
		return nil, Version{}, tx.store.unknown(tx.name)
	}
	return tx.log.load(number)
}

// Save makes a model the newest version, as Store.Save does.
func (tx *Tx) Save(m learn.Model, v Version) (Version, error) {
	s := tx.store
	if tx.broken != nil {
		return Version{}, tx.broken
	}
	if err := tx.ctx.Err(); err != nil {
		return Version{}, err
	}
	if tx.log.file == nil && tx.log.lost != nil {
		return Version{}, s.gone(tx.log.path, tx.name)
	}
	if tx.log.file != nil && !tx.Exists() {
		return Version{}, tx.log.damage()
	}
	if err := tx.complete(&v, m); err != nil {
		return Version{}, err
	}
	var parts []learn.Part
	err := crew.Await(tx.ctx, func() (err error) {
		parts, err = m.Parts()
		return err
	})
	if tx.ctx.Err() != nil {
		return Version{}, tx.ctx.Err()
	}
	if err != nil {
		return Version{}, fmt.Errorf("the model %q cannot be saved: %w", tx.name, err)
	}
	if err := tx.append(parts, newRecord(v)); err != nil {
		tx.broken = s.writeError(err)
		return Version{}, tx.broken
	}
	saved := tx.Latest()
	tx.note()
	tx.dropDerived()
	tx.tidy(saved)
	return saved, nil
}

// tidy makes the log smaller where that is worth it, after a version was saved.
func (tx *Tx) tidy(saved Version) {
	if len(tx.log.holes) > 0 {
		return
	}
	old := tx.log.overgrown()
	if old == 0 && !tx.log.wasteful() {
		return
	}
	versions := slices.Clone(tx.log.versions)
	for i, r := range versions[:old] {
		versions[i] = r.letGo()
	}
	if err := tx.compact(versions); err != nil {
		tx.store.warnf("%v is saved, but the log could not be made smaller: %v", saved, tx.store.writeError(err))
		tx.broken = tx.reopen()
	}
}

// complete fills in what a version says of its model.
func (tx *Tx) complete(v *Version, m learn.Model) error {
	latest := tx.Latest().Number
	if v.Parent != 0 && v.Parent != latest {
		return fail(ErrConflict, "the model %q went on from version %d to %d in the meantime; load it again and repeat the change", tx.name, v.Parent, latest)
	}
	if v.Kind == "" {
		return errors.New("a version needs a kind, such as learn or update")
	}
	v.Model, v.Number, v.Parent = tx.name, tx.log.next, latest
	if now := tx.log.store.opts.Now; v.At.IsZero() && now != nil {
		v.At = now()
	}
	size := m.Size()
	v.Learner, v.Rows, v.Rules, v.Units = m.Learner(), size.Rows, size.Rules, size.Units
	v.Target = ""
	if t := m.Target(); t >= 0 && t < len(m.Schema().Attributes) {
		v.Target = m.Schema().Attributes[t].Name
	}
	return nil
}

// dropDerived removes the files of derived parts that are not kept any more.
// If that fails, the next compaction finds them.
func (tx *Tx) dropDerived() {
	l := tx.log
	needed := map[string]bool{}
	for id := range l.keptDerived(l.versions) {
		needed[l.parts[id].fileName()] = true
	}
	for id := range l.keptDerived(l.versions[:len(l.versions)-1]) {
		if p := l.parts[id]; p.inFile && !needed[p.fileName()] {
			tx.store.disk.Remove(l.partPath(p))
		}
	}
}

// append writes a version's frame, with the parts that the log does not have.
func (tx *Tx) append(parts []learn.Part, r record) error {
	s, l := tx.store, tx.log
	if len(parts) > maxParts {
		return fail(fs.ErrInvalid, "the model %q has %d parts, at most %d can be saved", tx.name, len(parts), maxParts)
	}
	c := contents{}
	var blob []byte
	var files bool
	var ids, derived []uint64
	var keys []partKey
	fresh := map[partKey]uint64{}
	lastID := l.lastID
	for i := range parts {
		given := &parts[i]
		key, err := s.keyOf(given)
		if err != nil {
			return err
		}
		id := fresh[key]
		if known := l.byKey[key]; known != nil && tx.has(known) {
			id = known.id
		}
		if id == 0 {
			data, err := given.Load()
			if err != nil {
				return err
			}
			lastID++
			id = lastID
			fresh[key] = id
			p := &part{id: id, key: key, size: int64(len(data))}
			p.inFile = len(data) > s.largePart || given.Derived && len(data) > s.largeDerived
			c.Parts = append(c.Parts, p.entry())
			if p.inFile {
				if err := s.makeDir(s.partsDir(tx.name)); err != nil {
					return err
				}
				if err := s.writePartFile(s.partsDir(tx.name), p, data); err != nil {
					return err
				}
				files = files || !given.Derived
			} else {
				blob = append(blob, data...)
			}
		}
		ids, keys = append(ids, id), append(keys, key)
		if given.Derived {
			derived = append(derived, id)
		}
	}
	r.Parts, r.Derived, r.Sum = packIDs(ids), packIDs(derived), sumKeys(keys)
	if packed, ok := pack(blob); ok {
		c.Packed, blob = true, packed
	}
	c.Versions = []record{r}
	if files {
		if err := s.disk.SyncDir(s.partsDir(tx.name)); err != nil {
			return err
		}
		tx.synced = false // the folder of parts may be new
	}
	if l.file == nil {
		return tx.create(c, blob)
	}
	return tx.extend(c, blob)
}

// has reports whether a part that the log knows of is still to be had. Parts
// within the log were checked when it was read.
func (tx *Tx) has(p *part) bool {
	if !p.inFile {
		return true
	}
	_, err := tx.store.disk.Stat(tx.log.partPath(p))
	return err == nil
}

// create makes the log of a new model, with its first version.
func (tx *Tx) create(c contents, blob []byte) error {
	s, path := tx.store, tx.log.path
	c.Name = tx.name
	// What an old model of this name was is not this one's.
	for _, old := range []string{notePath(path), s.damagedDir(tx.name)} {
		if err := s.disk.RemoveAll(old); err != nil {
			return err
		}
	}
	if err := s.syncDirs(s.modelDir(tx.name)); err != nil {
		return err
	}
	err := s.writeFile(path, logFile, true, func(w *frameWriter) error {
		return first(w.frame(c, blob), tx.turn.lock.Check())
	})
	if err != nil {
		return err
	}
	if err := s.disk.SyncDir(s.modelDir(tx.name)); err != nil {
		return err
	}
	tx.synced = true
	if err := tx.open(); err != nil {
		return err
	}
	if err := tx.sweep(); err != nil { // parts of a deleted model of this name
		s.warnf("%s could not be tidied up: %v", s.partsDir(tx.name), err)
	}
	return nil
}

// extend appends a frame to the log.
func (tx *Tx) extend(c contents, blob []byte) error {
	s, l := tx.store, tx.log
	if !tx.synced {
		// Whoever put this log here may have died before syncing its folder.
		if err := s.disk.SyncDir(s.modelDir(tx.name)); err != nil {
			return err
		}
		tx.synced = true
	}
	if l.size > l.end {
		if err := tx.setAside(l.end, l.size); err != nil {
			return err
		}
		if err := l.file.Truncate(l.end); err != nil {
			return err
		}
		if l.lost == nil {
			s.warnf("the last change of the model %q was not finished; going on from version %d", tx.name, tx.Latest().Number)
		}
		l.size = l.end
	}
	b, err := appendFrame(nil, l.end, c, blob)
	if err != nil {
		return err
	}
	if _, err = l.file.WriteAt(b, l.end); err == nil {
		err = l.file.Sync()
	}
	if err == nil {
		err = tx.turn.lock.Check() // else this is not the store's log any more
	}
	if err != nil {
		// Readers ignore a torn tail; it is cut off to give its room back.
		if l.file.Truncate(l.end) == nil {
			l.file.Sync()
		}
		return err
	}
	l.size, l.lost = l.end+int64(len(b)), nil
	return l.scan(offsetReader{bytes.NewReader(b), l.end}, l.end, l.size)
}

// deleteModel removes the model. It is gone with its log; what is left of its
// folder goes when the lock is released.
func (tx *Tx) deleteModel() error {
	if tx.log.file == nil && tx.log.lost == nil {
		return tx.store.unknown(tx.name)
	}
	// The note goes first: without a log it would tell of damage.
	for _, path := range []string{notePath(tx.log.path), tx.log.path} {
		if err := tx.store.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return tx.store.writeError(err)
		}
	}
	if err := tx.store.disk.SyncDir(tx.store.modelDir(tx.name)); err != nil {
		return tx.store.writeError(err)
	}
	return nil
}

// deleteVersion writes the log anew, without one version.
func (tx *Tx) deleteVersion(number int) error {
	if tx.log.file == nil {
		return tx.store.unknown(tx.name)
	}
	r, err := tx.log.find(number)
	if err != nil {
		return err
	}
	if len(tx.log.versions) == 1 {
		return remedy.New(remedy.Remedy{Kind: remedy.DeleteModel, What: tx.name}, "%v is the only version of the model", tx.log.version(r))
	}
	rest := slices.DeleteFunc(slices.Clone(tx.log.versions), func(r *record) bool { return r.Number == number })
	if err := tx.compact(rest); err != nil {
		return tx.store.writeError(err)
	}
	return nil
}
