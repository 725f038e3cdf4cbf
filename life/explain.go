package life

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
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
	last, row, found := 0, 0, 0
	if only != nil {
		only = slices.Compact(slices.Sorted(slices.Values(only)))
		last = only[len(only)-1]
	}
	err := h.batches(ctx, m, d, nil, func(batch *table.Table) error {
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
			x, err := m.Explain(batch, place)
			if err == nil {
				e := newExplained(m, NewPredicted(p.Model, first+wanted[i], batch, out, place), x)
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
		return remedy.Misusef("%s has %s; row %d was asked for", d.Arg, plural(row, "row"), last)
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
	// Values are what the actions of a policy are worth, and Path what follows
	// from the best.
	Values map[string]float64 `json:"values,omitempty"`
	Path   []PathEntry        `json:"path,omitempty"`

	Explanation *learn.Explanation `json:"-"`
	Attribute   *table.Attribute   `json:"-"` // the target
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

// About is the evidence on one class, strongest first.
func (e *Explained) About(class int) []learn.Evidence {
	var about []learn.Evidence
	for _, v := range e.Explanation.Evidence {
		if v.Class == class {
			about = append(about, v)
		}
	}
	slices.SortStableFunc(about, func(a, b learn.Evidence) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return about
}

// EvidenceEntry is one reason.
type EvidenceEntry struct {
	ID     string  `json:"id,omitempty"`
	Text   string  `json:"text"`
	Class  string  `json:"class,omitempty"`
	Weight float64 `json:"weight"`
}

// MissingEntry is a cell that is not known.
type MissingEntry struct {
	Column    string  `json:"column"`
	CouldMove float64 `json:"could_move"`
}

// CaseEntry is a row that the answer was drawn from.
type CaseEntry struct {
	Row      int                `json:"row"`
	Source   string             `json:"source"`
	Distance float64            `json:"distance"`
	Target   string             `json:"target"`
	Columns  map[string]float64 `json:"columns"`
}

func newExplained(m learn.Model, answer Predicted, x *learn.Explanation) *Explained {
	target := &m.Schema().Attributes[m.Target()]
	e := &Explained{Predicted: answer, Evidence: []EvidenceEntry{}, Missing: []MissingEntry{}, Additive: x.Additive, Explanation: x, Attribute: target}
	if target.Kind == table.Numeric {
		e.Prior = x.Prior[0]
	} else {
		prior := map[string]float64{}
		for c, w := range x.Prior {
			prior[target.Values[c]] = finite(w)
		}
		e.Prior, e.Normaliser = prior, &x.Normaliser
	}
	for _, v := range x.Evidence {
		entry := EvidenceEntry{ID: v.ID, Text: v.Text, Weight: finite(v.Weight)}
		if target.Kind == table.Nominal {
			entry.Class = target.Values[v.Class]
		}
		e.Evidence = append(e.Evidence, entry)
	}
	for _, c := range x.Missing {
		e.Missing = append(e.Missing, MissingEntry{c.Column, c.CouldMove})
	}
	for _, c := range x.Cases {
		entry := CaseEntry{Row: c.Row, Source: c.Source.Name, Distance: c.Distance, Target: c.Target, Columns: map[string]float64{}}
		for _, column := range c.Columns {
			entry.Columns[column.Column] = column.Distance
		}
		e.Neighbours = append(e.Neighbours, entry)
	}
	return e
}

// finite replaces the log of zero, which JSON cannot write, by the log of the
// smallest number.
func finite(x float64) float64 {
	return min(max(x, math.Log(math.SmallestNonzeroFloat64)), math.MaxFloat64)
}
