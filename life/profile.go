package life

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// Histogram is how often numbers lie between edges, the lower one included, by
// class. Numbers beyond the first and the last edge count in the outermost bars.
type Histogram struct {
	Edges  []float64        `json:"edges"`
	Counts map[string][]int `json:"counts"`
}

// ValueCount is how often a name occurs, by class.
type ValueCount struct {
	Value  string         `json:"value"`
	Counts map[string]int `json:"counts"`
}

// allRows is the class of rows where the target has no classes.
const allRows = "rows"

const (
	mostProfiled = 50      // values of a column that are listed
	mostBars     = 12      // of a histogram
	mostSampled  = 1 << 15 // rows that associations are computed from
)

// profiler looks at the columns of a table by the classes of its target.
type profiler struct {
	t       *table.Table
	target  int // -1 for none
	classes []string
	class   []int32 // of each row, below 0 if not known
	sample  []int   // rows for what need not be exact
	coded   []coded // columns in a few levels, made when they are needed
}

// coded is a column in a few levels: names, or intervals of as many numbers each.
type coded struct {
	codes  []int32 // of the sampled rows, below 0 if not known
	levels int
}

func newProfiler(t *table.Table, target int) *profiler {
	p := &profiler{t: t, target: target, classes: []string{allRows}, class: make([]int32, t.Rows()), coded: make([]coded, len(t.Columns))}
	if target >= 0 && t.Schema.Attributes[target].Kind == table.Nominal {
		p.classes, p.class = t.Schema.Attributes[target].Values, t.Columns[target].Codes
	}
	step := max(1, (t.Rows()+mostSampled-1)/mostSampled)
	for r := 0; r < t.Rows(); r += step {
		p.sample = append(p.sample, r)
	}
	return p
}

// profile adds to each entry what its column is like by class, and what it tells
// of the target.
func (p *profiler) profile(ctx context.Context, entries []ColumnEntry) error {
	for col := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &entries[col]
		switch p.t.Schema.Attributes[col].Kind {
		case table.Nominal:
			e.Values = p.values(col)
		case table.Numeric:
			e.Histogram = p.histogram(col)
		}
		if bits, ok := p.bits(col); ok {
			e.Bits = &bits
		}
	}
	return nil
}

// bits is what a column alone tells of the target.
func (p *profiler) bits(col int) (float64, bool) {
	if p.target < 0 || col == p.target || p.t.Schema.Attributes[col].Kind == table.Text || p.t.Schema.Attributes[p.target].Kind == table.Text {
		return 0, false
	}
	told, _, _ := mutual(p.levels(col), p.levels(p.target))
	return told, true
}

// values counts the most frequent names by class.
func (p *profiler) values(col int) []ValueCount {
	names := p.t.Schema.Attributes[col].Values
	counts := make([][]int, len(names))
	total := make([]int, len(names))
	for r, code := range p.t.Columns[col].Codes {
		if code < 0 {
			continue
		}
		if counts[code] == nil {
			counts[code] = make([]int, len(p.classes))
		}
		total[code]++
		if c := p.class[r]; c >= 0 {
			counts[code][c]++
		}
	}
	order := make([]int, 0, len(names))
	for code := range names {
		if total[code] > 0 {
			order = append(order, code)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return total[b] - total[a] })
	var list []ValueCount
	for _, code := range order[:min(len(order), mostProfiled)] {
		v := ValueCount{names[code], map[string]int{}}
		for c, n := range counts[code] {
			v.Counts[p.classes[c]] = n
		}
		list = append(list, v)
	}
	return list
}

// histogram counts numbers by class between round edges.
func (p *profiler) histogram(col int) *Histogram {
	floats := p.t.Columns[col].Floats
	sorted := p.sorted(col)
	if len(sorted) == 0 {
		return nil
	}
	h := &Histogram{Edges: p.edges(col, sorted), Counts: map[string][]int{}}
	bars := len(h.Edges) - 1
	counts := make([][]int, len(p.classes))
	for c := range counts {
		counts[c] = make([]int, bars)
		h.Counts[p.classes[c]] = counts[c]
	}
	for r, x := range floats {
		if table.IsMissing(x) || p.class[r] < 0 {
			continue
		}
		at, exact := slices.BinarySearch(h.Edges, x)
		if !exact {
			at--
		}
		counts[p.class[r]][min(max(at, 0), bars-1)]++
	}
	return h
}

// sorted returns the finite numbers of the sampled rows in order.
func (p *profiler) sorted(col int) []float64 {
	var xs []float64
	for _, r := range p.sample {
		if x := p.t.Columns[col].Floats[r]; !table.IsMissing(x) && !math.IsInf(x, 0) {
			xs = append(xs, x)
		}
	}
	slices.Sort(xs)
	return xs
}

