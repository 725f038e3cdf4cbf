package life

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Wish is another answer for a row, and what may not be changed for it.
type Wish struct {
	To    string   // a class; of a number, >30 or <20; "" is any other class
	Fixed []string // columns that stay as they are
	Limit int      // how many changes are wanted; 0 is 3
}

// Changed are the smallest changes of a row that give it another answer. They
// are exact where the model is made of rules: no smaller one within Cells cells
// among the values that occur; of a tree, within any number. Changes of other
// models, and of more cells, are the smallest of those tried.
type Changed struct {
	Row        int      `json:"row"`
	Prediction any      `json:"prediction"`
	Changes    []Change `json:"changes"`
	Exact      bool     `json:"exact"`
	Cells      int      `json:"cells"` // so many were changed at once, at most
	// Already says that the answer is the one that was wished for.
	Already bool `json:"already,omitempty"`

	answer string
	all    bool // changes of any number of cells were looked at
}

// Change is cells with other values, and the answer with them. Its cost is the
// sum of its cells': 1 for a name, for a number the share of its column's range.
type Change struct {
	Set         map[string]any `json:"set"`
	Prediction  any            `json:"prediction"`
	Probability float64        `json:"probability,omitempty"`
	Cost        float64        `json:"cost"`
	Say         string         `json:"say"`

	columns []int
}

// Cells that are changed at once, unless nothing smaller is found, and answers
// that are tried, at most: rules answer some five million in a second, and
// are worth it, as what is found is then the smallest.
const (
	mostChanged      = 3
	mostTried        = 1_000_000
	mostTriedOfRules = 10_000_000
	tryAtOnce        = 4096
)

// Change finds the smallest changes of rows that give them another answer.
func (h *Home) Change(ctx context.Context, p *Part, d *Data, only []int, wish Wish, each func(*Changed) error) error {
	if p.Target() == learn.NoTarget {
		return fmt.Errorf("a density of all columns has no answer to change")
	}
	r, err := newExplainer(ctx, p)
	if err != nil {
		return err
	}
	if err := r.check(&wish); err != nil {
		return err
	}
	h.knowNumbers(ctx, r)
	row := 0
	return h.batches(ctx, p.Model, d, nil, func(batch *table.Table) error {
		for i := range batch.Rows() {
			if row++; only != nil && !slices.Contains(only, row) {
				continue
			}
			c, err := r.change(ctx, batch, i, wish)
			if err != nil {
				return err
			}
			c.Row = row
			if err := each(c); err != nil {
				return err
			}
		}
		if only != nil && row >= slices.Max(only) {
			return errEnough
		}
		return nil
	})
}

// knowNumbers looks up which numbers occur, of a model that keeps no rows and has
// no rules that would tell: the files that it learnt are read again.
func (h *Home) knowNumbers(ctx context.Context, r *explainer) {
	numeric := slices.ContainsFunc(r.part.Schema().Attributes, func(a table.Attribute) bool { return a.Kind == table.Numeric })
	if r.speaker.Known != nil || r.choices.cuts != nil || !numeric {
		return
	}
	if learnt := h.learntTable(ctx, r.part, nil, &Edit{}); len(learnt) > 0 {
		known := say.New(r.part.Schema(), r.part.Target(), r.part.Words)
		known.Learn(learnt[0].table)
		r.speaker.Known, r.choices.known = known.Known, known.Known
		return
	}
	h.note("which numbers occur is not known, as the rows that were learnt are not there: only names are changed")
}

// check says what is wrong with a wish.
func (r *explainer) check(w *Wish) error {
	for _, name := range w.Fixed {
		if r.part.Schema().Index(name) < 0 {
			return remedy.Misusef("fixed column %q is not one of the model's%s", name, spell.Hint(name, r.part.Schema().Names()))
		}
	}
	switch {
	case r.target.Kind == table.Numeric:
		if _, ok := numericWish(w.To); !ok {
			return remedy.Misusef("the answer is a number: say above or below what, as in >30 or <20, not %q", w.To)
		}
	case w.To != "" && !slices.Contains(r.target.Values, w.To):
		return remedy.Misusef("%q is not a class of %s%s", w.To, r.target.Name, spell.Hint(w.To, r.target.Values))
	}
	return nil
}

