// Package store keeps models on disk, by name and version.
//
// Every change of a model (learning, updating, telling, forgetting, merging,
// restoring, importing) is a new version; none is overwritten. A version says
// what was done, from which source, when and with what seed.
//
// A model has one log, a file that only grows. Saving a version appends one
// frame, which holds the version's record and those parts of the model that
// no earlier version had (see learn.Part), and ends with a checksum. So a
// version is there whole or not at all, versions share what did not change,
// and a process that dies while writing leaves a torn tail behind, which
// readers ignore and the next writer cuts off. Save returns once the frame is
// on the disk (fsync). Large parts are files of their own, named by the
// SHA-256 of what they hold; the log only names them. Of derived parts only
// those of the two newest versions are kept.
//
// Readers take no lock: they open the log and read up to its last whole
// frame. Writers of one model queue on a lock file. When too much of a log is
// of no more use, or many small frames could be few, the writer writes a new
// log beside it and renames it over the old: readers that have the old one
// open read on.
//
// Nothing is lost, unless it is to be: Tx.Erase takes a source out of every
// version and record.
//
// This is the log-structured storage of Rosenblum and Ousterhout (1992), with
// content addressing as in Venti (Quinlan and Dorward 2002).
//
//	.accrete/                      the store, private to its owner (0700)
//	  models/votes/log             versions and small parts of the model votes
//	  models/votes/parts/3f5a…     large parts, by hash
//	  models/votes/sources/9c0e…   copies of source files that are to be kept, by hash
//	  models/votes/newest          the number of the newest version, to find out if the log lost it
//	  models/votes/damaged/        damaged stretches of the log that were cut out of it
//	  models/votes/journal         rows on their way into the next version, of a server that learns live
//	  models/votes/lock, queue/    what writers queue on
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
)

// Store is a folder of models. It is safe for concurrent use, also by several
// processes.
type Store struct {
	dir  string
	opts Options
	disk disk
	told *sync.Map // what was warned of already

	memory *contentsMemory
	hashes *hashMemory

	unpacked *atomic.Int64 // bytes of parts that were read, for who wants to know what a change costs

	largePart    int   // parts larger than this are files of their own
	largeDerived int   // so are derived parts larger than this
	minWaste     int64 // less waste than this is left where it is
	freeRoom     int64 // parts of all versions may take this, whatever the newest take
}

// Options of a store. The zero value is the default.
type Options struct {
	// LockTimeout is how long a writer waits for another one; 0 means 10 s.
	LockTimeout time.Duration
	// ReadOnly refuses every change.
	ReadOnly bool
	// Now tells the time of versions that do not say theirs; nil leaves it
	// unsaid.
	Now func() time.Time
	// Warn hears, in one line each, what went wrong without harm: an
	// unfinished change of a process that died, or tidying up that failed.
	Warn func(message string)
}

// Open returns the store in a folder. The folder need not exist: the first
// change makes it.
func Open(dir string, o Options) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the store's folder has no name: expected a path such as .accrete")
	}
	dir = filepath.Clean(dir)
	return open(dir, o, osDisk{dir})
}