// edges are those of the bars of a column: whole years, months or days of dates,
// hours of times, else round numbers.
func (p *profiler) edges(col int, sorted []float64) []float64 {
	a := &p.t.Schema.Attributes[col]
	unit := 1.0
	switch {
	case a.Date:
	case a.Time && a.Style.IsDay():
		unit = 86400
	case a.Time:
		return steps(sorted, []float64{60, 300, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600})
	default:
		return edges(sorted)
	}
	first := time.Unix(int64(sorted[0]/unit)*86400, 0).UTC()
	last := sorted[len(sorted)-1]
	for _, months := range []int{1, 2, 3, 6, 12, 24, 60, 120} {
		from := time.Date(first.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		if months < 12 {
			from = time.Date(first.Year(), first.Month()-(first.Month()-1)%time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		}
		var all []float64
		for k := 0; len(all) <= mostBars+1; k++ {
			x := float64(from.AddDate(0, k*months, 0).Unix()/86400) * unit
			if all = append(all, x); x > last {
				break
			}
		}
		if len(all)-1 <= mostBars && len(all) > 3 {
			return all
		}
	}
	return edges(sorted)
}

// steps are edges at multiples of the smallest step that makes few enough bars.
func steps(sorted, sizes []float64) []float64 {
	low, high := sorted[0], sorted[len(sorted)-1]
	for _, size := range sizes {
		if first := math.Floor(low / size); math.Floor(high/size)-first+1 <= mostBars {
			all := []float64{first * size}
			for all[len(all)-1] <= high {
				all = append(all, all[len(all)-1]+size)
			}
			return all
		}
	}
	return edges(sorted)
}

// edges are round numbers, so many that there are a dozen bars at most. The
// outermost half per cent on either side does not widen them.
func edges(sorted []float64) []float64 {
	cut := len(sorted) / 200
	low, high := sorted[cut], sorted[len(sorted)-1-cut]
	if !(high > low) || math.IsInf(high-low, 0) {
		return []float64{low, math.Nextafter(math.Max(high, low), math.Inf(1))}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/mostBars)))
	for _, times := range []float64{1, 2, 5, 10, 20, 50} {
		if math.Floor(high/(step*times))-math.Floor(low/(step*times))+1 <= mostBars {
			step *= times
			break
		}
	}
	var all []float64
	first := math.Floor(low / step)
	for k := first; ; k++ {
		// Multiples of a decimal step are written as short as they are meant.
		all = append(all, math.Round(k*step*1e12)/1e12)
		if k*step > high || len(all) > mostBars+2 {
			break
		}
	}
	return all
}

// levels returns a column in a few levels.
func (p *profiler) levels(col int) *coded {
	c := &p.coded[col]
	if c.codes != nil {
		return c
	}
	c.codes = make([]int32, len(p.sample))
	if p.t.Schema.Attributes[col].Kind == table.Nominal {
		c.levels = len(p.t.Schema.Attributes[col].Values)
		for i, r := range p.sample {
			c.codes[i] = p.t.Columns[col].Codes[r]
		}
		return c
	}
	sorted := p.sorted(col)
	var cuts []float64
	const parts = 8
	for k := 1; k < parts && len(sorted) > 0; k++ {
		if x := sorted[k*len(sorted)/parts]; len(cuts) == 0 || x > cuts[len(cuts)-1] {
			cuts = append(cuts, x)
		}
	}
	c.levels = len(cuts) + 1
	for i, r := range p.sample {
		x := p.t.Columns[col].Floats[r]
		if c.codes[i] = -1; !table.IsMissing(x) {
			at, exact := slices.BinarySearch(cuts, x)
			if exact {
				at++
			}
			c.codes[i] = int32(at)
		}
	}
	return c
}

// mutual returns how many bits two columns tell of each other in the rows where
// both are known, less what as many rows of independent columns would seem to
// tell (Miller 1955), and how many bits each has.
func mutual(a, b *coded) (told, bitsA, bitsB float64) {
	if a.levels*b.levels > 1<<22 {
		return 0, 0, 0
	}
	joint := make([]float64, a.levels*b.levels)
	countA, countB := make([]float64, a.levels), make([]float64, b.levels)
	n := 0.0
	for i, x := range a.codes {
		if y := b.codes[i]; x >= 0 && y >= 0 {
			joint[int(x)*b.levels+int(y)]++
			countA[x]++
			countB[y]++
			n++
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	entropy := func(counts []float64) (bits, used float64) {
		for _, c := range counts {
			if c > 0 {
				bits -= c / n * math.Log2(c/n)
				used++
			}
		}
		return bits, used
	}
	bitsA, usedA := entropy(countA)
	bitsB, usedB := entropy(countB)
	both, _ := entropy(joint)
	chance := (usedA - 1) * (usedB - 1) / (2 * n * math.Ln2)
	known := n / float64(len(a.codes))
	return max(0, bitsA+bitsB-both-chance) * known, bitsA, bitsB
}

// Association is how strongly two columns go together: what share of the bits of
// the one that has fewer the other tells.
type Association struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Strength float64 `json:"strength"`
}

// mostAssociated is how many columns are compared with each other.
const mostAssociated = 30

// associations compares columns with each other, strongest first.
func (p *profiler) associations(ctx context.Context) ([]Association, error) {
	var columns []int
	for col := range p.t.Columns {
		if p.t.Schema.Attributes[col].Kind != table.Text && len(columns) < mostAssociated {
			columns = append(columns, col)
		}
	}
	var all []Association
	for i, a := range columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, b := range columns[:i] {
			told, bitsA, bitsB := mutual(p.levels(a), p.levels(b))
			if least := min(bitsA, bitsB); least > 0 && told > 0 {
				all = append(all, Association{p.t.Schema.Attributes[b].Name, p.t.Schema.Attributes[a].Name, min(1, told/least)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Association) int {
		switch {
		case a.Strength > b.Strength:
			return -1
		case a.Strength < b.Strength:
			return 1
		}
		return 0
	})
	return all, nil
}
