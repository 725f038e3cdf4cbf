package life

import (
	"cmp"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// leaves tries the changes that lead a row to each rule of a base no two rules of
// which can meet, as the leaves of a tree. Whoever wants an answer has to come to
// one of the leaves that give it, and there no cell can be left as it is that the
// leaf does not admit: these changes are the smallest, whatever their number of
// cells. That holds for rows all of whose tested cells are known, and reports so:
// a missing one goes down every branch.
func (s *changeSearch) leaves() (all bool, err error) {
	if len(s.choices.leaves) == 0 {
		return false, nil
	}
	schema := s.part.Schema()
	all = !s.isTold()
	var found []attempt
	for i := range s.choices.leaves {
		tests := map[int][]rule.Test{}
		for _, t := range s.choices.leaves[i].If {
			j := schema.Index(t.Column)
			if j < 0 || j == s.part.Target() {
				return false, nil
			}
			tests[j] = append(tests[j], t)
			if c := &s.table.Columns[j]; c.Codes != nil && c.Codes[s.row] == table.Missing || c.Floats != nil && table.IsMissing(c.Floats[s.row]) {
				all = false
			}
		}
		a, err := s.towards(tests)
		if err != nil {
			return false, err
		}
		if len(a.columns) > 0 {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b attempt) int { return cmp.Compare(len(b.columns), len(a.columns)) })
	for _, a := range found {
		s.pending = append(s.pending, a.one()) // those of the fewest columns last, which are looked at first
	}
	return all, s.flush()
}

// isTold reports whether somebody told the model rules, which have a say too.
func (s *changeSearch) isTold() bool { return plain(s.part.Model) != s.part.Model }

// towards returns the smallest change that meets tests, none if there is none.
func (s *changeSearch) towards(tests map[int][]rule.Test) (attempt, error) {
	var a attempt
	for j := range s.table.Columns {
		if len(tests[j]) == 0 {
			continue
		}
		o, needed, ok, err := s.meet(j, tests[j])
		if err != nil || needed && !ok {
			return attempt{}, err
		}
		if needed {
			a.columns, a.values = append(a.columns, j), append(a.values, o)
		}
	}
	return a, nil
}

// meet returns the cheapest other value of a column that meets tests, and whether
// one is needed.
func (s *changeSearch) meet(column int, tests []rule.Test) (best option, needed, ok bool, err error) {
	options := s.options[column]
	trial := newTrial(s.table, s.row, len(options)+1)
	for i, o := range options {
		trial.set(i+1, column, o.value)
	}
	m, err := rule.NewMatcher(tests, trial.table.Schema)
	if err != nil {
		return best, false, false, err
	}
	met := bits.New(len(options) + 1)
	m.Match(trial.table, met)
	if met.Get(0) {
		return best, false, false, nil
	}
	for i, o := range options {
		if met.Get(i+1) && (!ok || o.cost < best.cost) {
			best, ok = o, true
		}
	}
	return best, true, ok, nil
}

// Cells that are changed one after the other, and changes that are followed.
const (
	mostSteps = 12
	beam      = 8
)

// climb looks for changes of more cells than can all be tried: cell by cell, those
// that make the wish most likely are followed, and of what is found cells are put
// back that need not change.
func (s *changeSearch) climb(promise func(out *learn.Predictions, i int) float64) error {
	front := []attempt{{}}
	for range mostSteps {
		var next []attempt
		seen := map[string]bool{}
		for _, from := range front {
			for j, options := range s.options {
				if slices.Contains(from.columns, j) {
					continue
				}
				for _, o := range options {
					next = append(next, attempt{append(slices.Clone(from.columns), j), append(slices.Clone(from.values), o)})
				}
			}
		}
		if len(next) == 0 || s.tried+len(next) > s.most()+mostTried {
			return nil
		}
		scores, found, err := s.scores(next, promise)
		if err != nil {
			return err
		}
		if found >= 0 {
			return s.shrink(next[found])
		}
		order := make([]int, len(next))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
		front = front[:0]
		for _, i := range order {
			sorted := slices.Clone(next[i].columns)
			slices.Sort(sorted)
			if key := columnKey(sorted); len(front) < beam && !seen[key] {
				seen[key] = true
				front = append(front, next[i])
			}
		}
	}
	return nil
}

// columnKey tells sets of columns apart.
func columnKey(columns []int) string {
	key := make([]byte, 0, 4*len(columns))
	for _, j := range columns {
		key = append(key, byte(j), byte(j>>8), byte(j>>16), ',')
	}
	return string(key)
}

// scores says how much each attempt promises, and which of those that give the
// answer is the cheapest, −1 for none.
func (s *changeSearch) scores(attempts []attempt, promise func(out *learn.Predictions, i int) float64) ([]float64, int, error) {
	scores, found, least := make([]float64, len(attempts)), -1, 0.0
	for lo := 0; lo < len(attempts); lo += tryAtOnce {
		some := attempts[lo:min(lo+tryAtOnce, len(attempts))]
		_, out, err := s.answers(some)
		if err != nil {
			return nil, -1, err
		}
		for i := range some {
			scores[lo+i] = promise(out, i)
			if cost := some[i].cost(); s.wanted(out, i) && (found < 0 || cost < least) {
				found, least = lo+i, cost
			}
		}
		s.tried += len(some)
	}
	return scores, found, s.ctx.Err()
}

// shrink puts cells back that need not change, and keeps the rest.
func (s *changeSearch) shrink(a attempt) error {
	for k := 0; k < len(a.columns); {
		less := attempt{slices.Delete(slices.Clone(a.columns), k, k+1), slices.Delete(slices.Clone(a.values), k, k+1)}
		_, out, err := s.answers([]attempt{less})
		if err != nil {
			return err
		}
		if s.wanted(out, 0) {
			a = less
		} else {
			k++
		}
	}
	s.pending = append(s.pending, a.sorted().one())
	return s.flush()
}

// sorted has the columns in the order of the table.
func (a attempt) sorted() attempt {
	order := make([]int, len(a.columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a.columns[i], a.columns[j]) })
	var b attempt
	for _, i := range order {
		b.columns, b.values = append(b.columns, a.columns[i]), append(b.values, a.values[i])
	}
	return b
}

func (a attempt) cost() float64 {
	cost := 0.0
	for _, o := range a.values {
		cost += o.cost
	}
	return cost
}
