package rulenet

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Drift says that the numbers of a column lie elsewhere than those for which
// its cuts were made. With update=published cuts stay as they were found until
// then; then all numbers are cut again and every example is searched from
// again. Networks whose numbers were not kept only say so.
type Drift struct {
	Column string  `json:"column"`
	Where  string  `json:"where"` // the interval whose share changed most
	Before float64 `json:"before"`
	Since  float64 `json:"since"`
	Rows   float64 `json:"rows"` // since
	P      float64 `json:"p"`    // of a difference as large by chance
	Recut  bool    `json:"recut"`
}

// String says it in one line.
func (m Drift) String() string {
	then := "cuts stay until the network is learnt again"
	if m.Recut {
		then = "numbers were cut again, and rules searched from every example again"
	}
	return fmt.Sprintf("the numbers of %s have moved: %s in %s %% of the rows that its cuts were made for, in %s %% of the %.6g since; %s",
		m.Column, m.Where, percent(m.Before), percent(m.Since), m.Rows, then)
}

const (
	driftP     = 0.001 // probability of saying so of any column by chance
	driftShare = 0.05  // share of the rows that must lie in another interval
)

// Remarks names the columns whose numbers have moved, with update=published.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	if m.incremental == nil {
		return nil, nil
	}
	var all []fmt.Stringer
	for _, r := range append(slices.Clone(m.incremental.recut), m.incremental.drifts()...) {
		all = append(all, r)
	}
	return all, nil
}

// intervalWeights returns the weight of the rows in each interval of each numeric
// column.
func (s *incremental) intervalWeights() [][]float64 {
	all := make([][]float64, len(s.codes))
	for col, codes := range s.codes {
		if !s.ordered(col) {
			continue
		}
		all[col] = make([]float64, s.levels(col))
		for row, code := range codes {
			if code >= 0 {
				all[col][code] += s.weights[row]
			}
		}
	}
	return all
}

// drifts compares, by Pearson's test, the rows that the cuts were made for with
// those that came since.
func (s *incremental) drifts() []Drift {
	var all []Drift
	columns := 0
	now := s.intervalWeights()
	for _, of := range s.cutFor {
		if len(of) > 1 {
			columns++
		}
	}
	for col, before := range s.cutFor {
		if len(before) < 2 || len(now[col]) != len(before) {
			continue
		}
		since := make([]float64, len(before))
		for i := range since {
			since[i] = max(0, now[col][i]-before[i])
		}
		n, k := sum(before), sum(since)
		if n == 0 || k == 0 {
			continue
		}
		x2, apart, most, levels := 0.0, 0.0, 0, 0
		gap := func(i int) float64 { return math.Abs(since[i]/k - before[i]/n) }
		for i := range since {
			both := before[i] + since[i]
			if both == 0 {
				continue
			}
			levels++
			for _, o := range [][2]float64{{before[i], both * n / (n + k)}, {since[i], both * k / (n + k)}} {
				x2 += (o[0] - o[1]) * (o[0] - o[1]) / o[1]
			}
			apart += gap(i) / 2
			if gap(i) > gap(most) {
				most = i
			}
		}
		if levels < 2 || apart < driftShare {
			continue
		}
		chance := distuv.ChiSquared{K: float64(levels - 1)}
		if p := chance.Survival(x2); p < driftP/float64(columns) {
			where := s.test(test{col: int32(col), lo: int32(most), hi: int32(most)})
			all = append(all, Drift{s.schema.Attributes[col].Name, where.String(), before[most] / n, since[most] / k, k, p, false})
		}
	}
	return all
}
