package store

import "slices"

// Old versions are kept as long as that is cheap. Versions share their parts: a
// model that only gains some holds all that its older versions need, and they
// stay for ever. One that replaces its parts leaves the old ones behind, and
// they would pile up without end; there the oldest versions are let go. Their
// records stay, so that the log still tells what the model learnt, from where
// and when, but they cannot be loaded any more.
const (
	neverLetGo = 2         // the newest version and the one before stay whatever they take
	measure    = 10        // the largest of so many newest versions is what room is measured by: a model may shrink
	freeRoom   = 256 << 10 // bytes of parts of a model that versions may always take
	mostRoom   = 2.5       // times that largest one may all versions take
	leftRoom   = 2.0       // times it, they take when the oldest are let go
)

// overgrown returns how many of the oldest versions are let go so that the rest
// takes little more room than the newest ones do, 0 if there is room for all.
func (l *log) overgrown() int {
	if len(l.versions) <= neverLetGo {
		return 0
	}
	room := l.rooms()
	largest := 0.
	for _, r := range l.versions[max(0, len(l.versions)-measure):] {
		var size float64
		for _, id := range r.Parts.unpack() {
			size += room[id]
		}
		largest = max(largest, size)
	}
	ends, all := l.lastUses(room)
	free := float64(l.store.freeRoom)
	if all <= max(free, mostRoom*largest) {
		return 0
	}
	gone := 0
	for gone < len(l.versions)-neverLetGo && all > max(free, leftRoom*largest) {
		all -= ends[gone]
		gone++
	}
	return gone
}

// rooms returns how many bytes each part takes on the disk, as far as versions
// cannot do without it.
func (l *log) rooms() map[uint64]float64 {
	room := make(map[uint64]float64, len(l.parts))
	for _, f := range l.frames {
		for _, p := range f.parts {
			switch {
			case p.key.derived:
			case p.inFile:
				room[p.id] = float64(p.size)
			case f.raw > 0:
				room[p.id] = float64(f.blobSize) * float64(p.size) / float64(f.raw)
			}
		}
	}
	return room
}

// lastUses returns, for each version, the room of the parts that no later one
// needs, and the room of all.
func (l *log) lastUses(room map[uint64]float64) (ends []float64, all float64) {
	ends = make([]float64, len(l.versions))
	type runKey struct{ first, difference int64 }
	done := map[runKey]int64{} // versions mostly repeat the runs of the one before
	used := make(map[uint64]bool, len(room))
	for i, r := range slices.Backward(l.versions) {
		for _, run := range r.Parts.runs() {
			key := runKey{run.first, run.difference}
			for k := done[key]; k < run.count; k++ {
				id := uint64(run.first + k*run.difference)
				if !used[id] {
					used[id] = true
					ends[i] += room[id]
					all += room[id]
				}
			}
			done[key] = max(done[key], run.count)
		}
	}
	return ends, all
}

// letGo returns the record of a version without its parts.
func (r *record) letGo() *record {
	gone := *r
	gone.Parts, gone.Derived, gone.Sum, gone.LetGo = nil, nil, nil, true
	return &gone
}
