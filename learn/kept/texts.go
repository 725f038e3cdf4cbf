package kept

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Texts are kept for learners that ask for them (Gathering.Texts, SurveyTexts):
// of each row the words and how often they occur, words in canonical order as
// values are. Other learners have rows without the column.

// hasText reports whether a schema has a text column.
func hasText(s *table.Schema) bool {
	return slices.ContainsFunc(s.Attributes, func(a table.Attribute) bool { return a.Kind == table.Text })
}

// words returns the words of a cell, and whether it is known.
func (b *block) words(col int, row int32) (codes []int32, counts []float64, known bool) {
	bag := b.columns[col].words
	if bag == nil || bag.Missing(int(row)) {
		return nil, nil, false
	}
	codes, counts = bag.Row(int(row))
	if slices.Contains(counts, 0) { // words that do not occur
		some, times := codes[:0:0], counts[:0:0]
		for i, n := range counts {
			if n != 0 {
				some, times = append(some, codes[i]), append(times, n)
			}
		}
		codes, counts = some, times
	}
	if b.recode == nil || b.recode[col] == nil {
		return codes, counts, true
	}
	recoded := make([]int32, len(codes))
	for i, c := range codes {
		recoded[i] = b.recode[col][c]
	}
	if slices.IsSorted(recoded) {
		return recoded, counts, true
	}
	order := make([]int, len(codes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(recoded[x], recoded[y]) })
	sorted, counted := make([]int32, len(codes)), make([]float64, len(codes))
	for i, from := range order {
		sorted[i], counted[i] = recoded[from], counts[from]
	}
	return sorted, counted, true
}

// bag returns a copy of a text column.
func (j *joined) bag(col int) *table.Bag {
	to := &table.Bag{Starts: make([]int, 1, j.rows+1)}
	for row := range j.rows {
		b, r := j.at(row)
		codes, counts, known := b.words(col, r)
		if !known && to.Gone == nil {
			to.Gone = make([]bool, j.rows)
		}
		if !known {
			to.Gone[row] = true
		}
		to.Codes, to.Counts = append(to.Codes, codes...), append(to.Counts, counts...)
		to.Starts = append(to.Starts, len(to.Codes))
	}
	return to
}

// compareTexts orders cells: missing ones first, then by their words.
func compareTexts(a *block, i int, b *block, j int, col int) int {
	codes, counts, known := a.words(col, int32(i))
	others, times, also := b.words(col, int32(j))
	if known != also {
		return map[bool]int{false: -1, true: 1}[known]
	}
	return cmp.Or(slices.Compare(codes, others), slices.Compare(counts, times))
}

// hashWords adds what a text column says of rows to their hashes.
func (c *cells) hashWords(hashes []uint64, lo int, ofValue []uint64, salt uint64) {
	for k := range hashes {
		if c.words.Missing(lo + k) {
			continue
		}
		hashes[k] += scramble(salt) // a text without words is known
		codes, counts := c.words.Row(lo + k)
		for i, code := range codes {
			if n := counts[i]; n != 0 {
				hashes[k] += scramble(ofValue[code] ^ math.Float64bits(n))
			}
		}
	}
}

// dropIdleWords drops those of the first known words that no text has.
func dropIdleWords(values []string, known int, bag *table.Bag) ([]string, *table.Bag) {
	var codes []int32
	for r := range bag.Rows() {
		words, _ := bag.Row(r)
		codes = append(codes, words...)
	}
	kept, recoded := dropIdle(values, known, codes)
	if len(kept) == len(values) {
		return values, bag
	}
	to := &table.Bag{Starts: make([]int, 1, bag.Rows()+1), Codes: recoded, Gone: bag.Gone}
	for r := range bag.Rows() {
		_, counts := bag.Row(r)
		to.Counts = append(to.Counts, counts...)
		to.Starts = append(to.Starts, len(to.Counts))
	}
	return kept, to
}

// packedTexts is the saved form of a text column: of each row the number of its
// words and 1, 0 if it is missing; and the words and counts of all rows.
type packedTexts struct {
	_      struct{} `cbor:",toarray"`
	Sizes  packed
	Words  packed
	Counts packed
}

func packTexts(bag *table.Bag) packedTexts {
	var sizes, words []float64
	for r := range bag.Rows() {
		codes, _ := bag.Row(r)
		size := float64(len(codes) + 1)
		if bag.Missing(r) {
			size = 0
		}
		sizes = append(sizes, size)
	}
	for _, c := range bag.Codes {
		words = append(words, float64(c))
	}
	return packedTexts{Sizes: packFloats(sizes), Words: packFloats(words), Counts: packFloats(bag.Counts)}
}

// unpack reads what packTexts wrote, of a dictionary of so many words.
func (p *packedTexts) unpack(rows, words int) (*table.Bag, error) {
	sizes, err := p.Sizes.unpackFloats(rows)
	if err != nil {
		return nil, err
	}
	bag, total := &table.Bag{Starts: make([]int, 1, rows+1)}, 0
	for r, n := range sizes {
		if !(n >= 0 && n <= float64(words)+1) || n != math.Trunc(n) || total > math.MaxInt32 {
			return nil, fmt.Errorf("row %d has %v words of %d", r+1, n-1, words)
		}
		if n == 0 && bag.Gone == nil {
			bag.Gone = make([]bool, rows)
		}
		if n == 0 {
			bag.Gone[r] = true
		}
		total += max(0, int(n)-1)
		bag.Starts = append(bag.Starts, total)
	}
	codes, err := p.Words.unpackFloats(total)
	if err != nil {
		return nil, err
	}
	for _, c := range codes {
		if !(c >= 0 && c < float64(words)) || c != math.Trunc(c) {
			return nil, fmt.Errorf("word %v of %d", c, words)
		}
		bag.Codes = append(bag.Codes, int32(c))
	}
	if bag.Counts, err = p.Counts.unpackFloats(total); err != nil {
		return nil, err
	}
	for r := range rows {
		codes, counts := bag.Row(r)
		for i := range codes {
			if i > 0 && codes[i] <= codes[i-1] || counts[i]-counts[i] != 0 || counts[i] == 0 {
				return nil, fmt.Errorf("the words of row %d are not in order, or one occurs %v times", r+1, counts[i])
			}
		}
	}
	return bag, nil
}

// textBundle is the saved form of several sources with texts: each by itself.
type textBundle struct {
	Format  int      `cbor:"format"`
	Sources [][]byte `cbor:"sources"`
}

const textBundleFormat = 2 // of savedBundle's

func saveTextBundle(blocks []*block) ([]byte, error) {
	s := textBundle{Format: textBundleFormat}
	for _, b := range blocks {
		data, err := b.save()
		if err != nil {
			return nil, err
		}
		s.Sources = append(s.Sources, data)
	}
	return learn.Marshal(s)
}

func decodeTextBundle(sources [][]byte) ([]*block, error) {
	if len(sources) < 2 {
		return nil, fmt.Errorf("a bundle of %d sources", len(sources))
	}
	blocks := make([]*block, len(sources))
	for i, data := range sources {
		var err error
		if blocks[i], err = decodeBlock(data); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}
