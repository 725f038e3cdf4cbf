package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Bag is the cells of a text column: for each row its words, each once, with
// how often it occurs. Rows lie behind one another (compressed sparse rows),
// so that a large dictionary costs nothing where its words do not occur. A
// document without words is an empty row, which is known; Gone says which
// cells are missing.
//
// The words of a row are sorted by code. Codes are indexes into the
// attribute's Values; words that the dictionary does not have are left out.
// Counts are whole numbers for text, and any finite numbers where a file gives
// its rows as sparse vectors.
type Bag struct {
	Starts []int // Codes[Starts[r]:Starts[r+1]] are the words of row r; one more than there are rows
	Codes  []int32
	Counts []float64
	Gone   []bool // nil if no cell is missing
}

// Rows returns the number of cells.
func (b *Bag) Rows() int { return len(b.Starts) - 1 }

// Missing reports whether nothing is known of a cell.
func (b *Bag) Missing(row int) bool { return b.Gone != nil && b.Gone[row] }

// Row returns the words of a cell and how often each occurs. Nobody changes
// the slices.
func (b *Bag) Row(row int) (codes []int32, counts []float64) {
	from, to := b.Starts[row], b.Starts[row+1]
	return b.Codes[from:to:to], b.Counts[from:to:to]
}

// Count returns how often a word occurs in a cell.
func (b *Bag) Count(row int, word int32) float64 {
	codes, counts := b.Row(row)
	if i, found := slices.BinarySearch(codes, word); found {
		return counts[i]
	}
	return 0
}

// slice returns the rows lo ≤ row < hi. It shares the words.
func (b *Bag) slice(lo, hi int) *Bag {
	s := &Bag{Starts: b.Starts[lo : hi+1], Codes: b.Codes, Counts: b.Counts}
	if b.Gone != nil {
		s.Gone = b.Gone[lo:hi]
	}
	return s
}

// pick returns a copy of the given rows.
func (b *Bag) pick(rows []int) *Bag {
	words := 0
	for _, r := range rows {
		words += b.Starts[r+1] - b.Starts[r]
	}
	to := &Bag{Starts: make([]int, 1, len(rows)+1), Codes: make([]int32, 0, words), Counts: make([]float64, 0, words)}
	for _, r := range rows {
		to.append(b, r)
	}
	return to
}

// append adds a cell of another bag with the same dictionary.
func (b *Bag) append(from *Bag, row int) {
	if from.Missing(row) {
		b.addMissing()
		return
	}
	codes, counts := from.Row(row)
	b.Codes = append(b.Codes, codes...)
	b.Counts = append(b.Counts, counts...)
	b.end()
}

// Append adds the cells of another bag with the same dictionary.
func (b *Bag) Append(from *Bag) {
	for r := range from.Rows() {
		b.append(from, r)
	}
}

// end closes the row whose words were appended.
func (b *Bag) end() {
	b.Starts = append(b.Starts, len(b.Codes))
	if b.Gone != nil {
		b.Gone = append(b.Gone, false)
	}
}

// addMissing appends a missing cell.
func (b *Bag) addMissing() {
	if b.Gone == nil {
		b.Gone = make([]bool, b.Rows(), b.Rows()+1)
	}
	b.Starts = append(b.Starts, len(b.Codes))
	b.Gone = append(b.Gone, true)
}

// emptied returns the bag without its rows, a new one for nil.
func (b *Bag) emptied() *Bag {
	if b == nil {
		return newBag()
	}
	return &Bag{Starts: b.Starts[:1], Codes: b.Codes[:0], Counts: b.Counts[:0]}
}

// newBag returns a bag without rows.
func newBag() *Bag { return &Bag{Starts: make([]int, 1)} }

// missingBag returns a bag of missing cells.
func missingBag(rows int) *Bag {
	b := &Bag{Starts: make([]int, rows+1), Gone: make([]bool, rows)}
	for r := range b.Gone {
		b.Gone[r] = true
	}
	return b
}

// occurring returns the words of all rows, in order.
func (b *Bag) occurring() []int32 { return b.Codes[b.Starts[0]:b.Starts[len(b.Starts)-1]] }

// check reports what is not sound: offsets that do not rise, codes that are
// not in a dictionary or not sorted, counts that are no numbers.
func (b *Bag) check(words int) error {
	if len(b.Starts) == 0 || len(b.Codes) != len(b.Counts) || b.Gone != nil && len(b.Gone) != b.Rows() ||
		b.Starts[0] < 0 || b.Starts[len(b.Starts)-1] > len(b.Codes) {
		return fmt.Errorf("%d offsets, %d words and %d counts do not fit together", len(b.Starts), len(b.Codes), len(b.Counts))
	}
	for r := range b.Rows() {
		if b.Starts[r+1] < b.Starts[r] {
			return fmt.Errorf("row %d ends before it begins", r+1)
		}
		if b.Missing(r) && b.Starts[r+1] > b.Starts[r] {
			return fmt.Errorf("row %d is missing and has words", r+1)
		}
		last := int32(-1)
		codes, counts := b.Row(r)
		for i, code := range codes {
			if code <= last || int(code) >= words {
				return fmt.Errorf("row %d: word %d after %d in a dictionary of %d words", r+1, code, last, words)
			}
			last = code
			if x := counts[i]; math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("row %d: the count of word %d is %v, expected a finite number", r+1, code, x)
			}
		}
	}
	return nil
}

