package rulenet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Other losses. Rules are picked by squares, from a teacher of means; what they add is
// then fitted to the loss asked for, by squares of rows weighed anew (Hunter and Lange,
// Quantile regression via an MM algorithm, 2000; for counts the variance is the mean,
// so that a row weighs one over it: Wedderburn's quasi-likelihood, 1974). Rules still
// add, and what is printed is what answers.

const (
	mostReweighings = 30
	leastOff        = 1e-3 // deviations below which errors cost alike
	leastCount      = 0.02 // of the mean, below which counts are not expected
	stillMoving     = 1e-4 // deviations
)

// lossNote says what answers are where they are no means; "" if they are.
func (s settings) lossNote(name string) string {
	switch s.Loss {
	case "absolute":
		return fmt.Sprintf("the answer is the median: as much of %s is to lie above it as below", name)
	case "quantile":
		return fmt.Sprintf("the answer is a quantile: %v %% of %s is to lie below it", 100*s.Quantile, name)
	case "poisson":
		return fmt.Sprintf("the answer is the mean of counts of %s, whose variance grows with it", name)
	}
	return ""
}

// first returns a student of the first rules of another.
func (a *adder) first(size int) *adder {
	b := *a
	b.rest = slices.Clone(a.rest)
	b.keep(placesUpTo(min(size, len(a.rules))))
	return &b
}

func placesUpTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// checkCounts refuses what is no count.
func checkCounts(y []float64, s settings, name string) error {
	if s.Loss != "poisson" {
		return nil
	}
	most := 0.0
	for _, x := range y {
		if x < 0 && !table.IsMissing(x) {
			return fmt.Errorf("setting loss=poisson: it is for counts, and column %q is %v in some rows", name, x)
		}
		most = max(most, x)
	}
	if most == 0 {
		return fmt.Errorf("setting loss=poisson: column %q is 0 in all rows", name)
	}
	return nil
}

// cost returns how much a row weighs whose number is y and whose answer is off.
func (h *school) cost(answer, off float64) float64 {
	switch h.s.Loss {
	case "poisson":
		return 1 / max(h.zero+answer*h.unit, leastCount*h.zero) * h.zero
	case "quantile":
		if off > 0 {
			return h.s.Quantile / max(off, leastOff)
		}
		return (1 - h.s.Quantile) / max(-off, leastOff)
	}
	return 0.5 / max(math.Abs(off), leastOff)
}

// reweigh fits what the rules add to the loss asked for.
func (h *school) reweigh(ctx context.Context, a *adder) error {
	if h.s.Loss == "" || len(a.rules) == 0 && h.s.Loss == "poisson" {
		return nil
	}
	n := len(a.rules) + 1 // the bias is the last
	type term struct {
		rule int32
		x    float64
	}
	of := make([][]term, len(a.rows))
	for j := range a.rules {
		for at, i := range a.rules[j].rows {
			of[i] = append(of[i], term{int32(j), a.rules[j].at(at)})
		}
	}
	for i := range of {
		of[i] = append(of[i], term{int32(n - 1), 1})
	}
	w := make([]float64, n)
	for j := range a.rules {
		w[j] = a.rules[j].adds
	}
	w[n-1] = a.bias()
	for range mostReweighings {
		if err := ctx.Err(); err != nil {
			return err
		}
		gram, slope := make([]float64, n*n), make([]float64, n)
		cost, moved := 0.0, 0.0
		for i, r := range a.rows {
			y, answer := h.x.Number[r], 0.0
			for _, t := range of[i] {
				answer += w[t.rule] * t.x
			}
			c := a.weight[i] * h.cost(answer, y-answer)
			cost += c
			for at, s := range of[i] {
				slope[s.rule] += c * s.x * y
				for _, t := range of[i][:at+1] {
					gram[int(s.rule)*n+int(t.rule)] += c * s.x * t.x
				}
			}
		}
		for j := range n - 1 {
			gram[j*n+j] += a.adderRidge * cost / a.total
		}
		if !cholesky(gram, slope, n) {
			return errors.New("the weights of the loss asked for cannot be solved for")
		}
		for j := range w {
			moved = max(moved, math.Abs(slope[j]-w[j]))
		}
		if copy(w, slope); moved < stillMoving {
			break
		}
	}
	for j := range a.rules {
		a.rules[j].adds = keeps(a.rules[j].way, w[j])
	}
	a.moved += w[n-1] - a.bias()
	return nil
}

// cholesky solves for b, in its place, the equations of the lower half of a matrix.
func cholesky(m, b []float64, n int) bool {
	for j := range n {
		for k := range j + 1 {
			sum := m[j*n+k]
			for i := range k {
				sum -= m[j*n+i] * m[k*n+i]
			}
			if k < j {
				m[j*n+k] = sum / m[k*n+k]
			} else if !(sum > 0) {
				return false
			} else {
				m[j*n+j] = math.Sqrt(sum)
			}
		}
	}
	for j := range n {
		for k := range j {
			b[j] -= m[j*n+k] * b[k]
		}
		b[j] /= m[j*n+j]
	}
	for j := n - 1; j >= 0; j-- {
		b[j] /= m[j*n+j]
		for k := range j {
			b[k] -= m[j*n+k] * b[j]
		}
	}
	return true
}

// quantileShift returns how far answers must move so that as many rows held out lie
// below them as was asked for.
func (h *school) quantileShift(adders []*adder, answers [][]float64) float64 {
	if h.s.Loss != "quantile" && h.s.Loss != "absolute" {
		return 0
	}
	share := 0.5
	if h.s.Loss == "quantile" {
		share = h.s.Quantile
	}
	type row struct{ off, weight float64 }
	var rows []row
	total := 0.0
	for a, of := range adders {
		for at, i := range of.held.rows {
			rows = append(rows, row{h.x.Number[i] - answers[a][at], of.held.weight[at]})
			total += of.held.weight[at]
		}
	}
	slices.SortFunc(rows, func(x, y row) int { return cmp.Compare(x.off, y.off) })
	left, shift := share*total, 0.0
	for _, r := range rows {
		shift = r.off
		if left -= r.weight; left <= 0 {
			break
		}
	}
	for a := range answers {
		for at := range answers[a] {
			answers[a][at] += shift
		}
	}
	return shift
}
