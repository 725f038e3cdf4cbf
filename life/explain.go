package life

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// CanExplain returns nil if a model can explain its answers.
func CanExplain(m learn.Model) error {
	if _, ok := learn.Ability[learn.Explainer](m); !ok {
		return cannot(m.Learner(), "explain its answers", func(c learn.Can) bool { return c.Explain })
	}
	if m.Target() == learn.NoTarget {
		return fmt.Errorf("a density of all columns has no target to explain")
	}
	return nil
}

// Explain answers for rows of data and gives the reasons. Of rows, counted
// from 1, only those asked for are predicted, and nothing is read behind the
// last of them; nil is all.
func (h *Home) Explain(ctx context.Context, p *Part, d *Data, only []int, each func(*Explained) error) error {
	if err := CanExplain(p.Model); err != nil {
		return err
	}
	m, _ := learn.Ability[learn.Explainer](p.Model)
	r, err := newExplainer(ctx, p)
	if err != nil {
		return err
	}
	last, row, found := 0, 0, 0
	if only != nil {
		only = slices.Compact(slices.Sorted(slices.Values(only)))
		last = only[len(only)-1]
	}
	err = h.batches(ctx, m, d, nil, func(batch *table.Table) error {
		wanted := make([]int, 0, len(only))
		for i := range batch.Rows() {
			if row++; only == nil || slices.Contains(only, row) {
				wanted = append(wanted, i)
			}
		}
		first := row - batch.Rows() + 1
		chosen := only != nil && batch.Sequence == nil // of a sequence the rows around one count
		if chosen {
			batch = batch.Select(wanted)
		}
		out := learn.NewPredictions(m, batch.Rows())
		if err := m.Predict(ctx, batch, out); err != nil {
			return err
		}
		for i, place := range wanted {
			found++
			if chosen {
				place = i
			}
			e, err := r.explain(ctx, m, batch, place, NewPredicted(p.Model, first+wanted[i], batch, out, place))
			if err == nil {
				if acts, ok := learn.Ability[policy](p.Model); ok {
					consider(acts, batch, place, e)
				}
				err = each(e)
			}
			if err != nil {
				return err
			}
		}
		if only != nil && row >= last {
			return errEnough
		}
		return ctx.Err()
	})
	if err == nil && found < len(only) {
		return remedy.Misusef("%s has %s; row %d was asked for", d.called(), plural(row, "row"), last)
	}
	return err
}

// Explained is an answer and its reasons.
type Explained struct {
	Predicted
	Prior      any             `json:"prior"`
	Evidence   []EvidenceEntry `json:"evidence"`
	Missing    []MissingEntry  `json:"missing"`
	Normaliser *float64        `json:"normaliser,omitempty"`
	Additive   bool            `json:"additive"`
	Neighbours []CaseEntry     `json:"neighbours,omitempty"`
	// Cells are what the cells of the row add, those that add most first; Used
	// are the columns that have a part in the answer. Beside is the class that
	// odds are beside: the next one.
	Cells  []CellEntry `json:"cells,omitempty"`
	Used   []string    `json:"used,omitempty"`
	Beside string      `json:"beside,omitempty"`
	// Usual is how frequent the answer is among the rows, and Truth what the
	// data say.
	Usual *float64 `json:"usual,omitempty"`
	Truth any      `json:"truth,omitempty"`
	// Silent are rules that do not apply and would have spoken against the answer,
	// where that is what decides.
	Silent []SilentEntry `json:"silent,omitempty"`
	// Calibration is how often it was right when it said as much.
	Calibration *Calibrated `json:"calibration,omitempty"`
	// Values are what the actions of a policy are worth, and Path what follows
	// from the best.
	Values map[string]float64 `json:"values,omitempty"`
	Path   []PathEntry        `json:"path,omitempty"`

	Explanation *learn.Explanation `json:"-"`
	Attribute   *table.Attribute   `json:"-"` // the target

	explainer *explainer
	unused    []string // cells that have no part in the answer, as people say them
}

// Likeliest is the class of the largest probability, also where the model does
// not say that it is the answer.
func (e *Explained) Likeliest() string {
	classes := e.Attribute.Values
	all := make([]float64, len(classes))
	for c, class := range classes {
		all[c] = e.Probabilities[class]
	}
	return classes[learn.Best(all, classes)]
}

// PriorShare is the probability of a class before any evidence.
func (e *Explained) PriorShare(class int) float64 {
	sum := 0.0
	for _, w := range e.Explanation.Prior {
		sum += math.Exp(w - e.Explanation.Prior[class])
	}
	return 1 / sum
}

// EvidenceEntry is one reason: a rule, or whatever the model reasons with. Class
// and Weight are of the class that it moves most, Weights of all that it moves;
// Odds is how many times likelier it makes the answer beside the next class.
type EvidenceEntry struct {
	ID      string             `json:"id,omitempty"`
	Text    string             `json:"text"`
	Class   string             `json:"class,omitempty"`
	Weight  float64            `json:"weight"`
	Weights map[string]float64 `json:"weights,omitempty"`
	Odds    float64            `json:"odds,omitempty"`
	Say     say.Sentence       `json:"say,omitempty"`
	Told    bool               `json:"told,omitempty"`
	By      string             `json:"by,omitempty"` // who told it
	// Columns are those that it looks at.
	Columns []string `json:"columns,omitempty"`

	by []float64 // its weight for each class; of a number, one
}

// CellEntry is what a cell of the row adds: the weights of the rules that test
// it, each shared out equally among the cells that it tests.
type CellEntry struct {
	Column  string             `json:"column"`
	Value   string             `json:"value"`
	Weight  float64            `json:"weight"` // of the answer beside the next class, or of the number
	Weights map[string]float64 `json:"weights,omitempty"`
	Say     string             `json:"say"`
}

// MissingEntry is a cell that is not known.
type MissingEntry struct {
	Column    string  `json:"column"`
	CouldMove float64 `json:"could_move"`
	// To is the answer that moves it farthest, where a value of the column
	// makes it another, and Probability how probable it is then.
	To          any     `json:"to,omitempty"`
	Probability float64 `json:"probability,omitempty"`
}

// CaseEntry is a row that the answer was drawn from.
type CaseEntry struct {
	Row      int                `json:"row"`
	Source   string             `json:"source"`
	Distance float64            `json:"distance"`
	Target   string             `json:"target"`
	Columns  map[string]float64 `json:"columns"`
}

// finite replaces the log of zero, which JSON cannot write, by the log of the
// smallest number.
func finite(x float64) float64 {
	return min(max(x, math.Log(math.SmallestNonzeroFloat64)), math.MaxFloat64)
}
