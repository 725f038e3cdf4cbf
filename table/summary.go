package table

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Summary describes a column in a few figures. Rows count once each, whatever
// their weight.
type Summary struct {
	Name     string
	Kind     Kind
	Date     bool
	Time     bool
	Style    Style
	Missing  int // cells of which nothing is known
	Distinct int // values that occur
	// Min, Mean and Max are those of the finite numbers of a numeric
	// column, NaN if there are none.
	Min, Mean, Max float64
	// Top are the most frequent values, the most frequent one first and
	// equally frequent ones in the order of the dictionary or of numbers.
	Top []Frequency
}

// Shown returns the kind as people name it (see Attribute.Shown).
func (s *Summary) Shown() string {
	a := Attribute{Kind: s.Kind, Date: s.Date, Time: s.Time}
	return a.Shown()
}

// Frequency is a value and how often it occurs.
type Frequency struct {
	Value string
	Count int
}

// topValues is how many of the most frequent values a summary has.
const topValues = 5

// Summarise describes every column.
func Summarise(t *Table) []Summary {
	summaries := make([]Summary, len(t.Columns))
	var group crew.Group
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(t.Columns)) {
		group.Go(func() {
			for col := range next {
				summaries[col] = summarise(t, col)
			}
		})
	}
	for col := range t.Columns {
		next <- col
	}
	close(next)
	group.Wait()
	return summaries
}

func summarise(t *Table, col int) Summary {
	a := &t.Schema.Attributes[col]
	s := Summary{Name: a.Name, Kind: a.Kind, Date: a.Date, Time: a.Time, Style: a.Style, Min: NA, Mean: NA, Max: NA}
	if a.Kind == Text {
		s.texts(t.Columns[col].Words, a.Values)
		return s
	}
	if a.Kind == Nominal {
		counts := make([]int, len(a.Values)+1) // the last one for Unseen
		for _, code := range t.Columns[col].Codes {
			switch code {
			case Missing:
				s.Missing++
			case Unseen:
				counts[len(a.Values)]++
			default:
				counts[code]++
			}
		}
		for code, n := range counts {
			if n == 0 {
				continue
			}
			s.Distinct++
			if code < len(a.Values) {
				s.rank(n, func() string { return a.Values[code] })
			} else {
				s.rank(n, func() string { return "(unseen)" })
			}
		}
		return s
	}
	known := make([]float64, 0, t.Rows())
	for _, x := range t.Columns[col].Floats {
		if IsMissing(x) {
			s.Missing++
		} else {
			known = append(known, x)
		}
	}
	slices.Sort(known)
	for lo := 0; lo < len(known); {
		hi := lo + 1
		for hi < len(known) && known[hi] == known[lo] {
			hi++
		}
		x := known[lo]
		s.Distinct++
		s.rank(hi-lo, func() string { return a.Format(x) })
		lo = hi
	}
	s.Min, s.Mean, s.Max = moments(known)
	return s
}

// texts describes a text column: Distinct counts its words, Top those that
// most rows have.
func (s *Summary) texts(b *Bag, values []string) {
	rows := make([]int, len(values))
	for _, code := range b.occurring() {
		rows[code]++
	}
	for r := range b.Rows() {
		if b.Missing(r) {
			s.Missing++
		}
	}
	for code, n := range rows {
		if n > 0 {
			s.Distinct++
			s.rank(n, func() string { return values[code] })
		}
	}
}

// rank keeps the most frequent values in order.
func (s *Summary) rank(count int, value func() string) {
	if len(s.Top) == topValues && count <= s.Top[topValues-1].Count {
		return
	}
	s.Top = append(s.Top, Frequency{value(), count})
	slices.SortStableFunc(s.Top, func(a, b Frequency) int { return cmp.Compare(b.Count, a.Count) })
	s.Top = s.Top[:min(len(s.Top), topValues)]
}

// moments returns the least, mean and greatest of the finite numbers.
func moments(sorted []float64) (least, mean, greatest float64) {
	for len(sorted) > 0 && math.IsInf(sorted[0], -1) {
		sorted = sorted[1:]
	}
	for len(sorted) > 0 && math.IsInf(sorted[len(sorted)-1], 1) {
		sorted = sorted[:len(sorted)-1]
	}
	if len(sorted) == 0 {
		return NA, NA, NA
	}
	for _, x := range sorted {
		mean += x
	}
	if mean /= float64(len(sorted)); math.IsInf(mean, 0) {
		// The sum is too large for a float64; the mean is not.
		mean = 0
		for _, x := range sorted {
			mean += x / float64(len(sorted))
		}
	}
	return sorted[0], mean, sorted[len(sorted)-1]
}
