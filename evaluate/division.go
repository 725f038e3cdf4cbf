package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// Groups numbers the values of a column, so that rows of one value can stay
// together (Spec.Groups). A row whose cell is missing is a group of its own.
func Groups(t *table.Table, column int) ([]int, error) {
	c := &t.Columns[column]
	groups := make([]int, t.Rows())
	number := map[any]int{}
	for r := range groups {
		var key any
		switch {
		case c.Codes != nil && c.Codes[r] != table.Missing:
			key = c.Codes[r]
		case c.Floats != nil && !table.IsMissing(c.Floats[r]):
			key = c.Floats[r]
		case c.Words != nil:
			return nil, fmt.Errorf("evaluate: column %q is text; expected one value a row to keep rows together by", t.Schema.Attributes[column].Name)
		default:
			key = fmt.Sprint("missing in row ", r)
		}
		g, known := number[key]
		if !known {
			g = len(number)
			number[key] = g
		}
		groups[r] = g
	}
	return groups, nil
}

// Times returns a column as moments, to learn from the past and judge on the
// future (Spec.Times).
func Times(t *table.Table, column int) ([]float64, error) {
	a := &t.Schema.Attributes[column]
	if a.Kind != table.Numeric {
		return nil, fmt.Errorf("evaluate: column %q is %v; expected numbers or dates to order rows by", a.Name, a.Kind)
	}
	for r, x := range t.Columns[column].Floats {
		if table.IsMissing(x) {
			return nil, fmt.Errorf("evaluate: row %d has no %q; expected a time in every row", r+1, a.Name)
		}
	}
	return slices.Clone(t.Columns[column].Floats), nil
}

// Without returns the table without a column: what says to which group or time
// a row belongs is not there to learn from. It shares the cells.
func Without(t *table.Table, column int) *table.Table {
	var rest []int
	for i := range t.Columns {
		if i != column {
			rest = append(rest, i)
		}
	}
	return t.Project(rest)
}

// together returns which rows must not be divided: those of a group that was
// asked for, else those of one sequence; nil if each row stands alone.
func (s *Spec) together() []int {
	if s.Groups != nil || s.Table.Sequence == nil {
		return s.Groups
	}
	return sequences(s.Table)
}

// FewFolds is a number of folds that nobody asked for: fewer where rows of a group
// stay together and there are not as many groups.
func (s *Spec) FewFolds(folds int) int {
	groups := s.together()
	if groups == nil || s.Times != nil {
		return folds
	}
	seen := map[int]bool{}
	for _, r := range labelled(s.Table, s.Target) {
		seen[groups[r]] = true
	}
	return max(2, min(folds, len(seen)))
}

// sequences returns the number of each row's sequence.
func sequences(t *table.Table) []int {
	numbers := make([]int, len(t.Sequence))
	for r, number := range t.Sequence {
		numbers[r] = int(number)
	}
	return numbers
}

// GroupFolds assigns rows to k test folds as Folds does, but whole groups at a
// time. Large groups go first, each to the fold in which its classes are
// rarest, so that folds become alike as far as the groups allow.
func GroupFolds(t *table.Table, target int, groups []int, k int, seed uint64) ([]int, error) {
	return groupFolds(t, target, groups, k, seed, "group")
}

func groupFolds(t *table.Table, target int, groups []int, k int, seed uint64, what string) ([]int, error) {
	rows := labelled(t, target)
	if k < 2 {
		return nil, fmt.Errorf("evaluate: %d folds; expected at least 2", k)
	}
	if len(groups) != t.Rows() {
		return nil, fmt.Errorf("evaluate: groups of %d rows for a table of %d", len(groups), t.Rows())
	}
	crowds := gather(t, target, rows, groups)
	if len(crowds) == 1 {
		return nil, fmt.Errorf("evaluate: all rows with a known target are of one %s, which is never divided; test on rows of others", what)
	}
	if len(crowds) < k {
		return nil, remedy.Misusef("evaluate: %d folds of %d %ss with a known target; expected at most one fold a %s", k, len(crowds), what, what)
	}
	random(seed, 0).Shuffle(len(crowds), func(i, j int) { crowds[i], crowds[j] = crowds[j], crowds[i] })
	slices.SortStableFunc(crowds, func(a, b *crowd) int { return cmp.Compare(len(b.rows), len(a.rows)) })

	total := map[int32]float64{}
	for _, c := range crowds {
		for class, n := range c.classes {
			total[class] += n
		}
	}
	fold := make([]int, t.Rows())
	for r := range fold {
		fold[r] = -1
	}
	has := make([]map[int32]float64, k)
	size := make([]int, k)
	for f := range has {
		has[f] = map[int32]float64{}
	}
	empty := k
	for i, c := range crowds {
		best, least := -1, math.Inf(1)
		for f := range has {
			if size[f] > 0 && len(crowds)-i <= empty { // the rest is needed for folds without rows
				continue
			}
			cost := 0.0
			for _, class := range c.sorted {
				n := c.classes[class]
				cost += n * (2*has[f][class] + n) / (total[class] * total[class])
			}
			if best < 0 || cost < least-1e-12 || cost < least+1e-12 && size[f] < size[best] {
				best, least = f, cost
			}
		}
		if size[best] == 0 {
			empty--
		}
		size[best] += len(c.rows)
		for class, n := range c.classes {
			has[best][class] += n
		}
		for _, r := range c.rows {
			fold[r] = best
		}
	}
	return fold, nil
}

