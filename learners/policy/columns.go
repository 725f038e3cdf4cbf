package policy

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// A log has columns that tell nothing of what comes of actions: who did it, on which
// day, how warm it was. With them no state is met twice. Where all columns together
// make too many states for a table, those are looked for that rewards and ends depend
// on, those that these columns depend on in turn one step earlier, and so on: all
// others may be left out, and the best actions stay the same (Kroon and Whiteson 2009).
// What a column depends on is found as parents are in a network, one after the other,
// as long as they make the log more probable (K2: Cooper and Herskovits 1992).

const (
	mostApart    = 64 // values of numbers that stand by themselves; others are taken by quarters
	quarters     = 4
	mostScreened = 50_000 // steps that columns are chosen by
)

// screen is the steps of a log as codes, by which columns are chosen.
type screen struct {
	action []int32
	weight []float64
	cells  [][]int32 // of each column of states
	ranged []bool    // which of them are numbers taken by quarters
	goals  []goal    // what is to be foreseen: rewards, ends, then each column a step later
}

// goal is what depends on states and actions; −1 where it is not known.
type goal struct {
	code   []int32
	values int
}

// narrowed is the journal of those columns that count, and its states, where these are
// few enough for a table; else it is as it was.
func (j *journal) narrowed(ctx context.Context, all *lookup) (*journal, *lookup, error) {
	narrow, err := j.narrow(ctx)
	if narrow == nil || err != nil {
		return j, all, err
	}
	known, err := narrow.number(ctx)
	if err != nil || !narrow.few(known) {
		return j, all, err
	}
	return narrow, known, nil
}

