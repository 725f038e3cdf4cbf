package ensemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// reason is a part of a member's vote: a rule of it that applies.
type reason struct {
	id, text string
	share    float64 // of the vote; shares add up to 1
}

// Explain counts the votes: for each session and class, how many of its
// members said it, and what that adds to the log of the class's probability.
// Members that can be read as rules give theirs as reasons (see ruled).
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	return m.explain(t, row, func(*member, *table.Table, int) []reason { return nil })
}

// explain asks for the reasons of each member's vote for a class, given as
// the code that the member has for it; none means that the vote speaks for
// itself.
func (m *Model) explain(t *table.Table, row int, reasons func(of *member, one *table.Table, class int) []reason) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	one := t.Slice(row, row+1)
	e := &learn.Explanation{Prior: slices.Clone(m.prior), Additive: true}
	voted := map[*member]int{}
	if err := m.each(context.Background(), one, func(of *member, _, class int) { voted[of] = class }); err != nil {
		return nil, err
	}
	add := func(id, text string, class int, weight float64) {
		i := slices.IndexFunc(e.Evidence, func(have learn.Evidence) bool { return have.Class == class && have.ID == id && have.Text == text })
		if i < 0 {
			i = len(e.Evidence)
			e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: class})
		}
		e.Evidence[i].Weight += weight
	}
	group := m.groupOf()
	for _, s := range m.sessions {
		plain, said := make([]float64, len(e.Prior)), make([]int, len(e.Prior))
		for i := range s.members {
			of := &s.members[i]
			class := voted[of]
			weight := m.sharpness * share(of.vote, m.seen[class])
			g := group[of]
			view, err := g.view(one)
			if err != nil {
				return nil, err
			}
			why := reasons(of, view, slices.Index(g.classes, class))
			for _, r := range why {
				add(r.id, r.text, class, weight*r.share)
			}
			if why == nil {
				plain[class] += weight
				said[class]++
			}
		}
		for class, n := range said {
			if n > 0 {
				who := fmt.Sprintf("%d of %s of %s", n, counted(float64(len(s.members)), "member"), s.name())
				add("", rule.Test{Op: rule.Eq, Column: who, Value: m.classes()[class]}.String(), class, plain[class])
			}
		}
	}
	sums := slices.Clone(e.Prior)
	for _, v := range e.Evidence {
		sums[v.Class] += v.Weight
	}
	e.Normaliser = logsum.Of(sums)
	return e, m.addMissing(e, one)
}

func (m *Model) groupOf() map[*member]*group {
	of := map[*member]*group{}
	for _, g := range m.groups {
		for _, member := range g.members {
			of[member] = g
		}
	}
	return of
}

// tries is how many numbers are tried in place of one that is missing.
const tries = 32

// addMissing says how far each missing cell could move the answer: the most
// over the column's values or, for a number, over those that kept rows have.
func (m *Model) addMissing(e *learn.Explanation, one *table.Table) error {
	ctx := context.Background()
	answer := learn.NewPredictions(m, 1)
	if err := m.Predict(ctx, one, answer); err != nil {
		return err
	}
	best := learn.Best(answer.Row(0), m.classes())
	for j := range one.Columns {
		if j == m.target || one.Text(0, j) != "" {
			continue
		}
		moved := 0.0
		if candidates := m.candidates(one, j); candidates.Rows() > 0 {
			out := learn.NewPredictions(m, candidates.Rows())
			if err := m.Predict(ctx, candidates, out); err != nil {
				return err
			}
			for r := range candidates.Rows() {
				moved = max(moved, math.Abs(out.Row(r)[best]-answer.Row(0)[best]))
			}
		}
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[j].Name, CouldMove: moved})
	}
	return nil
}

// candidates returns the row with a missing cell filled in, in all ways.
func (m *Model) candidates(one *table.Table, column int) *table.Table {
	var codes []int32
	var numbers []float64
	if m.schema.Attributes[column].Kind == table.Nominal {
		for v := range m.schema.Attributes[column].Values {
			codes = append(codes, int32(v))
		}
	} else {
		for _, s := range m.sessions {
			for _, x := range s.rows.Columns[column].Floats {
				if !table.IsMissing(x) {
					numbers = append(numbers, x)
				}
			}
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		if n := len(numbers); n > tries {
			for i := range tries {
				numbers[i] = numbers[i*(n-1)/(tries-1)]
			}
			numbers = numbers[:tries]
		}
	}
	filled := one.Select(make([]int, len(codes)+len(numbers)))
	if codes != nil {
		filled.Columns[column].Codes = codes
	} else {
		filled.Columns[column].Floats = numbers
	}
	return filled
}
