package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A log of acts is a table of states, the action taken in each, and what it
// earned. Rows of one sequence are an episode, in order; without sequences each
// row is an episode of its own. A step is a row and the state of the row that
// follows it: as such it can be counted, kept by source and learnt in any order.
//
// Where states are few, all steps together are a model of the world, which is
// solved: what fitted values converge to. The value of an action has a standard
// error, and the penalty takes so many of it off before actions are compared
// (pessimism: Rashidinejad et al. 2021). What actions do to numbers may be counted for
// all states together: see effects.go. Where there are many, values are fitted
// by a learner of numbers, an action at a time, to what the steps came to by the
// values before; actions that a tree of the log's own acts finds rare in such
// states do not count (batch-constrained: Fujimoto, Meger and Precup 2019).

// Learn learns from a log of acts.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	schema := task.Table.Schema
	if target == learn.NoTarget {
		return nil, fmt.Errorf("a log of acts has a column of actions; say which")
	}
	if a := &schema.Attributes[target]; a.Kind != table.Nominal {
		return nil, fmt.Errorf("target %q is %v, and actions have names; read it as nominal", a.Name, a.Kind)
	}
	s.Sequence = schema.Sequence
	if err := s.suits(schema, target); err != nil {
		return nil, err
	}
	u := &update{schema: schema, settings: s, target: target, gathering: (&kept.Rows{}).Gather(task.Source, target, nil)}
	if err := u.gather(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := u.gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return learnSteps(ctx, rows, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target})
}

// suits says what is wrong with the columns of a log.
func (s *settings) suits(schema *table.Schema, target int) error {
	if s.Algorithm != "q" {
		return fmt.Errorf("algorithm=%s acts in an environment; a log is learnt by algorithm=q", s.Algorithm)
	}
	if s.Reward == "" {
		return nil
	}
	r := schema.Index(s.Reward)
	switch {
	case r < 0:
		return fmt.Errorf("there is no column %q of rewards%s", s.Reward, spell.Hint(s.Reward, schema.Names()))
	case r == target:
		return fmt.Errorf("column %q is the action; expected another one of rewards", s.Reward)
	case schema.Attributes[r].Kind != table.Numeric:
		return fmt.Errorf("column %q of rewards is %v; read it as numbers", s.Reward, schema.Attributes[r].Kind)
	}
	return nil
}

const (
	thenPrefix = "then " // of columns of the state that follows
	endsColumn = "then it ends"
)

// later is what the state counts for that a step leads to: n rows later.
func (s *settings) later() float64 {
	if s.N <= 1 {
		return s.Gamma
	}
	return math.Pow(s.Gamma, float64(s.N))
}

// steps returns a log as steps: its rows, beside each the state of the row that
// follows, or of the nth that does, and whether the episode ends before; rewards are
// those of all rows until then. A log without sequences is its own steps.
func (s *settings) steps(t *table.Table, target int) (*table.Table, error) {
	if s.Sequence == "" {
		if t.Sequence == nil {
			return t, nil
		}
		return table.New(&table.Schema{Attributes: t.Schema.Attributes}, t.Columns, t.Weights)
	}
	if t.Sequence == nil {
		return nil, fmt.Errorf("the log has episodes by column %q, and these rows have none", s.Sequence)
	}
	next := make([]int32, t.Rows()) // the row that follows, −1 at the end
	var from []int
	ahead := max(1, s.N)
	t.Groups(func(lo, hi int) {
		cut := s.Cut || s.unended != nil && (*s.unended)[t.Sequence[lo]] && hi-lo > ahead
		for row := lo; row < hi; row++ {
			next[row] = int32(row + ahead)
			if row+ahead >= hi {
				next[row] = -1
				if cut {
					continue
				}
			}
			from = append(from, row)
		}
	})
	schema := &table.Schema{Attributes: slices.Clone(t.Schema.Attributes)}
	columns := slices.Clone(t.Columns)
	if r := t.Schema.Index(s.Reward); r >= 0 && ahead > 1 {
		columns[r] = s.summed(t, r)
	}
	for _, j := range stateColumns(t.Schema, target, t.Schema.Index(s.Reward)) {
		a := t.Schema.Attributes[j]
		a.Name = thenPrefix + a.Name
		schema.Attributes = append(schema.Attributes, a)
		columns = append(columns, following(&t.Columns[j], next))
	}
	ends := make([]int32, t.Rows())
	for row, n := range next {
		if n < 0 {
			ends[row] = 1
		}
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: endsColumn, Kind: table.Nominal, Values: []string{"no", "yes"}})
	columns = append(columns, table.Column{Codes: ends})
	all, err := table.New(schema, columns, t.Weights)
	if err != nil || len(from) == t.Rows() {
		return all, err
	}
	return all.Select(from), nil
}