// crowd is the rows of a group and their classes.
type crowd struct {
	rows    []int
	classes map[int32]float64
	sorted  []int32 // the classes, so that sums run in one order
}

// gather returns the groups in the order of their first rows.
func gather(t *table.Table, target int, rows, groups []int) []*crowd {
	var crowds []*crowd
	at := map[int]*crowd{}
	for _, r := range rows {
		c := at[groups[r]]
		if c == nil {
			c = &crowd{classes: map[int32]float64{}}
			at[groups[r]] = c
			crowds = append(crowds, c)
		}
		class := int32(0)
		if target >= 0 && t.Columns[target].Codes != nil {
			class = t.Columns[target].Codes[r]
		}
		if c.classes[class] == 0 {
			c.sorted = append(c.sorted, class)
		}
		c.classes[class]++
		c.rows = append(c.rows, r)
	}
	return crowds
}

// TimeSplits divides the rows whose target is known by time into k+1 stretches
// of about equal length, and returns k ways to learn from the past and judge on
// the future: the first stretch and test on the second, both and test on the
// third, and so on. Rows of one moment are never divided.
func TimeSplits(t *table.Table, target int, times []float64, k int) (train, test [][]int, err error) {
	if k < 1 {
		return nil, nil, fmt.Errorf("evaluate: %d splits by time; expected at least 1", k)
	}
	order, err := inTime(t, target, times)
	if err != nil {
		return nil, nil, err
	}
	starts := []int{0}
	for i := 1; i <= k; i++ {
		at := nextMoment(order, times, max(i*len(order)/(k+1), starts[i-1]+1))
		if at >= len(order) {
			return nil, nil, fmt.Errorf("evaluate: %d splits by time of %d rows, of which too many share a moment; expected fewer splits", k, len(order))
		}
		starts = append(starts, at)
	}
	starts = append(starts, len(order))
	for i := 1; i <= k; i++ {
		train = append(train, sorted(order[:starts[i]]))
		test = append(test, sorted(order[starts[i]:starts[i+1]]))
	}
	return train, test, nil
}

// inTime returns the rows whose target is known, in the order of time.
func inTime(t *table.Table, target int, times []float64) ([]int, error) {
	if len(times) != t.Rows() {
		return nil, fmt.Errorf("evaluate: times of %d rows for a table of %d", len(times), t.Rows())
	}
	order := labelled(t, target)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	return order, nil
}

// nextMoment returns the first place from at on where another moment begins.
func nextMoment(order []int, times []float64, at int) int {
	for at < len(order) && times[order[at]] == times[order[at-1]] {
		at++
	}
	return at
}

func sorted(rows []int) []int {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return rows
}

// listed returns a split of given rows.
func listed(train, test []int, seed uint64) split {
	return split{rows: func() ([]int, []int) { return train, test }, seed: seed}
}

// timeSplits returns the splits of a cross-validation in time.
func (s *Spec) timeSplits(k int) ([]split, error) {
	if s.Groups != nil || s.repeats() > 1 {
		return nil, fmt.Errorf("evaluate: rows in time are divided in one way; expected no groups and no repeats")
	}
	train, test, err := TimeSplits(s.Table, s.Target, s.Times, k)
	if err != nil {
		return nil, err
	}
	splits := make([]split, k)
	for i := range splits {
		splits[i] = listed(train[i], test[i], derive(s.Seed, 0, i))
	}
	return splits, nil
}

// heldOutDivided is holdOutSplits where rows have groups or times: some groups
// are held out, or what comes last.
func (s *Spec) heldOutDivided(testRows, repeats int) ([]split, error) {
	if s.Times != nil {
		if s.Groups != nil || repeats > 1 {
			return nil, fmt.Errorf("evaluate: rows in time are divided in one way; expected no groups and no repeats")
		}
		order, err := inTime(s.Table, s.Target, s.Times)
		if err != nil {
			return nil, err
		}
		at := nextMoment(order, s.Times, max(len(order)-testRows, 1))
		if at >= len(order) {
			return nil, fmt.Errorf("evaluate: the last %d of %d rows share a moment with those before; expected a larger share to test on", testRows, len(order))
		}
		return []split{listed(sorted(order[:at]), sorted(order[at:]), derive(s.Seed, 0))}, nil
	}
	groups := s.together()
	if len(groups) != s.Table.Rows() {
		return nil, fmt.Errorf("evaluate: groups of %d rows for a table of %d", len(groups), s.Table.Rows())
	}
	crowds := gather(s.Table, s.Target, labelled(s.Table, s.Target), groups)
	if len(crowds) < 2 {
		return nil, fmt.Errorf("evaluate: all rows are of one group; expected at least two to hold one out")
	}
	splits := make([]split, repeats)
	for i := range splits {
		seed := derive(s.Seed, i)
		var train, test []int
		for at, g := range random(seed, 0).Perm(len(crowds)) {
			if at == 0 || at < len(crowds)-1 && len(test)+len(crowds[g].rows)/2 < testRows {
				test = append(test, crowds[g].rows...)
			} else {
				train = append(train, crowds[g].rows...)
			}
		}
		splits[i] = listed(sorted(train), sorted(test), seed)
	}
	return splits, nil
}