// narrow is the journal of those columns that count, nil where all do or none, or a
// number that takes many values.
func (j *journal) narrow(ctx context.Context) (*journal, error) {
	s := j.screen()
	counts := make([]bool, len(s.cells))
	told, err := j.spokenOf()
	if err != nil {
		return nil, err
	}
	first := len(s.goals) - len(s.cells)
	if j.next == nil {
		first = len(s.goals)
	}
	var open []int // goals whose parents are to be found
	take := func(c int) {
		if counts[c] {
			return
		}
		if counts[c] = true; j.next != nil {
			open = append(open, first+c)
		}
	}
	for g := range first {
		open = append(open, g)
	}
	for _, c := range told {
		take(c)
	}
	for len(open) > 0 {
		g := open[0]
		open = open[1:]
		parents, err := s.parents(ctx, s.goals[g])
		if err != nil {
			return nil, err
		}
		for _, c := range parents {
			take(c)
		}
	}
	var columns []int
	for c, yes := range counts {
		if yes && s.ranged[c] {
			return nil, nil // a learner of numbers knows what values near each other have in common
		}
		if yes {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 || len(columns) == len(counts) {
		return nil, nil
	}
	return j.only(columns), nil
}

// only is the journal with some of the columns of states.
func (j *journal) only(columns []int) *journal {
	m, narrow := *j.Model, *j
	m.state = make([]int, len(columns))
	for i, c := range columns {
		m.state[i] = j.state[c]
	}
	narrow.Model, narrow.states = &m, j.states.Project(columns)
	if j.next != nil {
		narrow.next = j.next.Project(columns)
	}
	return &narrow
}

// spokenOf are the columns of states that advice speaks of.
func (m *Model) spokenOf() (columns []int, err error) {
	text, err := m.toldText()
	if err != nil || text == "" {
		return nil, err
	}
	schema := m.actsSchema()
	told, err := rule.ParseFor("advice", []byte(text), schema)
	if err != nil {
		return nil, err
	}
	for _, r := range told.Rules {
		for _, test := range r.If {
			if c := schema.Index(test.Column); c >= 0 && c < len(m.state) {
				columns = append(columns, c)
			}
		}
	}
	return columns, nil
}

// screen puts steps into codes, as many as are looked at.
func (j *journal) screen() *screen {
	every := (len(j.weight) + mostScreened - 1) / mostScreened
	var rows []int
	for row := 0; row < len(j.weight); row += every {
		rows = append(rows, row)
	}
	s := &screen{action: make([]int32, len(rows)), weight: make([]float64, len(rows))}
	earned, ends := make([]float64, len(rows)), make([]int32, len(rows))
	for i, row := range rows {
		s.action[i], s.weight[i], earned[i] = j.action[row], j.weight[row], j.earned[row]
		if j.ends[row] {
			ends[i] = 1
		}
	}
	rewards := newCoder(&table.Column{Floats: earned})
	s.goals = append(s.goals, rewards.goal(&table.Column{Floats: earned}))
	states := j.states.Select(rows)
	if j.next == nil {
		for c := range states.Columns {
			s.add(newCoder(&states.Columns[c]), &states.Columns[c])
		}
		return s
	}
	s.goals = append(s.goals, goal{ends, 2})
	next := j.next.Select(rows)
	for c := range states.Columns {
		k := newCoder(&states.Columns[c])
		s.add(k, &states.Columns[c])
		later := k.goal(&next.Columns[c])
		for i, end := range ends {
			if end == 1 {
				later.code[i] = -1
			}
		}
		s.goals = append(s.goals, later)
	}
	return s
}

// add adds a column of states.
func (s *screen) add(k *coder, c *table.Column) {
	s.cells, s.ranged = append(s.cells, k.goal(c).code), append(s.ranged, k.ranged)
}

// coder numbers the cells of a column; 0 is missing.
type coder struct {
	ranged bool
	cuts   []float64 // of numbers: the values, or the upper ends of parts of them
	values int
}

func newCoder(c *table.Column) *coder {
	if c.Floats == nil {
		return &coder{values: int(slices.Max(c.Codes)) + 2}
	}
	sorted := slices.DeleteFunc(slices.Clone(c.Floats), math.IsNaN)
	slices.Sort(sorted)
	cuts := slices.Compact(slices.Clone(sorted))
	ranged := len(cuts) > mostApart
	if ranged {
		cuts = cuts[:0]
		for part := 1; part < quarters; part++ {
			cuts = append(cuts, sorted[len(sorted)*part/quarters])
		}
		cuts = append(slices.Compact(cuts), math.Inf(1))
	}
	return &coder{ranged, cuts, len(cuts) + 1}
}

// goal is the cells of a column in codes.
func (k *coder) goal(c *table.Column) goal {
	g := goal{make([]int32, max(len(c.Floats), len(c.Codes))), k.values}
	for i := range g.code {
		switch {
		case c.Floats == nil:
			g.code[i] = max(0, min(c.Codes[i]+1, int32(k.values)-1))
		case c.Floats[i] == c.Floats[i]:
			at, _ := slices.BinarySearch(k.cuts, c.Floats[i])
			g.code[i] = int32(min(at, len(k.cuts)-1)) + 1
		}
	}
	return g
}

// parents are the columns that a goal depends on, beside the action: each time the
// one is taken that tells most more, as long as it surely tells something, of so many
// that could have been taken. It may do so in some places only, as of one action
// (Friedman and Goldszmidt 1996).
func (s *screen) parents(ctx context.Context, g goal) (columns []int, err error) {
	at, unlikely := slices.Clone(s.action), surely+math.Log(float64(len(s.cells)))
	for {
		best, most, known := -1, unlikely, s.evidence(at, g)
		for c := range s.cells {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if slices.Contains(columns, c) {
				continue
			}
			if x := s.gain(at, known, apart(at, s.cells[c]), g); x > most {
				best, most = c, x
			}
		}
		if best < 0 {
			return columns, nil
		}
		columns, at = append(columns, best), apart(at, s.cells[best])
	}
}

// gain is how much more probable it is what came of steps where places are taken
// apart, in those places where it surely is.
func (s *screen) gain(at []int32, known []float64, finer []int32, g goal) (sum float64) {
	gains, x := make([]float64, len(known)), s.evidence(finer, g)
	for i, place := range at {
		gains[place] += x[finer[i]]
		x[finer[i]] = 0 // once
	}
	for place, gain := range gains {
		sum += max(0, gain-known[place]-surely)
	}
	return sum
}

// apart numbers what two codes are together.
func apart(a, b []int32) []int32 {
	number, both := map[[2]int32]int32{}, make([]int32, len(a))
	for i := range a {
		pair := [2]int32{a[i], b[i]}
		n, met := number[pair]
		if !met {
			n = int32(len(number))
			number[pair] = n
		}
		both[i] = n
	}
	return both
}

// evidence is the logarithm of how probable it is what came of the steps of each place,
// before anything is known of how frequent it is: all that may come is expected as
// surely as one step would make it (Dirichlet).
func (s *screen) evidence(at []int32, g goal) []float64 {
	both := apart(at, g.code)
	all, counts := make([]float64, slices.Max(at)+1), make([]float64, slices.Max(both)+1)
	for i, code := range g.code {
		if code >= 0 {
			all[at[i]] += s.weight[i]
			counts[both[i]] += s.weight[i]
		}
	}
	one := 1 / float64(g.values)
	begun, _ := math.Lgamma(one)
	sums := make([]float64, len(all))
	for i, at := range at {
		if n := counts[both[i]]; n > 0 {
			x, _ := math.Lgamma(n + one)
			sums[at] += x - begun
			counts[both[i]] = 0 // once
		}
	}
	for at, n := range all {
		x, _ := math.Lgamma(n + 1)
		sums[at] -= x
	}
	return sums
}

// unseen names the columns of states that the policy does not look at.
func (m *Model) unseen() string {
	var names []string
	for _, c := range stateColumns(m.schema, m.target, m.reward) {
		if !slices.Contains(m.state, c) {
			names = append(names, m.schema.Attributes[c].Name)
		}
	}
	return strings.Join(names, ", ")
}