// summed is the rewards of each row and of those after it in its episode, discounted,
// as many as count before a state does.
func (s *settings) summed(t *table.Table, reward int) table.Column {
	rewards := t.Columns[reward].Floats
	sums := make([]float64, len(rewards))
	t.Groups(func(lo, hi int) {
		for row := lo; row < hi; row++ {
			weight := 1.0
			for _, r := range rewards[row:min(row+s.N, hi)] {
				if !table.IsMissing(r) {
					sums[row] += weight * r
				}
				weight *= s.Gamma
			}
		}
	})
	return table.Column{Floats: sums}
}

// following is a column of the rows that follow, missing where none does.
func following(c *table.Column, next []int32) table.Column {
	var out table.Column
	if c.Floats != nil {
		out.Floats = make([]float64, len(next))
		for row, n := range next {
			if out.Floats[row] = table.NA; n >= 0 {
				out.Floats[row] = c.Floats[n]
			}
		}
		return out
	}
	out.Codes = make([]int32, len(next))
	for row, n := range next {
		if out.Codes[row] = table.Missing; n >= 0 {
			out.Codes[row] = c.Codes[n]
		}
	}
	return out
}

// journal is the distinct steps of a log, in columns.
type journal struct {
	*Model
	states, next *table.Table // of the columns of states alone; next is nil without episodes
	weight       []float64
	action       []int32
	earned       []float64
	ends         []bool
	goesOn       float64   // how frequently steps go on, where that is the same whatever is done
	ahead, going []float64 // and what then follows from each state and action, in so many steps
	fair         []float64 // weights of steps, where actions do the same everywhere
}

// errNoActs is of a log in which no action is known.
var errNoActs = errors.New("no row of the log has an action; there is nothing to learn from")

// newJournal reads steps, and begins the model of them.
func newJournal(t *table.Table, rows *kept.Rows, l lesson) (*journal, error) {
	own := len(t.Schema.Attributes)
	if l.Settings.Sequence != "" {
		if own /= 2; l.Settings.Reward != "" {
			own = (len(t.Schema.Attributes) + 1) / 2
		}
	}
	m := &Model{lesson: l, rows: rows, weight: rows.Weight(), reward: -1}
	m.schema = &table.Schema{Attributes: t.Schema.Attributes[:own:own], Sequence: l.Settings.Sequence}
	if m.target = m.schema.Index(l.Target); m.target < 0 || m.schema.Attributes[m.target].Kind != table.Nominal {
		return nil, fmt.Errorf("the steps have no actions %q", l.Target)
	}
	if l.Settings.Reward != "" {
		m.reward = m.schema.Index(l.Settings.Reward)
	}
	if err := l.Settings.suits(m.schema, m.target); err != nil {
		return nil, err
	}
	m.state = stateColumns(m.schema, m.target, m.reward)
	n := t.Rows()
	j := &journal{Model: m, weight: make([]float64, n), action: t.Columns[m.target].Codes, earned: make([]float64, n), ends: make([]bool, n)}
	for row := range n {
		j.weight[row], j.ends[row] = t.Weight(row), true
		if j.action[row] < 0 {
			return nil, errors.New("a step without an action was kept")
		}
		if m.reward >= 0 {
			switch r := t.Columns[m.reward].Floats[row]; {
			case math.IsInf(r, 0):
				return nil, fmt.Errorf("a reward in column %q is infinite; expected numbers", l.Settings.Reward)
			case !table.IsMissing(r):
				j.earned[row] = r
			}
		}
	}
	if !(m.weight > 0) || n == 0 {
		return nil, errNoActs
	}
	j.states = t.Project(m.state)
	if l.Settings.Sequence == "" {
		return j, nil
	}
	return j, j.follow(t, own)
}

