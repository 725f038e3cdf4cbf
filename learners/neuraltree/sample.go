package neuraltree

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// sample is the distinct patterns of inputs among a table's rows, encoded: a
// numeric column has mean 0 and deviation 1, a nominal one of two values is
// one input, −1 or +1, and of more values one input each. Missing cells have
// an input of their own where they occur.
type sample struct {
	table   *table.Table
	target  int
	classes []string
	matrix  *encode.Matrix
	width   int       // inputs of a pattern, with the constant 1 at their end
	x       []float64 // of all patterns
	row     []int32   // a row of the table with each pattern
	pattern []int32   // of each row of the table
}

func newSample(ctx context.Context, t *table.Table, target int) (*sample, error) {
	s := &sample{table: t, target: target, classes: t.Schema.Attributes[target].Values}
	var err error
	if s.matrix, err = encode.FitMatrix(ctx, t, target, encode.Options{Single: true, Indicators: true}); err != nil {
		return nil, err
	}
	if err := s.findPatterns(ctx); err != nil {
		return nil, err
	}
	return s, s.encode(ctx)
}

// findPatterns numbers the distinct patterns in the order of the rows.
func (s *sample) findPatterns(ctx context.Context) error {
	inputs := &table.Schema{}
	var columns []table.Column
	for j := range s.table.Columns {
		if j != s.target {
			inputs.Attributes = append(inputs.Attributes, s.table.Schema.Attributes[j])
			columns = append(columns, s.table.Columns[j])
		}
	}
	s.pattern = make([]int32, s.table.Rows())
	if len(columns) == 0 {
		s.row = []int32{0}
		return nil
	}
	t, err := table.New(inputs, columns, nil)
	if err != nil {
		return err
	}
	hashes, err := kept.HashRows(ctx, t)
	if err != nil {
		return err
	}
	last := make(map[uint64]int32, len(hashes)) // pattern with a hash; older ones by before
	var before []int32
	for r, h := range hashes {
		newest, known := last[h]
		if !known {
			newest = -1
		}
		p := newest
		for p >= 0 && !sameCells(columns, r, int(s.row[p])) {
			p = before[p]
		}
		if p < 0 {
			p = int32(len(s.row))
			s.row = append(s.row, int32(r))
			before = append(before, newest)
			last[h] = p
		}
		s.pattern[r] = p
	}
	return nil
}

func sameCells(columns []table.Column, a, b int) bool {
	for j := range columns {
		c := &columns[j]
		if c.Codes != nil && c.Codes[a] != c.Codes[b] {
			return false
		}
		if c.Floats != nil && math.Float64bits(c.Floats[a]) != math.Float64bits(c.Floats[b]) {
			return false // the rows' cells are canonical
		}
	}
	return true
}

// encode writes the inputs of all patterns.
func (s *sample) encode(ctx context.Context) error {
	inputs := s.matrix.Width()
	s.width = inputs + 1
	var singles []int
	at := 0
	for i := range s.matrix.Inputs {
		in := &s.matrix.Inputs[i]
		if in.OneHot != nil && in.OneHot.Single {
			singles = append(singles, at)
		}
		at += inputWidth(in)
	}
	s.x = make([]float64, len(s.row)*s.width)
	return learn.Split(ctx, len(s.row), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			x := s.x[p*s.width : (p+1)*s.width]
			// A matrix that was fitted to the table can be applied to it.
			_ = s.matrix.Apply(s.table, int(s.row[p]), int(s.row[p])+1, x[:inputs])
			for _, j := range singles {
				x[j] = 2*x[j] - 1
			}
			x[inputs] = 1
		}
	})
}

// patterns returns their number.
func (s *sample) patterns() int { return len(s.row) }

// labels is what rows say of each pattern: all rows, or those that were not
// held out.
type labels struct {
	counts []float64 // weight of the rows of each class, pattern by pattern
	class  []int32   // the class of most of them
	// lead is by how much the class leads over the next that has fewer.
	// Where all have as many, any answer would do, and the pattern does not
	// take part in growth.
	lead  []float64
	total float64 // weight of all rows
}

func (s *sample) label(weights []float64) *labels {
	k := len(s.classes)
	l := &labels{
		counts: make([]float64, s.patterns()*k),
		class:  make([]int32, s.patterns()),
		lead:   make([]float64, s.patterns()),
	}
	for r, class := range s.table.Columns[s.target].Codes {
		w := s.table.Weight(r)
		if weights != nil {
			w = weights[r]
		}
		l.counts[int(s.pattern[r])*k+int(class)] += w
		l.total += w
	}
	for p := range l.class {
		counts := l.counts[p*k : (p+1)*k]
		best := learn.Best(counts, s.classes)
		next := -1.0
		for _, w := range counts {
			if w < counts[best] {
				next = max(next, w)
			}
		}
		l.class[p] = int32(best)
		if next >= 0 {
			l.lead[p] = counts[best] - next
		}
	}
	return l
}

// contradicted returns the weight of the rows that have the cells of others
// but not their class: what no tree can get right.
func (l *labels) contradicted(classes int) float64 {
	against := 0.0
	for p, class := range l.class {
		for c, w := range l.counts[p*classes : (p+1)*classes] {
			if c != int(class) {
				against += w
			}
		}
	}
	return against
}

// complete reports whether the patterns are a complete truth table: every
// combination of the values that occur, of nominal columns and of numeric ones
// with two numbers at most, no cell missing. There are no other rows then to
// which anything could generalise.
func (s *sample) complete() bool {
	combinations := 1
	for i := range s.matrix.Inputs {
		c := &s.table.Columns[s.matrix.Inputs[i].Column]
		codes, numbers := map[int32]bool{}, map[float64]bool{}
		for _, r := range s.row {
			if c.Codes != nil {
				codes[c.Codes[r]] = true
			} else if numbers[c.Floats[r]] = true; len(numbers) > 2 || table.IsMissing(c.Floats[r]) {
				return false
			}
		}
		if codes[table.Missing] {
			return false
		}
		if combinations *= len(codes) + len(numbers); combinations > s.patterns() {
			return false
		}
	}
	return combinations == s.patterns()
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}
