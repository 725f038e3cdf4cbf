// Package learn is the contract between learners, models and everybody else.
//
// A Learner makes a Model from a Task: a table, the column to predict, and
// what an expert says. A Model predicts. What else a model can do it says by
// implementing further small interfaces, which callers find by assertion, as
// with io: Updater, Ruler, Explainer, Merger, Forgetter, Drawer. Ability is
// such an assertion that looks through wrappers, such as that of a model that
// was told rules.
//
// A Model is immutable and safe for concurrent use. Updating goes through a
// private state: Begin, Add rows, Freeze into a new model. Readers of the old
// one never see half an update.
//
// Everything random comes from the task's seed: the same task gives the same
// model, bit for bit, on any number of cores. A learner never prints, never
// reads a file, never looks at the clock. Its context may cancel it and hears
// its progress.
//
// Learners register themselves (Register); importing
// github.com/accrete-ml/accrete/learners/all brings in every one of them.
package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Task is what a learner learns from.
type Task struct {
	Table *table.Table // never changed, and not kept by reference
	// Target names the column to predict. For a model of the joint density
	// of all columns there is none, and NoTarget says so.
	Target   string
	NoTarget bool
	Source   Source // who brought the rows
	Seed     uint64
	// Advice is what people say who know. A learner leaves alone what its
	// Info does not say that it takes: callers come through expert.Advised.
	Advice Advice
}

// NoTarget is the target of a model of the joint density of all columns.
const NoTarget = -1

// Column returns the index of the target in the table, NoTarget if there is
// none, or an error that says what is wrong with the task.
func (t *Task) Column() (int, error) {
	switch {
	case t.Table == nil:
		return 0, errors.New("the task has no table to learn from")
	case t.NoTarget && t.Target != "":
		return 0, fmt.Errorf("the task names the target %q and says that there is none; expected one of the two", t.Target)
	case t.NoTarget:
		return NoTarget, nil
	case t.Target == "":
		return 0, errors.New("the task names no target; name the column to predict, or say that there is none")
	}
	if i := t.Table.Schema.Index(t.Target); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("target %q is not a column of the table%s", t.Target, spell.Hint(t.Target, t.Table.Schema.Names()))
}

// At returns the task with a column of its table as the target, or with none
// (NoTarget).
func (t Task) At(column int) Task {
	t.Target, t.NoTarget = "", column == NoTarget
	if t.Table != nil && column >= 0 && column < len(t.Table.Schema.Attributes) {
		t.Target = t.Table.Schema.Attributes[column].Name
	}
	return t
}

// Source names where rows came from. Models that can forget keep what they
// learnt apart by ID.
type Source struct {
	ID   string // unique within a model; "" is an anonymous source like any other
	Name string // what people call it: a path or a data set's name
}

// Learner makes models. A learner is a struct whose exported fields are its
// parameters, zero values being the defaults (see Set).
type Learner interface {
	// Learn returns the model of the task's rows. Rows whose target is
	// missing carry no class: supervised learners leave them out. It
	// returns an error, never a half-learnt model, if the context ends or
	// the task cannot be learnt: no rows with a target, a target of the
	// wrong kind.
	Learn(ctx context.Context, task Task) (Model, error)
}

// Starter is a learner that can begin with no rows: learning is starting, adding
// and freezing, in memory that does not grow with the rows.
type Starter interface {
	Learner
	// Start returns an update to add the rows of the task's source to. Of
	// the task's table it takes the schema alone. Freeze returns what Learn
	// returns for all rows: to the bit if they come in one table, and within
	// its contract in any batches; and Learn's error if none can be learnt.
	Start(task Task) (Update, error)
}

// Model is what was learnt.
type Model interface {
	// Learner is the name under which the model's learner is registered.
	Learner() string
	// Schema is the attributes that the model knows, the target included.
	// Tables given to the model's methods have these columns, in this
	// order (table.Conform); nominal cells may also be table.Unseen.
	Schema() *table.Schema
	// Target is the index of the predicted attribute, or NoTarget.
	Target() int
	// Predict fills out, which has room for the table's rows (see
	// NewPredictions). The target's cells are not looked at. It allocates
	// nothing per row and uses all cores for large tables.
	Predict(ctx context.Context, t *table.Table, out *Predictions) error
	// Size counts what the model is made of.
	Size() Size
	// Parts returns the model's saved form (see Part).
	Parts() ([]Part, error)
}

// Size counts what a model is made of. Zero means none.
type Size struct {
	Rows  float64 // weight of the rows learnt from
	Rules int     // rules, where the model can be read as rules
	Units int     // hidden units, Gaussians, perceptrons or decision nodes
}

// Updater is a model that can learn more rows. What the result is worth
// compared with learning everything at once is the learner's Contract.
type Updater interface {
	Model
	// Begin returns a private copy to add rows of one source to.
	Begin(source Source) (Update, error)
}

// Update is a model in the making. It is not safe for concurrent use.
type Update interface {
	// Add learns the table's rows. The table's schema has the model's
	// columns, whose dictionaries begin with the model's values; new
	// values and classes follow them.
	Add(ctx context.Context, t *table.Table) error
	// Freeze returns the model of all rows so far. Add may go on after it.
	Freeze(ctx context.Context) (Model, error)
}

// Ruler is a model that can be read as rules.
type Ruler interface {
	Model
	// Rules returns a base that predicts as the model does, to 1e-12,
	// within the limits that the base itself states (Notes, CompleteOnly).
	Rules() (*rule.Base, error)
}

