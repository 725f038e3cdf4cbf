package ensemble

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// Majority is Weighted-Majority (Littlestone and Warmuth 1991; Mitchell 1997,
// table 7.1) over a number of predictors: each row is answered by the weighted
// majority of what they say, and whoever was wrong loses weight by the factor
// Beta. Beta = 0 is Halving: only those that were never wrong are heard; once
// there is nobody left, those that were wrong least.
//
// If the best predictor makes k mistakes, n of them together make at most
// (k·log2(1/β) + log2 n) / log2(2/(1+β)), whatever the rows; Halving at most
// log2 n, if one of them is never wrong.
type Majority struct {
	Beta     float64
	Mistakes []float64 // of each predictor
	Made     float64   // mistakes of the majority
	Rows     float64   // answered so far
}

// Weights returns what each predictor's say is worth: β to the power of its
// mistakes, over that of the one with the fewest.
func (m *Majority) Weights() []float64 {
	weights := make([]float64, len(m.Mistakes))
	least := slices.Min(m.Mistakes)
	for i, k := range m.Mistakes {
		weights[i] = math.Pow(m.Beta, k-least) // 0^0 is 1
	}
	return weights
}

// Answer returns the class that has the most weight behind it, given what each
// predictor says. Of equals the first by name wins.
func (m *Majority) Answer(said []int, classes []string) int {
	votes := make([]float64, len(classes))
	for i, w := range m.Weights() {
		votes[said[i]] += w
	}
	return learn.Best(votes, classes)
}

// mostSteps bounds how often one heavy row is presented.
const mostSteps = 1 << 12

// Learn answers a row, and then takes weight off whoever was wrong. A row of
// weight 2 is presented twice.
func (m *Majority) Learn(said []int, truth int, weight float64, classes []string) {
	m.Rows += weight
	step := max(1, weight/mostSteps)
	someoneRight := slices.Contains(said, truth)
	for weight > 0 {
		wrong := m.Answer(said, classes) != truth
		now := min(step, weight)
		if !wrong || !someoneRight {
			now = weight // presenting it again changes nothing
		}
		if wrong {
			m.Made += now
		}
		for i, class := range said {
			if class != truth {
				m.Mistakes[i] += now
			}
		}
		weight -= now
	}
}

// Best returns the predictor with the fewest mistakes.
func (m *Majority) Best() int {
	return slices.Index(m.Mistakes, slices.Min(m.Mistakes))
}

// Bound returns how many mistakes the majority can have made at most, given
// those of the best predictor. Halving has no bound if nobody was always
// right: it returns +Inf.
func (m *Majority) Bound() float64 {
	k, n := slices.Min(m.Mistakes), float64(len(m.Mistakes))
	if m.Beta == 0 {
		if k > 0 {
			return math.Inf(1)
		}
		return math.Floor(math.Log2(n))
	}
	return (k*math.Log2(1/m.Beta) + math.Log2(n)) / math.Log2(2/(1+m.Beta))
}

// Score is how a pool of predictors fared, row after row, each judged before
// it learnt the row.
type Score struct {
	Rows     float64  `json:"rows"`
	Mistakes float64  `json:"mistakes"`
	Best     string   `json:"best"` // the member with the fewest mistakes
	Fewest   float64  `json:"fewest"`
	Bound    *float64 `json:"bound,omitempty"` // of Mistakes; none if Halving has no member left
	Members  []Fared  `json:"members"`
}

// Fared is how one member fared.
type Fared struct {
	Name     string  `json:"name"`
	Mistakes float64 `json:"mistakes"`
	Weight   float64 `json:"weight"` // of its say, that of the best being 1
}

// String says it in a line.
func (s Score) String() string {
	text := fmt.Sprintf("%s in %s judged before they were learnt; the best of %d, %s, made %.6g", counted(s.Mistakes, "mistake"), counted(s.Rows, "row"), len(s.Members), s.Best, s.Fewest)
	if s.Bound == nil {
		return text + "; no member was always right, so that Halving has no bound"
	}
	return text + fmt.Sprintf("; the bound is %.1f", *s.Bound)
}

// String says it in a line.
func (f Fared) String() string {
	return fmt.Sprintf("%s: %s, weight %.3g", f.Name, counted(f.Mistakes, "mistake"), f.Weight)
}