// numericWish reads >30 or <20.
func numericWish(text string) (func(x float64) bool, bool) {
	if len(text) < 2 {
		return nil, false
	}
	limit, err := strconv.ParseFloat(strings.TrimSpace(text[1:]), 64)
	switch {
	case err != nil:
		return nil, false
	case text[0] == '>':
		return func(x float64) bool { return x > limit }, true
	case text[0] == '<':
		return func(x float64) bool { return x < limit }, true
	}
	return nil, false
}

// option is another value for a cell, and what changing it costs.
type option struct {
	value choice
	cost  float64
}

// options are the other values that each cell of a row may be given.
func (r *explainer) options(t *table.Table, row int, fixed []string) [][]option {
	all := make([][]option, len(t.Columns))
	for j := range t.Columns {
		a := &r.part.Schema().Attributes[j]
		if j == r.part.Target() || slices.Contains(fixed, a.Name) || r.choices.tested != nil && !r.choices.tested[a.Name] {
			continue
		}
		switch c := &t.Columns[j]; {
		case c.Codes != nil:
			for v := range a.Values {
				if int32(v) != c.Codes[row] {
					all[j] = append(all[j], option{choice{code: int32(v)}, 1})
				}
			}
		case c.Floats != nil:
			all[j] = r.numbers(j, c.Floats[row])
		}
	}
	return all
}

// numbers are the other numbers that a cell may be given.
func (r *explainer) numbers(column int, now float64) []option {
	var all []option
	scale := 1.0
	if column < len(r.speaker.Known) && len(r.speaker.Known[column]) > 1 {
		known := r.speaker.Known[column]
		scale = known[len(known)-1] - known[0]
	}
	for _, x := range r.choices.numbers(column, now) {
		if x == now {
			continue
		}
		cost := min(math.Abs(x-now)/scale, 1)
		if table.IsMissing(now) {
			cost = 1
		}
		all = append(all, option{choice{number: x}, cost})
	}
	return all
}

// change finds the smallest changes of one row.
func (r *explainer) change(ctx context.Context, t *table.Table, row int, wish Wish) (*Changed, error) {
	out := learn.NewPredictions(r.part.Model, 1)
	if err := r.part.Model.Predict(ctx, t.Slice(row, row+1), out); err != nil {
		return nil, err
	}
	now := NewPredicted(r.part.Model, 1, t.Slice(row, row+1), out, 0)
	search := &changeSearch{explainer: r, ctx: ctx, table: t, row: row, options: r.options(t, row, wish.Fixed), wanted: r.wanted(wish, now)}
	for j := range search.options {
		search.runsOf = append(search.runsOf, search.runs(j))
	}
	c := &Changed{Prediction: now.Prediction, Changes: []Change{}, Exact: r.choices.exact, answer: r.said(now)}
	if c.Already = search.wanted(out, 0); c.Already {
		return c, nil
	}
	limit := cmp.Or(wish.Limit, 3)
	all, err := search.leaves()
	if err != nil {
		return nil, err
	}
	if all {
		c.Cells, c.all = search.open(), true
	}
	for !all && search.goesOn(c.Cells, limit) {
		done, err := search.size(c.Cells + 1)
		if err != nil {
			return nil, err
		}
		if !done {
			break
		}
		c.Cells++
	}
	if c.all = c.all || c.Cells == search.open(); !c.all && len(search.found) == 0 {
		if err := search.climb(r.promise(wish, out)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(search.found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(len(a.columns), len(b.columns)), cmp.Compare(a.Cost, b.Cost), cmp.Compare(b.Probability, a.Probability), slices.Compare(a.columns, b.columns))
	})
	c.Changes = append(c.Changes, search.found[:min(len(search.found), limit)]...)
	c.Exact = c.Exact && !search.larger(c.Cells) && (c.all || len(c.Changes) > 0)
	return c, nil
}

