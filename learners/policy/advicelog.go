package policy

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Advice on a log says what actions are worth more than others before there is any
// row of them; what rows came to outvotes it as visits do by acting, so that of
// WORTH 20 after n rows of such an action 20/(1+n) are left. It is kept beside the
// steps, by whose it is, and values are fitted to the steps alone: more rows, fewer,
// or other advice come to the same in any order.

// toldPasts is the advice on a log.
func (s *settings) toldPasts() (all []past, err error) {
	if s.Told != "" {
		err = json.Unmarshal([]byte(s.Told), &all)
	}
	for _, p := range all {
		if p.Rules == "" || p.Episodes != 0 {
			return nil, errors.New("the advice on the log is not whole")
		}
	}
	return all, err
}

// tell keeps advice on a log instead of what there was.
func (s *settings) tell(all []past) error {
	if s.Told = ""; len(all) == 0 {
		return nil
	}
	data, err := json.Marshal(all)
	s.Told = string(data)
	return err
}

// tellers are those whose advice on its log a policy has.
func (m *Model) tellers() []learn.Source {
	all, _ := m.lesson.Settings.toldPasts() // it was read before
	return (&acted{Past: all}).advisers()
}

// advisedLog is the policy of the same log with more advice. For each rule it says of
// how many states it speaks, in how many of them its action is now the best, and in
// how many of these it was not before.
func (m *Model) advisedLog(more past) (learn.Model, [][3]int, error) {
	all, err := m.lesson.Settings.toldPasts()
	if err != nil {
		return nil, nil, err
	}
	next, err := m.retold(context.Background(), append(all, more))
	if err != nil {
		return nil, nil, err
	}
	told, err := newAdviser(more.Rules, next.actsSchema())
	if err != nil {
		return nil, nil, err
	}
	heard := make([][3]int, told.units())
	before, after := make([]float64, len(m.actions())), make([]float64, len(m.actions()))
	own := make([]float64, len(m.state))
	err = next.eachKnown(func(cells []float64) {
		for i, c := range m.state { // advice may have added columns to look at
			if own[i] = math.NaN(); slices.Contains(next.state, c) {
				own[i] = cells[slices.Index(next.state, c)]
			}
		}
		m.Worth(own, before)
		next.Worth(cells, after)
		told.each(cells, func(k int) {
			heard[k][0]++
			if a := told.action[k]; after[a] == highest(after) {
				if heard[k][1]++; before[a] != highest(before) {
					heard[k][2]++
				}
			}
		})
	})
	return next, heard, err
}

// retold is the policy of the same log with this advice.
func (m *Model) retold(ctx context.Context, all []past) (*Model, error) {
	l := m.lesson
	if err := l.Settings.tell(all); err != nil {
		return nil, err
	}
	next, err := learnSteps(ctx, m.rows, l)
	if err != nil {
		return nil, err
	}
	return next.(*Model), nil
}

// eachKnown calls visit for the states of a log: each once where they stand in a
// table, else those of all distinct steps.
func (m *Model) eachKnown(visit func(cells []float64)) error {
	if l, ok := m.values.(*lookup); ok {
		for i := range l.states() {
			visit(l.cells[i*l.width:][:l.width])
		}
		return nil
	}
	t, err := m.rows.Table(context.Background())
	if err != nil {
		return err
	}
	cells := make([]float64, len(m.state))
	for row := range t.Rows() {
		m.cellsOf(t, row, cells)
		visit(cells)
	}
	return nil
}

// actsSchema is the columns of states and, last, the action: those that advice
// speaks of.
func (m *Model) actsSchema() *table.Schema {
	schema := &table.Schema{}
	for _, j := range m.state {
		schema.Attributes = append(schema.Attributes, m.schema.Attributes[j])
	}
	schema.Attributes = append(schema.Attributes, m.schema.Attributes[m.target])
	return schema
}

// toldAdviser is the advice on a log, nil if there is none.
func (m *Model) toldAdviser() (*adviser, error) {
	text, err := m.toldText()
	if err != nil {
		return nil, err
	}
	return newAdviser(text, m.actsSchema())
}

// toldText is all advice on a log, as rules.
func (m *Model) toldText() (string, error) {
	all, err := m.lesson.Settings.toldPasts()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, p := range all {
		text.WriteString(p.Rules)
	}
	return text.String(), nil
}

// heed adds advice to the values of a table of states: of an action that was never
// taken, to what the others came to on average.
func (l *lookup) heed(told *adviser) {
	if told == nil {
		return
	}
	for i := range l.states() {
		q, visits := l.of(int32(i)), l.visits[i*l.actions:][:l.actions]
		mean, all := 0.0, 0.0
		for a, n := range visits {
			if n > 0 {
				mean += n * q[a]
				all += n
			}
		}
		mean /= max(all, 1)
		told.each(l.cells[i*l.width:][:l.width], func(k int) {
			a := told.action[k]
			if math.IsNaN(q[a]) {
				q[a] = mean
			}
			q[a] += told.worth[k] / (1 + visits[a])
		})
	}
}

// followed counts the rows of a log in which each piece of advice was followed.
func (j *journal) followed(told *adviser) []float64 {
	if told == nil {
		return nil
	}
	heard, cells, at := make([]float64, told.units()), make([]float64, len(j.state)), j.onStates()
	for row, w := range j.weight {
		at.cellsOf(j.states, row, cells)
		told.each(cells, func(k int) {
			if told.action[k] == int(j.action[row]) {
				heard[k] += w
			}
		})
	}
	return heard
}

// unadvisedLog is the policy of the log without the advice of some, and without the
// rows of others.
func (m *Model) unadvisedLog(ctx context.Context, ids []string) (*Model, []string, error) {
	all, err := m.lesson.Settings.toldPasts()
	if err != nil {
		return nil, nil, err
	}
	of := func(id string) bool { return slices.ContainsFunc(all, func(p past) bool { return p.ID == id }) }
	rows := slices.DeleteFunc(slices.Clone(ids), of)
	left := slices.DeleteFunc(slices.Clone(all), func(p past) bool { return slices.Contains(ids, p.ID) })
	switch {
	case len(left) == len(all):
		return m, rows, nil
	case len(rows) > 0: // it is learnt again without these
		next := *m
		return &next, rows, next.lesson.Settings.tell(left)
	}
	next, err := m.retold(ctx, left)
	return next, nil, err
}
