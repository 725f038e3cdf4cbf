package tree

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/table"
)

// Partition splits a table's rows by the values of a nominal column, the
// target being nominal too: one branch for each value of the schema. Rows whose
// cell is missing are shared out as the strategy says: "fractions", "common" or
// "class"; "known" leaves them out. Rows whose target is missing do not count.
func Partition(t *table.Table, target, col int, missing string) (Split, error) {
	a, y := &t.Schema.Attributes[col], &t.Schema.Attributes[target]
	if a.Kind != table.Nominal || y.Kind != table.Nominal {
		return nil, fmt.Errorf("columns %q (%v) and %q (%v): expected nominal ones", a.Name, a.Kind, y.Name, y.Kind)
	}
	C := len(y.Values)
	stat := make([]float64, len(a.Values)*C)
	astray := make([]float64, C)
	for r := range t.Rows() {
		class := t.Columns[target].Codes[r]
		if class < 0 {
			continue
		}
		if v := t.Columns[col].Codes[r]; v >= 0 {
			stat[int(v)*C+int(class)] += t.Weight(r)
		} else {
			astray[class] += t.Weight(r)
		}
	}
	if missing != missingKnown && sum(stat) > 0 {
		g := grower{examples: &examples{size: C, classes: C}, settings: settings{Missing: missing}}
		g.fill(stat, astray)
	}
	s := make(Split, len(a.Values))
	for v := range s {
		s[v] = stat[v*C : (v+1)*C : (v+1)*C]
	}
	return s, nil
}

// Gain returns the information gain of a nominal column, rows with missing
// cells shared out in fractions; 0 where there is nothing to compute.
func Gain(t *table.Table, target, col int) float64 {
	s, err := Partition(t, target, col, missingFractions)
	if err != nil {
		return 0
	}
	return s.Gain()
}

// Cut is a threshold on a numeric column, with its information gain.
type Cut struct {
	Threshold, Gain float64
}

// Cuts returns the thresholds of a numeric column that could be best, in
// ascending order: midpoints between neighbouring numbers whose rows are not
// all of one class (Mitchell 1997, §3.7.2). Rows with missing cells are left
// out.
func Cuts(t *table.Table, target, col int) []Cut {
	C := len(t.Schema.Attributes[target].Values)
	type run struct {
		x      float64
		counts []float64
	}
	var order []int
	for r, x := range t.Columns[col].Floats {
		if !table.IsMissing(x) && t.Columns[target].Codes[r] >= 0 {
			order = append(order, r)
		}
	}
	cells := t.Columns[col].Floats
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case cells[a] < cells[b]:
			return -1
		case cells[a] > cells[b]:
			return 1
		}
		return 0
	})
	var runs []run
	above := make([]float64, C)
	for _, r := range order {
		if n := len(runs); n == 0 || runs[n-1].x != cells[r] {
			runs = append(runs, run{cells[r], make([]float64, C)})
		}
		class := t.Columns[target].Codes[r]
		runs[len(runs)-1].counts[class] += t.Weight(r)
		above[class] += t.Weight(r)
	}
	below := make([]float64, C)
	var cuts []Cut
	for i := 0; i+1 < len(runs); i++ {
		mixed := 0
		for c := range below {
			below[c] += runs[i].counts[c]
			above[c] -= runs[i].counts[c]
			if runs[i].counts[c] > 0 || runs[i+1].counts[c] > 0 {
				mixed++
			}
		}
		if mixed > 1 {
			cuts = append(cuts, Cut{encode.Between(runs[i].x, runs[i+1].x), Split{below, above}.Gain()})
		}
	}
	return cuts
}