// recode returns the bag with other codes, without the words whose new code is
// negative. What is common to the rows is shared with nobody.
func (b *Bag) recode(codes []int32) *Bag {
	to := &Bag{Starts: make([]int, 1, len(b.Starts)), Codes: make([]int32, 0, len(b.Codes)), Counts: make([]float64, 0, len(b.Counts))}
	var row words
	for r := range b.Rows() {
		if b.Missing(r) {
			to.addMissing()
			continue
		}
		row.reset()
		from, counts := b.Row(r)
		for i, code := range from {
			if c := codes[code]; c >= 0 {
				row.add(c, counts[i])
			}
		}
		row.into(to)
	}
	return to
}

// sortRows puts the words of each row, which are distinct, into the order of
// their codes: row by row if there are few, else many rows at a time.
func (b *Bag) sortRows(words int) {
	var room sorting
	for lo := 0; lo < b.Rows(); {
		hi := lo + 1
		for hi < b.Rows() && b.Starts[hi]-b.Starts[lo] < max(words, 1<<17) {
			hi++
		}
		if b.Starts[hi]-b.Starts[lo] < words/4 || b.Starts[hi]-b.Starts[lo] > math.MaxInt32 {
			for r := lo; r < hi; r++ {
				room.keys = b.sortRow(b.Starts[r], b.Starts[r+1], room.keys)
			}
		} else {
			b.sortTogether(lo, hi, words, &room)
		}
		lo = hi
	}
}

// sorting is room for it.
type sorting struct {
	keys   []uint64
	next   []int32 // of each word, where its next row stands
	rows   []int32
	counts []float64
	places []int // of each row, where its next word stands
}

// sortTogether sorts the words of rows lo ≤ row < hi by putting them in the order
// of words first, and from there back into their rows, where they arrive in order.
func (b *Bag) sortTogether(lo, hi, words int, room *sorting) {
	start, end := b.Starts[lo], b.Starts[hi]
	room.next = slices.Grow(room.next[:0], words+1)[:words+1]
	room.rows, room.counts = slices.Grow(room.rows[:0], end-start)[:end-start], slices.Grow(room.counts[:0], end-start)[:end-start]
	next, rows, counts := room.next, room.rows, room.counts
	clear(next)
	for _, code := range b.Codes[start:end] {
		next[code+1]++
	}
	for v := range words {
		next[v+1] += next[v]
	}
	for r := lo; r < hi; r++ {
		for i := b.Starts[r]; i < b.Starts[r+1]; i++ {
			at := next[b.Codes[i]]
			next[b.Codes[i]]++
			rows[at], counts[at] = int32(r-lo), b.Counts[i]
		}
	}
	places := append(room.places[:0], b.Starts[lo:hi]...)
	from := int32(0)
	for v := range words {
		for i := from; i < next[v]; i++ {
			at := places[rows[i]]
			places[rows[i]]++
			b.Codes[at], b.Counts[at] = int32(v), counts[i]
		}
		from = next[v]
	}
	room.places = places
}

// sortRow sorts the words from one place to another. It returns the room it used.
func (b *Bag) sortRow(from, to int, room []uint64) []uint64 {
	codes, counts := b.Codes[from:to], b.Counts[from:to]
	if slices.IsSorted(codes) {
		return room
	}
	room = room[:0]
	for i, code := range codes {
		room = append(room, uint64(code)<<32|uint64(i))
	}
	slices.Sort(room)
	before := slices.Clone(counts)
	for i, key := range room {
		codes[i], counts[i] = int32(key>>32), before[uint32(key)]
	}
	return room
}

// words gathers the words of one row.
type words struct {
	codes  []int32
	counts []float64
	pairs  []pair
}

func (w *words) reset() { w.codes, w.counts = w.codes[:0], w.counts[:0] }

func (w *words) add(code int32, count float64) {
	w.codes = append(w.codes, code)
	w.counts = append(w.counts, count)
}

// sort puts the words into the order of their codes. Those of a text that is
// being read all have the count 1, which then stays where it is.
func (w *words) sort() {
	if slices.IsSorted(w.codes) {
		return
	}
	if !slices.ContainsFunc(w.counts, func(n float64) bool { return n != 1 }) {
		slices.Sort(w.codes)
		return
	}
	w.pairs = w.pairs[:0]
	for i, code := range w.codes {
		w.pairs = append(w.pairs, pair{code, w.counts[i]})
	}
	slices.SortFunc(w.pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.count, b.count)) })
	for i, p := range w.pairs {
		w.codes[i], w.counts[i] = p.code, p.count
	}
}

type pair struct {
	code  int32
	count float64
}

// into appends the row to a bag, its words sorted and each once.
func (w *words) into(b *Bag) {
	w.sort()
	from := len(b.Codes)
	for i, code := range w.codes {
		if n := len(b.Codes); n > from && b.Codes[n-1] == code {
			b.Counts[n-1] += w.counts[i]
			continue
		}
		b.Codes = append(b.Codes, code)
		b.Counts = append(b.Counts, w.counts[i])
	}
	b.end()
}

// text writes a cell as its words, in the order of their codes, each as often
// as it occurs; word:count where that is no small whole number. A missing cell
// is "", and a text without words a full stop.
func (b *Bag) text(row int, values []string) string {
	if b.Missing(row) {
		return ""
	}
	text := make([]byte, 0, 16)
	codes, counts := b.Row(row)
	for i, code := range codes {
		if isRun(values[code]) {
			continue // its words are there by themselves
		}
		times, x := 1, counts[i]
		whole := x == math.Floor(x) && 0 < x && x <= 64
		if whole {
			times = int(x)
		}
		for range times {
			if len(text) > 0 {
				text = append(text, ' ')
			}
			text = append(text, values[code]...)
		}
		if !whole {
			text = append(append(text, ':'), numberText(x)...)
		}
	}
	if len(text) == 0 {
		return "."
	}
	return string(text)
}
