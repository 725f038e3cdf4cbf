package neuraltree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Model is a tree of perceptrons. It is immutable.
type Model struct {
	settings settings
	seed     uint64
	rows     *kept.Rows // nil: not kept
	schema   *table.Schema
	target   int
	nodes    []node
	// contradicted is the weight of the rows that have the cells of others
	// but not their class.
	contradicted float64
	reach        []float64 // the greatest number, without its sign, in each numeric column

	answer []float64 // class probabilities of each node
	rules  int       // 0 if they are too many to be written
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
)

// Defaults that depend on the rows. A complete truth table is asked for
// exactly, so more runs are made for each unit. Pruning grows a tree for each
// fold, so of many rows a part is held out only once; nor do more runs give
// better trees then.
const (
	restartsIfComplete = 10
	restartsOtherwise  = 2
	manyFolds          = 5
	manyRows           = 3000
	thirdHeldOut       = 1.0 / 3
)

// grow grows the tree of the rows' table, and prunes it by trees grown from
// parts of the rows.
func (m *Model) grow(ctx context.Context, t *table.Table) error {
	s, err := newSample(ctx, t, m.target)
	if err != nil {
		return err
	}
	all := s.label(nil)
	m.contradicted = all.contradicted(len(s.classes))
	complete := m.contradicted == 0 && s.complete()
	g := growth{
		sample: s, labels: all, criterion: criteria[m.settings.Criterion], seed: m.seed,
		presentations: m.settings.Presentations, restarts: m.settings.Restarts, maxDepth: m.settings.MaxDepth,
	}
	if g.restarts == 0 {
		switch {
		case complete:
			g.restarts = restartsIfComplete
		case s.patterns() > manyRows:
			g.restarts = 1
		default:
			g.restarts = restartsOtherwise
		}
	}
	var folds []fold
	if m.settings.Prune == "folds" && !complete {
		n := m.settings.Folds
		if n == 0 {
			n = manyFolds
			if s.patterns() > manyRows {
				n = 1
			}
		}
		if folds, err = m.folds(ctx, t, n); err != nil {
			return err
		}
	}
	trees := 1 + len(folds)
	part := func(nth int) func(float64) {
		return func(done float64) { learn.Report(ctx, (float64(nth)+done)/float64(trees)) }
	}
	if m.nodes, err = g.grow(ctx, part(0)); err != nil {
		return err
	}
	if len(folds) > 0 && m.nodes[0].unit != nil {
		price := prices(m.nodes, s.classes)
		limits := candidates(price)
		wrong, judged := make([]float64, len(limits)), 0.0
		for i, f := range folds {
			g.labels, g.seed = s.label(f.grow), m.seed+uint64(i)+1
			nodes, err := g.grow(ctx, part(i+1))
			if err != nil {
				return err
			}
			heldOut := s.label(f.judge)
			tally(nodes, s, heldOut, prices(nodes, s.classes), limits, wrong)
			judged += heldOut.total
		}
		m.nodes = prune(m.nodes, price, limits[last(wrong, judged, m.settings.Margin)])
	}
	m.measure(t)
	m.derive()
	return nil
}

// measure notes how far the numbers of each column reach.
func (m *Model) measure(t *table.Table) {
	m.reach = make([]float64, len(t.Columns))
	for j := range t.Columns {
		for _, x := range t.Columns[j].Floats {
			if finite(x) {
				m.reach[j] = max(m.reach[j], math.Abs(x))
			}
		}
	}
}

// last returns the last place, at which the tree is smallest, where errors are
// no more than so many standard errors above the fewest (Breiman et al. 1984,
// section 3.4.3).
func last(wrong []float64, total, margin float64) int {
	fewest := slices.Min(wrong)
	most := fewest + margin*math.Sqrt(fewest*(1-fewest/total)) + 1e-9*total
	at := 0
	for i, w := range wrong {
		if w <= most {
			at = i
		}
	}
	return at
}

// derive computes what follows from the tree: its probabilities, leaf by leaf,
// are the frequencies of the classes with m rows more, of all classes in equal
// parts, so that the most frequent class stays the most probable.
func (m *Model) derive() {
	k := len(m.classes())
	m.answer = make([]float64, len(m.nodes)*k)
	for i := range m.nodes {
		counts := m.nodes[i].counts
		total := sum(counts) + m.settings.M
		for c, w := range counts {
			if total > 0 {
				m.answer[i*k+c] = (w + m.settings.M/float64(k)) / total
			} else {
				m.answer[i*k+c] = 1 / float64(k)
			}
		}
	}
	if w := m.write(true); w.tests <= mostTestsInAll {
		m.rules = w.count
	}
}

func (m *Model) classes() []string { return m.schema.Attributes[m.target].Values }

// Learner returns "neuraltree".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Model) Target() int { return m.target }

// Size counts the rules and the units, the output not among them.
func (m *Model) Size() learn.Size {
	return learn.Size{Rows: sum(m.nodes[0].counts), Rules: m.rules, Units: len(m.nodes) / 2}
}

// Predict answers for the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.classes())
	if out.Classes != k || len(out.P) < rows*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, rows*k, k)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(out.Row(r), m.answerOf(m.leaf(t.Columns, r)))
		}
	})
}

// leaf returns the leaf to which a row comes.
func (m *Model) leaf(columns []table.Column, row int) int {
	i := int32(0)
	for m.nodes[i].unit != nil {
		if m.nodes[i].unit.right(columns, row) {
			i = m.nodes[i].right
		} else {
			i = m.nodes[i].left
		}
	}
	return int(i)
}

func (m *Model) answerOf(node int) []float64 {
	k := len(m.classes())
	return m.answer[node*k : (node+1)*k]
}
