package rulenet

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync/atomic"

	"github.com/accrete-ml/accrete/learn"
)

// Each version of a model is kept, and shares with the one before the parts that did
// not change. So a living network saves its rows in blocks that are written once: an
// update adds a block of the rows that came, and leaves the others as they are. Rows
// that are not needed any more stay in their block until it is written anew, when more
// than a third of it is gone. Many small neighbours become one, as in the logarithmic
// method of Bentley and Saxe (1980), so that there are few and each row is written few
// times. Blocks one after the other have the rows in the order of the log.

const (
	blockFan   = 32      // neighbours of a size that become one
	mostBlocks = 256     // then all become one
	leastAlive = 2. / 3. // of a block's rows, below which it is written anew
)

// rowBlock is rows that were saved together.
type rowBlock struct {
	at   []int32 // their places in the log, −1 of those that are gone
	data []byte  // as saved; nil: it is yet to be
}

// saving is what a frozen network and those that go on from it know of its blocks.
type saving struct{ blocks atomic.Pointer[[]rowBlock] }

// known returns the blocks that rows of the log were last saved in.
func (s *living) known() []rowBlock {
	if s.saving != nil {
		if b := s.saving.blocks.Load(); b != nil {
			return *b
		}
	}
	return s.blocks
}

// relocate tells the blocks that rows of the log have other places now, −1 for those
// that are gone.
func (s *living) relocate(place []int32) {
	blocks := slices.Clone(s.known())
	for i, b := range blocks {
		blocks[i].at = make([]int32, len(b.at))
		for j, r := range b.at {
			if blocks[i].at[j] = -1; r >= 0 {
				blocks[i].at[j] = place[r]
			}
		}
	}
	s.blocks, s.saving = blocks, nil
}

// saveBlocks returns the blocks to save: those that are known as far as they stay,
// with their bytes, and those that were written now.
func (s *living) saveBlocks() ([]rowBlock, error) {
	if s.saving == nil {
		s.saving = &saving{}
	}
	if b := s.saving.blocks.Load(); b != nil {
		return *b, nil
	}
	blocks := joinBlocks(s.liveBlocks())
	for i := range blocks {
		b := &blocks[i]
		if b.data != nil {
			continue
		}
		own := s.log.pick(b.at, 0)
		to, err := own.save()
		if err != nil {
			return nil, err
		}
		if b.data, err = learn.Marshal(to); err != nil {
			return nil, err
		}
	}
	s.saving.blocks.Store(&blocks)
	return blocks, nil
}

// liveBlocks returns the blocks without rows that nobody needs, those of which too
// little is left to be written anew, and the rows that are in none.
func (s *living) liveBlocks() []rowBlock {
	in := s.needed()
	var blocks []rowBlock
	next := int32(0)
	for _, b := range s.known() {
		at, alive := make([]int32, len(b.at)), make([]int32, 0, len(b.at))
		for j, r := range b.at {
			if at[j] = -1; r < 0 {
				continue
			}
			if next = max(next, r+1); in[r] {
				at[j] = r
				alive = append(alive, r)
			}
		}
		switch {
		case len(alive) == 0:
		case float64(len(alive)) < leastAlive*float64(len(at)):
			blocks = append(blocks, rowBlock{at: alive})
		default:
			blocks = append(blocks, rowBlock{at, b.data})
		}
	}
	var fresh []int32
	for r := next; int(r) < len(in); r++ {
		if in[r] {
			fresh = append(fresh, r)
		}
	}
	if len(fresh) > 0 {
		blocks = append(blocks, rowBlock{at: fresh})
	}
	return blocks
}

// needed reports of each row of the log whether it is in the reservoir or one of the
// last ones.
func (s *living) needed() []bool {
	in := make([]bool, s.log.rows())
	for _, r := range s.drawn {
		in[r] = true
	}
	for r := len(in) - s.recent; r < len(in); r++ {
		in[r] = true
	}
	return in
}

// class is the size of a block: of its rows, in powers of the fan.
func (b *rowBlock) class() int {
	class := 0
	for n := len(b.at); n >= blockFan; n /= blockFan {
		class++
	}
	return class
}

// joinBlocks makes one of many small neighbours.
func joinBlocks(blocks []rowBlock) []rowBlock {
	if len(blocks) > mostBlocks {
		return []rowBlock{together(blocks)}
	}
	for class := range 4 {
		var to []rowBlock
		for lo := 0; lo < len(blocks); {
			hi, many := lo, 0
			for ; hi < len(blocks) && blocks[hi].class() <= class; hi++ {
				if blocks[hi].class() == class {
					many++
				}
			}
			switch {
			case hi == lo:
				to = append(to, blocks[lo])
				hi++
			case many >= blockFan:
				to = append(to, together(blocks[lo:hi]))
			default:
				to = append(to, blocks[lo:hi]...)
			}
			lo = hi
		}
		blocks = to
	}
	return blocks
}

// together returns one block, yet to be written, of what is left of several.
func together(blocks []rowBlock) rowBlock {
	var all rowBlock
	for _, b := range blocks {
		for _, r := range b.at {
			if r >= 0 {
				all.at = append(all.at, r)
			}
		}
	}
	return all
}

// bitmap writes as many bits as there are numbers, set where one is.
func bitmap(n int, set func(i int) bool) []byte {
	to := make([]byte, (n+7)/8)
	for i := range n {
		if set(i) {
			to[i/8] |= 1 << (i % 8)
		}
	}
	return to
}

// named names a part by its bytes, so that the same part has one name in all versions.
func named(kind string, data []byte) learn.Part {
	h := fnv.New64a()
	h.Write(data)
	return learn.Part{Name: fmt.Sprintf("%s%016x", kind, h.Sum64()), Data: data}
}
