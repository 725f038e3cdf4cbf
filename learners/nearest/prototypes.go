package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A model may keep some rows only, its prototypes. prototypes=edit leaves out
// those whose class the three nearest others outvote (Wilson 1972), which takes
// noise away; prototypes=condense keeps, of rows in their order, those whose class
// the ones kept so far do not answer, until all are answered by their nearest
// (Hart 1968), which takes away what lies inside; prototypes=both does one after
// the other. What it costs is measured and said. Rows that were left out are
// gone, so that updates promise nothing: the prototypes are learnt with the new
// rows and chosen anew.

// wilson is how many of the nearest others may outvote a row.
const wilson = 3

// condensed returns the rows of the prototypes of a model, and what they cost.
func (m *Model) condensed(ctx context.Context) (*kept.Rows, error) {
	keep := make([]bool, m.cases.count())
	for i := range keep {
		keep[i] = true
	}
	var err error
	if p := m.lesson.Settings.Prototypes; p == "edit" || p == "both" {
		err = m.edit(ctx, keep)
	}
	if p := m.lesson.Settings.Prototypes; err == nil && (p == "condense" || p == "both") {
		err = m.condense(ctx, keep)
	}
	if err != nil {
		return nil, err
	}
	return m.only(ctx, keep)
}

// edit drops cases that the nearest others outvote. The last of a class stays.
func (m *Model) edit(ctx context.Context, keep []bool) error {
	c := m.cases
	wrong := make([]bool, len(keep))
	err := learn.Split(ctx, len(keep), func(lo, hi int) {
		s := m.room()
		defer m.rooms.Put(s)
		votes := make([]float64, c.classCount())
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			s.askCase(i, min(c.weight, c.worth[i]+wilson))
			m.index.find(s)
			clear(votes)
			for _, n := range s.found() {
				if int(n.at) != i {
					votes[c.classes[c.starts[n.at]]] += n.used
				}
			}
			own := votes[c.classes[c.starts[i]]]
			wrong[i] = slices.Max(votes) > own
		}
	})
	left := make([]int, c.classCount())
	for i := range keep {
		if !wrong[i] {
			left[c.classes[c.starts[i]]]++
		}
	}
	for i := range keep {
		keep[i] = !wrong[i] || left[c.classes[c.starts[i]]] == 0
	}
	return err
}

// condense keeps the cases that the nearest of those kept so far do not answer.
func (m *Model) condense(ctx context.Context, keep []bool) error {
	c := m.cases
	s := newSearch(m.metric)
	var store []int
	in := make([]bool, len(keep))
	for again := true; again; {
		again = false
		for i := range keep {
			if !keep[i] || in[i] {
				continue
			}
			s.askCase(i, math.SmallestNonzeroFloat64)
			for _, j := range store {
				s.look(j)
			}
			if near := s.found(); len(near) == 0 || c.classes[c.starts[near[0].at]] != c.classes[c.starts[i]] {
				store, in[i], again = append(store, i), true, true
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	copy(keep, in)
	return nil
}

// only returns the rows of some cases, with their places.
func (m *Model) only(ctx context.Context, keep []bool) (*kept.Rows, error) {
	c := m.cases
	of := make([][]int, len(c.named))
	for i := range keep {
		for r := c.starts[i]; keep[i] && r < c.starts[i+1]; r++ {
			of[c.source[r]] = append(of[c.source[r]], int(r))
		}
	}
	var parts []*kept.Rows
	for s, rows := range of {
		if len(rows) == 0 {
			continue
		}
		places := make([]float64, len(rows))
		for i, r := range rows {
			places[i] = float64(c.place[r])
		}
		t := c.table.Select(rows)
		schema := &table.Schema{Attributes: append(slices.Clone(t.Schema.Attributes), table.Attribute{Name: placeColumn, Kind: table.Numeric})}
		t, err := table.New(schema, append(slices.Clone(t.Columns), table.Column{Floats: places}), t.Weights)
		if err != nil {
			return nil, err
		}
		// The schema is that of all rows: values of rows that are gone stay known.
		gathering := (&kept.Rows{}).Gather(c.named[s], c.target, nil)
		if err := gathering.Add(ctx, t); err != nil {
			return nil, err
		}
		part, err := gathering.Rows(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return kept.MergeRows(ctx, parts...)
}

// Condensed says how many rows a model keeps, and what that costs.
type Condensed struct {
	Kept   float64 `json:"kept"`
	Rows   float64 `json:"rows"`
	Before float64 `json:"accuracy_before"` // of rows left out, by all others
	After  float64 `json:"accuracy_after"`  // by the prototypes
}

func (c Condensed) String() string {
	return fmt.Sprintf("%.6g of %.6g rows are kept as prototypes: they answer %.1f %% of rows right that are left out, all rows %.1f %%; updates start from them and promise nothing", c.Kept, c.Rows, 100*c.After, 100*c.Before)
}

// price measures prototypes: each row is answered by the others.
func (m *Model) price(ctx context.Context, all *Model) (*Condensed, error) {
	before, err := all.leaveOut(ctx, []float64{all.chosen.K}, mostLeftOut)
	if err != nil {
		return nil, err
	}
	own, err := m.leaveOut(ctx, []float64{m.chosen.K}, m.cases.count())
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, all.cases.table.Rows())
	rows, _, err := table.Conform(all.cases.table, m.cases.schema, false)
	if err != nil {
		return nil, err
	}
	if err := m.Predict(ctx, rows, out); err != nil {
		return nil, err
	}
	type place struct{ source, at int32 }
	prototype := map[place]bool{}
	for r := range m.cases.place {
		source := slices.IndexFunc(all.cases.named, func(s learn.Source) bool { return s == m.cases.named[m.cases.source[r]] })
		prototype[place{int32(source), m.cases.place[r]}] = true
	}
	wrong := own.errors[0]
	for r := range all.cases.place {
		if prototype[place{all.cases.source[r], all.cases.place[r]}] {
			continue
		}
		if learn.Best(out.Row(r), m.classes()) != int(rows.Columns[m.cases.target].Codes[r]) {
			wrong += rows.Weight(r)
		}
	}
	return &Condensed{Kept: m.cases.weight, Rows: all.cases.weight, Before: 1 - before.errors[0]/max(before.rows, 1), After: 1 - wrong/all.cases.weight}, nil
}

// Promise is exact, unless rows were left out.
func (m *Model) Promise() learn.Promise {
	if m.lesson.Settings.Prototypes != none {
		return learn.Promise{}
	}
	return learn.Promise{Contract: learn.Exact}
}