// follow reads what follows from the steps.
func (j *journal) follow(t *table.Table, own int) error {
	last := len(t.Schema.Attributes) - 1
	if own+len(j.state) != last || t.Schema.Attributes[last].Name != endsColumn || t.Schema.Attributes[last].Kind != table.Nominal {
		return fmt.Errorf("the steps have %d columns, which do not fit states of %d", last+1, len(j.state))
	}
	columns := make([]int, len(j.state))
	for i, c := range j.state {
		a := &t.Schema.Attributes[own+i]
		if a.Name != thenPrefix+j.schema.Attributes[c].Name || a.Kind != j.schema.Attributes[c].Kind {
			return fmt.Errorf("column %q of the steps does not follow %q", a.Name, j.schema.Attributes[c].Name)
		}
		columns[i] = own + i
	}
	yes := int32(slices.Index(t.Schema.Attributes[last].Values, "yes"))
	for row, code := range t.Columns[last].Codes {
		j.ends[row] = code == yes
	}
	next := t.Project(columns)
	next.Schema = table.CopySchema(next.Schema)
	for i := range next.Schema.Attributes {
		next.Schema.Attributes[i].Name = j.states.Schema.Attributes[i].Name
	}
	var err error
	j.next, _, err = table.Conform(next, j.states.Schema, false)
	return err
}

