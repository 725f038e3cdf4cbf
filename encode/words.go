package encode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Words turns a text into one float for each of the words that most rows had
// at fitting: 1 if it occurs, 0 if not, or how often. A missing text is all
// zeros, and words that were not chosen count for nothing.
type Words struct {
	Words []string `cbor:"words"` // those with a float
	Codes []int32  `cbor:"codes"` // their codes at fitting
	// Counts makes a float say how often the word occurs instead of whether.
	Counts bool `cbor:"counts,omitempty"`
	// Indicator adds a float that is 1 where the text is missing.
	Indicator bool `cbor:"indicator,omitempty"`
}

// FitWords fits a text column: the most words that at least two rows have,
// the more frequent first and equally frequent ones by their codes.
func FitWords(a *table.Attribute, b *table.Bag, most int, counts, indicator bool) Words {
	rows := make([]int, len(a.Values))
	missing := false
	for r := range b.Rows() {
		codes, _ := b.Row(r)
		for _, code := range codes {
			rows[code]++
		}
		missing = missing || b.Missing(r)
	}
	var order []int32
	for code, n := range rows {
		if n >= 2 {
			order = append(order, int32(code))
		}
	}
	slices.SortFunc(order, func(x, y int32) int { return cmp.Or(cmp.Compare(rows[y], rows[x]), cmp.Compare(x, y)) })
	w := Words{Codes: slices.Clip(order[:min(len(order), most)]), Counts: counts, Indicator: indicator && missing}
	for _, code := range w.Codes {
		w.Words = append(w.Words, a.Values[code])
	}
	return w
}

// Width returns the number of floats for a text.
func (w *Words) Width() int {
	if w.Indicator {
		return len(w.Words) + 1
	}
	return len(w.Words)
}

// Names returns what each float says, as a test of the rule language does.
func (w *Words) Names(column string) []string {
	names := make([]string, 0, w.Width())
	for _, word := range w.Words {
		names = append(names, column+" CONTAINS "+word)
	}
	if w.Indicator {
		names = append(names, column+" IS MISSING")
	}
	return names
}

// Check reports what is wrong with a transform that was read from somewhere.
func (w *Words) Check() error {
	if len(w.Words) != len(w.Codes) {
		return fmt.Errorf("encode: %d words with %d codes", len(w.Words), len(w.Codes))
	}
	for _, code := range w.Codes {
		if code < 0 {
			return fmt.Errorf("encode: a word with the code %d", code)
		}
	}
	return nil
}

// wordFloats writes the floats of the rows lo ≤ row < hi to every stride-th
// place of out, which holds zeros. It allocates nothing.
func wordFloats[F float32 | float64](w *Words, b *table.Bag, lo, hi int, out []F, stride int) {
	for r := lo; r < hi; r++ {
		at := (r - lo) * stride
		if b.Missing(r) {
			if w.Indicator {
				out[at+len(w.Words)] = 1
			}
			continue
		}
		for i, code := range w.Codes {
			if n := b.Count(r, code); n != 0 {
				if out[at+i] = 1; w.Counts {
					out[at+i] = F(n)
				}
			}
		}
	}
}

// Sparse is a matrix in compressed sparse rows: the columns of row r that are
// not zero are Columns[Starts[r]:Starts[r+1]], ascending, and Values are their
// floats.
type Sparse struct {
	Width   int
	Starts  []int
	Columns []int32
	Values  []float64
}

// SparseText returns the rows lo ≤ row < hi of a text column as a sparse
// matrix with a column for each word of the dictionary. It shares the words.
func SparseText(a *table.Attribute, b *table.Bag, lo, hi int) (*Sparse, error) {
	if a.Kind != table.Text || b == nil {
		return nil, fmt.Errorf("encode: column %q is %v, not text", a.Name, a.Kind)
	}
	if lo < 0 || lo > hi || hi > b.Rows() {
		return nil, fmt.Errorf("encode: rows %d to %d of a table of %d", lo, hi, b.Rows())
	}
	return &Sparse{Width: len(a.Values), Starts: b.Starts[lo : hi+1], Columns: b.Codes, Values: b.Counts}, nil
}