// wanted reports whether an answer is one that was wished for.
func (r *explainer) wanted(w Wish, now Predicted) func(out *learn.Predictions, i int) bool {
	if r.target.Kind == table.Numeric {
		holds, _ := numericWish(w.To)
		return func(out *learn.Predictions, i int) bool { return holds(out.Mean[i]) }
	}
	return func(out *learn.Predictions, i int) bool {
		answer := r.target.Values[learn.Best(out.Row(i), r.target.Values)]
		return answer == w.To || w.To == "" && answer != now.Prediction
	}
}

// promise is how near an answer is to the one that was wished for.
func (r *explainer) promise(w Wish, now *learn.Predictions) func(out *learn.Predictions, i int) float64 {
	if r.target.Kind == table.Numeric {
		sign := 1.0
		if strings.HasPrefix(w.To, "<") {
			sign = -1
		}
		return func(out *learn.Predictions, i int) float64 { return sign * out.Mean[i] }
	}
	is := learn.Best(now.Row(0), r.target.Values)
	to := slices.Index(r.target.Values, w.To)
	return func(out *learn.Predictions, i int) float64 {
		best := 0.0
		for c, p := range out.Row(i) {
			if c != is && (to < 0 || c == to) {
				best = max(best, p)
			}
		}
		return best
	}
}

// goesOn reports whether changes of more than n cells are worth a look: a few
// different ones are wanted, and one in any case.
func (s *changeSearch) goesOn(n, limit int) bool {
	if len(s.found) == 0 && s.choices.exact {
		return n < s.open()
	}
	return n < min(mostChanged, s.open()) && (len(s.found) < limit || s.larger(n))
}

// open is how many columns may be changed.
func (s *changeSearch) open() int {
	n := 0
	for _, o := range s.options {
		if len(o) > 0 {
			n++
		}
	}
	return n
}

// larger reports whether some of what was found changes more than n cells.
func (s *changeSearch) larger(n int) bool {
	return slices.ContainsFunc(s.found, func(c Change) bool { return len(c.columns) > n })
}

// changeSearch looks at all changes of so many cells, the fewest first.
type changeSearch struct {
	*explainer
	ctx     context.Context
	table   *table.Table
	row     int
	options [][]option
	wanted  func(out *learn.Predictions, i int) bool
	found   []Change // the cheapest of each set of columns, none within another
	tried   int
	pending []box
	runsOf  [][][]option // of each column
}

// attempt is a change that waits for its answer.
type attempt struct {
	columns []int
	values  []option
}

// size tries all changes of so many cells, and reports whether they were few
// enough to be tried.
func (s *changeSearch) size(n int) (bool, error) {
	var open []int
	for j := range s.options {
		if len(s.options[j]) > 0 && !s.covered([]int{j}) {
			open = append(open, j)
		}
	}
	if s.tried+s.count(open, n) > s.most() {
		return false, nil
	}
	if err := s.subsets(open, nil, n); err != nil {
		return false, err
	}
	return true, s.flush()
}

// most is how many answers may be tried.
func (s *changeSearch) most() int {
	if s.choices.exact {
		return mostTriedOfRules
	}
	return mostTried
}

// corners is how many values of a column have to be tried.
func (s *changeSearch) corners(column int) int {
	n := 0
	for _, run := range s.runsOf[column] {
		n += min(len(run), 2)
	}
	return n
}

// count is how many changes of n of these columns have to be tried.
func (s *changeSearch) count(open []int, n int) int {
	ways := make([]int, n+1)
	ways[0] = 1
	for _, j := range open {
		for k := n; k > 0; k-- {
			ways[k] = min(ways[k]+ways[k-1]*s.corners(j), s.most()+1)
		}
	}
	return ways[n]
}

// covered reports whether changing some of these columns is enough already.
func (s *changeSearch) covered(columns []int) bool {
	return slices.ContainsFunc(s.found, func(c Change) bool {
		return len(c.columns) < len(columns)+1 && !slices.ContainsFunc(c.columns, func(j int) bool { return !slices.Contains(columns, j) })
	})
}

// subsets goes through sets of n columns.
func (s *changeSearch) subsets(open, chosen []int, n int) error {
	if n == 0 {
		return s.values(slices.Clone(chosen), nil)
	}
	for i, j := range open {
		if err := s.subsets(open[i+1:], append(chosen, j), n-1); err != nil {
			return err
		}
	}
	return nil
}