// Explainer is a model that can say why it answers as it does.
type Explainer interface {
	Model
	// Explain explains the prediction for one row of the table.
	Explain(t *table.Table, row int) (*Explanation, error)
}

// Explanation is the evidence for and against an answer. For a nominal
// target, Prior[c] plus the weights of the evidence for class c minus
// Normaliser is the log posterior of c, to 1e-12, if Additive. For a numeric
// target Prior has one element, Class is 0 throughout, and the sum is the
// predicted number.
type Explanation struct {
	Prior      []float64
	Evidence   []Evidence
	Missing    []MissingCell
	Normaliser float64
	Additive   bool
	// Cases are the rows that the answer was drawn from, the nearest first,
	// where the model answers by cases.
	Cases []Case
}

// Evidence is one reason, with its weight for (positive) or against
// (negative) a class.
type Evidence struct {
	ID     string // the rule's id where the reason is a rule, else ""
	Text   string // in the rule language: outlook = sunny
	Class  int
	Weight float64
}

// MissingCell is a cell that is not known, and how far knowing it could move
// the probability of the predicted class (or the predicted number) at most.
type MissingCell struct {
	Column    string
	CouldMove float64
}

// Merger is a model that can be joined with others learnt apart by the same
// learner with the same settings and target.
type Merger interface {
	Model
	// Merge returns the model of all the models' rows.
	Merge(ctx context.Context, others ...Model) (Model, error)
}

// Forgetter is a model from which a source can be taken back out.
type Forgetter interface {
	Model
	// Sources lists the sources in the order in which they came.
	Sources() []Source
	// Forget returns the model of the other sources' rows. Values and
	// classes that only the forgotten sources brought leave the schema.
	Forget(ctx context.Context, ids ...string) (Model, error)
}

// Reweigher is a model that can show in a moment what is left of its rules
// without a source, where forgetting learns everything again.
type Reweigher interface {
	Forgetter
	// Without returns the model's own rules, counted and weighed without the
	// rows of some sources, or, if again, the model that Forget returns. The
	// first is to be read, not kept: other rules might be found without
	// those rows.
	Without(ctx context.Context, ids ...string) (m Model, again bool, err error)
}

// Keeper is a model that keeps the rows it learnt from.
type Keeper interface {
	Model
	// Kept returns the rows of each source, in the model's schema; nil if
	// this model was told not to keep them.
	Kept(ctx context.Context) ([]Learnt, error)
}

// Learnt is rows that a model learnt from, in the model's schema.
type Learnt struct {
	Source Source
	Table  *table.Table
}

// Curver is a learner whose models can be drawn against their size: it learns
// rows again in folds, and makes models smaller step by step, in a way of its own.
type Curver interface {
	Learner
	CurveInFolds(ctx context.Context, what string, task Task, folds int) (*draw.Chart, error)
}

// Drawer is a model that can be drawn.
type Drawer interface {
	Model
	Graph() (*draw.Graph, error)
}

// Density is a model of the joint density of all columns.
type Density interface {
	Model
	// LogDensity fills out, a number a row, with the natural log of the
	// model's density at the table's rows. Missing cells are integrated
	// out.
	LogDensity(ctx context.Context, t *table.Table, out []float64) error
}

// Grower is a model that grew unit by unit and can say why each is there.
type Grower interface {
	Model
	// Grown returns a certificate for each unit, which says what it removed:
	// its text is a line for people, its exported fields are for programs.
	// Stopped says why growth ended, where the certificates do not.
	Grown() (certificates []fmt.Stringer, stopped string)
}

// Remarker is a model that can say what became of the rows that it learnt
// last, and what it still knows of those before.
type Remarker interface {
	Model
	// Remarks returns what there is to say, the most important first: the
	// text of a remark is a line for people, its exported fields are for
	// programs.
	Remarks() ([]fmt.Stringer, error)
}

// Checker is a learner that can tell, before it learns, that its settings do
// not go together. New asks it.
type Checker interface {
	Learner
	Check() error
}

// Asker is a model of the joint distribution of all columns, which can be
// asked for any of them.
type Asker interface {
	Model
	// Ask returns the distribution of one column given the known cells of
	// a row; those of the column itself are not looked at.
	Ask(t *table.Table, row, column int) (*Answer, error)
}

// Answer is the distribution of a column given what is known.
type Answer struct {
	// Of a numeric column: the mean, the median, the 2.5 % and 97.5 %
	// quantiles, and the peaks of the density, the highest first.
	Mean, Median, Low, High float64
	Modes                   []float64
	// Of a nominal column: the probability of each value, by code.
	P []float64
	// LogDensity is the natural log of the density of what is known,
	// numbers in deviations of their columns.
	LogDensity float64
	// Experience is the share of rows that the model expects to be no denser than what
	// is known, in the same columns. Near 0 the question lies outside of what it has seen.
	Experience float64
	Samples    int // rows that the answer was drawn from, 0 where it was worked out
}

// Imputer is a model that can fill in missing cells.
type Imputer interface {
	Model
	// Impute returns the table with each missing cell replaced by what is
	// expected given the known cells of its row: the mean of a number, the
	// most probable name. A cell of which nothing can be expected, in a
	// column without a known cell, stays missing.
	Impute(ctx context.Context, t *table.Table) (*table.Table, error)
}

// Excerpter is a model whose rules can be cut to a budget and fitted again,
// so that what is left is a model of its own.
type Excerpter interface {
	Model
	Excerpt(ctx context.Context, b rule.Budget) (*rule.Excerpt, error)
}
