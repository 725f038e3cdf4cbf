package rulenet

import (
	"cmp"
	"context"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// incremental is what update=published keeps: every distinct row, coded by cuts
// that stay until the numbers have left them, and the rules that it was the example
// of. Counts are always over all rows so far.
//
// New rows run the batch search. For every older rule the search runs again,
// with tests of its example that were removed coming back as further children:
// the order may rise by one as well as fall. Nothing is learnt anew, so the
// result is not that of batch learning: rules that some rows left behind stay
// where they are as long as no single step improves them.
type incremental struct {
	coding
	codes   [][]int32 // of each column and distinct row
	class   []int32
	weights []float64
	rules   [][]templateRule // of each distinct row: where its examples have got to
	limit   uint64           // rows whose hash is greater are counted, but are no examples
	cutFor  [][]float64      // of each numeric column: the weight in each interval when cuts were made
	cells   cells
	recut   []Drift // why the last update cut again
}

// cells are the numbers behind the codes, so that columns can be cut again.
type cells struct {
	row     []int32     // of each row that came: the distinct row; nil: no numbers, or not kept
	weights []float64   // of each row that came
	numbers [][]float64 // of each numeric column; nil for others
}

// copy returns cells that can be added to, with room for more if so
// wished.
func (c *cells) copy(room bool) cells {
	to := cells{row: roomy(c.row, room), weights: roomy(c.weights, room), numbers: make([][]float64, len(c.numbers))}
	for col, numbers := range c.numbers {
		to.numbers[col] = roomy(numbers, room)
	}
	return to
}

// copy returns a state that can be added to, with room for more if so
// wished.
func (s *incremental) copy(room bool) *incremental {
	to := *s
	to.codes, to.rules = make([][]int32, len(s.codes)), roomy(s.rules, room)
	to.class, to.weights, to.cells = roomy(s.class, room), roomy(s.weights, room), s.cells.copy(room)
	for col, codes := range s.codes {
		to.codes[col] = roomy(codes, room)
	}
	for row, lines := range to.rules {
		to.rules[row] = slices.Clone(lines)
	}
	return &to
}

// roomy returns a copy, with room for an eighth as many again if so wished;
// nil stays nil.
func roomy[T any](from []T, room bool) []T {
	if from == nil || !room {
		return slices.Clone(from)
	}
	return append(make([]T, 0, len(from)+len(from)/8+64), from...)
}

// templateRule is a rule that examples of one row share.
type templateRule struct {
	rule   conjunction
	weight float64
}

// startIncremental makes the state of the batch search.
func (w *training) startIncremental(ctx context.Context) (*incremental, error) {
	s := &incremental{coding: w.coding, codes: w.codes, class: w.class, weights: w.weights, rules: make([][]templateRule, len(w.class))}
	templates, limit := w.templates(w.weights)
	s.limit = limit
	searches := w.searches(newCounter(w.examples, w.weights))
	ends, err := climbEach(ctx, searches, templates)
	if err != nil {
		return nil, err
	}
	for i, t := range templates {
		s.rules[t.row] = []templateRule{{ends[i], w.weights[t.row]}}
	}
	s.cutFor = s.intervalWeights()
	for col := range w.cuts {
		if !w.ordered(col) {
			continue
		}
		if s.cells.row == nil {
			s.cells = cells{row: slices.Clone(w.distinct), weights: make([]float64, w.table.Rows()), numbers: make([][]float64, len(w.cuts))}
			for r := range s.cells.weights {
				s.cells.weights[r] = w.table.Weight(r)
			}
		}
		s.cells.numbers[col] = slices.Clone(w.table.Columns[col].Floats)
	}
	return s, nil
}

// foundRules puts the rules of all examples together.
func (s *incremental) foundRules() []foundRule {
	type name struct {
		key   key
		class int32
	}
	index := map[name]int{}
	var rules []foundRule
	total, part := 0.0, 0.0
	for row, lines := range s.rules {
		total += s.weights[row]
		for _, l := range lines {
			part += l.weight
			if len(l.rule) == 0 {
				continue
			}
			n := name{l.rule.key(), s.class[row]}
			at, ok := index[n]
			if !ok {
				at = len(rules)
				index[n] = at
				rules = append(rules, foundRule{class: int(n.class), rule: l.rule})
			}
			rules[at].templates += l.weight
		}
	}
	if part < total*(1-1e-9) { // a sample of the examples stands for all
		for i := range rules {
			rules[i].templates *= total / part
		}
	}
	return rules
}

// weighIncremental makes the units of the rules of all examples.
func (m *Model) weighIncremental(ctx context.Context) error {
	s, err := m.incremental.layOut(ctx)
	if err != nil {
		return err
	}
	w := &training{examples: s, settings: m.settings, seed: m.seed}
	if err := w.weighRules(ctx, m, m.incremental.foundRules()); err != nil {
		return err
	}
	return m.compile(ctx)
}

// layOut returns the rows laid out for counting.
func (s *incremental) layOut(ctx context.Context) (*examples, error) {
	order := make([]int, len(s.class))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.class[a], s.class[b]) })
	x := &examples{coding: s.coding, codes: make([][]int32, len(s.codes)), bitmaps: make([][]bits.Set, len(s.codes))}
	for _, i := range order {
		x.class = append(x.class, s.class[i])
		x.weights = append(x.weights, s.weights[i])
	}
	x.assignBits()
	work := func(col int) {
		if s.codes[col] == nil {
			return
		}
		x.codes[col] = make([]int32, len(order))
		for to, from := range order {
			x.codes[col][to] = s.codes[col][from]
		}
		x.makeBitmaps(col)
	}
	if len(order) < 1024 { // not worth a goroutine's while
		for col := range s.codes {
			work(col)
		}
		return x, ctx.Err()
	}
	return x, learn.Each(ctx, len(s.codes), work)
}

// rowKey identifies a distinct row with its class.
func (s *incremental) rowKey(row int) key {
	k := test{col: -1, lo: s.class[row]}.key()
	for col, codes := range s.codes {
		if codes != nil && codes[row] >= 0 {
			own := test{col: int32(col), lo: codes[row], hi: codes[row]}.key()
			k[0] += own[0]
			k[1] += own[1]
		}
	}
	return k
}

// count adds up the weights of the rows by class.
func (s *incremental) count() []float64 {
	counts := make([]float64, s.classes())
	for row, c := range s.class {
		counts[c] += s.weights[row]
	}
	return counts
}

// table returns the rows as they were before they were coded, if their numbers
// are kept.
func (s *incremental) table() (*table.Table, error) {
	columns := make([]table.Column, len(s.codes))
	for col := range columns {
		if s.ordered(col) {
			columns[col].Floats = s.cells.numbers[col]
			continue
		}
		from := s.codes[col]
		if col == s.target {
			from = s.class
		}
		codes := make([]int32, len(s.cells.row))
		for r, row := range s.cells.row {
			codes[r] = from[row]
		}
		columns[col].Codes = codes
	}
	return table.New(s.schema, columns, s.cells.weights)
}

// uncut reports whether a column of numbers is still in one piece although
// twice as many of its cells are known as when cuts were sought.
func (s *incremental) uncut() bool {
	now := s.intervalWeights()
	for col := range now {
		if s.ordered(col) && s.levels(col) < 2 && len(s.cutFor) > col && sum(now[col]) >= max(8, 2*sum(s.cutFor[col])) {
			return true
		}
	}
	return false
}