func open(dir string, o Options, d disk) (*Store, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = 10 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if info, err := d.Stat(dir); err == nil && !info.IsDir() {
		return nil, remedy.New(elsewhere, "the store %s is a file, expected a folder", dir)
	}
	return &Store{dir: filepath.Clean(dir), opts: o, disk: d, told: &sync.Map{}, memory: &contentsMemory{most: mostRemembered}, hashes: &hashMemory{}, unpacked: &atomic.Int64{}, largePart: 1 << 20, largeDerived: 512, minWaste: 16 << 10, freeRoom: freeRoom}, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

func (s *Store) modelsDir() string           { return filepath.Join(s.dir, "models") }
func (s *Store) modelDir(name string) string { return filepath.Join(s.modelsDir(), escape(name)) }
func (s *Store) logPath(name string) string  { return filepath.Join(s.modelDir(name), "log") }
func (s *Store) lockPath(name string) string { return filepath.Join(s.modelDir(name), "lock") }
func (s *Store) partsDir(name string) string { return filepath.Join(s.modelDir(name), "parts") }

// elsewhere is what to do if the folder cannot be a store.
var elsewhere = remedy.Remedy{Kind: remedy.ChooseStore}

func (s *Store) readError(err error) error {
	return explain(err, "the store "+s.dir+" cannot be read", elsewhere)
}

func (s *Store) writeError(err error) error {
	return explain(err, "the store "+s.dir+" cannot be written", elsewhere)
}

func (s *Store) warnf(format string, a ...any) { s.opts.Warn(fmt.Sprintf(format, a...)) }

// warnOnce says what readers would otherwise hear again and again.
func (s *Store) warnOnce(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if _, said := s.told.LoadOrStore(text, true); !said {
		s.opts.Warn(text)
	}
}

// Summary is a line of the list of models.
type Summary struct {
	Name     string
	Versions int
	Latest   Version
}

// Models lists the models by name. A model that cannot be read is left out of
// the list and is what the error is about.
func (s *Store) Models() ([]Summary, error) {
	folders, err := s.disk.Names(s.modelsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.readError(err)
	}
	var list []Summary
	var failed error
	for _, folder := range folders {
		l, err := s.openLog(filepath.Join(s.modelsDir(), folder, "log"), unescape(folder))
		if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, learn.ErrDamaged) {
			continue // a lock only: deleted, or about to be made
		}
		if err != nil {
			failed = first(failed, err)
			continue
		}
		if escape(l.index.name) == folder {
			l.name = l.index.name // which a long folder name does not tell
		}
		if n := len(l.versions); n > 0 {
			list = append(list, Summary{l.name, n, l.version(l.versions[n-1])})
		} else {
			failed = first(failed, l.damage())
		}
		l.close()
	}
	slices.SortFunc(list, func(a, b Summary) int { return compareNames(a.Name, b.Name) })
	return list, failed
}

// first returns the first error that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// names returns the names of the models that can be read.
func (s *Store) names() []string {
	models, _ := s.Models() // damaged ones cannot be meant
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return names
}

// Log returns the versions of a model, oldest first, up to the one that the
// reference names. If parts of the log are damaged it returns the versions
// that are left, and an error.
func (s *Store) Log(ref string) ([]Version, error) {
	name, number, err := ParseRef(ref)
	if err != nil {
		return nil, err
	}
	l, err := s.openModel(name)
	if err != nil {
		return nil, err
	}
	defer l.close()
	last, err := l.find(number)
	if err != nil {
		return nil, err
	}
	return l.upTo(last), l.damage()
}

// Load returns a model and its version: the newest for a reference such as
// "votes", a certain one for "votes@3".
func (s *Store) Load(ref string) (learn.Model, Version, error) {
	m, v, _, err := s.load(ref, (*log).read)
	return m, v, err
}

// LoadWithLog returns a model as Load does and the versions up to it, oldest
// first, as Log does.
func (s *Store) LoadWithLog(ref string) (learn.Model, []Version, error) {
	return s.loadWithLog(ref, (*log).read)
}

// LoadToUpdate is LoadWithLog for whoever wants to add rows to a model: parts
// that this does not need are checked when they are read, if ever they are.
func (s *Store) LoadToUpdate(ref string) (learn.Model, []Version, error) {
	return s.loadWithLog(ref, (*log).outline)
}

func (s *Store) loadWithLog(ref string, read func(*log, *record) ([]learn.Part, error)) (learn.Model, []Version, error) {
	m, v, l, err := s.load(ref, read)
	if err != nil {
		return nil, nil, err
	}
	r, err := l.find(v.Number)
	if err != nil {
		return nil, nil, err
	}
	return m, l.upTo(r), l.damage()
}

// load returns a model with the log it was read from, which is closed.
func (s *Store) load(ref string, read func(*log, *record) ([]learn.Part, error)) (m learn.Model, v Version, l *log, err error) {
	name, number, err := ParseRef(ref)
	if err != nil {
		return nil, v, nil, err
	}
	err = s.reread(func() error {
		if l, err = s.openModel(name); err != nil {
			return err
		}
		defer l.close()
		m, v, err = l.loadWith(number, read)
		return err
	})
	return m, v, l, err
}

