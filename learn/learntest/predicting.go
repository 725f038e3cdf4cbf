package learntest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// otherColumns: a model refuses a table that does not have its columns.
func otherColumns(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		t := s.table(v, 60, 30)
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		fitted := recode(t, m.Schema())
		fewer := must(table.New(&table.Schema{Attributes: fitted.Schema.Attributes[1:]}, fitted.Columns[1:], nil))
		renamed := copyTable(fitted)
		renamed.Schema.Attributes[0].Name = "another"
		for what, other := range map[string]*table.Table{"a column fewer": fewer, "a column of another name": renamed} {
			if m.Predict(context.Background(), other, learn.NewPredictions(m, other.Rows())) == nil {
				return fmt.Errorf("the method Predict takes a table with %s", what)
			}
			if u, ok := m.(learn.Updater); ok {
				if _, err := updated(u, "b", other); err == nil {
					return fmt.Errorf("the method Add takes a table with %s", what)
				}
			}
			if e, ok := m.(learn.Explainer); ok {
				if _, err := e.Explain(other, 0); err == nil {
					return fmt.Errorf("the method Explain takes a table with %s", what)
				}
			}
		}
		return nil
	})
}

// unseenValues: values that the model never saw do not upset it.
func unseenValues(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 150, 31), "a")
		if err != nil {
			return err
		}
		probe := copyTable(s.table(v, 60, 32))
		for j := range probe.Columns {
			for r := range probe.Columns[j].Codes {
				if (r+j)%2 == 0 || r < 5 {
					probe.Columns[j].Codes[r] = table.Unseen
				}
			}
		}
		return soundOn(m, probe)
	})
}

// soundPredictions: probabilities lie in [0, 1] and add up to 1; a number is
// finite and lies in its interval.
func soundPredictions(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, weighted(s.table(v, 300, 33), 33, 1, 0.25, 2), "a")
		if err != nil {
			return err
		}
		return soundOn(m, s.table(v, 500, 34))
	})
}

// rowByRow: a row's answer does not depend on the rows around it.
func rowByRow(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 300, 35), "a")
		if err != nil {
			return err
		}
		probe := recode(s.table(v, 9000, 36), m.Schema())
		all, err := askFitted(m, probe)
		if err != nil {
			return err
		}
		for r := 0; r < probe.Rows(); r += 29 {
			one, err := askFitted(m, probe.Slice(r, r+1))
			if err != nil {
				return err
			}
			if err := differInRow(one, 0, all, r, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// targetNotLookedAt: the cells of the target do not matter to prediction.
func targetNotLookedAt(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 300, 37), "a")
		if err != nil {
			return err
		}
		probe := copyTable(s.table(v, 200, 38))
		before, err := ask(m, probe)
		if err != nil {
			return err
		}
		blank(&probe.Columns[probe.Schema.Index(targetName)])
		after, err := ask(m, probe)
		if err != nil {
			return err
		}
		return differ(after, before, 0)
	})
}

// concurrentPrediction: a model answers many at a time as it answers one. Run
// with the race detector it also finds unguarded state.
func concurrentPrediction(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 300, 39), "a")
		if err != nil {
			return err
		}
		probe := recode(s.table(v, 5000, 40), m.Schema())
		alone, err := askFitted(m, probe)
		if err != nil {
			return err
		}
		wrong := make([]error, 4)
		var group sync.WaitGroup
		for i := range wrong {
			group.Go(func() {
				together, err := askFitted(m, probe)
				if err == nil {
					err = differ(together, alone, 0)
				}
				if e, ok := m.(learn.Explainer); ok && err == nil {
					_, err = e.Explain(probe, i)
				}
				if e, ok := m.(learn.Ruler); ok && err == nil {
					_, err = e.Rules()
				}
				wrong[i] = err
			})
		}
		group.Wait()
		return errors.Join(wrong...)
	})
}

// noAllocation: predicting more rows does not take more allocations.
func noAllocation(s *subject) error {
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 300, 41), "a")
		if err != nil {
			return err
		}
		few, many := recode(s.table(v, 100, 42), m.Schema()), recode(s.table(v, 3000, 43), m.Schema())
		out := learn.NewPredictions(m, many.Rows())
		count := func(t *table.Table) float64 {
			return testing.AllocsPerRun(5, func() {
				if e := m.Predict(context.Background(), t, out); e != nil {
					err = e
				}
			})
		}
		a, b := count(few), count(many)
		if err != nil {
			return err
		}
		if extra := (b - a) / float64(many.Rows()-few.Rows()); extra > 0.05 {
			return fmt.Errorf("%v allocations for %d rows, %v for %d", a, few.Rows(), b, many.Rows())
		}
		return nil
	})
}
