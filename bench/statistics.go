package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/stat"
)

// median of at least one number.
func median(numbers []float64) float64 {
	s := slices.Sorted(slices.Values(numbers))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// leastSpread is what runs of the same process differ by, as a share, however
// alike two or three of them in a row may be.
const leastSpread = 0.05

// spread returns the median and how far processes lay apart: from the lowest
// to the highest, and at least leastSpread either way. What is the same every
// time, such as the size of a model, has no spread.
func spread(values []float64) (value, low, high float64) {
	value, low, high = median(values), slices.Min(values), slices.Max(values)
	if len(values) > 1 && low == high {
		return value, low, high
	}
	return value, min(low, value*(1-leastSpread)), max(high, value*(1+leastSpread))
}

// figure is a measured number with its spread. Zero means that there is none,
// and Reason why. A figure that was Stopped is a lower bound.
type figure struct {
	Value, Low, High float64
	Processes        int
	Stopped          bool
	Reason           string
}

// ratio is their figure over ours: above 1 we need less.
type ratio struct {
	Value  float64 `json:"ratio,omitempty"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Bound  string  `json:"bound,omitempty"` // ">" or "<" where one side was stopped
	Again  bool    `json:"learns_again,omitempty"`
	Reason string  `json:"reason,omitempty"` // why there is none, or only a bound
}

func divide(theirs, ours figure) ratio {
	switch {
	case theirs.Value == 0:
		return ratio{Reason: firstOf(theirs.Reason, "not measured")}
	case ours.Value == 0:
		return ratio{Reason: "ours: " + firstOf(ours.Reason, "not measured")}
	case theirs.Stopped && ours.Stopped:
		return ratio{Reason: "both stopped"}
	case theirs.Stopped:
		return ratio{Value: theirs.Value / ours.Value, Bound: ">", Reason: theirs.Reason}
	case ours.Stopped:
		return ratio{Value: theirs.Value / ours.Value, Bound: "<", Reason: "ours: " + ours.Reason}
	}
	return ratio{Value: theirs.Value / ours.Value, Low: theirs.Low / ours.High, High: theirs.High / ours.Low}
}

// loses reports whether we need more than they do by more than the spread.
func (r ratio) loses() bool {
	switch {
	case r.Value == 0 || r.Bound == ">":
		return false
	case r.Bound == "<":
		return r.Value < 1
	}
	return r.High < 1
}

// String is a cell of a table: "3.2× (2.9–3.6)".
func (r ratio) String() string {
	if r.Value == 0 {
		return "–"
	}
	text := digits(r.Value) + "×"
	switch {
	case r.Bound != "":
		text = r.Bound + " " + text
	case r.Low > 0 && digits(r.Low) != digits(r.High):
		text += " (" + digits(r.Low) + "–" + digits(r.High) + ")"
	}
	if r.Again {
		text += " †"
	}
	return text
}

// digits writes a number with two digits that count.
func digits(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	places := max(1-int(math.Floor(math.Log10(math.Abs(x)))), 0)
	text := strconv.FormatFloat(x, 'f', places, 64)
	if places == 0 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-1)
		return thousands(int(math.Round(x/unit) * unit))
	}
	return text
}

// thousands writes a whole number with commas: 1,000,000.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// exponent fits y ~ x^e by least squares in logarithms.
func exponent(x, y []float64) (float64, bool) {
	if len(x) < 2 {
		return 0, false
	}
	var sx, sy, sxx, sxy float64
	for i := range x {
		u, v := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	n := float64(len(x))
	d := n*sxx - sx*sx
	return (n*sxy - sx*sy) / d, d > 0
}

// ranks gives the highest number rank 1; equal ones share the mean of theirs.
func ranks(numbers []float64) []float64 {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case numbers[a] > numbers[b]:
			return -1
		case numbers[a] < numbers[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(numbers))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && numbers[order[j]] == numbers[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// friedman returns the p-value of Friedman's test that all columns rank the
// same, from their ranks in each row (Demšar 2006, §3.2.2).
func friedman(rows [][]float64) float64 {
	if len(rows) == 0 || len(rows[0]) < 2 {
		return 1
	}
	n, k := float64(len(rows)), float64(len(rows[0]))
	sum := 0.0
	for c := range rows[0] {
		mean := 0.0
		for _, r := range rows {
			mean += r[c] / n
		}
		sum += mean * mean
	}
	return stat.ChiSquareTail(12*n/(k*(k+1))*(sum-k*(k+1)*(k+1)/4), k-1)
}

// wilcoxon returns the two-sided p-value of Wilcoxon's signed-rank test that
// differences are symmetric around 0, exactly, by counting the signs that
// give so small a sum of ranks. Differences of 0 are left out.
func wilcoxon(differences []float64) float64 {
	var sizes []float64
	var positive []bool
	for _, d := range differences {
		if d != 0 {
			sizes, positive = append(sizes, -math.Abs(d)), append(positive, d > 0)
		}
	}
	n := len(sizes)
	if n == 0 {
		return 1
	}
	// Ranks of the sizes, the smallest first; doubled they are whole.
	doubled := make([]int, n)
	total, plus := 0, 0
	for i, r := range ranks(sizes) {
		doubled[i] = int(math.Round(2 * r))
		total += doubled[i]
		if positive[i] {
			plus += doubled[i]
		}
	}
	least := min(plus, total-plus)
	ways := make([]float64, least+1) // share of the 2^n signs with this sum
	ways[0] = 1
	for _, r := range doubled {
		for s := least; s >= 0; s-- {
			ways[s] /= 2
			if s >= r {
				ways[s] += ways[s-r] / 2
			}
		}
	}
	tail := 0.0
	for _, w := range ways {
		tail += w
	}
	return min(2*tail, 1)
}
