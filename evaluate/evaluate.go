// Package evaluate says how well a learner will do on rows that it has not
// seen, how sure that is, and whether one learner does better than another.
//
// The error on the rows that a model was learnt from flatters it, and the
// error on a few fresh rows varies by chance (Mitchell 1997, chapter 5). So
// every estimate here is made on rows that the model did not see, and comes
// with an interval. CrossValidate, HoldOut and Test measure one learner;
// LearningCurve and Prequential show how it gets better with more rows, Query
// with answers that it asks for;
// Compare, CompareOn and CompareFiveByTwo test whether learners differ by more than chance.
//
// Everything works through the contract of package learn, so that any learner
// can be measured. Folds and samples depend only on the seed and the rows:
// the same evaluation gives the same figures on any number of cores, except
// for seconds.
//
// Rows that belong together (of one patient, one sequence) stay together, and
// rows in time are judged on their future, where Spec.Groups or Spec.Times say
// so. ScoreModel judges a model that exists.
//
// Row weights count cases: a row of weight 2 is worth the row twice, in rates
// and in intervals alike.
package evaluate

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Spec says what is evaluated.
type Spec struct {
	Data   string       // what people call the rows; for reports
	Table  *table.Table // rows whose target is missing are left out
	Target int          // the column to predict; learn.NoTarget for a density

	Learner string                        // what people call the learner
	New     func() (learn.Learner, error) // makes a fresh learner for every model

	Seed uint64
	// Repeats is how many times cross-validation is done over, each time
	// with other folds; 0 means once.
	Repeats int
	// Level is the confidence of intervals; 0 means 0.95.
	Level float64
	// Bins is the number of reliability bins; 0 means 15.
	Bins int
	// Clock tells the time, for the seconds that learning and predicting
	// took; nil leaves them 0.
	Clock func() time.Time
	// Groups, unless nil, has a number for each row: rows of one number are
	// together in learning or in testing (see Groups, the function). Rows of
	// one sequence are, unless this says otherwise.
	Groups []int
	// Times, unless nil, has a moment for each row: models learn from the
	// past and are tested on the future (see Times, the function).
	Times []float64
	// Costs of wrong answers, or nil.
	Costs *Costs

	ranked   bool   // probabilities of one class are kept; see ScoreModel
	positive string // which
}

// Fixed returns a Spec's New that always gives the same learner. Learning
// from several goroutines must not disturb it, which holds for learners whose
// fields are only parameters.
func Fixed(l learn.Learner) func() (learn.Learner, error) {
	return func() (learn.Learner, error) { return l, nil }
}

// Registered returns a Spec's New that makes the registered learner of this
// name with the given settings.
func Registered(name string, settings map[string]string) func() (learn.Learner, error) {
	return func() (learn.Learner, error) { return learn.New(name, settings) }
}

func (s *Spec) level() float64 {
	if s.Level == 0 {
		return 0.95
	}
	return s.Level
}

func (s *Spec) bins() int {
	if s.Bins == 0 {
		return 15
	}
	return s.Bins
}

func (s *Spec) repeats() int { return max(s.Repeats, 1) }

// check refuses what cannot be evaluated.
func (s *Spec) check() error {
	switch {
	case s.Table == nil || s.Table.Rows() == 0:
		return fmt.Errorf("evaluate: no rows; expected a table with some")
	case s.Target != learn.NoTarget && (s.Target < 0 || s.Target >= len(s.Table.Columns)):
		return fmt.Errorf("evaluate: target is column %d; expected one of the table's %d columns", s.Target, len(s.Table.Columns))
	case !(s.level() > 0 && s.level() < 1):
		return fmt.Errorf("evaluate: confidence level %v; expected a fraction between 0 and 1, such as 0.95", s.Level)
	case s.bins() < 1:
		return fmt.Errorf("evaluate: %d reliability bins; expected at least 1", s.Bins)
	}
	return nil
}

// checkLearner is check where models are made.
func (s *Spec) checkLearner() error {
	if s.New == nil {
		return fmt.Errorf("evaluate: learner %q cannot be made; give New a function, such as Registered(%q, nil)", s.Learner, s.Learner)
	}
	return s.check()
}

// targetName returns the name of the predicted column, nil for a density.
func targetName(schema *table.Schema, target int) *string {
	if target == learn.NoTarget {
		return nil
	}
	return &schema.Attributes[target].Name
}

// labelled returns the rows that can be tested: those whose target is known.
func labelled(t *table.Table, target int) []int {
	rows := make([]int, 0, t.Rows())
	for r := range t.Rows() {
		if !unlabelled(t, target, r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// unlabelled reports whether a row's target is missing.
func unlabelled(t *table.Table, target, row int) bool {
	if target == learn.NoTarget {
		return false
	}
	c := &t.Columns[target]
	if c.Codes != nil {
		return c.Codes[row] == table.Missing
	}
	return table.IsMissing(c.Floats[row])
}

// now is what the clock says.
func (s *Spec) now() time.Time {
	if s.Clock == nil {
		return time.Time{}
	}
	return s.Clock()
}
