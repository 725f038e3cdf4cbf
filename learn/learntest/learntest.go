// Package learntest checks that a learner keeps the contract of package
// learn, as testing/fstest does for file systems. The contract is a list of
// laws, each with a name; every learner's tests run all of them:
//
//	func TestContract(t *testing.T) { learntest.Run(t, bayes.Name) }
//
// Laws are tried on random tables of nominal and numeric columns with missing
// cells and odd names, made from a seed, for each kind of target that the
// learner takes. A law about an ability that the learner does not claim holds
// by default.
package learntest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Options say how a learner is checked. The zero value is a good choice.
type Options struct {
	Seed     uint64            // of the random tables
	Settings map[string]string // of the learner; the defaults if nil
	Laws     []string          // names of the laws to check; all of them if nil
}

// Check returns the laws that a learner breaks, joined into one error, each
// by its name and what was seen; nil if it keeps them all.
func Check(info learn.Info, o Options) error {
	s := &subject{info: info, options: o}
	var broken []error
	for _, name := range o.Laws {
		if !slices.Contains(Laws(), name) {
			broken = append(broken, fmt.Errorf("there is no law %q%s", name, spell.Hint(name, Laws())))
		}
	}
	for _, l := range laws {
		if o.Laws != nil && !slices.Contains(o.Laws, l.name) {
			continue
		}
		if err := l.keep(s); err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", l.name, err))
		}
	}
	return errors.Join(broken...)
}

// Run checks a registered learner, each law as a subtest.
func Run(t *testing.T, name string) {
	t.Helper()
	RunWith(t, name, Options{})
}

// RunWith is Run with options.
func RunWith(t *testing.T, name string, o Options) {
	t.Helper()
	info, err := learn.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, law := range Laws() {
		if o.Laws != nil && !slices.Contains(o.Laws, law) {
			continue
		}
		t.Run(law, func(t *testing.T) {
			o := o
			o.Laws = []string{law}
			if err := Check(info, o); err != nil {
				t.Error(err)
			}
		})
	}
}

// Laws returns the names of the laws, in the order in which they are checked.
func Laws() []string {
	names := make([]string, len(laws))
	for i, l := range laws {
		names[i] = l.name
	}
	return names
}

// law is one rule of the contract.
type law struct {
	name  string
	check func(*subject) error
}

// keep checks a law. A panic breaks it.
func (l law) keep(s *subject) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return l.check(s)
}

var laws = []law{
	{"abilities are those declared", abilities},
	{"settings can be listed and set", settings},
	{"unsupported targets are refused", unsupportedTargets},
	{"an empty table is refused", emptyTable},
	{"a table without targets is refused", noTargets},
	{"tables of other columns are refused", otherColumns},
	{"same seed, same model, any number of cores", determinism},
	{"input is left untouched", inputUntouched},
	{"tables are not kept", tablesNotKept},
	{"missing cells", missingCells},
	{"unseen values", unseenValues},
	{"one class only", oneClass},
	{"constant and duplicate columns", dullColumns},
	{"huge and tiny numbers", extremeNumbers},
	{"infinite numbers", infiniteNumbers},
	{"predictions are sound", soundPredictions},
	{"row by row as all at once", rowByRow},
	{"target cells are not looked at", targetNotLookedAt},
	{"concurrent prediction", concurrentPrediction},
	{"no allocation per row", noAllocation},
	{"cancellation", cancellation},
	{"progress rises from 0 to 1", progress},
	{"size counts the rows", size},
	{"save and load", saveAndLoad},
	{"damaged parts are refused", damagedParts},
	{"weight 2 is the row twice", rowWeights},
	{"weight 0 is no row", weightZero},
	{"updates leave the old model alone", updatesApart},
	{"updates keep their contract", updateContract},
	{"updates bring new values and classes", updateValues},
	{"columns that begin empty come to life", openColumns},
	{"starting with no rows and adding is learning", starting},
	{"merging is learning the union", merging},
	{"forgetting is learning without", forgetting},
	{"forgotten values leave the schema", forgettingValues},
	{"rules predict as the model does", rulesAgree},
	{"explanations add up", explanations},
	{"graphs are well formed", graphs},
	{"texts of any kind", texts},
	{"sequences stand for themselves", sequences},
	{"sequences are learnt as wholes", wholeSequences},
}

// subject is the learner under test.
type subject struct {
	info    learn.Info
	options Options
}

// variant is a kind of task.
type variant string

const (
	classes    variant = "classes"
	regression variant = "regression"
	density    variant = "density"
)

// variants returns the kinds of tasks that the learner takes.
func (s *subject) variants() []variant {
	var all []variant
	if s.info.Takes.Classes {
		all = append(all, classes)
	}
	if s.info.Takes.Regression {
		all = append(all, regression)
	}
	if s.info.Takes.Density {
		all = append(all, density)
	}
	return all
}

// predicted returns the variants that predict a column.
func (s *subject) predicted() []variant {
	var some []variant
	for _, v := range s.variants() {
		if v != density {
			some = append(some, v)
		}
	}
	return some
}

// learner returns a new learner with the settings of the test.
func (s *subject) learner() (learn.Learner, error) {
	l := s.info.New()
	for key, value := range s.options.Settings {
		if err := learn.Set(l, key, value); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// task returns the task of learning a table of this package.
func task(v variant, t *table.Table, source string) learn.Task {
	task := learn.Task{Table: t, Source: learn.Source{ID: source, Name: source + ".csv"}, Seed: 7}
	if task.NoTarget = v == density; !task.NoTarget {
		task.Target = targetName
	}
	return task
}

// learn learns a table.
func (s *subject) learn(v variant, t *table.Table, source string) (learn.Model, error) {
	return s.learnIn(context.Background(), task(v, t, source))
}

func (s *subject) learnIn(ctx context.Context, task learn.Task) (learn.Model, error) {
	l, err := s.learner()
	if err != nil {
		return nil, err
	}
	m, err := l.Learn(ctx, task)
	if err == nil && m == nil {
		return nil, errors.New("neither a model nor an error came from Learn")
	}
	return m, err
}

// each checks something for each kind of task, and says for which it failed.
func each(variants []variant, check func(v variant) error) error {
	for _, v := range variants {
		if err := check(v); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	return nil
}