// reread tries again to read what could not be read. A writer may have taken
// away a file between our reading the log and our opening the file; then the
// log is another one by now, or soon will be.
func (s *Store) reread(read func() error) error {
	err := read()
	for attempt := 0; attempt < 10 && errors.Is(err, learn.ErrDamaged); attempt++ {
		if attempt > 0 && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(time.Duration(attempt) * time.Millisecond)
		err = read()
	}
	return err
}

// openModel opens the log of a model that must have versions.
func (s *Store) openModel(name string) (*log, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	l, err := s.openLog(s.logPath(name), name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, learn.ErrDamaged):
		return nil, s.unknown(name)
	case err != nil:
		return nil, err
	case len(l.versions) == 0:
		l.close()
		return nil, l.damage()
	}
	l.tell()
	return l, nil
}

func (s *Store) unknown(name string) error {
	if known := s.names(); len(known) > 0 {
		return fail(ErrUnknown, "no model %q in the store %s%s", name, s.dir, spell.Hint(name, known))
	}
	return &remedy.Error{Err: fail(ErrUnknown, "no model %q in the store %s; it has no models yet", name, s.dir), Remedy: remedy.Remedy{Kind: remedy.LearnFirst}}
}

// Save makes a model the newest version of a name. Of the version, the caller
// gives Kind, Source, At (now, if it is zero), Seed and Settings; number,
// learner, target and sizes are filled in. If Parent is not 0 it must be the newest version so
// far: Save fails with ErrConflict if somebody saved another one in between.
//
// Once Save returns, the version survives a crash of the process or machine.
func (s *Store) Save(ctx context.Context, name string, m learn.Model, v Version) (Version, error) {
	err := s.Write(ctx, name, func(tx *Tx) (err error) {
		v, err = tx.Save(m, v)
		return err
	})
	if err != nil {
		return Version{}, err
	}
	return v, nil
}

// Write calls fn while no other writer can change the model, so that loading
// the newest version, updating it and saving the result loses nothing that
// others did. Others wait, for LockTimeout. Each Save within fn stays, even
// if fn fails later. Calling the store's own writing methods for the same
// model within fn would wait for itself.
func (s *Store) Write(ctx context.Context, name string, fn func(tx *Tx) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		return fail(fs.ErrPermission, "the store %s is open for reading only", s.dir)
	}
	turn, release, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	tx, err := s.begin(ctx, name, turn)
	if err != nil {
		return err
	}
	defer tx.end()
	return fn(tx)
}

// Restore makes an old version, such as "votes@3", the newest one again.
func (s *Store) Restore(ctx context.Context, ref string, at time.Time) (Version, error) {
	name, number, err := ParseRef(ref)
	if err != nil {
		return Version{}, err
	}
	if number == 0 {
		return Version{}, remedy.New(remedy.Remedy{Kind: remedy.SeeVersions, What: name}, "restore %s: say which version, as in %s@1", ref, name)
	}
	var restored Version
	err = s.Write(ctx, name, func(tx *Tx) error {
		m, old, err := tx.LoadVersion(number)
		if err != nil {
			return err
		}
		restored, err = tx.Save(m, Version{
			Kind:     Restore,
			Source:   Source{Name: ref, Rows: old.Rows},
			At:       at,
			Seed:     old.Seed,
			Settings: old.Settings,
		})
		return err
	})
	return restored, err
}

// Delete removes a model ("votes") or one version of it ("votes@3") for good.
// Numbers of deleted versions are not used again.
func (s *Store) Delete(ctx context.Context, ref string) error {
	name, number, err := ParseRef(ref)
	if err != nil {
		return err
	}
	return s.Write(ctx, name, func(tx *Tx) error {
		if number == 0 {
			return tx.deleteModel()
		}
		return tx.deleteVersion(number)
	})
}
