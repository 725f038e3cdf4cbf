package rulenet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Model is a network of rules. It is immutable.
type Model struct {
	settings    settings
	seed        uint64
	rows        *kept.Rows   // update=exact: the rows of all sources
	incremental *incremental // update=published: the rows and their rules
	coding      coding
	counts      []float64 // weight of the rows by class
	bias        []float64 // of each class; −∞ for classes without rows
	units       []unit    // most informative first
	steps       []Step    // of growth
	stopped     string    // why growth stopped
	share       float64   // of the penalty, that calibrated weights were fitted at; 0 if not known
	taught      bool      // by trees
	rehearsed   float64   // least loss a row on rows held out, where any were; not saved
	noisy       bool      // trees were enough long before all were grown; not saved
	repeats     *repeats  // of identical rows; nil: none
	reweighed   bool      // its rules were found with rows that it does not have

	base      *rule.Base
	lines     []line // of the base, behind the priors
	predictor *rule.Predictor
	matchers  []*rule.Matcher // of each unit

	naming sync.Once
	named  []lineName // of each line, made when first explained by
}

// unit is a node of the middle layer: a conjunction of tests, and what it adds
// to the classes when it fires.
type unit struct {
	rule      conjunction
	class     int // that the rule concludes, or every
	templates float64
	counts    []float64 // weight of the covered rows by class
	weights   []float64 // by class
	round     int       // of growth
	removed   float64   // bits that it takes off the training log loss
}

// everyClass is the class of a unit that may speak of all classes.
const everyClass = -1

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Reweigher = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
)

// compile makes the rules of the units, and what predicts by them.
func (m *Model) compile(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.writeRules()
	var err error
	if m.predictor, err = rule.NewPredictor(m.base, m.coding.schema, m.coding.target); err != nil {
		return err
	}
	all := make([][]rule.Test, len(m.units))
	for i := range m.units {
		all[i] = m.tests(m.units[i].rule)
	}
	m.matchers, err = rule.NewMatchers(all, m.coding.schema)
	return err
}

// Learner returns the name of the learner.
func (m *Model) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.coding.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.coding.target }

// Size counts rules as they are printed, the priors of the classes included,
// and conjunctions as units.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: sum(m.counts), Rules: len(m.base.Rules), Units: len(m.units)}
}

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := m.fits(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if classes := m.coding.classes(); out.Classes != classes {
		return fmt.Errorf("room for probabilities of %d classes, expected %d", out.Classes, classes)
	}
	if err := m.predictor.Predict(t, out.P, nil); err != nil || m.repeats == nil {
		return err
	}
	return m.remind(ctx, t, out.P)
}

// fits returns an error unless the table's columns and codes are the model's.
func (m *Model) fits(t *table.Table) error { return m.coding.fits(t) }

func (c *coding) fits(t *table.Table) error {
	if t.Schema == c.schema {
		return nil
	}
	if err := table.Fits(c.schema, t); err != nil {
		return err
	}
	for i := range c.schema.Attributes {
		have, want := t.Schema.Attributes[i].Values, c.schema.Attributes[i].Values
		if i != c.target && !slices.Equal(have, want[:len(have)]) {
			return fmt.Errorf("values of column %q are coded otherwise than the model's; conform the table to the model's schema first", c.schema.Attributes[i].Name)
		}
	}
	return nil
}

// Heeds returns the priors if experts' rules are to be units of the network.
func (m *Model) Heeds() []float64 {
	if m.settings.Knowledge != "units" {
		return nil
	}
	priors := make([]float64, len(m.counts))
	for c, n := range m.counts {
		priors[c] = n / sum(m.counts)
	}
	return priors
}
