package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const (
	looseFrame   = 4 << 10   // frames smaller than this are better together
	groupSize    = 256 << 10 // bytes of parts that a compaction puts in one frame
	groupRecords = 64        // records that it puts in one frame
)

// keptDerived returns the derived parts that are kept: those of the newest
// version and of the one before, which are compared most.
func (l *log) keptDerived(versions []*record) map[uint64]bool {
	kept := map[uint64]bool{}
	for _, r := range versions[max(0, len(versions)-2):] {
		for _, id := range r.Derived.unpack() {
			if l.parts[id] != nil {
				kept[id] = true
			}
		}
	}
	return kept
}

// mark finds which parts are needed: all that some version cannot do without,
// and the derived ones that are kept.
func (l *log) mark(versions []*record) {
	for _, p := range l.parts {
		p.live = false
	}
	// Versions mostly repeat the runs of the one before, a little longer.
	type runKey struct{ first, difference int64 }
	done := map[runKey]int64{}
	for _, r := range versions {
		for _, run := range r.Parts.runs() {
			key := runKey{run.first, run.difference}
			for k := done[key]; k < run.count; k++ {
				if p := l.parts[uint64(run.first+k*run.difference)]; p != nil && !p.key.derived {
					p.live = true
				}
			}
			done[key] = max(done[key], run.count)
		}
	}
	for id := range l.keptDerived(versions) {
		l.parts[id].live = true
	}
}

// wasteful reports whether writing the log anew would make it a good deal
// smaller: an eighth of it is of no more use, or would go if small frames were
// compressed together, which halves them or better.
func (l *log) wasteful() bool {
	l.mark(l.versions)
	var waste float64
	for _, f := range l.frames {
		var dead int64
		for _, p := range f.parts {
			if !p.live && !p.inFile {
				dead += p.size
			}
		}
		size := float64(f.next - f.at)
		if dead > 0 {
			share := float64(f.blobSize) * float64(dead) / float64(f.raw)
			waste += share
			size -= share
		}
		if f.next-f.at < looseFrame {
			waste += size / 2
		}
	}
	return waste > float64(l.store.minWaste) && waste > float64(l.end)/8
}

// compact writes the log anew, with the versions that are to stay and only what
// they need.
func (tx *Tx) compact(versions []*record) error {
	s, l := tx.store, tx.log
	l.mark(versions)
	aside := l.holes
	if l.size > l.end {
		aside = append(slices.Clip(aside), hole{l.end, l.size})
	}
	for _, h := range aside {
		if err := tx.setAside(h.from, h.to); err != nil {
			return err
		}
	}
	err := s.writeFile(l.path, logFile, true, func(w *frameWriter) error {
		if err := w.frame(contents{Name: tx.name}, nil); err != nil {
			return err
		}
		if err := l.copyParts(w); err != nil {
			return err
		}
		if err := l.copyVersions(w, versions); err != nil {
			return err
		}
		newest := versions[len(versions)-1].Number
		return first(w.frame(contents{Next: l.next, Newest: newest}, nil), tx.turn.lock.Check())
	})
	if err != nil {
		return err
	}
	s.memory.forget() // what stood in frames that are no more
	if err := tx.open(); err != nil {
		return err
	}
	l.close()
	// Files must not go before the log that does without them is durable.
	if err := s.disk.SyncDir(s.modelDir(tx.name)); err != nil {
		tx.synced = false
		return err
	}
	tx.synced = true
	return tx.sweep()
}

// copyParts writes the parts that are needed, many to a frame.
func (l *log) copyParts(w *frameWriter) error {
	var group []*part
	var blob []byte
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		err := w.parts(group, blob)
		group, blob = group[:0], blob[:0]
		return err
	}
	for _, f := range l.frames {
		var live []*part
		for _, p := range f.parts {
			if p.live && l.parts[p.id] == p {
				live = append(live, p)
			}
		}
		if len(live) == 0 {
			continue
		}
		if len(live) == len(f.parts) && f.raw >= groupSize/2 { // copied as it is
			packed := make([]byte, f.blobSize)
			if _, err := l.bytes.ReadAt(packed, f.blob); err != nil {
				return err
			}
			if err := w.frame(contents{Parts: entries(live), Packed: f.packed}, packed); err != nil {
				return err
			}
			continue
		}
		for _, p := range live {
			if !p.inFile {
				data, err := l.data(p)
				if err != nil {
					return err
				}
				blob = append(blob, data...)
			}
			group = append(group, p)
			if len(blob) >= groupSize || len(group) >= 4*groupRecords {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// copyVersions writes the records, many to a frame, the newest by itself,
// without the derived parts that are not kept.
func (l *log) copyVersions(w *frameWriter, versions []*record) error {
	var group []record
	stays := l.keptDerived(versions)
	for i, r := range versions {
		kept := *r
		gone := slices.DeleteFunc(r.Derived.unpack(), func(id uint64) bool { return stays[id] })
		if len(gone) > 0 {
			is := func(id uint64) bool { return slices.Contains(gone, id) }
			kept.Parts = packIDs(slices.DeleteFunc(r.Parts.unpack(), is))
			kept.Derived = packIDs(slices.DeleteFunc(r.Derived.unpack(), is))
		}
		group = append(group, kept)
		if len(group) == groupRecords || i >= len(versions)-2 {
			if err := w.frame(contents{Versions: group}, nil); err != nil {
				return err
			}
			group = group[:0]
		}
	}
	return nil
}

// sweep removes files that nothing needs any more: of parts that the log does
// not name, copies of sources that no record tells of, and what somebody who
// died was about to write.
func (tx *Tx) sweep() error {
	parts := map[string]bool{}
	for _, p := range tx.log.parts {
		if p.inFile {
			parts[p.fileName()] = true
		}
	}
	err := tx.sweepDir(tx.store.partsDir(tx.name), func(name string) bool { return parts[name] })
	if err != nil {
		return err
	}
	sources := map[string]bool{}
	var look func(r *record)
	look = func(r *record) {
		if hash := r.version("").Source.Hash; r.Kind != Erase {
			sources[hash] = true
		}
		for i := range r.History {
			look(&r.History[i])
		}
	}
	for _, r := range tx.log.versions {
		look(r)
	}
	return tx.sweepDir(tx.store.sourcesDir(tx.name), func(name string) bool {
		hash, _, _ := strings.Cut(name, ".")
		return sources[hash] || tx.kept[name]
	})
}

// sweepDir removes the files of a folder that are not needed.
func (tx *Tx) sweepDir(dir string, needed func(name string) bool) error {
	names, err := tx.store.disk.Names(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if !needed(name) || strings.HasSuffix(name, ".new") {
			if err := tx.store.disk.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
