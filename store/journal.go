package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Journal is what a model is about to learn, on the disk before it is learnt:
// records that are appended and synced, and replaced by fewer once a version
// holds what they said. A process that dies leaves whole records and maybe a
// torn one at the end, which is cut off. One process at a time has the journal
// of a model; it goes with the model when that is deleted.
//
// Many records that are appended at once are synced once (group commit, as in
// DeWitt et al. 1984). Each is its length, its checksum (CRC-32C) and its
// bytes; what the bytes mean is the caller's affair.
type Journal struct {
	path string
	warn func(format string, a ...any)

	mu   sync.Mutex
	file *os.File
	size int64
	err  error // why it can no longer be written
}

const (
	journalHead  = "accrete journal 1\n"
	recordHead   = 8
	mostRecord   = 64 << 20
	journalLarge = 1 << 31
)

func (s *Store) journalPath(name string) string { return filepath.Join(s.modelDir(name), "journal") }

// HasJournal reports whether a model has a journal with records.
func (s *Store) HasJournal(name string) bool {
	info, err := os.Stat(s.journalPath(name))
	return err == nil && info.Size() > int64(len(journalHead))
}

// OpenJournal opens the journal of a model that is there, and returns its
// records, oldest first. If another process has it, the error is ErrLocked.
func (s *Store) OpenJournal(name string) (*Journal, [][]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, nil, err
	}
	if s.opts.ReadOnly {
		return nil, nil, fail(fs.ErrPermission, "the store %s is open for reading only", s.dir)
	}
	if _, err := s.Stamp(name); err != nil {
		return nil, nil, err
	}
	j := &Journal{path: s.journalPath(name), warn: s.warnf}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, s.writeError(err)
	}
	free, err := tryLock(f, true)
	if err == nil && !free {
		err = fail(ErrLocked, "another process takes in rows for the model %q", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	j.file = f
	records, err := j.load()
	if err != nil {
		f.Close()
		return nil, nil, s.writeError(err)
	}
	return j, records, nil
}

// load reads the records, and cuts off what was not written whole.
func (j *Journal) load() ([][]byte, error) {
	info, err := j.file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > journalLarge {
		return nil, fmt.Errorf("the journal %s is too large to be one", j.path)
	}
	text, err := io.ReadAll(io.NewSectionReader(j.file, 0, info.Size()))
	if err != nil {
		return nil, err
	}
	records, end := ReadJournal(text)
	if end == 0 { // a new one, or one whose first write was torn
		if _, err := j.file.WriteAt([]byte(journalHead), 0); err != nil {
			return nil, err
		}
		end = len(journalHead)
	}
	if j.size = int64(end); j.size < info.Size() {
		j.warn("the journal %s ended in a record that was not written whole; it was never acknowledged", j.path)
	}
	if err := j.file.Truncate(j.size); err != nil {
		return nil, err
	}
	if err := j.file.Sync(); err != nil {
		return nil, err
	}
	return records, syncFolder(filepath.Dir(j.path))
}

// ReadJournal returns the whole records of a journal's bytes, and where they
// end; 0 if they are no journal.
func ReadJournal(text []byte) (records [][]byte, end int) {
	if len(text) < len(journalHead) || string(text[:len(journalHead)]) != journalHead {
		return nil, 0
	}
	end = len(journalHead)
	for len(text)-end >= recordHead {
		n := int(binary.LittleEndian.Uint32(text[end:]))
		if n > mostRecord || n > len(text)-end-recordHead {
			break
		}
		record := text[end+recordHead : end+recordHead+n]
		if crc32.Checksum(record, castagnoli) != binary.LittleEndian.Uint32(text[end+4:]) {
			break
		}
		records = append(records, record)
		end += recordHead + n
	}
	return records, end
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func framed(records [][]byte) ([]byte, error) {
	size := 0
	for _, r := range records {
		if len(r) > mostRecord {
			return nil, fmt.Errorf("a record of %d bytes is too large for a journal", len(r))
		}
		size += recordHead + len(r)
	}
	b := make([]byte, 0, size)
	for _, r := range records {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r)))
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(r, castagnoli))
		b = append(b, r...)
	}
	return b, nil
}

// Append adds records. Once it returns nil they survive a crash of the process
// or the machine. If it fails, none of them is there.
func (j *Journal) Append(records ...[]byte) error {
	b, err := framed(records)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if err := j.same(); err != nil {
		return err
	}
	_, err = j.file.WriteAt(b, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		if cut := errors.Join(j.file.Truncate(j.size), j.file.Sync()); cut != nil {
			j.err = fmt.Errorf("the journal %s cannot be written: %w", j.path, err)
		}
		return fmt.Errorf("the journal %s cannot be written: %w", j.path, err)
	}
	j.size += int64(len(b))
	return nil
}

// same reports that the file is still where the next process will look for it:
// it goes when its model is deleted.
func (j *Journal) same() error {
	there, err := os.Stat(j.path)
	if err != nil {
		return fail(ErrUnknown, "the journal %s is gone, and its model with it", j.path)
	}
	ours, err := j.file.Stat()
	if err == nil && !os.SameFile(there, ours) {
		err = fail(ErrUnknown, "the journal %s is another one by now", j.path)
	}
	return err
}

// Replace makes these all the records that there are: before or after a crash
// at any moment there are the old ones or the new ones.
func (j *Journal) Replace(records ...[]byte) (err error) {
	b, err := framed(records)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if err := j.same(); err != nil {
		return err
	}
	f, err := os.OpenFile(j.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if _, err := f.Write(append([]byte(journalHead), b...)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// Whoever waits for the lock of the old file gets one that is gone, and
	// looks again.
	if free, err := tryLock(f, true); err != nil || !free {
		return errors.Join(err, errors.New("the new journal is locked"))
	}
	if err := os.Rename(f.Name(), j.path); err != nil {
		return err
	}
	j.file.Close()
	j.file, j.size = f, int64(len(journalHead)+len(b))
	return syncFolder(filepath.Dir(j.path))
}

// Size is how many bytes the journal has.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Close lets others have the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = fs.ErrClosed
	}
	return j.file.Close()
}