// values goes through the values of chosen columns.
func (s *changeSearch) values(columns []int, sides [][]option) error {
	if len(sides) == len(columns) {
		s.pending = append(s.pending, box{columns, slices.Clone(sides)})
		if len(s.pending) == tryAtOnce {
			return s.flush()
		}
		return nil
	}
	for _, run := range s.runsOf[columns[len(sides)]] {
		if err := s.values(columns, append(sides, run)); err != nil {
			return err
		}
	}
	return nil
}

// answers are those of the model to the row with changes.
func (s *changeSearch) answers(attempts []attempt) (*table.Table, *learn.Predictions, error) {
	trial := newTrial(s.table, s.row, len(attempts))
	for i, a := range attempts {
		for k, j := range a.columns {
			trial.set(i, j, a.values[k].value)
		}
	}
	out := learn.NewPredictions(s.part.Model, len(attempts))
	return trial.table, out, s.part.Model.Predict(s.ctx, trial.table, out)
}

// keep keeps a change that gives the answer, if none of the same columns is
// cheaper, or costs the same and is as sure.
func (s *changeSearch) keep(t *table.Table, out *learn.Predictions, i int, a attempt) {
	cost := a.cost()
	at := slices.IndexFunc(s.found, func(c Change) bool { return slices.Equal(c.columns, a.columns) })
	if s.dearer(a.columns, cost) || at < 0 && s.covered(a.columns) {
		return
	}
	answer := NewPredicted(s.part.Model, 1, t, out, i)
	c := Change{Set: map[string]any{}, Prediction: answer.Prediction, Cost: cost, columns: a.columns}
	if class, ok := answer.Prediction.(string); ok {
		c.Probability = answer.Probabilities[class]
	}
	if at >= 0 && s.found[at].Cost == cost && s.found[at].Probability >= c.Probability {
		return
	}
	var said []string
	for _, j := range a.columns {
		name := s.part.Schema().Attributes[j].Name
		if f := t.Columns[j].Floats; f != nil && !s.part.Schema().Attributes[j].Date && !s.part.Schema().Attributes[j].Time {
			c.Set[name] = f[i]
		} else {
			c.Set[name] = t.Text(i, j)
		}
		said = append(said, fmt.Sprintf("%s (now %s)", s.speaker.Cell(t, i, j).Text, s.speaker.Amount(s.table, s.row, j)))
	}
	c.Say = fmt.Sprintf("with %s: %s", strings.Join(said, " and "), s.said(answer))
	if at >= 0 {
		s.found[at] = c
		return
	}
	s.found = slices.DeleteFunc(s.found, func(more Change) bool {
		return !slices.ContainsFunc(c.columns, func(j int) bool { return !slices.Contains(more.columns, j) })
	})
	s.found = append(s.found, c)
}

// said is an answer in a few words.
func (r *explainer) said(answer Predicted) string {
	label := r.speaker.Label(r.target.Name)
	switch x := answer.Prediction.(type) {
	case string:
		return fmt.Sprintf("%s = %s, %s", label, r.speaker.Value(r.target.Name, x), say.Percent(answer.Probabilities[x]))
	case float64:
		return label + " = " + say.Rounded(x, 4)
	}
	return label + " is not known"
}

// String says the changes, a line each.
func (c *Changed) String() string {
	lines := []string{fmt.Sprintf("row %d: %s", c.Row, c.answer)}
	for _, one := range c.Changes {
		lines = append(lines, "  "+one.Say)
	}
	switch {
	case c.Already:
		lines = append(lines, "  that is the answer already: nothing need change")
	case len(c.Changes) == 0 && c.all:
		lines = append(lines, "  no change of cells that are not fixed flips it")
	case len(c.Changes) == 0:
		lines = append(lines, fmt.Sprintf("  no change of up to %s flips it; more were too many to try", plural(c.Cells, "cell")))
	case len(c.Changes[0].columns) > c.Cells:
		lines = append(lines, fmt.Sprintf("  no change of up to %s flips it; of more, this is the smallest of those tried", plural(c.Cells, "cell")))
	case !c.Exact:
		lines = append(lines, "  the smallest of those tried; there may be smaller ones")
	}
	return strings.Join(lines, "\n")
}