// learnSteps is the model of steps: a function of them, the settings and the seed.
func learnSteps(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	j, err := newJournal(t, rows, l)
	if err != nil {
		return nil, err
	}
	known, err := j.number(ctx)
	if err != nil {
		return nil, err
	}
	if l.Settings.Values == "auto" && j.reward >= 0 && !j.few(known) {
		if j, known, err = j.narrowed(ctx, known); err != nil {
			return nil, err
		}
	}
	m := j.Model
	switch {
	case l.Settings.Values == "table" || l.Settings.Values == "auto" && j.few(known):
		m.values = known
		m.lesson.Settings.discount(counted)
		if m.reward < 0 {
			return m, j.imitate(known)
		}
		return m, j.solve(ctx, known)
	case l.Settings.Values == "linear" || l.Settings.Values == "tiles":
		return nil, fmt.Errorf("values=%s is for environments; a log takes table, auto, or a learner of numbers, such as tree", l.Settings.Values)
	}
	m.lesson.Settings.discount(usual)
	if err := j.fit(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// few reports whether states stand in a table unless something else was asked for.
func (j *journal) few(l *lookup) bool { return float64(l.states())*rowsPerState <= j.Model.weight }

// rowsPerState is how many rows a state has on average that stands in a table
// unless something else was asked for.
const rowsPerState = 10

// counted is gamma for a log whose states stand in a table, where none is given:
// episodes are mostly meant to be judged by all that they bring. Of the lake's best
// policies the one by 0.9 is across in 78 of 100 tries, the one by 0.99 in 82. Values
// that are fitted round by round do not reach so far.
const counted = 0.99

// discount takes a gamma, if it was left open.
func (s *settings) discount(gamma float64) {
	if s.Open {
		s.Gamma = gamma
	}
}

// number finds the states of the steps.
func (j *journal) number(ctx context.Context) (*lookup, error) {
	l := newLookup(len(j.state), len(j.actions()))
	cells := make([]float64, l.width)
	at := j.onStates()
	for row := range j.weight {
		if row%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at.cellsOf(j.states, row, cells)
		s := l.add(cells)
		l.visits[int(s)*l.actions+int(j.action[row])] += j.weight[row]
	}
	return l, nil
}

// onStates reads the cells of tables that have the columns of states alone.
func (j *journal) onStates() *Model {
	all := make([]int, len(j.state))
	for i := range all {
		all[i] = i
	}
	return &Model{state: all}
}

// imitate takes how frequent an action is for its value.
func (j *journal) imitate(l *lookup) error {
	for s := range l.states() {
		visits, sum := l.visits[s*l.actions:][:l.actions], 0.0
		for _, n := range visits {
			sum += n
		}
		for a, n := range visits {
			if n > 0 {
				l.q[s*l.actions+a] = n / sum
			}
		}
	}
	return nil
}

// sweeps is how often values are computed anew at most.
const sweeps = 2000

// places finds the states that steps led from and to, −1 where nobody acted.
func (j *journal) places(l *lookup) (s, next []int32) {
	s, next = make([]int32, len(j.weight)), make([]int32, len(j.weight))
	cells, key := make([]float64, l.width), make([]byte, 8*l.width)
	at := j.onStates()
	for row := range s {
		at.cellsOf(j.states, row, cells)
		writeKey(key, cells)
		s[row] = l.find(key)
		if next[row] = -1; !j.ends[row] {
			at.cellsOf(j.next, row, cells)
			writeKey(key, cells)
			next[row] = l.find(key)
		}
	}
	return s, next
}

// solve computes what actions are worth in the world as the steps show it. First
// the best are taken by the means of what steps came to; then by these less their
// penalties, which do not add up along the way: what a state is worth is the mean
// of the action that is taken in it.
func (j *journal) solve(ctx context.Context, l *lookup) error {
	s, next := j.places(l)
	j.findEnding(l, s)
	if err := j.pool(ctx, l, s, next); err != nil {
		return err
	}
	penalty := make([]float64, len(l.q))
	v := make([]float64, l.states())
	lowest := 0.0
	for _, last := range []bool{false, true} {
		for sweep := range sweeps {
			if err := ctx.Err(); err != nil {
				return err
			}
			j.sum(l, s, next, v, lowest)
			change, largest := 0.0, 1.0
			lowest = math.Inf(1)
			for i := range v {
				best := taken(l.visits[i*l.actions:][:l.actions], l.q[i*l.actions:][:l.actions], penalty[i*l.actions:][:l.actions])
				change, largest, lowest = max(change, math.Abs(best-v[i])), max(largest, math.Abs(best)), min(lowest, best)
				v[i] = best
			}
			if change <= 1e-12*largest || sweep > 0 && j.next == nil {
				break
			}
		}
		j.sum(l, s, next, v, lowest)
		if !last {
			j.deviate(l, s, next, v, lowest, penalty)
		}
	}
	for i, n := range l.visits {
		if l.q[i] -= penalty[i]; n == 0 {
			l.q[i] = math.NaN()
		}
	}
	told, err := j.toldAdviser()
	l.heed(told)
	return err
}

// taken is the mean value of the action that is best less its penalty.
func taken(visits, q, penalty []float64) float64 {
	best, most := 0.0, math.Inf(-1)
	for a, n := range visits {
		if n > 0 && q[a]-penalty[a] > most {
			best, most = q[a], q[a]-penalty[a]
		}
	}
	return best
}

// came is what a step from a state and action came to, by what states are worth.
func (j *journal) came(row, at int, next []int32, v []float64, lowest float64) float64 {
	later := j.lesson.Settings.later()
	switch {
	case j.ahead != nil && j.ends[row]: // it might as well have gone on
		return j.earned[row] + later*j.goesOn*j.ahead[at]
	case j.ahead != nil:
		return j.earned[row] + later*j.goesOn*known(next[row], v, lowest)
	case j.ends[row]:
		return j.earned[row]
	}
	return j.earned[row] + later*known(next[row], v, lowest)
}

// sum fills in the means of what steps came to.
func (j *journal) sum(l *lookup, s, next []int32, v []float64, lowest float64) {
	clear(l.q)
	j.foresee(l, s, next, v, lowest)
	for row, w := range j.fair {
		at := int(s[row])*l.actions + int(j.action[row])
		l.q[at] += w / l.visits[at] * j.came(row, at, next, v, lowest)
	}
}

// deviate fills in the penalties: standard errors of the means, from how far the
// steps of a state and action are from their mean, and, for two steps' worth, from
// how far all are.
func (j *journal) deviate(l *lookup, s, next []int32, v []float64, lowest float64, penalty []float64) {
	squares, all, free := make([]float64, len(l.q)), 0.0, 0.0
	for row, w := range j.fair {
		at := int(s[row])*l.actions + int(j.action[row])
		d := j.came(row, at, next, v, lowest) - l.q[at]
		squares[at] += w * d * d
	}
	for i, n := range l.visits {
		all += squares[i]
		free += max(0, n-1)
	}
	if !(free > 0) {
		return
	}
	for i, n := range l.visits {
		if n > 0 {
			penalty[i] = j.lesson.Settings.Penalty * math.Sqrt((squares[i]+2*all/free)/(max(0, n-1)+2)/n)
		}
	}
}
